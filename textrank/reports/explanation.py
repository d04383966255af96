"""Features in words: which kind of reason a named feature is, and how to say it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from spacy.tokens import Doc

from textrank.evaluation import Decision, Report
from textrank.explanation import AVERAGE_NAME
from textrank.model import Model
from textrank.reports.html import (
    Piece,
    Step,
    mark_sentence,
    path_steps,
    select_worst_errors,
    template_environment,
)
from textrank.tasks.ppi.sentences import stem
from textrank.tasks.ppi.vocabulary import CUE_CLASSES, HEDGES, NEGATIONS

Part: TypeAlias = tuple[tuple[str, ...], float]
VERB, PATH, NEGATION = "verb and roles", "path", "negation and doubt"
DISTANCE, CONTEXT, OTHER = "distance and length", "context words", "other"
GROUP_OF_VIEW: Mapping[str, str] = {
    "triggers": VERB,
    "roles": VERB,
    "relation": VERB,
    "cues": NEGATION,
    "path": PATH,
    "dependencies": PATH,
    "basic": DISTANCE,
    "position": DISTANCE,
    "order": CONTEXT,
    "words": CONTEXT,
    "global_context": CONTEXT,
    "local_context": CONTEXT,
}
PREFIX_OF_VIEW: Mapping[str, str] = {
    "dependencies": "linked in the parse",
    "order": "near one another",
    "path": "on the path",
    "triggers": "",
    "roles": "",
    "cues": "",
    "words": "word",
    "global_context": "in the sentence",
    "local_context": "close to a name",
    "basic": "",
    "position": "",
    "relation": "",
}
DESCRIPTION_OF_VIEW: Mapping[str, str] = {
    "basic": "lengths and counts as in known pairs",
    "position": "places of names and words as in known pairs",
    "relation": "words and parts as in known pairs",
}  # of views that are compared as a whole
DESCRIPTION_OF_PART: Mapping[str, str] = {
    "PROT1": "the first name",
    "PROT2": "the second name",
    "PROT": "another name",
    "middle": "between the names",
    "before": "before the names",
    "after": "after the names",
    "anywhere": "anywhere",
}
PARSE_NAMES = ("given", "own", "collapsed")  # which parse a feature is of
_DENIALS = (
    NEGATIONS
    | HEDGES
    | {
        word
        for word, kinds in CUE_CLASSES.items()
        if {"not", "no", "neither", "fail", "whether", "modal", "possible"} & set(kinds)
    }
)


@dataclass(frozen=True)
class ContributionGroup:
    """Features of one kind with what they add together."""

    title: str
    adds: float
    parts: Sequence[tuple[str, float]]  # in words, largest first


def feature_group(name: Sequence[str]) -> str:
    """Which kind of reason a feature is.

    >>> feature_group(("triggers", "trigger", "middle", "bind"))
    'verb and roles'
    >>> feature_group(("words", "before", "not"))
    'negation and doubt'
    """
    view = _view(name)
    if any(_bare(part) in _DENIALS for part in name[1:]):
        return NEGATION
    return GROUP_OF_VIEW.get(view, AVERAGE_NAME if tuple(name) == (AVERAGE_NAME,) else OTHER)


def describe_feature(name: Sequence[str]) -> str:
    """A feature as a person reads it.

    >>> describe_feature(("triggers", "trigger", "middle", "bind"))
    'trigger between the names bind'
    """
    view = _view(name)
    rest = [
        DESCRIPTION_OF_PART.get(part, part)
        for part in name
        if _bell(part) != view and part not in PARSE_NAMES
    ]
    return " ".join(filter(None, [PREFIX_OF_VIEW.get(view, ""), *rest])) or DESCRIPTION_OF_VIEW.get(
        view, view
    )


def _view(name: Sequence[str]) -> str:
    """The view that a feature is of."""
    return next((_bell(part) for part in name if _bell(part) in GROUP_OF_VIEW), "")


def _bell(part: str) -> str:
    """The view of a Gaussian, which is named with its width, as in "basic, 0.0156"."""
    return part.partition(",")[0]


def group_contributions(parts: Sequence[Part]) -> list[ContributionGroup]:
    """The parts by kind, the weightiest kind first and the average candidate last.

    The reasons add up to what the parts add up to.
    """
    kinds: dict[str, dict[str, float]] = {}
    for name, value in parts:
        own = kinds.setdefault(feature_group(name), {})
        words = describe_feature(name)
        own[words] = own.get(words, 0.0) + value
    found = [
        ContributionGroup(
            kind, sum(own.values()), sorted(own.items(), key=lambda part: -abs(part[1]))
        )
        for kind, own in kinds.items()
    ]
    return sorted(found, key=lambda reason: (reason.title == AVERAGE_NAME, -abs(reason.adds)))


def find_supporting_words(
    parts: Sequence[Part], text: str, *, share: float = 0.5
) -> list[tuple[int, int]]:
    """Where the words of the weightiest parts for the score stand in a text.

    Of the features that raise the score, those that make up ``share`` of all they add.
    """
    total = sum(value for _, value in parts if value > 0)
    wanted: set[str] = set()
    so_far = 0.0
    for name, value in sorted(parts, key=lambda part: -part[1]):
        if value <= 0 or so_far > share * total:
            break
        so_far += value
        wanted |= {_bare(part) for part in name[1:]}
    places, at = [], 0
    for word in text.split():
        start = text.index(word, at)
        at = start + len(word)
        core = word.strip(".,;:()[]?!")
        if core and stem(core) in wanted:
            begin = start + word.index(core)
            places.append((begin, begin + len(core)))
    return places


def _bare(part: str) -> str:
    """The stem of a feature's word, without quotation marks."""
    return stem(part.strip("“”"))


