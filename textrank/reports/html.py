"""A Report as one HTML file that needs nothing else: no network, no script of others."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from textrank.evaluation import Decision, Report
from textrank.evaluation.evaluate import CrossCorpus
from textrank.evaluation.report import OPTIMISTIC
from textrank.evaluation.sweep import Sweep
from textrank.io import write_text
from textrank.metrics import argmax_first
from textrank.reports.plots import Figure, draw_figures, plot_heat_map, plot_sweep
from textrank.reports.table import describe_permutation_test, format_percent, metric_label

HEADLINE_METRICS = (("auc", "f", "precision", "recall"), ("tau", "disagreement", "ndcg", "ndcg@10"))


def render_report(
    report: Report, *, errors: int = 50, extra: Sequence[Figure] = (), why: str = ""
) -> str:
    """The report as HTML text: figures, settings, folds, and up to ``errors`` of each kind.

    The errors quote sentences of the corpus; ``errors=0`` leaves them out, for a page that may be
    passed on where the corpus may not. ``why`` is the page beside this one that explains them.
    """
    drawn = [*extra, *draw_figures(report)]
    return template_environment().get_template("report.html").render(
        report=report,
        headlines=_headlines(report),
        measures=[(n, s, report.intervals.get(n)) for n, s in report.measures.items()],
        figures=[(figure, Markup(figure.svg)) for figure in drawn],
        errors=select_worst_errors(report, errors) if errors else [],
        fold_columns=list(dict.fromkeys(k for fold in report.folds for k in fold.to_dict())),
        settings=list(flatten_settings(report.settings)),
        why=why,
    )  # fmt: skip


def write_report_page(
    report: Report,
    path: str | Path,
    *,
    errors: int = 50,
    extra: Sequence[Figure] = (),
    why: str = "",
) -> None:
    """Writes the page, whole or not at all."""
    write_text(render_report(report, errors=errors, extra=extra, why=why), path)


def render_cross_corpus(found: CrossCorpus) -> str:
    """The cross-corpus tables as one HTML text: AUC, and F under four thresholds."""
    captions = {
        "auc": "Train on the row, test on the column.",
        "f": "Threshold chosen on the training corpus, as a user would have to.",
        "f_mean": "Threshold at the mean of the test scores, no label used.",
        "f_rate": "Threshold that answers yes as often as the test corpus does.",
        "f_best": "Best threshold of the test corpus itself: optimistic.",
    }
    known = next(iter(found.reports.values())).measures
    drawn = [
        plot_heat_map(f"cross-{name}", metric_label(name), caption, found.table(name), found.corpora,
                 found.corpora, axes=("train", "test"))
        for name, caption in captions.items() if name in known
    ]  # fmt: skip
    return template_environment().get_template("cross.html").render(
        found=found,
        first=next(iter(found.reports.values())),
        figures=[(figure, Markup(figure.svg)) for figure in drawn],
        measures=[name for name in captions if name in known],
        settings=list(flatten_settings(next(iter(found.reports.values())).settings)),
    )  # fmt: skip


def render_sweep(found: Sweep) -> str:
    """A sweep as one HTML text: a line for one key, heat maps for two, the table always."""
    reports = [point.report for point in found.points]
    names = [name for name in ("auc", "f", "tau") if name in reports[0].measures]
    drawn = [figure for name in names if (figure := plot_sweep(found, name)) is not None]
    return template_environment().get_template("sweep.html").render(
        found=found,
        first=reports[0],
        figures=[(figure, Markup(figure.svg)) for figure in drawn],
        measures=list(reports[0].measures),
    )  # fmt: skip


def write_sweep(found: Sweep, path: str | Path) -> None:
    """Writes the page of a sweep, whole or not at all."""
    write_text(render_sweep(found), path)


def write_cross(found: CrossCorpus, path: str | Path) -> None:
    """Writes the cross-corpus page, whole or not at all."""
    write_text(render_cross_corpus(found), path)


def flatten_settings(settings: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Nested settings as rows of dotted key and value."""
    for key, value in settings.items():
        name = f"{prefix}.{key}" if prefix else str(key)
        if isinstance(value, Mapping):
            yield from flatten_settings(value, name)
        else:
            yield name, json.dumps(value, ensure_ascii=False, default=str)


def _headlines(report: Report) -> list[str]:
    measures = report.measures
    shown = [names for names in HEADLINE_METRICS if any(name in measures for name in names)]
    return [name for name in (shown[0] if shown else list(measures)[:4]) if name in measures]


