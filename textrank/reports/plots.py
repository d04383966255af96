"""Plots of a Report as SVG text that follows the colours of the page it stands in."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from textrank.evaluation import Decision, Report, Summary
from textrank.evaluation.report import OPTIMISTIC
from textrank.evaluation.sweep import Sweep
from textrank.metrics import mean_roc, precision_recall_curve, roc_curve, score_calibration
from textrank.reports.table import metric_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Drawn in these colours, then replaced by the page's own, so that dark screens and paper work.
INK, MUTED, LINE, ACCENT, SECOND = "#010101", "#020202", "#030303", "#040404", "#050505"
_VARIABLES = {INK: "ink", MUTED: "muted", LINE: "line", ACCENT: "accent", SECOND: "second"}


@dataclass(frozen=True)
class Figure:
    """A drawn plot: SVG text with its title and what a reader should see in it."""

    name: str
    title: str
    caption: str
    svg: str


class Canvas:
    """One pair of axes in the style of the reports; ``svg`` gives the drawing."""

    def __init__(self, name: str, width: float = 4.6, height: float = 3.9) -> None:
        matplotlib = _matplotlib()
        self._style = matplotlib.rc_context(_style(name))
        with self._style:
            self.figure = matplotlib.figure.Figure(figsize=(width, height), layout="constrained")
            self.axes: Axes = self.figure.add_subplot()
        for side in ("top", "right"):
            self.axes.spines[side].set_visible(False)
        self.name = name

    def svg(self) -> str:
        """The drawing, without size, date or colours of its own."""
        text = io.StringIO()
        with _matplotlib().rc_context(_style(self.name)):
            self.figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
        return _themed(text.getvalue(), self.name)


def draw_figures(report: Report) -> list[Figure]:
    """Every plot the report has data for."""
    parts = _parts(report.decisions)
    drawn: list[Figure | None] = [plot_folds(report)]
    if any(d.threshold is not None for d in report.decisions):
        drawn = [plot_roc(parts), plot_precision_recall(parts, report), *drawn]
        drawn.append(plot_score_calibration(report.decisions))
    drawn.append(plot_reliability(report.curves.get("reliability", ())))
    drawn.append(plot_regularization_path(report.curves.get("alpha", ())))
    drawn.append(plot_learning_curve(report.curves.get("learning", ())))
    return [figure for figure in drawn if figure is not None]


def plot_roc(parts: Sequence[tuple[Any, Any]]) -> Figure | None:
    """ROC curves of the folds, their vertical average, and a band of one standard deviation."""
    band = mean_roc(parts)
    if band is None:
        return None
    canvas = Canvas("roc")
    axes = canvas.axes
    axes.plot([0, 1], [0, 1], color=LINE, linewidth=1)
    for y, scores in parts[:50]:
        curve = roc_curve(y, scores)
        if curve is not None and band.curves > 1:
            axes.plot(curve.x, curve.y, color=MUTED, linewidth=0.5, alpha=0.45)
    low, high = np.clip(band.mean - band.std, 0, 1), np.clip(band.mean + band.std, 0, 1)
    axes.fill_between(band.x, low, high, color=ACCENT, alpha=0.16, linewidth=0)
    axes.plot(band.x, band.mean, color=ACCENT, linewidth=2)
    _unit(axes, "false-positive rate", "true-positive rate")
    skipped = f" {band.undefined} folds have one class only and no curve." if band.undefined else ""
    words = f"Mean of {band.curves} folds (vertical average), band ±1 standard deviation.{skipped}"
    return Figure("roc", "ROC", words, canvas.svg())


def plot_precision_recall(parts: Sequence[tuple[Any, Any]], report: Report) -> Figure | None:
    """Precision over recall of each fold and of all together, with the chosen operating point."""
    y = np.concatenate([np.asarray(a) for a, _ in parts]) if parts else np.empty(0)
    scores = np.concatenate([np.asarray(b) for _, b in parts]) if parts else np.empty(0)
    pooled = precision_recall_curve(y, scores)
    if pooled is None:
        return None
    canvas = Canvas("precision-recall")
    axes = canvas.axes
    for labels, values in parts[:50]:
        curve = precision_recall_curve(labels, values)
        if curve is not None and len(parts) > 1:
            axes.plot(curve.x, curve.y, color=MUTED, linewidth=0.5, alpha=0.45)
    axes.plot(pooled.x, pooled.y, color=ACCENT, linewidth=2)
    axes.axhline(float((y > 0).mean()), color=LINE, linewidth=1)
    recall, precision = (_mean(report, name) for name in ("recall", "precision"))
    if recall is not None and precision is not None:
        axes.plot([recall], [precision], "o", color=SECOND, markersize=7)
    _unit(axes, "recall", "precision")
    words = (
        "All folds pooled; thin lines are single folds, the dot is the mean at the thresholds "
        "chosen on training data, the flat line is the share of positives."
    )
    return Figure("precision-recall", "Precision and recall", words, canvas.svg())


def plot_score_calibration(decisions: Sequence[Decision]) -> Figure | None:
    """How often candidates of a score are positive, with the threshold's place."""
    bins = score_calibration([d.label for d in decisions], [d.score for d in decisions])
    if not bins:
        return None
    canvas = Canvas("calibration")
    axes = canvas.axes
    x, share = [b.score for b in bins], np.array([b.share for b in bins])
    spread = [share - [b.low for b in bins], [b.high for b in bins] - share]
    axes.errorbar(x, share, yerr=spread, color=ACCENT, marker="o", markersize=4, linewidth=1.5)
    middle = float(np.mean([d.threshold for d in decisions if d.threshold is not None]))
    axes.axvline(middle, color=SECOND, linewidth=1, linestyle=(0, (4, 3)))
    axes.set(xlabel="score", ylabel="share of positives", ylim=(-0.02, 1.02))
    words = (
        "Candidates in ten equal parts by score, with 95 % intervals; "
        "the dashed line is the mean threshold."
    )
    return Figure("calibration", "What a score means", words, canvas.svg())


