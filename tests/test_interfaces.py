"""Every interface gives the answers of ``model(nlp(text))``: same candidates, offsets, numbers.

The last part trains a small model and compares cfg, component, estimator and commands with Python.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin

import textrank.component  # noqa: F401 - an installed textrank is found by its entry points
from textrank import (
    Model,
    Pipeline,
    cross_validate,
    dump_pipeline,
    load_corpus,
    load_model,
    load_nlp,
    load_pipeline,
)
from textrank.candidates import get_answers
from textrank.cli import main
from textrank.cli._apply_out import WorkerOptions, apply_to_folder
from textrank.cli.app import CommonOptions, run
from textrank.cli.apply import apply_model
from textrank.cli.curate import _make_curation
from textrank.cli.explain import explain_model
from textrank.estimators import RLSClassifier
from textrank.features import Vector
from textrank.kernels.algebra import Normalized
from textrank.kernels.graphs import AllPathsGraph
from textrank.language.segmentation import tokenize
from textrank.learners.rls import RLS
from textrank.reports.table import write_report
from textrank.results.schema import answer_rows, name_rows, read_rows
from textrank.results.store import STORE_TABLES, open_store
from textrank.scale.job import Job
from textrank.scale.worker import load_analysis
from textrank.tasks.ppi.facts import aggregate_facts
from textrank.tasks.ppi.graphs import DependencyGraph
from textrank.tasks.ppi.task import PPI

TOLERANCE = 1e-9
NAME_TOLERANCE = 1.1e-3  # one of the three digits that are kept
SENTENCE = "SHC binds to GRB2 in vitro."
ABSTRACT = """Raf-1 and MEK1 form a complex with KSR.
The kinase suppressor of Ras (KSR) is a scaffold. Here we show that KSR binds Raf-1, MEK1 and ERK2 \
in resting cells. Raf-1 did not interact with 14-3-3 zeta when KSR was absent (Fig. 2A). Mutation \
of KSR abolished its binding to MEK1, whereas ERK2 still bound MEK1. The cells were washed. We \
conclude that KSR may recruit PP2A to Raf-1 e.g. after stimulation with EGF."""
LAYOUT = """RESULTS

Binding of TRAF2 to CD40

TRAF2 interacts with
CD40 and, less strongly, with
TRAF3.\tTRAF6 does not.

  * p53 binds MDM2
  * MDM2 inhibits p53, BRCA1
  1. CDK2 phosphorylates p27Kip1;
  2. cyclin E activates CDK2.

Methods Cells were lysed This lysate contained RAD51 bound to BRCA2
Table 1
BRCA1\tBRCA2\tbinds
RAD51\tBRCA2\tbinds
"""
SENTENCE_ENDS = (
    "We studied the interaction of c-Src with p130Cas. Grb2 binds Sos1. In contrast, Nck did not "
    "bind Sos1. Vav associates with Zap-70. SLP-76 does so in T cells (with Nck, see ref. 3). "
    "The same holds for E. coli RecA. RecA binds LexA. p85 was pulled down with Cbl. cbl-b was "
    "found with PI3-kinase alpha. beta-catenin interacts with axin. APC binds both."
)
NAMES = (
    "Antibodies against SHC, GRB2, SOS1, RAF1, MEK1, ERK2, KSR1, EGFR, ERBB2, ERBB3, PLCG1, CBL, "
    "NCK1, CRK, CRKL, GAB1, GAB2, PTPN11, JAK1, JAK2, STAT1, STAT3, STAT5A, SRC, FYN, LCK, ZAP70, "
    "LAT, LCP2, VAV1, ITK and PTEN were used; AKT1 phosphorylates BAD."
)
ARTICLE = "\n\n".join(
    f"{heading}\n\n{ABSTRACT.replace('KSR', scaffold)} {SENTENCE_ENDS}\n{LAYOUT}"
    for heading, scaffold in zip(
        ("Introduction", "Results", "Discussion", "Methods"),
        ("KSR", "JIP1", "AKAP79", "IQGAP1"),
        strict=True,
    )
)
TEXTS = {
    "sentence": SENTENCE,
    "abstract": ABSTRACT,
    "article": ARTICLE,
    "layout": LAYOUT,
    "sentence-ends": SENTENCE_ENDS,
    "names": NAMES,
    "empty": "",
    "white": " \n\t\n  ",
    "windows": LAYOUT.replace("\n", "\r\n"),
    "unicode": "TNF-α binds TNFR1 😀. NF‑κB (p65) interacts with IκBα\u00a0– not with β-actin… é?",
    "markup": "<p>The <i>BRCA1</i> protein binds BARD1.</p>\n<p>RAD51 binds BRCA2.</p>",
    "capitals": "GRB2 BINDS SOS1 AND CBL. SHC IS PHOSPHORYLATED BY SRC.",
    "no-stop": "We found that p53 binds MDM2 These cells lack ATM. ATM phosphorylates p53",
    "one-name": "Insulin was measured. Nothing else was found in the sera of patients.",
    "repeated": f"{SENTENCE} {SENTENCE}\n{SENTENCE}",
    "spelling": "Its known that p53 binds to it's own promoter. Than we where able too sea it.",
    "contractions": "p53 can't bind MDM2 and doesn't activate BAX. ATM cannot phosphorylate CHK2.",
}
TASKS = ("gene_protein", "spelling", "parse_ranking", "identifiers")
SAMPLE = Path(__file__).parents[1] / "corpora" / "sample-ppi"
PIPELINE = Pipeline(PPI(), DependencyGraph(), Normalized(AllPathsGraph()), RLS([0.5]))
Rows = dict[str, list[dict[str, Any]]]  # answers by document


@cache
def model_of(task: str) -> Model:
    return load_model(task)


@pytest.fixture(scope="module")
def nlp() -> Language:
    return load_nlp()


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The texts as JSON lines, which keep white space and line ends as they are."""
    path = tmp_path_factory.mktemp("texts") / "texts.jsonl"
    write_texts(path, TEXTS)
    return path


