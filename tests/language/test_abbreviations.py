"""Abbreviations that a text defines, and lists written in short."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import spacy
import srsly

from textrank.language.abbreviations import find_abbreviations
from textrank.language.load import load_nlp
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
        ("the proton pump inhibitors (PPIs)", [("PPIs", "proton pump inhibitors")]),
        ("under the total areas under the curve (AUCs)", [("AUCs", "areas under the curve")]),
        ("and colon cancer (CC)", [("CC", "colon cancer")]),
        ("mono/mitogen-activated kinase (MAK)", [("MAK", "mitogen-activated kinase")]),
        ('called "triple negative" (TN)', [("TN", "triple negative")]),
        ("status (human leukocyte antigen [HLA])", [("HLA", "human leukocyte antigen")]),
        ("is involved in copper(II) binding", []),
        ("chain reaction-specific primer(CRSP)", [("CRSP", "chain reaction-specific primer")]),
        ("between the first and the last (third)", []),
        ("transporter, SO1, was in the S. oneidensis (T-SO1)", []),
        ("resist A (both H-2a), as well as BALB/c (H-2c)", []),
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


@pytest.mark.corpus
@pytest.mark.parametrize(("part", "least"), [("first", 0.945), ("second", 0.925)])
def test_pairs_of_abstracts_annotated_by_hand(part, least, data):
    """F of pairs with exact boundaries on 100 abstracts each; the rules were written on the first.

    The file has offsets only: [short start, short end, long start, long end].
    """
    annotation = json.loads((Path(__file__).parent / "abbreviation_pairs.json").read_text("utf-8"))
    rows = srsly.read_gzip_jsonl(data / annotation["files"][part])
    texts = {row["id"]: row["text"] for row in rows}
    nlp = load_nlp(only=[])
    n_gold = n_found = n_right = 0
    for document in annotation[part]:
        gold = {tuple(pair) for pair in document["pairs"]}
        doc = nlp(texts[document["id"]])
        found = {
            (short.start_char, short.end_char, long.start_char, long.end_char)
            for short, long in find_abbreviations(doc)
        }
        n_gold, n_found = n_gold + len(gold), n_found + len(found)
        n_right += len(gold & found)
    assert 2 * n_right / (n_gold + n_found) >= least, (n_right, n_found, n_gold)
