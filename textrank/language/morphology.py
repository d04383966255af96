"""Universal part of speech, morphology and lemma of each word, read off its Penn tag by rules.

One component in place of spaCy's attribute ruler and rule lemmatizer, which together take longer
than tagger and parser: here a word with its tag is worked out once and then looked up.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import srsly
from spacy.attrs import DEP, LEMMA, MORPH, ORTH, POS, TAG
from spacy.language import Language
from spacy.parts_of_speech import IDS
from spacy.tokens import Doc
from spacy.util import minibatch, raise_error
from spacy.vocab import Vocab

from textrank.language.normalization import normalize_token

# Penn tag -> universal part of speech and features. The rule lemmatizer leaves a base form alone
# only where the features call it one: without Number=Sing, "virus" would become "viru".
PENN_TAGS: dict[str, tuple[str, str]] = {
    "NN": ("NOUN", "Number=Sing"),
    "NNS": ("NOUN", "Number=Plur"),
    "NNP": ("PROPN", "NounType=Prop|Number=Sing"),
    "NNPS": ("PROPN", "NounType=Prop|Number=Plur"),
    "JJ": ("ADJ", "Degree=Pos"),
    "JJR": ("ADJ", "Degree=Cmp"),
    "JJS": ("ADJ", "Degree=Sup"),
    "RB": ("ADV", "Degree=Pos"),
    "RBR": ("ADV", "Degree=Cmp"),
    "RBS": ("ADV", "Degree=Sup"),
    "VB": ("VERB", "VerbForm=Inf"),
    "VBD": ("VERB", "Tense=Past|VerbForm=Fin"),
    "VBG": ("VERB", "Aspect=Prog|Tense=Pres|VerbForm=Part"),
    "VBN": ("VERB", "Aspect=Perf|Tense=Past|VerbForm=Part"),
    "VBP": ("VERB", "Tense=Pres|VerbForm=Fin"),
    "VBZ": ("VERB", "Number=Sing|Person=3|Tense=Pres|VerbForm=Fin"),
    "MD": ("AUX", "VerbType=Mod"),
    "IN": ("ADP", ""),
    "TO": ("PART", "PartType=Inf"),
    "RP": ("ADP", ""),
    "DT": ("DET", ""),
    "PDT": ("DET", "AdjType=Pdt"),
    "WDT": ("DET", "PronType=Int,Rel"),
    "PRP": ("PRON", "PronType=Prs"),
    "PRP$": ("PRON", "Poss=Yes|PronType=Prs"),
    "WP": ("PRON", "PronType=Int,Rel"),
    "WP$": ("DET", "Poss=Yes|PronType=Int,Rel"),
    "WRB": ("ADV", "PronType=Int,Rel"),
    "EX": ("PRON", "AdvType=Ex"),
    "CC": ("CCONJ", "ConjType=Coor"),
    "CD": ("NUM", "NumType=Card"),
    "POS": ("PART", "Poss=Yes"),
    "UH": ("INTJ", ""),
    "FW": ("X", "Foreign=Yes"),
    "LS": ("X", "NumType=Ord"),
    "XX": ("X", ""),
    "ADD": ("X", ""),
    "AFX": ("ADJ", "Hyph=Yes"),
    "GW": ("X", ""),
    "NFP": ("PUNCT", ""),
    "HYPH": ("PUNCT", "PunctType=Dash"),
    "SYM": ("SYM", ""),
    "$": ("SYM", ""),
    "#": ("SYM", ""),
    ".": ("PUNCT", "PunctType=Peri"),
    ",": ("PUNCT", "PunctType=Comm"),
    ":": ("PUNCT", ""),
    "-LRB-": ("PUNCT", "PunctSide=Ini|PunctType=Brck"),
    "-RRB-": ("PUNCT", "PunctSide=Fin|PunctType=Brck"),
    "``": ("PUNCT", "PunctSide=Ini|PunctType=Quot"),
    "''": ("PUNCT", "PunctSide=Fin|PunctType=Quot"),
    "_SP": ("SPACE", ""),
}


_AUXILIARY = {"be", "have", "do"}
_IRREGULAR = {
    **dict.fromkeys(("am", "is", "are", "was", "were", "been", "being", "'m", "'re"), "be"),
    **dict.fromkeys(("has", "had", "having", "'ve"), "have"),
    **dict.fromkeys(("does", "did", "done", "doing"), "do"),
}
_CLITICS = {"n't": "not", "n’t": "not", "ca": "can", "wo": "will", "’s": "'s"}
_NOUN = (("ies", "y"), ("sses", "ss"), ("yses", "ysis"), ("uses", "us"), ("xes", "x"),
         ("ches", "ch"), ("shes", "sh"), ("s", ""))  # fmt: skip
_CACHE_SIZE = 1 << 14  # words, as in the tokenizer
# What makes one number of the hashes of a word, its tag and its label.
_SPREAD = np.array([1, 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F], dtype=np.uint64)


class Morphology:
    """Sets ``pos``, ``morph`` and ``lemma`` of each token from its tag.

    ``tables`` holds, for verbs, nouns, adjectives and adverbs, the irregular forms and the known
    base forms; an inflected word goes back to the known base form, or to the likeliest one.
    """

    any_length = True

    def __init__(self, vocab: Vocab, tables: Mapping[str, Any] | None = None) -> None:
        self.vocab = vocab
        self._handler: Callable[..., Any] = raise_error
        self._set(tables or {})

    def __call__(self, doc: Doc) -> Doc:
        self._annotate([doc])
        return doc

    def pipe(self, docs: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """The Docs, those of a batch together: each distinct word of it is looked up once."""
        for batch in minibatch(docs, size=batch_size):  # type: ignore[no-untyped-call]
            try:
                self._annotate(batch)
            except Exception:  # a bad one does not take its batch with it
                batch = list(filter(self._annotates, batch))
            yield from batch

    def set_error_handler(self, handler: Callable[..., Any]) -> None:
        """Takes what spaCy's ``nlp.set_error_handler`` gives: it is told of a Doc that fails."""
        self._handler = handler

    def _annotates(self, doc: Doc) -> bool:
        try:
            self._annotate([doc])
        except Exception as error:
            self._handler("morphology", self, [doc], error)
            return False
        return True

    def _annotate(self, docs: Sequence[Doc]) -> None:
        if len(self._rows) > _CACHE_SIZE:
            self._rows.clear()
        words = np.concatenate([doc.to_array([ORTH, TAG, DEP]).reshape(-1, 3) for doc in docs])
        keys = (words * _SPREAD).sum(axis=1, dtype=np.uint64)
        distinct, first, which = np.unique(keys, return_index=True, return_inverse=True)
        rows = list(map(self._known_row, distinct.tolist(), words[first].tolist()))
        values = np.array(rows, dtype=np.uint64).reshape(-1, 3)[which]
        ends = np.cumsum([len(doc) for doc in docs])
        for doc, own in zip(docs, np.split(values, ends[:-1]), strict=True):
            doc.from_array([POS, MORPH, LEMMA], cast(Any, own))

    def _known_row(self, key: int, word: Sequence[int]) -> tuple[int, int, int]:
        found = self._rows.get(key)
        if found is None:
            found = self._rows[key] = self._row(*word)
        row, lemma = found
        if lemma:  # which spaCy may have forgotten with a memory zone
            self.vocab.strings.add(lemma)
        return row

    def _row(self, orth: int, tag: int, dep: int) -> tuple[tuple[int, int, int], str]:
        """Part of speech, form and lemma, and the lemma's letters where it is not the word."""
        strings = self.vocab.strings
        word, name = normalize_token(strings[orth]) or strings[orth], strings[tag]
        pos, morph = PENN_TAGS.get(name, ("X" if name else "", ""))
        lemma = self.lemma(word, name)
        if pos == "VERB" and (lemma == "be" or strings[dep] in ("aux", "auxpass")):
            pos = "AUX" if lemma in _AUXILIARY else pos
        if name == "IN" and strings[dep] == "mark":
            pos = "SCONJ"
        row = int(IDS[pos]), self.vocab.morphology.add(morph), strings.add(lemma)
        return row, lemma if row[2] != orth else ""

    def lemma(self, word: str, tag: str) -> str:
        """The dictionary form of a word with this Penn tag.

        >>> import spacy
        >>> Morphology(spacy.blank("en").vocab).lemma("proteases", "NNS")
        'protease'
        """
        lower = word.lower()
        if tag in ("NNP", "_SP", ""):
            return word
        if tag[0] == "V" and lower in _IRREGULAR:
            return _IRREGULAR[lower]
        known = self._learned.get(f"{lower}/{tag}")
        if tag in ("MD", "RB", "POS"):
            known = _CLITICS.get(lower, known)
        if known:
            return known
        kind = {"N": "noun", "V": "verb", "J": "adj", "R": "adv"}.get(tag[0], "")
        if tag in ("NN", "VB", "JJ", "RB", "RP", "VBP") or not kind:
            return lower
        return self._irregular.get(kind, {}).get(lower) or self._base(lower, kind)

    def _base(self, word: str, kind: str) -> str:
        candidates = list(_candidates(word, kind))
        known = self._known.get(kind, frozenset())
        for candidate in candidates:
            if candidate in known:
                return candidate
        if kind != "verb" or len(candidates) < 2:
            return candidates[0] if candidates and kind in ("noun", "verb") else word
        with_e = [c for c in candidates if c.endswith("e")]
        if with_e and self._e_after[with_e[0][-3:-1]] > 0:
            return with_e[0]
        return next(c for c in candidates if c not in with_e)

    def _set(self, tables: Mapping[str, Any]) -> None:
        self._tables = dict(tables)
        self._learned: dict[str, str] = dict(tables.get("learned", {}))
        self._irregular: dict[str, dict[str, str]] = dict(tables.get("irregular", {}))
        self._known = {kind: frozenset(words) for kind, words in tables.get("known", {}).items()}
        self._e_after: Counter[str] = Counter()  # votes of known verbs: a final e after two letters
        for verb in self._known.get("verb", ()):
            self._e_after[verb[-3:-1] if verb.endswith("e") else verb[-2:]] += (
                1 if verb.endswith("e") else -1
            )
        self._rows: dict[int, tuple[tuple[int, int, int], str]] = {}

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The tables."""
        return bytes(srsly.msgpack_dumps(self._tables))

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> Morphology:
        """Takes the tables over."""
        self._set(srsly.msgpack_loads(data))
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Writes the tables."""
        Path(path).mkdir(parents=True, exist_ok=True)
        (Path(path) / "tables.msgpack").write_bytes(self.to_bytes())

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> Morphology:
        """Reads the tables."""
        return self.from_bytes((Path(path) / "tables.msgpack").read_bytes())


