"""Build the table of confusion pairs: ``python train_confusions.py DATA OUT``.

Texts are those of the packages (cached in ``CONFUSIONS_CACHE`` or ``~/.cache/textrank``) and of
``DATA/text``; pairs are those of ``pairs.tsv``. Each pair is fitted on all texts, and once without
each fold of kinds, which gives the held-out scores from which thresholds are chosen. Then a network
that all pairs share is trained, and thresholds for the sum of both are chosen on unseen text. Takes
about 55 minutes of one processor and 4 GB.
"""

from __future__ import annotations

import os
import sys
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
from calibrate import TOP_ALARMS, choose_thresholds, make_direction, measure_pair
from classes import learn_classes, word_vectors
from combine import add_network, collect_scores, set_thresholds, unseen_texts
from corpus import KINDS, N_FOLDS, Corpus, Occurrences, property_table, read_corpus
from learn import Fit, design, features, fit, logistic, mix_keys
from network import Network, Vocabulary
from sklearn.linear_model import LogisticRegression
from texts import write

from textrank.lint.model import (
    DEFAULT_PRECISION,
    NETWORK_OFFSETS,
    SLOT_BITS,
    THRESHOLD_PRECISIONS,
    UNREACHABLE_LOG_ODDS,
    ConfusionModel,
    Pair,
    text_hash,
)

HERE = Path(__file__).parent
FOLD_OF_KIND = np.array([fold for fold, _, _ in KINDS.values()])
TRAINING_CAPS = dict(zip(KINDS, (3000, 1500, 4000, 2500, 2000, 2500, 1500, 1500, 0), strict=True))
MAX_OCCURRENCES = 4000  # of a word and kind that are scored
MAX_SCREENED = 200  # of a word and kind in the screening
MIN_OCCURRENCES = 80
SCREENING = (0.12, 0.82)  # recall at an alarm rate of 1 in 200, or accuracy, of a pair that is kept
MAX_CALIBRATED = 15_000  # occurrences of a word that the log-odds are fitted to
N_CACHED_WORDS = 20
CONTEXT_WORDS = 6  # on either side, in the checksums of misprints
# Rounds of the network's training, in each of which the learning rate falls to nothing: most
# contexts of a word and kind, and passes over all of them.
NETWORK_ROUNDS = ((3000, 1.6), (3000, 2.6), (8000, 2.2))


