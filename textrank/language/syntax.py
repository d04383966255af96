"""spaCy's networks, tagger and parser, shown words alone: no white space, no markup.

Each works on the words of a Doc without the tokens that are none, and its answers go back to the
Doc as it is. Tagger, parser and the network they share see one sentence at a time, as a text of its
own: the analysis of a sentence depends neither on its neighbours nor on which others are analysed
with it. Sentences are those that are known when a component runs; a Doc without any is one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, cast

import numpy as np
from spacy.attrs import DEP, HEAD, NORM, ORTH, SENT_START, SPACY, TAG
from spacy.language import Language
from spacy.pipeline import DependencyParser, Tagger, Tok2Vec
from spacy.pipeline.dep_parser import (  # type: ignore[import-not-found]  # compiled
    DEFAULT_PARSER_MODEL,
)
from spacy.pipeline.tagger import DEFAULT_TAGGER_MODEL  # type: ignore[import-not-found]
from spacy.pipeline.tok2vec import DEFAULT_TOK2VEC_MODEL, Tok2VecListener
from spacy.tokens import Doc
from spacy.util import minibatch
from spacy.vocab import Vocab

from textrank.language._encoder import CachedTok2Vec, hash_words, single_thread_blas
from textrank.language._ner_network import get_forward
from textrank.language._parser import (
    N_STATE_WORDS,
    ArcArrays,
    ParserNetwork,
    longest_sentence,
    parse_ensemble,
    parse_sentences,
)
from textrank.language.alignment import (
    NormalizedWords,
    normalize_words,
    set_parse,
    set_space_tags,
    strip_non_words,
    to_tokens,
)


class WordTok2Vec(Tok2Vec):
    """A network over words in context; tokens that are no words get zeros.

    ``spelt`` words are in plain letters (``beta1``), as the corpora of names have them. The context
    of a spelt word is the whole text, in which names are looked for; that of others their sentence.
    """

    any_length = True  # memory is bounded for Docs of any length

    def __init__(self, vocab: Vocab, model: Any, name: str = "tok2vec", *, spelt: bool) -> None:
        super().__init__(vocab, model, name)
        self.spelt = spelt
        self._of_model: Any = None
        self._words: CachedTok2Vec | None = None

    def predict(self, docs: Iterable[Doc]) -> list[Any]:
        """The vectors of the tokens of each Doc."""
        docs = list(docs)
        readings = [normalize_words(doc, transliterate=self.spelt) for doc in docs]
        found: list[Any] = []
        with single_thread_blas():
            for part in _parts(docs):
                found += self._of_words(docs[part], readings[part])
        return [to_tokens(*one) for one in zip(docs, readings, found, strict=True)]

    def _of_words(self, docs: list[Doc], readings: Sequence[NormalizedWords | None]) -> list[Any]:
        if not any(map(len, docs)):
            return cast(list[Any], super().predict(docs))
        if (names := get_forward(self.model)) is not None:
            return names.predict(self.model, docs, readings)
        if (network := self._network()) is not None:
            return self._by_sentence(network, docs, readings)
        if self.spelt:
            return cast(
                list[Any],
                super().predict([strip_non_words(doc, transliterate=True) for doc in docs]),
            )
        units = [split_sentences(doc) for doc in docs]
        found = iter(super().predict([unit for own in units for unit in own]))
        return [np.concatenate([next(found) for _ in own]) for own in units]

    def _by_sentence(
        self,
        network: CachedTok2Vec,
        docs: Sequence[Doc],
        readings: Sequence[NormalizedWords | None],
    ) -> list[Any]:
        """Vectors of the words of each Doc, every sentence a text for the network."""
        both = list(zip(docs, readings, strict=True))
        forms = [hash_words(*one) for one in both]
        bounds = [[] if self.spelt else _inner_starts(*one) for one in both]
        parts = [part for own, at in zip(forms, bounds, strict=True) for part in np.split(own, at)]
        vectors = np.concatenate(network(parts, docs[0].vocab))
        return np.split(vectors, np.cumsum([len(own) for own in forms])[:-1])

    def _network(self) -> CachedTok2Vec | None:
        if self._of_model is not self.model:  # spaCy may put another model here
            self._of_model = self.model
            self._words = CachedTok2Vec.of(self.model)
        return self._words


class WordTagger(Tagger):  # type: ignore[misc]
    """spaCy's tagger of words; the others get the tag of white space."""

    any_length = True

    def predict(self, docs: Iterable[Doc]) -> Any:
        """Tags of the tokens of each Doc, by number."""
        docs = list(docs)
        if uses_listener(self.model):  # what was said of a token depends on no other
            return super().predict(docs)
        units = [split_sentences(doc) for doc in docs]
        found = iter(super().predict([unit for own in units for unit in own]))
        tags = [np.concatenate([next(found) for _ in own]) for own in units]
        readings = [normalize_words(doc) for doc in docs]
        return [to_tokens(*one) for one in zip(docs, readings, tags, strict=True)]

    def set_annotations(self, docs: Sequence[Doc], tags: Any) -> None:
        """Sets the tags."""
        super().set_annotations(docs, tags)
        for doc in docs:
            set_space_tags(doc)


