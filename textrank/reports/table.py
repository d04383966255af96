"""Results for the terminal (rich tables) and as JSON files.

One function per kind of result: ``report_table``, ``cross_table``, ``sweep_table``,
``comparison_table``, ``raw_text_table``, ``audit_table``, ``answers_table`` and ``league_table``.
``write_report`` and ``read_report`` are for the JSON form of a Report. Numbers between 0 and 1 are
shown in percent.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from textrank.evaluation import Fold, Report
from textrank.evaluation.audit import CorpusAudit, Doubt, LabelShare
from textrank.evaluation.evaluate import CrossCorpus, RawText
from textrank.evaluation.league import LEVEL, AnswerAudit, League
from textrank.evaluation.report import OPTIMISTIC
from textrank.evaluation.statistics import Comparison, Contrast
from textrank.evaluation.sweep import Sweep
from textrank.evaluation.transfer import Transfer, TransferEffect
from textrank.io import read_json, write_text

# JSON


def report_to_json(report: Report, *, decisions: bool = False) -> str:
    """Return a report as JSON text: stable order of keys, a line feed at the end.

    ``decisions`` includes the decision about every candidate, with its sentence. Raises ValueError
    for NaN or infinity.
    """
    return _to_json(report.to_dict(decisions=decisions))


def write_report(report: Report, path: str | Path, *, decisions: bool = False) -> None:
    """Write ``report_to_json`` to a file atomically; an existing file is replaced.

    ``decisions`` includes the decision about every candidate. Raises ValueError for NaN or
    infinity.
    """
    write_text(report_to_json(report, decisions=decisions), path)


def write_json(data: Mapping[str, Any], path: str | Path) -> None:
    """Write plain values as indented JSON, atomically; an existing file is replaced.

    Raises ValueError for NaN or infinity.
    """
    write_text(_to_json(data), path)


def read_report(path: str | Path) -> Report:
    """Return the report in a file of ``write_report`` or ``--json``, of any size.

    Raises ValueError, with the path, if the file cannot be read or is not a report.
    """
    data = read_json(path, math.inf)
    if not isinstance(data, dict):
        raise ValueError(f"{path}: a {type(data).__name__} is not a report")
    try:
        return Report.from_dict(data)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"{path}: {error}") from error


def _to_json(data: Mapping[str, Any]) -> str:
    """Return plain values as indented JSON with a line feed; ValueError for NaN or infinity."""
    return json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


# Labels and numbers

METRIC_LABELS = {
    "auc": "AUC",
    "f": "F",
    "precision": "precision",
    "recall": "recall",
    "average_precision": "average precision",
    "f_best": "F, best test threshold",
    "f_rate": "F, by positive rate",
    "f_mean": "F, above the mean",
    "relation_f": "F, one answer per relation and document",
    "tau": "Kendall τ_b",
    "ndcg": "NDCG",
    "ndcg@10": "NDCG@10",
    "map": "MAP",
    "auc_of_topics": "AUC, mean of topics",
    "f_of_topics": "F, mean of topics",
    "first": "right identifier first",
    "first_of_all": "right first, of all names",
    "reachable": "right among candidates",
    "document_precision": "identifiers of documents, precision",
    "document_recall": "identifiers of documents, recall",
    "document_f": "identifiers of documents, F",
    "document_f_of_all": "F over all identifiers",
    "mention_precision": "identifiers of mentions, precision",
    "mention_recall": "identifiers of mentions, recall",
    "mention_f": "identifiers of mentions, F",
    "document_f_human": "F of documents, human genes",
    "document_f_mouse": "F of documents, mouse genes",
    "document_f_rat": "F of documents, rat genes",
    "document_f_yeast": "F of documents, yeast genes",
    "document_f_fly": "F of documents, fly genes",
    "document_f_other_species": "F of documents, other species",
    "family_as_gene": "families given a gene",
    "domain_as_gene": "domains given a gene",
    "las": "LAS, chosen parse",
    "las_parser": "LAS, parser's own",
    "las_oracle": "LAS, best candidate",
    "las_gain": "LAS, gain",
}


def metric_label(name: str) -> str:
    """Return the label of a metric for readers; its name with spaces if it has no label."""
    return METRIC_LABELS.get(name, name.replace("_", " "))


def format_percent(value: float | None) -> str:
    """Return a fraction in percent with one decimal; a dash for None.

    >>> format_percent(0.876), format_percent(None)
    ('87.6', '–')
    """
    return "–" if value is None else f"{100 * value:.1f}"


def _format_p(p: float | None) -> str:
    """Return a p-value with four decimals, below 0.0001 in scientific notation; a dash for None."""
    return "–" if p is None else f"{p:.4f}" if p >= 0.0001 else f"{p:.1e}"


def describe_permutation_test(report: Report) -> str:
    """Return the result of a report's permutation test as a sentence.

    ``report.permutation`` must hold the values of ``PermutationResult``; KeyError if it is empty.
    """
    test = report.permutation
    return (
        f"AUC {format_percent(test['auc'])} against {format_percent(test['null_mean'])} "
        f"±{format_percent(test['null_std'])} with permuted answers: p = {test['p']:.4f} "
        f"({test['permutations']} permutations)"
    )


def _new_table() -> Table:
    """Return an empty table in the style of all results: no lines, dimmed headings."""
    return Table(box=None, pad_edge=False, header_style="dim")


# Reports


def report_table(report: Report, *, folds: bool = False) -> RenderableType:
    """Return the summary of a report for rich: title, counts, procedure, notes and metrics.

    The result of a permutation test follows if there is one; ``folds`` adds a table with a row per
    fold.
    """
    counts = report.counts
    parts: list[RenderableType] = [
        Text(f"{report.title} · {report.corpus}", style="bold"),
        Text(
            f"{counts.documents} documents · {counts.candidates} candidates · "
            f"{counts.positives} positive · {counts.unreachable} unreachable",
            style="dim",
        ),
        Text(report.procedure, style="dim"),
    ]
    parts += [Text(f"! {note}", style="bold red") for note in report.notes]
    parts.append(_metrics_table(report))
    if report.permutation:
        parts.append(Text(describe_permutation_test(report)))
    if folds:
        parts.append(_folds_table(report))
    return Group(*parts)


def _metrics_table(report: Report) -> Table:
    """Return a table with a row per metric of the report, in its order.

    Columns are the mean, the standard deviations over folds and (if any metric has it) over splits,
    the interval if there is one, and the number of folds where the metric is undefined (empty for
    0). Optimistic metrics are marked and dimmed.
    """
    has_splits = any(summary.between is not None for summary in report.measures.values())
    table = _new_table()
    table.add_column("metric")
    splits = ["± splits"] if has_splits else []
    for name in ("mean", "± folds", *splits, "95 % interval", "undefined"):
        table.add_column(name, justify="right")
    for name, summary in report.measures.items():
        is_optimistic = name in OPTIMISTIC
        between = [format_percent(summary.between)] if has_splits else []
        ends = report.intervals.get(name)
        interval = f"{format_percent(ends[0])}–{format_percent(ends[1])}" if ends else ""
        table.add_row(
            metric_label(name) + (" (optimistic)" if is_optimistic else ""),
            format_percent(summary.mean),
            format_percent(summary.std),
            *between,
            interval,
            str(summary.undefined or ""),
            style="dim" if is_optimistic else "",
        )
    return table


def _folds_table(report: Report) -> Table:
    """Return a table with a row per fold: sizes and metrics, without optimistic ones.

    A metric that a fold does not define is a dash.
    """
    names = [name for name in report.measures if name not in OPTIMISTIC]
    table = _new_table()
    for name in ("split", "fold", "candidates", "positive", *map(metric_label, names)):
        table.add_column(name, justify="right")
    for fold in report.folds:
        metrics = (format_percent(fold.measures.get(name)) for name in names)
        table.add_row(*_fold_sizes(fold), *metrics)
    return table


def _fold_sizes(fold: Fold) -> tuple[str, str, str, str]:
    """Return split, fold, number of candidates and of positives as cells."""
    return str(fold.split), str(fold.fold), str(fold.candidates), str(fold.positives)


CROSS_METRICS = ("auc", "f", "f_mean", "f_rate", "f_best", "tau")


def cross_table(cross: CrossCorpus) -> RenderableType:
    """Return a table per metric, with training corpora as rows and test corpora as columns.

    Shown are those of ``CROSS_METRICS`` that a report has, in this order; if there are none, as of
    tasks with metrics of their own, all metrics. Cells are means in percent, a dash where both
    corpora are the same or the metric is undefined. A last line says how many test documents were
    left out for each pair because they share text with the training corpus.
    """
    available = dict.fromkeys(n for report in cross.reports.values() for n in report.measures)
    parts: list[RenderableType] = []
    for name in [n for n in CROSS_METRICS if n in available] or available:
        mark = " (optimistic)" if name in OPTIMISTIC else ""
        table = _new_table()
        table.add_column(f"{metric_label(name)}{mark}", min_width=24)
        for corpus in cross.corpora:
            table.add_column(corpus, justify="right")
        for corpus, row in zip(cross.corpora, cross.table(name), strict=True):
            table.add_row(corpus, *map(format_percent, row))
        parts.append(table)
    dropped = [f"{b} without {n} documents of {a}" for (a, b), n in cross.dropped.items() if n]
    parts.append(Text(f"Tested {'; '.join(dropped) or 'on all documents'}.", style="dim"))
    return Group(*parts)


def sweep_table(sweep: Sweep) -> RenderableType:
    """Return a table with a row per point of a sweep, in its order.

    Columns are the swept keys and, as mean and standard deviation over folds, those of auc, f,
    precision, recall and tau that the first report has. A last line counts the points from the
    cache. Needs at least one point.
    """
    first = sweep.points[0].report
    names = [n for n in ("auc", "f", "precision", "recall", "tau") if n in first.measures]
    table = _new_table()
    for name in (*sweep.keys, *map(metric_label, names)):
        table.add_column(name, justify="right")
    for point in sweep.points:
        metrics = [point.report.measures[name] for name in names]
        cells = [f"{format_percent(m.mean)} ±{format_percent(m.std)}" for m in metrics]
        table.add_row(*map(str, point.values), *cells)
    reused = sum(point.reused for point in sweep.points)
    words = f"{len(sweep.points)} points, {reused} of them from the cache."
    return Group(Text(first.corpus, style="bold"), table, Text(words, style="dim"))


def comparison_table(comparison: Comparison) -> RenderableType:
    """Return a table of differences between runs, with effect sizes and p-values.

    Each contrast (metric and pair of runs) has a row per test; its other cells are filled in the
    first row only. "difference" is the second run minus the first, "d" the effect size, "wins" the
    units won and lost. p-values are given as computed and corrected for multiple tests (Holm,
    Benjamini-Hochberg). Notes precede the table; a last line has the unit and the number of
    undefined units. Needs at least one contrast.
    """
    table = _new_table()
    for name in ("metric", "first", "second"):
        table.add_column(name)
    for name in ("mean", "mean", "difference", "d", "wins", "test", "p", "Holm", "BH"):
        table.add_column(name, justify="right")
    for row, contrast in enumerate(comparison.contrasts):
        for number, test in enumerate(contrast.tests):
            corrected = comparison.corrected[test.test]
            p = (test.p, corrected["holm"][row], corrected["benjamini_hochberg"][row])
            cells = _contrast_cells(contrast) if number == 0 else [""] * 8
            table.add_row(*cells, test.test, *map(_format_p, p))
    parts: list[RenderableType] = [
        Text(f"{comparison.corpus}: {', '.join(comparison.runs)}", style="bold")
    ]
    parts += [Text(f"! {note}", style="bold red") for note in comparison.notes]
    undefined = sum(contrast.undefined for contrast in comparison.contrasts)
    hint = f"{undefined} undefined units left out" if undefined else "no unit undefined"
    unit = comparison.contrasts[0].unit
    return Group(*parts, table, Text(f"Two-sided; unit: {unit}; {hint}.", "dim"))


def _contrast_cells(contrast: Contrast) -> list[str]:
    """Return the eight cells of a contrast: metric, two runs, two means, difference, d, wins.

    Means and difference are in percent; "d" is a dash if it is undefined.
    """
    effect = contrast.effect
    return [
        metric_label(contrast.measure),
        contrast.first,
        contrast.second,
        *(format_percent(value) for value in contrast.means),
        f"{100 * effect.mean:+.1f}",
        "–" if effect.d is None else f"{effect.d:+.2f}",
        f"{effect.wins}:{effect.losses}",
    ]


# Raw text

NAME_MATCH_LABELS = {"overlap": "overlapping", "exact": "equal boundaries"}
PAIR_MATCH_LABELS = {
    "overlap": "recognised names, overlapping",
    "exact": "recognised names, equal boundaries",
    "given": "the corpus's names in the same text",
}
UNREACHABLE_LABELS = {
    "missed": "with a name that was not found",
    "separated": "cut apart by a sentence end",
    "merged": "within one found name, or sharing one pair",
}


def raw_text_table(result: RawText) -> RenderableType:
    """Return tables of the metrics of names and of interactions, under each rule of matching.

    A line below counts the gold interactions that cannot be reached, by reason; a further one has
    the calibration error, if the model has probabilities.
    """
    overlap = result.interactions["overlap"]
    lost = overlap.hits.gold - overlap.reachable
    why = ", ".join(f"{result.reasons[key]} {words}" for key, words in UNREACHABLE_LABELS.items())
    parts: list[RenderableType] = [
        Text(f"ppi · {result.corpus}", style="bold"),
        Text(
            f"{result.documents} documents · {result.candidates} candidates\n{result.procedure}",
            style="dim",
        ),
        _names_table(result),
        Text(),
        _interactions_table(result),
        Text(f"Unreachable: {lost} of {overlap.hits.gold} gold interactions; {why}.", style="dim"),
    ]
    if result.calibration:
        parts.append(Text(_describe_calibration(result.calibration), style="dim"))
    return Group(*parts)


def _describe_calibration(values: Mapping[str, float]) -> str:
    """Return ``RawText.calibration``, which must not be empty, as a sentence, in percent.

    It has the calibration error, that of chance, mean probability and share of true pairs.
    """
    error, chance = values["calibration_error"], values["calibration_error_of_chance"]
    mean, share = values["mean_probability"], values["positive_share"]
    return (
        f"Calibration error of recognised pairs: {format_percent(error)} "
        f"(chance {format_percent(chance)}); "
        f"mean probability {format_percent(mean)}, true share {format_percent(share)}."
    )


def _names_table(result: RawText) -> Table:
    """Return counts and metrics of recognised names, a row per rule of matching.

    The rules are the keys of ``NAME_MATCH_LABELS``, which ``result.names`` must have.
    """
    table = _wide_table("names", ("gold", "found", "right", "precision", "recall", "F"))
    for key, words in NAME_MATCH_LABELS.items():
        hits = result.names[key]
        counts = map(str, (hits.gold, hits.found, hits.right))
        table.add_row(words, *counts, *map(format_percent, hits.prf))
    return table


def _interactions_table(result: RawText) -> Table:
    """Return counts and metrics of interactions, a row per rule of matching names.

    The rules are the keys of ``PAIR_MATCH_LABELS``, which ``result.interactions`` must have.
    """
    heads = ("gold", "reachable", "yes", "right", "precision", "recall", "F", "F of reachable")
    table = _wide_table("interactions", heads)
    for key, words in PAIR_MATCH_LABELS.items():
        pairs = result.interactions[key]
        counts = map(str, (pairs.hits.gold, pairs.reachable, pairs.hits.found, pairs.hits.right))
        f_of_reachable = pairs.to_dict()["f_of_reachable"]
        table.add_row(words, *counts, *map(format_percent, (*pairs.hits.prf, f_of_reachable)))
    return table


def _wide_table(title: str, heads: tuple[str, ...]) -> Table:
    """Return an empty table with a wide column ``title`` and right-aligned columns ``heads``."""
    table = _new_table()
    table.add_column(title, min_width=36)
    for head in heads:
        table.add_column(head, justify="right")
    return table


# Audits


def audit_table(audit: CorpusAudit, top: int = 20) -> RenderableType:
    """Return the estimated share of wrong labels and the ``top`` most doubtful labels.

    A label has its rank, gold label, probability of being wrong, held-out score, document and text,
    with judged names in square brackets. Below are the documents and the kinds of labels with the
    largest share, above 0, of labels that are more probably wrong than right, at most five each.
    A ranking has no estimated share.
    """
    counts = audit.counts
    parts: list[RenderableType] = [
        Text(f"{audit.task} · {audit.corpus}", style="bold"),
        Text(
            f"{counts.documents} documents · {counts.candidates} labels · {counts.positives} "
            f"positive · scored without their own document by {audit.pipeline}, alpha "
            f"{audit.alpha:g}",
            style="dim",
        ),
    ]
    if audit.error_rate is not None:
        parts.append(Text(f"Estimated share of wrong labels: {_format_share(audit.error_rate)}"))
    table = _new_table()
    for name, side in (("", "right"), ("label", "left"), ("P wrong", "right"), ("score", "right")):
        table.add_column(name, justify="right" if side == "right" else "left")
    table.add_column("document")
    table.add_column("text", overflow="fold")
    for doubt in audit.doubts[:top]:
        decision = doubt.decision
        table.add_row(
            str(doubt.rank),
            _describe_label(doubt, is_ranking=audit.error_rate is None),
            f"{doubt.probability:.2f}",
            f"{decision.score:.2f}",
            decision.document,
            Text(mark_spans(decision.text, decision.spans)),
        )
    parts.append(table)
    for title, shares in (("document", audit.by_document), ("label", audit.by_kind)):
        doubtful = [(key, share) for key, share in shares.items() if share.share > 0][:5]
        if doubtful:
            words = "; ".join(f"{key} {_format_share(share)}" for key, share in doubtful)
            parts.append(Text(f"More probably wrong than right, by {title}: {words}", style="dim"))
    return Group(*parts)


def answers_table(audit: AnswerAudit, top: int = 20) -> RenderableType:
    """Return precision and recall of answers, kinds of errors, and ``top`` documents to check.

    Each estimate has its interval and, beside it, the value of the checked documents alone. At most
    five disputed items are shown per document; the last table is left out if none is to be checked.
    """
    helped = f" · helped by the answers of {audit.model}" if audit.model else ""
    parts: list[RenderableType] = [
        Text(f"answers of {audit.answers}", style="bold"),
        Text(
            f"{audit.checked} of {audit.documents} documents checked{helped} · intervals "
            f"of {100 * LEVEL:g} % by document",
            style="dim",
        ),
    ]
    table = _new_table()
    table.add_column("unit")
    for name in ("precision", "recall"):
        table.add_column(name, justify="right")
        table.add_column("checked alone", justify="right")
    for unit, estimates in audit.metrics.items():
        cells = []
        for name in ("precision", "recall"):
            estimate = estimates[name]
            interval = estimate.interval
            cells.append(
                f"{100 * estimate.value:.1f} ({100 * interval.low:.1f} to "
                f"{100 * interval.high:.1f})"
            )
            cells.append(f"{100 * estimate.checked_only:.1f}")
        table.add_row(unit, *cells)
    parts.append(table)
    errors = _new_table()
    errors.add_column("kind of error")
    errors.add_column("number", justify="right")
    errors.add_column("per document", justify="right")
    for error in audit.errors:
        errors.add_row(
            error.name,
            str(error.count),
            f"{error.per_document:.2f} ({error.interval.low:.2f} to {error.interval.high:.2f})",
        )
    parts.append(errors)
    to_check = _new_table()
    to_check.add_column("check next")
    to_check.add_column("disputed", justify="right")
    to_check.add_column("names and pairs", overflow="fold")
    for document in audit.next_documents[:top]:
        to_check.add_row(document.document, str(document.disputes), "; ".join(document.items[:5]))
    if audit.next_documents:
        parts.append(to_check)
    return Group(*parts)


def mark_spans(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Return the text with each span (start and end character) in square brackets.

    Spans may overlap; white space is collapsed to single blanks.

    >>> mark_spans("SHC  binds GRB2.", [(0, 3), (11, 15)])
    '[SHC] binds [GRB2].'
    """
    marks = sorted([(end, "]") for _, end in spans] + [(start, "[") for start, _ in spans])
    for position, mark in reversed(marks):
        text = text[:position] + mark + text[position:]
    return " ".join(text.split())


