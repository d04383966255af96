"""Gene and protein names, and word senses: candidates, answers, measures, faces."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, Span

from textrank.config import dump_pipeline, load_corpus, load_pipeline
from textrank.formats.research import Senseval
from textrank.model import Model
from textrank.representations.mentions import Mention, word_shape
from textrank.tasks.base import Scored, group_by_question
from textrank.tasks.senses import GeneProtein, WordSenses

ROOT = Path(__file__).parents[2]


@pytest.fixture
def doc() -> Doc:
    words = ["the", "p53", "gene", "and", "the", "p53", "protein", "and", "p53", "mRNA"]
    doc = Doc(spacy.blank("en").vocab, words=words, sent_starts=[True] + [False] * 9)
    marked = [
        (1, 2, "DNA"),
        (5, 6, "protein"),
        (8, 10, "RNA"),
        (2, 3, "cell_type"),
        (9, 10, "gene"),
    ]
    doc.spans["entities"] = [
        Span(doc, a, b, label=kind, span_id=f"e{i}") for i, (a, b, kind) in enumerate(marked)
    ]
    doc.user_data["document"] = "d"
    return doc


def test_two_answers_make_one_candidate_a_name(doc):
    found = GeneProtein().candidates(doc)
    assert [(c.spans[0].text, c.label) for c in found] == [("p53", 1), ("p53", -1), ("mRNA", None)]


def test_the_right_answer_is_not_on_the_span(doc):
    assert {c.label_key for c in GeneProtein().candidates(doc)} == {"DNA"}


def test_three_answers_make_three_candidates_a_name(doc):
    found = GeneProtein(answers=["protein", "DNA", "RNA"], also=()).candidates(doc)
    assert [c.label for c in found] == [-1, 1, -1, 1, -1, -1, -1, -1, 1]
    assert len({c.query for c in found}) == 3


@pytest.mark.parametrize("answers", [("protein", "DNA"), ("protein", "DNA", "RNA")])
def test_probabilities_sum_to_one_and_the_best_is_told(doc, answers, rng):
    task = GeneProtein(answers=answers)
    found = task.candidates(doc)
    task.annotate(doc, Scored(found, rng.normal(size=len(found))))
    for row in doc._.textrank_gene_protein:
        assert sum(row["probabilities"].values()) == pytest.approx(1)
        assert row["probability"] == max(row["probabilities"].values())
        assert doc.text[slice(*row["span"])] == row["name"]


def test_accuracy_counts_names_not_candidates(doc):
    task = GeneProtein(answers=["protein", "DNA", "RNA"], also=())
    found = task.candidates(doc)
    scores = np.array([-1.0, 2, -1, 1, 2, -1, -3, -2, -1])
    assert [q.is_correct(0.0) for q in group_by_question(Scored(found, scores))] == [
        True,
        False,
        True,
    ]
    assert task.measures(Scored(found, scores, 0.0))["accuracy"] == pytest.approx(2 / 3)


def test_a_doc_without_names_is_told_so():
    with pytest.raises(ValueError, match="no span group 'entities'"):
        GeneProtein().candidates(spacy.blank("en")("p53 is here."))


def test_answers_must_differ():
    with pytest.raises(ValueError, match="at least two different"):
        GeneProtein(answers=["DNA", "DNA"])


def test_mention_tells_the_name_and_nothing_around_it(doc):
    task = GeneProtein()
    F = Mention()(task.candidates(doc))
    first, second = (set(F.values[[i]].indices) for i in (0, 1))
    assert first == second
    assert ("whole", "p53") in list(F.names)
    assert ("letters", "<p5") in list(F.names)


def test_shapes_run_together():
    assert word_shape("IL-2Ralpha") == "A-0Aa"


@pytest.fixture(scope="module")
def sample() -> list[Doc]:
    return list(load_corpus(ROOT / "corpora" / "sample-gene-protein")(spacy.blank("en")))[:14]


def test_trained_model_scores_equally_after_disk_and_explains(sample, tmp_path):
    pipeline = load_pipeline("gene_protein", {"kernel.kernel.weights.mention": 4.0})
    model = pipeline.fit(sample)
    model.to_disk(tmp_path / "m")
    again = Model.from_disk(tmp_path / "m")
    candidates = pipeline.task.candidates(sample[0])
    np.testing.assert_array_equal(model.score(candidates), again.score(candidates))
    parts = again.explain(candidates[0])
    assert sum(v for _, v in parts) == pytest.approx(again.score(candidates[:1])[0], abs=1e-9)


def test_context_only_scores_do_not_know_the_name(sample):
    model = load_pipeline("gene_protein").fit(sample)
    nlp = spacy.blank("en")
    docs = []
    for name in ("ABC1", "XYZ2"):
        doc = nlp(f"Transcription of the {name} gene was low.")
        doc.spans["entities"] = [doc.char_span(21, 25, label="gene")]
        docs.append(doc)
    scores = [model.score(model.pipeline.task.candidates(doc))[0] for doc in docs]
    assert scores[0] == scores[1]


@pytest.mark.parametrize("name", ["gene_protein", "spelling", "wsd"])
def test_shipped_settings_survive_being_written(name, tmp_path):
    pipeline = load_pipeline(name)
    (tmp_path / "p.cfg").write_text(dump_pipeline(pipeline))
    assert load_pipeline(tmp_path / "p.cfg") == pipeline


SENSEVAL = """<corpus lang="en"><lexelt item="line-n">
<instance id="a1"><answer instance="a1" senseid="cord"/><context>
<s> <wf pos="DT">the</wf> <head> <wf pos="NN">line</wf></head> <wf pos="VBD">broke</wf> </s>
</context></instance>
<instance id="a2"><answer instance="a2" senseid="phone"/><context>
 <wf pos="DT">her</wf> <wf pos="NN">phone</wf> <head> <wf pos="NN">lines</wf></head>
