"""Tasks about meaning: which of its senses a word or a name has in the text.

``GeneProtein`` says whether a gene or protein name means the gene, its protein or its RNA.
``WordSenses`` chooses among the senses of any word; its training data are annotated occurrences of
the words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from spacy.tokens import Doc, Span

from textrank.candidates import Candidate, ensure_span_group, entity_spans
from textrank.language.normalization import (
    SourceText,
    original_offsets,
    to_plain_text,
    word_doc,
)
from textrank.metrics import argmax_first
from textrank.tasks.base import (
    AnsweredQuestion,
    ChoiceTask,
    Question,
    candidates_from_questions,
    span_text,
)

for _attribute in ("textrank_gene_protein", "textrank_wsd"):
    if not Doc.has_extension(_attribute):
        Doc.set_extension(_attribute, default=None)

UNDECIDED_LABELS = (
    *("", "gene", "Gene", "GENE", "FAMILY", "GGP", "GeneOrGeneProduct", "gene_or_gene_product"),
)


@dataclass(frozen=True)
class GeneProtein(ChoiceTask):
    """Gene and protein names; the task decides what a name means in its context: protein or DNA.

    Other kinds can be given. The label of an annotated name is its gold answer.

    Parameters
    ----------
    answers
        Kinds to distinguish. Of two, the second is the positive class.
    also
        Further labels of names to classify, which do not tell the kind, such as those of a named
        entity recogniser. Names with these labels have no gold answer.
    entities
        Span group with the names.
    """

    answers: Sequence[str] = ("protein", "DNA")
    also: Sequence[str] = UNDECIDED_LABELS
    entities: str = "entities"
    name: ClassVar[str] = "gene_protein"
    required_pipes: ClassVar[tuple[str, ...]] = ()  # words and sentences are enough
    required_pipes_raw: ClassVar[tuple[str, ...]] = ("kinds",)
    is_ranking: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Convert lists to tuples; raise ValueError for fewer than two or repeated answers."""
        for setting in ("answers", "also"):
            object.__setattr__(self, setting, tuple(getattr(self, setting)))
        if len(set(self.answers)) < 2 or len(set(self.answers)) < len(self.answers):
            raise ValueError(f"answers must be at least two different labels, got {self.answers}")

    def candidates(self, doc: Doc) -> list[Candidate]:
        """Return one candidate per name; with three answers or more, one per name and answer.

        Names are in the order of the span group. Names whose label is in neither ``answers`` nor
        ``also`` are left out. If the Doc lacks the span group, it is made from ``doc.ents``, in
        place.
        """
        ensure_span_group(doc, self.entities)
        labelled = [(s, s.label_) for s in entity_spans(word_doc(doc), self.entities)]
        return candidates_from_questions(
            [
                Question(span, tuple(self.answers), right=self._gold_answer(label))
                for span, label in labelled
                if label in self.answers or label in self.also
            ]
        )

    def choices(self, candidate: Candidate) -> Sequence[str]:
        """Return the kinds to distinguish."""
        return self.answers

    def unreachable(self, doc: Doc, candidates: Sequence[Candidate]) -> int:
        """Return 0: every name annotated with a gold answer has candidates."""
        return 0

    def row(self, text: SourceText, question: AnsweredQuestion) -> dict[str, Any]:
        """Return the most probable kind of a name, with its offsets and sentence.

        Keys: ``name``, ``span`` ([start, end] characters of the original text), ``sentence``,
        ``label`` (the kind), ``probability`` (of that kind) and ``probabilities`` by kind. Ties go
        to the first of ``answers``.
        """
        probabilities = question.probabilities(self.answers)
        best = list(probabilities)[int(argmax_first(list(probabilities.values())))]
        span = question.span
        start, end = original_offsets(span)
        return {
            "name": to_plain_text(text.text[start:end]),
            "span": [start, end],
            "sentence": text.sentence(span),
            "label": best,
            "probability": probabilities[best],
            "probabilities": probabilities,
        }

    def _gold_answer(self, label: str) -> str | None:
        """Return ``label`` if it is one of the answers, else None, which means unknown."""
        return label if label in self.answers else None


