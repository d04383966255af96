"""Transformations of words: which words resemble each other, whatever their position.

Each gives a factor of ``Ŵ = B B'``. Alone they replace equality of words; ``Mixture([EqualWords(),
SharedTag(tags)], weights=[1.0, 0.2])`` adds to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from textrank.representations.contexts.words import stemmer
from textrank.types import Features, Names


@dataclass(frozen=True)
class EqualWords:
    """Each word like itself only: ``Ŵ = I``.

    >>> EqualWords().factor(["bind", "binds"]).values.toarray().tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    def factor(self, words: Sequence[str]) -> Features:
        """A factor of the similarities, a row a word."""
        return _one_each(list(words))


@dataclass(frozen=True)
class SharedStem:
    """Words of one stem are alike; ``algorithm`` is a stemmer of snowballstemmer.

    >>> SharedStem().factor(["bind", "binds"]).values.toarray().tolist()
    [[1.0], [1.0]]
    """

    algorithm: str = "porter"

    def __post_init__(self) -> None:
        stemmer(self.algorithm)

    def factor(self, words: Sequence[str]) -> Features:
        """A factor of the similarities, a row a word."""
        return _one_each(stemmer(self.algorithm).stemWords([word.lower() for word in words]))


@dataclass(frozen=True)
class SharedTag:
    """Words whose most frequent part of speech is the same are alike; an unknown word has none.

    ``most_frequent_tags`` finds the tags in tagged text.

    >>> SharedTag({"gene": "NN", "cell": "NN"}).factor(["gene", "cell"]).values.toarray().tolist()
    [[1.0], [1.0]]
    """

    tags: Mapping[str, str]

    def factor(self, words: Sequence[str]) -> Features:
        """A factor of the similarities, a row a word."""
        return _one_each([self.tags.get(word) for word in words])


@dataclass(frozen=True)
class CharacterNgrams:
    """Words are alike by their shared letters: the cosine of their character n-grams.

    Word boundaries count as letters, so endings are told from middles, and words never seen in
    training still resemble known ones.

    >>> F = CharacterNgrams().factor(["kinase", "kinases", "gene"]).values.toarray()
    >>> np.round(F @ F.T, 2).tolist()
    [[1.0, 0.75, 0.0], [0.75, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """

    shortest: int = 3
    longest: int = 4

    def __post_init__(self) -> None:
        if not 1 <= self.shortest <= self.longest:
            raise ValueError(
                f"n-gram lengths must satisfy 1 <= shortest <= longest, got {self.shortest} and "
                f"{self.longest}"
            )

    def factor(self, words: Sequence[str]) -> Features:
        """A factor of the similarities, a row a word."""
        rows = [Counter(self._grams(word)) for word in words]
        ids = {gram: i for i, gram in enumerate(dict.fromkeys(g for row in rows for g in row))}
        row = np.repeat(np.arange(len(rows)), [len(grams) for grams in rows])
        column = np.array([ids[gram] for grams in rows for gram in grams], dtype=np.intp)
        value = np.array([count for grams in rows for count in grams.values()], dtype=np.float64)
        values = sp.csr_array((value, (row, column)), shape=(len(rows), len(ids)))
        lengths = np.sqrt(np.asarray(values.multiply(values).sum(axis=1)).ravel())
        return Features(values, Names.of(ids)).scaled(1.0 / np.maximum(lengths, 1e-300))

    def _grams(self, word: str) -> Iterable[str]:
        text = f"<{word}>"
        sizes = range(self.shortest, self.longest + 1)
        # A word shorter than all n-grams is its own.
        return [text[i : i + n] for n in sizes for i in range(len(text) - n + 1)] or [text]


