"""Parts of speech and lemmas from tags."""

from __future__ import annotations

import pytest
import spacy
from spacy.tokens import Doc

from textrank.language.morphology import PENN_TAGS, Morphology, build_tables

TABLES = build_tables(
    irregular={"noun": {"mice": ["mouse"]}, "verb": {"bound": ["bind"]}},
    base_forms={
        "noun": ["virus", "base", "axis"],
        "verb": ["activate", "bind", "grow", "induce", "blot"],
    },
    words=[("transfect", "VB"), ("transfect", "VBP"), ("once", "VB")],
    lemmas=[("their", "PRP$", "they")] * 3 + [("data", "NNS", "data")],
)


@pytest.mark.parametrize(
    ("word", "tag", "lemma"),
    [
        ("viruses", "NNS", "virus"), ("bases", "NNS", "base"), ("mice", "NNS", "mouse"),
        ("proteases", "NNS", "protease"), ("analyses", "NNS", "analysis"), ("virus", "NN", "virus"),
        ("studies", "NNS", "study"), ("bound", "VBN", "bind"), ("were", "VBD", "be"),
        ("transfected", "VBN", "transfect"), ("activating", "VBG", "activate"),
        ("blotted", "VBN", "blot"), ("phosphorylated", "VBN", "phosphorylate"),
        ("has", "VBZ", "have"), ("n't", "RB", "not"), ("their", "PRP$", "they"),
        ("CA", "NN", "ca"), ("London", "NNP", "London"),
    ],
)  # fmt: skip
def test_lemma(word, tag, lemma):
    assert Morphology(spacy.blank("en").vocab, TABLES).lemmatize(word, tag) == lemma


def test_only_lemmas_given_more_than_once_are_learned():
    assert TABLES["learned"] == {"their/PRP$": "they"}


def test_auxiliaries_and_subordinators_depend_on_their_place():
    vocab = spacy.blank("en").vocab
    doc = Doc(
        vocab,
        words=["since", "cells", "have", "grown", "they", "have", "nuclei"],
        tags=["IN", "NNS", "VBP", "VBN", "PRP", "VBP", "NNS"],
        heads=[3, 3, 3, 5, 5, 5, 5],
        deps=["mark", "nsubj", "aux", "advcl", "nsubj", "ROOT", "dobj"],
    )
    pos = [token.pos_ for token in Morphology(vocab, TABLES)(doc)]
    assert pos == ["SCONJ", "NOUN", "AUX", "VERB", "PRON", "VERB", "NOUN"]


def test_every_tag_has_a_part_of_speech_spacy_knows():
    vocab = spacy.blank("en").vocab
    tags = list(PENN_TAGS)
    doc = Morphology(vocab)(Doc(vocab, words=["x"] * len(tags), tags=tags))
    assert [token.pos_ for token in doc] == [pos for pos, _ in PENN_TAGS.values()]


def test_untagged_words_stay_without_part_of_speech():
    vocab = spacy.blank("en").vocab
    assert [t.pos_ for t in Morphology(vocab)(Doc(vocab, words=["x", "y"]))] == ["", ""]


def test_lemmas_outlive_a_memory_zone():
    """What is remembered of a word is told to spaCy again, which forgets with each zone."""
    nlp = spacy.blank("en")
    morphology = Morphology(nlp.vocab, TABLES)
    for _ in range(2):
        with nlp.memory_zone():
            doc = morphology(Doc(nlp.vocab, words=["frombulated"], tags=["VBN"]))
            assert doc[0].lemma_ == "frombulate"


def test_words_of_a_batch_are_what_they_are_in_texts_of_their_own():
    vocab = spacy.blank("en").vocab
    texts = [(["mice", "bound", "it"], ["NNS", "VBD", "PRP"]), ([], []),
             (["bound", "mice"], ["VBN", "NNS"])]  # fmt: skip
    both = [[Doc(vocab, words=words, tags=tags) for words, tags in texts] for _ in range(2)]
    morphology = Morphology(vocab, TABLES)
    together, alone = list(morphology.pipe(both[0], batch_size=2)), list(map(morphology, both[1]))
    columns = ["POS", "MORPH", "LEMMA"]
    for one, other in zip(together, alone, strict=True):
        assert one.to_array(columns).tolist() == other.to_array(columns).tolist()
    assert [token.lemma_ for token in together[2]] == ["bind", "mouse"]


def test_a_text_that_fails_does_not_take_its_batch_with_it(monkeypatch):
    morphology = Morphology(spacy.blank("en").vocab)
    docs = [Doc(morphology.vocab, words=[word], tags=["NNS"]) for word in ("genes", "bad", "cells")]
    row = morphology._compute_row

    def failing(orth, tag, dep):
        if morphology.vocab.strings[orth] == "bad":
            raise RuntimeError("bad word")
        return row(orth, tag, dep)

    monkeypatch.setattr(morphology, "_compute_row", failing)
    with pytest.raises(RuntimeError, match="bad word"):
        list(morphology.pipe(docs))
    told = []
    morphology.set_error_handler(lambda name, component, failed, error: told.extend(failed))
    assert [doc[0].lemma_ for doc in morphology.pipe(docs)] == ["gene", "cell"]
    assert told == [docs[1]]


@pytest.mark.parametrize(
    ("word", "tag", "lemma"),
    [
        ("pedigreeing", "VBG", "pedigree"),
        ("pedigreed", "VBN", "pedigree"),
        ("pedigrees", "VBZ", "pedigree"),
        ("singeing", "VBG", "singe"),
    ],
)
def test_unknown_verbs_keep_the_e_of_their_stem(word, tag, lemma):
    assert Morphology(spacy.blank("en").vocab).lemmatize(word, tag) == lemma
