"""What the commands do, as functions of names and paths; the command line only prints."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language
from spacy.pipeline import Sentencizer
from spacy.tokens import Doc

from textrank.config import load_corpus, load_model, load_pipeline, parse_setting
from textrank.docs import document_id, shares_text
from textrank.evaluation import Report, pairs
from textrank.evaluation import splits as divisions
from textrank.evaluation.cache import Cache
from textrank.evaluation.comparison import Comparison, compare
from textrank.evaluation.cross import Cross, cross
from textrank.evaluation.judged import judged
from textrank.evaluation.learning import learning_curve
from textrank.evaluation.permutation import permutation_p
from textrank.evaluation.raw_text import RawText, evaluate_raw_text
from textrank.evaluation.sweep import Sweep, sweep
from textrank.formats.table import write as write_docs
from textrank.io import check_target
from textrank.language import load_nlp
from textrank.pipeline import Clock, Corpus, Task
from textrank.reports import html
from textrank.reports.explanation import Explanation
from textrank.reports.json import read as read_report
from textrank.reports.json import write as write_json
from textrank.reports.json import write_data
from textrank.scale.loading import adjusted
from textrank.tasks.network import interaction_network, write_graphml
from textrank.tasks.spelling import diff

STDIN = "-"


def run_pipeline(
    pipeline: str,
    corpus: str,
    settings: Sequence[str] = (),
    nlp: str | None = None,
    *,
    folds: str = "10",
    seed: int = 0,
    splits: int = 1,
    protocol: str = "documents",
    permutations: int = 0,
    learning: bool = False,
) -> Report:
    """Tests a pipeline on a corpus, with test data kept apart as the protocol says."""
    chosen = load_pipeline(pipeline, dict(map(parse_setting, settings)))
    source = load_corpus(corpus)
    clock = Clock()
    table = _folds(folds, source.name)
    known = protocol if protocol != pairs.NAME else divisions.PROTOCOLS[0]
    way = divisions.protocol(known, folds=table, seed=seed, splits=splits)
    with clock.step("reading"):
        docs = _read(source, nlp, chosen.task)
    seen = chosen.examine(docs, clock)
    if protocol == pairs.NAME:
        report = pairs.assess_pairs(chosen, seen, corpus=source.name, documents=len(docs))
        return replace(report, seconds=clock.seconds)
    report = chosen.assess(seen, way, corpus=source.name, documents=len(docs), clock=clock)
    if permutations:
        division = way.divide(seen.candidates, seen.targets)
        with clock.step("permutations"):
            found = permutation_p(
                chosen.learner, seen.data, division, permutations=permutations, seed=seed
            )
        report = replace(report, permutation=found.to_dict())
    if learning:
        with clock.step("learning curve"):
            points = learning_curve(chosen, seen, way, seed=seed)
        report = replace(report, curves={**report.curves, "learning": points})
    return replace(report, seconds=clock.seconds)


def sweep_pipeline(
    pipeline: str,
    corpus: str,
    grid: Sequence[str],
    cache: Path,
    settings: Sequence[str] = (),
    nlp: str | None = None,
    *,
    folds: str = "10",
    seed: int = 0,
    splits: int = 1,
    protocol: str = "documents",
) -> Sweep:
    """Tests a pipeline at every combination of ``KEY=v1,v2,...``, keeping each in the cache."""
    fixed = dict(map(parse_setting, settings))
    axes = dict(map(parse_grid, grid))
    points = list(product(*axes.values()))
    pipelines = {
        _hashable(values): load_pipeline(pipeline, fixed | dict(zip(axes, values, strict=True)))
        for values in points
    }
    source = load_corpus(corpus)
    division = _folds(folds, source.name)
    way = divisions.protocol(protocol, folds=division, seed=seed, splits=splits)
    docs = _read(source, nlp, next(iter(pipelines.values())).task)
    return sweep(pipelines, list(axes), docs, way, Cache(cache), corpus=source.name)


def parse_grid(text: str) -> tuple[str, list[Any]]:
    """``KEY=v1,v2,...`` as a key and its values, each JSON or else a string.

    >>> parse_grid("learner.alphas=[0.5],[1]")
    ('learner.alphas', [[0.5], [1]])
    >>> parse_grid("learner.select=auc,f")
    ('learner.select', ['auc', 'f'])
    """
    key, sign, values = text.partition("=")
    if not sign or not key.strip() or not values.strip():
        raise ValueError(f"cannot read sweep {text!r}: write KEY=VALUE,VALUE,...")
    try:
        return key.strip(), json.loads(f"[{values}]")
    except json.JSONDecodeError:
        return key.strip(), [parse_setting(f"{key}={value}")[1] for value in values.split(",")]


def write_sweep(found: Sweep, folder: Path) -> Path:
    """Writes ``sweep.html`` and ``sweep.json`` into a folder, and gives the page's path."""
    folder.mkdir(parents=True, exist_ok=True)
    html.write_sweep(found, folder / "sweep.html")
    write_data(found.to_dict(), folder / "sweep.json")
    return folder / "sweep.html"


