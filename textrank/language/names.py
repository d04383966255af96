"""Gene and protein names in ``doc.spans["entities"]``, beside the typed names of ``doc.ents``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from spacy.language import Language
from spacy.pipeline import EntityRecognizer
from spacy.pipeline.ner import DEFAULT_NER_MODEL
from spacy.tokens import Doc, Span
from spacy.training import Example
from thinc.api import Model

KEY = "entities"


class GeneRecognizer(EntityRecognizer):  # type: ignore[misc]  # compiled, without types
    """spaCy's recognizer of names, but the names go to ``doc.spans["entities"]``.

    ``doc.ents`` stays as it is, so a second recognizer with other types can fill it. Entities that
    a Doc already has, read from a corpus or set by hand, are kept.
    """

    def predict(self, docs: Iterable[Doc]) -> Any:
        """Where names begin and end, whatever is in ``doc.ents``."""
        docs = list(docs)
        hidden = [list(doc.ents) for doc in docs]  # spaCy would take them as given
        for doc in docs:
            doc.set_ents([], default="missing")
        states = super().predict(docs)
        for doc, ents in zip(docs, hidden, strict=True):
            doc.set_ents(ents, default="missing")
        return states

    def set_annotations(self, docs: Sequence[Doc], states: Any) -> None:
        """Puts the names where they belong."""
        for doc, state in zip(docs, states, strict=True):
            ents = list(doc.ents)
            doc.set_ents([], default="missing")
            super().set_annotations([doc], [state])
            if KEY not in doc.spans:
                doc.spans[KEY] = [
                    Span(doc, ent.start, ent.end, label=ent.label, span_id=f"e{number}")
                    for number, ent in enumerate(doc.ents)
                ]
            doc.set_ents(ents, default="missing")


def score_genes(examples: Iterable[Example], **_: Any) -> dict[str, float]:
    """Precision, recall and F of the gene names with exactly their boundaries."""
    found = right = given = 0
    for example in examples:
        gold = {(ent.start_char, ent.end_char) for ent in example.reference.ents}
        names = {(s.start_char, s.end_char) for s in example.predicted.spans.get(KEY, ())}
        found, right, given = found + len(names), right + len(gold & names), given + len(gold)
    precision = right / found if found else 0.0
    recall = right / given if given else 0.0
    total = found + given
    return {"genes_p": precision, "genes_r": recall, "genes_f": 2 * right / total if total else 0.0}


@Language.factory(
    "textrank_genes",
    assigns=["doc.spans"],
    default_config={"model": DEFAULT_NER_MODEL, "update_with_oracle_cut_size": 100},
    default_score_weights={"genes_f": 1.0, "genes_p": 0.0, "genes_r": 0.0},
)
def make_genes(
    nlp: Language, name: str, model: Model[Any, Any], update_with_oracle_cut_size: int
) -> GeneRecognizer:
    """What the factory of this name gives."""
    scorer: Callable[..., dict[str, float]] = score_genes
    return GeneRecognizer(
        nlp.vocab,
        model,
        name,
        update_with_oracle_cut_size=update_with_oracle_cut_size,
        scorer=scorer,
    )
