"""Many mentions, one fact: statements about the same two proteins over a document or a corpus."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spacy.tokens import Doc

from textrank.candidates import answers, document_id
from textrank.io import open_atomic, replace_invalid_xml
from textrank.tasks.ppi.statements import FLIP

if TYPE_CHECKING:
    import networkx as nx


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


def aggregate_facts(docs: Iterable[Doc], *, level: float = 0.5) -> list[dict[str, Any]]:
    """What the judged Docs say of each two proteins, the most probable first.

    Proteins are the same where their identifiers are equal, or without identifiers their spellings
    but for case, hyphens, slashes and blanks. Only statements of at least the probability ``level``
    are evidence; denied and doubted ones are kept beside. ``facts([doc])`` gives those of one
    document. A direction counts from the first of ``ends`` to the second.
    """
    found: dict[tuple[str, str], Fact] = {}
    for number, doc in enumerate(docs):
        for row in answers(doc, "ppi") or ():
            keys = tuple(map(entity_key, row["names"], row.get("identifiers", (None, None))))
            probability = row.get("probability", float(row["interacts"]))
            if keys[0] == keys[1] or probability < level:
                continue
            _add(found, keys, row, document_id(doc, number), probability)
    rows = [fact.to_dict() for fact in found.values()]
    return sorted(rows, key=lambda row: (-round(row["probability"], 9), row["ends"]))


def entity_key(name: str, identifier: str | None) -> str:
    """What a protein is known by: its identifier, or else its name in one spelling.

    >>> entity_key("Cyclin-D1", None), entity_key("p53", "NCBIGene:7157")
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


COLUMNS = ("probability", "type", "direction", "count", "documents", "negated", "speculated")


def build_network(docs: Iterable[Doc], *, level: float = 0.5) -> nx.Graph:
    """Proteins as nodes, and an edge for every two that some judged sentence says interact.

    Proteins are those of ``facts``; a node is labelled with the spelling seen most. An edge
    carries ``probability`` (also as ``weight``), ``type``, ``direction`` ("a>b" from ``a`` to
    ``b``, which are attributes of the edge), ``count``, the number of sentences, ``documents``,
    how many sentences deny or doubt it, and ``evidence``, the sentences with their documents.
    """
    import networkx as nx  # loads slowly, and few ask for a network

    graph = nx.Graph()
    for fact in aggregate_facts(docs, level=level):
        if not fact["asserted"]:
            continue
        a, b = fact["ends"]
        for end, name in zip((a, b), fact["names"], strict=True):
            graph.add_node(end, label=name)
        kept = {key: fact[key] for key in COLUMNS if key != "count"}
        evidence = [row for row in fact["evidence"] if row["status"] == "asserted"]
        once = list({row["sentence"]: row for row in reversed(evidence)}.values())[::-1]
        weight = fact["probability"]
        graph.add_edge(a, b, a=a, b=b, **kept, count=len(once), weight=weight, evidence=once)
    return graph


def write_network(graph: nx.Graph, path: str | Path) -> None:
    """Writes a network as its suffix says: .graphml, .cyjs (Cytoscape JSON), .sif or .csv."""
    check_network_path(path)
    with open_atomic(path) as out:
        out.write(WRITERS[Path(path).suffix.lower()](graph))


def check_network_path(path: str | Path | None) -> None:
    """Refuses a name whose suffix is no network format, before long work."""
    if path is not None and Path(path).suffix.lower() not in WRITERS:
        raise ValueError(
            f"{path}: no network format {Path(path).suffix!r}. Use one of "
            f"{', '.join(sorted(WRITERS))}."
        )


def _graphml(graph: nx.Graph) -> str:
    """Evidence, a list, becomes one text of a line a sentence."""
    import networkx as nx

    plain = nx.Graph()
    for node, data in graph.nodes(data=True):
        plain.add_node(
            replace_invalid_xml(node), **{k: replace_invalid_xml(v) for k, v in data.items()}
        )
    for one, other, data in graph.edges(data=True):
        shown = {**data, "evidence": replace_invalid_xml("\n".join(_lines(data)))}
        ends = replace_invalid_xml(one), replace_invalid_xml(other)
        plain.add_edge(*ends, **{k: replace_invalid_xml(v) for k, v in shown.items()})
    return "\n".join(nx.generate_graphml(plain)) + "\n"


def _lines(data: Mapping[str, Any]) -> list[str]:
    return [f"{e['document']}: {e['sentence']} ({e['probability']:.3f})" for e in data["evidence"]]


def _cytoscape(graph: nx.Graph) -> str:
    nodes = [{"data": {"id": node, "name": data["label"]}} for node, data in graph.nodes(data=True)]
    edges = []
    for number, (_, _, data) in enumerate(graph.edges(data=True)):
        source, target = _ends(data)
        own = {key: value for key, value in data.items() if key not in ("a", "b")}
        edges.append({"data": {"id": f"e{number}", "source": source, "target": target, **own}})
    found = {"format_version": "1.0", "elements": {"nodes": nodes, "edges": edges}}
    return json.dumps(found, ensure_ascii=False, indent=1) + "\n"


def _sif(graph: nx.Graph) -> str:
    rows = [(*_ends(data), data["type"]) for _, _, data in graph.edges(data=True)]
    return "".join(f"{source}\t{kind}\t{target}\n" for source, target, kind in rows)


def _csv(graph: nx.Graph) -> str:
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(["source", "target", "source_name", "target_name", *COLUMNS, "evidence"])
    for _, _, data in graph.edges(data=True):
        ends = _ends(data)
        names = [graph.nodes[end]["label"] for end in ends]
        # From source to target, whichever of the two the fact names first.
        direction = "none" if data["direction"] == "none" else "a>b"
        values = [direction if key == "direction" else data[key] for key in COLUMNS]
        table.writerow([*ends, *names, *values, " | ".join(_lines(data))])
    return out.getvalue()


def _ends(data: Mapping[str, Any]) -> tuple[str, str]:
    """Source and target of an edge."""
    return (data["b"], data["a"]) if data["direction"] == "b>a" else (data["a"], data["b"])


WRITERS: Mapping[str, Callable[[nx.Graph], str]] = {
    ".graphml": _graphml,
    ".cyjs": _cytoscape,
    ".json": _cytoscape,
    ".sif": _sif,
    ".csv": _csv,
}
