"""Linear-chain conditional random fields over texts of any lengths, worked on side by side.

The tags of a text score the sum of an emission for each word and tag and of a transition for each
two neighbouring tags, and are as probable as the exponential of that says. What lies between words
``t`` and ``t + 1`` is one step for all texts that are so long. Within a step the longest texts
stand first, so that those that go on are its first rows and nothing is padded.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
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
from textrank.language.abbreviations import find_abbreviations
from textrank.language.alignment import (
    NormalizedWords,
    get_word_texts,
    normalize_words,
    paragraph_lengths,
    strip_non_words,
)

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.intp]
_LEAST = 1e-100  # weight of a tag that is not allowed: an impossible answer has a gradient too
_TINY = 1e-280  # keeps weights off zero, so that no sum of them is


@dataclass(frozen=True, eq=False)
class Marginals:
    """What follows from the scores of the tags of some texts."""

    log_partition: float  # logarithm of the weight of all sequences of tags, summed over the texts
    tag_marginals: Floats  # (words, tags): how probable a tag is
    transition_counts: (
        Floats  # (tags + 1, tags + 1): how often one tag is expected to follow another
    )


@dataclass(frozen=True, eq=False)
class _Steps:
    """In which order the words of some texts are worked on."""

    order: Ints  # words, the first ones of all texts first
    bounds: Sequence[tuple[int, int]]  # of the steps in that order
    first: int  # number of texts
    last: Ints  # places in that order of the last words of texts

    @classmethod
    def of(cls, lengths: Sequence[int]) -> _Steps:
        sizes = np.asarray([length for length in lengths if length], dtype=np.intp)
        ends = np.cumsum(sizes)
        time = np.arange(sizes.sum()) - np.repeat(ends - sizes, sizes)
        rank = np.empty(len(sizes), dtype=np.intp)
        rank[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
        order = np.lexsort((np.repeat(rank, sizes), time))
        bounds = list(pairwise([0, *np.cumsum(np.bincount(time)).tolist()]))
        place = np.empty(len(order), dtype=np.intp)
        place[order] = np.arange(len(order))
        return cls(order, bounds, len(sizes), place[ends - 1])


def legal_transitions(labels: int) -> Bools:
    """Which tag may follow which, ``(tags + 1, tags + 1)``; the last stands for a text's ends.

    Tags are O, then for each label B (begins a name), I (inside), L (last) and U (one word alone).
    """
    tags = 4 * labels + 1
    opens, closes = np.zeros(tags + 1, dtype=bool), np.zeros(tags + 1, dtype=bool)
    opens[[0, *range(1, tags, 4), *range(4, tags, 4), tags]] = True
    closes[[0, *range(3, tags, 4), *range(4, tags, 4), tags]] = True
    legal = closes[:, None] & opens
    for begin in range(1, tags, 4):
        legal[begin : begin + 2, begin + 1 : begin + 3] = True
    return legal


def compute_marginals(
    emissions: Floats, transitions: Floats, lengths: Sequence[int], allowed: Bools | None = None
) -> Marginals:
    """How probable tags and pairs of tags are, by the forward-backward algorithm.

    ``emissions`` is (words, tags), one text after the other; ``transitions`` has -inf where a tag
    must not follow another. With ``allowed``, (words, tags), only those tags count.
    """
    if not len(emissions):
        return Marginals(0.0, np.zeros_like(emissions), np.zeros_like(transitions))
    steps = _Steps.of(lengths)
    highest = emissions.max(axis=1, keepdims=True)
    weights = np.exp(emissions - highest)
    if allowed is not None:
        weights = np.where(allowed, weights, weights * _LEAST)
    weights = np.maximum(weights, _TINY)[steps.order]
    top = transitions.max()
    step = np.exp(transitions - top)
    ahead, scale = _forward(steps, weights, step)
    ends = ahead[steps.last] @ step[:-1, -1]
    reached = weights / scale  # times what is behind: the weight of reaching a tag, and going on
    behind = _backward(steps, reached, step, ends)
    tags = np.empty_like(ahead)
    tags[steps.order] = ahead * behind
    total = np.log(scale).sum() + np.log(ends).sum() + highest.sum()
    total += top * (len(weights) + steps.first)
    return Marginals(float(total), tags, _pairs(steps, step, ahead, reached * behind, ends))


def _forward(steps: _Steps, weights: Floats, step: Floats) -> tuple[Floats, Floats]:
    """Shares of the tags given the words so far, and what the shares were divided by."""
    ahead, scale = np.empty_like(weights), np.empty((len(weights), 1))
    before = np.repeat(step[-1:, :-1], steps.first, axis=0)
    inner = step[:-1, :-1]
    for start, stop in steps.bounds:
        own = before[: stop - start] * weights[start:stop]
        total = own.sum(axis=1, keepdims=True)
        own /= total
        ahead[start:stop], scale[start:stop] = own, total
        before = own @ inner
    return ahead, scale


def _backward(steps: _Steps, reached: Floats, step: Floats, ends: Floats) -> Floats:
    """Weight of all that follows each tag, so that times its share it is its chance."""
    behind = np.empty_like(reached)
    behind[steps.last] = step[:-1, -1] / ends[:, None]
    inner = np.ascontiguousarray(step[:-1, :-1].T)
    for (start, _), (later, stop) in reversed(list(pairwise(steps.bounds))):
        rows = stop - later
        behind[start : start + rows] = (reached[later:stop] * behind[later:stop]) @ inner
    return behind


def _pairs(steps: _Steps, step: Floats, ahead: Floats, came: Floats, ends: Floats) -> Floats:
    goes_on = np.ones(len(ahead), dtype=bool)
    goes_on[steps.last] = False
    pairs = np.zeros_like(step)
    pairs[:-1, :-1] = ahead[goes_on].T @ came[steps.first :]
    pairs[-1, :-1] = came[: steps.first].sum(axis=0)
    pairs[:-1, -1] = (ahead[steps.last] / ends[:, None]).sum(axis=0)
    return pairs * step


def decode_tags(emissions: Floats, transitions: Floats, lengths: Sequence[int]) -> Ints:
    """The tag of each word in the sequence that scores highest, by the Viterbi algorithm.

    Tags are those of ``legal_transitions``. Texts are cut after words that are surely in no name.
    """
    if not len(emissions):
        return np.zeros(0, dtype=np.intp)
    sizes = np.asarray([length for length in lengths if length], dtype=np.intp)
    ends = np.cumsum(sizes)
    longest = sizes.max()
    few = longest > _PIECE and len(emissions) < _FEW * longest  # texts to work on side by side
    cuts = _cuts(emissions, transitions, ends) if few else np.zeros(0, dtype=np.intp)
    steps = _Steps.of(np.diff(np.union1d(ends, cuts), prepend=0).tolist())
    begins = np.isin(steps.order[: steps.first], np.append(0, ends))
    scores = emissions.T[:, steps.order]  # becomes that of the best way to each tag
    scores[:, : steps.first] += np.where(begins, transitions[-1:, :-1].T, transitions[:1, :-1].T)
    inner = transitions[:-1, :-1, None]
    for (start, _), (later, stop) in pairwise(steps.bounds):
        ways = scores[:, None, start : start + stop - later] + inner  # from, to, text
        scores[:, later:stop] += ways.max(axis=0)
    sure = np.isin(steps.order, cuts - 1)
    return _trace(steps, np.ascontiguousarray(scores.T), transitions, sure)


_FEW = 24  # texts as long as the longest
_PIECE = 24  # words after which a text is cut as soon as may be


def _cuts(emissions: Floats, transitions: Floats, ends: Ints) -> Ints:
    """Words before which texts may be cut, since the word before them is surely in no name."""
    sure = np.flatnonzero(_sure(emissions, transitions, ends)) + 1
    found, last = [], 0
    starts = np.append(0, ends)
    for cut, begun in zip(
        sure.tolist(), starts[np.searchsorted(starts, sure, side="right") - 1].tolist(), strict=True
    ):
        if cut - max(last, begun) >= _PIECE:
            found.append(cut)
            last = cut
    return np.array(found, dtype=np.intp)


def _sure(emissions: Floats, transitions: Floats, ends: Ints) -> Bools:  # (words,)
    """Which words are surely in no name.

    In a run of words O scores higher than any other tag. A name with a word of the run is worth
    less than the same name without the words of the run, if these win more than is lost: by other
    transitions at both ends of the name, and where it goes on beyond the run by another tag there.
    """
    legal = transitions[np.isfinite(transitions)]
    most = legal.max() - legal.min()  # what another transition loses
    starts = np.zeros(len(emissions), dtype=bool)
    starts[np.append(0, ends[:-1])] = True
    stops = np.append(starts[1:], True)
    begin, inside, last, alone = (emissions[:, first::4] for first in range(1, 5))
    before = np.maximum(begin - alone, inside - last).max(axis=1) + most
    after = np.maximum(inside - begin, last - alone).max(axis=1) + most
    before = np.where(starts, 0.0, np.roll(before, 1))  # what the word before a run loses
    after = np.where(stops, 0.0, np.roll(after, -1))
    begins = range(1, len(transitions) - 1, 4)
    inner = max(transitions[b : b + 2, b + 1 : b + 3].max() for b in begins) - transitions[0, 0]
    won = emissions[:, 0] - emissions[:, 1:].max(axis=1) - max(inner, 0.0)
    left = _won_before(won, before, starts)
    right = _won_before(won[::-1], after[::-1], stops[::-1])[::-1]
    sure: Bools = (won > 0) & (won + left + right > 2 * most)
    return sure


def _won_before(won: Floats, lost: Floats, starts: Bools) -> Floats:
    """What a run wins at least in those words before each that a name with that word has.

    Nothing, if the name begins with the word; with all words before it, less what is lost there.
    """
    words = np.arange(len(won))
    first = starts | np.append(True, won[:-1] <= 0)
    run = np.maximum.accumulate(np.where(first, words, 0))
    total = np.append(0.0, np.cumsum(np.maximum(won, 0.0))[:-1])
    return np.minimum(total - total[run] - lost[run], 0.0)


def _trace(steps: _Steps, scores: Floats, transitions: Floats, sure: Bools) -> Ints:
    """Back along the best ways. Where they came from is worked out only where they go."""
    tags = (scores + transitions[:-1, -1]).argmax(axis=1)  # right where a text ends
    tags[sure] = 0  # or is cut
    into = np.ascontiguousarray(transitions[:-1, :-1].T)
    for (start, _), (later, stop) in reversed(list(pairwise(steps.bounds))):
        rows = slice(start, start + stop - later)
        tags[rows] = (scores[rows] + into[tags[later:stop]]).argmax(axis=1)
    found = np.empty_like(tags)
    found[steps.order] = tags
    return found


TokenRange = tuple[int, int]  # tokens, the end exclusive
# What a long form ends with that may well be a gene, though none was found there.
_GENE = re.compile(
    r"(?:ase|in|or|gen|ine|protein|factor|gene|antigen|ligand|homolog|subunit|domain|family|"
    r"complex|channel|kinase|s|\d|alpha|beta|gamma|delta|kappa)$",
    re.IGNORECASE,
)
_SURE = re.compile(r"(?=.*[A-Z].*[A-Z0-9]|.*\d.*[A-Za-z]|[a-z]+\d).{3,}")


def fix_spans(doc: Doc, names: Sequence[TokenRange]) -> list[TokenRange]:
    """The names without what is none, with those that the text shows to be missing, in order.

    A name has a letter; a bracket in it is closed in it; an abbreviation that the text defines as
    something that is no name is none, one that stands for a name is one; and a name that is found
    at least as often as it is passed over is found everywhere. Linear in the length of the text.
    """
    text = _Tokens(doc)
    found = {place for name in names if (place := text.whole(*name)) is not None}
    found = text.without_overlaps(found)
    found = _abbreviated(doc, text, found)
    found |= text.elsewhere(found)
    return sorted(found)


class _Tokens:
    """The words of a Doc, read in plain letters, by their tokens."""

    def __init__(self, doc: Doc) -> None:
        reading = normalize_words(doc, transliterate=True)
        self.token_indices = (
            list(range(len(doc))) if reading is None else reading.token_indices.tolist()
        )
        self.words = get_word_texts(doc, reading)
        self.number = {token: n for n, token in enumerate(self.token_indices)}

    def key(self, start: int, end: int) -> tuple[str, ...]:
        """The words of some tokens."""
        return tuple(self.words[self.number[i]] for i in range(start, end) if i in self.number)

    def whole(self, start: int, end: int) -> TokenRange | None:
        """The name without punctuation at its edges, its brackets closed; None if nothing is left.

        A hyphen, a prime or a plus may end a name, a stop or a comma never.
        """
        inside = [n for i in range(start, end) if (n := self.number.get(i)) is not None]
        while inside and self.words[inside[0]] in _EDGES:
            inside.pop(0)
        while inside and self.words[inside[-1]] in _EDGES:
            inside.pop()
        inside = self._closed(inside)
        if not inside or not any(any(map(str.isalnum, self.words[n])) for n in inside):
            return None
        return self.token_indices[inside[0]], self.token_indices[inside[-1]] + 1

    def _closed(self, inside: list[int]) -> list[int]:
        for opening, closing in (("(", ")"), ("[", "]")):
            words = [self.words[n] for n in inside]
            more = words.count(opening) - words.count(closing)
            after = inside[-1] + 1 if inside else 0
            if more == 1 and after < len(self.words) and self.words[after] == closing:
                inside = [*inside, after]
            elif more == 1:
                inside = inside[: len(words) - 1 - words[::-1].index(opening)]
            elif more == -1 and words[-1] == closing:
                inside = inside[:-1]
        return inside

    def without_overlaps(self, names: Iterable[TokenRange]) -> set[TokenRange]:
        """Of names that share a token the first."""
        kept: set[TokenRange] = set()
        last = 0
        for start, end in sorted(names):
            if start >= last:
                kept.add((start, end))
                last = end
        return kept

    def elsewhere(self, names: set[TokenRange]) -> set[TokenRange]:
        """Other places of names that are found at least as often as they are not."""
        counts = Counter(self.key(*name) for name in names)
        sure = {key for key in counts if _SURE.fullmatch("".join(key))}
        first: dict[str, list[tuple[str, ...]]] = defaultdict(list)
        for key in sorted(sure, key=len, reverse=True):
            first[key[0]].append(key)
        taken = {i for start, end in names for i in range(start, end)}
        others: dict[tuple[str, ...], list[TokenRange]] = defaultdict(list)
        for n in [n for n, word in enumerate(self.words) if word in first]:
            for key in first[self.words[n]]:
                if tuple(self.words[n : n + len(key)]) == key:
                    place = self.token_indices[n], self.token_indices[n + len(key) - 1] + 1
                    if not taken & set(range(*place)):
                        others[key].append(place)
                        taken |= set(range(*place))
                    break
        return {p for key, own in others.items() if len(own) <= counts[key] for p in own}


_KINDS = """
gene genes locus allele alleles promoter cdna cdnas mrna mrnas transcript transcripts protein
proteins polypeptide molecule molecules complex complexes
"""
_SOURCES = """
human mouse murine rat bovine chicken yeast endogenous exogenous recombinant purified wild-type
mutant mutated
"""
_LAST, _FIRST = frozenset(_KINDS.split()), frozenset(_SOURCES.split())
_NAMING = re.compile(r".*[A-Z0-9]")


def trim_span(doc: Doc, start: int, end: int) -> TokenRange:
    """A name without words before and after it that say whose or what kind of thing it is.

    They are left where the word beside them is a word like others: "TATA-binding protein".

    >>> import spacy
    >>> doc = spacy.blank("en")("human p53 gene and retinol binding protein")
    >>> trim_span(doc, 0, 3), trim_span(doc, 4, 7)
    ((1, 2), (4, 7))
    """
    words = [token.text for token in doc[start:end]]
    first, last = 0, len(words)
    while last > 1 and words[last - 1].lower() in _LAST and _NAMING.match(words[last - 2]):
        last -= 1
    while first < last - 1 and words[first].lower() in _FIRST and _NAMING.match(words[first + 1]):
        first += 1
    return start + first, start + last


_EDGES = frozenset([".", ",", ";", ":", "!", "?", "...", "…", "=", "<", ">", '"', "“", "”", "/"])


def _abbreviated(doc: Doc, text: _Tokens, names: set[TokenRange]) -> set[TokenRange]:
    """Names with short forms of names, and without short forms of what is none."""
    for short, long in find_abbreviations(doc):
        place, key = (short.start, short.end), text.key(short.start, short.end)
        if _named(long, names):
            if not any(start < place[1] and place[0] < end for start, end in names):
                names = names | {place}
        elif not _GENE.search(long.text) and not _overlapping(long, names):
            names = {name for name in names if text.key(*name) != key}
    return names


def _named(long: Span, names: set[TokenRange]) -> bool:
    """Whether the long form is a name, or ends with one that is most of it."""
    return any(
        end == long.end and start <= long.start + 1 and start >= long.start - 2
        for start, end in names
    )


def _overlapping(span: Span, names: set[TokenRange]) -> bool:
    return any(start < span.end and span.start < end for start, end in names)


ENTITIES_KEY = "entities"
PROTEINS_KEY = "proteins"  # the group of single proteins under their narrowest names
Network = Model[list[Doc], Ragged]


class LabelledSpan(NamedTuple):
    """Where a name stands in its Doc, in tokens, and which label it has."""

    start: int
    end: int
    label: str


def build_tag_network(
    tok2vec: Model[list[Doc], list[Floats2d]], nO: int | None = None
) -> Model[list[Doc], Ragged]:
    """Words in context -> scores of their tags; ``textrank.NameTags.v1``.

    The parameter ``T`` holds the scores of a tag after another, as ``legal_transitions`` has them.
    """
    scores: Model[Any, Any] = with_array(Linear(nO, tok2vec.get_dim("nO")))
    layers: Network = chain(tok2vec, list2ragged(), scores)
    return Model(
        "name_tags",
        lambda model, docs, is_train: model.layers[0](docs, is_train),
        init=_init,
        layers=[layers],
        params={"T": None},
        dims={"nO": nO},
    )


def _init(model: Network, X: Any = None, Y: Any = None) -> None:
    tags = model.get_dim("nO")
    model.layers[0].layers[-1].layers[0].set_dim("nO", tags)
    model.layers[0].initialize(X=X)
    model.set_param("T", model.ops.alloc2f(tags + 1, tags + 1))


class NameRecognizer(TrainablePipe):  # type: ignore[misc]  # compiled, without types
    """Names in ``doc.ents``, as the most probable sequence of tags of the whole text.

    Each word begins a name, is inside or at its end, is one alone or in none. A conditional random
    field learns and finds them together, so that no name begins without an end. Names that a Doc
    has already are kept, and only those that share no word with them are added.
    """

    any_length = True  # names of a text support one another, so it is never cut

    def __init__(
        self, vocab: Vocab, model: Network, name: str, *, scorer: Callable[..., Any] | None
    ) -> None:
        super().__init__(vocab, model, name, labels=[])
        self.scorer = scorer

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of names."""
        return tuple(self.cfg["labels"])

    @property
    def label_data(self) -> tuple[str, ...]:
        """What ``initialize`` takes as ``labels``."""
        return self.labels

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: list[str] | None = None,
    ) -> None:
        """Takes the labels from the examples, if none are given, and starts afresh."""
        examples = list(get_examples())
        if labels is None:
            labels = sorted({ent.label_ for each in examples for ent in each.reference.ents})
        if not labels:
            raise ValueError(
                f"no example for the component {self.name!r} has a name in doc.ents, so that its "
                "labels are unknown. Give examples with names, or the labels."
            )
        self.cfg["labels"] = list(labels)
        for label in labels:
            self.vocab.strings.add(label)
        self.model.set_dim("nO", 4 * len(labels) + 1)
        self.model.initialize(X=[each.predicted for each in examples[:10]])

    def predict(self, docs: Iterable[Doc]) -> list[list[LabelledSpan]]:
        """The names of each Doc."""
        docs = list(docs)
        readings = [normalize_words(doc, transliterate=True) for doc in docs]
        both = list(zip(docs, readings, strict=True))
        parts = [paragraph_lengths(*one) for one in both]
        lengths = [sum(own) for own in parts]
        if not any(lengths):
            return [[] for _ in docs]
        with single_thread_blas():
            scores = self._scores(docs, readings).astype(np.float64)
        best = decode_tags(scores, self._transitions(), [n for own in parts for n in own])
        tags = np.split(best, np.cumsum(lengths)[:-1])
        names = [_names(own, self.labels) for own in tags]
        return [_in_tokens(*one, own) for one, own in zip(both, names, strict=True)]

    def _scores(self, docs: Sequence[Doc], readings: Sequence[NormalizedWords | None]) -> Any:
        """Scores of the tags of all words."""
        if not any(isinstance(node, Tok2VecListener) for node in self.model.walk()):
            return self.model.predict(
                [strip_non_words(doc, transliterate=True) for doc in docs]
            ).dataXd
        scores = self.model.predict(docs).dataXd  # what was said of a token depends on no other
        ends = np.cumsum([len(doc) for doc in docs]).tolist()
        kept = [
            end - len(doc) + (np.arange(len(doc)) if own is None else own.token_indices)
            for doc, own, end in zip(docs, readings, ends, strict=True)
        ]
        return scores[np.concatenate(kept)]

    def set_annotations(self, docs: Sequence[Doc], names: Sequence[Sequence[LabelledSpan]]) -> None:
        """Puts the names where they belong."""
        for doc, own in zip(docs, names, strict=True):
            spans = [Span(doc, *name) for name in own]
            if doc.has_annotation("ENT_IOB"):
                taken = doc.to_array([ENT_IOB]) % 2 == 1  # in a name, or barred from being in one
                spans = [span for span in spans if not taken[span.start : span.end].any()]
                doc.set_ents(spans, default="unmodified")
            else:
                doc.set_ents(spans)

    def get_loss(self, examples: Iterable[Example], scores: Ragged) -> tuple[float, Ragged]:
        """Minus the logarithm of how probable the given names are, and its gradient."""
        allowed = np.concatenate([_allowed(each, self.labels) for each in examples])
        lengths = [int(length) for length in scores.lengths]
        emissions = np.asarray(scores.dataXd, dtype=np.float64)
        free = compute_marginals(emissions, self._transitions(), lengths)
        right = compute_marginals(emissions, self._transitions(), lengths, allowed)
        self.model.inc_grad(
            "T", (free.transition_counts - right.transition_counts).astype(np.float32)
        )
        gradient: Any = (free.tag_marginals - right.tag_marginals).astype(np.float32)
        return free.log_partition - right.log_partition, Ragged(gradient, scores.lengths)

    def _transitions(self) -> Floats:
        learned = self.model.get_param("T").astype(np.float64)
        return np.where(legal_transitions(len(self.labels)), learned, -np.inf)