class _Given(NamedTuple):
    """Docs with how their words are read and where their sentences begin."""

    docs: list[Doc]
    readings: list[NormalizedWords | None]
    starts: Any  # of all words
    lengths: list[int]

    @classmethod
    def of(cls, docs: Sequence[Doc]) -> _Given:
        readings = [normalize_words(doc) for doc in docs]
        starts = [_starts(*one) for one in zip(docs, readings, strict=True)]
        together = np.concatenate([_NONE, *starts])
        return cls(list(docs), readings, together, [len(own) for own in starts])

    def parts(self, whole: ArcArrays) -> list[ArcArrays]:
        """The tree of each Doc."""
        ends = np.cumsum(self.lengths).tolist()
        return [whole.part(e - size, e) for size, e in zip(self.lengths, ends, strict=True)]


class WordParser(DependencyParser):  # type: ignore[misc]
    """spaCy's parser of words; the others hang on the word before them."""

    any_length = True

    def pipe(self, docs: Iterable[Doc], *, batch_size: int = 256) -> Iterator[Doc]:
        """Parses Docs, those of a batch together."""
        for batch in minibatch(docs, size=batch_size):  # type: ignore[no-untyped-call]
            try:
                self.set_annotations(batch, self.predict(batch))
                yield from batch
            except Exception as error:  # as spaCy's own: the handler decides
                self.get_error_handler()(self.name, self, batch, error)

    def predict(self, docs: Any) -> Any:
        """The trees of the words of each Doc."""
        docs = [docs] if isinstance(docs, Doc) else list(docs)
        given = _Given.of(docs)
        if self.cfg["beam_width"] != 1 or not self._side_by_side(given.starts, given.lengths):
            return self._one_by_one(docs)
        with single_thread_blas():
            network, vectors = self._seen(given)
            return given.parts(parse_sentences(network, vectors, given.starts, given.lengths))

    def _one_by_one(self, docs: Sequence[Doc]) -> list[ArcArrays]:
        """The trees of the words of each Doc, found by spaCy's own code."""
        units = [split_sentences(doc) for doc in docs]
        every = [unit for own in units for unit in own]
        found = super().predict(every)
        if self.cfg["beam_width"] == 1:
            trees = iter([_tree(s, len(unit)) for s, unit in zip(found, every, strict=True)])
        else:
            copies = [unit.copy() for unit in every]
            super().set_annotations(copies, found)
            trees = iter([_given(unit) for unit in copies])
        return [_joined([next(trees) for _ in own]) for own in units]

    def predict_ensemble(self, docs: Sequence[Doc], copies: Sequence[Any]) -> list[list[Any]]:
        """What copies of the parser find, given by other weights of its network."""
        given = _Given.of(docs)
        known = self.cfg["beam_width"] == 1 and (given.starts != 0).all()
        pays = self._side_by_side(given.starts, given.lengths, len(copies))
        if not copies or not known or not pays:
            return [self._predict_with(weights, docs) for weights in copies]
        with single_thread_blas():
            networks, vectors = zip(*self._seen_by(copies, given), strict=True)
            trees = parse_ensemble(networks, vectors, given.starts, given.lengths)
        return [given.parts(tree) for tree in trees]

    def _predict_with(self, weights: Any, docs: Sequence[Doc]) -> list[Any]:
        with self.model.use_params(weights):
            return list(self.predict(docs))

    def _seen_by(self, copies: Sequence[Any], given: _Given) -> Iterator[tuple[ParserNetwork, Any]]:
        """What each copy sees; where they differ in the last layers alone, words look alike."""
        alike = {key for weights in copies for key in weights} <= upper_layer_params(self.model)
        own, vectors = self._seen(given) if alike else (None, None)
        for weights in copies:
            with self.model.use_params(weights):
                yield (own.above(self.model), vectors) if own else self._seen(given)

    def _seen(self, given: _Given) -> tuple[ParserNetwork, Any]:
        """The network as it is now, and what it sees of the words."""
        docs, readings = given.docs, given.readings
        vectors = self.model.get_ref("tok2vec")
        if uses_listener(vectors):
            bounds = np.cumsum([len(doc) for doc in docs])[:-1]
            own = np.split(vectors.predict(docs), bounds)
            rows = [
                x if r is None else x[r.token_indices] for x, r in zip(own, readings, strict=True)
            ]
            found = np.concatenate(rows)
        else:
            units = [unit for doc in docs for unit in split_sentences(doc)]
            found = vectors.predict(units)
        names = [self.moves.get_class_name(n) for n in range(self.moves.n_moves)]
        labels = np.array([self.vocab.strings.add(name[2:]) for name in names], dtype=np.uint64)
        return ParserNetwork.of(self.model, names, labels), found

    def _side_by_side(self, starts: Any, lengths: Sequence[int], copies: int = 1) -> bool:
        """Whether the network is the usual one, and sentences and copies enough that it pays."""
        usual = self.model.attrs.get("has_upper") and not self.model.attrs.get("unseen_classes")
        layers = self.model.layers
        sizes = usual and (layers[1].get_dim("nF"), layers[1].get_dim("nP")) == (N_STATE_WORDS, 2)
        if not sizes or "subtok" in self.labels:
            return False
        return copies * len(starts) > _MIN_BATCH_RATIO * longest_sentence(starts, lengths)

    def set_annotations(self, docs: Sequence[Doc], parses: Any) -> None:
        """Sets heads, labels and sentences."""
        for doc, found in zip(docs, self.deprojectivize(docs, parses), strict=True):
            set_parse(doc, *found)

    def deprojectivize(
        self, docs: Sequence[Doc], trees: Sequence[ArcArrays]
    ) -> Iterator[tuple[Any, Any]]:
        """Heads and labels of the words, arcs that cross others put where their labels say."""
        add = self.vocab.strings.add
        root, lifted = add("ROOT"), {add(name[2:]) for name in self.move_names if "||" in name}
        for doc, tree in zip(docs, trees, strict=True):
            plain = lifted.isdisjoint(tree.labels.tolist())
            own = tree if plain else self._projected(doc, tree)
            yield own.heads, np.where(own.heads == 0, root, own.labels)

    def _projected(self, doc: Doc, tree: ArcArrays) -> ArcArrays:
        words = strip_non_words(doc)
        words = words.copy() if words is doc else words
        set_parse(words, tree.heads, tree.labels)
        for hook in self.postprocesses:
            hook(words)
        return _given(words)


