"""Rules for closed patterns of real-word errors, such as "should of" for "should have".

A rule needs no weights: a word is wrong if its neighbours are among a few words. Each was counted
on text that nothing is learnt from (``docs/experiments/spelling.py rules``) before it was let in.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

RULE_PRECISION = 0.995  # share of flags of rules that were correct on text without planted errors


@dataclass(frozen=True)
class Rule:
    """Word that is wrong among certain neighbours.

    ``before`` and ``after`` are the words of which the neighbour on that side must be one, and
    ``unless_before`` and ``unless_after`` those of which it must be none; ``after_next`` and
    ``unless_after_next`` are the same of the word after the next. An empty set of words sets no
    condition. "" stands for a neighbour outside of the sentence.
    """

    printed: str
    proposal: str
    before: frozenset[str] = frozenset()
    after: frozenset[str] = frozenset()
    after_next: frozenset[str] = frozenset()
    unless_before: frozenset[str] = frozenset()
    unless_after: frozenset[str] = frozenset()
    unless_after_next: frozenset[str] = frozenset()

    @property
    def title(self) -> str:
        """Return both words in alphabetical order, joined by a slash: the name of the pair."""
        return "/".join(sorted((self.printed, self.proposal)))

    @property
    def conditions(self) -> Iterable[tuple[int, frozenset[str], bool]]:
        """Return (offset, words, whether the neighbour must be one of them) of all conditions."""
        table = (
            (-1, self.before, True),
            (1, self.after, True),
            (2, self.after_next, True),
            (-1, self.unless_before, False),
            (1, self.unless_after, False),
            (2, self.unless_after_next, False),
        )
        return [condition for condition in table if condition[1]]


def _words(text: str) -> frozenset[str]:
    """Return the words of a text, separated by blanks; "_" is the end of the sentence."""
    return frozenset("" if word == "_" else word for word in text.split())


_MODALS = _words(
    "could should would might must couldn't shouldn't wouldn't mightn't mustn't could've should've"
)
_FORMS_OF_BE = _words(
    "is are was were be been am isn't aren't wasn't weren't i'm you're he's she's"
)
_COMPARATIVES = _words(
    "more less fewer rather better worse higher lower larger smaller greater bigger older younger "
    "longer shorter faster slower stronger weaker easier harder cheaper newer wider deeper"
)
_DETERMINERS = _words("the a an my your his her its their our any some it them this that all")
_AUXILIARIES = _words(
    "will would can could might may cannot can't won't wouldn't couldn't don't doesn't didn't"
)
_CLAUSE_ENDS = _words(", . ; : ! ? ) _")
RULES: tuple[Rule, ...] = (
    Rule(
        "of",
        "have",
        before=_MODALS,
        unless_after=_words(
            "course necessity needs itself themselves the a an this that these those its it their "
            "his her our my any"
        )
        | _CLAUSE_ENDS,
    ),
    Rule("their", "there", after=_words("is are was were isn't aren't wasn't weren't has seems")),
    Rule("there", "their", after=_words("own")),
    Rule("they're", "their", after=_words("own")),
    Rule("you're", "your", after=_words("own")),
    Rule("your", "you're", after=_words("not gonna supposed")),
    Rule("your", "you're", after=_words("welcome"), after_next=_CLAUSE_ENDS | _words("to")),
    Rule("it's", "its", after=_words("own")),
    Rule("its", "it's", after=_words("a an the not been because")),
    Rule(
        "its",
        "it's",
        after=_words("possible impossible important likely unlikely clear easy hard true"),
        after_next=_words("to that"),
    ),
    Rule("who's", "whose", after=_words("own")),
    Rule("then", "than", before=_COMPARATIVES, unless_after=_CLAUSE_ENDS),
    Rule("than", "then", before=_words("and but since until")),
    Rule(
        "to",
        "too",
        before=_words("is are was were be been it's that's far way not"),
        after=_words("much many late early big small long short hard slow heavy expensive complex"),
        unless_after_next=_words("of to"),
    ),
    Rule("suppose", "supposed", before=_FORMS_OF_BE | _words("not"), after=_words("to")),
    Rule("use", "used", before=_FORMS_OF_BE, after=_words("to")),
    Rule("loose", "lose", before=_AUXILIARIES, after=_DETERMINERS),
    Rule("advise", "advice", before=_words("some good bad legal medical free useful any")),
    Rule("affect", "effect", before=_words("no any little side")),
    Rule(
        "effect",
        "affect",
        before=_AUXILIARIES | _words("not"),
        after=_words("the your his her its their our how other all"),
        unless_after_next=_words("change changes transition transfer removal"),
    ),
    Rule(
        "lets",
        "let's",
        before=_words("_"),
        after=_words("see say look assume start begin consider take go try make suppose"),
    ),
    Rule("accept", "except", before=_words("everyone everybody everything nothing nobody")),
    Rule("excepted", "accepted", before=_words("generally widely be commonly")),
)
