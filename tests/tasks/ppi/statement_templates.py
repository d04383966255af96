"""More sentences of our own, kept out of all training: complexes, clauses, lists, nouns, denial.

As ``statement_sentences``; a letter with a number is a further mention of the same name.
"""

from __future__ import annotations

from tests.tasks.ppi.statement_sentences import BIND, NO, Answer, may, neg, yes

ALL = {"AB": yes(*BIND), "AC": yes(*BIND), "BC": yes(*BIND)}
NONE = {"AB": NO, "AC": NO, "BC": NO}
TEMPLATES: list[tuple[str, str, dict[str, Answer]]] = [
    ("active", "{A} efficiently deacetylates {B} in vitro.", {"AB": yes("modification", "a>b")}),
    ("active", "After fasting, {A} recruits {B}.", {"AB": yes()}),
    (
        "passive",
        "{A} becomes ubiquitinated by {B} after stress.",
        {"AB": yes("modification", "b>a")},
    ),
    ("passive", "{A} is also targeted by {B} in adult tissue.", {"AB": yes(None, "b>a")}),
    (
        "nominal",
        "{A}-dependent phosphorylation of {B} peaked after ten minutes.",
        {"AB": yes("phosphorylation", "a>b")},
    ),
    ("nominal", "{A} is a well-known substrate of {B}.", {"AB": yes(None, "b>a")}),
    (
        "nominal",
        "The ability of {A} to repress {B} was confirmed.",
        {"AB": yes("inhibition", "a>b")},
    ),
    ("nominal", "Binding of {A} to {B} is enhanced by heat.", {"AB": yes(*BIND)}),
    ("nominal", "{A}-induced activation of {B} is rapid.", {"AB": yes("activation", "a>b")}),
    ("complex", "The {A}-{B} complex dissociates at high salt.", {"AB": yes(*BIND)}),
    ("complex", "{A} and {B} assemble into a trimeric complex together with {C}.", ALL),
    (
        "complex",
        "Formation of the {A}/{B} heterodimer was blocked at low pH.",
        {"AB": yes(*BIND)},
    ),
    ("complex", "{A} copurifies with {B} and {C}.", {"AB": yes(*BIND), "AC": yes(*BIND)}),
    ("complex", "The crystal structure of {A} bound to {B} was solved.", {"AB": yes(*BIND)}),
    ("complex", "A complex consisting of {A}, {B} and {C} was isolated from nuclei.", ALL),
    ("complex", "{A} exists in a preformed complex with {B}.", {"AB": yes(*BIND)}),
    ("complex", "The {A}-{B} interaction is mediated by a short helix.", {"AB": yes(*BIND)}),
    (
        "clauses",
        "{A} stimulates {B}, and {B2} subsequently represses {C}.",
        {"AB": yes("activation", "a>b"), "B2C": yes("inhibition", "a>b"), "AC": NO},
    ),
    (
        "clauses",
        "Once {A} has been phosphorylated by {B}, it interacts with {C}.",
        {"AB": yes("phosphorylation", "b>a"), "AC": yes(*BIND), "BC": NO},
    ),
    (
        "clauses",
        "{A} inhibits {B}, whereas {C} is found at the membrane.",
        {"AB": yes("inhibition", "a>b"), "AC": NO, "BC": NO},
    ),
    (
        "clauses",
        "When {A} activates {B}, {C} leaves the nucleus.",
        {"AB": yes("activation", "a>b"), "AC": NO, "BC": NO},
    ),
    (
        "clauses",
        "{A} recruits {B} to membranes; {C} remains in the cytosol.",
        {"AB": yes(), "AC": NO, "BC": NO},
    ),
    (
        "clauses",
        "{A} binds {B} through its SH3 domain and phosphorylates {C}.",
        {"AB": yes(*BIND), "AC": yes("phosphorylation", "a>b"), "BC": NO},
    ),
    (
        "coordination",
        "{A} interacts with {B} as well as with {C}.",
        {"AB": yes(*BIND), "AC": yes(*BIND), "BC": NO},
    ),
    (
        "coordination",
        "{A} and {B} each phosphorylate {C}.",
        {"AC": yes("phosphorylation", "a>b"), "BC": yes("phosphorylation", "a>b"), "AB": NO},
    ),
    (
        "coordination",
        "{A} stimulates {B} but leaves {C} unaffected.",
        {"AB": yes("activation", "a>b"), "AC": neg(None, "a>b"), "BC": NO},
    ),
    (
        "coordination",
        "{A} suppressed {B} and had no influence on {C}.",
        {"AB": yes("inhibition", "a>b"), "AC": neg("regulation", "a>b"), "BC": NO},
    ),
    ("negated", "Binding of {A} to {B} was not detectable.", {"AB": neg(*BIND)}),
    ("negated", "Despite their similarity, {A} and {B} do not associate.", {"AB": neg(*BIND)}),
    (
        "negated",
        "{A} phosphorylates {B} but is not able to bind {C}.",
        {"AB": yes("phosphorylation", "a>b"), "AC": neg(*BIND), "BC": NO},
    ),
    ("speculated", "{A} would be expected to inhibit {B}.", {"AB": may("inhibition", "a>b")}),
    ("speculated", "Our model predicts binding of {A} to {B}.", {"AB": may(*BIND)}),
    (
        "speculated",
        "One possibility is that {A} stabilizes {B}.",
        {"AB": may("activation", "a>b")},
    ),
    ("comention", "Both {A} and {B} contain a zinc finger.", {"AB": NO}),
    ("comention", "{A}, {B} and {C} were screened for mutations.", NONE),
    ("comention", "The promoters of {A} and {B} were sequenced.", {"AB": NO}),
    ("comention", "{A}, {B} and {C} all bind to DNA.", NONE),
    (
        "regulation",
        "Forced expression of {A} lowered {B} transcription.",
        {"AB": yes("inhibition", "a>b")},
    ),
    (
        "regulation",
        "{A} mRNA accumulates in response to {B}.",
        {"AB": yes("activation", "b>a")},
    ),
]
