"""Writes corpus.jsonl: short sentences about two or three proteins, with who does what to whom.

    python build.py > corpus.jsonl
    python build.py findings > findings.jsonl

A small grammar in our own words; ``constructions.py`` adds longer sentences, ``mentions.py`` those
that name proteins without stating an interaction. ``findings.py`` has those of results, which are a
corpus of their own. A frame is a sentence with the names A, B, C and slots for verbs; its pairs say
status, type and direction. Sentences of one frame are one document, so that leaving a document out
leaves a way of saying it out.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator

from constructions import constructions
from findings import findings
from mentions import mentions

NAMES = [
    "AXL",
    "BAD",
    "BAX",
    "BRAF",
    "CASP8",
    "CAV1",
    "CBL",
    "CCND1",
    "CD19",
    "CD40L",
    "CDC25A",
    "CHEK2",
    "CREB1",
    "CRK",
    "CSF1",
    "CTNNB1",
    "DAXX",
    "DVL2",
    "E2F1",
    "EGR1",
    "ELK1",
    "EPO",
    "ERBB2",
    "ETS1",
    "EZH2",
    "FADD",
    "FGF2",
    "FOXO1",
    "FYN",
    "GAB1",
    "GATA1",
    "GSK3B",
    "HDAC4",
    "HIF1A",
    "HSP90",
    "IFN-beta",
    "IKKalpha",
    "IL-12",
    "IRF3",
    "ITK",
    "JAK1",
    "JUND",
    "KLF4",
    "LATS1",
    "LCK",
    "LEF1",
    "LYN",
    "MAVS",
    "MCL1",
    "MEF2C",
    "MST1",
    "MYB",
    "NCK1",
    "NEMO",
    "NFAT2",
    "NOTCH1",
    "NRF2",
    "OCT4",
    "p21",
    "p300",
    "p38alpha",
    "PAX6",
    "PDK1",
    "PIAS1",
    "PIN1",
    "PLK1",
    "PTEN",
    "RAC1",
    "RB1",
    "RELA",
    "RIPK1",
    "RUNX2",
    "SIRT1",
    "SLP-76",
    "SMURF1",
    "SNAI1",
    "SOX9",
    "SRC",
    "SUZ12",
    "SYK",
    "TAB2",
    "TAK1",
    "TBK1",
    "TIRAP",
    "TRAF5",
    "TWIST1",
    "TYK2",
    "USP7",
    "VAV1",
    "VHL",
    "WNT3A",
    "XIAP",
    "YAP1",
    "ZAP-70",
    "ZEB1",
]
MORE_NAMES = [  # for longer sentences, with names of several words
    *NAMES,
    "alpha-actinin",
    "Bcl-2",
    "beta-catenin",
    "c-Jun",
    "calcineurin",
    "calmodulin",
    "caspase-9",
    "cdk2",
    "cyclin E",
    "cyclin A2",
    "E-cadherin",
    "eIF4E",
    "Fas ligand",
    "GM-CSF",
    "heat shock protein 70",
    "IL-10",
    "IL-2 receptor",
    "integrin beta 3",
    "JNK",
    "MyD88",
    "NF-kappaB p65",
    "p27Kip1",
    "paxillin",
    "PI3K",
    "profilin",
    "protein kinase A",
    "Rho kinase",
    "sigma 70",
    "Skp2",
    "TGF-beta1",
    "TNF-alpha",
    "vinculin",
]
CELLS = [
    "HeLa cells",
    "T cells",
    "fibroblasts",
    "the cytoplasm",
    "vitro",
    "this pathway",
    "yeast",
    "the liver",
]

# base, third person, past and participle, -ing, noun
TRANSITIVE = {
    "binding": [
        "bind binds bound binding binding",
        "contact contacts contacted contacting contact",
        "recognize recognizes recognized recognizing recognition",
    ],
    "phosphorylation": [
        "phosphorylate phosphorylates phosphorylated phosphorylating phosphorylation"
    ],
    "modification": [
        "ubiquitylate ubiquitylates ubiquitylated ubiquitylating ubiquitylation",
        "ubiquitinate ubiquitinates ubiquitinated ubiquitinating ubiquitination",
        "acetylate acetylates acetylated acetylating acetylation",
        "deacetylate deacetylates deacetylated deacetylating deacetylation",
        "methylate methylates methylated methylating methylation",
        "dephosphorylate dephosphorylates dephosphorylated dephosphorylating dephosphorylation",
        "sumoylate sumoylates sumoylated sumoylating sumoylation",
        "glycosylate glycosylates glycosylated glycosylating glycosylation",
    ],
    "degradation": ["degrade degrades degraded degrading degradation"],
    "activation": [
        "activate activates activated activating activation",
        "stimulate stimulates stimulated stimulating stimulation",
        "induce induces induced inducing induction",
        "upregulate upregulates upregulated upregulating upregulation",
        "enhance enhances enhanced enhancing enhancement",
        "transactivate transactivates transactivated transactivating transactivation",
        "stabilize stabilizes stabilized stabilizing stabilization",
    ],
    "inhibition": [
        "inhibit inhibits inhibited inhibiting inhibition",
        "repress represses repressed repressing repression",
        "suppress suppresses suppressed suppressing suppression",
        "block blocks blocked blocking blockade",
        "downregulate downregulates downregulated downregulating downregulation",
        "antagonize antagonizes antagonized antagonizing antagonism",
        "inactivate inactivates inactivated inactivating inactivation",
    ],
    "regulation": [
        "regulate regulates regulated regulating regulation",
        "modulate modulates modulated modulating modulation",
        "control controls controlled controlling control",
        "affect affects affected affecting regulation",
        "influence influences influenced influencing modulation",
    ],
}
WITH = [  # verbs of binding with their preposition
    "interact interacts interacted interacting interaction with",
    "associate associates associated associating association with",
    "coimmunoprecipitate coimmunoprecipitates coimmunoprecipitated coimmunoprecipitating "
    "coimmunoprecipitation with",
    "bind binds bound binding binding to",
    "complex complexes complexed complexing complex with",
    "heterodimerize heterodimerizes heterodimerized heterodimerizing heterodimerization with",
    "colocalize colocalizes colocalized colocalizing colocalization with",
]
UP = [
    "increases",
    "increased",
    "raises",
    "elevated",
    "promotes",
    "promoted",
    "boosts",
    "drives",
    "upregulates",
]
DOWN = [
    "reduces",
    "reduced",
    "lowers",
    "decreased",
    "diminished",
    "abolished",
    "impairs",
    "prevented",
    "attenuates",
]
LEVEL = [
    "expression",
    "transcription",
    "mRNA levels",
    "secretion",
    "activity",
    "production",
    "protein levels",
]
LOSS = [
    "Loss",
    "Silencing",
    "Deletion",
    "Depletion",
    "Absence",
    "Ablation",
    "Inactivation",
    "Knockout",
]

ASSERTED = [
    "{A} {v} {B}",
    "{A} {d} {B}",
    "{A} directly {v} {B} in {cells}",
    "In {cells}, {A} {v} {B}",
    "We found that {A} {v} {B}",
    "Here we show that {A} {v} {B}",
    "{A} has been shown to {b} {B}",
    "{A} is known to {b} {B}",
    "Our experiments demonstrate that {A} {v} {B}",
    "It is well established that {A} {v} {B}",
    "{A} {v} {B} upon stimulation",
    "Upon infection {A} rapidly {v} {B}",
    "Thus, {A} {v} {B}",
    "{A} was confirmed to {b} {B}",
    "Taken together, {A} potently {v} {B}",
    "As expected, {A} {d} {B}",
    "{A} also {v} {B}",
    "The kinetics showed that {A} {d} {B} first",
    "Both assays confirm that {A} {v} {B}",
    "{A} acts by {g} {B}",
    "By {g} {B}, {A} promotes survival",
    "{A} moves to the nucleus and {v} {B}",
    "This is because {A} {v} {B}",
    "{A}, a small protein, {v} {B}",
    "Wild-type {A} {d} purified {B}",
]
NEGATED = [
    "{A} does not {b} {B}",
    "{A} did not {b} {B} in {cells}",
    "{A} cannot {b} {B}",
    "{A} could not {b} {B}",
    "{A} never {d} {B}",
    "{A} fails to {b} {B}",
    "{A} was not able to {b} {B}",
    "{A} is incapable of {g} {B}",
    "{A} no longer {v} {B}",
    "{A} does not directly {b} {B}",
    "There is no evidence that {A} {v} {B}",
    "We found no evidence that {A} {v} {B}",
    "{A} lacks the ability to {b} {B}",
    "Unexpectedly, {A} did not {b} {B}",
    "In {cells}, {A} doesn't {b} {B}",
    "Mutant {A} is unable to {b} {B}",
    "Our data argue that {A} does not {b} {B}",
    "{A} enters the nucleus without {g} {B}",
    "We show that {A} does not {b} {B}",
    "{A} had lost the capacity to {b} {B}",
    "It is not true that {A} {v} {B}",
    "{A} was seen in {cells} but did not {b} {B}",
    "The inability of {A} to {b} {B} was confirmed",
    "The failure of {A} to {b} {B} was surprising",
    "{A}, however, did not {b} {B}",
    "Contrary to earlier reports, {A} does not {b} {B}",
    "These results rule out that {A} {v} {B}",
    "In no case did {A} {b} {B}",
    "Under no circumstances did {A} {b} {B}",
]
SPECULATED = [
    "{A} may {b} {B}",
    "{A} could {b} {B} in {cells}",
    "{A} might directly {b} {B}",
    "{A} possibly {v} {B}",
    "{A} presumably {v} {B}",
    "Perhaps {A} {v} {B}",
    "{A} is likely to {b} {B}",
    "{A} is believed to {b} {B}",
    "{A} is predicted to {b} {B}",
    "{A} is assumed to {b} {B}",
    "{A} has been hypothesized to {b} {B}",
    "It has been proposed that {A} {v} {B}",
    "We hypothesize that {A} {v} {B}",
    "We speculate that {A} {v} {B}",
    "These data suggest that {A} {v} {B}",
    "Our findings suggest that {A} may {b} {B}",
    "It is conceivable that {A} {v} {B}",
    "It is likely that {A} {v} {B}",
    "It remains to be determined whether {A} {v} {B}",
    "It is unclear whether {A} {v} {B}",
    "It is not clear whether {A} {v} {B}",
    "Whether {A} {v} {B} remains unknown",
    "Whether {A} {v} {B} has not been examined",
    "We tested whether {A} {v} {B}",
    "We examined if {A} {v} {B}",
    "We next investigated whether {A} {v} {B}",
    "We wondered whether {A} {v} {B}",
    "To determine whether {A} {v} {B}, we used purified proteins",
    "To find out if {A} {v} {B}, cells were lysed",
    "Experiments were designed to ask whether {A} {v} {B}",
    "The possibility that {A} {v} {B} was considered",
    "The idea that {A} {v} {B} awaits proof",
    "If {A} {v} {B}, growth should stop",
    "{A} is a candidate to {b} {B}",
    "One may assume that {A} {v} {B}",
    "It is uncertain if {A} {v} {B}",
    "How {A} could {b} {B} is an open question",
    "{A} seems to {b} {B}",
    "{A} appears to {b} {B}",
    "We sought to establish whether {A} {v} {B}",
    "A model in which {A} {v} {B} was proposed",
    "No one knows whether {A} {v} {B}",
    "There is some indication that {A} might {b} {B}",
    "Does {A} {b} {B}?",
    "The hypothesis is that {A} {v} {B}",
]
PASSIVE = {
    "asserted": [
        "{B} is {p} by {A}",
        "{B} was {p} by {A} in {cells}",
        "{B} has been shown to be {p} by {A}",
        "We found that {B} is {p} by {A}",
        "{B} was rapidly {p} by {A}",
        "{B}, {p} by {A}, is stable",
        "{B} is directly {p} by {A}",
        "When {p} by {A}, {B} leaves the nucleus",
        "Once {B} is {p} by {A}, it is exported",
        "{B} gets {p} by {A} and then moves",
        "In {cells}, {B} was found to be {p} by {A}",
        "{B} that was {p} by {A} was purified",
    ],
    "negated": [
        "{B} is not {p} by {A} in {cells}",
        "{B} was not {p} by {A}",
        "{B} was never {p} by {A}",
        "{B} could not be {p} by {A}",
        "{B} cannot be {p} by {A}",
        "{B} failed to be {p} by {A}",
        "We show that {B} is not {p} by {A}",
        "{B} was no longer {p} by {A}",
        "Mutant {B} is not efficiently {p} by {A}",
        "{B} is found in {cells} but is not {p} by {A}",
    ],
    "speculated": [
        "{B} may be {p} by {A}",
        "{B} could be {p} by {A}",
        "{B} might be {p} by {A} in {cells}",
        "It is possible for {B} to be {p} by {A}",
        "{B} is thought to be {p} by {A}",
        "Whether {B} is {p} by {A} is unclear",
        "We tested whether {B} is {p} by {A}",
        "{B} is probably {p} by {A}",
        "It is not known if {B} is {p} by {A}",
        "These results suggest that {B} is {p} by {A}",
        "{B} has been proposed to be {p} by {A}",
    ],
}
NOMINAL = {
    "asserted": [
        "{N} of {B} by {A} was confirmed in {cells}",
        "The {n} of {B} by {A} depends on zinc",
        "We observed {n} of {B} by {A}",
        "{A} is responsible for the {n} of {B}",
        "The {n} of {B} by {A} is essential for growth",
        "{A} catalyzes the {n} of {B}",
        "Rapid {n} of {B} by {A} was seen",
        "This leads to {n} of {B} by {A}",
        "{N} of {B} is carried out by {A}",
        "Evidence for {n} of {B} by {A} is presented",
    ],
    "negated": [
        "No {n} of {B} by {A} was detected",
        "We observed no {n} of {B} by {A}",
        "There was no {n} of {B} by {A} in {cells}",
        "{N} of {B} by {A} was not observed",
        "{N} of {B} by {A} could not be detected",
        "We did not detect {n} of {B} by {A}",
        "The absence of {n} of {B} by {A} was confirmed",
        "{A} had no role in the {n} of {B}",
        "Lack of {n} of {B} by {A} was evident",
        "We failed to see any {n} of {B} by {A}",
        "Not even a trace of {n} of {B} by {A} was found",
        "{N} of {B} by {A} does not occur",
    ],
    "speculated": [
        "Possible {n} of {B} by {A} was considered",
        "The potential {n} of {B} by {A} needs study",
        "{N} of {B} by {A} has been hypothesized",
        "{N} of {B} by {A} is conceivable",
        "A putative {n} of {B} by {A} awaits confirmation",
        "{N} of {B} by {A} remains to be tested",
        "It is unclear if {n} of {B} by {A} takes place",
        "{N} of {B} by {A} may occur in {cells}",
        "We tested for {n} of {B} by {A}",
        "The hypothetical {n} of {B} by {A} was discussed",
    ],
}
TOGETHER = {  # binding, both names alike; n is interaction, association, binding, complex
    "asserted": [
        "{A} and {B} {b} each other in {cells}",
        "The {n} between {A} and {B} is strong",
        "We detected an {n} between {A} and {B}",
        "{A} and {B} were shown to {b}",
        "An {n} of {A} and {B} was confirmed",
        "{A} and {B} {b} in vivo",
        "{A} is in a complex with {B}",
        "A complex of {A} and {B} was purified",
        "{A} is a binding partner of {B}",
        "{A} and {B} form heterodimers in {cells}",
        "{A} was pulled down with {B}",
        "The {A}/{B} complex is stable",
        "{A}-{B} {n} was seen",
        "{A} forms a complex with {B} in {cells}",
        "A direct {n} between {A} and {B} was mapped",
        "{A} serves as a ligand for {B}",
        "{A} bound to {B} was recovered",
        "{n} of {A} to {B} is fast",
    ],
    "negated": [
        "There is no {n} between {A} and {B}",
        "No {n} of {A} and {B} was found",
        "{A} and {B} do not {b}",
        "{A} and {B} did not {b} in {cells}",
        "The {n} between {A} and {B} could not be confirmed",
        "{A} does not form a complex with {B}",
        "We saw no complex between {A} and {B}",
        "An {n} between {A} and {B} was not observed",
        "{A} and {B} failed to {b}",
        "{A} was not pulled down with {B}",
        "No {n} was observed between {A} and {B}",
        "{A} is not a ligand for {B}",
        "Mutations prevented any {n} between {A} and {B}",
        "{A} is not in a complex with {B}",
        "{A} and {B} never {b} in {cells}",
        "{A} without {B} bound was stable",
    ],
    "speculated": [
        "{A} and {B} may {b}",
        "{A} and {B} could form a complex",
        "We asked whether {A} and {B} {b}",
        "An {n} between {A} and {B} is possible",
        "The possible {n} between {A} and {B} was examined",
        "It is unknown whether {A} and {B} {b}",
        "If {A} and {B} {b} is still unclear",
        "An {n} between {A} and {B} was predicted",
        "{A} and {B} are thought to {b}",
        "{A} might form a complex with {B}",
        "To test for an {n} between {A} and {B}, we used yeast",
        "A potential {n} between {A} and {B} was suggested",
        "{A} and {B} probably {b}",
    ],
}
# up and down stand for verbs of more and less; the type is that of the effect of A on B
LEVELS = {
    "activation": [
        "{A} {up} {B} {l}",
        "{A} {up} the {l} of {B} in {cells}",
        "{A} strongly {up} {B} {l}",
        "{x} of {A} {down} {B} {l}",
        "{x} of {A} {down} the {l} of {B}",
        "{B} {l} was {down2} in cells lacking {A}",
        "Cells deficient in {A} had less {B}",
        "{B} {l} was {up2} by {A}",
        "{A}-induced {l} of {B} was seen",
        "{A} overexpression {up} {B} {l}",
        "Transfection of {A} {up} {B} {l}",
        "siRNA against {A} {down} {B} {l}",
        "{B} {l} depends on {A}",
        "{B} {l} requires {A}",
        "{A} is required for {B} {l}",
        "{A} is essential for the {l} of {B}",
        "An inhibitor of {A} {down} {B} {l}",
        "Addition of {A} led to higher {B} {l}",
        "In the absence of {A}, {B} {l} fell",
    ],
    "inhibition": [
        "{A} {down} {B} {l}",
        "{A} {down} the {l} of {B} in {cells}",
        "{A} strongly {down} {B} {l}",
        "{x} of {A} {up} {B} {l}",
        "{x} of {A} {up} the {l} of {B}",
        "{B} {l} was {up2} in cells lacking {A}",
        "Cells deficient in {A} had more {B}",
        "{B} {l} was {down2} by {A}",
        "{A} overexpression {down} {B} {l}",
        "Transfection of {A} {down} {B} {l}",
        "siRNA against {A} {up} {B} {l}",
        "{A} is a negative regulator of {B}",
        "{A} negatively regulates {B} {l}",
        "{A} is an inhibitor of {B}",
        "An inhibitor of {A} {up} {B} {l}",
        "Addition of {A} led to lower {B} {l}",
        "In the absence of {A}, {B} {l} rose",
        "{A}-induced repression of {B} was seen",
    ],
    "regulation": [
        "{A} has an effect on {B} {l}",
        "{A} alters {B} {l}",
        "{B} {l} is under the control of {A}",
        "{A} is a regulator of {B}",
        "{B} is a target of {A}",
        "{A} plays a role in {B} {l}",
        "{B} {l} was changed by {A}",
        "{B} acts downstream of {A}",
        "{A}-dependent regulation of {B} {l}",
    ],
}
NO_LEVELS = [  # negated regulation, whatever the verb
    "{A} had no effect on {B} {l}",
    "{A} did not affect {B} {l}",
    "{A} did not change the {l} of {B}",
    "{x} of {A} did not affect {B} {l}",
    "{B} {l} was not altered by {A}",
    "{B} {l} was unaffected by {A}",
    "{A} was without effect on {B} {l}",
    "{B} {l} does not depend on {A}",
    "{B} {l} was independent of {A}",
    "{A} is not required for {B} {l}",
    "No effect of {A} on {B} {l} was seen",
    "{B} {l} remained unchanged in the absence of {A}",
    "{A} has little or no influence on {B} {l}",
    "{A} is dispensable for {B} {l}",
]
MAYBE_LEVELS = [
    "{A} may affect {B} {l}",
    "We tested the effect of {A} on {B} {l}",
    "Whether {A} influences {B} {l} is unclear",
    "A role of {A} in {B} {l} has been suggested",
    "We examined whether {x2} of {A} alters {B} {l}",
    "{A} could play a role in {B} {l}",
    "To see if {A} controls {B} {l}, we used mutants",
    "{B} {l} is possibly regulated by {A}",
]
# Three names; a pair is (who, whom, status, which verb)
THREE = [
    ("{A} {v} {B} as well as {C}", "AB+ AC+"),
    ("{A} {v} both {B} and {C}", "AB+ AC+"),
    ("{A} {v} {B}, {C} and other proteins", "AB+ AC+"),
    ("{A} {v} {C} through {B}", "AC+"),
    ("{A} or {B} {v} {C}", "AC+ BC+"),
    ("{A} as well as {B} {v} {C}", "AC+ BC+"),
    ("{A}, but not {B}, {v} {C}", "AC+ BC-"),
    ("{A} and not {B} {v} {C}", "AC+ BC-"),
    ("{A} {v} {B} and not {C}", "AB+ AC-"),
    ("{A} {v} {B}, but it does not {b} {C}", "AB+ AC-"),
    ("{A} {v} neither {B} nor {C}", "AB- AC-"),
    ("{A} does not {b} {B} or {C}", "AB- AC-"),
    ("{A} did not {b} {B}, nor did it {b} {C}", "AB- AC-"),
    ("Neither {A} nor its partner {B} can {b} {C}", "AC- BC-"),
    ("{A} {v} {B}, whereas {C} does not", "AB+ CB-"),
    ("{A} {v} {B}, while {C} {d2} nothing", "AB+"),
    ("Unlike {A}, {B} does not {b} {C}", "AC+ BC-"),
    ("Unlike {A}, {B} {v} {C}", "BC+ AC-"),
    ("{A} does not {b} {B} but {v2} {C}", "AB- AC2"),
    ("{A} {v} {B} but may not {b} {C}", "AB+ AC?"),
    ("{A} {v} {B} and may {b2} {C}", "AB+ AC?2"),
    ("{A}, which {v} {B}, {v2} {C}", "AB+ AC2"),
    ("{A} {v} {B}, and {B2} in turn {v2} {C}", "AB+ B2C2"),
    ("{A} {v} {B}, which subsequently {v2} {C}", "AB+ BC2"),
    ("{A} {v} {B} and {B2} {v2} {C}", "AB+ B2C2"),
    ("{A} {v} {B}, thereby {g2} {C}", "AB+ AC2"),
    ("{A} that {v} {B} also {v2} {C}", "AB+ AC2"),
    ("{B}, {p} by {A}, {v2} {C}", "AB+ BC2"),
    ("After {g} {B}, {A} {v2} {C}", "AB+ AC2"),
    ("{A} {v} {B} and {v2} {C}", "AB+ AC2"),
    ("Although {A} {v} {B}, it does not {b2} {C}", "AB+ AC-2"),
    ("{A} first {v} {B} and then {v2} {C}", "AB+ AC2"),
    ("{C} was measured while {A} {d} {B}", "AB+"),
    ("{A} {v} {B} in cells that express {C}", "AB+"),
    ("{A} {v} {B}, a relative of {C}", "AB+"),
    ("Like {C}, {A} {v} {B}", "AB+ CB+"),
    ("{A}, {B} and {C} are kinases", ""),
    ("{A} {v} {B}; {C} was used as a control", "AB+"),
    ("Unlike {C}, {A} was shown to {b} {B}", "AB+ CB-"),
    ("{A} {v} {B} better than {C}", "AB+"),
]
NOTHING = [  # names that have nothing to do with one another
    "{A} and {B} were cloned from a library",
    "Expression of {A} and {B} was analysed by PCR",
    "{A} lies in the nucleus and {B} at the membrane",
    "{A} and {B} belong to one family",
    "Mutations in {A} or {B} cause disease",
    "We studied {A}, {B} and {C}",
    "{A} is homologous to {B}",
    "{A} is larger than {B}",
    "Patients had mutations in {A} and {B}",
    "{A} (formerly {B}) is a kinase",
    "The genes of {A} and {B} are on chromosome 7",
    "Cells were stained for {A}, {B} and {C}",
    "Samples were probed for {A} and {B}",
    "Primers for {A} and {B} are listed",
    "{A} levels were high and {B} levels were low",
    "{A} as well as {B} is found in {cells}",
    "Both {A} and {B} are expressed in {cells}",
    "{A} and {B} are markers of {cells}",
    "{A} was normalized to {B}",
    "Plasmids for {A} and {B} were a gift",
    "{A} shares a domain with {B}",
]


# Asserted, though a word that denies or doubts elsewhere stands near, or one that denials have too
STILL = [
    "{A} not only {v} {B} but also moves to the nucleus",
    "Not only does {A} {b} {B}, it is also abundant",
    "{A} {v} {B} not just in {cells} but in all tissues",
    "Although division was not altered, {A} {d} {B}",
    "While the cells did not divide, {A} still {d} {B}",
    "Since nothing else was changed, {A} {d} {B} as before",
    "{A} {v} {B}, which does not require calcium",
    "{A} {v} {B} in cells that do not divide",
    "{A} {v} {B}, but this had no consequence for viability",
    "No toxicity was seen when {A} {d} {B}",
    "There is no doubt that {A} {v} {B}",
    "It is not surprising that {A} {v} {B}",
    "{A} {d} {B} without any delay",
    "{A} {v} {B} even in the absence of ATP",
    "{A} {v} {B}, although the reason is unknown",
    "{A} {v} {B}; whether this matters for viability is unclear",
    "How {A} {v} {B} is not understood",
    "{A} {v} {B}, which may explain the phenotype",
    "{A} {v} {B} and could be a drug target",
    "Because {A} {v} {B}, the mutant did not grow",
]
STILL_NOMINAL = [
    "{N} of {B} by {A} was observed in {cells}",
    "{N} of {B} by {A} was detected after an hour",
    "{N} of {B} by {A} could be shown",
    "{N} of {B} by {A} can be detected in {cells}",
    "{N} of {B} by {A} was readily observed",
    "{N} of {B} by {A} could be measured",
    "{N} of {B} by {A} occurs in {cells}",
    "{N} of {B} by {A} was found",
    "A strong {n} of {B} by {A} was evident",
    "We were able to detect {n} of {B} by {A}",
    "{N} of {B} by {A}, which had not been known, was confirmed",
]


def fill(rng: random.Random, frame: str, kind: str, status: str) -> tuple[str, list[str]]:
    """A frame with its verbs; the names still stand as {A}, {B}, {C}."""
    verbs = TRANSITIVE[kind]
    if (
        kind == "binding"
        and ("{B} by" not in frame and "by {A}" not in frame)
        and rng.random() < 0.6
    ):
        *forms, preposition = rng.choice(WITH).split()
        b, v, d, g, n = forms
        b, v, d, g = (f"{form} {preposition}" for form in (b, v, d, g))
        p = forms[2]
    else:
        b, v, d, g, n = rng.choice(verbs).split()
        p = d
    second = rng.choice([k for k in TRANSITIVE if k not in ("binding", "degradation")])
    b2, v2, d2, g2, _ = rng.choice(TRANSITIVE[second]).split()
    up, down = rng.choice(UP), rng.choice(DOWN)
    text = frame
    for slot, word in {
        "b": b,
        "v": v,
        "d": d,
        "g": g,
        "p": p,
        "n": n,
        "N": n.capitalize(),
        "b2": b2,
        "v2": v2,
        "d2": d2,
        "g2": g2,
        "up": up,
        "down": down,
        "up2": "increased",
        "down2": "reduced",
        "l": rng.choice(LEVEL),
        "x": rng.choice(LOSS),
        "x2": "loss",
        "cells": rng.choice(CELLS),
    }.items():
        text = text.replace("{" + slot + "}", word)
    text = text.replace(" an binding", " a binding").replace("An binding", "A binding")
    text = text.replace(" an complex", " a complex").replace("An complex", "A complex")
    text = text.replace("An colocal", "A colocal").replace(" an colocal", " a colocal")
    text = text.replace("An hetero", "A hetero").replace(" an hetero", " a hetero")
    text = text.replace("An coimm", "A coimm").replace(" an coimm", " a coimm")
    return text, [kind, second]


def rows(text: str, pairs: str, kinds: list[str]) -> list[tuple[str, str, str, str]]:
    """``AB+ AC-2`` as who, whom, status, type."""
    marks = {"+": "asserted", "-": "negated", "?": "speculated"}
    found = []
    for pair in pairs.split():
        whole, pair = pair, pair.replace("B2C", "BC") if pair.startswith("B2C") else pair
        second = whole.endswith("2")
        status = next((marks[c] for c in pair if c in marks), "asserted")
        who = "B2" if whole.startswith("B2") else pair[0]
        found.append((who, pair[1], status, kinds[1 if second else 0]))
    return found


def sentences(rng: random.Random) -> Iterator[tuple[str, str, list[tuple[str, str, str, str]]]]:
    """A frame, a sentence of it, and its pairs."""
    kinds = [*TRANSITIVE]
    verbal = {"asserted": ASSERTED, "negated": NEGATED, "speculated": SPECULATED}
    for status, frames in verbal.items():
        for frame in frames:
            for kind in kinds:
                text, own = fill(rng, frame, kind, status)
                yield frame, text, [("A", "B", status, kind)]
    for table in (PASSIVE, NOMINAL):
        for status, frames in table.items():
            for frame in frames:
                for kind in [k for k in kinds if k != "binding"]:
                    text, _ = fill(rng, frame, kind, status)
                    yield frame, text, [("A", "B", status, kind)]
    for status, frames in TOGETHER.items():
        for frame in frames:
            for _ in range(3):
                verb = rng.choice(["interact", "associate", "bind", "heterodimerize"])
                noun = {"interact": "interaction", "associate": "association"}.get(
                    verb, "association"
                )
                text = frame.replace("{b}", verb).replace("{n}", noun)
                text = text.replace("{cells}", rng.choice(CELLS))
                yield frame, text, [("A", "B", status, "binding")]
    for kind, frames in LEVELS.items():
        for frame in frames:
            for _ in range(5):
                text, _ = fill(rng, frame, kind, "asserted")
                yield frame, text, [("A", "B", "asserted", kind)]
    for status, frames in (("negated", NO_LEVELS), ("speculated", MAYBE_LEVELS)):
        for frame in frames:
            for _ in range(4):
                text, _ = fill(rng, frame, "regulation", status)
                yield frame, text, [("A", "B", status, "regulation")]
    for frame, pairs in THREE:
        for kind in kinds:
            text, own = fill(rng, frame, kind, "asserted")
            yield frame, text, rows(text, pairs, own)
    for frame in NOTHING:
        for _ in range(4):
            text, _ = fill(rng, frame, "binding", "asserted")
            yield frame, text, []


def still(rng: random.Random) -> Iterator[tuple[str, str, list[tuple[str, str, str, str]]]]:
    """What is asserted though other things in the sentence are not."""
    for frame in STILL:
        for kind in TRANSITIVE:
            text, _ = fill(rng, frame, kind, "asserted")
            yield frame, text, [("A", "B", "asserted", kind)]
    for frame in STILL_NOMINAL:
        for kind in [k for k in TRANSITIVE if k != "binding"]:
            text, _ = fill(rng, frame, kind, "asserted")
            yield frame, text, [("A", "B", "asserted", kind)]


def placed(
    rng: random.Random, text: str, letters: str, known: list[str]
) -> tuple[str, dict[str, tuple[int, int]]]:
    """The sentence with names in place of letters, and where they stand."""
    names = dict(zip(letters, rng.sample(known, len(letters)), strict=True))
    places: dict[str, tuple[int, int]] = {}
    done = ""
    while "{" in text:
        before, _, rest = text.partition("{")
        slot, _, text = rest.partition("}")
        done += before
        places[slot] = (len(done), len(done) + len(names[slot[0]]))
        done += names[slot[0]]
    done += text
    done = done if done.endswith("?") else f"{done}."
    return done[0].upper() + done[1:], places


def document(
    number: int,
    rng: random.Random,
    told: list[tuple[str, list]],
    letters: str = "ABC",
    known: list[str] = NAMES,
) -> dict:
    """The sentences of a frame, a line each."""
    text, entities, relations, starts = "", [], [], []
    for sentence, pairs in told:
        written, places = placed(rng, sentence, letters, known)
        starts.append(len(text))
        ids = {}
        for slot, (start, end) in sorted(places.items(), key=lambda item: item[1]):
            ids[slot] = f"T{len(entities) + 1}"
            piece = [[len(text) + start, len(text) + end]]
            entities.append({"id": ids[slot], "label": "protein", "pieces": piece})
        for who, whom, status, kind in pairs:
            direction = "none" if kind == "binding" else "a>b"
            ends = [ids[who], ids[whom]]
            relations.append(
                {
                    "entities": ends,
                    "label": True,
                    "type": kind,
                    "direction": direction,
                    "status": status,
                }
            )
        text += written + "\n"
    return {
        "id": f"f{number}",
        "text": text,
        "entities": entities,
        "relations": relations,
        "sentences": starts,
    }


def main() -> None:
    rng = random.Random(14)
    frames, longer, last = {}, {}, {}
    for frame, text, pairs in sentences(rng):
        frames.setdefault(frame, []).append((text, pairs))
    documents = [document(number, rng, told) for number, told in enumerate(frames.values())]
    for frame, text, pairs in constructions(rng, TRANSITIVE, WITH):
        longer.setdefault(frame, []).append((text, pairs))
    for number, told in enumerate(longer.values(), len(documents)):
        documents.append(document(number, rng, told, "ABCD", MORE_NAMES))
    for frame, text, pairs in still(rng):
        last.setdefault(frame, []).append((text, pairs))
    for number, told in enumerate(last.values(), len(documents)):
        documents.append(document(number, rng, told))
    mentioned: dict[str, list] = {}
    for frame, text, pairs in mentions(rng, CELLS):
        mentioned.setdefault(frame, []).append((text, pairs))
    for number, told in enumerate(mentioned.values(), len(documents)):
        documents.append(document(number, rng, told, "ABCD", MORE_NAMES))
    for row in documents:
        sys.stdout.write(json.dumps(row, ensure_ascii=False) + "\n")


def build_findings() -> None:
    """Write findings.jsonl."""
    rng = random.Random(15)
    frames: dict[str, list] = {}
    for frame, text, pairs in findings(rng, TRANSITIVE, WITH, CELLS):
        frames.setdefault(frame, []).append((text, pairs))
    for number, told in enumerate(frames.values()):
        row = document(number, rng, told, "ABCD", MORE_NAMES)
        sys.stdout.write(json.dumps({**row, "id": f"g{number}"}, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    build_findings() if sys.argv[1:] == ["findings"] else main()
