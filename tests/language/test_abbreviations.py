"""Abbreviations that a text defines, and lists written in short."""

from __future__ import annotations

import pytest
import spacy

from textrank.language.abbreviations import find_abbreviations
from textrank.language.segmentation import BioTokenizer
from textrank.tasks.identifiers.names import expand_list

TOKENIZE = BioTokenizer(spacy.blank("en").vocab)


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("transarterial chemoembolization (TACE)", [("TACE", "transarterial chemoembolization")]),
        ("the heat-shock protein 90 (Hsp90)", [("Hsp90", "heat-shock protein 90")]),
        ("tumor necrosis factor-α (TNF-α)", [("TNF-α", "tumor necrosis factor-α")]),
        ("IL-2 (interleukin-2) rose", [("IL-2", "interleukin-2")]),
        ("TNF-alpha converting enzyme (TACE; ADAM17)", [("TACE", "TNF-alpha converting enzyme")]),
        ("nuclear\nfactor\n kappa B (<i>NF-kB</i>)", [("NF-kB", "nuclear\nfactor\n kappa B")]),
        ("in mice (n = 3) and rats (see Fig. 1)", []),
        ("p53 (MDM2)", []),
        ("(TNF)", []),
    ],
)
def test_pairs(text, pairs):
    assert [(a.text, b.text) for a, b in find_abbreviations(TOKENIZE(text))] == pairs


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("ERK1/2", ["ERK1", "ERK2"]),
        ("BRCA1/2", ["BRCA1", "BRCA2"]),
        ("STAT1 and -3", ["STAT1", "STAT3"]),
        ("IL-4, -5, and -13", ["IL-4", "IL-5", "IL-13"]),
        ("caspase-3/7", ["caspase-3", "caspase-7"]),
        ("PKC alpha/beta", ["PKC alpha", "PKC beta"]),
        ("IL-1alpha/beta", ["IL-1alpha", "IL-1beta"]),
        ("TCF-4J and K", ["TCF-4J", "TCF-4K"]),
        ("HLA-A, -B and -C", ["HLA-A", "HLA-B", "HLA-C"]),
        ("MEK1/MEK2", ["MEK1", "MEK2"]),
        ("signal transducer and activator of transcription 1", []),
        ("NF-kappa B", []),
    ],
)
def test_lists_are_taken_apart(text, parts):
    assert expand_list(text) == parts
