"""Facts in the formats of the field: INDRA, PSI-MITAB, BEL, CX2 and networks.

A *fact* is a relation between two entities, with the statements in texts that support or deny it as
its *evidence* (``textrank.tasks.ppi.facts``); a statement is asserted, negated or speculated. A
writer takes facts and yields text. ``EXPORT_FORMATS`` lists the writers; ``apply --network`` and
``textrank export`` choose one with ``find_format``.

Entities are named by the gene tables of the model ``identifiers``: official symbol, species, HGNC
and UniProt. If the tables lack an identifier, its CURIE is written; a name without an identifier is
written as text. What a format cannot hold is left out:

==========  ========================  ======================  ========================
format      negated                   speculated              without direction
==========  ========================  ======================  ========================
INDRA       ``epistemics.negated``    ``epistemics``          ``Complex``, or left out
PSI-MITAB   column 36                 annotation              unspecified roles
BEL         left out                  annotation ``Status``   ``association``
networks    counted                   counted                 undirected
==========  ========================  ======================  ========================
"""

from __future__ import annotations

import json
import re
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from textrank.io import open_atomic
from textrank.tasks.identifiers.gazetteer import Gene
from textrank.tasks.ppi.facts import (
    NETWORK_WRITERS,
    UNTYPED,
    Evidence,
    Fact,
    combine_probabilities,
    network_from_facts,
)

SOURCE_NAME = "textrank"
HUMAN, MOUSE, RAT = 9606, 10090, 10116
MIN_PMID_DIGITS = 5  # of a document id without prefix: shorter numbers are usually line numbers


class Entity(NamedTuple):
    """One of the two entities of a fact, with its entry in the gene tables."""

    key: str  # of the fact: a CURIE or a normalised name
    name: str  # as most texts write it
    gene: Gene | None  # None if the key is not in the gene tables

    @property
    def symbol(self) -> str:
        """Official symbol of the gene, or the name as written if the gene is not known."""
        return self.gene.symbol if self.gene else self.name

    @property
    def prefix(self) -> str:
        """Prefix of the CURIE, such as "ncbigene"; "" for a name without an identifier.

        A key is a CURIE if it consists of lower-case letters, a colon and text without white space.
        """
        return self.key.partition(":")[0] if re.fullmatch(r"[a-z]+:\S+", self.key) else ""

    @property
    def local_id(self) -> str:
        """Part of the CURIE after the prefix; the whole key if it is not a CURIE."""
        return self.key.partition(":")[2] if self.prefix else self.key

    @property
    def taxon(self) -> int:
        """NCBI taxon of the gene; 0 for families, names without a gene, and where it is unknown."""
        return self.gene.taxon if self.gene else 0


def describe_ends(fact: Fact) -> tuple[Entity, Entity]:
    """Return the two entities of a fact, in the order of ``fact["ends"]``.

    Loads the gene tables on first use if a key contains a colon.
    """
    first, second = fact["ends"]
    return Entity(first, fact["names"][0], _find_gene(first)), Entity(
        second, fact["names"][1], _find_gene(second)
    )


@lru_cache(maxsize=65536)
def _find_gene(key: str) -> Gene | None:
    """Return the gene of an entity key from the shipped tables, or None.

    Keys without a colon are names: they have no gene, and the tables are not loaded for them. The
    last 65 536 results are cached.
    """
    if ":" not in key:
        return None
    from textrank.tasks.identifiers.task import Identifiers

    return Identifiers().lookup.find_gene(key)


def parse_pmid(document: str) -> str | None:
    """Return the PubMed number in a document id; None if the id is not one.

    The whole id must be the number, of at most nine digits and without leading zero, either alone
    or after "PMID" (optionally followed by a colon, underscore or space) or "PubMed" (followed by
    one), in any case. A number alone needs at least ``MIN_PMID_DIGITS`` digits. White space around
    the id is ignored.

    >>> parse_pmid("PMID:12"), parse_pmid("8493578"), parse_pmid("12"), parse_pmid("PMC123456")
    ('12', '8493578', None, None)
    """
    match = re.fullmatch(r"(?i)(pmid[:_ ]?|pubmed[:_ ])?([1-9]\d{0,8})", document.strip())
    if not match or (not match[1] and len(match[2]) < MIN_PMID_DIGITS):
        return None
    return match[2]


def parse_pmcid(document: str) -> str | None:
    """Return the PubMed Central id in a document id, as ``PMC123``; None if the id is not one.

    The whole id must be ``PMC`` and one to nine digits, in any case, with or without ``pmcid:``.
    """
    match = re.fullmatch(r"(?i)(?:pmcid:)?(PMC\d{1,9})", document.strip())
    return match[1].upper() if match else None


# Relations ----------------------------------------------------------------------------------------


class Relation(NamedTuple):
    """Representation of a type of statement in each format."""

    indra: str  # statement class; "" if there is none
    psi_mi: tuple[str, str]  # interaction type: accession and name
    bel: str  # pattern with {a} and {b}; a acts on b
    roles: tuple[tuple[str, str], tuple[str, str]] | None = None  # PSI-MI roles of a and b


_ENZYME = (("MI:0501", "enzyme"), ("MI:0502", "enzyme target"))
_REGULATOR = (("MI:2274", "regulator"), ("MI:2275", "regulator target"))
_PHYSICAL = ("MI:0915", "physical association")
_FUNCTIONAL = ("MI:2286", "functional association")


