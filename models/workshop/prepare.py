"""Read research corpora: training data of the shipped pipeline and, apart from it, test data.

What is held out is held out everywhere: an abstract kept for scoring the parser does not train
the names either, and no sentence of a protein-interaction corpus or of CRAFT's dev part is seen.
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
    lines_of,
    read_conllu,
    read_trees,
)

from textrank.language.segmentation import BioTokenizer

GENIA_STRIDE = 26  # one abstract in so many is left out of training
RUN = 8  # sentences of an article that make one training Doc
SHORTEST = 40  # letters and digits from which on an equal sentence is the same sentence
EVENTS = ("ge13-train", "ge13-devel", "epi11-train", "epi11-devel")
PPI_CORPORA = ("AImed", "BioInfer", "IEPA", "LLL")


@dataclass(frozen=True)
class Treebank:
    """Sentences for tagger and parser, and those left out."""

    train: Sequence[Sequence[Sentence]]  # one run of sentences a Doc
    craft: Sequence[Sentence]
    genia: Sequence[Sentence]
    lemmas: Sequence[Sentence]  # GENIA's sentences that have lemmas, in GENIA's own words
    genia_lemmas: Sequence[Sentence]  # the same, left out


@dataclass(frozen=True)
class NameDocs:
    """Docs with their names in ``doc.ents``, and those left out."""

    train: Sequence[Doc]
    left_out: Sequence[Doc]


def read_treebank(data: Path) -> Treebank:
    """CRAFT as it is, and GENIA in its likeness."""
    folder = data / "treebanks"
    seen = _Seen(ppi_sentences(data))
    dev = list(read_conllu(folder / "craft-dev.conllu.gz"))
    craft = list(read_conllu(folder / "craft-train.conllu.gz"))
    also_dev = _Seen("".join(s.words) for s in dev)
    genia = _genia(folder, Splitter.of(craft))
    out = left_out_abstracts(folder)
    lemmas = [
        s
        for part in ("dev", "future_use")
        for s in read_conllu(folder / f"genia-ud1-{part}.conllu.gz")
    ]
    abstracts = [s for s in genia if s.document not in out and s not in seen]
    return Treebank(
        train=[*runs([s for s in craft if s not in also_dev], RUN), *runs(abstracts, None)],
        craft=dev,
        genia=[s for s in genia if s.document in out],
        lemmas=[s for s in lemmas if s.document not in out],
        genia_lemmas=[s for s in lemmas if s.document in out],
    )


def craft_train(data: Path) -> list[Sentence]:
    """Sentences of CRAFT's train part, but for those that something is scored on."""
    folder = data / "treebanks"
    dev = ("".join(s.words) for s in read_conllu(folder / "craft-dev.conllu.gz"))
    kept, seen = kept_for_scoring(data), _Seen(dev)
    craft = read_conllu(folder / "craft-train.conllu.gz")
    return [s for s in craft if s not in seen and s not in kept]


def left_out_abstracts(folder: Path) -> set[str]:
    """Ids of the GENIA abstracts that train nothing: one in 26, in the order of the files."""
    return set(_abstracts(folder)[::GENIA_STRIDE])


def _abstracts(folder: Path) -> list[str]:
    """Return the PubMed ids of the GENIA trees, each once."""
    rows = (row for path in _tree_files(folder) for row in srsly.read_gzip_jsonl(path))
    return list(dict.fromkeys(row["pmid"] for row in rows))


def _tree_files(folder: Path) -> list[Path]:
    parts = ("train", "dev", "future_use")
    return [folder / f"genia-constituency-{part}.jsonl.gz" for part in parts]


def _genia(folder: Path, split: Splitter) -> list[Sentence]:
    """All of GENIA: given dependencies where there are some, converted trees elsewhere."""
    parts = ("dev", "future_use")
    given = [s for part in parts for s in read_conllu(folder / f"genia-sd-{part}.conllu.gz")]
    names = {s.name for s in given}
    out = left_out_abstracts(folder)
    trees = [tree for path in _tree_files(folder) for tree in read_trees(path)]
    paired = [t for t in trees if t.name in names and t.document not in out]
    converter = Converter.fit(paired, given)
    rebuilt = converter([t for t in trees if t.name not in names])
    return [split(to_clear(s)) for s in [*rebuilt, *given]]


