"""Names by a conditional random field: typed ones in ``doc.ents``, genes in ``doc.spans``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from spacy.attrs import ENT_IOB, ENT_TYPE, ORTH
from spacy.language import Language
from spacy.pipeline import TrainablePipe
from spacy.pipeline.tok2vec import Tok2VecListener
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import Linear, Model, chain, list2ragged, with_array
from thinc.types import Floats2d, Ragged

from textrank.language.crf import Bools, Floats, Ints, best_tags, chances, legal_transitions
from textrank.language.products import one_thread
from textrank.language.repair import narrowed, repaired
from textrank.text.words import Reading, bare, paragraphs, reading_of

KEY = "entities"
NARROW = "proteins"  # the group of single proteins under their narrowest names
Network = Model[list[Doc], Ragged]


class Name(NamedTuple):
    """Where a name stands in its Doc, in tokens, and which label it has."""

    start: int
    end: int
    label: str


def name_tags(
    tok2vec: Model[list[Doc], list[Floats2d]], nO: int | None = None
) -> Model[list[Doc], Ragged]:
    """Words in context -> scores of their tags; ``textrank.NameTags.v1``.

    The parameter ``T`` holds the scores of a tag after another, as ``legal_transitions`` has them.
    """
    scores: Model[Any, Any] = with_array(Linear(nO, tok2vec.get_dim("nO")))
    layers: Network = chain(tok2vec, list2ragged(), scores)
    return Model(
        "name_tags",
        lambda model, docs, is_train: model.layers[0](docs, is_train),
        init=_init,
        layers=[layers],
        params={"T": None},
        dims={"nO": nO},
    )


def _init(model: Network, X: Any = None, Y: Any = None) -> None:
    tags = model.get_dim("nO")
    model.layers[0].layers[-1].layers[0].set_dim("nO", tags)
    model.layers[0].initialize(X=X)
    model.set_param("T", model.ops.alloc2f(tags + 1, tags + 1))


class NameRecognizer(TrainablePipe):  # type: ignore[misc]  # compiled, without types
    """Names in ``doc.ents``, as the most probable sequence of tags of the whole text.

    Each word begins a name, is inside or at its end, is one alone or in none. A conditional random
    field learns and finds them together, so that no name begins without an end. Names that a Doc
    has already are kept, and only those that share no word with them are added.
    """

    any_length = True  # names of a text support one another, so it is never cut

    def __init__(
        self, vocab: Vocab, model: Network, name: str, *, scorer: Callable[..., Any] | None
    ) -> None:
        super().__init__(vocab, model, name, labels=[])
        self.scorer = scorer

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of names."""
        return tuple(self.cfg["labels"])

    @property
    def label_data(self) -> tuple[str, ...]:
        """What ``initialize`` takes as ``labels``."""
        return self.labels

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: list[str] | None = None,
    ) -> None:
        """Takes the labels from the examples, if none are given, and starts afresh."""
        examples = list(get_examples())
        if labels is None:
            labels = sorted({ent.label_ for each in examples for ent in each.reference.ents})
        if not labels:
            raise ValueError(
                f"no example for the component {self.name!r} has a name in doc.ents, so that its "
                "labels are unknown. Give examples with names, or the labels."
            )
        self.cfg["labels"] = list(labels)
        for label in labels:
            self.vocab.strings.add(label)
        self.model.set_dim("nO", 4 * len(labels) + 1)
        self.model.initialize(X=[each.predicted for each in examples[:10]])

    def predict(self, docs: Iterable[Doc]) -> list[list[Name]]:
        """The names of each Doc."""
        docs = list(docs)
        readings = [reading_of(doc, spelt=True) for doc in docs]
        both = list(zip(docs, readings, strict=True))
        parts = [paragraphs(*one) for one in both]
        lengths = [sum(own) for own in parts]
        if not any(lengths):
            return [[] for _ in docs]
        with one_thread():
            scores = self._scores(docs, readings).astype(np.float64)
        best = best_tags(scores, self._transitions(), [n for own in parts for n in own])
        tags = np.split(best, np.cumsum(lengths)[:-1])
        names = [_names(own, self.labels) for own in tags]
        return [_in_tokens(*one, own) for one, own in zip(both, names, strict=True)]

    def _scores(self, docs: Sequence[Doc], readings: Sequence[Reading | None]) -> Any:
        """Scores of the tags of all words."""
        if not any(isinstance(node, Tok2VecListener) for node in self.model.walk()):
            return self.model.predict([bare(doc, spelt=True) for doc in docs]).dataXd
        scores = self.model.predict(docs).dataXd  # what was said of a token depends on no other
        ends = np.cumsum([len(doc) for doc in docs]).tolist()
        kept = [
            end - len(doc) + (np.arange(len(doc)) if own is None else own.kept)
            for doc, own, end in zip(docs, readings, ends, strict=True)
        ]
        return scores[np.concatenate(kept)]

    def set_annotations(self, docs: Sequence[Doc], names: Sequence[Sequence[Name]]) -> None:
        """Puts the names where they belong."""
        for doc, own in zip(docs, names, strict=True):
            spans = [Span(doc, *name) for name in own]
            if doc.has_annotation("ENT_IOB"):
                taken = doc.to_array([ENT_IOB]) % 2 == 1  # in a name, or barred from being in one
                spans = [span for span in spans if not taken[span.start : span.end].any()]
                doc.set_ents(spans, default="unmodified")
            else:
                doc.set_ents(spans)

    def get_loss(self, examples: Iterable[Example], scores: Ragged) -> tuple[float, Ragged]:
        """Minus the logarithm of how probable the given names are, and its gradient."""
        allowed = np.concatenate([_allowed(each, self.labels) for each in examples])
        lengths = [int(length) for length in scores.lengths]
        emissions = np.asarray(scores.dataXd, dtype=np.float64)
        free = chances(emissions, self._transitions(), lengths)
        right = chances(emissions, self._transitions(), lengths, allowed)
        self.model.inc_grad("T", (free.pairs - right.pairs).astype(np.float32))
        gradient: Any = (free.tags - right.tags).astype(np.float32)
        return free.log_total - right.log_total, Ragged(gradient, scores.lengths)

    def _transitions(self) -> Floats:
        learned = self.model.get_param("T").astype(np.float64)
        return np.where(legal_transitions(len(self.labels)), learned, -np.inf)