def write_texts(path: Path, names: Iterable[str]) -> None:
    lines = (json.dumps({"id": name, "text": TEXTS[name]}) for name in names)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture(scope="module")
def judged(nlp: Language) -> dict[str, Doc]:
    docs = {}
    for name, text in TEXTS.items():
        doc = model_of("ppi")(nlp(text))
        doc.user_data["document"] = name
        docs[name] = doc
    return docs


@pytest.fixture(scope="module")
def expected(judged: dict[str, Doc]) -> Rows:
    """What one text after the other gives in Python."""
    rows = {name: list(get_answers(doc, "ppi") or ()) for name, doc in judged.items()}
    assert sum(map(len, rows.values())) > 300
    assert not rows["empty"]
    assert not rows["white"]
    return rows


def assert_same(found: Any, wanted: Any, place: str = "", *, tolerance: float = TOLERANCE) -> None:
    """Compare plain values; numbers may differ by round-off."""
    if isinstance(wanted, float):
        assert isinstance(found, float), place
        assert abs(found - wanted) <= tolerance, place
    elif isinstance(wanted, Mapping):
        assert found.keys() == wanted.keys(), place
        for key in wanted:
            # The recogniser computes in single precision, and in other batches.
            allowed = NAME_TOLERANCE if key == "name_probabilities" else tolerance
            assert_same(found[key], wanted[key], f"{place} {key}", tolerance=allowed)
    elif isinstance(wanted, list | tuple):
        assert len(found) == len(wanted), place
        for number, (a, b) in enumerate(zip(found, wanted, strict=True)):
            assert_same(a, b, f"{place} {number}", tolerance=tolerance)
    else:
        assert found == wanted, place


def from_docs(docs: Iterable[Doc], task: str = "ppi") -> Rows:
    return {name: list(get_answers(doc, task) or ()) for name, doc in zip(TEXTS, docs, strict=True)}


def as_statement(row: Mapping[str, Any], text: str) -> dict[str, Any]:
    """A row of ``textrank_ppi`` in the columns of a result table."""
    (start_a, end_a), (start_b, end_b) = row["spans"]
    begin = text.rfind(row["sentence"], 0, start_a + len(row["sentence"]))
    return {
        "start_a": start_a, "end_a": end_a, "start_b": start_b, "end_b": end_b,
        "name_a": row["names"][0], "name_b": row["names"][1],
        "id_a": row["identifiers"][0], "id_b": row["identifiers"][1],
        "sentence_start": begin, "trigger": [list(place) for place in row["trigger"]],
        **{key: row[key] for key in STATED},
    }  # fmt: skip


STATED = (
    *("score", "probability", "physical", "regulation", "interacts", "status", "type"),
    *("direction", "sentence"),
)


