"""spaCy's networks, tagger and parser, shown words alone: no white space, no markup.

Each works on the words of a Doc without the tokens that are none, and its answers go back to the
Doc as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, cast

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
        readings = [reading_of(doc) for doc in docs]
        starts = [_starts(*one) for one in zip(docs, readings, strict=True)]
        lengths, together = [len(own) for own in starts], np.concatenate([_NONE, *starts])
        if not self._side_by_side(together, lengths):
            words = [bare(doc) for doc in docs]
            states = super().predict(words)
            return [_tree(s, len(own)) for s, own in zip(states, words, strict=True)]
        with one_thread():
            return self._trees(docs, readings, together, lengths)

    def _trees(self, docs: list[Doc], readings: Any, starts: Any, lengths: list[int]) -> list[Tree]:
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
        whole = parse(Network.of(self.model, names, labels), found, starts, lengths)
        ends = np.cumsum(lengths).tolist()
        return [whole.part(end - size, end) for size, end in zip(lengths, ends, strict=True)]

    def _side_by_side(self, starts: Any, lengths: Sequence[int]) -> bool:
        """Whether the network is the usual one, and sentences enough that it pays."""
        usual = self.model.attrs.get("has_upper") and not self.model.attrs.get("unseen_classes")
        layers = self.model.layers
        sizes = usual and (layers[1].get_dim("nF"), layers[1].get_dim("nP")) == (FEATURES, 2)
        if not sizes or "subtok" in self.labels:
            return False
        return len(starts) > _PAYS * longest_sentence(starts, lengths)

    def set_annotations(self, docs: Sequence[Doc], parses: Any) -> None:
        """Sets heads, labels and sentences."""
        trees = parses
        if self.cfg["beam_width"] != 1:
            words = [bare(doc) for doc in docs]
            super().set_annotations(words, parses)
            trees = [_given(own) for own in words]
        root = self.vocab.strings.add("ROOT")
        for doc, tree in zip(docs, trees, strict=True):
            heads, labels = self._finished(doc, tree)
            give_parse(doc, heads, np.where(heads == 0, root, labels))

    def _finished(self, doc: Doc, tree: Tree) -> tuple[Any, Any]:
        """Heads and labels, arcs that cross others put where their labels say."""
        kinds = set(tree.labels.tolist()) - {0}
        if not any("||" in self.vocab.strings[label] for label in kinds):
            return tree.heads, tree.labels
        words = bare(doc)
        words = words.copy() if words is doc else words
        give_parse(words, tree.heads, tree.labels)
        for hook in self.postprocesses:
            hook(words)
        own = _given(words)
        return own.heads, own.labels


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