def _modification(indra: str, accession: str, name: str, code: str, arrow: str = "->") -> Relation:
    """Return the relation of an enzyme that adds (``->``) or removes (``-|``) a group.

    ``indra`` is the statement class, ``accession`` and ``name`` are the PSI-MI interaction type,
    ``code`` is BEL's code of the group. Its roles are enzyme and target. In the pattern of BEL,
    ``{b_open}`` stands for the term of the target without its closing parenthesis.
    """
    bel = f"{{a}} {arrow} {{b_open}}, pmod({code}))"
    return Relation(indra, (accession, name), bel, _ENZYME)


RELATIONS: Mapping[str, Relation] = {
    "binding": Relation("Complex", _PHYSICAL, "{a} => complex({a}, {b})"),
    "phosphorylation": _modification(
        "Phosphorylation", "MI:0217", "phosphorylation reaction", "Ph"
    ),
    "degradation": Relation("DecreaseAmount", _FUNCTIONAL, "{a} -> deg({b})", _REGULATOR),
    "activation": Relation("Activation", _FUNCTIONAL, "{a} -> act({b})", _REGULATOR),
    "inhibition": Relation("Inhibition", _FUNCTIONAL, "{a} -| act({b})", _REGULATOR),
    "regulation": Relation("", _FUNCTIONAL, "{a} reg {b}", _REGULATOR),
    "modification": Relation("Complex", ("MI:0414", "enzymatic reaction"), "{a} reg {b}", _ENZYME),
    UNTYPED: Relation("Complex", ("MI:0914", "association"), "{a} association {b}"),
}
# Kinds of modification by the beginning of the word that states it; negative ones first, because
# "dephosphorylates" contains "phosphorylates".
MODIFICATIONS: Sequence[tuple[str, Relation]] = (
    (
        "dephosphorylat",
        _modification("Dephosphorylation", "MI:0203", "dephosphorylation reaction", "Ph", "-|"),
    ),
    (
        "deubiquit",
        _modification("Deubiquitination", "MI:0204", "deubiquitination reaction", "Ub", "-|"),
    ),
    (
        "deacetylat",
        _modification("Deacetylation", "MI:0197", "deacetylation reaction", "Ac", "-|"),
    ),
    (
        "demethylat",
        _modification("Demethylation", "MI:0871", "demethylation reaction", "Me", "-|"),
    ),
    (
        "desumoylat",
        _modification("Desumoylation", "MI:0568", "desumoylation reaction", "Sumo", "-|"),
    ),
    ("phosphorylat", RELATIONS["phosphorylation"]),
    ("ubiquit", _modification("Ubiquitination", "MI:0220", "ubiquitination reaction", "Ub")),
    ("acetylat", _modification("Acetylation", "MI:0192", "acetylation reaction", "Ac")),
    ("methylat", _modification("Methylation", "MI:0213", "methylation reaction", "Me")),
    ("sumoylat", _modification("Sumoylation", "MI:0566", "sumoylation reaction", "Sumo")),
    ("glycosylat", _modification("Glycosylation", "MI:0559", "glycosylation reaction", "Glyco")),
    ("hydroxylat", _modification("Hydroxylation", "MI:0210", "hydroxylation reaction", "Hy")),
    ("palmitoylat", _modification("Palmitoylation", "MI:0216", "palmitoylation reaction", "Palm")),
    (
        "myristoylat",
        _modification("Myristoylation", "MI:0214", "myristoylation reaction", "Myr"),
    ),
    ("farnesylat", _modification("Farnesylation", "MI:0206", "farnesylation reaction", "Farn")),
    ("ribosylat", _modification("Ribosylation", "MI:0557", "adp ribosylation reaction", "ADPRib")),
)
_CLEAVAGE = Relation(
    "Complex", ("MI:0194", "cleavage reaction"), '{a} -> {b_open}, frag("?"))', _ENZYME
)
SYMMETRIC_CLASSES = ("Complex",)  # of INDRA: the order of the two does not matter
UNDIRECTED_BEL = "{a} association {b}"


def find_relation(evidence: Evidence) -> Relation:
    """Return how the relation of a statement is written in each format.

    For the type "modification" the words that state it decide: the first of MODIFICATIONS that they
    contain (such as "ubiquitinates"), else cleavage if they contain "cleav" or "proteoly", else the
    general modification. An unknown type is written as an untyped association.
    """
    relation = RELATIONS.get(evidence["type"], RELATIONS[UNTYPED])
    if evidence["type"] != "modification":
        return relation
    words = _trigger_words(evidence).lower()
    for beginning, kind in MODIFICATIONS:
        if beginning in words:
            return kind
    return _CLEAVAGE if re.search(r"cleav|proteoly", words) else relation


def _trigger_words(evidence: Evidence) -> str:
    """Return the words that state a relation, separated by spaces; "" if they are not found.

    Offsets in the evidence count characters of the document, but where its sentence begins is not
    stored. It is taken to be at the first place at which both names are in the sentence at their
    offsets.
    """
    sentence = evidence["sentence"]
    (start, _), (other, _) = evidence["spans"]
    name, other_name = evidence.get("names") or ("", "")
    for match in re.finditer(re.escape(name), sentence) if name else ():
        offset = start - match.start()
        if sentence.startswith(other_name, other - offset) and other >= offset:
            return " ".join(
                sentence[max(first - offset, 0) : max(last - offset, 0)]
                for first, last in evidence["trigger"]
            )
    return ""


