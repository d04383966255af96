"""Forms of gene names: spellings that mean the same get one key, and a name is cut into its parts.

Everything here is a function of the name alone; which keys name a gene is up to the tables.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

# Greek letters by their names. As part of a symbol a letter stands for most of them: IL1B, TNFA.
_GREEK = {
    "alpha": "a",
    "beta": "b",
    "gamma": "g",
    "delta": "d",
    "epsilon": "e",
    "zeta": "z",
    "eta": "eta",
    "theta": "theta",
    "iota": "i",
    "kappa": "k",
    "lambda": "l",
    "mu": "mu",
    "sigma": "s",
    "tau": "tau",
    "omega": "o",
}
_LETTER_NAMES = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma "
    "tau upsilon phi chi psi omega"
)
_LETTERS = dict(zip("αβγδεζηθικλμνξοπρστυφχψω", _LETTER_NAMES.split(), strict=True)) | {
    "ς": "sigma",
    "ϵ": "epsilon",
    "ϑ": "theta",
    "ϕ": "phi",
    "µ": "mu",
}
_NUMERALS = "I II III IV V VI VII VIII IX X XI XII XIII XIV XV XVI XVII XVIII"
_ROMAN = {roman: str(number) for number, roman in enumerate(_NUMERALS.split(), start=1)}
_SPELT = {
    "tumour": "tumor",
    "homologue": "homolog",
    "orthologue": "ortholog",
    "fibre": "fiber",
    "signalling": "signaling",
    "receptors": "receptor",
    "responsive": "response",
}
# Spellings inside words: haemoglobin, leukaemia, oestrogen, sulphate, adrenocorticotrophic.
_INSIDE = {"haem": "hem", "aemi": "emi", "oestr": "estr", "sulph": "sulf", "troph": "trop"}
_FILLERS = (
    "of the and to for in an gene genes protein proteins mrna mrnas rna rnas cdna dna transcript "
    "transcripts isoform isoforms polypeptide antigen allele alleles locus promoter mutant mutants "
    "mutation mutations variant variants antibody antibodies expression enzyme molecule peptide "
    "precursor homolog ortholog product products type family member members subunit chain "
    "oncogene protooncogene proto cell surface putative probable mature candidate"
)
_BEFORE = (
    "human mouse murine rat zebrafish drosophila bovine porcine chicken rabbit mammalian "
    "recombinant endogenous exogenous ectopic soluble phosphorylated phospho activated active "
    "inactive total nuclear cytoplasmic cytosolic mitochondrial wild-type wildtype wt mutant "
    "mutated full-length anti gst gfp egfp flag ha myc his normal native purified secreted "
    "constitutively oncogenic transgenic serum plasma circulating cellular"
)
FILLERS = frozenset(_FILLERS.split())  # tell no gene from another: left out of keys
_HEADS = frozenset(_BEFORE.split())  # stand before a name without being part of it
_GLUED = re.compile(
    r"(?<![a-z]{5})(alpha|beta|gamma|delta|epsilon|zeta|theta|kappa|lambda|sigma|omega)(?![a-z]{2})"
    r"|(?<=[A-Z])(eta|mu|tau)(?![A-Za-z])"
)
_WORD = re.compile(r"[A-Za-z]+|\d+")
_PLURAL = re.compile(r"^(?:[A-Z][A-Za-z]*[A-Z]|[A-Za-z]*(?:[a-rt-z]{2}[a-hj-tv-z]|ase))s$")
_BRITISH = re.compile("|".join(_INSIDE))


def words(name: str) -> tuple[str, ...]:
    """The words, letters and numbers of a name, spelt in one way.

    >>> words("TGFβ receptor type II")
    ('tgf', 'b', 'receptor', 'type', '2')
    >>> words("Interleukin-1alpha") == words("interleukin 1 α")
    True
    """
    found: list[str] = []
    for piece in name.split(" "):
        found += _words_in(piece, bool(found))
    return tuple(found)


@lru_cache(maxsize=1 << 13)
def _words_in(piece: str, later: bool) -> tuple[str, ...]:
    """Those of what stands between blanks; a number does not begin a name as a Roman one."""
    plain = unicodedata.normalize("NFKC", piece)
    if not plain.isascii():
        plain = "".join(
            f" {_LETTERS[c]} " if (c := one.lower()) in _LETTERS else one for one in plain
        )
        plain = unicodedata.normalize("NFKD", plain).encode("ascii", "ignore").decode()
    plain = _GLUED.sub(lambda found: f" {found.group()} ", plain)
    return tuple(_spelt(word, later or i > 0) for i, word in enumerate(_WORD.findall(plain)))


def _spelt(word: str, later: bool) -> str:
    if later and word in _ROMAN:
        return _ROMAN[word]
    if len(word) > 3 and word[-1] == "s" and _PLURAL.match(word):
        word = word[:-1]
    lower = word.lower()
    if word.isdigit():
        return lower.lstrip("0") or "0"
    if len(lower) > 6:
        lower = _BRITISH.sub(lambda found: _INSIDE[found.group()], lower)
    return _GREEK.get(lower) or _SPELT.get(lower, lower)


@lru_cache(maxsize=1 << 13)
def key_of(name: str) -> str:
    """What all spellings of a name have in common; empty where nothing of it is left.

    Symbols are their letters and digits; names of several words are these in alphabetical order,
    so that word order does not count.

    >>> key_of("IL-1β"), key_of("IL1B"), key_of("IL 1 beta gene")
    ('il1b', 'il1b', 'il1b')
    >>> key_of("type VII collagen") == key_of("Collagen, type VII")
    True
    """
    every = words(name)
    kept = [word for word in every if word not in FILLERS] or list(every)
    if len([word for word in kept if len(word) >= 3 and word.isalpha()]) >= 2:
        return " ".join(sorted(kept))
    return "".join(sorted(kept, key=lambda word: len(word) < 5))  # collagen 7, catenin alpha


class Case(IntEnum):
    """How a spelling uses capitals."""

    MIXED = 0
    UPPER = 1
    LOWER = 2
    TITLE = 3


@lru_cache(maxsize=1 << 13)
def case_of(text: str) -> Case:
    """How the letters of a text are written.

    >>> case_of("TP53"), case_of("Trp53"), case_of("tp53"), case_of("hERG")
    (<Case.UPPER: 1>, <Case.TITLE: 3>, <Case.LOWER: 2>, <Case.MIXED: 0>)
    """
    letters = "".join(c for c in text if c.isalpha())
    if letters.isupper():
        return Case.UPPER
    if letters.islower():
        return Case.LOWER
    return Case.TITLE if letters[:1].isupper() and letters[1:].islower() else Case.MIXED


class Variant(NamedTuple):
    """A reading of a name: its key, how it came about, and the share of the name it covers."""

    key: str
    how: str  # one of READINGS
    share: float
    text: str


READINGS = (
    "whole",
    "head",
    "outside",
    "inside",
    "prefix",
    "roman",
    "receptor",
    "trimmed",
    "first",
    "part",
)


def variants(name: str) -> Iterator[Variant]:
    """The readings of a name from the surest to the least sure, but for its parts.

    >>> [variant.key for variant in variants("human FXII")][:3]
    ['fxii human', 'fxii', 'f12']
    """
    seen: set[str] = set()
    for how, text in _readings(name):
        key = key_of(text)
        if len(key) > 1 and key not in seen:
            seen.add(key)
            yield Variant(key, how, min(1.0, len(text) / max(len(name), 1)), text)


def _readings(name: str) -> Iterator[tuple[str, str]]:
    yield "whole", name
    bare = without_head(name)
    if bare != name:
        yield "head", bare
    yield from _bracketed(bare)
    if glued := _PREFIX.match(bare):
        yield "prefix", glued.group(1)
    if roman := _ROMAN_END.match(bare):
        yield "roman", f"{roman.group(1)} {_ROMAN[roman.group(2)]}{roman.group(3)}"
    if receptor := _RECEPTOR.match(bare):
        yield "receptor", f"{receptor.group(1)}R{receptor.group(2)}"
        yield "receptor", receptor.group(1)
    if trimmed := _TRIMMED.match(bare):
        yield "trimmed", trimmed.group(1) or trimmed.group(2)
    for first in ("1", "a", "a1"):  # the first member of a family often bears its name
        yield "first", f"{bare} {first}"


_PREFIX = re.compile(r"^(?:h|m|r|d|z|p|rh|hs|Hs|Mm|phospho|p-|c-|v-)-?([A-Z][A-Za-z]*[A-Z0-9].*)$")
_ROMAN_END = re.compile(r"^([A-Za-z]{1,9}?)(VIII|VII|XIII|XII|III|XI|IX|IV|VI|II)([ab]?)$")
_RECEPTOR = re.compile(r"^(.*[A-Z0-9][\w()-]*)[\s-]receptors?((?:[\s-]?\w{1,2})?)$", re.IGNORECASE)
_TRIMMED = re.compile(
    r"^(\w*[A-Z]\w*\d)[A-Za-z]{1,2}$|^(\w*[A-Z][\w-]*?)"
    r"(?:v\d|x|[-\s]?(?:alpha|beta|gamma|[αβγ])|-[35]p|\d+-\d+)$"
)
_BRACKETS = re.compile(r"^(.*?\S)\s*[(\[]([^()\[\]]{2,})[)\]](.*)$")


def without_head(name: str) -> str:
    """The name without words before it that are no part of it, such as the species.

    >>> without_head("recombinant human IL-2")
    'IL-2'
    """
    rest = name
    while found := _HEAD_WORD.match(rest):
        if found.group(1).lower() not in _HEADS:
            break
        rest = rest[found.end() :]
    return rest


_HEAD_WORD = re.compile(r"^((?:wild|full)[-\s](?:type|length)|[A-Za-z]+)[\s-]+(?=\w)")


def _bracketed(name: str) -> Iterator[tuple[str, str]]:
    if found := _BRACKETS.match(name):
        outside, inside, after = found.groups()
        yield "outside", f"{outside} {after}".strip()
        yield "inside", f"{inside}{after}"


def parts(name: str, *, shortest: int = 3) -> Iterator[Variant]:
    """The runs of words inside a name, longest first: what may be known when the whole is not.

    >>> [part.text for part in parts("Rb tumor suppressor")]
    ['tumor suppressor', 'suppressor', 'Rb tumor', 'tumor']
    """
    pieces = [(found.start(), found.end()) for found in _PIECE.finditer(name)]
    runs = [
        (start, end)
        for i, (start, _) in enumerate(pieces)
        for _, end in pieces[i : i + 8]
        if shortest <= end - start < len(name)
    ]
    for start, end in sorted(runs, key=lambda run: (run[0] - run[1], run[0])):
        text = name[start:end]
        if key := key_of(text):
            yield Variant(key, "part", (end - start) / len(name), text)


_PIECE = re.compile(r"[^\s/,;()\[\]]+")


def listed(name: str) -> list[str]:
    """The names in a shortened list; none where the name is no list.

    >>> listed("ERK1/2"), listed("MMP-2/-9"), listed("STAT1 and -3")
    (['ERK1', 'ERK2'], ['MMP-2', 'MMP-9'], ['STAT1', 'STAT3'])
    >>> listed("CYP11B2/B1"), listed("B1 and B2 receptors"), listed("Smad1/5/8")
    (['CYP11B2', 'CYP11B1'], ['B1 receptor', 'B2 receptor'], ['Smad1', 'Smad5', 'Smad8'])
    >>> listed("input/output kinase"), listed("IL-2")
    ([], [])
    """
    items = [item.strip(" -") for item in _BETWEEN.split(name)]
    if len(items) < 2 or not all(items):
        return []
    items[-1], tail = _without_tail(items[-1])
    found = [items[0]]
    for item in items[1:]:
        whole = item if _WHOLE.match(item) else _with_stem(items[0], item)
        if not whole:
            return []
        found.append(whole)
    return [f"{item} {tail}".strip() for item in found]


_BETWEEN = re.compile(r"\s*(?:/|,\s*(?:and|or)\b|,|\band\b|\bor\b|&)\s*")
_WHOLE = re.compile(r"^(?=.*[A-Z])(?=.*(?:\d|[A-Z].*[A-Z]))[A-Za-z][\w-]{2,}$")
_TAIL = re.compile(r"^(.+?)\s+([a-z]{3,})$")
_GREEK_END = "alpha|beta|gamma|delta|epsilon|zeta|kappa|lambda|[α-ω]"
# The sorts of ends that a list shortens its names to; each replaces an end of its own sort.
_ENDS = [
    re.compile(pattern)
    for pattern in (
        r"\d{1,3}[A-Za-z]?$",
        r"[A-Z]\d{1,2}$",
        r"(?:VIII|VII|VI|IV|IX|V|XIII|XII|XI|X|III|II|I)$",
        r"[A-Z]$",
        rf"(?:{_GREEK_END})$",
    )
]


def _without_tail(item: str) -> tuple[str, str]:
    """The last name of a list, and the word after it that belongs to all: B2, receptor."""
    found = _TAIL.match(item)
    if not found or found.group(2) in _GREEK:
        return item, ""
    return found.group(1), found.group(2).removesuffix("s")


def _with_stem(first: str, end: str) -> str:
    """The name that an end stands for after the first name of its list; empty if it is no end."""
    for sort in _ENDS:
        if sort.match(end):
            own = sort.search(first)
            if own:
                return first[: own.start()] + end
    return ""


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