def plot_reliability(bins: Sequence[Mapping[str, Any]]) -> Figure | None:
    """How often candidates of a probability are positive; true probabilities lie on the line."""
    if not bins:
        return None
    canvas = Canvas("reliability")
    axes = canvas.axes
    axes.plot([0, 1], [0, 1], color=LINE, linewidth=1)
    x, share = [b["x"] for b in bins], np.array([b["share"] for b in bins])
    spread = [share - [b["low"] for b in bins], [b["high"] for b in bins] - share]
    axes.errorbar(x, share, yerr=spread, color=ACCENT, marker="o", markersize=4, linewidth=1.5)
    _unit(axes, "probability", "share of positives")
    words = "Candidates by probability, in bins of a tenth, with 95 % intervals."
    return Figure("reliability", "What a probability is worth", words, canvas.svg())


def plot_folds(report: Report) -> Figure | None:
    """Each measure of each fold as a dot, the mean as a bar."""
    names = [n for n, s in report.measures.items() if s.mean is not None and n not in OPTIMISTIC]
    if not names or len(report.folds) < 2:
        return None
    canvas = Canvas("folds")
    rng = np.random.default_rng(0)
    for row, name in enumerate(reversed(names)):
        values = [v for f in report.folds if (v := f.measures.get(name)) is not None]
        jitter = row + rng.uniform(-0.18, 0.18, len(values))
        canvas.axes.plot(values, jitter, "o", color=ACCENT, markersize=3.5, alpha=0.45)
        canvas.axes.plot([np.mean(values)] * 2, [row - 0.3, row + 0.3], color=SECOND, linewidth=2)
    canvas.axes.set_yticks(range(len(names)), [metric_label(n) for n in reversed(names)])
    canvas.axes.grid(axis="x", color=LINE, linewidth=0.6)
    canvas.axes.tick_params(axis="y", length=0)
    words = "One dot a test fold; the bar is the mean."
    return Figure("folds", "Spread over folds", words, canvas.svg())


