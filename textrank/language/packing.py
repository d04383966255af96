"""Docs packed and unpacked in half the time, which is what ``nlp.pipe(n_process=2)`` waits for."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import catalogue
from srsly.msgpack import msgpack_decoders, msgpack_encoders


def use_fast_packing() -> None:
    """Lets srsly remember the functions that pack and unpack values in special ways.

    It looks for them among the entry points of all installed packages and in the registry that all
    of spaCy shares whenever it packs or unpacks anything, six times for a Doc on its way between
    processes. Now it does so again only when something was registered.
    """
    for known in (msgpack_encoders, msgpack_decoders):
        if not hasattr(known.get_all, "__wrapped__"):
            known.get_all = _remembering(known.get_all)


def _remembering(get_all: Callable[[], dict[str, Any]]) -> Callable[[], dict[str, Any]]:
    found: dict[int, dict[str, Any]] = {}  # by the size of the registry, which only grows

    @wraps(get_all)
    def remembered() -> dict[str, Any]:
        size = len(catalogue.REGISTRY)
        if size not in found:
            found.clear()
            found[size] = get_all()
        return found[size]

    return remembered
