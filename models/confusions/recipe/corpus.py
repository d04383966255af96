"""Texts as arrays of word numbers, grouped by kind, and the occurrences of words in them."""

from __future__ import annotations

import lzma
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from textrank.lint.linter import blank_non_prose
from textrank.lint.model import (
    BAG_OFFSETS,
    MAX_OFFSET,
    MIN_SENTENCE_TOKENS,
    NON_PROSE,
    PROSE_WINDOW_TOKENS,
    SENTENCE_ENDS,
    TOKEN,
    normalize_token,
    shape_classes,
    text_hash,
)

# Kinds of text: fold (left out together), share of the balanced mixture, files. Thresholds are
# set for the mixture, in which old prose counts little.
KINDS: dict[str, tuple[int, float, tuple[str, ...]]] = {
    "books": (0, 0.06, ("english-books", "general__r-cran-janeaustenr", "general__@stdlib")),
    "novels": (1, 0.04, ("english-novels",)),
    "textbooks": (1, 0.22, ("english-textbooks",)),
    "speeches": (0, 0.10, ("english-speeches", "general__cia", "general__jargon")),
    "manuals": (0, 0.10, ("english-docs",)),
    "systems": (1, 0.14, ("amazon__", "cloud__", "web__", "database__")),
    "science": (1, 0.14, ("languages__", "science__")),
    "biomedicine": (0, 0.12, ("biomedicine__",)),
    "others": (2, 0.08, ("levels__",)),  # no weight is learnt from these packages
}
N_FOLDS = 2
CHUNK_CHARACTERS = 400_000
SEED = 1
COPY_WORDS = 8
COPY_PARAGRAPHS = 200
MAX_COPIED_SHARE = 0.08


@dataclass(frozen=True, eq=False)
class Text:
    """Tokens of one kind of text as numbers of normalised words, with their case and sentence."""

    kind: str
    words: Any  # (n,) int32
    cases: Any  # (n,) uint8: 0 lower, 1 capitalised, 2 other


class Vocabulary:
    """Numbers of tokens and of their normalised forms."""

    def __init__(self) -> None:
        """Begin with the paragraph sign as form 0 and no tokens."""
        self.forms: dict[str, int] = {"¶": 0}
        self.tokens: dict[str, int] = {}
        self.of_token: list[tuple[int, int]] = []

    def number(self, token: str) -> int:
        """Return the number of a token; a new one is added with its normalised form and case."""
        number = self.tokens.get(token)
        if number is None:
            number = self.tokens[token] = len(self.of_token)
            form = normalize_token(token)
            case = 0 if token.islower() else 1 if token[:1].isupper() and token[1:].islower() else 2
            if token in ("I", "A") or token.startswith(("I'", "I’")):
                case = 1
            self.of_token.append((self.forms.setdefault(form, len(self.forms)), case))
        return number


def paragraphs(path: Path) -> Iterator[str]:
    """Yield the text of a file in chunks that end with a paragraph."""
    if path.suffix == ".xz":  # a paragraph per line
        with lzma.open(path, "rt", encoding="utf-8") as lines:
            kept: list[str] = []
            for line in lines:
                kept.append(blank_non_prose(line.strip()))
                if len(kept) == 1000:
                    yield "\n\n".join(kept)
                    kept = []
            yield "\n\n".join(kept)
        return
    text = path.read_text(encoding="utf-8")
    yield from re.findall(rf"(?s).{{1,{CHUNK_CHARACTERS}}}(?:\n\n|\Z)", text)


def read_kind(kind: str, paths: Iterable[Path], vocabulary: Vocabulary) -> Text:
    """Return the texts of a kind as one array, files and chunks separated by paragraph breaks."""
    number = vocabulary.number
    pad = [number("\n\n")] * MAX_OFFSET
    parts: list[Any] = [np.array(pad, dtype=np.int32)]
    for path in paths:
        for chunk in paragraphs(path):
            parts.append(np.array([number(t) for t in TOKEN.findall(chunk)] + pad, dtype=np.int32))
    numbers = np.concatenate(parts)
    table = np.array(vocabulary.of_token, dtype=np.int32)
    return Text(kind, table[numbers, 0], table[numbers, 1].astype(np.uint8))


