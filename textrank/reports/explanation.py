"""Explained decisions for readers: contributions grouped by kind and put into words.

A model explains a score as named features and what each adds (``Model.explain_relative``).
``group_contributions`` sums them in groups such as "verb and roles", ``ExplainedDecision`` puts a
decision and its contributions together for the terminal, JSON and HTML, and
``render_explanations`` makes a page of several.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from spacy.tokens import Doc

from textrank.evaluation import Decision, Report
from textrank.explanation import AVERAGE_NAME
from textrank.model import Model
from textrank.protocols import Explanation
from textrank.reports.html import (
    CharacterRange,
    Piece,
    Step,
    mark_sentence,
    path_steps,
    select_worst_errors,
    template_environment,
)
from textrank.reports.table import mark_spans
from textrank.tasks.ppi.sentences import stem
from textrank.tasks.ppi.vocabulary import CUE_CLASSES, HEDGES, NEGATIONS

# Features in words

VERB, PATH, NEGATION = "verb and roles", "path", "negation and speculation"
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
# Views that a kernel compares as a whole, so that their features have no other name.
DESCRIPTION_OF_VIEW: Mapping[str, str] = {
    "basic": "lengths and counts as in known pairs",
    "position": "places of names and words as in known pairs",
    "relation": "words and parts as in known pairs",
}
DESCRIPTION_OF_PART: Mapping[str, str] = {
    "PROT1": "the first name",
    "PROT2": "the second name",
    "PROT": "another name",
    "middle": "between the names",
    "before": "before the names",
    "after": "after the names",
    "anywhere": "anywhere",
}
PARSE_NAMES = ("given", "own", "collapsed")  # parts that tell which parse a feature is of
_NEGATION_STEMS = (
    NEGATIONS
    | HEDGES
    | {
        word
        for word, classes in CUE_CLASSES.items()
        if {"not", "no", "neither", "fail", "whether", "modal", "possible"} & set(classes)
    }
)


@dataclass(frozen=True)
class ContributionGroup:
    """Features of one kind and what they add together."""

    title: str
    adds: float
    parts: Sequence[tuple[str, float]]  # features in words, largest magnitude first


def group_contributions(contributions: Explanation) -> list[ContributionGroup]:
    """Sum contributions by kind, largest magnitude first and the average candidate last.

    Features that read the same in words (``describe_feature``) are summed too, and listed largest
    magnitude first in each group. The groups add up to what the contributions do. Empty without
    contributions.
    """
    groups: dict[str, dict[str, float]] = {}
    for name, value in contributions:
        parts = groups.setdefault(feature_group(name), {})
        words = describe_feature(name)
        parts[words] = parts.get(words, 0.0) + value
    return sorted(
        (
            ContributionGroup(
                title, sum(parts.values()), sorted(parts.items(), key=lambda part: -abs(part[1]))
            )
            for title, parts in groups.items()
        ),
        key=lambda group: (group.title == AVERAGE_NAME, -abs(group.adds)),
    )


def feature_group(name: Sequence[str]) -> str:
    """Return the title of the group that a feature belongs to.

    ``name`` are the words of a feature name. A word of negation or speculation after the first
    decides; else the first word that is a view (``GROUP_OF_VIEW``). The average candidate is a
    group of its own; others are ``OTHER``.

    >>> feature_group(("triggers", "trigger", "middle", "bind"))
    'verb and roles'
    >>> feature_group(("words", "before", "not"))
    'negation and speculation'
    """
    if any(_word_stem(part) in _NEGATION_STEMS for part in name[1:]):
        return NEGATION
    default = AVERAGE_NAME if tuple(name) == (AVERAGE_NAME,) else OTHER
    return GROUP_OF_VIEW.get(_view_of(name), default)


def describe_feature(name: Sequence[str]) -> str:
    """Return the name of a feature in words.

    The view is replaced by its prefix, parts such as "middle" by their description, and the words
    that tell the parse (``PARSE_NAMES``) are left out.

    >>> describe_feature(("triggers", "trigger", "middle", "bind"))
    'trigger between the names bind'
    """
    view = _view_of(name)
    words = [
        DESCRIPTION_OF_PART.get(part, part)
        for part in name
        if _without_width(part) != view and part not in PARSE_NAMES
    ]
    description = " ".join(filter(None, [PREFIX_OF_VIEW.get(view, ""), *words]))
    return description or DESCRIPTION_OF_VIEW.get(view, view)


def find_supporting_words(
    contributions: Explanation, text: str, *, share: float = 0.5
) -> list[CharacterRange]:
    """Return the character ranges of the words in a text that raise the score most.

    Words are taken from the largest positive contributions, until these make up more than ``share``
    of the sum of all positive ones, and found in the text by their stems. Every occurrence counts.
    Ranges are in text order, end excluded, without punctuation around the word.
    """
    total = sum(value for _, value in contributions if value > 0)
    stems: set[str] = set()
    covered = 0.0
    for name, value in sorted(contributions, key=lambda contribution: -contribution[1]):
        if value <= 0 or covered > share * total:
            break
        covered += value
        stems |= {_word_stem(part) for part in name[1:]}
    ranges, end = [], 0
    for word in text.split():
        start = text.index(word, end)
        end = start + len(word)
        core = word.strip(".,;:()[]?!")
        if core and stem(core) in stems:
            begin = start + word.index(core)
            ranges.append((begin, begin + len(core)))
    return ranges


def _view_of(name: Sequence[str]) -> str:
    """Return the view that a feature is of; "" if its name has none of ``GROUP_OF_VIEW``."""
    parts = map(_without_width, name)
    return next((part for part in parts if part in GROUP_OF_VIEW), "")


def _without_width(part: str) -> str:
    """Return the part of a name before a comma.

    That is the view in a name such as "basic, 0.0156", where a Gaussian kernel has its width.
    """
    return part.partition(",")[0]


def _word_stem(part: str) -> str:
    """Return the stem of a word in a feature name, without quotation marks."""
    return stem(part.strip("“”"))


# Explained decisions

DECISION_KEYS = ("sentence", "score", "spans")  # keys of a task's row that the decision has too
STATED_KEYS = ("status", "type", "direction")
RELATION_KEYS = ("physical", "regulation")  # probabilities of the definitions of an interaction


@dataclass(frozen=True)
class ExplainedDecision:
    """A decision with the contributions that sum to its score.

    ``row`` is what the task says about the candidate, if that is more than yes or no.
    """

    decision: Decision
    parts: Explanation  # largest magnitude first
    row: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_positive(self) -> bool:
        """Whether the answer is yes; True for a candidate of a ranking."""
        return bool(self.row.get("interacts", self.decision.decision is not False))

    @property
    def groups(self) -> list[ContributionGroup]:
        """Contributions by kind, see ``group_contributions``; they sum to the score."""
        return group_contributions(self.parts)

    @property
    def title(self) -> str:
        """Judged names as in the text, joined by a dash."""
        return " – ".join(self.decision.text[a:b] for a, b in self.decision.spans)

    @property
    def verdict(self) -> str:
        """Answer, attributes, probability, score and threshold in words."""
        d = self.decision
        answer = "ranked" if d.decision is None else "yes" if self.is_positive else "no"
        stated = [str(self.row[key]) for key in STATED_KEYS if key in self.row]
        if "probability" in self.row:
            stated.append(f"probability {self.row['probability']:.2f}")
        stated += [f"{key} {self.row[key]:.2f}" for key in RELATION_KEYS if key in self.row]
        threshold = "" if d.threshold is None else f", threshold {d.threshold:+.3f}"
        return f"{', '.join([answer, *stated])} (score {d.score:+.3f}{threshold})"

    @property
    def pieces(self) -> list[Piece]:
        """Sentence with the names, the dependency path and the supporting words marked."""
        words = find_supporting_words(self.parts, self.decision.text)
        return mark_sentence(self.decision, words)

    @property
    def steps(self) -> list[Step]:
        """Words along the dependency path between the names; empty without a path."""
        return path_steps(self.decision)

    def to_text(self, top: int = 3) -> str:
        """Return lines for the terminal: each group with its ``top`` largest features.

        The first lines are the marked sentence and the verdict. Further features of a group are
        summed in one line.
        """
        lines = [self._marked_sentence(), f"  {self.title}: {self.verdict}"]
        for group in self.groups:
            lines.append(f"    {group.adds:+.4f}  {group.title}")
            if len(group.parts) > 1 or group.parts[0][0] != group.title:
                lines += [f"        {value:+.4f}  {name}" for name, value in group.parts[:top]]
                hidden = group.parts[top:]
                if hidden:
                    rest = sum(value for _, value in hidden)
                    lines.append(f"        {rest:+.4f}  {len(hidden)} more")
        return "\n".join(lines)

    def _marked_sentence(self) -> str:
        """Return the sentence with names in brackets and supporting words between stars.

        A name that is also a supporting word gets brackets only.
        """
        signs = (("e", "[", "]"), ("word", "*", "*"))
        sentence = ""
        for text, marks in self.pieces:
            names = marks.split()
            sign = next((s for s in signs if any(name.startswith(s[0]) for name in names)), None)
            sentence += f"{sign[1]}{text}{sign[2]}" if sign else text
        return sentence

    def to_dict(self) -> dict[str, Any]:
        """Return plain values: the keys of the decision and of the row, "reasons" and "parts".

        "parts" are the contributions by feature, "reasons" their groups. Keys of the row that the
        decision has too (``DECISION_KEYS``) are left out.
        """
        stated = {key: value for key, value in self.row.items() if key not in DECISION_KEYS}
        reasons = [
            {
                "reason": group.title,
                "adds": group.adds,
                "because": [{"words": name, "adds": value} for name, value in group.parts],
            }
            for group in self.groups
        ]
        parts = [{"feature": list(name), "adds": value} for name, value in self.parts]
        return {**self.decision.to_dict(), **stated, "reasons": reasons, "parts": parts}


def explain_errors(model: Model, docs: Iterable[Doc], report: Report) -> list[ExplainedDecision]:
    """Return the worst errors of a model's report with their contributions, in its order.

    The order is that of ``select_worst_errors``; empty without errors. ``docs`` must be those of
    the evaluation, in its order: decisions are matched to candidates by position.
    """
    candidates = [c for doc in docs for c in model.pipeline.task.candidates(doc)]
    positions = {id(decision): i for i, decision in enumerate(report.decisions)}
    decisions = [error.decision for error in select_worst_errors(report)]
    if not decisions:
        return []
    explanations = model.explain_relative([candidates[positions[id(d)]] for d in decisions])
    return [ExplainedDecision(d, parts) for d, parts in zip(decisions, explanations, strict=True)]


def render_explanations(
    explanations: Sequence[ExplainedDecision],
    *,
    top: int = 3,
    report: str = "",
    back: tuple[str, str] = ("", ""),
) -> str:
    """Return a self-contained HTML page with sentence, path and a bar per group.

    Parameters
    ----------
    explanations
        The decisions to show.
    top
        Number of features that are listed in each group.
    report
        Relative address of a report page with the same errors; "" for no link.
    back
        Address and name of the document the decisions are from; ("", "") for no link.
    """
    sizes = [abs(group.adds) for explanation in explanations for group in explanation.groups]
    template = template_environment().get_template("explanation.html")
    return template.render(
        explanations=explanations,
        top=top,
        largest=max(sizes, default=1.0),
        report=report,
        back=back,
    )


def document_url(document: str) -> str | None:
    """Return the address of a PubMed abstract by its id; None for an id of another form.

    >>> document_url("PMID:10022882")
    'https://pubmed.ncbi.nlm.nih.gov/10022882/'
    >>> document_url("d12") is None
    True
    """
    match = re.fullmatch(r"(?:PMID[:_-]? ?)?([0-9]{5,8})", document, re.IGNORECASE)
    return f"https://pubmed.ncbi.nlm.nih.gov/{match[1]}/" if match else None


def render_influence(rows: Sequence[Mapping[str, Any]], *, top: int = 5) -> str:
    """Return a self-contained HTML page with the documents that decided each score.

    ``rows`` are those of ``textrank explain --influence``; ``top`` documents are listed for each.
    """
    shown = [{**row, "marked": mark_spans(row["text"], row["spans"])} for row in rows]
    return template_environment().get_template("influence.html").render(rows=shown, top=top)
