"""Grammar of short questions in English about results: ``parse_question``.

``parse_question`` turns a text into a ``Question``: what is asked for, about which names, and with
which type, role and status of the statements. The *role* of a name is "actor" or "target" if only
directed statements in which it acts or is acted upon are wanted. The grammar is small; a question
that it does not cover is refused with an ``UnknownQuestionError`` and never guessed.

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
    """Parsed question: what it asks for, about which names and with which filters.

    ``kind`` is "partners" (of one name), "evidence" (statements about two names), "network" (facts
    among several names), "facts" (all), "statements" (about one name or all), "count" (a number,
    see ``counted``), "document" (the statements of a document), "papers" (that mention one or two
    names) or "conflicts" (facts, about one name or all, whose statements disagree).
    """

    kind: Kind
    names: tuple[str, ...] = ()  # names of proteins, or the id of a document
    types: tuple[str, ...] = ()  # types of statements; empty: any
    role: Role = ""  # of the first name in directed statements; empty: either
    status: str = ""  # negated or speculated; empty: asserted ones
    limit: int | None = None  # number of rows asked for
    counted: str = ""  # of a count: statements, facts, documents, names, partners or mentions


def parse_question(text: str) -> Question:
    """Parse a question by the grammar of this module.

    White space, the case of words other than names, a leading "please", "can you" or "is it known
    that", and final "?", "!" and "." do not matter. The functions ``_parse_papers`` to
    ``_parse_name`` are tried in a fixed order, and the first result that is not None is returned.
    SQL is refused like any other text that is not a question.

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
    """Return the message for a question that was not understood, with examples of questions.

    The question is shown in quotation marks, with single spaces, cut to 80 characters.
    """
    shown = re.sub(r"\s+", " ", text.strip())
    return (
        f'the question {shown!r:.80} was not understood. Try "what inhibits TP53", "does GRB2 '
        'bind SOS1", "partners of GRB2", "top 5", "how many statements", "PMID 12345678" or SQL '
        "(SELECT ...)."
    )


def _is_name(text: str) -> bool:
    """Return whether a text can be the name of a protein.

    It can if it has 1 to ``MAX_NAME_WORDS`` words and none of them is in ``_NOT_NAMES`` (function
    words, in any case; commas around a word are ignored).
    """
    words = text.split()
    return 0 < len(words) <= MAX_NAME_WORDS and not any(
        word.lower().strip(",") in _NOT_NAMES for word in words
    )


def _clean_name(text: str) -> str:
    """Return a name without quotation marks and without "the", "protein" or "gene" before it.

    "protein" or "gene" after the name is removed too. The result can be "".
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
    """Build a Question from names as they were written; return None if one cannot be a name.

    Names are cleaned by ``_clean_name`` and checked by ``_is_name``. There may be no names at all.
    The other arguments are fields of ``Question``.
    """
    cleaned = tuple(map(_clean_name, names))
    if not all(map(_is_name, cleaned)):
        return None
    return Question(kind, cleaned, types, role, status, limit, counted)


def _match(pattern: str, words: str) -> re.Match[str] | None:
    """Match a pattern against the whole text, ignoring case; return None if it does not match."""
    return re.fullmatch(f"(?i){pattern}", words)


def _parse_count(words: str) -> Question | None:
    """Parse "how many statements are there" and "how many partners has GRB2"; None for other forms.

    The result is a "count". About a name, only partners (also called interactors, interactions or
    facts) can be counted, with ``counted`` "partners"; otherwise the nouns in ``_COUNTED``. None
    also for another noun, and if the name cannot be one.
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
    """Parse "which papers mention GRB2", "sentences with GRB2" and "how often is GRB2 mentioned".

    The kind is "papers"; for sentences it is "statements" with one name and "evidence" with two;
    for "how often" and "how many papers mention" it is a "count" of "mentions". None for other
    forms, or if a name cannot be one.
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
    """Split a text at "and" or a comma into two names; return it as one name if that is impossible.

    A text with more than two parts is not split.
    """
    parts = re.split(r"(?i)\s*,\s*(?:and\s+)?|\s+and\s+", text)
    return parts if len(parts) == 2 else [text]


def _parse_conflicts(words: str) -> Question | None:
    """Parse "contradictions about MDM2" and "are there conflicting statements" as "conflicts".

    The Question has at most one name. None for other forms, or if the name cannot be one.
    """
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

    A number of 5 to 9 digits alone means a document too. The only name of the Question is the
    number without "PMID", or the id as it was written.
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
    """Split a list of names at commas and "and", or at spaces if it has neither.

    Empty names are dropped. A single name of several words is therefore split at its spaces.
    """
    parts = re.split(r"\s*,\s*(?:and\s+)?|\s+and\s+", text)
    return [part for part in (parts if len(parts) > 1 else text.split()) if part]


def _parse_network(words: str) -> Question | None:
    """Parse "network of A, B and C" or "graph of A and B"; None for other forms.

    "interactions between A, B and C" is a network only with more than two names, and "interactions
    of" never is, since it asks for partners. None also if a name cannot be one.
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

    The kind is "statements", with a ``status`` and at most one name. None for other forms, or if
    the name cannot be a name.
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

    The kind is "facts", or "partners" if there is a name; "everything about GRB2" asks for partners
    too. ``limit`` of the Question is the number, or None if there is none. None for other forms, or
    if the name cannot be one.
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
    """Parse a number in digits or a word from "one" to "ten"; return None for None and ""."""
    if text and text.lower() in _NUMBERS:
        return _NUMBERS.index(text.lower()) + 1
    return int(text) if text else None


