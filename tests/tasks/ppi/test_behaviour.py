"""What the shipped model says of short sentences of our own, and what must not change it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from spacy.language import Language
from spacy.tokens import Doc, Span

import textrank
from tests.tasks.ppi.statement_sentences import NAMES, NO, SENTENCES, Answer, yes
from tests.tasks.ppi.statement_templates import TEMPLATES

Told = tuple[str, str, dict[str, Answer]]
FLIP = {"a>b": "b>a", "b>a": "a>b"}
KEYS = ("status", "type", "direction")


@pytest.fixture(scope="module")
def nlp() -> Language:
    nlp = textrank.load_nlp(only=["tagger", "parser"])
    nlp.add_pipe("textrank_ppi")
    return nlp


def written(frame: str, names: tuple[str, ...]) -> tuple[str, dict[str, tuple[int, int]]]:
    """A sentence with names in place of letters, and where they stand."""
    text, places = "", {}
    while "{" in frame:
        before, _, rest = frame.partition("{")
        letter, _, frame = rest.partition("}")
        name = dict(zip("ABC", names, strict=True))[letter[0]]
        text += before
        places[letter] = (len(text), len(text) + len(name))
        text += name
    return text + frame, places


def judged(nlp: Language, text: str, places: dict[str, tuple[int, int]]) -> dict[str, Any]:
    """The rows by the letters of their names, names given."""
    doc: Doc = nlp.make_doc(text)
    spans = {x: doc.char_span(*place, alignment_mode="expand") for x, place in places.items()}
    doc.spans["entities"] = [
        Span(doc, s.start, s.end, label="protein", span_id=x) for x, s in spans.items() if s
    ]
    letters = {(span.start_char, span.end_char): x for x, span in spans.items() if span}
    rows = nlp(doc)._.textrank_ppi
    return {"".join(letters[tuple(s)] for s in row["spans"]): row for row in rows}


def checks(
    nlp: Language, names: tuple[str, ...], told: Sequence[Told] = SENTENCES
) -> Iterator[tuple[str, Answer, dict[str, Any]]]:
    for capability, frame, pairs in told:
        rows = judged(nlp, *written(frame, names))
        for pair, answer in pairs.items():
            turned = "".join(reversed(re.findall(r"[A-C]\d?", pair)))
            row = rows[pair] if pair in rows else rows[turned]
            if pair not in rows:
                row = {**row, "direction": FLIP.get(row["direction"], row["direction"])}
            yield capability, answer, row


def test_statements_of_sentences_never_trained_on(nlp: Language) -> None:
    asked: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for names in NAMES[:2]:
        for _, answer, row in checks(nlp, names):
            for key in KEYS:
                wanted = getattr(answer, key)
                asked[key] += wanted is not None
                right[key] += wanted is not None and row[key] == wanted
    shares = {key: right[key] / asked[key] for key in KEYS}
    assert shares["status"] >= 0.93
    assert shares["type"] >= 0.85
    assert shares["direction"] >= 0.9


@pytest.mark.parametrize("told", [SENTENCES, TEMPLATES], ids=["sentences", "templates"])
def test_who_interacts_in_sentences_never_trained_on(nlp: Language, told: Sequence[Told]) -> None:
    rows = [row for names in NAMES[:2] for row in checks(nlp, names, told)]
    right = [row["interacts"] == answer.interacts for _, answer, row in rows]
    assert sum(right) / len(right) >= 0.91
    status = [row["status"] == answer.status for _, answer, row in rows if answer.status]
    assert sum(status) / len(status) >= 0.93


def test_what_is_denied_or_doubted_never_interacts(nlp: Language) -> None:
    wrong = [
        row["sentence"]
        for capability, _, row in checks(nlp, NAMES[3])
        if capability in ("negated", "speculated") and row["interacts"]
    ]
    assert len(wrong) <= 1, wrong


@pytest.mark.parametrize("frame", ["{A} does not bind {B}.", "{A} is activated by {B}."])
def test_other_names_change_nothing_but_the_names(nlp: Language, frame: str) -> None:
    rows = [judged(nlp, *written(frame, names))["AB"] for names in NAMES[:3]]
    assert len({tuple(row[key] for key in KEYS) for row in rows}) == 1


def test_other_sentences_before_and_layout_change_nothing(nlp: Language) -> None:
    text, places = written("{A} may phosphorylate {B}.", NAMES[0])
    plain = judged(nlp, text, places)["AB"]
    for before in ("Cells were grown at 37 degrees. ", "Methods were as described.\n"):
        moved = {x: (a + len(before), b + len(before)) for x, (a, b) in places.items()}
        row = judged(nlp, before + text, moved)["AB"]
        assert [row[key] for key in KEYS] == [plain[key] for key in KEYS]


@pytest.mark.parametrize(
    ("frame", "status"),
    [
        ("Phosphorylation of {B} by {A} was observed within minutes.", "asserted"),
        ("No phosphorylation of {B} by {A} was observed within minutes.", "negated"),
        ("Ubiquitination of {B} by {A} could be detected in the nucleus.", "asserted"),
        ("Ubiquitination of {B} by {A} could not be detected in the nucleus.", "negated"),
        ("{A} binds {B}, not only in vitro but also in vivo.", "asserted"),
    ],
)
def test_what_denials_are_made_of_denies_only_with_a_denial(nlp, frame, status):
    (row,) = judged(nlp, *written(frame, ("SMAD3", "TGFBR1", "AXL"))).values()
    assert row["status"] == status


@pytest.mark.parametrize(
    ("frame", "pair", "status", "kind", "direction"),
    [
        (
            "{A}-mediated phosphorylation of {B} was reduced.",
            *("AB", "asserted", "phosphorylation", "a>b"),
        ),
        ("{A} activates {B} via {C}.", "AB", "asserted", "activation", "a>b"),
        ("{A} controls {B} by blocking its transcription.", "AB", "asserted", "inhibition", "a>b"),
        (
            "{A} keeps {B} under control by blocking its transcription.",
            *("AB", "asserted", "inhibition", "a>b"),
        ),
        ("Knockdown of {A} reduced {B} levels.", "AB", "asserted", "activation", "a>b"),
        ("Loss of {A} increased {B} expression.", "AB", "asserted", "inhibition", "a>b"),
        (
            "In the livers of these mice, which had been fed for ten weeks, {A} had no effect "
            "on {B}.",
            *("AB", "negated", "regulation", "a>b"),
        ),
        (
            "Although cells grew faster in all three media, treatment with {A} had no effect on "
            "the expression of {B}, as judged by blots.",
            *("AB", "negated", "regulation", "a>b"),
        ),
        (
            "{A} phosphorylates {B}, which may explain the phenotype.",
            *("AB", "asserted", "phosphorylation", "a>b"),
        ),
        (
            "It is possible that tumours relapse, but {A} inhibits {B}.",
            *("AB", "asserted", "inhibition", "a>b"),
        ),
        (
            "We asked whether cells die, and found that {A} activates {B}.",
            *("AB", "asserted", "activation", "a>b"),
        ),
        ("{A} binds {B}, suggesting a role in growth.", "AB", "asserted", "binding", "none"),
    ],
)
def test_mediators_null_effects_and_speculation_elsewhere(
    nlp: Language, frame: str, pair: str, status: str, kind: str, direction: str
) -> None:
    row = judged(nlp, *written(frame, NAMES[0]))[pair]
    assert (row["status"], row["type"], row["direction"]) == (status, kind, direction)


def test_a_mediator_does_not_act_on_the_subject(nlp: Language) -> None:
    rows = judged(nlp, *written("{A} activates {B} via {C}.", NAMES[0]))
    assert not rows["AC"]["interacts"] or rows["AC"]["direction"] == "a>b"


JOINED: list[Told] = [
    ("clauses", frame, {"AB": yes(), "B2C": yes(), "AC": NO})
    for frame in (
        "{A} phosphorylates {B} and {B2} then cleaves {C}.",
        "{A} binds {B} and {B2} inhibits {C}.",
        "In these cells {A} stimulates {B} and {B2} represses {C}.",
        "{A} methylates {B}, and {B2} in turn ubiquitinates {C}.",
        "{A} activates {B} before {B2} degrades {C}.",
    )
]


def test_each_clause_has_its_own_subject(nlp: Language) -> None:
    rows = [row for names in NAMES for row in checks(nlp, names, JOINED)]
    wrong = [row["sentence"] for _, answer, row in rows if row["interacts"] != answer.interacts]
    assert len(wrong) <= 0.05 * len(rows), wrong
