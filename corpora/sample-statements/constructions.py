"""Sentences put together from phrases: complexes, chains of clauses, lists, no effects, nouns.

A phrase says which pairs of its letters it states; what stands in one sentence without being joined
by a phrase is not stated. ``constructions`` gives (construction, text with letters, pairs), a pair
being (who, whom, status, type).
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

Pair = tuple[str, str, str, str]


class Phrase(NamedTuple):
    text: str
    pairs: tuple[Pair, ...] = ()


COMPLEX = ["complex", "heterodimer", "dimer", "assembly", "heterocomplex", "signalosome"]
KINDS_OF = ["active", "functional", "nuclear", "high-affinity", "transient", "DNA-bound", "large"]
DOES = [
    "is required for growth",
    "was detected in {cells}",
    "controls cell division",
    "is regulated by calcium",
    "was seen in all samples",
    "falls apart upon heating",
    "accumulates during differentiation",
    "has been studied in detail",
    "plays a central part in immunity",
    "was analysed by mass spectrometry",
]
DO = ["were detected in {cells}", "are abundant in {cells}", "appear after stimulation"]
WITH_TWO = [  # c is a complex, c2 several of them
    "the {A}-{B} {c} {does}",
    "the {A}/{B} {c} {does}",
    "the {A}–{B} {c} {does}",
    "the {A}:{B} {c} {does}",
    "the {k} {A}-{B} {c} {does}",
    "{A}-{B} {c2} {do}",
    "{A}/{B} {c2} {do}",
    "assembly of the {A}-{B} {c} {does}",
    "disruption of the {A}/{B} {c} stops growth",
    "the {c} between {A} and {B} {does}",
    "the {c} of {A} with {B} {does}",
    "a {c} of {A} and {B} {does}",
    "{A} forms a {c} with {B}",
    "{A} forms {k} {c2} with {B} in {cells}",
    "{A} and {B} form a {k} {c}",
    "{A} was found in a {c} with {B}",
    "{A} is part of a {c} with {B}",
    "{A} and {B} are subunits of the same {c}",
    "{A} and {B} are components of one {c}",
    "{A}, in {c} with {B}, {does}",
    "a {c} containing {A} and {B} {does}",
    "{A} is found in {c2} that contain {B}",
    "the interaction of {A} and {B} {does}",
    "the {A}-{B} association {does}",
    "the {A}–{B} interaction {does}",
    "{A}-{B} binding {does}",
    "the contact between {A} and {B} {does}",
    "{A} complexed with {B} {does}",
    "heterodimerization of {A} and {B} {does}",
    "dimers of {A} and {B} {do}",
    "{A} docks onto {B} in {cells}",
    "{A} and {B} bind one another",
    "{A} and {B} associate in {cells}",
    "{A} was immunoprecipitated with {B}",
    "we isolated {A}/{B} {c2} from {cells}",
    "{c2} of {A} with {B} {do}",
    "complex formation between {A} and {B} {does}",
    "{A} interacted physically with {B}",
]
WITH_THREE = [
    "{A}, {B} and {C} form a {t} {c}",
    "{A}, {B} and {C} form {t} {c2} in {cells}",
    "a {t} {c} of {A}, {B} and {C} {does}",
    "{A} forms a {t} {c} with {B} and {C}",
    "the {A}-{B}-{C} {c} {does}",
    "the {A}/{B}/{C} {c} {does}",
    "the {t} {A}/{B}/{C} {c} {does}",
    "{A}, {B} and {C} are components of a {c}",
    "{A}, {B} and {C} are found in one {c}",
    "a {c} containing {A}, {B} and {C} {does}",
    "a {c} made up of {A}, {B} and {C} {does}",
    "{A}, {B} and {C} interact with each other",
    "{A}, together with {B} and {C}, forms a {c}",
    "{A} and {B} form a {t} {c} with {C}",
    "the {c} contains {A}, {B} and {C}",
    "complex formation between {A}, {B} and {C} {does}",
    "the {c} of {A} with {B} and {C} {does}",
    "{A} is in a {t} {c} with {B} and {C}",
    "a {c} comprised {A}, {B} and {C}",
]
APART = [  # like complexes, and are none; pairs by letters
    ("{A} and {B} each form a {c} with {C}", "AC BC"),
    ("{A} forms a {c} with {B} but not with {C}", "AB AC-"),
    ("the {A}-{B} {c} and {C} were found in {cells}", "AB"),
    ("the {A}/{B} {c}, unlike {C}, {does}", "AB"),
    ("{C} was measured in {cells} with the {A}-{B} {c}", "AB"),
    ("{A} forms homodimers and {B} is a monomer", ""),
    ("{A} homodimers and {B} homodimers {do}", ""),
    ("{A}/{B} double mutants {do}", ""),
    ("{A}- and {B}-deficient mice die early", ""),
    ("the {A}/{B} ratio {does}", ""),
    ("the {A}, {B} and {C} genes are linked", ""),
    ("the {A} complex and the {B} complex {do}", ""),
    ("{A}, {B} and {C} are expressed in {cells}", ""),
    ("{A} and {B} do not form a {c}", "AB-"),
    ("no {A}-{B} {c} was detected", "AB-"),
    ("the {A}-{B} {c} could not be detected", "AB-"),
    ("{A} does not form a {c} with {B} or {C}", "AB- AC-"),
    ("{A} and {B} may form a {c}", "AB?"),
    ("a putative {A}-{B} {c} has been proposed", "AB?"),
    ("{A}, {B} and {C} might form a {t} {c}", "AB? AC? BC?"),
    ("it is unknown whether the {A}/{B} {c} exists", "AB?"),
]
TOGETHER_ON = [  # two in a complex act on a third
    "the {A}-{B} {c} {v} {C}",
    "the {A}/{B} {c} {v} {C} in {cells}",
    "{C} is {p} by the {A}-{B} {c}",
    "{C} was {p} by {A}/{B} {c2}",
    "the {c} of {A} and {B} {v} {C}",
]
ALONE = [  # says nothing of two names
    "{X} is found at the membrane",
    "{X} levels rise",
    "{X} was used as a control",
    "{X} leaves the nucleus",
    "{X} remains in the cytoplasm",
    "{X} is a kinase",
    "{X} was not detected",
    "{X} is degraded",
    "cells express {X}",
    "{X} is active",
    "expression of {X} falls",
]
NOBODY = ["cells stop growing", "growth is arrested", "apoptosis follows", "the signal is lost"]
BETWEEN = [
    ", and ",
    " and ",
    "; ",
    ", whereas ",
    ", while ",
    ", but ",
    " before ",
    " after ",
    " when ",
    " because ",
    ", so that ",
    ", and then ",
    " although ",
    ", and at the same time ",
    " once ",
    " until ",
    " in cells in which ",
]
FIRST = ["when ", "after ", "because ", "although ", "while ", "if ", "since ", "as soon as "]
THEN = ["", "", "", "in turn ", "then ", "also ", "consequently ", "finally ", "directly "]
BEFORE = [
    "",
    "",
    "",
    "",
    "in {cells}, ",
    "here we show that ",
    "interestingly, ",
    "we found that ",
    "it is known that ",
    "consistent with this, ",
    "these results demonstrate that ",
    "as reported before, ",
    "during development, ",
]
AFTER = [
    "",
    "",
    "",
    "",
    " in {cells}",
    " upon stimulation",
    " during mitosis",
    " with high affinity",
    " within minutes",
    " in a dose-dependent manner",
]
DENIED = ["does not", "did not", "cannot", "fails to", "failed to", "is unable to"]
EFFECT = ["effect", "influence", "impact", "action", "influence whatsoever"]
LINKED = ["mediated", "induced", "dependent", "catalyzed", "driven", "stimulated", "triggered"]
ROLE = {
    "activation": ["activator", "inducer", "agonist", "stimulator"],
    "inhibition": ["inhibitor", "repressor", "antagonist", "suppressor"],
    "regulation": ["regulator", "modulator", "effector"],
    "binding": ["binding partner", "partner", "ligand", "interactor"],
}
OBJECT_OF = {"phosphorylation": "substrate", "regulation": "target", "degradation": "substrate"}
LISTS = {
    "BC": ["{B} and {C}", "both {B} and {C}", "{B} as well as {C}", "{B} or {C}", "{B} plus {C}"],
    "BCD": ["{B}, {C} and {D}", "{B}, {C}, and {D}", "{B}, {C} or {D}", "{B} and {C} or {D}"],
}


class Words:
    """Verbs in all forms, chosen at random."""

    def __init__(
        self, rng: random.Random, transitive: Mapping[str, Sequence[str]], joined: Sequence[str]
    ) -> None:
        self.rng, self.transitive, self.joined = rng, transitive, joined

    def verb(self, kind: str | None = None, *, passive: bool = False) -> tuple[str, list[str]]:
        """A type and base, third person, past, -ing and noun of a verb of it."""
        kinds = [k for k in self.transitive if not (passive and k == "binding")]
        kind = kind or self.rng.choice(kinds)
        if kind == "binding" and not passive and self.rng.random() < 0.7:
            *forms, preposition = self.rng.choice(self.joined).split()
            return kind, [*(f"{form} {preposition}" for form in forms[:4]), forms[4]]
        return kind, self.rng.choice(self.transitive[kind]).split()


def stated(status: str, kind: str, *pairs: str) -> tuple[Pair, ...]:
    """Pairs like "A B", all of one status and type."""
    return tuple((*pair.split(), status, kind) for pair in pairs)  # type: ignore[misc]


def clause(words: Words, a: str, b: str, then: str = "") -> Phrase:
    """a does something to b: a plain active or passive clause, or one with a noun."""
    rng = words.rng
    way = rng.choice(["active", "active", "past", "passive", "was", "noun"])
    kind, (_, v, d, _, n) = words.verb(passive=way in ("passive", "was", "noun"))
    told = stated("asserted", kind, f"{a} {b}")
    text = {
        "active": f"{{{a}}} {then}{v} {{{b}}}",
        "past": f"{{{a}}} {then}{d} {{{b}}}",
        "passive": f"{{{b}}} is {then}{d} by {{{a}}}",
        "was": f"{{{b}}} was {then}{d} by {{{a}}}",
        "noun": f"{{{a}}} {then}causes {n} of {{{b}}}",
    }[way]
    return Phrase(text, told)


def verb_phrase(words: Words, a: str, b: str, status: str) -> Phrase:
    """What a does, without a: to b, not to b, or perhaps to b."""
    rng = words.rng
    kind, (base, v, d, _, _) = words.verb()
    if status == "asserted":
        text = rng.choice([f"{v} {{{b}}}", f"{d} {{{b}}}", f"strongly {v} {{{b}}}"])
    elif status == "speculated":
        text = rng.choice(["may", "might", "could", "possibly can"]) + f" {base} {{{b}}}"
    elif rng.random() < 0.5:
        text = rng.choice(
            ["does not", "did not", "cannot", "fails to", "failed to", "is unable to"]
        )
        text = f"{text} {base} {{{b}}}"
    else:
        kind, e = "regulation", rng.choice(EFFECT)
        text = rng.choice(
            [
                f"has no {e} on {{{b}}}",
                f"had no {e} on {{{b}}}",
                f"had little or no {e} on {{{b}}}",
                f"is without {e} on {{{b}}}",
                f"does not affect {{{b}}}",
                f"leaves {{{b}}} unchanged",
                f"exerts no {e} on {{{b}}} {{l}}",
                f"has no {e} on {{l}} of {{{b}}}",
                f"did not alter {{{b}}} {{l}}",
            ]
        )
    return Phrase(text, stated(status, kind, f"{a} {b}"))


def complexes(words: Words, times: int) -> Iterator[tuple[str, Phrase]]:
    """Two or three names in one complex, and what only looks so."""
    for _ in range(times):
        for frames, letters in ((WITH_TWO, "AB"), (WITH_THREE, "ABC")):
            told = stated("asserted", "binding", *(f"{a} {b}" for a, b in combinations(letters, 2)))
            yield from ((frame, Phrase(frame, told)) for frame in frames)
        for frame, pairs in APART:
            yield frame, Phrase(frame, tuple(map(_apart, pairs.split())))
        for frame in TOGETHER_ON:
            kind, (_, v, d, _, _) = words.verb(passive=True)
            text = frame.replace("{v}", v).replace("{p}", d)
            told = stated("asserted", "binding", "A B") + stated("asserted", kind, "A C", "B C")
            yield frame, Phrase(text, told)


def _apart(pair: str) -> Pair:
    status = {"-": "negated", "?": "speculated"}.get(pair[2:], "asserted")
    return pair[0], pair[1], status, "binding"


def chains(words: Words, count: int) -> Iterator[tuple[str, Phrase]]:
    """Two clauses, of which the second may go on with a name of the first."""
    rng = words.rng
    for _ in range(count):
        between, then = rng.choice(BETWEEN), rng.choice(THEN)
        ends = rng.choice([("B2", "C"), ("B2", "C"), ("C", "D"), ("A2", "C"), ("C", "B2"), None])
        one = clause(words, "A", "B")
        if ends is None:
            two = Phrase(rng.choice([*ALONE, *ALONE, *NOBODY]).replace("{X}", "{C}"))
            if rng.random() < 0.3:
                one, two = two, one
        else:
            two = clause(words, *ends, then)
        told = one.pairs + two.pairs
        key = f"{between.strip()} {ends} {then.strip()}"
        if rng.random() < 0.2:
            opening = rng.choice(FIRST)
            yield f"{opening} {ends}", Phrase(f"{opening}{one.text}, {two.text}", told)
        else:
            yield key, Phrase(f"{one.text}{between}{two.text}", told)


NESTED = [  # text with v, w as verbs, pairs of the first and of the second
    ("{A}, which {v} {B}, {w} {C}", "A B", "A C"),
    ("{A} {v} {B}, which {w} {C}", "A B", "B C"),
    ("{A} {v} {B}, which then {w} {C}", "A B", "B C"),
    ("{A} {v} {B} that {w} {C}", "A B", "B C"),
    ("{A}, which is {p} by {B}, {w} {C}", "B A", "A C"),
    ("{A}, {p} by {B}, {w} {C}", "B A", "A C"),
    ("{A} is {p} by {B} and {w} {C}", "B A", "A C"),
    ("{A} is {p} by {B}, which {w} {C}", "B A", "B C"),
    ("{A} is {p} by {B} and then {w} {C}", "B A", "A C"),
    ("upon being {p} by {B}, {A} {w} {C}", "B A", "A C"),
    ("{A} {v} {B} in order to {x} {C}", "A B", "A C"),
    ("{A} {v} {B} and thereby {w} {C}", "A B", "A C"),
    ("by {g} {B}, {A} {w} {C}", "A B", "A C"),
    ("{A}, by {g} {B}, {w} {C}", "A B", "A C"),
    ("{A} {v} {B} and also {w} {C}", "A B", "A C"),
    ("{A} both {v} {B} and {w} {C}", "A B", "A C"),
    ("{A} {v} {B} in the presence of {C}", "A B", ""),
    ("{A} {v} {B} in {C}-deficient cells", "A B", ""),
    ("in cells expressing {C}, {A} {v} {B}", "A B", ""),
    ("{A} {v} {B}, a homolog of {C}", "A B", ""),
    ("{A} {v} {B}, and so does {C}", "A B", ""),
    ("compared with {C}, {A} {v} {B} strongly", "A B", ""),
    ("{C} staining was normal although {A} {v} {B}", "A B", ""),
    ("{A} {v} {B} at a site distinct from that of {C}", "A B", ""),
    ("{A}, like the receptor {C}, {v} {B}", "A B", ""),
]


def nested(words: Words, times: int) -> Iterator[tuple[str, Phrase]]:
    """Clauses inside clauses, and bystanders."""
    for _ in range(times):
        for frame, first, second in NESTED:
            kind, (_, v, d, g, _) = words.verb(passive="{p}" in frame)
            other, (x, w, _, _, _) = words.verb()
            text = frame
            for slot, word in {"v": v, "p": d, "g": g, "w": w, "x": x}.items():
                text = text.replace(f"{{{slot}}}", word)
            told = stated("asserted", kind, first)
            yield frame, Phrase(text, told + (stated("asserted", other, second) if second else ()))


def mixed(words: Words, count: int) -> Iterator[tuple[str, Phrase]]:
    """One name with two verb phrases, each asserted, denied or doubted."""
    rng = words.rng
    for _ in range(count):
        statuses = rng.choice(
            ["asserted negated", "asserted negated", "negated asserted", "asserted speculated"]
        ).split()
        if rng.random() < 0.25:
            statuses = ["negated", "negated"]
        one, two = (verb_phrase(words, "A", x, s) for x, s in zip("BC", statuses, strict=True))
        joint = rng.choice([" and ", " but ", ", but ", ", and ", " yet "])
        text = f"{{A}} {one.text}{joint}{two.text}"
        yield f"{' '.join(statuses)} {joint.strip()}", Phrase(text, one.pairs + two.pairs)


def single(words: Words, count: int) -> Iterator[tuple[str, Phrase]]:
    """One verb phrase, mostly denied: no effect and the like."""
    rng = words.rng
    for _ in range(count):
        status = rng.choice(["negated", "negated", "asserted", "speculated"])
        told = verb_phrase(words, "A", "B", status)
        yield f"single {status}", Phrase(f"{{A}} {told.text}", told.pairs)


def lists(words: Words, count: int) -> Iterator[tuple[str, Phrase]]:
    """One name and several others that are alike; those are not joined to one another."""
    rng = words.rng
    for _ in range(count):
        letters = rng.choice(["BC", "BC", "BCD"])
        several = rng.choice(LISTS[letters])
        way = rng.choice(["objects", "subjects", "passive", "agents", "noun", "except"])
        kind, (_, v, d, _, n) = words.verb(passive=way in ("passive", "agents", "noun"))
        base = ""
        if way == "subjects":
            kind, (base, *_) = words.verb(kind)
            several = several.replace(" or ", " and ").replace(" plus ", " and ")
        out = stated("asserted", kind, *(f"A {x}" for x in letters))
        into = stated("asserted", kind, *(f"{x} A" for x in letters))
        text, told = {
            "objects": (f"{{A}} {v} {several}", out),
            "subjects": (f"{several} {base} {{A}}", into),
            "passive": (f"{several} are {d} by {{A}}", out),
            "agents": (f"{{A}} is {d} by {several}", into),
            "noun": (f"{{A}}-{rng.choice(LINKED)} {n} of {several} was seen", out),
            "except": (f"{{A}} {v} {{B}} but not {{C}}", stated("asserted", kind, "A B")),
        }[way]
        if way == "except":
            told += stated("negated", kind, "A C")
        yield f"{way} {several}", Phrase(text, told)


def nouns(words: Words, count: int) -> Iterator[tuple[str, Phrase]]:
    """What happens as a noun, or what a protein is to another."""
    rng = words.rng
    for _ in range(count):
        kind, (_, _, _, _, n) = words.verb(passive=True)
        does, linked = rng.choice(DOES), rng.choice(LINKED)
        role = rng.choice(list(ROLE))
        what = rng.choice(ROLE[role])
        thing = rng.choice(list(OBJECT_OF))
        joined = rng.choice(["binding", "association", "interaction", "recruitment"])
        told = stated("asserted", kind, "A B")
        bound = stated("asserted", "binding", "A B")
        found = [
            (f"{{A}}-{linked} {n} of {{B}} {does}", told),
            (f"{n} of {{B}} by {{A}} {does}", told),
            (f"{{B}} {n} by {{A}} {does}", told),
            (f"{{A}}-{linked} {{B}} {n} {does}", told),
            (f"{{A}}'s {n} of {{B}} {does}", told),
            (f"{n} of {{B}} through {{A}} {does}", told),
            (f"the {joined} of {{A}} with {{B}} {does}", bound),
            (f"{joined} of {{A}} to {{B}} {does}", bound),
            (f"{joined} between {{A}} and {{B}} {does}", bound),
            (f"{{A}} is a {what} of {{B}}", stated("asserted", role, "A B")),
            (f"{{A}} acts as a {what} of {{B}}", stated("asserted", role, "A B")),
            (f"{{A}}, a {what} of {{B}}, {does}", stated("asserted", role, "A B")),
            (f"{{B}} is a {OBJECT_OF[thing]} of {{A}}", stated("asserted", thing, "A B")),
            (f"{{B}}, a {OBJECT_OF[thing]} of {{A}}, {does}", stated("asserted", thing, "A B")),
            (f"the {{A}} {OBJECT_OF[thing]} {{B}} {does}", stated("asserted", thing, "A B")),
            (f"no {n} of {{B}} by {{A}} was found", stated("negated", kind, "A B")),
            (f"{{B}} {n} is independent of {{A}}", stated("negated", kind, "A B")),
            (f"the putative {n} of {{B}} by {{A}} {does}", stated("speculated", kind, "A B")),
        ]
        number = rng.randrange(len(found))
        text, pairs = found[number]
        yield f"noun {number}", Phrase(text, pairs)


def constructions(
    rng: random.Random, transitive: Mapping[str, Sequence[str]], joined: Sequence[str]
) -> Iterator[tuple[str, str, list[Pair]]]:
    """All of them: a construction, a sentence of it with letters for names, and its pairs."""
    words = Words(rng, transitive, joined)
    parts = {
        "complex": complexes(words, 4),
        "chain": chains(words, 500),
        "nested": nested(words, 6),
        "mixed": mixed(words, 150),
        "single": single(words, 80),
        "list": lists(words, 150),
        "noun": nouns(words, 180),
    }
    for part, phrases in parts.items():
        for key, phrase in phrases:
            yield f"{part}: {key}", _filled(rng, phrase.text), list(phrase.pairs)


def _filled(rng: random.Random, text: str) -> str:
    """The sentence with its small words, and with something around it."""
    text = rng.choice(BEFORE) + text + rng.choice(AFTER)
    noun = rng.choice(COMPLEX)
    several = {"assembly": "assemblies"}.get(noun, f"{noun}s")
    slots = {
        "does": DOES,
        "do": DO,
        "c": [noun],
        "c2": [several],
        "k": KINDS_OF,
        "t": ["ternary", "multiprotein", "heteromeric", "trimolecular", "larger"],
        "l": ["expression", "levels", "activity", "secretion"],
        "cells": ["HeLa cells", "T cells", "fibroblasts", "yeast", "the liver", "neurons"],
    }
    for slot, choices in slots.items():
        while f"{{{slot}}}" in text:
            text = text.replace(f"{{{slot}}}", rng.choice(choices), 1)
    return re.sub(r"\ba (?=[aeio])", "an ", text)
