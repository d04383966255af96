"""spaCy's networks, tagger and parser, shown words alone: no white space, no markup.

Each works on the words of a Doc without the tokens that are none, and its answers go back to the
Doc as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, cast

import numpy as np
from spacy.attrs import DEP, HEAD, SENT_START
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

from textrank.language.arc_eager import FEATURES, Network, Tree, longest_sentence, parse
from textrank.language.copies import parse_copies
from textrank.language.embedding import WordNetwork, forms_of
from textrank.language.name_network import forward_of
from textrank.language.products import one_thread
from textrank.text.words import Reading, bare, give_parse, give_space_tags, reading_of, spread


class WordsToVectors(Tok2Vec):
    """A network over words in context; tokens that are no words get zeros.

    ``spelt`` words are in plain letters (``beta1``), as the corpora of names have them.
    """

    def __init__(self, vocab: Vocab, model: Any, name: str = "tok2vec", *, spelt: bool) -> None:
        super().__init__(vocab, model, name)
        self.spelt = spelt
        self._of_model: Any = None
        self._words: WordNetwork | None = None

    def predict(self, docs: Iterable[Doc]) -> list[Any]:
        """The vectors of the tokens of each Doc."""
        docs = list(docs)
        readings = [reading_of(doc, spelt=self.spelt) for doc in docs]
        found: list[Any] = []
        with one_thread():
            for part in _parts(docs):
                found += self._of_words(docs[part], readings[part])
        return [spread(*one) for one in zip(docs, readings, found, strict=True)]

    def _of_words(self, docs: list[Doc], readings: Sequence[Reading | None]) -> list[Any]:
        if not any(map(len, docs)):
            return cast(list[Any], super().predict(docs))
        if (names := forward_of(self.model)) is not None:
            return names.predict(self.model, docs, readings)
        if (network := self._network()) is not None:
            forms = [forms_of(*one) for one in zip(docs, readings, strict=True)]
            return network(forms, docs[0].vocab)
        return cast(list[Any], super().predict([bare(doc, spelt=self.spelt) for doc in docs]))

    def _network(self) -> WordNetwork | None:
        if self._of_model is not self.model:  # spaCy may put another model here
            self._of_model = self.model
            self._words = WordNetwork.of(self.model)
        return self._words


class WordTagger(Tagger):  # type: ignore[misc]
    """spaCy's tagger of words; the others get the tag of white space."""

    def predict(self, docs: Iterable[Doc]) -> Any:
        """Tags of the tokens of each Doc, by number."""
        docs = list(docs)
        if listens(self.model):  # what was said of a token depends on no other
            return super().predict(docs)
        readings = [reading_of(doc) for doc in docs]
        tags = super().predict([bare(doc) for doc in docs])
        return [spread(*one) for one in zip(docs, readings, tags, strict=True)]

    def set_annotations(self, docs: Sequence[Doc], tags: Any) -> None:
        """Sets the tags."""
        super().set_annotations(docs, tags)
        for doc in docs:
            give_space_tags(doc)


class _Given(NamedTuple):
    """Docs with how their words are read and where their sentences begin."""

    docs: list[Doc]
    readings: list[Reading | None]
    starts: Any  # of all words
    lengths: list[int]

    @classmethod
    def of(cls, docs: Sequence[Doc]) -> _Given:
        readings = [reading_of(doc) for doc in docs]
        starts = [_starts(*one) for one in zip(docs, readings, strict=True)]
        together = np.concatenate([_NONE, *starts])
        return cls(list(docs), readings, together, [len(own) for own in starts])

    def parts(self, whole: Tree) -> list[Tree]:
        """The tree of each Doc."""
        ends = np.cumsum(self.lengths).tolist()
        return [whole.part(e - size, e) for size, e in zip(self.lengths, ends, strict=True)]