def _parts(docs: Sequence[Doc]) -> Iterator[slice]:
    """Some Docs at a time, as many as keep their words near the processor."""
    first = words = 0
    for n, doc in enumerate(docs):
        if words and words + len(doc) > _TOGETHER:
            yield slice(first, n)
            first, words = n, 0
        words += len(doc)
    yield slice(first, len(docs))


_NONE = np.zeros(0, dtype=np.int64)
_TOGETHER = 8192  # words of the Docs whose vectors are worked out together
_MIN_BATCH_RATIO = (
    16  # as many words as the longest sentence times this are parsed faster side by side
)


def uses_listener(model: Any) -> bool:
    """Whether a network takes the vectors of words from Docs, where another left them."""
    return any(isinstance(node, Tok2VecListener) for node in model.walk())


def upper_layer_params(model: Any) -> set[tuple[int, str]]:
    """The weights of a parser behind what words look like: those that score, and the bias there."""
    lower, *upper = model.layers[1:]
    return {(lower.id, "b"), *((node.id, name) for node in upper for name in node.param_names)}


def _starts(doc: Doc, reading: NormalizedWords | None) -> Any:
    starts = doc.to_array([SENT_START]).astype(np.int64)
    return starts if reading is None else starts[reading.token_indices]


def _inner_starts(doc: Doc, reading: NormalizedWords | None) -> Any:
    """Return the words, but for the first, at which a sentence is known to begin."""
    return np.flatnonzero(_starts(doc, reading)[1:] == 1) + 1


