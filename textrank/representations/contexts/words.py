"""The form in which a token counts as a word: as written, lower case, lemma or stem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import groupby
from typing import Any

import numpy as np
import snowballstemmer
from numpy.typing import NDArray
from spacy.strings import StringStore
from spacy.tokens import Doc

from textrank.docs import token_table
from textrank.representations.contexts.told import Told

FORMS = ("raw", "lower", "lemma", "porter", "snowball")


@cache
def stemmer(algorithm: str) -> Any:
    """A stemmer by its name in snowballstemmer; "snowball" is the English one."""
    known = snowballstemmer.algorithms()
    name = "english" if algorithm == "snowball" else algorithm
    if name not in known:
        raise ValueError(f"no stemmer {algorithm!r}; there are {', '.join(sorted(known))}")
    return snowballstemmer.stemmer(name)


@dataclass
class WordIds:
    """Numbers for the words of many Docs, given in order of appearance; -1 for what takes no place.

    A distinct token is looked at once, so that millions of tokens are array look-ups.
    """

    form: str = "lower"
    stop_words: frozenset[str] = frozenset()
    punctuation: bool = False
    ids: dict[str, int] = field(default_factory=dict)

    def of(self, docs: Sequence[Doc]) -> NDArray[np.int32]:  # (tokens,)
        """The number of each token's word, Doc after Doc."""
        found = [np.empty(0, dtype=np.int32)]
        for _, own in groupby(docs, key=lambda doc: id(doc.vocab)):
            some = list(own)
            if self.form == "lemma":
                found += [self._lemmas(doc) for doc in some]
            else:
                keys = np.concatenate([token_table(doc)["ORTH"] for doc in some])
                found.append(self._numbers(keys, some[0].vocab.strings))
        return np.concatenate(found)

    def of_part(self, doc: Doc, part: slice) -> NDArray[np.int32]:  # (tokens,)
        """Those of a part of a Doc."""
        if self.form == "lemma":
            return self._lemmas(doc)[part]
        return self._numbers(token_table(doc)["ORTH"][part], doc.vocab.strings)

    def _numbers(self, keys: NDArray[np.uint64], strings: StringStore) -> NDArray[np.int32]:
        """The number of the word of each token, told by its text's key in the store."""
        distinct, first, which = np.unique(keys, return_index=True, return_inverse=True)
        order = np.argsort(first)  # as they appear
        number = np.empty(len(distinct), dtype=np.int32)
        told, ids = _told(self.form, self.stop_words, self.punctuation), self.ids
        words = told.of(distinct[order].tolist(), strings)
        number[order] = [ids.setdefault(word, len(ids)) if word else -1 for word in words]
        return number[which]

    def _lemmas(self, doc: Doc) -> NDArray[np.int32]:
        strings = doc.vocab.strings
        if len(doc) and not doc.has_annotation("LEMMA"):
            raise ValueError(
                f"document {doc.user_data.get('document', '')!r} has no lemmas. Add a lemmatizer "
                "to the spaCy pipeline, or use the form 'porter'."
            )
        table = doc.to_array(["ORTH", "LEMMA"]).reshape(-1, 2)
        pairs = [(int(orth), int(lemma)) for orth, lemma in table.tolist()]
        known = {(a, b): self._number(strings[a], strings[b]) for a, b in dict.fromkeys(pairs)}
        return np.array([known[pair] for pair in pairs], dtype=np.int32)

    def _number(self, text: str, lemma: str) -> int:
        word = _counted(text, lemma, self.form, self.stop_words, self.punctuation)
        return self.ids.setdefault(word, len(self.ids)) if word else -1


@lru_cache(maxsize=8)
def _told(form: str, stop_words: frozenset[str], punctuation: bool) -> Told[str]:
    """The forms in which texts count; of a few settings."""
    return Told(lambda text: _counted(text, None, form, stop_words, punctuation))


def _counted(
    text: str, lemma: str | None, form: str, stop_words: frozenset[str], punctuation: bool
) -> str:
    """The form in which a token counts as a word; empty where it takes no place."""
    if text.isspace() or text.lower() in stop_words:
        return ""
    if not punctuation and not _has_letters(text):
        return ""
    return written(text, lemma, form)


@lru_cache(maxsize=1 << 15)
def _has_letters(text: str) -> bool:
    return any(map(str.isalnum, text))


def written(text: str, lemma: str | None, form: str) -> str:
    """A token's text in one of the forms; without a lemma, "lemma" is lower case."""
    if form == "raw":
        return text
    if form in ("porter", "snowball"):
        return stem(text.lower(), form)
    return (lemma or text).lower()


@lru_cache(maxsize=1 << 14)
def stem(word: str, algorithm: str = "porter") -> str:
    """The stem of a word in lower case, worked out once."""
    return str(stemmer(algorithm).stemWord(word))


def check_form(form: str) -> None:
    """Raises an error for a form there is not."""
    if form not in FORMS:
        raise ValueError(f"form must be one of {', '.join(FORMS)}, got {form!r}")


def stop_set(words: Sequence[str] | str) -> frozenset[str]:
    """Stop words from a list, or those of spaCy for the name of a language, such as "en"."""
    if not isinstance(words, str):
        return frozenset(word.lower() for word in words)
    return _stop_words(words) if words else frozenset()


@cache
def _stop_words(language: str) -> frozenset[str]:
    from spacy.util import get_lang_class

    try:
        return frozenset(word.lower() for word in get_lang_class(language).Defaults.stop_words)
    except ImportError:
        raise ValueError(
            f"no stop words for the language {language!r}. Give a list of words instead."
        ) from None