class GeneRecognizer(NameRecognizer):
    """Names in a group of ``doc.spans``, so that another recognizer can fill ``doc.ents``.

    A Doc that has this group, read from a corpus or set by hand, keeps it. ``narrow`` names are
    without "gene", "protein" and the like.
    """

    def __init__(
        self,
        vocab: Vocab,
        model: Network,
        name: str,
        *,
        scorer: Callable[..., Any] | None,
        key: str = ENTITIES_KEY,
        narrow: bool = False,
    ) -> None:
        super().__init__(vocab, model, name, scorer=scorer)
        self.key = key
        self.narrow = narrow

    def set_annotations(self, docs: Sequence[Doc], names: Sequence[Sequence[LabelledSpan]]) -> None:
        """Puts the names where they belong."""
        for doc, own in zip(docs, names, strict=True):
            if self.key not in doc.spans:
                labels = {(name.start, name.end): name.label for name in own}
                usual = own[0].label if own else ""
                cut = trim_span if self.narrow else _whole
                doc.spans[self.key] = [
                    Span(doc, *cut(doc, *place), labels.get(place, usual), span_id=f"e{number}")
                    for number, place in enumerate(fix_spans(doc, list(labels)))
                ]


def _whole(_: Doc, start: int, end: int) -> tuple[int, int]:
    return start, end


