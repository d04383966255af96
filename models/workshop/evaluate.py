"""Scores of the language pipeline on data it was not trained on."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

from defusedxml import ElementTree
from spacy.language import Language
from spacy.tokens import Doc
from workshop.networks import OPTIONAL
from workshop.prepare import PPI_CORPORA, NameDocs, Treebank, runs
from workshop.treebanks import Sentence, lines_of

from textrank.language.name_kinds import FAMILY, GENE
from textrank.language.ner import ENTITIES_KEY, PROTEINS_KEY
from textrank.language.segmentation import BioTokenizer

Place = tuple[int, int]  # first and last character, white space not counted
Scores = dict[str, float]


def evaluate(
    nlp: Language, treebank: Treebank, names: dict[str, NameDocs], data: Path
) -> dict[str, Scores]:
    """Return all scores of the model card, by corpus."""
    craft, genia = runs(treebank.craft, 8), runs(treebank.genia, None)
    return {
        "craft_dev": {
            **score_syntax(nlp, craft, raw=False),
            "lemma": score_lemmas(nlp, treebank.craft, craft_lemma),
        },
        "craft_dev_raw": score_syntax(nlp, runs(treebank.craft, None), raw=True),
        "genia_left_out": {
            **score_syntax(nlp, genia, raw=False),
            "lemma": score_lemmas(nlp, treebank.genia_lemmas, str.lower),
        },
        "bc2gm_devel": score_genes(nlp, names["genes"].left_out),
        "jnlpba_left_out": score_types(nlp, names["ner"].left_out),
        **{f"names_{name}": score_ppi_names(nlp, data, name) for name in PPI_CORPORA},
        "cut_mentions": {name: cut_mentions(data, name) for name in ("AImed", "BioInfer")},
    }


def score_syntax(nlp: Language, groups: Sequence[Sequence[Sentence]], *, raw: bool) -> Scores:
    """Score tags, arcs (except punctuation) and sentences, from given tokens or raw text.

    An arc is right when both its words are, so that from text a wrong token costs what hangs on it.
    """
    right: dict[str, int] = dict.fromkeys(("token", "tag", "uas", "las", "sentence"), 0)
    given, found = dict(right), dict(right)
    wanted = ("sentences", "tok2vec", "tagger", "parser")
    with nlp.select_pipes(enable=[name for name in wanted if name in nlp.pipe_names]):
        inputs = [text_of(g) if raw else _tokens(nlp, g) for g in groups]
        for group, doc in zip(groups, nlp.pipe(inputs), strict=True):
            gold, answer = _facts_of_gold(group), _facts_of_doc(doc)
            for kind in right:
                right[kind] += len(gold[kind] & answer[kind])
                given[kind] += len(gold[kind])
                found[kind] += len(answer[kind])
    return {kind: round(_f(right[kind], given[kind], found[kind]), 4) for kind in right}


def text_of(sentences: Sequence[Sentence]) -> str:
    """Return the text, each paragraph on a new line."""
    pieces: list[str] = []
    for number, sentence in enumerate(sentences):
        if number:
            pieces.append("\n" if sentence.opens_paragraph else " ")
        words = zip(sentence.words, sentence.spaces, strict=True)
        pieces.append("".join(word + " " * space for word, space in words).rstrip())
    return "".join(pieces)


def _tokens(nlp: Language, sentences: Sequence[Sentence]) -> Doc:
    """Return a Doc with the given tokens of the sentences."""
    words = [word for sentence in sentences for word in sentence.words]
    spaces = [space for sentence in sentences for space in [*sentence.spaces[:-1], True]]
    return Doc(nlp.vocab, words=words, spaces=spaces)


def _places(words: Iterable[str]) -> list[Place]:
    """Return start and end of each word in the text without white space."""
    lengths = [len("".join(word.split())) for word in words]
    ends = list(accumulate(lengths))
    return [(end - length, end) for end, length in zip(ends, lengths, strict=True)]


def _facts_of_gold(sentences: Sequence[Sentence]) -> dict[str, set[object]]:
    """Return the sets of gold annotations that are scored, by name."""
    places = _places(word for sentence in sentences for word in sentence.words)
    tags: list[str] = []
    heads: list[int] = []
    labels: list[str] = []
    starts: list[int] = []
    for sentence in sentences:
        first = len(tags)
        starts.append(first)
        tags += sentence.tags
        heads += [first + (i if h < 0 else h) for i, h in enumerate(sentence.heads)]
        labels += sentence.labels
    return _facts(places, tags, heads, labels, starts)


def _facts_of_doc(doc: Doc) -> dict[str, set[object]]:
    """Return the sets of predicted annotations that are scored, by name."""
    tokens = [token for token in doc if not token.is_space]
    number = {token.i: n for n, token in enumerate(tokens)}
    heads = [number.get(token.head.i, number[token.i]) for token in tokens]
    starts: list[int] = []
    for sentence in doc.sents:
        words = [number[token.i] for token in sentence if token.i in number]
        starts += words[:1]
    return _facts(
        _places(token.text for token in tokens),
        [token.tag_ for token in tokens],
        heads,
        [token.dep_ for token in tokens],
        starts,
    )


def _facts(
    places: list[Place], tags: list[str], heads: list[int], labels: list[str], starts: list[int]
) -> dict[str, set[object]]:
    """Return sets of tokens, tags, arcs without punctuation, and sentences, by metric."""
    arcs = [i for i, label in enumerate(labels) if label != "punct"]
    ends = [*starts[1:], len(places)]
    return {
        "token": set(places),
        "tag": set(zip(places, tags, strict=True)),
        "uas": {(places[i], places[heads[i]]) for i in arcs},
        "las": {(places[i], places[heads[i]], labels[i]) for i in arcs},
        "sentence": {
            (places[a][0], places[b - 1][1]) for a, b in zip(starts, ends, strict=True) if a < b
        },
    }


def score_lemmas(nlp: Language, sentences: Sequence[Sentence], form: Callable[[str], str]) -> float:
    """Share of right lemmas on given tokens with predicted tags, both sides put in ``form``."""
    right = total = 0
    with nlp.select_pipes(enable=["tok2vec", "tagger", "parser", "morphology"]):
        docs = nlp.pipe(_tokens(nlp, [sentence]) for sentence in sentences)
        for sentence, doc in zip(sentences, docs, strict=True):
            for token, lemma in zip(doc, sentence.lemmas, strict=True):
                if "#" not in lemma:  # CRAFT hides numerals and links
                    total += 1
                    right += form(token.lemma_) == form(_brackets(lemma))
    return round(right / max(total, 1), 4)


def craft_lemma(lemma: str) -> str:
    """Return a lemma as CRAFT writes it: lower case, numbers as 0, plain dashes and quotes."""
    plain = re.sub(r"\d[\d.,]*", "0", lemma.lower())
    return re.sub("[“”]", '"', re.sub("[–—−]", "-", plain))


def _brackets(lemma: str) -> str:
    """Return a lemma with brackets as they are written."""
    return lemma.replace("-lsb-", "[").replace("-rsb-", "]")


def score_genes(nlp: Language, docs: Sequence[Doc]) -> Scores:
    """Precision, recall and F of gene names from the text: official, and exact F as ``strict``.

    A name is right where the corpus has it; the official score also accepts other boundaries, once
    for each name that is given.
    """
    pairs, right, found, given = [], 0, 0, 0
    nlp.enable_pipe("genes")
    with nlp.select_pipes(enable=["names_tok2vec", "genes"]):
        for doc, answer in zip(docs, nlp.pipe(doc.text for doc in docs), strict=True):
            before = list(accumulate((not c.isspace() for c in doc.text), initial=0))
            names = {
                (before[s.start_char], before[s.end_char] - 1) for s in answer.spans[ENTITIES_KEY]
            }
            gold = doc.user_data["gold"]
            pairs.append((gold, names))
            right += _accepted(names, gold, doc.user_data["accepted"])
            found, given = found + len(names), given + len(gold)
    nlp.disable_pipe("genes")
    return {
        "p": round(right / max(found, 1), 4),
        "r": round(right / max(given, 1), 4),
        "f": round(_f(right, given, found), 4),
        "strict_f": _prf(pairs)["f"],
    }


def _accepted(names: set[Place], gold: set[Place], others: set[Place]) -> int:
    """Return how many names are right, counting each gold name at most once."""
    met = names & gold
    for name in sorted((names - gold) & others):
        free = [g for g in gold - met if g[0] <= name[1] and name[0] <= g[1]]
        if free:
            met.add(max(free, key=lambda g: min(g[1], name[1]) - max(g[0], name[0])))
    return len(met)


def score_types(nlp: Language, docs: Sequence[Doc]) -> Scores:
    """Exact scores of typed names from the text, all five types and proteins alone.

    A gold name that no tokens cover counts as missed.
    """
    pairs = []
    with nlp.select_pipes(enable=["names_tok2vec", "ner"]):
        for doc, answer in zip(docs, nlp.pipe(doc.text for doc in docs), strict=True):
            gold = {tuple(entity) for entity in doc.user_data["gold"]}
            pairs.append((gold, {(s.start_char, s.end_char, s.label_) for s in answer.ents}))
    types = sorted({name[2] for gold, _ in pairs for name in gold})
    by_type = {
        f"{kind}_f": _prf([({n for n in g if n[2] == kind}, {n for n in a if n[2] == kind})
                           for g, a in pairs])["f"]
        for kind in types
    }  # fmt: skip
    return {**_prf(pairs), **by_type}


def _prf(pairs: Iterable[tuple[set[Any], set[Any]]]) -> Scores:
    """Return precision, recall and F over pairs of gold and predicted sets."""
    right = given = found = 0
    for gold, answer in pairs:
        right, given, found = right + len(gold & answer), given + len(gold), found + len(answer)
    precision, recall = right / max(found, 1), right / max(given, 1)
    return {
        "p": round(precision, 4),
        "r": round(recall, 4),
        "f": round(_f(right, given, found), 4),
    }


def _f(right: int, given: int, found: int) -> float:
    """Return F1 from numbers of right, gold and predicted items."""
    return 2 * right / (given + found) if given + found else 0.0


def score_ppi_names(nlp: Language, data: Path, corpus: str) -> Scores:
    """F of the names of an interaction corpus, sentence by sentence, of three recognisers.

    ``kinds`` counts genes, families and complexes, ``kinds_gene`` genes alone. A name overlaps if
    it shares a character with one of the other side; exact ones are equal.
    """
    rows = list(_mentions(data / "ppi" / f"{corpus}.xml.gz"))
    answers: dict[str, list[set[Place]]] = defaultdict(list)
    for name, key in (("genes", ENTITIES_KEY), (PROTEINS_KEY, PROTEINS_KEY), ("kinds", "")):
        nlp.enable_pipe(name)
        with nlp.select_pipes(enable=["names_tok2vec", name]):
            for doc in nlp.pipe(text for text, _ in rows):
                spans = doc.spans[key or ENTITIES_KEY]
                if key:
                    answers[key].append({(s.start_char, s.end_char) for s in spans})
                    continue
                for label, kept in (("kinds", (GENE, FAMILY)), ("kinds_gene", (GENE,))):
                    answers[label].append(
                        {(s.start_char, s.end_char) for s in spans if s.label_ in kept}
                    )
    for name in OPTIONAL:
        nlp.disable_pipe(name)
    scores = {}
    for key, names_of_rows in answers.items():
        pairs = [
            ({(first, last + 1) for first, last in gold}, names)
            for (_, gold), names in zip(rows, names_of_rows, strict=True)
        ]
        found = sum(_touching(names, gold) for gold, names in pairs)
        met = sum(_touching(gold, names) for gold, names in pairs)
        p = found / max(sum(len(names) for _, names in pairs), 1)
        r = met / max(sum(len(gold) for gold, _ in pairs), 1)
        scores[f"{key}_overlap_f"] = round(2 * p * r / (p + r) if p + r else 0.0, 4)
        scores[f"{key}_exact_f"] = _prf(pairs)["f"]
    return scores


def _touching(names: set[Place], others: set[Place]) -> int:
    """Return how many names share a character with one of the others."""
    return sum(any(a < d and c < b for c, d in others) for a, b in names)


def cut_mentions(data: Path, corpus: str) -> float:
    """Share of the proteins of an interaction corpus that begin or end inside a token."""
    cut = total = 0
    tokenize = BioTokenizer(Language().vocab)
    for text, mentions in _mentions(data / "ppi" / f"{corpus}.xml.gz"):
        doc = tokenize(text)
        starts = {token.idx for token in doc}
        ends = {token.idx + len(token) for token in doc}
        for first, last in mentions:
            total += 1
            cut += first not in starts or last + 1 not in ends
    return round(cut / max(total, 1), 4)


def _mentions(path: Path) -> Iterator[tuple[str, list[tuple[int, int]]]]:
    """Text of each sentence with first and last character of each of its entities."""
    for sentence in ElementTree.fromstring("".join(lines_of(path))).iter("sentence"):
        places = [re.findall(r"\d+", e.get("charOffset", "")) for e in sentence.iter("entity")]
        yield sentence.get("text", ""), [(int(place[0]), int(place[-1])) for place in places]
