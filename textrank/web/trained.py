"""What curation leaves: the trained model as a folder, the texts in any format we write."""

from __future__ import annotations

import io
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from spacy.tokens import Doc, Span

from textrank.formats.table import WRITERS, write
from textrank.learners.calibration import fit_calibration
from textrank.learners.fit import Fit
from textrank.model import Model
from textrank.types import Names
from textrank.web.curation import Curation
from textrank.web.questions import CHOOSE, NEGATED, OPEN, PLAIN, Question
from textrank.web.rows import FeatureRows, joined
from textrank.web.teaching import Teaching

ENOUGH = 50  # answers from which on they set the threshold, not the model one began with
SUFFIXES = {"text": ".txt", "json_lines": ".jsonl", "doc_bin": ".spacy", "bioc_xml": ".bioc.xml",
            "bioc_json": ".json", "pubtator": ".pubtator", "conllu": ".conllu",
            "ppi_xml": ".xml"}  # fmt: skip


def taught_model(teaching: Teaching) -> Model:
    """The model of all answers so far, to apply, to evaluate or to go on with."""
    prior, rows = teaching.prior, teaching.rows
    with teaching.lock:
        alpha, y, heldout = teaching.online.alpha, teaching.answers, teaching.heldout
        few = len(y) < ENOUGH and prior is not None
        threshold = prior.threshold if few and prior is not None else teaching.threshold
        meta = {"curated": len(teaching.closed), **(prior.meta if prior is not None else {})}
        fit = Fit((alpha,), alpha, teaching.online.coef, heldout[None])
        if prior is not None and prior.fit.stage is not None:
            raise ValueError("a model with a second stage over the document cannot be exported.")
        if isinstance(rows, FeatureRows):
            names, coef = _weights(teaching, rows)
            support = None
            fit = replace(fit, coef=coef)
        else:
            names = None
            taught = [teaching.candidates[row] for row in teaching.taught]
            support = teaching.pipeline.representation(taught)
            if prior is not None:
                support = joined(prior.support, support) if taught else prior.support
                fit = replace(fit, coef=np.concatenate([prior.fit.coef, fit.coef]))
    if prior is not None:  # few answers alone would say little about probabilities
        heldout, y = np.concatenate([prior.heldout, heldout]), np.concatenate([prior.labels, y])
    curve = prior.calibration if few and prior is not None else fit_calibration(heldout, y)
    return Model(
        teaching.pipeline, fit, support, names, threshold, heldout, y, meta, calibration=curve
    )


def _weights(teaching: Teaching, rows: FeatureRows) -> tuple[Names, Any]:
    """A weight per feature, of the prior and of the answers together."""
    own = rows.weights(teaching.index, teaching.online.coef)
    prior = teaching.prior
    if prior is None or prior.names is None:
        return rows.names, own
    at = rows.names.find(prior.names)
    known = at >= 0
    own[at[known]] += prior.fit.coef[known]
    names = Names.join([rows.names, prior.names.take(np.flatnonzero(~known))])
    return names, np.concatenate([own, prior.fit.coef[~known]])


def model_archive(teaching: Teaching) -> bytes:
    """The model's folder as a zip."""
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work) / "model"
        taught_model(teaching).to_disk(folder)
        return zipped(folder)


def corpus_file(curation: Curation, format: str) -> tuple[bytes, str]:
    """The texts with an answer, written in a format, and the suffix of that file.

    Pairs without an answer get the model's decision, since formats take what is not listed for a
    no; JSON lines say of each who decided.
    """
    if format not in WRITERS:
        raise ValueError(f"unknown format {format!r}. Known: {', '.join(WRITERS)}.")
    with tempfile.TemporaryDirectory() as work, answered(curation) as docs:
        target = Path(work) / f"corpus{SUFFIXES.get(format, '')}"
        write(docs, target, format=format)
        if target.is_dir():
            return zipped(target), ".zip"
        return target.read_bytes(), SUFFIXES.get(format, "")


@contextmanager
def answered(curation: Curation) -> Iterator[list[Doc]]:
    """The Docs with an answer, carrying the answers as gold while the block lasts."""
    teaching = curation.teaching
    with teaching.lock:
        names = {q.document for k, q in teaching.questions.items() if k in teaching.closed}
        docs = [doc for name, doc in curation.docs.items() if name in names]
        before = [(d, d.user_data.get("gold"), list(d.spans.get("entities", ()))) for d in docs]
        decided = teaching.scores >= teaching.threshold
        try:
            for doc in docs:
                _annotate(teaching, doc, decided)
            yield docs
        finally:
            for doc, gold, spans in before:
                doc.user_data["gold"] = gold
                if gold is None:
                    del doc.user_data["gold"]
                doc.spans["entities"] = spans


def _annotate(teaching: Teaching, doc: Doc, decided: Any) -> None:
    own = [q for q in teaching.questions.values() if teaching.candidates[q.rows[0]].doc is doc]
    pairs = [q for q in own if len(teaching.candidates[q.rows[0]].spans) == 2]
    if pairs:
        doc.user_data["gold"] = [_relation(teaching, q, decided) for q in pairs]
    chosen = {}
    for question in own:
        value = teaching.closed.get(question.key, "")
        span = teaching.candidates[question.rows[0]].spans[0]
        if question not in pairs and value and value not in OPEN:
            chosen[span.start, span.end] = _answer(teaching, question, value)
    if chosen:
        doc.spans["entities"] = [
            Span(doc, s.start, s.end, label=chosen.get((s.start, s.end)) or s.label_, span_id=s.id_)
            for s in doc.spans.get("entities", ())
        ]


def _relation(teaching: Teaching, question: Question, decided: Any) -> dict[str, Any]:
    spans = teaching.candidates[question.rows[0]].spans
    value = teaching.closed.get(question.key, "")
    row: dict[str, Any] = {"entities": [span.id_ for span in spans]}
    if value in PLAIN:
        row |= {"label": PLAIN[value] > 0, "by": "curator"}
        return {**row, "status": "negated"} if value == NEGATED else row
    return {**row, "label": bool(decided[question.rows[0]]), "by": "model"}


def _answer(teaching: Teaching, question: Question, value: str) -> str | None:
    """The label that a choice gives a name; None where a no leaves it open."""
    if PLAIN.get(value, 1.0) < 0:
        return None
    chosen = int(value.removeprefix(CHOOSE)) if value.startswith(CHOOSE) else 0
    return teaching.candidates[question.rows[chosen]].answer


def zipped(folder: Path) -> bytes:
    """A folder as a zip, its files under the folder's name."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                archive.write(file, Path(folder.name) / file.relative_to(folder))
    return buffer.getvalue()
