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
from textrank.linear_scores import AVERAGE_NAME
from textrank.model import OTHER_HEADS_NAME, Model
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
AVERAGE, OTHER_HEADS = "starting point: the average", "the other kind of relation"
GROUP_OF_VIEW: Mapping[str, str] = {
    "triggers": VERB,
    "events": VERB,
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
# Views that a kernel compares as a whole, so that their features have no name of their own.
DESCRIPTION_OF_VIEW: Mapping[str, str] = {
    "basic": "lengths and counts",
    "position": "where names and words stand",
    "relation": "wording of the relation as a whole",
    "path": "grammatical way between the names",
    "dependencies": "grammatical links between the words",
    "roles": "roles of the names",
    "events": "kinds of words and roles of the names",
    "order": "words near one another",
}
ABSENT_WORDS = "usual words that are absent"
GRAMMAR_NEARBY = "grammar close to the names"
DESCRIPTION_OF_PLACE: Mapping[str, str] = {
    "middle": "between the names",
    "between": "between the names",
    "before": "before the names",
    "fore": "before or between the names",
    "after": "after the names",
    "anywhere": "in the sentence",
    "path": "on the way between the names",
    "path word": "on the way between the names",
    "path verb": "on the way between the names",
    "top": "on the way between the names",
    "word": "on the way between the names",
    "PROT1": "close to the first name",
    "PROT2": "close to the second name",
}
DESCRIPTION_OF_NAME: Mapping[str, str] = {
    "PROT1": "the first name",
    "PROT2": "the second name",
    "PROT": "another name",
}
# Features of triggers that count or order words; what they count is in the name of the feature.
DESCRIPTION_OF_COUNT: Mapping[str, str] = {
    "pattern": "order of names and words of interaction",
    "pattern around": "order of names and words of interaction",
    "triggers in middle": "number of words of interaction between the names",
    "length of path": "length of the way between the names",
    "length of middle": "number of words between the names",
    "ends of path": "grammatical way between the names",
}
# Entries of an explanation that are not features, and the groups that they form.
GROUP_OF_ENTRY: Mapping[str, str] = {AVERAGE_NAME: AVERAGE, OTHER_HEADS_NAME: OTHER_HEADS}
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
    """Features of one kind and what they add together; ``adds`` is the sum over ``parts``."""

    title: str
    adds: float
    parts: Sequence[tuple[str, float]]  # features in words, largest magnitude first


def group_contributions(contributions: Explanation, text: str = "") -> list[ContributionGroup]:
    """Sum contributions by kind, largest magnitude first and the average candidate last.

    Features that read the same in words (``describe_feature``, with the words of ``text``) are
    summed too, and listed largest magnitude first in each group. Without ``text`` stems are not
    replaced by words. The groups add up to what the contributions do. Empty without contributions.
    """
    word_of_stem = {_word_stem(word): word for word in _words(text)}
    groups: dict[str, dict[str, float]] = {}
    for name, value in contributions:
        parts = groups.setdefault(feature_group(name), {})
        words = describe_feature(name, word_of_stem if text else None)
        parts[words] = parts.get(words, 0.0) + value
    return sorted(
        (
            ContributionGroup(
                title, sum(parts.values()), sorted(parts.items(), key=lambda part: -abs(part[1]))
            )
            for title, parts in groups.items()
        ),
        key=lambda group: (group.title == AVERAGE, -abs(group.adds)),
    )


def feature_group(name: Sequence[str]) -> str:
    """Return the title of the group that a feature belongs to.

    ``name`` are the words of a feature name. A word of negation or speculation after the first
    decides; else the first word that is a view (``GROUP_OF_VIEW``). The average candidate and what
    other heads add are groups of their own; others are ``OTHER``.

    >>> feature_group(("triggers", "trigger", "middle", "bind"))
    'verb and roles'
    >>> feature_group(("words", "before", "not"))
    'negation and speculation'
    """
    if any(_word_stem(part) in _NEGATION_STEMS for part in name[1:]):
        return NEGATION
    default = GROUP_OF_ENTRY.get(name[0], OTHER) if len(name) == 1 else OTHER
    return GROUP_OF_VIEW.get(_view_of(name), default)


def describe_feature(name: Sequence[str], word_of_stem: Mapping[str, str] | None = None) -> str:
    """Return the name of a feature in words that a reader without grammar understands.

    Stems are replaced by words of the text (``word_of_stem``); a feature with a word that the text
    does not have is ``ABSENT_WORDS``. With None stems stay. Features of grammar (views
    "dependencies", "events" and "roles", "path" without "word") share the description of their
    view, tags of "local_context" are ``GRAMMAR_NEARBY``, and counts those of
    ``DESCRIPTION_OF_COUNT``. Names of parses (``PARSE_NAMES``), numbers of "local_context" and all
    words but the first of the place "top" are left out. Features without a view of
    ``GROUP_OF_VIEW`` are their words, joined by blanks, or the title of their group in
    ``GROUP_OF_ENTRY``.

    >>> describe_feature(("triggers", "trigger", "middle", "bind"), {"bind": "binds"})
    '“binds” between the names'
    >>> describe_feature(("path", "walk of tags", "nsubj<", "VB", "dobj>"))
    'grammatical way between the names'
    """
    view = _view_of(name)
    parts = [p for p in name if _without_width(p) != view and p not in PARSE_NAMES]
    if not view:
        words = " ".join(parts)
        return GROUP_OF_ENTRY.get(words, words)
    if view == "triggers" and parts and parts[0] == "trigger":
        parts = parts[1:]
    if view == "local_context" and len(parts) > 1:
        if parts[1] == "tag":
            return GRAMMAR_NEARBY
        parts = [parts[0], *(p for p in parts[2:] if not p.lstrip("-").isdigit())]
    is_grammar = view in ("dependencies", "events", "roles") or (
        view == "path" and parts[:1] != ["word"]
    )
    if is_grammar or not parts:
        return DESCRIPTION_OF_VIEW.get(view, view)
    place, *stems = parts
    if place in DESCRIPTION_OF_COUNT:
        return DESCRIPTION_OF_COUNT[place]
    if place == "top":
        stems = stems[:1]  # then comes a tag
    if place not in DESCRIPTION_OF_PLACE or not stems:
        place, stems = "", parts
    return _describe_words(stems, DESCRIPTION_OF_PLACE.get(place, ""), word_of_stem)


def _describe_words(
    stems: Sequence[str], place: str, word_of_stem: Mapping[str, str] | None
) -> str:
    """Return words in quotation marks and their place, or ``ABSENT_WORDS``.

    ``place`` is a description such as "between the names", "" for none. Stems are replaced by
    ``word_of_stem``, unless it is None; if it lacks one, the result is ``ABSENT_WORDS``. Names and
    punctuation count as present; names become "…", or their description if there is nothing else.
    """
    words = []
    for part in stems:
        is_word = part not in DESCRIPTION_OF_NAME and any(c.isalpha() for c in part)
        word = part
        if is_word and word_of_stem is not None:
            if _word_stem(part) not in word_of_stem:
                return ABSENT_WORDS
            word = word_of_stem[_word_stem(part)]
        words.append(word)
    if len(words) == 1 and words[0] in DESCRIPTION_OF_NAME:
        return f"{DESCRIPTION_OF_NAME[words[0]]} {place}".strip()
    joined = " ".join("…" if word in DESCRIPTION_OF_NAME else word for word in words)
    return f"“{joined}” {place}".strip()


def find_supporting_words(
    contributions: Explanation, text: str, *, share: float = 0.5
) -> list[CharacterRange]:
    """Return the character ranges of the words in a text that raise the score most.

    Words are taken from the largest positive contributions, until these make up more than ``share``
    of the sum of all positive ones, and found in the text by their stems. The first part of a
    feature name, its view, is not a word. Every occurrence counts. Ranges are in text order, end
    excluded, without punctuation around the word.
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
    for word in _words(text):
        start = text.index(word, end)
        end = start + len(word)
        if stem(word) in stems:
            ranges.append((start, end))
    return ranges


def _words(text: str) -> list[str]:
    """Return the words of a text between white space; case is kept.

    Any of ".,;:()[]?!" around a word is removed, and words without anything else are left out.
    """
    return [core for word in text.split() if (core := word.strip(".,;:()[]?!"))]


def _view_of(name: Sequence[str]) -> str:
    """Return the first view (``GROUP_OF_VIEW``) among the parts of a feature name; "" for none."""
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


# One sentence about a pair

_ROLES = (
    (r"nsubjpass|nsubj:pass|csubjpass", "what it is done to", "its subject"),
    (r"[nc]subj.*|xsubj", "subject", "its subject"),
    (r"[di]?obj|obj:.*|xcomp|ccomp|attr|acomp", "object", "its object"),
    (r"appos|abbrev", "apposition", "its apposition"),
    (r"conj.*", "next in a list", "a list with it"),
)
_PREPOSITION = re.compile(r"(?:prepc?|nmod|obl|acl|advcl)[_:](\w+)|(agent)|(prep)")


def describe_path(steps: Sequence[Step], names: Sequence[str]) -> str:
    """Return how the word at the top of a dependency path joins two names, in one sentence.

    ``steps`` lead from the first of the two ``names`` to the second. Words of the text are between
    stars. If the first name is in the active subject of the top, the last verb of a list of verbs
    on the way to the second name is named instead of the top. "" if one of the names is itself at
    the top, or without steps.

    >>> first, last = Step("GRB2", True, "nsubj", False), Step("SOS1", True)
    >>> describe_path([first, Step("binds", False, "dobj"), last], ["GRB2", "SOS1"])
    '*binds* has GRB2 as subject and SOS1 as object.'
    """
    top = next((i for i, step in enumerate(steps) if step.forward), len(steps) - 1)
    if top in (0, len(steps) - 1):
        return ""
    first = [(step.relation, step.word) for step in reversed(steps[:top])]
    relations = [step.relation for step in steps[top:-1]]
    second = list(zip(relations, [step.word for step in steps[top + 1 :]], strict=True))
    joining = steps[top].word
    if re.fullmatch(_ROLES[1][0], first[0][0]):
        # A verb in a list of verbs shares their subject: "A binds B and inhibits C".
        while len(second) > 1 and second[0][0].startswith("conj"):
            joining, second = second[0][1], second[1:]
    roles = [_describe_role(name, way) for name, way in zip(names, (first, second), strict=True)]
    return f"*{joining}* has {roles[0]} and {roles[1]}."


def _describe_role(name: str, way: Sequence[tuple[str, str]]) -> str:
    """Return a name with its role: "GRB2 as subject", "IL-2 in its object (*secretion*)".

    ``way`` are the relations and words from the top of the path down to the name, at least one. The
    first relation decides: a preposition ("IL-2 after *of*"; "agent" is "by", the word of "prep"
    itself), one of ``_ROLES``, else "beside it". If the name is further down, the first word on the
    way is added in parentheses.
    """
    relation, word = way[0]
    match = _PREPOSITION.fullmatch(relation)
    if match:
        preposition = match[1] or ("by" if match[2] else word)
        is_own_word = bool(match[3]) or word == preposition
        below = way[1:] if is_own_word else way
        inside = f" (in *{below[0][1]}* …)" if len(below) > 1 else ""
        return f"{name} after *{preposition.replace('_', ' ')}*{inside}"
    for pattern, role, phrase in _ROLES:
        if re.fullmatch(pattern, relation):
            return f"{name} as {role}" if len(way) == 1 else f"{name} in {phrase} (*{word}*)"
    return f"{name} beside it" if len(way) == 1 else f"{name} beside it (with *{word}*)"


# Explained decisions

MAX_QUOTED_WORDS = 4  # between two names, in a summary
MIN_SHOWN_ADDS = 0.0005  # smaller contributions are not listed
DECISION_KEYS = ("sentence", "score", "spans")  # keys of a task's row that the decision has too
STATED_KEYS = ("status", "type")
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
        """Whether the answer is yes; True for a candidate of a ranking.

        ``row["interacts"]`` decides if it is there, else the decision.
        """
        return bool(self.row.get("interacts", self.decision.decision is not False))

    @property
    def groups(self) -> list[ContributionGroup]:
        """Contributions by kind, see ``group_contributions``.

        Largest magnitude first, the average candidate last. Groups that add less than
        ``MIN_SHOWN_ADDS``, up or down, are left out; all together sum to the score.
        """
        groups = group_contributions(self.parts, self.decision.text)
        return [group for group in groups if abs(group.adds) >= MIN_SHOWN_ADDS]

    @property
    def summary(self) -> str:
        """One sentence that says what the answer rests on; words of the text are between stars.

        It names the word that joins the two names and their roles, or without such a word what
        stands between them (a supporting word, or all words if there are at most
        ``MAX_QUOTED_WORDS``), or how many words they are apart. A sentence for the status "negated"
        or "speculated", else for a negative answer, follows; "" for other decisions than about two
        names.
        """
        d = self.decision
        if len(d.spans) != 2:
            return ""
        (_, end), (start, _) = sorted(d.spans)
        names = [d.text[a:b] for a, b in d.spans]
        said = describe_path(self.steps, names)
        if not said:
            words = _words(d.text[end:start])
            telling = find_supporting_words(self.parts, d.text)
            between = [d.text[a:b] for a, b in telling if end <= a and b <= start]
            near = between[:1] or ([" ".join(words)] if 0 < len(words) <= MAX_QUOTED_WORDS else [])
            if near:
                said = f"*{near[0]}* stands between {names[0]} and {names[1]}."
            elif words:
                said = f"{names[0]} and {names[1]} are {len(words)} words apart."
            else:
                said = f"{names[0]} and {names[1]} stand side by side."
        status = self.row.get("status", "asserted")
        ends = {"negated": " It is denied.", "speculated": " It is only supposed."}
        if status in ends:
            return said + ends[status]
        return said if self.is_positive else f"{said} That is too little for a statement."

    @property
    def summary_pieces(self) -> list[Piece]:
        """The summary as pieces of text with the class "said" for words of the text."""
        parts = self.summary.split("*")
        return [(text, "said" if i % 2 else "") for i, text in enumerate(parts) if text]

    @property
    def title(self) -> str:
        """Judged names as in the text, joined by a dash."""
        return " – ".join(self.decision.text[a:b] for a, b in self.decision.spans)

    @property
    def verdict(self) -> str:
        """Answer, attributes, probability, score and threshold in words.

        The answer is "yes", "no", or "ranked" without a threshold. Attributes of ``row`` are
        ``STATED_KEYS``, the direction as the two names with an arrow, probability and
        ``RELATION_KEYS``; what ``row`` or the decision lacks is left out.
        """
        d = self.decision
        answer = "ranked" if d.decision is None else "yes" if self.is_positive else "no"
        stated = [str(self.row[key]) for key in STATED_KEYS if key in self.row]
        names = [d.text[start:end] for start, end in d.spans]
        if self.row.get("direction") in ("a>b", "b>a") and len(names) == 2:
            stated.append(" → ".join(names if self.row["direction"] == "a>b" else names[::-1]))
        if "probability" in self.row:
            stated.append(f"probability {self.row['probability']:.2f}")
        stated += [f"{key} {self.row[key]:.2f}" for key in RELATION_KEYS if key in self.row]
        threshold = "" if d.threshold is None else f", threshold {d.threshold:+.3f}"
        return f"{', '.join([answer, *stated])} (score {d.score:+.3f}{threshold})"

    @property
    def pieces(self) -> list[Piece]:
        """Sentence with the names, the dependency path and the supporting words marked.

        Pairs of text and CSS classes, see ``mark_sentence``.
        """
        words = find_supporting_words(self.parts, self.decision.text)
        return mark_sentence(self.decision, words)

    @property
    def steps(self) -> list[Step]:
        """Words along the dependency path between the names; empty without a path."""
        return path_steps(self.decision)

    def to_text(self, top: int = 3) -> str:
        """Return lines for the terminal: each group with its ``top`` largest features.

        The first lines are the marked sentence, the verdict and the summary. Further features of a
        group, and those below ``MIN_SHOWN_ADDS``, are summed in one line. A group whose only
        feature reads like its title has no such lines.
        """
        lines = [self._marked_sentence(), f"  {self.title}: {self.verdict}"]
        lines += [f"  {self.summary}"] if self.summary else []
        for group in self.groups:
            lines.append(f"    {group.adds:+.4f}  {group.title}")
            if len(group.parts) > 1 or group.parts[0][0] != group.title:
                large = [part for part in group.parts[:top] if abs(part[1]) >= MIN_SHOWN_ADDS]
                lines += [f"        {value:+.4f}  {name}" for name, value in large]
                hidden = group.parts[len(large) :]
                if hidden:
                    rest = sum(value for _, value in hidden)
                    lines.append(f"        {rest:+.4f}  {len(hidden)} more")
        return "\n".join(lines)

    def _marked_sentence(self) -> str:
        """Return the sentence with names in brackets and supporting words between stars.

        A name that is also a supporting word gets brackets only.
        """
        signs = {"e1": "[]", "e2": "[]", "word": "**"}
        runs: list[tuple[str, str]] = []  # class that is shown, and the text that has it
        for text, marks in self.pieces:
            shown = next((name for name in signs if name in marks.split()), "")
            if runs and runs[-1][0] == shown:
                text = runs.pop()[1] + text
            runs.append((shown, text))
        return "".join(
            f"{signs[shown][0]}{text}{signs[shown][1]}" if shown else text for shown, text in runs
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values: keys of decision and row, "summary", "reasons" and "parts".

        "parts" has ``feature`` (a list of words) and ``adds`` of each contribution, "reasons" of
        each of ``groups`` ``reason``, ``adds`` and ``because``, a list of ``words`` and ``adds``.
        ``DECISION_KEYS`` of the row are left out; any other key of the row replaces that of the
        decision.
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
        values = {"summary": self.summary, "reasons": reasons, "parts": parts}
        return {**self.decision.to_dict(), **stated, **values}


def explain_errors(model: Model, docs: Iterable[Doc], report: Report) -> list[ExplainedDecision]:
    """Return the worst errors of a model's report with their contributions, in its order.

    The order and the number (at most 50 of each kind) are those of ``select_worst_errors``; empty
    without errors. ``row`` of the results is {}. ``docs`` must be those of the evaluation, in its
    order: decisions are matched to candidates by position. The report must be one of ``evaluate``:
    folds of a cross-validation have another order.
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


def render_influence(rows: Sequence[Mapping[str, Any]], *, top: int = 5) -> str:
    """Return a self-contained HTML page with the documents that decided each score.

    ``rows`` are those of ``textrank explain --influence``, with ``text`` and ``spans`` of the
    candidate; at most ``top`` documents are listed for each.
    """
    shown = [{**row, "marked": mark_spans(row["text"], row["spans"])} for row in rows]
    return template_environment().get_template("influence.html").render(rows=shown, top=top)