class Trainer:
    """Fits and scores of pairs on a corpus."""

    def __init__(self, corpus: Corpus, classes: Any, words: list[str]) -> None:
        """Collect the occurrences of the words; ``classes`` are rows of ``learn_classes``."""
        self.corpus = corpus
        self.table = property_table(
            corpus.forms, {h: (fine, coarse) for h, fine, coarse in classes.tolist()}
        )
        self.occurrences = corpus.collect(words, MAX_OCCURRENCES)
        self.words = list(corpus.forms)
        self._features: OrderedDict[str, Any] = OrderedDict()

    def has(self, word: str) -> bool:
        """Return whether a word has at least MIN_OCCURRENCES occurrences."""
        occurrences = self.occurrences.get(word)
        return occurrences is not None and len(occurrences.place) >= MIN_OCCURRENCES

    def features_of(self, word: str) -> Any:
        """Return the features of all occurrences of a word; the last words are cached."""
        if word not in self._features:
            rows = self.corpus.rows(self.occurrences[word])
            self._features[word] = features(rows, self.table)
        self._features.move_to_end(word)
        while len(self._features) > N_CACHED_WORDS:
            self._features.popitem(last=False)
        return self._features[word]

    def sample(self, word: str, max_per_kind: int, seed: int) -> Any:
        """Return row numbers of occurrences for training, capped by kind and by ``most``."""
        rng = np.random.default_rng(seed)
        kind, parts = self.occurrences[word].kind, []
        for number, cap in enumerate(TRAINING_CAPS.values()):
            rows = np.flatnonzero(kind == number)
            size = min(cap, max_per_kind)
            parts.append(
                np.sort(rng.choice(rows, size, replace=False)) if len(rows) > size else rows
            )
        return np.concatenate(parts)

    def is_promising(self, pair: tuple[str, str]) -> bool:
        """Return whether few contexts already tell the words apart, each fold left out once."""
        title = "/".join(pair)
        rows = [self.sample(word, MAX_SCREENED, 0) for word in pair]
        if min(map(len, rows)) < MIN_OCCURRENCES * 3 // 4:
            return False
        keys = [mix_keys(self.features_of(w)[r], title) for w, r in zip(pair, rows, strict=True)]
        y = np.repeat(np.array([-1.0, 1.0], np.float32), [len(r) for r in rows])
        fold = self._folds(pair, rows)
        data, scores = design(np.concatenate(keys), y), np.zeros(len(y), np.float32)
        for out in range(N_FOLDS):
            rest = fold != out
            if len(set(y[rest])) == 2:
                weights, bias = logistic(data.matrix[rest], y[rest], 2, 5)
                scores[~rest] = data.matrix[~rest] @ weights + bias
        up, down = scores[y > 0], -scores[y < 0]
        accuracy = ((up > 0).mean() + (down > 0).mean()) / 2
        sides = (up, down), (down, up)
        recall = max((p > np.sort(-n)[-1 - len(n) // 200]).mean() for p, n in sides)
        return bool(recall >= SCREENING[0] or accuracy >= SCREENING[1])

    def _folds(self, pair: tuple[str, str], rows: list[Any]) -> Any:
        """Return the fold of each training row of both words."""
        kinds = [self.occurrences[w].kind[r] for w, r in zip(pair, rows, strict=True)]
        return FOLD_OF_KIND[np.concatenate(kinds)]

    def train(self, pair: tuple[str, str]) -> tuple[Fit, list[Any]]:
        """Return the fit of a pair on all texts, and held-out scores of both words' occurrences.

        Scores are by the fit that left the occurrence's fold out; NaN if that was not possible.
        """
        title = "/".join(pair)
        keys = [mix_keys(self.features_of(word), title) for word in pair]
        rows = [self.sample(word, max(TRAINING_CAPS.values()), text_hash(title)) for word in pair]
        y = np.repeat(np.array([-1.0, 1.0], np.float32), [len(r) for r in rows])
        fold = self._folds(pair, rows)
        data = design(np.concatenate([k[r] for k, r in zip(keys, rows, strict=True)]), y)
        whole = fit(data, np.ones(len(y), bool))
        scores = [np.full(len(k), np.nan, np.float32) for k in keys]
        for out in range(N_FOLDS + 1):  # the last fold is in no fit
            rest = fold != out
            held_out_fit = whole if rest.all() else None
            if held_out_fit is None and min((y[rest] > 0).sum(), (y[rest] < 0).sum()) >= 30:
                held_out_fit = fit(data, rest)
            for side, word in enumerate(pair):
                is_in_fold = FOLD_OF_KIND[self.occurrences[word].kind] == out
                if held_out_fit is not None:
                    scores[side][is_in_fold] = held_out_fit.scores(keys[side][is_in_fold])
        return whole, scores

    def misprints(self, word: str, odds: Any, checksums: set[int]) -> Any:
        """Return which occurrences of a word have the checksum of a misprint, a mask.

        Only the TOP_ALARMS with the highest ``odds`` are looked at.
        """
        occurrences = self.occurrences[word]
        mask = np.zeros(len(occurrences.place), dtype=bool)
        for k in np.argsort(-odds, kind="stable")[:TOP_ALARMS]:
            kind, place = occurrences.kind[k], occurrences.place[k]
            words = self.corpus.texts[kind].words[place - CONTEXT_WORDS : place + CONTEXT_WORDS + 1]
            shown = [self.words[w] for w in words]
            shown[CONTEXT_WORDS] = f"[{shown[CONTEXT_WORDS]}]"
            mask[k] = text_hash(" ".join(shown)) in checksums
        return mask


def calibrate_log_odds(scores: list[Any], occurrences: list[Occurrences]) -> tuple[float, float]:
    """Return slope and shift that turn held-out scores of both words into log-odds."""
    rng, xs, ys, weights = np.random.default_rng(0), [], [], []
    for side, (values, places) in enumerate(zip(scores, occurrences, strict=True)):
        rows = np.flatnonzero(np.isfinite(values))
        if len(rows) > MAX_CALIBRATED:
            share = np.sqrt(places.weight[rows])
            rows = rng.choice(rows, MAX_CALIBRATED, p=share / share.sum())
        xs.append(values[rows])
        ys.append(np.full(len(rows), side))
        weights.append(np.full(len(rows), 20_000 / max(len(rows), 1)))
    model = LogisticRegression(C=1e3)
    model.fit(np.concatenate(xs)[:, None], np.concatenate(ys), np.concatenate(weights))
    return round(float(model.coef_[0, 0]), 4), round(float(model.intercept_[0]), 4)


def read_pairs() -> dict[tuple[str, str], str]:
    """Return the candidate pairs of ``pairs.tsv`` with their groups."""
    lines = (HERE / "pairs.tsv").read_text(encoding="utf-8").splitlines()[1:]
    rows = (line.split("\t") for line in lines)
    return {(first, second): group for first, second, group in rows}


def build(trainer: Trainer, classes: Any) -> ConfusionModel:
    """Return the model of all pairs that are flagged in some direction at DEFAULT_PRECISION."""
    groups = read_pairs()
    lines = (HERE / "misprints.txt").read_text(encoding="utf-8").splitlines()
    checksums = {int(line) for line in lines if not line.startswith("#")}
    pairs: list[Pair] = []
    fits: list[Fit] = []
    for pair, group in groups.items():
        if not all(map(trainer.has, pair)) or not trainer.is_promising(pair):
            continue
        whole, scores = trainer.train(pair)
        if min(np.isfinite(values).sum() for values in scores) < 30:
            continue
        occurrences = [trainer.occurrences[word] for word in pair]
        slope, shift = calibrate_log_odds(scores, occurrences)
        odds = [np.nan_to_num(slope * values + shift, nan=0.0) for values in scores]
        sides = {
            side: make_direction(
                occurrences[side],
                occurrences[1 - side],
                (odds[side] * (1 - 2 * side), odds[1 - side] * (1 - 2 * side)),
                (pair[side], pair[1 - side]),
                trainer.misprints(pair[side], odds[side] * (1 - 2 * side), checksums),
            )
            for side in (0, 1)
        }
        thresholds = choose_thresholds(sides[0], group), choose_thresholds(sides[1], group)
        index = THRESHOLD_PRECISIONS.index(DEFAULT_PRECISION)
        default = [thresholds[0][index], thresholds[1][index]]
        if min(default) < UNREACHABLE_LOG_ODDS:
            counts = tuple(len(trainer.sample(word, 10**6, 0)) for word in pair)
            precision, recall = measure_pair(sides, default)
            pairs.append(
                Pair(
                    pair,
                    (counts[0], counts[1]),
                    whole.bias,
                    whole.scale,
                    slope,
                    shift,
                    (tuple(thresholds[0]), tuple(thresholds[1])),
                    precision,
                    recall,
                    group == "style",
                )
            )
            fits.append(whole)
    keys, weights = merge_weights(pairs, fits)
    tokens = int(sum(len(text.words) for text in trainer.corpus.texts))
    meta = {"error_rate": 0.01, "training_tokens": tokens, "licence": "MIT"}
    return ConfusionModel(tuple(pairs), keys, weights, classes.astype(np.int64), meta)


def merge_weights(pairs: list[Pair], fits: list[Fit]) -> tuple[Any, Any]:
    """Return keys, sorted, and weights of all pairs; of weights in one slot the strongest."""
    keys = np.concatenate([fit.keys for fit in fits])
    weights = np.concatenate([fit.weights for fit in fits])
    strength = np.concatenate(
        [
            np.abs(fit.weights.astype(np.float32)) * fit.scale * abs(pair.slope)
            for pair, fit in zip(pairs, fits, strict=True)
        ]
    )
    slots = keys >> np.uint32(32 - SLOT_BITS)
    order = np.lexsort((-strength, slots))
    order = order[np.r_[True, slots[order][1:] != slots[order][:-1]]]
    order = order[np.argsort(keys[order])]
    return keys[order], weights[order]


def train_network(
    trainer: Trainer, vocabulary: Vocabulary, log: Any = None
) -> tuple[dict[str, Any], list[str]]:
    """Return the arrays of a network trained on all kinds but the last fold, and its words.

    ``log`` is that of ``Network.train``.
    """
    groups = read_pairs()
    words = [w for w in sorted({w for pair in groups for w in pair}) if trainer.has(w)]
    number = {word: k for k, word in enumerate(words)}
    partners = np.eye(len(words), dtype=bool)
    for first, second in groups:
        if first in number and second in number:
            partners[number[first], number[second]] = True
            partners[number[second], number[first]] = True
    network = Network(vocabulary.vectors, len(words), len(NETWORK_OFFSETS))
    for most, epochs in NETWORK_ROUNDS:
        occurrences = trainer.corpus.collect(words, most)
        rows, targets = network_contexts(
            trainer.corpus, [occurrences[w] for w in words], vocabulary
        )
        network.train(rows, targets, partners, epochs, vocabulary.unknown_rows, log)
    # Scores are to tell what the context says, and not how frequent a word was in training.
    counts = np.bincount(targets, minlength=len(words)) + 1
    network.arrays["bias2"] -= np.log(counts).astype(np.float32)
    return network.arrays, words


def network_contexts(
    corpus: Corpus, occurrences: list[Occurrences], vocabulary: Vocabulary
) -> tuple[Any, Any]:
    """Return the contexts of words in all kinds but the last fold, and the numbers of the words."""
    rows, targets = [], []
    for number, places in enumerate(occurrences):
        is_kept = FOLD_OF_KIND[places.kind] < N_FOLDS
        rows.append(vocabulary.encode(corpus.rows(places)[is_kept]))
        targets.append(np.full(int(is_kept.sum()), number, dtype=np.int16))
    return np.concatenate(rows), np.concatenate(targets)


def main(data: Path, out: Path) -> None:
    """Read the texts and write the model folder."""
    cache = Path(os.environ.get("CONFUSIONS_CACHE", Path.home() / ".cache" / "textrank"))
    write(cache, data)
    corpus = read_corpus([data / "text", cache / "texts"])
    vectors = word_vectors(corpus.texts, corpus.forms)
    classes = learn_classes(corpus.forms, *vectors)
    trainer = Trainer(corpus, classes, sorted({word for pair in read_pairs() for word in pair}))
    model = build(trainer, classes)
    vocabulary = Vocabulary(corpus, *vectors)
    arrays, words = train_network(trainer, vocabulary)
    model = add_network(model, arrays, words, vocabulary.hashes)
    scores = collect_scores(model, unseen_texts(cache, data))
    set_thresholds(model, scores, read_pairs()).to_disk(out)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
