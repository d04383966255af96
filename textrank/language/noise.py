"""Several parses of a sentence from one parser: its own, and those with noise on its weights."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from spacy.attrs import DEP, HEAD, TAG
from spacy.language import Language
from spacy.strings import StringStore
from spacy.tokens import Doc, Span

from textrank.language.arc_eager import Tree as Arcs
from textrank.language.components import WordParser, last_layers
from textrank.language.load import load_nlp, model_path
from textrank.text.words import in_tokens

MIRROR = "en_textrank_mirror"  # the shipped parser that reads backwards
TOGETHER = 256  # sentences that networks see at a time

BIAS = 2.5  # times as much noise as other weights of the last layers: biases are small numbers

Layers: TypeAlias = Literal["all", "last"]
Weights: TypeAlias = Mapping[tuple[int, str], Any]  # of a node of the network, by its id and name


@dataclass(frozen=True)
class Parse:
    """One tree of a sentence: heads count its words from 0, the root's is its own."""

    heads: tuple[int, ...]
    labels: tuple[str, ...]
    tags: tuple[str, ...]
    votes: int  # how many parsers found it
    own: bool  # whether the one without noise did

    def turned(self) -> Parse:
        """The same tree over the words from the last to the first."""
        last = len(self.heads) - 1
        heads = tuple(last - head for head in self.heads[::-1])
        return replace(self, heads=heads, labels=self.labels[::-1], tags=self.tags[::-1])


@dataclass(frozen=True)
class NoisyParser:
    """The distinct parses that a spaCy parser and noisy copies of it find.

    A beam over a parser that was trained greedily is worse than its greedy parse; copies with
    Gaussian noise on each array of the parser's weights, ``sigma`` times the array's standard
    deviation, err differently and are nearly as good. The network below is run once for all
    copies; where noise is on the last layers alone, so is what words add to a state, and a copy
    costs about a third. Words and sentence are kept as given, tags are those of the pipeline.

    Parameters
    ----------
    name
        A spaCy pipeline with a ``parser``, by name or path; the shipped one where empty.
    sigma, copies, seed
        The amount of noise, how many noisy copies there are, and what makes them reproducible.
    layers
        Whose weights have noise: ``"all"`` of the parser, or the ``"last"``: those that score, and
        the bias of the numbers they see, with ``BIAS`` times as much.
    backwards
        Whether the parser reads sentences from their last word to their first, see ``mirror``.
    """

    name: str = ""
    sigma: float = 0.2
    copies: int = 24
    seed: int = 0
    layers: Layers = "all"
    backwards: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.sigma < math.inf:
            raise ValueError(f"sigma must be finite and not below 0, got {self.sigma}")
        if self.copies < 0 or self.seed < 0:
            raise ValueError(
                f"copies and seed must not be below 0, got {self.copies} and {self.seed}"
            )
        if self.layers not in get_args(Layers):
            raise ValueError(
                f"layers must be one of {', '.join(get_args(Layers))}, got {self.layers!r}"
            )

    def __call__(self, sentences: Sequence[Span]) -> list[list[Parse]]:
        """For each sentence its distinct parses, the parser's own first, then by votes."""
        nlp = _language(self.name)
        docs = [_alone(sentence, nlp, self.backwards) for sentence in sentences]
        before = nlp.pipe_names[: nlp.pipe_names.index("parser")]
        with nlp.select_pipes(enable=before):
            docs = list(nlp.pipe(docs, batch_size=TOGETHER))
        strings = nlp.vocab.strings
        tags = [tuple(strings[tag] for tag in doc.to_array(TAG).tolist()) for doc in docs]
        noise = _noise(self.name, self.sigma, self.copies, self.seed, self.layers)
        own, *noisy = _trees(nlp, docs, [{}, *noise])
        found = []
        for i, first in enumerate(own):
            votes = Counter([first, *(trees[i] for trees in noisy)])
            best = sorted(votes.items(), key=lambda item: (item[0] != first, -item[1]))
            parses = [Parse(*t, tags[i], count, own=t == first) for t, count in best]
            found.append([parse.turned() for parse in parses] if self.backwards else parses)
        return found


LabelledHeads: TypeAlias = tuple[tuple[int, ...], tuple[str, ...]]


