"""How spaCy's own ways of use end: a component of the wrong model, assembling, analysis, code."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import spacy
from defusedxml.ElementTree import fromstring
from spacy.cli.evaluate import evaluate as spacy_evaluate
from spacy.tokens import Doc, DocBin
from spacy.training import Example

from textrank.cli.app import run
from textrank.config import load_corpus, load_model
from textrank.evaluation import evaluate
from textrank.formats.research import Senseval
from textrank.language.load import load_nlp
from textrank.model import Model
from textrank.tasks.ppi.exports import write_facts
from textrank.tasks.ppi.facts import aggregate_rows

ROOT = Path(__file__).parents[1]


def test_a_component_refuses_the_model_of_another_task() -> None:
    with pytest.raises(ValueError, match="model 'spelling' is of task 'spelling'"):
        spacy.blank("en").add_pipe("textrank_ppi", config={"model": "spelling"})


def test_a_component_refuses_a_model_that_is_not_there() -> None:
    with pytest.raises(ValueError, match="'ppii' is neither a model folder nor shipped"):
        spacy.blank("en").add_pipe("textrank_ppi", config={"model": "ppii"})


def test_analysis_of_the_pipeline_misses_what_is_needed() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("textrank_ppi")
    problems = nlp.analyze_pipes()["problems"]["textrank_ppi"]
    assert {"token.tag", "token.dep", "doc.sents"} <= set(problems)


def test_assembling_keeps_the_model(tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("textrank_gene_protein")
    nlp.config.to_disk(tmp_path / "config.cfg")
    command = [sys.executable, "-m", "spacy", "assemble", tmp_path / "config.cfg", tmp_path / "out"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    again = spacy.load(tmp_path / "out").get_pipe("textrank_gene_protein")
    assert isinstance(again.model, Model)


def test_a_bad_doc_is_told_to_the_handler_of_spacy() -> None:
    nlp = spacy.blank("en")
    component = nlp.add_pipe("textrank_ppi", config={"model": "ppi"})
    told: list[str] = []
    nlp.set_error_handler(lambda name, proc, docs, error: told.append(docs[0].text))
    good = Doc(nlp.vocab, words=["A"], sent_starts=[True])
    good.spans["entities"] = []
    bad = Doc(nlp.vocab, words=["no", "names"])
    assert [doc.text for doc in component.pipe([good, bad, good])] == ["A ", "A "]
    assert told == ["no names "]


def test_own_code_is_loaded_by_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = tmp_path / "mine.py"
    code.write_text(
        "from dataclasses import dataclass\nfrom textrank.config import registry\n\n"
        "@registry.kernels('mine_here.v1')\n@dataclass(frozen=True)\nclass Mine:\n"
        '    """A kernel of mine."""\n\n    width: float = 1.0\n'
    )
    assert run(["info", "mine_here.v1", "--code", str(code)]) == 0
    assert "A kernel of mine" in capsys.readouterr().out
    assert run(["info", "--code", str(tmp_path / "gone.py")]) == 2


def test_a_network_with_control_characters_is_xml(tmp_path: Path) -> None:
    row = {
        "names": ["a\x00", "b\x01"],
        "sentence": "a\x1b b",
        "spans": [[0, 1], [3, 4]],
        "score": 1.0,
        "interacts": True,
    }
    write_facts(aggregate_rows([("d\x02", [row])]), tmp_path / "x.graphml")
    assert fromstring((tmp_path / "x.graphml").read_bytes()) is not None


def test_an_encrypted_or_cut_zip_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("line.pos", b"<corpus></corpus>" * 50)
    data = bytearray(path.read_bytes())
    where = data.rindex(b"PK\x01\x02")
    data[where + 8] |= 1  # says that it is encrypted
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"x\.zip.*encrypted"):
        list(Senseval(str(path))(spacy.blank("en")))
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(ValueError, match=r"x\.zip: not a readable zip"):
        list(Senseval(str(path))(spacy.blank("en")))


def test_evaluation_by_spacy_gives_the_metrics_of_ours(tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "GENE", "pattern": "IL-2"}])
    nlp.add_pipe("textrank_gene_protein")
    nlp.to_disk(tmp_path / "nlp")
    docs = list(load_corpus(str(ROOT / "corpora" / "sample-gene-protein"))(nlp))[:6]
    DocBin(docs=docs, store_user_data=True).to_disk(tmp_path / "gold.spacy")
    by_command = spacy_evaluate(str(tmp_path / "nlp"), tmp_path / "gold.spacy", silent=True)
    (fold,) = evaluate(load_model("gene_protein"), docs).folds
    assert len(fold.measures) > 1
    for key, value in fold.measures.items():
        assert by_command[f"textrank_gene_protein_{key}"] == pytest.approx(value, abs=1e-9)


def test_evaluation_without_gold_annotation_has_no_metric() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("textrank_ppi", config={"scorer": None})
    assert nlp.get_pipe("textrank_ppi").score([]) == {}
    other = spacy.blank("en")
    component = other.add_pipe("textrank_ppi")
    doc = other.make_doc("GRB2 binds SOS1.")
    assert component.score([Example(doc, doc.copy())]) == {}


@pytest.mark.parametrize(
    ("task", "remedy"),
    [
        ("ppi", "use textrank.load_nlp()"),
        ("gene_protein", "add a named-entity recogniser before"),
        ("identifiers", "add a named-entity recogniser before"),
        ("parse_ranking", "Add a parser, a senter or a sentencizer"),
    ],
)
def test_a_blank_pipeline_is_told_what_to_add(task: str, remedy: str) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe(f"textrank_{task}")
    with pytest.raises(ValueError, match=re.escape(remedy)):
        nlp("GRB2 binds SOS1.")


def test_general_entities_are_no_proteins() -> None:
    nlp = load_nlp(only=["tagger", "parser"])
    ruler = nlp.add_pipe("entity_ruler")
    ruler.add_patterns(
        [
            {"label": "ORG", "pattern": "SOS1"},
            {"label": "GENE", "pattern": "GRB2"},
            {"label": "PROTEIN", "pattern": "SHC"},
        ]
    )
    nlp.add_pipe("textrank_ppi")
    rows = nlp("GRB2 binds SOS1 and SHC.")._.textrank_ppi
    assert [row["names"] for row in rows] == [["GRB2", "SHC"]]


@pytest.mark.slow
def test_the_project_template_trains_evaluates_and_packages(tmp_path: Path) -> None:
    project = tmp_path / "project"
    shutil.copytree(ROOT / "packaging" / "spacy_project", project)
    lines = (ROOT / "corpora" / "sample-gene-protein" / "corpus.jsonl").read_text("utf-8")
    documents = lines.splitlines(keepends=True)
    (project / "corpora").mkdir()
    (project / "corpora" / "train.jsonl").write_text("".join(documents[:30]), encoding="utf-8")
    (project / "corpora" / "dev.jsonl").write_text("".join(documents[30:]), encoding="utf-8")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, "-m", "weasel", "run", "all"],
        cwd=project,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    metrics = json.loads((project / "trained" / "metrics.json").read_text())
    assert metrics["textrank_gene_protein_auc"] > 0.6
    assert (project / "packages" / "en_my_gene_protein-0.1.0" / "setup.py").is_file()
