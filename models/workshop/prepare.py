"""Read research corpora: training data of the shipped language pipeline, and its test data.

Test data is excluded everywhere: an abstract on which the parser is scored does not train the
entity recognisers either, and no sentence of a protein-interaction corpus or of CRAFT's dev part is
in any training data.
"""

from __future__ import annotations

import random
import re
import tarfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import srsly
from defusedxml import ElementTree
from spacy.tokens import Doc, Span
from spacy.vocab import Vocab
from workshop.convert import Converter
from workshop.treebank_conversion import Splitter, to_clear
from workshop.treebanks import (
    Sentence,
    iter_lines,
    read_conllu,
    read_trees,
)

from textrank.language.segmentation import BioTokenizer

GENIA_STRIDE = 26  # every 26th abstract is held out
MAX_RUN_SENTENCES = 8  # sentences of an article in one training Doc
MIN_KEY_CHARACTERS = 40  # shorter sentences repeat by chance
EVENT_CORPORA = ("ge13-train", "ge13-devel", "epi11-train", "epi11-devel")
PPI_CORPORA = ("AImed", "BioInfer", "IEPA", "LLL")


@dataclass(frozen=True)
class Treebank:
    """Training sentences of tagger and parser, in runs, and held-out sentences."""

    train: Sequence[Sequence[Sentence]]  # runs of sentences
    craft: Sequence[Sentence]  # held out
    genia: Sequence[Sentence]  # held out
    lemmas: Sequence[Sentence]  # GENIA's sentences with lemmas, tokenized as in GENIA
    genia_lemmas: Sequence[Sentence]  # held-out sentences with lemmas


@dataclass(frozen=True)
class NameDocs:
    """Training and held-out Docs of an entity recogniser, with names in ``doc.ents``."""

    train: Sequence[Doc]
    held_out: Sequence[Doc]


def read_treebank(data: Path) -> Treebank:
    """Read CRAFT, and GENIA converted to the annotation style of CRAFT.

    Sentences of the interaction corpora and of CRAFT's dev part are not in the training part.
    """
    folder = data / "treebanks"
    ppi_sentences = SentenceSet(read_ppi_sentences(data))
    dev = list(read_conllu(folder / "craft-dev.conllu.gz"))
    craft = list(read_conllu(folder / "craft-train.conllu.gz"))
    dev_sentences = SentenceSet("".join(s.words) for s in dev)
    genia_sentences = _read_genia(folder, Splitter.from_sentences(craft))
    held_out = read_held_out_ids(folder)
    lemmas = [
        s
        for part in ("dev", "future_use")
        for s in read_conllu(folder / f"genia-ud1-{part}.conllu.gz")
    ]
    abstracts = [
        s for s in genia_sentences if s.document not in held_out and s not in ppi_sentences
    ]
    return Treebank(
        train=[
            *split_into_runs([s for s in craft if s not in dev_sentences], MAX_RUN_SENTENCES),
            *split_into_runs(abstracts, None),
        ],
        craft=dev,
        genia=[s for s in genia_sentences if s.document in held_out],
        lemmas=[s for s in lemmas if s.document not in held_out],
        genia_lemmas=[s for s in lemmas if s.document in held_out],
    )


def read_craft_train(data: Path) -> list[Sentence]:
    """Return the sentences of CRAFT's train part that are in no test data."""
    folder = data / "treebanks"
    dev = ("".join(s.words) for s in read_conllu(folder / "craft-dev.conllu.gz"))
    scored, dev_sentences = read_scored_sentences(data), SentenceSet(dev)
    craft = read_conllu(folder / "craft-train.conllu.gz")
    return [s for s in craft if s not in dev_sentences and s not in scored]


def read_held_out_ids(folder: Path) -> set[str]:
    """Return the ids of the held-out GENIA abstracts: every 26th, in the order of the files."""
    return set(_read_abstract_ids(folder)[::GENIA_STRIDE])


def _read_abstract_ids(folder: Path) -> list[str]:
    """Return the PubMed ids of the GENIA trees, each once, in the order of the files."""
    rows = (row for path in _tree_files(folder) for row in srsly.read_gzip_jsonl(path))
    return list(dict.fromkeys(row["pmid"] for row in rows))


def _tree_files(folder: Path) -> list[Path]:
    """Return the files of GENIA's phrase-structure trees."""
    parts = ("train", "dev", "future_use")
    return [folder / f"genia-constituency-{part}.jsonl.gz" for part in parts]


def _read_genia(folder: Path, split: Splitter) -> list[Sentence]:
    """Return all sentences of GENIA in the style of CRAFT, with words split by ``split``.

    Sentences without given dependencies get those of a converter that was trained on sentences with
    trees and dependencies, except held-out abstracts.
    """
    parts = ("dev", "future_use")
    given = [s for part in parts for s in read_conllu(folder / f"genia-sd-{part}.conllu.gz")]
    names = {s.name for s in given}
    held_out = read_held_out_ids(folder)
    trees = [tree for path in _tree_files(folder) for tree in read_trees(path)]
    paired = [t for t in trees if t.name in names and t.document not in held_out]
    converter = Converter.fit(paired, given)
    rebuilt = converter([t for t in trees if t.name not in names])
    return [split(to_clear(s)) for s in [*rebuilt, *given]]


