"""Sentences of our own, kept out of all training: what each pair of their names should be.

A pair is (interacts, status, type, direction); None is not asked. Directions count from the letter
named first.
"""

from __future__ import annotations

from typing import NamedTuple


class Answer(NamedTuple):
    interacts: bool
    status: str | None = None
    type: str | None = None
    direction: str | None = None


def yes(kind: str | None = None, direction: str | None = None) -> Answer:
    return Answer(True, "asserted", kind, direction)


def neg(kind: str | None = None, direction: str | None = None) -> Answer:
    return Answer(False, "negated", kind, direction)


def may(kind: str | None = None, direction: str | None = None) -> Answer:
    return Answer(False, "speculated", kind, direction)


NO = Answer(False)
BIND = ("binding", "none")
NAMES = [
    ("SMAD3", "TGFBR1", "SKI"),
    ("RAF1", "MAP2K1", "YWHAZ"),
    ("IL-6", "STAT3", "SOCS3"),
    ("p53", "MDM2", "CDKN1A"),
    ("Cdc42", "N-WASP", "PAK1"),
]
SENTENCES: list[tuple[str, str, dict[str, Answer]]] = [
    ("active", "{A} associates tightly with {B} in resting cells.", {"AB": yes(*BIND)}),
    ("active", "In these cells {A} directly inhibits {B}.", {"AB": yes("inhibition", "a>b")}),
    (
        "active",
        "{A} was found to phosphorylate {B} at two serine residues.",
        {"AB": yes("phosphorylation", "a>b")},
    ),
    (
        "active",
        "We report that {A} ubiquitinates {B} in neurons.",
        {"AB": yes("modification", "a>b")},
    ),
    ("passive", "{A} is strongly repressed by {B}.", {"AB": yes("inhibition", "b>a")}),
    ("passive", "{A} is acetylated by {B} in the nucleus.", {"AB": yes("modification", "b>a")}),
    (
        "passive",
        "{A}, which is activated by {B}, accumulates in the nucleus.",
        {"AB": yes("activation", "b>a")},
    ),
    (
        "nominal",
        "Phosphorylation of {A} by {B} was observed within minutes.",
        {"AB": yes("phosphorylation", "b>a")},
    ),
    ("nominal", "The association of {A} with {B} requires calcium.", {"AB": yes(*BIND)}),
    ("nominal", "Our data reveal {A}-mediated degradation of {B}.", {"AB": yes(None, "a>b")}),
    (
        "nominal",
        "Inhibition of {A} by {B} was reversed after washing.",
        {"AB": yes("inhibition", "b>a")},
    ),
    ("negated", "{A} failed to bind {B} under these conditions.", {"AB": neg(*BIND)}),
    (
        "negated",
        "No association between {A} and {B} was seen in pull-down assays.",
        {"AB": neg(*BIND)},
    ),
    (
        "negated",
        "Neither {A} nor {B} interacted with {C}.",
        {"AC": neg(*BIND), "BC": neg(*BIND), "AB": NO},
    ),
    ("negated", "{A} is not phosphorylated by {B}.", {"AB": neg("phosphorylation", "b>a")}),
    ("negated", "Loss of {A} had no effect on {B} expression.", {"AB": neg("regulation", "a>b")}),
    ("negated", "{A} was unable to activate {B}.", {"AB": neg("activation", "a>b")}),
    ("negated", "We could not detect any complex of {A} with {B}.", {"AB": neg(*BIND)}),
    ("negated", "{A} did not coprecipitate with {B}, whereas {C} did.", {"AB": neg(*BIND)}),
    ("speculated", "{A} might bind {B} during mitosis.", {"AB": may(*BIND)}),
    (
        "speculated",
        "Whether {A} phosphorylates {B} is not known.",
        {"AB": may("phosphorylation", "a>b")},
    ),
    ("speculated", "We asked if {A} regulates {B}.", {"AB": may("regulation", "a>b")}),
    ("speculated", "It is possible that {A} recruits {B} to the membrane.", {"AB": may()}),
    ("speculated", "{A} is thought to be a substrate of {B}.", {"AB": may(None, "b>a")}),
    (
        "speculated",
        "These findings raise the question whether {A} and {B} interact directly.",
        {"AB": may(*BIND)},
    ),
    (
        "speculated",
        "An interaction of {A} with {B} has been proposed but remains to be shown.",
        {"AB": may(*BIND)},
    ),
    ("coordination", "{A} binds {B} and {C}.", {"AB": yes(*BIND), "AC": yes(*BIND), "BC": NO}),
    (
        "coordination",
        "Both {A} and {B} activate {C}.",
        {"AC": yes("activation", "a>b"), "BC": yes("activation", "a>b"), "AB": NO},
    ),
    (
        "coordination",
        "{A} activates {B} but not {C}.",
        {"AB": yes("activation", "a>b"), "AC": neg("activation", "a>b"), "BC": NO},
    ),
    (
        "clauses",
        "{A} recruits {B}, which then phosphorylates {C}.",
        {"AB": yes(), "BC": yes("phosphorylation", "a>b"), "AC": NO},
    ),
    (
        "clauses",
        "After binding to {A}, {B} is cleaved by {C}.",
        {"AB": yes(*BIND), "BC": yes(None, "b>a"), "AC": NO},
    ),
    ("comention", "{A} and {B} were measured by immunoblotting.", {"AB": NO}),
    ("comention", "Antibodies against {A} and {B} were purchased from a supplier.", {"AB": NO}),
    (
        "comention",
        "Levels of {A}, {B} and {C} were similar in both groups.",
        {"AB": NO, "BC": NO, "AC": NO},
    ),
    (
        "complex",
        "{A}, {B} and {C} form a stable complex.",
        {"AB": yes(*BIND), "BC": yes(*BIND), "AC": yes(*BIND)},
    ),
    ("complex", "{A} forms heterodimers with {B}.", {"AB": yes(*BIND)}),
    (
        "regulation",
        "Overexpression of {A} increased the amount of {B} mRNA.",
        {"AB": yes("activation", "a>b")},
    ),
    ("regulation", "Knockdown of {A} reduced {B} levels.", {"AB": yes("activation", "a>b")}),
    (
        "regulation",
        "Depletion of {A} enhanced the expression of {B}.",
        {"AB": yes("inhibition", "a>b")},
    ),
    ("regulation", "{A} expression is controlled by {B}.", {"AB": yes("regulation", "b>a")}),
    (
        "regulation",
        "Treatment of cells with {A} stimulates secretion of {B}.",
        {"AB": yes("activation", "a>b")},
    ),
]
