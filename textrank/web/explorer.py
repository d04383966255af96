"""Sentences in pieces, each with what marks it; text stays text."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from itertools import pairwise
from math import ceil, isfinite
from threading import Lock
from typing import Any, TypeAlias
from urllib.parse import urlencode
from xml.sax.saxutils import escape, quoteattr

import numpy as np
from markupsafe import Markup
from spacy.language import Language
from spacy.tokens import Doc, Span
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from textrank.candidates import Candidate
from textrank.evaluation.cross_validation import decisions_of
from textrank.language.alignment import original_offsets
from textrank.model import Model
from textrank.reports.explanation import Explanation, explanation_page, reasons
from textrank.results import queries
from textrank.results.queries import PAGE, Wanted, condition, network
from textrank.results.store import Store
from textrank.web.app import assets, common, environment, missing, page, plain_page

Mark: TypeAlias = tuple[int, int, str]  # first character, end, class
Piece: TypeAlias = tuple[str, str]  # text, and the classes that mark it


def marked(text: str, marks: Sequence[Mark]) -> list[Piece]:
    """A text cut where marks begin and end; marks outside of it are passed over.

    >>> marked("SHC binds GRB2.", [(0, 3, "e1"), (10, 14, "e2")])
    [('SHC', 'e1'), (' binds ', ''), ('GRB2', 'e2'), ('.', '')]
    """
    inside = [(a, b, name) for a, b, name in marks if 0 <= a < b <= len(text)]
    cuts = sorted({0, len(text), *(c for a, b, _ in inside for c in (a, b))})
    found = []
    for start, end in pairwise(cuts):
        names = dict.fromkeys(name for a, b, name in inside if a <= start and end <= b)
        found.append((text[start:end], " ".join(names)))
    return found


def evidence_pieces(row: Mapping[str, Any]) -> list[Piece]:
    """The sentence of a statement with its names and the trigger marked."""
    sentence = str(row["sentence"] or "")
    start = row["sentence_start"]
    if start is None:
        return [(sentence, "")]
    places = [(row["start_a"], row["end_a"], "e1"), (row["start_b"], row["end_b"], "e2")]
    places += [(a, b, "trigger") for a, b in trigger_places(row.get("trigger"))]
    known = [(a - start, b - start, name) for a, b, name in places if a is not None]
    return marked(sentence, known)


def trigger_places(trigger: Any) -> list[tuple[int, int]]:
    """Where the trigger stands in the document, from a list of ``[start, end]`` or its JSON."""
    if isinstance(trigger, str):
        try:
            trigger = json.loads(trigger)
        except json.JSONDecodeError:
            return []
    if not isinstance(trigger, list | tuple):
        return []
    pairs = [p for p in trigger if isinstance(p, list | tuple) and len(p) == 2]
    return [(a, b) for a, b in pairs if type(a) is int and type(b) is int]


TOP = 8  # features for and as many against, where they are not of several kinds
FEW = 3  # features of a kind
UNSAID = (None, "none", "not typed")  # a direction or type that there is none of
STATED = ("interacts", "status", "type", "direction", "probability")  # on a page of explanations


@dataclass
class Reasons:
    """The model that made the statements and its language model, loaded at the first question."""

    load: Callable[[], tuple[Model, Language]]
    _loaded: tuple[Model, Language] | None = field(default=None, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def of(self, row: Mapping[str, Any], around: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """The parts of a statement's score; ``around`` are the statements of its sentence."""
        with self._lock:  # spaCy pipelines are not made for two threads
            model, nlp = self._model()
            doc = self._doc(row, around, nlp)
            candidate = self._candidate(model, doc, row)
            return {**shown(model.explain_all([candidate])[0]), "stored": row["score"]}

    def page(self, rows: Sequence[Mapping[str, Any]], back: str, name: str) -> str:
        """The explanation page of a document's statements, with a way back to it."""
        sentences: dict[Any, list[Mapping[str, Any]]] = {}
        for row in rows:
            sentences.setdefault(row["sentence_start"], []).append(row)
        with self._lock:
            model, nlp = self._model()
            found = [e for own in sentences.values() for e in self._explained(model, nlp, own)]
        return explanation_page(found, back=(back, name))

    def _explained(
        self, model: Model, nlp: Language, rows: Sequence[Mapping[str, Any]]
    ) -> list[Explanation]:
        """The statements of one sentence."""
        doc = self._doc(rows[0], rows, nlp)
        candidates = [self._candidate(model, doc, row) for row in rows]
        explained = model.explain_all(candidates)
        scores = np.array([sum(value for _, value in parts) for parts in explained])
        decisions = decisions_of(candidates, scores, model.threshold, paths=True)
        return [
            Explanation(decision, parts, {k: row[k] for k in STATED if row[k] not in UNSAID})
            for decision, parts, row in zip(decisions, explained, rows, strict=True)
        ]

    def _model(self) -> tuple[Model, Language]:
        if self._loaded is None:
            self._loaded = self.load()
        return self._loaded

    def _doc(
        self, row: Mapping[str, Any], around: Sequence[Mapping[str, Any]], nlp: Language
    ) -> Doc:
        start = row["sentence_start"] or 0
        doc = nlp.make_doc(str(row["sentence"]))
        ends = {(r[f"start_{s}"] - start, r[f"end_{s}"] - start) for r in around for s in "ab"}
        spans = [doc.char_span(a, b, label="protein", alignment_mode="expand") for a, b in ends]
        found = sorted({(s.start, s.end) for s in spans if s is not None})
        doc.spans["entities"] = [
            Span(doc, a, b, label="protein", span_id=f"e{i}") for i, (a, b) in enumerate(found)
        ]
        return nlp(doc)

    def _candidate(self, model: Model, doc: Doc, row: Mapping[str, Any]) -> Candidate:
        start = row["sentence_start"] or 0
        asked = [(row[f"start_{s}"] - start, row[f"end_{s}"] - start) for s in "ab"]
        for candidate in model.pipeline.task.candidates(doc):
            ends = [original_offsets(s) for s in candidate.spans]
            if len(ends) == 2 and all(map(_overlap, ends, asked)):
                return candidate
        raise ValueError("the sentence alone does not hold both names. Explain the whole text.")