def split_into_runs(sentences: Iterable[Sentence], longest: int | None) -> list[list[Sentence]]:
    """Group the sentences of each document, in order, into runs of at most ``longest``.

    None puts all sentences of a document in one run.
    """
    by_document: dict[str, list[Sentence]] = defaultdict(list)
    for sentence in sentences:
        by_document[sentence.document].append(sentence)
    return [
        group[start : start + (longest or len(group))]
        for group in by_document.values()
        for start in range(0, len(group), longest or len(group))
    ]


def sentences_to_doc(
    vocab: Vocab, sentences: Sequence[Sentence], *, breaks: random.Random | None
) -> Doc:
    """Return sentences as one Doc with tags, heads and labels.

    With ``breaks``, a random generator, white space is inserted as texts have it: half of the
    paragraphs are preceded by line breaks, and one space in two hundred is replaced by one, so that
    the parser learns that the former end a sentence and the latter need not.
    """
    rows: list[tuple[str, bool, str, int, str]] = []  # word, space, tag, head, label
    for number, sentence in enumerate(sentences):
        if breaks and number and sentence.opens_paragraph and breaks.random() < 0.5:
            rows.append((breaks.choice(("\n", "\n\n")), False, "_SP", len(rows) - 1, "dep"))
        rows += _sentence_rows(sentence, len(rows), _draw_line_ends(sentence, breaks))
    words, spaces, tags, heads, labels = (list(column) for column in zip(*rows, strict=True))
    return Doc(vocab, words=words, spaces=spaces, tags=tags, heads=heads, deps=labels)


def _draw_line_ends(sentence: Sentence, breaks: random.Random | None) -> set[int]:
    """Return random words after which a line ends; none without ``breaks``."""
    inner = range(len(sentence.words) - 1)
    return {i for i in inner if breaks and sentence.spaces[i] and breaks.random() < 0.005}


def _sentence_rows(
    sentence: Sentence, first: int, ends: set[int]
) -> Iterator[tuple[str, bool, str, int, str]]:
    """Yield (word, space, tag, head, label) of a sentence that begins at token ``first``.

    After each word in ``ends`` there is a row for a line break.
    """
    positions = [first + i + sum(end < i for end in ends) for i in range(len(sentence.words))]
    last = len(sentence.words) - 1
    for i, word in enumerate(sentence.words):
        head = positions[i] if sentence.heads[i] < 0 else positions[sentence.heads[i]]
        space = (sentence.spaces[i] or i == last) and i not in ends
        yield word, space, sentence.tags[i], head, sentence.labels[i]
        if i in ends:
            yield "\n", False, "_SP", positions[i], "dep"