def template_environment() -> Environment:
    """The page templates, with the filters they use; everything inserted is escaped."""
    environment = Environment(
        loader=PackageLoader("textrank.reports", "page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "percent": format_percent,
        "measure": metric_label,
        "chance": describe_permutation_test,
    }
    environment.filters["cell"] = _cell
    environment.globals["optimistic"] = OPTIMISTIC
    return environment


def _cell(value: Any, column: str) -> str:
    """A number of the fold table: counts as they are, chosen values short, measures in percent."""
    if value is None:
        return "–"
    if column in ("split", "fold", "documents", "candidates", "positives") or "queries" in column:
        return f"{int(value)}"
    return f"{value:.3g}" if column in ("alpha", "threshold") else format_percent(value)


CharacterRange: TypeAlias = tuple[int, int]  # characters of the sentence, end excluded
Piece: TypeAlias = tuple[str, str]  # text, and the classes that mark it
Found: TypeAlias = tuple[str, float, Decision]  # kind, margin, decision


@dataclass(frozen=True)
class Step:
    """A word on the dependency path, and the dependency that leads on from it."""

    word: str
    entity: bool
    relation: str = ""  # empty at the last word
    forward: bool = True  # whether the dependency points onward, from governor to dependent


@dataclass(frozen=True)
class Error:
    """One wrong answer, as a reader sees it."""

    kind: str  # "false positive", "false negative" or "wrong order"
    decision: Decision
    margin: float  # how far on the wrong side, always positive
    times: int  # in how many of the splits
    splits: int
    pieces: Sequence[Piece]
    steps: Sequence[Step]


def select_worst_errors(report: Report, limit: int = 50) -> list[Error]:
    """Up to ``limit`` false positives and as many false negatives, the clearest first.

    Without thresholds, as in rankings: the queries whose best-scored candidate is worst.
    """
    ranked = all(d.threshold is None for d in report.decisions)
    found = _wrong_orders(report.decisions) if ranked else _wrong_answers(report.decisions)
    splits = len({d.split for d in report.decisions})
    kinds: dict[str, list[Error]] = {}
    for (kind, _), same in _together(found).items():
        margin, decision = max(same, key=lambda pair: pair[0])
        error = Error(
            kind, decision, margin, len(same), splits, mark_sentence(decision), path_steps(decision)
        )
        kinds.setdefault(kind, []).append(error)
    chosen = [e for errors in kinds.values() for e in sorted(errors, key=_severity)[:limit]]
    return sorted(chosen, key=_severity)


def mark_sentence(decision: Decision, words: Sequence[CharacterRange] = ()) -> list[Piece]:
    """The sentence in pieces, each with the marks that lie on it: e1, e2, path, word."""
    marks = [(start, end, f"e{i + 1}") for i, (start, end) in enumerate(decision.spans)]
    for arc in decision.path:
        marks += [(arc[0], arc[1], "path"), (arc[2], arc[3], "path")]
    marks += [(start, end, "word") for start, end in words]
    size = len(decision.text)
    cuts = sorted({0, size, *(min(max(c, 0), size) for a, b, _ in marks for c in (a, b))})
    result = []
    for start, end in pairwise(cuts):
        names = dict.fromkeys(name for a, b, name in marks if a <= start and end <= b)
        result.append((decision.text[start:end], " ".join(names)))
    return result


def path_steps(decision: Decision) -> list[Step]:
    """The words along the dependency path from the first judged mention to the second."""
    arcs = [((a, b), (c, d), relation) for a, b, c, d, relation in decision.path]
    if not arcs:
        return []
    at = _start(decision, arcs)
    result = []
    for governor, dependent, relation in arcs:
        result.append(_step(decision, at, relation, forward=at == governor))
        at = dependent if at == governor else governor
    return [*result, _step(decision, at)]


def _start(
    decision: Decision, arcs: Sequence[tuple[CharacterRange, CharacterRange, str]]
) -> CharacterRange:
    governor, dependent, _ = arcs[0]
    if len(arcs) > 1:
        return dependent if governor in arcs[1][:2] else governor
    return governor if _inside(governor, decision.spans[0]) else dependent


def _step(decision: Decision, at: CharacterRange, relation: str = "", forward: bool = True) -> Step:
    entity = any(_inside(at, span) for span in decision.spans)
    return Step(decision.text[at[0] : at[1]], entity, relation, forward)


def _inside(place: CharacterRange, span: CharacterRange) -> bool:
    return place[0] < span[1] and span[0] < place[1]


def _wrong_answers(decisions: Iterable[Decision]) -> list[Found]:
    found = []
    for d in decisions:
        if d.threshold is None or d.decision == (d.label > 0):
            continue
        kind = "false positive" if d.decision else "false negative"
        found.append((kind, abs(d.score - d.threshold), d))
    return found


def _wrong_orders(decisions: Iterable[Decision]) -> list[Found]:
    queries: dict[tuple[int, str, str], list[Decision]] = {}
    for d in decisions:
        queries.setdefault((d.split, d.document, d.query), []).append(d)
    found = []
    for same in queries.values():
        first = same[int(argmax_first([d.score for d in same]))]
        regret = max(d.label for d in same) - first.label
        if regret > 0:
            found.append(("wrong order", regret, first))
    return found


def _together(found: Iterable[Found]) -> dict[tuple[str, object], list[tuple[float, Decision]]]:
    """The same candidate, wrong in several splits, under one key."""
    result: dict[tuple[str, object], list[tuple[float, Decision]]] = {}
    for kind, margin, d in found:
        key = (d.document, d.query, d.text, d.spans)
        result.setdefault((kind, key), []).append((margin, d))
    return result


def _severity(error: Error) -> tuple[float, str, str]:
    return (-error.margin, error.decision.document, error.decision.text)
