"""Set part of speech, morphological features and lemma of each token from its Penn tag, by rules.

The component ``Morphology`` replaces spaCy's attribute ruler and rule lemmatizer, which together
take longer than tagger and parser; here each distinct (word, tag, label) is computed once and
cached. ``build_tables`` makes its tables of irregular and base forms when a pipeline is trained.
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
_AUXILIARY_LEMMAS = {"be", "have", "do"}
_IRREGULAR_VERBS = {
    **dict.fromkeys(("am", "is", "are", "was", "were", "been", "being", "'m", "'re"), "be"),
    **dict.fromkeys(("has", "had", "having", "'ve"), "have"),
    **dict.fromkeys(("does", "did", "done", "doing"), "do"),
}
_CLITICS = {"n't": "not", "n’t": "not", "ca": "can", "wo": "will", "’s": "'s"}
_NOUN_ENDINGS = (("ies", "y"), ("sses", "ss"), ("yses", "ysis"), ("uses", "us"), ("xes", "x"),
         ("ches", "ch"), ("shes", "sh"), ("s", ""))  # fmt: skip
_CACHE_SIZE = 1 << 14  # words, as in the tokenizer
# Multipliers that combine the hashes of a word, its tag and its dependency label to one key.
_HASH_MULTIPLIERS = np.array([1, 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F], dtype=np.uint64)


class Morphology:
    """spaCy component that sets ``pos``, ``morph`` and ``lemma`` of each token from its tag.

    Parameters
    ----------
    vocab
        Vocabulary of the pipeline.
    tables
        ``"irregular"``: per word class (noun, verb, adj, adv) inflected form -> lemma; ``"known"``:
        per word class the known base forms; ``"learned"``: ``"word/TAG"`` -> lemma, for exceptions
        to the rules. See ``build_tables``. None means no tables.
    """

    any_length = True

    def __init__(self, vocab: Vocab, tables: Mapping[str, Any] | None = None) -> None:
        """Install the tables and start with an empty cache."""
        self.vocab = vocab
        self._error_handler: Callable[..., Any] = raise_error
        self._set_tables(tables or {})

    def __call__(self, doc: Doc) -> Doc:
        """Annotate a Doc in place and return it."""
        self._annotate([doc])
        return doc

    def pipe(self, docs: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Annotate Docs in place in batches and yield them in order.

        Each distinct word of a batch is looked up once. If a batch fails, its Docs are annotated
        one by one; each that fails again is passed to the error handler and left out.
        """
        for batch in minibatch(docs, size=batch_size):  # type: ignore[no-untyped-call]
            try:
                self._annotate(batch)
            except Exception:  # find the Doc that fails and keep the others
                batch = list(filter(self._try_annotate, batch))
            yield from batch

    def set_error_handler(self, handler: Callable[..., Any]) -> None:
        """Set the handler for Docs that fail in ``pipe``.

        spaCy's ``nlp.set_error_handler`` calls this. The handler is called as
        ``handler(name, component, [doc], error)``; by default it raises the error.
        """
        self._error_handler = handler

    def _try_annotate(self, doc: Doc) -> bool:
        """Annotate a Doc and return True, or call the error handler and return False.

        The handler is called for any exception; the default handler raises it again.
        """
        try:
            self._annotate([doc])
        except Exception as error:
            self._error_handler("morphology", self, [doc], error)
            return False
        return True

    def _annotate(self, docs: Sequence[Doc]) -> None:
        """Set POS, MORPH and LEMMA of every token of the Docs in place.

        ``docs`` must not be empty. Tokens are grouped by a combined hash of word, tag and
        dependency label, so that each distinct combination is computed once. Empties the cache
        first if it has grown beyond ``_CACHE_SIZE``.
        """
        if len(self._cache) > _CACHE_SIZE:
            self._cache.clear()
        words = np.concatenate([doc.to_array([ORTH, TAG, DEP]).reshape(-1, 3) for doc in docs])
        keys = (words * _HASH_MULTIPLIERS).sum(axis=1, dtype=np.uint64)
        distinct, first_occurrence, inverse = np.unique(
            keys, return_index=True, return_inverse=True
        )
        rows = list(map(self._cached_row, distinct.tolist(), words[first_occurrence].tolist()))
        values = np.array(rows, dtype=np.uint64).reshape(-1, 3)[inverse]
        ends = np.cumsum([len(doc) for doc in docs])
        for doc, doc_values in zip(docs, np.split(values, ends[:-1]), strict=True):
            doc.from_array([POS, MORPH, LEMMA], cast(Any, doc_values))

    def _cached_row(self, key: int, word: Sequence[int]) -> tuple[int, int, int]:
        """Return the POS, MORPH and LEMMA values of a word, computed once per cache key.

        ``word`` holds the hashes (ORTH, TAG, DEP). Every call adds the lemma to the string store
        again, because spaCy may have removed it at the end of a memory zone.
        """
        entry = self._cache.get(key)
        if entry is None:
            entry = self._cache[key] = self._compute_row(*word)
        row, lemma = entry
        if lemma:  # spaCy may have freed the string at the end of a memory zone
            self.vocab.strings.add(lemma)
        return row

    def _compute_row(self, orth: int, tag: int, dep: int) -> tuple[tuple[int, int, int], str]:
        """Return the (POS, MORPH, LEMMA) values of a word, and its lemma as a string.

        Takes the string-store hashes of word, Penn tag and dependency label. The word is normalised
        (``normalize_token``, unless that leaves nothing) before its lemma is looked up, and the
        lemma is added to the string store. The returned string is "" if the lemma is the word
        itself. An unknown tag gives part of speech X, a missing tag none. The label only tells the
        auxiliaries "have" and "do" (aux, auxpass) from verbs, and subordinating conjunctions (mark)
        from prepositions; "be" is always an auxiliary.
        """
        strings = self.vocab.strings
        word, tag_name = normalize_token(strings[orth]) or strings[orth], strings[tag]
        pos, morph = PENN_TAGS.get(tag_name, ("X" if tag_name else "", ""))
        lemma = self.lemmatize(word, tag_name)
        if pos == "VERB" and (lemma == "be" or strings[dep] in ("aux", "auxpass")):
            pos = "AUX" if lemma in _AUXILIARY_LEMMAS else pos
        if tag_name == "IN" and strings[dep] == "mark":
            pos = "SCONJ"
        row = int(IDS[pos]), self.vocab.morphology.add(morph), strings.add(lemma)
        return row, lemma if row[2] != orth else ""

    def lemmatize(self, word: str, tag: str) -> str:
        """Return the lemma of a word with this Penn tag.

        Singular proper nouns (NNP), white space (_SP) and words without a tag are returned
        unchanged. All other lemmas are in lower case. The first of these that applies is returned:
        with the tag of a verb, the base of "be", "have" and "do"; with MD, RB or POS, that of a
        clitic ("n't": "not"); a learned exception of this word and tag; the word itself if its tag
        is that of a base form or not of a noun, verb, adjective or adverb; the entry in the table
        of irregular forms; and the word without its regular ending (``_find_base_form``).

        >>> import spacy
        >>> Morphology(spacy.blank("en").vocab).lemmatize("proteases", "NNS")
        'protease'
        """
        lower = word.lower()
        if tag in ("NNP", "_SP", ""):
            return word
        if tag[0] == "V" and lower in _IRREGULAR_VERBS:
            return _IRREGULAR_VERBS[lower]
        learned = self._learned.get(f"{lower}/{tag}")
        if tag in ("MD", "RB", "POS"):
            learned = _CLITICS.get(lower, learned)
        if learned:
            return learned
        word_class = {"N": "noun", "V": "verb", "J": "adj", "R": "adv"}.get(tag[0], "")
        if tag in ("NN", "VB", "JJ", "RB", "RP", "VBP") or not word_class:
            return lower
        return self._irregular.get(word_class, {}).get(lower) or self._find_base_form(
            lower, word_class
        )

    def _find_base_form(self, word: str, word_class: str) -> str:
        """Return the base form of a regularly inflected lower-case word.

        ``word_class`` is noun, verb, adj or adv. The first candidate of ``_generate_base_forms``
        that is a known base form is preferred. Otherwise nouns and verbs take the first candidate;
        for verbs with several, known verbs with the same two letters before the ending vote for or
        against a final e, and if all candidates end in e the longest that the word begins with is
        taken. Adjectives and adverbs without a known base form, and words without a candidate, stay
        unchanged.
        """
        candidates = list(_generate_base_forms(word, word_class))
        base_forms = self._base_forms.get(word_class, frozenset())
        for candidate in candidates:
            if candidate in base_forms:
                return candidate
        if word_class != "verb" or len(candidates) < 2:
            return candidates[0] if candidates and word_class in ("noun", "verb") else word
        with_e = [c for c in candidates if c.endswith("e")]
        if with_e and self._final_e_votes[with_e[0][-3:-1]] > 0:
            return with_e[0]
        without_e = [c for c in candidates if c not in with_e]
        if without_e:
            return without_e[0]
        return max((c for c in candidates if word.startswith(c)), key=len)  # pedigreed: pedigree

    def _set_tables(self, tables: Mapping[str, Any]) -> None:
        """Install the tables "irregular", "known" and "learned" and empty the cache.

        Missing tables count as empty. For each pair of letters, counts the known verbs that end in
        the pair and a final e, minus those that end in the pair itself (``_find_base_form`` uses
        this vote).
        """
        self._tables = dict(tables)
        self._learned: dict[str, str] = dict(tables.get("learned", {}))
        self._irregular: dict[str, dict[str, str]] = dict(tables.get("irregular", {}))
        self._base_forms = {
            kind: frozenset(words) for kind, words in tables.get("known", {}).items()
        }
        self._final_e_votes: Counter[str] = Counter()  # two letters -> verbs with minus without e
        for verb in self._base_forms.get("verb", ()):
            self._final_e_votes[verb[-3:-1] if verb.endswith("e") else verb[-2:]] += (
                1 if verb.endswith("e") else -1
            )
        self._cache: dict[int, tuple[tuple[int, int, int], str]] = {}

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Serialise the tables to msgpack; ``exclude`` is ignored."""
        return bytes(srsly.msgpack_dumps(self._tables))

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> Morphology:
        """Replace the tables by those that ``to_bytes`` wrote and return the component.

        ``exclude`` is ignored.
        """
        self._set_tables(srsly.msgpack_loads(data))
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write the tables to ``tables.msgpack`` in the folder ``path``.

        The folder is created if missing. ``exclude`` is ignored.
        """
        Path(path).mkdir(parents=True, exist_ok=True)
        (Path(path) / "tables.msgpack").write_bytes(self.to_bytes())

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> Morphology:
        """Replace the tables by those in the folder ``path`` and return the component.

        ``exclude`` is ignored. Raises FileNotFoundError if the folder has no ``tables.msgpack``.
        """
        return self.from_bytes((Path(path) / "tables.msgpack").read_bytes())


