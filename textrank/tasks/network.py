"""Who interacts with whom over many documents, as a graph with its evidence, in several formats."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spacy.tokens import Doc

from textrank.io import printable, writing
from textrank.tasks.facts import facts

if TYPE_CHECKING:
    import networkx as nx

COLUMNS = ("probability", "type", "direction", "count", "documents", "negated", "speculated")


def interaction_network(docs: Iterable[Doc], *, level: float = 0.5) -> nx.Graph:
    """Proteins as nodes, and an edge for every two that some judged sentence says interact.

    Proteins are those of ``facts``; a node is labelled with the spelling seen most. An edge
    carries ``probability`` (also as ``weight``), ``type``, ``direction`` ("a>b" from ``a`` to
    ``b``, which are attributes of the edge), ``count``, the number of sentences, ``documents``,
    how many sentences deny or doubt it, and ``evidence``, the sentences with their documents.
    """
    import networkx as nx  # loads slowly, and few ask for a network

    graph = nx.Graph()
    for fact in facts(docs, level=level):
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
    check_network(path)
    with writing(path) as out:
        out.write(WRITERS[Path(path).suffix.lower()](graph))


def check_network(path: str | Path | None) -> None:
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
        plain.add_node(printable(node), **{k: printable(v) for k, v in data.items()})
    for one, other, data in graph.edges(data=True):
        shown = {**data, "evidence": printable("\n".join(_lines(data)))}
        ends = printable(one), printable(other)
        plain.add_edge(*ends, **{k: printable(v) for k, v in shown.items()})
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
