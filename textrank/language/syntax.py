"""Tok2vec, tagger and parser of spaCy, restricted to words and to one sentence at a time.

Each component works on the words of a Doc without white space and markup (see
``textrank.language.normalization``) and writes its result back to all tokens. Tagger, parser and
the network they share treat each sentence as a text of its own, so that its analysis depends
neither on its neighbours nor on the batch. Sentences are those marked when the component runs; a
Doc without marks is one sentence. Standard networks run through fast NumPy code, others through
spaCy's own code, with the same result.

The parser in NumPy is that of ``spacy.pipeline._parser_internals.arc_eager``, greedy, with the same
transitions and the same results. All sentences of a batch make their next transition together as
one set of array operations; sentences of similar length are batched, so that few finished ones
wait. ``parse_sentences`` parses with one network, ``parse_ensemble`` with several at once. A state
is described by eight words: the first two of the buffer, the top three of the stack, the last left
child of the buffer front and of the stack top, and the last right child of the stack top. Indices
of words are positions within a batch. A *class* is a transition with its arc label, such as
``"L-nsubj"``; the network scores classes. In shapes ``width`` is the length of a word vector,
``hidden`` that of the hidden layer and ``pieces`` the number of maxout pieces.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
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
from textrank.language.normalization import (
    NormalizedWords,
    normalize_words,
    set_parse,
    set_space_tags,
    strip_non_words,
    to_tokens,
)

_NO_WORDS = np.zeros(0, dtype=np.int64)
_MAX_BATCH_TOKENS = 8192  # so that the vectors of a batch stay in the processor's cache
# The fast parser pays if the batch has more words than this many times its longest sentence.
_MIN_BATCH_RATIO = 16


def _batch_docs(docs: Sequence[Doc]) -> Iterator[slice]:
    """Yield slices that divide Docs into batches, in order.

    A batch has at most ``_MAX_BATCH_TOKENS`` tokens, or is a single longer Doc. Without Docs, one
    empty slice is yielded.
    """
    first = n_tokens = 0
    for n, doc in enumerate(docs):
        if n_tokens and n_tokens + len(doc) > _MAX_BATCH_TOKENS:
            yield slice(first, n)
            first, n_tokens = n, 0
        n_tokens += len(doc)
    yield slice(first, len(docs))


class WordTok2Vec(Tok2Vec):
    """spaCy's Tok2Vec on words: a vector per token, zeros for tokens that are not words.

    Parameters
    ----------
    spelt
        Whether to transliterate words (``beta1``), as in the corpora of entity names. The context
        of a word is then the whole text, as entity recognition needs it; otherwise it is the
        sentence.
    """

    any_length = True  # memory is bounded whatever the length of the Doc

    def __init__(self, vocab: Vocab, model: Any, name: str = "tok2vec", *, spelt: bool) -> None:
        """Create the component for a network; ``spelt`` is described with the class."""
        super().__init__(vocab, model, name)
        self.spelt = spelt
        self._cached_model: Any = None
        self._network: CachedTok2Vec | None = None

    def predict(self, docs: Iterable[Doc]) -> list[Any]:
        """Return the (tokens, width) vectors of each Doc, in order; rows of non-words are zero."""
        docs = list(docs)
        normalized = [normalize_words(doc, transliterate=self.spelt) for doc in docs]
        vectors: list[Any] = []
        with single_thread_blas():
            for batch in _batch_docs(docs):
                vectors += self._predict_words(docs[batch], normalized[batch])
        return [to_tokens(*one) for one in zip(docs, normalized, vectors, strict=True)]

    def _predict_words(
        self, docs: list[Doc], normalized: Sequence[NormalizedWords | None]
    ) -> list[Any]:
        """Return the (words, width) vectors of each Doc, by the fastest supported code.

        ``normalized`` holds the words of each Doc, or None for a Doc whose tokens are all words.
        Tried are the network's own forward pass (``get_forward``), which processes whole Docs, then
        the cached network (``CachedTok2Vec``), then spaCy's code, both sentence by sentence unless
        ``spelt``.
        """
        if not any(map(len, docs)):
            return cast(list[Any], super().predict(docs))
        if (forward := get_forward(self.model)) is not None:
            return forward.predict(self.model, docs, normalized)
        if (network := self._get_network()) is not None:
            return self._predict_sentences(network, docs, normalized)
        if self.spelt:
            return cast(
                list[Any],
                super().predict([strip_non_words(doc, transliterate=True) for doc in docs]),
            )
        sentences = [split_sentences(doc) for doc in docs]
        vectors = iter(
            super().predict([sentence for doc_sentences in sentences for sentence in doc_sentences])
        )
        return [
            np.concatenate([next(vectors) for _ in doc_sentences]) for doc_sentences in sentences
        ]

    def _predict_sentences(
        self,
        network: CachedTok2Vec,
        docs: Sequence[Doc],
        normalized: Sequence[NormalizedWords | None],
    ) -> list[Any]:
        """Return the (words, width) vectors of each Doc from the cached network.

        Each sentence is a text of its own, unless ``spelt``; then each Doc is. ``normalized`` holds
        the words of each Doc, or None for a Doc whose tokens are all words. ``docs`` must not be
        empty.
        """
        docs_and_words = list(zip(docs, normalized, strict=True))
        word_hashes = [hash_words(*one) for one in docs_and_words]
        bounds = [[] if self.spelt else _inner_starts(*one) for one in docs_and_words]
        sentences = [
            sentence
            for doc_hashes, starts in zip(word_hashes, bounds, strict=True)
            for sentence in np.split(doc_hashes, starts)
        ]
        vectors = np.concatenate(network(sentences, docs[0].vocab))
        return np.split(vectors, np.cumsum([len(doc_hashes) for doc_hashes in word_hashes])[:-1])

    def _get_network(self) -> CachedTok2Vec | None:
        """Return the fast version of the current network, or None if it is not supported.

        It is built again when ``model`` is replaced by another object; the fast version itself
        notices changed parameters.
        """
        if self._cached_model is not self.model:  # spaCy may replace the model
            self._cached_model = self.model
            self._network = CachedTok2Vec.from_model(self.model)
        return self._network


class WordTagger(Tagger):  # type: ignore[misc]
    """spaCy's tagger on words; other tokens get the tag of white space, ``_SP``."""

    any_length = True

    def predict(self, docs: Iterable[Doc]) -> Any:
        """Return the tag numbers of the tokens of each Doc, as arrays of shape (tokens,).

        A number is an index into ``labels``. Without a listener, each sentence is tagged as a text
        of its own, and tokens that are not words get number 0 (``set_annotations`` gives them the
        tag ``_SP``).
        """
        docs = list(docs)
        if uses_listener(self.model):  # then each token is tagged from its own vector
            return super().predict(docs)
        sentences = [split_sentences(doc) for doc in docs]
        sentence_tags = iter(
            super().predict([sentence for doc_sentences in sentences for sentence in doc_sentences])
        )
        tags = [
            np.concatenate([next(sentence_tags) for _ in doc_sentences])
            for doc_sentences in sentences
        ]
        normalized = [normalize_words(doc) for doc in docs]
        return [to_tokens(*one) for one in zip(docs, normalized, tags, strict=True)]

    def set_annotations(self, docs: Sequence[Doc], tags: Any) -> None:
        """Set the tags of the Docs in place; tokens that are not words get ``_SP``.

        ``tags`` is the result of ``predict``, a number for each token. As in spaCy, a word that has
        a tag already keeps it unless the setting ``overwrite`` is true.
        """
        super().set_annotations(docs, tags)
        for doc in docs:
            set_space_tags(doc)


