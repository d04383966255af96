"""Score the language pipeline on held-out data."""

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
from workshop.prepare import PPI_CORPORA, NameDocs, Treebank, split_into_runs
from workshop.treebanks import Sentence, iter_lines

from textrank.language.name_kinds import FAMILY, GENE
from textrank.language.ner import ENTITIES_KEY, PROTEINS_KEY
from textrank.language.segmentation import BioTokenizer

CharacterRange = tuple[int, int]  # start and end, or first and last, character
Scores = dict[str, float]


def evaluate(
    nlp: Language, treebank: Treebank, names: dict[str, NameDocs], data: Path
) -> dict[str, Scores]:
    """Return all scores of the model card, by corpus."""
    craft, genia = split_into_runs(treebank.craft, 8), split_into_runs(treebank.genia, None)
    return {
        "craft_dev": {
            **score_syntax(nlp, craft, raw=False),
            "lemma": score_lemmas(nlp, treebank.craft, normalize_craft_lemma),
        },
        "craft_dev_raw": score_syntax(nlp, split_into_runs(treebank.craft, None), raw=True),
        "genia_left_out": {
            **score_syntax(nlp, genia, raw=False),
            "lemma": score_lemmas(nlp, treebank.genia_lemmas, str.lower),
        },
        "bc2gm_devel": score_genes(nlp, names["genes"].held_out),
        "jnlpba_left_out": score_types(nlp, names["ner"].held_out),
        **{f"names_{name}": score_ppi_names(nlp, data, name) for name in PPI_CORPORA},
        "cut_mentions": {name: share_of_cut_mentions(data, name) for name in ("AImed", "BioInfer")},
    }


def score_syntax(nlp: Language, groups: Sequence[Sequence[Sentence]], *, raw: bool) -> Scores:
    """Return F1 of tokens, tags, arcs and sentences, from given tokens or raw text.

    Keys are ``token``, ``tag``, ``uas``, ``las`` (without punctuation) and ``sentence``. ``groups``
    are sentences of one text each. An arc is right if both its words are, so a wrong token costs
    its arcs too.
    """
    n_correct: dict[str, int] = dict.fromkeys(("token", "tag", "uas", "las", "sentence"), 0)
    n_gold, n_predicted = dict(n_correct), dict(n_correct)
    components = ("sentences", "tok2vec", "tagger", "parser")
    with nlp.select_pipes(enable=[name for name in components if name in nlp.pipe_names]):
        inputs = [join_text(g) if raw else _make_doc(nlp, g) for g in groups]
        for group, doc in zip(groups, nlp.pipe(inputs), strict=True):
            gold, predicted = _scored_items_of_gold(group), _scored_items_of_doc(doc)
            for kind in n_correct:
                n_correct[kind] += len(gold[kind] & predicted[kind])
                n_gold[kind] += len(gold[kind])
                n_predicted[kind] += len(predicted[kind])
    return {
        kind: round(_f1(n_correct[kind], n_gold[kind], n_predicted[kind]), 4) for kind in n_correct
    }


def join_text(sentences: Sequence[Sentence]) -> str:
    """Return the text of sentences; each paragraph begins a line."""
    pieces: list[str] = []
    for number, sentence in enumerate(sentences):
        if number:
            pieces.append("\n" if sentence.opens_paragraph else " ")
        words = zip(sentence.words, sentence.spaces, strict=True)
        pieces.append("".join(word + " " * space for word, space in words).rstrip())
    return "".join(pieces)


def _make_doc(nlp: Language, sentences: Sequence[Sentence]) -> Doc:
    """Return a Doc with the given tokens of the sentences, a space after each sentence."""
    words = [word for sentence in sentences for word in sentence.words]
    spaces = [space for sentence in sentences for space in [*sentence.spaces[:-1], True]]
    return Doc(nlp.vocab, words=words, spaces=spaces)


def _character_ranges(words: Iterable[str]) -> list[CharacterRange]:
    """Return (start, end) of each word in the text without white space."""
    lengths = [len("".join(word.split())) for word in words]
    ends = list(accumulate(lengths))
    return [(end - length, end) for end, length in zip(ends, lengths, strict=True)]


def _scored_items_of_gold(sentences: Sequence[Sentence]) -> dict[str, set[object]]:
    """Return the sets of gold items by metric."""
    ranges = _character_ranges(word for sentence in sentences for word in sentence.words)
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
    return _scored_items(ranges, tags, heads, labels, starts)


def _scored_items_of_doc(doc: Doc) -> dict[str, set[object]]:
    """Return the sets of predicted items by metric.

    White-space tokens are left out; a head that is one counts as the word itself.
    """
    tokens = [token for token in doc if not token.is_space]
    index_of_token = {token.i: n for n, token in enumerate(tokens)}
    heads = [index_of_token.get(token.head.i, index_of_token[token.i]) for token in tokens]
    starts: list[int] = []
    for sentence in doc.sents:
        words = [index_of_token[token.i] for token in sentence if token.i in index_of_token]
        starts += words[:1]
    return _scored_items(
        _character_ranges(token.text for token in tokens),
        [token.tag_ for token in tokens],
        heads,
        [token.dep_ for token in tokens],
        starts,
    )


