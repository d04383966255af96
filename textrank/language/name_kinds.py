"""Gene names with their kinds: gene or protein, family or complex, domain or motif.

``KindRecognizer`` is the recogniser of the default pipeline. It writes names with the narrow
boundaries of NLM-Gene and GNormPlus to ``doc.spans["entities"]``, with the label of their kind. How
probable each kind is can be read from two extension attributes of the spans:

``span._.textrank_probability``
    Probability of the label that the recogniser gave the span; None for a span that this component
    did not write.
``span._.textrank_kinds``
    Probability of each of ``KINDS`` and of ``NOT_A_NAME``; None as above.
``span._.textrank_part_of``
    Name of the gene or family that a domain belongs to, a Span: GRB2 for "SH2 domain" in "the SH2
    domain of GRB2" and in "the GRB2 SH2 domain". None for other kinds and where the text does not
    say it.

The first two are looked up by the token range of the span, so they also hold for copies of it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import chain as chain_iterables
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from textrank.language._encoder import single_thread_blas
from textrank.language.abbreviations import AbbreviationPair, find_abbreviations
from textrank.language.ner import (
    DEFAULT_MODEL,
    ENTITIES_KEY,
    LabelledSpan,
    NameRecognizer,
    TagNetwork,
    TokenRange,
    WordSpans,
    decode_tags,
    fix_spans,
    map_to_tokens,
    score_genes,
    tags_to_spans,
)
from textrank.language.normalization import normalize_words, paragraph_lengths
from textrank.progress import gc_disabled

Floats = NDArray[np.float64]
KINDS = ("GENE", "FAMILY", "DOMAIN")
GENE, FAMILY, DOMAIN = KINDS
NOT_A_NAME = "O"  # key of ``span._.textrank_kinds`` besides the kinds
_PROBABILITIES_KEY = "textrank_names"  # of ``doc.user_data``: {"start:end": {kind: probability}}


class KindPrediction(NamedTuple):
    """Predicted names of a Doc and what their kinds are computed from."""

    spans: list[LabelledSpan]
    scores: Floats  # (words, tags) emission scores


class KindRecognizer(NameRecognizer):
    """spaCy component that writes gene names and their kinds to a group of ``doc.spans``.

    A name has the same kind wherever it occurs in a Doc, also under its abbreviation. A Doc that
    already has the group keeps it.

    Parameters
    ----------
    key
        Name of the span group.
    temperature
        Divisor of the scores that turns them into calibrated probabilities; above 0. Below 1, the
        probabilities are nearer to 0 and 1.
    """

    def __init__(
        self,
        vocab: Vocab,
        model: TagNetwork,
        name: str,
        *,
        scorer: Callable[..., Any] | None,
        key: str = ENTITIES_KEY,
        temperature: float = 1.0,
    ) -> None:
        """Take the network and settings. Raises ValueError if ``temperature`` is not above 0."""
        super().__init__(vocab, model, name, scorer=scorer)
        if not temperature > 0:
            raise ValueError(f"temperature must be above 0, got {temperature}")
        self.key = key
        self.temperature = temperature

    def predict(self, docs: Iterable[Doc]) -> list[KindPrediction]:  # type: ignore[override]
        """Return the predicted names of each Doc with the emission scores of its words.

        Paragraphs are decoded separately. Names are token ranges in text order, without overlap;
        those without letter or digit are dropped. Scores are not divided by the temperature; they
        have shape (0, 1) for all Docs if none has a word. The Docs are not changed.
        """
        docs = list(docs)
        normalized = [normalize_words(doc, transliterate=True) for doc in docs]
        docs_and_words = list(zip(docs, normalized, strict=True))
        paragraphs = [paragraph_lengths(*one) for one in docs_and_words]
        lengths = [sum(paragraph) for paragraph in paragraphs]
        if not any(lengths):
            return [KindPrediction([], np.zeros((0, 1))) for _ in docs]
        with single_thread_blas():
            scores = self._scores(docs, normalized).astype(np.float64)
        tags = decode_tags(scores, self._transitions(), list(chain_iterables(*paragraphs)))
        ends = np.cumsum(lengths)[:-1]
        return [
            KindPrediction(
                map_to_tokens(doc, words, tags_to_spans(doc_tags, self.labels)),
                doc_scores,
            )
            for (doc, words), doc_tags, doc_scores in zip(
                docs_and_words, np.split(tags, ends), np.split(scores, ends), strict=True
            )
        ]

    @gc_disabled()
    def set_annotations(  # type: ignore[override]
        self, docs: Sequence[Doc], predictions: Sequence[KindPrediction]
    ) -> None:
        """Write the names of each Doc with their kinds to the group; their ids are e0, e1, ....

        Predicted names are split at verbs, and symbols beside verbs are added
        (``_find_arguments``); the result is cleaned up by ``fix_spans`` and ``repair_boundaries``.
        Scores are averaged over mentions of the same name (``_pool_by_name``) and divided by
        ``temperature``. The label of a name is its most probable kind, even if ``NOT_A_NAME`` is
        more probable; all probabilities are stored in ``doc.user_data`` for the extension
        attributes. A Doc that already has the group is skipped; a Doc without names gets an empty
        group.
        """
        transitions = self._transitions()
        for doc, prediction in zip(docs, predictions, strict=True):
            if self.key in doc.spans:
                continue
            words, abbreviations = WordSpans(doc), find_abbreviations(doc)
            predicted = [
                part
                for span in prediction.spans
                for part in _split_at_verbs(words, (span.start, span.end), abbreviations)
            ]
            predicted += self._find_arguments(words, prediction, transitions)
            spans = repair_boundaries(doc, words, fix_spans(doc, predicted, abbreviations, words))
            if not spans:
                doc.spans[self.key] = []
                continue
            path_scores = [
                score_range(
                    prediction.scores,
                    transitions,
                    words.word_of_token[start],
                    words.word_of_token[end - 1] + 1,
                )
                for start, end in spans
            ]
            pooled = _pool_by_name(doc, spans, np.array(path_scores), abbreviations)
            probabilities = _softmax(pooled / self.temperature)
            stored = doc.user_data.setdefault(_PROBABILITIES_KEY, {})
            group = []
            for index, (span, row) in enumerate(zip(spans, probabilities.tolist(), strict=True)):
                label = self.labels[max(range(len(self.labels)), key=lambda k: row[k + 1])]
                stored[_range_key(*span)] = dict(zip((NOT_A_NAME, *self.labels), row, strict=True))
                group.append(Span(doc, *span, label, span_id=f"e{index}"))
            doc.spans[self.key] = group

    def _find_arguments(
        self, words: WordSpans, prediction: KindPrediction, transitions: Floats
    ) -> list[TokenRange]:
        """Return symbols beside a verb of interaction that are names with a probability of .25.

        In "Caspase-8 cleaves BID" only the verb tells the symbol from an ordinary abbreviation.
        Symbols are single words of three to eight capitals and digits, a capital first, directly
        before one of ``_INTERACTION_VERBS`` or after it ("with" or "to" may be between). The
        probability is that of any kind, from the emission scores of ``prediction`` and
        ``transitions``. The result, token ranges in text order, does not overlap the names of
        ``prediction``. The temperature is not applied.
        """
        verbs = [n for n, word in enumerate(words.words) if word in _INTERACTION_VERBS]
        if not verbs:
            return []
        taken = {token for span in prediction.spans for token in range(span.start, span.end)}
        symbols = []
        last = len(words.words) - 1
        objects = [n + 2 if n < last and words.words[n + 1] in _PARTICLES else n + 1 for n in verbs]
        for n in sorted({*objects, *(verb - 1 for verb in verbs)}):
            if not 0 <= n < len(words.words) or not _SYMBOL.fullmatch(words.words[n]):
                continue
            token = words.token_indices[n]
            scores = np.array([score_range(prediction.scores, transitions, n, n + 1)])
            if token not in taken and _softmax(scores)[0, 0] <= 1 - _MIN_ARGUMENT_PROBABILITY:
                symbols.append((token, token + 1))
        return symbols


_MIN_ARGUMENT_PROBABILITY = 0.25
_SYMBOL = re.compile(r"[A-Z][A-Z0-9]{2,7}")
_INTERACTION_VERBS = frozenset(
    verb + ending
    for verb, endings in {
        "bind": ("s", "ing"), "cleave": ("s", "d"), "phosphorylate": ("s", "d"),
        "activate": ("s", "d"), "inhibit": ("s", "ed"), "acetylate": ("s", "d"),
        "ubiquitinate": ("s", "d"), "repress": ("es", "ed"), "recruit": ("s", "ed"),
        "interact": ("s", "ed"), "associate": ("s", "d"), "dephosphorylate": ("s", "d"),
        "degrade": ("s", "d"), "induce": ("s", "d"), "stabilise": ("s", "d"),
        "stabilize": ("s", "d"), "suppress": ("es", "ed"), "regulate": ("s", "d"),
    }.items()
    for ending in endings
)  # fmt: skip
# Forms that no name of a gene contains, unlike "binding" and "activated".
_FINITE_VERBS = frozenset(verb for verb in _INTERACTION_VERBS if verb.endswith("s"))
_PARTICLES = frozenset(["with", "to"])
_NUMBERED_PARTS = frozenset(["type", "subunit", "member", "isoform", "polypeptide", "class"])
_NUMERAL = re.compile(r"[IVX]{1,4}|\d{1,2}|[A-Z]\d?|alpha|beta|gamma|delta|epsilon")
_GENERIC_NAMES = """
protein proteins receptor receptors kinase kinases factor factors enzyme enzymes gene genes antibody
antibodies peptide peptides subunit complex ligand ligands
"""
_GENERIC_WORDS = frozenset(_GENERIC_NAMES.split())


def repair_boundaries(doc: Doc, words: WordSpans, spans: Sequence[TokenRange]) -> list[TokenRange]:
    """Join names that were cut and drop names of generic words only; return sorted ranges.

    ``spans`` are sorted and disjoint, and so is the result. Modifiers before a name and the
    "protein" that such a name ends with are cut off (``_trim_modifiers``): "mutant huntingtin
    protein" names huntingtin. Names of ``_GENERIC_WORDS`` only, such as "receptor protein", are
    dropped. A name is extended by another one-word name of ``spans`` in round brackets that follows
    without gaps, as in "p27(Kip1)", and else by a numbered part after a comma, as in "interleukin-1
    receptor, type I," (``_is_numbered_part``). Names that an extension reaches are left out. Each
    range must begin and end with a word.
    """
    starts = {words.word_of_token[start] for start, _ in spans}
    repaired: list[TokenRange] = []
    for start, end in spans:
        if repaired and start < repaired[-1][1]:
            continue
        start, end = _trim_modifiers(words, start, end)
        if all(word.lower() in _GENERIC_WORDS for word in words.words_of(start, end)):
            continue
        last = words.word_of_token[end - 1]
        following = words.words[last + 1 : last + 5]
        if following[:1] == ["("]:
            is_joined = last + 2 in starts and following[2:3] == [")"]
            if is_joined and not any(_has_gap(doc, words, n) for n in range(last, last + 3)):
                last += 3
        elif _is_numbered_part(following) and not _has_gap(doc, words, last):
            last += 3
        repaired.append((start, words.token_indices[last] + 1))
    return repaired


def _trim_modifiers(words: WordSpans, start: int, end: int) -> TokenRange:
    """Return a token range without leading words such as "human" and a "protein" after them.

    Words of ``_MODIFIERS`` are removed in any case, up to the last word; if a word and one of
    ``_HEAD_NOUNS`` are left then, the latter is removed too. "Murine double minute" begins with a
    word of the name. The range must begin and end with a word.
    """
    first, last = words.word_of_token[start], words.word_of_token[end - 1]
    n = first
    while n < last and words.words[n].lower() in _MODIFIERS and words.words[n + 1] != "double":
        n += 1
    if n > first and last == n + 1 and words.words[last].lower() in _HEAD_NOUNS:
        last -= 1
    return words.token_indices[n], words.token_indices[last] + 1


_MODIFIERS = frozenset(
    [
        "human",
        "mouse",
        "murine",
        "rat",
        "bovine",
        "mutant",
        "mutated",
        "recombinant",
        "purified",
        "endogenous",
        "exogenous",
        "phosphorylated",
    ]
)
_HEAD_NOUNS = frozenset(["gene", "protein", "proteins"])


def _split_at_verbs(
    words: WordSpans, span: TokenRange, abbreviations: Sequence[AbbreviationPair]
) -> list[TokenRange]:
    """Return the parts of a name between verbs such as "binds"; the name itself if it has none.

    Verbs are ``_FINITE_VERBS``, in lower case only. Takes and returns token ranges, in order; empty
    parts are left out. A part that ends with the bracket after a short form of ``abbreviations`` is
    cut after the long form.
    """
    verbs = [
        i
        for i in range(*span)
        if i in words.word_of_token and words.words[words.word_of_token[i]] in _FINITE_VERBS
    ]
    if not verbs:
        return [span]
    starts, ends = [span[0], *(verb + 1 for verb in verbs)], [*verbs, span[1]]
    long_ends = {short.end: long.end for short, long in abbreviations}
    parts = []
    for start, end in zip(starts, ends, strict=True):
        long_end = long_ends.get(end - 1, end)
        if start < end:
            parts.append((start, long_end if start < long_end else end))
    return parts


def _is_numbered_part(following: Sequence[str]) -> bool:
    """Return whether the words after a name are such as ", type I" and end the noun phrase.

    ``following`` are the next four words, fewer at the end of the text: a comma, one of
    ``_NUMBERED_PARTS``, a ``_NUMERAL``, and a word that does not begin with a letter or digit, or
    the end of the text. Otherwise the phrase goes on, as in "laminin 1, type IV collagen".
    """
    if len(following) < 3 or following[0] != "," or following[1] not in _NUMBERED_PARTS:
        return False
    phrase_ends = len(following) == 3 or not following[3][0].isalnum()
    return phrase_ends and _NUMERAL.fullmatch(following[2]) is not None


def _has_gap(doc: Doc, words: WordSpans, n: int) -> bool:
    """Return whether white space or markup follows word ``n``; True at the end of the text."""
    if n + 1 >= len(words.words):
        return True
    token, following = words.token_indices[n], words.token_indices[n + 1]
    return following != token + 1 or bool(doc[token].whitespace_)


def score_range(scores: Floats, transitions: Floats, start: int, end: int) -> list[float]:
    """Return the CRF score of the words ``start:end`` as no name, and as a name of each label.

    The words beside the range count as outside of names. ``scores`` is (words, tags),
    ``transitions`` (tags + 1, tags + 1), from row to column. Tag 0 is outside; label k has the tags
    4 k + 1 to 4 k + 4: begin, inside, last, unit. The range must not be empty.
    """
    length = end - start
    sums = scores[start:end].sum(axis=0).tolist() if length > 2 else None
    first_row, last_row = scores[start].tolist(), scores[end - 1].tolist()
    outside = first_row[0] + (last_row[0] if length > 1 else 0.0)
    if sums is not None:
        outside = sums[0]
    results = [outside + (length + 1) * float(transitions[0, 0])]
    for label in range(0, scores.shape[1] - 1, 4):
        begin, inside, last, unit = range(label + 1, label + 5)
        if length == 1:
            results.append(first_row[unit] + float(transitions[0, unit] + transitions[unit, 0]))
            continue
        total = first_row[begin] + last_row[last] + transitions[0, begin] + transitions[last, 0]
        if sums is None:
            total += transitions[begin, last]
        else:
            total += sums[inside] - first_row[inside] - last_row[inside]
            total += transitions[begin, inside] + transitions[inside, last]
            total += (length - 3) * transitions[inside, inside]
        results.append(float(total))
    return results


def _pool_by_name(
    doc: Doc,
    spans: Sequence[TokenRange],
    scores: Floats,
    abbreviations: Sequence[AbbreviationPair],
) -> Floats:
    """Return the scores (spans, labels + 1) averaged over all mentions of the same name in a Doc.

    Names are compared without case and white space; an abbreviation counts as its long form, the
    last one if it is defined several times. The result has a row per span, in order; ``scores`` is
    not changed.
    """
    long_forms = {_name_key(short.text): _name_key(long.text) for short, long in abbreviations}
    rows: dict[str, list[int]] = defaultdict(list)
    for row, (start, end) in enumerate(spans):
        key = _name_key(doc[start:end].text)
        rows[long_forms.get(key, key)].append(row)
    pooled = scores.copy()
    for indices in rows.values():
        pooled[indices] = scores[indices].mean(axis=0)
    return pooled


def _name_key(text: str) -> str:
    """Return a name in lower case without white space."""
    return "".join(text.split()).lower()


def _softmax(scores: Floats) -> Floats:
    """Return the softmax of each row; there must be at least one column."""
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: Floats = weights / weights.sum(axis=1, keepdims=True)
    return shares


def _get_kinds(span: Span) -> dict[str, float] | None:
    """Return the probabilities of ``KINDS`` and ``NOT_A_NAME``, ``span._.textrank_kinds``.

    None if ``KindRecognizer`` wrote no span with this token range. The dict is a copy.
    """
    kinds = span.doc.user_data.get(_PROBABILITIES_KEY, {}).get(_range_key(span.start, span.end))
    return None if kinds is None else dict(kinds)


def _range_key(start: int, end: int) -> str:
    """Return a token range as a string: ``Doc.to_bytes`` stores no other keys."""
    return f"{start}:{end}"


def _get_probability(span: Span) -> float | None:
    """Return the probability of a span's label, ``span._.textrank_probability``.

    Of a GENE that the task ``identifiers`` made a FAMILY it is the probability of GENE. None if
    ``KindRecognizer`` wrote no span with this token range, or the label is not one of its kinds.
    """
    kinds = _get_kinds(span)
    return None if kinds is None else kinds.get(recognised_label(span))


def recognised_label(span: Span) -> str:
    """Return the label that the recogniser gave a span.

    It is the present label, except that a FAMILY which ``KindRecognizer`` holds more probably for a
    GENE was made a FAMILY by the task ``identifiers``: it is "GENE".
    """
    kinds = _get_kinds(span) if span.label_ == FAMILY else None
    if kinds is not None and kinds.get(GENE, 0.0) > kinds.get(FAMILY, 0.0):
        return GENE
    return span.label_


def _find_owner(span: Span) -> Span | None:
    """Return the Span of the name that a domain belongs to, ``span._.textrank_part_of``.

    It is the next name of the group ``entities`` after the domain, joined by a phrase such as "of"
    or "in human", else the last name before it, joined by a blank, hyphen or "'s" (and words such
    as "catalytic"). Only the nearest name on each side is tried; other domains are skipped. None if
    neither fits or the span is not a DOMAIN.
    """
    if span.label_ != DOMAIN:
        return None
    text = span.doc.text
    names = [name for name in span.doc.spans.get(ENTITIES_KEY, ()) if name.label_ != DOMAIN]
    after = min((n for n in names if n.start >= span.end), key=lambda n: n.start, default=None)
    if after is not None and _OF.fullmatch(text[span.end_char : after.start_char]):
        return after
    before = max((n for n in names if n.end <= span.start), key=lambda n: n.end, default=None)
    if before is not None and _POSSESSIVE.fullmatch(text[before.end_char : span.start_char]):
        return before
    return None


# Text from a domain to the name of its protein, and from the name to its domain.
_OF = re.compile(
    r" (?:(?:domains?|motifs?|regions?|sites?|sequences?|present|found|located) ){0,2}"
    r"(?:of|in|from|within) (?:(?!and |or )[\w-]+ ){0,3}"
)
_POSSESSIVE = re.compile(
    r"(?:'s|’s)?[ -](?:(?:[A-Za-z]+-terminal|[A-Za-z]+-binding|catalytic|conserved|cytoplasmic|"
    r"extracellular|intracellular|tandem|first|second|third|isolated|minimal|protein) ?){0,2}"
)

if not Span.has_extension("textrank_kinds"):
    Span.set_extension("textrank_kinds", getter=_get_kinds)
    Span.set_extension("textrank_part_of", getter=_find_owner)
    Span.set_extension("textrank_probability", getter=_get_probability)


@Language.factory(
    "textrank_kinds",
    assigns=["doc.spans"],
    default_config={"model": DEFAULT_MODEL, "key": ENTITIES_KEY, "temperature": 1.0},
    default_score_weights={"genes_f": 1.0, "genes_p": 0.0, "genes_r": 0.0},
)
def make_kinds(
    nlp: Language, name: str, model: TagNetwork, key: str, temperature: float
) -> KindRecognizer:
    """Build the component of the factory ``textrank_kinds``, with the scorer ``score_genes``."""
    return KindRecognizer(
        nlp.vocab, model, name, scorer=score_genes, key=key, temperature=temperature
    )