class _ParserBatch(NamedTuple):
    """Docs with their normalised words and the known sentence boundaries."""

    docs: list[Doc]
    normalized: list[NormalizedWords | None]
    starts: Any  # SENT_START of the words of all Docs: 1 begins a sentence, -1 does not, 0 open
    lengths: list[int]  # words of each Doc

    @classmethod
    def from_docs(cls, docs: Sequence[Doc]) -> _ParserBatch:
        """Collect the words and sentence boundaries of Docs, which are not changed."""
        normalized = [normalize_words(doc) for doc in docs]
        starts = [_word_starts(*one) for one in zip(docs, normalized, strict=True)]
        all_starts = np.concatenate([_NO_WORDS, *starts])
        return cls(list(docs), normalized, all_starts, [len(doc_starts) for doc_starts in starts])

    def split_by_doc(self, arcs: ArcArrays) -> list[ArcArrays]:
        """Split the arcs of all words of the batch into those of each Doc, in order."""
        ends = np.cumsum(self.lengths).tolist()
        return [arcs.slice(e - size, e) for size, e in zip(self.lengths, ends, strict=True)]


class WordParser(DependencyParser):  # type: ignore[misc]
    """spaCy's dependency parser on words; other tokens are attached to the word before them.

    Greedy parsers of standard size parse the sentences of a batch side by side if there are enough
    of them (``_can_batch``); otherwise spaCy's own code runs. Both give the same arcs.
    """

    any_length = True

    def pipe(self, docs: Iterable[Doc], *, batch_size: int = 256) -> Iterator[Doc]:
        """Parse Docs in place in batches and yield them in order.

        If parsing a batch raises, the whole batch is passed to the error handler and left out.
        """
        for batch in minibatch(docs, size=batch_size):  # type: ignore[no-untyped-call]
            try:
                self.set_annotations(batch, self.predict(batch))
                yield from batch
            except Exception as error:  # the handler decides, as in spaCy
                self.get_error_handler()(self.name, self, batch, error)

    def predict(self, docs: Any) -> Any:
        """Return the arcs of the words of each Doc.

        There is one ``ArcArrays`` (relative heads, labels) per Doc. ``docs`` is a Doc or several,
        which are not changed. Arcs that were lifted to make the tree projective are still lifted
        (``deprojectivize`` moves them back), except with a beam.
        """
        docs = [docs] if isinstance(docs, Doc) else list(docs)
        batch = _ParserBatch.from_docs(docs)
        if self.cfg["beam_width"] != 1 or not self._can_batch(batch.starts, batch.lengths):
            return self._predict_one_by_one(docs)
        with single_thread_blas():
            network, vectors = self._network_inputs(batch)
            return batch.split_by_doc(
                parse_sentences(network, vectors, batch.starts, batch.lengths)
            )

    def _predict_one_by_one(self, docs: Sequence[Doc]) -> list[ArcArrays]:
        """Return the arcs of the words of each Doc by spaCy's own code, sentence by sentence.

        With a beam, the arcs are final: spaCy has moved lifted ones already. The Docs are not
        changed.
        """
        sentences = [split_sentences(doc) for doc in docs]
        all_sentences = [sentence for doc_sentences in sentences for sentence in doc_sentences]
        states = super().predict(all_sentences)
        if self.cfg["beam_width"] == 1:
            pairs = zip(states, all_sentences, strict=True)
            arcs = iter([_arcs_of_state(state, len(sentence)) for state, sentence in pairs])
        else:
            copies = [sentence.copy() for sentence in all_sentences]
            super().set_annotations(copies, states)
            arcs = iter([_arcs_of_doc(sentence) for sentence in copies])
        return [
            _concatenate_arcs([next(arcs) for _ in doc_sentences]) for doc_sentences in sentences
        ]

    def predict_ensemble(self, docs: Sequence[Doc], param_sets: Sequence[Any]) -> list[list[Any]]:
        """Return the arcs of each Doc for each of several parameter sets of the network.

        All members are parsed side by side if every sentence boundary is set and there are enough
        words; otherwise ``predict`` runs for each member. The parser's own parameters are restored.

        Parameters
        ----------
        docs
            Docs to parse; they are not changed.
        param_sets
            Parameters per ensemble member, as ``model.use_params`` takes them. If members differ
            only in the upper layers (``upper_layer_params``), the vectors of words are computed
            once.

        Returns
        -------
        list of list of ArcArrays
            One list per member, with the result of ``predict`` under its parameters.
        """
        batch = _ParserBatch.from_docs(docs)
        has_boundaries = self.cfg["beam_width"] == 1 and (batch.starts != 0).all()
        can_batch = self._can_batch(batch.starts, batch.lengths, len(param_sets))
        if not param_sets or not has_boundaries or not can_batch:
            return [self._predict_with_params(params, docs) for params in param_sets]
        with single_thread_blas():
            networks, vectors = zip(*self._iter_ensemble_inputs(param_sets, batch), strict=True)
            arcs = parse_ensemble(networks, vectors, batch.starts, batch.lengths)
        return [batch.split_by_doc(member) for member in arcs]

    def _predict_with_params(self, params: Any, docs: Sequence[Doc]) -> list[Any]:
        """Return the result of ``predict`` with other parameters.

        ``params`` is what ``model.use_params`` takes.
        """
        with self.model.use_params(params):
            return list(self.predict(docs))

    def _iter_ensemble_inputs(
        self, param_sets: Sequence[Any], batch: _ParserBatch
    ) -> Iterator[tuple[ParserNetwork, Any]]:
        """Yield network and (words, width) word vectors for each parameter set, in order.

        ``param_sets`` map (node id, parameter name) to arrays. The vectors are computed once if the
        sets differ in the upper layers only. The parameters of a set stay in the model until the
        next pair is requested or the iterator is closed.
        """
        changed = {key for params in param_sets for key in params}
        shares_vectors = changed <= upper_layer_params(self.model)
        network, vectors = self._network_inputs(batch) if shares_vectors else (None, None)
        for params in param_sets:
            with self.model.use_params(params):
                if network is not None:
                    yield network.with_upper_layers(self.model), vectors
                else:
                    yield self._network_inputs(batch)

    def _network_inputs(self, batch: _ParserBatch) -> tuple[ParserNetwork, Any]:
        """Return the network with its current parameters, and the word vectors of the batch.

        The vectors have shape (words, width), with the words of all Docs in order. They come from
        the shared tok2vec if the parser listens to one, else from its own, sentence by sentence.
        Adds the labels to the string store.
        """
        docs, normalized = batch.docs, batch.normalized
        tok2vec = self.model.get_ref("tok2vec")
        if uses_listener(tok2vec):
            bounds = np.cumsum([len(doc) for doc in docs])[:-1]
            token_rows = np.split(tok2vec.predict(docs), bounds)
            rows = [
                rows_of_doc if words is None else rows_of_doc[words.token_indices]
                for rows_of_doc, words in zip(token_rows, normalized, strict=True)
            ]
            word_rows = np.concatenate(rows)
        else:
            sentences = [sentence for doc in docs for sentence in split_sentences(doc)]
            word_rows = tok2vec.predict(sentences)
        names = [self.moves.get_class_name(n) for n in range(self.moves.n_moves)]
        labels = np.array([self.vocab.strings.add(name[2:]) for name in names], dtype=np.uint64)
        return ParserNetwork.from_model(self.model, names, labels), word_rows

    def _can_batch(self, starts: Any, lengths: Sequence[int], n_copies: int = 1) -> bool:
        """Return whether the fast parser supports the network and is faster for this many words.

        Supported are networks of ``N_STATE_WORDS`` state words and two maxout pieces with an upper
        layer, without the label "subtok". ``starts`` (words,) is 1 where a sentence is known to
        begin, ``lengths`` has the words of each Doc, and ``n_copies`` is the ensemble size, by
        which the number of words is multiplied; it must exceed ``_MIN_BATCH_RATIO`` times the words
        of the longest sentence.
        """
        attributes = self.model.attrs
        is_standard = attributes.get("has_upper") and not attributes.get("unseen_classes")
        layers = self.model.layers
        has_standard_sizes = is_standard and (layers[1].get_dim("nF"), layers[1].get_dim("nP")) == (
            N_STATE_WORDS,
            2,
        )
        if not has_standard_sizes or "subtok" in self.labels:
            return False
        return n_copies * len(starts) > _MIN_BATCH_RATIO * longest_sentence(starts, lengths)

    def set_annotations(self, docs: Sequence[Doc], predictions: Any) -> None:
        """Set heads, labels and sentence boundaries of the Docs in place.

        ``predictions`` is the result of ``predict``.
        """
        for doc, arcs in zip(docs, self.deprojectivize(docs, predictions), strict=True):
            set_parse(doc, *arcs)

    def deprojectivize(
        self, docs: Sequence[Doc], arcs_by_doc: Sequence[ArcArrays]
    ) -> Iterator[tuple[Any, Any]]:
        """Yield final relative heads and label hashes of the words of each Doc, in order.

        Both have shape (words,); the head of a word is its index plus the relative head, which is 0
        for a root. Arcs that were lifted to make the tree projective are moved back to where their
        labels say (spaCy's pseudo-projective parsing), and roots get the label ROOT. The Docs are
        not changed.
        """
        add = self.vocab.strings.add
        root, lifted_labels = (
            add("ROOT"),
            {add(name[2:]) for name in self.move_names if "||" in name},
        )
        for doc, arcs in zip(docs, arcs_by_doc, strict=True):
            is_projective = lifted_labels.isdisjoint(arcs.labels.tolist())
            final = arcs if is_projective else self._deprojectivize_doc(doc, arcs)
            yield final.heads, np.where(final.heads == 0, root, final.labels)

    def _deprojectivize_doc(self, doc: Doc, arcs: ArcArrays) -> ArcArrays:
        """Return the arcs after spaCy's postprocessing, which moves lifted arcs back.

        Labels of lifted arcs contain "||". The postprocessing runs on a copy; ``doc`` is not
        changed.
        """
        words = strip_non_words(doc)
        words = words.copy() if words is doc else words
        set_parse(words, arcs.heads, arcs.labels)
        for hook in self.postprocesses:
            hook(words)
        return _arcs_of_doc(words)


