"""Words that tell of interactions, denial and doubt; written from general knowledge of the field.

No corpus was consulted for the lists, so that they give nothing away about one.
"""

from __future__ import annotations

from textrank.representations.pairs.analysis import stem

_STRONG = """
interact interaction bind binds bound binding complex coimmunoprecipitate immunoprecipitate
associate association dimer heterodimer homodimer oligomer phosphorylate dephosphorylate
ubiquitinate acetylate methylate cleave recruit ligand substrate crosslink dock tether copurify
coprecipitate conjugate partner
"""

_WEAK = """
activate activation activator inactivate inhibit inhibitor regulate regulation regulator upregulate
downregulate stimulate induce repress suppress block enhance increase decrease reduce augment
modulate mediate control affect antagonist agonist receptor transactivate transcribe express
expression encode require depend target stabilize degrade release secrete signal trigger contact
recognize attach link form formation assemble compete sequester potentiate abolish attenuate
transport catalyze influence produce
"""

_NEGATION = "no not n't neither nor never without fail unable cannot absence lack independent"
_HEDGE = "may might could possible possibly suggest propose hypothesize whether likely putative"


def words_of(words: str) -> frozenset[str]:
    """The stems of words separated by blanks."""
    return frozenset(stem(word) for word in words.split())


STRONG_TRIGGERS = words_of(_STRONG)  # of physical interaction and its immediate consequences
TRIGGERS = STRONG_TRIGGERS | words_of(_WEAK)
NEGATIONS = words_of(_NEGATION)
HEDGES = words_of(_HEDGE)

_GROUPS = {
    "subj": ("nsubj", "nsubjpass", "csubj", "csubjpass", "xsubj", "subj"),
    "obj": ("dobj", "iobj", "obj", "dative"),
    "mod": ("nn", "amod", "compound", "hyphen", "poss", "num", "nmod", "det"),
    "appos": ("appos", "abbrev", "parataxis"),
    "loose": ("dep",),
    "neg": ("neg",),
    "agent": ("agent",),
}
_GROUP_OF = {kind: group for group, kinds in _GROUPS.items() for kind in kinds}


def group_of(dependency: str) -> str:
    """The coarse kind of a dependency: subj, obj, mod, prep, conj, appos, loose, ..., or other.

    >>> [group_of(kind) for kind in ("nsubjpass", "prep_with", "conj_and", "advcl")]
    ['subj', 'prep', 'conj', 'other']
    """
    if dependency.startswith("prep") or dependency == "pobj":
        return "prep"
    if dependency.startswith("conj"):
        return "conj"
    return _GROUP_OF.get(dependency, "other")


def is_verb(tag: str) -> bool:
    """Whether a part of speech is one of verbs."""
    return tag.startswith("VB")
