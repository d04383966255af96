"""Pages of ``textrank explore``: facts with facets, evidence, documents, names and exports.

``Explorer`` is the web application over a ``Store``; ``textrank.results.queries`` has its SQL.
Before it come the parts it is made of: sentences with marks, explanations of single statements
(``StatementExplainer``), exports of a selection, and the page that works without a server
(``render_static_page``). Text from documents is only ever inserted as text.

A *statement* is the model's answer about two names in a sentence, a *fact* the sum of all
statements about the same two entities. The *standing* of either is likely, negated, speculated or
unlikely. A ``Selection`` has the filters that a reader chose.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import re
from collections import OrderedDict
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
from textrank.evaluation.cross_validation import make_decisions
from textrank.language.normalization import original_offsets
from textrank.model import Model
from textrank.protocols import Explanation
from textrank.reports.explanation import (
    MIN_SHOWN_ADDS,
    ExplainedDecision,
    find_supporting_words,
    group_contributions,
    render_explanations,
)
from textrank.results import queries
from textrank.results.queries import ALL_STANDINGS, FACTS_PER_PAGE, Selection
from textrank.results.store import STANDINGS, FactRow, Row, Store
from textrank.tasks.identifiers.task import find_gene
from textrank.tasks.ppi.facts import MIN_PROBABILITY, UNTYPED, choose_arrow, entity_key
from textrank.web.app import (
    common_routes,
    list_assets,
    not_found,
    render_page,
    render_report,
    template_environment,
)

# Sentences with marks

Mark: TypeAlias = tuple[int, int, str]  # first character, end, CSS class
Piece: TypeAlias = tuple[str, str]  # text and the CSS classes that mark it


def split_at_marks(text: str, marks: Sequence[Mark]) -> list[Piece]:
    """Split a text where marks begin and end; marks that extend outside of it are ignored.

    The pieces, in order, make up the text. A piece has the classes of all marks over it, separated
    by spaces, or "" if there are none. Marks may overlap; empty ones are ignored. An empty text has
    no pieces.

    >>> split_at_marks("SHC binds GRB2.", [(0, 3, "e1"), (10, 14, "e2")])
    [('SHC', 'e1'), (' binds ', ''), ('GRB2', 'e2'), ('.', '')]
    """
    inside = [(a, b, name) for a, b, name in marks if 0 <= a < b <= len(text)]
    cuts = sorted({0, len(text), *(cut for a, b, _ in inside for cut in (a, b))})
    pieces = []
    for start, end in pairwise(cuts):
        names = dict.fromkeys(name for a, b, name in inside if a <= start and end <= b)
        pieces.append((text[start:end], " ".join(names)))
    return pieces


def mark_statement(row: Mapping[str, Any]) -> list[Piece]:
    """Return the sentence of a statement with both names (e1, e2) and the trigger marked.

    ``row`` is a statement of the store with its sentence; the result is that of ``split_at_marks``.
    Nothing is marked if the store does not have the sentence's place in its document
    (``sentence_start``).
    """
    sentence = str(row["sentence"] or "")
    return split_at_marks(sentence, _sentence_marks(row))


def _sentence_marks(row: Mapping[str, Any]) -> list[Mark]:
    """Return the marks of a statement, counted from the first character of its sentence.

    Marks are (start, end, class): "e1" and "e2" for the names, "trigger" for the words that state
    the relation. They may extend outside of the sentence. The result is empty if ``sentence_start``
    is None.
    """
    start = row["sentence_start"]
    if start is None:
        return []
    marks = [(row["start_a"], row["end_a"], "e1"), (row["start_b"], row["end_b"], "e2")]
    marks += [(a, b, "trigger") for a, b in trigger_spans(row.get("trigger"))]
    return [(a - start, b - start, name) for a, b, name in marks if a is not None]


def trigger_spans(trigger: Any) -> list[tuple[int, int]]:
    """Return the characters (start, end) of a trigger, from a list of ``[start, end]`` or its JSON.

    Values of another form, which files of other origin may have, are left out; None gives [].
    """
    if isinstance(trigger, str):
        try:
            trigger = json.loads(trigger)
        except json.JSONDecodeError:
            return []
    if not isinstance(trigger, list | tuple):
        return []
    pairs = [pair for pair in trigger if isinstance(pair, list | tuple) and len(pair) == 2]
    return [(a, b) for a, b in pairs if type(a) is int and type(b) is int]


# Entities, documents and relations as readers know them

_LINK_OF_PREFIX: Mapping[str, tuple[str, str]] = {
    "ncbigene": ("NCBI Gene", "https://www.ncbi.nlm.nih.gov/gene/{}"),
    "uniprot": ("UniProt", "https://www.uniprot.org/uniprotkb/{}"),
    "hgnc": ("HGNC", "https://www.genenames.org/data/gene-symbol-report/#!/hgnc_id/HGNC:{}"),
    "fplx": ("FamPlex", "https://bioregistry.io/fplx:{}"),
    "xenbase": ("Xenbase", "https://bioregistry.io/xenbase:{}"),
    "locus": ("locus", "https://www.ncbi.nlm.nih.gov/gene/?term={}"),
}


def describe_identifier(identifier: str | None) -> Row:
    """Return ``symbol``, ``species`` and ``links`` of an identifier.

    ``symbol`` and ``species`` (an NCBI taxon as text) are "" for identifiers that the shipped
    tables do not have, and species also for families. ``links`` are pairs of text and address: the
    page of the identifier, then those of UniProt and HGNC; [] if none is known.
    """
    prefix, _, local = (identifier or "").partition(":")
    info: Row = {"symbol": "", "species": "", "links": []}
    identifiers = {prefix.lower(): local}
    try:
        gene = find_gene(identifier) if identifier else None
    except (OSError, ValueError):  # an installation without the tables
        gene = None
    if gene is not None:
        info |= {"symbol": gene.symbol, "species": str(gene.taxon) if gene.taxon else ""}
        identifiers |= {"uniprot": gene.uniprot} if gene.uniprot else {}
        identifiers |= {"hgnc": str(gene.hgnc)} if gene.hgnc else {}
    for name, number in identifiers.items():
        if name in _LINK_OF_PREFIX and re.fullmatch(r"[\w.-]{1,40}", number, re.ASCII):
            title, address = _LINK_OF_PREFIX[name]
            info["links"].append((f"{title} {number}", address.format(number)))
    return info


def find_document_link(document: str) -> tuple[str, str] | None:
    """Return text and address of the page of a document in PubMed or PMC; None for other ids.

    A number of 4 to 9 digits, the first not 0, is PubMed's, alone or after "pmid" or "pubmed"; one
    after "pmc" is PMC's. Case does not matter.

    >>> find_document_link("PMID10212000")
    ('PubMed 10212000', 'https://pubmed.ncbi.nlm.nih.gov/10212000/')
    """
    match = re.fullmatch(r"(?:(?:pmid|pubmed):?\s*)?([1-9]\d{3,8})", document, re.I | re.ASCII)
    if match:
        return f"PubMed {match[1]}", f"https://pubmed.ncbi.nlm.nih.gov/{match[1]}/"
    match = re.fullmatch(r"(?:pmc:?)(\d{4,9})", document, re.I | re.ASCII)
    if match:
        return f"PMC {match[1]}", f"https://pmc.ncbi.nlm.nih.gov/articles/PMC{match[1]}/"
    return None


def statement_standing(row: Mapping[str, Any]) -> str:
    """Return the standing of a statement: "likely", "negated", "speculated" or "unlikely".

    An asserted statement is likely if the model decided so, else unlikely; a negated or speculated
    one has its status as standing from a probability of ``MIN_PROBABILITY`` on, and is unlikely
    below that or without a probability.
    """
    if row["status"] == "asserted":
        return "likely" if row["interacts"] else "unlikely"
    return row["status"] if (row["probability"] or 0.0) >= MIN_PROBABILITY else "unlikely"


def present_relation(row: Mapping[str, Any]) -> Row:
    """Return a copy of a fact or statement with the values that a page shows.

    Adds ``ends`` (the two entities in the order of the direction: ``key``, ``name``, ``id`` and the
    values of ``describe_identifier``), ``arrow`` and ``arrow_words``, and ``standing`` if the row
    has none. An unlikely relation gets no direction, because it is probably wrong; a fact whose
    evidence has both directions gets an arrow both ways.
    """
    standing = row.get("standing") or statement_standing(row)
    direction = row["direction"] if standing != "unlikely" else "none"
    both_ways = "direction" in row.get("conflicts", ())
    arrow, words = ("⇄", "acts on, and is acted on by,") if both_ways else ("", "")
    if not arrow:
        arrow, words = choose_arrow(row["type"], direction)
    keys = {"a": row.get("key_a", row.get("a")), "b": row.get("key_b", row.get("b"))}
    ends = [
        {
            "key": keys[side],
            "name": row[f"name_{side}"],
            "id": row[f"id_{side}"],
            **describe_identifier(row[f"id_{side}"]),
        }
        for side in ("ba" if direction == "b>a" else "ab")
    ]
    return {**row, "standing": standing, "ends": ends, "arrow": arrow, "arrow_words": words}


# Explanations of statements

MAX_FEATURES = 8  # shown for and against, if contributions do not form groups
MAX_FEATURES_PER_GROUP = 3
UNKNOWN_VALUES = (None, "none", UNTYPED)  # of a direction or type
MAX_EXPLAINED_CHARACTERS = 20_000  # of a text that is parsed as a whole
STATED_COLUMNS = ("interacts", "status", "type", "direction", "probability")


@dataclass
class StatementExplainer:
    """Explanations of stored statements by the model that made them.

    ``load`` returns the model and its spaCy pipeline; it is called at the first explanation. A
    statement is explained within its text if the results have it and it is not too long
    (``MAX_EXPLAINED_CHARACTERS``), else within its sentence.
    """

    load: Callable[[], tuple[Model, Language]]
    _loaded: tuple[Model, Language] | None = field(default=None, repr=False)
    _parsed: tuple[str, list[Candidate]] = field(default=("", []), repr=False)  # last text
    _lock: Lock = field(default_factory=Lock, repr=False)  # spaCy pipelines are not thread-safe

    def explain(
        self, row: Row, sentence_rows: Sequence[Row], document: Row | None = None
    ) -> dict[str, Any]:
        """Return the explanation of a statement's score for a page, and the ``stored`` score.

        The form is that of ``present_explanation``; its ``score`` may differ from the stored one if
        the sentence is scored alone. If the text shown is the stored sentence, its ``sentence`` has
        the stored names and trigger marked, instead of the dependency path. ``sentence_rows`` are
        all statements of the sentence, including ``row``; they give the names in it. ``document``
        is its row of ``queries.select_document``. Raises ValueError if the pair is not found in the
        text.
        """
        with self._lock:
            model, nlp = self._get_model()
            candidates, offset = self._find_candidates(model, nlp, sentence_rows, document)
            explained = self._explain_row(model, row, candidates, offset)
        shown = {**present_explanation(explained), "stored": row["score"]}
        text, sentence = explained.decision.text, str(row["sentence"] or "")
        if text == sentence:  # then the words that state the relation can be marked too
            words = [(a, b, "word") for a, b in find_supporting_words(explained.parts, text)]
            shown["sentence"] = split_at_marks(text, [*_sentence_marks(row), *words])
        return shown

    def explain_document(
        self, rows: Sequence[Row], back_url: str, name: str, document: Row | None = None
    ) -> str:
        """Return the HTML page that explains a document's statements, with a link back to it.

        ``rows`` are its statements, in any order; they are grouped by sentence. ``back_url`` and
        ``name`` are the address and text of the link, ``document`` is as in ``explain``. Raises
        ValueError if a pair is not found in its text.
        """
        sentences: dict[Any, list[Row]] = {}
        for row in rows:
            sentences.setdefault(row["sentence_start"], []).append(row)
        explanations = []
        with self._lock:
            model, nlp = self._get_model()
            for part in sentences.values():
                candidates, offset = self._find_candidates(model, nlp, part, document)
                explanations += [self._explain_row(model, row, candidates, offset) for row in part]
        return render_explanations(explanations, back=(back_url, name))

    def _explain_row(
        self, model: Model, row: Row, candidates: Sequence[Candidate], offset: int
    ) -> ExplainedDecision:
        """Explain the score of a statement's candidate, the first that overlaps both its names.

        The first span must overlap name a, the second name b. ``candidates`` and ``offset`` are
        those of ``_find_candidates``. The decision's ``row`` has the values of ``STATED_COLUMNS``
        that are not in ``UNKNOWN_VALUES``. Raises ValueError if there is no such candidate.
        """
        wanted = [(row[f"start_{s}"] - offset, row[f"end_{s}"] - offset) for s in "ab"]
        for candidate in candidates:
            ends = [original_offsets(span) for span in candidate.spans]
            if len(ends) == 2 and all(map(_overlap, ends, wanted)):
                parts = model.explain_relative([candidate])[0]
                score = np.array([sum(value for _, value in parts)])
                (decision,) = make_decisions([candidate], score, model.threshold, paths=True)
                stated = {n: row[n] for n in STATED_COLUMNS if row[n] not in UNKNOWN_VALUES}
                return ExplainedDecision(decision, parts, stated)
        raise ValueError("the sentence alone does not have both names. Explain the whole text.")

    def _get_model(self) -> tuple[Model, Language]:
        """Return the model and its spaCy pipeline, loaded at the first call."""
        if self._loaded is None:
            self._loaded = self.load()
        return self._loaded

    def _find_candidates(
        self, model: Model, nlp: Language, rows: Sequence[Row], document: Row | None
    ) -> tuple[list[Candidate], int]:
        """Return candidates that include those of ``rows``, and the offset of their text.

        ``rows`` are statements of one sentence, at least one. If ``document`` has a text of at most
        ``MAX_EXPLAINED_CHARACTERS``, the candidates are those of the whole text, with the names of
        the document (or of ``rows`` if it has none), and the offset is 0; they are cached for the
        last text. Otherwise they are those of the sentence alone, with the names of ``rows``, and
        the offset is the sentence's first character in the document.
        """
        text = (document or {}).get("text") or ""
        names = [(row[f"start_{s}"], row[f"end_{s}"], "protein") for row in rows for s in "ab"]
        if not text or len(text) > MAX_EXPLAINED_CHARACTERS:
            start = rows[0]["sentence_start"] or 0
            moved = [(a - start, b - start, label) for a, b, label in names]
            doc = _parse_with_names(nlp, str(rows[0]["sentence"]), moved)
            return model.pipeline.task.candidates(doc), start
        if self._parsed[0] != text:
            given = [
                (n["start"], n["end"], n["label"] or "protein")
                for n in (document or {})["names"]
                if n["start"] is not None
            ]
            doc = _parse_with_names(nlp, text, given or names)
            self._parsed = (text, model.pipeline.task.candidates(doc))
        return self._parsed[1], 0


def _parse_with_names(nlp: Language, text: str, names: Sequence[tuple[int, int, str]]) -> Doc:
    """Return the text, analysed by ``nlp``, with names as the span group "entities".

    ``names`` are (start, end, label) in characters; they are widened to whole tokens. Of several
    with the same tokens the first counts. Names outside of the text are left out.
    """
    doc = nlp.make_doc(text)
    spans: dict[tuple[int, int], str] = {}
    for start, end, label in names:
        span = doc.char_span(start, end, label=label, alignment_mode="expand")
        if span is not None:
            spans.setdefault((span.start, span.end), label)
    doc.spans["entities"] = [
        Span(doc, a, b, label=label, span_id=f"e{i}")
        for i, ((a, b), label) in enumerate(sorted(spans.items()))
    ]
    return nlp(doc)


def present_explanation(explained: ExplainedDecision) -> dict[str, Any]:
    """Return an explanation for a page: summary, marked sentence and groups of contributions.

    Keys: ``summary`` and ``sentence``, lists of (text, CSS classes), and those of
    ``summarize_contributions``.
    """
    return {
        "summary": explained.summary_pieces,
        "sentence": explained.pieces,
        **summarize_contributions(explained.parts, text=explained.decision.text),
    }


def _overlap(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Return whether two ranges [start, end) have a character in common."""
    return one[0] < other[1] and other[0] < one[1]