class GeneRecognizer(NameRecognizer):
    """Names in a group of ``doc.spans``, so that another recognizer can fill ``doc.ents``.

    A Doc that has this group, read from a corpus or set by hand, keeps it. ``narrow`` names are
    without "gene", "protein" and the like.
    """

    def __init__(
        self,
        vocab: Vocab,
        model: Network,
        name: str,
        *,
        scorer: Callable[..., Any] | None,
        key: str = KEY,
        narrow: bool = False,
    ) -> None:
        super().__init__(vocab, model, name, scorer=scorer)
        self.key = key
        self.narrow = narrow

    def set_annotations(self, docs: Sequence[Doc], names: Sequence[Sequence[Name]]) -> None:
        """Puts the names where they belong."""
        for doc, own in zip(docs, names, strict=True):
            if self.key not in doc.spans:
                labels = {(name.start, name.end): name.label for name in own}
                usual = own[0].label if own else ""
                cut = narrowed if self.narrow else _whole
                doc.spans[self.key] = [
                    Span(doc, *cut(doc, *place), labels.get(place, usual), span_id=f"e{number}")
                    for number, place in enumerate(repaired(doc, list(labels)))
                ]


def _whole(_: Doc, start: int, end: int) -> tuple[int, int]:
    return start, end


def _names(tags: Ints, labels: Sequence[str]) -> list[Name]:
    kind = np.where(tags > 0, (tags - 1) % 4, -1)
    starts = np.flatnonzero((kind == 0) | (kind == 3))
    ends = np.flatnonzero(kind >= 2) + 1
    which = (tags[starts] - 1) // 4
    return [
        Name(start, end, labels[label])
        for start, end, label in zip(starts.tolist(), ends.tolist(), which.tolist(), strict=True)
    ]


