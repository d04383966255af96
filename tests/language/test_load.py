"""The shipped pipeline: loads, runs in parts, survives every way of being stored or sent."""

from __future__ import annotations

import json

import pytest
import spacy
from spacy import displacy
from spacy.tokens import DocBin, Span

from textrank.language import load_nlp, model_path
from textrank.language.load import resolve_components

TEXT = (
    "IL-2-mediated activation of NF-kappa B requires p65.\n"
    "We show that BRCA1 interacts with BARD1. Mutations were found in three patients."
)


@pytest.fixture(scope="module")
def nlp():
    return load_nlp()


def facts(doc):
    words = [(t.text, t.tag_, t.pos_, t.dep_, t.head.i, t.lemma_, str(t.morph)) for t in doc]
    entities = [(s.start, s.end, s.label_, s.id_) for s in doc.spans["entities"]]
    return words, entities, [(e.start, e.end, e.label_) for e in doc.ents]


def test_a_text_gets_every_annotation(nlp):
    doc = nlp(TEXT)
    assert len(list(doc.sents)) == 3
    root = next(t for t in doc if t.text == "interacts")
    assert (root.tag_, root.pos_, root.lemma_) == ("VBZ", "VERB", "interact")
    assert {c.dep_ for c in root.children} >= {"nsubj", "prep"}
    lemmas = [t.lemma_ for t in doc if t.text in ("Mutations", "were", "patients")]
    assert lemmas == ["mutation", "be", "patient"]
    assert {"IL-2", "NF-kappa B", "p65", "BRCA1"} <= {s.text for s in doc.spans["entities"]}
    assert {"IL-2", "NF-kappa B", "p65", "BRCA1", "BARD1"} <= {e.text for e in doc.ents}
    assert {e.label_ for e in doc.ents} <= {
        "GENE",
        "FAMILY",
        "DNA",
        "RNA",
        "cell_type",
        "cell_line",
    }
    assert "three patients" in [chunk.text for chunk in doc.noun_chunks]


def test_names_of_a_doc_that_has_some_are_kept(nlp):
    doc = nlp.make_doc("BRCA1 interacts with BARD1.")
    doc.spans["entities"] = [Span(doc, 3, 4, label="protein", span_id="T1")]
    assert [s.id_ for s in nlp(doc).spans["entities"]] == ["T1"]


def test_spacy_loads_it_by_its_path():
    assert facts(spacy.load(model_path())(TEXT)) == facts(load_nlp("en_textrank_bio")(TEXT))


@pytest.mark.parametrize(
    ("only", "run"),
    [
        (["parser"], ["sentences", "tok2vec", "parser"]),
        (["kinds"], ["sentences", "names_tok2vec", "kinds"]),
        (["genes"], ["sentences", "names_tok2vec", "genes"]),
        (["proteins"], ["sentences", "names_tok2vec", "proteins"]),
        (["morphology"], ["sentences", "tok2vec", "tagger", "parser", "morphology"]),
        ([], ["sentences"]),
    ],
)
def test_only_what_is_needed_runs(only, run):
    assert load_nlp(only=only).pipe_names == run


def test_narrow_names_are_for_those_who_ask(nlp):
    text = "The p21 gene is induced by the p53 protein."
    assert "proteins" not in nlp(text).spans
    doc = load_nlp(only=["genes", "proteins"])(text)
    assert [span.text for span in doc.spans["entities"]] == ["p21 gene", "p53 protein"]
    assert [(s.text, s.label_) for s in doc.spans["proteins"]] == [
        ("p21", "PROTEIN"),
        ("p53", "PROTEIN"),
    ]


def test_components_are_listed_once(nlp):
    for requested in (["sentences"], ["tagger", "tagger"], ["genes"], ["identifiers"]):
        components = resolve_components(nlp, requested)
        assert len(components) == len(set(components))
        assert {"sentences", *requested} <= set(components)


def test_an_unknown_component_is_named_with_the_known_ones():
    with pytest.raises(ValueError, match=r"no component 'nes'.*parser"):
        load_nlp(only=["nes"])


def test_an_unknown_pipeline_is_named():
    with pytest.raises(ValueError, match=r"no spaCy pipeline 'en_none'.*shipped"):
        load_nlp("en_none")


def test_any_other_pipeline_loads_by_its_path(tmp_path):
    other = spacy.blank("en")
    other.add_pipe("sentencizer")
    other.to_disk(tmp_path / "other")
    assert load_nlp(tmp_path / "other", only=["sentencizer"]).pipe_names == ["sentencizer"]


def test_to_disk_and_back_gives_the_same(nlp, tmp_path):
    nlp.to_disk(tmp_path / "model")
    assert facts(spacy.load(tmp_path / "model")(TEXT)) == facts(nlp(TEXT))


def test_to_bytes_and_back_gives_the_same(nlp):
    other = load_nlp().from_bytes(nlp.to_bytes())
    assert facts(other(TEXT)) == facts(nlp(TEXT))


def test_docbin_keeps_everything(nlp):
    doc = nlp(TEXT)
    attributes = ["ORTH", "SPACY", "TAG", "POS", "MORPH", "LEMMA", "HEAD", "DEP", "SENT_START",
                  "ENT_IOB", "ENT_TYPE"]  # fmt: skip
    stored = DocBin(attrs=attributes, docs=[doc]).to_bytes()
    (back,) = DocBin().from_bytes(stored).get_docs(nlp.vocab)
    assert facts(back) == facts(doc)


def test_two_processes_give_what_one_gives(nlp):
    texts = [TEXT, "", "p53 binds DNA."] * 4
    one = [facts(doc) for doc in nlp.pipe(texts)]
    assert [facts(doc) for doc in nlp.pipe(texts, n_process=2, batch_size=3)] == one


def test_displacy_draws_it(nlp):
    doc = nlp(TEXT)
    assert "nsubj" in displacy.render(doc, style="dep", jupyter=False)
    assert "GENE" in displacy.render(doc, style="ent", jupyter=False)


@pytest.mark.parametrize(
    "text",
    [
        "", "a", ".", " ", "\n\n", "\x00\x01\x07", "\u200b\ufeff",
        "\U0001f600 \U0001f468\u200d\U0001f469 x",
        "これは日本語です。", "Это русский текст.", "نص عربي", "(((((", "-" * 300, "A" * 5000,
        "e\u0301" * 20, "\ud800",
    ],
)  # fmt: skip
def test_odd_text_gets_a_doc(nlp, text):
    doc = nlp(text)
    assert len(doc.text) == len(text)
    assert all(token.dep_ for token in doc)


def test_a_text_over_the_limit_is_refused_with_both_lengths():
    nlp = load_nlp(only=[], max_length=100)
    with pytest.raises(ValueError, match=r"101.*100"):
        nlp("a" * 101)


def test_the_card_names_data_licence_and_versions():
    meta = json.loads((model_path() / "meta.json").read_text())
    licences = {s["name"].split()[0].strip(","): s["license"] for s in meta["sources"]}
    assert set(licences) >= {"CRAFT", "GENIA", "JNLPBA", "BC2GM", "NLM-Gene", "GNormPlus", "BioRED"}
    assert not any("NC" in licence or "SA" in licence for licence in licences.values())
    assert {"spacy", "thinc"} <= set(meta["versions"])


def test_it_is_at_most_26_mb():
    size = sum(path.stat().st_size for path in model_path().rglob("*") if path.is_file())
    assert size <= 26e6
