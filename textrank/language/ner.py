"""Named entity recognition with a linear-chain conditional random field (CRF).

The module has three parts, in this order:

1. The CRF: ``compute_marginals`` (forward-backward, for training) and ``decode_tags`` (Viterbi, for
   prediction). A tag sequence scores the sum of an emission score per word and a transition score
   per pair of neighbouring tags; its probability is proportional to the exponential of the score.
   Texts of different lengths are processed side by side: step ``t`` handles word ``t`` of every
   text that has one, longest texts first, so that nothing is padded.
2. Span repair: ``fix_spans`` and ``trim_span`` clean up predicted spans by rules.
3. The spaCy components ``NameRecognizer`` (``doc.ents``) and ``GeneRecognizer`` (``doc.spans``),
   their network ``build_tag_network`` and their factories.

Tags are BILOU: O is 0, and label ``k`` has B, I, L, U = ``4 k + 1 .. 4 k + 4``.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain as chain_iterables
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import ENT_IOB, ENT_TYPE, ORTH
from spacy.language import Language
from spacy.pipeline import TrainablePipe
from spacy.pipeline.tok2vec import Tok2VecListener
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import Linear, Model, chain, list2ragged, with_array
from thinc.types import Floats2d, Ragged

from textrank.language._encoder import single_thread_blas
from textrank.language.abbreviations import AbbreviationPair, find_abbreviations
from textrank.language.normalization import (
    NormalizedWords,
    get_word_texts,
    normalize_words,
    paragraph_lengths,
    strip_non_words,
)

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.intp]
# Factor of a tag that is not allowed; not zero, so that an impossible gold standard has a gradient.
_FORBIDDEN_WEIGHT = 1e-100
_MIN_WEIGHT = 1e-280  # keeps every sum of weights above zero
ENTITIES_KEY = "entities"  # span group of gene and protein names
PROTEINS_KEY = "proteins"  # span group of single proteins, trimmed to their shortest names


@dataclass(frozen=True, eq=False)
class Marginals:
    """Log partition function and marginals of a CRF, over a batch of texts."""

    log_partition: float  # summed over the texts
    tag_marginals: Floats  # (words, tags) probability of each tag of each word
    transition_counts: Floats  # (tags + 1, tags + 1) expected number of transitions, row to column


@dataclass(frozen=True, eq=False)
class _TimeSteps:
    """Processing order of the words of a batch: all first words, then all second words, etc.

    Step ``t`` consists of word ``t`` of every text with more than ``t`` words, longest text first.
    So the texts of a step are the first texts of the step before it.
    """

    order: Ints  # (words,) word indices in processing order; within a step the longest text first
    bounds: Sequence[tuple[int, int]]  # start and end of each step in that order
    n_texts: int  # number of non-empty texts
    last_words: Ints  # (texts,) position in that order of the last word of each text

    @classmethod
    def from_lengths(cls, lengths: Sequence[int]) -> _TimeSteps:
        """Build the order for texts of these numbers of words; empty texts are ignored.

        Of texts of equal length the first comes first. There must be at least one word.
        """
        sizes = np.asarray([length for length in lengths if length], dtype=np.intp)
        ends = np.cumsum(sizes)
        time = np.arange(sizes.sum()) - np.repeat(ends - sizes, sizes)
        rank = np.empty(len(sizes), dtype=np.intp)
        rank[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
        order = np.lexsort((np.repeat(rank, sizes), time))
        bounds = list(pairwise([0, *np.cumsum(np.bincount(time)).tolist()]))
        position = np.empty(len(order), dtype=np.intp)
        position[order] = np.arange(len(order))
        return cls(order, bounds, len(sizes), position[ends - 1])


def legal_transitions(n_labels: int) -> Bools:
    """Return the mask of legal BILOU transitions, shape ``(tags + 1, tags + 1)``, row to column.

    There are ``tags = 4 * n_labels + 1`` tags: 0 is outside, label k has 4 k + 1 to 4 k + 4 for
    begin, inside, last and unit. The last row stands for the start of a text and the last column
    for its end.
    """
    n_tags = 4 * n_labels + 1
    opens, closes = np.zeros(n_tags + 1, dtype=bool), np.zeros(n_tags + 1, dtype=bool)
    opens[[0, *range(1, n_tags, 4), *range(4, n_tags, 4), n_tags]] = True
    closes[[0, *range(3, n_tags, 4), *range(4, n_tags, 4), n_tags]] = True
    legal = closes[:, None] & opens
    for begin in range(1, n_tags, 4):
        legal[begin : begin + 2, begin + 1 : begin + 3] = True
    return legal


def compute_marginals(
    emissions: Floats, transitions: Floats, lengths: Sequence[int], allowed: Bools | None = None
) -> Marginals:
    """Compute tag marginals and expected transition counts by the forward-backward algorithm.

    Parameters
    ----------
    emissions
        (words, tags) scores of each tag of each word, one text after the other.
    transitions
        (tags + 1, tags + 1) scores from row to column; the last row is the start of a text, the
        last column its end; -inf where a transition is illegal.
    lengths
        Number of words of each text, in the order of the rows; they sum to the number of rows.
    allowed
        (words, tags) mask. Tags that are not allowed get a negligible weight, which gives the
        marginals under the constraint of a gold standard. None allows all.

    Returns
    -------
    Marginals
        Its tag marginals are in the order of ``emissions``. Zeros if there are no words.

    Notes
    -----
    Weights are scaled per word, so that long texts do not underflow. O(words * tags ** 2).
    """
    if not len(emissions):
        return Marginals(0.0, np.zeros_like(emissions), np.zeros_like(transitions))
    steps = _TimeSteps.from_lengths(lengths)
    max_emission = emissions.max(axis=1, keepdims=True)
    weights = np.exp(emissions - max_emission)
    if allowed is not None:
        weights = np.where(allowed, weights, weights * _FORBIDDEN_WEIGHT)
    weights = np.maximum(weights, _MIN_WEIGHT)[steps.order]
    max_transition = transitions.max()
    factors = np.exp(transitions - max_transition)
    forward, scale = _run_forward(steps, weights, factors)
    end_weights = forward[steps.last_words] @ factors[:-1, -1]
    scaled_weights = weights / scale
    backward = _run_backward(steps, scaled_weights, factors, end_weights)
    tag_marginals = np.empty_like(forward)
    tag_marginals[steps.order] = forward * backward
    log_partition = np.log(scale).sum() + np.log(end_weights).sum() + max_emission.sum()
    log_partition += max_transition * (len(weights) + steps.n_texts)
    return Marginals(
        float(log_partition),
        tag_marginals,
        _expected_transitions(steps, factors, forward, scaled_weights * backward, end_weights),
    )


def _run_forward(steps: _TimeSteps, weights: Floats, factors: Floats) -> tuple[Floats, Floats]:
    """Return the filtered tag probabilities and the scale of each word, both in processing order.

    ``forward[i]``, a row of shape (tags,), is the distribution of the tag of word ``i`` given the
    words of its text up to it; the scale, shape (words, 1), is the sum by which that row was
    divided. ``weights`` (words, tags) are exponentiated emissions in processing order, ``factors``
    (tags + 1, tags + 1) exponentiated transitions.
    """
    forward, scales = np.empty_like(weights), np.empty((len(weights), 1))
    predicted = np.repeat(factors[-1:, :-1], steps.n_texts, axis=0)
    inner_factors = factors[:-1, :-1]
    for start, stop in steps.bounds:
        shares = predicted[: stop - start] * weights[start:stop]
        total = shares.sum(axis=1, keepdims=True)
        shares /= total
        forward[start:stop], scales[start:stop] = shares, total
        predicted = shares @ inner_factors
    return forward, scales


def _run_backward(
    steps: _TimeSteps, scaled_weights: Floats, factors: Floats, end_weights: Floats
) -> Floats:
    """Return backward weights such that ``forward * backward`` are the tag marginals.

    All (words, tags) arrays are in processing order. ``scaled_weights`` are exponentiated emissions
    divided by the scale of their word (``_run_forward``), ``factors`` exponentiated transitions,
    and ``end_weights`` (texts,) the probability-weighted factor of ending after the last word of
    each text.
    """
    backward = np.empty_like(scaled_weights)
    backward[steps.last_words] = factors[:-1, -1] / end_weights[:, None]
    inner_factors = np.ascontiguousarray(factors[:-1, :-1].T)
    for (start, _), (later, stop) in reversed(list(pairwise(steps.bounds))):
        rows = stop - later
        backward[start : start + rows] = (
            scaled_weights[later:stop] * backward[later:stop]
        ) @ inner_factors
    return backward


def _expected_transitions(
    steps: _TimeSteps, factors: Floats, forward: Floats, arrivals: Floats, end_weights: Floats
) -> Floats:
    """Return the expected number of each transition, shape (tags + 1, tags + 1).

    It is summed over the batch. ``factors`` are exponentiated transitions, ``forward`` (words,
    tags) the filtered tag probabilities, ``arrivals`` (words, tags) scaled weights times backward
    weights, both in processing order, and ``end_weights`` (texts,) the weights of ending after each
    text's last word.
    """
    has_next = np.ones(len(forward), dtype=bool)
    has_next[steps.last_words] = False
    counts = np.zeros_like(factors)
    counts[:-1, :-1] = forward[has_next].T @ arrivals[steps.n_texts :]
    counts[-1, :-1] = arrivals[: steps.n_texts].sum(axis=0)
    counts[:-1, -1] = (forward[steps.last_words] / end_weights[:, None]).sum(axis=0)
    return counts * factors


# Texts are cut only if the batch has fewer words than this many times the longest text, that is,
# if too few texts could be processed side by side; pieces have at least so many words.
_MAX_CUT_RATIO = 24
_MIN_PIECE_WORDS = 24


def decode_tags(emissions: Floats, transitions: Floats, lengths: Sequence[int]) -> Ints:
    """Return the tag number of each word in the best tag sequence, shape (words,), by Viterbi.

    ``emissions`` (words, tags) are the scores of texts one after the other, ``transitions`` (tags +
    1, tags + 1) those from row to column (the last row is the start, the last column the end of a
    text; -inf if illegal), ``lengths`` the words of each text. Tags must be those of
    ``legal_transitions``. Words are in the order of ``emissions``; no words give an empty array. If
    a few long texts dominate the batch, they are first cut after words that provably have tag O in
    the best sequence (``_is_surely_outside``), so that more words are processed side by side. The
    result is exact.
    """
    if not len(emissions):
        return np.zeros(0, dtype=np.intp)
    sizes = np.asarray([length for length in lengths if length], dtype=np.intp)
    ends = np.cumsum(sizes)
    max_length = sizes.max()
    is_unbalanced = max_length > _MIN_PIECE_WORDS and len(emissions) < _MAX_CUT_RATIO * max_length
    cuts = _find_cuts(emissions, transitions, ends) if is_unbalanced else np.zeros(0, dtype=np.intp)
    steps = _TimeSteps.from_lengths(np.diff(np.union1d(ends, cuts), prepend=0).tolist())
    is_text_start = np.isin(steps.order[: steps.n_texts], np.append(0, ends))
    scores = emissions.T[:, steps.order]  # becomes the score of the best path to each tag
    scores[:, : steps.n_texts] += np.where(
        is_text_start, transitions[-1:, :-1].T, transitions[:1, :-1].T
    )
    inner_transitions = transitions[:-1, :-1, None]
    for (start, _), (later, stop) in pairwise(steps.bounds):
        previous = scores[:, None, start : start + stop - later]
        path_scores = previous + inner_transitions  # (from, to, text)
        scores[:, later:stop] += path_scores.max(axis=0)
    is_cut_end = np.isin(steps.order, cuts - 1)
    return _trace_back(steps, np.ascontiguousarray(scores.T), transitions, is_cut_end)


def _find_cuts(emissions: Floats, transitions: Floats, ends: Ints) -> Ints:
    """Return the indices of the words before which texts are cut, ascending.

    ``ends`` are the cumulated numbers of words of the texts. Each piece before a cut has at least
    ``_MIN_PIECE_WORDS`` words; the word before a cut surely has tag O.
    """
    possible_cuts = np.flatnonzero(_is_surely_outside(emissions, transitions, ends)) + 1
    cuts, last_cut = [], 0
    starts = np.append(0, ends)
    for cut, text_start in zip(
        possible_cuts.tolist(),
        starts[np.searchsorted(starts, possible_cuts, side="right") - 1].tolist(),
        strict=True,
    ):
        if cut - max(last_cut, text_start) >= _MIN_PIECE_WORDS:
            cuts.append(cut)
            last_cut = cut
    return np.array(cuts, dtype=np.intp)


def _is_surely_outside(emissions: Floats, transitions: Floats, ends: Ints) -> Bools:  # (words,)
    """Return the mask of words that are certainly outside any name in the best tag sequence.

    ``emissions`` (words, tags) and ``transitions`` (tags + 1, tags + 1) are scores; ``ends`` are
    the cumulated numbers of words of the texts. The mask may miss words that are outside, but
    contains none inside a name.

    Consider a run of words in which O scores higher than any other tag. A name that covers a word
    of the run scores less than the same name without the run's words, if these gain more than is
    lost: by other transitions at both ends of the name and, where the name extends beyond the run,
    by another tag there.
    """
    finite_transitions = transitions[np.isfinite(transitions)]
    # Upper bound of what changing one transition costs.
    max_loss = finite_transitions.max() - finite_transitions.min()
    is_start = np.zeros(len(emissions), dtype=bool)
    is_start[np.append(0, ends[:-1])] = True
    is_end = np.append(is_start[1:], True)
    begin, inside, last_tag, unit = (emissions[:, first::4] for first in range(1, 5))
    loss_before = np.maximum(begin - unit, inside - last_tag).max(axis=1) + max_loss
    loss_after = np.maximum(inside - begin, last_tag - unit).max(axis=1) + max_loss
    loss_before = np.where(is_start, 0.0, np.roll(loss_before, 1))  # of the word before a run
    loss_after = np.where(is_end, 0.0, np.roll(loss_after, -1))
    begin_tags = range(1, len(transitions) - 1, 4)
    inner_gain = max(transitions[b : b + 2, b + 1 : b + 3].max() for b in begin_tags)
    inner_gain -= transitions[0, 0]
    gain = emissions[:, 0] - emissions[:, 1:].max(axis=1) - max(inner_gain, 0.0)
    gain_left = _min_gain_before(gain, loss_before, is_start)
    gain_right = _min_gain_before(gain[::-1], loss_after[::-1], is_end[::-1])[::-1]
    is_outside: Bools = (gain > 0) & (gain + gain_left + gain_right > 2 * max_loss)
    return is_outside


def _min_gain_before(gain: Floats, loss: Floats, is_start: Bools) -> Floats:
    """Return a lower bound of what the run gains in the words of a name before each word.

    A run is a series of words of one text with positive gain. It is 0 if the name begins with the
    word, and less if all words of the run before it are in the name and the loss at the run's start
    outweighs them. All arrays have shape (words,).

    Parameters
    ----------
    gain
        How much more O scores than the best other tag of each word.
    loss
        Upper bound of what is lost at the word before, if a run starts at this word; 0 at text
        starts.
    is_start
        Whether the word is the first of its text.
    """
    words = np.arange(len(gain))
    is_run_start = is_start | np.append(True, gain[:-1] <= 0)
    run_start = np.maximum.accumulate(np.where(is_run_start, words, 0))
    cumulative = np.append(0.0, np.cumsum(np.maximum(gain, 0.0))[:-1])
    return np.minimum(cumulative - cumulative[run_start] - loss[run_start], 0.0)


def _trace_back(steps: _TimeSteps, scores: Floats, transitions: Floats, is_cut_end: Bools) -> Ints:
    """Follow the best paths back from the text ends; return the tag of each word in text order.

    ``scores`` (words, tags), in processing order, hold the score of the best path that ends in each
    tag. ``is_cut_end`` (words,), also in processing order, marks the words before a cut; they get
    tag O. Back pointers are recomputed only along the best paths instead of being stored.
    """
    tags = (scores + transitions[:-1, -1]).argmax(axis=1)  # valid at ends of texts
    tags[is_cut_end] = 0
    incoming = np.ascontiguousarray(transitions[:-1, :-1].T)
    for (start, _), (later, stop) in reversed(list(pairwise(steps.bounds))):
        rows = slice(start, start + stop - later)
        tags[rows] = (scores[rows] + incoming[tags[later:stop]]).argmax(axis=1)
    text_tags = np.empty_like(tags)
    text_tags[steps.order] = tags
    return text_tags


TokenRange = tuple[int, int]  # start and end (exclusive)
# Endings of a long form that may be a gene although none was predicted there.
_GENE_LIKE_ENDING = re.compile(
    r"(?:ase|in|or|gen|ine|protein|factor|gene|antigen|ligand|homolog|subunit|domain|family|"
    r"complex|channel|kinase|s|\d|alpha|beta|gamma|delta|kappa)$",
    re.IGNORECASE,
)
_UNAMBIGUOUS_NAME = re.compile(r"(?=.*[A-Z].*[A-Z0-9]|.*\d.*[A-Za-z]|[a-z]+\d).{3,}")
_EDGE_PUNCTUATION = frozenset(
    [".", ",", ";", ":", "!", "?", "...", "…", "=", "<", ">", '"', "“", "”", "/"]
)


def fix_spans(
    doc: Doc,
    spans: Sequence[TokenRange],
    abbreviations: Sequence[AbbreviationPair] | None = None,
    words: WordSpans | None = None,
) -> list[TokenRange]:
    """Clean up predicted spans by rules and add missed ones; return them sorted.

    ``spans`` and the result are token ranges (start, exclusive end); the result does not overlap.
    Spans lose punctuation at their edges and unbalanced brackets, and are dropped if no letter or
    digit is left or if they overlap an earlier one. An abbreviation follows its long form: it is
    added if that is a name, and removed everywhere if that clearly is not
    (``_apply_abbreviations``). A name that is predicted at least as often as it is missed is then
    added wherever it occurs (``WordSpans.find_missed``). ``abbreviations`` are those of
    ``find_abbreviations`` and ``words`` those of the Doc; both are computed if they are None. The
    Doc is not changed. Time grows with the length of the text, and with the number of spans times
    that of abbreviations.
    """
    if words is None:
        words = WordSpans(doc)
    fixed = {clean for span in spans if (clean := words.clean_span(*span)) is not None}
    fixed = words.drop_overlaps(fixed)
    if abbreviations is None:
        abbreviations = find_abbreviations(doc)
    fixed = _apply_abbreviations(words, fixed, abbreviations)
    fixed |= words.find_missed(fixed)
    return sorted(fixed)


class WordSpans:
    """Transliterated words of a Doc, addressed by token ranges.

    Words are the tokens that are not white space or markup. ``token_indices`` holds the token of
    each word, ``words`` its text, and ``word_of_token`` the word index of each token that is a
    word.
    """

    def __init__(self, doc: Doc) -> None:
        """Collect the words of a Doc, with Greek letters, dashes and quotes written in ASCII."""
        normalized = normalize_words(doc, transliterate=True)
        self.token_indices = (
            list(range(len(doc))) if normalized is None else normalized.token_indices.tolist()
        )
        self.words = get_word_texts(doc, normalized)
        self.word_of_token = {token: n for n, token in enumerate(self.token_indices)}

    def words_of(self, start: int, end: int) -> tuple[str, ...]:
        """Return the words in the token range ``start:end``, in order; other tokens are skipped."""
        return tuple(
            self.words[self.word_of_token[i]] for i in range(start, end) if i in self.word_of_token
        )

    def clean_span(self, start: int, end: int) -> TokenRange | None:
        """Return the token range without edge punctuation and with balanced brackets.

        None if no letter or digit is left. A hyphen, a prime or a plus sign may end a name, a full
        stop or a comma never. The range can grow by a closing bracket that follows it.
        """
        words = [n for i in range(start, end) if (n := self.word_of_token.get(i)) is not None]
        while words and self.words[words[0]] in _EDGE_PUNCTUATION:
            words.pop(0)
        while words and self.words[words[-1]] in _EDGE_PUNCTUATION:
            words.pop()
        words = self._close_brackets(words)
        if not words or not any(any(map(str.isalnum, self.words[n])) for n in words):
            return None
        return self.token_indices[words[0]], self.token_indices[words[-1]] + 1

    def _close_brackets(self, indices: list[int]) -> list[int]:
        """Add a missing closing bracket that follows, or cut the span at an unbalanced bracket.

        ``indices`` are consecutive word indices, possibly none; returns them changed, the input is
        kept. Only one missing or surplus bracket of each kind (round, square) is repaired.
        """
        for opening, closing in (("(", ")"), ("[", "]")):
            words = [self.words[n] for n in indices]
            unclosed = words.count(opening) - words.count(closing)
            next_word = indices[-1] + 1 if indices else 0
            if unclosed == 1 and next_word < len(self.words) and self.words[next_word] == closing:
                indices = [*indices, next_word]
            elif unclosed == 1:
                indices = indices[: len(words) - 1 - words[::-1].index(opening)]
            elif unclosed == -1 and words[-1] == closing:
                indices = indices[:-1]
        return indices

    def drop_overlaps(self, spans: Iterable[TokenRange]) -> set[TokenRange]:
        """Return the spans without those that overlap a kept one before them.

        Spans are taken in (start, end) order, so of two with the same start the shorter is kept.
        """
        chosen: set[TokenRange] = set()
        last_end = 0
        for start, end in sorted(spans):
            if start >= last_end:
                chosen.add((start, end))
                last_end = end
        return chosen

    def find_missed(self, spans: set[TokenRange]) -> set[TokenRange]:
        """Return further occurrences of names that were predicted at least as often as missed.

        Names are compared word by word, in the same case. Returns token ranges that overlap neither
        ``spans`` nor each other; where several names begin at a word, only the longest is
        considered. Only names that cannot be ordinary words (``_UNAMBIGUOUS_NAME``) are looked for.
        ``spans`` must not contain a range without words.
        """
        counts = Counter(self.words_of(*name) for name in spans)
        keys = {key for key in counts if _UNAMBIGUOUS_NAME.fullmatch("".join(key))}
        keys_by_first_word: dict[str, list[tuple[str, ...]]] = defaultdict(list)
        for key in sorted(keys, key=len, reverse=True):
            keys_by_first_word[key[0]].append(key)
        taken_tokens = {i for start, end in spans for i in range(start, end)}
        missed: dict[tuple[str, ...], list[TokenRange]] = defaultdict(list)
        for n in [n for n, word in enumerate(self.words) if word in keys_by_first_word]:
            for key in keys_by_first_word[self.words[n]]:
                if tuple(self.words[n : n + len(key)]) == key:
                    span = self.token_indices[n], self.token_indices[n + len(key) - 1] + 1
                    if not taken_tokens & set(range(*span)):
                        missed[key].append(span)
                        taken_tokens |= set(range(*span))
                    break
        accepted = [places for key, places in missed.items() if len(places) <= counts[key]]
        return {span for occurrences in accepted for span in occurrences}


_HEAD_NOUNS = """
gene genes locus allele alleles promoter cdna cdnas mrna mrnas transcript transcripts protein
proteins polypeptide molecule molecules complex complexes
"""
_MODIFIERS = """
human mouse murine rat bovine chicken yeast endogenous exogenous recombinant purified wild-type
mutant mutated
"""
_TRIMMED_LAST, _TRIMMED_FIRST = frozenset(_HEAD_NOUNS.split()), frozenset(_MODIFIERS.split())
_NAME_LIKE = re.compile(r".*[A-Z0-9]")


def trim_span(doc: Doc, start: int, end: int) -> TokenRange:
    """Trim words such as "human" and "gene" from the edges of a name; return its new token range.

    ``start`` and ``end`` are token indices. The last word is removed while it is one of
    ``_TRIMMED_LAST``, then the first while it is one of ``_TRIMMED_FIRST``, both in any case. A
    word is kept if the word next to it is an ordinary one (without capital or digit), as in
    "retinol binding protein". At least one token is left; an empty range is returned as it is.

    >>> import spacy
    >>> doc = spacy.blank("en")("human p53 gene and retinol binding protein")
    >>> trim_span(doc, 0, 3), trim_span(doc, 4, 7)
    ((1, 2), (4, 7))
    """
    words = [token.text for token in doc[start:end]]
    first, last = 0, len(words)
    while (
        last > 1 and words[last - 1].lower() in _TRIMMED_LAST and _NAME_LIKE.match(words[last - 2])
    ):
        last -= 1
    while (
        first < last - 1
        and words[first].lower() in _TRIMMED_FIRST
        and _NAME_LIKE.match(words[first + 1])
    ):
        first += 1
    return start + first, start + last


def _apply_abbreviations(
    words: WordSpans, spans: set[TokenRange], abbreviations: Sequence[AbbreviationPair]
) -> set[TokenRange]:
    """Return the spans with short forms of names added and short forms of other things removed.

    The short form where it is defined is added if its long form is a span (``_is_named``) and no
    span overlaps it. All spans with the words of the short form are removed if its long form
    overlaps no span and does not end like a gene (``_GENE_LIKE_ENDING``). Pairs are applied in
    order; ``spans`` is not changed.
    """
    for short, long in abbreviations:
        short_span, key = (short.start, short.end), words.words_of(short.start, short.end)
        if _is_named(long, spans):
            if not any(start < short_span[1] and short_span[0] < end for start, end in spans):
                spans = spans | {short_span}
        elif not _GENE_LIKE_ENDING.search(long.text) and not _overlaps(long, spans):
            spans = {name for name in spans if words.words_of(*name) != key}
    return spans


def _is_named(long: Span, spans: set[TokenRange]) -> bool:
    """Return whether one of the token ranges ends with ``long`` and starts about where it does.

    It may start up to two tokens before the long form or one token after its start.
    """
    return any(
        end == long.end and start <= long.start + 1 and start >= long.start - 2
        for start, end in spans
    )


def _overlaps(span: Span, spans: set[TokenRange]) -> bool:
    """Return whether a span overlaps one of the token ranges."""
    return any(start < span.end and span.start < end for start, end in spans)


TagNetwork = Model[list[Doc], Ragged]


class LabelledSpan(NamedTuple):
    """Token range of a name in its Doc, with its label."""

    start: int
    end: int
    label: str


def build_tag_network(
    tok2vec: Model[list[Doc], list[Floats2d]], nO: int | None = None
) -> Model[list[Doc], Ragged]:
    """Build the network from Docs to emission scores; ``textrank.NameTags.v1`` in spaCy configs.

    A linear layer with ``nO`` outputs (one per tag; None until initialised) follows ``tok2vec``.
    The parameter ``T`` holds the transition scores, (tags + 1, tags + 1); the last row is the start
    of a text, the last column its end.
    """
    scores: Model[Any, Any] = with_array(Linear(nO, tok2vec.get_dim("nO")))
    layers: TagNetwork = chain(tok2vec, list2ragged(), scores)
    return Model(
        "name_tags",
        _forward_network,
        init=_initialize_network,
        layers=[layers],
        params={"T": None},
        dims={"nO": nO},
    )


def _forward_network(model: TagNetwork, docs: list[Doc], is_train: bool) -> Any:
    """Return the emission scores of Docs and the callback for their gradient.

    A function of the module, because processes that spaCy starts receive the network by pickle.
    """
    return model.layers[0](docs, is_train)


def _initialize_network(model: TagNetwork, X: Any = None, Y: Any = None) -> None:
    """Initialise the layers from the sample Docs ``X``, and the transition scores ``T`` with zeros.

    The dimension ``nO`` (number of tags) must be set. ``Y`` is ignored.
    """
    tags = model.get_dim("nO")
    model.layers[0].layers[-1].layers[0].set_dim("nO", tags)
    model.layers[0].initialize(X=X)
    model.set_param("T", model.ops.alloc2f(tags + 1, tags + 1))


class NameRecognizer(TrainablePipe):  # type: ignore[misc]  # compiled, without types
    """spaCy component that sets ``doc.ents`` to the most probable tag sequence of a CRF.

    Emissions come from the network, transitions from its parameter ``T``; both are trained
    together. Entities that a Doc already has are kept; only predictions that do not overlap them
    are added. Paragraphs are decoded separately.
    """

    any_length = True  # never process in chunks: names of a text support one another

    def __init__(
        self, vocab: Vocab, model: TagNetwork, name: str, *, scorer: Callable[..., Any] | None
    ) -> None:
        """Take the network; there are no labels until ``initialize`` or loading sets them.

        ``scorer`` is what ``nlp.evaluate`` calls with the examples; None for none.
        """
        super().__init__(vocab, model, name, labels=[])
        self.scorer = scorer

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the entity labels; label ``k`` has the tags ``4 k + 1`` to ``4 k + 4``."""
        return tuple(self.cfg["labels"])

    @property
    def label_data(self) -> tuple[str, ...]:
        """Return what ``initialize`` takes as ``labels``."""
        return self.labels

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: list[str] | None = None,
    ) -> None:
        """Set the labels and initialise the network for training.

        Labels are those of the examples' reference entities (``doc.ents``), sorted, if ``labels``
        is None. The first ten examples serve as sample input. ``nlp`` is ignored. Raises ValueError
        if there are no labels.
        """
        examples = list(get_examples())
        if labels is None:
            labels = sorted({ent.label_ for each in examples for ent in each.reference.ents})
        if not labels:
            raise ValueError(
                f"no example for the component {self.name!r} has an entity in doc.ents, so its "
                "labels are unknown. Give examples with entities, or pass the labels."
            )
        self.cfg["labels"] = list(labels)
        for label in labels:
            self.vocab.strings.add(label)
        self.model.set_dim("nO", 4 * len(labels) + 1)
        self.model.initialize(X=[each.predicted for each in examples[:10]])

    def predict(self, docs: Iterable[Doc]) -> list[list[LabelledSpan]]:
        """Return the labelled spans of each Doc as token ranges, in text order and without overlap.

        These are the names of the best tag sequence (``decode_tags``). Paragraphs are decoded
        separately. The Docs are not changed. Spans without letter or digit are dropped.
        """
        docs = list(docs)
        normalized = [normalize_words(doc, transliterate=True) for doc in docs]
        docs_and_words = list(zip(docs, normalized, strict=True))
        paragraphs = [paragraph_lengths(*one) for one in docs_and_words]
        lengths = [sum(paragraph) for paragraph in paragraphs]
        if not any(lengths):
            return [[] for _ in docs]
        with single_thread_blas():
            scores = self._scores(docs, normalized).astype(np.float64)
        best_tags = decode_tags(scores, self._transitions(), list(chain_iterables(*paragraphs)))
        tags_by_doc = np.split(best_tags, np.cumsum(lengths)[:-1])
        spans_by_doc = [tags_to_spans(tags, self.labels) for tags in tags_by_doc]
        return [
            map_to_tokens(*one, spans)
            for one, spans in zip(docs_and_words, spans_by_doc, strict=True)
        ]

    def _scores(self, docs: Sequence[Doc], normalized: Sequence[NormalizedWords | None]) -> Any:
        """Return the emission scores of the words of all Docs, shape (words, tags), Doc after Doc.

        Words are tokens without white space and markup; ``normalized`` holds those of each Doc, or
        None if all its tokens are words.
        """
        if not any(isinstance(node, Tok2VecListener) for node in self.model.walk()):
            return self.model.predict(
                [strip_non_words(doc, transliterate=True) for doc in docs]
            ).dataXd
        scores = self.model.predict(docs).dataXd  # a listener has one row per token
        ends = np.cumsum([len(doc) for doc in docs]).tolist()
        rows = [
            end - len(doc) + (np.arange(len(doc)) if words is None else words.token_indices)
            for doc, words, end in zip(docs, normalized, ends, strict=True)
        ]
        return scores[np.concatenate(rows)]

    def set_annotations(
        self, docs: Sequence[Doc], spans_by_doc: Sequence[Sequence[LabelledSpan]]
    ) -> None:
        """Add the spans to ``doc.ents`` in place unless they overlap existing entities.

        Existing entities stay. Tokens that are blocked (set to no entity by the user) count as
        taken too. If the Doc has no annotation of entities, all other tokens become outside.
        """
        for doc, predicted in zip(docs, spans_by_doc, strict=True):
            spans = [Span(doc, *span) for span in predicted]
            if doc.has_annotation("ENT_IOB"):
                is_taken = doc.to_array([ENT_IOB]) % 2 == 1  # in an entity, or blocked
                spans = [span for span in spans if not is_taken[span.start : span.end].any()]
                doc.set_ents(spans, default="unmodified")
            else:
                doc.set_ents(spans)

    def get_loss(self, examples: Iterable[Example], scores: Ragged) -> tuple[float, Ragged]:
        """Return the negative log-likelihood of the gold entities and its gradient by emissions.

        ``scores`` are the emissions of the examples' predicted tokens, one text per example. The
        loss is summed over the batch; tokens without gold annotation allow every tag. The gradient
        has the shape of ``scores``. The gradient by the transitions is added to that of the
        parameter ``T``.
        """
        allowed = np.concatenate([_allowed_tags(each, self.labels) for each in examples])
        lengths = [int(length) for length in scores.lengths]
        emissions = np.asarray(scores.dataXd, dtype=np.float64)
        unconstrained = compute_marginals(emissions, self._transitions(), lengths)
        constrained = compute_marginals(emissions, self._transitions(), lengths, allowed)
        transition_gradient = unconstrained.transition_counts - constrained.transition_counts
        self.model.inc_grad("T", transition_gradient.astype(np.float32))
        gradient: Any = (unconstrained.tag_marginals - constrained.tag_marginals).astype(np.float32)
        loss = unconstrained.log_partition - constrained.log_partition
        return loss, Ragged(gradient, scores.lengths)

    def _transitions(self) -> Floats:
        """Return the transition scores, shape (tags + 1, tags + 1), -inf where illegal."""
        learned = self.model.get_param("T").astype(np.float64)
        return np.where(legal_transitions(len(self.labels)), learned, -np.inf)


