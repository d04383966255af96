"""Species named in a text: the words for them, as numbers of NCBI's taxonomy."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

HUMAN, MOUSE, RAT, ZEBRAFISH, FLY = 9606, 10090, 10116, 7955, 7227

_WORDS: dict[int, str] = {
    HUMAN: "human humans patient patients man men woman women child children people infants boy "
    "girl volunteers homo_sapiens hela hek293 hek293t hepg2 mcf-7 jurkat k562 u2os huvec huvecs "
    "probands subjects participants cohort pedigree pedigrees proband mcf7 sh-sy5y a549 hct116 "
    "lncap ht-29 ht29 caco-2 thp-1 u937 hl-60 mda-mb-231 pc-3 du145 u87 hek-293 hek_293",
    MOUSE: "mouse mice murine mus_musculus c57bl/6 c57bl/6j balb/c nih3t3 nih_3t3 knockout_mice "
    "mefs mef 3t3-l1 raw264.7 raw_264.7 c2c12 c57bl/6n ob/ob db/db nih-3t3 mc3t3-e1 min6 j774 "
    "ba/f3 neuro2a neuro-2a l929",
    RAT: "rat rats rattus rattus_norvegicus sprague-dawley wistar pc12",
    ZEBRAFISH: "zebrafish danio danio_rerio",
    FLY: "drosophila melanogaster fly flies",
    4932: "yeast saccharomyces cerevisiae s._cerevisiae",
    4896: "pombe schizosaccharomyces",
    6239: "elegans caenorhabditis c._elegans nematode worms",
    562: "escherichia e._coli",
    9031: "chicken chick chickens avian gallus",
    8355: "xenopus frog laevis",
    9913: "bovine cow cattle calf cows",
    9823: "porcine pig pigs swine",
    9986: "rabbit rabbits",
    9615: "dog dogs canine",
    9544: "monkey monkeys macaque macaques rhesus",
    10029: "hamster hamsters cho",
    9940: "sheep ovine",
    9796: "horse equine",
    3702: "arabidopsis thaliana",
}
# What is human or of the mouse without saying so: cancers and their cells in nude mice, HIV and
# studies of families; knockouts and what is bred with Cre.
_HINTS: dict[int, str] = {
    HUMAN: "hiv hiv-1 cancer cancers carcinoma carcinomas adenocarcinoma adenocarcinomas "
    "cholangiocarcinoma glioma glioblastoma leukemia melanoma xenograft xenografts "
    "nude_mice polymorphism polymorphisms snp snps haplotype haplotypes consanguineous autosomal",
    MOUSE: "knockout knockouts knock-out knockin knock-in cre creert2 floxed flox/flox fl/fl f/f "
    "littermate littermates transgenic splenocytes",
}
HINT = 0.4  # of a word that names the species
_TAXA = {word.replace("_", " "): taxon for taxon, own in _WORDS.items() for word in own.split()}
_HINTED = {word.replace("_", " "): taxon for taxon, own in _HINTS.items() for word in own.split()}


def _any_of(words: Collection[str]) -> str:
    """A pattern of the longest of some words, letter by letter: quicker than one by one."""
    tails: dict[str, list[str]] = {}
    for word in filter(None, words):
        tails.setdefault(word[0], []).append(word[1:])
    ways = "|".join(re.escape(first) + _any_of(own) for first, own in tails.items())
    return f"(?:{ways}){'?' if '' in words else ''}" if ways else ""


_PATTERN = re.compile(
    rf"(?<![\w-]){_any_of(_TAXA | _HINTED)}(?![\w])|[(-]-/-",
    re.IGNORECASE,
)
_CUE = re.compile(r"[a-z][a-z-]{2,}")
_READ = 2500  # characters of a text that its cues are in


def cue_words(text: str) -> set[str]:
    """The words at the beginning of a text, in lower case, that may sound of a species.

    >>> sorted(cue_words("Wild-type littermates of 8 weeks"))
    ['littermates', 'weeks', 'wild-type']
    """
    return set(_CUE.findall(text[:_READ].lower()))


class SpeciesWord(NamedTuple):
    """A species that a text names, and where."""

    start: int
    end: int
    taxon: int
    weight: float = 1.0  # less where the species is only hinted at


def species_words(text: str) -> list[SpeciesWord]:
    """The species of a text in their order.

    >>> [(word.taxon, word.start) for word in species_words("Mice and human cells")]
    [(10090, 0), (9606, 9)]
    """
    found = [_word(match.start(), match.end(), match.group()) for match in _PATTERN.finditer(text)]
    named = {word.taxon for word in found if word.weight == 1.0}
    if MOUSE in named or named <= {HUMAN}:
        return found
    return [word for word in found if word.taxon != MOUSE]  # knockouts are of the animals named


def _word(start: int, end: int, text: str) -> SpeciesWord:
    taxon = _TAXA.get(text.lower())
    if taxon is not None:
        return SpeciesWord(start, end, taxon)
    return SpeciesWord(start, end, _HINTED.get(text.lower(), MOUSE), HINT)