</context></instance></lexelt></corpus>"""


def test_senseval_instances_become_docs_with_one_marked_word(tmp_path):
    (tmp_path / "line.pos").write_text(SENSEVAL)
    for path in (tmp_path, tmp_path / "line.pos"):
        docs = list(Senseval(str(path))(spacy.blank("en")))
        spans = [doc.spans["entities"][0] for doc in docs]
        assert [(s.text, s.label_, s.kb_id_) for s in spans] == [
            ("line", "cord", "line"),
            ("lines", "phone", "line"),
        ]
        assert [doc.user_data["document"] for doc in docs] == ["a1", "a2"]


@pytest.mark.parametrize("text", ["", "<corpus>", "<corpus></corpus>", "no XML", "\x00"])
def test_senseval_tells_what_is_wrong(tmp_path, text):
    (tmp_path / "x.pos").write_text(text)
    with pytest.raises(ValueError, match=r"x\.pos"):
        list(Senseval(str(tmp_path / "x.pos"))(spacy.blank("en")))


def test_entities_in_senseval_are_not_expanded(tmp_path):
    bomb = '<!DOCTYPE a [<!ENTITY b "cccc">]>' + SENSEVAL.replace("broke", "&b;")
    (tmp_path / "x.pos").write_text(bomb)
    with pytest.raises(ValueError, match="not readable as XML"):
        list(Senseval(str(tmp_path / "x.pos"))(spacy.blank("en")))


def test_senses_are_asked_for_each_word(tmp_path):
    (tmp_path / "line.pos").write_text(SENSEVAL)
    docs = list(Senseval(str(tmp_path))(spacy.blank("en")))
    task = WordSenses({"line": ["cord", "phone", "text"]})
    found = [c for doc in docs for c in task.candidates(doc)]
    assert [c.label for c in found] == [1, -1, -1, -1, 1, -1]
    assert found[0].label_key == "line: cord"
    task.annotate(docs[0], Scored(found[:3], np.array([2.0, -1, -1])))
    assert docs[0]._.textrank_wsd[0]["sense"] == "cord"
    assert WordSenses({"hard": ["a", "b"]}).unreachable(docs[0], []) == 1


def test_unmarked_words_with_known_senses_are_found():
    found = WordSenses({"line": ["cord", "text"]}).candidates(spacy.blank("en")("A line, a Line."))
    assert [c.spans[0].text for c in found] == ["line", "Line"]
    assert {c.label for c in found} == {None}
