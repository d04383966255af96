from __future__ import annotations

import json
import tempfile
from pathlib import Path

import numpy as np
import pytest
import spacy
import srsly
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example

import textrank.component  # noqa: F401 - an installed textrank is found by its entry points
from textrank.config import load_corpus, load_pipeline


@pytest.fixture(scope="module")
def nlp(docs: list[Doc]) -> Language:
    nlp = spacy.blank("en")
    nlp.add_pipe("textrank_ppi", config={"model": None})
    nlp.initialize(lambda: [Example(doc, doc) for doc in docs])
    return nlp


@pytest.fixture(scope="module")
def docs(tmp_path_factory: pytest.TempPathFactory) -> list[Doc]:
    """Docs of the reader, from a small corpus whose verbs tell the answer."""
    rows = []
    for n in range(12):
        verb, answer = ("binds", "True") if n % 2 else ("sees", "False")
        text = f"A{n} {verb} B{n}."
        places = [(0, len(f"A{n}")), (len(f"A{n} "), len(f"A{n} {verb}"))]
        places += [(len(f"A{n} {verb} "), len(text) - 1), (len(text) - 1, len(text))]
        tokens = "".join(
            f'<token id="t{i}" charOffset="{a}-{b - 1}" POS="NN" text="{text[a:b]}" />'
            for i, (a, b) in enumerate(places)
        )
        rows.append(
            f'<document id="d{n}"><sentence id="d{n}.s0" text="{text}">'
            f'<entity id="d{n}.e0" charOffset="{places[0][0]}-{places[0][1] - 1}" />'
            f'<entity id="d{n}.e1" charOffset="{places[2][0]}-{places[2][1] - 1}" />'
            f'<pair id="p" e1="d{n}.e0" e2="d{n}.e1" interaction="{answer}" />'
            '<sentenceanalyses><parses><parse parser="p" tokenizer="split">'
            '<dependency id="1" t1="t1" t2="t0" type="nsubj" />'
            '<dependency id="2" t1="t1" t2="t2" type="dobj" /></parse></parses><tokenizations>'
            f'<tokenization tokenizer="split">{tokens}</tokenization></tokenizations>'
            "</sentenceanalyses></sentence></document>"
        )
    path = tmp_path_factory.mktemp("corpus") / "tiny.xml"
    path.write_text(f"<corpus>{''.join(rows)}</corpus>")
    return list(load_corpus(path)(spacy.blank("en")))


def scores_of(doc: Doc) -> list[float]:
    return [row["score"] for row in doc._.textrank_ppi]


def test_component_scores_as_the_model_does(nlp: Language, docs: list[Doc]) -> None:
    model = load_pipeline("ppi").fit(docs)
    candidates = [c for doc in docs for c in model.pipeline.task.candidates(doc)]
    judged = [doc for doc in nlp.pipe(docs)]
    found = [score for doc in judged for score in scores_of(doc)]
    np.testing.assert_allclose(found, model.score(candidates), atol=1e-12)


def test_saved_pipeline_scores_the_same(nlp: Language, docs: list[Doc], tmp_path: Path) -> None:
    nlp.to_disk(tmp_path / "nlp")
    again = spacy.load(tmp_path / "nlp")
    assert scores_of(again(docs[0])) == scores_of(nlp(docs[0]))


def test_bytes_carry_the_model(nlp: Language, docs: list[Doc]) -> None:
    other = spacy.blank("en")
    other.add_pipe("textrank_ppi", config={"model": None})
    other.from_bytes(nlp.to_bytes())
    assert scores_of(other(docs[1])) == scores_of(nlp(docs[1]))


@pytest.mark.parametrize("name", ["/meta.json", "../meta.json", "a/../../meta.json"])
def test_bytes_are_written_inside_a_temporary_folder(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[Path] = []
    monkeypatch.setattr(Path, "write_bytes", lambda path, _: written.append(path))
    component = spacy.blank("en").add_pipe("textrank_ppi", config={"model": None})
    with pytest.raises(ValueError, match="not a model"):
        component.from_bytes(srsly.msgpack_dumps({name: b"{}"}))
    (file,) = written
    assert Path(tempfile.gettempdir()).resolve() in file.resolve().parents


def test_model_folder_goes_into_a_component(nlp: Language, docs: list[Doc], tmp_path: Path) -> None:
    load_pipeline("ppi").fit(docs).to_disk(tmp_path / "model")
    other = spacy.blank("en")
    other.add_pipe("textrank_ppi", config={"model": None}).from_disk(tmp_path / "model")
    assert scores_of(other(docs[2])) == pytest.approx(scores_of(nlp(docs[2])), abs=1e-12)


def test_answers_survive_doc_bin(nlp: Language, docs: list[Doc]) -> None:
    box = DocBin(docs=[nlp(docs[0])], store_user_data=True)
    (again,) = DocBin().from_bytes(box.to_bytes()).get_docs(nlp.vocab)
    # DocBin gives tuples for lists; as JSON they are the same.
    assert json.dumps(again._.textrank_ppi) == json.dumps(docs[0]._.textrank_ppi)


def test_explanation_of_a_component_sums_to_the_score(nlp: Language, docs: list[Doc]) -> None:
    doc = nlp(docs[3])
    (parts,) = nlp.get_pipe("textrank_ppi").explain(doc)
    assert sum(value for _, value in parts) == pytest.approx(scores_of(doc)[0], abs=1e-9)


def test_without_a_model_the_error_says_what_to_do(docs: list[Doc]) -> None:
    empty = spacy.blank("en")
    empty.add_pipe("textrank_ppi", config={"model": None})
    with pytest.raises(ValueError, match=r"no model\. Load one with from_disk"):
        empty(docs[0])