def summarize_contributions(
    contributions: Explanation, top: int = MAX_FEATURES, text: str = ""
) -> dict[str, Any]:
    """Return groups of contributions with their strongest features, for a page.

    ``text`` is the sentence that is explained, whose words are shown instead of the stems of
    features. With fewer than two groups, the ``2 * top`` strongest features are listed instead;
    with more, ``top`` is not used. The result has ``parts`` (each with ``name``, ``adds`` and, for
    groups, their strongest features as ``parts``), ``others`` (``count`` and ``adds`` of features
    that are not listed; of groups none, so both are 0) and ``score``. The values ``adds`` of
    ``parts`` and of ``others`` sum to ``score``.

    >>> summary = summarize_contributions([(("triggers", "bind"), 0.5), (("path", "of"), -0.75)])
    >>> [(group["name"], group["adds"]) for group in summary["parts"]]
    [('path', -0.75), ('verb and roles', 0.5)]
    """
    groups = group_contributions(contributions, text)
    if len(groups) > 1:
        parts: list[dict[str, Any]] = [
            {
                "name": group.title,
                "adds": group.adds,
                "parts": _strongest(group.parts, MAX_FEATURES_PER_GROUP),
            }
            for group in groups
        ]
        hidden = 0
    else:
        parts = _strongest([(" ".join(name), value) for name, value in contributions], 2 * top)
        hidden = len(contributions) - len(parts)
    score = sum(value for _, value in contributions)
    rest = score - sum(float(part["adds"]) for part in parts)
    return {"parts": parts, "others": {"count": hidden, "adds": rest}, "score": score}


