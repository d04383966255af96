"""Where sentences begin: stops, lines, lists, headings, tables."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import pytest
import spacy
from spacy.tokens import Doc

from textrank.language.segmentation import (
    MAX_SHORT_TOKENS,
    BioTokenizer,
    SentenceSplitter,
    find_sentence_starts,
    set_sentence_starts,
)

TOKENIZE = BioTokenizer(spacy.blank("en").vocab)


def sentences(text: str) -> list[str]:
    doc = SentenceSplitter(final=True)(TOKENIZE(text))
    return [" ".join(sentence.text.split()) for sentence in doc.sents]


@pytest.mark.parametrize(
    "text",
    [
        "As shown by Smith et al. 1996; this is one.",
        "The correlation (r = .60) was high.",
        "Binding in E. coli (Fig. 1) was weak, i.e. absent.",
        "It rose (p < .05. n = 3) again.",
        "See ref. 12 of Dr. Smith.",
        "Cells were given 5 mg approx. five times.",
        "The transcription factor\nSTAT5 binds DNA.",
        "We show that IL-2 activates\nSTAT5 in cells.",
        "Binding of p53 to MDM2 was\nlost in\nthese cells.",
        "1. Introduction of the method.",
        "Isolation of a clone that codes for a second kappa B\n"
        "DNA-binding protein with a role in the nuclei of resting B\ncells.",
        "Sites of binding in nuclei (type-II\nEBS) have been seen in many a human lymphoblastoid "
        "cell\nline.",
    ],
)
def test_one_sentence_stays_whole(text):
    assert len(sentences(text)) == 1


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("p53 binds MDM2. p53 is a protein. c-Myc is too.", 3),
        ("It rose. β-catenin fell. (Data not shown.) We stop.", 4),
        ("Smith et al. The next one.", 2),
        ("A blank line\n\nends a sentence", 2),
        ("A blank line\r\n \r\nends a sentence", 2),
        ("RESULTS\nWe found p53 in the nucleus of most cells that were examined here.", 2),
        ("p53 binds MDM2 in vivo\nThe protein p53 is known.", 2),
        ("We used:\n- p53\n- MDM2\n- BRCA1", 4),
        ("• p53 binds\n• MDM2 does", 2),
        ("1. p53 binds MDM2;\n2. BRCA1 does not;\n3. nobody knows.", 3),
        ("p53\tMDM2\t1\nBRCA1\tBARD1\t2\nSTAT3\tJAK2\t3", 3),
        ("<p>p53 binds</p><p>MDM2 does</p>", 2),
        ("<h1>p53</h1>MDM2 binds.", 2),
        ("Is it? Yes! It is.", 3),
    ],
)
def test_sentences_end(text, count):
    assert len(sentences(text)) == count


def test_hard_wraps_stay_whole():
    text = (
        "Transcriptional regulation of the interleukin 2 gene in\n"
        "Jurkat T cells depends on NF-AT and AP-1 sites of the IL-2\n"
        "enhancer. The protein STAT5 was found with JAK3 in nuclei of\n"
        "B cells."
    )
    assert len(sentences(text)) == 2


def test_a_sentence_never_begins_with_white_space_or_markup():
    doc = TOKENIZE("\n\np53 binds.\n\n <b>MDM2</b> does.\n")
    assert [doc[i].text for i in find_sentence_starts(doc)] == ["p53", "MDM2"]


def test_what_is_set_stays():
    doc = Doc(TOKENIZE.vocab, words=["a", "b", ".", "C"], sent_starts=[1, 1, 0, -1])
    assert [s.text for s in SentenceSplitter()(doc).sents] == ["a", "b . C"]


def test_steps_of_a_long_text_grow_with_its_length():
    assert _count_lines(1_000) < 4.5 * _count_lines(250)  # 16 times as many, if it were quadratic


def _count_lines(repetitions: int) -> int:
    """Return the number of lines of Python that run while a text is split."""
    doc = TOKENIZE("p53 binds (MDM2. It does\n" * repetitions)
    count = 0

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    previous = sys.gettrace()
    sys.settrace(trace)
    try:
        SentenceSplitter()(doc)
    finally:
        sys.settrace(previous)
    return count


def test_an_empty_doc_has_no_sentence():
    assert find_sentence_starts(TOKENIZE("")) == find_sentence_starts(TOKENIZE(" \n")) == []


@pytest.mark.parametrize("final", [False, True])
@pytest.mark.parametrize("length", [1, 3, MAX_SHORT_TOKENS, MAX_SHORT_TOKENS + 1, 40])
@pytest.mark.parametrize("tokens", [(), (0,), (0, 2), (7, 1, 99)])
def test_short_and_long_docs_get_the_same_starts(
    length: int, tokens: tuple[int, ...], final: bool
) -> None:
    words = ["\n" if number % 3 == 1 else "word" for number in range(length)]
    doc = Doc(spacy.blank("en").vocab, words=words, sent_starts=[True] * length)
    set_sentence_starts(doc, tokens, final=final)
    undecided = {word: -1 if final or word == "\n" else 0 for word in words}
    expected = [1 if i in tokens else undecided[word] for i, word in enumerate(words)]
    assert doc.to_array("SENT_START").astype("int64").tolist() == expected
