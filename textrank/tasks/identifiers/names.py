"""Normalise gene names and find species: keys, variants and parts of a name, species mentions.

Everything here is a function of the text alone. ``make_key`` maps all spellings of a name to one
key; ``generate_variants`` and ``generate_parts`` list what else a name may mean when the gazetteer
lacks it; ``expand_list`` resolves lists such as ERK1/2; ``find_species`` finds words that name a
species (an NCBI taxon).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

# Greek letter name -> its abbreviation in symbols (IL1B, TNFA), or itself if there is none.
_GREEK_ABBREVIATIONS = {
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
_GREEK_NAMES = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma "
    "tau upsilon phi chi psi omega"
)
_NAME_OF_GREEK_LETTER = dict(zip("αβγδεζηθικλμνξοπρστυφχψω", _GREEK_NAMES.split(), strict=True)) | {
    "ς": "sigma",
    "ϵ": "epsilon",
    "ϑ": "theta",
    "ϕ": "phi",
    "µ": "mu",
}
_ROMAN_NUMERALS = "I II III IV V VI VII VIII IX X XI XII XIII XIV XV XVI XVII XVIII"
_NUMBER_OF_ROMAN = {
    roman: str(number) for number, roman in enumerate(_ROMAN_NUMERALS.split(), start=1)
}
_SPELLINGS = {
    "tumour": "tumor",
    "homologue": "homolog",
    "orthologue": "ortholog",
    "fibre": "fiber",
    "signalling": "signaling",
    "receptors": "receptor",
    "responsive": "response",
}
# British spellings inside words: haemoglobin, leukaemia, oestrogen, sulphate, -trophic.
_INNER_SPELLINGS = {"haem": "hem", "aemi": "emi", "oestr": "estr", "sulph": "sulf", "troph": "trop"}
_FILLERS = (
    "of the and to for in an gene genes protein proteins mrna mrnas rna rnas cdna dna transcript "
    "transcripts isoform isoforms polypeptide antigen allele alleles locus promoter mutant mutants "
    "mutation mutations variant variants antibody antibodies expression enzyme molecule peptide "
    "precursor homolog ortholog product products type family member members subunit chain "
    "oncogene protooncogene proto cell surface putative probable mature candidate"
)
_MODIFIERS = (
    "human mouse murine rat zebrafish drosophila bovine porcine chicken rabbit mammalian "
    "recombinant endogenous exogenous ectopic soluble phosphorylated phospho activated active "
    "inactive total nuclear cytoplasmic cytosolic mitochondrial wild-type wildtype wt mutant "
    "mutated full-length anti gst gfp egfp flag ha myc his normal native purified secreted "
    "constitutively oncogenic transgenic serum plasma circulating cellular yeast xenopus "
    "arabidopsis novel dominant-negative truncated his-tagged gst-tagged flag-tagged ha-tagged "
    "myc-tagged gfp-tagged tagged proto-oncogene oncogene transcription_factor "
    "tumor_suppressor tumour_suppressor hyperphosphorylated unphosphorylated overexpressed "
    "extracellular intracellular membrane-bound germline somatic fission "
    "budding rabbit canine ovine hamster maternal zygotic chromatin-bound exogenously acetylated "
    "ubiquitinated methylated immobilized anti-human anti-mouse monoclonal polyclonal "
    "e._coli s._cerevisiae s._pombe c._elegans d._melanogaster a._thaliana x._laevis bacterial "
    "viral avian rodent vertebrate eukaryotic prokaryotic liver hepatic cardiac neuronal "
    "erythrocyte platelet placental intestinal renal retinal cytoskeletal chemokine cytokine"
)
FILLER_WORDS = frozenset(_FILLERS.split())  # do not distinguish genes, so keys omit them
_MODIFIER_WORDS = frozenset(
    word.replace("_", " ") for word in _MODIFIERS.split()
)  # may precede a name without being part of it
_GREEK_IN_WORD = re.compile(
    r"(?<![a-z]{5})(alpha|beta|gamma|delta|epsilon|zeta|theta|kappa|lambda|sigma|omega)(?![a-z]{2})"
    r"|(?<=[A-Z])(eta|mu|tau)(?![A-Za-z])"
)
_WORD = re.compile(r"[A-Za-z]+|\d+")
_PLURAL = re.compile(r"^(?:[A-Z][A-Za-z]*[A-Z]|[A-Za-z]*(?:[a-rt-z]{2}[a-hj-tv-z]|ase))s$")
_BRITISH = re.compile("|".join(_INNER_SPELLINGS))


def split_words(name: str) -> tuple[str, ...]:
    """Split a name into normalised words, single letters and numbers.

    Greek letters, Roman numerals, plurals and British spellings are unified; all is lower case.
    Word order is kept; other characters are dropped. Empty if there are no letters or digits.

    >>> split_words("TGFβ receptor type II")
    ('tgf', 'b', 'receptor', 'type', '2')
    >>> split_words("Interleukin-1alpha") == split_words("interleukin 1 α")
    True
    """
    parts: list[str] = []
    for chunk in name.split(" "):
        parts += _split_chunk(chunk, bool(parts))
    return tuple(parts)


@lru_cache(maxsize=1 << 13)
def _split_chunk(chunk: str, is_later: bool) -> tuple[str, ...]:
    """Split the text between two blanks of a name into normalised words. Cached.

    Words are runs of ASCII letters or of digits, in lower case; Greek letters are words of their
    own. ``is_later`` says that words precede it in the name; only then is a first word such as "V"
    a Roman numeral. Other characters are reduced to ASCII letters (é to e) or dropped.
    """
    text = unicodedata.normalize("NFKC", chunk)
    if not text.isascii():
        text = "".join(
            f" {_NAME_OF_GREEK_LETTER[lower]} "
            if (lower := character.lower()) in _NAME_OF_GREEK_LETTER
            else character
            for character in text
        )
        text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    text = _GREEK_IN_WORD.sub(lambda match: f" {match.group()} ", text)
    return tuple(
        _normalize_word(word, is_later or i > 0) for i, word in enumerate(_WORD.findall(text))
    )


def _normalize_word(word: str, is_later: bool) -> str:
    """Return a word in lower case and unified spelling; a number without leading zeros.

    Plurals become singular, names of Greek letters their abbreviation (beta is b) and British
    spellings American. ``is_later`` says that words precede it in the name; only then are Roman
    numerals in capitals, such as "V", numbers.
    """
    if is_later and word in _NUMBER_OF_ROMAN:
        return _NUMBER_OF_ROMAN[word]
    if len(word) > 3 and word[-1] == "s" and _PLURAL.match(word):
        word = word[:-1]
    lower = word.lower()
    if word.isdigit():
        return lower.lstrip("0") or "0"
    if len(lower) > 6:
        lower = _BRITISH.sub(lambda match: _INNER_SPELLINGS[match.group()], lower)
    return _GREEK_ABBREVIATIONS.get(lower) or _SPELLINGS.get(lower, lower)


_NUCLEIC_ACID_SYMBOL = re.compile(r"(?<=\b[DR]NA)-(?=[A-Z]{2})")  # the hyphen of DNA-PK


@lru_cache(maxsize=1 << 13)
def make_key(name: str) -> str:
    """Return the key that all spellings of a name share; empty if it has no letters or digits.

    Words are normalised as by ``split_words``. The key of a symbol is its letters and digits,
    without blanks; words of five letters or more come first. The key of a name with at least two
    words of three letters is its words in alphabetical order, with blanks, so that word order does
    not matter. Filler words ("gene", "protein") are omitted unless nothing else is left. Cached.

    >>> make_key("IL-1β"), make_key("IL1B"), make_key("IL 1 beta gene")
    ('il1b', 'il1b', 'il1b')
    >>> make_key("type VII collagen") == make_key("Collagen, type VII")
    True
    >>> make_key("DNA-PK"), make_key("DNAPK gene")
    ('dnapk', 'dnapk')
    """
    all_words = split_words(_NUCLEIC_ACID_SYMBOL.sub("", name))
    words = [word for word in all_words if word not in FILLER_WORDS] or list(all_words)
    if len(words) == 1:
        return words[0]
    if len([word for word in words if len(word) >= 3 and word.isalpha()]) >= 2:
        return " ".join(sorted(words))
    return "".join(sorted(words, key=lambda word: len(word) < 5))  # long words first: collagen 7


class Case(IntEnum):
    """Use of capitals in a spelling."""

    MIXED = 0
    UPPER = 1
    LOWER = 2
    TITLE = 3


@lru_cache(maxsize=1 << 13)
def classify_case(text: str) -> Case:
    """Return how the letters of a text use capitals.

    Other characters are ignored; a text without letters is MIXED, a single capital UPPER.

    >>> classify_case("TP53"), classify_case("Trp53"), classify_case("tp53"), classify_case("hERG")
    (<Case.UPPER: 1>, <Case.TITLE: 3>, <Case.LOWER: 2>, <Case.MIXED: 0>)
    """
    letters = "".join(c for c in text if c.isalpha())
    if letters.isupper():
        return Case.UPPER
    if letters.islower():
        return Case.LOWER
    return Case.TITLE if letters[:1].isupper() and letters[1:].islower() else Case.MIXED


class NameVariant(NamedTuple):
    """A form of a name to look up, with its key and the method that produced it."""

    key: str
    method: str  # one of VARIANT_METHODS
    coverage: float  # share of the name's characters
    text: str


VARIANT_METHODS = (
    "whole",
    "head",
    "tail",
    "yeast",
    "outside",
    "inside",
    "prefix",
    "roman",
    "receptor",
    "trimmed",
    "loose",
    "first",
    "part",
)
_PREFIX = re.compile(
    r"^(?:h|m|r|d|z|x|b|y|s|p|si|sh|rh|rm|rr|hs|Hs|Mm|Rn|At|Sc|Sp|Ce|Dm|Dr|Xl|X|phospho|p-|c-|v-|n-)-?"
    r"([A-Z][A-Za-z]*[-A-Z0-9].*)$"
)
_ROMAN_END = re.compile(r"^([A-Za-z]{1,9}?)(VIII|VII|XIII|XII|III|XI|IX|IV|VI|II)([ab]?)$")
_RECEPTOR = re.compile(r"^(.*[A-Z0-9][\w()-]*)[\s-]receptors?((?:[\s-]?\w{1,2})?)$", re.IGNORECASE)
_TRAILING_VARIANT = re.compile(
    r"^(\w*[A-Z]\w*\d)[A-Za-z]{1,2}$|^(\w*[A-Z][\w-]*?)"
    r"(?:v\d|x|[-\s]?(?:alpha|beta|gamma|[αβγ])|-[35]p|\d+-\d+)$"
)
_BRACKETS = re.compile(r"^(.*?\S)\s*[(\[]([^()\[\]]{2,})[)\]](.*)$")
_FIRST_WORD = re.compile(
    r"^((?:wild|full|dominant|membrane|chromatin)[-\s](?:type|length|negative|bound)"
    r"|[A-Z]\. [a-z]+"
    r"|(?:transcription factor|tumou?r suppressor)"
    r"|(?:his|gst|flag|ha|myc|gfp)-tagged|anti-(?:human|mouse)|proto-oncogene|[A-Za-z]+)[\s-]+(?=\w)",
    re.IGNORECASE,
)
# Words after a name that do not belong to it: the p53 promoter, Rad51-deficient.
_TAIL = re.compile(
    r"[\s-]+(?:genes?|proteins?|mrnas?|transcripts?|promoters?|loc(?:us|i)|alleles?|mutants?"
    r"|polymorphisms?|isoforms?|homolog(?:ue)?s?|ortholog(?:ue)?s?|antibod(?:y|ies)|cdnas?|null"
    r"|deficient|knockout|signall?ing|pathways?|expression|sirnas?|shrnas?|variants?|genotypes?"
    r"|induced|mediated|dependent|independent|positive|negative|activit(?:y|ies)|levels?"
    r"|phosphorylation|molecules?|peptides?|precursors?|tagged|products?|deletions?|depletion"
    r"|overexpression|transcription|mice|oncogenes?|tumou?r suppressors?|transcription factors?)$"
    r"|\s*(?:\(?-/-\)?|\(?\+/[-+]\)?)$",
    re.IGNORECASE,
)
# Words after a name that may belong to it and may change its meaning.
_LOOSE_TAIL = re.compile(
    r"[\s-]+(?:kinases?|subunits?|inhibitors?|enzymes?|ligands?|agonists?|antagonists?|monomers?|dimers?"
    r"|filaments?|hormones?|cytokines?|ligase|phosphatases?|complex|family|like|receptors?|chains?|proteases?)$",
    re.IGNORECASE,
)
_YEAST_PROTEIN = re.compile(
    r"^([A-Z][a-z]{2}\d{1,3}[A-Za-z]?|[A-Z]{3}\d{1,3})p$"
)  # Cdc28p is CDC28
_CHUNK = re.compile(r"[^\s/,;()\[\]]+")


def generate_variants(name: str) -> Iterator[NameVariant]:
    """Yield the variants of a name with distinct keys, most reliable first; without its parts.

    The name itself comes first, unless its key is too short: variants whose key has fewer than two
    characters are dropped. ``coverage`` is the variant's length divided by the name's, at most 1.

    >>> [variant.key for variant in generate_variants("human FXII")][:3]
    ['fxii human', 'fxii', 'f12']
    """
    seen_keys: set[str] = set()
    for method, text in _iter_variants(name):
        key = make_key(text)
        if len(key) > 1 and key not in seen_keys:
            seen_keys.add(key)
            yield NameVariant(key, method, min(1.0, len(text) / max(len(name), 1)), text)


def _iter_variants(name: str) -> Iterator[tuple[str, str]]:
    """Yield (method, text) of each variant of a name, most reliable first.

    Texts and their keys may repeat. Methods come in the order of ``VARIANT_METHODS``, without
    "part": the name as it is, without modifiers ("head") and tail words, a yeast protein as gene,
    outside and inside of brackets, without a prefix (hTERT), with a Roman numeral as number, X
    receptor as XR and X, without a trailing variant or loose tail ("kinase"), and last with 1, a
    and a1 appended ("first").
    """
    yield "whole", name
    stripped = strip_modifiers(name)
    if stripped != name:
        yield "head", stripped
    shortened = strip_tail(stripped)
    if shortened != stripped:
        yield "tail", shortened
    if protein := _YEAST_PROTEIN.match(stripped):
        yield "yeast", protein.group(1)
    yield from _split_brackets(stripped)
    if prefixed := _PREFIX.match(shortened):
        yield "prefix", prefixed.group(1)
    if roman := _ROMAN_END.match(stripped):
        yield "roman", f"{roman.group(1)} {_NUMBER_OF_ROMAN[roman.group(2)]}{roman.group(3)}"
    if receptor := _RECEPTOR.match(stripped):
        yield "receptor", f"{receptor.group(1)}R{receptor.group(2)}"
        yield "receptor", receptor.group(1)
    if trimmed := _TRAILING_VARIANT.match(stripped):
        yield "trimmed", trimmed.group(1) or trimmed.group(2)
    if loose := _LOOSE_TAIL.search(shortened):
        yield "loose", shortened[: loose.start()]
    for first in ("1", "a", "a1"):  # a family name often means its first member
        yield "first", f"{stripped} {first}"


def strip_modifiers(name: str) -> str:
    """Return a name without leading words that are not part of it.

    These are species ("human"), states ("activated", "mutant", "wild-type"), places ("nuclear") and
    tags ("GST"); the last word is never removed.

    >>> strip_modifiers("recombinant human IL-2")
    'IL-2'
    """
    rest = name
    while match := _FIRST_WORD.match(rest):
        if match.group(1).lower() not in _MODIFIER_WORDS:
            break
        rest = rest[match.end() :]
    return rest


def strip_tail(name: str) -> str:
    """Return a name without the last words that are not part of it, such as "gene" or "-/-".

    At least two characters are left.

    >>> strip_tail("Trp53-/-"), strip_tail("p53 tumor suppressor gene"), strip_tail("gene")
    ('Trp53', 'p53', 'gene')
    """
    rest = name
    while (match := _TAIL.search(rest)) and match.start() > 1:
        rest = rest[: match.start()]
    return rest


def _split_brackets(name: str) -> Iterator[tuple[str, str]]:
    """Yield ("outside", text) and ("inside", text) of a name with brackets; else nothing.

    Only the first pair, with at least two characters in it and text before it, is used. What
    follows it is part of both texts.
    """
    if match := _BRACKETS.match(name):
        outside, inside, after = match.groups()
        yield "outside", f"{outside} {after}".strip()
        yield "inside", f"{inside}{after}"


def generate_parts(name: str, *, min_length: int = 3) -> Iterator[NameVariant]:
    """Yield the runs of words inside a name, longest first, for names that are not known.

    Runs have at most eight words and at least ``min_length`` characters, and are shorter than the
    name. Of equally long runs the first in the name comes first. Words end at blanks, slashes,
    commas, semicolons and brackets. ``coverage`` is the run's share of the characters; keys may
    repeat.

    >>> [part.text for part in generate_parts("Rb tumor suppressor")]
    ['tumor suppressor', 'suppressor', 'Rb tumor', 'tumor']
    """
    chunks = [(match.start(), match.end()) for match in _CHUNK.finditer(name)]
    runs = [
        (start, end)
        for i, (start, _) in enumerate(chunks)
        for _, end in chunks[i : i + 8]
        if min_length <= end - start < len(name)
    ]
    for start, end in sorted(runs, key=lambda run: (run[0] - run[1], run[0])):
        text = name[start:end]
        if key := make_key(text):
            yield NameVariant(key, "part", (end - start) / len(name), text)


def expand_list(name: str) -> list[str]:
    """Return the full names in an abbreviated list; empty if the name is not a list.

    Items keep their order; the first is taken as written. Empty too if an item is empty, or is
    neither a full name nor an ending that fits the first item.

    >>> expand_list("ERK1/2"), expand_list("MMP-2/-9"), expand_list("STAT1 and -3")
    (['ERK1', 'ERK2'], ['MMP-2', 'MMP-9'], ['STAT1', 'STAT3'])
    >>> expand_list("CYP11B2/B1"), expand_list("B1 and B2 receptors")
    (['CYP11B2', 'CYP11B1'], ['B1 receptor', 'B2 receptor'])
    >>> expand_list("Smad1/5/8"), expand_list("input/output kinase"), expand_list("IL-2")
    (['Smad1', 'Smad5', 'Smad8'], [], [])
    >>> expand_list("type 1 and type 2 CRF receptors")
    ['CRF receptor type 1', 'CRF receptor type 2']
    >>> expand_list("synapsins I and II"), expand_list("NPHP1-3")
    (['synapsin I', 'synapsin II'], ['NPHP1', 'NPHP2', 'NPHP3'])
    """
    if numbers := _NUMBER_RANGE.match(name):
        stem, first, last = numbers.groups()
        if int(first) < int(last) <= int(first) + _MAX_RANGE:
            return [f"{stem}{number}" for number in range(int(first), int(last) + 1)]
        return []
    name = _PLURAL_BEFORE_NUMBER.sub(r"\1", name)
    if types := _TYPE_LIST.match(name):
        name = f"{types[3].removesuffix('s')} type {types[1]} and {types[2]}"
    items = [item.strip(" -") for item in _LIST_SEPARATOR.split(name)]
    if len(items) < 2 or not all(items):
        return []
    items[-1], noun = _split_trailing_noun(items[-1])
    names = [items[0]]
    for item in items[1:]:
        full_name = item if _FULL_NAME.match(item) else _replace_ending(items[0], item)
        if not full_name:
            return []
        names.append(full_name)
    return [f"{item} {noun}".strip() for item in names]


_NUMBER_RANGE = re.compile(r"^([A-Za-z]{2,}-?)(\d{1,2})-(\d{1,2})$")  # NPHP1-9
_TYPE_LIST = re.compile(
    r"^types? (\d|[IVX]+) (?:and|or) (?:type )?(\d|[IVX]+) (\S.*[a-z]s)$", re.IGNORECASE
)
_MAX_RANGE = 20  # between the first and the last number
_PLURAL_BEFORE_NUMBER = re.compile(r"^([A-Za-z]{3,}[a-rt-z])s(?= (?:\d|[A-Z]\d?\b|[IVX]+\b))")
_LIST_SEPARATOR = re.compile(r"\s*(?:/|,\s*(?:and|or)\b|,|\band\b|\bor\b|&)\s*")
_FULL_NAME = re.compile(r"^(?=.*[A-Z])(?=.*(?:\d|[A-Z].*[A-Z]))[A-Za-z][\w-]{2,}$")
_TRAILING_NOUN = re.compile(r"^(.+?)\s+([a-z]{3,})$")
_GREEK_ENDING = "alpha|beta|gamma|delta|epsilon|zeta|kappa|lambda|[α-ω]"
# Endings that list items are shortened to; each replaces an ending of the same kind.
_LIST_ENDINGS = [
    re.compile(pattern)
    for pattern in (
        r"\d{1,3}[A-Za-z]?$",
        r"[A-Z]\d{1,2}$",
        r"(?:VIII|VII|VI|IV|IX|V|XIII|XII|XI|X|III|II|I)$",
        r"[A-Z]$",
        rf"(?:{_GREEK_ENDING})$",
    )
]


def _split_trailing_noun(item: str) -> tuple[str, str]:
    """Split the last item of a list from a noun that applies to all items: ("B2", "receptor").

    The noun is a last lower-case word of three letters or more that is not a Greek letter. It is
    returned without a final "s"; if there is none, the result is the item and "".
    """
    match = _TRAILING_NOUN.match(item)
    if not match or match.group(2) in _GREEK_ABBREVIATIONS:
        return item, ""
    return match.group(1), match.group(2).removesuffix("s")


def _replace_ending(first: str, ending: str) -> str:
    """Return the first name of a list with its ending replaced; empty if the kinds do not match.

    Kinds of endings are number (with a letter), letter and number, Roman numeral, capital and Greek
    letter, tried in order: ("ERK1", "2") gives "ERK2".
    """
    for pattern in _LIST_ENDINGS:
        if pattern.match(ending):
            match = pattern.search(first)
            if match:
                return first[: match.start()] + ending
    return ""


HUMAN, MOUSE, RAT, ZEBRAFISH, FLY = 9606, 10090, 10116, 7955, 7227
YEAST, FISSION_YEAST, WORM, E_COLI, ARABIDOPSIS = 4932, 4896, 6239, 562, 3702
# A taxon whose genes are those of a strain or subspecies -> the species under which we list them.
SPECIES_OF_STRAIN = {559292: YEAST, 284812: FISSION_YEAST, 511145: E_COLI}
_SPECIES_WORDS: dict[int, str] = {
    HUMAN: "human humans patient patients man men woman women child children people infants boy "
    "girl volunteers homo_sapiens hela hek293 hek293t hepg2 mcf-7 jurkat k562 u2os huvec huvecs "
    "probands subjects participants cohort pedigree pedigrees proband mcf7 sh-sy5y a549 hct116 "
    "lncap ht-29 ht29 caco-2 thp-1 u937 hl-60 mda-mb-231 pc-3 du145 u87 hek-293 hek_293 "
    "individuals adults adolescents volunteer infant newborns pbmc pbmcs hela_cells sw480 hct-116 "
    "hep3b hep_g2 huh7 huh-7 skov3 bt-474 t47d hacat saos-2 u-2_os h1299 imr-90 imr90 wi-38 293t "
    "hek raji ramos molt-4 cem kg-1 nb4 panc-1 bxpc-3 ags sk-n-sh t98g u251 u373 a431 a375 hk-2",
    MOUSE: "mouse mice murine mus_musculus c57bl/6 c57bl/6j balb/c nih3t3 nih_3t3 knockout_mice "
    "mefs mef 3t3-l1 raw264.7 raw_264.7 c2c12 c57bl/6n ob/ob db/db nih-3t3 mc3t3-e1 min6 j774 "
    "ba/f3 neuro2a neuro-2a l929 p19 f9 n2a c3h10t1/2 3t3 b16 el4 bv2 bv-2 swiss_3t3 a20 wehi-231 "
    "129/sv scid nod 4t1",
    RAT: "rat rats rattus rattus_norvegicus sprague-dawley wistar pc12 pc-12 h9c2 ins-1 ins-1e rin "
    "gh3 fischer_344 long-evans l6 ar42j h4iie rbl-2h3 spontaneously_hypertensive zucker "
    "ros_17/2.8 nrk c6 rat-1 rat1 lewis_rats a7r5 bb_rats",
    ZEBRAFISH: "zebrafish danio danio_rerio morphants morphant",
    FLY: "drosophila melanogaster fly flies d._melanogaster fruit_fly fruit_flies s2_cells "
    "imaginal_disc imaginal_discs",
    YEAST: "yeast saccharomyces cerevisiae s._cerevisiae budding_yeast baker's_yeast "
    "saccharomyces_cerevisiae",
    FISSION_YEAST: "pombe schizosaccharomyces s._pombe fission_yeast schizosaccharomyces_pombe",
    WORM: "elegans caenorhabditis c._elegans nematode nematodes worms caenorhabditis_elegans",
    E_COLI: "escherichia e._coli escherichia_coli",
    9031: "chicken chick chickens avian gallus dt40 gallus_gallus",
    8355: "xenopus frog laevis xenopus_laevis x._laevis",
    8364: "xenopus_tropicalis x._tropicalis tropicalis",
    9913: "bovine cow cattle calf cows bos_taurus",
    9823: "porcine pig pigs swine sus_scrofa piglets",
    9986: "rabbit rabbits",
    9615: "dog dogs canine mdck",
    9544: "monkey monkeys macaque macaques rhesus cos-7 cos-1 cos7 vero",
    10029: "hamster hamsters cho cho-k1",
    9940: "sheep ovine",
    9796: "horse equine",
    ARABIDOPSIS: "arabidopsis thaliana arabidopsis_thaliana a._thaliana",
    224308: "bacillus_subtilis b._subtilis subtilis",
    11676: "hiv-1 hiv hiv1 human_immunodeficiency_virus human_immunodeficiency_virus_type_1",
    10376: "ebv epstein-barr_virus",
    333760: "hpv16 hpv-16 hpv_16 human_papillomavirus_type_16 human_papillomavirus_16",
    41856: "hcv hepatitis_c_virus",
    10407: "hbv hepatitis_b_virus",
    11908: "htlv-1 htlv-i",
    2697049: "sars-cov-2 covid-19",
    10360: "cmv hcmv cytomegalovirus",
    868565: "kshv hhv-8",
    1891767: "sv40 simian_virus_40",
    10299: "hsv-1 herpes_simplex_virus_type_1",
    211044: "influenza_a influenza_virus",
}
# Viruses are named in texts about their host, so they do not count as the organism of a text.
VIRUSES = frozenset(
    (11676, 10376, 333760, 41856, 10407, 11908, 2697049, 10360, 868565, 1891767, 10299, 211044)
)
# Words that hint at a species: cancers, HIV and family studies at human, knockouts at mouse.
_SPECIES_HINTS: dict[int, str] = {
    HUMAN: "cancer cancers carcinoma carcinomas adenocarcinoma adenocarcinomas "
    "cholangiocarcinoma glioma glioblastoma leukemia melanoma xenograft xenografts "
    "nude_mice polymorphism polymorphisms snp snps haplotype haplotypes consanguineous autosomal",
    MOUSE: "knockout knockouts knock-out knockin knock-in cre creert2 floxed flox/flox fl/fl f/f "
    "littermate littermates transgenic splenocytes",
}
HINT_WEIGHT = 0.4  # relative to a word that names the species
_TAXON_OF_WORD = {
    word.replace("_", " "): taxon for taxon, own in _SPECIES_WORDS.items() for word in own.split()
}
_TAXON_OF_HINT = {
    word.replace("_", " "): taxon for taxon, own in _SPECIES_HINTS.items() for word in own.split()
}


# Prefixes of names that say the species: hTERT, AtMYB2.
_TAXON_OF_PREFIX = {
    **{"h": HUMAN, "m": MOUSE, "r": RAT, "y": YEAST, "d": FLY, "z": ZEBRAFISH},
    **{"rh": HUMAN, "rm": MOUSE, "rr": RAT, "hs": HUMAN, "Hs": HUMAN, "Mm": MOUSE, "Rn": RAT},
    **{"At": ARABIDOPSIS, "Sc": YEAST, "Sp": FISSION_YEAST, "Ce": WORM, "Dm": FLY, "Dr": ZEBRAFISH},
    "Xl": 8355,
}
_SPECIES_PREFIX = re.compile(r"^(rh|rm|rr|hs|Hs|Mm|Rn|At|Sc|Sp|Ce|Dm|Dr|Xl|[hmrydz])-?(?=[A-Z])")


@lru_cache(maxsize=1 << 12)
def find_implied_species(name: str) -> int:
    """Return the taxon that a name's own form says; 0 if it says none. Cached.

    It says one by a prefix such as h, rm or At before a capital, or as a yeast protein ("Cdc28p").

    >>> find_implied_species("hTERT"), find_implied_species("Cdc28p"), find_implied_species("TERT")
    (9606, 4932, 0)
    """
    if _YEAST_PROTEIN.match(name):
        return YEAST
    match = _SPECIES_PREFIX.match(name)
    return _TAXON_OF_PREFIX[match.group(1)] if match else 0


def _trie_pattern(words: Collection[str]) -> str:
    """Return a regular expression of the longest of some words, as a trie, which is faster.

    Words are matched literally, without anchors at their ends. An empty word makes the rest
    optional; without other words the pattern is empty.
    """
    tails: dict[str, list[str]] = {}
    for word in filter(None, words):
        tails.setdefault(word[0], []).append(word[1:])
    alternatives = "|".join(re.escape(first) + _trie_pattern(rest) for first, rest in tails.items())
    return f"(?:{alternatives}){'?' if '' in words else ''}" if alternatives else ""


_SPECIES_PATTERN = re.compile(
    rf"(?<![\w-]){_trie_pattern(_TAXON_OF_WORD | _TAXON_OF_HINT)}(?![\w])|[(-]-/-",
    re.IGNORECASE,
)
_CUE_WORD = re.compile(r"[a-z][a-z-]{2,}")
_MAX_CUE_CHARACTERS = 2500  # only the beginning of a text is searched for cue words


def extract_cue_words(text: str) -> set[str]:
    """Return the lower-case words at the beginning of a text, as cues to human or mouse.

    A word has at least three characters, letters and hyphens, and begins with a letter. Only the
    first ``_MAX_CUE_CHARACTERS`` characters are read.

    >>> sorted(extract_cue_words("Wild-type littermates of 8 weeks"))
    ['littermates', 'weeks', 'wild-type']
    """
    return set(_CUE_WORD.findall(text[:_MAX_CUE_CHARACTERS].lower()))


class SpeciesMention(NamedTuple):
    """A species (NCBI taxon) mentioned in a text, with character offsets."""

    start: int
    end: int
    taxon: int
    weight: float = 1.0  # HINT_WEIGHT if the word only hints at the species


def find_species(text: str) -> list[SpeciesMention]:
    """Return the species mentions and hints of a text in text order.

    Words are matched without regard to case, the longest first; "-/-" after a bracket or hyphen
    hints at the mouse. Hints at the mouse are dropped if the text names other species (or viruses)
    than human, but not the mouse.

    >>> [(word.taxon, word.start) for word in find_species("Mice and human cells")]
    [(10090, 0), (9606, 9)]
    """
    mentions = [
        _make_mention(match.start(), match.end(), match.group())
        for match in _SPECIES_PATTERN.finditer(text)
    ]
    named_taxa = {mention.taxon for mention in mentions if mention.weight == 1.0}
    if MOUSE in named_taxa or named_taxa <= {HUMAN}:
        return mentions
    return [mention for mention in mentions if mention.taxon != MOUSE]


def _make_mention(start: int, end: int, text: str) -> SpeciesMention:
    """Return the mention of a matched word between character offsets.

    A word that names a species has weight 1, a hint ``HINT_WEIGHT``. A word that is neither ("-/-")
    is a hint at the mouse.
    """
    taxon = _TAXON_OF_WORD.get(text.lower())
    if taxon is not None:
        return SpeciesMention(start, end, taxon)
    return SpeciesMention(start, end, _TAXON_OF_HINT.get(text.lower(), MOUSE), HINT_WEIGHT)