def _in_tokens(doc: Doc, reading: Reading | None, names: list[Name]) -> list[Name]:
    """Names given in words, in the tokens of the Doc, of which white space and markup are some.

    A name has a letter or digit (14-3-3 is one); white space and signs name nothing.
    """
    at = range(len(doc)) if reading is None else reading.kept
    orths = doc.to_array([ORTH]) if reading is None else reading.orths
    strings = doc.vocab.strings
    return [
        Name(int(at[name.start]), int(at[name.end - 1]) + 1, name.label)
        for name in names
        if any(any(map(str.isalnum, strings[o])) for o in orths[name.start : name.end].tolist())
    ]


def _allowed(example: Example, labels: Sequence[str]) -> Bools:
    """Which tags each word may have: the one it has, or any where that is not said."""
    tags = _gold_tags(example, labels)
    allowed = np.zeros((len(tags), 4 * len(labels) + 1), dtype=bool)
    allowed[np.arange(len(tags)), tags] = True
    allowed[tags < 0] = True
    return allowed


def _gold_tags(example: Example, labels: Sequence[str]) -> Ints:
    """The tag of each word, -1 where it is not known."""
    given = example.reference
    if not np.array_equal(given.to_array([ORTH]), example.predicted.to_array([ORTH])):
        known = {"O": 0}
        for number, label in enumerate(labels):
            known |= {f"{kind}-{label}": 4 * number + i for i, kind in enumerate("BILU", start=1)}
        aligned = example.get_aligned_ner()
        return np.array([known.get(tag or "", -1) for tag in aligned], dtype=np.intp)
    iob, types = given.to_array([ENT_IOB]), given.to_array([ENT_TYPE])
    goes_on = np.append(iob[1:] == 1, False)
    kind = np.where(iob == 3, np.where(goes_on, 1, 4), np.where(goes_on, 2, 3))
    tags = np.full(len(iob), -1, dtype=np.intp)
    for number, label in enumerate(labels):
        own = (types == given.vocab.strings[label]) & (iob % 2 == 1)
        tags[own] = 4 * number + kind[own]
    tags[iob == 2] = 0
    return tags


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


DEFAULT_MODEL = {
    "@architectures": "textrank.NameTags.v1",
    "tok2vec": {
        "@architectures": "spacy.Tok2VecListener.v1",
        "width": 96,
        "upstream": "*",
    },
}


@Language.factory(
    "textrank_genes",
    assigns=["doc.spans"],
    default_config={"model": DEFAULT_MODEL, "key": KEY, "narrow": False},
    default_score_weights={"genes_f": 1.0, "genes_p": 0.0, "genes_r": 0.0},
)
def make_genes(nlp: Language, name: str, model: Network, key: str, narrow: bool) -> GeneRecognizer:
    """What the factory of this name gives."""
    scorer = score_genes if key == KEY else None  # a second group would report over the first
    return GeneRecognizer(nlp.vocab, model, name, scorer=scorer, key=key, narrow=narrow)


@Language.factory(
    "textrank_names",
    assigns=["doc.ents", "token.ent_iob", "token.ent_type"],
    default_config={"model": DEFAULT_MODEL, "scorer": {"@scorers": "spacy.ner_scorer.v1"}},
    default_score_weights={"ents_f": 1.0, "ents_p": 0.0, "ents_r": 0.0, "ents_per_type": None},
)
def make_names(
    nlp: Language, name: str, model: Network, scorer: Callable[..., Any] | None
) -> NameRecognizer:
    """What the factory of this name gives."""
    return NameRecognizer(nlp.vocab, model, name, scorer=scorer)