def uses_listener(model: Any) -> bool:
    """Return whether a network reads the vectors of a shared tok2vec component."""
    return any(isinstance(node, Tok2VecListener) for node in model.walk())


def upper_layer_params(model: Any) -> set[tuple[int, str]]:
    """Return the (node id, name) keys of a parser's parameters above the word vectors.

    These are the parameters of the scoring layers and the bias of the hidden layer.
    """
    lower, *upper = model.layers[1:]
    return {(lower.id, "b"), *((node.id, name) for node in upper for name in node.param_names)}


def _word_starts(doc: Doc, normalized: NormalizedWords | None) -> Any:
    """Return SENT_START of the words of a Doc, shape (words,).

    1 begins a sentence, -1 does not, 0 is open. ``normalized`` holds the words of the Doc, or is
    None if all its tokens are words.
    """
    starts = doc.to_array([SENT_START]).astype(np.int64)
    return starts if normalized is None else starts[normalized.token_indices]


def _inner_starts(doc: Doc, normalized: NormalizedWords | None) -> Any:
    """Return the ascending indices of words at which a sentence is known to begin.

    The first word is left out. ``normalized`` holds the words of the Doc, or is None if all its
    tokens are words.
    """
    return np.flatnonzero(_word_starts(doc, normalized)[1:] == 1) + 1