def _generate_base_forms(word: str, word_class: str) -> Iterable[str]:
    """Yield the base forms that a regular inflection may come from, the most usual first.

    ``word`` is in lower case and ``word_class`` noun, verb, adj or adv; others raise KeyError.
    Endings of nouns are ``_NOUN_ENDINGS`` and -men, of verbs -ing, -ed, -es and -s, of adjectives
    and adverbs -er and -est. For each ending other than a noun's, the stem is yielded with y for a
    final i (not after -ing), without a doubled consonant other than l, s, f and z, as it is, and
    with e; after -s only as it is. At least two letters must be left before an ending, except
    -men. Yields nothing if the word has no regular ending.
    """
    if word_class == "noun":
        for ending, base in _NOUN_ENDINGS:
            if word.endswith(ending) and len(word) > len(ending) + 1:
                yield word[: len(word) - len(ending)] + base
        if word.endswith("men"):
            yield word[:-2] + "an"
        return
    endings = {"verb": ("ing", "ed", "es", "s"), "adj": ("er", "est"), "adv": ("er", "est")}[
        word_class
    ]
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
    """Build the component of the factory ``textrank_morphology``, without tables.

    spaCy passes ``name``, which is not used.
    """
    return Morphology(nlp.vocab)


def add_morphology(nlp: Language, tables: Mapping[str, Any]) -> None:
    """Append the component ``morphology`` with these tables to a pipeline, in place.

    ``tables`` are as returned by ``build_tables``.
    """
    component: Any = nlp.add_pipe("textrank_morphology", name="morphology")
    component.from_bytes(srsly.msgpack_dumps(dict(tables)))