@dataclass(frozen=True, eq=False)
class WordVectors:
    """Words are alike as their vectors are: ``Ŵ = V V'``; an unknown word resembles none.

    >>> F = WordVectors(["a", "b"], [[1.0, 0.0], [0.6, 0.8]]).factor(["a", "b", "new"])
    >>> np.round((F.values @ F.values.T).toarray(), 3).tolist()
    [[1.0, 0.6, 0.0], [0.6, 1.0, 0.0], [0.0, 0.0, 0.0]]
    """

    words: Sequence[str]
    vectors: Sequence[Sequence[float]]

    def __post_init__(self) -> None:
        object.__setattr__(self, "words", tuple(self.words))
        V = np.array(self.vectors, dtype=np.float64)
        if V.ndim != 2 or len(V) != len(self.words) or not np.isfinite(V).all():
            raise ValueError(
                f"vectors must be {len(self.words)} rows of finite numbers, one a word, got an "
                f"array of shape {V.shape}"
            )
        V.flags.writeable = False
        object.__setattr__(self, "vectors", V)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, WordVectors)
            and self.words == other.words
            and np.array_equal(self.vectors, other.vectors)
        )

    def __hash__(self) -> int:
        return hash(self.words)

    def factor(self, words: Sequence[str]) -> Features:
        """A factor of the similarities, a row a word."""
        V = np.asarray(self.vectors)
        row_of = {word: i for i, word in enumerate(self.words)}
        at = np.array([row_of.get(word, -1) for word in words], dtype=np.intp)
        values = np.vstack([V, np.zeros((1, V.shape[1]))])[at]
        return Features(sp.csr_array(values), Names.of(f"vector {i}" for i in range(V.shape[1])))

    def to_disk(self, path: str | Path) -> None:
        """Writes the vectors to one .npz file, which ``WordVectorFile`` reads."""
        arrays: dict[str, Any] = {"vectors": self.vectors, **Names.of(self.words).to_arrays()}
        np.savez_compressed(path, **arrays)


@dataclass(frozen=True)
class WordVectorFile:
    """Word vectors kept in a file that ``WordVectors.to_disk`` wrote; the form a cfg can state.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     WordVectors(["a"], [[1.0]]).to_disk(f"{folder}/vectors.npz")
    ...     WordVectorFile(f"{folder}/vectors.npz").factor(["a", "b"]).values.toarray().tolist()
    [[1.0], [0.0]]
    """

    path: str

    def factor(self, words: Sequence[str]) -> Features:
        """A factor of the similarities, a row a word."""
        file = Path(self.path)
        if not file.is_file():
            raise FileNotFoundError(
                f"no word vectors at {self.path!r}. Write them with WordVectors.to_disk."
            )
        return _read_vectors(str(file.resolve()), file.stat().st_mtime_ns).factor(words)


def most_frequent_tags(tagged: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The most frequent tag of each word of some tagged text; ties go to the earlier tag.

    >>> most_frequent_tags([("binds", "VBZ"), ("binds", "NNS"), ("binds", "VBZ")])
    {'binds': 'VBZ'}
    """
    counts: dict[str, Counter[str]] = {}
    for word, tag in tagged:
        counts.setdefault(word, Counter())[tag] += 1
    return {word: tags.most_common(1)[0][0] for word, tags in counts.items()}


def _one_each(classes: Sequence[str | None]) -> Features:
    """A single 1 a row, in the column of its class; none where it has no class."""
    ids = {c: i for i, c in enumerate(dict.fromkeys(c for c in classes if c is not None))}
    column = np.array([ids.get(c, -1) if c is not None else -1 for c in classes], dtype=np.intp)
    row = np.flatnonzero(column >= 0)
    cells = (np.ones(len(row)), (row, column[row]))
    return Features(sp.csr_array(cells, shape=(len(classes), len(ids))), Names.of(ids))


@lru_cache(maxsize=8)
def _read_vectors(path: str, changed: int) -> WordVectors:
    with np.load(path, allow_pickle=False) as arrays:
        names = Names.from_arrays(arrays)
        return WordVectors([name[0] for name in names], arrays["vectors"])
