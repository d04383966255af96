"""What is asked of a person: candidates of one decision together, under a lasting key."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from textrank.docs import Candidate, document_id

YES, NO, UNSURE, NEGATED, WRONG = "yes", "no", "unsure", "negated", "wrong name"
CHOOSE = "choose:"  # before the number of an answer, where there are more than two
PLAIN = {YES: 1.0, NO: -1.0, NEGATED: -1.0}  # the label that an answer gives
OPEN = (UNSURE, WRONG)  # answers from which nothing is learnt


@dataclass(frozen=True)
class Question:
    """One decision: a candidate for yes or no, or several of which one is right."""

    key: str  # document, characters and what is asked; the same after a restart
    document: str  # as the reader named it
    rows: tuple[int, ...]
    answers: tuple[str, ...]  # what the rows ask for, or yes and no

    def labels(self, value: str) -> dict[int, float]:
        """The label that an answer gives to each row; none where nothing is learnt from it."""
        if value in OPEN:
            return {}
        if value in PLAIN and len(self.rows) == 1:
            return {self.rows[0]: PLAIN[value]}
        number = value.removeprefix(CHOOSE)
        known = value.startswith(CHOOSE) and number.isascii() and number.isdigit()
        if known and len(self.rows) > 1 and int(number) < len(self.rows):
            return {row: 1.0 if i == int(number) else -1.0 for i, row in enumerate(self.rows)}
        raise ValueError(f"{value!r} is no answer to {self.key!r}. Known: {', '.join(self.known)}.")

    @property
    def known(self) -> list[str]:
        """The answers there are."""
        if len(self.rows) > 1:
            return [*(f"{CHOOSE}{i}" for i in range(len(self.rows))), *OPEN]
        return [*PLAIN, *OPEN]


def questions_of(candidates: Sequence[Candidate], first: int = 0) -> Iterator[Question]:
    """The questions of candidates in their order; ``first`` is the row of the first one.

    Where a corpus has two names at the same characters, the second question gets a number.
    """
    start = 0
    times: Counter[str] = Counter()
    for end in range(1, len(candidates) + 1):
        if end == len(candidates) or not _together(candidates[start], candidates[end]):
            found = _question(candidates[start:end], first + start)
            times[found.key] += 1
            again = times[found.key]
            yield replace(found, key=f"{found.key}#{again}") if again > 1 else found
            start = end


def _together(one: Candidate, other: Candidate) -> bool:
    """Whether two candidates are answers to one question; a pair is a question of its own."""
    return len(one.spans) == 1 and _place(one) == _place(other)


def _place(candidate: Candidate) -> tuple[object, ...]:
    spans = tuple((span.start_char, span.end_char) for span in candidate.spans)
    return id(candidate.doc), candidate.query, spans


def _question(together: Sequence[Candidate], row: int) -> Question:
    one = together[0]
    if not one.spans:
        raise ValueError(
            "this task ranks whole sentences, which yes and no cannot teach. "
            "Curate pairs, names, senses or spellings."
        )
    document = document_id(one.doc)
    places = ",".join(f"{span.start_char}-{span.end_char}" for span in one.spans)
    asked = tuple(c.asked for c in together)
    alone = len(together) == 1
    kind = asked[0] if alone and len(one.spans) == 1 else ""
    rows = tuple(range(row, row + len(together)))
    return Question(f"{document}|{places}|{kind}", document, rows, (YES, NO) if alone else asked)