class GeneRecognizer(NameRecognizer):
    """spaCy component that writes gene and protein names to a group of ``doc.spans``.

    So another recogniser can fill ``doc.ents``. A Doc that already has the group keeps it.

    Parameters
    ----------
    key
        Name of the span group.
    narrow
        Whether to trim "gene", "protein", "human" and the like from names (``trim_span``).
    """

    def __init__(
        self,
        vocab: Vocab,
        model: TagNetwork,
        name: str,
        *,
        scorer: Callable[..., Any] | None,
        key: str = ENTITIES_KEY,
        narrow: bool = False,
    ) -> None:
        """Take the network and the settings."""
        super().__init__(vocab, model, name, scorer=scorer)
        self.key = key
        self.narrow = narrow

    def set_annotations(
        self, docs: Sequence[Doc], spans_by_doc: Sequence[Sequence[LabelledSpan]]
    ) -> None:
        """Write the spans, cleaned up by ``fix_spans``, to the group; their ids are e0, e1, ....

        With ``narrow`` they are trimmed after that (``trim_span``). Spans that ``fix_spans`` added
        or changed get the label of the first prediction. A Doc that already has the group is
        skipped; a Doc without names gets an empty group.
        """
        for doc, predicted in zip(docs, spans_by_doc, strict=True):
            if self.key not in doc.spans:
                labels = {(span.start, span.end): span.label for span in predicted}
                default_label = predicted[0].label if predicted else ""
                adjust = trim_span if self.narrow else _keep_span
                doc.spans[self.key] = [
                    Span(
                        doc,
                        *adjust(doc, *span),
                        labels.get(span, default_label),
                        span_id=f"e{index}",
                    )
                    for index, span in enumerate(fix_spans(doc, list(labels)))
                ]