def files_of(prefixes: Sequence[str], folders: Sequence[Path]) -> list[Path]:
    """Return the files of the folders whose names begin with one of the prefixes, sorted."""
    names = (path for folder in folders for path in sorted(folder.glob("*.txt*")))
    return [path for path in names if path.name.startswith(tuple(prefixes))]


def sentence_numbers(text: Text, ends: Any) -> Any:
    """Return the sentence number of each token; ``ends`` says which forms end a sentence."""
    number = np.zeros(len(text.words), dtype=np.int32)
    np.cumsum(ends[text.words][:-1], out=number[1:])
    return number


def find_scorable(text: Text, sentence: Any) -> Any:
    """Return which tokens can be scored: the rules of ``Tokens.is_prose``, except for gaps."""
    is_long = (np.bincount(sentence) >= MIN_SENTENCE_TOKENS)[sentence]
    is_first = np.r_[True, sentence[1:] != sentence[:-1]]
    return is_long & ((text.cases == 0) | (is_first & (text.cases == 1)))


def contexts(text: Text, sentence: Any, start: Any, length: int) -> Any:
    """Return the words around spans at BAG_OFFSETS, -1 outside of the sentence, (n, offsets)."""
    rows = np.empty((len(start), len(BAG_OFFSETS)), dtype=np.int32)
    for column, offset in enumerate(BAG_OFFSETS):
        at = start + offset if offset < 0 else start + length - 1 + offset
        rows[:, column] = np.where(sentence[at] == sentence[start], text.words[at], -1)
    return rows


def near_gap(rows: Any, gap: int) -> Any:
    """Return which contexts have non-prose within PROSE_WINDOW_TOKENS."""
    near = [k for k, o in enumerate(BAG_OFFSETS) if abs(o) <= PROSE_WINDOW_TOKENS]
    return (rows[:, near] == gap).any(axis=1)


@dataclass(frozen=True, eq=False)
class Occurrences:
    """Places of one word in all kinds of text.

    ``weight`` is how often the occurrence stands for one in a million words of the mixture.
    """

    length: int  # tokens
    kind: Any  # (n,) int8
    place: Any  # (n,) int32, index into the kind's words
    weight: Any  # (n,) float32


@dataclass(frozen=True, eq=False)
class Corpus:
    """All texts with their sentences."""

    texts: Sequence[Text]
    sentences: Sequence[Any]
    forms: dict[str, int]

    def rows(self, occurrences: Occurrences) -> Any:
        """Return the contexts of occurrences, (n, offsets); -1 outside of the sentence."""
        rows = np.empty((len(occurrences.place), len(BAG_OFFSETS)), dtype=np.int32)
        for kind, text in enumerate(self.texts):
            mask = occurrences.kind == kind
            rows[mask] = contexts(
                text, self.sentences[kind], occurrences.place[mask], occurrences.length
            )
        return rows

    def collect(self, members: Sequence[str], cap: int) -> dict[str, Occurrences]:
        """Return up to about ``cap`` occurrences of each word in each kind of text.

        Words of two parts are looked up as bigrams.
        """
        forms = self.forms
        gap = forms.get(NON_PROSE, -2)
        single = {forms[w]: w for w in members if w in forms}
        double = [w for w in members if " " in w and all(p in forms for p in w.split())]
        is_member = np.zeros(len(forms), dtype=bool)
        is_member[list(single)] = True
        parts: dict[str, list[tuple[int, int, Any, Any]]] = {}
        for kind, (text, sentence) in enumerate(zip(self.texts, self.sentences, strict=True)):
            share = KINDS[text.kind][1] / max(len(text.words), 1) * 1e6
            fit = find_scorable(text, sentence)
            fit[:MAX_OFFSET] = fit[-MAX_OFFSET:] = False
            at = np.flatnonzero(is_member[text.words] & fit)
            counts = np.bincount(text.words[at], minlength=len(forms))
            rng = np.random.default_rng([SEED, kind])
            rate = np.minimum(1.0, cap / np.maximum(counts, 1))
            at = at[rng.random(len(at)) < rate[text.words[at]]]
            order = at[np.argsort(text.words[at], kind="stable")]
            cuts = np.flatnonzero(np.diff(text.words[order])) + 1
            spans = [(single[int(text.words[k[0]])], k, 1) for k in np.split(order, cuts) if len(k)]
            for word in double:
                first, second = (forms[p] for p in word.split())
                is_first = (text.words[:-1] == first) & fit[:-1]
                spans.append((word, np.flatnonzero(is_first & (text.words[1:] == second)), 2))
            for word, k, length in spans:
                positions = k[~near_gap(contexts(text, sentence, k, length), gap)].astype(np.int32)
                stands_for = share / (rate[forms[word]] if length == 1 else 1.0)
                weight = np.full(len(positions), stands_for, dtype=np.float32)
                parts.setdefault(word, []).append((length, kind, positions, weight))
        return {
            word: Occurrences(
                collected[0][0],
                np.concatenate([np.full(len(p[2]), p[1], dtype=np.int8) for p in collected]),
                np.concatenate([p[2] for p in collected]),
                np.concatenate([p[3] for p in collected]),
            )
            for word, collected in parts.items()
        }


