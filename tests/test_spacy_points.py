"""How spaCy's own ways of use end: a component of the wrong model, assembling, analysis, code."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import spacy
from defusedxml.ElementTree import fromstring
from spacy.tokens import Doc

from textrank.cli.app import run
from textrank.formats.research import Senseval
from textrank.model import Model
from textrank.tasks.ppi.exports import write_facts
from textrank.tasks.ppi.facts import aggregate_rows


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