class RelationGroup(NamedTuple):
    """Evidence of a fact that states the same relation in the same direction; at least one item."""

    relation: Relation
    direction: str  # "a>b", "b>a" or "none", relative to the ends of the fact
    evidence: list[Evidence]

    @property
    def probability(self) -> float:
        """Probability over documents, ``1 - prod (1 - max p)``; 0 if no evidence is asserted."""
        return combine_probabilities(self.evidence)


def group_evidence(fact: Fact) -> list[RelationGroup]:
    """Group the evidence of a fact by relation and direction, in order of first occurrence.

    The direction of a group is "none" for symmetric relations, binding and untyped ones, whatever
    that of the evidence. Within a group the order of the evidence is kept.
    """
    groups: defaultdict[tuple[Relation, str], list[Evidence]] = defaultdict(list)
    for row in fact["evidence"]:
        relation = find_relation(row)
        direction = "none" if relation.roles is None else row["direction"]
        groups[relation, direction].append(row)
    return [RelationGroup(*key, rows) for key, rows in groups.items()]


# INDRA --------------------------------------------------------------------------------------------

_INDRA_ROLES = {
    "Activation": ("subj", "obj"),
    "Inhibition": ("subj", "obj"),
    "DecreaseAmount": ("subj", "obj"),
}  # of other classes: ("enz", "sub")
_UUID_NAMESPACE = uuid.UUID("6a1f3f4e-0b5b-5c1e-9a7e-6f2d0c4b8a11")


def write_indra(facts: Iterable[Fact]) -> Iterator[str]:
    """Yield a JSON list of INDRA statements, one per fact, class and direction.

    ``belief`` is the probability over documents of the asserted evidence; 0 if there is none.
    Negated evidence has ``epistemics {"negated": true}``, speculated evidence ``{"hypothesis":
    true}``. Agents have ``db_refs`` EGID, HGNC, FPLX, UP and TEXT where known. A modification
    without a direction, or of a kind that INDRA does not have, becomes a ``Complex``. A regulation
    without a direction or without a sign cannot be expressed in INDRA and is left out. The ``id``
    of a statement depends only on its class and the ``db_refs`` of its agents in order.
    """
    yield "["
    separator = "\n"
    for fact in facts:
        for statement in indra_statements(fact):
            yield separator + json.dumps(statement, ensure_ascii=False)
            separator = ",\n"
    yield "\n]\n"


def indra_statements(fact: Fact) -> list[dict[str, Any]]:
    """Return a fact as INDRA statements in their JSON form.

    There is one per INDRA class and direction, in the order of the evidence; groups of evidence
    with the same class are merged. Keys are ``type``, ``members`` or two agents by role ("subj" and
    "obj", or "enz" and "sub"), ``obj_activity`` of an activation or inhibition, ``belief``,
    ``evidence`` and ``id``, a UUID made from class and agents. [] if INDRA cannot express any of
    the evidence, such as a regulation without direction or sign.
    """
    ends = describe_ends(fact)
    statements: dict[tuple[str, str], dict[str, Any]] = {}
    by_class: defaultdict[tuple[str, str], list[Evidence]] = defaultdict(list)
    for group in group_evidence(fact):
        name = _indra_class(group)
        if name:
            direction = "none" if name in SYMMETRIC_CLASSES else group.direction
            by_class[name, direction] += group.evidence
    for (name, direction), rows in by_class.items():
        agents = [_to_agent(end) for end in ends]
        if direction == "b>a":
            agents.reverse()
        statement: dict[str, Any] = {"type": name}
        if name in SYMMETRIC_CLASSES:
            statement["members"] = agents
        else:
            first, second = _INDRA_ROLES.get(name, ("enz", "sub"))
            statement |= {first: agents[0], second: agents[1]}
            if first == "subj" and name != "DecreaseAmount":
                statement["obj_activity"] = "activity"
        content = json.dumps([name, [agent["db_refs"] for agent in agents]], sort_keys=True)
        statement |= {
            "belief": combine_probabilities(rows),
            "evidence": [_to_indra_evidence(row, fact, direction) for row in rows],
            "id": str(uuid.uuid5(_UUID_NAMESPACE, content)),
        }
        statements[name, direction] = statement
    return list(statements.values())


def _indra_class(group: RelationGroup) -> str:
    """Return the INDRA class of a group of evidence; "" if INDRA cannot express it.

    A directed class without a direction becomes "Complex" if it is a modification, and "" if it is
    a functional relation, such as activation. A regulation without a sign always has "".
    """
    is_undirected = group.direction == "none" and group.relation.indra not in SYMMETRIC_CLASSES
    if is_undirected:
        return "" if group.relation.psi_mi == _FUNCTIONAL else "Complex"
    return group.relation.indra


def _to_agent(entity: Entity) -> dict[str, Any]:
    """Return an entity as an INDRA agent: ``name`` (official symbol) and ``db_refs``.

    TEXT is its name as most texts write it. EGID, FPLX or UP is its own identifier. HGNC and UP are
    taken from the gene tables if these have them; the first UniProt accession there replaces that
    of the entity.
    """
    refs = {"TEXT": entity.name}
    gene = entity.gene
    if entity.prefix == "ncbigene":
        refs["EGID"] = entity.local_id
    elif entity.prefix == "fplx":
        refs["FPLX"] = entity.local_id
    elif entity.prefix == "uniprot":
        refs["UP"] = entity.local_id
    if gene is not None and gene.hgnc:
        refs["HGNC"] = str(gene.hgnc)
    if gene is not None and gene.uniprot:
        refs["UP"] = gene.uniprot.partition("|")[0].partition(",")[0]
    return {"name": entity.symbol, "db_refs": refs}