def plot_regularization_path(points: Sequence[Mapping[str, Any]]) -> Figure | None:
    """A measure over alpha on a logarithmic axis, with the spread over folds."""
    words = "Test folds at every alpha, for looking only: none of it was used to choose."
    return _line_plot("alpha", "Regularisation", words, points, xlabel="alpha")


def plot_learning_curve(points: Sequence[Mapping[str, Any]]) -> Figure | None:
    """A measure over the number of training documents on a logarithmic axis."""
    words = "Models of fewer documents, tested on the same folds; a logarithmic axis."
    return _line_plot("learning", "Learning curve", words, points, xlabel="training documents")


def plot_sweep(found: Sweep, measure: str) -> Figure | None:
    """A measure over one swept key as a line, over two as a heat map; None for more keys."""
    words = "Test folds; to choose by these figures and report them as well is optimistic."
    name, title = f"sweep-{measure}", metric_label(measure)
    if len(found.keys) == 1 and all(isinstance(p.values[0], int | float) for p in found.points):
        points = [
            {"x": p.values[0], measure: _spread(p.report.measures[measure])} for p in found.points
        ]
        positive = all(point["x"] > 0 for point in points)
        return _line_plot(name, title, words, points, xlabel=found.keys[0], log=positive)
    if len(found.keys) > 2:
        return None
    cells = {p.values: p.report.measures[measure].mean for p in found.points}
    rows = found.axis(0)
    columns = found.axis(1) if len(found.keys) == 2 else [None]
    grid = [[cells.get((r,) if c is None else (r, c)) for c in columns] for r in rows]
    heads = [_value(c) for c in columns] if len(found.keys) == 2 else [title]
    axes = (found.keys[0], found.keys[1] if len(found.keys) == 2 else "")
    return plot_heat_map(name, title, words, grid, [_value(r) for r in rows], heads, axes=axes)


def _spread(summary: Summary) -> dict[str, float | None]:
    return {"mean": summary.mean, "std": summary.std}


def _value(value: Any) -> str:
    return ",".join(map(_value, value)) if isinstance(value, list | tuple) else f"{value}"


def plot_heat_map(
    name: str,
    title: str,
    caption: str,
    values: Sequence[Sequence[float | None]],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    axes: tuple[str, str] = ("", ""),
) -> Figure:
    """A table of fractions as shaded cells with their percent; undefined cells stay empty."""
    grid = np.array([[np.nan if v is None else v for v in row] for row in values], dtype=np.float64)
    canvas = Canvas(name, 1.8 + 0.72 * len(columns), 1.3 + 0.46 * len(rows))
    known = grid[np.isfinite(grid)]
    low, span = (known.min(), max(np.ptp(known), 1e-9)) if len(known) else (0.0, 1.0)
    for (i, j), value in np.ndenumerate(grid):
        if np.isfinite(value):
            _cell(canvas.axes, i, j, float(value), 0.08 + 0.6 * (value - low) / span)
    canvas.axes.set(xlim=(-0.5, len(columns) - 0.5), ylim=(len(rows) - 0.5, -0.5))
    canvas.axes.set_xticks(range(len(columns)), list(columns))
    canvas.axes.set_yticks(range(len(rows)), list(rows))
    canvas.axes.set(ylabel=axes[0], xlabel=axes[1])
    canvas.axes.tick_params(length=0)
    canvas.axes.spines[:].set_visible(False)
    return Figure(name, title, caption, canvas.svg())


def _cell(axes: Axes, row: int, column: int, value: float, alpha: float) -> None:
    rectangle = _matplotlib().patches.Rectangle(
        (column - 0.47, row - 0.47), 0.94, 0.94, facecolor=ACCENT, alpha=alpha, linewidth=0
    )
    axes.add_patch(rectangle)
    axes.text(column, row, f"{100 * value:.1f}", ha="center", va="center", color=INK)