def _scored_items(
    ranges: list[CharacterRange],
    tags: list[str],
    heads: list[int],
    labels: list[str],
    starts: list[int],
) -> dict[str, set[object]]:
    """Return sets of tokens, tags, arcs without punctuation, and sentences, by metric.

    All lists have one entry per word, except ``starts``, the first words of sentences. Items are
    identified by characters, so that different tokens can be compared.
    """
    arcs = [i for i, label in enumerate(labels) if label != "punct"]
    ends = [*starts[1:], len(ranges)]
    return {
        "token": set(ranges),
        "tag": set(zip(ranges, tags, strict=True)),
        "uas": {(ranges[i], ranges[heads[i]]) for i in arcs},
        "las": {(ranges[i], ranges[heads[i]], labels[i]) for i in arcs},
        "sentence": {
            (ranges[a][0], ranges[b - 1][1]) for a, b in zip(starts, ends, strict=True) if a < b
        },
    }


def score_lemmas(nlp: Language, sentences: Sequence[Sentence], form: Callable[[str], str]) -> float:
    """Return the share of correct lemmas on given tokens with predicted tags.

    Both sides are compared as ``form(lemma)``. Lemmas with "#", by which CRAFT hides numerals and
    links, do not count.
    """
    right = total = 0
    with nlp.select_pipes(enable=["tok2vec", "tagger", "parser", "morphology"]):
        docs = nlp.pipe(_make_doc(nlp, [sentence]) for sentence in sentences)
        for sentence, doc in zip(sentences, docs, strict=True):
            for token, lemma in zip(doc, sentence.lemmas, strict=True):
                if "#" not in lemma:  # CRAFT hides numerals and links
                    total += 1
                    right += form(token.lemma_) == form(_unescape_brackets(lemma))
    return round(right / max(total, 1), 4)


def normalize_craft_lemma(lemma: str) -> str:
    """Return a lemma as CRAFT writes it: lower case, numbers as 0, plain dashes and quotes."""
    plain = re.sub(r"\d[\d.,]*", "0", lemma.lower())
    return re.sub("[“”]", '"', re.sub("[–—−]", "-", plain))


def _unescape_brackets(lemma: str) -> str:
    """Return a lemma with ``-lsb-`` and ``-rsb-`` replaced by brackets."""
    return lemma.replace("-lsb-", "[").replace("-rsb-", "]")


def score_genes(nlp: Language, docs: Sequence[Doc]) -> Scores:
    """Return precision, recall and F1 of gene names from the text, and exact F1 as ``strict_f``.

    The official score of BC2GM also accepts other boundaries, once per gold name. ``docs`` are
    held-out Docs of ``read_bc2gm``.
    """
    pairs, n_correct, n_predicted, n_gold = [], 0, 0, 0
    nlp.enable_pipe("genes")
    with nlp.select_pipes(enable=["names_tok2vec", "genes"]):
        for doc, predicted in zip(docs, nlp.pipe(doc.text for doc in docs), strict=True):
            n_before = list(accumulate((not c.isspace() for c in doc.text), initial=0))
            names = {
                (n_before[s.start_char], n_before[s.end_char] - 1)
                for s in predicted.spans[ENTITIES_KEY]
            }
            gold = doc.user_data["gold"]
            pairs.append((gold, names))
            n_correct += _count_accepted(names, gold, doc.user_data["accepted"])
            n_predicted, n_gold = n_predicted + len(names), n_gold + len(gold)
    nlp.disable_pipe("genes")
    return {
        "p": round(n_correct / max(n_predicted, 1), 4),
        "r": round(n_correct / max(n_gold, 1), 4),
        "f": round(_f1(n_correct, n_gold, n_predicted), 4),
        "strict_f": _precision_recall_f(pairs)["f"],
    }


def _count_accepted(
    names: set[CharacterRange], gold: set[CharacterRange], accepted: set[CharacterRange]
) -> int:
    """Return how many names are correct, counting each gold name at most once.

    A name that is not gold but in ``accepted`` counts for the unmatched gold name with which it
    shares most characters. Ranges include their last character.
    """
    matched = names & gold
    for name in sorted((names - gold) & accepted):
        unmatched = [g for g in gold - matched if g[0] <= name[1] and name[0] <= g[1]]
        if unmatched:
            matched.add(max(unmatched, key=lambda g: min(g[1], name[1]) - max(g[0], name[0])))
    return len(matched)