def _to_indra_evidence(row: Evidence, fact: Fact, direction: str) -> dict[str, Any]:
    """Return a statement as INDRA evidence.

    Keys are ``source_api``, ``source_id`` (document and offsets), ``text`` (the sentence),
    ``annotations`` (document, probability, type, agents), ``epistemics`` (``negated`` or
    ``hypothesis``; {} if asserted), ``text_refs`` and, if the document has a PubMed id, ``pmid``.
    ``direction`` is that of the INDRA statement; raw names and coordinates are in the order of its
    agents, coordinates relative to the text of the document.
    """
    document = row["document"]
    names, spans = row.get("names") or fact["names"], row["spans"]
    if row["is_reversed"] != (direction == "b>a"):
        names, spans = names[::-1], spans[::-1]
    pmid, pmcid = parse_pmid(document), parse_pmcid(document)
    references = {"PMID": pmid, "PMCID": pmcid}
    epistemics = {"negated": {"negated": True}, "speculated": {"hypothesis": True}}
    evidence: dict[str, Any] = {
        "source_api": SOURCE_NAME,
        "source_id": f"{document}:{'-'.join(str(n) for span in row['spans'] for n in span)}",
        "text": row["sentence"],
        "annotations": {
            "document": document,
            "probability": row["probability"],
            "type": row["type"],
            "agents": {"raw_text": names, "coords": spans},
        },
        "epistemics": epistemics.get(row["status"], {}),
        "text_refs": {key: value for key, value in references.items() if value},
    }
    if pmid:
        evidence["pmid"] = pmid
    return evidence


# PSI-MITAB 2.7 ------------------------------------------------------------------------------------

MITAB_COLUMNS = (
    "ID(s) interactor A",
    "ID(s) interactor B",
    "Alt. ID(s) interactor A",
    "Alt. ID(s) interactor B",
    "Alias(es) interactor A",
    "Alias(es) interactor B",
    "Interaction detection method(s)",
    "Publication 1st author(s)",
    "Publication Identifier(s)",
    "Taxid interactor A",
    "Taxid interactor B",
    "Interaction type(s)",
    "Source database(s)",
    "Interaction identifier(s)",
    "Confidence value(s)",
    "Expansion method(s)",
    "Biological role(s) interactor A",
    "Biological role(s) interactor B",
    "Experimental role(s) interactor A",
    "Experimental role(s) interactor B",
    "Type(s) interactor A",
    "Type(s) interactor B",
    "Xref(s) interactor A",
    "Xref(s) interactor B",
    "Interaction Xref(s)",
    "Annotation(s) interactor A",
    "Annotation(s) interactor B",
    "Interaction annotation(s)",
    "Host organism(s)",
    "Interaction parameter(s)",
    "Creation date",
    "Update date",
    "Checksum(s) interactor A",
    "Checksum(s) interactor B",
    "Interaction Checksum(s)",
    "Negative",
    "Feature(s) interactor A",
    "Feature(s) interactor B",
    "Stoichiometry(s) interactor A",
    "Stoichiometry(s) interactor B",
    "Identification method participant A",
    "Identification method participant B",
)
TAXON_NAMES: Mapping[int, tuple[str, str]] = {
    HUMAN: ("human", "Homo sapiens"),
    MOUSE: ("mouse", "Mus musculus"),
    RAT: ("rat", "Rattus norvegicus"),
    7227: ("drome", "Drosophila melanogaster"),
    7955: ("danre", "Danio rerio"),
    6239: ("caeel", "Caenorhabditis elegans"),
    559292: ("yeast", "Saccharomyces cerevisiae S288c"),
    284812: ("schpo", "Schizosaccharomyces pombe 972h-"),
    3702: ("arath", "Arabidopsis thaliana"),
    9031: ("chick", "Gallus gallus"),
    9913: ("bovin", "Bos taurus"),
    9823: ("pig", "Sus scrofa"),
    511145: ("ecoli", "Escherichia coli str. K-12 substr. MG1655"),
}  # short and full names of taxa, as MITAB writes them
_MITAB_DATABASES = {"ncbigene": "entrez gene/locuslink", "uniprot": "uniprotkb"}
_UNSPECIFIED_ROLE = ("MI:0499", "unspecified role")
MAX_MITAB_SENTENCES = 5  # quoted per row


def write_mitab(facts: Iterable[Fact]) -> Iterator[str]:
    """Yield PSI-MITAB 2.7: a header line, then rows of 42 columns.

    There is one row per fact, relation, direction and polarity: negated statements have rows of
    their own, with "true" in column 36. The detection method is text mining (MI:0110). The
    confidence ``textrank-probability`` is the probability over documents; in rows without asserted
    evidence (negated, or only speculated) it is that of the most probable statement. Up to
    ``MAX_MITAB_SENTENCES`` sentences are quoted as annotations.
    """
    yield "#" + "\t".join(MITAB_COLUMNS) + "\n"
    for fact in facts:
        ends = describe_ends(fact)
        for group in group_evidence(fact):
            stated = [row for row in group.evidence if row["status"] != "negated"]
            negated = [row for row in group.evidence if row["status"] == "negated"]
            for rows, is_negative in ((stated, False), (negated, True)):
                if rows:
                    cells = _mitab_cells(ends, group, rows, is_negative=is_negative)
                    yield "\t".join(cells) + "\n"


