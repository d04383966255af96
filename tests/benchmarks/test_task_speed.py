"""What judging costs beside the language pipeline, which a user waits for anyway."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import spacy
from workshop.prepare import read_bc2gm_sentences

from tests.benchmarks.ratios import measure, table
from textrank.config import load_model
from textrank.language import load_nlp
from textrank.language.load import resolve_components

pytestmark = [pytest.mark.benchmark, pytest.mark.corpus]

TEXTS, MANY = 40, 200  # of about 250 words
SHORT = "We show that SHC binds GRB2 in cells. STAT1 activates JAK2 but not TYK2."
ASKING = "We show that SHC is larger than GRB2 and its gene. STAT1 activates JAK2 but not TYK2."
LANGUAGE = "language pipeline"


@pytest.fixture(scope="module")
def many(data) -> list[str]:
    sentences = [" ".join(words) for words, _ in read_bc2gm_sentences(data, "train")]
    return [" ".join(sentences[i : i + 9]) for i in range(0, 9 * MANY, 9)]


@pytest.fixture(scope="module")
def texts(many) -> list[str]:
    return many[:TEXTS]


@pytest.fixture(scope="module")
def nlp():
    return load_nlp()


@pytest.mark.parametrize(
    ("name", "bar"), [("ppi", 0.5), ("gene_protein", 0.3), ("parse_ranking", 6.0)]
)
def test_many_texts(texts, nlp, name, bar):
    model = load_model(name)
    docs = list(nlp.pipe(texts))
    list(model.pipe(doc.copy() for doc in docs[:2]))  # which prepares the model
    seconds = measure(
        {
            LANGUAGE: lambda: list(nlp.pipe(texts)),
            name: lambda: list(model.pipe(doc.copy() for doc in docs)),
        },
        3,
    )
    table(f"{TEXTS} texts of 250 words", seconds, LANGUAGE, {name: bar})


@pytest.mark.parametrize(
    ("name", "bar"), [("ppi", 1.0), ("gene_protein", 1.0), ("parse_ranking", 8.0)]
)
def test_one_short_text(nlp, name, bar):
    model, doc = load_model(name), nlp(SHORT)
    model(doc.copy())
    seconds = measure({LANGUAGE: lambda: nlp(SHORT), name: lambda: model(doc.copy())}, 9)
    table("one text of two sentences, warm", seconds, LANGUAGE, {name: bar})


def test_spelling_of_many_texts(many, nlp):
    """Over the bare tokenizer, which is what judging words adds to."""
    model, blank = load_model("spelling"), spacy.blank("en").tokenizer
    with nlp.select_pipes(enable=resolve_components(nlp, [])):
        docs = list(nlp.pipe(many))
    list(model.pipe(docs[:20]))
    seconds = measure(
        {
            "tokenizer": lambda: [nlp.tokenizer(text) for text in many],
            "spaCy's tokenizer": lambda: [blank(text) for text in many],
            "spelling": lambda: list(model.pipe(docs)),
        },
        9,
    )
    table(f"{len(many)} texts of 250 words", seconds, "tokenizer", {"spelling": 1.0})


@pytest.mark.parametrize(("text", "reads"), [(SHORT, "words"), (ASKING, "all")])
def test_spelling_of_one_short_text(nlp, text, reads):
    """Over words and sentences where nothing is asked, else over what a user has run before."""
    model, times = load_model("spelling"), 50
    enable = resolve_components(nlp, []) if reads == "words" else nlp.component_names
    with nlp.select_pipes(enable=enable):
        doc = nlp(text)
        assert bool(model.pipeline.task.candidates(doc)) == (text == ASKING)
        model(doc)
        runs = {
            LANGUAGE: lambda: [nlp(text) for _ in range(times)],
            "spelling": lambda: [model(doc) for _ in range(times)],
        }
        seconds = measure(runs, 5)
    table(f"one text of two sentences, warm, after {reads}", seconds, LANGUAGE, {"spelling": 0.5})


def named(count: int) -> str:
    """A sentence of so many names."""
    pairs = [f"KIN{i} binds SUB{i}" for i in range(count // 2)]
    return f"We found that {', '.join(pairs)} in cells."


def test_many_names_in_one_sentence(nlp):
    model = load_model("ppi")
    docs = {count: _marked(nlp, count) for count in (16, 64)}
    model(docs[16].copy())
    runs = {f"{n} names": lambda d=doc: model(d.copy()) for n, doc in docs.items()}
    table("one sentence", measure(runs, 3), "16 names", {"64 names": 10.0})


def _marked(nlp, count):
    """The Doc with all its names, whether or not the recogniser knows them."""
    doc = nlp(named(count))
    spans = [doc[t.i : t.i + 1] for t in doc if t.text.startswith(("KIN", "SUB"))]
    assert len(spans) == count
    doc.spans["entities"] = spans
    return doc


def test_pairs_of_one_long_document_grow_with_it(nlp):
    """The exponent of growth from one to eight times the text."""
    model = load_model("ppi")
    part = "SHC binds GRB2 in cells. We did not see STAT1 with JAK2. Cells were kept for a day. "
    seconds = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for times in (100, 800):
            doc = nlp(part * times)
            seconds[times] = np.median(measure({"": lambda d=doc: model(d.copy())}, 3)[""])
    exponent = np.log(seconds[800] / seconds[100]) / np.log(8)
    print(f"\nppi, one document of 1 700 to 13 600 words: exponent {exponent:.2f}")
    assert exponent <= 1.1