def _strongest(features: Sequence[tuple[str, float]], count: int) -> list[dict[str, Any]]:
    """Return the ``count`` features of largest magnitude as dictionaries ``name`` and ``adds``.

    ``features`` are (name, value). The order is by decreasing magnitude; features whose magnitude
    is less than ``MIN_SHOWN_ADDS`` are left out.
    """
    strongest = sorted(features, key=lambda feature: -abs(feature[1]))[:count]
    return [
        {"name": name, "adds": value} for name, value in strongest if abs(value) >= MIN_SHOWN_ADDS
    ]


# Exports

CSV_COLUMNS = (
    "document",
    "start_a",
    "end_a",
    "start_b",
    "end_b",
    "name_a",
    "name_b",
    "id_a",
    "id_b",
    "score",
    "probability",
    "interacts",
    "status",
    "type",
    "direction",
    "year",
    "source",
)
EXPORT_FORMATS = {
    "csv": "text/csv; charset=utf-8",
    "graphml": "application/graphml+xml",
    "cyjs": "application/json",
    "sif": "text/plain; charset=utf-8",
}
GRAPHML_ATTRIBUTES = (
    ("node", "label", "string"),
    ("edge", "probability", "double"),
    ("edge", "sentences", "long"),
    ("edge", "documents", "long"),
    ("edge", "type", "string"),
    ("edge", "types", "string"),
    ("edge", "direction", "string"),
)