def _mitab_cells(
    ends: tuple[Entity, Entity],
    group: RelationGroup,
    rows: Sequence[Evidence],
    *,
    is_negative: bool,
) -> list[str]:
    """Return the 42 cells of a row, in the order of MITAB_COLUMNS; an empty one is "-".

    ``rows`` are the evidence of the group that the row is about, at least one. Interactors are in
    the order of ``ends``; the direction only decides their roles. The confidence is the probability
    over documents or, if no evidence is asserted, the largest probability; the row then has a
    caution "speculated", unless ``is_negative``. At most MAX_MITAB_SENTENCES distinct sentences are
    quoted.
    """
    cells = dict.fromkeys(MITAB_COLUMNS, "-")
    roles = group.relation.roles or (_UNSPECIFIED_ROLE, _UNSPECIFIED_ROLE)
    if group.direction == "none":
        roles = (_UNSPECIFIED_ROLE, _UNSPECIFIED_ROLE)
    elif group.direction == "b>a":
        roles = (roles[1], roles[0])
    for letter, entity, role in zip("AB", ends, roles, strict=True):
        cells |= {
            f"ID(s) interactor {letter}": _mitab_id(entity),
            f"Alt. ID(s) interactor {letter}": _mitab_other_ids(entity),
            f"Alias(es) interactor {letter}": _mitab_aliases(entity),
            f"Taxid interactor {letter}": _mitab_taxon(entity.taxon),
            f"Biological role(s) interactor {letter}": _psi_mi(role),
            f"Experimental role(s) interactor {letter}": _psi_mi(_UNSPECIFIED_ROLE),
            f"Type(s) interactor {letter}": _psi_mi(("MI:0326", "protein")),
        }
    documents = sorted({row["document"] for row in rows})
    best = max(row["probability"] for row in rows)
    is_asserted = any(row["status"] == "asserted" for row in rows)
    probability = combine_probabilities(rows) if is_asserted else best
    sentences = list(dict.fromkeys(row["sentence"] for row in rows))[:MAX_MITAB_SENTENCES]
    annotations = [_mitab_field("comment", sentence) for sentence in sentences]
    if not is_negative and not is_asserted:
        annotations.append(_mitab_field("caution", "speculated"))
    keys = "-".join(sorted(entity.key for entity in ends))
    cells |= {
        "Interaction detection method(s)": _psi_mi(("MI:0110", "text mining")),
        "Publication Identifier(s)": "|".join(map(_mitab_document, documents)),
        "Interaction type(s)": _psi_mi(group.relation.psi_mi),
        "Source database(s)": f"{SOURCE_NAME}:{SOURCE_NAME}",
        "Interaction identifier(s)": _mitab_field(SOURCE_NAME, keys),
        "Confidence value(s)": f"textrank-probability:{probability:.4f}",
        "Interaction annotation(s)": "|".join(annotations),
        "Negative": str(is_negative).lower(),
    }
    return [cells[column] for column in MITAB_COLUMNS]


def _mitab_id(entity: Entity) -> str:
    """Return the main identifier of an interactor, ``database:id``, escaped for MITAB.

    The database is the entity's prefix, under its name in MITAB if ``_MITAB_DATABASES`` has one.
    For a name without an identifier it is "textrank", followed by the entity key (the normalised
    name).
    """
    database = _MITAB_DATABASES.get(entity.prefix, entity.prefix or SOURCE_NAME)
    return _mitab_field(database, entity.local_id)


def _mitab_other_ids(entity: Entity) -> str:
    """Return the UniProt and HGNC identifiers of an interactor, joined by "|"; "-" without any.

    They come from the gene tables, ``uniprotkb:...`` for each accession, then ``hgnc:"HGNC:..."``;
    UniProt is left out if the main identifier is one.
    """
    gene = entity.gene
    if gene is None:
        return "-"
    identifiers = []
    if gene.uniprot and entity.prefix != "uniprot":
        accessions = re.split(r"[|,;]", gene.uniprot)
        identifiers += [_mitab_field("uniprotkb", accession) for accession in accessions]
    if gene.hgnc:
        identifiers.append(_mitab_field("hgnc", f"HGNC:{gene.hgnc}"))
    return "|".join(identifiers) or "-"


def _mitab_aliases(entity: Entity) -> str:
    """Return the aliases of an interactor, joined by "|".

    They are the symbol as display name, the symbol as gene name if the gene is known, and the name
    as written, as synonym, if it differs from the symbol.
    """
    aliases = [_mitab_field("psi-mi", entity.symbol, "display_short")]
    if entity.gene is not None:
        database = _MITAB_DATABASES.get(entity.prefix, entity.prefix)
        aliases.append(_mitab_field(database, entity.symbol, "gene name"))
    if entity.name != entity.symbol:
        aliases.append(_mitab_field(SOURCE_NAME, entity.name, "synonym"))
    return "|".join(aliases)


def _mitab_taxon(taxon: int) -> str:
    """Return a taxon with its short and full names, ``taxid:9606(human)|...``; "-" for 0.

    A taxon that TAXON_NAMES does not have is only written as its number.
    """
    if not taxon:
        return "-"
    names = TAXON_NAMES.get(taxon)
    if names is None:
        return f"taxid:{taxon}"
    return "|".join(_mitab_field("taxid", str(taxon), name) for name in names)