def assert_statements(rows: Iterable[Mapping[str, Any]], expected: Rows) -> None:
    """Compare rows of a result table with the answers of each text."""
    found: Rows = {name: [] for name in TEXTS}
    for row in rows:
        found[row["document"]].append(dict(row))
    for name, own in expected.items():
        wanted = [as_statement(row, TEXTS[name]) for row in own]
        assert_same([{key: row[key] for key in wanted[0]} for row in found[name]], wanted, name)


def test_offsets_are_those_of_the_names_in_the_text(expected: Rows) -> None:
    for name, rows in expected.items():
        for row in rows:
            assert row["sentence"] in TEXTS[name]
            for (start, end), spelling in zip(row["spans"], row["names"], strict=True):
                assert TEXTS[name][start:end].split() == spelling.split() or name == "markup"


def test_component(nlp: Language, expected: Rows) -> None:
    component = load_nlp()
    component.add_pipe("textrank_ppi")
    assert_same(from_docs(map(component, TEXTS.values())), expected)
    for size in (1, 5, 100):
        assert_same(from_docs(component.pipe(TEXTS.values(), batch_size=size)), expected)
    docs = list(component.pipe(TEXTS.values(), n_process=2, batch_size=4))
    assert_same(from_docs(docs), expected)
    kept = DocBin(store_user_data=True, docs=docs).to_bytes()
    assert_same(from_docs(DocBin().from_bytes(kept).get_docs(nlp.vocab)), expected)


def test_analysed_documents_kept_on_disk(nlp: Language, expected: Rows) -> None:
    kept = DocBin(store_user_data=True, docs=nlp.pipe(TEXTS.values())).to_bytes()
    docs = DocBin().from_bytes(kept).get_docs(nlp.vocab)
    assert_same(from_docs(model_of("ppi").pipe(docs)), expected)


def test_apply_with_facts_and_network(
    source: Path, judged: dict[str, Doc], expected: Rows, tmp_path: Path
) -> None:
    graph, table = tmp_path / "network.graphml", tmp_path / "facts.json"
    rows = list(apply_model("ppi", [str(source)], network=graph, facts=table))
    assert_same({row["document"]: row["textrank_ppi"] for row in rows}, expected)
    wanted = aggregate_facts(judged.values())
    found = json.loads(table.read_text(encoding="utf-8"))["facts"]
    assert_same(found, json.loads(json.dumps(wanted)))
    edges = {
        frozenset((a, b)): values["probability"]
        for a, b, values in nx.read_graphml(graph).edges(data=True)
    }
    assert_same(edges, {frozenset(f["ends"]): f["probability"] for f in wanted if f["asserted"]})
    lines = tmp_path / "answers.jsonl"
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert_store(lines, expected)


def assert_store(path: Path, expected: Rows) -> None:
    """Compare what ``explore`` shows of a result."""
    store = open_store(path)
    try:
        columns = "document, start_a, end_a, start_b, end_b"
        rows = store.fetch(f"SELECT * FROM {STORE_TABLES['statements']} ORDER BY {columns}")
        wanted = [
            {"document": name, **as_statement(row, TEXTS[name])}
            for name in sorted(expected)
            for row in sorted(expected[name], key=lambda row: row["spans"])
        ]
        keys = ("document", "start_a", "end_a", "start_b", "end_b", "score", "probability")
        found = [{key: row[key] for key in keys} for row in rows]
        assert_same(found, [{key: row[key] for key in keys} for row in wanted])
    finally:
        store.connection.close()