def _describe_label(doubt: Doubt, *, is_ranking: bool) -> str:
    """Return the gold label: yes or no, or the number for a ranking, after question and answer.

    They are joined by ": "; empty ones are left out. Yes is a label greater than 0.
    """
    label = doubt.decision.label
    gold = f"{label:g}" if is_ranking else ("yes" if label > 0 else "no")
    return ": ".join(filter(None, (doubt.question, doubt.answer, gold)))


def _format_share(share: LabelShare) -> str:
    """Return a share as "12.5 % (10.0 to 15.0) of 80", with interval and number of labels.

    Without an interval the part in parentheses is left out.
    """
    interval = share.interval
    if interval is None:
        return f"{format_percent(share.share)} % of {share.candidates}"
    low, high = format_percent(interval.low), format_percent(interval.high)
    return f"{format_percent(share.share)} % ({low} to {high}) of {share.candidates}"


# Leagues


def league_table(league: League) -> RenderableType:
    """Return a row per unit and system: counts, precision, recall, F1 and its interval.

    The counts are of gold, of answers and of right answers. The best F1 of a unit is bold, also if
    several systems have it. Documents that a system did not answer are noted above. Below are the
    tests between systems, if there are several: difference of F1 in percentage points, p and p
    after Holm.
    """
    table = _new_table()
    table.add_column("unit")
    table.add_column("system")
    for name in ("gold", "answers", "right", "precision", "recall", "F", "95 % interval"):
        table.add_column(name, justify="right")
    for unit, by_system in league.scores.items():
        best = max(score.hits.prf.f or 0.0 for score in by_system.values())
        for number, (system, score) in enumerate(by_system.items()):
            hits, prf, interval = score.hits, score.hits.prf, score.interval
            table.add_row(
                unit if number == 0 else "",
                system,
                str(hits.gold),
                str(hits.found),
                str(hits.right),
                format_percent(prf.precision),
                format_percent(prf.recall),
                Text(format_percent(prf.f), style="bold" if (prf.f or 0.0) == best else ""),
                ""
                if interval is None
                else f"{format_percent(interval.low)} to {format_percent(interval.high)}",
            )
    parts: list[RenderableType] = [
        Text(f"{league.gold} · {league.documents} documents", style="bold"),
        *(
            Text(f"! {system}: {count} documents without answers", style="bold red")
            for system, count in league.missing.items()
            if count
        ),
        table,
    ]
    if league.tests:
        tests = _new_table()
        for name in ("unit", "first", "second"):
            tests.add_column(name)
        for name in ("difference of F", "p", "Holm"):
            tests.add_column(name, justify="right")
        for test in league.tests:
            tests.add_row(
                test.unit,
                test.first,
                test.second,
                f"{100 * test.difference:+.1f}",
                _format_p(test.p),
                _format_p(test.holm),
            )
        parts += [Text("Paired permutation tests over documents", style="dim"), tests]
    return Group(*parts)