def _names(tags: Ints, labels: Sequence[str]) -> list[LabelledSpan]:
    kind = np.where(tags > 0, (tags - 1) % 4, -1)
    starts = np.flatnonzero((kind == 0) | (kind == 3))
    ends = np.flatnonzero(kind >= 2) + 1
    which = (tags[starts] - 1) // 4
    return [
        LabelledSpan(start, end, labels[label])
        for start, end, label in zip(starts.tolist(), ends.tolist(), which.tolist(), strict=True)
    ]


def _in_tokens(
    doc: Doc, reading: NormalizedWords | None, names: list[LabelledSpan]
) -> list[LabelledSpan]:
    """Names given in words, in the tokens of the Doc, of which white space and markup are some.

    A name has a letter or digit (14-3-3 is one); white space and signs name nothing.
    """
    at = range(len(doc)) if reading is None else reading.token_indices
    orths = doc.to_array([ORTH]) if reading is None else reading.orths
    strings = doc.vocab.strings
    return [
        LabelledSpan(int(at[name.start]), int(at[name.end - 1]) + 1, name.label)
        for name in names
        if any(any(map(str.isalnum, strings[o])) for o in orths[name.start : name.end].tolist())
    ]


def _allowed(example: Example, labels: Sequence[str]) -> Bools:
    """Which tags each word may have: the one it has, or any where that is not said."""
    tags = _gold_tags(example, labels)
    allowed = np.zeros((len(tags), 4 * len(labels) + 1), dtype=bool)
    allowed[np.arange(len(tags)), tags] = True
    allowed[tags < 0] = True
    return allowed


