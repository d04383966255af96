"""What the network of names knows of words: clusters, vectors, and what lists say of them.

Clusters and vectors come from unlabelled text, the ten million words of ``pubmed`` and the texts of
the name corpora; the lists are symbols and synonyms of human and mouse genes (NCBI) and families
(FamPlex). Nothing of it holds a text.
"""

from __future__ import annotations

import csv
import gzip
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import srsly
from sklearn.cluster import MiniBatchKMeans
from spacy.vocab import Vocab
from workshop.vectors import word_vectors

from textrank.language._ner_network import fold_digits, hash_text
from textrank.language.segmentation import BioTokenizer, tokenize_chunk

CLUSTERS = (64, 256, 1000, 3000)
FREQUENT = 20  # occurrences of words that clusters are made of; others join the nearest
SEEN = 5  # occurrences of a word that has an entry without being listed
SPECIES = ("Homo_sapiens", "Mus_musculus")
_SYMBOL, _SYNONYM, _FAMILY = 1, 2, 4
_KINDS = frozenset({"protein-coding", "ncRNA", "snoRNA", "other", "rRNA", "snRNA"})
_UNNAMED = re.compile(r"(LOC|Gm|OR|Olfr|Vmn|MIR|Mir|SNOR)\d")  # numbered, hardly ever written
_CLONES = re.compile(r"[A-Z]{1,2}\d{5,}$|\d+.*Rik$|.*\d{4,}")
_SHARES = (0.0, 0.05, 0.3, 0.7, 0.95)

Arrays = dict[str, Any]


def build_table(data: Path, texts: Sequence[Sequence[str]], width: int, seed: int) -> Arrays:
    """Arrays of a ``WordTable``, from the unlabelled texts in ``data`` and the words of others."""
    pubmed = list(read_pubmed(data))
    every = [*(words for words, _ in pubmed), *texts]
    forms, vectors = word_vectors(every, fold_digits, width, seed=seed)
    counts = Counter(word for words, _ in pubmed for word in words)
    named = Counter(word for words, marks in pubmed for a, b in marks for word in words[a:b])
    listed = gene_lists(data)
    return {
        **_grouped(forms, vectors, every, seed),
        **_codes("exact", listed, counts, named),
        **_codes("lower", *(_lower(each) for each in (listed, counts, named))),
    }


def read_pubmed(data: Path) -> Iterator[tuple[list[str], list[tuple[int, int]]]]:
    """Words of each document, and where a name of the dictionary begins and ends."""
    tokenize = BioTokenizer(Vocab())
    for path in sorted((data / "pubmed").glob("*.jsonl.gz")):
        for row in srsly.read_gzip_jsonl(path):
            doc = tokenize(row["text"])
            kept = [token for token in doc if not token.is_space]
            starts = np.array([token.idx for token in kept])
            ends = starts + [len(token) for token in kept]
            marks = [
                (int(np.searchsorted(ends, start, "right")), int(np.searchsorted(starts, end)))
                for start, end, *_ in row["names"]
            ]
            yield [token.text for token in kept], marks


def gene_lists(data: Path) -> dict[str, int]:
    """Lists that hold a word, as bits: symbols, synonyms, families."""
    found: Counter[str] = Counter()

    def add(name: str, bit: int) -> None:
        if len(name) > 1 and " " not in name and len(tokenize_chunk(name)) == 1:
            found[name] |= bit

    for species in SPECIES:
        with gzip.open(data / "ids" / f"ncbi-{species}.tsv.gz", "rt", encoding="utf-8") as lines:
            for line in lines:
                row = line.rstrip("\n").split("\t")
                if row[6] in _KINDS and not _UNNAMED.match(row[2]):
                    add(row[2], _SYMBOL)
                    for name in row[3].split("|"):
                        if name != "-" and not _CLONES.match(name):
                            add(name, _SYNONYM)
    path = data / "ids" / "famplex-grounding_map.csv.gz"
    with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
        for row in csv.reader(lines):
            add(row[0], _FAMILY)
    return dict(found)


def _grouped(
    forms: Sequence[str], vectors: Any, texts: Sequence[Sequence[str]], seed: int
) -> Arrays:
    """Clusters and vectors by the numbers of the forms."""
    counts = Counter(fold_digits(word) for text in texts for word in text)
    frequent = vectors[[counts[form] >= FREQUENT for form in forms]]
    clusters = [
        MiniBatchKMeans(min(size, len(frequent)), batch_size=4096, n_init=1, max_iter=8,
                        random_state=seed, init="random").fit(frequent).predict(vectors)
        for size in CLUSTERS
    ]  # fmt: skip
    scale = float(np.quantile(np.abs(vectors), 0.9995)) / 127
    keys, first = np.unique([hash_text(form) for form in forms], return_index=True)
    return {
        "keys": keys.astype(np.uint32),
        "clusters": np.stack(clusters, axis=1).astype(np.uint16)[first],
        "vectors": np.rint(vectors / scale).clip(-127, 127).astype(np.int8)[first],
        "scale": scale,
    }


def _lower(counts: Mapping[str, int]) -> dict[str, int]:
    """Numbers of words in lower case: sums of counts, or all lists that hold one of them."""
    found: dict[str, int] = {}
    together = int.__add__ if isinstance(counts, Counter) else int.__or__
    for word, own in counts.items():
        found[word.lower()] = together(found.get(word.lower(), 0), own)
    return found


def _codes(
    name: str, listed: Mapping[str, int], counts: Mapping[str, int], named: Mapping[str, int]
) -> Arrays:
    """Three bits of lists, and above them how often a word is part of a name."""
    words = {word for word, count in counts.items() if count >= SEEN} | set(listed)
    codes = {
        hash_text(word): listed.get(word, 0) | _share(counts.get(word, 0), named.get(word, 0)) << 3
        for word in sorted(words)
    }
    keys = np.array(sorted(codes), dtype=np.uint32)
    values = np.array([codes[key] for key in keys.tolist()], dtype=np.uint8)
    return {f"{name}_keys": keys, f"{name}_codes": values}


def _share(count: int, named: int) -> int:
    """Nought for a word seen once or never; else by share of names, then by frequency."""
    if count < 2:
        return 0
    share = named / count
    step = 0 if named == 0 else sum(share >= bound for bound in _SHARES)
    return 1 + 3 * step + (count >= 10) + (count >= 100)
