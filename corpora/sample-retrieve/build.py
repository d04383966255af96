"""Writes corpus.letor, generated numbers, and texts.jsonl, queries with texts of our own."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
THINGS = ["roses", "sourdough bread", "violins", "sailing boats", "clay pots", "wool", "bicycles",
          "apple trees", "old maps", "beehives", "stone walls", "clocks"]  # fmt: skip
DEEDS = ["repairing", "storing", "choosing", "cleaning", "selling", "drawing"]
TIMES = ["in winter", "at home", "for beginners", "without tools", "on a small budget"]
REST = [
    "people often ask about this",
    "the answer depends on patience",
    "most books describe it badly",
    "a good teacher shows it within an hour",
    "my own attempts took three weekends",
    "nobody regrets a second try",
    "the light should come from the left",
    "it costs less than a dinner",
]


def letor(rng: np.random.Generator) -> str:
    """30 queries of 8 documents: relevance follows a hidden mixture of six numbers, with noise."""
    hidden = np.array([1.0, -0.6, 0.4, 0.0, 0.3, 0.0])
    lines = []
    for query in range(1, 31):
        X = rng.random((8, len(hidden))) + 0.5 * rng.random()
        worth = X @ hidden + 0.15 * rng.standard_normal(8)
        for document, row in enumerate(X):
            rank = int((worth > worth[document]).sum())
            cells = " ".join(f"{i}:{value:.4f}" for i, value in enumerate(row, 1))
            relevance = 2 if rank < 2 else 1 if rank < 4 else 0
            lines.append(f"{relevance} qid:{query} {cells} #docid = Q{query}D{document}\n")
    return "".join(lines)


def texts(rng: np.random.Generator) -> list[dict[str, object]]:
    """25 queries; all that is asked is worth 2, the right thing or deed alone 1, neither 0."""
    rows = []
    for number in range(25):
        thing, deed, time = (str(rng.choice(part)) for part in (THINGS, DEEDS, TIMES))
        judged = []
        for place, relevance in enumerate(rng.permutation([2, 1, 1, 0, 0, 0])):
            other = str(rng.choice([w for w in THINGS if w != thing]))
            act = str(rng.choice([w for w in DEEDS if w != deed]))
            half = (act, thing) if place % 2 else (deed, other)
            a, b = {2: (deed, thing), 1: half, 0: (act, other)}[int(relevance)]
            title = f"On {b}" if place % 3 else f"{a.capitalize()} {b}"
            told = [f"{a} {b} {rng.choice(TIMES)}", *rng.choice(REST, rng.integers(1, 4))]
            text = ", ".join(told[i] for i in rng.permutation(len(told))).capitalize() + "."
            judged.append({"id": f"{number}-{place}", "relevance": int(relevance)})
            judged[-1] |= {"title": title, "text": text}
        rows.append({"id": f"query{number}", "text": f"{deed} {thing} {time}", "judged": judged})
    return rows


if __name__ == "__main__":
    HERE.joinpath("corpus.letor").write_text(letor(np.random.default_rng(3)), encoding="utf-8")
    found = "".join(json.dumps(row) + "\n" for row in texts(np.random.default_rng(4)))
    HERE.joinpath("texts.jsonl").write_text(found, encoding="utf-8")