def _parse_noun(words: str) -> Question | None:
    """Parse "inhibitors of MDM2", "MDM2 inhibitors", "does MDM2 have inhibitors"; else None.

    "Show me all interactions of GRB2" and "the known ..." are such forms too. The kind is
    "partners", with the types and the role of the noun in ``_NOUNS``. The role is that of the name:
    in "inhibitors of MDM2" it is the target. "upstream of" and "downstream of" a name are parsed
    too. A name before the noun is a single word. None also if the name cannot be a name.
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
    """Forms of a verb as regular expressions without capturing groups, and its meaning.

    ``types`` are the types of statements that the verb asks for; empty means any. The forms of a
    verb without direction ("bind") may be followed by "with" or "to".
    """

    active: str
    infinitive: str
    participle: str
    gerund: str
    types: tuple[str, ...]
    is_directed: bool


def _verb_forms() -> list[_Verb]:
    """Return the inflected forms of each verb in ``_VERBS``, in its order, as patterns.

    The last letter of a stem (without "e") may be doubled before "ed" and "ing"; "modify", "bind"
    and "act on" are irregular. Verbs in ``_UNDIRECTED`` may have "with" or "to" after them.
    """
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

    Also "does anything inhibit TP53", "does TP53 inhibit anything", "genes inhibiting TP53" and
    "list the kinases that inhibit TP53", which is read as "which kinases inhibit TP53".

    The kind is "partners", with the types of the verb; "which kinases regulate TP53", with a verb
    that has no types, asks for phosphorylation. The role is that of the name: "target", "actor" and
    "actor" in the first three examples, "" for a verb without direction. The first verb of
    ``_VERBS`` with a form that matches decides. None for other forms, or if the name cannot be one.
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

    The kind is "evidence", with the types of the verb. The first name is the one that acts (MDM2 in
    the second example). The role is "actor" if the verb has a direction, or "" if it has none or
    the names are joined by "and". "What does MDM2 do to TP53" has the role "actor" and any type.
    The first verb of ``_VERBS`` with a form that matches decides. None for other forms, or if a
    name cannot be one.
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
    """Parse a question about two names without a verb, such as "evidence for GRB2 and SOS1".

    The kind is "evidence". Introductory words such as "show links between" are dropped. The text is
    split at the first of these separators that gives two parts: comma, "and", a dash between
    spaces, "with", "vs", "--". Two words without a separator are a pair only if each has a capital
    letter or a digit. None for other forms, or if a name cannot be one.
    """
    lead = (
        r"(?:(?:is there )?(?:any |an? )?(?:evidence|relations?|relationship|interactions?|links?|"
        r"statements?|connection)(?: (?:for|between|of|about|linking))? )"
    )
    prefix = r"what (?:is|do we know|is known)(?: known)?(?: about)? (?:the )?"
    rest = re.sub(f"(?i)^(?:{prefix}|show (?:me )?(?:the )?|list |find )?{lead}", "", words)
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
    """Parse a name alone as a question for its partners; None if it is not a name.

    The name must satisfy ``_is_name``. More than three words are a name only if a character after
    the first is a capital letter, a digit or a hyphen; the first letter may be the capital of a
    sentence. None for "".
    """
    parts = words.split()
    if len(parts) > 3 and not re.search(r"[A-Z0-9-]", words[1:]):
        return None
    return _make("partners", words) if words else None


# Answers ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answer:
    """Rows that answer a question, with a note on what they leave out.

    ``kind`` says which columns the rows have: "partners", "statements" and "papers" those of the
    methods of ``Results``, "pairs" those of ``FactRow``, "count" numbers by name, and "sql" those
    of the query.
    """

    kind: str  # partners, statements, pairs, papers, count or sql
    rows: Sequence[Mapping[str, Any]]
    note: str = ""  # sentence for the reader; empty if there is nothing to add


def answer_question(results: Results, text: str, where: Filter, limit: int | None = None) -> Answer:
    """Answer a question about a result folder.

    If there are no rows, a note says so. SQL is not answered here; see ``Results.sql``.

    Parameters
    ----------
    results
        Result folder to search.
    text
        Question by the grammar of this module.
    where
        Filter of the statements; the type and status of the question are added where it has none.
        It is not applied to the statements of a document.
    limit
        Largest number of rows; None or 0 takes the number in the question, or ``DEFAULT_ROWS`` if
        it has none. All statements of a document are returned regardless, and counts ignore it.

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
    """Answer a parsed question; the other arguments are those of ``answer_question``.

    ``limit`` comes before the number in the question and ``DEFAULT_ROWS``; None and 0 mean none.
    The kind of the Answer is "pairs" for networks, facts and conflicts of all, "statements" for
    evidence and documents too, else that of the question; conflicts of a name are "partners". The
    note says what is left out, "" for nothing; an Answer without rows may have none. Raises
    UnknownQuestionError if a name, or the document asked for, does not occur in the results.
    """
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
    """Return a fact or statement in short notation, such as "MDM2 ⊣ TP53".

    ``row`` has ``name_a``, ``name_b``, ``type`` (or None) and ``direction``, which determine the
    arrow. ``name_b`` comes first if the direction is "b>a".
    """
    sides = "ba" if row["direction"] == "b>a" else "ab"
    arrow, _ = choose_arrow(row["type"] or "", row["direction"])
    return f"{row[f'name_{sides[0]}']} {arrow} {row[f'name_{sides[1]}']}"