def _mitab_document(document: str) -> str:
    """Return a document as a publication identifier, such as ``pubmed:123`` or ``pmc:PMC12``.

    A document id that is neither is written with the database "textrank".
    """
    if pmid := parse_pmid(document):
        return f"pubmed:{pmid}"
    if pmcid := parse_pmcid(document):
        return f"pmc:{pmcid}"
    return _mitab_field(SOURCE_NAME, document)


def _psi_mi(term: tuple[str, str]) -> str:
    """Return a term of the PSI-MI vocabulary: ``psi-mi:"MI:0110"(text mining)``."""
    accession, name = term
    return f'psi-mi:"{accession}"({name})'


def _mitab_field(database: str, value: str, text: str | None = None) -> str:
    """Return ``database:value(text)``, each part quoted if MITAB requires it.

    The parenthesis is left out if ``text`` is None. Tabs and line ends become spaces, quotation
    marks are escaped.

    >>> _mitab_field("comment", 'A "b" (c)'), _mitab_field("pubmed", "12")
    ('comment:"A \\\\"b\\\\" (c)"', 'pubmed:12')
    """
    ending = "" if text is None else f"({_quote_mitab(text)})"
    return f"{_quote_mitab(database)}:{_quote_mitab(value)}{ending}"


def _quote_mitab(text: str) -> str:
    """Return text in quotation marks if it has characters that separate fields in MITAB.

    White space is trimmed, and each run of it becomes a space. Inside the marks, backslashes and
    quotation marks are escaped by a backslash.
    """
    text = re.sub(r"\s+", " ", text).strip()
    if re.search(r'[|:()"\\]', text):
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return text


# BEL ----------------------------------------------------------------------------------------------

# Namespace -> pattern of its names. A pattern needs no download, unlike a BEL namespace file.
BEL_NAMESPACES = {
    "HGNC": r"[A-Za-z0-9@._-]+",
    "MGI": r".+",
    "RGD": r".+",
    "EGID": r"[0-9]+",
    "FPLX": r".+",
    "UP": r"[A-Z0-9-]+",
    "TEXT": r".+",
}
_BEL_SPECIES_NAMESPACES = {HUMAN: "HGNC", MOUSE: "MGI", RAT: "RGD"}


def write_bel(facts: Iterable[Fact]) -> Iterator[str]:
    """Yield a BEL script: one statement per piece of evidence, with citation and sentence.

    Human genes are written as ``p(HGNC:symbol)``, mouse and rat genes with MGI and RGD, others with
    EGID; families with FPLX, names without an identifier with TEXT. Binding is ``a => complex(a,
    b)``, phosphorylation ``a -> p(b, pmod(Ph))``, activation ``a -> act(b)``, and a directed
    relation whose direction is unknown an association. BEL cannot deny a relation, so negated
    evidence is left out.
    """
    yield _bel_header()
    for fact in facts:
        ends = describe_ends(fact)
        for group in group_evidence(fact):
            statement = _bel_statement(ends, group)
            for row in group.evidence:
                if row["status"] != "negated":
                    yield _bel_record(row, statement)


def _bel_header() -> str:
    """Return the definitions at the beginning of a script: document, namespaces and annotations.

    Namespaces are BEL_NAMESPACES, annotations are ``Status`` and ``Probability``. Ends with a blank
    line.
    """
    lines = [
        'SET DOCUMENT Name = "Facts extracted by textrank"',
        'SET DOCUMENT Version = "1.0.0"',
        'SET DOCUMENT Description = "Statements about proteins, found by text mining"',
        'SET DOCUMENT Authors = "textrank"',
        'SET DOCUMENT ContactInfo = "textrank@example.org"',
        "",
    ]
    for name, pattern in BEL_NAMESPACES.items():
        lines.append(f'DEFINE NAMESPACE {name} AS PATTERN "{pattern}"')
    lines.append('DEFINE ANNOTATION Status AS LIST {"asserted", "speculated"}')
    lines.append(r'DEFINE ANNOTATION Probability AS PATTERN "[01]\.[0-9]+"')
    return "\n".join(lines) + "\n\n"


def _bel_record(row: Evidence, statement: str) -> str:
    """Return a BEL statement with the citation, sentence and annotations of its evidence.

    The citation has the type "PubMed" if the document id is a PubMed id, else "Other". All settings
    are unset at the end, so that records are independent.
    """
    document = row["document"]
    pmid = parse_pmid(document)
    citation = ("PubMed", pmid) if pmid else ("Other", document)
    name = _quote_bel(f"PMID {pmid}" if pmid else document)
    return (
        f'SET Citation = {{"{citation[0]}", {name}, {_quote_bel(str(citation[1]))}}}\n'
        f"SET SupportingText = {_quote_bel(row['sentence'])}\n"
        f'SET Status = "{row["status"]}"\n'
        f'SET Probability = "{row["probability"]:.4f}"\n'
        f"{statement}\n"
        "UNSET ALL\n\n"
    )


