"""Pairs of all sources of the recipe: read, recognised, labelled by definition and represented.

A source has the names of its corpus, or (``recognised``) those that the shipped
recogniser finds in its bare texts. Each pair has a label for every definition of ``RELATIONS``: 1,
-1, or 0 where the source says nothing about it. ``read_pairs`` keeps represented sources in a
folder, so that only sources whose files or names changed are analysed again.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import spacy
from numpy.typing import NDArray
from spacy.language import Language
from spacy.tokens import Doc
from workshop.abstract_statements import read_abstract_statements
from workshop.recipes import PROJECT, Recipe, read_source

import textrank
from textrank.candidates import Candidate, text_keys
from textrank.evaluation.evaluate import link_names, link_pairs
from textrank.features import Features, Indices, Matrix, MultiView
from textrank.formats.base import get_mentions
from textrank.formats.standoff import RELATIONS
from textrank.io import pack_arrays, read_arrays, unpack_arrays, write_arrays
from textrank.language.normalization import original_offsets, word_doc
from textrank.pipeline import Pipeline
from textrank.tasks.ppi.task import RELATION_OF_TYPE

BATCH_PAIRS = 2000  # that are represented and compared at once
CACHE_FORMAT = 2  # of represented sources; increases when older files cannot be read


@dataclass(frozen=True, eq=False)
class LabelledPair:
    """A pair of a source with its labels, one per definition: 1, -1 or 0 (unknown)."""

    candidate: Candidate
    labels: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class SourcePairs:
    """Represented pairs of one or more sources, n in all."""

    views: MultiView
    Y: Matrix  # (n, definitions) 1, -1 or 0 if unknown
    source: NDArray[np.str_]  # (n,)
    document: Indices  # (n,) number of the document in its source
    keys: Mapping[str, Sequence[frozenset[str]]]  # of the texts of each document, by source
    ids: Mapping[str, Sequence[str]] = field(default_factory=dict)  # public, of each document

    @property
    def either(self) -> Matrix:
        """(n,) 1 if a pair satisfies a definition, else -1."""
        return np.where((self.Y > 0).any(axis=1), 1.0, -1.0)

    def shares_text_with(self, names: Sequence[str]) -> NDArray[np.bool_]:
        """Return whether the document of each pair has a sentence or origin of these sources."""
        others = {key for name in names for keys in self.keys[name] for key in keys}
        shared = {
            name: np.array([not keys.isdisjoint(others) for keys in documents], dtype=bool)
            for name, documents in self.keys.items()
        }
        result = np.zeros(len(self.source), dtype=bool)
        for name, by_document in shared.items():
            rows = self.source == name
            result[rows] = by_document[self.document[rows]]
        return result

    @classmethod
    def concat(cls, parts: Sequence[SourcePairs]) -> SourcePairs:
        """Join the pairs of several sources."""
        views = [part.views for part in parts]
        joined = MultiView(
            {key: Features.vstack([v.view(key) for v in views]) for key in views[0].views}
        )
        return cls(
            joined,
            np.vstack([part.Y for part in parts]),
            np.concatenate([part.source for part in parts]),
            np.concatenate([part.document for part in parts]),
            {name: keys for part in parts for name, keys in part.keys.items()},
            {name: ids for part in parts for name, ids in part.ids.items()},
        )


def read_pairs(
    recipe: Recipe, pipeline: Pipeline, data: Path, names: Sequence[str], cache: Path | None
) -> SourcePairs:
    """Return the represented pairs of these sources, one source after the other.

    ``cache`` is a folder with represented sources of earlier runs; None reads everything. A source
    is read again if its settings or files changed, or the files of the models that analyse it.
    Delete the folder after a change of the code that represents pairs.
    """
    parts = []
    for name in names:
        file = None if cache is None else cache / f"{name}-{_fingerprint(recipe, name, data)}.npz"
        if file is not None and file.exists():
            parts.append(_load(file, name))
            continue
        parts.append(_represent(pipeline, name, *_read_source(recipe, pipeline, name, data)))
        if file is not None:
            cache.mkdir(parents=True, exist_ok=True)  # type: ignore[union-attr]
            _save(parts[-1], name, file)
    return SourcePairs.concat(parts)


def _read_source(
    recipe: Recipe, pipeline: Pipeline, name: str, data: Path
) -> tuple[list[Doc], list[list[LabelledPair]]]:
    """Return the analysed Docs of a source and the labelled pairs of each."""
    source = recipe.sources[name]
    if source["reader"] == "abstract_statements":
        labels, texts = PROJECT / source["project"], data / source["texts"]
        read = partial(read_abstract_statements, labels, texts)
    else:
        read = read_source(recipe, name, data)
    limit = recipe.settings["max_sentence_entities"]
    if source.get("recognised"):
        task = pipeline.task
        nlp = textrank.load_nlp(only=[*(task.required_pipes or ()), *task.required_pipes_raw])
        both = list(recognise(list(read(spacy.blank("en"))), nlp))
        pairs = [list(label_recognised(pipeline, source, gold, raw, limit)) for gold, raw in both]
        return [raw for _, raw in both], pairs
    docs = list(read(textrank.load_nlp(only=["tagger", "parser"])))
    if source["reader"] == "bionlp.v1":
        docs = [remove_tables(doc, limit) for doc in docs]
    return docs, [list(label_given(pipeline, source, doc)) for doc in docs]


def remove_tables(doc: Doc, max_entities: int) -> Doc:
    """Remove, in place, the entities of sentences with more than ``max_entities`` of them."""
    spans = list(doc.spans["entities"])
    kept = []
    for sentence in doc.sents:
        inside = [s for s in spans if sentence.start <= s.start and s.end <= sentence.end]
        kept += inside if len(inside) <= max_entities else []
    doc.spans["entities"] = kept
    return doc


def recognise(docs: Sequence[Doc], nlp: Language) -> Iterator[tuple[Doc, Doc]]:
    """Yield each Doc with its bare text analysed by ``nlp``, with the same id and origin."""
    for gold, raw in zip(docs, nlp.pipe(doc.text for doc in docs), strict=True):
        for key in ("document", "origin"):
            if key in gold.user_data:
                raw.user_data[key] = gold.user_data[key]
        yield gold, raw


def label_given(pipeline: Pipeline, source: Mapping[str, Any], doc: Doc) -> Iterator[LabelledPair]:
    """Yield the pairs of a Doc with the names and labels of its corpus."""
    relations = {
        frozenset(row["entities"]): gold_relations(row, source["relations"])
        for row in doc.user_data["gold"]
        if row["label"]
    }
    for candidate in pipeline.task.candidates(doc):
        key = frozenset(span.id_ for span in candidate.spans)
        yield LabelledPair(candidate, _labels(relations.get(key, ()), source["relations"]))


def label_recognised(
    pipeline: Pipeline, source: Mapping[str, Any], gold: Doc, raw: Doc, max_entities: int
) -> Iterator[LabelledPair]:
    """Yield the pairs of recognised names of a text, labelled by the gold names they overlap.

    A pair is positive if a gold pair links an entity that overlaps its first name with one that
    overlaps its second. With ``both_annotated``, pairs with a name that overlaps no gold entity
    are left out: the corpus annotates only a part of all names. So are pairs of sentences with
    more than ``max_entities`` names, and pairs whose gold pairs are all uncertain.
    """
    task: Any = pipeline.task
    candidates = task.candidates(raw)
    words = candidates[0].doc if candidates else word_doc(raw)
    spans = task.names(words)
    number = {(span.start, span.end): i for i, span in enumerate(spans)}
    mentions = get_mentions(gold)
    mention_number = {mention.id: i for i, mention in enumerate(mentions)}
    near = link_names([(original_offsets(span),) for span in spans], [m.pieces for m in mentions])
    rows = [
        row
        for row in gold.user_data["gold"]
        if row["label"] and all(end in mention_number for end in row["entities"])
    ]
    wanted = [tuple(mention_number[end] for end in row["entities"]) for row in rows]
    asked = [tuple(number[span.start, span.end] for span in c.spans) for c in candidates]
    relations: dict[int, set[str]] = {}
    uncertain: set[int] = set()
    for pair, gold_pair in link_pairs(asked, wanted, near):  # type: ignore[arg-type]
        if rows[gold_pair].get("certain") is False:
            uncertain.add(pair)
            continue
        relations.setdefault(pair, set()).update(
            gold_relations(rows[gold_pair], source["relations"])
        )
    annotated = {name for name, _ in near}
    per_sentence: dict[int, int] = {}
    for span in spans:
        per_sentence[span.sent.start] = per_sentence.get(span.sent.start, 0) + 1
    for i, candidate in enumerate(candidates):
        if source.get("both_annotated") and not annotated.issuperset(asked[i]):
            continue
        if per_sentence[candidate.spans[0].sent.start] > max_entities:
            continue
        if i in uncertain and i not in relations:
            continue
        yield LabelledPair(candidate, _labels(relations.get(i, ()), source["relations"]))


def gold_relations(row: Mapping[str, Any], default: Sequence[str]) -> Sequence[str]:
    """Return the definitions that a gold pair satisfies: those of its events, type or corpus."""
    if "relations" in row:
        return list(row["relations"])
    if row.get("type") in RELATION_OF_TYPE:
        return [RELATION_OF_TYPE[row["type"]]]
    return default


def _labels(relations: Sequence[str] | set[str], judged: Sequence[str]) -> tuple[float, ...]:
    """Return 1, -1 or 0 for each definition; 0 for those that the source does not judge."""
    return tuple(
        0.0 if name not in judged else 1.0 if name in relations else -1.0 for name in RELATIONS
    )


def _represent(
    pipeline: Pipeline, name: str, docs: Sequence[Doc], pairs: Sequence[Sequence[LabelledPair]]
) -> SourcePairs:
    """Represent the pairs of one source as the kernel compares them."""
    rows = [pair for group in pairs for pair in group]
    candidates = [pair.candidate for pair in rows]
    views = [
        pipeline.representation(candidates[start : start + BATCH_PAIRS])
        for start in range(0, len(candidates), BATCH_PAIRS)
    ]
    joined = MultiView(
        {key: Features.vstack([v.view(key) for v in views]) for key in views[0].views}
    )
    document = np.repeat(np.arange(len(docs)), [len(group) for group in pairs])
    keys = [frozenset(_hash(":".join(key)) for key in text_keys(doc)) for doc in docs]
    Y = np.array([pair.labels for pair in rows])
    source, ids = np.array([name] * len(rows)), [public_id(doc, name) for doc in docs]
    return SourcePairs(joined, Y, source, document, {name: keys}, {name: ids})


def public_id(doc: Doc, source: str) -> str:
    """Return the id under which others find a document, such as "PMID:11780382" or "PMC1134658".

    It is the id of the original abstract or article, if the corpus states it; otherwise the id in
    the corpus after the name of the source: "own/f0".
    """
    origin = str(doc.user_data.get("origin") or "")
    if match := re.fullmatch(r"(?:PMID[:_-]?)?([0-9]{5,8})", origin):
        return f"PMID:{match[1]}"
    if match := re.match(r"PMC[-_]?([0-9]+)", origin):
        return f"PMC{match[1]}"
    return f"{source}/{doc.user_data.get('document', '')}"


def _hash(text: str) -> str:
    """Return sixteen hexadecimal digits of the SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _fingerprint(recipe: Recipe, name: str, data: Path) -> str:
    """Return a hash of the settings and files of a source and of the models that analyse it."""
    source = {k: v for k, v in recipe.sources[name].items() if k not in ("basis", "weight")}
    root = data if "data" in source else PROJECT
    paths = source.get("data", source.get("project"))
    files = [root / path for path in (paths if isinstance(paths, list) else [paths])]
    models = PROJECT / "models"
    parts = ["en_textrank_bio/tagger", "en_textrank_bio/parser", "en_textrank_bio/tok2vec"]
    if source.get("recognised"):
        parts += ["en_textrank_bio", "identifiers"]
    for part in parts:
        files += sorted(file for file in (models / part).rglob("*") if file.is_file())
    limit = recipe.settings["max_sentence_entities"]
    settings = [source, limit, CACHE_FORMAT]
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode())
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _save(pairs: SourcePairs, name: str, file: Path) -> None:
    """Write the pairs of one source to an ``.npz`` file."""
    keys = json.dumps([sorted(keys) for keys in pairs.keys[name]])
    arrays = pack_arrays(pairs.views) | {
        "Y": pairs.Y,
        "document": pairs.document,
        "keys": np.frombuffer(keys.encode(), dtype=np.uint8),
        "ids": np.frombuffer(json.dumps(pairs.ids[name]).encode(), dtype=np.uint8),
    }
    write_arrays(file, arrays)


def _load(file: Path, name: str) -> SourcePairs:
    """Read what ``_save`` wrote."""
    arrays = read_arrays(file)
    keys = [frozenset(keys) for keys in json.loads(arrays["keys"].tobytes())]
    ids = json.loads(arrays["ids"].tobytes())
    source = np.array([name] * len(arrays["Y"]))
    views, document = unpack_arrays(arrays), arrays["document"]
    return SourcePairs(views, arrays["Y"], source, document, {name: keys}, {name: ids})