def _candidates(word: str, kind: str) -> Iterable[str]:
    """Base forms a regular inflection may come from, the usual one first."""
    if kind == "noun":
        for ending, base in _NOUN:
            if word.endswith(ending) and len(word) > len(ending) + 1:
                yield word[: len(word) - len(ending)] + base
        if word.endswith("men"):
            yield word[:-2] + "an"
        return
    endings = {"verb": ("ing", "ed", "es", "s"), "adj": ("er", "est"), "adv": ("er", "est")}[kind]
    for ending in endings:
        if word.endswith(ending) and len(word) > len(ending) + 1:
            stem = word[: len(word) - len(ending)]
            if ending in ("ed", "es", "er", "est") and stem.endswith("i"):
                yield stem[:-1] + "y"
            if stem[-1] == stem[-2:-1] and stem[-1] not in "lsfz" and ending != "s":
                yield stem[:-1]
            yield stem
            if ending != "s":
                yield stem + "e"


@Language.factory("textrank_morphology", assigns=["token.pos", "token.morph", "token.lemma"])
def make_morphology(nlp: Language, name: str) -> Morphology:
    """What the factory of this name gives; its tables come with a trained pipeline."""
    return Morphology(nlp.vocab)


def add_morphology(nlp: Language, tables: Mapping[str, Any]) -> None:
    """Adds the component ``morphology`` with these tables."""
    component: Any = nlp.add_pipe("textrank_morphology", name="morphology")
    component.from_bytes(srsly.msgpack_dumps(dict(tables)))


