"""Join the table of pairs with the network, and choose the thresholds of both on unseen text.

The texts are those of the packages of groups ``unseen``, ``levels`` and ``prose`` and of articles
and abstracts that trained no weight. Each direction (printed word, proposal) gets the thresholds
with the highest gain (``Direction.threshold``). Directions whose words are too rare there keep
their thresholds by the features alone, shifted by the same log-odds.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from calibrate import GRID, MISPRINT_WEIGHT, TOP_ALARMS, VALUE_OF_GROUP, Direction

from textrank.lint.linter import blank_non_prose
from textrank.lint.model import (
    CHUNK_OCCURRENCES,
    ERROR_RATE,
    REPORTED_PRECISION,
    THRESHOLD_PRECISIONS,
    UNREACHABLE_LOG_ODDS,
    ConfusionModel,
    ContextNetwork,
)

FEATURE_WEIGHT, NETWORK_WEIGHT = 0.5, 0.64  # fits on the unseen texts: .42 to .55, .59 to .67
# Asked precision: finds that one alarm costs, the least precision of a direction, and log-odds
# added to the thresholds of directions that are too rare in the unseen texts.
PRICES = {
    0.5: (0.1, 0.3, 1.5),
    0.8: (0.5, 0.5, 2.0),
    0.9: (3.0, 0.6, 2.7),
    0.95: (12.0, 0.6, 3.4),
    0.98: (30.0, 0.75, 4.0),
    0.99: (60.0, 0.85, 4.5),
    0.995: (110.0, 0.9, 5.0),
    0.997: (160.0, 0.93, 5.3),
    0.999: (400.0, 0.97, 6.0),
}
ALARM_PRICES = {"documentation": 2.0, "biomedicine": 1.0, "prose": 0.7}  # by kind of text
RECALL_VALUE = 0.3  # finds per million words that are worth the whole recall of a direction
MIN_PLACES = 40  # of either word of a direction in the unseen texts
PRIOR_PLACES = 20
CHUNK_CHARACTERS = 300_000
MAX_PACKAGE_CHARACTERS = {"unseen": 2_600_000, "levels": 2_600_000, "prose": None}
UNSEEN_PUBMED = ("mixed-00600", "articles-08400")


@dataclass(frozen=True, eq=False)
class Scores:
    """Log-odds of the other word at all places of unseen text, by features and network.

    Arrays have an entry per place and pair of its word: ``pair``, ``side`` of the printed word,
    ``odds``, ``weight``, how many places per million words it stands for if all kinds of text count
    the same, and ``price``, that of its kind in ALARM_PRICES. Log-odds are 0 where features and the
    sum of both disagree about the word.
    """

    pair: Any
    side: Any
    odds: Any
    weight: Any
    price: Any


def unseen_texts(cache: Path, data: Path) -> dict[str, Iterable[str]]:
    """Return chunks of the unseen packages and of unused PubMed files by kind of text."""
    kinds: dict[str, Iterable[str]] = {
        "documentation": _package_chunks(cache, ("unseen", "levels")),
        "prose": _package_chunks(cache, ("prose",)),
    }
    paths = [data / "pubmed" / f"{name}.jsonl.gz" for name in UNSEEN_PUBMED]
    kinds["biomedicine"] = (c for path in paths if path.exists() for c in _pubmed_chunks(path))
    return kinds


def _package_chunks(cache: Path, groups: Iterable[str]) -> Iterator[str]:
    """Yield the texts of the packages of some groups in chunks of CHUNK_CHARACTERS."""
    for group in groups:
        for path in sorted((cache / "texts").glob(f"{group}__*.txt")):
            text = path.read_text(encoding="utf-8")[: MAX_PACKAGE_CHARACTERS[group]]
            for start in range(0, len(text), CHUNK_CHARACTERS):
                yield text[start : start + CHUNK_CHARACTERS]


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
    pairs = tuple(
        replace(
            pair,
            slope=round(FEATURE_WEIGHT * pair.slope, 4),
            shift=round(FEATURE_WEIGHT * pair.shift, 4),
            network_weight=NETWORK_WEIGHT,
        )
        for pair in model.pairs
    )
    return replace(model, pairs=pairs, network=network)


def collect_scores(model: ConfusionModel, texts: Mapping[str, Iterable[str]]) -> Scores:
    """Return the scores of a model with a network on texts by kind; kinds without text are left."""
    parts: dict[str, list[Any]] = {}
    words: dict[str, int] = {}
    for kind, chunks in texts.items():
        for text in chunks:
            words[kind] = words.get(kind, 0) + len(text.split())
            parts.setdefault(kind, []).extend(_score_text(model, text))
    kinds = [kind for kind in parts if words[kind]]
    table = np.concatenate([part for kind in kinds for part in parts[kind]], axis=1)
    sizes = [sum(part.shape[1] for part in parts[kind]) for kind in kinds]
    weight = np.repeat([1e6 / words[kind] / len(kinds) for kind in kinds], sizes)
    price = np.repeat([ALARM_PRICES[kind] for kind in kinds], sizes)
    return Scores(table[0].astype(np.int32), table[1].astype(np.int8), table[2], weight, price)


def _score_text(model: ConfusionModel, text: str) -> Iterator[Any]:
    """Yield arrays (3, n) of pair, side and log-odds of the places of a text."""
    tokens, start, end, word_id = model.find_words(text)
    for first in range(0, len(start), CHUNK_OCCURRENCES):
        chunk = slice(first, first + CHUNK_OCCURRENCES)
        spots = start[chunk], end[chunk]
        span, pair, side, linear = model.score_pairs(tokens, *spots, word_id[chunk])
        odds = linear + model.network_log_odds(tokens, *spots, span, pair) * (1 - 2 * side)
        yield np.stack([pair, side, np.where((linear >= 0) == (odds >= 0), odds, 0.0)])


def count_directions(model: ConfusionModel, scores: Scores) -> dict[tuple[int, int], Direction]:
    """Return the directions by (pair, side of the printed word) whose words have MIN_PLACES each.

    A word is replaced by each of its partners equally often.
    """
    words = [word for pair in model.pairs if not pair.style for word in pair.words]
    key = 2 * scores.pair + scores.side
    order = np.argsort(key, kind="stable")
    cuts = np.searchsorted(key[order], np.arange(2 * len(model.pairs) + 1))
    result = {}
    for number in range(2 * len(model.pairs)):
        printed = order[cuts[number] : cuts[number + 1]]
        proposed = order[cuts[number ^ 1] : cuts[(number ^ 1) + 1]]
        if min(len(printed), len(proposed)) < MIN_PLACES:
            continue
        pair, side = divmod(number, 2)
        word, proposal = (model.pairs[pair].words[k] for k in (side, 1 - side))
        finds = np.zeros(len(GRID) + 1)
        share = scores.weight[proposed] / max(words.count(proposal), 1)
        np.add.at(finds, np.searchsorted(GRID, -scores.odds[proposed], side="right"), share)
        top = printed[np.argsort(-scores.odds[printed], kind="stable")[:TOP_ALARMS]]
        doubt = MISPRINT_WEIGHT.get((word, proposal), 1.0)
        result[pair, side] = Direction(
            finds,
            scores.odds[top],
            scores.weight[top] * scores.price[top] * doubt,
            len(printed),
            float((scores.weight[printed] * scores.price[printed]).sum()),
        )
    return result


def set_thresholds(
    model: ConfusionModel, scores: Scores, groups: Mapping[tuple[str, str], str]
) -> ConfusionModel:
    """Return the model with thresholds for the sum of features and network.

    ``groups`` has the group of each pair, a key of ``calibrate.VALUE_OF_GROUP``.
    """
    sides = count_directions(model, scores)
    asked = THRESHOLD_PRECISIONS
    levels = np.stack([compute_thresholds(model, sides, p, groups) for p in asked], axis=2)
    levels = np.round(np.maximum.accumulate(levels, axis=2), 2)
    reported = levels[:, :, asked.index(REPORTED_PRECISION)]
    pairs = tuple(
        replace(
            pair,
            levels=(tuple(both[0].tolist()), tuple(both[1].tolist())),
            precision=precision,
            recall=recall,
        )
        for pair, both, (precision, recall) in zip(
            model.pairs, levels, measure_pairs(model, scores, reported), strict=True
        )
    )
    return replace(model, pairs=pairs)


def compute_thresholds(
    model: ConfusionModel,
    sides: Mapping[tuple[int, int], Direction],
    precision: float,
    groups: Mapping[tuple[str, str], str],
) -> Any:
    """Return the thresholds for one of THRESHOLD_PRECISIONS, (pairs, 2).

    ``sides`` are the directions of ``count_directions``; those of others are shifted.
    """
    price, least, shift = PRICES[precision]
    thresholds = model.thresholds(precision)
    is_open = thresholds < UNREACHABLE_LOG_ODDS
    thresholds[is_open] = FEATURE_WEIGHT * thresholds[is_open] + shift
    for (pair, side), direction in sides.items():
        value = RECALL_VALUE * VALUE_OF_GROUP[groups[model.pairs[pair].words]]
        thresholds[pair, side] = direction.threshold(price, least, value)
    return thresholds


def measure_pairs(
    model: ConfusionModel, scores: Scores, thresholds: Any
) -> list[tuple[float, float]]:
    """Return precision and recall of each pair on the unseen texts.

    The present figures of the pair, from other kinds of text, count as much as PRIOR_PLACES places.
    """
    n, pair, side = len(model.pairs), scores.pair, scores.side
    is_found = -scores.odds >= thresholds[pair, 1 - side]
    hits, places = np.bincount(pair, is_found, minlength=n), np.bincount(pair, minlength=n)
    alarms = np.bincount(pair, scores.odds >= thresholds[pair, side], minlength=n)
    rows = []
    for k, old_pair in enumerate(model.pairs):
        recall = (hits[k] + PRIOR_PLACES * old_pair.recall) / (places[k] + PRIOR_PLACES)
        finds = ERROR_RATE * recall * (places[k] + PRIOR_PLACES)
        expected = ERROR_RATE * recall * PRIOR_PLACES * (1 / old_pair.precision - 1)
        precision = finds / max(finds + expected + alarms[k], 1e-9)
        rows.append((round(float(precision), 4), round(float(recall), 4)))
    return rows