def _keep_span(_: Doc, start: int, end: int) -> tuple[int, int]:
    """Return the range unchanged."""
    return start, end


def tags_to_spans(tags: Ints, labels: Sequence[str]) -> list[LabelledSpan]:
    """Convert the BILOU tags of a text, shape (words,), to labelled ranges of words, in text order.

    ``labels[k]`` is the name of label ``k``, whose tags are 4 k + 1 to 4 k + 4 (begin, inside,
    last, unit); 0 is outside. The tag sequence must be legal.
    """
    position = np.where(tags > 0, (tags - 1) % 4, -1)  # 0 .. 3 for B, I, L, U
    starts = np.flatnonzero((position == 0) | (position == 3))
    ends = np.flatnonzero(position >= 2) + 1
    label_indices = (tags[starts] - 1) // 4
    return [
        LabelledSpan(start, end, labels[label])
        for start, end, label in zip(
            starts.tolist(), ends.tolist(), label_indices.tolist(), strict=True
        )
    ]


def map_to_tokens(
    doc: Doc, normalized: NormalizedWords | None, spans: list[LabelledSpan]
) -> list[LabelledSpan]:
    """Convert ranges of words to ranges of tokens of the Doc.

    ``normalized`` holds the words of the Doc, or is None if all its tokens are words. Spans without
    a letter or digit are dropped (14-3-3 is a name, punctuation is not).
    """
    token_indices = range(len(doc)) if normalized is None else normalized.token_indices
    orths = doc.to_array([ORTH]) if normalized is None else normalized.orths
    strings = doc.vocab.strings
    return [
        LabelledSpan(
            int(token_indices[span.start]), int(token_indices[span.end - 1]) + 1, span.label
        )
        for span in spans
        if any(any(map(str.isalnum, strings[o])) for o in orths[span.start : span.end].tolist())
    ]