def replay_table(replay: Mapping[str, Any]) -> RenderableType:
    """Return the curve of a replay and sentences on what it means, for the terminal.

    ``replay`` is ``Replay.to_dict()`` of an annotation with known answers. A row per number of
    answers has the held-out metric of chosen questions, the mean of random orders there (empty if
    none) and the value shown to the annotator.
    """
    metric = replay["metric"]
    table = Table(title=f"{replay['pipeline']} on {replay['corpus']}: held-out {metric}, per cent")
    for column in ("answers", "chosen", "mean of random orders", "shown on the page"):
        table.add_column(column, justify="right")
    for point in replay["curves"]["chosen"]:
        mean = replay["random_mean"].get(str(point["answers"]))
        values = (point["value"], mean, point["shown"])
        table.add_row(
            str(point["answers"]), *("" if v is None else f"{100 * v:.1f}" for v in values)
        )
    return Group(table, *(Text(line) for line in describe_replay(replay)))


def describe_replay(replay: Mapping[str, Any]) -> list[str]:
    """Return sentences on answers needed, forecasts and when to stop.

    ``replay`` is ``Replay.to_dict()``. The first sentence says after how many chosen answers the
    metric of the random ones is reached, if at all; one sentence per forecast and per tested
    distance follows; the last one, when to stop, is left out if the forecast never says so.
    """
    needed, stop = replay["needed"], replay["stop"]
    random_answers = needed["random_answers"]
    target = f"{100 * needed['value']:.1f}, that of {random_answers} random answers"
    lines = [f"Chosen questions do not reach {target}."]
    if needed["first"] is not None:
        stays = "" if needed["stays"] is None else f", and stay there from {needed['stays']} on"
        lines = [f"Chosen questions reach {target}, after {needed['first']} answers{stays}."]
    for forecast in replay["forecasts"]:
        low, high = 100 * forecast["gain_low"], 100 * forecast["gain_high"]
        lines.append(
            f"The next {forecast['ahead']} answers would add {100 * forecast['gain']:.1f} "
            f"({low:.1f} to {high:.1f})."
        )
    for error in replay["forecast_errors"]:
        lines.append(
            f"Forecasts {error['ahead']} answers ahead were wrong by {100 * error['error']:.1f} on "
            f"average (no change: {100 * error['no_change_error']:.1f}); "
            f"{error['covered']:.0%} of {error['forecasts']} intervals held."
        )
    if stop is not None:
        lines.append(
            f"The forecast says stop after {stop['answers']} answers, at {100 * stop['value']:.1f}."
        )
    return lines


