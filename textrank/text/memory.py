"""Words of texts that are done with are forgotten, so that a stream needs constant memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from spacy.language import Language


@dataclass
class Forgetting:
    """spaCy keeps every word it ever met; a zone of its memory is given up as a whole.

    A reader sets ``due`` when it has made no Doc but those it gave away. Whoever reads is then
    done with these, and calls ``renew``: no Doc made before may be looked at again.
    """

    nlp: Language
    due: bool = False
    _zone: ExitStack = field(default_factory=ExitStack)

    def renew(self) -> None:
        """Forgets the words met so far, and begins anew."""
        self._zone.close()
        self._zone.enter_context(self.nlp.memory_zone())
        self.due = False

    def stop(self) -> None:
        """Forgets the words met so far."""
        self._zone.close()


_current: ContextVar[Forgetting | None] = ContextVar("textrank_forgetting", default=None)


@contextmanager
def forgetting(nlp: Language) -> Iterator[Forgetting]:
    """Inside this block readers say when the words they met can be forgotten."""
    memory = Forgetting(nlp)
    token = _current.set(memory)
    try:
        memory.renew()
        yield memory
    finally:
        _current.reset(token)
        memory.stop()


def tell_done() -> None:
    """Said by a reader that holds no Doc that it has not given away."""
    if (memory := _current.get()) is not None:
        memory.due = True
