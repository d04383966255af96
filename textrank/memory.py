"""When Python looks for garbage: not while a batch is judged."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collected_later() -> Iterator[None]:
    """Inside this block no garbage is looked for; what nothing refers to is freed as ever.

    A search goes through all that a program keeps, language model and imports included, a tenth of
    a second each, and many new objects make it come often. What is made for a batch has no cycles.
    """
    looked_for = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if looked_for:
            gc.enable()


@contextmanager
def gc_frozen() -> Iterator[None]:
    """Exempt all objects that exist now from garbage collection inside this block.

    Models stay anyway, and a collection that need not look through them is faster. They must not
    stay exempt: Python could not free them at exit, and libraries would report leaks.
    """
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
