"""Stages of the recipe, as listed in ``recipe.toml``."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
KNOWN = (  # everybody looks for these
    *("accept/except", "advice/advise", "affect/effect", "form/from", "it's/its", "loose/lose"),
    *("of/off", "passed/past", "principal/principle", "quiet/quite", "than/then", "their/there"),
    *("to/too", "weather/whether", "were/where", "who's/whose", "you/your"),
)


@dataclass(frozen=True)
class Stage:
    """Which pairs are learnt, by which learner, and how their levels are set."""

    name: str
    pairs: str  # a file beside this one
    learner: str  # one of ``learn.LEARNERS``
    once: bool  # whether an alarm on a repeated context counts once
    balanced: bool  # whether all folds of genres weigh the same
    above: float  # how far levels stand above the best false alarm
    doubtful: float  # what an alarm of a pair that everybody knows counts

    def tried(self) -> list[tuple[str, str]]:
        """Return every pair of words of a line of the file, sorted."""
        found = set()
        for line in (HERE / self.pairs).read_text(encoding="utf-8").splitlines():
            words = [] if line.startswith("#") else [w.replace("_", " ") for w in line.split()]
            found |= {(min(a, b), max(a, b)) for a in words for b in words if a != b}
        return sorted(found)


def stages() -> list[Stage]:
    """Return all stages in order."""
    rows = tomllib.loads((HERE / "recipe.toml").read_text(encoding="utf-8"))["stage"]
    return [Stage(**row) for row in rows]