def split_sentences(doc: Doc) -> list[Doc]:
    """Split a Doc into one Doc of words per known sentence, in order.

    A sentence is known to begin where a token is marked so. Each Doc has the tags, tensor rows and
    sentence boundaries of its words; white space and markup are dropped. A Doc without inner
    boundaries gives one Doc, which may be ``doc`` itself.
    """
    words = strip_non_words(doc)
    inner_starts = _inner_starts(words, None).tolist()
    if not inner_starts:
        return [words]
    columns: Any = [ORTH, SPACY, NORM, TAG, SENT_START]
    table: Any = words.to_array(columns)
    strings = doc.vocab.strings
    texts = [strings[orth] for orth in table[:, 0].tolist()]
    spaces = (table[:, 1] == 1).tolist()
    sentences = []
    for start, end in pairwise([0, *inner_starts, len(words)]):
        sentence = Doc(doc.vocab, words=texts[start:end], spaces=spaces[start:end])
        sentence.from_array(columns[2:], table[start:end, 2:])
        if words.tensor.size:
            sentence.tensor = words.tensor[start:end]
        sentences.append(sentence)
    return sentences


def _concatenate_arcs(parts: Sequence[ArcArrays]) -> ArcArrays:
    """Concatenate the arcs of the sentences of a Doc, in order; at least one is required."""
    if len(parts) == 1:
        return parts[0]
    heads = np.concatenate([part.heads for part in parts])
    return ArcArrays(heads, np.concatenate([part.labels for part in parts]))


def _arcs_of_state(state: Any, length: int) -> ArcArrays:
    """Return the arcs of a spaCy parser state of ``length`` words.

    Words without an arc get relative head 0 and label 0.
    """
    heads, labels = np.zeros(length, dtype=np.int64), np.zeros(length, dtype=np.uint64)
    for arc in state.arcs:
        heads[arc["child"]], labels[arc["child"]] = arc["head"] - arc["child"], arc["label"]
    return ArcArrays(heads, labels)


def _arcs_of_doc(doc: Doc) -> ArcArrays:
    """Return the arcs of a parsed Doc: relative heads and label hashes of its tokens."""
    rows: Any = doc.to_array([HEAD, DEP]).reshape(-1, 2)
    return ArcArrays(rows[:, 0].astype(np.int64), rows[:, 1])


@Language.factory(
    "textrank_tok2vec",
    assigns=["doc.tensor"],
    default_config={"model": DEFAULT_TOK2VEC_MODEL, "spelt": False},
)
def make_tok2vec(nlp: Language, name: str, model: Any, spelt: bool) -> WordTok2Vec:
    """Build the component of the factory ``textrank_tok2vec``, of class ``WordTok2Vec``."""
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
    """Build the component of the factory ``textrank_tagger``.

    Arguments are those of spaCy's factory ``tagger``.
    """
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
    """Build the component of the factory ``textrank_parser``.

    Arguments are those of spaCy's factory ``parser``.
    """
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


Ints: TypeAlias = NDArray[np.intp]
Floats: TypeAlias = NDArray[np.float32]
SHIFT, REDUCE, LEFT, RIGHT, BREAK = range(5)  # transitions
NO_MOVE = BREAK + 1  # of a finished parse that waits for those of other ensemble members
N_STATE_WORDS = 8  # words that describe a state
MAX_BATCH_WORDS = 8192  # words that are parsed side by side
MAX_ENSEMBLE_WORDS = 8192  # words times ensemble members that are parsed side by side