def export_selection(store: Store, selection: Selection, format: str) -> Iterator[str]:
    """Return an iterator over the text of a selection in one of the ``EXPORT_FORMATS``.

    "csv" has one line per statement; the others have the network of ``queries.select_network``.
    Raises KeyError for an unknown format.
    """
    if format == "csv":
        return to_csv(store, selection)
    writers = {"graphml": to_graphml, "cyjs": to_cytoscape_json, "sif": to_sif}
    return writers[format](queries.select_network(store, selection))


def to_csv(store: Store, selection: Selection) -> Iterator[str]:
    """Yield a header, then batches of lines, one per statement of the selected facts.

    Of a fact, only statements that match the selection are written. Columns are CSV_COLUMNS and
    ``sentence``, which is empty if the store does not have it; lines are in the order of the store.
    Text that a spreadsheet could take for a formula is escaped (``escape_formula``).
    """
    where, values = queries.selection_sql(store, selection)
    columns = ", ".join(f"p.{name}" for name in CSV_COLUMNS)
    sql = (
        f"{store.facts.aggregate_sql(where, queries.selection_having(selection))} "
        f"SELECT {columns}, s.sentence FROM pairs p "
        f"LEFT JOIN claims s ON {queries.IS_SAME_STATEMENT} "
        f"WHERE p.row IN (SELECT row FROM pairs SEMI JOIN facts USING (a, b) WHERE {where}) "
        "ORDER BY p.row"
    )
    yield _csv_line((*CSV_COLUMNS, "sentence"))
    for rows in store.fetch_batches(sql, [*values, *values]):
        yield "".join(_csv_line(map(escape_formula, row)) for row in rows)


def escape_formula(value: Any) -> Any:
    """Return a cell that spreadsheets do not take for a formula.

    Text that begins with one of ``= + - @``, a tab or a carriage return gets an apostrophe in
    front; other values are returned as they are.

    >>> escape_formula("=HYPERLINK(1)"), escape_formula(-0.5)
    ("'=HYPERLINK(1)", -0.5)
    """
    is_risky = isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r")
    return f"'{value}" if is_risky else value


def _csv_line(cells: Iterable[Any]) -> str:
    """Return cells as one line of CSV, quoted where necessary, that ends in CRLF."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\r\n").writerow(cells)
    return buffer.getvalue()


def to_graphml(graph: Mapping[str, Any]) -> Iterator[str]:
    """Yield a network (``queries.select_network``) as GraphML with ``GRAPHML_ATTRIBUTES``.

    Edges are undirected in the graph; their direction is an attribute, relative to source and
    target.
    """
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    for domain, name, type in GRAPHML_ATTRIBUTES:
        yield f'<key id="{name}" for="{domain}" attr.name="{name}" attr.type="{type}"/>\n'
    yield '<graph edgedefault="undirected">\n'
    for node in graph["nodes"]:
        key = _xml_attribute(node["key"])
        yield f"<node id={key}>{_xml_data('label', node['label'])}</node>\n"
    for edge in graph["edges"]:
        data = "".join(_xml_data(name, value) for name, value in _edge_values(edge).items())
        ends = f"source={_xml_attribute(edge['a'])} target={_xml_attribute(edge['b'])}"
        yield f"<edge {ends}>{data}</edge>\n"
    yield "</graph>\n</graphml>\n"


def _edge_values(edge: FactRow) -> dict[str, Any]:
    """Return the exported values of a fact, by the names of the edges in GRAPHML_ATTRIBUTES.

    The direction is relative to source and target.
    """
    return {
        "probability": edge["probability"],
        "sentences": edge["statements"],
        "documents": edge["documents"],
        "type": edge["type"],
        "types": ", ".join(edge["types"]),
        "direction": edge["direction"],
    }


def _xml_data(key: str, value: Any) -> str:
    """Return a GraphML data element with an escaped value; the key is not escaped."""
    return f'<data key="{key}">{escape(_valid_xml(str(value)))}</data>'


def _xml_attribute(value: str) -> str:
    """Return a value as an escaped attribute, with its quotes."""
    return quoteattr(_valid_xml(value))


def _valid_xml(text: str) -> str:
    """Return a text without carriage returns and characters that XML 1.0 cannot represent."""
    return re.sub("[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]", "", text)


def to_cytoscape_json(graph: Mapping[str, Any]) -> Iterator[str]:
    """Yield a network (``queries.select_network``) as Cytoscape JSON, in a single string."""
    nodes = [{"data": {"id": n["key"], "label": n["label"]}} for n in graph["nodes"]]
    edges = [
        {"data": {"id": f"e{i}", "source": e["a"], "target": e["b"], **_edge_values(e)}}
        for i, e in enumerate(graph["edges"])
    ]
    yield json.dumps({"elements": {"nodes": nodes, "edges": edges}}, ensure_ascii=False) + "\n"


def to_sif(graph: Mapping[str, Any]) -> Iterator[str]:
    """Yield a network in the simple interaction format: name, type, name, separated by tabs.

    There is one line per edge of ``queries.select_network``, with the names in the order of its
    direction. White space in names becomes one space, spaces in types underscores; an unknown type
    is "interacts".
    """
    for edge in graph["edges"]:
        sides = "ba" if edge["direction"] == "b>a" else "ab"
        ends = [" ".join(str(edge[f"name_{side}"]).split()) for side in sides]
        type = "interacts" if edge["type"] == UNTYPED else edge["type"].replace(" ", "_")
        yield f"{ends[0]}\t{type}\t{ends[1]}\n"


# A page without a server

MAX_STATIC_STATEMENTS = 20_000  # more make a browser slow


def render_static_page(store: Store) -> str:
    """Return one self-contained HTML page with the statements and facts of a store.

    Statements that relate an entity to itself or lack the offsets of a name are left out, but
    counted: raises ValueError for more than ``MAX_STATIC_STATEMENTS`` statements.
    """
    total = store.fetch_value("SELECT count(*) FROM pairs")
    if total > MAX_STATIC_STATEMENTS:
        raise ValueError(
            f"{total} statements are too many for one page, which holds {MAX_STATIC_STATEMENTS}. "
            "Explore them without --static."
        )
    sheets = [list_assets()[name] for name in ("base.css", "app.css")]
    style = "\n".join(sheet.read_text(encoding="utf-8") for sheet in sheets)
    script = (files("textrank.web") / "assets" / "static.js").read_text(encoding="utf-8")
    policy = (
        f"default-src 'none'; style-src {_csp_digest(style)}; script-src {_csp_digest(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    template = template_environment().get_template("static.html")
    return template.render(
        title=store.title,
        policy=policy,
        style=Markup(style),
        script=Markup(script),
        data=Markup(json_for_script(_static_page_data(store))),
    )


def json_for_script(value: Any) -> str:
    """Return a value as JSON that can be inserted in a script element, whatever its texts are.

    "<" and the separators U+2028 and U+2029 are escaped, so that no text can end the element.

    >>> json_for_script("</script>")
    '"\\\\u003c/script>"'
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _csp_digest(text: str) -> str:
    """Return the source expression of a Content-Security-Policy that allows exactly this text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


_STATIC_ROWS = f"""
SELECT p.a, p.b, p.key_a, p.document, p.name_a, p.name_b, p.probability, p.interacts, p.status,
  p.type, p.direction, p.year, parse_filename(p.source) AS source, p.start_a, p.end_a, p.start_b,
  p.end_b, s.trigger, s.sentence_start, s.sentence
