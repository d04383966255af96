"""Texts as numbers, and a sample of the contexts of every word in question."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from textrank.lint.model import (
    BAG_OFFSETS,
    MAX_OFFSET,
    SENTENCE_ENDS,
    TOKEN,
    normalize_token,
    shape_classes,
    text_hash,
)

CHUNK = 400_000  # characters that are read at a time
SEED = 1


@dataclass(frozen=True, eq=False)
class Text:
    """The tokens of the texts of one group, as numbers of words in their plain form."""

    group: str
    words: Any  # (n,) int32
    cases: Any  # (n,) uint8: 0 lower, 1 capital, 2 other


class Vocabulary:
    """Numbers of tokens and of their plain forms."""

    def __init__(self) -> None:
        self.plain: dict[str, int] = {"¶": 0}
        self.tokens: dict[str, int] = {}
        self.of_token: list[tuple[int, int]] = []

    def number(self, token: str) -> int:
        """Return the number of a token, and note its plain form and case."""
        known = self.tokens.get(token)
        if known is None:
            known = self.tokens[token] = len(self.of_token)
            form = normalize_token(token)
            case = 0 if token.islower() else 1 if token[:1].isupper() and token[1:].islower() else 2
            if token in ("I", "A") or token.startswith(("I'", "I’")):
                case = 1
            self.of_token.append((self.plain.setdefault(form, len(self.plain)), case))
        return known


def read(paths: Iterable[Path], group: str, vocabulary: Vocabulary) -> Text:
    """Return all texts of a group."""
    parts: list[Any] = []
    number = vocabulary.number
    pad = [number("\n\n")] * MAX_OFFSET
    for path in paths:
        text = path.read_text(encoding="utf-8")
        for one in re.findall(rf"(?s).{{1,{CHUNK}}}(?:\n\n|\Z)", text):
            parts.append(np.array([number(t) for t in TOKEN.findall(one)] + pad, dtype=np.int32))
    found = np.concatenate([np.array(pad, dtype=np.int32), *parts])
    table = np.array(vocabulary.of_token, dtype=np.int32)
    return Text(group, table[found, 0], table[found, 1].astype(np.uint8))


@dataclass(frozen=True, eq=False)
class Sample:
    """Contexts of one word: numbers of the words around, -1 outside its sentence."""

    around: Any  # (n, places) int32
    group: Any  # (n,) int8
    total: Any  # (groups,) occurrences that there are


def ends_of(vocabulary: Vocabulary) -> Any:
    """Return which plain forms end a sentence."""
    return np.array([form in SENTENCE_ENDS for form in vocabulary.plain])


def places(text: Text, ends: Any) -> tuple[Any, Any]:
    """Return the sentence number of each token, and which tokens may be judged."""
    sentence = np.zeros(len(text.words), dtype=np.int32)
    np.cumsum(ends[text.words][:-1], out=sentence[1:])
    long = np.bincount(sentence)[sentence] >= 5
    first = np.r_[True, sentence[1:] != sentence[:-1]]
    return sentence, long & ((text.cases == 0) | (first & (text.cases == 1)))


def around(text: Text, sentence: Any, start: Any, end: Any) -> Any:
    """Return the words around spans."""
    found = np.empty((len(start), len(BAG_OFFSETS)), dtype=np.int32)
    for column, place in enumerate(BAG_OFFSETS):
        at = start + place if place < 0 else end - 1 + place
        found[:, column] = np.where(sentence[at] == sentence[start], text.words[at], -1)
    return found


def near_hole(found: Any, hole: int) -> Any:
    """Return which contexts have a gap within two tokens."""
    near = [k for k, place in enumerate(BAG_OFFSETS) if abs(place) <= 2]
    return (found[:, near] == hole).any(axis=1)


def sample(
    texts: Sequence[Text], vocabulary: Vocabulary, members: Sequence[str], most: int
) -> dict[str, Sample]:
    """Up to ``most`` contexts of every word in every group."""
    ends, hole = ends_of(vocabulary), vocabulary.plain.get("\x00", -2)
    own = {vocabulary.plain[w]: w for w in members if w in vocabulary.plain}
    two = [w for w in members if " " in w and all(p in vocabulary.plain for p in w.split())]
    found: dict[str, list[Any]] = {w: [] for w in members}
    total: Counter[tuple[str, int]] = Counter()
    wanted = np.zeros(len(vocabulary.plain), dtype=bool)
    wanted[list(own)] = True
    for group, text in enumerate(texts):
        sentence, fit = places(text, ends)
        fit[:MAX_OFFSET] = fit[-MAX_OFFSET:] = False
        at = np.flatnonzero(wanted[text.words] & fit)
        order = at[np.argsort(text.words[at], kind="stable")]
        cuts = np.flatnonzero(np.diff(text.words[order])) + 1
        spans = [(own[int(text.words[k[0]])], k, 1) for k in np.split(order, cuts) if len(k)]
        for word in two:
            a, b = (vocabulary.plain[p] for p in word.split())
            k = np.flatnonzero((text.words[:-1] == a) & (text.words[1:] == b) & fit[:-1])
            spans.append((word, k, 2))
        for word, k, length in spans:
            total[word, group] += len(k)
            if len(k) > most:  # the same ones, whatever other words are asked for
                rng = np.random.default_rng([SEED, text_hash(word), group])
                k = np.sort(rng.choice(k, most, replace=False))
            rows = around(text, sentence, k, k + length)
            found[word].append((rows[~near_hole(rows, hole)], group))
    return {
        word: Sample(
            np.concatenate([rows for rows, _ in parts]),
            np.concatenate([np.full(len(rows), g, dtype=np.int8) for rows, g in parts]),
            np.array([total[word, g] for g in range(len(texts))]),
        )
        for word, parts in found.items()
        if parts and sum(len(rows) for rows, _ in parts)
    }


def table(vocabulary: Vocabulary, known: dict[int, tuple[int, int]]) -> Any:
    """Hash, classes and first letters of every plain form, a last row for what is outside."""
    rows = np.zeros((len(vocabulary.plain) + 1, 5), dtype=np.uint64)
    for k, form in enumerate(vocabulary.plain):
        hashed = text_hash(form)
        fine, coarse = known.get(hashed) or shape_classes(form)
        rows[k] = (hashed, fine, coarse, text_hash(form[:1]), text_hash(form[:3]))
    rows[:-1] += np.uint64(1)
    return rows