@dataclass(frozen=True, eq=False)
class ParserNetwork:
    """Parameters of spaCy's transition-based parser network, with maxout pieces made contiguous."""

    lower: Floats  # (width, state words * pieces * hidden)
    padding: Floats  # (state words, pieces * hidden) contribution of a missing word
    bias: Floats  # (pieces * hidden,)
    upper: Floats  # (hidden, classes)
    upper_bias: Floats  # (classes,)
    moves: Ints  # (classes,) transition of each class
    labels: NDArray[np.uint64]  # (classes,) label hash of each class

    @classmethod
    def from_model(
        cls, model: Any, names: Sequence[str], labels: NDArray[np.uint64]
    ) -> ParserNetwork:
        """Copy the parameters of a spaCy parser network.

        ``names`` are the class names such as ``"L-nsubj"``, whose first letter is one of S (shift),
        D (reduce), L and R (left and right arc) and B (break); ``labels`` has the label hash of
        each. The network must have ``N_STATE_WORDS`` state words and an upper layer.
        """
        lower, upper = model.layers[1], model.layers[2]
        pieces, width = lower.get_dim("nP"), lower.get_dim("nI")

        def flatten_pieces(array: Any, *shape: int) -> Any:  # (..., hidden, pieces, ...) -> shape
            """Return an array (..., hidden, pieces, ...) with pieces first, in a new shape."""
            return np.ascontiguousarray(np.moveaxis(array, 2, 1)).reshape(*shape)

        flat = pieces * lower.get_dim("nO")
        return cls(
            np.ascontiguousarray(flatten_pieces(lower.get_param("W"), -1, width).T),
            flatten_pieces(lower.get_param("pad")[0], N_STATE_WORDS, flat),
            np.ascontiguousarray(lower.get_param("b").T).ravel(),
            np.ascontiguousarray(upper.get_param("W").T),
            upper.get_param("b").copy(),
            np.array(["SDLRB".index(name[0]) for name in names], dtype=np.intp),
            labels,
        )

    def build_table(self, vectors: Floats) -> Floats:
        """Return the hidden-layer contribution of each word at each state position, bias included.

        Shape ``((words + 1) * state words, pieces * hidden)``: row ``N_STATE_WORDS * word +
        position``. The last word is the missing word. The bias is added at position 0.
        """
        table = np.empty((len(vectors) + 1, self.lower.shape[1]), dtype=np.float32)
        self.fill_table(table, vectors)
        table[:, : len(self.bias)] += self.bias
        return table.reshape(-1, len(self.bias))

    def fill_table(self, table: Floats, vectors: Floats) -> None:
        """Fill a (words + 1, state words * pieces * hidden) table in place, without the bias.

        ``vectors`` is (words, width). The last row is for the missing word. The table must be
        contiguous float32.
        """
        np.matmul(vectors, self.lower, out=table[:-1])
        table[-1] = self.padding.ravel()

    def with_upper_layers(self, model: Any) -> ParserNetwork:
        """Return a network with the bias and the upper layer that the spaCy network has now.

        ``bias``, ``upper`` and ``upper_bias`` are copied from ``model``; the other arrays are those
        of this network and not read again, so the result is right only if nothing else was changed.
        Since ``lower`` is the same object, ``parse_ensemble`` builds one set of word tables for
        both networks.
        """
        lower, upper = model.layers[1], model.layers[2]
        return replace(
            self,
            bias=lower.get_param("b").T.flatten(),
            upper=upper.get_param("W").T.copy(order="C"),
            upper_bias=upper.get_param("b").copy(),
        )

    def move_penalties(self) -> Floats:  # (16, classes)
        """Return (16, classes) scores to add: the bias, or -inf for an illegal transition.

        The row number is the bit set of legal transitions (``ParserStates._legal_moves``): shift 1,
        reduce 2, left and right arcs 4, break 8.
        """
        bits = np.array([1, 2, 4, 4, 8])[self.moves]
        allowed = (np.arange(16)[:, None] & bits) > 0
        return np.where(allowed, self.upper_bias, -np.inf).astype(np.float32)


@dataclass(frozen=True, eq=False)
class ArcArrays:
    """Dependency arcs of words: relative heads and label hashes, both 0 for a root."""

    heads: NDArray[np.int64]  # (words,) head index minus word index
    labels: NDArray[np.uint64]  # (words,)

    def slice(self, start: int, end: int) -> ArcArrays:
        """Return the arcs of the words ``start:end``."""
        return ArcArrays(self.heads[start:end], self.labels[start:end])


def parse_sentences(
    network: ParserNetwork, vectors: Floats, starts: Ints, lengths: Sequence[int]
) -> ArcArrays:
    """Parse all words of some Docs and return their arcs, one Doc after the other.

    The result has a relative head and a label hash for each word. Sentence starts that the parser
    chooses are not returned: they follow from the arcs.

    Parameters
    ----------
    network
        The parser's parameters.
    vectors
        (words, width) vectors, one Doc after the other.
    starts
        (words,) 1 where a sentence is known to begin, -1 where it is known not to, 0 where the
        parser may begin one. The first word of a Doc always begins one.
    lengths
        Words of each Doc; 0 is allowed.
    """
    arcs = ArcArrays(np.zeros(len(starts), dtype=np.int64), np.zeros(len(starts), dtype=np.uint64))
    for group in group_sentences(starts, lengths, MAX_BATCH_WORDS):
        _parse_group(network, vectors, starts, group, arcs)
    return arcs


def _parse_group(
    network: ParserNetwork, vectors: Floats, starts: Ints, group: SentenceGroup, arcs: ArcArrays
) -> None:
    """Parse the sentences of a group and write their arcs to ``arcs``, in place.

    ``vectors``, ``starts`` and ``arcs`` cover all words of the batch of Docs; only the words of the
    group are read and written. Roots get head 0 and label 0.
    """
    words = group.words
    states = ParserStates.from_group(group, starts[words])
    states.run(network, network.build_table(vectors[words]))
    has_head = states.head[:-2] < states.no_head
    heads = states.head[:-2] - np.arange(len(words))
    arcs.heads[words] = np.where(has_head, heads, 0)
    labels = network.labels[states.label[:-2]]
    arcs.labels[words] = np.where(has_head, labels, np.uint64(0))


def longest_sentence(starts: Ints, lengths: Sequence[int]) -> int:
    """Return the number of words of the longest known sentence; 0 if there is none.

    ``starts`` (words,) is 1 where a sentence is known to begin; ``lengths`` are the words of each
    Doc, whose first word begins one.
    """
    first, last = sentence_bounds(starts, lengths)
    return int((last - first).max(initial=0))


def sentence_bounds(starts: Ints, lengths: Sequence[int]) -> tuple[Ints, Ints]:
    """Return first word and end (exclusive) of each known sentence of some Docs, in order.

    A sentence begins where ``starts`` (words,) is 1 and at the first word of each Doc; ``lengths``
    are the words of each Doc. Docs without words have no sentence.
    """
    ends = np.cumsum(np.asarray([n for n in lengths if n], dtype=np.intp))
    begins = starts == 1
    begins[np.append(0, ends[:-1]) if len(ends) else []] = True
    first = np.flatnonzero(begins)
    return first, np.append(first[1:], len(starts)) if len(first) else first


@dataclass(frozen=True, eq=False)
class SentenceGroup:
    """Sentences that are parsed side by side, one after the other."""

    words: Ints  # word indices in the batch of Docs
    first_words: Ints  # position in ``words`` of the first word of each sentence
    last_words: Ints  # and of the last


