"""Join the table of pairs with the network, and set the thresholds of both on text unseen so far.

The texts are those of the packages of group ``unseen`` and of articles and abstracts that no weight
comes from. The thresholds of the pairs are shifted by the same log-odds for all directions of an
asked precision, and raised further for directions with too many flags in these texts.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from calibrate import MISPRINT_WEIGHT

from textrank.lint.linter import blank_non_prose
from textrank.lint.model import (
    CHUNK_OCCURRENCES,
    ERROR_RATE,
    MIN_LINEAR_LOG_ODDS,
    REPORTED_PRECISION,
    THRESHOLD_PRECISIONS,
    UNREACHABLE_LOG_ODDS,
    ConfusionModel,
    ContextNetwork,
)

NETWORK_WEIGHT = 0.6
# Asked precision: log-odds added to all thresholds, and planted errors that must be found for each
# alarm beyond the first.
SHIFTS = {
    0.5: (1.5, 0.5),
    0.8: (1.5, 1.5),
    0.9: (2.25, 3.0),
    0.95: (2.75, 6.0),
    0.98: (3.25, 10.0),
    0.99: (3.75, 20.0),
    0.995: (4.25, 40.0),
    0.997: (4.5, 60.0),
    0.999: (5.0, 100.0),
}
PRIOR_PLACES = 20
FIND_SAMPLE = 0.05  # share of the places that finds are counted on
CHUNK_CHARACTERS = 300_000
MAX_PACKAGE_CHARACTERS = 2_600_000
UNSEEN_PUBMED = ("mixed-00600", "articles-08400")


@dataclass(frozen=True, eq=False)
class Scores:
    """Log-odds of the other word at places of unseen text, by pair and side of the printed word.

    ``alarms`` are all places where the features favour the other word, ``places`` a sample of all;
    rows are pair, side and log-odds by features, then those with the network. ``counts`` has all
    places by pair and side.
    """

    alarms: Any
    places: Any
    counts: Any


def unseen_texts(cache: Path, data: Path) -> Iterator[str]:
    """Yield chunks of the unseen packages and of unused PubMed files."""
    for path in sorted((cache / "texts").glob("unseen__*.txt")):
        text = path.read_text(encoding="utf-8")[:MAX_PACKAGE_CHARACTERS]
        for start in range(0, len(text), CHUNK_CHARACTERS):
            yield text[start : start + CHUNK_CHARACTERS]
    for name in UNSEEN_PUBMED:
        path = data / "pubmed" / f"{name}.jsonl.gz"
        if path.exists():
            yield from _pubmed_chunks(path)


def _pubmed_chunks(path: Path) -> Iterator[str]:
    """Yield the texts of a PubMed file in chunks of about CHUNK_CHARACTERS."""
    kept: list[str] = []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            kept.append(blank_non_prose(json.loads(line)["text"]))
            if sum(map(len, kept)) > CHUNK_CHARACTERS:
                yield "\n\n".join(kept)
                kept = []
    yield "\n\n".join(kept)


def add_network(
    model: ConfusionModel, arrays: dict[str, Any], words: list[str], hashes: Any
) -> ConfusionModel:
    """Return the model with a trained network, whose columns are ``words``; others are dropped."""
    column = {word: k for k, word in enumerate(words)}
    kept = [column[w] for w in sorted({word for pair in model.pairs for word in pair.words})]
    vectors = arrays["vectors"]
    steps = (np.abs(vectors).max(axis=0) / 127).astype(np.float32)
    network = ContextNetwork(
        hashes,
        np.rint(vectors / steps).astype(np.int8),
        steps,
        (arrays["layer0"], arrays["layer1"], arrays["layer2"][:, kept]),
        (arrays["bias0"], arrays["bias1"], arrays["bias2"][kept]),
    )
    pairs = tuple(replace(pair, network_weight=NETWORK_WEIGHT) for pair in model.pairs)
    return replace(model, pairs=pairs, network=network)


def collect_scores(model: ConfusionModel, texts: Iterable[str]) -> Scores:
    """Return the scores of a model with a network on texts."""
    rng = np.random.default_rng(0)
    alarms, places = [np.empty((0, 4))], [np.empty((0, 4))]
    counts = np.zeros((len(model.pairs), 2))
    for text in texts:
        tokens, start, end, word_id = model.find_words(text)
        for first in range(0, len(start), CHUNK_OCCURRENCES):
            chunk = slice(first, first + CHUNK_OCCURRENCES)
            span, pair, side, linear = model.score_pairs(
                tokens, start[chunk], end[chunk], word_id[chunk]
            )
            np.add.at(counts, (pair, side), 1)
            is_sampled = rng.random(len(span)) < FIND_SAMPLE
            for mask, rows in ((linear >= MIN_LINEAR_LOG_ODDS, alarms), (is_sampled, places)):
                at = np.flatnonzero(mask)
                added = model.network_log_odds(
                    tokens, start[chunk], end[chunk], span[at], pair[at]
                ) * (1 - 2 * side[at])
                rows.append(np.stack([pair[at], side[at], linear[at], linear[at] + added], 1))
    return Scores(np.concatenate(alarms), np.concatenate(places), counts)


def adjust(model: ConfusionModel, scores: Scores) -> ConfusionModel:
    """Return the model with thresholds for the sum of features and network."""
    levels = np.stack([adjusted(model, scores, p) for p in THRESHOLD_PRECISIONS], axis=2)
    levels = np.round(np.maximum.accumulate(levels, axis=2), 2)
    reported = levels[:, :, THRESHOLD_PRECISIONS.index(REPORTED_PRECISION)]
    pairs = tuple(
        replace(
            pair,
            levels=(tuple(both[0].tolist()), tuple(both[1].tolist())),
            precision=precision,
            recall=recall,
        )
        for pair, both, (precision, recall) in zip(
            model.pairs, levels, figures(model, scores, reported), strict=True
        )
    )
    return replace(model, pairs=pairs)


def figures(model: ConfusionModel, scores: Scores, thresholds: Any) -> list[tuple[float, float]]:
    """Return precision and recall of each pair on the unseen texts.

    The figures of the pair so far, from other kinds of text, count as much as PRIOR_PLACES places.
    """
    pair, side = scores.places[:, :2].astype(int).T
    is_found = (scores.places[:, 2] <= -MIN_LINEAR_LOG_ODDS) & (
        -scores.places[:, 3] >= thresholds[pair, 1 - side]
    )
    n = len(model.pairs)
    hits, places = np.bincount(pair, is_found, minlength=n), np.bincount(pair, minlength=n)
    pair, side = scores.alarms[:, :2].astype(int).T
    alarms = np.bincount(pair, scores.alarms[:, 3] >= thresholds[pair, side], minlength=n)
    rows = []
    for k, known in enumerate(model.pairs):
        recall = (hits[k] + PRIOR_PLACES * known.recall) / (places[k] + PRIOR_PLACES)
        finds = ERROR_RATE * recall * (scores.counts[k].sum() + PRIOR_PLACES / FIND_SAMPLE)
        expected = ERROR_RATE * recall * PRIOR_PLACES / FIND_SAMPLE * (1 / known.precision - 1)
        precision = finds / max(finds + expected + alarms[k], 1e-9)
        rows.append((round(float(precision), 4), round(float(recall), 4)))
    return rows


def adjusted(model: ConfusionModel, scores: Scores, precision: float) -> Any:
    """Return the thresholds of an asked precision, (pairs, 2).

    A direction may have one alarm, or as many as a share of the errors that it would find if
    ERROR_RATE of the words were wrong; alarms of MISPRINT_WEIGHT count less.
    """
    shift, finds_per_alarm = SHIFTS[precision]
    thresholds = model.thresholds(precision)
    thresholds = np.minimum(thresholds + shift, UNREACHABLE_LOG_ODDS)
    pair, side = scores.places[:, :2].astype(int).T
    is_found = (scores.places[:, 2] <= -MIN_LINEAR_LOG_ODDS) & (
        -scores.places[:, 3] >= thresholds[pair, 1 - side]
    )
    n, direction = thresholds.size, 2 * pair + 1 - side
    hits = np.bincount(direction, is_found, minlength=n)
    recall = (hits + 1) / (np.bincount(direction, minlength=n) + 2)
    finds = recall.reshape(-1, 2) * scores.counts[:, ::-1] * ERROR_RATE
    pair, side = scores.alarms[:, :2].astype(int).T
    is_above = scores.alarms[:, 3] >= thresholds[pair, side]
    for k in np.unique((2 * pair + side)[is_above]):
        p, s = divmod(int(k), 2)
        odds = np.sort(scores.alarms[is_above & (pair == p) & (side == s), 3])[::-1]
        words = model.pairs[p].words
        weight = MISPRINT_WEIGHT.get((words[s], words[1 - s]), 1.0)
        allowed = int(max(1.0, finds[p, s] / finds_per_alarm) / weight)
        if len(odds) > allowed:
            thresholds[p, s] = odds[allowed] + 0.05
    return thresholds
