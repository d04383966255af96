"""Real-word spelling errors: a wrong word that is a word, such as "then" for "than"."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, islice, product
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.strings import StringStore
from spacy.tokens import Doc, Span

from textrank._ragged import offsets
from textrank.candidates import Candidate, document_id, token_table
from textrank.features import Vector
from textrank.language.alignment import SourceText
from textrank.metrics import merge_ties, tie_tolerance
from textrank.protocols import Explain, Task
from textrank.tasks.base import (
    AnsweredQuestion,
    Question,
    Scored,
    candidates_from_questions,
    choice_metrics,
    group_by_question,
)

if not Doc.has_extension("textrank_spelling"):
    Doc.set_extension("textrank_spelling", default=None)
# The sets of Golding and Roth (1999).
CONFUSION_SETS: tuple[tuple[str, ...], ...] = (
    ("accept", "except"),
    ("affect", "effect"),
    ("among", "between"),
    ("amount", "number"),
    ("begin", "being"),
    ("cite", "sight", "site"),
    ("country", "county"),
    ("fewer", "less"),
    ("I", "me"),
    ("its", "it's"),
    ("lead", "led"),
    ("maybe", "may be"),
    ("passed", "past"),
    ("peace", "piece"),
    ("principal", "principle"),
    ("quiet", "quite"),
    ("raise", "rise"),
    ("than", "then"),
    ("their", "there", "they're"),
    ("weather", "whether"),
    ("your", "you're"),
)
UNREACHABLE_LOG_ODDS = 1e9  # log-odds that nothing reaches; infinity cannot be written as JSON
MAX_REASONS = 3  # features that are told with a proposal


@dataclass(frozen=True)
class Spelling(Task):
    """Which word of a confusion set belongs here; the printed one is the answer in training.

    Only words of the sets are judged, as they stand there: lower case, so that no name is
    touched, and "I". Words inside a recognised name are left alone. Training needs no annotation
    but text that is mostly right.

    Parameters
    ----------
    sets
        The confusion sets, each with two words or more; a word may be two, as "may be".
    more
        Sets of your own beside them.
    precision
        The share of proposals that shall be right. The threshold is set on held-out training
        text; where it cannot be reached there, nothing is proposed.
    error_rate
        The share of wrong words that is assumed among the occurrences. Precision means nothing
        without it: with rare errors the same threshold gives more false alarms a find.
    """

    sets: Sequence[Sequence[str]] = CONFUSION_SETS
    more: Sequence[Sequence[str]] = ()
    precision: float = 0.9
    error_rate: float = 0.05
    name: ClassVar[str] = "spelling"
    required_pipes: ClassVar[
        tuple[str, ...]
    ] = ()  # of the analysis: words and sentences are enough
    required_pipes_raw: ClassVar[tuple[str, ...]] = ()
    fixed_settings: ClassVar[tuple[str, ...]] = ("sets", "more")
    exports: ClassVar[frozenset[str]] = frozenset({"diff"})

    def __post_init__(self) -> None:
        for setting in ("sets", "more"):
            object.__setattr__(self, setting, tuple(tuple(s) for s in getattr(self, setting)))
        for words in (*self.sets, *self.more):
            if len(words) < 2 or len(set(words)) < len(words) or not all(w.strip() for w in words):
                raise ValueError(f"a confusion set needs two different words or more, got {words}")
            if any(w != w.lower() and w != "I" for w in words):
                raise ValueError(f"words of a confusion set must be lower case, got {words}")
        if not 0 < self.precision <= 1 or not 0 < self.error_rate < 1:
            raise ValueError(
                "precision must lie above 0 and up to 1, error_rate between 0 and 1, "
                f"got {self.precision} and {self.error_rate}"
            )

    def candidates(self, doc: Doc) -> list[Candidate]:
        """One for each occurrence, or one for each occurrence and word in larger sets."""
        return self.find_candidates([doc])[0]

    def find_candidates(self, docs: Sequence[Doc]) -> list[list[Candidate]]:
        """Those of each Doc."""
        printed = self._word_finder.find(docs) if docs else []
        return [
            candidates_from_questions(list(self._questions(doc, found)))
            for doc, found in zip(docs, printed, strict=True)
        ]

    def unreachable(self, doc: Doc, candidates: Sequence[Candidate]) -> int:
        """None: an occurrence that is not judged is no gold answer."""
        return 0

    def threshold(self, y: Vector, heldout: Vector) -> float:
        """The lowest log-odds at which proposals are as precise as asked for, or ``NEVER``.

        The context does not know which word was printed, so each held-out occurrence serves
        twice: printed right, where a proposal is a false alarm, and printed wrong.
        """
        tie = tie_tolerance(heldout)
        size = merge_ties(np.abs(heldout))
        margin = np.sign(y) * np.sign(heldout) * np.where(size > tie, size, 0.0)
        levels = np.unique(np.abs(margin))
        ordered = np.sort(margin)
        finds = len(margin) - np.searchsorted(ordered, levels, side="left")
        alarms = np.searchsorted(ordered, -levels, side="right")
        weighted = self.error_rate * finds
        share = weighted / np.maximum(weighted + (1 - self.error_rate) * alarms, 1e-300)
        enough = np.flatnonzero((share >= self.precision) & (finds > 0))
        return float(levels[enough[0]]) - tie if len(enough) else UNREACHABLE_LOG_ODDS

    def decide(
        self, scores: Vector, probabilities: Vector | None, threshold: float | None
    ) -> NDArray[np.bool_]:
        """Return yes for words with even odds or better; the threshold is for proposals only."""
        return scores >= 0.0

    def diff(self, doc: Doc) -> str:
        """Return the proposals on an annotated Doc as a unified diff; empty if there are none."""
        return diff(doc)

    def annotate(self, doc: Doc, scored: Scored) -> Doc:
        """Puts the proposals on ``doc._.textrank_spelling``, in text order, as plain values."""
        doc._.textrank_spelling = self._proposals(doc, scored) if self._may_propose(scored) else []
        return doc

    def _may_propose(self, scored: Scored) -> bool:
        """Whether any score may speak for another word than the printed one, which is labelled."""
        return any(
            candidate.label is None or -candidate.label * score >= scored.limit
            for candidate, score in zip(scored.candidates, scored.scores.tolist(), strict=True)
        )

    def _proposals(self, doc: Doc, scored: Scored) -> list[dict[str, Any]]:
        asked = (
            (question, self._best_proposal(question, scored.limit))
            for question in group_by_question(scored)
        )
        found = [(question, word) for question, word in asked if word is not None]
        text = SourceText.from_doc(doc, doc) if found else SourceText("", [])
        return [self._proposal(text, *proposed) for proposed in found]

    def add_explanations(self, doc: Doc, candidates: Sequence[Candidate], explain: Explain) -> Doc:
        """Adds to each proposal the features that speak most for it."""
        if not doc._.textrank_spelling:
            return doc
        by_place: dict[tuple[int, int, str], list[Candidate]] = {}
        for candidate in candidates:
            span = candidate.spans[0]
            place = span.start_char, span.end_char, candidate.question
            by_place.setdefault(place, []).append(candidate)
        rows = doc._.textrank_spelling
        asked = [self._deciding_candidate(row, by_place[*row["span"], row["set"]]) for row in rows]
        parts = explain([candidate for candidate, _ in asked])
        for row, (_, sign), own in zip(rows, asked, parts, strict=True):
            row["because"] = _top_reasons(sign, own)
        return doc

    def measures(self, scored: Scored) -> dict[str, float | None]:
        """Accuracy of the best word, pooled and over sets, and of proposals at the threshold.

        ``flag_precision`` and ``flag_recall`` show each occurrence once as printed and once with
        each other word of its set, so half or more of what is judged is wrong. Sets of three words
        or more have a precision of their own beside it, for there a proposal may also be wrong
        because a third word was meant.
        """
        plain = choice_metrics(replace(scored, threshold=0.0))
        limit = UNREACHABLE_LOG_ODDS if scored.threshold is None else scored.threshold
        questions = list(group_by_question(scored))
        found = [self._count_outcomes(question, limit) for question in questions]
        return {**plain, **_proposal_metrics(found, [question.title for question in questions])}

    def log_odds(self, question: AnsweredQuestion) -> dict[str, float]:
        """The log-odds of each word of the set against all others."""
        words = self.words_of_set(question.title)
        if len(words) == 2:
            return {words[0]: -float(question.scores[0]), words[1]: float(question.scores[0])}
        return dict(zip(words, map(float, question.scores), strict=True))

    def words_of_set(self, title: str) -> tuple[str, ...]:
        """The words of a set by its title."""
        return self._words_by_title[title]

    def _questions(self, doc: Doc, found: Sequence[tuple[Span, str]]) -> Iterator[Question]:
        taken = _entity_tokens(doc) if found else set()
        for span, printed in found:
            if not taken.intersection(range(span.start, span.end)):
                for title, words in self._sets_of[printed]:
                    yield Question(span, words, title, printed)

    @cached_property
    def _word_finder(self) -> PrintedWords:
        return PrintedWords(tuple(self._sets_of))

    @cached_property
    def _sets_of(self) -> dict[str, list[tuple[str, tuple[str, ...]]]]:
        """The sets that each word is in, with their titles."""
        found: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
        for title, words in self._words_by_title.items():
            for word in words:
                found.setdefault(word, []).append((title, words))
        return found

    @cached_property
    def _words_by_title(self) -> dict[str, tuple[str, ...]]:
        return {"/".join(words): tuple(words) for words in (*self.sets, *self.more)}

    def _best_proposal(self, question: AnsweredQuestion, threshold: float) -> str | None:
        """The word to propose, if any."""
        odds = self.log_odds(question)
        printed = normalize_word(question.span.text)
        best = max((word for word in odds if word != printed), key=odds.__getitem__)
        return best if odds[best] >= threshold and odds[best] > odds[printed] else None

    def _proposal(self, text: SourceText, question: AnsweredQuestion, best: str) -> dict[str, Any]:
        span = question.span
        return {
            "printed": span.text,
            "proposal": best,
            "set": question.title,
            "span": [span.start_char, span.end_char],
            "sentence": text.sentence(span),
            "score": self.log_odds(question)[best],
            "probability": self._posterior(question, normalize_word(span.text), best),
        }

    def _posterior(self, question: AnsweredQuestion, printed: str, proposal: str) -> float:
        """That the proposal is meant, given the context and how rarely a word is wrong."""
        words = self.words_of_set(question.title)
        p = question.probabilities(words)
        slip = self.error_rate / (len(words) - 1)
        share = {w: p[w] * (1 - self.error_rate if w == printed else slip) for w in words}
        return share[proposal] / sum(share.values())

    def _count_outcomes(
        self, question: AnsweredQuestion, threshold: float
    ) -> tuple[int, int, int, int]:
        """False alarm as printed; finds, wrong proposals and trials with other words printed."""
        odds = self.log_odds(question)
        right = normalize_word(question.span.text)
        found = wrong = alarm = 0
        for printed in odds:
            best = max((w for w in odds if w != printed), key=lambda w: odds[w])
            if odds[best] >= threshold and odds[best] > odds[printed]:
                alarm += printed == right
                found += printed != right and best == right
                wrong += printed != right and best != right
        return alarm, found, wrong, len(odds) - 1

    def _deciding_candidate(
        self, row: Mapping[str, Any], own: Sequence[Candidate]
    ) -> tuple[Candidate, int]:
        """The candidate that speaks for a proposal, or with -1 the one that speaks against it."""
        asked = {c.answer: c for c in own}
        direct = asked.get(row["proposal"])
        return (direct, 1) if direct else (asked[self.words_of_set(row["set"])[1]], -1)


def _top_reasons(sign: int, parts: Sequence[tuple[tuple[str, ...], float]]) -> list[dict[str, Any]]:
    told = ((list(name[1:]), sign * value) for name, value in parts)
    raising = ((name, value) for name, value in told if value > 0 and name != ["constant"])
    return [{"feature": name, "adds": value} for name, value in islice(raising, MAX_REASONS)]


def apply_proposals(doc: Doc) -> str:
    """The text with all proposals put in; an apostrophe stays as the text writes it."""
    text = doc.text
    for row in sorted(doc._.textrank_spelling or [], key=lambda row: -row["span"][0]):
        start, end = row["span"]
        word = row["proposal"].replace("'", "’") if "’" in text else row["proposal"]
        text = text[:start] + word + text[end:]
    return text


def diff(doc: Doc) -> str:
    """The proposals as a unified diff of the text; empty where there are none."""
    name = document_id(doc)
    before, after = doc.text.splitlines(), apply_proposals(doc).splitlines()
    lines = difflib.unified_diff(before, after, name, f"{name} (proposed)", lineterm="")
    return "".join(f"{line}\n" for line in lines)


def _entity_tokens(doc: Doc) -> set[int]:
    spans: list[Span] = [*doc.ents, *doc.spans.get("entities", ())]
    return {i for span in spans for i in range(span.start, span.end)}


def _proposal_metrics(
    found: Sequence[tuple[int, int, int, int]], titles: Sequence[str]
) -> dict[str, float | None]:
    alarms, finds, wrong, trials = np.array(found).sum(axis=0)
    proposals = alarms + finds + wrong
    recalls: dict[str, list[tuple[int, int]]] = {}
    for title, (_, hit, _, tried) in zip(titles, found, strict=True):
        recalls.setdefault(title, []).append((hit, tried))
    means = [sum(h for h, _ in own) / sum(t for _, t in own) for own in recalls.values()]
    measures = {
        "flag_precision": float(finds / proposals) if proposals else None,
        "flag_recall": float(finds / trials),
        "flag_recall_of_sets": float(np.mean(means)),
    }
    large = [row for row in found if row[3] > 1]  # sets of three words or more
    if large:
        alarms, finds, wrong, _ = np.array(large).sum(axis=0)
        total = alarms + finds + wrong
        measures["flag_precision_of_large_sets"] = float(finds / total) if total else None
    return measures


CONTEXT_TOKENS = 2  # tokens on either side that tell whether a word is a whole one


class TokenPrefix(NamedTuple):
    """What a token may be that words begin with."""

    key: int  # of its text, the same in all vocabularies
    word: str | None  # one it is all of and that begins no longer one
    may_precede_blank: (
        bool  # or what a blank may follow; else only what comes without one makes it a word
    )
    max_rest: int  # letters of the longest word that come after it


@dataclass(frozen=True)
class PrintedWords:
    """Words to look for: as they stand in the list, with either apostrophe, any blanks inside.

    Only whole words that are whole tokens count, neither part of a hyphenated one nor the beginning
    of "there's"; of several that begin at a place the longest.

    >>> import spacy
    >>> doc = spacy.blank("en")("It may  be less than-less, it’s more than that.")
    >>> PrintedWords(("may be", "it's", "than")).found([doc])
    [[(may  be, 'may be'), (it’s, "it's"), (than, 'than')]]
    """

    words: tuple[str, ...]

    def find(self, docs: Sequence[Doc]) -> list[list[tuple[Span, str]]]:
        """The words of each Doc in order, none inside another; each as the list has it."""
        found: list[list[tuple[Span, str]]] = [[] for _ in docs]
        for owner, start, number, free in self._find_starts(docs):
            doc, own = docs[owner], found[owner]
            if own and start < own[-1][0].end:
                continue
            beginning = self._prefixes[number]
            word = beginning.word if free else None
            span = doc[start : start + 1] if word else self._match(doc, start, beginning.max_rest)
            if span is not None:
                own.append((span, word or normalize_word(span.text)))
        return found

    def _find_starts(self, docs: Sequence[Doc]) -> Iterable[tuple[int, int, int, bool]]:
        """Docs and tokens with which words may begin, how they do, and if they stand in blanks."""
        tables = [token_table(doc) for doc in docs]
        keys = np.concatenate([table["ORTH"] for table in tables])
        blank = np.concatenate([table["SPACY"] for table in tables]) == 1
        number = np.searchsorted(self._keys, keys)
        places = np.flatnonzero(self._keys[number] == keys)
        places = places[self._may_precede_blank[number[places]] | ~blank[places]]
        if not len(places):
            return ()
        following = keys.take(places + 1, mode="clip")
        goes_on = self._inner_keys[np.searchsorted(self._inner_keys, following)] == following
        places = places[self._may_precede_blank[number[places]] | goes_on]
        number, after = number[places], blank[places]

        begins = offsets([len(doc) for doc in docs])
        owner = np.searchsorted(begins, places, side="right") - 1
        start = places - begins[owner]
        free = after & (blank[places - 1] | (start == 0))
        return zip(*(column.tolist() for column in (owner, start, number, free)), strict=True)

    def _match(self, doc: Doc, start: int, left: int) -> Span | None:
        """The word that begins with a token, by the letters there and around it."""
        first = max(start - CONTEXT_TOKENS, 0)
        text = doc[first : start + 1 + left + CONTEXT_TOKENS].text
        begin = doc[start].idx
        match = self._pattern.match(text, begin - doc[first].idx)
        return None if match is None else doc.char_span(begin, begin + len(match[0]))

    @cached_property
    def _prefixes(self) -> list[TokenPrefix]:
        """By their keys."""
        whole: dict[str, str] = {}
        rests: dict[str, list[str]] = {}
        for word in self.words:
            for printed in _variants(word):
                whole[printed] = word
                for size in range(1, len(printed) + 1):
                    rests.setdefault(printed[:size], []).append(printed[size:])
        strings, found = StringStore(), list[TokenPrefix]()
        for text, own in rests.items():
            apart = any(rest.startswith(" ") for rest in own)
            alone = None if apart else whole.get(text)
            ends, left = apart or text in whole, max(map(len, own))
            found.append(TokenPrefix(strings.add(text), alone, ends, left))
        return sorted(found)

    @cached_property
    def _keys(self) -> NDArray[np.uint64]:
        return _sorted_keys(one.key for one in self._prefixes)

    @cached_property
    def _may_precede_blank(self) -> NDArray[np.bool_]:
        return np.array([*(one.may_precede_blank for one in self._prefixes), False])

    @cached_property
    def _inner_keys(self) -> NDArray[np.uint64]:
        """Keys of all that may follow in a word after its beginning."""
        strings, found = StringStore(), set[int]()
        for printed in (each for word in self.words for each in _variants(word)):
            ends = combinations(range(1, len(printed) + 1), 2)
            found.update(strings.add(printed[start:end]) for start, end in ends)
        return _sorted_keys(found)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        each = (_word_pattern(word) for word in sorted(self.words, key=lambda w: (-len(w), w)))
        return re.compile(rf"(?<!\w)(?<!\w[-'’./@])(?:{'|'.join(each)})(?!\w|[-'’./@]\w)")


def normalize_word(text: str) -> str:
    """A printed word as lists have it: straight apostrophe, one blank.

    >>> normalize_word("it’s"), normalize_word("may  be")
    ("it's", 'may be')
    """
    return re.sub(r"\s+", " ", text.replace("’", "'"))


def _sorted_keys(keys: Iterable[int]) -> NDArray[np.uint64]:
    """Keys to be searched among: in order, then one that no token has."""
    return np.array([*sorted(keys), np.iinfo(np.uint64).max], dtype=np.uint64)


def _variants(word: str) -> Iterator[str]:
    """The word with each apostrophe in both forms."""
    letters = ["'’" if letter == "'" else letter for letter in " ".join(word.split())]
    return map("".join, product(*letters))


def _word_pattern(word: str) -> str:
    return r"\s+".join(re.escape(part).replace("'", "['’]") for part in word.split())
