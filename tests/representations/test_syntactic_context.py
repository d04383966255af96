"""What stands beside a name, read the same whether or not it was taken into the name."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, Span

from textrank import candidates as document_candidates
from textrank import load_model
from textrank.candidates import Candidate
from textrank.representations.mentions import (
    Mention,
    NameCore,
    SharedRepresentation,
    SyntacticContext,
    _Text,
    find_core,
)


@pytest.fixture(scope="module")
def nlp():
    made = spacy.blank("en")
    made.add_pipe("sentencizer")
    return made


def candidate(doc: Doc, words: str, *others: str) -> Candidate:
    spans = [span_of(doc, name) for name in (words, *others)]
    doc.spans["entities"] = spans
    return Candidate(doc, (spans[0],), "d")


def span_of(doc: Doc, words: str) -> Span:
    start = doc.text.index(words)
    span = doc.char_span(start, start + len(words))
    assert span is not None
    return span


def features(one: Candidate) -> set[tuple[str, ...]]:
    found = NameCore(SyntacticContext())([one])
    return {found.names[int(column)] for column in found.values.indices}


@pytest.mark.parametrize(
    ("text", "name", "others", "feature"),
    [
        (
            "Loss of exon 3 of the human MYB gene occurs.",
            "MYB",
            (),
            ("hangs on", "first", "exon"),
        ),
        ("Skipping of exon 3 of MYB occurs.", "MYB", (), ("hangs on", "second", "skip")),
        ("The MYB and JUN loci differ.", "MYB", ("JUN",), ("after", "some", "loci")),
        ("MYB (also MAC) transcripts rose.", "MYB", (), ("after", "first", "transcript")),
        ("Purified MYB was added.", "MYB", (), ("before", "first", "purifi")),
        ("MYB is a nuclear receptor.", "MYB", (), ("is", "a", "receptor")),
        ("MYB, a kinase, rose.", "MYB", (), ("is", "a", "kinas")),
        ("Messages to JUN and MYB rose.", "MYB", ("JUN",), ("hangs on", "first", "to", "messag")),
    ],
)
def test_reads_what_a_name_hangs_on(nlp, text, name, others, feature) -> None:
    assert feature in features(candidate(nlp(text), name, *others))


@pytest.mark.parametrize("taken", ["MYB", "MYB gene", "MYB gene promoter"])
def test_a_word_taken_into_the_name_counts_as_beside_it(nlp, taken: str) -> None:
    text = "Methylation of the MYB gene promoter was found."
    assert features(candidate(nlp(text), taken)) == features(candidate(nlp(text), "MYB"))


def test_a_name_of_nothing_but_kinds_stays_whole(nlp) -> None:
    doc = nlp("The messenger RNA was found.")
    assert find_core(doc[1:3]) == (1, 3)


def test_sentences_bound_what_is_read(nlp) -> None:
    found = features(candidate(nlp("A gene of mice. MYB rose. The gene was lost."), "MYB"))
    assert not [name for name in found if name[-1] in ("gene", "mice", "lost")]


def test_once_is_what_each_would_be(nlp) -> None:
    doc = nlp("MYB binds JUN and MYB.")
    spans = [doc[0:1], doc[2:3], doc[0:1], doc[4:5]]
    many = [Candidate(doc, (span,), "d") for span in spans]
    plain, once = Mention()(many), SharedRepresentation(Mention())(many)
    assert np.array_equal(plain.values.toarray(), once.values.toarray())
    assert list(plain.names) == list(once.names)


class Counted(list[str]):
    """Words that count how often one is looked at."""

    looks = 0

    def __getitem__(self, at):  # type: ignore[no-untyped-def]
        Counted.looks += 1
        return super().__getitem__(at)


def looks(names: int) -> int:
    """How many words are looked at for all names of a list without end."""
    words = [word for n in range(names) for word in (f"GRB{n}", "and")]
    doc = Doc(spacy.blank("en").vocab, words=words, sent_starts=[True] + [False] * (len(words) - 1))
    doc.spans["entities"] = [Span(doc, at, at + 1) for at in range(0, len(words), 2)]
    text = _Text.from_doc(doc, "entities")
    text = replace(text, words=Counted(text.words))
    Counted.looks = 0
    for at in range(0, len(words), 2):
        assert ("after", "first", "and") in list(text.features(at, at + 1))
    return Counted.looks


def test_the_names_of_a_long_list_look_at_it_once_not_each() -> None:
    assert looks(800) < 4.5 * looks(200)


def test_a_text_is_read_once_per_chunk_and_scores_do_not_depend_on_chunks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    doc = spacy.blank("en")("IL-2 binds IL-4 and p53 binds MDM2.")
    for token in doc:
        token.is_sent_start = token.i == 0
    doc.spans["entities"] = [span_of(doc, name) for name in ("IL-2", "IL-4", "p53", "MDM2")]
    model = load_model("gene_protein")
    candidates = model.pipeline.task.candidates(doc)
    n_reads = 0
    from_doc = _Text.from_doc

    def counting_from_doc(doc: Doc, entities: str) -> _Text:
        nonlocal n_reads
        n_reads += 1
        return from_doc(doc, entities)

    monkeypatch.setattr(_Text, "from_doc", counting_from_doc)
    scores = model.score(candidates)
    assert n_reads == 1
    monkeypatch.setattr(document_candidates, "MAX_CHUNK_WORDS", 1)
    np.testing.assert_allclose(model.score(candidates), scores, atol=1e-12)
    assert n_reads == 1 + len(candidates)