def _line_plot(
    name: str,
    title: str,
    caption: str,
    points: Sequence[Mapping[str, Any]],
    *,
    xlabel: str,
    log: bool = True,
) -> Figure | None:
    """Points ``{"x": number, measure: {"mean", "std"}, ...}`` as a line for each measure."""
    if len(points) < 2:
        return None
    canvas = Canvas(name)
    measures = [key for key in points[0] if key != "x"]
    for measure, color in zip(measures, (ACCENT, SECOND, MUTED), strict=False):
        known = [p for p in points if p[measure]["mean"] is not None]
        x = [p["x"] for p in known]
        mean = np.array([p[measure]["mean"] for p in known])
        std = np.array([p[measure]["std"] for p in known])
        canvas.axes.fill_between(x, mean - std, mean + std, color=color, alpha=0.13, linewidth=0)
        canvas.axes.plot(x, mean, "o-", color=color, linewidth=1.6, markersize=4)
        canvas.axes.annotate(metric_label(measure), (x[-1], mean[-1]), (4, 6), color=color,
                             textcoords="offset points", ha="right")  # fmt: skip
    if log:
        canvas.axes.set_xscale("log")
    canvas.axes.set_xticks([p["x"] for p in points], [f"{p['x']:g}" for p in points])
    canvas.axes.minorticks_off()
    canvas.axes.set_xlabel(xlabel)
    canvas.axes.grid(axis="y", color=LINE, linewidth=0.6)
    return Figure(name, title, caption, canvas.svg())


def _parts(decisions: Sequence[Decision]) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Labels and scores of each test fold."""
    found: dict[tuple[int, int], list[Decision]] = {}
    for decision in decisions:
        found.setdefault((decision.split, decision.fold), []).append(decision)
    return [
        (np.array([d.label for d in part]), np.array([d.score for d in part]))
        for _, part in sorted(found.items())
    ]


def _mean(report: Report, measure: str) -> float | None:
    return report.measures[measure].mean if measure in report.measures else None


def _unit(axes: Axes, x: str, y: str) -> None:
    axes.set(xlabel=x, ylabel=y, xlim=(-0.01, 1.01), ylim=(-0.01, 1.02), aspect="equal")
    axes.grid(color=LINE, linewidth=0.5, alpha=0.7)


def _style(name: str) -> dict[str, Any]:
    return {
        "svg.fonttype": "none",  # letters stay letters: searchable, and in the font of the page
        "svg.hashsalt": name,  # the same drawing gives the same text
        "text.parse_math": False,  # a name with two $ in it is no formula
        "font.family": "sans-serif",
        "font.size": 9.5,
        "text.color": INK,
        "axes.edgecolor": MUTED,
        "axes.labelcolor": INK,
        "xtick.color": MUTED,
        "ytick.color": MUTED,
        "xtick.labelcolor": INK,
        "ytick.labelcolor": INK,
        "axes.linewidth": 0.8,
        "axes.axisbelow": True,
    }


def _themed(svg: str, name: str) -> str:
    svg = svg[svg.index("<svg") :]
    for color, variable in _VARIABLES.items():
        svg = svg.replace(color, f"var(--{variable})")
    svg = re.sub(r' (width|height)="[\d.]+pt"', "", svg, count=2)
    svg = re.sub(r"<style.*?</style>", "", svg, flags=re.DOTALL)  # it would style the whole page
    svg = re.sub(r"font-family: [^;\"]*;?", "", svg)
    svg = re.sub(r"font: ([\d.]+)px [^;\"]*", r"font-size: \1px", svg)
    # Ids of several drawings share one page.
    svg = re.sub(r'id="', f'id="{name}-', svg)
    return re.sub(r"(url\(|href=\")#", rf"\1#{name}-", svg)


def require_matplotlib() -> None:
    """Refuses before long work, not after it, where plots cannot be drawn."""
    _matplotlib()


def _matplotlib() -> Any:
    try:
        import matplotlib
        import matplotlib.figure
        import matplotlib.patches
    except ImportError as error:
        raise ModuleNotFoundError(
            "plots need matplotlib. Install it with: pip install 'textrank-kernels[plots]'"
        ) from error
    return matplotlib
