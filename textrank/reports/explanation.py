"""Why a candidate got its score: its features on the terminal, and drawn as a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from textrank.evaluation import Decision
from textrank.reports.errors import Piece, Step, pieces, steps
from textrank.reports.html import environment


@dataclass(frozen=True)
class Explanation:
    """A judged candidate with everything that made its score; the parts sum to it."""

    decision: Decision
    parts: Sequence[tuple[tuple[str, ...], float]]  # named features, strongest first

    def strongest(self, top: int, sign: int) -> list[tuple[str, float]]:
        """The strongest features for (``sign`` 1) or against (-1)."""
        chosen = [(" ".join(name), value) for name, value in self.parts if value * sign > 0]
        return chosen[:top]

    def rest(self, top: int) -> tuple[int, float]:
        """How many features are not among the strongest, and what they add together."""
        shown = [value for sign in (1, -1) for _, value in self.strongest(top, sign)]
        total = sum(value for _, value in self.parts)
        return len(self.parts) - len(shown), total - sum(shown)

    @property
    def title(self) -> str:
        """The judged names."""
        return " – ".join(self.decision.text[a:b] for a, b in self.decision.spans)

    @property
    def pieces(self) -> list[Piece]:
        """The sentence with the names and the path marked."""
        return pieces(self.decision)

    @property
    def steps(self) -> list[Step]:
        """The words along the path."""
        return steps(self.decision)

    def text(self, top: int = 8) -> str:
        """For the terminal."""
        d = self.decision
        answer = {True: "yes", False: "no", None: "ranked"}[d.decision]
        threshold = "" if d.threshold is None else f", threshold {d.threshold:+.3f}"
        lines = [d.text, f"  {self.title}: {answer} (score {d.score:+.3f}{threshold})"]
        for sign in (1, -1):
            lines += [f"    {value:+.4f}  {name}" for name, value in self.strongest(top, sign)]
        count, value = self.rest(top)
        lines.append(f"    {value:+.4f}  {count} other features")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        parts = [{"feature": list(name), "adds": value} for name, value in self.parts]
        return {**self.decision.to_dict(), "parts": parts}


def explanation_page(explanations: Sequence[Explanation], *, top: int = 8) -> str:
    """One self-contained page: sentence, names, path, and bars for the strongest features."""
    values = [abs(v) for e in explanations for s in (1, -1) for _, v in e.strongest(top, s)]
    template = environment().get_template("explanation.html")
    return template.render(explanations=explanations, top=top, largest=max(values, default=1.0))