@dataclass(frozen=True)
class WordSenses(ChoiceTask):
    """Ambiguous words; the task decides which of its senses each one has in the text.

    ``senses`` maps a word to its senses, such as ``{"line": ["cord", "text", ...]}``. If the Doc
    has the span group ``entities``, its spans are classified: the key of a span in ``senses`` is
    its ``span.kb_id_`` or, if that is empty, its text in lower case, and its label is the gold
    sense. Otherwise every token whose lower-cased text is a key is classified.

    Raises ValueError for a word with fewer than two senses or with a repeated one.
    """

    senses: Mapping[str, Sequence[str]]
    entities: str = "entities"
    name: ClassVar[str] = "wsd"
    required_pipes: ClassVar[tuple[str, ...]] = ()  # words and sentences are enough
    required_pipes_raw: ClassVar[tuple[str, ...]] = ()
    is_ranking: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Convert the senses to tuples; raise ValueError if a word has fewer than two.

        A repeated sense raises ValueError too.
        """
        all_senses = {str(word): tuple(senses) for word, senses in self.senses.items()}
        object.__setattr__(self, "senses", all_senses)
        for word, senses in all_senses.items():
            if len(senses) < 2 or len(set(senses)) < len(senses):
                raise ValueError(f"{word!r} needs at least two different senses, got {senses}")

    def candidates(self, doc: Doc) -> list[Candidate]:
        """Return one candidate per word with two senses, and one per sense of other words.

        In text order. The candidate of a word with two senses stands for the second. Candidates may
        belong to a copy of the Doc that has only its words (``word_doc``).
        """
        return candidates_from_questions(
            [self._question(span) for span in self._target_spans(word_doc(doc))]
        )

    def choices(self, candidate: Candidate) -> Sequence[str]:
        """Return the senses of the candidate's word."""
        return self.senses[candidate.question]

    def unreachable(self, doc: Doc, candidates: Sequence[Candidate]) -> int:
        """Return the number of annotated words whose key is not in ``senses``.

        0 without a span group. A word with an entry in ``senses`` counts as reachable even if its
        label is none of its senses.
        """
        return len(doc.spans.get(self.entities, ())) - len(self._marked_spans(doc))

    def row(self, text: SourceText, question: AnsweredQuestion) -> dict[str, Any]:
        """Return the most probable sense of a word, with its offsets.

        Keys: ``word``, ``span`` ([start, end] characters of the original text), ``sense``,
        ``probability`` and ``probabilities`` (by sense). The first sense wins a tie.
        """
        probabilities = question.probabilities(self.senses[question.title])
        best = list(probabilities)[int(argmax_first(list(probabilities.values())))]
        row = {"word": span_text(question.span), "span": list(original_offsets(question.span))}
        return {
            **row,
            "sense": best,
            "probability": probabilities[best],
            "probabilities": probabilities,
        }

    def _target_spans(self, doc: Doc) -> list[Span]:
        """Return the words to classify, in text order.

        These are the spans of the span group that have an entry in ``senses``; if the Doc lacks the
        group, all tokens whose lower-cased text has one.
        """
        if self.entities in doc.spans:
            return self._marked_spans(doc)
        return [doc[token.i : token.i + 1] for token in doc if token.lower_ in self.senses]

    def _marked_spans(self, doc: Doc) -> list[Span]:
        """Return the spans of the span group that have an entry in ``senses``, in text order.

        Empty if the Doc lacks the span group.
        """
        marked = sorted(doc.spans.get(self.entities, ()), key=lambda s: (s.start, s.end))
        return [span for span in marked if self._lexical_entry(span) in self.senses]

    def _question(self, span: Span) -> Question:
        """Return the question for a word, which must have an entry in ``senses``.

        The label of the span is the gold answer if it is one of the word's senses; otherwise the
        gold answer is None.
        """
        word = self._lexical_entry(span)
        senses = tuple(self.senses[word])
        return Question(span, senses, word, span.label_ if span.label_ in senses else None)

    def _lexical_entry(self, span: Span) -> str:
        """Return the key of a span in ``senses``: its ``kb_id_``, else its text in lower case."""
        return span.kb_id_ or span.text.lower()
