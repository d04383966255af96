"""Words that tell of interactions, denial and doubt; written from general knowledge of the field.

No corpus was consulted for the lists, so that they give nothing away about one.
"""

from __future__ import annotations

from collections.abc import Mapping

from textrank.tasks.ppi.sentences import stem

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


_EVENTS = {
    "binding": """bind binds bound binding interact interaction associate association complex dimer
        dimerize heterodimer homodimer heterodimerize oligomer multimer coimmunoprecipitate
        immunoprecipitate coprecipitate precipitate copurify dock tether attach contact assemble
        ligand partner couple crosslink engage recognize recognise occupy occupancy affinity
        colocalize bridge pull coupling adhere anchor""",
    "phosphorylation": """phosphorylate phosphorylation phosphorylates hyperphosphorylate
        autophosphorylate transphosphorylate""",
    "modification": """ubiquitinate ubiquitylate ubiquitination ubiquitylation polyubiquitinate
        deubiquitinate acetylate acetylation deacetylate deacetylation methylate methylation
        demethylate trimethylate dimethylate hypermethylate sumoylate sumoylation neddylate
        glycosylate glycosylation deglycosylate hydroxylate hydroxylation dephosphorylate
        dephosphorylation palmitoylate myristoylate farnesylate ribosylate nitrosylate citrullinate
        biotinylate cleave cleavage process proteolyze modify modification""",
    "degradation": "degrade degradation proteolysis turnover destroy destruction catabolism",
    "activation": """activate activation activator active induce induction inducer stimulate
        stimulation increase enhance promote upregulate elevate augment potentiate trigger
        transactivate transactivation stabilize stabilise restore cause lead drive facilitate
        initiate raise boost amplify accelerate support produce sustain maintain rescue
        favor favour reactivate evoke elicit provoke prolong
        coactivate positive positively upregulation stimulator agonist accumulate recruit""",
    "inhibition": """inhibit inhibition inhibitor inhibitory repress repression repressor suppress
        suppression suppressor block blockade decrease reduce reduction downregulate
        downregulation abolish attenuate antagonize antagonise antagonist impair prevent abrogate
        diminish lower disrupt silence inactivate inactivation counteract interfere interference
        destabilize destabilise limit restrain restrict sequester quench dampen ablate compete
        displace remove reverse blunt competition negative negatively hinder
        eliminate inhibits corepressor""",
    "regulation": """regulate regulation regulator regulatory modulate modulation affect effect
        control influence target alter alteration change role govern effector impact act
        determine contribute involve participate signal downstream upstream respond response""",
    "dependence": """mediate mediated depend dependent dependence require requirement essential
        necessary need sufficient critical crucial important responsible via through rely result
        independent catalyze catalyse implicate cooperate synergize link due follow""",
    "level": """express expression level levels transcription transcribe transcript mrna amount
        abundance activity secretion secrete release production synthesis translation promoter
        transactivity translocation localization localize concentration content""",
    "loss": """loss lack absence knockdown knockout knock depletion deplete deletion delete silenced
        silencing sirna shirna rnai shrna deficient deficiency mutant null ablation neutralizing
        neutralize antisense lacking absent mutation inhibitor dominant mutate removal
        withdrawal""",
    "gain": """overexpression overexpress addition treatment treat transfection transfect stimulated
        presence exposure expose ectopic constitutive forced introduction incubation incubate
        administration infection""",
}
_CUES = {
    "not": "not n't never cannot nt",
    "no": "no none nothing nowhere any",
    "neither": "neither nor",
    "without": "without absent lacking instead rather except",
    "fail": "fail failure unable inability incapable",
    "absence": "absence lack loss lacked lacks devoid negligible undetectable abolish abrogate",
    "independent": "independent independently irrespective regardless unaffected unchanged "
    "unaltered",
    "exclude": "exclude preclude refute disprove contradict deny",
    "but": "but although however whereas while though unlike contrast only",
    "modal": "may might could would should can must will",
    "possible": """possible possibly possibility likely unlikely probable probably perhaps potential
        potentially putative presumably presumed plausible conceivable conceivably apparently
        candidate hypothetical likelihood chance""",
    "suggest": """suggest propose hypothesize hypothesise hypothesis speculate speculation postulate
        assume assumption believe think suspect expect predict prediction imply suppose consider
        proposal idea notion anticipate suggestion raise infer implicate suggestive""",
    "whether": "whether if",
    "unknown": """unclear unknown uncertain question remain elusive know understood controversial
        undetermined unresolved open doubt disputed debate""",
    "ask": """ask test examine investigate determine explore assess analyze analyse study address
        wonder evaluate elucidate clarify check verify search seek probe verification aim
        decide""",
    "seem": "appear seem apparent look",
    "show": """show demonstrate find found confirm reveal observe detect indicate report see
        establish prove identify evidence data result conclude measure note""",
}


def _classes(table: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """The classes of every stem; a word may be of several."""
    found: dict[str, list[str]] = {}
    for name, words in table.items():
        for word in dict.fromkeys(map(stem, words.split())):
            found.setdefault(word, []).append(name)
    return {word: tuple(names) for word, names in found.items()}


EVENTS = _classes(_EVENTS)  # stem -> what it says happens
CUES = _classes(_CUES)  # stem -> how it denies, doubts or confirms
TYPES = tuple(name for name in _EVENTS if name not in ("level", "loss", "gain"))
PREFIXES = ("down", "up", "trans", "co", "de", "hyper", "auto")  # before a hyphen, part of a verb
LEANING = {
    **dict.fromkeys(map(stem, ("positively", "positive", "up")), "activation"),
    **dict.fromkeys(map(stem, ("negatively", "negative", "down")), "inhibition"),
}  # what these do to a word of regulation
