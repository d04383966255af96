"""Self-contained HTML pages of evaluation results, their figures, and a report's worst errors.

The functions ``render_*`` return a page that needs no network and no other file; ``write_*`` write
it atomically. ``select_worst_errors`` chooses the wrong answers that a report quotes, with their
sentence and dependency path ready to display.

Figures are SVG text in the colours of the page that includes it. ``draw_figures`` draws every plot
that a report has data for; the ``plot_*`` functions draw one each and return None if there is
nothing to draw. They need matplotlib (``require_matplotlib``).
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from numpy.typing import NDArray

from textrank.evaluation import Decision, Report, Summary
from textrank.evaluation.evaluate import CrossCorpus
from textrank.evaluation.league import League
from textrank.evaluation.report import OPTIMISTIC
from textrank.evaluation.sweep import Sweep
from textrank.evaluation.transfer import Transfer
from textrank.io import write_text
from textrank.metrics import (
    argmax_first,
    mean_roc,
    precision_recall_curve,
    roc_curve,
    score_calibration,
)
from textrank.reports.table import (
    describe_effect,
    describe_left_out,
    describe_permutation_test,
    describe_replay,
    format_percent,
    metric_label,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Shown large: the first of these groups of which a report has a metric.
HEADLINE_METRICS = (("auc", "f", "precision", "recall"), ("tau", "disagreement", "ndcg", "ndcg@10"))
CROSS_CORPUS_CAPTIONS = {
    "auc": "Train on the row, test on the column.",
    "f": "Threshold chosen on the training corpus, as a user would have to.",
    "f_mean": "Threshold at the mean of the test scores, no label used.",
    "f_rate": "Threshold that answers yes as often as the test corpus does.",
    "f_best": "Best threshold of the test corpus itself: optimistic.",
}

# Pages


def render_report(
    report: Report, *, errors: int = 50, extra: Sequence[Figure] = (), explanations_url: str = ""
) -> str:
    """Return a report as an HTML page: metrics, figures, errors, folds and settings.

    Needs matplotlib if there is anything to plot.

    Parameters
    ----------
    report
        The report.
    errors
        Maximum number of errors of each kind. They quote sentences of the corpus; 0 leaves them
        out, for a page that may be passed on although the corpus may not.
    extra
        Figures to show before those of the report.
    explanations_url
        Relative address of a page that explains the errors; "" for no link.
    """
    figures = [*extra, *draw_figures(report)]
    return _render(
        "report.html",
        report=report,
        headlines=_headline_metrics(report),
        measures=[(n, s, report.intervals.get(n)) for n, s in report.measures.items()],
        figures=_with_markup(figures),
        errors=select_worst_errors(report, errors) if errors else [],
        fold_columns=list(dict.fromkeys(k for fold in report.folds for k in fold.to_dict())),
        settings=list(flatten_settings(report.settings)),
        why=explanations_url,
    )


def write_report_page(
    report: Report,
    path: str | Path,
    *,
    errors: int = 50,
    extra: Sequence[Figure] = (),
    explanations_url: str = "",
) -> None:
    """Write ``render_report``, with the same arguments, to a file atomically.

    An existing file is replaced; the folder must exist.
    """
    write_text(
        render_report(report, errors=errors, extra=extra, explanations_url=explanations_url), path
    )


def render_cross_corpus(cross: CrossCorpus) -> str:
    """Return cross-corpus results as an HTML page: AUC, and F under four thresholds.

    Only metrics of CROSS_CORPUS_CAPTIONS that the first report has are shown, a heat map each.
    Needs at least one report, and matplotlib for the heat maps.
    """
    first = next(iter(cross.reports.values()))
    names = [name for name in CROSS_CORPUS_CAPTIONS if name in first.measures]
    figures = [
        plot_heat_map(
            f"cross-{name}",
            metric_label(name),
            CROSS_CORPUS_CAPTIONS[name],
            cross.table(name),
            cross.corpora,
            cross.corpora,
            axes=("train", "test"),
        )
        for name in names
    ]
    return _render(
        "cross.html",
        cross=cross,
        first=first,
        figures=_with_markup(figures),
        measures=names,
        settings=list(flatten_settings(first.settings)),
    )


def write_cross(cross: CrossCorpus, path: str | Path) -> None:
    """Write ``render_cross_corpus`` to a file atomically; an existing one is replaced."""
    write_text(render_cross_corpus(cross), path)


def render_sweep(sweep: Sweep) -> str:
    """Return a sweep as an HTML page: a table, with plots if one or two keys were swept.

    The table has all metrics of the first report, plots only auc, f and tau. Needs at least one
    point, and matplotlib for the plots.
    """
    first = sweep.points[0].report
    names = [name for name in ("auc", "f", "tau") if name in first.measures]
    figures = [figure for name in names if (figure := plot_sweep(sweep, name)) is not None]
    return _render(
        "sweep.html",
        sweep=sweep,
        first=first,
        figures=_with_markup(figures),
        measures=list(first.measures),
    )


def render_league(league: League) -> str:
    """Return a league as an HTML page: a table of scores per unit, and the tests."""
    return _render("league.html", league=league)


def render_replay(replay: Mapping[str, Any]) -> str:
    """Return the replay of an annotation as an HTML page: curve, forecasts and when to stop.

    ``replay`` is ``Replay.to_dict()`` with at least one random order. A table has the chosen points
    with the random values at each; of ``describe_replay`` only the first sentence is shown. Needs
    matplotlib.
    """
    figures = [plot_replay(replay), plot_forecast_checks(replay)]
    orders = [points for name, points in replay["curves"].items() if name != "chosen"]
    rows = []
    for point in replay["curves"]["chosen"]:
        answers = point["answers"]
        values = [p["value"] for points in orders for p in points if p["answers"] == answers]
        rows.append((point, replay["random_mean"].get(str(answers)), values))
    return _render(
        "replay.html",
        replay=replay,
        figures=_with_markup(figure for figure in figures if figure is not None),
        rows=rows,
        orders=len(orders),
        sentence=describe_replay(replay)[0],
    )


def render_transfer(transfer: Transfer, *, documents: int = 50) -> str:
    """Return what foreign corpora bring to a target as an HTML page: weights, effects, harm.

    ``documents`` is the largest number of harmful documents to list. Needs matplotlib.
    """
    figures = [plot_transfer(transfer, metric) for metric in ("auc", "f")]
    return _render(
        "transfer.html",
        transfer=transfer,
        figures=_with_markup(figure for figure in figures if figure is not None),
        harmful=[(d, document_url(d.document)) for d in transfer.harmful[:documents]],
        left_out=describe_left_out(transfer),
    )


def write_sweep(sweep: Sweep, path: str | Path) -> None:
    """Write ``render_sweep`` to a file atomically; an existing one is replaced."""
    write_text(render_sweep(sweep), path)


def flatten_settings(settings: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield nested settings as pairs of dotted key and JSON value, in order.

    ``prefix`` is put before all keys, with a dot. Empty mappings yield nothing; values that JSON
    cannot hold are written as strings.

    >>> list(flatten_settings({"task": {"name": "ppi"}, "seed": 1}))
    [('task.name', '"ppi"'), ('seed', '1')]
    """
    for key, value in settings.items():
        name = f"{prefix}.{key}" if prefix else str(key)
        if isinstance(value, Mapping):
            yield from flatten_settings(value, name)
        else:
            yield name, json.dumps(value, ensure_ascii=False, default=str)