FROM pairs p JOIN claims s ON {queries.IS_SAME_STATEMENT}
WHERE p.a <> p.b
ORDER BY p.interacts DESC, p.probability DESC NULLS LAST, p.row"""


def _static_page_data(store: Store) -> dict[str, Any]:
    """Return statements (``rows``), ``facts`` by decreasing probability, and ``entities`` by key.

    Statements that interact come first, then by decreasing probability. Statements that relate an
    entity to itself or lack the offsets of a name are left out. Positions in the text are replaced
    by ``marks``, counted from the start of the sentence; ``ends`` of a fact are the keys of its
    entities in the order of the direction.
    """
    rows = store.fetch(_STATIC_ROWS)
    for row in rows:
        row["marks"] = [list(mark) for mark in _sentence_marks(row)]
        for column in ("start_a", "end_a", "start_b", "end_b", "trigger", "sentence_start"):
            del row[column]
    columns = ("a", "b", "probability", "asserted", "papers", "standing", "type", "arrow")
    facts = [present_relation({**fact}) for fact in store.facts.select("a <> b")]
    for fact in facts:  # entities in the order of the direction
        fact["ends"] = [end["key"] for end in fact["ends"]]
    facts = [{name: fact[name] for name in (*columns, "ends")} for fact in facts]
    entities = store.fetch("SELECT key, label, id FROM entities")
    return {"rows": rows, "facts": facts, "entities": {e.pop("key"): e for e in entities}}


# Cached pages

MAX_CACHED_BYTES = 32 << 20  # of pages in all
Page: TypeAlias = tuple[bytes, int, str | None]  # content, status, media type


@dataclass
class PageCache:
    """Cache of pages by address; since results do not change, a page is computed once.

    Several concurrent requests for one page wait for the first. When the pages have more than
    ``max_bytes`` in all, the least recently used ones are dropped; a page of more than an eighth of
    it is not cached. Thread-safe.
    """

    max_bytes: int = MAX_CACHED_BYTES
    _pages: OrderedDict[str, Page] = field(default_factory=OrderedDict, repr=False)
    _locks: dict[str, Lock] = field(default_factory=dict, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)
    _bytes: int = 0

    def get(self, address: str, compute: Callable[[], Response]) -> Response:
        """Return the page of an address as a new response, computing it if it is not cached.

        Only body, status and media type are cached, also of error pages; other headers are dropped.
        Exceptions of ``compute`` are passed on.
        """
        with self._lock:
            computing = self._locks.setdefault(address, Lock())
        try:
            with computing:
                page = self._find(address)
                if page is None:
                    response = compute()
                    page = (bytes(response.body), response.status_code, response.media_type)
                    self._add(address, page)
        finally:
            with self._lock:
                self._locks.pop(address, None)
        return Response(page[0], status_code=page[1], media_type=page[2])

    def _find(self, address: str) -> Page | None:
        """Return a cached page, or None, and mark it as the most recently used one."""
        with self._lock:
            page = self._pages.get(address)
            if page is not None:
                self._pages.move_to_end(address)
            return page

    def _add(self, address: str, page: Page) -> None:
        """Cache a page, dropping the least recently used ones above ``max_bytes`` in all.

        A page of more than an eighth of ``max_bytes`` is not cached. The address must not be cached
        yet.
        """
        size = len(page[0]) + len(address)
        if size > self.max_bytes // 8:
            return
        with self._lock:
            self._pages[address] = page
            self._bytes += size
            while self._bytes > self.max_bytes:
                old, dropped = self._pages.popitem(last=False)
                self._bytes -= len(dropped[0]) + len(old)


# The application

MAX_EXPLAINED_STATEMENTS = 200  # of a document, on one page


@dataclass(frozen=True)
class Explorer:
    """Web application over a store.

    ``explainer`` explains statements; None if the model is not available. ``reports`` are HTML
    pages of an evaluation by file name, to link to. Methods serve the page or file of their name; a
    request for something that the store does not have gives status 404.
    """

    store: Store
    explainer: StatementExplainer | None = None
    reports: Mapping[str, str] = field(default_factory=dict)
    cache: PageCache = field(default_factory=PageCache)

    def warm_up(self) -> None:
        """Compute the first pages into the cache, which also loads gene tables and templates.

        These are the start page, a search and suggestions for "p53", and the list of errors.
        """
        routes = {"/": self.index, "/errors": self.errors, "/api/suggest": self.suggest}
        for path, query in (("/", ""), ("/", "q=p53"), ("/api/suggest", "q=p53"), ("/errors", "")):
            scope: dict[str, Any] = {"type": "http", "method": "GET", "path": path, "headers": []}
            scope |= {"query_string": query.encode(), "server": ("127.0.0.1", 80)}
            self._cached(routes[path])(Request(scope))

    def app(self) -> Starlette:
        """Return the application, which checks no token; put ``GuardMiddleware`` in front.

        GET the pages ``/``, ``/network``, ``/fact``, ``/name``, ``/document``, ``/explanations``,
        ``/report/{name}`` and ``/errors``; the files ``/export/{format}``; in JSON ``network``,
        ``suggest``, ``neighbours`` and ``why`` below ``/api``; and ``common_routes``. Other
        addresses give a page of status 404. All are cached, except explanations (also ``why``),
        reports and exports.
        """
        pages: dict[str, Callable[[Request], Response]] = {
            "/": self._cached(self.index),
            "/network": self._cached(self.network),
            "/api/network": self._cached(self.network_data),
            "/fact": self._cached(self.fact),
            "/name": self._cached(self.name),
            "/document": self._cached(self.document),
            "/explanations": self.explanations,
            "/report/{name}": self.report,
            "/errors": self._cached(self.errors),
            "/export/{format}": self.export,
            "/api/suggest": self._cached(self.suggest),
            "/api/neighbours": self._cached(self.neighbours),
            "/api/why": self.why,
        }
        routes = [Route(path, endpoint) for path, endpoint in pages.items()]
        return Starlette(routes=[*routes, *common_routes()], exception_handlers={404: _not_found})

    def _cached(self, endpoint: Callable[[Request], Response]) -> Callable[[Request], Response]:
        """Return an endpoint whose pages are cached by path and query.

        Pages with an error status are cached too.
        """

        def serve(request: Request) -> Response:
            """Serve the page from the cache, or from the endpoint if it is not cached."""
            address = f"{request.url.path}?{request.url.query}"
            return self.cache.get(address, lambda: endpoint(request))

        return serve

    def index(self, request: Request) -> Response:
        """Serve a page of the table of facts with its facets; the query is a ``Selection``.

        Unknown parameters are ignored; a page has ``FACTS_PER_PAGE`` facts.
        """
        selection = Selection.from_query(request.query_params.multi_items())
        counts, facets = self._count(selection)
        shown = counts["pairs"] if selection.show == ALL_STANDINGS else counts[selection.show]
        rows: list[Any] = [*queries.select_page(self.store, selection)]
        return self._render(
            "facts.html",
            selection=selection,
            rows=[present_relation(row) for row in rows],
            counts=counts,
            shown=shown,
            facets=facets,
            pages=max(1, ceil(shown / FACTS_PER_PAGE)),
            sorts=list(queries.SORTS),
            standings=[*STANDINGS, ALL_STANDINGS],
        )

    def network(self, request: Request) -> Response:
        """Serve the page of the graph of a selection (the query); its script fetches the facts.

        The page itself has only the number of facts.
        """
        selection = Selection.from_query(request.query_params.multi_items())
        counts, _ = self._count(selection)
        shown = counts["pairs"] if selection.show == ALL_STANDINGS else counts[selection.show]
        return self._render("network.html", selection=selection, shown=shown)

    def network_data(self, request: Request) -> Response:
        """Serve the most probable facts of a selection (the query) as a graph, in JSON.

        ``limit`` is 40 by default and at most 200. Keys: ``nodes``, with their gene ``symbol``,
        ``edges`` and ``centre`` (null).
        """
        selection = Selection.from_query(request.query_params.multi_items())
        limit = int(_parse_number(request.query_params.get("limit", "40"), 1, 200))
        graph = queries.select_network(self.store, selection, limit)
        return JSONResponse({**graph, "nodes": _add_symbols(graph["nodes"]), "centre": None})

    def _count(self, selection: Selection) -> tuple[Row, list[Row]]:
        """Return the numbers of matches by standing, and the facets, of a selection.

        Both are cached; the key leaves out sort order and page, which do not change them.
        """
        key = f"facets of {selection.to_query(sort='probability')}"

        def compute() -> Response:
            """Return counts and facets as a JSON response, which the cache can store."""
            counts = queries.count_matches(self.store, selection)
            return JSONResponse([counts, queries.count_facets(self.store, selection)])

        counts, facets = json.loads(bytes(self.cache.get(key, compute).body))
        return counts, facets

    def fact(self, request: Request) -> Response:
        """Serve a fact with the sentences about its two entities (parameters ``a``, ``b``: keys).

        There are at most 200 sentences, the most probable ones, grouped by document; those of
        unlikely statements are listed apart. Contradictions are remarked on
        (``describe_conflicts``). Status 404 if there is no statement about both.
        """
        one, other = (request.query_params.get(side, "") for side in "ab")
        a, b = (queries.select_entity(self.store, key) for key in (one, other))
        rows = queries.select_evidence(self.store, one, other)
        fact = queries.select_fact(self.store, one, other)
        if a is None or b is None or fact is None or not rows:
            return not_found("No statement is about these two names.")
        statements = [{**present_relation(row), "pieces": mark_statement(row)} for row in rows]
        papers: dict[str, list[Row]] = {}
        for row in statements:
            if row["standing"] != "unlikely":
                papers.setdefault(row["document"], []).append(row)
        values: Any = {**fact}
        ends = {
            one["key"]: {**one, **_without_empty(describe_identifier(one["id"]))} for one in (a, b)
        }
        return self._render(
            "fact.html",
            fact=present_relation(values),
            ends=ends,
            remarks=describe_conflicts(fact, statements),
            papers=papers,
            others=[row for row in statements if row["standing"] == "unlikely"],
            why=self.explainer is not None,
        )

    def name(self, request: Request) -> Response:
        """Serve an entity (parameter ``key``): spellings, partners, and the graph around it.

        Partners are those with asserted evidence of any probability, at most 200. Status 404 if
        there is no such entity.
        """
        entity = queries.select_entity(self.store, request.query_params.get("key", ""))
        if entity is None:
            return not_found("Nothing in these results has this name.")
        facts = queries.select_partners(self.store, entity["key"], min_probability=0.0, limit=200)
        partners = []
        for fact in facts:
            values: Row = {**fact}
            side = "b" if fact["a"] == entity["key"] else "a"
            partners.append({**present_relation(values), "key": values[side]})
        entity |= _without_empty(describe_identifier(entity["id"]))
        return self._render("name.html", entity=entity, partners=partners)

    def document(self, request: Request) -> Response:
        """Serve a document (parameter ``id``) with its names and at most 2000 statements.

        Unlikely statements are listed apart. Of a document of which the results have statements
        only, the sentences of these are shown. Status 404 if the results have neither the document
        nor a statement of it.
        """
        name = request.query_params.get("id", "")
        document = queries.select_document(self.store, name)
        rows = queries.select_statements(self.store, name)
        if document is None and not rows:
            return not_found("This document is not among the results.")
        columns = ("title", "text", "year", "source", "words", "status")
        document = document or {"document": name, "names": [], **dict.fromkeys(columns)}
        statements = [present_relation(row) for row in rows]
        entities = [
            {**row, **_without_empty(describe_identifier(row["id"]))}
            for row in queries.select_entities(self.store, name)
        ]
        return self._render(
            "document.html",
            doc=document,
            link=find_document_link(name),
            rows=[row for row in statements if row["standing"] != "unlikely"],
            others=[row for row in statements if row["standing"] == "unlikely"],
            passages=list(mark_document(document, statements, entities)),
            entities=entities,
            why=self.explainer is not None,
        )

    def explanations(self, request: Request) -> Response:
        """Serve the explanations of the statements of a document (parameter ``id``).

        There are at most MAX_EXPLAINED_STATEMENTS. Status 404 if there is no model or no statement,
        or if a statement cannot be explained.
        """
        name = request.query_params.get("id", "")
        rows = queries.select_statements(self.store, name, limit=MAX_EXPLAINED_STATEMENTS)
        if self.explainer is None or not rows:
            return not_found("Nothing here can be explained. Start with --model for explanations.")
        try:
            back_url = f"/document?{urlencode({'id': name})}"
            document = queries.select_document(self.store, name)
            html = self.explainer.explain_document(rows, back_url, name, document)
        except (ValueError, OSError) as error:
            return not_found(f"This cannot be explained: {error}")
        return render_report(html)

    def report(self, request: Request) -> Response:
        """Serve a report page by file name (path parameter ``name``).

        Status 404 if it is not one of ``reports``; other files of their folder cannot be reached.
        """
        html = self.reports.get(request.path_params["name"])
        return not_found("There is no such report.") if html is None else render_report(html)

    def errors(self, _: Request) -> Response:
        """Serve the list of documents that failed."""
        return self._render("errors.html", rows=queries.select_errors(self.store))

    def export(self, request: Request) -> Response:
        """Serve a selection as a file to download.

        The path has the ``format``, the query is a ``Selection``. The file is named after the
        store's title, never after the request. Status 404 for an unknown format.
        """
        format = request.path_params["format"]
        if format not in EXPORT_FORMATS:
            return not_found(f"Unknown format; available: {', '.join(EXPORT_FORMATS)}.")
        selection = Selection.from_query(request.query_params.multi_items())
        stem = re.sub(r"[^A-Za-z0-9_-]+", "-", self.store.title).strip("-") or "results"
        headers = {"content-disposition": f'attachment; filename="{stem}.{format}"'}
        body = export_selection(self.store, selection, format)
        return StreamingResponse(body, media_type=EXPORT_FORMATS[format], headers=headers)

    def suggest(self, request: Request) -> Response:
        """Serve entities whose names contain a word (parameter ``q``), as a JSON list.

        There are at most eight rows, those of ``queries.suggest_entities``. Only the first 100
        characters of the word count; without a word the list is empty.
        """
        word = request.query_params.get("q", "").strip()[:100]
        return JSONResponse(queries.suggest_entities(self.store, word) if word else [])

    def neighbours(self, request: Request) -> Response:
        """Serve the graph around an entity (``key``, ``least`` probability, ``limit``) as JSON.

        ``least`` is 0.5 by default, ``limit`` 20 and at most 200; a value that is not a number is
        the smallest one. Status 404 for an unknown entity.
        """
        key = request.query_params.get("key", "")
        least = _parse_number(request.query_params.get("least", "0.5"), 0.0, 1.0)
        limit = int(_parse_number(request.query_params.get("limit", "20"), 1, 200))
        if queries.select_entity(self.store, key) is None:
            return JSONResponse({"error": "no such name"}, status_code=404)
        graph = queries.select_neighbourhood(self.store, key, min_probability=least, limit=limit)
        return JSONResponse({**graph, "nodes": _add_symbols(graph["nodes"])})

    def why(self, request: Request) -> Response:
        """Serve the contributions to one statement's score (``id``, spans ``a``, ``b``) as JSON.

        ``id`` is the document, a span is "start-end" in characters. Status 404 without a model or
        such a statement, 422 if it cannot be explained.
        """
        if self.explainer is None:
            return JSONResponse({"error": "start with --model for explanations"}, status_code=404)
        rows = queries.select_statements(self.store, request.query_params.get("id", ""))
        spans = [request.query_params.get(side, "") for side in "ab"]
        row = next((r for r in rows if [_span(r, "a"), _span(r, "b")] == spans), None)
        if row is None:
            return JSONResponse({"error": "no such statement"}, status_code=404)
        sentence_rows = [r for r in rows if r["sentence_start"] == row["sentence_start"]]
        document = queries.select_document(self.store, row["document"])
        try:
            return JSONResponse(self.explainer.explain(row, sentence_rows, document))
        except (ValueError, OSError) as error:
            return JSONResponse({"error": str(error)}, status_code=422)

    def _render(self, template: str, **values: Any) -> Response:
        """Render a template, by file name, with ``values`` and those that all pages need.

        ``values`` take precedence over the common ones.
        """
        shared = {
            "title": self.store.title,
            "failed": self.store.failure_count,
            "selection": Selection(),
            "report": bool(self.reports),
        }
        return render_page(template, {**shared, **values})


def _span(row: Row, side: str) -> str:
    """Return the characters of one name of a statement, as pages write them: "start-end".

    ``side`` is "a" or "b".
    """
    return f"{row[f'start_{side}']}-{row[f'end_{side}']}"


def _add_symbols(nodes: Sequence[Row]) -> list[Row]:
    """Return copies of the nodes of a graph with ``symbol``: the gene symbol of the key, or ""."""
    return [{**node, "symbol": describe_identifier(node["key"])["symbol"]} for node in nodes]


def _without_empty(values: Row) -> Row:
    """Return a copy of ``values`` without the empty ones, so that they do not overwrite others.

    ``links`` is kept even if it is empty.
    """
    return {name: value for name, value in values.items() if value or name == "links"}


def describe_conflicts(fact: FactRow, statements: Sequence[Row]) -> list[str]:
    """Return a sentence for each way in which the evidence of a fact contradicts itself.

    The ways are those in its ``conflicts``: sign, direction and status. ``statements`` are those
    about its two entities, as ``present_relation`` returns them; unlikely ones are not counted.
    """
    evidence = [row for row in statements if row["standing"] != "unlikely"]
    asserted = [row for row in evidence if row["status"] == "asserted"]
    remarks = []
    if "sign" in fact["conflicts"]:
        counts = [sum(row["type"] == t for row in asserted) for t in ("activation", "inhibition")]
        remarks.append(
            f"Statements differ in their sign: {_count(counts[0], 'says', 'say')} activation, "
            f"{_count(counts[1], 'says', 'say')} inhibition."
        )
    if "direction" in fact["conflicts"]:
        first, second = fact["name_a"], fact["name_b"]
        remarks.append(
            f"Statements differ in their direction: some from {first} to {second}, "
            f"some from {second} to {first}."
        )
    if "status" in fact["conflicts"]:
        negated = [row for row in evidence if row["status"] == "negated"]
        types = sorted({row["type"] for row in negated} - {UNTYPED})
        remarks.append(
            f"{_count(len(negated), 'statement denies', 'statements deny')} it"
            f"{' as ' + ' and '.join(types) if types else ''}."
        )
    return remarks


def _count(number: int, one: str, many: str) -> str:
    """Return a number with the word for one or for several."""
    return f"{number} {one if number == 1 else many}"


Passage: TypeAlias = tuple[bool, list[Row]]  # whether it is a heading, and its pieces
_SECTION_LABEL = re.compile(r"[A-Z][A-Za-z ,/&-]{2,40}:(?=\s)")
MAX_HEADING_CHARACTERS = 80


def mark_document(
    document: Row, rows: Sequence[Row], entities: Sequence[Row] = ()
) -> Iterator[Passage]:
    """Yield the paragraphs of a document with names and statements marked.

    A paragraph is (whether it is a heading, pieces). A piece has ``text``, ``classes`` (of CSS),
    ``href`` (address of the entity's page) and ``sentence`` ("s" and the first character of the
    sentence, if it states something); each is "" where it does not apply. Each line of the text is
    a paragraph; one of at most ``MAX_HEADING_CHARACTERS`` that does not end in one of ``.?!;:`` is
    a heading. Words that state a likely, negated or speculated relation have the class "trigger",
    their sentence "states", names "name", and the label of a section "label". If the document has
    no text, the paragraphs are the sentences of the statements, each once.

    Parameters
    ----------
    document
        Row of ``queries.select_document``.
    rows
        Its statements, as ``present_relation`` returns them.
    entities
        Rows of ``queries.select_entities``; names of those that have a page link to it.
    """
    names = [(n["start"], n["end"]) for n in document["names"] if n["start"] is not None]
    names += [(row[f"start_{side}"], row[f"end_{side}"]) for row in rows for side in "ab"]
    marks: list[Mark] = [(a, b, "name") for a, b in sorted(set(names)) if None not in (a, b)]
    address = _entity_addresses(document, rows, entities)
    sentences: dict[str, int] = {}
    for row in rows:
        start = row["sentence_start"]
        if row["standing"] != "unlikely" and start is not None:
            name = f"s{start}"
            sentences[name] = start
            marks.append((start, start + len((row["sentence"] or "").rstrip()), name))
            marks += [(a, b, "trigger") for a, b in trigger_spans(row["trigger"])]
    for start, text in _paragraphs(document, rows):
        inside = [(a - start, b - start, name) for a, b, name in marks]
        label = _SECTION_LABEL.match(text)
        inside += [(0, label.end(), "label")] if label else []
        position, pieces = start, []
        for piece, joined in split_at_marks(text, inside):
            classes = joined.split()
            named = next((name for name in classes if name in sentences), "")
            shown = ["states" if name in sentences else name for name in classes]
            pieces.append(
                {
                    "text": piece,
                    "classes": " ".join(dict.fromkeys(shown)),
                    "href": address.get(position, "") if "name" in classes else "",
                    "sentence": named,
                }
            )
            position += len(piece)
        yield len(text) <= MAX_HEADING_CHARACTERS and text[-1:] not in ".?!;:", pieces


def _entity_addresses(
    document: Row, rows: Sequence[Row], entities: Sequence[Row]
) -> dict[int, str]:
    """Return the address of an entity's page by the first character of each of its names.

    Names in statements always have a page; other names do if their entity is in ``entities`` with
    ``has_page``. If two begin at the same character, the one in a statement counts.
    """
    with_page = {row["key"] for row in entities if row["has_page"]}
    key_of_start = {row[f"start_{side}"]: row[f"key_{side}"] for row in rows for side in "ab"}
    for name in document["names"]:
        key = entity_key(name["name"] or "", name["id"])
        if key in with_page:
            key_of_start.setdefault(name["start"], key)
    return {start: f"/name?{urlencode({'key': key})}" for start, key in key_of_start.items()}


def _paragraphs(document: Row, rows: Sequence[Row]) -> Iterator[tuple[int, str]]:
    """Yield first character and text of each line of a document, stripped, without blank lines.

    If the document has no text, these are the sentences with a statement, each once and in text
    order.
    """
    if document["text"]:
        start = 0
        for line in document["text"].splitlines(keepends=True):
            if line.strip():
                indent = len(line) - len(line.lstrip())
                yield start + indent, line.strip()
            start += len(line)
        return
    sentences = {
        row["sentence_start"]: row["sentence"] for row in rows if row["sentence_start"] is not None
    }
    yield from sorted((start, sentence or "") for start, sentence in sentences.items())


def _parse_number(text: str, low: float, high: float) -> float:
    """Return the number in a text, clipped to [low, high]; ``low`` if it is not a finite number."""
    try:
        value = float(text)
    except ValueError:
        return low
    return min(max(value, low), high) if isfinite(value) else low


def _not_found(_: Request, __: Exception) -> Response:
    """Return the page of status 404; the arguments of an exception handler are not used."""
    return not_found("There is no such page.")