def train_model(
    pipeline: str,
    corpus: str,
    model: Path,
    settings: Sequence[str] = (),
    nlp: str | None = None,
    *,
    keep: int | None = None,
    without: Sequence[str] = (),
) -> str:
    """Trains on a corpus, writes the model, and says what it is.

    Documents that share an original text or a sentence with a corpus of ``without`` are left out,
    so that the model can be tested there.
    """
    check_target(model)
    chosen = load_pipeline(pipeline, dict(map(parse_setting, settings)))
    source = load_corpus(corpus)
    apart = [load_corpus(other) for other in without]
    docs = _read(source, nlp, chosen.task)
    kept = _unlike(docs, [doc for other in apart for doc in other(spacy.blank("en"))])
    meta: dict[str, Any] = {"corpus": source.name}
    if without:
        meta |= {"without": [other.name for other in apart], "left_out": len(docs) - len(kept)}
    trained = replace(chosen.fit(kept), meta=meta)
    (trained if keep is None else trained.strongest(keep)).to_disk(model)
    y = trained.labels
    told = f"{len(y)} candidates, {(y > 0).sum()} positive, alpha {trained.fit.alpha:g}"
    return f"{told}, {meta['left_out']} documents left out" if without else told


def evaluate_model(
    model: str, corpus: str, nlp: str | None = None, *, positives: str | None = None
) -> Report:
    """Tests a model on a corpus, with its own threshold, for a share of positives or ``auto``."""
    share: Any = positives if positives == "auto" else _share(positives)
    loaded = load_model(model)
    source = load_corpus(corpus)
    clock = Clock()
    with clock.step("reading"):
        docs = _read(source, nlp, loaded.pipeline.task)
    with clock.step("scoring"):
        report = loaded.evaluate(docs, corpus=source.name, positives=share)
    return replace(report, seconds={**clock.seconds, **report.seconds})


def evaluate_names(
    model: str,
    corpus: str,
    nlp: str | None = None,
    *,
    positives: str | None = None,
    sentences: bool = False,
) -> RawText:
    """Tests a model on the bare texts of a corpus, with names that the language model finds.

    ``sentences`` keeps those of the corpus.
    """
    share = _share(positives)
    loaded = load_model(model)
    source = load_corpus(corpus)
    clock = Clock()
    with clock.step("reading"):
        docs = list(source(spacy.blank("en")))
        language = load_language(nlp, loaded.pipeline.task, raw=True)
    with clock.step("analysing and scoring"):
        how: Any = {"positives": share, "sentences": sentences}
        found = evaluate_raw_text(loaded, docs, language, corpus=source.name, **how)
    return replace(found, seconds=clock.seconds)


def _share(text: str | None) -> float | None:
    try:
        share = None if text is None else float(text)
    except ValueError:
        share = -1.0
    if share is not None and not 0 <= share <= 1:
        raise ValueError(
            f"--positives {text}: give a share between 0 and 1, or, for the names of the corpus, "
            "auto."
        )
    return share


def cross_corpora(
    pipeline: str, corpora: Sequence[str], settings: Sequence[str] = (), nlp: str | None = None
) -> Cross:
    """Trains a pipeline on each corpus and tests it on each other, reading every corpus once."""
    chosen = load_pipeline(pipeline, dict(map(parse_setting, settings)))
    sources = [load_corpus(corpus) for corpus in corpora]
    names = [source.name for source in sources]
    if len(set(names)) < len(names):
        raise ValueError(f"corpora must have different names, got {', '.join(names)}.")
    clock = Clock()
    with clock.step("reading"):
        docs = {source.name: _read(source, nlp, chosen.task) for source in sources}
    found = cross(chosen, docs)
    return replace(found, seconds={**clock.seconds, **found.seconds})


def write_cross(found: Cross, folder: Path) -> Path:
    """Writes ``cross.html`` and ``cross.json`` into a folder, and gives the page's path."""
    folder.mkdir(parents=True, exist_ok=True)
    html.write_cross(found, folder / "cross.html")
    write_data(found.to_dict(), folder / "cross.json")
    return folder / "cross.html"


def compare_reports(files: Sequence[Path], measures: Sequence[str] = ()) -> Comparison:
    """Compares the runs of several report files, named as shortly as tells them apart."""
    if len(set(files)) < len(files):
        raise ValueError("a report cannot be compared with itself: name different files.")
    names = [file.stem for file in files]
    if len(set(names)) < len(names):
        names = [str(file) for file in files]
    reports = {name: read_report(file) for name, file in zip(names, files, strict=True)}
    return compare(reports, measures)


def write_report(report: Report, folder: Path) -> Path:
    """Writes ``report.html`` and ``report.json`` into a folder, and gives the page's path."""
    folder.mkdir(parents=True, exist_ok=True)
    html.write(report, folder / "report.html")
    write_json(report, folder / "report.json")
    return folder / "report.html"