def _bel_statement(ends: tuple[Entity, Entity], group: RelationGroup) -> str:
    """Return the BEL statement of a group of evidence, without a line end.

    The acting entity comes first; without a direction, the first entity of the fact. A directed
    relation (one with roles) whose direction is unknown is written as an association.
    """
    first, second = ends if group.direction != "b>a" else (ends[1], ends[0])
    is_undirected = group.relation.roles is not None and group.direction == "none"
    pattern = UNDIRECTED_BEL if is_undirected else group.relation.bel
    a, b = _bel_term(first), _bel_term(second)
    return pattern.format(a=a, b=b, b_open=b.removesuffix(")"))


def _bel_term(entity: Entity) -> str:
    """Return the protein abundance of an entity, such as ``p(HGNC:GRB2)``.

    Genes of human, mouse and rat that the tables have are written by symbol, other identifiers of
    NCBI Gene, FamPlex and UniProt by their number or id, anything else as its name in TEXT. A name
    with characters other than ASCII letters, digits and underscores is quoted.
    """
    namespace = _BEL_SPECIES_NAMESPACES.get(entity.taxon)
    if entity.prefix == "ncbigene" and entity.gene is not None and namespace:
        name = entity.symbol
    elif entity.prefix in ("ncbigene", "fplx", "uniprot"):
        namespace = {"ncbigene": "EGID", "fplx": "FPLX", "uniprot": "UP"}[entity.prefix]
        name = entity.local_id
    else:
        namespace, name = "TEXT", entity.name
    return f"p({namespace}:{name if re.fullmatch('[A-Za-z0-9_]+', name) else _quote_bel(name)})"


def _quote_bel(text: str) -> str:
    """Return a string of BEL in quotation marks, on one line.

    White space is trimmed, and each run of it becomes a space; backslashes and quotation marks are
    escaped.
    """
    text = re.sub(r"\s+", " ", text).strip()
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


# CX2 ----------------------------------------------------------------------------------------------

_CX2_NODE_ATTRIBUTES = {
    "name": "string",
    "represents": "string",
    "label": "string",
    "species": "integer",
    "type": "string",
}
_CX2_EDGE_ATTRIBUTES = {
    "interaction": "string",
    "name": "string",
    "probability": "double",
    "directed": "boolean",
    "documents": "integer",
    "statements": "integer",
    "negated": "integer",
    "speculated": "integer",
    "citations": "list_of_string",
    "evidence": "list_of_string",
}
MAX_CX2_SENTENCES = 20  # per edge; the best ones


def write_cx2(facts: Iterable[Fact]) -> Iterator[str]:
    """Yield a network in CX2, the format of NDEx and Cytoscape.

    Facts with asserted evidence are edges and their entities are nodes; other facts are left out.
    Edges lead in the direction of their fact, or from its first entity; the attribute ``directed``
    says whether the fact has a direction. All facts are read before anything is yielded.
    """
    nodes: dict[str, dict[str, Any]] = {}
    edges: list[dict[str, Any]] = []
    for fact in facts:
        if not fact["asserted"]:
            continue
        ends = describe_ends(fact)
        for entity in ends:
            if entity.key not in nodes:
                nodes[entity.key] = {"id": len(nodes), "v": _cx2_node_values(entity)}
        source, target = ends if fact["direction"] != "b>a" else (ends[1], ends[0])
        edges.append(
            {
                "id": len(edges),
                "s": nodes[source.key]["id"],
                "t": nodes[target.key]["id"],
                "v": _cx2_edge_values(fact, source, target),
            }
        )
    aspects: list[tuple[str, list[Any]]] = [
        (
            "attributeDeclarations",
            [
                {
                    "networkAttributes": {"name": {"d": "string"}, "description": {"d": "string"}},
                    "nodes": {name: {"d": kind} for name, kind in _CX2_NODE_ATTRIBUTES.items()},
                    "edges": {name: {"d": kind} for name, kind in _CX2_EDGE_ATTRIBUTES.items()},
                }
            ],
        ),
        (
            "networkAttributes",
            [{"name": "textrank facts", "description": "Facts about proteins, by text mining"}],
        ),
        ("nodes", list(nodes.values())),
        ("edges", edges),
        ("visualProperties", [_CX2_STYLE]),
    ]
    counts = [{"name": name, "elementCount": len(elements)} for name, elements in aspects]
    yield "[" + json.dumps({"CXVersion": "2.0", "hasFragments": False}) + ",\n"
    yield json.dumps({"metaData": counts}) + ",\n"
    for name, elements in aspects:
        yield json.dumps({name: elements}, ensure_ascii=False) + ",\n"
    yield json.dumps({"status": [{"success": True}]}) + "]\n"


_CX2_STYLE: Mapping[str, Any] = {
    "default": {
        "network": {"NETWORK_BACKGROUND_COLOR": "#FFFFFF"},
        "node": {"NODE_SHAPE": "ellipse", "NODE_BACKGROUND_COLOR": "#80CBC4"},
        "edge": {"EDGE_LINE_COLOR": "#78909C"},
    },
    "nodeMapping": {
        "NODE_LABEL": {"type": "PASSTHROUGH", "definition": {"attribute": "name", "type": "string"}}
    },
    "edgeMapping": {
        "EDGE_TARGET_ARROW_SHAPE": {
            "type": "DISCRETE",
            "definition": {
                "attribute": "directed",
                "type": "boolean",
                "map": [{"v": True, "vp": "triangle"}, {"v": False, "vp": "none"}],
            },
        }
    },
}