def read_corpus(folders: Sequence[Path]) -> Corpus:
    """Return all kinds of text of the folders; of novels only those that are not among the books.

    A kind without files is an empty text.
    """
    vocabulary = Vocabulary()
    texts = [
        read_kind(kind, files_of(prefixes, folders), vocabulary)
        for kind, (_, _, prefixes) in KINDS.items()
    ]
    names = list(KINDS)
    novels = names.index("novels")
    texts[novels] = drop_copies(texts[novels], texts[names.index("books")])
    ends = np.array([form in SENTENCE_ENDS for form in vocabulary.forms])
    return Corpus(texts, [sentence_numbers(text, ends) for text in texts], vocabulary.forms)


def drop_copies(text: Text, other: Text) -> Text:
    """Return a text without stretches that another one has in part, such as other editions.

    Stretches are COPY_PARAGRAPHS paragraphs; MAX_COPIED_SHARE of their windows of COPY_WORDS words
    may occur in ``other``.
    """
    if min(len(text.words), len(other.words)) <= COPY_WORDS:
        return text
    windows = np.unique(_window_hashes(other.words))
    hashes = _window_hashes(text.words)
    is_copy = np.zeros(len(text.words), dtype=bool)
    at = np.clip(np.searchsorted(windows, hashes), 0, len(windows) - 1)
    is_copy[: len(hashes)] = windows[at] == hashes
    paragraph = np.cumsum(text.words == 0)
    share = np.bincount(paragraph, is_copy) / np.maximum(np.bincount(paragraph), 1)
    smooth = np.convolve(share, np.ones(COPY_PARAGRAPHS) / COPY_PARAGRAPHS, "same")[: len(share)]
    kept = (smooth <= MAX_COPIED_SHARE)[paragraph]
    return Text(text.kind, text.words[kept], text.cases[kept])


def _window_hashes(words: Any) -> Any:
    """Return a hash of each window of COPY_WORDS words."""
    hashes = np.zeros(len(words) - COPY_WORDS, dtype=np.uint64)
    for k in range(COPY_WORDS):
        part = words[k : len(words) - COPY_WORDS + k].astype(np.uint64)
        hashes = hashes * np.uint64(0x9E3779B97F4A7C15) + part + np.uint64(7)
    return hashes


def property_table(forms: Mapping[str, int], classes: Mapping[int, tuple[int, int]]) -> Any:
    """Return hash, classes and first letters of each form, all + 1; the last row, "outside", is 0.

    ``classes`` maps hashes of frequent words to fine and coarse class.
    """
    rows = np.zeros((len(forms) + 1, 5), dtype=np.uint64)
    for k, form in enumerate(forms):
        hashed = text_hash(form)
        fine, coarse = classes.get(hashed) or shape_classes(form)
        rows[k] = (hashed, fine, coarse, text_hash(form[:1]), text_hash(form[:3]))
    rows[:-1] += np.uint64(1)
    return rows