def runs(sentences: Iterable[Sentence], longest: int | None) -> list[list[Sentence]]:
    """Sentences of one document together, at most ``longest`` of them."""
    by_document: dict[str, list[Sentence]] = defaultdict(list)
    for sentence in sentences:
        by_document[sentence.document].append(sentence)
    return [
        group[start : start + (longest or len(group))]
        for group in by_document.values()
        for start in range(0, len(group), longest or len(group))
    ]


def doc_of(vocab: Vocab, sentences: Sequence[Sentence], *, breaks: random.Random | None) -> Doc:
    """Sentences as one Doc; with ``breaks``, white space is put in as texts have it.

    Half of the paragraphs are set off by a new line, and one space in two hundred is a line's end,
    so that the parser learns that the former ends a sentence and the latter need not.
    """
    rows: list[tuple[str, bool, str, int, str]] = []  # word, space, tag, head, label
    for number, sentence in enumerate(sentences):
        if breaks and number and sentence.opens_paragraph and breaks.random() < 0.5:
            rows.append((breaks.choice(("\n", "\n\n")), False, "_SP", len(rows) - 1, "dep"))
        rows += _rows(sentence, len(rows), _line_ends(sentence, breaks))
    words, spaces, tags, heads, labels = (list(column) for column in zip(*rows, strict=True))
    return Doc(vocab, words=words, spaces=spaces, tags=tags, heads=heads, deps=labels)


def _line_ends(sentence: Sentence, breaks: random.Random | None) -> set[int]:
    """Words after which the line ends."""
    inner = range(len(sentence.words) - 1)
    return {i for i in inner if breaks and sentence.spaces[i] and breaks.random() < 0.005}


def _rows(
    sentence: Sentence, first: int, ends: set[int]
) -> Iterator[tuple[str, bool, str, int, str]]:
    """The sentence from position ``first`` on, with a token for each line's end."""
    at = [first + i + sum(end < i for end in ends) for i in range(len(sentence.words))]
    last = len(sentence.words) - 1
    for i, word in enumerate(sentence.words):
        head = at[i] if sentence.heads[i] < 0 else at[sentence.heads[i]]
        space = (sentence.spaces[i] or i == last) and i not in ends
        yield word, space, sentence.tags[i], head, sentence.labels[i]
        if i in ends:
            yield "\n", False, "_SP", at[i], "dep"