def _allowed_tags(example: Example, labels: Sequence[str]) -> Bools:
    """Return the (tokens, tags) mask of tags that the gold standard allows.

    Rows are predicted tokens. Allowed is the gold tag only, or all tags where ``_gold_tags`` does
    not know it. Tag 0 is outside; label k has 4 k + 1 to 4 k + 4 for begin, inside, last and unit.
    """
    tags = _gold_tags(example, labels)
    allowed = np.zeros((len(tags), 4 * len(labels) + 1), dtype=bool)
    allowed[np.arange(len(tags)), tags] = True
    allowed[tags < 0] = True
    return allowed


def _gold_tags(example: Example, labels: Sequence[str]) -> Ints:
    """Return the gold tag of each predicted token, shape (tokens,); -1 where it is unknown.

    Tag 0 is outside; label k has 4 k + 1 to 4 k + 4 for begin, inside, last and unit. Unknown are
    tokens without entity annotation, with a label that is not among ``labels``, or that cannot be
    aligned with the tokens of the reference.
    """
    reference = example.reference
    if not np.array_equal(reference.to_array([ORTH]), example.predicted.to_array([ORTH])):
        tag_numbers = {"O": 0}
        for label_index, label in enumerate(labels):
            tag_numbers |= {
                f"{position}-{label}": 4 * label_index + i
                for i, position in enumerate("BILU", start=1)
            }
        aligned = example.get_aligned_ner()
        return np.array([tag_numbers.get(tag or "", -1) for tag in aligned], dtype=np.intp)
    iob, types = reference.to_array([ENT_IOB]), reference.to_array([ENT_TYPE])
    continues = np.append(iob[1:] == 1, False)
    position = np.where(iob == 3, np.where(continues, 1, 4), np.where(continues, 2, 3))
    tags = np.full(len(iob), -1, dtype=np.intp)
    for label_index, label in enumerate(labels):
        is_label = (types == reference.vocab.strings[label]) & (iob % 2 == 1)
        tags[is_label] = 4 * label_index + position[is_label]
    tags[iob == 2] = 0
    return tags


