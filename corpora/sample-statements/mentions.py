"""Sentences that name proteins without stating an interaction, and others that look like them.

``mentions`` gives (frame, text with letters, pairs), a pair being (who, whom, status, type). Frames
of ``MENTIONS`` state nothing about their names: is-a, member-of, part-of, places, staining,
antibodies, lists, appositions, methods, pathways and organelles named after proteins. Frames of
``STATED`` state some pairs and not others: mediators, loss and knock-down, substrates, roles.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

Pair = tuple[str, str, str, str]
REPEATS = 5  # sentences of a frame

MENTIONS: dict[str, Sequence[str]] = {
    "is-a": [
        "{A} is a close homologue of {B}",
        "{A} is a {family} like {B}",
        "{A}, a {family}, and {B} were cloned",
        "{A} is an isoform of {B}",
        "{A} is the orthologue of human {B}",
        "{A} is structurally related to {B}",
        "{A} resembles {B} in sequence",
        "the sequence of {A} is similar to that of {B}",
        "{A}, also called {B}, is found in {cells}",
        "{A} is better known as {B}",
        "{A} (formerly {B}) is found in {cells}",
        "{A} is the yeast counterpart of {B}",
        "{A} was identified as a novel {B}-like {family}",
        "{A}, {B} and {C} are three related {families}",
        "{A} shares its fold with {B}",
        "{A} arose by duplication of {B}",
    ],
    "member-of": [
        "{A} and {B} are members of one family",
        "{A} belongs to the {B} family",
        "{A} is a member of the {B} superfamily",
        "the {B} family includes {A} and {C}",
        "{families} such as {A} and {B} are found in {cells}",
        "{families}, including {A}, {B} and {C}, are encoded by the virus",
        "two {families}, {A} and {B}, were cloned from {cells}",
        "{A} and {B} are both {families}",
        "of the {families}, {A} and {B} are best known",
    ],
    "part-of": [
        "the {domain} domain of {A} resembles that of {B}",
        "{A} has a {domain} domain, as does {B}",
        "{A} contains a {B} homology domain",
        "residues of {A} that are conserved in {B} were mutated",
        "the {A} gene lies next to {B} on the chromosome",
        "exon 3 of {A} was replaced by that of {B}",
        "an {A}-{B} fusion protein was made",
        "a chimera of {A} and {B} was expressed in {cells}",
        "a plasmid with {A} under the {B} promoter was made",
        "the {A} promoter was fused to {B}",
        "GFP-tagged {A} and {B} were expressed in {cells}",
        "{A} mRNA and {B} mRNA were measured",
    ],
    "places": [
        "{A} colocalised with {B} in {cells}",
        "{A} and {B} colocalize at the membrane",
        "colocalization of {A} and {B} was seen in {cells}",
        "{A} was found in the same compartment as {B}",
        "{A} was seen next to {B} in {cells}",
        "{A} cosedimented with the marker {B}",
        "{A} and {B} are present in the same fractions",
        "{A} was detected in {B}-positive endosomes",
        "{A}-positive vesicles were distinct from {B}-positive ones",
        "{B} containing vesicles were free of {A}",
        "{A} was confined to {B}-expressing neurons",
        "{A} is expressed in {B}-positive cells",
        "the number of {A}+ {B}+ cells rose",
        "{A} and {B} were coexpressed in {cells}",
        "co-expression of {A} and {B} was common",
        "{A} and {B} show the same pattern of expression",
        "levels of {A} and {B} rose together in {cells}",
        "{A} expression parallels that of {B}",
        "{A} and {B} were both upregulated in {cells}",
        "{A} was upregulated and {B} was downregulated",
    ],
    "staining": [
        "cells were stained for {A} and {B}",
        "double staining for {A} and {B} is shown",
        "antibodies against {A} and {B} were used",
        "anti-{A} and anti-{B} antibodies were bought",
        "blots were probed with {A} and {B} antibodies",
        "an antibody to {A} did not recognise {B}",
        "{A} was used as a marker and {B} as a loading control",
        "lysates were blotted for {A}, {B} and {C}",
        "{A} was normalised to {B}",
        "sections were incubated with anti-{A} and then with anti-{B}",
        "immunohistochemistry for {A} and {B} was negative",
        "an ELISA for {A} and {B} was used",
        "{A} and {B} were quantified by western blot",
        "flow cytometry showed {A}, {B} and {C}",
    ],
    "lists": [
        "{A}, {B} and {C} were measured in {cells}",
        "primers for {A}, {B} and {C} were used",
        "genes such as {A}, {B} and {C} were induced",
        "mutations of {A}, {B} or {C} are common",
        "{A} ({B} and {C}) was studied",
        "markers ({A}, {B}, {C}) were studied",
        "neither {A} nor {B} was detected in {cells}",
        "{A}, {B} and {C} are found in {cells}",
        "the levels of {A} (5 ng) and {B} (3 ng) were low",
        "{A} as well as {B} is expressed in {cells}",
        "expression of {A}, but not of {B}, was high",
        "patients with {A} or {B} mutations were included",
        "polymorphisms of {A} and {B} were typed",
        "knockouts of {A} and of {B} are viable",
        "{A}-/- and {B}-/- mice were crossed",
        "recombinant {A} and {B} were purified",
        "cells were treated with {A} or {B}",
        "cells were transfected with {A} and {B}",
        "{A} and {B} are involved in {process}",
        "{A} and {B} play a part in {process}",
        "{A} is required for {process} and {B} for growth",
        "the roles of {A} and {B} in {process} are discussed",
    ],
    "pathways": [
        "the {A} pathway and the {B} pathway were studied",
        "{A} signalling differs from {B} signalling",
        "the {A}/{B} pathway is reviewed",
        "genes of the {A} pathway, such as {B}, were sequenced",
        "inhibitors of {A} and of {B} were compared",
        "an inhibitor of {A} and an agonist of {B} were given",
        "{A} inhibitors are used in {B}-positive tumours",
        "{A}-positive granules and {B} bodies were counted",
        "{A} was studied in {B}-null cells",
        "{A} was studied in {B}-deficient mice",
        "in {A}-expressing cells {B} was normal",
        "{B} was measured after {A} treatment",
        "{A}-driven tumours were screened for {B}",
    ],
}
STATED: Sequence[tuple[str, Sequence[Pair]]] = [
    ("{A} activates {B} via {C}", [("A", "B", "asserted", "activation")]),
    ("{A} activates {B} through {C}", [("A", "B", "asserted", "activation")]),
    ("{A} inhibits {B} by means of {C}", [("A", "B", "asserted", "inhibition")]),
    ("{A} induces {B} in a {C}-dependent manner", [("A", "B", "asserted", "activation")]),
    ("{A} upregulates {B} independently of {C}", [("A", "B", "asserted", "activation")]),
    ("{A} controls {B} by blocking its export", [("A", "B", "asserted", "inhibition")]),
    ("{A} limits {B} by repressing its promoter", [("A", "B", "asserted", "inhibition")]),
    ("loss of {A} raised {B} levels", [("A", "B", "asserted", "inhibition")]),
    ("loss of {A} lowered {B} levels", [("A", "B", "asserted", "activation")]),
    ("silencing of {A} led to more {B}", [("A", "B", "asserted", "inhibition")]),
    ("silencing of {A} led to less {B}", [("A", "B", "asserted", "activation")]),
    ("deletion of {A} impairs expression of {B}", [("A", "B", "asserted", "activation")]),
    ("{B} is reduced in {A}-deficient mice", [("A", "B", "asserted", "activation")]),
    ("{B} is increased in cells that lack {A}", [("A", "B", "asserted", "inhibition")]),
    ("overexpression of {A} increased {B}", [("A", "B", "asserted", "activation")]),
    ("overexpression of {A} diminished {B}", [("A", "B", "asserted", "inhibition")]),
    (
        "{A} substrates such as {B} and {C} were seen",
        [("A", "B", "asserted", "modification"), ("A", "C", "asserted", "modification")],
    ),
    (
        "substrates of the kinase {A} include {B} and {C}",
        [("A", "B", "asserted", "phosphorylation"), ("A", "C", "asserted", "phosphorylation")],
    ),
    ("{B} is phosphorylated by {A}, unlike {C}", [("A", "B", "asserted", "phosphorylation")]),
    (
        "{A}-mediated phosphorylation of {B} was reduced",
        [("A", "B", "asserted", "phosphorylation")],
    ),
    ("{A}-catalysed acetylation of {B} was seen", [("A", "B", "asserted", "modification")]),
    (
        "unlike {A}, which acetylates {B}, {C} acetylates {D}",
        [("A", "B", "asserted", "modification"), ("C", "D", "asserted", "modification")],
    ),
    (
        "whereas {A} binds {B}, {C} binds {D}",
        [("A", "B", "asserted", "binding"), ("C", "D", "asserted", "binding")],
    ),
    ("{A} associates with {B} in {cells} and {C} levels rose", [("A", "B", "asserted", "binding")]),
    ("{A} binds {B}, and {C} was unchanged", [("A", "B", "asserted", "binding")]),
    ("{A}, which colocalises with {C}, binds {B}", [("A", "B", "asserted", "binding")]),
    ("{A}, a homologue of {C}, binds {B}", [("A", "B", "asserted", "binding")]),
    ("{A}, a member of the {C} family, activates {B}", [("A", "B", "asserted", "activation")]),
    ("the {A} receptor {B} was cloned", [("A", "B", "asserted", "binding")]),
    ("{B}, the receptor of {A}, was cloned", [("A", "B", "asserted", "binding")]),
    ("{A} and its ligand {B} were studied", [("A", "B", "asserted", "binding")]),
    (
        "{A} had no effect on {B} or {C}",
        [("A", "B", "negated", "regulation"), ("A", "C", "negated", "regulation")],
    ),
    (
        "{A} binds {B} and had no effect on {C}",
        [("A", "B", "asserted", "binding"), ("A", "C", "negated", "regulation")],
    ),
    ("{B} was unaffected by {A} in {cells}", [("A", "B", "negated", "regulation")]),
    ("{A} did not alter {B}, whereas {C} did", [("A", "B", "negated", "regulation")]),
]  # fmt: skip
SLOTS: dict[str, Sequence[str]] = {
    "family": ["kinase", "GTPase", "transcription factor", "cytokine", "receptor", "phosphatase"],
    "families": ["kinases", "GTPases", "transcription factors", "cytokines", "receptors"],
    "domain": ["SH2", "SH3", "PH", "PDZ", "kinase", "RING"],
    "process": ["apoptosis", "cell division", "immunity", "wound healing", "DNA repair"],
}


def mentions(rng: random.Random, cells: Sequence[str]) -> Iterator[tuple[str, str, list[Pair]]]:
    """Yield every frame ``REPEATS`` times, with the slots other than names filled."""
    frames = [(frame, ()) for group in MENTIONS.values() for frame in group]
    for frame, pairs in [*frames, *STATED]:
        for _ in range(REPEATS):
            text = frame
            for slot, words in (*SLOTS.items(), ("cells", cells)):
                while f"{{{slot}}}" in text:
                    text = text.replace(f"{{{slot}}}", rng.choice(words), 1)
            yield frame, text, list(pairs)
