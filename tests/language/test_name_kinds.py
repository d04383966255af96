"""Gene names with their kinds, boundaries and probabilities."""

from __future__ import annotations

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, Span

from textrank.language.load import load_nlp
from textrank.language.name_kinds import KINDS, KindRecognizer, repair_boundaries, score_range
from textrank.language.ner import WordSpans, compute_marginals, legal_transitions
from textrank.language.segmentation import BioTokenizer
from textrank.tasks.ppi.task import PPI

TOKENIZE = BioTokenizer(spacy.blank("en").vocab)


@pytest.fixture(scope="module")
def nlp():
    return load_nlp(only=["kinds"])


def names(doc: Doc) -> list[tuple[str, str]]:
    """Text and label of the names of a Doc."""
    return [(span.text, span.label_) for span in doc.spans["entities"]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The SH2 domain of GRB2 was purified.", [("SH2 domain", "DOMAIN"), ("GRB2", "GENE")]),
        (
            "The receptor activator of NF-kappaB ligand (RANKL) binds RANK.",
            [
                ("receptor activator of NF-kappaB ligand", "GENE"),
                ("RANKL", "GENE"),
                ("RANK", "GENE"),
            ],
        ),
        ("Caspase-8 cleaves BID.", [("Caspase-8", "GENE"), ("BID", "GENE")]),
        ("p38 activates MK2.", [("p38", "GENE"), ("MK2", "GENE")]),
        ("Recombinant p53 binds human MDM2 protein.", [("p53", "GENE"), ("MDM2", "GENE")]),
        ("The R213Stop mutation abolished p53 binding.", [("p53", "GENE")]),
        (
            "Cells were treated with aspirin (10 nM) and TNF-alpha (5 ng/ml).",
            [("TNF-alpha", "GENE")],
        ),
        (
            "Interleukin-1 receptor, type I, binds IL-1beta.",
            [("Interleukin-1 receptor, type I", "GENE"), ("IL-1beta", "GENE")],
        ),
        (
            "Mutant huntingtin protein binds human HAP1.",
            [("huntingtin", "GENE"), ("HAP1", "GENE")],
        ),
        (
            "TNF-related apoptosis-inducing ligand (TRAIL) binds death receptor 5 (DR5).",
            [
                ("TNF-related apoptosis-inducing ligand", "GENE"),
                ("TRAIL", "GENE"),
                ("death receptor 5", "GENE"),
                ("DR5", "GENE"),
            ],
        ),
        ("Antisense (AS) oligonucleotides reduced BCL2.", [("BCL2", "GENE")]),
    ],
)
def test_names_have_kinds_and_whole_boundaries(nlp, text, expected):
    assert names(nlp(text)) == expected


def test_a_receptor_protein_is_not_a_name_and_brackets_do_not_cut_names(nlp):
    doc, other = nlp("The receptor protein binds SHC."), nlp("The inhibitor p27(Kip1) binds CDK2.")
    assert [name for name, _ in names(doc)] == ["SHC"]
    assert names(other)[0][0].endswith("p27(Kip1)")


@pytest.mark.parametrize(
    ("text", "given", "expected"),
    [
        ("the p27(Kip1) protein", ["p27", "Kip1"], ["p27(Kip1)"]),
        ("the inhibitor p27 (Kip1) is", ["p27", "Kip1"], ["p27", "Kip1"]),
        ("CD44(hi) cells", ["CD44"], ["CD44"]),
        ("the TGF receptor, type II, is", ["TGF receptor"], ["TGF receptor, type II"]),
        ("of laminin 1, type IV collagen", ["laminin 1"], ["laminin 1"]),
        ("the kinases and Ras", ["kinases", "Ras"], ["Ras"]),
        ("protein kinase A", ["protein kinase A"], ["protein kinase A"]),
    ],
)
def test_boundaries_are_repaired(text, given, expected):
    doc = TOKENIZE(text)
    spans = [doc.char_span(text.index(name), text.index(name) + len(name)) for name in given]
    repaired = repair_boundaries(doc, WordSpans(doc), [(s.start, s.end) for s in spans])
    assert [doc[start:end].text for start, end in repaired] == expected