def group_sentences(
    starts: Ints, lengths: Sequence[int], max_words: int
) -> Iterator[SentenceGroup]:
    """Yield groups of sentences of similar length with about ``max_words`` words each.

    Longest sentences come first. A group may exceed ``max_words`` by less than one sentence.
    ``starts`` (words,) is 1 where a sentence is known to begin; ``lengths`` are the words of each
    Doc.
    """
    first, last = sentence_bounds(starts, lengths)
    order = np.argsort(first - last, kind="stable")
    sizes = (last - first)[order]
    group_number = (np.cumsum(sizes) - sizes) // max_words
    for members in np.split(order, np.flatnonzero(np.diff(group_number)) + 1):
        if len(members):
            yield _make_group(first[members], last[members])


def _make_group(first: Ints, last: Ints) -> SentenceGroup:
    """Return the group of sentences with these first words and ends (exclusive); at least one."""
    sizes = last - first
    ends = np.cumsum(sizes)
    starts = ends - sizes
    words = np.arange(ends[-1]) + np.repeat(first - starts, sizes)
    return SentenceGroup(words, starts, ends - 1)


class ParserStates:
    """Parser states of several sentences, each a stack and a buffer stored as linked lists.

    Arrays have one entry per word and two more: index ``missing`` stands for a word that does not
    exist, and ``no_head`` is the head of a word that has none. ``stack_top`` and ``buffer_front``
    have one entry per state, that is, per sentence that is not finished.
    """

    missing: Any  # an int for all states, or an array with one per state

    def __init__(self, size: int) -> None:
        """Allocate the links of ``size`` words without arcs; there are no sentences yet.

        In the buffer each word is followed by the next one. The caller sets ``stack_top``,
        ``buffer_front`` and the ends of the buffers.
        """
        self.missing, self.no_head = size, size + 1
        self.below_on_stack = np.full(size + 2, size, dtype=np.intp)  # next word down the stack
        self.next_in_buffer = np.minimum(np.arange(1, size + 3), size)  # next word of the buffer
        self.last_left_child = self.below_on_stack.copy()
        self.last_right_child = self.below_on_stack.copy()
        # Of a word: the last right child that its head had before, restored if the arc is removed.
        self.previous_right_child = self.below_on_stack.copy()
        self.head = np.full(size + 2, self.no_head, dtype=np.intp)
        self.label = np.zeros(size + 2, dtype=np.intp)
        self.sent_start = np.zeros(size + 2, dtype=np.int8)
        # Whether a word without a head was reduced back to the buffer: it may not be shifted again.
        self.was_reduced = np.zeros(size + 2, dtype=bool)
        self.stack_top = self.buffer_front = np.zeros(0, dtype=np.intp)

    @classmethod
    def from_group(cls, group: SentenceGroup, starts: Ints) -> ParserStates:
        """Return the initial states: empty stacks, the first word of each sentence in front.

        ``starts`` (words of the group,) is 1 where a sentence is known to begin, -1 where not, 0 if
        it is open.
        """
        states = cls(len(group.words))
        states.sent_start[:-2] = starts
        states.next_in_buffer[group.last_words] = states.missing
        states.buffer_front = group.first_words
        states.stack_top = np.full(len(group.first_words), states.missing, dtype=np.intp)
        return states

    def run(self, network: ParserNetwork, table: Floats) -> None:
        """Apply the best legal transitions until all sentences are parsed, in place.

        ``table`` is that of ``ParserNetwork.build_table`` for the group's words. Afterwards
        ``head`` has the head of each word or ``no_head``, and ``label`` the class that made the
        arc. Finished sentences are dropped from ``stack_top`` and ``buffer_front``.
        """
        move_penalties = network.move_penalties()
        while len(self.buffer_front):
            second_on_stack = self.below_on_stack[self.stack_top]
            second_in_buffer = self.next_in_buffer[self.buffer_front]
            scores = self._hidden_layer(table, second_on_stack, second_in_buffer) @ network.upper
            scores += move_penalties[self._legal_moves(second_on_stack, second_in_buffer)]
            chosen = scores.argmax(axis=1)
            self._apply_moves(network.moves[chosen], chosen, second_on_stack, second_in_buffer)
            is_unfinished = (self.stack_top != self.missing) | (self.buffer_front != self.missing)
            if not is_unfinished.all():
                self.stack_top = self.stack_top[is_unfinished]
                self.buffer_front = self.buffer_front[is_unfinished]

    def _hidden_layer(self, table: Floats, second_on_stack: Ints, second_in_buffer: Ints) -> Floats:
        """Return the (states, hidden) activations of the states, for maxout with two pieces.

        They are computed from the sum of the rows of ``table`` (``ParserNetwork.build_table``) for
        the eight words of a state: first and second of the buffer, the top three of the stack, the
        last left child of buffer front and stack top, and the last right child of the stack top.
        ``second_on_stack`` and ``second_in_buffer`` are word indices, (states,).
        """
        stack_top, buffer_front = self.stack_top, self.buffer_front
        state_words = (
            second_in_buffer,
            stack_top,
            second_on_stack,
            self.below_on_stack[second_on_stack],
            self.last_left_child[buffer_front],
            self.last_left_child[stack_top],
            self.last_right_child[stack_top],
        )
        total = self._gather_rows(table, buffer_front, 0)
        for position, words in enumerate(state_words, start=1):
            total += self._gather_rows(table, words, position)
        half = total.shape[1] // 2
        hidden: Floats = np.maximum(total[:, :half], total[:, half:])
        return hidden

    def _gather_rows(self, table: Floats, words: Ints, position: int) -> Floats:
        """Return the contribution of words at a position, (words, pieces * hidden).

        ``position`` is 0 ... 7 in the order of the words that describe a state.
        """
        return table.take(N_STATE_WORDS * words + position, axis=0)

    def _legal_moves(self, second_on_stack: Ints, second_in_buffer: Ints) -> Any:
        """Return a bit set of legal transitions per state, (states,).

        Bits: shift 1, reduce 2, left and right arcs 4, break 8. A word is shifted onto an empty
        stack; onto another one if it is not the last, begins no sentence and was not put back by a
        reduction. Reducing needs a word on the stack, arcs a word on stack and buffer of which the
        latter begins no sentence. The last word of a stack is not reduced if the front of the
        buffer is known to continue its sentence (``sent_start`` is -1). A break is legal if the
        second word of the buffer follows the front in the text and its boundary is undecided (0).
        """
        stack_top, buffer_front, missing = self.stack_top, self.buffer_front, self.missing
        front_start, next_start = self.sent_start[buffer_front], self.sent_start[second_in_buffer]
        stack_is_empty, buffer_is_empty = stack_top == missing, buffer_front == missing
        is_last_word = second_in_buffer == missing
        front_begins_sentence = front_start == 1
        can_shift = stack_is_empty | ~(
            is_last_word | front_begins_sentence | self.was_reduced[buffer_front]
        )
        can_reduce = ~stack_is_empty & (
            buffer_is_empty | (second_on_stack != missing) | (front_start != -1)
        )
        can_attach = ~(stack_is_empty | buffer_is_empty | front_begins_sentence)
        can_break = ~is_last_word & (second_in_buffer == buffer_front + 1) & (next_start == 0)
        return can_shift + 2 * can_reduce + 4 * can_attach + 8 * can_break

    def _apply_moves(
        self, moves: Ints, chosen: Ints, second_on_stack: Ints, second_in_buffer: Ints
    ) -> None:
        """Apply one transition to each state, in place.

        ``moves`` are the transitions, ``NO_MOVE`` for none, and ``chosen`` the classes, which are
        stored as labels of the arcs. A shift pushes the front of the buffer; a right arc makes it
        the child of the top of the stack first. A left arc makes the top the child of the front and
        pops it; a reduction only pops it. A word that is reduced without having a head returns to
        the buffer unless it is alone on its stack. A break moves nothing but makes the second word
        of the buffer begin a sentence. All arguments have one entry per state.
        """
        stack_top, buffer_front = self.stack_top, self.buffer_front
        right_arcs, left_arcs = np.flatnonzero(moves == RIGHT), np.flatnonzero(moves == LEFT)
        self._attach_right(buffer_front[right_arcs], stack_top[right_arcs], chosen[right_arcs])
        self._attach_left(stack_top[left_arcs], buffer_front[left_arcs], chosen[left_arcs])
        pushes = (moves == SHIFT) | (moves == RIGHT)
        self.below_on_stack[buffer_front[pushes]] = stack_top[pushes]
        pops = (moves == LEFT) | (moves == REDUCE)
        returns_to_buffer = (
            (moves == REDUCE)
            & (self.head[stack_top] == self.no_head)
            & (second_on_stack != self.missing)
        )
        self.was_reduced[stack_top[returns_to_buffer]] = True
        self.next_in_buffer[stack_top[returns_to_buffer]] = buffer_front[returns_to_buffer]
        self.sent_start[second_in_buffer[moves == BREAK]] = 1
        self.stack_top = np.where(pushes, buffer_front, np.where(pops, second_on_stack, stack_top))
        self.buffer_front = np.where(
            pushes, second_in_buffer, np.where(returns_to_buffer, stack_top, buffer_front)
        )

    def _attach_right(self, child: Ints, head: Ints, label: Ints) -> None:
        """Make words the right children of their heads, in place; ``label`` has the arc classes."""
        self.previous_right_child[child] = self.last_right_child[head]
        self.last_right_child[head], self.head[child], self.label[child] = child, head, label

    def _attach_left(self, child: Ints, head: Ints, label: Ints) -> None:
        """Make words the left children of their heads, in place, instead of any earlier head.

        ``label`` has the arcs' classes. The heads may be shifted again (``was_reduced`` becomes
        False).
        """
        self.last_right_child[self.head[child]] = self.previous_right_child[child]
        self.last_left_child[head], self.head[child], self.label[child] = child, head, label
        self.was_reduced[head] = False


