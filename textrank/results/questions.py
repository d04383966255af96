"""Grammar of short questions in English about results: ``parse_question``.

A question becomes a ``Question``: what is asked for, about which names, and with which type, role
and status of the statements. The grammar is small; what it does not cover is refused with an
``UnknownQuestionError``, so that a question is never answered by guessing.

``answer_question`` looks the answer up in a result folder. A name that no statement has is refused
too, with names that are spelt similarly.

Grammar::

    NAME                                  partners of a protein: GRB2, p130Cas, ncbigene:2885
    partners|interactors of NAME          also: binding partners, inhibitors, activators,
                                          regulators, kinases, substrates, targets of NAME;
                                          what is upstream|downstream of NAME
    what|who|which proteins VERB NAME     VERB: binds, interacts with, inhibits, activates,
                                          phosphorylates, regulates, degrades, modifies, ...
    what does NAME VERB                   also: what is phosphorylated by NAME
    does NAME VERB NAME                   also: is NAME inhibited by NAME; has NAME been shown to
                                          VERB NAME; evidence that NAME VERB NAME; NAME and NAME
    sentences with NAME [and NAME]        statements with their sentences
    papers that mention NAME [and NAME]   also: where is NAME mentioned
    contradictions [about NAME]           facts whose statements disagree
    network of NAME, NAME, NAME           facts among these proteins
    list all, top 5, strongest            facts by decreasing probability; top 5 partners of NAME
    negated, speculated [of NAME]         statements that are denied or only supposed
    how many statements|facts|documents|proteins; how many partners has NAME; how often is NAME
                                          mentioned
    PMID NUMBER                           statements of a document
    SELECT ...                            SQL
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from textrank.tasks.ppi.facts import choose_arrow

if TYPE_CHECKING:
    from textrank.results.store import Filter, Results

Kind: TypeAlias = Literal[
    "partners",
    "evidence",
    "network",
    "facts",
    "statements",
    "count",
    "document",
    "papers",
    "conflicts",
]
Role: TypeAlias = Literal["", "actor", "target"]
MAX_NAME_WORDS = 6

# Verb stems -> types of statements; an empty tuple stands for any type.
_VERBS: Mapping[str, tuple[str, ...]] = {
    "interact": (),
    "associate": (),
    "relate": (),
    "bind": ("binding",),
    "dimeri[sz]e": ("binding",),
    "phosphorylate": ("phosphorylation",),
    "inhibit": ("inhibition",),
    "repress": ("inhibition",),
    "suppress": ("inhibition",),
    "block": ("inhibition",),
    "down-?regulate": ("inhibition",),
    "antagoni[sz]e": ("inhibition",),
    "activate": ("activation",),
    "induce": ("activation",),
    "stimulate": ("activation",),
    "enhance": ("activation",),
    "up-?regulate": ("activation",),
    "regulate": (),
    "control": (),
    "affect": (),
    "modulate": (),
    "target": (),
    "act on": (),
    "degrade": ("degradation",),
    "modify": ("modification",),
    "ubiquit(?:in|yl)ate": ("modification",),
    "acetylate": ("modification",),
    "methylate": ("modification",),
    "sumoylate": ("modification",),
    "dephosphorylate": ("modification",),
    "cleave": ("modification",),
}
_UNDIRECTED = ("interact", "associate", "relate", "bind", "dimeri[sz]e")
# Nouns of "NOUN of NAME" -> types and the role of NAME.
_NOUNS: Mapping[str, tuple[tuple[str, ...], Role]] = {
    r"(?:interaction |protein )?partners?": ((), ""),
    r"interactors?|neighbou?rs?|interactions?|facts|relations?|statements?": ((), ""),
    r"binding partners?|binders?|ligands?|receptors?": (("binding",), ""),
    r"kinases?": (("phosphorylation",), "target"),
    r"substrates?": (("phosphorylation",), "actor"),
    r"(?:downstream )?(?:targets?|effectors?)": ((), "actor"),
    r"(?:upstream )?regulators?": ((), "target"),
    r"inhibitors?|repressors?|suppressors?|antagonists?": (("inhibition",), "target"),
    r"activators?|inducers?|stimulators?": (("activation",), "target"),
}
_STATUS_WORDS: Mapping[str, str] = {
    r"negated|negative|denied|refuted|not interacting": "negated",
    r"speculated|speculative|supposed|hypothetical|possible|suggested": "speculated",
}
_COUNTED: Mapping[str, str] = {
    "statements?|sentences?|rows?": "statements",
    "facts?|pairs?|interactions?|relations?": "facts",
    "documents?|papers?|abstracts?|articles?|texts?": "documents",
    "proteins?|genes?|names?|entities": "names",
}
# Words that no name of a protein contains; a slot with one of them was not understood.
_FUNCTION_WORDS = (
    "a an the this that these those what which who whom whose why how when where is are was "
    "were be do does did has have had can could will would should may might must of in on for "
    "from into than then there here me my you your it its they them please all any some every "
    "everything between among about not no both most strongly anything something "
)
_NOT_NAMES = frozenset(_FUNCTION_WORDS.split())
TYPES = (
    "binding",
    "phosphorylation",
    "modification",
    "degradation",
    "activation",
    "inhibition",
    "regulation",
)


class UnknownQuestionError(ValueError):
    """A question that the grammar does not cover; the message says what can be asked."""


@dataclass(frozen=True)
class Question:
    """Parsed question: what it asks for, of which names and with which filters.

    Kinds: "partners" of one name, "evidence" for two, "network" of several, all "facts",
    "statements" about one name or all, "count" of what ``counted`` says, the statements of a
    "document", "papers" that mention one or two names, and "conflicts": facts, of one name or all,
    whose statements disagree.
    """

    kind: Kind
    names: tuple[str, ...] = ()  # names of proteins, or the id of a document
    types: tuple[str, ...] = ()  # types of statements; empty: any
    role: Role = ""  # of the first name in directed statements; empty: either
    status: str = ""  # negated or speculated; empty: asserted ones
    limit: int | None = None  # number of rows asked for
    counted: str = ""  # of a count: statements, facts, documents, names, partners or mentions


def parse_question(text: str) -> Question:
    """Return what a question asks for, by the grammar of this module.

    White space, case of the words around names, a leading "please", "can you" or "is it known
    that", and final "?", "!" and "." do not matter. SQL is not parsed here: it is refused as any
    other text.

    >>> question = parse_question("what inhibits TP53?")
    >>> question.kind, question.names, question.types, question.role
    ('partners', ('TP53',), ('inhibition',), 'target')
    >>> parse_question("GRB2 and SOS1").names
    ('GRB2', 'SOS1')

    Raises
    ------
    UnknownQuestionError
        If the grammar does not cover the question.
    """
    words = re.sub(r"\s+", " ", text.strip()).rstrip("?!. ").strip()
    words = re.sub(r"(?i)^(what|who|where|that)[\u2019']s ", r"\1 is ", words)
    words = re.sub(
        r"(?i)^(?:please )?(?:can you |could you |(?:do|does) (?:you|anyone|we) know (?:whether|if|"
        r"that) |is it (?:known|true|reported) (?:whether|that|if) )?",
        "",
        words,
    )
    for rule in (
        _parse_papers,
        _parse_conflicts,
        _parse_count,
        _parse_document,
        _parse_network,
        _parse_status,
        _parse_list,
        _parse_noun,
        _parse_yes_or_no,
        _parse_verb,
        _parse_pair,
        _parse_name,
    ):
        question = rule(words)
        if question is not None:
            return question
    raise UnknownQuestionError(_describe_unknown(text))


def _describe_unknown(text: str) -> str:
    """Return the message for a question that was not understood: its start and examples to ask.

    The question is shown with single blanks, cut to 80 characters with its quotation marks.
    """
    shown = re.sub(r"\s+", " ", text.strip())
    return (
        f'the question {shown!r:.80} was not understood. Try "what inhibits TP53", "does GRB2 '
        'bind SOS1", "partners of GRB2", "top 5", "how many statements", "PMID 12345678" or SQL '
        "(SELECT ...)."
    )


def _is_name(text: str) -> bool:
    """Return whether a text can be the name of a protein: few words, none of them a function word.

    Few are 1 to ``MAX_NAME_WORDS``; function words are ``_NOT_NAMES``, in any case. Nothing else is
    required: any other single word is a name. False for "".
    """
    words = text.split()
    return 0 < len(words) <= MAX_NAME_WORDS and not any(
        word.lower().strip(",") in _NOT_NAMES for word in words
    )


def _clean_name(text: str) -> str:
    """Return a name without quotes and without "the", "protein" or "gene" before it.

    "protein" or "gene" after it is removed too. The result can be "".
    """
    name = text.strip().strip("\"'").strip()
    name = re.sub(r"(?i)^(?:the )?(?:(?:protein|gene) )?", "", name)
    return re.sub(r"(?i) (?:protein|gene)$", "", name).strip()


def _make(
    kind: Kind,
    *names: str,
    types: tuple[str, ...] = (),
    role: Role = "",
    status: str = "",
    limit: int | None = None,
    counted: str = "",
) -> Question | None:
    """Return a Question with cleaned names; None if one of them cannot be a name.

    Quotes and "the protein" around names are removed; a name has few words, none a function word
    (``_clean_name``, ``_is_name``). No names at all are allowed.
    """
    cleaned = tuple(map(_clean_name, names))
    if not all(map(_is_name, cleaned)):
        return None
    return Question(kind, cleaned, types, role, status, limit, counted)


def _match(pattern: str, words: str) -> re.Match[str] | None:
    """Return the match of a pattern with the whole text, ignoring case; None if there is none."""
    return re.fullmatch(f"(?i){pattern}", words)


def _parse_count(words: str) -> Question | None:
    """Parse "how many statements are there" and "how many partners has GRB2"; None for other forms.

    With a name, partners, interactions and facts are counted as "partners", and nothing else can be
    counted; without one, what ``_COUNTED`` lists.
    """
    match = _match(
        r"(?:how many|(?:the )?number of|count (?:all|the)|count(?: of)?) (\w+)(.*)", words
    )
    if not match:
        return None
    rest = match[2].strip()
    rest = re.sub(r"(?i)^(?:are|is) (?:there|stored)(?: in all)?$|^in all$|^exist$", "", rest)
    about = _match(
        r"(?:does |do |has |have |of |with |about |for |involve )?(.+?)(?: have| has)?", rest
    )
    if re.fullmatch("(?i)partners?|interactors?|interactions?|facts?", match[1]) and rest and about:
        return _make("count", about[1], counted="partners")
    if rest:
        return None
    for pattern, counted in _COUNTED.items():
        if _match(pattern, match[1]):
            return Question("count", counted=counted)
    return None


_PAPERS = r"(?:papers?|documents?|abstracts?|articles?|publications?|texts?|pmids?)"
_SHOW = r"(?:(?:list|show|give|find|get|print|display)(?: me)? )?(?:all )?(?:the )?"


def _parse_papers(words: str) -> Question | None:
    """Parse "which papers mention GRB2", "sentences with GRB2 and SOS1", "how often is ...".

    The Question is of the kind "papers"; for sentences "statements" of one name and "evidence" of
    two; with "how often" and "how many papers mention" a "count" of mentions. None for other forms.
    """
    mention = (
        r"(?:that |which )?(?:mention(?:s|ing)?|discuss(?:es|ing)?|describ(?:es?|ing)|contain(?:s|"
        r"ing)?|(?:is |are |talks? |speaks? )?about|with|on|name|cite)(?: both)?"
    )
    done = r"(?:mentioned|discussed|described|named|found)(?: together)?"
    match = _match(
        rf"(?:how (?:often|many times) (?:is|are|was|were)) (.+?) {done}", words
    ) or _match(rf"(?:how many|(?:the )?number of) {_PAPERS} {mention} (.+)", words)
    if match:
        return _make("count", *_split_pair(match[1]), counted="mentions")
    match = _match(rf"(?:which |what |{_SHOW}){_PAPERS} {mention} (.+)", words) or _match(
        rf"(?:where|in (?:which|what) {_PAPERS}) (?:is|are) (.+?) {done}", words
    )
    if match:
        return _make("papers", *_split_pair(match[1]))
    match = _match(rf"(?:which |what |{_SHOW})sentences? {mention} (.+)", words)
    if match:
        names = _split_pair(match[1])
        return _make("evidence" if len(names) == 2 else "statements", *names)
    return None


def _split_pair(text: str) -> list[str]:
    """Return the two names that "and" or a comma joins, or else the text as one name."""
    parts = re.split(r"(?i)\s*,\s*(?:and\s+)?|\s+and\s+", text)
    return parts if len(parts) == 2 else [text]


def _parse_conflicts(words: str) -> Question | None:
    """Parse "contradictions about MDM2" and "are there conflicting statements"; None otherwise."""
    match = _match(
        rf"(?:(?:are|is) there (?:any |a )?|which |what |{_SHOW})"
        r"(?:contradictions?|conflicts?|disagreements?|inconsistenc(?:y|ies)|(?:contradict(?:ory|"
        r"ing)|conflicting|inconsistent) (?:statements?|facts?|evidence|interactions?|findings?|"
        r"results?))(?: (?:about|of|for|on|with|in) (.+)| (?:are|is) there)?",
        words,
    )
    return _make("conflicts", *([match[1]] if match[1] else [])) if match else None


def _parse_document(words: str) -> Question | None:
    """Parse "PMID 123", "statements in PMID:123" and "document ID"; None for other forms.

    A number of 5 to 9 digits alone is a document too. The name of the Question is the number
    without "PMID", or the id as it was written.
    """
    match = _match(
        r"(?:(?:list |show )?(?:all )?(?:statements?|interactions?|facts) (?:in|of|from) )?"
        r"(?:(?:the )?(?:document|paper|abstract|article) )?(?:(?:pmid|pubmed)[ :]*)(\d{1,9})",
        words,
    ) or _match(r"(\d{5,9})", words)
    if match:
        return Question("document", (match[1],))
    match = _match(
        r"(?:(?:statements?|interactions?|facts) (?:in|of|from) )?"
        r"(?:the )?(?:document|paper|abstract|article) (\S+)",
        words,
    )
    return Question("document", (match[1],)) if match else None


def _split_names(text: str) -> list[str]:
    """Split a list of names at commas and "and", or at blanks if there are neither.

    Empty names are dropped. A single name of several words is split too, at its blanks.
    """
    parts = re.split(r"\s*,\s*(?:and\s+)?|\s+and\s+", text)
    return [part for part in (parts if len(parts) > 1 else text.split()) if part]


def _parse_network(words: str) -> Question | None:
    """Parse "network of A, B and C" as a question for a network; None for other forms.

    "graph" means the same; "interactions between" does only with more than two names, and
    "interactions of" never, since it asks for partners.
    """
    match = _match(
        r"(?:the )?(?:network|graph|interactions)(?: of| between| among)?[: ]+(.+)", words
    )
    if not match or words.lower().startswith("interactions of"):
        return None
    names = _split_names(match[1])
    is_network = not words.lower().startswith("interactions")
    return _make("network", *names) if is_network or len(names) > 2 else None


def _parse_status(words: str) -> Question | None:
    """Parse "negated", "which interactions are denied", "speculated interactions of GRB2".

    The Question is of the kind "statements", with the status and at most one name. None for other
    forms, and if the name cannot be one.
    """
    for pattern, status in _STATUS_WORDS.items():
        nouns = r"(?:statements?|interactions?|facts|relations?|evidence)"
        match = _match(
            rf"(?:(?:list|show|which|what)(?: all)? )?(?:{pattern})(?: {nouns})?"
            r"(?: (?:of|about|for|with) (.+))?",
            words,
        ) or _match(
            rf"(?:which|what) {nouns}(?: (?:of|about) (.+))? (?:is|are) (?:{pattern})", words
        )
        if match:
            names = [match[1]] if match[1] else []
            return _make("statements", *names, status=status)
    return None


def _parse_list(words: str) -> Question | None:
    """Parse "list all", "top 5", "the 10 strongest interactions", "top 3 partners of GRB2".

    The Question asks for facts, or for the partners of a name, as "everything about GRB2" does too.
    ``limit`` of the Question is the number if there is one, else None. None for other forms.
    """
    lead = r"(?:(?:list|show|give|print|display|what are|which are)(?: me)? )?(?:the )?"
    objects = r"(?: (?:statements?|interactions?|facts|pairs|relations?|results?))?"
    if _match(rf"(?:list|show|give me|print|display) (?:all|everything){objects}", words) or _match(
        r"(?:all|everything|all facts|all interactions)", words
    ):
        return Question("facts")
    number = rf"\d{{1,6}}|{'|'.join(_NUMBERS)}"
    sizes = (
        rf"(?:top ({number})|({number}) (?:strongest|best|likeliest|most (?:probable|likely|"
        r"certain))|strongest|best|top|likeliest|most (?:probable|likely|certain))"
    )
    match = _match(rf"{lead}{sizes}{objects}", words)
    if match:
        return Question("facts", limit=_to_int(match[1] or match[2]))
    match = _match(rf"{lead}{sizes} ((?:\w+ )?\w+ of .+)", words)
    if match and (inner := _parse_noun(match[3])):
        return Question(**{**vars(inner), "limit": _to_int(match[1] or match[2])})
    match = _match(
        r"(?:list|show|tell|give)(?: me)?(?: all| everything| more| something)? (?:about|on) (.+)",
        words,
    ) or _match(
        r"(?:everything|all|what (?:is known|do (?:we|you) know|is there)) (?:about|on|of) (.+)",
        words,
    )
    return _make("partners", match[1]) if match else None


_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def _to_int(text: str | None) -> int | None:
    """Return a number of rows, of digits or a word up to ten; None if the text is None or ""."""
    if text and text.lower() in _NUMBERS:
        return _NUMBERS.index(text.lower()) + 1
    return int(text) if text else None


def _parse_noun(words: str) -> Question | None:
    """Parse "inhibitors of MDM2", "show me all interactions of GRB2"; None for other forms.

    The Question asks for the partners of a name, with type and role of ``_NOUNS``; the role is that
    of the name: MDM2 is the target here. None also if the name cannot be one.
    """
    for pattern, (types, role) in _NOUNS.items():
        match = _match(
            r"(?:(?:list|show|give|find|what are|which are|who are)(?: me)? )?(?:all )?(?:the )?"
            rf"(?:known )?(?:{pattern}) (?:of|for) (.+)",
            words,
        ) or _match(rf"(?:does|do) (.+?) have (?:any |known )*(?:{pattern})", words)
        match = match or _match(rf"(?:list |show (?:me )?)?(\S+) (?:{pattern})", words)
        if match:
            return _make("partners", match[1], types=types, role=role)
    for side, role in (("upstream", "target"), ("downstream", "actor")):
        match = _match(rf"(?:{_THINGS} (?:is|are|lies?|acts?) )?{side} of (.+)", words)
        if match:
            return _make("partners", match[1], role=role)
    return None


class _Verb(NamedTuple):
    """Forms of a verb as regular expressions without groups that capture, and what it means.

    "with" or "to" may follow the forms of a verb without direction.
    """

    active: str
    infinitive: str
    participle: str
    gerund: str
    types: tuple[str, ...]
    is_directed: bool


def _verb_forms() -> list[_Verb]:
    """Return the forms of each verb in ``_VERBS``."""
    forms = []
    for stem, types in _VERBS.items():
        base, e = (stem[:-1], "e") if stem.endswith("e") else (stem, "")
        active, participle = f"{base}{e}s?", f"{base}(?:{base[-1]})?ed"
        gerund = f"{base}(?:{base[-1]})?ing"
        if stem == "modify":
            active, participle = "modif(?:y|ies)", "modified"
        elif stem == "bind":
            participle = "bound"
        elif stem == "act on":
            active, participle, gerund = "acts? on", "acted on", "acting on"
        after = r"(?: (?:with|to))?" if stem in _UNDIRECTED else ""
        forms.append(
            _Verb(
                active + after,
                stem + after,
                participle,
                gerund + after,
                types,
                stem not in _UNDIRECTED,
            )
        )
    return forms


_FORMS = _verb_forms()
_ANYTHING = r"(?:anything|something|anyone|any (?:other )?(?:proteins?|genes?|kinases?))"
_THING_NOUNS = (
    r"(?:proteins?|genes?|kinases?|factors?|molecules?|things?|partners?|receptors?|ligands?|"
    r"phosphatases?|enzymes?)"
)
_THINGS = rf"(?:what|who|(?:which|what) (?:\w+ )?{_THING_NOUNS})"


def _parse_verb(words: str) -> Question | None:
    """Parse "what inhibits TP53", "what does TP53 inhibit", "what is phosphorylated by AKT1".

    The Question asks for partners; its role is that of the name (target, actor and actor in these
    examples), and "" for a verb without direction. None for other forms.
    """
    listed = rf"(?i)^{_SHOW}({_THING_NOUNS}) (?:that|which) "  # "list the kinases that ..."
    words = re.sub(listed, r"which \1 ", words)
    for active, infinitive, participle, gerund, types, is_directed in _FORMS:
        target: Role = "target" if is_directed else ""
        actor: Role = "actor" if is_directed else ""
        if match := _match(rf"{_SHOW}{_THING_NOUNS} {gerund} (.+)", words):
            return _make("partners", match[1], types=types, role=target)
        if match := _match(rf"(?:does|do|can) {_ANYTHING} {infinitive} (.+)", words):
            return _make("partners", match[1], types=types, role=target)
        if match := _match(rf"(?:does|do|can) (.+?) {infinitive} {_ANYTHING}", words):
            return _make("partners", match[1], types=types, role=actor)
        if match := _match(rf"(?:which|what) (?:\w+ )?kinases? {active} (.+)", words):
            return _make("partners", match[1], types=types or ("phosphorylation",), role=target)
        if match := _match(rf"{_THINGS} (?:directly )?(?:can )?{active} (.+)", words):
            return _make("partners", match[1], types=types, role=target)
        if match := _match(rf"{_THINGS} (?:does|do|can) (.+?) {infinitive}", words):
            return _make("partners", match[1], types=types, role=actor)
        if match := _match(rf"{_THINGS} (?:is|are|gets?) {participle} (?:by|to) (.+)", words):
            return _make("partners", match[1], types=types, role=actor)
    return None


def _parse_yes_or_no(words: str) -> Question | None:
    """Parse "does GRB2 bind SOS1", "is TP53 inhibited by MDM2", "GRB2 binds SOS1".

    The Question asks for evidence. Its first name is the one that acts (MDM2 in the second
    example), with the role "actor" if the verb is directed and the two are not joined by "and".
    None for other forms.
    """
    lead = (
        r"(?:(?:is there |what is |show(?: me)? )?(?:any |some |the )?(?:strongest |best |main )?"
        r"(?:evidence|proof) (?:that|for|of) )"
    )
    said = r"(?:shown|known|reported|found|said|thought|believed|proposed|suggested)"
    rest = re.sub(f"(?i)^{lead}", "", words)
    if match := _match(r"what (?:does|did|can) (.+?) do to (.+)", rest):
        return _make("evidence", match[1], match[2], role="actor")
    for active, infinitive, participle, gerund, types, is_directed in _FORMS:
        role: Role = "actor" if is_directed else ""
        if rest != words and (match := _match(rf"(.+?) {gerund} (.+)", rest)):
            return _make("evidence", match[1], match[2], types=types, role=role)
        both = _match(rf"(?:do|does|can) (.+?) and (.+?) {infinitive}(?: each other)?", rest)
        both = both or _match(
            rf"how (?:do|are) (.+?) and (.+?) (?:{infinitive}|{participle})", rest
        )
        if both:
            return _make("evidence", both[1], both[2], types=types)
        if match := _match(rf"(?:does|do|can|did|may) (.+?) {infinitive} (.+)", rest):
            return _make("evidence", match[1], match[2], types=types, role=role)
        if match := _match(
            rf"(?:has|have|is|are|was) (.+?) (?:been )?{said} to {infinitive} (.+)", rest
        ):
            return _make("evidence", match[1], match[2], types=types, role=role)
        if match := _match(
            rf"(?:is|are|was|has|have) (.+?) (?:been )?{participle} (?:by|to) (.+)", rest
        ):
            return _make("evidence", match[2], match[1], types=types, role=role)
        if (match := _match(rf"(.+?) {active} (.+)", rest)) and (
            question := _make("evidence", match[1], match[2], types=types, role=role)
        ):
            return question
    return None


def _parse_pair(words: str) -> Question | None:
    """Parse a question for the evidence of two names, such as "evidence for GRB2 and SOS1".

    A lead such as "show links between" is removed. Names are separated by a comma, "and", a dash
    between blanks, "with", "vs" or "--"; the first of these, in this order, that gives two parts is
    used. Two words without a separator are a pair only if each has a capital or a digit. None
    otherwise.
    """
    lead = (
        r"(?:(?:is there )?(?:any |an? )?(?:evidence|relations?|relationship|interactions?|links?|"
        r"statements?|connection)(?: (?:for|between|of|about|linking))? )"
    )
    known = r"what (?:is|do we know|is known)(?: known)?(?: about)? (?:the )?"
    rest = re.sub(f"(?i)^(?:{known}|show (?:me )?(?:the )?|list |find )?{lead}", "", words)
    rest = re.sub(
        r"(?i)^how (?:is|are) (.+?) (?:connected|linked|related)(?: to (.+))?$",
        lambda m: f"{m[1]} and {m[2]}" if m[2] else m[1],
        rest,
    )
    for separator in (r"\s*,\s*", r" and ", r" -+ ", r" with ", r" vs\.? ", r"--+"):
        parts = re.split(f"(?i){separator}", rest)
        if len(parts) == 2:
            return _make("evidence", *parts)
    parts = rest.split()
    if len(parts) == 2 and all(re.search(r"[A-Z0-9]", part) for part in parts):
        return _make("evidence", *parts)
    return None


def _parse_name(words: str) -> Question | None:
    """Parse a bare name as the question for its partners; None if the words are not a name.

    Up to three words can always be a name. More can be one only if a character after the first is
    a capital, a digit or a hyphen, so that a sentence's initial capital does not count. None also
    for an empty string, and for what ``_is_name`` refuses.
    """
    parts = words.split()
    if len(parts) > 3 and not re.search(r"[A-Z0-9-]", words[1:]):
        return None
    return _make("partners", words) if words else None


# Answers ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answer:
    """Rows that answer a question, and a remark on what they leave out.

    ``kind`` says which columns the rows have: partners, statements or facts ("pairs") of
    ``Results``, numbers, or those of a query in SQL.
    """

    kind: str  # partners, statements, pairs, papers, count or sql
    rows: Sequence[Mapping[str, Any]]
    note: str = ""  # sentence for the reader; empty if there is nothing to add


def answer_question(results: Results, text: str, where: Filter, limit: int | None = None) -> Answer:
    """Answer a question about a result folder.

    SQL is not answered here; see ``Results.sql``.

    Parameters
    ----------
    results
        Result folder to search.
    text
        Question by the grammar of this module.
    where
        Filter of the statements. Type and status of the question are used where it has none. It is
        not used for the statements of a document.
    limit
        Largest number of rows; None or 0 takes that of the question, by default ``DEFAULT_ROWS``.
        The statements of a document are always returned completely.

    Raises
    ------
    UnknownQuestionError
        If the question is not understood, or a name or document does not occur in the results.
    """
    question = parse_question(text)
    answer = _answer(results, question, where, limit)
    if answer.rows or answer.note:
        return answer
    kind = f"{question.status} " if question.status else "likely "
    about = f" about {' and '.join(question.names)}" if question.names else ""
    return replace(answer, note=f"No {kind}statement{about}.")


def _answer(results: Results, question: Question, where: Filter, limit: int | None) -> Answer:
    """Return the answer to a parsed question; see ``answer_question``."""
    if question.kind == "document":
        return _answer_document(results, question)
    for mentioned in question.names:
        _require_known(results, mentioned)
    where = _add_to_filter(where, question)
    rows_wanted = limit or question.limit or DEFAULT_ROWS
    if question.kind == "count":
        return _answer_count(results, question, where)
    if question.kind == "papers":
        return _answer_papers(results, question, rows_wanted)
    name = question.names[0] if question.names else None
    if question.kind == "conflicts":
        return _answer_conflicts(results, name, where, rows_wanted)
    if question.kind == "statements":
        rows = results.statements(name, where=where, limit=rows_wanted)
        return Answer("statements", rows, _describe_rest(results, name, None, where, len(rows)))
    if question.kind == "evidence":
        return _answer_evidence(results, question, where, rows_wanted)
    if question.kind == "network":
        return Answer("pairs", results.network(question.names, where=where)[:rows_wanted])
    if question.kind == "facts":
        facts = results.strongest(rows_wanted, where=where)
        return Answer("pairs", facts, _describe_rest(results, None, None, where, None))
    partners = results.partners(
        question.names[0], where=where, role=question.role, limit=rows_wanted
    )
    note = _describe_rest(results, name, None, where, None)
    if not partners:
        note = _describe_missing(results, question, where) + (f" {note}." if note else "")
    return Answer("partners", partners, note)


DEFAULT_ROWS = 20


def describe_relation(row: Mapping[str, Any]) -> str:
    """Return a fact or statement as a reader writes it, such as "MDM2 ⊣ TP53".

    ``row`` has ``name_a``, ``name_b``, ``type`` (or None) and ``direction``. The names are in the
    order of the direction: ``name_b`` comes first if it is "b>a".
    """
    sides = "ba" if row["direction"] == "b>a" else "ab"
    arrow, _ = choose_arrow(row["type"] or "", row["direction"])
    return f"{row[f'name_{sides[0]}']} {arrow} {row[f'name_{sides[1]}']}"


def _require_known(results: Results, name: str) -> None:
    """Raise UnknownQuestionError, with similar names, if no statement has a name or identifier.

    Spelling in any case, identifiers, and symbols and synonyms of genes are accepted.
    """
    if results.is_known(name):
        return
    similar = results.suggest(name)
    hint = f"Did you mean {' or '.join(similar)}?" if similar else '"list all" shows the facts.'
    raise UnknownQuestionError(f"no statement mentions {name!r}. {hint}")


def _add_to_filter(where: Filter, question: Question) -> Filter:
    """Return the filter with type and status of the question, where it does not set them.

    Of several types of a question only the first is used. ``where`` is not changed.
    """
    changes: dict[str, Any] = {}
    if question.types and where.type is None:
        changes["type"] = question.types[0]
    if question.status and where.status is None:
        changes["status"] = question.status
    return replace(where, **changes)


def _answer_document(results: Results, question: Question) -> Answer:
    """Return all statements of a document, in text order; its id may lack "PMID" or "PMC".

    The id is the only name of the question, tried as it is first. Raises UnknownQuestionError if
    the results have no such document.
    """
    (number,) = question.names
    for key in (number, f"PMID{number}", f"PMID:{number}", f"pmid:{number}", f"PMC{number}"):
        if document := results.document(key):
            return Answer("statements", document["statements"])
    raise UnknownQuestionError(
        f'the results have no document {number!r}. "SELECT document FROM documents" lists them.'
    )


def _answer_count(results: Results, question: Question, where: Filter) -> Answer:
    """Return one row with the number that was asked for, under its name.

    ``where`` filters partners and facts. For statements all are counted, and ``likely`` are those
    that fulfil ``where``; documents and names are counted without it.
    """
    counted = question.counted
    if counted == "mentions":
        papers = results.papers(question.names, limit=None)
        mentions = sum(paper["mentions"] for paper in papers)
        return Answer("count", [{"mentions": mentions, "documents": len(papers)}])
    if counted == "partners":
        rows = results.partners(question.names[0], where=where, limit=None)
        return Answer("count", [{"partners": len(rows)}])
    if counted == "facts":
        return Answer("count", [{"facts": len(results.facts(where=where))}])
    if counted == "statements":
        likely = results.count(where=where)
        return Answer("count", [{"statements": results.counts()["statements"], "likely": likely}])
    if counted == "names":
        row = results.sql(
            "SELECT count(DISTINCT key) AS names FROM (SELECT key_a AS key FROM keyed UNION ALL "
            "SELECT key_b FROM keyed)"
        )
        return Answer("count", row)
    return Answer("count", [{counted: results.counts()[counted]}])


def _answer_papers(results: Results, question: Question, limit: int) -> Answer:
    """Return the documents that mention all names, and how many more there are."""
    papers = results.papers(question.names, limit=None)
    names = " and ".join(question.names)
    note = "" if papers else f"No document mentions {names} together."
    if len(papers) > limit:
        note = f"{len(papers) - limit} more documents: raise --limit"
    return Answer("papers", papers[:limit], note)


def _answer_conflicts(results: Results, name: str | None, where: Filter, limit: int) -> Answer:
    """Return the facts, of a name or all, whose statements disagree; at most ``limit``."""
    if name is None:
        facts: Sequence[Mapping[str, Any]] = results.facts(where=where)
    else:
        facts = results.partners(name, where=where, limit=None)
    rows = [fact for fact in facts if fact["conflicts"]]
    about = "" if name is None else f" about {name}"
    note = "" if rows else f"The statements{about} do not contradict each other."
    if len(rows) > limit:
        note = f"{len(rows) - limit} more facts: raise --limit"
    return Answer("pairs" if name is None else "partners", rows[:limit], note)


def _describe_missing(results: Results, question: Question, where: Filter) -> str:
    """Return a sentence for a question about a name that has no partner of the kind asked for."""
    (name,) = question.names
    asked = f"{where.type} " if where.type else ""
    place = {"": "with", "actor": "in which the actor is", "target": "in which the target is"}
    words = f"No likely {asked}statement {place[question.role]} {name}."
    others = results.partners(name, limit=None)
    if others:
        words += f' "partners of {name}" lists {len(others)} of another kind.'
    return words


def _answer_evidence(results: Results, question: Question, where: Filter, limit: int) -> Answer:
    """Return the statements about two names, with a remark on those of another kind.

    If ``where``, to which the question has added its type and status, has no condition at all,
    negated and improbable statements are shown too. If nothing fits ``where`` and the direction of
    the question, all statements about the two names are shown instead, with a remark.
    """
    one, other = question.names
    is_filtered = where != type(where)()
    rows = results.evidence(
        one, other, where=where if is_filtered else None, role=question.role, limit=limit
    )
    if rows:
        return Answer("statements", rows)
    rows = results.evidence(one, other, limit=limit)
    if not rows:
        return Answer("statements", rows, f"No statement is about {one} and {other}.")
    asked = f"{question.types[0]} " if question.types else ""
    note = (
        f"No likely {asked}statement about {one} and {other}; all statements about the two follow."
    )
    return Answer("statements", rows, note)


def _describe_rest(
    results: Results, name: str | None, other: str | None, where: Filter, shown: int | None
) -> str:
    """Return how many more statements there are: beyond the limit, and below the threshold.

    ``name`` and ``other`` are those of the question, None for any. ``shown`` is the number of
    statements shown; None if facts are shown, which cannot be compared. Statements that do not
    interact are counted only if ``where`` asks neither for a status nor for ``interacts``. "" if
    there are no more.
    """
    parts = []
    likely = results.count(name, other, where=where)
    if shown is not None and likely > shown:
        parts.append(f"{likely - shown} more statements: raise --limit")
    if where.wants_interactions:
        unlikely = replace(where, interacts=False)
        count = results.count(name, other, where=unlikely)
        if count:
            parts.append(
                f"{count} statements are below the threshold, negated or speculated: ask with "
                "--status or --probability"
            )
    return "; ".join(parts)