class WordParser(DependencyParser):  # type: ignore[misc]
    """spaCy's parser of words; the others hang on the word before them."""

    def pipe(self, docs: Iterable[Doc], *, batch_size: int = 256) -> Iterator[Doc]:
        """Parses Docs, those of a batch together."""
        for batch in minibatch(docs, size=batch_size):  # type: ignore[no-untyped-call]
            try:
                self.set_annotations(batch, self.predict(batch))
                yield from batch
            except Exception as error:  # as spaCy's own: the handler decides
                self.get_error_handler()(self.name, self, batch, error)

    def predict(self, docs: Any) -> Any:
        """The trees of the words, or what a beam found."""
        docs = [docs] if isinstance(docs, Doc) else list(docs)
        if self.cfg["beam_width"] != 1:
            return super().predict([bare(doc) for doc in docs])
        given = _Given.of(docs)
        if not self._side_by_side(given.starts, given.lengths):
            words = [bare(doc) for doc in docs]
            states = super().predict(words)
            return [_tree(s, len(own)) for s, own in zip(states, words, strict=True)]
        with one_thread():
            network, vectors = self._seen(given)
            return given.parts(parse(network, vectors, given.starts, given.lengths))

    def predict_copies(self, docs: Sequence[Doc], copies: Sequence[Any]) -> list[list[Any]]:
        """What copies of the parser find, given by other weights of its network."""
        given = _Given.of(docs)
        known = self.cfg["beam_width"] == 1 and (given.starts != 0).all()
        pays = self._side_by_side(given.starts, given.lengths, len(copies))
        if not copies or not known or not pays:
            return [self._predict_with(weights, docs) for weights in copies]
        with one_thread():
            networks, vectors = zip(*self._seen_by(copies, given), strict=True)
            trees = parse_copies(networks, vectors, given.starts, given.lengths)
        return [given.parts(tree) for tree in trees]

    def _predict_with(self, weights: Any, docs: Sequence[Doc]) -> list[Any]:
        with self.model.use_params(weights):
            return list(self.predict(docs))

    def _seen_by(self, copies: Sequence[Any], given: _Given) -> Iterator[tuple[Network, Any]]:
        """What each copy sees; where they differ in the last layers alone, words look alike."""
        alike = {key for weights in copies for key in weights} <= last_layers(self.model)
        own, vectors = self._seen(given) if alike else (None, None)
        for weights in copies:
            with self.model.use_params(weights):
                yield (own.above(self.model), vectors) if own else self._seen(given)

    def _seen(self, given: _Given) -> tuple[Network, Any]:
        """The network as it is now, and what it sees of the words."""
        docs, readings = given.docs, given.readings
        vectors = self.model.get_ref("tok2vec")
        if listens(vectors):
            bounds = np.cumsum([len(doc) for doc in docs])[:-1]
            own = np.split(vectors.predict(docs), bounds)
            rows = [x if r is None else x[r.kept] for x, r in zip(own, readings, strict=True)]
            found = np.concatenate(rows)
        else:
            found = vectors.predict([bare(doc) for doc in docs])
        names = [self.moves.get_class_name(n) for n in range(self.moves.n_moves)]
        labels = np.array([self.vocab.strings.add(name[2:]) for name in names], dtype=np.uint64)
        return Network.of(self.model, names, labels), found

    def _side_by_side(self, starts: Any, lengths: Sequence[int], copies: int = 1) -> bool:
        """Whether the network is the usual one, and sentences and copies enough that it pays."""
        usual = self.model.attrs.get("has_upper") and not self.model.attrs.get("unseen_classes")
        layers = self.model.layers
        sizes = usual and (layers[1].get_dim("nF"), layers[1].get_dim("nP")) == (FEATURES, 2)
        if not sizes or "subtok" in self.labels:
            return False
        return copies * len(starts) > _PAYS * longest_sentence(starts, lengths)

    def set_annotations(self, docs: Sequence[Doc], parses: Any) -> None:
        """Sets heads, labels and sentences."""
        trees = parses
        if self.cfg["beam_width"] != 1:
            words = [bare(doc) for doc in docs]
            super().set_annotations(words, parses)
            trees = [_given(own) for own in words]
        for doc, found in zip(docs, self.finished(docs, trees), strict=True):
            give_parse(doc, *found)

    def finished(self, docs: Sequence[Doc], trees: Sequence[Tree]) -> Iterator[tuple[Any, Any]]:
        """Heads and labels of the words, arcs that cross others put where their labels say."""
        add = self.vocab.strings.add
        root, lifted = add("ROOT"), {add(name[2:]) for name in self.move_names if "||" in name}
        for doc, tree in zip(docs, trees, strict=True):
            plain = lifted.isdisjoint(tree.labels.tolist())
            own = tree if plain else self._projected(doc, tree)
            yield own.heads, np.where(own.heads == 0, root, own.labels)

    def _projected(self, doc: Doc, tree: Tree) -> Tree:
        words = bare(doc)
        words = words.copy() if words is doc else words
        give_parse(words, tree.heads, tree.labels)
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
_PAYS = 16  # as many words as the longest sentence times this are parsed faster side by side


def listens(model: Any) -> bool:
    """Whether a network takes the vectors of words from Docs, where another left them."""
    return any(isinstance(node, Tok2VecListener) for node in model.walk())


def last_layers(model: Any) -> set[tuple[int, str]]:
    """The weights of a parser behind what words look like: those that score, and the bias there."""
    lower, *upper = model.layers[1:]
    return {(lower.id, "b"), *((node.id, name) for node in upper for name in node.param_names)}


def _starts(doc: Doc, reading: Reading | None) -> Any:
    starts = doc.to_array([SENT_START]).astype(np.int64)
    return starts if reading is None else starts[reading.kept]


def _tree(state: Any, length: int) -> Tree:
    heads, labels = np.zeros(length, dtype=np.int64), np.zeros(length, dtype=np.uint64)
    for arc in state.arcs:
        heads[arc["child"]], labels[arc["child"]] = arc["head"] - arc["child"], arc["label"]
    return Tree(heads, labels)


def _given(doc: Doc) -> Tree:
    rows: Any = doc.to_array([HEAD, DEP]).reshape(-1, 2)
    return Tree(rows[:, 0].astype(np.int64), rows[:, 1])


@Language.factory(
    "textrank_tok2vec",
    assigns=["doc.tensor"],
    default_config={"model": DEFAULT_TOK2VEC_MODEL, "spelt": False},
)
def make_tok2vec(nlp: Language, name: str, model: Any, spelt: bool) -> WordsToVectors:
    """What the factory of this name gives."""
    return WordsToVectors(nlp.vocab, model, name, spelt=spelt)


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
