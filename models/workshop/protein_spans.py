"""Train the recogniser of single proteins on a network that is already trained.

Its scores are linear in what the network says of a word, so that they take hardly any time: the
mean of those that are learned here from the event corpora, whose names are as narrow as can be but
of single proteins alone, and of those of the genes of BC2GM, which are wide and of every kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from workshop.evidence import NamedText, allowed_of, marginals

from textrank.language.ner import legal_transitions

Array = NDArray[Any]
LABEL = "PROTEIN"
_FORGET = (0.9, 0.999)  # Adam's


@dataclass(frozen=True)
class HeadSettings:
    """How the scores are learned; ``share`` is theirs in the mean, the rest that of genes."""

    epochs: int = 8
    texts: int = 16  # a step
    rate: float = 0.01  # falls linearly to zero
    decay: float = 1e-5
    dropout: float = 0.1
    share: float = 0.5
    seed: int = 0


HEAD = HeadSettings()


def train_narrow(nlp: Language, texts: Sequence[NamedText], settings: HeadSettings = HEAD) -> None:
    """Lets the recognizer ``proteins`` learn, on a network and ``genes`` that have learned."""
    network: Any = nlp.get_pipe("names_tok2vec")
    genes: Any = nlp.get_pipe("genes")
    proteins: Any = nlp.get_pipe("proteins")
    docs = [Doc(nlp.vocab, words=list(t.words), spaces=list(t.spaces)) for t in texts]
    vectors = [x for at in range(0, len(docs), 32) for x in network.predict(docs[at : at + 32])]
    weights, steps = learn(vectors, [allowed_of(text, [LABEL]) for text in texts], settings)
    if not proteins.labels:
        proteins.initialize(lambda: [Example(docs[0], docs[0])], nlp=nlp, labels=[LABEL])
    own, wide = (_scores(component) for component in (proteins, genes))
    for name, learned in (("W", weights[:-1].T), ("b", weights[-1])):
        both = settings.share * learned + (1 - settings.share) * wide.get_param(name)
        own.set_param(name, both.astype(np.float32))
    both = settings.share * steps + (1 - settings.share) * genes.model.get_param("T")
    proteins.model.set_param("T", both.astype(np.float32))


def _scores(component: Any) -> Any:
    return component.model.layers[0].layers[-1].layers[0]


def learn(
    vectors: Sequence[Array], allowed: Sequence[Array], settings: HeadSettings
) -> tuple[Array, Array]:
    """Weights (numbers of a vector + 1, tags) and transitions of a linear conditional random field.

    By Adam; what is given are the averages over the second half of all epochs. ``allowed`` has the
    mask of ``allowed_of`` for each text.
    """
    draw = np.random.default_rng(settings.seed)
    scale = np.append(np.concatenate(vectors).std(axis=0) + 1e-6, 1.0)
    legal = legal_transitions((allowed[0].shape[1] - 1) // 4)
    learned = [np.zeros((len(scale), len(legal) - 1)), np.where(legal, 0.0, -1e30)]
    trained = [np.ones(learned[0].shape, dtype=bool), legal]
    means = [[np.zeros_like(own) for own in learned] for _ in _FORGET]
    sums, kept, step = [np.zeros_like(own) for own in learned], 0, 0
    steps = settings.epochs * -(-len(vectors) // settings.texts)
    for epoch in range(settings.epochs):
        order = draw.permutation(len(vectors))
        for at in range(0, len(order), settings.texts):
            batch = order[at : at + settings.texts]
            X = np.concatenate([vectors[i] for i in batch])
            X = np.hstack([X, np.ones((len(X), 1))]) / scale
            X *= (draw.random(X.shape) >= settings.dropout) / (1 - settings.dropout)
            slopes = _slopes(X, [allowed[i] for i in batch], learned, settings.decay)
            step += 1
            rate = settings.rate * (1 - step / (steps + 1))
            for own, may, slope, *moments in zip(learned, trained, slopes, *means, strict=True):
                _adam(own, may, slope, moments, step, rate)
            if epoch >= settings.epochs // 2:
                sums, kept = [a + b for a, b in zip(sums, learned, strict=True)], kept + 1
    return sums[0] / kept / scale[:, None], np.where(legal, sums[1] / kept, 0.0)


def _slopes(
    X: Array, allowed: Sequence[Array], learned: Sequence[Array], decay: float
) -> list[Array]:
    bounds = np.append(0, np.cumsum([len(own) for own in allowed]))
    weights, steps = learned
    slopes, pairs = _differences(X @ weights, steps, np.concatenate(allowed), bounds)
    return [X.T @ slopes / len(X) + decay * weights, pairs / len(X)]


def _adam(
    own: Array, may: Array, slope: Array, moments: Sequence[Array], step: int, rate: float
) -> None:
    """One step of Adam where something may be learned, in place."""
    first, second = moments
    for moment, keeps, new in zip(moments, _FORGET, (slope, slope * slope), strict=True):
        moment *= keeps
        moment += (1 - keeps) * new
    a, b = (1 - keeps**step for keeps in _FORGET)
    own -= np.where(may, rate * (first / a) / (np.sqrt(second / b) + 1e-8), 0.0)


@njit(cache=True)
def _differences(scores: Array, steps: Array, allowed: Array, bounds: Array) -> tuple[Array, Array]:
    """Expected tags, and pairs of them, less the given ones."""
    found, pairs = np.zeros_like(scores), np.zeros_like(steps)
    for text in range(len(bounds) - 1):
        a, b = bounds[text], bounds[text + 1]
        if a == b:
            continue
        free, given = np.zeros((b - a, scores.shape[1])), np.zeros((b - a, scores.shape[1]))
        given_pairs = np.zeros_like(steps)
        marginals(scores[a:b], steps, allowed[:0], free, pairs)
        marginals(scores[a:b], steps, allowed[a:b], given, given_pairs)
        found[a:b] = free - given
        pairs -= given_pairs
    return found, pairs
