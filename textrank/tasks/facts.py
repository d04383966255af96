"""Many mentions, one fact: statements about the same two proteins over a document or a corpus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from spacy.tokens import Doc

from textrank.docs import answers, document_id
from textrank.tasks.statements import FLIP


@dataclass
class Fact:
    """Two proteins with everything that was said of them; ends are identifiers or plain names."""

    ends: tuple[str, str]
    evidence: list[dict[str, Any]] = field(default_factory=list)
    spellings: tuple[Counter[str], Counter[str]] = field(
        default_factory=lambda: (Counter(), Counter())
    )

    @property
    def probability(self) -> float:
        """That at least one document states it truly: ``1 - Π_d (1 - max_d p)`` over asserted ones.

        Sentences of one document repeat one another, so that only the surest of each counts;
        documents count as independent. A fact that is only denied or doubted has 0.
        """
        best: dict[str, float] = {}
        for row in self.evidence:
            if row["status"] == "asserted":
                best[row["document"]] = max(best.get(row["document"], 0.0), row["probability"])
        missed = 1.0
        for probability in best.values():
            missed *= 1.0 - probability
        return 1.0 - missed

    def to_dict(self) -> dict[str, Any]:
        """Plain values: ends, names, probability, type, direction, counts, all evidence."""
        asserted = [row for row in self.evidence if row["status"] == "asserted"] or self.evidence
        status = Counter(row["status"] for row in self.evidence)
        return {
            "ends": list(self.ends),
            "names": [spelt.most_common(1)[0][0] for spelt in self.spellings],
            "probability": self.probability,
            "type": _surest(asserted, "type"),
            "direction": _surest(asserted, "direction"),
            "documents": len({row["document"] for row in self.evidence}),
            "asserted": status["asserted"],
            "negated": status["negated"],
            "speculated": status["speculated"],
            "evidence": sorted(self.evidence, key=_evidence_order),
        }


def _evidence_order(row: Mapping[str, Any]) -> float:
    """Sort key: the most probable first; what differs by round-off stays in text order."""
    return -round(row["probability"], 9)


def facts(docs: Iterable[Doc], *, level: float = 0.5) -> list[dict[str, Any]]:
    """What the judged Docs say of each two proteins, the most probable first.

    Proteins are the same where their identifiers are equal, or without identifiers their spellings
    but for case, hyphens, slashes and blanks. Only statements of at least the probability ``level``
    are evidence; denied and doubted ones are kept beside. ``facts([doc])`` gives those of one
    document. A direction counts from the first of ``ends`` to the second.
    """
    found: dict[tuple[str, str], Fact] = {}
    for number, doc in enumerate(docs):
        for row in answers(doc, "ppi") or ():
            keys = tuple(map(protein, row["names"], row.get("identifiers", (None, None))))
            probability = row.get("probability", float(row["interacts"]))
            if keys[0] == keys[1] or probability < level:
                continue
            _add(found, keys, row, document_id(doc, number), probability)
    rows = [fact.to_dict() for fact in found.values()]
    return sorted(rows, key=lambda row: (-round(row["probability"], 9), row["ends"]))


def protein(name: str, identifier: str | None) -> str:
    """What a protein is known by: its identifier, or else its name in one spelling.

    >>> protein("Cyclin-D1", None), protein("p53", "NCBIGene:7157")
    ('cyclind1', 'NCBIGene:7157')
    """
    return identifier or "".join(c for c in name.lower() if c not in "-/ ")


def _add(
    found: dict[tuple[str, str], Fact],
    keys: Sequence[str],
    row: Mapping[str, Any],
    document: str,
    probability: float,
) -> None:
    turned = keys[0] > keys[1]
    ends = (keys[1], keys[0]) if turned else (keys[0], keys[1])
    fact = found.setdefault(ends, Fact(ends))
    for spelt, name in zip(
        fact.spellings, reversed(row["names"]) if turned else row["names"], strict=True
    ):
        spelt[name] += 1
    direction = row.get("direction", "none")
    fact.evidence.append(
        {
            "document": document,
            "sentence": row["sentence"],
            "spans": row["spans"],
            "probability": probability,
            "score": row["score"],
            "status": row.get("status", "asserted"),
            "type": row.get("type", "regulation"),
            "direction": FLIP.get(direction, direction) if turned else direction,
            "trigger": row.get("trigger", []),
        }
    )


def _surest(rows: Sequence[Mapping[str, Any]], key: str) -> str:
    """The answer with the most probability behind it."""
    weight: Counter[str] = Counter()
    for row in rows:
        weight[row[key]] += row["probability"]
    return weight.most_common(1)[0][0]