def score_genes(examples: Iterable[Example], **_: Any) -> dict[str, float]:
    """Return precision, recall and F1 of the predicted genes with exact boundaries.

    Gold entities are ``reference.ents``, predictions the span group ``entities``; labels are
    ignored. Counts are pooled over the examples. Keys are ``genes_p``, ``genes_r`` and ``genes_f``;
    a value without denominator is 0. Further keyword arguments are ignored.
    """
    n_predicted = n_correct = n_gold = 0
    for example in examples:
        gold = {(ent.start_char, ent.end_char) for ent in example.reference.ents}
        predicted = {
            (s.start_char, s.end_char) for s in example.predicted.spans.get(ENTITIES_KEY, ())
        }
        n_predicted += len(predicted)
        n_correct += len(gold & predicted)
        n_gold += len(gold)
    precision = n_correct / n_predicted if n_predicted else 0.0
    recall = n_correct / n_gold if n_gold else 0.0
    total = n_predicted + n_gold
    return {
        "genes_p": precision,
        "genes_r": recall,
        "genes_f": 2 * n_correct / total if total else 0.0,
    }


DEFAULT_MODEL = {
    "@architectures": "textrank.NameTags.v1",
    "tok2vec": {
        "@architectures": "spacy.Tok2VecListener.v1",
        "width": 96,
        "upstream": "*",
    },
}