def score_types(nlp: Language, docs: Sequence[Doc]) -> Scores:
    """Return exact precision, recall and F1 of typed names from the text, and F1 by type.

    A gold name that no tokens cover counts as missed.
    """
    pairs = []
    with nlp.select_pipes(enable=["names_tok2vec", "ner"]):
        for doc, predicted in zip(docs, nlp.pipe(doc.text for doc in docs), strict=True):
            gold = {tuple(entity) for entity in doc.user_data["gold"]}
            pairs.append((gold, {(s.start_char, s.end_char, s.label_) for s in predicted.ents}))
    types = sorted({name[2] for gold, _ in pairs for name in gold})
    by_type = {}
    for kind in types:
        of_kind = [
            ({n for n in gold if n[2] == kind}, {n for n in predicted if n[2] == kind})
            for gold, predicted in pairs
        ]
        by_type[f"{kind}_f"] = _precision_recall_f(of_kind)["f"]
    return {**_precision_recall_f(pairs), **by_type}


def _precision_recall_f(pairs: Iterable[tuple[set[Any], set[Any]]]) -> Scores:
    """Return precision, recall and F1 over pairs of gold and predicted sets, rounded."""
    n_correct = n_gold = n_predicted = 0
    for gold, predicted in pairs:
        n_correct, n_gold, n_predicted = (
            n_correct + len(gold & predicted),
            n_gold + len(gold),
            n_predicted + len(predicted),
        )
    precision, recall = n_correct / max(n_predicted, 1), n_correct / max(n_gold, 1)
    return {
        "p": round(precision, 4),
        "r": round(recall, 4),
        "f": round(_f1(n_correct, n_gold, n_predicted), 4),
    }


def _f1(n_correct: int, n_gold: int, n_predicted: int) -> float:
    """Return F1 from the numbers of correct, gold and predicted items; 0 without any."""
    return 2 * n_correct / (n_gold + n_predicted) if n_gold + n_predicted else 0.0


def score_ppi_names(nlp: Language, data: Path, corpus: str) -> Scores:
    """Return F1 of the names of an interaction corpus for three recognisers, by sentence.

    Keys are ``<recogniser>_overlap_f`` and ``<recogniser>_exact_f``; ``kinds`` counts genes,
    families and complexes, ``kinds_gene`` genes alone. Names overlap if they share a character.
    """
    rows = list(_iter_mentions(data / "ppi" / f"{corpus}.xml.gz"))
    answers: dict[str, list[set[CharacterRange]]] = defaultdict(list)
    for name, key in (("genes", ENTITIES_KEY), (PROTEINS_KEY, PROTEINS_KEY), ("kinds", "")):
        nlp.enable_pipe(name)
        with nlp.select_pipes(enable=["names_tok2vec", name]):
            for doc in nlp.pipe(text for text, _ in rows):
                spans = doc.spans[key or ENTITIES_KEY]
                if key:
                    answers[key].append({(s.start_char, s.end_char) for s in spans})
                    continue
                for label, labels in (("kinds", (GENE, FAMILY)), ("kinds_gene", (GENE,))):
                    answers[label].append(
                        {(s.start_char, s.end_char) for s in spans if s.label_ in labels}
                    )
    for name in OPTIONAL:
        nlp.disable_pipe(name)
    scores = {}
    for key, names_of_rows in answers.items():
        pairs = [
            ({(first, last + 1) for first, last in gold}, names)
            for (_, gold), names in zip(rows, names_of_rows, strict=True)
        ]
        n_found = sum(_count_overlapping(names, gold) for gold, names in pairs)
        n_covered = sum(_count_overlapping(gold, names) for gold, names in pairs)
        p = n_found / max(sum(len(names) for _, names in pairs), 1)
        r = n_covered / max(sum(len(gold) for gold, _ in pairs), 1)
        scores[f"{key}_overlap_f"] = round(2 * p * r / (p + r) if p + r else 0.0, 4)
        scores[f"{key}_exact_f"] = _precision_recall_f(pairs)["f"]
    return scores


def _count_overlapping(names: set[CharacterRange], others: set[CharacterRange]) -> int:
    """Return how many names share a character with one of ``others``; ends are exclusive."""
    return sum(any(a < d and c < b for c, d in others) for a, b in names)


def share_of_cut_mentions(data: Path, corpus: str) -> float:
    """Return the share of proteins of an interaction corpus that begin or end inside a token."""
    n_cut = total = 0
    tokenize = BioTokenizer(Language().vocab)
    for text, mentions in _iter_mentions(data / "ppi" / f"{corpus}.xml.gz"):
        doc = tokenize(text)
        starts = {token.idx for token in doc}
        ends = {token.idx + len(token) for token in doc}
        for first, last in mentions:
            total += 1
            n_cut += first not in starts or last + 1 not in ends
    return round(n_cut / max(total, 1), 4)


def _iter_mentions(path: Path) -> Iterator[tuple[str, list[tuple[int, int]]]]:
    """Yield the text of each sentence with the (first, last) characters of its entities."""
    for sentence in ElementTree.fromstring("".join(iter_lines(path))).iter("sentence"):
        offsets = [re.findall(r"\d+", e.get("charOffset", "")) for e in sentence.iter("entity")]
        yield sentence.get("text", ""), [(int(numbers[0]), int(numbers[-1])) for numbers in offsets]
