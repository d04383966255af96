"""Build the table of confusion pairs: ``python train_confusions.py DATA OUT``.

Texts of the packages (kept in ``CONFUSIONS_CACHE`` or ``~/.cache/textrank``), then for each stage
of ``recipe.toml`` contexts of the words of its pairs, a screening, fits with each fold of genres
left out, their scores on all places of the genres left out, levels from those. Some minutes of one
processor; a stage that is done is kept with the texts, so that a stopped run goes on after it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
from heldout import Pass, cells
from learn import LEARNERS, Fit, Learner, design, leave_out
from levels import ALARMS, MISUSED, Curve, chosen, log_odds
from samples import Sample, Text, Vocabulary, read, sample, table
from stages import KNOWN, Stage, stages
from texts import write

from textrank.lint.model import ERROR_RATE, THRESHOLD_PRECISIONS, ConfusionModel, Pair, text_hash

HERE = Path(__file__).parent
GENRES = (
    ("biomedicine",),
    ("general",),
    ("amazon", "cloud", "web", "database"),
    ("science", "languages"),
)
OTHERS = 10.0  # what an alarm in packages that nothing was learnt from counts
LEAST = 200  # occurrences of a word
WIDE = 7  # words on either side of an alarm that are shown
MOST = 6_000  # contexts of a word and fold
FEW = 1_000  # contexts for the screening
SCREENED = (0.22, 0.935, 0.03)  # recall at an alarm rate of 1e-3; or accuracy, with some recall


def rows_of(found: Sample, most: int) -> Any:
    """Up to so many rows of each fold."""
    rng = np.random.default_rng(0)
    kept = []
    for fold in range(len(GENRES)):
        rows = np.flatnonzero(found.group == fold)
        kept.append(rows if len(rows) <= most else rng.choice(rows, most, replace=False))
    return np.concatenate(kept)


def designed(pair: tuple[str, str], samples: dict[str, Sample], words: Any, most: int) -> Any:
    """Return the design matrix of a pair."""
    a, b = (samples[word] for word in pair)
    first, second = rows_of(a, most), rows_of(b, most)
    folds = a.group[first], b.group[second]
    return design("/".join(pair), a.around[first], b.around[second], folds, words)


def promising(
    pair: tuple[str, str], samples: dict[str, Sample], words: Any, learner: Learner
) -> bool:
    """Whether few contexts already tell the words apart, two folds at a time left out."""
    if "/".join(pair) in KNOWN:
        return True
    found = designed(pair, samples, words, FEW)
    if min((found.y > 0).sum(), (found.y < 0).sum()) < 150:
        return False
    scores = np.zeros(len(found.y), dtype=np.float32)
    for out in ((0, 3), (1, 2)):
        away = np.isin(found.fold, out)
        if len(set(found.y[~away])) == 2:
            weights, bias = learner.solve(*found.rows(~away), **learner.screening)
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


def texts_of(cache: Path, vocabulary: Vocabulary) -> list[Text]:
    """Return the texts of each fold."""
    folder = cache / "texts"
    return [
        read(
            [p for name in genres for p in sorted(folder.glob(f"{name}__*.txt"))],
            "+".join(genres),
            vocabulary,
        )
        for genres in GENRES
    ]


@dataclass(frozen=True, eq=False)
class Material:
    """All texts as numbers, those that nothing is learnt from apart."""

    vocabulary: Vocabulary
    texts: list[Text]  # a fold each
    other: Text
    counts: Any  # of the words
    classes: Any
    words: Any

    @classmethod
    def of(cls, cache: Path) -> Material:
        """Read the texts of the packages."""
        vocabulary = Vocabulary()
        texts = texts_of(cache, vocabulary)
        other = read(sorted((cache / "texts").glob("levels__*.txt")), "levels", vocabulary)
        counts = sum(np.bincount(t.words, minlength=len(vocabulary.plain)) for t in texts)
        classes = np.load(HERE / "classes.npz")["classes"].astype(np.int64)
        words = table(vocabulary, {h: (fine, coarse) for h, fine, coarse in classes.tolist()})
        return cls(vocabulary, texts, other, counts, classes, words)

    def balance(self, stage: Stage) -> Any:
        """What makes all folds weigh the same, however much text they have, where that is asked."""
        sizes = np.array([len(text.words) for text in self.texts])
        return sizes.mean() / sizes if stage.balanced else np.ones(len(sizes))


@dataclass(frozen=True, eq=False)
class Learnt:
    """The pairs, their fits, and curves without alarms."""

    pairs: list[tuple[str, str]]
    fits: list[list[Fit]]
    odds: list[tuple[float, float]]
    curves: dict[tuple[int, int], Curve]
    totals: dict[str, int]  # occurrences of the words

    @classmethod
    def of(cls, material: Material, stage: Stage) -> Learnt:
        """Every pair learnt without each fold of genres, and once with all."""
        known, words = material.vocabulary.plain, material.words
        tried, learner = stage.tried(), LEARNERS[stage.learner]
        often = {w: int(material.counts[known[w]]) for w in known}
        pairs = [p for p in tried if all(" " in w or often.get(w, 0) >= LEAST for w in p)]
        members = sorted({w for pair in pairs for w in pair})
        samples = sample(material.texts, material.vocabulary, members, MOST)
        pairs = [p for p in pairs if p[0] in samples and p[1] in samples]
        pairs = [p for p in pairs if promising(p, samples, words, learner)]
        curves: dict[tuple[int, int], Curve] = {}
        fits: list[list[Fit]] = []
        odds: list[tuple[float, float]] = []
        for number, pair in enumerate(pairs):
            own, between, sides = learnt_pair(pair, samples, material, stage)
            fits.append(own)
            odds.append(between)
            curves |= {(number, side): curve for side, curve in enumerate(sides)}
        totals = {word: int(found.total.sum()) for word, found in samples.items()}
        return cls(pairs, fits, odds, curves, totals)

    @property
    def least(self) -> Any:  # (pairs, 2)
        """Scores from which places are noted."""
        rows = range(len(self.pairs))
        return np.array([[self.curves[k, side].least for side in (0, 1)] for k in rows])


def learnt_pair(
    pair: tuple[str, str], samples: dict[str, Sample], material: Material, stage: Stage
) -> tuple[list[Fit], tuple[float, float], list[Curve]]:
    """The fits of a pair, what makes log-odds of its scores, and a curve for each printed word."""
    found = designed(pair, samples, material.words, MOST)
    fits, scores = leave_out(found, LEARNERS[stage.learner])
    noted = MISUSED if "/".join(pair) in KNOWN else ALARMS
    curves = []
    for side in (0, 1):
        right = (found.y > 0) == (side == 0)
        total = samples[pair[1 - side]].total * material.balance(stage)
        own = scores * (1 - 2 * side)
        curves.append(Curve.of(own, right, found.fold, total, noted, stage.above))
    return fits, log_odds(scores, found.y), curves


@dataclass(frozen=True)
class Alarm:
    """A printed word that its context speaks against."""

    pair: int
    side: int
    score: float
    weight: float
    context: str

    @property
    def key(self) -> int:
        """Checksum of the word and three words on either side."""
        return text_hash(" ".join(self.context.split(" ")[WIDE - 3 : WIDE + 4]))


def alarms(material: Material, learnt: Learnt, stage: Stage) -> list[Alarm]:
    """All places that speak for the other word, by the fit that left their genres out."""
    forms, balance = list(material.vocabulary.plain), material.balance(stage)
    found = []
    for fold, text in enumerate([*material.texts, material.other]):
        fits = [own[fold] for own in learnt.fits]  # the last is of all genres
        own = len(material.texts) == fold
        walk = Pass(
            learnt.pairs, fits, learnt.least, material.vocabulary, material.counts, material.words
        )
        for pair, side, score, at, weight in walk.places(text):
            words = text.words[int(at) - WIDE : int(at) + WIDE + 1]
            context = " ".join(forms[k] for k in words)
            doubt = stage.doubtful if "/".join(learnt.pairs[int(pair)]) in KNOWN else 1.0
            weight *= OTHERS if own else balance[fold] * doubt
            found.append(Alarm(int(pair), int(side), score, weight, context))
    return found


def counted(learnt: Learnt, found: list[Alarm], stage: Stage, shown: Path | None = None) -> None:
    """Puts alarms on the curves; misprints that were looked at are none."""
    misprints, before = known_misprints(), set()
    lines = []
    for alarm in sorted(found, key=lambda alarm: -alarm.score):
        key = alarm.pair, alarm.side, alarm.key
        if stage.once and key in before:
            continue
        before.add(key)
        curve = learnt.curves[alarm.pair, alarm.side]
        if alarm.key not in misprints:
            curve.alarm(alarm.score, alarm.weight)
        words = learnt.pairs[alarm.pair]
        recall = curve.weights[np.searchsorted(curve.finds, alarm.score) :].sum() / curve.total
        facts = words[alarm.side], words[1 - alarm.side], f"{alarm.score:.2f}", f"{recall:.3f}"
        judged = "misprint" if alarm.key in misprints else ""
        place = f"{alarm.weight:.1f}", str(alarm.key), judged, alarm.context
        lines.append("\t".join([*facts, *place]))
    if shown:
        shown.write_text("\n".join(lines).replace("\0", "▯"), encoding="utf-8")


def build(data: Path, cache: Path) -> ConfusionModel:
    """The whole way from packages to pairs with their levels, stage upon stage."""
    write(cache, data)
    material = Material.of(cache)
    return reduce(together, (kept(material, stage, cache) for stage in stages()))


def kept(material: Material, stage: Stage, cache: Path) -> ConfusionModel:
    """The pairs of a stage, learnt anew unless an earlier run came to its end with the same."""
    folder = cache / "stages" / f"{stage.name}-{fingerprint(stage, cache)[:16]}"
    if not folder.is_dir():
        folder.parent.mkdir(exist_ok=True)
        built(material, stage, cache / f"alarms-{stage.name}.tsv").to_disk(folder)
    return ConfusionModel.from_disk(folder)


def fingerprint(stage: Stage, cache: Path) -> str:
    """Whatever a stage rests on, its settings, the recipe and all texts, as one checksum."""
    digest = hashlib.sha256(repr(stage).encode())
    beside = [path for path in HERE.iterdir() if path.name != "recipe.toml" and path.is_file()]
    for path in sorted([*beside, *(cache / "texts").glob("*.txt")]):
        with path.open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()


def built(material: Material, stage: Stage, shown: Path | None = None) -> ConfusionModel:
    """Return the pairs of one stage."""
    learnt = Learnt.of(material, stage)
    counted(learnt, alarms(material, learnt, stage), stage, shown)
    return confusions(material, learnt)


def together(earlier: ConfusionModel, added: ConfusionModel) -> ConfusionModel:
    """Both tables in one; a pair that both have is the added one."""
    again = {pair.title for pair in added.pairs}
    pairs = [pair for pair in earlier.pairs if pair.title not in again] + [*added.pairs]
    spread = cells([Fit(one.keys, one.weights, 1.0, 0.0) for one in (earlier, added)])
    keys, weights = table_of(spread)
    ordered = tuple(sorted(pairs, key=lambda pair: pair.words))
    return ConfusionModel(ordered, keys, weights, added.classes, added.meta)


def table_of(spread: Any) -> tuple[Any, Any]:
    """Keys and weights of a table that is spread out."""
    at = np.flatnonzero(spread)
    keys = (at.astype(np.uint32) << np.uint32(8)) | (spread[at] >> np.uint16(8)).astype(np.uint32)
    return keys, spread[at].astype(np.uint8).view(np.int8)


def confusions(material: Material, learnt: Learnt) -> ConfusionModel:
    """Pairs that stay, with their levels in log-odds."""
    pairs = learnt.pairs
    known = [k for k, p in enumerate(pairs) if "/".join(p) in KNOWN]
    levels, figures = chosen(learnt.curves, THRESHOLD_PRECISIONS, known)
    kept = sorted(figures)
    fits = {k: learnt.fits[k][-1] for k in kept}
    keys, weights = table_of(cells(list(fits.values())))
    rows = []
    for k in kept:
        slope, shift = learnt.odds[k]
        sides = [
            tuple(round((level * slope + (1 - 2 * s) * shift), 3) for level in levels[k, s])
            for s in (0, 1)
        ]
        first, second = (learnt.totals[word] for word in pairs[k])
        rows.append(
            Pair(
                words=pairs[k],
                counts=(first, second),
                bias=fits[k].bias,
                scale=fits[k].scale,
                slope=slope,
                shift=shift,
                levels=(sides[0], sides[1]),
                precision=figures[k][0],
                recall=figures[k][1],
            )
        )
    words = int(sum(len(t.words) for t in material.texts))
    meta = {"error_rate": ERROR_RATE, "training_tokens": words, "licence": "MIT"}
    return ConfusionModel(tuple(rows), keys, weights, material.classes, meta)


def main(data: Path, out: Path) -> None:
    """Puts the model beside its card and recipe."""
    default = Path.home() / ".cache" / "textrank" / "confusions"
    cache = Path(os.environ.get("CONFUSIONS_CACHE", default))
    cache.mkdir(parents=True, exist_ok=True)
    found = build(data, cache)
    with tempfile.TemporaryDirectory() as work:
        found.to_disk(Path(work) / "model")
        out.mkdir(parents=True, exist_ok=True)
        for file in (Path(work) / "model").iterdir():
            shutil.copy2(file, out / file.name)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
