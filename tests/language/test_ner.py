"""Recognizers of names: they learn, keep what is there, and come back from disk the same."""

from __future__ import annotations

import pytest
import spacy
from spacy.tokens import Doc, Span
from spacy.training import Example
from workshop.networks import Settings, add_names, blank_nlp

from textrank.language.ner import _gold_tags

WORDS = ["the", "IL", "-", "2", "gene", "binds", "p53", "in", "T", "cells", "."]
NAMES = [("IL - 2 gene", 1, 5, "DNA"), ("p53", 6, 7, "protein"), ("T cells", 8, 10, "cell_type")]
SMALL = Settings(width=32, depth=1, rows=200, vectors=8)


def named(vocab, words=WORDS, names=NAMES):
    doc = Doc(vocab, words=words)
    doc.ents = [Span(doc, start, end, label=label) for _, start, end, label in names]
    return doc


def texts(spans):
    return [(span.text, span.start, span.end, span.label_) for span in spans]


@pytest.fixture(scope="module")
def nlp():
    """A pipeline that has learned one sentence, and that "Smad4" is a protein."""
    nlp = blank_nlp()
    add_names(nlp, SMALL)
    gold = [named(nlp.vocab), named(nlp.vocab, ["Smad4", "rises"], [("Smad4", 0, 1, "protein")])]
    examples = [Example(Doc(nlp.vocab, words=[t.text for t in doc]), doc) for doc in gold]
    spacy.util.fix_random_seed(0)
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 0.01
    losses = [nlp.update(examples, sgd=optimizer, losses={}) for _ in range(60)]
    for component in ("genes", "ner"):
        assert losses[-1][component] < 0.1 * losses[0][component]
    return nlp


def test_names_that_were_learned_are_found(nlp):
    doc = nlp(Doc(nlp.vocab, words=WORDS))
    assert texts(doc.ents) == NAMES
    assert texts(doc.spans["entities"]) == NAMES
    assert [span.id_ for span in doc.spans["entities"]] == ["e0", "e1", "e2"]
    assert doc.has_annotation("ENT_IOB")


def test_the_labels_are_those_of_the_examples(nlp):
    assert nlp.get_pipe("ner").labels == ("DNA", "cell_type", "protein")


def test_entities_of_a_doc_are_kept_and_only_others_added(nlp):
    doc = Doc(nlp.vocab, words=WORDS)
    doc.set_ents([Span(doc, 3, 5, label="mine")], default="missing")
    assert [name[1:] for name in texts(nlp(doc).ents)] == [
        (3, 5, "mine"),
        (6, 7, "protein"),
        (8, 10, "cell_type"),
    ]


def test_words_barred_from_names_are_in_none(nlp):
    doc = Doc(nlp.vocab, words=WORDS)
    doc.set_ents([], blocked=[doc[6:7]], default="missing")
    assert [name[0] for name in texts(nlp(doc).ents)] == ["IL - 2 gene", "T cells"]


def test_stored_and_loaded_it_finds_the_same(nlp, tmp_path):
    words = [*WORDS, "Smad4", "and", "p65"] * 3
    nlp.to_disk(tmp_path / "names")
    expected = nlp(Doc(nlp.vocab, words=words))
    for other in (spacy.load(tmp_path / "names"), _from_bytes(nlp)):
        doc = other(Doc(other.vocab, words=words))
        assert texts(doc.ents) == texts(expected.ents)
        assert texts(doc.spans["entities"]) == texts(expected.spans["entities"])
        assert other.get_pipe("ner").labels == nlp.get_pipe("ner").labels


def _from_bytes(nlp):
    other = blank_nlp()
    add_names(other, SMALL)
    return other.from_bytes(nlp.to_bytes())


def test_batches_with_empty_texts_give_what_single_texts_give(nlp):
    docs = [Doc(nlp.vocab, words=words) for words in (WORDS, [], ["Smad4"], WORDS[:7], [])]
    single = [texts(nlp(doc.copy()).ents) for doc in docs]
    assert [texts(doc.ents) for doc in nlp.pipe(docs, batch_size=5)] == single


def test_scores_are_reported(nlp):
    gold = named(nlp.vocab)
    scores = nlp.evaluate([Example(Doc(nlp.vocab, words=WORDS), gold)])
    assert (scores["ents_f"], scores["genes_f"]) == (1, 1)


def test_gold_tags_follow_the_names_word_by_word():
    vocab = spacy.blank("en").vocab
    gold = named(vocab)
    same = Example(Doc(vocab, words=WORDS), gold)
    labels = ("DNA", "cell_type", "protein")
    assert _gold_tags(same, labels).tolist() == [0, 1, 2, 2, 3, 0, 12, 0, 5, 7, 0]
    gold.set_ents([gold[6:7]], outside=[gold[0:2]], default="missing")
    unknown = [0, 0, -1, -1, -1, -1, -1, -1, -1, -1, -1]
    assert _gold_tags(Example(Doc(vocab, words=WORDS), gold), labels).tolist() == unknown


def test_gold_tags_of_other_tokens_are_aligned():
    nlp = blank_nlp()
    gold = Doc(nlp.vocab, words=["IL-2", "gene", "on"], ents=["B-DNA", "I-DNA", "O"])
    example = Example(Doc(nlp.vocab, words=["IL", "-", "2", "gene", "on"]), gold)
    assert _gold_tags(example, ("DNA",)).tolist() == [1, 2, 2, 3, 0]


def test_examples_without_names_are_refused():
    nlp = blank_nlp()
    add_names(nlp, SMALL)
    example = Example(Doc(nlp.vocab, words=["a"]), Doc(nlp.vocab, words=["a"]))
    with pytest.raises(ValueError, match=r"'genes' has an entity in doc\.ents"):
        nlp.get_pipe("genes").initialize(lambda: [example], nlp=nlp)


def test_names_without_letters_or_digits_are_refused(nlp):
    """Whatever the network says: here that each word alone is a name."""
    genes = nlp.get_pipe("genes")
    scores = genes.model.layers[0].layers[-1].layers[0]
    kept = scores.get_param("b").copy()
    only = kept.copy()
    only[4] += 1000
    scores.set_param("b", only)
    with nlp.select_pipes(disable=["kinds"]):
        doc = nlp(Doc(nlp.vocab, words=["(", "14", "-", "...", "p53", "\n\n", ")"]))
    scores.set_param("b", kept)
    assert [span.text for span in doc.spans["entities"]] == ["14", "p53"]


def test_narrow_names_stand_in_a_group_of_their_own(nlp):
    doc = nlp(Doc(nlp.vocab, words=WORDS))
    assert texts(doc.spans["proteins"]) == [("IL - 2", 1, 4, "DNA"), *NAMES[1:]]
    given = Doc(nlp.vocab, words=WORDS)
    given.spans["proteins"] = [Span(given, 1, 4, "mine")]
    assert texts(nlp(given).spans["proteins"]) == [("IL - 2", 1, 4, "mine")]
    assert texts(given.spans["entities"]) == NAMES
