"""Spellings of gene names that must, or must not, be the same."""

from __future__ import annotations

import pytest

from textrank.tasks.identifiers import names
from textrank.tasks.identifiers.names import (
    expand_list,
    generate_parts,
    generate_variants,
    make_key,
    split_words,
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("TNF-α", "TNF alpha"),
        ("TGFbeta1", "TGF-β1"),
        ("IFNgamma", "IFN-g"),
        ("betaB2-crystallin", "crystallin beta-B2"),
        ("collagen type VII", "type VII collagen"),
        ("catenin alpha", "alpha-catenin"),
        ("insulin receptor gene", "Insulin Receptor"),
        ("tumour necrosis factor", "tumor necrosis factor"),
        ("BMPs", "BMP"),
        ("DNA-PK", "DNAPK"),
    ],
)
def test_spellings_of_one_name(one: str, other: str) -> None:
    assert make_key(one) == make_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("IL-2", "IL-12"), ("Ras", "Ra"), ("IL-2 receptor", "IL-2"), ("Fos", "Fo"), ("DNA-PK", "PK")],
)
def test_different_names(one: str, other: str) -> None:
    assert make_key(one) != make_key(other)


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("FXII", "F12"),
        ("hERG1", "ERG1"),
        ("human p53", "p53"),
        ("E. coli endonuclease III", "endonuclease III"),
        ("LIF receptor", "LIFR"),
        ("tumor protein p53 (TP53)", "TP53"),
        ("nucleotide oligomerisation domain (NOD) 2", "NOD2"),
    ],
)
def test_readings_of_a_name(name: str, known: str) -> None:
    assert make_key(known) in [variant.key for variant in generate_variants(name)]


@pytest.mark.parametrize(
    ("name", "items"),
    [
        ("caspase-3/7", ["caspase-3", "caspase-7"]),
        ("STAT1 and -3", ["STAT1", "STAT3"]),
        ("BRCA1/BRCA2", ["BRCA1", "BRCA2"]),
        ("TCF-4J and K", ["TCF-4J", "TCF-4K"]),
        ("NPHP1-4", ["NPHP1", "NPHP2", "NPHP3", "NPHP4"]),
        ("synapsins I and II", ["synapsin I", "synapsin II"]),
        ("type I and type II CRF receptors", ["CRF receptor type I", "CRF receptor type II"]),
        ("14-3-3", []),
        ("miR17-92", []),
        ("insulin", []),
        ("and", []),
        ("a/", []),
    ],
)
def test_lists(name: str, items: list[str]) -> None:
    assert expand_list(name) == items


def test_the_longest_part_comes_first() -> None:
    assert next(generate_parts("mutant p53 tumor suppressor")).text == "p53 tumor suppressor"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("haematopoietic kinases", "hematopoietic kinase"),
        ("adrenocorticotrophic hormone", "adrenocorticotropic hormone"),
        ("cAMP response element binding protein", "cAMP-responsive element binding protein"),
        ("oestrogen sulphotransferase", "estrogen sulfotransferase"),
    ],
)
def test_spellings_of_both_sides_of_the_ocean_have_one_key(one: str, other: str) -> None:
    assert make_key(one) == make_key(other)


@pytest.mark.parametrize(
    "name",
    [
        "TGFβ receptor type II",
        "II",
        "(-) II and III",
        "IL-2  receptors",
        "interleukin 1 α",
        " ",
        "",
    ],
)
def test_words_between_blanks_are_those_of_the_whole_name(name):
    assert split_words(name) == names._split_chunk(name, False)