def build_tables(
    irregular: Mapping[str, Mapping[str, list[str]]],
    known: Mapping[str, Iterable[str]],
    words: Iterable[tuple[str, str]],
    lemmas: Iterable[tuple[str, str, str]],
) -> dict[str, Any]:
    """Tables from a general dictionary, the base forms among ``words``, and given lemmas.

    ``words`` are (word, tag), ``lemmas`` (word, tag, lemma); a lemma given at least twice, and in
    nine cases of ten, is kept where the rules would not find it.
    """
    bases = {"NN": "noun", "VB": "verb", "VBP": "verb", "JJ": "adj", "RB": "adv"}
    seen = Counter((word.lower(), bases[tag]) for word, tag in words if tag in bases)
    lexicon = {kind: set(forms) for kind, forms in known.items()}
    for (word, kind), count in seen.items():
        if count > 1 and word.isalpha():
            lexicon.setdefault(kind, set()).add(word)
    tables: dict[str, Any] = {
        "irregular": {
            k: {w: forms[0] for w, forms in each.items()} for k, each in irregular.items()
        },
        "known": {kind: sorted(forms) for kind, forms in lexicon.items()},
    }
    tables["learned"] = _exceptions(Morphology(Vocab(), tables), lemmas)
    return tables


def _exceptions(rules: Morphology, lemmas: Iterable[tuple[str, str, str]]) -> dict[str, str]:
    given: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for word, tag, lemma in lemmas:
        if lemma.isalpha() and tag not in ("JJR", "JJS", "RBR", "RBS"):
            given[word.lower(), tag][lemma.lower()] += 1
    learned = {}
    for (word, tag), counts in given.items():
        lemma, count = counts.most_common(1)[0]
        if count > 1 and count >= 0.9 * counts.total() and rules.lemma(word, tag) != lemma:
            learned[f"{word}/{tag}"] = lemma
    return learned