def test_table(
    source: Path, expected: Rows, capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    from textrank.cli.apply import _show_table

    level = model_of("ppi").pipeline.task.level
    _show_table(model_of("ppi"), list(apply_model("ppi", [str(source)])))
    lines = capsys.readouterr().out.splitlines()[1:]
    shown = [line.split() for line in lines if not line.startswith("[")]  # [document] sentence
    likely = [row for rows in expected.values() for row in rows if row["probability"] >= level]
    assert len(shown) == len(likely)
    for line, row in zip(shown, likely, strict=True):
        assert f"{row['probability']:.2f}" in line


@pytest.mark.parametrize(("workers", "format"), [(1, "jsonl"), (2, "parquet")])
def test_tables_of_parts(
    source: Path, expected: Rows, tmp_path: Path, workers: int, format: Any
) -> None:
    out = tmp_path / "out"
    who = WorkerOptions(workers, size=4000)  # several parts
    summary = apply_to_folder("ppi", [str(source)], out, format=format, workers=who)
    assert not summary.errors
    assert_statements(read_rows(out, "statements", format), expected)
    assert_store(out, expected)


def test_standard_input(expected: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(TEXTS["windows"].encode()), encoding="utf-8")
    monkeypatch.setattr(sys, "stdin", stream)
    (row,) = apply_model("ppi", ["-"])
    assert_same(row["textrank_ppi"], expected["windows"])


def test_explain(source: Path, expected: Rows) -> None:
    found: Rows = {name: [] for name in TEXTS}
    for explanation in explain_model("ppi", [str(source)]):
        found[explanation.decision.document].append(dict(explanation.row))
        total = sum(value for _, value in explanation.parts)
        assert total == pytest.approx(explanation.row["score"], abs=TOLERANCE)
        assert explanation.decision.score == explanation.row["score"]
    assert_same(found, expected)


def test_first_scores_of_curate(source: Path, expected: Rows, tmp_path: Path) -> None:
    file = tmp_path / "answers.sqlite"
    curation = _make_curation(
        "ppi", str(source), file, "someone", None, False, None, CommonOptions()
    )
    try:
        scores = curation.learner.scores
        probabilities = curation.learner.probability(scores)
    finally:
        curation.answers.close()
    wanted = [row for rows in expected.values() for row in rows]
    np.testing.assert_allclose(scores, [row["score"] for row in wanted], atol=TOLERANCE)
    assert probabilities is not None
    known = [row["probability"] for row in wanted]
    np.testing.assert_allclose(probabilities, known, atol=TOLERANCE)


def test_names_of_parts(nlp: Language, judged: dict[str, Doc]) -> None:
    analysis = load_analysis(Job("ppi", ""))
    docs = analysis([tokenize(analysis.nlp, text) for text in TEXTS.values()])
    for (name, plain), doc in zip(judged.items(), docs, strict=True):
        rows = [list(name_rows(each, name, "", analysis.key)) for each in (doc, plain)]
        assert_same(*rows, name)
        assert [s.text for s in doc.sents] == [s.text for s in plain.sents]


def test_a_long_text_in_pieces(
    nlp: Language, monkeypatch: pytest.MonkeyPatch, expected: Rows
) -> None:
    from textrank.language import segmentation

    monkeypatch.setattr(segmentation, "MAX_CHUNK_CHARACTERS", 2000)
    analysis = load_analysis(Job("ppi", ""))
    (doc,) = analysis([tokenize(analysis.nlp, ARTICLE)])
    assert_same(get_answers(doc, "ppi"), expected["article"])
    (doc,) = model_of("ppi").pipe(segmentation.pipe_long(nlp, [tokenize(nlp, ARTICLE)]))
    assert_same(get_answers(doc, "ppi"), expected["article"])


@pytest.fixture(scope="module", params=TASKS)
def answers(request: pytest.FixtureRequest, nlp: Language) -> tuple[str, Rows]:
    """A task other than ``ppi``, and its answers for one text after the other in Python."""
    task = request.param
    rows = {
        name: list(get_answers(model_of(task)(nlp(text)), task) or ())
        for name, text in TEXTS.items()
    }
    assert any(rows.values())
    assert not rows["empty"]
    assert not rows["white"]
    return task, rows


def test_other_tasks_in_python_and_by_command(
    answers: tuple[str, Rows], nlp: Language, source: Path
) -> None:
    task, expected = answers
    assert_same(from_docs(model_of(task).pipe(nlp.pipe(TEXTS.values())), task), expected)
    rows = apply_model(task, [str(source)])
    assert_same({row["document"]: row[f"textrank_{task}"] for row in rows}, expected)
    analysis = load_analysis(Job(task, ""))
    docs = analysis([tokenize(analysis.nlp, text) for text in TEXTS.values()])
    assert_answers(
        [
            row
            for name, doc in zip(TEXTS, docs, strict=True)
            for row in answer_rows(doc, name, "", task)
        ],
        expected,
    )


def test_components_of_other_tasks(answers: tuple[str, Rows]) -> None:
    task, expected = answers
    component = load_nlp()
    component.add_pipe(f"textrank_{task}")
    assert_same(from_docs(map(component, TEXTS.values()), task), expected)
    assert_same(from_docs(component.pipe(TEXTS.values(), batch_size=5), task), expected)
    docs = list(component.pipe(TEXTS.values(), n_process=2, batch_size=4))
    assert_same(from_docs(docs, task), expected)
    kept = DocBin(store_user_data=True, docs=docs).to_bytes()
    assert_same(from_docs(DocBin().from_bytes(kept).get_docs(component.vocab), task), expected)


@pytest.mark.slow  # starts twelve processes
@pytest.mark.parametrize("workers", [1, 2])
def test_tables_of_other_tasks(
    answers: tuple[str, Rows], source: Path, tmp_path: Path, workers: int
) -> None:
    task, expected = answers
    who = WorkerOptions(workers, size=4000)  # several parts
    summary = apply_to_folder(task, [str(source)], tmp_path, format="jsonl", workers=who)
    assert not summary.errors
    assert_answers(read_rows(tmp_path, "names", "jsonl"), expected)


def assert_answers(rows: Iterable[Mapping[str, Any]], expected: Rows) -> None:
    """Compare rows of a table of answers, which are written as JSON beside their offsets."""
    found: Rows = {name: [] for name in TEXTS}
    for row in rows:
        answer = json.loads(row["answer"])
        assert [row["start"], row["end"]] == list(answer.get("span") or (None, None))
        found[row["document"]].append(answer)
    assert_same(found, json.loads(json.dumps(expected)))


@pytest.fixture(scope="module")
def sample() -> list[Doc]:
    return list(load_corpus(SAMPLE)(spacy.blank("en")))


@pytest.fixture(scope="module")
def trained(sample: list[Doc]) -> Model:
    return PIPELINE.fit(sample)


@pytest.fixture(scope="module")
def scores(trained: Model, sample: list[Doc]) -> Vector:
    """What Python gives, which the other interfaces must give too."""
    return trained.score([c for doc in sample for c in PIPELINE.task.candidates(doc)])


def test_cfg_of_a_trained_model(sample: list[Doc], scores: Vector, tmp_path: Path) -> None:
    (tmp_path / "pipeline.cfg").write_text(dump_pipeline(PIPELINE))
    pipeline = load_pipeline(tmp_path / "pipeline.cfg")
    candidates = [c for doc in sample for c in pipeline.task.candidates(doc)]
    np.testing.assert_allclose(pipeline.fit(sample).score(candidates), scores, atol=1e-12)


def test_component_of_a_trained_model(
    trained: Model, sample: list[Doc], scores: Vector, tmp_path: Path
) -> None:
    trained.to_disk(tmp_path / "model")
    nlp = spacy.blank("en")
    nlp.add_pipe("textrank_ppi", config={"model": None}).from_disk(tmp_path / "model")
    found = [row["score"] for doc in nlp.pipe(sample) for row in doc._.textrank_ppi]
    np.testing.assert_allclose(found, scores, atol=1e-12)


def test_estimator_of_a_trained_model(sample: list[Doc], scores: Vector) -> None:
    dataset = PIPELINE.prepare(sample)
    K = PIPELINE.kernel(dataset.X)
    estimator = RLSClassifier(alphas=[0.5], kernel="precomputed", fit_intercept=False)
    estimator.fit(K, dataset.targets.y, groups=dataset.targets.groups)
    np.testing.assert_allclose(estimator.decision_function(K), scores, atol=1e-9)


def test_command_with_a_trained_model(
    trained: Model, scores: Vector, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trained.to_disk(tmp_path / "model")
    before, sys.argv = sys.argv, ["textrank", "apply", str(tmp_path / "model"), str(SAMPLE)]
    try:
        with pytest.raises(SystemExit, match="0"):
            main()
    finally:
        sys.argv = before
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    found = [pair["score"] for row in rows for pair in row["textrank_ppi"]]
    np.testing.assert_allclose(found, scores, atol=1e-12)


def test_the_run_command_gives_the_report_of_cross_validate(
    sample: list[Doc], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pipeline.cfg").write_text(dump_pipeline(PIPELINE))
    report = tmp_path / "report.json"
    words = ["run", str(tmp_path / "pipeline.cfg"), str(SAMPLE), "--folds", "3", "--seed", "2"]
    assert run([*words, "--json", str(report)]) == 0
    expected = cross_validate(
        PIPELINE, sample, folds=3, seed=2, corpus=SAMPLE.name, title="pipeline"
    )
    write_report(expected, tmp_path / "expected.json")
    found, wanted = (json.loads(p.read_text()) for p in (report, tmp_path / "expected.json"))
    assert found.pop("seconds")
    wanted.pop("seconds")
    assert found == wanted