@Language.factory(
    "textrank_genes",
    assigns=["doc.spans"],
    default_config={"model": DEFAULT_MODEL, "key": ENTITIES_KEY, "narrow": False},
    default_score_weights={"genes_f": 1.0, "genes_p": 0.0, "genes_r": 0.0},
)
def make_genes(
    nlp: Language, name: str, model: TagNetwork, key: str, narrow: bool
) -> GeneRecognizer:
    """Build the component of the factory ``textrank_genes``.

    Only a component that writes to the default group ``entities`` gets a scorer.
    """
    scorer = (
        score_genes if key == ENTITIES_KEY else None
    )  # a second component must not overwrite the scores
    return GeneRecognizer(nlp.vocab, model, name, scorer=scorer, key=key, narrow=narrow)


@Language.factory(
    "textrank_names",
    assigns=["doc.ents", "token.ent_iob", "token.ent_type"],
    default_config={"model": DEFAULT_MODEL, "scorer": {"@scorers": "spacy.ner_scorer.v1"}},
    default_score_weights={"ents_f": 1.0, "ents_p": 0.0, "ents_r": 0.0, "ents_per_type": None},
)
def make_names(
    nlp: Language, name: str, model: TagNetwork, scorer: Callable[..., Any] | None
) -> NameRecognizer:
    """Build the component of the factory ``textrank_names``."""
    return NameRecognizer(nlp.vocab, model, name, scorer=scorer)
