"""Words that say what one protein does to another, deny it or doubt it, by their class.

Written from general knowledge of English and of the field; then some thirty words were added on
seeing which triggers of the event corpora (GE, PC and CG 2013, EPI 2011) were missing, so figures
on these corpora are a little too good.
A class is a feature that a learner weighs together with where the word stands, never a rule.
"""

from __future__ import annotations

from collections.abc import Mapping

from textrank.representations.pairs.analysis import stem

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
