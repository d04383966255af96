"""Build the table of word properties for the network of names: clusters, vectors, gene lists.

Clusters and vectors are trained on unlabelled text: the ten million words of ``pubmed`` and the
texts of the name corpora. The lists are symbols and synonyms of human and mouse genes (NCBI) and
families (FamPlex). No text can be recovered from the table.
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
from workshop.vectors import train_word_vectors

from textrank.language._ner_network import fold_digits, hash_text
from textrank.language.segmentation import BioTokenizer, tokenize_chunk

CLUSTER_SIZES = (64, 256, 1000, 3000)
MIN_CLUSTER_OCCURRENCES = (
    20  # occurrences of words that clusters are made of; others join the nearest
)
MIN_OCCURRENCES = 5  # occurrences of a word that has an entry without being listed
SPECIES = ("Homo_sapiens", "Mus_musculus")
_SYMBOL, _SYNONYM, _FAMILY = 1, 2, 4
_GENE_TYPES = frozenset({"protein-coding", "ncRNA", "snoRNA", "other", "rRNA", "snRNA"})
_NUMBERED_SYMBOL = re.compile(
    r"(LOC|Gm|OR|Olfr|Vmn|MIR|Mir|SNOR)\d"
)  # numbered, hardly ever written
_CLONE_NAME = re.compile(r"[A-Z]{1,2}\d{5,}$|\d+.*Rik$|.*\d{4,}")
_NAME_SHARE_BOUNDS = (0.0, 0.05, 0.3, 0.7, 0.95)

Arrays = dict[str, Any]


def build_word_table(data: Path, texts: Sequence[Sequence[str]], width: int, seed: int) -> Arrays:
    """Return the arrays of a ``WordTable``.

    ``data`` has the folders ``pubmed`` and ``ids``; ``texts`` are further texts as lists of words.
    ``width`` is the size of the vectors.
    """
    pubmed = list(read_pubmed(data))
    all_texts = [*(words for words, _ in pubmed), *texts]
    forms, vectors = train_word_vectors(all_texts, fold_digits, width, seed=seed)
    counts = Counter(word for words, _ in pubmed for word in words)
    named = Counter(word for words, marks in pubmed for a, b in marks for word in words[a:b])
    listed = read_gene_lists(data)
    return {
        **_cluster_forms(forms, vectors, all_texts, seed),
        **_encode_words("exact", listed, counts, named),
        **_encode_words("lower", *(_merge_case(each) for each in (listed, counts, named))),
    }


def read_pubmed(data: Path) -> Iterator[tuple[list[str], list[tuple[int, int]]]]:
    """Yield the words of each document, and (start, end) words of the dictionary's names in it."""
    tokenize = BioTokenizer(Vocab())
    for path in sorted((data / "pubmed").glob("*.jsonl.gz")):
        for row in srsly.read_gzip_jsonl(path):
            doc = tokenize(row["text"])
            tokens = [token for token in doc if not token.is_space]
            starts = np.array([token.idx for token in tokens])
            ends = starts + [len(token) for token in tokens]
            marks = [
                (int(np.searchsorted(ends, start, "right")), int(np.searchsorted(starts, end)))
                for start, end, *_ in row["names"]
            ]
            yield [token.text for token in tokens], marks


def read_gene_lists(data: Path) -> dict[str, int]:
    """Return the lists that hold each word, as the sum of _SYMBOL, _SYNONYM and _FAMILY.

    Only names that the tokenizer leaves whole, of at least two characters.
    """
    bits: Counter[str] = Counter()

    def add(name: str, bit: int) -> None:
        """Add a name to the list with this bit, unless it has one character or several tokens."""
        if len(name) > 1 and " " not in name and len(tokenize_chunk(name)) == 1:
            bits[name] |= bit

    for species in SPECIES:
        with gzip.open(data / "ids" / f"ncbi-{species}.tsv.gz", "rt", encoding="utf-8") as lines:
            for line in lines:
                row = line.rstrip("\n").split("\t")
                if row[6] in _GENE_TYPES and not _NUMBERED_SYMBOL.match(row[2]):
                    add(row[2], _SYMBOL)
                    for name in row[3].split("|"):
                        if name != "-" and not _CLONE_NAME.match(name):
                            add(name, _SYNONYM)
    path = data / "ids" / "famplex-grounding_map.csv.gz"
    with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
        for row in csv.reader(lines):
            add(row[0], _FAMILY)
    return dict(bits)


def _cluster_forms(
    forms: Sequence[str], vectors: Any, texts: Sequence[Sequence[str]], seed: int
) -> Arrays:
    """Return arrays of clusters and rounded vectors by hash of the form.

    Clusters of several sizes are k-means of the vectors of frequent forms; other forms get the
    nearest.
    """
    counts = Counter(fold_digits(word) for text in texts for word in text)
    frequent = vectors[[counts[form] >= MIN_CLUSTER_OCCURRENCES for form in forms]]
    clusters = [
        MiniBatchKMeans(min(size, len(frequent)), batch_size=4096, n_init=1, max_iter=8,
                        random_state=seed, init="random").fit(frequent).predict(vectors)
        for size in CLUSTER_SIZES
    ]  # fmt: skip
    scale = float(np.quantile(np.abs(vectors), 0.9995)) / 127
    keys, first = np.unique([hash_text(form) for form in forms], return_index=True)
    return {
        "keys": keys.astype(np.uint32),
        "clusters": np.stack(clusters, axis=1).astype(np.uint16)[first],
        "vectors": np.rint(vectors / scale).clip(-127, 127).astype(np.int8)[first],
        "scale": scale,
    }


def _merge_case(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the values of words in lower case: sums of counts, or the union of list bits.

    Counts are recognised by the type Counter.
    """
    merged: dict[str, int] = {}
    combine = int.__add__ if isinstance(counts, Counter) else int.__or__
    for word, value in counts.items():
        merged[word.lower()] = combine(merged.get(word.lower(), 0), value)
    return merged


def _encode_words(
    name: str, listed: Mapping[str, int], counts: Mapping[str, int], named: Mapping[str, int]
) -> Arrays:
    """Return sorted hashes and codes of words as the arrays ``{name}_keys`` and ``{name}_codes``.

    The lowest three bits of a code are the lists that hold the word; above them is ``_share_code``.
    """
    words = {word for word, count in counts.items() if count >= MIN_OCCURRENCES} | set(listed)
    codes = {
        hash_text(word): listed.get(word, 0)
        | _share_code(counts.get(word, 0), named.get(word, 0)) << 3
        for word in sorted(words)
    }
    keys = np.array(sorted(codes), dtype=np.uint32)
    values = np.array([codes[key] for key in keys.tolist()], dtype=np.uint8)
    return {f"{name}_keys": keys, f"{name}_codes": values}


def _share_code(count: int, named: int) -> int:
    """Return a code for how often a word occurs and how often in a name; 0 for at most once.

    ``1 + 3 s + f`` with s from 0 to 5 by the share ``named / count`` and f from 0 to 2 by
    frequency.
    """
    if count < 2:
        return 0
    share = named / count
    step = 0 if named == 0 else sum(share >= bound for bound in _NAME_SHARE_BOUNDS)
    return 1 + 3 * step + (count >= 10) + (count >= 100)