def _gold_tags(example: Example, labels: Sequence[str]) -> Ints:
    """The tag of each word, -1 where it is not known."""
    given = example.reference
    if not np.array_equal(given.to_array([ORTH]), example.predicted.to_array([ORTH])):
        known = {"O": 0}
        for number, label in enumerate(labels):
            known |= {f"{kind}-{label}": 4 * number + i for i, kind in enumerate("BILU", start=1)}
        aligned = example.get_aligned_ner()
        return np.array([known.get(tag or "", -1) for tag in aligned], dtype=np.intp)
    iob, types = given.to_array([ENT_IOB]), given.to_array([ENT_TYPE])
    goes_on = np.append(iob[1:] == 1, False)
    kind = np.where(iob == 3, np.where(goes_on, 1, 4), np.where(goes_on, 2, 3))
    tags = np.full(len(iob), -1, dtype=np.intp)
    for number, label in enumerate(labels):
        own = (types == given.vocab.strings[label]) & (iob % 2 == 1)
        tags[own] = 4 * number + kind[own]
    tags[iob == 2] = 0
    return tags


def score_genes(examples: Iterable[Example], **_: Any) -> dict[str, float]:
    """Precision, recall and F of the gene names with exactly their boundaries."""
    found = right = given = 0
    for example in examples:
        gold = {(ent.start_char, ent.end_char) for ent in example.reference.ents}
        names = {(s.start_char, s.end_char) for s in example.predicted.spans.get(ENTITIES_KEY, ())}
        found, right, given = found + len(names), right + len(gold & names), given + len(gold)
    precision = right / found if found else 0.0
    recall = right / given if given else 0.0
    total = found + given
    return {"genes_p": precision, "genes_r": recall, "genes_f": 2 * right / total if total else 0.0}


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
def make_genes(nlp: Language, name: str, model: Network, key: str, narrow: bool) -> GeneRecognizer:
    """What the factory of this name gives."""
    scorer = (
        score_genes if key == ENTITIES_KEY else None
    )  # a second group would report over the first
    return GeneRecognizer(nlp.vocab, model, name, scorer=scorer, key=key, narrow=narrow)


@Language.factory(
    "textrank_names",
    assigns=["doc.ents", "token.ent_iob", "token.ent_type"],
    default_config={"model": DEFAULT_MODEL, "scorer": {"@scorers": "spacy.ner_scorer.v1"}},
    default_score_weights={"ents_f": 1.0, "ents_p": 0.0, "ents_r": 0.0, "ents_per_type": None},
)
def make_names(
    nlp: Language, name: str, model: Network, scorer: Callable[..., Any] | None
) -> NameRecognizer:
    """What the factory of this name gives."""
    return NameRecognizer(nlp.vocab, model, name, scorer=scorer)