def parse_ensemble(
    networks: Sequence[ParserNetwork],
    vectors: Sequence[Floats],
    starts: Ints,
    lengths: Sequence[int],
) -> list[ArcArrays]:
    """Parse with several networks at once; return one ``ArcArrays`` per network.

    Each is what ``parse_sentences`` returns for that network. ``vectors`` holds the word vectors of
    each network, ``lengths`` the words of each Doc. All sentence boundaries must be known:
    ``starts`` has no 0. All networks must have the same classes and sizes. If all have the same
    object as ``lower``, they share word tables, built with the vectors and padding of the first.
    """
    shape = len(networks), len(starts)
    heads, labels = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.uint64)
    tables = _EnsembleTables(networks, vectors)
    for group in group_sentences(starts, lengths, max(MAX_ENSEMBLE_WORDS // len(tables), 1)):
        states = _EnsembleStates(group, starts[group.words], networks)
        states.run_ensemble(networks, tables.build(group.words), len(tables) == 1)
        for row, network in enumerate(networks):
            arcs = states.arcs(row, network)
            heads[row, group.words], labels[row, group.words] = arcs.heads, arcs.labels
    return [ArcArrays(*member) for member in zip(heads, labels, strict=True)]


class _EnsembleTables:
    """Word tables of the ensemble members: one each, or a single one if they share ``lower``.

    The memory is large, so it is allocated once and reused for each group of sentences.
    """

    def __init__(self, networks: Sequence[ParserNetwork], vectors: Sequence[Floats]) -> None:
        """Store networks and word vectors, one of each per member; allocate nothing yet.

        If all networks have the same object as ``lower``, only the first network and its vectors
        are used.
        """
        first = networks[0]
        shares_tables = all(network.lower is first.lower for network in networks)
        inputs = list(zip(networks, vectors, strict=True))
        self._inputs = inputs[:1] if shares_tables else inputs
        self._widths = first.lower.shape[1], len(first.bias)
        self._buffer = np.empty(0, dtype=np.float32)

    def __len__(self) -> int:
        """Return the number of different tables: 1 if all members share one."""
        return len(self._inputs)

    def build(self, words: Ints) -> Floats:
        """Return the tables of some words, one below the other, without the members' bias.

        ``words`` are indices into the word vectors. The result is overwritten by the next call.
        """
        shape = len(self), len(words) + 1, self._widths[0]
        if len(self._buffer) < math.prod(shape):
            self._buffer = np.empty(math.prod(shape), dtype=np.float32)
        tables = self._buffer[: math.prod(shape)].reshape(shape)
        for table, (network, vectors) in zip(tables, self._inputs, strict=True):
            network.fill_table(table, vectors[words])
        return tables.reshape(-1, self._widths[1])


class _EnsembleStates(ParserStates):
    """Parser states of several sentences for each ensemble member.

    The words of each member are a block of ``block_size`` entries, the last of them its missing
    word. States are ordered by member, then by sentence; a sentence is kept until all members have
    parsed it.
    """

    def __init__(
        self, group: SentenceGroup, starts: Ints, networks: Sequence[ParserNetwork]
    ) -> None:
        """Set up the initial states of all members: empty stacks, all words in the buffers.

        ``starts`` (words of the group,) is 1 where a sentence begins, -1 where not. Member m has
        the words ``m * block_size`` to ``(m + 1) * block_size - 2`` and then its missing word;
        ``no_head`` is the index after all blocks.
        """
        n_members = len(networks)
        self.bias = np.stack([network.bias for network in networks])[:, None]
        self.block_size = len(group.words) + 1  # with the missing word
        total = n_members * self.block_size
        block_starts = np.arange(n_members)[:, None] * self.block_size
        missing_words = block_starts + self.block_size - 1  # (members, 1)
        super().__init__(total - 1)
        self.no_head = total
        no_word = np.append(np.repeat(missing_words, self.block_size), total)
        for links in (
            self.below_on_stack,
            self.last_left_child,
            self.last_right_child,
            self.previous_right_child,
        ):
            links[:] = no_word
        self.next_in_buffer = np.minimum(np.arange(1, total + 2), no_word)
        self.next_in_buffer[(group.last_words + block_starts).ravel()] = np.repeat(
            missing_words, len(group.last_words)
        )
        self.head[:] = self.no_head
        self.sent_start[:-1] = np.tile(np.append(starts, 0), n_members)
        self.buffer_front = (group.first_words + block_starts).ravel()
        self.missing = np.repeat(missing_words, len(group.first_words))
        self.stack_top = self.missing.copy()

    def run_ensemble(
        self, networks: Sequence[ParserNetwork], table: Floats, shares_table: bool
    ) -> None:
        """Apply the best legal transitions until all members have parsed all sentences, in place.

        ``table`` has the word tables of all members, one below the other, or a single one if
        ``shares_table``; ``table_offset`` is set accordingly. A member that has finished a sentence
        makes no more moves in it. Results are in ``head`` and ``label``; ``arcs`` returns them.
        """
        self.table_offset = (
            N_STATE_WORDS * (self.missing - self.block_size + 1)
            if shares_table
            else np.zeros_like(self.missing)
        )
        upper = np.stack([network.upper for network in networks])
        move_penalties = np.stack([network.move_penalties() for network in networks])
        member = np.arange(len(networks))[:, None]
        moves = networks[0].moves
        while len(self.buffer_front):
            shape = len(networks), len(self.buffer_front) // len(networks)
            second_on_stack = self.below_on_stack[self.stack_top]
            second_in_buffer = self.next_in_buffer[self.buffer_front]
            hidden = self._hidden_layer(table, second_on_stack, second_in_buffer)
            scores = np.matmul(hidden.reshape(*shape, -1), upper)
            legal = self._legal_moves(second_on_stack, second_in_buffer).reshape(shape)
            scores += move_penalties[member, legal]
            chosen = scores.argmax(axis=2).ravel()
            self._apply_moves(
                np.where(self._is_unfinished(), moves[chosen], NO_MOVE),
                chosen,
                second_on_stack,
                second_in_buffer,
            )
            is_active = self._is_unfinished().reshape(shape).any(axis=0)
            if not is_active.all():
                self._select(np.tile(is_active, len(networks)))

    def _is_unfinished(self) -> NDArray[np.bool_]:
        """Return a mask, (states,), of the states with words left on the stack or in the buffer."""
        is_unfinished: NDArray[np.bool_] = (self.stack_top != self.missing) | (
            self.buffer_front != self.missing
        )
        return is_unfinished

    def _select(self, is_active: NDArray[np.bool_]) -> None:
        """Keep only the states where ``is_active`` (states,) is true.

        Replaces ``stack_top``, ``buffer_front``, ``missing`` and ``table_offset`` by new arrays;
        other arrays keep all words.
        """
        self.stack_top, self.buffer_front = self.stack_top[is_active], self.buffer_front[is_active]
        self.missing, self.table_offset = self.missing[is_active], self.table_offset[is_active]

    def _gather_rows(self, table: Floats, words: Ints, position: int) -> Floats:
        """Return the contribution of words at a position; position 0 includes the members' bias.

        ``words`` has one word per state, ordered by member; the result is (states, pieces *
        hidden).
        """
        rows = table.take(N_STATE_WORDS * words + (position - self.table_offset), axis=0)
        if position == 0:
            member_rows = rows.reshape(len(self.bias), -1, rows.shape[1])
            member_rows += self.bias
        return rows

    def arcs(self, member: int, network: ParserNetwork) -> ArcArrays:
        """Return the arcs that an ensemble member has found for the words of the group.

        ``member`` is its index and ``network`` its network, which has the label hashes.
        """
        block = slice(member * self.block_size, (member + 1) * self.block_size - 1)
        head, has_head = self.head[block], self.head[block] < self.no_head
        relative = np.where(has_head, head - np.arange(block.start, block.stop), 0)
        return ArcArrays(
            relative, np.where(has_head, network.labels[self.label[block]], np.uint64(0))
        )
