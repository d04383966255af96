"""Self-contained HTML pages of evaluation results, and the worst errors of a report.

The functions ``render_*`` return a page that needs no network and no other file; ``write_*`` write
it atomically. ``select_worst_errors`` chooses the wrong
answers that a report quotes, with their sentence and dependency path ready to display.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from textrank.evaluation import Decision, Report
from textrank.evaluation.evaluate import CrossCorpus
from textrank.evaluation.league import League
from textrank.evaluation.report import OPTIMISTIC
from textrank.evaluation.sweep import Sweep
from textrank.evaluation.transfer import Transfer
from textrank.io import write_text
from textrank.metrics import argmax_first
from textrank.reports.plots import (
    Figure,
    draw_figures,
    plot_forecast_checks,
    plot_heat_map,
    plot_replay,
    plot_sweep,
    plot_transfer,
)
from textrank.reports.table import (
    describe_effect,
    describe_left_out,
    describe_permutation_test,
    describe_replay,
    format_percent,
    metric_label,
)

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
    report: Report, *, errors: int = 50, extra: Sequence[Figure] = (), why: str = ""
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
    why
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
        why=why,
    )


def write_report_page(
    report: Report,
    path: str | Path,
    *,
    errors: int = 50,
    extra: Sequence[Figure] = (),
    why: str = "",
) -> None:
    """Write ``render_report``, with the same arguments, to a file atomically.

    An existing file is replaced; the folder must exist.
    """
    write_text(render_report(report, errors=errors, extra=extra, why=why), path)


def render_cross_corpus(cross: CrossCorpus) -> str:
    """Return cross-corpus results as an HTML page: AUC, and F under four thresholds.

    Only metrics of CROSS_CORPUS_CAPTIONS that the first report has are shown, a heat map each.
    Needs at least one report.
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

    ``replay`` is ``Replay.to_dict()`` with at least one random order. Needs matplotlib.
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

    Classes: e1 and e2 for the judged mentions, path for words on the dependency path, word for the
    given ``words``, which are character ranges. The pieces join to the whole text; the classes of a
    piece are separated by blanks, "" for none.
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
    the first. A query is one of a document and a split; there is at most one answer for each.
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
