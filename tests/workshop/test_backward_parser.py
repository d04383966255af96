"""Sentences read backwards: turned twice they are the same, and a parser learns from them."""

from __future__ import annotations

from dataclasses import replace

import spacy
import typer
from spacy.tokens import Doc
from typer.testing import CliRunner
from workshop.backward_parser import SETTINGS, main, reverse_sentence, train_backward_parser
from workshop.treebanks import Sentence

from textrank.tasks.parsers import Parse, PerturbedParser

WORDS = ("She", "ate", "cold", "pizza", ".")
SENTENCE = Sentence(
    words=WORDS,
    tags=("PRP", "VBD", "JJ", "NN", "."),
    heads=(1, -1, 3, 1, 1),
    labels=("nsubj", "ROOT", "amod", "dobj", "punct"),
    spaces=(True, True, True, False, True),
)


def arcs(sentence):
    return {
        (sentence.words[head] if head >= 0 else "", word, label)
        for head, word, label in zip(sentence.heads, sentence.words, sentence.labels, strict=True)
    }


def test_a_sentence_read_backwards_has_the_same_arcs():
    turned = reverse_sentence(SENTENCE)
    assert turned.words == WORDS[::-1]
    assert arcs(turned) == arcs(SENTENCE)
    assert list(turned.spaces) == [False, True, True, True, True]
    again = reverse_sentence(turned)
    assert tuple(again.heads) == SENTENCE.heads
    assert tuple(again.spaces) == SENTENCE.spaces


def test_a_parse_turned_twice_is_itself():
    parse = Parse((1, 1, 3, 1, 1), SENTENCE.labels, SENTENCE.tags, 2, is_first_choice=True)
    assert parse.reverse().heads == (3, 3, 1, 3, 3)
    assert parse.reverse().reverse() == parse


def test_a_parser_learns_to_read_backwards_and_survives_the_disk(tmp_path):
    settings = replace(SETTINGS, epochs=10, width=32, depth=2, rows=200, rate=0.01)
    said: list[str] = []
    nlp = train_backward_parser([SENTENCE] * 40, settings, said.append)
    assert len(said) == 10
    nlp.to_disk(tmp_path / "mirror")
    doc = Doc(spacy.blank("en").vocab, words=WORDS, sent_starts=[True, *[False] * 4])
    parser = PerturbedParser(str(tmp_path / "mirror"), copies=2, sigma=0.01, backwards=True)
    ((first, *_),) = parser([doc[:]])
    assert first.heads == (1, 1, 3, 1, 1)
    assert first.labels == SENTENCE.labels


def test_a_folder_without_treebanks_is_named_before_any_work(tmp_path):
    command = typer.Typer()
    command.command()(main)
    done = CliRunner().invoke(command, [str(tmp_path), str(tmp_path / "out")])
    assert done.exit_code == 2
    assert str(tmp_path) in done.output
    assert "Traceback" not in done.output