def test_probabilities_belong_to_ranges_and_survive_serialisation(nlp):
    doc = nlp("The SH2 domain of GRB2 was purified.")
    for span in doc.spans["entities"]:
        kinds = span._.textrank_kinds
        assert set(kinds) == {"O", *KINDS}
        assert sum(kinds.values()) == pytest.approx(1)
        assert span._.textrank_probability == kinds[span.label_]
        assert max(KINDS, key=kinds.__getitem__) == span.label_
    again = Doc(doc.vocab).from_bytes(doc.to_bytes())
    span = again.spans["entities"][0]
    assert span._.textrank_kinds == doc.spans["entities"][0]._.textrank_kinds
    assert Span(doc, 0, 1, "GENE")._.textrank_probability is None


def test_names_that_a_doc_has_are_kept(nlp):
    doc = nlp.make_doc("BRCA1 interacts with BARD1.")
    doc.spans["entities"] = [Span(doc, 3, 4, label="protein", span_id="T1")]
    span = nlp(doc).spans["entities"][0]
    assert (span.id_, span._.textrank_kinds) == ("T1", None)


def test_a_name_has_one_kind_in_a_text(nlp):
    doc = nlp("Protein kinase C (PKC) was seen. PKC binds MARCKS, and the PKC family is large.")
    labels = {span.label_ for span in doc.spans["entities"] if "MARCKS" not in span.text}
    assert len(labels) == 1


@pytest.mark.parametrize("text", ["", " ", "\n\n", "...", "We saw it."])
def test_texts_without_names_have_an_empty_group(nlp, text):
    assert list(nlp(text).spans["entities"]) == []


@pytest.mark.parametrize(
    ("words", "domain", "owner"),
    [
        ("The SH2 domain of human GRB2 binds SOS1", (1, 3), "GRB2"),
        ("The GRB2 SH2 domain binds SOS1", (2, 4), "GRB2"),
        ("The GRB2 C-terminal SH3 domain binds SOS1", (3, 5), "GRB2"),
        ("The SH2 domain binds GRB2", (1, 3), None),
        ("GRB2 binds an SH2 domain", (3, 5), None),
    ],
)
def test_a_domain_belongs_to_a_protein(words, domain, owner):
    doc = Doc(spacy.blank("en").vocab, words=words.split())
    genes = [Span(doc, t.i, t.i + 1, "GENE") for t in doc if t.text in ("GRB2", "SOS1")]
    doc.spans["entities"] = [*genes, Span(doc, *domain, "DOMAIN")]
    part_of = doc.spans["entities"][-1]._.textrank_part_of
    assert (part_of and part_of.text) == owner
    assert all(gene._.textrank_part_of is None for gene in genes)


def test_domains_do_not_interact():
    doc = TOKENIZE("SH2 binds GRB2 and SOS1")
    doc.spans["entities"] = [
        Span(doc, 0, 1, "DOMAIN", span_id="a"),
        Span(doc, 2, 3, "FAMILY", span_id="b"),
        Span(doc, 4, 5, "GENE", span_id="c"),
    ]
    for token in doc:
        token.is_sent_start = token.i == 0
    assert [span.id_ for span in PPI().names(doc)] == ["b", "c"]


@pytest.mark.parametrize("length", [1, 2, 3, 5])
def test_a_score_of_a_range_is_that_of_its_tag_sequence(length):
    """With O on both sides, scores differ by the log odds of the CRF's tag sequences."""
    rng = np.random.default_rng(0)
    legal = legal_transitions(2)
    transitions = np.where(legal, rng.normal(size=legal.shape), -np.inf)
    n = length + 2
    scores = rng.normal(size=(n, 9))
    values = score_range(scores, transitions, 1, length + 1)
    totals = []
    for first in (None, 0, 4):
        name = (
            [0] * length if first is None else [first + 1, *[first + 2] * (length - 2), first + 3]
        )
        if first is not None and length == 1:
            name = [first + 4]
        allowed = np.eye(9, dtype=bool)[[0, *name, 0]]
        totals.append(compute_marginals(scores, transitions, [n], allowed).log_partition)
    np.testing.assert_allclose(np.diff(values), np.diff(totals), atol=1e-6)


def test_a_temperature_must_be_positive(nlp):
    with pytest.raises(ValueError, match="temperature must be above 0, got 0"):
        KindRecognizer(nlp.vocab, nlp.get_pipe("kinds").model, "k", scorer=None, temperature=0)