def _require_known(results: Results, name: str) -> None:
    """Raise UnknownQuestionError, with similar names, if no statement is about ``name``.

    ``name`` may be a spelling in any case, an identifier, or a gene symbol or synonym.
    """
    if results.is_known(name):
        return
    similar = results.suggest(name)
    hint = f"Did you mean {' or '.join(similar)}?" if similar else '"list all" shows the facts.'
    raise UnknownQuestionError(f"no statement mentions {name!r}. {hint}")


def _add_to_filter(where: Filter, question: Question) -> Filter:
    """Return the filter with the type and status of the question added where it has none.

    If the question has several types, only the first is used. ``where`` is not changed.
    """
    changes: dict[str, Any] = {}
    if question.types and where.type is None:
        changes["type"] = question.types[0]
    if question.status and where.status is None:
        changes["status"] = question.status
    return replace(where, **changes)


def _answer_document(results: Results, question: Question) -> Answer:
    """Answer with all statements of a document, in text order.

    The only name of the question is the document id. It is looked up as it is, then after "PMID",
    "PMID:", "pmid:" and "PMC"; the first that exists is the answer. Raises UnknownQuestionError if
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
    """Answer a question for a number with one row that has the number under ``question.counted``.

    Partners and facts are filtered by ``where``. The row of statements has ``statements``, the
    number of all, and ``likely``, the number that fulfil ``where``; that of mentions also has
    ``documents``, the number of documents that mention all names of the question. Documents, names
    (entities of all statements) and mentions are counted without ``where``.
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
    """Answer with at most ``limit`` documents that mention all names of the question.

    The note says how many more there are, or that there are none.
    """
    papers = results.papers(question.names, limit=None)
    names = " and ".join(question.names)
    note = "" if papers else f"No document mentions {names} together."
    if len(papers) > limit:
        note = f"{len(papers) - limit} more documents: raise --limit"
    return Answer("papers", papers[:limit], note)


def _answer_conflicts(results: Results, name: str | None, where: Filter, limit: int) -> Answer:
    """Answer with at most ``limit`` facts, about a name or all, whose statements disagree.

    These are the facts with a non-empty ``conflicts``. The note says how many more there are, or
    that there are none.
    """
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
    """Return the note for a name without a partner of the type and role that were asked for.

    It says how many partners of other types the name has, if any.
    """
    (name,) = question.names
    asked = f"{where.type} " if where.type else ""
    place = {"": "with", "actor": "in which the actor is", "target": "in which the target is"}
    words = f"No likely {asked}statement {place[question.role]} {name}."
    others = results.partners(name, limit=None)
    if others:
        words += f' "partners of {name}" lists {len(others)} of another kind.'
    return words


def _answer_evidence(results: Results, question: Question, where: Filter, limit: int) -> Answer:
    """Answer with the statements about two names.

    ``where`` includes the type and status of the question. If it has no condition at all, negated
    and improbable statements are returned too. If no statement fits ``where`` and the direction of
    the question, all statements about the two names are returned, with a note that says so.
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
    """Return a note on statements that are not shown: beyond the limit, or below the threshold.

    ``name`` and ``other`` are the names of the question; None for any. ``shown`` is the number of
    statements shown, or None if facts are shown, to which a number of statements cannot be
    compared. Statements below the threshold, negated or speculated are counted only if ``where``
    has no ``status`` and no ``interacts``. "" if nothing was left out.
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