def split_sentences(doc: Doc) -> list[Doc]:
    """Return the sentences of a Doc, so far as they are known, as Docs of words.

    Each has the tags, vectors and sentence starts that its words have in the Doc.
    """
    words = strip_non_words(doc)
    inner = _inner_starts(words, None).tolist()
    if not inner:
        return [words]
    columns: Any = [ORTH, SPACY, NORM, TAG, SENT_START]
    table: Any = words.to_array(columns)
    strings = doc.vocab.strings
    texts = [strings[orth] for orth in table[:, 0].tolist()]
    spaces = (table[:, 1] == 1).tolist()
    found = []
    for start, end in pairwise([0, *inner, len(words)]):
        unit = Doc(doc.vocab, words=texts[start:end], spaces=spaces[start:end])
        unit.from_array(columns[2:], table[start:end, 2:])
        if words.tensor.size:
            unit.tensor = words.tensor[start:end]
        found.append(unit)
    return found


def _joined(trees: Sequence[ArcArrays]) -> ArcArrays:
    """Join the trees of sentences to that of their Doc."""
    if len(trees) == 1:
        return trees[0]
    heads = np.concatenate([tree.heads for tree in trees])
    return ArcArrays(heads, np.concatenate([tree.labels for tree in trees]))


def _tree(state: Any, length: int) -> ArcArrays:
    heads, labels = np.zeros(length, dtype=np.int64), np.zeros(length, dtype=np.uint64)
    for arc in state.arcs:
        heads[arc["child"]], labels[arc["child"]] = arc["head"] - arc["child"], arc["label"]
    return ArcArrays(heads, labels)


def _given(doc: Doc) -> ArcArrays:
    rows: Any = doc.to_array([HEAD, DEP]).reshape(-1, 2)
    return ArcArrays(rows[:, 0].astype(np.int64), rows[:, 1])


@Language.factory(
    "textrank_tok2vec",
    assigns=["doc.tensor"],
    default_config={"model": DEFAULT_TOK2VEC_MODEL, "spelt": False},
)
def make_tok2vec(nlp: Language, name: str, model: Any, spelt: bool) -> WordTok2Vec:
    """What the factory of this name gives."""
    return WordTok2Vec(nlp.vocab, model, name, spelt=spelt)


@Language.factory(
    "textrank_tagger",
    assigns=["token.tag"],
    default_config={
        "model": DEFAULT_TAGGER_MODEL,
        "overwrite": False,
        "scorer": {"@scorers": "spacy.tagger_scorer.v1"},
        "neg_prefix": "!",
        "label_smoothing": 0.0,
    },
    default_score_weights={"tag_acc": 1.0, "pos_acc": 0.0},
)
def make_tagger(
    nlp: Language,
    name: str,
    model: Any,
    overwrite: bool,
    scorer: Callable[..., Any] | None,
    neg_prefix: str,
    label_smoothing: float,
) -> WordTagger:
    """What the factory of this name gives."""
    return WordTagger(
        nlp.vocab,
        model,
        name=name,
        overwrite=overwrite,
        scorer=scorer,
        neg_prefix=neg_prefix,
        label_smoothing=label_smoothing,
    )


@Language.factory(
    "textrank_parser",
    assigns=["token.dep", "token.head", "token.is_sent_start", "doc.sents"],
    default_config={
        "model": DEFAULT_PARSER_MODEL,
        "moves": None,
        "update_with_oracle_cut_size": 100,
        "learn_tokens": False,
        "min_action_freq": 30,
        "scorer": {"@scorers": "spacy.parser_scorer.v1"},
    },
    default_score_weights={"dep_uas": 0.5, "dep_las": 0.5, "sents_f": 0.0},
)
def make_parser(
    nlp: Language,
    name: str,
    model: Any,
    moves: list[Any] | None,
    update_with_oracle_cut_size: int,
    learn_tokens: bool,
    min_action_freq: int,
    scorer: Callable[..., Any] | None,
) -> WordParser:
    """What the factory of this name gives."""
    return WordParser(
        nlp.vocab,
        model,
        name=name,
        moves=moves,
        update_with_oracle_cut_size=update_with_oracle_cut_size,
        learn_tokens=learn_tokens,
        min_action_freq=min_action_freq,
        scorer=scorer,
    )
