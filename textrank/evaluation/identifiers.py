"""From raw text to identifiers: which genes a document speaks of, when nobody marks its names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from spacy.language import Language
from spacy.tokens import Doc

from textrank.docs import document_id, identifiers_of
from textrank.evaluation.report import Counts, Fold, Report
from textrank.model import Model
from textrank.registries import config_of
from textrank.tasks.identifier_measures import answers_of, document_measures, document_sets
from textrank.tasks.identifiers import Identifiers


def evaluate_identifiers(
    model: Model, docs: Sequence[Doc], nlp: Language, *, corpus: str = ""
) -> Report:
    """Lets ``nlp`` find the names in the texts of annotated Docs, and compares identifiers.

    An identifier of a document is right if the corpus has it anywhere in that document. Measures
    are over identifiers that the tables have; ``document_f_of_all`` is over all of the corpus.
    """
    task = _checked(model)
    raw = list(_analysed(docs, nlp))
    candidates = [replace(c, label=None) for doc in raw for c in task.candidates(doc)]
    unknown = {document_id(doc): [frozenset[str]()] * len(task.names(doc)) for doc in raw}
    found = document_sets(answers_of(candidates, model.score(candidates), unknown))
    gold = {document_id(doc): _gold(doc) for doc in docs}
    measures = document_measures(found, gold, task.lookup.knows)
    every = sum(map(len, gold.values()))
    covered = sum(sum(map(task.lookup.knows, own)) for own in gold.values())
    trained = model.meta.get("corpus") or "another corpus"
    return Report(
        task=task.name,
        corpus=corpus,
        procedure=f"trained on {trained}; names recognised in bare text; "
        f"{covered} of {every} identifiers of the documents are in the tables",
        settings=config_of(model.pipeline),
        seed=None,
        counts=Counts(len(docs), len(candidates), every, every - covered),
        folds=[Fold(measures, documents=len(docs), candidates=len(candidates), positives=every)],
    )


def _checked(model: Model) -> Identifiers:
    task = model.pipeline.task
    if not isinstance(task, Identifiers):
        raise ValueError(f"a model of the task {task.name!r} gives no identifiers.")
    return task


def _analysed(docs: Sequence[Doc], nlp: Language) -> Iterator[Doc]:
    """The bare texts again, with names found."""
    pairs = ((doc.text, document_id(doc, n)) for n, doc in enumerate(docs))
    for doc, name in nlp.pipe(pairs, as_tuples=True):
        doc.user_data["document"] = name
        yield doc


def _gold(doc: Doc) -> frozenset[str]:
    return frozenset(one for own in (identifiers_of(doc) or {}).values() for one in own)
