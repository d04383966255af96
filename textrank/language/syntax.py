"""Tok2vec, tagger and parser of spaCy, restricted to words and to one sentence at a time.

Each component works on the words of a Doc without white space and markup (see
``textrank.language.alignment``) and writes its result back to all tokens. Tagger, parser and the
network they share treat each sentence as a text of its own, so that its analysis depends neither
on its neighbours nor on the batch. Sentences are those marked when the component runs; a Doc
without marks is one sentence.

Standard networks run through the fast NumPy code of ``_encoder``, ``_ner_network`` and ``_parser``;
others through spaCy's own code, with the same result.
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

_NO_WORDS = np.zeros(0, dtype=np.int64)
_MAX_BATCH_TOKENS = 8192  # so that the vectors of a batch stay in the processor's cache
# The fast parser pays if the batch has more words than this many times its longest sentence.
_MIN_BATCH_RATIO = 16


def _batch_docs(docs: Sequence[Doc]) -> Iterator[slice]:
    """Yield slices of Docs with at most ``_MAX_BATCH_TOKENS`` tokens, or a single longer Doc.

    The slices cover all Docs in order; no Docs give one empty slice.
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
        """Take the network and the setting ``spelt``, which the class describes."""
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
        """Return the (words, width) vectors of each Doc, by the fastest code that fits.

        ``normalized`` holds the words of each Doc, or None for a Doc whose tokens are all words.
        Tried are the network's own forward pass (``get_forward``), which sees whole Docs, then the
        cached network, then spaCy's code, both sentence by sentence unless ``spelt``.
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
        """Return the fast version of the current network, or None if it is not of a known kind.

        It is built when ``model`` was replaced by another object; changed parameters are noticed by
        the fast version itself.
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

        ``tags`` is the result of ``predict``.
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
        """Collect words and sentence boundaries of Docs."""
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

    Greedy parsers of standard size parse the sentences of a batch side by side (``_parser``) if
    there are enough of them; otherwise spaCy's own code runs. Both give the same arcs.
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
            Docs to parse.
        param_sets
            Parameters per ensemble member, as ``model.use_params`` takes them. Members whose
            parameters differ in the upper layers only share the vectors of words.

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
        sets differ in the upper layers only. A set stays installed in the model until the iterator
        goes on or is closed.
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
        """Return the network as it is now, and the (words, width) vectors of the batch.

        Rows are the words of all Docs in order. Vectors come from the shared tok2vec if the parser
        listens to one, else from its own, sentence by sentence. Adds the labels to the string
        store.
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
        """Return whether the fast parser supports the network and has enough sentences to pay.

        ``starts`` (words,) is 1 where a sentence is known to begin, ``lengths`` has the words of
        each Doc, and ``n_copies`` is the ensemble size, by which the number of words is multiplied.
        It pays from more than ``_MIN_BATCH_RATIO`` times the longest sentence on.
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
        for a root. Lifted arcs are moved to where their labels say (spaCy's pseudo-projective
        parsing), and roots get the label ROOT. The Docs are not changed.
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
        """Return the arcs after spaCy's own postprocessing on a Doc of the words.

        It moves lifted arcs, whose labels contain "||", to where their labels say. ``doc`` is not
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

    Each has the tags, tensor rows and sentence boundaries of its words; white space and markup are
    dropped. A Doc without inner boundaries gives one Doc, which may be ``doc`` itself.
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
    """Build the component of the factory ``textrank_tok2vec``."""
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
