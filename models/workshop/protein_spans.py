"""Train the recogniser of single proteins on a network that is already trained.

Its scores are linear in the output of the network, which costs hardly any time. They are the mean
of two sets of scores: those trained here on the event corpora, whose names are as short as possible
and of single proteins only, and those of the recogniser of genes (BC2GM), whose names are long and
of all kinds.
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
from workshop.evidence import NamedText, add_marginals, allowed_tags

from textrank.language.ner import legal_transitions

Array = NDArray[Any]
PROTEIN_LABEL = "PROTEIN"
_ADAM_DECAYS = (0.9, 0.999)  # of the running means of gradient and squared gradient


@dataclass(frozen=True)
class HeadSettings:
    """Training of the scores; ``share`` is their weight in the mean with those of genes."""

    epochs: int = 8
    texts: int = 16  # a step
    rate: float = 0.01  # falls linearly to zero
    decay: float = 1e-5
    dropout: float = 0.1
    share: float = 0.5
    seed: int = 0


HEAD_SETTINGS = HeadSettings()


def train_proteins(
    nlp: Language, texts: Sequence[NamedText], settings: HeadSettings = HEAD_SETTINGS
) -> None:
    """Train the component ``proteins`` in place, on the trained network and ``genes``."""
    network: Any = nlp.get_pipe("names_tok2vec")
    genes: Any = nlp.get_pipe("genes")
    proteins: Any = nlp.get_pipe("proteins")
    docs = [Doc(nlp.vocab, words=list(t.words), spaces=list(t.spaces)) for t in texts]
    vectors = [
        x for first in range(0, len(docs), 32) for x in network.predict(docs[first : first + 32])
    ]
    weights, steps = fit_crf(
        vectors, [allowed_tags(text, [PROTEIN_LABEL]) for text in texts], settings
    )
    if not proteins.labels:
        proteins.initialize(lambda: [Example(docs[0], docs[0])], nlp=nlp, labels=[PROTEIN_LABEL])
    layer, gene_layer = (_score_layer(component) for component in (proteins, genes))
    for name, learned in (("W", weights[:-1].T), ("b", weights[-1])):
        mixed = settings.share * learned + (1 - settings.share) * gene_layer.get_param(name)
        layer.set_param(name, mixed.astype(np.float32))
    mixed = settings.share * steps + (1 - settings.share) * genes.model.get_param("T")
    proteins.model.set_param("T", mixed.astype(np.float32))


def _score_layer(component: Any) -> Any:
    """Return the linear layer of a recogniser that computes the scores of tags."""
    return component.model.layers[0].layers[-1].layers[0]


def fit_crf(
    vectors: Sequence[Array], allowed: Sequence[Array], settings: HeadSettings
) -> tuple[Array, Array]:
    """Fit a linear conditional random field; return its weights and transitions.

    Trained by Adam; the result is the average over the second half of all epochs.

    Parameters
    ----------
    vectors
        Per text the output of the network, (words, numbers).
    allowed
        Per text the mask of allowed tags, (words, tags), as ``allowed_tags`` returns it.
    settings
        Epochs, learning rate, weight decay, dropout and seed.

    Returns
    -------
    weights, transitions
        (numbers + 1, tags), the last row being the bias; and (tags + 1, tags + 1), where the last
        index is the boundary of a text and illegal transitions are 0.
    """
    rng = np.random.default_rng(settings.seed)
    scale = np.append(np.concatenate(vectors).std(axis=0) + 1e-6, 1.0)
    legal = legal_transitions((allowed[0].shape[1] - 1) // 4)
    learned = [np.zeros((len(scale), len(legal) - 1)), np.where(legal, 0.0, -1e30)]
    trained = [np.ones(learned[0].shape, dtype=bool), legal]
    means = [[np.zeros_like(values) for values in learned] for _ in _ADAM_DECAYS]
    sums, n_averaged, step = [np.zeros_like(values) for values in learned], 0, 0
    steps = settings.epochs * -(-len(vectors) // settings.texts)
    for epoch in range(settings.epochs):
        order = rng.permutation(len(vectors))
        for first in range(0, len(order), settings.texts):
            batch = order[first : first + settings.texts]
            X = np.concatenate([vectors[i] for i in batch])
            X = np.hstack([X, np.ones((len(X), 1))]) / scale
            X *= (rng.random(X.shape) >= settings.dropout) / (1 - settings.dropout)
            slopes = _gradients(X, [allowed[i] for i in batch], learned, settings.decay)
            step += 1
            rate = settings.rate * (1 - step / (steps + 1))
            for values, mask, slope, *moments in zip(learned, trained, slopes, *means, strict=True):
                _adam_step(values, mask, slope, moments, step, rate)
            if epoch >= settings.epochs // 2:
                sums = [a + b for a, b in zip(sums, learned, strict=True)]
                n_averaged += 1
    return sums[0] / n_averaged / scale[:, None], np.where(legal, sums[1] / n_averaged, 0.0)


def _gradients(
    X: Array, allowed: Sequence[Array], learned: Sequence[Array], decay: float
) -> list[Array]:
    """Return the gradients of weights and transitions for the words of a batch.

    ``X`` (words, numbers + 1) are the scaled inputs with a constant, ``learned`` weights and
    transitions. Means over words; ``decay`` adds the gradient of an L2 penalty on weights.
    """
    bounds = np.append(0, np.cumsum([len(mask) for mask in allowed]))
    weights, steps = learned
    slopes, pairs = _marginal_differences(X @ weights, steps, np.concatenate(allowed), bounds)
    return [X.T @ slopes / len(X) + decay * weights, pairs / len(X)]


def _adam_step(
    values: Array, mask: Array, slope: Array, moments: Sequence[Array], step: int, rate: float
) -> None:
    """Update ``values`` by one Adam step where ``mask`` is true, in place.

    ``moments`` are the running means of gradient and squared gradient, also updated in place;
    ``step`` counts from 1.
    """
    first, second = moments
    for moment, decay, new in zip(moments, _ADAM_DECAYS, (slope, slope * slope), strict=True):
        moment *= decay
        moment += (1 - decay) * new
    a, b = (1 - decay**step for decay in _ADAM_DECAYS)
    values -= np.where(mask, rate * (first / a) / (np.sqrt(second / b) + 1e-8), 0.0)


@njit(cache=True)
def _marginal_differences(
    scores: Array, steps: Array, allowed: Array, bounds: Array
) -> tuple[Array, Array]:
    """Return expected minus allowed tags (words, tags), and the same for pairs of tags.

    Expected are the marginal probabilities under the scores alone, allowed those restricted to the
    mask ``allowed``. Text t has the words ``bounds[t]:bounds[t + 1]``.
    """
    differences, pairs = np.zeros_like(scores), np.zeros_like(steps)
    for text in range(len(bounds) - 1):
        start, end = bounds[text], bounds[text + 1]
        if start == end:
            continue
        expected, restricted = (
            np.zeros((end - start, scores.shape[1])),
            np.zeros((end - start, scores.shape[1])),
        )
        restricted_pairs = np.zeros_like(steps)
        add_marginals(scores[start:end], steps, allowed[:0], expected, pairs)
        add_marginals(scores[start:end], steps, allowed[start:end], restricted, restricted_pairs)
        differences[start:end] = expected - restricted
        pairs -= restricted_pairs
    return differences, pairs