class SentenceSet:
    """Set of sentences that are compared by letters and digits, in lower case.

    Only sentences of at least MIN_KEY_CHARACTERS such characters are in the set.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        """Collect the keys of the texts."""
        self.keys = {key for text in texts if len(key := make_key(text)) >= MIN_KEY_CHARACTERS}
        self.by_start: dict[str, list[str]] = defaultdict(list)
        for key in self.keys:
            self.by_start[key[:MIN_KEY_CHARACTERS]].append(key)

    def __contains__(self, sentence: object) -> bool:
        """Return whether the set has a sentence: a ``Sentence`` or its text."""
        words = sentence.words if isinstance(sentence, Sentence) else [str(sentence)]
        return make_key("".join(words)) in self.keys

    def within(self, text: str) -> bool:
        """Return whether a sentence of the set is part of ``text``."""
        text_key = make_key(text)
        return any(
            text_key.startswith(key, start)
            for start in range(len(text_key) - MIN_KEY_CHARACTERS + 1)
            for key in self.by_start.get(text_key[start : start + MIN_KEY_CHARACTERS], ())
        )


def make_key(text: str) -> str:
    """Return the letters and digits of a text, in lower case."""
    return re.sub(r"[\W_]+", "", text).lower()


def read_ppi_sentences(data: Path) -> list[str]:
    """Return the texts of the sentences of the interaction corpora, which are never trained on."""
    texts = []
    for corpus in PPI_CORPORA:
        with_lines = "".join(iter_lines(data / "ppi" / f"{corpus}.xml.gz"))
        texts += [s.get("text", "") for s in ElementTree.fromstring(with_lines).iter("sentence")]
    return texts


def read_jnlpba(data: Path, vocab: Vocab) -> NameDocs:
    """Read JNLPBA; abstracts that GENIA's treebank holds out or does not have are held out.

    BC2GM has some of the same sentences: abstracts with one of its devel part are not in the
    training data, abstracts with one of its train part are not held out but dropped.
    ``doc.user_data["gold"]`` are the names as (start, end, label).
    """
    folder = data / "treebanks"
    treebank = set(_read_abstract_ids(folder)) - read_held_out_ids(folder)
    scored = read_scored_sentences(data)
    bc2gm_train = SentenceSet(" ".join(words) for words, _ in read_bc2gm_sentences(data, "train"))
    tokenize = BioTokenizer(vocab)
    train, held_out = [], []
    for row in srsly.read_gzip_jsonl(data / "jnlpba" / "train.jsonl.gz"):
        doc = tokenize(row["text"])
        spans = [
            doc.char_span(start, end, label, alignment_mode="expand")
            for start, end, label in row["entities"]
        ]
        doc.user_data["gold"] = row["entities"]
        doc.ents = _drop_overlapping(spans)
        if row["id"].partition("-")[0] not in treebank:
            held_out += [] if bc2gm_train.within(row["text"]) else [doc]
        elif not scored.within(row["text"]):
            train.append(doc)
    return NameDocs(train, held_out)


def read_bc2gm(data: Path, vocab: Vocab) -> NameDocs:
    """Read BC2GM in our tokens, with spaces as they were written; its devel part is held out.

    ``doc.user_data`` has the sets ``gold`` and ``accepted`` of (first, last) characters of names,
    white space not counted: those annotated, and all that the official score accepts.
    """
    scored = read_scored_sentences(data)
    train = [doc for doc in _read_bc2gm_docs(data, "train", vocab) if doc.text not in scored]
    return NameDocs(train, list(_read_bc2gm_docs(data, "devel", vocab)))


def _read_bc2gm_docs(data: Path, part: str, vocab: Vocab) -> Iterator[Doc]:
    """Yield the Docs of a part of BC2GM, see ``read_bc2gm``."""
    tokenize = BioTokenizer(vocab)
    files = _read_archive(data / "ner" / f"bc2gm-{part}-alternatives.tar.gz")
    gold, accepted = (_parse_ranges(files[name]) for name in ("GENE.eval", "ALTGENE.eval"))
    for line in files[f"{part}.in"].splitlines():
        name, _, text = line.partition(" ")
        doc = tokenize(text)
        offsets = [i for i, c in enumerate(text) if not c.isspace()]
        doc.ents = _drop_overlapping(
            doc.char_span(offsets[first], offsets[last] + 1, "GENE", alignment_mode="expand")
            for first, last in sorted(gold[name])
        )
        doc.user_data |= {"gold": gold[name], "accepted": accepted[name]}
        yield doc


def _read_archive(path: Path) -> dict[str, str]:
    """Return the decoded files of a tar archive by their names, without folders."""
    with tarfile.open(path) as archive:
        return {
            Path(member.name).name: file.read().decode()
            for member in archive
            if (file := archive.extractfile(member))
        }


def _parse_ranges(lines: str) -> dict[str, set[tuple[int, int]]]:
    """Return (first, last) characters by sentence, from lines ``sentence|first last|text``."""
    ranges: dict[str, set[tuple[int, int]]] = defaultdict(set)
    for line in lines.splitlines():
        name, range_text, _ = line.split("|", 2)
        first, last = range_text.split()
        ranges[name].add((int(first), int(last)))
    return ranges


def read_events(data: Path, vocab: Vocab) -> NameDocs:
    """Read the proteins of the event corpora with free licences; nothing is held out."""
    scored, tokenize = read_scored_sentences(data), BioTokenizer(vocab)
    docs = []
    for corpus in EVENT_CORPORA:
        files = _read_archive(data / "events" / f"{corpus}.tar.gz")
        for name, text in files.items():
            if not name.endswith(".txt") or scored.within(text):
                continue
            doc = tokenize(text)
            rows = (line.split("\t") for line in files[name[:-4] + ".a1"].splitlines())
            ranges = sorted(tuple(map(int, row[1].split()[1:3])) for row in rows if len(row) > 2)
            doc.ents = _drop_overlapping(
                doc.char_span(start, end, "PROTEIN", alignment_mode="expand")
                for start, end in ranges
            )
            docs.append(doc)
    return NameDocs(docs, [])


def read_scored_sentences(data: Path) -> SentenceSet:
    """Return the sentences that no training data may contain.

    They are those of the interaction corpora and of BC2GM's devel part.
    """
    devel = (" ".join(words) for words, _ in read_bc2gm_sentences(data, "devel"))
    return SentenceSet([*read_ppi_sentences(data), *devel])


def read_bc2gm_sentences(data: Path, part: str) -> Iterator[tuple[list[str], list[str]]]:
    """Yield words and name tags of each sentence of a part of BC2GM."""
    words: list[str] = []
    tags: list[str] = []
    for line in iter_lines(data / "ner" / f"bc2gm-{part}.tsv.gz"):
        word, _, tag = line.rstrip("\n").partition("\t")
        if word:
            words.append(word)
            tags.append(tag)
        elif words:
            yield words, tags
            words, tags = [], []
    if words:
        yield words, tags


def _drop_overlapping(spans: Iterable[Span | None]) -> list[Span]:
    """Return the spans without None and without those that share a token with an earlier one.

    ``doc.ents`` must not overlap. Spans must be in text order.
    """
    disjoint: list[Span] = []
    for span in spans:
        if span is not None and (not disjoint or span.start >= disjoint[-1].end):
            disjoint.append(span)
    return disjoint
