"""Real-word spelling errors: a wrong word that is a word, such as "then" for "than".

``RealWordErrors`` is the task of the shipped model, which has the pairs, weights and rules of
``textrank spell``. ``Spelling`` is the task of models that are trained and evaluated on confusion
sets: each occurrence of a word of a set is a question which word of the set belongs there.
``PrintedWords`` finds the occurrences.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import combinations, islice, product
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from spacy.strings import StringStore
from spacy.tokens import Doc, Span

from textrank._ragged import offsets
from textrank.candidates import Candidate, document_id, token_table
from textrank.features import Features, Vector
from textrank.language.normalization import SourceText
from textrank.lint.linter import Linter, blank_non_prose
from textrank.lint.model import (
    DEFAULT_PRECISION,
    MAX_OFFSET,
    TOKEN,
    ConfusionModel,
    Flag,
    shipped_model_path,
)
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
UNREACHABLE_LOG_ODDS = 1e9  # instead of infinity, which JSON does not have
MAX_REASONS = 3  # features shown with a proposal
CONTEXT_TOKENS = 2  # on either side of a match, to see that it is a whole word


@dataclass(frozen=True)
class RealWordErrors(Task):
    """Words of a text that are probably wrong, found with the table of ``textrank spell``.

    A confusion table is a trained model that gives, for pairs of words such as then/than, the
    log-odds of the second word in a context. The task needs no other scores: it has no candidates,
    and ``annotate`` applies the table. Words inside recognised entities are skipped.

    Parameters
    ----------
    table
        Name of a shipped confusion table, or path of its folder.
    precision
        Share of proposals that should be correct if one word in a hundred is wrong.
    words
        Words that are never flagged, and pairs such as "affect/effect" that are not checked.
    style
        Whether matters of style are flagged too, such as less/fewer.
    """

    table: str = "confusions"
    precision: float = DEFAULT_PRECISION
    words: Sequence[str] = ()
    style: bool = False
    name: ClassVar[str] = "spelling"
    required_pipes: ClassVar[tuple[str, ...]] = ()
    required_pipes_raw: ClassVar[tuple[str, ...]] = ()
    exports: ClassVar[frozenset[str]] = frozenset({"diff"})

    def __post_init__(self) -> None:
        """Convert ``words`` to a tuple; raise ValueError unless 0 < ``precision`` <= 1."""
        object.__setattr__(self, "words", tuple(self.words))
        if not 0 < self.precision <= 1:
            raise ValueError(f"precision must be above 0 and at most 1, got {self.precision}")

    def candidates(self, doc: Doc) -> list[Candidate]:
        """Return an empty list: the table decides without scores of a model."""
        return []

    def threshold(self, y: Vector, heldout: Vector) -> float | None:
        """Return None: the thresholds are in the table."""
        return None

    def annotate(self, doc: Doc, scored: Scored) -> Doc:
        """Write the proposals to ``doc._.textrank_spelling``, in text order, and return the Doc.

        A proposal is a dictionary of plain values with ``printed`` (the word in the text),
        ``proposal``, ``set`` (the pair), ``span`` (character offsets), ``sentence``, ``score``
        (log-odds of the proposal), ``probability`` and ``because``, a list of contexts
        (``feature``) with the log-odds that each ``adds``. The list is empty if there are none.
        ``scored`` is not used.
        """
        flags = self._find_flags(doc)
        text = SourceText.from_doc(doc, doc) if flags else SourceText("", [])
        doc._.textrank_spelling = [_flag_row(doc, text, flag) for flag in flags]
        return doc

    def diff(self, doc: Doc) -> str:
        """Return the proposals on an annotated Doc as a unified diff; empty if there are none."""
        return diff(doc)

    def _find_flags(self, doc: Doc) -> list[Flag]:
        """Return the table's flags in a Doc's text that do not overlap an entity, in text order.

        The text is read as plain text, with what is not prose blanked out (``blank_non_prose``).
        Entities are those of ``doc.ents`` and of the span group ``entities``. Raises ValueError if
        the table is missing or damaged.
        """
        linter = Linter(
            _load_table(self.table), precision=self.precision, words=self.words, style=self.style
        )
        flags = linter.find_flags(blank_non_prose(doc.text))
        if not flags:
            return []
        entities = [(doc[i].idx, doc[i].idx + len(doc[i])) for i in _entity_tokens(doc)]
        return [
            flag
            for flag in flags
            if not any(start < flag.end and flag.start < end for start, end in entities)
        ]


@lru_cache(maxsize=4)
def _load_table(name: str) -> ConfusionModel:
    """Return a confusion table, given the name of a shipped one or the path of its folder.

    The last four tables are cached. Raises ValueError if the folder is missing or damaged.
    """
    return ConfusionModel.from_disk(shipped_model_path(name) or Path(name))


@dataclass(frozen=True)
class ConfusionLogOdds:
    """Features from the confusion table of ``textrank spell``: its log-odds for an occurrence.

    Candidates are those of ``Spelling``. For each pair of the table whose two words are in the
    candidate's set, the feature ``(title of the pair,)`` has the value ``tanh(s / scale)``, where s
    are the log-odds of the pair's second word in the context, whichever word is printed. The table
    was trained on other text, so a model with these features needs fewer examples of its own. A
    candidate whose span is not whole tokens of the table has no features.

    Parameters
    ----------
    table
        Name of a shipped confusion table, or path of its folder.
    scale
        Log-odds beyond which features hardly grow, positive.
    """

    table: str = "confusions"
    scale: float = 4.0

    def __post_init__(self) -> None:
        """Raise ValueError unless ``scale`` is positive; the table is not loaded."""
        if not self.scale > 0:
            raise ValueError(f"scale must be positive, got {self.scale}")

    def __call__(self, candidates: Sequence[Candidate]) -> Features:
        """Return the features of candidates of ``Spelling``, one row each, in order.

        A row has ``tanh(log-odds / scale)`` under the title of each pair of the table within the
        candidate's set. The question of a candidate is its set, words separated by "/". Loads the
        table; raises ValueError if it is missing or damaged.
        """
        rows: list[dict[tuple[str, ...], float]] = [{} for _ in candidates]
        indices_by_doc: dict[int, list[int]] = {}
        for i, candidate in enumerate(candidates):
            indices_by_doc.setdefault(id(candidate.doc), []).append(i)
        for indices in indices_by_doc.values():
            for i, title, log_odds in self._score(candidates, indices):
                rows[i][(title,)] = float(np.tanh(log_odds / self.scale))
        return Features.from_dicts(rows)

    def _score(
        self, candidates: Sequence[Candidate], indices: Sequence[int]
    ) -> Iterator[tuple[int, str, float]]:
        """Yield (index, title of a pair, log-odds of its second word) for candidates of one Doc.

        ``indices`` are positions in ``candidates``, at least one, all of the same Doc. There is one
        item per candidate and pair of the table within its set, none for a candidate whose span is
        not whole tokens of the table.
        """
        table = _load_table(self.table)
        text = candidates[indices[0]].doc.text
        tokens, *_ = table.find_words(text)
        spans = [match.span() for match in TOKEN.finditer(text)]
        first_tokens = {start: number for number, (start, _) in enumerate(spans, MAX_OFFSET)}
        end_tokens = {end: number + 1 for number, (_, end) in enumerate(spans, MAX_OFFSET)}
        asked: list[tuple[int, int, int, int]] = []  # candidate, start, end, pair
        for i in indices:
            span = candidates[i].spans[0]
            start, end = first_tokens.get(span.start_char), end_tokens.get(span.end_char)
            if start is not None and end is not None:
                pairs = _pairs_of_set(self.table, candidates[i].question)
                asked += [(i, start, end, pair) for pair in pairs]
        if asked:
            columns = np.array(asked).T
            log_odds = table.log_odds(tokens, columns[1], columns[2], columns[3])
            for i, pair, value in zip(columns[0], columns[3], log_odds, strict=True):
                yield int(i), table.pairs[pair].title, float(value)


@lru_cache(maxsize=4096)
def _pairs_of_set(table: str, title: str) -> tuple[int, ...]:
    """Return the indices of the table's pairs that have both words in a set, ascending.

    ``title`` has the words of the set separated by "/"; case is ignored. Results are cached.
    """
    words = {word.lower() for word in title.split("/")}
    return tuple(
        index
        for index, pair in enumerate(_load_table(table).pairs)
        if {word.lower() for word in pair.words} <= words
    )


def _flag_row(doc: Doc, text: SourceText, flag: Flag) -> dict[str, Any]:
    """Return a flag as plain values.

    Keys are ``printed``, ``proposal``, ``set``, ``span`` (character offsets), ``sentence`` (that of
    all tokens the flag touches), ``score``, ``probability`` and ``because`` (dictionaries with
    ``feature``, a list of one context, and ``adds``).
    """
    span = cast(Span, doc.char_span(flag.start, flag.end, alignment_mode="expand"))
    reasons = zip(flag.because, flag.contributions, strict=True)
    return {
        "printed": flag.printed,
        "proposal": flag.proposal,
        "set": flag.pair,
        "span": [flag.start, flag.end],
        "sentence": text.sentence(span),
        "score": flag.score,
        "probability": flag.probability,
        "because": [{"feature": [context], "adds": value} for context, value in reasons],
    }


@dataclass(frozen=True)
class Spelling(Task):
    """Words of confusion sets; the task decides which word of the set belongs in the text.

    A confusion set has words that are mistaken for each other, such as "then" and "than". Only
    words written as in the sets are candidates: in lower case, so that no name is touched, and "I".
    Words inside recognised entities are skipped. Training needs no annotation but text that is
    mostly correct: the printed word, the one in the text, is the gold answer.

    Parameters
    ----------
    sets
        Confusion sets, each with two words or more; a word may have two parts, as "may be".
    more
        Further sets.
    precision
        Share of proposals that should be correct. The threshold is chosen on held-out training
        text; if the precision cannot be reached there, nothing is proposed.
    error_rate
        Assumed share of wrong words among the occurrences. Precision depends on it: with rare
        errors the same threshold gives more false alarms per find.
    """

    sets: Sequence[Sequence[str]] = CONFUSION_SETS
    more: Sequence[Sequence[str]] = ()
    precision: float = 0.9
    error_rate: float = 0.05
    name: ClassVar[str] = "spelling"
    required_pipes: ClassVar[tuple[str, ...]] = ()  # words and sentences are enough
    required_pipes_raw: ClassVar[tuple[str, ...]] = ()
    fixed_settings: ClassVar[tuple[str, ...]] = ("sets", "more")
    exports: ClassVar[frozenset[str]] = frozenset({"diff"})

    def __post_init__(self) -> None:
        """Convert lists to tuples and raise ValueError for invalid settings.

        A set needs two different words or more, none of them empty, in lower case except for "I".
        ``precision`` must be above 0 and at most 1, ``error_rate`` between 0 and 1.
        """
        for setting in ("sets", "more"):
            object.__setattr__(self, setting, tuple(tuple(s) for s in getattr(self, setting)))
        for words in (*self.sets, *self.more):
            if len(words) < 2 or len(set(words)) < len(words) or not all(w.strip() for w in words):
                raise ValueError(f"a confusion set needs two different words or more, got {words}")
            if any(w != w.lower() and w != "I" for w in words):
                raise ValueError(f"words of a confusion set must be lower case, got {words}")
        if not 0 < self.precision <= 1 or not 0 < self.error_rate < 1:
            raise ValueError(
                "precision must be above 0 and at most 1, error_rate between 0 and 1, "
                f"got {self.precision} and {self.error_rate}"
            )

    def candidates(self, doc: Doc) -> list[Candidate]:
        """Return the candidates of all occurrences in a Doc, in text order.

        An occurrence in a set of two words has one candidate, which stands for the second word; in
        a larger set it has one per word. An occurrence of a word that is in several sets has
        candidates for each of them.
        """
        return self.find_candidates([doc])[0]

    def find_candidates(self, docs: Sequence[Doc]) -> list[list[Candidate]]:
        """Return the candidates of each Doc, as ``candidates`` does.

        All Docs are searched at once.
        """
        occurrences_by_doc = self._word_finder.find(docs) if docs else []
        return [
            candidates_from_questions(list(self._questions(doc, occurrences)))
            for doc, occurrences in zip(docs, occurrences_by_doc, strict=True)
        ]

    def choices(self, candidate: Candidate) -> Sequence[str]:
        """Return the words of the candidate's confusion set."""
        return self.words_of_set(candidate.question)

    def correct_labels(self, doc: Doc, corrections: Mapping[int, str]) -> Doc:
        """Return a Doc with other words in the text, since the printed word is the gold answer.

        ``corrections`` maps indices into ``candidates(doc)`` to words of the set; of several for
        one occurrence the last counts. A word of two parts becomes two tokens. Annotations of
        ``doc`` are not copied; of ``user_data`` only "document" (the id) and "meta" are.
        """
        candidates = self.candidates(doc)
        answers = {candidates[i].spans[0].start: (i, word) for i, word in corrections.items()}
        words: list[str] = []
        spaces: list[bool] = []
        token = 0
        while token < len(doc):
            end, parts = token + 1, [doc[token].text]
            if token in answers:
                index, word = answers[token]
                end, parts = candidates[index].spans[0].end, word.split(" ")
            words += parts
            spaces += [True] * (len(parts) - 1) + [bool(doc[end - 1].whitespace_)]
            token = end
        kept = {key: doc.user_data[key] for key in ("document", "meta") if key in doc.user_data}
        return Doc(doc.vocab, words, spaces, user_data=kept)

    def unreachable(self, doc: Doc, candidates: Sequence[Candidate]) -> int:
        """Return 0: words in the text that are not candidates are not gold answers either."""
        return 0

    def threshold(self, y: Vector, heldout: Vector) -> float:
        """Return the lowest log-odds at which proposals reach ``precision``.

        ``y`` (labels 1 or -1) and ``heldout`` (log-odds) have one entry per candidate. The score
        depends on the context but not on the printed word, so each candidate is used twice: as
        printed, where a proposal is a false alarm, and as if the other word had been printed, where
        a proposal of the right word is a find. The precision of a threshold is e * finds / (e *
        finds + (1 - e) * alarms) with e = ``error_rate``. Log-odds within rounding of 0 favour
        neither word, and the result is lowered by this rounding tolerance (``tie_tolerance``), so
        that equal scores are proposed. Returns UNREACHABLE_LOG_ODDS if no threshold reaches the
        precision.
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
        reached = np.flatnonzero((share >= self.precision) & (finds > 0))
        return float(levels[reached[0]]) - tie if len(reached) else UNREACHABLE_LOG_ODDS

    def decide(
        self, scores: Vector, probabilities: Vector | None, threshold: float | None
    ) -> NDArray[np.bool_]:
        """Return yes for words with log-odds of at least 0.

        ``scores`` are log-odds, one per candidate. The other arguments are ignored: the threshold
        only applies to proposals.
        """
        return scores >= 0.0

    def diff(self, doc: Doc) -> str:
        """Return the proposals on an annotated Doc as a unified diff; empty if there are none."""
        return diff(doc)

    def annotate(self, doc: Doc, scored: Scored) -> Doc:
        """Write the proposals to ``doc._.textrank_spelling``, in text order, and return the Doc.

        Each is a dictionary of plain values with ``printed``, ``proposal``, ``set``, ``span``
        (character offsets), ``sentence``, ``score`` (log-odds of the proposal) and ``probability``.
        The list is empty if there are none. A word is proposed if its score reaches
        ``scored.limit`` and it is more probable than the printed one.
        """
        doc._.textrank_spelling = self._proposals(doc, scored) if self._may_propose(scored) else []
        return doc

    def _may_propose(self, scored: Scored) -> bool:
        """Return whether any score may favour another word than the printed one.

        A fast filter for Docs without errors: False means that there is no proposal, True that
        there may be one. True if a candidate has no label, or a score of at least ``scored.limit``
        against its label (the label says which word is printed).
        """
        return any(
            candidate.label is None or -candidate.label * score >= scored.limit
            for candidate, score in zip(scored.candidates, scored.scores.tolist(), strict=True)
        )

    def _proposals(self, doc: Doc, scored: Scored) -> list[dict[str, Any]]:
        """Return the rows of all proposals of a Doc, in text order (see ``_proposal``).

        ``scored`` has the candidates of this Doc only. A word is proposed if it is the best other
        word of its set, reaches ``scored.limit`` and is more probable than the printed one.
        """
        answers = (
            (question, self._best_proposal(question, scored.limit))
            for question in group_by_question(scored)
        )
        proposals = [(question, word) for question, word in answers if word is not None]
        text = SourceText.from_doc(doc, doc) if proposals else SourceText("", [])
        return [self._proposal(text, question, word) for question, word in proposals]

    def add_explanations(self, doc: Doc, candidates: Sequence[Candidate], explain: Explain) -> Doc:
        """Add the features that support each proposal most, under ``because``; return the Doc.

        The Doc must be annotated and is changed in place. ``candidates`` are its candidates;
        ``explain`` returns, for each candidate it is given, (name, contribution to the score) of
        features, largest magnitude first. A proposal gets at most MAX_REASONS features, each with
        ``feature`` (name) and ``adds`` (log-odds). ``explain`` is not called if there are no
        proposals.
        """
        if not doc._.textrank_spelling:
            return doc
        candidates_by_key: dict[tuple[int, int, str], list[Candidate]] = {}
        for candidate in candidates:
            span = candidate.spans[0]
            key = span.start_char, span.end_char, candidate.question
            candidates_by_key.setdefault(key, []).append(candidate)
        rows = doc._.textrank_spelling
        deciding = [
            self._deciding_candidate(row, candidates_by_key[*row["span"], row["set"]])
            for row in rows
        ]
        explanations = explain([candidate for candidate, _ in deciding])
        for row, (_, sign), parts in zip(rows, deciding, explanations, strict=True):
            row["because"] = _top_reasons(sign, parts)
        return doc

    def measures(self, scored: Scored) -> dict[str, float | None]:
        """Return metrics of the best words and metrics of proposals.

        Keys are those of ``choice_metrics`` at threshold 0 (``accuracy``, ``accuracy_of_sets``,
        ...), ``flag_precision``, ``flag_recall``, ``flag_recall_of_sets`` and, only if there are
        sets of three words or more, ``flag_precision_of_large_sets``, since in these a proposal may
        be wrong because a third word was meant. Flag metrics try each occurrence once with the
        printed word, where a proposal is a false alarm, and once with every other word of its set,
        where it should be corrected. Nothing is proposed if ``scored.threshold`` is None. There
        must be at least one candidate.
        """
        choice = choice_metrics(replace(scored, threshold=0.0))
        threshold = UNREACHABLE_LOG_ODDS if scored.threshold is None else scored.threshold
        questions = list(group_by_question(scored))
        outcomes = [self._count_outcomes(question, threshold) for question in questions]
        return {**choice, **_proposal_metrics(outcomes, [question.title for question in questions])}

    def log_odds(self, question: AnsweredQuestion) -> dict[str, float]:
        """Return the log-odds of each word of the set, in its order.

        For a set of two words, the score is that of the second and its negative that of the first.
        For a larger set, each word has the score of its own candidate.
        """
        words = self.words_of_set(question.title)
        if len(words) == 2:
            return {words[0]: -float(question.scores[0]), words[1]: float(question.scores[0])}
        return dict(zip(words, map(float, question.scores), strict=True))

    def words_of_set(self, title: str) -> tuple[str, ...]:
        """Return the words of a set, given its title: the words joined by "/".

        Raises KeyError for an unknown title.
        """
        return self._words_by_title[title]

    def _questions(self, doc: Doc, occurrences: Sequence[tuple[Span, str]]) -> Iterator[Question]:
        """Yield one question per occurrence and set that contains the word.

        ``occurrences`` are (span, word of a set), in text order; the word is the right answer.
        Occurrences that overlap an entity of ``doc.ents`` or of the span group ``entities`` are
        skipped.
        """
        entity_tokens = _entity_tokens(doc) if occurrences else set()
        for span, printed in occurrences:
            if not entity_tokens.intersection(range(span.start, span.end)):
                for title, words in self._sets_of[printed]:
                    yield Question(span, words, title, printed)

    @cached_property
    def _word_finder(self) -> PrintedWords:
        """Return the finder of all words of all sets."""
        return PrintedWords(tuple(self._sets_of))

    @cached_property
    def _sets_of(self) -> dict[str, list[tuple[str, tuple[str, ...]]]]:
        """Return, for each word of a set, (title, words) of the sets that contain it, in order."""
        sets_of: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
        for title, words in self._words_by_title.items():
            for word in words:
                sets_of.setdefault(word, []).append((title, words))
        return sets_of

    @cached_property
    def _words_by_title(self) -> dict[str, tuple[str, ...]]:
        """Return the words of each set of ``sets`` and ``more`` by its title, "word/word"."""
        return {"/".join(words): tuple(words) for words in (*self.sets, *self.more)}

    def _best_proposal(self, question: AnsweredQuestion, threshold: float) -> str | None:
        """Return the best word of the set other than the printed one, if it should be proposed.

        None unless its log-odds reach ``threshold`` and exceed those of the printed word. Of words
        with equal log-odds the first of the set is the best.
        """
        odds = self.log_odds(question)
        printed = normalize_word(question.span.text)
        best = max((word for word in odds if word != printed), key=odds.__getitem__)
        return best if odds[best] >= threshold and odds[best] > odds[printed] else None

    def _proposal(self, text: SourceText, question: AnsweredQuestion, best: str) -> dict[str, Any]:
        """Return the row of a proposal; ``best`` is the proposed word.

        Keys are ``printed``, ``proposal``, ``set`` (title), ``span`` (character offsets),
        ``sentence``, ``score`` (log-odds) and ``probability`` (given context and printed word).
        """
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
        """Return the probability of the proposal given the context and the printed word.

        The printed word is assumed to be wrong with probability ``error_rate``, shared equally by
        the other words of the set. Both words are spelt as in the set.
        """
        words = self.words_of_set(question.title)
        context_probabilities = question.probabilities(words)
        error_share = self.error_rate / (len(words) - 1)
        joint = {
            w: context_probabilities[w] * (1 - self.error_rate if w == printed else error_share)
            for w in words
        }
        return joint[proposal] / sum(joint.values())

    def _count_outcomes(
        self, question: AnsweredQuestion, threshold: float
    ) -> tuple[int, int, int, int]:
        """Return counts of (false alarms, finds, wrong proposals, errors tried) for one occurrence.

        Each word of the set is tried in place of the printed one, and the best other word is
        proposed if it reaches ``threshold`` (log-odds) and has higher log-odds. The truly printed
        word is correct, so that a proposal to replace it is a false alarm. Every other word is an
        error: proposing the correct word is a find, proposing a third word is wrong.
        """
        odds = self.log_odds(question)
        correct = normalize_word(question.span.text)
        n_found = n_wrong = n_alarms = 0
        for printed in odds:
            best = max((w for w in odds if w != printed), key=lambda w: odds[w])
            if odds[best] >= threshold and odds[best] > odds[printed]:
                n_alarms += printed == correct
                n_found += printed != correct and best == correct
                n_wrong += printed != correct and best != correct
        return n_alarms, n_found, n_wrong, len(odds) - 1

    def _deciding_candidate(
        self, row: Mapping[str, Any], candidates: Sequence[Candidate]
    ) -> tuple[Candidate, int]:
        """Return the candidate whose score decides on a proposal, and the sign of that score.

        ``row`` is a proposal, ``candidates`` are those of its question. The sign is 1 for the
        candidate of the proposed word. The first word of a set of two has no candidate of its own:
        its log-odds are those of the second word's candidate with the sign -1.
        """
        candidate_of_answer = {c.answer: c for c in candidates}
        candidate = candidate_of_answer.get(row["proposal"])
        if candidate:
            return candidate, 1
        return candidate_of_answer[self.words_of_set(row["set"])[1]], -1


def _top_reasons(sign: int, parts: Sequence[tuple[tuple[str, ...], float]]) -> list[dict[str, Any]]:
    """Return the features that raise a score most, at most MAX_REASONS, without the constant.

    ``parts`` are (name, contribution), largest magnitude first; contributions are multiplied by
    ``sign``. The first part of a name, the question, is dropped. Each result is a dictionary with
    ``feature`` (name) and ``adds`` (contribution).
    """
    signed = ((list(name[1:]), sign * value) for name, value in parts)
    supporting = ((name, value) for name, value in signed if value > 0 and name != ["constant"])
    return [{"feature": name, "adds": value} for name, value in islice(supporting, MAX_REASONS)]


def apply_proposals(doc: Doc) -> str:
    """Return the text of a Doc with all proposals applied; the Doc is not changed.

    Proposals must not overlap. Apostrophes in them become curly if the text has any curly ones. A
    Doc that is not annotated gives its text.
    """
    text = doc.text
    for row in sorted(doc._.textrank_spelling or [], key=lambda row: -row["span"][0]):
        start, end = row["span"]
        word = row["proposal"].replace("'", "’") if "’" in text else row["proposal"]
        text = text[:start] + word + text[end:]
    return text


def diff(doc: Doc) -> str:
    """Return the proposals as a unified diff of the text by lines; empty if there are none.

    The document id is the file name. The diff of a Doc that is not annotated is empty, too.
    """
    name = document_id(doc)
    before, after = doc.text.splitlines(), apply_proposals(doc).splitlines()
    lines = difflib.unified_diff(before, after, name, f"{name} (proposed)", lineterm="")
    return "".join(f"{line}\n" for line in lines)


def _entity_tokens(doc: Doc) -> set[int]:
    """Return the tokens in ``doc.ents`` or the span group ``entities``, as indices of the Doc."""
    spans: list[Span] = [*doc.ents, *doc.spans.get("entities", ())]
    return {i for span in spans for i in range(span.start, span.end)}


def _proposal_metrics(
    outcomes: Sequence[tuple[int, int, int, int]], titles: Sequence[str]
) -> dict[str, float | None]:
    """Return precision and recall of proposals; precisions are None if nothing is proposed.

    Per occurrence, ``outcomes`` has (false alarms, finds, wrong proposals, errors tried) and
    ``titles`` the title of its set; there must be at least one. Keys are ``flag_precision``,
    ``flag_recall``, ``flag_recall_of_sets`` (mean recall over sets) and, only if there are sets of
    three words or more, ``flag_precision_of_large_sets``.
    """
    alarms, finds, wrong, trials = np.array(outcomes).sum(axis=0)
    proposals = alarms + finds + wrong
    recalls: dict[str, list[tuple[int, int]]] = {}
    for title, (_, n_found, _, n_trials) in zip(titles, outcomes, strict=True):
        recalls.setdefault(title, []).append((n_found, n_trials))
    means = [
        sum(n_found for n_found, _ in counts) / sum(n_trials for _, n_trials in counts)
        for counts in recalls.values()
    ]
    measures = {
        "flag_precision": float(finds / proposals) if proposals else None,
        "flag_recall": float(finds / trials),
        "flag_recall_of_sets": float(np.mean(means)),
    }
    outcomes_of_large = [row for row in outcomes if row[3] > 1]  # sets of three words or more
    if outcomes_of_large:
        alarms, finds, wrong, _ = np.array(outcomes_of_large).sum(axis=0)
        total = alarms + finds + wrong
        measures["flag_precision_of_large_sets"] = float(finds / total) if total else None
    return measures


class TokenPrefix(NamedTuple):
    """Token text with which a word of the list may begin."""

    key: int  # spaCy's hash of the text
    word: str | None  # the word that it is, unless it also begins a longer one
    may_precede_blank: bool  # it is a word, or a blank follows inside a word
    max_rest: int  # most characters that may follow to complete a word


@dataclass(frozen=True)
class PrintedWords:
    """Finder of the occurrences of listed words in Docs.

    Apostrophes match in both forms, straight and curly; a space inside a word matches any white
    space. Only whole words that are whole tokens count, not parts of hyphenated words and not the
    beginning of "there's"; of several words that begin at a token the longest is found.

    >>> import spacy
    >>> doc = spacy.blank("en")("It may  be less than-less, it’s more than that.")
    >>> PrintedWords(("may be", "it's", "than")).find([doc])
    [[(may  be, 'may be'), (it’s, "it's"), (than, 'than')]]
    """

    words: tuple[str, ...]

    def find(self, docs: Sequence[Doc]) -> list[list[tuple[Span, str]]]:
        """Return (span, word of the list) of the occurrences in each Doc, in text order.

        Occurrences do not overlap: the first and longest wins.
        """
        occurrences: list[list[tuple[Span, str]]] = [[] for _ in docs]
        for owner, start, prefix_index, is_isolated in self._find_starts(docs):
            doc, doc_occurrences = docs[owner], occurrences[owner]
            if doc_occurrences and start < doc_occurrences[-1][0].end:
                continue
            prefix = self._prefixes[prefix_index]
            word = prefix.word if is_isolated else None
            span = doc[start : start + 1] if word else self._match(doc, start, prefix.max_rest)
            if span is not None:
                doc_occurrences.append((span, word or normalize_word(span.text)))
        return occurrences

    def _find_starts(self, docs: Sequence[Doc]) -> Iterable[tuple[int, int, int, bool]]:
        """Return the tokens at which a listed word may begin, in order.

        Each is (index into ``docs``, token of that Doc, index into ``_prefixes``, is isolated); a
        token is isolated if white space surrounds it. This is a vectorised filter by token hashes,
        which may return tokens at which no word begins; ``_match`` decides. ``docs`` must not be
        empty.
        """
        tables = [token_table(doc) for doc in docs]
        keys = np.concatenate([table["ORTH"] for table in tables])
        has_space = np.concatenate([table["SPACY"] for table in tables]) == 1
        prefix_index = np.searchsorted(self._keys, keys)
        positions = np.flatnonzero(self._keys[prefix_index] == keys)
        positions = positions[
            self._may_precede_blank[prefix_index[positions]] | ~has_space[positions]
        ]
        if not len(positions):
            return ()
        following = keys.take(positions + 1, mode="clip")
        continues = self._inner_keys[np.searchsorted(self._inner_keys, following)] == following
        positions = positions[self._may_precede_blank[prefix_index[positions]] | continues]
        prefix_index, space_after = prefix_index[positions], has_space[positions]

        doc_starts = offsets([len(doc) for doc in docs])
        owner = np.searchsorted(doc_starts, positions, side="right") - 1
        start = positions - doc_starts[owner]
        is_isolated = space_after & (has_space[positions - 1] | (start == 0))
        columns = owner, start, prefix_index, is_isolated
        return zip(*(column.tolist() for column in columns), strict=True)

    def _match(self, doc: Doc, start: int, max_rest: int) -> Span | None:
        """Return the longest listed word that begins at the token ``start``, or None.

        ``max_rest`` only bounds the text that is searched: no listed word that begins with this
        token has more characters after it. None also if the longest word ends inside a token; a
        shorter one is not tried then.
        """
        first = max(start - CONTEXT_TOKENS, 0)
        text = doc[first : start + 1 + max_rest + CONTEXT_TOKENS].text
        begin = doc[start].idx
        match = self._pattern.match(text, begin - doc[first].idx)
        return None if match is None else doc.char_span(begin, begin + len(match[0]))

    @cached_property
    def _prefixes(self) -> list[TokenPrefix]:
        """Return an entry for each distinct text with which a listed word may begin, sorted by key.

        Whole words are included, and words with an apostrophe occur in both forms. ``word`` is set
        only if the text is a word and no longer word goes on with a blank after it.
        """
        whole: dict[str, str] = {}
        rests: dict[str, list[str]] = {}
        for word in self.words:
            for printed in _variants(word):
                whole[printed] = word
                for size in range(1, len(printed) + 1):
                    rests.setdefault(printed[:size], []).append(printed[size:])
        strings, prefixes = StringStore(), list[TokenPrefix]()
        for text, endings in rests.items():
            has_blank = any(rest.startswith(" ") for rest in endings)
            whole_word = None if has_blank else whole.get(text)
            may_precede_blank, max_rest = has_blank or text in whole, max(map(len, endings))
            prefixes.append(TokenPrefix(strings.add(text), whole_word, may_precede_blank, max_rest))
        return sorted(prefixes)

    @cached_property
    def _keys(self) -> NDArray[np.uint64]:
        """Return the sorted keys of ``_prefixes``, followed by the largest uint64 as a sentinel."""
        return _sorted_keys(prefix.key for prefix in self._prefixes)

    @cached_property
    def _may_precede_blank(self) -> NDArray[np.bool_]:
        """Return, for each of ``_prefixes``, whether a blank may follow it in the text.

        True if it is a word or if a word goes on with a blank after it. A last entry, for the
        sentinel of ``_keys``, is False.
        """
        return np.array([*(prefix.may_precede_blank for prefix in self._prefixes), False])

    @cached_property
    def _inner_keys(self) -> NDArray[np.uint64]:
        """Return the sorted keys of texts that may follow a word's first token, and a sentinel.

        These are all substrings of the words that do not begin at the first character, with
        apostrophes in both forms. The sentinel is the largest uint64.
        """
        strings, keys = StringStore(), set[int]()
        for printed in (each for word in self.words for each in _variants(word)):
            ends = combinations(range(1, len(printed) + 1), 2)
            keys.update(strings.add(printed[start:end]) for start, end in ends)
        return _sorted_keys(keys)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        """Return a regular expression that matches any listed word, longest first, as a whole word.

        A match must not be next to a word character, nor to one of ``-'’./@`` that joins it to a
        further word character.
        """
        each = (_word_pattern(word) for word in sorted(self.words, key=lambda w: (-len(w), w)))
        return re.compile(rf"(?<!\w)(?<!\w[-'’./@])(?:{'|'.join(each)})(?!\w|[-'’./@]\w)")


def normalize_word(text: str) -> str:
    """Return a printed word as it is listed: straight apostrophes and single spaces.

    >>> normalize_word("it’s"), normalize_word("may  be")
    ("it's", 'may be')
    """
    return re.sub(r"\s+", " ", text.replace("’", "'"))


def _sorted_keys(keys: Iterable[int]) -> NDArray[np.uint64]:
    """Return sorted keys followed by the largest uint64, a sentinel for binary search.

    No token has that key.
    """
    return np.array([*sorted(keys), np.iinfo(np.uint64).max], dtype=np.uint64)


def _variants(word: str) -> Iterator[str]:
    """Yield the word with each apostrophe in both forms, straight and curly.

    White space inside it becomes single spaces. A word with k apostrophes has 2 ** k variants.
    """
    letters = ["'’" if letter == "'" else letter for letter in " ".join(word.split())]
    return map("".join, product(*letters))


def _word_pattern(word: str) -> str:
    """Return a regular expression for a word: any white space inside, either form of apostrophe."""
    return r"\s+".join(re.escape(part).replace("'", "['’]") for part in word.split())
