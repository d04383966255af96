"""Word lists about interactions, events, negation and speculation, by stem.

``TRIGGERS``, ``STRONG_TRIGGERS``, ``NEGATIONS`` and ``HEDGES`` are plain sets that the blocks and
descriptors of pairs use. ``EVENT_CLASSES`` and ``CUE_CLASSES`` map a stem to the classes of event
(binding, inhibition, ...) and of cue (not, modal, suggest, ...) that it belongs to; the features of
statements use them. All lists were written from general knowledge of the field, without looking at
a corpus, so they cannot leak the annotation of one. ``SIGNS`` maps a stem to the sign of its
effect; its words were chosen after the kinds of errors in thirty abstracts were known.
"""

from __future__ import annotations

from collections.abc import Mapping

from textrank.tasks.ppi.sentences import stem

_STRONG_TRIGGER_WORDS = """
interact interaction bind binds bound binding complex coimmunoprecipitate immunoprecipitate
associate association dimer heterodimer homodimer oligomer phosphorylate dephosphorylate
ubiquitinate acetylate methylate cleave recruit ligand substrate crosslink dock tether copurify
coprecipitate conjugate partner
"""
_WEAK_TRIGGER_WORDS = """
activate activation activator inactivate inhibit inhibitor regulate regulation regulator upregulate
downregulate stimulate induce repress suppress block enhance increase decrease reduce augment
modulate mediate control affect antagonist agonist receptor transactivate transcribe express
expression encode require depend target stabilize degrade release secrete signal trigger contact
recognize attach link form formation assemble compete sequester potentiate abolish attenuate
transport catalyze influence produce
"""
_NEGATION_WORDS = "no not n't neither nor never without fail unable cannot absence lack independent"
_HEDGE_WORDS = (
    "may might could possible possibly suggest propose hypothesize whether likely putative"
)


def stems(words: str) -> frozenset[str]:
    """Return the set of stems of words separated by white space (see ``sentences.stem``)."""
    return frozenset(stem(word) for word in words.split())


STRONG_TRIGGERS = stems(
    _STRONG_TRIGGER_WORDS
)  # of physical interaction and its immediate consequences
TRIGGERS = STRONG_TRIGGERS | stems(_WEAK_TRIGGER_WORDS)
NEGATIONS = stems(_NEGATION_WORDS)
HEDGES = stems(_HEDGE_WORDS)
_DEPENDENCY_GROUPS = {
    "subj": ("nsubj", "nsubjpass", "csubj", "csubjpass", "xsubj", "subj"),
    "obj": ("dobj", "iobj", "obj", "dative"),
    "mod": ("nn", "amod", "compound", "hyphen", "poss", "num", "nmod", "det"),
    "appos": ("appos", "abbrev", "parataxis"),
    "loose": ("dep",),
    "neg": ("neg",),
    "agent": ("agent",),
}
_GROUP_OF_DEPENDENCY = {
    kind: group for group, kinds in _DEPENDENCY_GROUPS.items() for kind in kinds
}


def dependency_group(dependency: str) -> str:
    """Return the coarse group of a dependency type, ``"other"`` if it belongs to none.

    Groups are subj, obj, mod, prep, conj, appos, loose, neg, agent and other. All types that begin
    with "prep" or "conj" are in that group, and "pobj" is in prep. Case matters.

    >>> [dependency_group(kind) for kind in ("nsubjpass", "prep_with", "conj_and", "advcl")]
    ['subj', 'prep', 'conj', 'other']
    """
    if dependency.startswith("prep") or dependency == "pobj":
        return "prep"
    if dependency.startswith("conj"):
        return "conj"
    return _GROUP_OF_DEPENDENCY.get(dependency, "other")


def is_verb(tag: str) -> bool:
    """Return whether a Penn Treebank tag is that of a verb (``VB*``)."""
    return tag.startswith("VB")


_EVENT_WORDS = {
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
# Words that raise (+), lower (-), remove (L) or add (G) what they govern, beside EVENT_CLASSES.
_SIGN_WORDS = {
    "+": """up upregulate accelerate accumulate advance aggravate boost climb drive
        exacerbate expand expansion gain grow growth heighten higher improve intensify overproduce
        peak prime propel rise robust spike strengthen surge synergize worsen abundant hyperactive
        hyperactivation""",
    "-": """down alleviate ameliorate arrest avert blunted collapse counter curb cut deactivate
        deactivation decline deplete desensitize desensitization desensitise deter drop
        dwindle extinguish fall fell halve hamper hinder inhibited lessen mitigate negate neutralise
        normalize nullify oppose overcome preclude quell rarely reduced relieve resist retard
        shrink shut slow smaller subside thwart undermine weaken weakly weaker withdraw fewer less
        low minimal poorly scarce""",
    "L": """knockdowns knocked haploinsufficiency haploinsufficient inactivated inactivating lacked
        lacks nullizygous sh si siRNAs shRNAs antisense morpholino morphant crispr antagonist
        blocker blocking deprivation deprived disruption disrupted dysfunctional excision
        immunodepletion immunodepleted knock-out knock-down kinase-dead loss-of-function unable
        null/null -/-""",
    "G": """constitutively exogenous forced gain-of-function injected injection knockin knock-in
        overexpressing recombinant supplementation supplemented transduced transduction transgenic
        wild-type re-expression reintroduction agonist""",
    "0": "unaffected unaltered unchanged unresponsive irrespective",
}
_CUE_WORDS = {
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


def _classes_by_stem(words_by_class: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Return the classes of each stem, in the order of the mapping; a stem may have several.

    ``words_by_class`` maps a class to its words, separated by white space. Words with the same stem
    are merged; a class is listed once per stem.
    """
    classes: dict[str, list[str]] = {}
    for name, words in words_by_class.items():
        for word in dict.fromkeys(map(stem, words.split())):
            classes.setdefault(word, []).append(name)
    return {word: tuple(names) for word, names in classes.items()}


EVENT_CLASSES = _classes_by_stem(_EVENT_WORDS)  # stem -> what it says happens
CUE_CLASSES = _classes_by_stem(_CUE_WORDS)  # stem -> how it denies, doubts or confirms
_SIGN_OF_CLASS = {"activation": "+", "inhibition": "-", "loss": "L", "gain": "G"}
SIGNS = {
    **{
        word: next(_SIGN_OF_CLASS[name] for name in classes if name in _SIGN_OF_CLASS)
        for word, classes in EVENT_CLASSES.items()
        if any(name in _SIGN_OF_CLASS for name in classes)
    },
    **{stem(word): sign for sign, words in _SIGN_WORDS.items() for word in words.split()},
}  # stem -> sign of its effect on what it governs
EVENT_TYPES = tuple(name for name in _EVENT_WORDS if name not in ("level", "loss", "gain"))
VERB_PREFIXES = (
    "down",
    "up",
    "trans",
    "co",
    "de",
    "hyper",
    "auto",
)  # before a hyphen, part of a verb
REGULATION_POLARITY = {
    **dict.fromkeys(map(stem, ("positively", "positive", "up")), "activation"),
    **dict.fromkeys(map(stem, ("negatively", "negative", "down")), "inhibition"),
}  # what these do to a word of regulation