class _Seen:
    """Whether a sentence is among some others, white space, case and signs aside."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.keys = {key for text in texts if len(key := normal(text)) >= SHORTEST}
        self.by_start: dict[str, list[str]] = defaultdict(list)
        for key in self.keys:
            self.by_start[key[:SHORTEST]].append(key)

    def __contains__(self, sentence: object) -> bool:
        words = sentence.words if isinstance(sentence, Sentence) else [str(sentence)]
        return normal("".join(words)) in self.keys

    def within(self, text: str) -> bool:
        """Return whether one of them is part of the text."""
        whole = normal(text)
        return any(
            whole.startswith(key, at)
            for at in range(len(whole) - SHORTEST + 1)
            for key in self.by_start.get(whole[at : at + SHORTEST], ())
        )


def normal(text: str) -> str:
    """Letters and digits alone, in lower case."""
    return re.sub(r"[\W_]+", "", text).lower()


def ppi_sentences(data: Path) -> list[str]:
    """Texts of the sentences of the interaction corpora; these train nothing."""
    texts = []
    for corpus in PPI_CORPORA:
        with_lines = "".join(lines_of(data / "ppi" / f"{corpus}.xml.gz"))
        texts += [s.get("text", "") for s in ElementTree.fromstring(with_lines).iter("sentence")]
    return texts


def read_jnlpba(data: Path, vocab: Vocab) -> NameDocs:
    """JNLPBA abstracts, left out those that GENIA's treebank leaves out or does not hold.

    BC2GM has some of the same sentences: what its devel part has does not train, and what its
    train part has is not scored.
    """
    folder = data / "treebanks"
    treebank = set(_abstracts(folder)) - left_out_abstracts(folder)
    seen = kept_for_scoring(data)
    trained = _Seen(" ".join(words) for words, _ in bc2gm_sentences(data, "train"))
    tokenize = BioTokenizer(vocab)
    train, left_out = [], []
    for row in srsly.read_gzip_jsonl(data / "jnlpba" / "train.jsonl.gz"):
        doc = tokenize(row["text"])
        spans = [
            doc.char_span(start, end, label, alignment_mode="expand")
            for start, end, label in row["entities"]
        ]
        doc.user_data["gold"] = row["entities"]
        doc.ents = _disjoint(spans)
        if row["id"].partition("-")[0] not in treebank:
            left_out += [] if trained.within(row["text"]) else [doc]
        elif not seen.within(row["text"]):
            train.append(doc)
    return NameDocs(train, left_out)


def read_bc2gm(data: Path, vocab: Vocab) -> NameDocs:
    """BC2GM sentences as they were written, in our tokens; its devel part is left out.

    A left-out Doc has the places of its names in ``user_data``, as characters without white space:
    those given, and the others that the official score accepts.
    """
    seen = kept_for_scoring(data)
    train = [doc for doc in _bc2gm_docs(data, "train", vocab) if doc.text not in seen]
    return NameDocs(train, list(_bc2gm_docs(data, "devel", vocab)))


def _bc2gm_docs(data: Path, part: str, vocab: Vocab) -> Iterator[Doc]:
    tokenize = BioTokenizer(vocab)
    files = _members(data / "ner" / f"bc2gm-{part}-alternatives.tar.gz")
    gold, accepted = (_places_of(files[name]) for name in ("GENE.eval", "ALTGENE.eval"))
    for line in files[f"{part}.in"].splitlines():
        name, _, text = line.partition(" ")
        doc = tokenize(text)
        at = [i for i, c in enumerate(text) if not c.isspace()]
        doc.ents = _disjoint(
            doc.char_span(at[first], at[last] + 1, "GENE", alignment_mode="expand")
            for first, last in sorted(gold[name])
        )
        doc.user_data |= {"gold": gold[name], "accepted": accepted[name]}
        yield doc


def _members(path: Path) -> dict[str, str]:
    """Texts of the files of an archive, by their names."""
    with tarfile.open(path) as archive:
        return {
            Path(member.name).name: file.read().decode()
            for member in archive
            if (file := archive.extractfile(member))
        }


def _places_of(lines: str) -> dict[str, set[tuple[int, int]]]:
    found: dict[str, set[tuple[int, int]]] = defaultdict(set)
    for line in lines.splitlines():
        name, place, _ = line.split("|", 2)
        first, last = place.split()
        found[name].add((int(first), int(last)))
    return found


def read_events(data: Path, vocab: Vocab) -> NameDocs:
    """Proteins of the event corpora with free licences; all train, none is scored."""
    seen, tokenize = kept_for_scoring(data), BioTokenizer(vocab)
    docs = []
    for corpus in EVENTS:
        files = _members(data / "events" / f"{corpus}.tar.gz")
        for name, text in files.items():
            if not name.endswith(".txt") or seen.within(text):
                continue
            doc = tokenize(text)
            rows = (line.split("\t") for line in files[name[:-4] + ".a1"].splitlines())
            places = sorted(tuple(map(int, row[1].split()[1:3])) for row in rows if len(row) > 2)
            doc.ents = _disjoint(
                doc.char_span(start, end, "PROTEIN", alignment_mode="expand")
                for start, end in places
            )
            docs.append(doc)
    return NameDocs(docs, [])


def kept_for_scoring(data: Path) -> _Seen:
    """Return the sentences that no training data may contain."""
    devel = (" ".join(words) for words, _ in bc2gm_sentences(data, "devel"))
    return _Seen([*ppi_sentences(data), *devel])


def bc2gm_sentences(data: Path, part: str) -> Iterator[tuple[list[str], list[str]]]:
    """Words and name tags of the sentences of a part."""
    words: list[str] = []
    tags: list[str] = []
    for line in lines_of(data / "ner" / f"bc2gm-{part}.tsv.gz"):
        word, _, tag = line.rstrip("\n").partition("\t")
        if word:
            words.append(word)
            tags.append(tag)
        elif words:
            yield words, tags
            words, tags = [], []
    if words:
        yield words, tags


def _disjoint(spans: Iterable[Span | None]) -> list[Span]:
    """Without those that share a token with an earlier one, since ``doc.ents`` refuses them."""
    kept: list[Span] = []
    for span in spans:
        if span is not None and (not kept or span.start >= kept[-1].end):
            kept.append(span)
    return kept