DECISION_KEYS = ("sentence", "score", "spans")  # that the decision has too
STATED_KEYS = ("status", "type", "direction")


@dataclass(frozen=True)
class ExplainedDecision:
    """A judged candidate with everything that made its score; the parts sum to it.

    ``row`` is what the task says of it, where that is more than yes or no.
    """

    decision: Decision
    parts: Sequence[tuple[tuple[str, ...], float]]  # named features, strongest first
    row: Mapping[str, Any] = field(default_factory=dict)

    @property
    def yes(self) -> bool:
        """Whether the answer is yes, or the candidate one of a ranking."""
        return bool(self.row.get("interacts", self.decision.decision is not False))

    @property
    def reasons(self) -> list[ContributionGroup]:
        """The parts by kind, weightiest first; they add up to the score."""
        return group_contributions(self.parts)

    @property
    def title(self) -> str:
        """The judged names."""
        return " – ".join(self.decision.text[a:b] for a, b in self.decision.spans)

    @property
    def verdict(self) -> str:
        """The answer in words."""
        d = self.decision
        answer = "ranked" if d.decision is None else "yes" if self.yes else "no"
        stated = [str(self.row[key]) for key in STATED_KEYS if key in self.row]
        if "probability" in self.row:
            stated.append(f"probability {self.row['probability']:.2f}")
        threshold = "" if d.threshold is None else f", threshold {d.threshold:+.3f}"
        return f"{', '.join([answer, *stated])} (score {d.score:+.3f}{threshold})"

    @property
    def pieces(self) -> list[Piece]:
        """The sentence with the names, the path and the telling words marked."""
        return mark_sentence(self.decision, find_supporting_words(self.parts, self.decision.text))

    @property
    def steps(self) -> list[Step]:
        """The words along the path."""
        return path_steps(self.decision)

    def text(self, top: int = 3) -> str:
        """For the terminal: each kind of reason with its ``top`` strongest features."""
        lines = [self._marked(), f"  {self.title}: {self.verdict}"]
        for reason in self.reasons:
            lines.append(f"    {reason.adds:+.4f}  {reason.title}")
            if len(reason.parts) > 1 or reason.parts[0][0] != reason.title:
                lines += [f"        {value:+.4f}  {name}" for name, value in reason.parts[:top]]
                left = reason.parts[top:]
                if left:
                    rest = sum(value for _, value in left)
                    lines.append(f"        {rest:+.4f}  {len(left)} more")
        return "\n".join(lines)

    def _marked(self) -> str:
        """The sentence with names in brackets and telling words between stars."""
        signs = (("e", "[", "]"), ("word", "*", "*"))
        found = ""
        for text, marks in self.pieces:
            names = marks.split()
            sign = next((s for s in signs if any(m.startswith(s[0]) for m in names)), None)
            found += f"{sign[1]}{text}{sign[2]}" if sign else text
        return found

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        parts = [{"feature": list(name), "adds": value} for name, value in self.parts]
        found = [
            {
                "reason": reason.title,
                "adds": reason.adds,
                "because": [{"words": name, "adds": value} for name, value in reason.parts],
            }
            for reason in self.reasons
        ]
        stated = {
            key: self.row[key] for key in self.row if key not in ("sentence", "score", "spans")
        }
        return {**self.decision.to_dict(), **stated, "reasons": found, "parts": parts}


def explain_errors(model: Model, docs: Iterable[Doc], report: Report) -> list[ExplainedDecision]:
    """The worst errors of a model's report, each with what made its score, in the report's order.

    ``docs`` are those of the evaluation, in its order.
    """
    candidates = [c for doc in docs for c in model.pipeline.task.candidates(doc)]
    places = {id(decision): place for place, decision in enumerate(report.decisions)}
    wrong = [error.decision for error in select_worst_errors(report)]
    parts = model.explain_relative([candidates[places[id(d)]] for d in wrong]) if wrong else []
    return [ExplainedDecision(d, own) for d, own in zip(wrong, parts, strict=True)]


def render_explanations(
    explanations: Sequence[ExplainedDecision],
    *,
    top: int = 3,
    report: str = "",
    back: tuple[str, str] = ("", ""),
) -> str:
    """One self-contained page: sentence, names, path, and bars for the kinds of reasons.

    ``report`` is the page beside this one that counts these among its errors; ``back`` the address
    and the name of a document that they are statements of.
    """
    values = [abs(reason.adds) for e in explanations for reason in e.reasons]
    template = template_environment().get_template("explanation.html")
    largest = max(values, default=1.0)
    return template.render(
        explanations=explanations, top=top, largest=largest, report=report, back=back
    )