def _cx2_node_values(entity: Entity) -> dict[str, Any]:
    """Return the attributes of a node: symbol, key, name, type and species (NCBI taxon).

    The type is "family" for FamPlex, else "protein". An unknown species is left out.
    """
    values: dict[str, Any] = {
        "name": entity.symbol,
        "represents": entity.key,
        "label": entity.name,
        "type": "family" if entity.prefix == "fplx" else "protein",
    }
    return values | ({"species": entity.taxon} if entity.taxon else {})


def _cx2_edge_values(fact: Fact, source: Entity, target: Entity) -> dict[str, Any]:
    """Return the attributes of an edge from ``source`` to ``target``, as in _CX2_EDGE_ATTRIBUTES.

    ``evidence`` has the distinct sentences of all statements, also of negated ones, in the order of
    the fact's evidence, at most MAX_CX2_SENTENCES.
    """
    sentences = dict.fromkeys(row["sentence"] for row in fact["evidence"])
    return {
        "interaction": fact["type"],
        "name": f"{source.symbol} ({fact['type']}) {target.symbol}",
        "probability": fact["probability"],
        "directed": fact["direction"] != "none",
        "documents": fact["documents"],
        "statements": fact["statements"],
        "negated": fact["negated"],
        "speculated": fact["speculated"],
        "citations": sorted({_cite(row["document"]) for row in fact["evidence"]}),
        "evidence": list(sentences)[:MAX_CX2_SENTENCES],
    }


def _cite(document: str) -> str:
    """Return a document as ``pubmed:123`` if its id is a PubMed id, else its id unchanged."""
    pmid = parse_pmid(document)
    return f"pubmed:{pmid}" if pmid else document


# Formats ------------------------------------------------------------------------------------------


def _count_all(fact: Fact) -> int:
    """Return the number of statements of a fact, for formats that can hold all of them."""
    return fact["statements"]


def _count_indra(fact: Fact) -> int:
    """Return the number of statements of a fact that INDRA can hold.

    Regulations without a direction, and those without a sign, are not counted.
    """
    return sum(len(group.evidence) for group in group_evidence(fact) if _indra_class(group))


def _count_bel(fact: Fact) -> int:
    """Return the number of statements of a fact that BEL can hold: those that are not negated."""
    return fact["statements"] - fact["negated"]


def _count_network(fact: Fact) -> int:
    """Return the number of statements of a fact; 0 if none is asserted, so that it has no edge."""
    return fact["statements"] if fact["asserted"] else 0


class ExportFormat(NamedTuple):
    """File format of facts: suffixes, writer, and a count of the statements it can hold."""

    suffixes: tuple[str, ...]
    write: Callable[[Iterable[Fact]], Iterator[str]]
    count_written: Callable[[Fact], int]  # number of statements of a fact that are written


def _network_format(*suffixes: str) -> ExportFormat:
    """Return the export format of one of the NETWORK_WRITERS of ``textrank.tasks.ppi.facts``.

    The first of ``suffixes`` chooses the writer; all of them are suffixes of files in the format.
    Facts without asserted evidence are not written, nor counted as written.
    """
    to_text = NETWORK_WRITERS[suffixes[0]]

    def write(facts: Iterable[Fact]) -> Iterator[str]:
        """Yield the whole network as one text, after all facts are read."""
        yield to_text(network_from_facts(facts))

    return ExportFormat(suffixes, write, _count_network)


EXPORT_FORMATS: Mapping[str, ExportFormat] = {
    "indra": ExportFormat((".indra.json",), write_indra, _count_indra),
    "mitab": ExportFormat((".mitab.tsv", ".mitab.txt", ".mitab"), write_mitab, _count_all),
    "bel": ExportFormat((".bel",), write_bel, _count_bel),
    "cx2": ExportFormat((".cx2.json", ".cx2"), write_cx2, _count_network),
    "graphml": _network_format(".graphml"),
    "cyjs": _network_format(".cyjs", ".json"),
    "sif": _network_format(".sif"),
    "csv": _network_format(".csv"),
}


def find_format(path: str | Path, format: str | None = None) -> str:
    """Return the key of ``EXPORT_FORMATS`` for a path, or ``format`` if it is given.

    The case of the suffix is ignored. The longest suffix is used, so ``x.indra.json`` is INDRA and
    ``x.json`` Cytoscape. With ``format`` the path is ignored. The file need not exist. Raises
    ValueError for an unknown format or suffix.
    """
    if format is not None:
        if format not in EXPORT_FORMATS:
            raise ValueError(
                f"{format!r} is not a format of facts; available: {', '.join(EXPORT_FORMATS)}."
            )
        return format
    name = Path(path).name.lower()
    matches = [
        (len(suffix), key)
        for key, entry in EXPORT_FORMATS.items()
        for suffix in entry.suffixes
        if name.endswith(suffix)
    ]
    if matches:
        return max(matches)[1]
    suffixes = sorted(chain.from_iterable(entry.suffixes for entry in EXPORT_FORMATS.values()))
    raise ValueError(
        f"{path}: {Path(path).suffix!r} is not a network format. Use one of {', '.join(suffixes)}."
    )


def write_facts(facts: Iterable[Fact], path: str | Path, *, format: str | None = None) -> None:
    """Write facts to a file in the format of its suffix, or in ``format``.

    The file is replaced atomically: if writing fails, an existing file stays as it was. Raises
    ValueError for an unknown format or suffix before anything is read or written.
    """
    writer = EXPORT_FORMATS[find_format(path, format)].write
    with open_atomic(path) as file:
        for text in writer(facts):
            file.write(text)
