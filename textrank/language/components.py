"""spaCy's networks, tagger and parser, shown words alone: no white space, no markup.

Each works on the Doc without the tokens that are no words, and its answers go back to the Doc as it
is. A Doc that is all words is given as it is, at the cost of looking at its words once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from spacy.language import Language
from spacy.pipeline import DependencyParser, Tagger, Tok2Vec
from spacy.pipeline.dep_parser import (  # type: ignore[import-not-found]  # compiled
    DEFAULT_PARSER_MODEL,
)
from spacy.pipeline.tagger import DEFAULT_TAGGER_MODEL  # type: ignore[import-not-found]
from spacy.pipeline.tok2vec import DEFAULT_TOK2VEC_MODEL
from spacy.tokens import Doc
from spacy.vocab import Vocab

from textrank.text.words import bare, give_parse, give_tags, spread


class WordsToVectors(Tok2Vec):
    """A network over words in context; tokens that are no words get zeros.

    ``spelt`` words are in plain letters (``beta1``), as the corpora of names have them.
    """

    def __init__(self, vocab: Vocab, model: Any, name: str = "tok2vec", *, spelt: bool) -> None:
        super().__init__(vocab, model, name)
        self.spelt = spelt

    def predict(self, docs: Iterable[Doc]) -> list[Any]:
        """The vectors of the tokens of each Doc."""
        docs = list(docs)
        found = super().predict([bare(doc, spelt=self.spelt) for doc in docs])
        return [spread(doc, own, spelt=self.spelt) for doc, own in zip(docs, found, strict=True)]


class WordTagger(Tagger):  # type: ignore[misc]
    """spaCy's tagger of words; the others get the tag of white space."""

    def predict(self, docs: Iterable[Doc]) -> Any:
        """Tags of the words of each Doc, by number."""
        return super().predict([bare(doc) for doc in docs])

    def set_annotations(self, docs: Sequence[Doc], tags: Any) -> None:
        """Sets the tags."""
        words = [bare(doc) for doc in docs]
        super().set_annotations(words, tags)
        for doc, own in zip(docs, words, strict=True):
            give_tags(doc, own)


class WordParser(DependencyParser):  # type: ignore[misc]
    """spaCy's parser of words; the others hang on the word before them."""

    def predict(self, docs: Any) -> Any:
        """The parses of the words."""
        docs = [docs] if isinstance(docs, Doc) else docs
        return super().predict([bare(doc) for doc in docs])

    def set_annotations(self, docs: Sequence[Doc], parses: Any) -> None:
        """Sets heads, labels and sentences."""
        words = [bare(doc) for doc in docs]
        super().set_annotations(words, parses)
        for doc, own in zip(docs, words, strict=True):
            give_parse(doc, own)


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
