"""Facts and networks in the formats of other programs; only text, made while it is sent."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from textrank.web.queries import Wanted, condition, network
from textrank.web.store import Store

STATEMENT = (
    "document", "start_a", "end_a", "start_b", "end_b", "name_a", "name_b", "id_a", "id_b",
    "score", "probability", "interacts", "status", "type", "direction", "year", "source",
)  # fmt: skip
KINDS = {
    "csv": "text/csv; charset=utf-8",
    "graphml": "application/graphml+xml",
    "cyjs": "application/json",
    "sif": "text/plain; charset=utf-8",
}


def exported(store: Store, wanted: Wanted, kind: str) -> Iterator[str]:
    """What matches in one of the KINDS, some text at a time."""
    if kind == "csv":
        return statements_csv(store, wanted)
    return {"graphml": graphml, "cyjs": cyjs, "sif": sif}[kind](network(store, wanted))


def statements_csv(store: Store, wanted: Wanted) -> Iterator[str]:
    """Every statement with its sentence, a line each.

    A text that begins like a formula gets an apostrophe before it: a spreadsheet would run it.
    """
    where, values = condition(store, wanted)
    listed = ", ".join(f"p.{name}" for name in STATEMENT)
    sql = (
        f"SELECT {listed}, s.sentence FROM pairs p LEFT JOIN claims s "
        "ON s.document = p.document AND s.start_a = p.start_a AND s.end_a = p.end_a "
        "AND s.start_b = p.start_b AND s.end_b = p.end_b "
        f"WHERE p.row IN (SELECT row FROM pairs WHERE {where}) ORDER BY p.row"
    )
    yield _line((*STATEMENT, "sentence"))
    for rows in store.portions(sql, values):
        yield "".join(_line(map(safe_cell, row)) for row in rows)


def safe_cell(value: Any) -> Any:
    """A cell that no spreadsheet takes for a formula.

    >>> safe_cell("=HYPERLINK(1)"), safe_cell(-0.5)
    ("'=HYPERLINK(1)", -0.5)
    """
    risky = isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r")
    return f"'{value}" if risky else value


def _line(cells: Iterable[Any]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\r\n").writerow(cells)
    return buffer.getvalue()


def graphml(graph: Mapping[str, Any]) -> Iterator[str]:
    """The network as GraphML: label of a node; probability, sentences and types of an edge."""
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    keys = (("node", "label", "string"), ("edge", "probability", "double"),
            ("edge", "sentences", "long"), ("edge", "documents", "long"),
            ("edge", "types", "string"))  # fmt: skip
    for place, name, kind in keys:
        yield f'<key id="{name}" for="{place}" attr.name="{name}" attr.type="{kind}"/>\n'
    yield '<graph edgedefault="undirected">\n'
    for node in graph["nodes"]:
        yield f"<node id={_attribute(node['key'])}>{_data('label', node['label'])}</node>\n"
    for edge in graph["edges"]:
        data = "".join(_data(name, value) for name, value in _edge(edge).items())
        ends = f"source={_attribute(edge['a'])} target={_attribute(edge['b'])}"
        yield f"<edge {ends}>{data}</edge>\n"
    yield "</graph>\n</graphml>\n"


def _edge(edge: Mapping[str, Any]) -> dict[str, Any]:
    found = {"probability": edge["best"], "sentences": edge["sentences"]}
    found |= {"documents": edge["documents"], "types": ", ".join(edge["types"])}
    return {name: value for name, value in found.items() if value is not None}


def _data(key: str, value: Any) -> str:
    return f'<data key="{key}">{escape(_xml(str(value)))}</data>'


def _attribute(value: str) -> str:
    return quoteattr(_xml(value))


def _xml(text: str) -> str:
    """Text without the characters that XML cannot state."""
    return re.sub("[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]", "", text)


def cyjs(graph: Mapping[str, Any]) -> Iterator[str]:
    """The network as Cytoscape JSON."""
    nodes = [{"data": {"id": n["key"], "label": n["label"]}} for n in graph["nodes"]]
    edges = [
        {"data": {"id": f"e{i}", "source": e["a"], "target": e["b"], **_edge(e)}}
        for i, e in enumerate(graph["edges"])
    ]
    yield json.dumps({"elements": {"nodes": nodes, "edges": edges}}, ensure_ascii=False) + "\n"


def sif(graph: Mapping[str, Any]) -> Iterator[str]:
    """The network in the simple interaction format: label, type, label, by tabs."""
    for edge in graph["edges"]:
        ends = [" ".join(str(edge[f"label_{side}"]).split()) for side in "ab"]
        kind = edge["types"][0].replace(" ", "_") if len(edge["types"]) == 1 else "interacts"
        yield f"{ends[0]}\t{kind}\t{ends[1]}\n"