def _overlap(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def shown(parts: Sequence[tuple[tuple[str, ...], float]], top: int = TOP) -> dict[str, Any]:
    """The kinds of reasons with their strongest features, or features alone where all are alike.

    What is listed as ``parts`` adds up to ``score`` together with ``others``.

    >>> found = shown([(("triggers", "bind"), 0.5), (("path", "of"), -0.75)])
    >>> [(kind["name"], kind["adds"]) for kind in found["parts"]]
    [('path', -0.75), ('verb and roles', 0.5)]
    """
    kinds = reasons(parts)
    chosen: list[dict[str, Any]] = [
        {"name": kind.title, "adds": kind.adds, "parts": _strongest(kind.parts, FEW)}
        for kind in kinds
    ]
    if len(kinds) < 2:
        chosen = _strongest([(" ".join(name), value) for name, value in parts], 2 * top)
    total = sum(value for _, value in parts)
    rest = total - sum(float(c["adds"]) for c in chosen)
    count = 0 if len(kinds) > 1 else len(parts) - len(chosen)
    return {"parts": chosen, "others": {"count": count, "adds": rest}, "score": total}


def _strongest(parts: Sequence[tuple[str, float]], count: int) -> list[dict[str, Any]]:
    found = sorted(parts, key=lambda part: -abs(part[1]))[:count]
    return [{"name": name, "adds": value} for name, value in found if value]


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


LARGEST = 20_000  # statements of a page; more make a browser slow


def static_page(store: Store) -> str:
    """The page as HTML text; refused where the result is too large for it."""
    total = store.value("SELECT count(*) FROM pairs")
    if total > LARGEST:
        raise ValueError(
            f"{total} statements are too many for one page, which holds {LARGEST}. "
            "Explore them without --static."
        )
    sheets = [assets()[name] for name in ("base.css", "app.css")]
    style = "\n".join(sheet.read_text(encoding="utf-8") for sheet in sheets)
    script = (files("textrank.web") / "assets" / "static.js").read_text(encoding="utf-8")
    policy = (
        f"default-src 'none'; style-src {_digest(style)}; script-src {_digest(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    return environment().get_template("static.html").render(
        title=store.title, policy=policy, style=Markup(style), script=Markup(script),
        data=Markup(harmless(_static_page_data(store))),
    )  # fmt: skip


def harmless(value: Any) -> str:
    """JSON that cannot end the element it stands in, whatever its texts hold.

    >>> harmless("</script>")
    '"\\\\u003c/script>"'
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


_ROWS = """
SELECT p.a, p.b, p.key_a, p.document, p.name_a, p.name_b, p.probability, p.interacts, p.status,
  p.type, p.direction, p.year, parse_filename(p.source) AS source, p.start_a, p.end_a, p.start_b,
  p.end_b, s.trigger, s.sentence_start, s.sentence
FROM pairs p JOIN claims s ON s.document = p.document AND s.start_a = p.start_a
  AND s.end_a = p.end_a AND s.start_b = p.start_b AND s.end_b = p.end_b
ORDER BY p.interacts DESC, p.probability DESC NULLS LAST, p.row"""


def _static_page_data(store: Store) -> dict[str, Any]:
    rows = store.rows(_ROWS)
    for row in rows:
        start = row.pop("sentence_start")
        places = [(row.pop("start_a"), row.pop("end_a"), "e1")]
        places += [(row.pop("start_b"), row.pop("end_b"), "e2")]
        places += [(a, b, "trigger") for a, b in trigger_places(row.pop("trigger"))]
        known = places if start is not None else []
        row["marks"] = [[a - start, b - start, mark] for a, b, mark in known]
    entities = store.rows("SELECT key, label, id FROM entities")
    return {"rows": rows, "entities": {e.pop("key"): e for e in entities}}


MANY = 200  # statements of a document that are explained on one page


@dataclass(frozen=True)
class Explorer:
    """A store as pages; ``reasons`` is asked why, where the model is at hand."""

    store: Store
    reasons: Reasons | None = None
    reports: Mapping[str, str] = field(default_factory=dict)  # pages of an evaluation, by file name

    def app(self) -> Starlette:
        """The application, without its gate."""
        pages: dict[str, Callable[[Request], Response]] = {
            "/": self.index,
            "/fact": self.fact,
            "/name": self.name,
            "/document": self.document,
            "/explanations": self.explanations,
            "/report/{name}": self.read,
            "/errors": self.errors,
            "/export/{kind}": self.export,
            "/api/suggest": self.suggest,
            "/api/neighbours": self.neighbours,
            "/api/why": self.why,
        }
        routes = [Route(path, endpoint) for path, endpoint in pages.items()]
        return Starlette(routes=[*routes, *common()], exception_handlers={404: _not_found})

    def index(self, request: Request) -> Response:
        """The table of facts with its facets."""
        wanted = Wanted.of(request.query_params.multi_items())
        counted = queries.counts(self.store, wanted)
        return self._page(
            "facts.html",
            wanted=wanted,
            rows=queries.facts(self.store, wanted),
            counts=counted,
            facets=queries.facets(self.store, wanted),
            pages=max(1, ceil(counted["facts"] / PAGE)),
            sorts=list(queries.SORTS),
        )

    def fact(self, request: Request) -> Response:
        """Two names with every sentence about them."""
        one, other = (request.query_params.get(side, "") for side in "ab")
        a, b = (queries.entity(self.store, key) for key in (one, other))
        rows = queries.evidence(self.store, one, other)
        if a is None or b is None or not rows:
            return missing("No statement is about these two names.")
        shown = [{**row, "pieces": evidence_pieces(row)} for row in rows]
        return self._page("fact.html", a=a, b=b, rows=shown, why=self.reasons is not None)

    def name(self, request: Request) -> Response:
        """One name: spellings, partners, and the graph around it."""
        found = queries.entity(self.store, request.query_params.get("key", ""))
        if found is None:
            return missing("Nothing in these results has this name.")
        partners = queries.neighbours(self.store, found["key"], least=0.0, limit=200)
        return self._page("name.html", entity=found, partners=partners)

    def document(self, request: Request) -> Response:
        """One text with all its names and statements."""
        name = request.query_params.get("id", "")
        found = queries.document(self.store, name)
        rows = queries.of_document(self.store, name)
        if found is None and not rows:
            return missing("This document is not among the results.")
        known = found or {"document": name, "title": None, "text": None, "names": [], "year": None,
                          "source": None, "words": None, "status": None}  # fmt: skip
        shown = [{**row, "pieces": evidence_pieces(row)} for row in rows]
        return self._page(
            "document.html", doc=known, rows=shown, sentences=list(_sentences(known, rows)),
            called=queries.called(self.store, name), why=self.reasons is not None,
        )  # fmt: skip

    def explanations(self, request: Request) -> Response:
        """Why all statements of a document got their scores, as textrank explain draws it."""
        name = request.query_params.get("id", "")
        rows = queries.of_document(self.store, name, limit=MANY)
        if self.reasons is None or not rows:
            return missing("Nothing here can be explained. Start with --model to see reasons.")
        try:
            found = self.reasons.page(rows, f"/document?{urlencode({'id': name})}", name)
        except (ValueError, OSError) as error:
            return missing(f"This cannot be explained: {error}")
        return plain_page(found)

    def read(self, request: Request) -> Response:
        """A page of the evaluation that was named; only those, whatever is asked for."""
        found = self.reports.get(request.path_params["name"])
        return missing("There is no such report.") if found is None else plain_page(found)

    def errors(self, _: Request) -> Response:
        """The documents that failed."""
        return self._page("errors.html", rows=queries.errors(self.store))

    def export(self, request: Request) -> Response:
        """What matches, as a file; its name is made here, never taken from the request."""
        kind = request.path_params["kind"]
        if kind not in KINDS:
            return missing(f"There is no such format; there are {', '.join(KINDS)}.")
        wanted = Wanted.of(request.query_params.multi_items())
        stem = re.sub(r"[^A-Za-z0-9_-]+", "-", self.store.title).strip("-") or "results"
        headers = {"content-disposition": f'attachment; filename="{stem}.{kind}"'}
        body = exported(self.store, wanted, kind)
        return StreamingResponse(body, media_type=KINDS[kind], headers=headers)

    def suggest(self, request: Request) -> Response:
        """Names that a word may mean."""
        word = request.query_params.get("q", "").strip()[:100]
        return JSONResponse(queries.suggestions(self.store, word) if word else [])

    def neighbours(self, request: Request) -> Response:
        """The graph around a name."""
        key = request.query_params.get("key", "")
        least = _between(request.query_params.get("least", "0.5"), 0.0, 1.0)
        limit = int(_between(request.query_params.get("limit", "20"), 1, 200))
        if queries.entity(self.store, key) is None:
            return JSONResponse({"error": "no such name"}, status_code=404)
        return JSONResponse(queries.neighbourhood(self.store, key, least=least, limit=limit))

    def why(self, request: Request) -> Response:
        """The parts of one statement's score."""
        if self.reasons is None:
            return JSONResponse({"error": "start with --model to see reasons"}, status_code=404)
        rows = queries.of_document(self.store, request.query_params.get("id", ""))
        at = [request.query_params.get(side, "") for side in "ab"]
        row = next((r for r in rows if [_place(r, "a"), _place(r, "b")] == at), None)
        if row is None:
            return JSONResponse({"error": "no such statement"}, status_code=404)
        around = [r for r in rows if r["sentence_start"] == row["sentence_start"]]
        try:
            return JSONResponse(self.reasons.of(row, around))
        except (ValueError, OSError) as error:
            return JSONResponse({"error": str(error)}, status_code=422)

    def _page(self, name: str, **values: Any) -> Response:
        failed = self.store.value("SELECT count(*) FROM failures")
        wanted = values.pop("wanted", Wanted())
        shared = {"title": self.store.title, "failed": failed, "wanted": wanted}
        return page(name, {**shared, "report": bool(self.reports), **values})


def _place(row: dict[str, Any], side: str) -> str:
    return f"{row[f'start_{side}']}-{row[f'end_{side}']}"


def _sentences(known: dict[str, Any], rows: list[dict[str, Any]]) -> Iterator[list[Any]]:
    """The text of a document, or what is known of it, with all names marked."""
    names = [(n["start"], n["end"]) for n in known["names"] if n["start"] is not None]
    names += [(r[f"start_{s}"], r[f"end_{s}"]) for r in rows for s in "ab"]
    places = sorted({(a, b) for a, b in names if a is not None and b is not None})
    if known["text"]:
        yield marked(known["text"], [(a, b, "name") for a, b in places])
        return
    sentences = {
        r["sentence_start"]: r["sentence"] for r in rows if r["sentence_start"] is not None
    }
    for start, sentence in sorted(sentences.items()):
        yield marked(sentence or "", [(a - start, b - start, "name") for a, b in places])


def _between(text: str, low: float, high: float) -> float:
    try:
        value = float(text)
    except ValueError:
        return low
    return min(max(value, low), high) if isfinite(value) else low


def _not_found(_: Request, __: Exception) -> Response:
    return missing("There is no such page.")