def build_tables(
    irregular: Mapping[str, Mapping[str, list[str]]],
    base_forms: Mapping[str, Iterable[str]],
    words: Iterable[tuple[str, str]],
    lemmas: Iterable[tuple[str, str, str]],
) -> dict[str, Any]:
    """Build the tables of ``Morphology`` from a general dictionary and annotated text.

    Parameters
    ----------
    irregular
        Per word class (noun, verb, adj, adv): inflected form -> its lemmas; the first is used.
    base_forms
        Per word class the base forms of the dictionary.
    words
        (word, Penn tag) tokens of text. Alphabetic words with the tag of a base form (NN, VB, VBP,
        JJ, RB) that occur at least twice are added to the known base forms in lower case.
    lemmas
        (word, Penn tag, lemma) tokens of annotated text. A lemma that occurs at least twice, and in
        nine of ten cases, is stored if the rules would give another.

    Returns
    -------
    dict
        The tables ``"irregular"``, ``"known"`` (sorted lists) and ``"learned"``.
    """
    base_tags = {"NN": "noun", "VB": "verb", "VBP": "verb", "JJ": "adj", "RB": "adv"}
    counts = Counter((word.lower(), base_tags[tag]) for word, tag in words if tag in base_tags)
    lexicon = {word_class: set(forms) for word_class, forms in base_forms.items()}
    for (word, word_class), count in counts.items():
        if count > 1 and word.isalpha():
            lexicon.setdefault(word_class, set()).add(word)
    tables: dict[str, Any] = {
        "irregular": {
            k: {w: forms[0] for w, forms in each.items()} for k, each in irregular.items()
        },
        "known": {word_class: sorted(forms) for word_class, forms in lexicon.items()},
    }
    tables["learned"] = _find_exceptions(Morphology(Vocab(), tables), lemmas)
    return tables


def _find_exceptions(rules: Morphology, lemmas: Iterable[tuple[str, str, str]]) -> dict[str, str]:
    """Return ``"word/TAG"`` -> lemma for reliable annotated lemmas that ``rules`` does not give.

    ``lemmas`` are (word, Penn tag, lemma) tokens. A lemma is reliable if it occurs at least twice
    and in nine of ten cases of its word and tag. Words and lemmas are in lower case; comparatives,
    superlatives and lemmas that are not alphabetic are ignored.
    """
    lemma_counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for word, tag, lemma in lemmas:
        if lemma.isalpha() and tag not in ("JJR", "JJS", "RBR", "RBS"):
            lemma_counts[word.lower(), tag][lemma.lower()] += 1
    exceptions = {}
    for (word, tag), counts in lemma_counts.items():
        lemma, count = counts.most_common(1)[0]
        if count > 1 and count >= 0.9 * counts.total() and rules.lemmatize(word, tag) != lemma:
            exceptions[f"{word}/{tag}"] = lemma
    return exceptions
