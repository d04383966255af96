"""Facts about two proteins, aggregated from the statements of many documents.

This module is the definition of a fact. ``apply --facts`` and ``--network`` use it directly;
``textrank.results.store`` states the same definition in SQL for ``query`` and ``explore``, and
``tests/results/test_facts_agree.py`` checks that all of them agree.

Entity
    A name stands for the entity ``entity_key(name, identifier)``: its identifier, or without one
    its text without case, hyphens, slashes and spaces. An entity is shown under its most frequent
    spelling in all judged pairs (ties: the alphabetically first).
Evidence
    A judged pair of two different entities is evidence if it interacts (asserted, and probable
    enough for the model), or if it is negated or speculated with a probability of at least
    ``MIN_PROBABILITY``. A pair without a probability has 1 if it interacts and 0 otherwise.
Fact
    All evidence about the same two entities. The ends of a fact are sorted; a direction "a>b"
    goes from the first end to the second.
Probability
    ``1 - prod_d (1 - max_d p)`` over documents d and their asserted evidence: sentences of one
    document repeat one another, so only the most probable counts; documents count as independent.
    A fact that is only negated or speculated has probability 0. Where the model pools the evidence
    of a document (``pool_evidence``), ``p`` is the pooled probability.
Genes
    Gene databases have no families, and a name may be too uncertain for an identifier. ``genes``
    has the genes that each end most probably stands for in its evidence (``likely_genes``), to
    compare facts with pairs of genes.
Type, direction, status
    The value with the largest sum of probabilities (ties within 1e-9: the alphabetically first).
    Type and direction are voted on by asserted evidence, or by all evidence if none is asserted;
    status by all evidence. Values that other evidence has are listed after the winner.
Standing
    Class of the evidence in one word (``find_standing``): "likely" if it is asserted and the
    probability is at least ``MIN_PROBABILITY``, else "negated" or "speculated" if evidence has
    this status, else "unlikely".
Conflicts
    Properties on which the evidence disagrees (``find_conflicts``): "sign" (activation and
    inhibition), "direction" (both ways) and "status" (asserted and negated).
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, NotRequired, TypedDict

from spacy.tokens import Doc

from textrank.candidates import document_id, get_answers
from textrank.io import replace_invalid_xml

if TYPE_CHECKING:
    import networkx as nx

MIN_PROBABILITY = 0.5  # of negated and speculated evidence; results do not record a model's level
MIN_GENE_PROBABILITY = 0.3  # of a gene that counts though its name was given no identifier
FAMILY_PREFIX = "fplx:"  # of identifiers of families and complexes
UNTYPED = "not typed"  # type of a pair for which no type is known
REVERSED_DIRECTION = {"a>b": "b>a", "b>a": "a>b"}
EDGE_COLUMNS = ("probability", "type", "direction", "count", "documents", "negated", "speculated")


class Evidence(TypedDict):
    """A statement about the two entities of a fact."""

    document: str
    sentence: str
    names: list[str]  # both names as written, in text order
    spans: list[list[int]]  # characters [start, end) of both names, in text order
    is_reversed: bool  # whether the first name in the text is the second end of the fact
    probability: float
    physical: float | None  # probability of each definition; None if the model has no heads
    regulation: float | None
    fact: float | None  # pooled probability of the document; None if the model does not pool
    score: float
    status: str  # asserted, negated or speculated
    type: str
    direction: str  # "a>b", "b>a" or "none", relative to the ends of the fact
    trigger: list[list[int]]  # characters [start, end) of the words that state it


class Fact(TypedDict):
    """Two entities and the aggregated evidence about them; see the module docstring."""

    ends: list[str]  # two entity keys, sorted
    names: list[str]  # a spelling for each end
    probability: float
    physical: float | None  # as ``probability``, of each definition; None if no evidence has it
    regulation: float | None
    type: str
    types: list[str]  # of the evidence that votes on the type, by decreasing weight
    direction: str
    directions: list[str]
    status: str
    statuses: list[str]
    standing: str  # likely, negated, speculated or unlikely
    conflicts: list[str]  # of sign, direction and status
    statements: int
    documents: int
    papers: int  # documents with asserted evidence
    asserted: int  # number of asserted statements; likewise the next two
    negated: int
    speculated: int
    evidence: list[Evidence]  # by decreasing probability
    genes: NotRequired[list[list[str]]]  # of each end, sorted; absent without Docs


def aggregate_facts(docs: Iterable[Doc], *, min_probability: float | None = None) -> list[Fact]:
    """Return the facts that judged Docs state, sorted by decreasing probability, then by ends.

    A fact is two entities, by identifier or normalised name, with the evidence about them. Its
    probability is ``1 - prod_d (1 - max_d p)`` over documents d and their asserted evidence.
    ``genes`` of a fact has the genes of each end.

    Parameters
    ----------
    docs
        Docs with ``doc._.textrank_ppi``; those without it are skipped. Documents are distinguished
        by their id, so two Docs with the same id count as one document.
    min_probability
        If given, every pair of at least this probability is evidence, whatever the model decided
        and whether asserted or not. None: asserted pairs are if the model decided that they
        interact, negated and speculated ones from the probability MIN_PROBABILITY on.
    """
    genes: defaultdict[tuple[str, tuple[int, int]], set[str]] = defaultdict(set)

    def read_documents() -> Iterator[tuple[str, Iterable[Mapping[str, Any]]]]:
        """Yield id and rows of each document, and collect the genes of its names in ``genes``.

        Docs without an answer have no rows.
        """
        for number, doc in enumerate(docs):
            document, rows = document_id(doc, number), get_answers(doc, "ppi") or ()
            answers = {tuple(row["span"]): row for row in get_answers(doc, "identifiers") or ()}
            for row in rows:
                identifiers = row.get("identifiers") or (None, None)
                for span, identifier in zip(map(tuple, row["spans"]), identifiers, strict=True):
                    alone = {"identifier": identifier, "alternatives": (), "parts": ()}
                    genes[document, span] |= likely_genes(answers.get(span, alone))
            yield document, rows

    facts = aggregate_rows(read_documents(), min_probability=min_probability)
    for fact in facts:
        ends: tuple[set[str], set[str]] = (set(), set())
        for row in fact["evidence"]:
            for i, (start, end) in enumerate(row["spans"]):
                ends[i ^ row["is_reversed"]].update(genes[row["document"], (start, end)])
        fact["genes"] = [sorted(end) for end in ends]
    return facts


def aggregate_rows(
    documents: Iterable[tuple[str, Iterable[Mapping[str, Any]]]],
    *,
    min_probability: float | None = None,
) -> list[Fact]:
    """Return the facts of ``aggregate_facts`` for documents without Docs.

    ``documents`` are pairs of an id and the rows of ``doc._.textrank_ppi``; the same id may occur
    several times. Rows about one entity with itself are left out. ``min_probability`` makes all
    pairs from it on evidence; None asks for interacting asserted pairs, and others from
    MIN_PROBABILITY on. Sorted by decreasing probability, then by ends. The facts have no ``genes``.
    Their names are the most frequent spellings in all rows.
    """
    spellings: defaultdict[str, Counter[str]] = defaultdict(Counter)
    evidence: defaultdict[tuple[str, str], list[Evidence]] = defaultdict(list)
    for document, rows in documents:
        for row in rows:
            identifiers = row.get("identifiers") or (None, None)
            first, second = map(entity_key, row["names"], identifiers)
            for key, name in zip((first, second), row["names"], strict=True):
                spellings[key][name] += 1
            statement = _to_evidence(row, document, is_reversed=first > second)
            if first != second and _is_evidence(
                statement, min_probability, interacts=row["interacts"]
            ):
                evidence[min(first, second), max(first, second)].append(statement)
    names = {key: _most_common(counts) for key, counts in spellings.items()}
    facts = [build_fact(ends, rows, names) for ends, rows in evidence.items()]
    return sorted(facts, key=lambda fact: (-round(fact["probability"], 9), fact["ends"]))


def entity_key(name: str, identifier: str | None) -> str:
    """Return the key of the entity that a name stands for: its identifier or normalised text.

    An identifier is returned unchanged; an empty one counts as None. The text is lower-cased
    character by character, as DuckDB does, and loses hyphens, slashes and spaces; "?" if nothing is
    left.

    >>> entity_key("Cyclin-D1", None), entity_key("p53", "NCBIGene:7157")
    ('cyclind1', 'NCBIGene:7157')
    """
    return identifier or "".join(c.lower()[0] for c in name if c not in "-/ ") or "?"


def is_gene(identifier: str | None) -> bool:
    """Return whether an identifier is that of a gene; False for families, complexes and None.

    Every identifier without the prefix ``fplx:`` counts as that of a gene.
    """
    return identifier is not None and not identifier.startswith(FAMILY_PREFIX)


def likely_genes(row: Mapping[str, Any]) -> set[str]:
    """Return the genes that a name most probably stands for, given its row of identifiers.

    The row has ``identifier``, ``alternatives`` (by decreasing probability) and ``parts`` (rows of
    its items). If the name is a list (ERK1/2) whose items have genes, the result is these; else the
    gene of its identifier; for a family or complex the first gene of the alternatives, however
    improbable; and for a name without an identifier (None) that gene if it has a probability of at
    least ``MIN_GENE_PROBABILITY``. Empty if there is none.

    >>> gene = {"identifier": "ncbigene:207", "probability": 0.4}
    >>> likely_genes({"identifier": "fplx:AKT", "alternatives": [gene], "parts": []})
    {'ncbigene:207'}
    """
    items = {gene for part in row["parts"] for gene in likely_genes(part)}
    identifier = row["identifier"]
    if items or is_gene(identifier):
        return items or {identifier}
    least = MIN_GENE_PROBABILITY if identifier is None else 0.0
    genes = (a for a in row["alternatives"] if is_gene(a["identifier"]))
    return {gene["identifier"] for gene in islice(genes, 1) if gene["probability"] >= least}


FACT_FEATURES = ("constant", "best", "mentions", "share", "title")
# Weights are learned on abstracts: shorter texts do not tell what a document is about, and counts
# of an article are far outside the range that was seen.
MIN_POOLED_SENTENCES, MAX_POOLED_SENTENCES = 3, 30
MAX_LOG_ODDS = 9.2  # of a statement, when evidence is pooled: a probability of .9999


def pool_evidence(
    rows: Sequence[Mapping[str, Any]],
    mentions: Sequence[tuple[str, str | None, int]],
    n_sentences: int,
    weights: Mapping[str, float],
) -> list[float]:
    """Return the probability that a document states the fact about the two entities of each row.

    It is logistic in ``FACT_FEATURES``: ``best``, the log-odds of the most probable asserted
    statement about the two, within ± ``MAX_LOG_ODDS``; ``mentions``, the logarithm of how often the
    more frequent of the two (the alphabetically first of equals) is mentioned; ``share``, the share
    of sentences that mention either; ``title``, whether the more frequent one is in the first
    sentence; and ``constant``, 1. A document is about what it names
    often, and states facts about that. Rows about the same two entities, in either order, get the
    same value. Pairs without an asserted statement have the probability 0. In texts with fewer than
    ``MIN_POOLED_SENTENCES`` or more than ``MAX_POOLED_SENTENCES`` sentences the probability is that
    of the best statement.

    Parameters
    ----------
    rows
        Rows of ``doc._.textrank_ppi`` with probabilities.
    mentions
        Name, identifier (None if unknown) and number of the sentence, from 0, of all names of the
        document.
    n_sentences
        Number of sentences of the document.
    weights
        Weight by feature; a missing one is 0.
    """
    counts: Counter[str] = Counter()
    sentences: defaultdict[str, set[int]] = defaultdict(set)
    for name, identifier, sentence in mentions:
        key = entity_key(name, identifier)
        counts[key] += 1
        sentences[key].add(sentence)
    best: dict[frozenset[str], float] = {}
    keys = [frozenset(map(entity_key, row["names"], row["identifiers"])) for row in rows]
    for pair, row in zip(keys, rows, strict=True):
        is_asserted = row["status"] == "asserted"
        best[pair] = max(best.get(pair, 0.0), row["probability"] if is_asserted else 0.0)
    pooled: dict[frozenset[str], float] = {}
    for pair, probability in best.items():
        main = max(sorted(pair), key=lambda key: counts[key])
        is_abstract = MIN_POOLED_SENTENCES <= n_sentences <= MAX_POOLED_SENTENCES
        if not probability or not is_abstract:
            pooled[pair] = probability
            continue
        log_odds = math.log(probability) - math.log1p(-min(probability, 1 - 1e-12))
        values = {
            "constant": 1.0,
            "best": max(-MAX_LOG_ODDS, min(MAX_LOG_ODDS, log_odds)),
            "mentions": math.log(max(counts[main], 1)),
            "share": len(set().union(*(sentences[key] for key in pair))) / n_sentences,
            "title": float(0 in sentences[main]),
        }
        total = sum(weights.get(name, 0.0) * value for name, value in values.items())
        pooled[pair] = 1 / (1 + math.exp(-total))
    return [pooled[pair] for pair in keys]


def combine_probabilities(
    statements: Iterable[Evidence],
    key: Literal["probability", "physical", "regulation"] = "probability",
) -> float:
    """Return ``1 - prod_d (1 - max_d p)`` over documents d and their asserted statements.

    ``key`` is the probability that is combined. All asserted statements must have it; None counts
    0. For "probability", the pooled ``fact`` of a statement takes its place where there is one. The
    result is 0 without asserted statements (``status`` "asserted").
    """
    best_by_document: dict[str, float] = {}
    for row in statements:
        if row["status"] == "asserted":
            best, pooled = best_by_document.get(row["document"], 0.0), row.get("fact")
            value = pooled if key == "probability" and pooled is not None else row[key]
            best_by_document[row["document"]] = max(best, value or 0.0)
    all_wrong = 1.0
    for probability in best_by_document.values():
        all_wrong *= 1.0 - probability
    return 1.0 - all_wrong


def _to_evidence(row: Mapping[str, Any], document: str, *, is_reversed: bool) -> Evidence:
    """Return a row of ``doc._.textrank_ppi`` as evidence.

    ``document`` is the id of the Doc. ``is_reversed`` says that the sorted ends of the fact are in
    the opposite order of the names in the row, so that the direction is flipped. Missing values
    default to status "asserted", type UNTYPED, direction "none" and probability 1 or 0, as the pair
    interacts.
    """
    direction = row.get("direction") or "none"
    return {
        "document": document,
        "sentence": row["sentence"],
        "names": list(row["names"]),
        "spans": row["spans"],
        "is_reversed": is_reversed,
        "probability": row.get("probability", float(row["interacts"])),
        "physical": row.get("physical"),
        "regulation": row.get("regulation"),
        "fact": row.get("fact"),
        "score": row["score"],
        "status": row.get("status") or "asserted",
        "type": row.get("type") or UNTYPED,
        "direction": REVERSED_DIRECTION.get(direction, direction) if is_reversed else direction,
        "trigger": row.get("trigger", []),
    }


def _is_evidence(statement: Evidence, min_probability: float | None, *, interacts: bool) -> bool:
    """Return whether a statement counts as evidence.

    If ``min_probability`` is not None, it alone decides (inclusive). Otherwise an asserted
    statement counts if the model decided that the pair interacts (``interacts``), a negated or
    speculated one from the probability MIN_PROBABILITY on.
    """
    if min_probability is not None:
        return statement["probability"] >= min_probability
    if statement["status"] == "asserted":
        return interacts
    return statement["probability"] >= MIN_PROBABILITY


def build_fact(
    ends: tuple[str, str], evidence: Sequence[Evidence], names: Mapping[str, str]
) -> Fact:
    """Aggregate a non-empty list of evidence about two entities; all of it counts.

    ``ends`` are the sorted keys of the entities; ``names`` maps both keys to the spelling shown.
    Type and direction are voted on by asserted evidence, or by all if none is asserted; the status
    by all. Evidence of equal probability (within 1e-9) keeps its order. The fact has no ``genes``.
    """
    asserted = [row for row in evidence if row["status"] == "asserted"] or evidence
    counts = Counter(row["status"] for row in evidence)
    probability = combine_probabilities(evidence)
    types = _rank_votes((row["type"], row["probability"]) for row in asserted)
    directions = _rank_votes((row["direction"], row["probability"]) for row in asserted)
    statuses = _rank_votes((row["status"], row["probability"]) for row in evidence)
    return {
        "ends": list(ends),
        "names": [names[key] for key in ends],
        "probability": probability,
        "physical": _combine_known(evidence, "physical"),
        "regulation": _combine_known(evidence, "regulation"),
        "type": types[0],
        "types": types,
        "direction": directions[0],
        "directions": directions,
        "status": statuses[0],
        "statuses": statuses,
        "standing": find_standing(probability, counts),
        "conflicts": find_conflicts(types, directions, statuses),
        "statements": len(evidence),
        "documents": len({row["document"] for row in evidence}),
        "papers": len({row["document"] for row in evidence if row["status"] == "asserted"}),
        "asserted": counts["asserted"],
        "negated": counts["negated"],
        "speculated": counts["speculated"],
        # Probabilities that differ by round-off stay in text order.
        "evidence": sorted(evidence, key=lambda row: -round(row["probability"], 9)),
    }


def _combine_known(
    evidence: Sequence[Evidence], key: Literal["physical", "regulation"]
) -> float | None:
    """Return the probability of a definition over documents; None if no evidence has it.

    It is ``1 - prod_d (1 - max_d p)`` over documents and asserted evidence; 0 if only evidence that
    is not asserted has one.
    """
    is_known = any(row[key] is not None for row in evidence)
    return combine_probabilities(evidence, key) if is_known else None


def find_standing(probability: float, counts: Mapping[str, int]) -> str:
    """Classify the evidence of a fact as likely, negated, speculated or unlikely.

    Likely from the probability MIN_PROBABILITY on, if a statement is asserted; otherwise negated
    wins over speculated. ``counts`` has the number of statements of each status; a missing one is
    0.

    >>> find_standing(0.8, {"asserted": 1, "negated": 1}), find_standing(0.3, {"asserted": 1})
    ('likely', 'unlikely')
    """
    if counts.get("asserted") and probability >= MIN_PROBABILITY:
        return "likely"
    statuses = (status for status in ("negated", "speculated") if counts.get(status))
    return next(statuses, "unlikely")


def find_conflicts(
    types: Sequence[str], directions: Sequence[str], statuses: Sequence[str]
) -> list[str]:
    """Return which of sign, direction and status differ within the evidence of a fact.

    The arguments are all values in the evidence, in any order.

    >>> find_conflicts(["activation", "inhibition"], ["a>b", "none"], ["asserted", "negated"])
    ['sign', 'status']
    """
    conflicts = {
        "sign": {"activation", "inhibition"} <= set(types),
        "direction": {"a>b", "b>a"} <= set(directions),
        "status": {"asserted", "negated"} <= set(statuses),
    }
    return [name for name, is_present in conflicts.items() if is_present]


def choose_arrow(type: str, direction: str) -> tuple[str, str]:
    """Return the sign between the names of a relation, and words for it.

    The names must be in the order of the direction, the acting one first. A relation without a
    direction has a dash; inhibition and degradation have "⊣", all other types "→".

    >>> choose_arrow("inhibition", "a>b"), choose_arrow("binding", "none")
    (('⊣', 'inhibits'), ('–', 'and'))
    """
    if direction not in ("a>b", "b>a"):
        return "–", "and"
    return ("⊣", "inhibits") if type in ("inhibition", "degradation") else ("→", "acts on")


def _rank_votes(weighted_values: Iterable[tuple[str, float]]) -> list[str]:
    """Return values by decreasing total weight; those within 1e-9 alphabetically.

    Items are (value, weight). Empty if there are none.
    """
    totals: defaultdict[str, float] = defaultdict(float)
    for value, weight in weighted_values:
        totals[value] += weight
    return sorted(totals, key=lambda value: (-round(totals[value], 9), value))


def _most_common(counts: Mapping[str, int]) -> str:
    """Return the key with the largest count, the alphabetically first of equals.

    Raises ValueError without keys.
    """
    return min(counts, key=lambda name: (-counts[name], name))


def network_from_facts(facts: Iterable[Fact]) -> nx.Graph:
    """Return a graph with entities as nodes and an edge for each fact with asserted evidence.

    The graph is undirected. A node is an entity key with the attribute ``label``, its name;
    entities without such a fact are left out. An edge has the attributes ``a`` and ``b`` (the ends
    of the fact), ``probability`` (also as ``weight``), ``type``, ``direction`` ("a>b" goes from
    ``a`` to ``b``), ``count`` (different asserted sentences), ``documents``, ``negated`` and
    ``speculated`` (numbers of statements) and ``evidence`` (the most probable asserted statement of
    each sentence, by decreasing probability).
    """
    import networkx as nx  # slow to import, and rarely needed

    graph = nx.Graph()
    for fact in facts:
        if not fact["asserted"]:
            continue
        a, b = fact["ends"]
        for end, name in zip((a, b), fact["names"], strict=True):
            graph.add_node(end, label=name)
        asserted = [row for row in fact["evidence"] if row["status"] == "asserted"]
        evidence = list({row["sentence"]: row for row in reversed(asserted)}.values())[::-1]
        columns: dict[str, Any] = {**fact, "count": len(evidence)}
        graph.add_edge(
            a,
            b,
            a=a,
            b=b,
            **{column: columns[column] for column in EDGE_COLUMNS},
            weight=fact["probability"],
            evidence=evidence,
        )
    return graph


def _to_graphml(graph: nx.Graph) -> str:
    """Return GraphML with the attributes of nodes and edges; the graph is not changed.

    The list of evidence becomes a text with one line "document: sentence (probability)" per
    statement. Characters that XML does not allow are replaced.
    """
    import networkx as nx

    valid = nx.Graph()
    for node, data in graph.nodes(data=True):
        values = {key: replace_invalid_xml(value) for key, value in data.items()}
        valid.add_node(replace_invalid_xml(node), **values)
    for one, other, data in graph.edges(data=True):
        values = {**data, "evidence": "\n".join(_evidence_lines(data))}
        valid.add_edge(
            replace_invalid_xml(one),
            replace_invalid_xml(other),
            **{key: replace_invalid_xml(value) for key, value in values.items()},
        )
    return "\n".join(nx.generate_graphml(valid)) + "\n"


def _to_cytoscape_json(graph: nx.Graph) -> str:
    """Return the JSON of Cytoscape (CYJS); edges lead in the direction of their fact.

    Edges have the attributes of the graph, ``evidence`` as a list of objects, but not ``a`` and
    ``b``. Their ``direction`` is still relative to the ends of the fact, not to source and target.
    """
    nodes = [{"data": {"id": node, "name": data["label"]}} for node, data in graph.nodes(data=True)]
    edges = []
    for number, (_, _, data) in enumerate(graph.edges(data=True)):
        source, target = _source_and_target(data)
        values = {key: value for key, value in data.items() if key not in ("a", "b")}
        edges.append({"data": {"id": f"e{number}", "source": source, "target": target, **values}})
    content = {"format_version": "1.0", "elements": {"nodes": nodes, "edges": edges}}
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def _to_sif(graph: nx.Graph) -> str:
    """Return one line "source TAB type TAB target" per edge (simple interaction format).

    Source and target are entity keys, which are not escaped. No header.
    """
    rows = [(*_source_and_target(data), data["type"]) for _, _, data in graph.edges(data=True)]
    return "".join(f"{source}\t{type}\t{target}\n" for source, target, type in rows)


def _to_csv(graph: nx.Graph) -> str:
    """Return a header and one row per edge; direction is "a>b" from source to target, or "none".

    Source and target are entity keys in the direction of the fact. The evidence is one cell, its
    statements separated by " | ".
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["source", "target", "source_name", "target_name", *EDGE_COLUMNS, "evidence"])
    for _, _, data in graph.edges(data=True):
        ends = _source_and_target(data)
        names = [graph.nodes[end]["label"] for end in ends]
        direction = "none" if data["direction"] == "none" else "a>b"
        values = [direction if key == "direction" else data[key] for key in EDGE_COLUMNS]
        writer.writerow([*ends, *names, *values, " | ".join(_evidence_lines(data))])
    return out.getvalue()


def _source_and_target(data: Mapping[str, Any]) -> tuple[str, str]:
    """Return the ends of an edge, given its attributes, in the order of its direction.

    ``a`` then ``b`` without a direction.
    """
    return (data["b"], data["a"]) if data["direction"] == "b>a" else (data["a"], data["b"])


def _evidence_lines(data: Mapping[str, Any]) -> list[str]:
    """Return one line "document: sentence (probability)" per statement of an edge.

    ``data`` are the attributes of the edge; the order is that of its evidence.
    """
    return [
        f"{row['document']}: {row['sentence']} ({row['probability']:.3f})"
        for row in data["evidence"]
    ]


NETWORK_WRITERS: Mapping[str, Callable[[nx.Graph], str]] = {
    ".graphml": _to_graphml,
    ".cyjs": _to_cytoscape_json,
    ".json": _to_cytoscape_json,
    ".sif": _to_sif,
    ".csv": _to_csv,
}
