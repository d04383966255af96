"""Three of the tasks as components: trained, saved, loaded, in two processes, all the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example

import textrank.component  # noqa: F401 - an installed textrank is found by its entry points
from textrank.config import dump_pipeline, load_corpus, load_model, load_pipeline
from textrank.language.load import model_path

ROOT = Path(__file__).parents[1]
# Each with a single alpha, for there is nothing to choose here.
TASKS = {
    "ppi": ("ppi-apg", "sample-ppi", {"learner.alphas": [1.0]}),
    "gene_protein": (
        "gene_protein",
        "sample-gene-protein",
        {"learner.learner.alphas": [4.0], "learner.learner.folds": 2},
    ),
    "spelling": (
        "spelling",
        "sample-spelling",
        {"learner.learner.alphas": [0.2], "learner.learner.folds": 2, "task.precision": 0.6},
    ),
}
RAW = {
    "ppi": "We show that SHC binds to the activated EGF receptor but not to GRB7.",
    "gene_protein": "Mutations of the p53 gene were found in most of these tumours.",
    "spelling": "It was much higher then we thought.",
}


def read(corpus: str) -> list[Doc]:
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    return list(load_corpus(ROOT / "corpora" / corpus)(nlp))


@pytest.fixture(scope="module", params=TASKS)
def task(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def docs(task: str) -> list[Doc]:
    return read(TASKS[task][1])[:16]


@pytest.fixture(scope="module")
def cfg(task: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    name, _, settings = TASKS[task]
    path = tmp_path_factory.mktemp("cfg") / "own.cfg"
    path.write_text(dump_pipeline(load_pipeline(name, settings)))
    return str(path)


@pytest.fixture(scope="module")
def nlp(task: str, docs: list[Doc], cfg: str) -> Language:
    """A pipeline whose component was trained with ``nlp.initialize``."""
    nlp = spacy.blank("en")
    nlp.add_pipe(f"textrank_{task}", config={"model": None, "pipeline": cfg})
    nlp.initialize(lambda: [Example(doc, doc) for doc in docs])
    return nlp


def fresh(docs: list[Doc]) -> list[Doc]:
    """The same Docs without answers of an earlier judgement."""
    box = DocBin(docs=docs, store_user_data=True)
    found = list(DocBin().from_bytes(box.to_bytes()).get_docs(docs[0].vocab))
    for doc in found:
        for name in TASKS:
            setattr(doc._, f"textrank_{name}", None)
    return found


def answers(doc: Doc, task: str) -> str:
    """As JSON, in which lists and tuples are the same."""
    found = getattr(doc._, f"textrank_{task}")
    assert found is not None
    return json.dumps(found)


def test_initialize_gives_the_model_of_the_pipeline(nlp, task, docs, cfg):
    alone = load_pipeline(cfg).fit(docs)
    for doc, twin in zip(fresh(docs[:4]), fresh(docs[:4]), strict=True):
        assert answers(nlp(doc), task) == answers(alone(twin), task)


def test_a_saved_and_loaded_pipeline_gives_the_same(nlp, task, docs, tmp_path):
    nlp.to_disk(tmp_path / "nlp")
    again = spacy.load(tmp_path / "nlp")
    for doc, twin in zip(fresh(docs), fresh(docs), strict=True):
        assert json.loads(answers(again(doc), task)) == approximately(answers(nlp(twin), task))


def test_bytes_give_the_same(nlp, task, docs, cfg):
    other = spacy.blank("en")
    other.add_pipe(f"textrank_{task}", config={"model": None, "pipeline": cfg})
    other.from_bytes(nlp.to_bytes())
    doc, twin = fresh(docs[:1])[0], fresh(docs[:1])[0]
    assert json.loads(answers(other(doc), task)) == approximately(answers(nlp(twin), task))


def test_two_processes_give_the_same(nlp, task, docs):
    one = list(nlp.pipe(fresh(docs)))
    two = list(nlp.pipe(fresh(docs), n_process=2, batch_size=4))
    assert [doc.text for doc in two] == [doc.text for doc in one]
    for doc, twin in zip(two, one, strict=True):
        assert json.loads(answers(doc, task)) == approximately(answers(twin, task))


def test_update_learns_new_examples_and_only_those(task, docs, cfg):
    nlp = spacy.blank("en")
    component = nlp.add_pipe(f"textrank_{task}", config={"model": None, "pipeline": cfg})
    half, all_ = ([Example(doc, doc) for doc in own] for own in (docs[:10], docs))
    nlp.initialize(lambda: half)
    first = component.model
    losses = nlp.update(half, losses={})
    assert component.model is first
    assert 0 <= losses[f"textrank_{task}"] < 1
    nlp.update(all_[10:], losses=losses)
    assert len(component.model.labels) > len(first.labels)
    whole = load_pipeline(cfg).fit(docs)
    doc, twin = fresh(docs[:1])[0], fresh(docs[:1])[0]
    assert json.loads(answers(nlp(doc), task)) == approximately(answers(whole(twin), task))


def test_update_leaves_a_model_from_disk_alone(nlp, task, docs, tmp_path):
    nlp.to_disk(tmp_path / "nlp")
    again = spacy.load(tmp_path / "nlp")
    before = again.get_pipe(f"textrank_{task}").model
    assert again.update([Example(doc, doc) for doc in docs[:2]], losses={}) == {}
    assert again.get_pipe(f"textrank_{task}").model is before


def test_predicted_names_that_differ_from_gold_do_not_disturb_training(task, docs, cfg):
    nlp = spacy.blank("en")
    nlp.add_pipe(f"textrank_{task}", config={"model": None, "pipeline": cfg})
    tokenize = spacy.blank("en").make_doc
    examples = [Example(tokenize(doc.text), doc) for doc in docs]
    nlp.initialize(lambda: examples)
    assert len(nlp.get_pipe(f"textrank_{task}").model.labels) == len(
        load_pipeline(cfg).fit(docs).labels
    )


def test_the_shipped_model_judges_raw_text_after_saving_and_in_two_processes(task, tmp_path):
    nlp = spacy.load(model_path())
    nlp.add_pipe(f"textrank_{task}")
    (alone,) = [answers(doc, task) for doc in nlp.pipe([RAW[task]])]
    assert json.loads(alone)
    nlp.to_disk(tmp_path / "nlp")
    again = spacy.load(tmp_path / "nlp")
    found = list(again.pipe([RAW[task]] * 4, n_process=2, batch_size=2))
    assert all(json.loads(answers(doc, task)) == approximately(alone) for doc in found)
    direct = load_model(task)(spacy.load(model_path())(RAW[task]))
    assert json.loads(answers(direct, task)) == approximately(alone)


def approximately(text: str) -> object:
    """Plain values of any depth with their numbers to 1e-9."""
    return _near(json.loads(text))


def _near(value: object) -> object:
    if isinstance(value, float):
        return pytest.approx(value, abs=1e-9)
    if isinstance(value, list):
        return [_near(item) for item in value]
    if isinstance(value, dict):
        return {key: _near(item) for key, item in value.items()}
    return value
