"""Builds the table of confusion pairs: ``python build.py DATA OUT``.

Texts of the packages (kept in ``CONFUSIONS_CACHE`` or ``~/.cache/textrank``), contexts of the words
of ``sets.txt``, a screening of the pairs, fits with each fold of genres left out, their
scores on all places of the genres left out, levels from those. About 20 minutes of one processor.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from heldout import Pass, cells
from learn import Fit, design, leave_out, solve
from levels import Curve, chosen, log_odds
from samples import Sample, Text, Vocabulary, read, sample, table
from texts import write

from textrank.spelling import Confusions, Pair
from textrank.spelling.confusions import ERRORS, PRECISIONS
from textrank.spelling.contexts import hashed_text

HERE = Path(__file__).parent
GENRES = (
    ("biomedicine",),
    ("general",),
    ("amazon", "cloud", "web", "database"),
    ("science", "languages"),
)
KNOWN = (  # everybody looks for these; of 214 of their best alarms 123 were misprints
    *("accept/except", "advice/advise", "affect/effect", "form/from", "it's/its", "loose/lose"),
    *("of/off", "passed/past", "principal/principle", "quiet/quite", "than/then", "their/there"),
    *("to/too", "weather/whether", "were/where", "who's/whose", "you/your"),
)
DOUBTFUL = 0.15  # what an alarm of those counts: a guess, misprints remain among them
OTHERS = 10.0  # what an alarm in packages that nothing was learnt from counts
LEAST = 200  # occurrences of a word
MOST = 6_000  # contexts of a word and fold
FEW = 1_000  # contexts for the screening
SCREENED = (0.22, 0.935, 0.03)  # recall at an alarm rate of 1e-3; or accuracy, with some recall


def pairs_tried() -> list[tuple[str, str]]:
    """Every two words of a line of ``sets.txt``."""
    found = set()
    for line in (HERE / "sets.txt").read_text(encoding="utf-8").splitlines():
        words = [] if line.startswith("#") else [w.replace("_", " ") for w in line.split()]
        found |= {(min(a, b), max(a, b)) for a in words for b in words if a != b}
    return sorted(found)


def rows_of(found: Sample, most: int) -> Any:
    """Up to so many rows of each fold."""
    rng = np.random.default_rng(0)
    kept = []
    for fold in range(len(GENRES)):
        rows = np.flatnonzero(found.group == fold)
        kept.append(rows if len(rows) <= most else rng.choice(rows, most, replace=False))
    return np.concatenate(kept)


def designed(pair: tuple[str, str], samples: dict[str, Sample], words: Any, most: int) -> Any:
    """The design of a pair."""
    a, b = (samples[word] for word in pair)
    first, second = rows_of(a, most), rows_of(b, most)
    folds = a.group[first], b.group[second]
    return design("/".join(pair), a.around[first], b.around[second], folds, words)


def promising(pair: tuple[str, str], samples: dict[str, Sample], words: Any) -> bool:
    """Whether few contexts already tell the words apart, two folds at a time left out."""
    found = designed(pair, samples, words, FEW)
    if min((found.y > 0).sum(), (found.y < 0).sum()) < 150:
        return False
    scores = np.zeros(len(found.y), dtype=np.float32)
    for out in ((0, 3), (1, 2)):
        away = np.isin(found.fold, out)
        if len(set(found.y[~away])) == 2:
            weights, bias = solve(*found.rows(~away), steps=12)
            scores[away] = found.matrix[away] @ weights + bias
    up, down = scores[found.y > 0], -scores[found.y < 0]
    accuracy = ((up > 0).mean() + (down > 0).mean()) / 2
    finds = [(p > np.sort(-n)[-1 - len(n) // 1000]).mean() for p, n in ((up, down), (down, up))]
    share = samples[pair[1]].total.sum() / sum(samples[word].total.sum() for word in pair)
    recall = share * finds[0] + (1 - share) * finds[1]
    least, sure, some = SCREENED
    return bool(recall >= least or (accuracy >= sure and recall >= some))


def known_misprints() -> set[int]:
    """Checksums of contexts that were looked at and are misprints."""
    lines = (HERE / "misprints.txt").read_text(encoding="utf-8").splitlines()
    return {int(line) for line in lines if not line.startswith("#")}


def context_hash(forms: list[str], text: Text, at: int) -> int:
    """A checksum of the word at a place and three on either side."""
    return hashed_text(" ".join(forms[k] for k in text.words[at - 3 : at + 4]))


def texts_of(cache: Path, vocabulary: Vocabulary) -> list[Text]:
    """The texts of each fold."""
    folder = cache / "texts"
    return [
        read(
            [p for name in genres for p in sorted(folder.glob(f"{name}__*.txt"))],
            "+".join(genres),
            vocabulary,
        )
        for genres in GENRES
    ]


def build(data: Path, cache: Path) -> Confusions:
    """The whole way from packages to pairs with their levels."""
    write(cache, data)
    vocabulary = Vocabulary()
    texts = texts_of(cache, vocabulary)
    other = read(sorted((cache / "texts").glob("levels__*.txt")), "levels", vocabulary)
    counts = sum(np.bincount(t.words, minlength=len(vocabulary.plain)) for t in texts)
    classes = np.load(HERE / "classes.npz")["classes"].astype(np.int64)
    words = table(vocabulary, {h: (fine, coarse) for h, fine, coarse in classes.tolist()})
    often = {w: int(counts[vocabulary.plain[w]]) for w in vocabulary.plain}
    pairs = [p for p in pairs_tried() if all(" " in w or often.get(w, 0) >= LEAST for w in p)]
    samples = sample(texts, vocabulary, sorted({w for pair in pairs for w in pair}), MOST)
    pairs = [p for p in pairs if p[0] in samples and p[1] in samples]
    pairs = [p for p in pairs if promising(p, samples, words)]
    curves: dict[tuple[int, int], Curve] = {}
    fits: list[list[Fit]] = []
    odds: list[tuple[float, float]] = []
    for number, pair in enumerate(pairs):
        found = designed(pair, samples, words, MOST)
        own, scores = leave_out(found)
        fits.append(own)
        odds.append(log_odds(scores, found.y))
        for side in (0, 1):
            right = (found.y > 0) == (side == 0)
            total = samples[pair[1 - side]].total
            curves[number, side] = Curve.of(scores * (1 - 2 * side), right, found.fold, total)
    counted = [DOUBTFUL if "/".join(pair) in KNOWN else 1.0 for pair in pairs]
    forms, misprints = list(vocabulary.plain), known_misprints()
    least = np.array([[curves[k, side].least for side in (0, 1)] for k in range(len(pairs))])
    for fold, text in enumerate(texts):
        walk = Pass(pairs, [own[fold] for own in fits], least, vocabulary, counts, words)
        for pair, side, score, at, weight in walk.places(text):
            if context_hash(forms, text, int(at)) not in misprints:
                curves[int(pair), int(side)].alarm(score, weight * counted[int(pair)])
    final = [own[-1] for own in fits]
    walk = Pass(pairs, final, least, vocabulary, counts, words)
    for pair, side, score, at, weight in walk.places(other):
        if context_hash(forms, other, int(at)) not in misprints:
            curves[int(pair), int(side)].alarm(score, OTHERS * weight)
    return confusions(pairs, final, odds, curves, samples, classes, texts)


def confusions(
    pairs: list[tuple[str, str]],
    fits: list[Fit],
    odds: list[tuple[float, float]],
    curves: dict[tuple[int, int], Curve],
    samples: dict[str, Sample],
    classes: Any,
    texts: list[Text],
) -> Confusions:
    """Pairs that stay, with their levels in log-odds."""
    levels, figures = chosen(
        curves, PRECISIONS, [k for k, p in enumerate(pairs) if "/".join(p) in KNOWN]
    )
    kept = sorted(figures)
    spread = cells([fits[k] for k in kept])
    at = np.flatnonzero(spread)
    keys = (at.astype(np.uint32) << np.uint32(8)) | (spread[at] >> np.uint16(8)).astype(np.uint32)
    rows = []
    for k in kept:
        slope, shift = odds[k]
        sides = [
            tuple(round((level * slope + (1 - 2 * s) * shift), 3) for level in levels[k, s])
            for s in (0, 1)
        ]
        counts = tuple(int(samples[word].total.sum()) for word in pairs[k])
        rows.append(
            Pair(
                words=pairs[k],
                counts=(counts[0], counts[1]),
                bias=fits[k].bias,
                scale=fits[k].scale,
                slope=slope,
                shift=shift,
                levels=(sides[0], sides[1]),
                precision=figures[k][0],
                recall=figures[k][1],
            )
        )
    words = int(sum(len(t.words) for t in texts))
    meta = {"error_rate": ERRORS, "training_tokens": words, "licence": "MIT"}
    weights = spread[at].astype(np.uint8).view(np.int8)
    return Confusions(tuple(rows), keys, weights, classes, meta)


def main(data: Path, out: Path) -> None:
    """Puts the model beside its card and recipe."""
    default = Path.home() / ".cache" / "textrank" / "confusions"
    cache = Path(os.environ.get("CONFUSIONS_CACHE", default))
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        build(data, cache).to_disk(Path(work) / "model")
        out.mkdir(parents=True, exist_ok=True)
        for file in (Path(work) / "model").iterdir():
            shutil.copy2(file, out / file.name)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