def convert_corpus(
    corpus: str, target: Path, format: str | None = None, nlp: str | None = None
) -> int:
    """Writes a corpus in another format, and counts its documents.

    Without ``nlp`` nothing is added: tokens and sentences are cut by rule, names stay as given.
    """
    language = spacy.blank("en") if nlp is None else load_language(nlp)
    numbers = itertools.count()
    docs = (doc for doc, _ in zip(load_corpus(corpus)(language), numbers, strict=False))
    write_docs(docs, target, format=format)
    return next(numbers)


def apply_model(
    model: str,
    texts: Sequence[str],
    nlp: str | None = None,
    network: Path | None = None,
    write: Path | None = None,
    *,
    settings: Sequence[str] = (),
) -> Iterator[dict[str, Any]]:
    """Judges texts, one row of plain values a document.

    At the end, when asked, their network, and the texts with names and judged pairs in the format
    that the suffix of ``write`` stands for.
    """
    loaded = adjusted(load_model(model), settings)
    if (network or write) and loaded.pipeline.task.name != "ppi":
        raise ValueError(f"--network and --write need pairs; {model} is of another task.")
    language = load_language(nlp, loaded.pipeline.task, raw=True)
    attribute = f"textrank_{loaded.pipeline.task.name}"
    kept = []
    for doc in loaded.pipe(_texts(texts, language)):
        yield {"document": document_id(doc), attribute: getattr(doc._, attribute)}
        kept += [doc] if network or write else []
    if network:
        write_graphml(interaction_network(kept), network)
    if write:
        write_docs(kept, write, source=loaded.pipeline.task.name)


def propose_changes(
    model: str, texts: Sequence[str], nlp: str | None = None, *, settings: Sequence[str] = ()
) -> Iterator[str]:
    """The corrections of a spelling model as a unified diff a text; none where nothing changes."""
    loaded = adjusted(load_model(model), settings)
    if loaded.pipeline.task.name != "spelling":
        raise ValueError(f"--diff needs corrections; {model} is of another task.")
    language = load_language(nlp, loaded.pipeline.task, raw=True)
    yield from filter(None, map(diff, loaded.pipe(_texts(texts, language))))


def explain_model(
    model: str, texts: Sequence[str], nlp: str | None = None
) -> Iterator[Explanation]:
    """Every candidate of the texts with the features that made its score."""
    loaded = load_model(model)
    for doc in _texts(texts, load_language(nlp, loaded.pipeline.task, raw=True)):
        candidates = loaded.pipeline.task.candidates(doc)
        scores = loaded.score(candidates)
        decisions = judged(candidates, scores, loaded.threshold, paths=True)
        for candidate, decision in zip(candidates, decisions, strict=True):
            yield Explanation(decision, loaded.explain(candidate))


def load_language(name: str | None, task: Task | None = None, *, raw: bool = False) -> Language:
    """A spaCy model by name or path, or ours with what the task reads; names too for raw text."""
    reads: Sequence[str] | None = getattr(task, "reads", None)
    if name is not None or reads is None:
        return load_nlp(name)
    return load_nlp(only=[*reads, *(getattr(task, "recognises", ()) if raw else ())])


def _read(source: Corpus, nlp: str | None, task: Task) -> list[Doc]:
    return list(source(load_language(nlp, task)))


def _unlike(docs: Sequence[Doc], others: Sequence[Doc]) -> list[Doc]:
    """The Docs that share no text with the others; some must be left."""
    kept = [doc for doc, s in zip(docs, shares_text(docs, others), strict=True) if not s]
    if docs and not kept:
        raise ValueError(
            f"all {len(docs)} documents share text with the corpora to leave out: nothing is left "
            "to train on. Name different corpora."
        )
    return kept


def _texts(texts: Sequence[str], nlp: Language) -> Iterator[Doc]:
    for text in texts:
        if text == STDIN:
            doc = nlp(sys.stdin.read())
            if not doc.has_annotation("SENT_START"):
                doc = Sentencizer()(doc)
            doc.user_data["document"] = "stdin"
            yield doc
        else:
            yield from load_corpus(text)(nlp)


def _folds(value: str, corpus: str) -> int | Mapping[str, int]:
    """A number of folds, or the table of a file, ``{corpus: {document: fold}}`` or its inside."""
    if value.isdigit():
        return int(value)
    path = Path(value)
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ValueError(f"{path}: no such file. --folds takes a number or a JSON file.") from None
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"{path}: not JSON ({error}). Write {{document: fold}}.") from error
    if isinstance(table, dict) and any(isinstance(v, dict) for v in table.values()):
        if corpus not in table:
            raise ValueError(f"{path}: no folds for corpus {corpus!r}; it has: {', '.join(table)}.")
        table = table[corpus]
    if not isinstance(table, dict) or not all(type(fold) is int for fold in table.values()):
        raise ValueError(f"{path}: folds must be whole numbers by document, {{document: fold}}.")
    return table


def _hashable(values: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(tuple(v) if isinstance(v, list) else v for v in values)