def transfer_table(transfer: Transfer, top: int = 5) -> RenderableType:
    """Return the effects of other corpora on a target, for the terminal.

    The title has AUC and F of the target alone. A row per corpus has its effect alone and its
    weight together with others; the last row has the effect of all chosen corpora. Lines below say
    which documents were left out and list the ``top`` most harmful ones, 0 for none.
    """
    base = ", ".join(
        f"{name} {100 * value:.1f}"
        for name, value in (("AUC", transfer.auc), ("F", transfer.f))
        if value is not None
    )
    title = f"{transfer.target} alone ({transfer.candidates} candidates): {base}"
    table = Table(title=title)
    columns = ("with", "candidates", "weight", "change of AUC", "change of F", "weight with others")
    for column in columns:
        table.add_column(column, justify="left" if column == "with" else "right")
    for name, corpus in transfer.corpora.items():
        table.add_row(
            name,
            str(corpus.candidates),
            f"{corpus.alone.weight:g}",
            *describe_effect(corpus.alone),
            f"{corpus.combined_weight:g}",
        )
    table.add_row("all chosen", "", "", *describe_effect(transfer.combined), "")
    lines = [
        "Changes are measured on folds of target documents that did not choose the weights; "
        "intervals: 95 %."
    ]
    lines += describe_left_out(transfer)
    if transfer.harmful[:top]:
        lines.append("Documents that do most harm (change of squared error without them):")
        lines += [
            f"  {document.squared_error:+.5f}  {document.corpus} {document.document}"
            for document in transfer.harmful[:top]
        ]
    return Group(table, *(Text(line) for line in lines))


def describe_left_out(transfer: Transfer) -> list[str]:
    """Return a line for each foreign corpus of which documents were left out, with the reasons.

    A line has the name and the number left out for each reason that applies: to stay below the
    largest number of candidates, or because they share text with the target.
    """
    lines = []
    for name, corpus in transfer.corpora.items():
        reasons = (
            (corpus.sampled_out, "to stay below the largest number of candidates"),
            (corpus.overlapping, "because they share text with the target"),
        )
        parts = [f"{count} {reason}" for count, reason in reasons if count]
        if parts:
            lines.append(f"{name}: documents left out: {', '.join(parts)}")
    return lines


def describe_effect(effect: TransferEffect) -> tuple[str, str]:
    """Return the changes of AUC and F in percentage points, with their intervals.

    A cell is "" if the change is undefined; a change without an interval is given alone.
    """
    pairs = ((effect.auc, effect.auc_interval), (effect.f, effect.f_interval))
    cells = []
    for value, interval in pairs:
        cell = "" if value is None else f"{100 * value:+.1f}"
        if value is not None and interval is not None:
            cell += f" ({100 * interval.low:+.1f} to {100 * interval.high:+.1f})"
        cells.append(cell)
    return cells[0], cells[1]
