"""Why a candidate got its score: reasons on the terminal, and drawn as a page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from spacy.tokens import Doc

from textrank.evaluation import Decision, Report
from textrank.model import Model
from textrank.reports.errors import Piece, Step, pieces, steps, worst_errors
from textrank.reports.html import environment
from textrank.reports.reasons import Reason, reasons, words_behind

OWN = ("sentence", "score", "spans")  # that the decision has too
STATED = ("status", "type", "direction")


@dataclass(frozen=True)
class Explanation:
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
    def reasons(self) -> list[Reason]:
        """The parts by kind, weightiest first; they add up to the score."""
        return reasons(self.parts)

    @property
    def title(self) -> str:
        """The judged names."""
        return " – ".join(self.decision.text[a:b] for a, b in self.decision.spans)

    @property
    def verdict(self) -> str:
        """The answer in words."""
        d = self.decision
        answer = "ranked" if d.decision is None else "yes" if self.yes else "no"
        stated = [str(self.row[key]) for key in STATED if key in self.row]
        if "probability" in self.row:
            stated.append(f"probability {self.row['probability']:.2f}")
        threshold = "" if d.threshold is None else f", threshold {d.threshold:+.3f}"
        return f"{', '.join([answer, *stated])} (score {d.score:+.3f}{threshold})"

    @property
    def pieces(self) -> list[Piece]:
        """The sentence with the names, the path and the telling words marked."""
        return pieces(self.decision, words_behind(self.parts, self.decision.text))

    @property
    def steps(self) -> list[Step]:
        """The words along the path."""
        return steps(self.decision)

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


def explained_errors(model: Model, docs: Iterable[Doc], report: Report) -> list[Explanation]:
    """The worst errors of a model's report, each with what made its score, in the report's order.

    ``docs`` are those of the evaluation, in its order.
    """
    candidates = [c for doc in docs for c in model.pipeline.task.candidates(doc)]
    places = {id(decision): place for place, decision in enumerate(report.decisions)}
    wrong = [error.decision for error in worst_errors(report)]
    parts = model.explain_all([candidates[places[id(d)]] for d in wrong]) if wrong else []
    return [Explanation(d, own) for d, own in zip(wrong, parts, strict=True)]


def explanation_page(
    explanations: Sequence[Explanation],
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
    template = environment().get_template("explanation.html")
    largest = max(values, default=1.0)
    return template.render(
        explanations=explanations, top=top, largest=largest, report=report, back=back
    )