def _trees(
    nlp: Language, docs: Sequence[Doc], copies: Sequence[Weights]
) -> list[list[LabelledHeads]]:
    """What the parser finds with each of these weights; most of it more than once."""
    parser: Any = nlp.get_pipe("parser")
    states = [
        [(n, _arcs(s), s) for n, s in enumerate(own)] for own in _states(parser, docs, copies)
    ]
    distinct = {(n, arcs): state for own in states for n, arcs, state in own}
    parses = _parsed(parser, [docs[n] for n, _ in distinct], list(distinct.values()))
    names = _Strings(nlp.vocab.strings)
    known = {key: _tree(*parse, names) for key, parse in zip(distinct, parses, strict=True)}
    return [[known[n, arcs] for n, arcs, _ in own] for own in states]


def _states(parser: Any, docs: Sequence[Doc], copies: Sequence[Weights]) -> Iterator[Any]:
    if isinstance(parser, WordParser):
        yield from parser.predict_copies(docs, copies)
        return
    for weights in copies:
        with parser.model.use_params(weights):
            yield parser.predict(docs)


def _parsed(parser: Any, docs: Sequence[Doc], states: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    """Steps to the head and labels of the tokens; our parser says them without setting them."""
    if isinstance(parser, WordParser) and all(isinstance(state, Arcs) for state in states):
        parses = parser.finished(docs, states)
        yield from (in_tokens(doc, *own) for doc, own in zip(docs, parses, strict=True))
        return
    for doc, state in zip(docs, states, strict=True):
        copy = doc.copy()
        parser.set_annotations([copy], [state])
        table: Any = copy.to_array([HEAD, DEP])
        yield table[:, 0], table[:, 1]


def _arcs(state: Any) -> Hashable:
    """What tells apart what our parser found, or spaCy's own."""
    if isinstance(state, Arcs):
        return state.heads.tobytes(), state.labels.tobytes()
    return frozenset((arc["child"], arc["head"], arc["label"]) for arc in state.arcs)


def _tree(steps: Any, kinds: Any, strings: Mapping[int, str]) -> LabelledHeads:
    """The tree of arrays of steps to the head and labels."""
    heads = (steps.astype(np.int64) + np.arange(len(steps))).tolist()
    labels = [strings[label] for label in kinds.tolist()]
    roots = [i for i, head in enumerate(heads) if head == i]
    for extra in roots[1:]:  # a sentence is one tree, whatever the parser left unattached
        heads[extra], labels[extra] = roots[0], "dep"
    return tuple(heads), tuple(labels)


class _Strings(dict[int, str]):
    """Strings by hash, each asked for once."""

    def __init__(self, store: StringStore) -> None:
        super().__init__()
        self._store = store

    def __missing__(self, key: int) -> str:
        found = self[key] = str(self._store[key])
        return found


def _alone(sentence: Span, nlp: Language, backwards: bool) -> Doc:
    words = [token.text for token in sentence]
    starts: Any = [i == 0 for i in range(len(sentence))]
    if backwards:
        return Doc(nlp.vocab, words=words[::-1], sent_starts=starts)
    spaces = [bool(token.whitespace_) for token in sentence]
    return Doc(nlp.vocab, words=words, spaces=spaces, sent_starts=starts)


# Loading takes a second or two, and texts come one after the other.
@lru_cache(maxsize=4)
def _language(name: str) -> Language:
    nlp = load_nlp(model_path(MIRROR) if name == MIRROR else name or None)
    if "parser" not in nlp.pipe_names:
        raise ValueError(
            f"the spaCy pipeline {name!r} has no component 'parser', only "
            f"{', '.join(nlp.pipe_names) or 'none'}. Name one that parses."
        )
    return nlp


@lru_cache(maxsize=4)
def _noise(name: str, sigma: float, copies: int, seed: int, layers: Layers) -> tuple[Weights, ...]:
    parser: Any = _language(name).get_pipe("parser")
    model = parser.model
    own = {
        (node.id, param): np.asarray(node.get_param(param))
        for node in model.walk()
        for param in node.param_names
        if node.has_param(param)
    }
    amounts = {key: sigma * array.std() for key, array in own.items()}
    if layers == "last":
        bias, last = (model.layers[1].id, "b"), last_layers(model)
        amounts = {key: amount for key, amount in amounts.items() if key in last}
        amounts[bias] *= BIAS
    rng = np.random.default_rng(seed)
    return tuple(
        {
            key: own[key] + amount * rng.standard_normal(own[key].shape, np.float32)
            for key, amount in amounts.items()
        }
        for _ in range(copies)
    )
