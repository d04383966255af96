"""The same text in any layout: the same names, pairs and kinds at the same places."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from itertools import accumulate

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import textrank

Filler = Callable[[int, str], str]
TEXT = (
    "We show that MDM2 binds p53 and inhibits its activity. Phosphorylation of STAT3 by JAK2 was "
    "lost in cells that lack TNF-alpha. Expression of the BRCA1 gene and of IL-2 mRNA fell."
)
SENTENCE = re.compile(r"(?<=[.?!]) (?=[A-Z])")


@pytest.fixture(scope="module")
def nlp():
    nlp = textrank.load_nlp()
    nlp.add_pipe("textrank_ppi")
    nlp.add_pipe("textrank_gene_protein")
    return nlp


def laid_out(text: str, fill: Filler, before: str = "", after: str = "") -> tuple[str, list[int]]:
    """A text whose spaces are filled otherwise, and where each of its characters begins then."""
    pieces, places, at = [before], [], len(before)
    for i, c in enumerate(text):
        places.append(at)
        pieces.append(fill(i, c))
        at += len(pieces[-1])
    places.append(at)
    return "".join(pieces) + after, places


def facts(doc) -> tuple[set, dict, dict]:
    names = {(s.start_char, s.end_char) for s in doc.spans["entities"]}
    pairs = {tuple(map(tuple, row["spans"])): row["interacts"] for row in doc._.textrank_ppi}
    kinds = {tuple(row["span"]): row["label"] for row in doc._.textrank_gene_protein}
    return names, pairs, kinds


def moved(found, places: list[int]):
    def place(span):
        return places[span[0]], places[span[1] - 1] + 1

    names, pairs, kinds = found
    return (
        {place(n) for n in names},
        {(place(a), place(b)): v for (a, b), v in pairs.items()},
        {place(n): v for n, v in kinds.items()},
    )


GAPS = st.sampled_from([" ", "  ", "\t", "   ", " \t", "\u00a0", "\u2009", "\x00 ", "\u200b "])
ENDS = st.sampled_from([" ", "\n", "\r\n", "\n\n", "\r\n\r\n", "\n \n", "\n\t", "<p> ", "<br/>"])


@pytest.mark.slow
@settings(max_examples=10)
@given(st.lists(GAPS, min_size=40, max_size=40), st.lists(ENDS, min_size=4, max_size=4))
def test_random_layouts_change_nothing(nlp, gaps, ends):
    stops = {found.start() for found in SENTENCE.finditer(TEXT)}

    def fill(i: int, c: str) -> str:
        if i in stops:
            return ends[i % 4]
        return gaps[i % 40] if c == " " else c

    text, places = laid_out(TEXT, fill, before=ends[0], after=ends[1])
    doc = nlp(text)
    assert doc.text == text
    assert facts(doc) == moved(facts(nlp(TEXT)), places)


def test_markup_and_entities_change_nothing(nlp):
    text = "<p><b>MDM2</b> binds TNF-&alpha; &amp; p<sub>53</sub>.</p>"
    doc = nlp(text)
    assert [text[a:b] for a, b in sorted(facts(doc)[0])] == ["MDM2", "TNF-&alpha;", "p<sub>53"]
    assert doc._.textrank_ppi[0]["names"] == ["MDM2", "TNF-α"]


def test_rows_of_a_table_make_no_pairs_across(nlp):
    doc = nlp("MDM2\tp53\nSTAT3\tJAK2\nBRCA1\tBARD1\n")
    rows = [doc.text.count("\n", 0, a) for row in doc._.textrank_ppi for a, _ in row["spans"]]
    assert rows[::2] == rows[1::2]


def test_rows_of_names_and_numbers_say_nothing(nlp):
    table = nlp("Gene\tPartner\tScore\nGRB2\tSOS1\t0.9\nEGFR\tSHC1\t0.8\n")
    assert len(table.spans["entities"]) == 4
    assert table._.textrank_ppi == []
    assert nlp("TP53\nMDM2\nBRCA1\np21\nCDK2\n")._.textrank_ppi == []


def test_no_name_goes_on_past_a_blank_line(nlp):
    doc = nlp("Title: TP53 and MDM2\n\nMDM2 binds p53 in cells.")
    assert [span.text for span in doc.spans["entities"]] == ["TP53", "MDM2", "MDM2", "p53"]
    (row,) = [r for r in doc._.textrank_ppi if r["interacts"]]
    assert [doc.text[slice(*place)] for place in row["trigger"]] == ["binds"]


def test_a_name_and_its_own_abbreviation_are_no_pair(nlp):
    doc = nlp("The tumor necrosis factor (TNF) binds p53.")
    named = {frozenset(row["names"]) for row in doc._.textrank_ppi}
    assert frozenset(["tumor necrosis factor", "TNF"]) not in named


LAYOUTS: dict[str, tuple[Callable[[str], Filler], str, str]] = {
    "blank lines": (lambda t: _at_ends(t, "\n\n"), "\n\n", "\n"),
    "crlf": (lambda t: _at_ends(t, "\r\n"), "", "\r\n"),
    "indented": (lambda t: _at_ends(t, "\n    "), "    ", ""),
    "tabs": (lambda t: lambda i, c: "\t" if c == " " else c, "", ""),
    "double spaces": (lambda t: lambda i, c: "  " if c == " " else c, "", ""),
    "html": (lambda t: _html, "<html><body><p>", "</p></body></html>"),
    "hard wraps": (lambda t: _wraps(t), "", ""),
}


def _at_ends(text: str, gap: str) -> Filler:
    """A gap after each sentence; none inside brackets, where stops are those of initials."""
    deep = list(accumulate((c in "([") - (c in ")]") for c in text))
    stops = {found.start() for found in SENTENCE.finditer(text) if deep[found.start()] <= 0}
    return lambda i, c: gap if i in stops or c == "\n" else c


def _html(i: int, c: str) -> str:
    return {"\n": "</p>\n<p>", "&": "&amp;", "<": "&lt;", ">": "&gt;"}.get(c, c)


def _wraps(text: str) -> Filler:
    column, ends = 0, set()
    for found in re.finditer(r"\S+", text):
        if text[max(found.start() - 1, 0)] == "\n":  # a line of the text itself
            column = len(found[0])
        elif column + 1 + len(found[0]) > 60 and found.start():
            ends.add(found.start() - 1)
            column = len(found[0])
        else:
            column += 1 + len(found[0])
    return lambda i, c: "\n" if i in ends else c


@pytest.mark.corpus
@pytest.mark.parametrize("layout", LAYOUTS)
def test_abstracts_in_seven_layouts(nlp, data, layout):
    with gzip.open(data / "jnlpba" / "train.jsonl.gz", "rt", encoding="utf-8") as rows:
        texts = [json.loads(row)["text"] for _, row in zip(range(150), rows, strict=False)]
    make, before, after = LAYOUTS[layout]
    laid = [laid_out(text, make(text), before, after) for text in texts]
    total = same = pairs = same_pairs = kinds = same_kinds = 0
    docs = zip(nlp.pipe(texts), nlp.pipe([text for text, _ in laid]), laid, strict=True)
    for plain, doc, (text, places) in docs:
        want, found = moved(facts(plain), places), facts(doc)
        assert all(re.search(r"\w", text[a:b]) for a, b in found[0])
        total, same = total + len(want[0]), same + len(want[0] & found[0])
        every = want[1].keys() | found[1].keys()  # in two sentences, two names do not interact
        pairs += len(every)
        same_pairs += sum(found[1].get(k, False) == want[1].get(k, False) for k in every)
        kinds += len(want[2])
        same_kinds += sum(found[2].get(key) == value for key, value in want[2].items())
    assert same >= 0.99 * total
    assert same_pairs >= 0.99 * pairs
    assert same_kinds >= 0.99 * kinds