def document_url(document: str) -> str | None:
    """Return the address of a PubMed abstract by its id; None for an id of another form.

    An id is a number of 5 to 8 digits, with or without "PMID" in any case.

    >>> document_url("PMID:10022882")
    'https://pubmed.ncbi.nlm.nih.gov/10022882/'
    >>> document_url("d12") is None
    True
    """
    match = re.fullmatch(r"(?:PMID[:_-]? ?)?([0-9]{5,8})", document, re.IGNORECASE)
    return f"https://pubmed.ncbi.nlm.nih.gov/{match[1]}/" if match else None


def template_environment() -> Environment:
    """Return a new environment of the page templates; everything inserted is escaped.

    A variable that a template uses but was not given raises ``jinja2.UndefinedError``. Filters are
    percent, metric, permutation_test, cell and effect; ``optimistic`` is a global.
    """
    environment = Environment(
        loader=PackageLoader("textrank.reports", "page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "percent": format_percent,
        "metric": metric_label,
        "permutation_test": describe_permutation_test,
        "cell": _format_cell,
        "effect": describe_effect,
    }
    environment.globals["optimistic"] = OPTIMISTIC
    return environment


def _render(template: str, **values: Any) -> str:
    """Return a page template, by its file name, filled with ``values``.

    Values are escaped unless they are ``Markup``. Raises ``jinja2.UndefinedError`` if one that the
    template uses is missing.
    """
    return template_environment().get_template(template).render(**values)


def _with_markup(figures: Iterable[Figure]) -> list[tuple[Figure, Markup]]:
    """Return pairs of a figure and its SVG, marked as safe to insert unescaped: it is our own."""
    return [(figure, Markup(figure.svg)) for figure in figures]


def _headline_metrics(report: Report) -> list[str]:
    """Return the names of up to four metrics to show large, in display order.

    They are those that the report has of the first group of HEADLINE_METRICS with any, else the
    report's first four.
    """
    metrics = report.measures
    groups = [names for names in HEADLINE_METRICS if any(name in metrics for name in names)]
    return [name for name in (groups[0] if groups else list(metrics)[:4]) if name in metrics]


def _format_cell(value: Any, column: str) -> str:
    """Return a cell of the fold table; ``column`` is its key, which decides the format.

    Split, fold, counts and any column with "queries" in its name are integers, alpha and threshold
    have three significant digits, and all else is in percent. None gives a dash.
    """
    if value is None:
        return "–"
    if column in ("split", "fold", "documents", "candidates", "positives") or "queries" in column:
        return f"{int(value)}"
    return f"{value:.3g}" if column in ("alpha", "threshold") else format_percent(value)


# Errors

CharacterRange: TypeAlias = tuple[int, int]  # of the sentence, end excluded
Piece: TypeAlias = tuple[str, str]  # text and the CSS classes that mark it
WrongAnswer: TypeAlias = tuple[str, float, Decision]  # kind, margin, decision


@dataclass(frozen=True)
class Step:
    """A word on a dependency path, and the dependency between it and the next word."""

    word: str
    entity: bool
    relation: str = ""  # empty at the last word
    forward: bool = True  # whether this word is the governor of the next


@dataclass(frozen=True)
class Error:
    """A wrong answer, ready to display.

    ``decision`` is that of the split with the largest margin. For "wrong order" the margin is the
    best label of the query minus that of the candidate. ``pieces`` and ``steps`` are the marked
    sentence and the dependency path.
    """

    kind: str  # "false positive", "false negative" or "wrong order"
    decision: Decision
    margin: float  # distance to the right side of the threshold, positive
    times: int  # number of splits in which the candidate was wrong
    splits: int  # number of all splits
    pieces: Sequence[Piece]
    steps: Sequence[Step]


def select_worst_errors(report: Report, limit: int = 50) -> list[Error]:
    """Return up to ``limit`` errors of each kind, largest margin first.

    Kinds are false positives and false negatives. For rankings, whose decisions have no threshold,
    they are the queries whose highest-scored candidate is not the best. A candidate that is wrong
    in several splits is one error, with its largest margin. Errors of all kinds are sorted
    together; equal margins by document and text.
    """
    is_ranking = all(decision.threshold is None for decision in report.decisions)
    find = _find_wrong_orders if is_ranking else _find_wrong_answers
    splits = len({decision.split for decision in report.decisions})
    errors_by_kind: dict[str, list[Error]] = {}
    for (kind, _), answers in _group_by_candidate(find(report.decisions)).items():
        margin, decision = max(answers, key=lambda answer: answer[0])
        pieces, steps = mark_sentence(decision), path_steps(decision)
        error = Error(kind, decision, margin, len(answers), splits, pieces, steps)
        errors_by_kind.setdefault(kind, []).append(error)
    selected = [
        error
        for errors in errors_by_kind.values()
        for error in sorted(errors, key=_severity)[:limit]
    ]
    return sorted(selected, key=_severity)


def mark_sentence(decision: Decision, words: Sequence[CharacterRange] = ()) -> list[Piece]:
    """Split the sentence of a decision into pieces with CSS classes.

    Classes: e1, e2 and so on for the judged mentions, path for words on the dependency path, word
    for the given ``words``. All are character ranges of ``decision.text``, clipped to it. The
    pieces join to the whole text; the classes of a piece are separated by blanks, in this order, ""
    for none.
    """
    marks = [(start, end, f"e{i + 1}") for i, (start, end) in enumerate(decision.spans)]
    for arc in decision.path:
        marks += [(arc[0], arc[1], "path"), (arc[2], arc[3], "path")]
    marks += [(start, end, "word") for start, end in words]
    size = len(decision.text)
    cuts = sorted({0, size, *(min(max(c, 0), size) for a, b, _ in marks for c in (a, b))})
    pieces = []
    for start, end in pairwise(cuts):
        names = dict.fromkeys(name for a, b, name in marks if a <= start and end <= b)
        pieces.append((decision.text[start:end], " ".join(names)))
    return pieces


def path_steps(decision: Decision) -> list[Step]:
    """Return the words along the dependency path from the first judged mention to the second.

    There is one more word than dependencies; none without a path. ``decision.path`` must have its
    dependencies in the order of the path.
    """
    arcs = [((a, b), (c, d), relation) for a, b, c, d, relation in decision.path]
    if not arcs:
        return []
    word = _first_word(decision, arcs)
    steps = []
    for governor, dependent, relation in arcs:
        is_governor = word == governor
        steps.append(_build_step(decision, word, relation, forward=is_governor))
        word = dependent if is_governor else governor
    return [*steps, _build_step(decision, word)]


def _first_word(
    decision: Decision, arcs: Sequence[tuple[CharacterRange, CharacterRange, str]]
) -> CharacterRange:
    """Return the word at which the path begins.

    That is the word of the first arc that the second arc does not have; with one arc, the governor
    if it overlaps the first judged mention, else the dependent. ``arcs``, at least one, are
    (governor, dependent, relation).
    """
    governor, dependent, _ = arcs[0]
    if len(arcs) > 1:
        return dependent if governor in arcs[1][:2] else governor
    return governor if _overlap(governor, decision.spans[0]) else dependent


def _build_step(
    decision: Decision, word: CharacterRange, relation: str = "", forward: bool = True
) -> Step:
    """Return the step of the word at a character range; ``relation`` leads to the next word."""
    is_entity = any(_overlap(word, span) for span in decision.spans)
    return Step(decision.text[word[0] : word[1]], is_entity, relation, forward)


def _overlap(one: CharacterRange, other: CharacterRange) -> bool:
    """Return whether two ranges, ends excluded, have a character in common."""
    return one[0] < other[1] and other[0] < one[1]


def _find_wrong_answers(decisions: Iterable[Decision]) -> list[WrongAnswer]:
    """Return false positives and false negatives with their distance from the threshold.

    In the order of ``decisions``; decisions without a threshold are skipped.
    """
    wrong = []
    for d in decisions:
        if d.threshold is None or d.decision == (d.label > 0):
            continue
        kind = "false positive" if d.decision else "false negative"
        wrong.append((kind, abs(d.score - d.threshold), d))
    return wrong


def _find_wrong_orders(decisions: Iterable[Decision]) -> list[WrongAnswer]:
    """Return the highest-scored candidates that are not the best, with their regret.

    Regret is the best label of the query minus that of its highest-scored candidate, of tied ones
    the first. Candidates of the same split, document and query form a query. There is at most one
    answer for each, in the order in which the queries first occur.
    """
    queries: dict[tuple[int, str, str], list[Decision]] = {}
    for d in decisions:
        queries.setdefault((d.split, d.document, d.query), []).append(d)
    wrong = []
    for candidates in queries.values():
        first = candidates[int(argmax_first([d.score for d in candidates]))]
        regret = max(d.label for d in candidates) - first.label
        if regret > 0:
            wrong.append(("wrong order", regret, first))
    return wrong


def _group_by_candidate(
    answers: Iterable[WrongAnswer],
) -> dict[tuple[str, object], list[tuple[float, Decision]]]:
    """Return (margin, decision) of wrong answers by kind and candidate.

    A candidate, which can be wrong in several splits, is identified by document, query, text and
    spans. Order of appearance is kept.
    """
    groups: dict[tuple[str, object], list[tuple[float, Decision]]] = {}
    for kind, margin, d in answers:
        key = (d.document, d.query, d.text, d.spans)
        groups.setdefault((kind, key), []).append((margin, d))
    return groups


def _severity(error: Error) -> tuple[float, str, str]:
    """Return the sort key of errors: by decreasing margin, then by document and text."""
    return (-error.margin, error.decision.document, error.decision.text)


# Placeholders, replaced by CSS variables of the page, so that dark screens and paper work.
INK, MUTED, LINE, ACCENT, SECOND = "#010101", "#020202", "#030303", "#040404", "#050505"
_VARIABLES = {INK: "ink", MUTED: "muted", LINE: "line", ACCENT: "accent", SECOND: "second"}


MAX_FOLD_CURVES = 50  # of single folds, thin lines


@dataclass(frozen=True)
class Figure:
    """A plot as SVG text, with its title and a caption."""

    name: str  # unique on a page; prefix of the ids in the SVG
    title: str
    caption: str
    svg: str


class Canvas:
    """matplotlib axes in the style of the reports; width and height in inches.

    ``name`` prefixes the ids in the SVG and must be unique on a page. Raises ModuleNotFoundError
    without matplotlib.
    """

    def __init__(self, name: str, width: float = 4.6, height: float = 3.9) -> None:
        """Create empty axes without top and right border; ``width`` and ``height`` are in inches.

        ``name`` prefixes the ids in the SVG. Raises ModuleNotFoundError without matplotlib.
        """
        matplotlib = _import_matplotlib()
        self._style = matplotlib.rc_context(_style(name))
        with self._style:
            self.figure = matplotlib.figure.Figure(figsize=(width, height), layout="constrained")
            self.axes: Axes = self.figure.add_subplot()
        for side in ("top", "right"):
            self.axes.spines[side].set_visible(False)
        self.name = name

    def svg(self) -> str:
        """Return the drawing as SVG text, without size and date.

        Placeholder colours become CSS variables of the page. The same drawing gives the same text.
        """
        text = io.StringIO()
        with _import_matplotlib().rc_context(_style(self.name)):
            self.figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
        return _use_page_style(text.getvalue(), self.name)


def draw_figures(report: Report) -> list[Figure]:
    """Return every plot that the report has data for, in the order of the page.

    These are ROC, precision-recall, folds, score calibration, reliability, regularisation path and
    learning curve. ROC, precision-recall and score calibration need a decision with a threshold, so
    rankings have none of them.
    """
    folds = _labels_and_scores(report.decisions)
    drawn: list[Figure | None] = [plot_folds(report)]
    if any(d.threshold is not None for d in report.decisions):
        drawn = [plot_roc(folds), plot_precision_recall(folds, report), *drawn]
        drawn.append(plot_score_calibration(report.decisions))
    drawn.append(plot_reliability(report.curves.get("reliability", ())))
    drawn.append(plot_regularization_path(report.curves.get("alpha", ())))
    drawn.append(plot_learning_curve(report.curves.get("learning", ())))
    return [figure for figure in drawn if figure is not None]


def plot_roc(folds: Sequence[tuple[Any, Any]]) -> Figure | None:
    """Plot the ROC curves of folds, their vertical average and a band of one standard deviation.

    ``folds`` are pairs of labels and scores; None if no fold has both classes. Only the first
    MAX_FOLD_CURVES folds have a line of their own; all are in the average.
    """
    band = mean_roc(folds)
    if band is None:
        return None
    canvas = Canvas("roc")
    axes = canvas.axes
    axes.plot([0, 1], [0, 1], color=LINE, linewidth=1)
    for y, scores in folds[:MAX_FOLD_CURVES]:
        curve = roc_curve(y, scores)
        if curve is not None and band.curves > 1:
            axes.plot(curve.x, curve.y, color=MUTED, linewidth=0.5, alpha=0.45)
    low, high = np.clip(band.mean - band.std, 0, 1), np.clip(band.mean + band.std, 0, 1)
    axes.fill_between(band.x, low, high, color=ACCENT, alpha=0.16, linewidth=0)
    axes.plot(band.x, band.mean, color=ACCENT, linewidth=2)
    _set_unit_axes(axes, "false-positive rate", "true-positive rate")
    skipped = f" {band.undefined} folds have one class only and no curve." if band.undefined else ""
    words = f"Mean of {band.curves} folds (vertical average), band ±1 standard deviation.{skipped}"
    return Figure("roc", "ROC", words, canvas.svg())


def plot_precision_recall(folds: Sequence[tuple[Any, Any]], report: Report) -> Figure | None:
    """Plot precision over recall of each fold and of all pooled, with the mean operating point.

    ``folds`` are pairs of labels and scores; None if there is no positive. The operating point is
    the mean recall and precision of ``report``, left out if it lacks them. Only the first
    MAX_FOLD_CURVES folds have a line of their own.
    """
    y = np.concatenate([np.asarray(labels) for labels, _ in folds]) if folds else np.empty(0)
    scores = np.concatenate([np.asarray(values) for _, values in folds]) if folds else np.empty(0)
    pooled = precision_recall_curve(y, scores)
    if pooled is None:
        return None
    canvas = Canvas("precision-recall")
    axes = canvas.axes
    for labels, values in folds[:MAX_FOLD_CURVES]:
        curve = precision_recall_curve(labels, values)
        if curve is not None and len(folds) > 1:
            axes.plot(curve.x, curve.y, color=MUTED, linewidth=0.5, alpha=0.45)
    axes.plot(pooled.x, pooled.y, color=ACCENT, linewidth=2)
    axes.axhline(float((y > 0).mean()), color=LINE, linewidth=1)
    recall, precision = (_mean_metric(report, name) for name in ("recall", "precision"))
    if recall is not None and precision is not None:
        axes.plot([recall], [precision], "o", color=SECOND, markersize=7)
    _set_unit_axes(axes, "recall", "precision")
    words = (
        "All folds pooled; thin lines are single folds, the dot is the mean at the thresholds "
        "chosen on training data, the flat line is the share of positives."
    )
    return Figure("precision-recall", "Precision and recall", words, canvas.svg())


def plot_score_calibration(decisions: Sequence[Decision]) -> Figure | None:
    """Plot the share of positives over score, with the mean threshold; None without decisions.

    Candidates are in ten bins of equal size by score, with 95 % intervals (``score_calibration``).
    At least one decision must have a threshold.
    """
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
    return Figure("calibration", "Share of positives by score", words, canvas.svg())


def plot_reliability(bins: Sequence[Mapping[str, Any]]) -> Figure | None:
    """Plot the share of positives over probability; calibrated probabilities lie on the diagonal.

    ``bins`` have the keys x (mean probability), share (of positives), low and high (its 95 %
    interval); None if there are none.
    """
    if not bins:
        return None
    canvas = Canvas("reliability")
    axes = canvas.axes
    axes.plot([0, 1], [0, 1], color=LINE, linewidth=1)
    x, share = [b["x"] for b in bins], np.array([b["share"] for b in bins])
    spread = [share - [b["low"] for b in bins], [b["high"] for b in bins] - share]
    axes.errorbar(x, share, yerr=spread, color=ACCENT, marker="o", markersize=4, linewidth=1.5)
    _set_unit_axes(axes, "probability", "share of positives")
    words = "Candidates by probability, in bins of a tenth, with 95 % intervals."
    return Figure("reliability", "Reliability of probabilities", words, canvas.svg())


def plot_folds(report: Report) -> Figure | None:
    """Plot each metric of each fold as a dot and its mean as a bar; None for fewer than 2 folds.

    Optimistic metrics and those without a mean are left out; None also if no metric is left. Dots
    are spread vertically, always in the same way.
    """
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
    words = "One dot per test fold; the bar is the mean."
    return Figure("folds", "Spread over folds", words, canvas.svg())


def plot_regularization_path(points: Sequence[Mapping[str, Any]]) -> Figure | None:
    """Plot metrics over alpha on a logarithmic axis; None for fewer than two points.

    A point is ``{"x": alpha, metric: {"mean": ..., "std": ...}, ...}``.
    """
    words = "Test folds at every alpha, for inspection only: not used to choose alpha."
    return _plot_lines("alpha", "Regularisation", words, points, xlabel="alpha")


def plot_learning_curve(points: Sequence[Mapping[str, Any]]) -> Figure | None:
    """Plot metrics over the number of training documents; None for fewer than two points.

    A point is ``{"x": documents, metric: {"mean": ..., "std": ...}, ...}``.
    """
    words = "Models trained on fewer documents, tested on the same folds; logarithmic axis."
    return _plot_lines("learning", "Learning curve", words, points, xlabel="training documents")


def plot_sweep(sweep: Sweep, metric: str) -> Figure | None:
    """Plot a metric over one swept key as a line, over two as a heat map; None for more keys.

    One key with values that are not numbers gives a heat map of one column. One key with numbers
    needs two points, else None; its axis is logarithmic if all values are positive. ``metric`` must
    be in every report.
    """
    caption = "Test folds; choosing by these numbers and reporting them as well is optimistic."
    name, title = f"sweep-{metric}", metric_label(metric)
    if len(sweep.keys) == 1 and all(isinstance(p.values[0], int | float) for p in sweep.points):
        points = [
            {"x": p.values[0], metric: _mean_and_std(p.report.measures[metric])}
            for p in sweep.points
        ]
        is_positive = all(point["x"] > 0 for point in points)
        return _plot_lines(name, title, caption, points, xlabel=sweep.keys[0], log=is_positive)
    if len(sweep.keys) > 2:
        return None
    has_columns = len(sweep.keys) == 2
    cells = {p.values: p.report.measures[metric].mean for p in sweep.points}
    rows = sweep.axis(0)
    columns = sweep.axis(1) if has_columns else [None]
    grid = [[cells.get((r, c) if has_columns else (r,)) for c in columns] for r in rows]
    heads = [_format_value(c) for c in columns] if has_columns else [title]
    axes = (sweep.keys[0], sweep.keys[1] if has_columns else "")
    return plot_heat_map(
        name, title, caption, grid, [_format_value(r) for r in rows], heads, axes=axes
    )


def _mean_and_std(summary: Summary) -> dict[str, float | None]:
    """Return mean and standard deviation under the keys that ``_plot_lines`` reads."""
    return {"mean": summary.mean, "std": summary.std}


def _format_value(value: Any) -> str:
    """Return a swept value as text; items of a list or tuple are joined by commas."""
    if isinstance(value, list | tuple):
        return ",".join(map(_format_value, value))
    return f"{value}"


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
    """Plot a table of fractions as shaded cells with their percentages; None stays empty.

    ``values`` has a list per row. ``rows`` and ``columns`` are the labels of ``values``, ``axes``
    the titles of the vertical and the horizontal axis. Shades go from the smallest to the largest
    value. ``name`` must be unique on a page.
    """
    grid = np.array([[np.nan if v is None else v for v in row] for row in values], dtype=np.float64)
    canvas = Canvas(name, 1.8 + 0.72 * len(columns), 1.3 + 0.46 * len(rows))
    finite = grid[np.isfinite(grid)]
    low, span = (finite.min(), max(np.ptp(finite), 1e-9)) if len(finite) else (0.0, 1.0)
    for (i, j), value in np.ndenumerate(grid):
        if np.isfinite(value):
            _draw_cell(canvas.axes, i, j, float(value), 0.08 + 0.6 * (value - low) / span)
    canvas.axes.set(xlim=(-0.5, len(columns) - 0.5), ylim=(len(rows) - 0.5, -0.5))
    canvas.axes.set_xticks(range(len(columns)), list(columns))
    canvas.axes.set_yticks(range(len(rows)), list(rows))
    canvas.axes.set(ylabel=axes[0], xlabel=axes[1])
    canvas.axes.tick_params(length=0)
    canvas.axes.spines[:].set_visible(False)
    return Figure(name, title, caption, canvas.svg())


def _draw_cell(axes: Axes, row: int, column: int, value: float, alpha: float) -> None:
    """Draw one cell of a heat map with ``value`` in percent; ``alpha`` is its opacity, 0 to 1.

    Its centre is at x = ``column`` and y = ``row``.
    """
    rectangle = _import_matplotlib().patches.Rectangle(
        (column - 0.47, row - 0.47), 0.94, 0.94, facecolor=ACCENT, alpha=alpha, linewidth=0
    )
    axes.add_patch(rectangle)
    axes.text(column, row, f"{100 * value:.1f}", ha="center", va="center", color=INK)


def plot_replay(replay: Mapping[str, Any]) -> Figure:
    """Plot the held-out metric over the number of answers, of chosen and of random questions.

    ``replay`` is ``Replay.to_dict()`` with at least one random order. The band goes from the worst
    to the best random order; error bars at the end are the forecasts, a vertical line is where the
    forecast says to stop.
    """
    canvas = Canvas("replay")
    axes = canvas.axes
    orders = [points for name, points in replay["curves"].items() if name != "chosen"]
    answers = [int(n) for n in replay["random_mean"]]
    values = [
        [100 * p["value"] for points in orders for p in points if p["answers"] == n]
        for n in answers
    ]
    low, high = [min(v) for v in values], [max(v) for v in values]
    axes.fill_between(answers, low, high, color=MUTED, alpha=0.2, linewidth=0)
    means = [100 * mean for mean in replay["random_mean"].values()]
    axes.plot(answers, means, "s--", color=MUTED, linewidth=1.4, markersize=3.5, label="random")
    chosen = replay["curves"]["chosen"]
    x, y = [p["answers"] for p in chosen], [100 * p["value"] for p in chosen]
    axes.plot(x, y, "o-", color=ACCENT, linewidth=2, markersize=4, label="chosen")
    ends = [x[-1] + forecast["ahead"] for forecast in replay["forecasts"]]
    if ends:
        _plot_forecasts(axes, ends, replay["forecasts"])
    if replay["stop"] is not None:
        axes.axvline(replay["stop"]["answers"], color=SECOND, linewidth=1, linestyle=(0, (4, 3)))
    axes.set(xlabel="answers", ylabel=f"held-out {replay['metric']}, per cent")
    axes.grid(axis="y", color=LINE, linewidth=0.6)
    axes.legend(frameon=False, loc="lower right", labelcolor=INK)
    words = (
        f"On the held-out documents of {replay['folds']} folds. The band goes from the worst to "
        f"the best of {len(orders)} random orders."
    )
    if replay["forecasts"]:
        words += " Error bars are forecasts with 90 % intervals."
    if replay["stop"] is not None:
        words += " The dashed vertical line is where the forecast says to stop."
    return Figure("replay", "Learning curve", words, canvas.svg())


def plot_forecast_checks(replay: Mapping[str, Any]) -> Figure | None:
    """Plot the forecasts made along a replay with what was measured then; None without any.

    ``replay`` is ``Replay.to_dict()``. Only the forecasts of the smallest distance are drawn.
    """
    checks = replay["forecast_checks"]
    if not checks:
        return None
    ahead = min(check["forecast"]["ahead"] for check in checks)
    shown = [check for check in checks if check["forecast"]["ahead"] == ahead]
    canvas = Canvas("forecasts")
    x = [check["answers"] + ahead for check in shown]
    _plot_forecasts(canvas.axes, x, [check["forecast"] for check in shown])
    actual = [100 * check["actual"] for check in shown]
    canvas.axes.plot(x, actual, "o-", color=ACCENT, linewidth=1.6, markersize=4, label="measured")
    canvas.axes.set(xlabel="answers", ylabel=f"held-out {replay['metric']}, per cent")
    canvas.axes.grid(axis="y", color=LINE, linewidth=0.6)
    canvas.axes.legend(frameon=False, loc="lower right", labelcolor=INK)
    words = (
        f"Forecasts that could have been made {ahead} answers before, with 90 % intervals, and "
        "what was measured."
    )
    return Figure("forecasts", "Forecasts and outcome", words, canvas.svg())


def _plot_forecasts(
    axes: Axes, answers: Sequence[int], forecasts: Sequence[Mapping[str, Any]]
) -> None:
    """Plot forecasts at numbers of answers, with their intervals as error bars.

    A forecast has the fractions ``value``, ``low`` and ``high``, which are drawn in percent.
    """
    value, low, high = (
        100 * np.array([f[key] for f in forecasts]) for key in ("value", "low", "high")
    )
    spread = [np.maximum(value - low, 0.0), np.maximum(high - value, 0.0)]
    axes.errorbar(
        answers, value, yerr=spread, fmt="D", color=SECOND, markersize=4, capsize=3, linewidth=1.2,
        label="forecast",
    )  # fmt: skip


def plot_transfer(transfer: Transfer, metric: str) -> Figure | None:
    """Plot the change of a metric by each foreign corpus and by all chosen, with intervals.

    ``metric`` is "auc" or "f"; changes are in percentage points. Corpora are rows from top to
    bottom, in order, then all chosen. Changes that are undefined are left out; None if all are.
    """
    effects = {name: corpus.alone for name, corpus in transfer.corpora.items()}
    effects["all chosen"] = transfer.combined
    rows = [
        (name, value, getattr(effect, f"{metric}_interval"))
        for name, effect in effects.items()
        if (value := getattr(effect, metric)) is not None
    ]
    if not rows:
        return None
    name = f"transfer-{metric}"
    canvas = Canvas(name, 4.6, 1.3 + 0.34 * len(rows))
    axes = canvas.axes
    axes.axvline(0, color=MUTED, linewidth=1)
    for row, (label, value, interval) in enumerate(rows):
        color = SECOND if label == "all chosen" else ACCENT
        if interval is not None:
            ends = [100 * interval.low, 100 * interval.high]
            axes.plot(ends, [row, row], color=color, linewidth=1.8)
        axes.plot([100 * value], [row], "o", color=color, markersize=6)
    axes.set_yticks(range(len(rows)), [label for label, _, _ in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlabel("change in percentage points")
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=LINE, linewidth=0.6)
    words = (
        "Change on folds of target documents that did not choose the weights, with 95 % intervals "
        "over documents. Right of the line is better."
    )
    return Figure(name, f"Change of {metric_label(metric)}", words, canvas.svg())


def _plot_lines(
    name: str,
    title: str,
    caption: str,
    points: Sequence[Mapping[str, Any]],
    *,
    xlabel: str,
    log: bool = True,
) -> Figure | None:
    """Plot points ``{"x": number, metric: {"mean", "std"}, ...}`` as a line per metric.

    Metrics are the keys of the first point; only three are drawn. They must be in all points,
    sorted by x, and have a mean in at least one. The band is one standard deviation; points with a
    mean of None are left out. ``log`` makes the horizontal axis logarithmic. None for fewer than
    two points.
    """
    if len(points) < 2:
        return None
    canvas = Canvas(name)
    metrics = [key for key in points[0] if key != "x"]
    for metric, color in zip(metrics, (ACCENT, SECOND, MUTED), strict=False):
        defined = [p for p in points if p[metric]["mean"] is not None]
        x = [p["x"] for p in defined]
        mean = np.array([p[metric]["mean"] for p in defined])
        std = np.array([p[metric]["std"] for p in defined])
        canvas.axes.fill_between(x, mean - std, mean + std, color=color, alpha=0.13, linewidth=0)
        canvas.axes.plot(x, mean, "o-", color=color, linewidth=1.6, markersize=4)
        canvas.axes.annotate(
            metric_label(metric),
            (x[-1], mean[-1]),
            (4, 6),
            color=color,
            textcoords="offset points",
            ha="right",
        )
    if log:
        canvas.axes.set_xscale("log")
    canvas.axes.set_xticks([p["x"] for p in points], [f"{p['x']:g}" for p in points])
    canvas.axes.minorticks_off()
    canvas.axes.set_xlabel(xlabel)
    canvas.axes.grid(axis="y", color=LINE, linewidth=0.6)
    return Figure(name, title, caption, canvas.svg())


def _labels_and_scores(
    decisions: Sequence[Decision],
) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Return pairs of labels and scores of each test fold, sorted by split and fold."""
    folds: dict[tuple[int, int], list[Decision]] = {}
    for decision in decisions:
        folds.setdefault((decision.split, decision.fold), []).append(decision)
    return [
        (np.array([d.label for d in fold]), np.array([d.score for d in fold]))
        for _, fold in sorted(folds.items())
    ]


def _mean_metric(report: Report, name: str) -> float | None:
    """Return the mean of a metric over folds; None if the report lacks it or it is undefined."""
    return report.measures[name].mean if name in report.measures else None


def _set_unit_axes(axes: Axes, x: str, y: str) -> None:
    """Set labels (``x``, ``y``) and limits of axes that both go from 0 to 1, and draw a grid."""
    axes.set(xlabel=x, ylabel=y, xlim=(-0.01, 1.01), ylim=(-0.01, 1.02), aspect="equal")
    axes.grid(color=LINE, linewidth=0.5, alpha=0.7)


def _style(name: str) -> dict[str, Any]:
    """Return matplotlib settings of all plots, with placeholder colours.

    ``name`` makes the ids in the SVG reproducible. Text stays text and is never read as a formula.
    """
    return {
        "svg.fonttype": "none",  # text stays text: searchable, and in the font of the page
        "svg.hashsalt": name,  # the same drawing gives the same text
        "text.parse_math": False,  # names with two $ are not formulas
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


def _use_page_style(svg: str, name: str) -> str:
    """Return matplotlib's SVG with colours and font of the page, and ids that are unique on it.

    Placeholder colours become CSS variables; XML header, size, styles and fonts are removed;
    ``name`` is put before every id and reference.
    """
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
    """Raise ModuleNotFoundError if matplotlib is missing; called before a long run."""
    _import_matplotlib()


def _import_matplotlib() -> Any:
    """Return the matplotlib module with the submodules used here.

    Raises ModuleNotFoundError, with the command that installs it, if it is missing.
    """
    try:
        import matplotlib
        import matplotlib.figure
        import matplotlib.patches
    except ImportError as error:
        raise ModuleNotFoundError(
            "plots need matplotlib. Install it with: pip install 'textrank-kernels[plots]'"
        ) from error
    return matplotlib
