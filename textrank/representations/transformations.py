"""Transformations of word-position matrices: which positions, and which words, resemble each other.

Every kernel on contexts is ``k(X, Z) = tr(P̂ X' Ŵ Z)`` with P̂ over positions and Ŵ over words. A
transformation is a factor R of ``P̂ = R R'`` or B of ``Ŵ = B B'``, so that features and models are
explicit. They compose: ``Weighting(1.0, 0.025, of=ScaleFree(0.3))`` weights a smooth similarity,
``Mixture`` adds several, of positions or of words. ``learn_positions`` and ``learn_word_vectors``
learn them from text. ``LearnedPositions`` and ``LearnedWords`` are their form in a cfg: training
replaces them by what they learn from the training contexts.

A position is a signed distance in words from the target: -1 is the word before it, +1 the word
after it, 0 the target itself. ``factor`` takes any number of positions or words, repeated or not,
and returns one row for each, in their order; row products are similarities. ``of`` is the inner
transformation that a transformation modifies.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, Literal, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.extmath import randomized_svd

from textrank.features import FeatureNames, Features, Indices, Matrix, SparseMatrix, Vector
from textrank.graphs import Contexts, PositionTransformation, pivoted_cholesky
from textrank.io import MAX_UNPACKED_BYTES, check_utf8, iter_lines, open_bytes, read_arrays
from textrank.representations.collocations import SHIPPED_LEXICONS, load_lexicon
from textrank.representations.contexts import stemmer

# Distance at which each bin begins: the first twelve words alone, then ever wider.
BIN_STARTS = (*range(1, 13), 14, 16, 19, 23, 28, 34, 42, 52, 66, 84, 110, 150, 220, 400)


@dataclass(frozen=True)
class Bag:
    """All positions are alike: ``P̂ = 1 1'``, the bag of words.

    >>> Bag().factor(np.array([-2, 1])).values.toarray().tolist()
    [[1.0], [1.0]]
    """

    def factor(self, positions: NDArray[np.integer]) -> Features:
        """Return R with one row per position and a single column of ones, named "anywhere"."""
        return Features(
            sp.csr_array(np.ones((len(positions), 1))), FeatureNames.from_iterable(["anywhere"])
        )


BAG = Bag()


@dataclass(frozen=True)
class Strict:
    """Each position is like itself only: ``P̂ = I``.

    >>> Strict().factor(np.array([-2, 1])).values.toarray().tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    def factor(self, positions: NDArray[np.integer]) -> Features:
        """Return R with one row per position and one column per distinct position.

        Columns are in ascending order, named by position with its sign, such as "+2".
        """
        distinct, column = np.unique(np.asarray(positions), return_inverse=True)
        cells = (np.ones(len(positions)), (np.arange(len(positions)), column))
        values = sp.csr_array(cells, shape=(len(positions), len(distinct)))
        return Features(values, FeatureNames.from_iterable(_format_signed(p) for p in distinct))


@dataclass(frozen=True)
class Weighting:
    """Near words count more: ``P̂ = diag(u) P̂' diag(u)``, ``u_p = 1/|p|^decay + base``.

    Over the bag of words, the default, this is contextual weighting; the published parameters for
    gene and protein names are 1.5 and 0.025. A kept target (position 0) weighs as much as a
    neighbour.

    >>> np.round(Weighting(decay=1.0, base=0.1).factor(np.array([-2, 1])).values.toarray(), 3)
    array([[0.6],
           [1.1]])
    """

    decay: float = 1.5
    base: float = 0.025
    of: PositionTransformation = BAG

    def __post_init__(self) -> None:
        """Raise ValueError if ``decay`` or ``base`` is negative."""
        if self.decay < 0 or self.base < 0:
            raise ValueError(
                f"decay and base must not be negative, got decay={self.decay}, base={self.base}"
            )

    def factor(self, positions: NDArray[np.integer]) -> Features:
        """Return R with one row per position: the rows of ``of`` times ``weights(positions)``."""
        return self.of.factor(positions).scale(self.weights(positions))

    def weights(self, positions: NDArray[np.integer]) -> Vector:
        """Return the weight u_p of each of n positions, shape (n,); position 0 counts as 1."""
        return np.maximum(np.abs(positions), 1).astype(float) ** -self.decay + self.base


@dataclass(frozen=True)
class Sided:
    """Positions on different sides of the target resemble each other less, by a factor ``across``.

    ``P̂_pq = P̂'_pq (ρ + (1 - ρ) [same side])``, ``ρ = across``. ``Weighting(1.5, 0.05,
    of=Sided(0.5))`` is side-aware weighting: a word counts anywhere, and once more on its own side.

    >>> F = Sided(0.5).factor(np.array([-2, -1, 3])).values.toarray()
    >>> np.round(F @ F.T, 3).tolist()
    [[1.0, 1.0, 0.5], [1.0, 1.0, 0.5], [0.5, 0.5, 1.0]]
    """

    across: float = 0.5
    of: PositionTransformation = BAG

    def __post_init__(self) -> None:
        """Raise ValueError unless ``across`` lies between 0 and 1."""
        _validate_across(self.across)

    def factor(self, positions: NDArray[np.integer]) -> Features:
        """Return R with one row per position.

        It has the columns of ``of`` once for both sides and once for each side (names with the
        prefix both, before, target or after). The similarity of ``of`` is multiplied by ``across``
        for positions on different sides, and kept on the same side. Position 0 is a side of its
        own. Columns that are zero for all the positions are dropped.
        """
        inner = self.of.factor(positions)
        side = np.sign(positions)
        same_side = np.sqrt(1.0 - self.across)
        parts = {"both": inner.scale(self.across**0.5)} if self.across else {}
        if self.across < 1:
            sides = {"before": -1, "target": 0, "after": 1}
            parts |= {name: inner.scale(same_side * (side == s)) for name, s in sides.items()}
        return _drop_empty_columns(Features.hstack(parts))


@dataclass(frozen=True)
class Within:
    """Only positions at most ``span`` words away count.

    >>> Within(2).factor(np.array([-2, 1, 3])).values.toarray().tolist()
    [[1.0], [1.0], [0.0]]
    """

    span: int
    of: PositionTransformation = BAG

    def __post_init__(self) -> None:
        """Raise ValueError for a negative span."""
        if self.span < 0:
            raise ValueError(f"span must not be negative, got {self.span}")

    def factor(self, positions: NDArray[np.integer]) -> Features:
        """Return R with one row per position; rows of positions outside are zero.

        Columns that are zero for all the positions are dropped.
        """
        near = (np.abs(positions) <= self.span).astype(float)
        return _drop_empty_columns(self.of.factor(positions).scale(near))


@dataclass(frozen=True)
class Smooth:
    """An occurrence also counts at positions nearby: ``P̂_pq = exp(-θ (p - q)²)``.

    Positions beyond the first twelve fall into ``bins`` and count as the middle of their bin, so
    that similarities of far positions differ from the formula (by up to 8 % at the default theta);
    pass ``range(1, s + 1)`` to keep s positions apart. ``tolerance`` is the largest error of an
    entry, apart from the bins.

    >>> F = Smooth(theta=0.1).factor(np.array([1, 2, 4])).values.toarray()
    >>> np.round(F @ F.T, 3).tolist()
    [[1.0, 0.905, 0.407], [0.905, 1.0, 0.67], [0.407, 0.67, 1.0]]
    """

    theta: float = 0.1
    bins: Sequence[int] = BIN_STARTS
    tolerance: float = 1e-12

    def __post_init__(self) -> None:
        """Convert bins to a tuple; raise ValueError for settings outside their range.

        Bins start at 1 and grow, the tolerance lies strictly between 0 and 1, theta is positive.
        """
        _validate_smooth(self)

    def factor(self, positions: NDArray[np.integer]) -> Features:
        """Return R with one row per position and one column per pivot of the Cholesky factor.

        R R' differs from P̂ of the binned positions by at most ``tolerance``. A column is named
        "near" and the middle of its pivot's bin, with its sign. Position 0 has a bin of its own.
        """
        distances = _bin_middles((0, *self.bins))
        grid = np.concatenate([-distances[:0:-1], distances])
        grid_index = len(self.bins) + np.sign(positions) * _bin_index(positions, (0, *self.bins))
        return _smooth_factor(self, grid, grid_index, [_format_signed(p) for p in grid])


@dataclass(frozen=True)
class ScaleFree:
    """Far positions blur, near ones stay sharp: ``P̂_pq = exp(-θ (√|p| - √|q|)²)`` on one side.

    Across the target it is ``across`` times that. ``bins`` and ``tolerance`` are as in ``Smooth``.

    >>> F = ScaleFree().factor(np.array([-1, 1, 2])).values.toarray()
    >>> np.round(F @ F.T, 3).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.842], [0.0, 0.842, 1.0]]
    """

    theta: float = 1.0
    across: float = 0.0
    bins: Sequence[int] = BIN_STARTS
    tolerance: float = 1e-12

    def __post_init__(self) -> None:
        """Convert bins to a tuple; raise ValueError for settings outside their range.

        Bins start at 1 and grow, the tolerance lies strictly between 0 and 1, theta is positive,
        and ``across`` lies between 0 and 1.
        """
        _validate_smooth(self)
        _validate_across(self.across)

    def factor(self, positions: NDArray[np.integer]) -> Features:
        """Return R with one row per position.

        Its columns are distance components, once for both sides and once for each side; the
        similarity across sides is multiplied by ``across``. Position 0 is a side of its own.
        Columns that are zero for all the positions are dropped.
        """
        return Sided(self.across, of=_DistanceSimilarity(self, np.sqrt)).factor(positions)


@dataclass(frozen=True)
class LogScale:
    """Like ``ScaleFree`` on logarithms: ``P̂_pq = exp(-θ (ln|p| - ln|q|)²)`` on one side.

    >>> F = LogScale().factor(np.array([-1, 1, 2])).values.toarray()
    >>> np.round(F @ F.T, 3).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.619], [0.0, 0.619, 1.0]]
    """

    theta: float = 1.0
    across: float = 0.0
    bins: Sequence[int] = BIN_STARTS
    tolerance: float = 1e-12

    def __post_init__(self) -> None:
        """Convert bins to a tuple; raise ValueError for settings outside their range.

        Bins start at 1 and grow, the tolerance lies strictly between 0 and 1, theta is positive,
        and ``across`` lies between 0 and 1.
        """
        _validate_smooth(self)
        _validate_across(self.across)

    def factor(self, positions: NDArray[np.integer]) -> Features:
        """Return R with one row per position.

        Its columns are components of the log distance, once for both sides and once for each side;
        the similarity across sides is multiplied by ``across``. Position 0 is a side of its own.
        Columns that are zero for all the positions are dropped.
        """
        return Sided(self.across, of=_DistanceSimilarity(self, _log_distance)).factor(positions)


@dataclass(frozen=True)
class Mixture:
    """Weighted sum of transformations, of positions or of words: ``Σ w_j P̂_j``.

    ``parts`` and ``weights`` are lists of equal length or mappings with equal keys; weights must
    not be negative. ``Mixture([Bag(), Smooth(0.1)], weights=[0.2, 1.0])`` combines topic and
    collocations.

    >>> F = Mixture([Bag(), Strict()], [0.2, 1.0]).factor(np.array([1, 2])).values.toarray()
    >>> np.round(F @ F.T, 3).tolist()
    [[1.2, 0.2], [0.2, 1.2]]
    """

    parts: Sequence[Any] | Mapping[str, Any]
    weights: Sequence[float] | Mapping[str, float]

    def __post_init__(self) -> None:
        """Replace ``parts`` and ``weights`` by validated dictionaries with the same keys.

        Parts of a list are named by their class. Raises ValueError without parts, for a negative
        weight, or unless there is one weight per part.
        """
        parts = self.parts if isinstance(self.parts, Mapping) else _name_by_class(self.parts)
        weights = self.weights
        if not isinstance(weights, Mapping):
            weights = dict(zip(parts, weights, strict=len(parts) == len(weights)))
        if not parts or set(parts) != set(weights) or min(weights.values()) < 0:
            raise ValueError(
                f"weights must be non-negative, one for each of {len(parts)} parts (at least "
                f"one), got {self.weights}"
            )
        object.__setattr__(self, "parts", dict(parts))
        object.__setattr__(self, "weights", {name: float(weights[name]) for name in parts})

    def factor(self, inputs: Any) -> Features:
        """Return the parts' factors side by side, each times the square root of its weight.

        ``inputs`` are positions or words, whichever all parts take. Columns have the part's name as
        first word of their names; a part of weight 0 keeps its columns.
        """
        factors = {name: part.factor(inputs) for name, part in _as_dict(self.parts).items()}
        weights = _as_dict(self.weights)
        return Features.hstack(
            {n: factor.scale(weights[n] ** 0.5) for n, factor in factors.items()}
        )


@dataclass(frozen=True)
class PositionTable:
    """Similarity of binned positions given as a matrix, such as one learned from contexts.

    ``matrix`` is 2b x 2b for b ``bins``: over the bins before the target, farthest first, then
    those after it, nearest first, as in ``bin_positions``. ``tolerance`` is the largest error of an
    entry, relative to the largest entry.

    >>> near = PositionTable([[1.0, 0.5], [0.5, 1.0]], bins=[1])
    >>> F = near.factor(np.array([-1, 1])).values.toarray()
    >>> np.round(F @ F.T, 3).tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """

    matrix: Sequence[Sequence[float]]
    bins: Sequence[int] = BIN_STARTS
    tolerance: float = 1e-12

    def __post_init__(self) -> None:
        """Convert the matrix to tuples of floats and validate it.

        Raises ValueError unless it is symmetric, positive semidefinite and of two sides of bins, or
        for bad bins or tolerance.
        """
        object.__setattr__(self, "matrix", tuple(tuple(map(float, row)) for row in self.matrix))
        _validate_bins(self)
        side = 2 * len(self.bins)
        P = np.asarray(self.matrix)
        if P.shape != (side, side):
            raise ValueError(f"matrix must be {side} x {side}, two sides of bins, got {P.shape}")
        lowest = np.linalg.eigvalsh(P).min()
        if not np.allclose(P, P.T) or lowest < -1e-8 * np.abs(P).max():
            raise ValueError(
                f"matrix must be symmetric and positive semidefinite, its lowest eigenvalue is "
                f"{lowest:.3g}. Project it first, as learn_positions does."
            )

    def factor(self, positions: NDArray[np.integer]) -> Features:
        """Return R with one row per position and one column per pivot of the Cholesky factor.

        R R' is ``matrix`` at the bins of the positions (``bin_positions``), up to ``tolerance``
        times its largest absolute entry. Columns are in the order in which pivots were chosen, with
        names "like" and the middle of the pivot's bin, with its sign.
        """
        P = np.asarray(self.matrix)
        R, pivots = pivoted_cholesky(P, self.tolerance * max(float(np.abs(P).max()), 1e-300))
        distances = _bin_middles(self.bins)
        grid = np.concatenate([-distances[::-1], distances])
        names = FeatureNames.from_iterable(f"like {_format_signed(grid[p])}" for p in pivots)
        return Features(sp.csr_array(R[bin_positions(positions, self.bins)]), names)


def bin_positions(positions: NDArray[np.integer], bins: Sequence[int] = BIN_STARTS) -> Indices:
    """Return the bin of each position on either side of the target, shape (n,) for n positions.

    ``bins`` are the b distances at which a bin begins, ascending from 1; the last bin has no end.
    Bins 0 ... b-1 lie before the target, farthest first, b ... 2b-1 after it, nearest first. A kept
    target (position 0) counts as the word after it.

    >>> bin_positions(np.array([-2, -1, 1, 9]), bins=[1, 2])
    array([0, 1, 2, 3])
    """
    bin_of = _bin_index(positions, bins)
    return len(bins) + np.where(np.asarray(positions) < 0, -1 - bin_of, bin_of)


@dataclass(frozen=True)
class _DistanceSimilarity:
    """Smooth similarity of distances from the target, the same on both sides.

    ``smooth`` gives theta, bins and tolerance; ``scale`` maps distances to the scale on which they
    are compared. Distance 0 has a bin of its own.
    """

    smooth: ScaleFree | LogScale
    scale: Callable[[Vector], Vector]

    def factor(self, positions: NDArray[np.integer]) -> Features:
        """Return R with one row per position and one column per pivot of the Cholesky factor.

        The sign of a position has no effect. A column is named "near" and the middle of its pivot's
        bin, as a distance.
        """
        bins = (0, *self.smooth.bins)
        distances = _bin_middles(bins)
        names = [f"{d:g}" for d in distances]
        return _smooth_factor(
            self.smooth, self.scale(distances), _bin_index(positions, bins), names
        )


def _log_distance(distances: Vector) -> Vector:
    """Return the natural logarithm of each distance; 0 for a distance below 1."""
    return np.log(np.maximum(distances, 1.0))


def _smooth_factor(
    smooth: Smooth | ScaleFree | LogScale, grid: Vector, grid_index: Indices, names: Sequence[str]
) -> Features:
    """Return R of the Gaussian similarity ``exp(-theta (g - h)²)``, one row per position.

    Parameters
    ----------
    smooth
        Gives ``theta`` and ``tolerance``; its other settings are not used.
    grid, names
        Values of the grid points, and their names, from which columns are named.
    grid_index
        Grid point of each position.
    """
    P = np.exp(-smooth.theta * (grid[:, None] - grid[None, :]) ** 2)
    R, pivots = pivoted_cholesky(P, smooth.tolerance)
    return Features(
        sp.csr_array(R[grid_index]), FeatureNames.from_iterable(f"near {names[p]}" for p in pivots)
    )


def _bin_index(positions: NDArray[np.integer], starts: Sequence[int]) -> Indices:
    """Return the bin of the absolute value of each position; 0 below the first start.

    ``starts`` are the smallest values of the bins, ascending; the last bin has no end.
    """
    index = np.searchsorted(np.asarray(starts), np.abs(positions), side="right") - 1
    return np.maximum(index, 0)


def _bin_middles(bins: Sequence[int]) -> Vector:
    """Return the middle of each bin as a float.

    The last bin, which has no end, counts as its start.
    """
    starts = np.asarray(bins, dtype=np.float64)
    ends = np.append(starts[1:] - 1, starts[-1])
    return (starts + ends) / 2


def _drop_empty_columns(F: Features) -> Features:
    """Return the features without columns that are zero in all rows.

    ``F`` itself if there are none.
    """
    used = np.flatnonzero(np.asarray((F.values != 0).sum(axis=0)).ravel())
    if len(used) == len(F.names):
        return F
    return Features(sp.csr_array(sp.csc_array(F.values)[:, used]), F.names.take(used))


def _as_dict(setting: Any) -> dict[str, Any]:
    """Return a mapping as a new dictionary."""
    return dict(setting)


def _name_by_class(parts: Sequence[Any]) -> dict[str, Any]:
    """Return each part under the name of its class, in order.

    If a class occurs twice, each of its parts gets its position among all parts, from 1, as a
    suffix.
    """
    kinds = [type(part).__name__ for part in parts]
    names = [name if kinds.count(name) == 1 else f"{name}_{i}" for i, name in enumerate(kinds, 1)]
    return dict(zip(names, parts, strict=True))


def _format_signed(position: float) -> str:
    """Return a position with its sign, such as "+2"."""
    return f"{position:+g}"


def _validate_bins(settings: Any) -> None:
    """Convert ``settings.bins`` to a tuple of integers in place, and validate bins and tolerance.

    Raises ValueError unless bins start at 1 and grow, and the tolerance lies strictly between 0 and
    1.
    """
    _check_bin_starts(settings)
    if not 0 < settings.tolerance < 1:
        raise ValueError(f"tolerance must lie between 0 and 1, got {settings.tolerance}")


def _check_bin_starts(settings: Any) -> None:
    """Convert ``settings.bins`` to a tuple of integers in place.

    Raises ValueError unless they start at 1 and grow.
    """
    bins = tuple(int(b) for b in settings.bins)
    object.__setattr__(settings, "bins", bins)
    if not bins or bins[0] != 1 or any(b <= a for a, b in pairwise(bins)):
        raise ValueError(f"bins must start at 1 and grow, got {bins}")


def _validate_smooth(settings: Any) -> None:
    """Validate bins, tolerance and theta; convert bins to a tuple in place.

    Raises ValueError unless bins start at 1 and grow, the tolerance lies strictly between 0 and 1,
    and theta is positive.
    """
    _validate_bins(settings)
    if not settings.theta > 0:
        raise ValueError(f"theta must be positive, got {settings.theta}")


def _validate_across(across: float) -> None:
    """Raise ValueError unless ``across`` lies between 0 and 1."""
    if not 0 <= across <= 1:
        raise ValueError(f"across must lie between 0 and 1, got {across}")


@dataclass(frozen=True)
class EqualWords:
    """Each word is like itself only: ``Ŵ = I``.

    >>> EqualWords().factor(["bind", "binds"]).values.toarray().tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    def factor(self, words: Sequence[str]) -> Features:
        """Return B with one row per word and one column per distinct word, by first occurrence."""
        return _one_hot(list(words))


@dataclass(frozen=True)
class SharedStem:
    """Words with the same stem are alike; ``algorithm`` is a stemmer of snowballstemmer.

    >>> SharedStem().factor(["bind", "binds"]).values.toarray().tolist()
    [[1.0], [1.0]]
    """

    algorithm: str = "porter"

    def __post_init__(self) -> None:
        """Raise ValueError unless ``algorithm`` is a stemmer of snowballstemmer or "snowball"."""
        stemmer(self.algorithm)

    def factor(self, words: Sequence[str]) -> Features:
        """Return B with one row per word and one column per stem; words are lowercased first."""
        return _one_hot(stemmer(self.algorithm).stemWords([word.lower() for word in words]))


@dataclass(frozen=True)
class SharedTag:
    """Words with the same most frequent part of speech are alike.

    >>> SharedTag({"gene": "NN", "cell": "NN"}).factor(["gene", "cell"]).values.toarray().tolist()
    [[1.0], [1.0]]
    >>> SharedTag("english").factor(["gene", "cell"]).values.toarray().tolist()
    [[1.0], [1.0]]

    Parameters
    ----------
    tags
        The tag of each word, as ``most_frequent_tags`` finds them; words are looked up as they are,
        case included. A string names a shipped lexicon ("english") or the file of one, see
        ``textrank.representations.collocations.load_lexicon``: words are then looked up in lower
        case, and the first tag of each counts.
    unknown
        "none": a word without a tag resembles no other. "ending": it resembles words without a tag
        that end in the same three letters.
    """

    tags: Mapping[str, str] | str
    unknown: Literal["none", "ending"] = "none"
    file_settings: ClassVar[Mapping[str, Sequence[Any]]] = {"tags": SHIPPED_LEXICONS}

    def __post_init__(self) -> None:
        """Raise ValueError unless ``unknown`` is "none" or "ending" and the lexicon can be read.

        A lexicon given as a string, name or path, is loaded here.
        """
        if self.unknown not in ("none", "ending"):
            raise ValueError(f"unknown must be 'none' or 'ending', got {self.unknown!r}")
        if isinstance(self.tags, str):
            load_lexicon(self.tags)

    def factor(self, words: Sequence[str]) -> Features:
        """Return B with one row per word and one column per tag, or ending of an unknown word.

        With ``unknown="none"``, unknown words have a row of zeros.
        """
        return _one_hot([self._tag(word) for word in words])

    def _tag(self, word: str) -> str | None:
        """Return the tag of a word; if it is unknown, "-" and its last three letters, or None.

        The ending, in lower case, is for ``unknown="ending"``, None for "none".
        """
        if isinstance(self.tags, str):
            tags = load_lexicon(self.tags).get(word.lower(), ())
            tag = tags[0] if tags else None
        else:
            tag = self.tags.get(word)
        return f"-{word.lower()[-3:]}" if tag is None and self.unknown == "ending" else tag


@dataclass(frozen=True)
class CharacterNgrams:
    """Words are alike by their shared letters: the cosine of their character n-gram counts.

    ``shortest`` and ``longest`` are the lengths of n-grams, both included. Word boundaries count as
    letters, so that endings differ from middles; words not seen in training still resemble known
    ones.

    >>> F = CharacterNgrams().factor(["kinase", "kinases", "gene"]).values.toarray()
    >>> np.round(F @ F.T, 2).tolist()
    [[1.0, 0.75, 0.0], [0.75, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """

    shortest: int = 3
    longest: int = 4

    def __post_init__(self) -> None:
        """Raise ValueError unless ``1 <= shortest <= longest`` (lengths of n-grams)."""
        if not 1 <= self.shortest <= self.longest:
            raise ValueError(
                f"n-gram lengths must satisfy 1 <= shortest <= longest, got {self.shortest} and "
                f"{self.longest}"
            )

    def factor(self, words: Sequence[str]) -> Features:
        """Return B with one row per word and one column per n-gram: counts, scaled to length one.

        Columns are in order of first occurrence, so they depend on the words. A word without
        n-grams has a row of zeros.
        """
        rows = [Counter(self._grams(word)) for word in words]
        ids = {gram: i for i, gram in enumerate(dict.fromkeys(g for row in rows for g in row))}
        row = np.repeat(np.arange(len(rows)), [len(grams) for grams in rows])
        column = np.array([ids[gram] for grams in rows for gram in grams], dtype=np.intp)
        value = np.array([count for grams in rows for count in grams.values()], dtype=np.float64)
        values = sp.csr_array((value, (row, column)), shape=(len(rows), len(ids)))
        lengths = np.sqrt(np.asarray(values.multiply(values).sum(axis=1)).ravel())
        return Features(values, FeatureNames.from_iterable(ids)).scale(
            1.0 / np.maximum(lengths, 1e-300)
        )

    def _grams(self, word: str) -> Iterable[str]:
        """Return the n-grams of ``<word>``, shortest first, with repeats.

        If it is shorter than all n-grams, return it whole.
        """
        text = f"<{word}>"
        sizes = range(self.shortest, self.longest + 1)
        # A word shorter than all n-grams is its own.
        return [text[i : i + n] for n in sizes for i in range(len(text) - n + 1)] or [text]


@dataclass(frozen=True, eq=False)
class WordVectors:
    """Words are alike as their vectors are: ``Ŵ = V V'``; an unknown word resembles none.

    ``vectors`` has one row per entry of ``words``; vectors are used as they are, not normalised. If
    a word is listed twice, its last vector counts.

    >>> F = WordVectors(["a", "b"], [[1.0, 0.0], [0.6, 0.8]]).factor(["a", "b", "new"])
    >>> np.round((F.values @ F.values.T).toarray(), 3).tolist()
    [[1.0, 0.6, 0.0], [0.6, 1.0, 0.0], [0.0, 0.0, 0.0]]
    """

    words: Sequence[str]
    vectors: Sequence[Sequence[float]]

    def __post_init__(self) -> None:
        """Convert the words to a tuple and the vectors to a read-only array, copied.

        Raises ValueError unless there is one vector per word, all of one length and finite.
        """
        object.__setattr__(self, "words", tuple(self.words))
        V = np.array(self.vectors, dtype=np.float64)
        if V.ndim != 2 or len(V) != len(self.words) or not np.isfinite(V).all():
            raise ValueError(
                f"vectors must be {len(self.words)} rows of finite numbers, one per word, got an "
                f"array of shape {V.shape}"
            )
        V.flags.writeable = False
        object.__setattr__(self, "vectors", V)

    def __eq__(self, other: object) -> bool:
        """Return whether words, in order, and vectors are exactly equal; False for other types."""
        return (
            isinstance(other, WordVectors)
            and self.words == other.words
            and np.array_equal(self.vectors, other.vectors)
        )

    def __hash__(self) -> int:
        """Return the hash of the words."""
        return hash(self.words)

    def factor(self, words: Sequence[str]) -> Features:
        """Return B with one row per word and one column per dimension, named "vector 0" and so on.

        Unknown words have a row of zeros. Vectors are not normalised.
        """
        V = np.asarray(self.vectors)
        row_of = {word: i for i, word in enumerate(self.words)}
        rows = np.array([row_of.get(word, -1) for word in words], dtype=np.intp)
        values = np.vstack([V, np.zeros((1, V.shape[1]))])[rows]
        return Features(
            sp.csr_array(values),
            FeatureNames.from_iterable(f"vector {i}" for i in range(V.shape[1])),
        )

    def to_disk(self, path: str | Path) -> None:
        """Write words and vectors to one compressed .npz file, which ``WordVectorFile`` reads.

        An existing file is overwritten; numpy appends ".npz" to a path without that suffix.
        """
        arrays: dict[str, Any] = {
            "vectors": self.vectors,
            **FeatureNames.from_iterable(self.words).to_arrays(),
        }
        np.savez_compressed(path, **arrays)


@dataclass(frozen=True)
class WordVectorFile:
    """Word vectors in a file, for use in a cfg.

    The file is an .npz file of ``WordVectors.to_disk`` or a text file, plain or gzip, with one
    ``word v1 v2 ...`` line per word, as word2vec, GloVe and fastText write it; a first line of two
    numbers (words and dimensions) is skipped. Words are looked up as they are: give them in the
    form that the representation uses.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "vectors.txt").write_text("a 1.0\\nc 0.5\\n")
    ...     WordVectorFile(f"{folder}/vectors.txt").factor(["a", "b"]).values.toarray().tolist()
    [[1.0], [0.0]]
    """

    path: str
    file_settings: ClassVar[Mapping[str, Sequence[Any]]] = {"path": ()}

    def __post_init__(self) -> None:
        """Raise ValueError if there is no file at ``path``; its content is not read."""
        if not Path(self.path).is_file():
            raise ValueError(
                f"no word vectors at {self.path!r}: expected an .npz file written by "
                'WordVectors.to_disk, or a text file with one "word v1 v2 ..." line per word. '
                "Check the path."
            )

    def factor(self, words: Sequence[str]) -> Features:
        """Return B with one row per word; unknown words have a row of zeros.

        The file is read once, and again after it changed. Raises ValueError if it is missing or not
        a file of vectors.
        """
        self.__post_init__()
        file = Path(self.path)
        return _read_vectors(str(file.resolve()), file.stat().st_mtime_ns).factor(words)


@dataclass(frozen=True)
class LearnedPositions:
    """Similarity of positions that training learns from its contexts, see ``learn_positions``.

    A model stores the ``PositionTable`` that was learnt. In cross-validation it is learnt again
    from the training part of each fold. It never sees a label.
    """

    bins: Sequence[int] = BIN_STARTS

    def __post_init__(self) -> None:
        """Convert bins to a tuple; raise ValueError unless they start at 1 and grow."""
        _check_bin_starts(self)

    def learn(self, contexts: Contexts) -> PositionTable:
        """Return the similarity of positions in these contexts, rounded to six digits.

        Raises ValueError if no position differs from another.
        """
        table = learn_positions(contexts, bins=self.bins)
        return replace(table, matrix=_round_semidefinite(np.asarray(table.matrix), 6).tolist())

    def factor(self, positions: NDArray[np.integer]) -> Features:
        """Raise ValueError: there is nothing to compare with before training."""
        raise _not_learnt_error(self)


@dataclass(frozen=True)
class LearnedWords:
    """Similarity of words that training learns from its contexts, see ``learn_word_vectors``.

    A model stores the vectors of the ``limit`` most frequent words, rounded to ``digits`` decimals,
    in its cfg. In cross-validation they are learnt again from the training part of each fold. They
    never see a label.

    Parameters
    ----------
    rank, window, minimum
        As in ``learn_word_vectors``; ``rank`` is lowered if there are fewer words.
    limit
        Largest number of words with a vector.
    digits
        Decimals that are kept.
    """

    rank: int = 20
    window: int = 5
    minimum: int = 5
    limit: int = 2000
    digits: int = 3

    def __post_init__(self) -> None:
        """Raise ValueError if rank, window, minimum, limit or digits is below 1."""
        for name in ("rank", "window", "minimum", "limit", "digits"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")

    def learn(self, contexts: Contexts) -> WordVectors:
        """Return vectors of the words of these contexts, each read as a text in order of positions.

        Only the ``limit`` most frequent words count. Vectors have ``rank`` numbers, but fewer than
        words, rounded to ``digits``. Words are in order of falling frequency, those of equal
        frequency by first occurrence. Raises ValueError if fewer than three words occur ``minimum``
        times.
        """
        counts = np.bincount(contexts.words, minlength=len(contexts.vocabulary))
        frequent = np.argsort(-counts, kind="stable")[: self.limit]
        frequent = frequent[counts[frequent] >= self.minimum]
        if len(frequent) < 3:
            raise ValueError(
                f"{len(frequent)} words occur {self.minimum} times in {len(contexts)} contexts: "
                "too few to learn which are alike. Give more text, or lower minimum."
            )
        words = [contexts.vocabulary[i] for i in frequent]
        texts = [
            [contexts.vocabulary[w] for w in context.words[np.argsort(context.positions)]]
            for context in (contexts[slice(i, i + 1)] for i in range(len(contexts)))
        ]
        V = _svd_vectors(texts, words, min(self.rank, len(words) - 1), self.window)
        return WordVectors(words, np.round(V, self.digits).tolist())

    def factor(self, words: Sequence[str]) -> Features:
        """Raise ValueError: there is nothing to compare with before training."""
        raise _not_learnt_error(self)


def _not_learnt_error(transformation: LearnedPositions | LearnedWords) -> ValueError:
    """Return an error that says how to use a transformation that has not been learnt."""
    return ValueError(
        f"{type(transformation).__name__} has not been learnt. Train a pipeline with it, or call "
        "its method learn with contexts."
    )


def _round_semidefinite(P: Matrix, digits: int) -> Matrix:
    """Return P (n, n) rounded to ``digits`` decimals, still positive semidefinite.

    P is made symmetric first. Rounding moves an eigenvalue by at most ``n`` times half a unit of
    the last digit; if the lowest becomes negative, its magnitude, rounded up to such units, is
    added to the diagonal.
    """
    rounded = np.round((P + P.T) / 2, digits)
    lowest = float(np.linalg.eigvalsh(rounded).min())
    unit = 10.0**-digits
    return rounded + np.eye(len(P)) * (np.ceil(max(-lowest, 0.0) / unit) * unit)


def most_frequent_tags(tagged: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the most frequent tag of each word of tagged text; ties go to the earlier tag.

    ``tagged`` are pairs of word and tag, one per token. Words keep their case.

    >>> most_frequent_tags([("binds", "VBZ"), ("binds", "NNS"), ("binds", "VBZ")])
    {'binds': 'VBZ'}
    """
    counts: dict[str, Counter[str]] = {}
    for word, tag in tagged:
        counts.setdefault(word, Counter())[tag] += 1
    return {word: tags.most_common(1)[0][0] for word, tags in counts.items()}


def _one_hot(classes: Sequence[str | None]) -> Features:
    """Return a single 1 per row in the column of its class; a row of zeros for None.

    Columns are the classes, by first occurrence.
    """
    ids = {c: i for i, c in enumerate(dict.fromkeys(c for c in classes if c is not None))}
    column = np.array([ids.get(c, -1) if c is not None else -1 for c in classes], dtype=np.intp)
    row = np.flatnonzero(column >= 0)
    cells = (np.ones(len(row)), (row, column[row]))
    return Features(
        sp.csr_array(cells, shape=(len(classes), len(ids))), FeatureNames.from_iterable(ids)
    )


MAX_VECTOR_RATIO = 10  # of a file of word vectors when it is unpacked; numbers hardly compress


@lru_cache(maxsize=8)
def _read_vectors(path: str, changed: int) -> WordVectors:
    """Read word vectors from an .npz file of ``WordVectors.to_disk`` or from a text file.

    The last eight results are kept. ``changed`` is the file's modification time: it is only part of
    the cache key. Raises ValueError, with the path, if the file is neither.
    """
    with open_bytes(path) as stream:
        is_archive = stream.read(2) == b"PK"
    if not is_archive:
        return _parse_vectors(path)
    size = Path(path).stat().st_size
    arrays = read_arrays(Path(path), max(MAX_UNPACKED_BYTES, MAX_VECTOR_RATIO * size))
    try:
        names, vectors = FeatureNames.from_arrays(arrays), cast(Any, arrays["vectors"])
        return WordVectors([name[0] for name in names], vectors)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise ValueError(
            f"{path}: not an .npz file of WordVectors.to_disk ({error!s:.200}); it has the arrays "
            f"{', '.join(sorted(arrays)) or 'none'}. Write it with WordVectors.to_disk, or give a "
            'text file with one "word v1 v2 ..." line per word.'
        ) from error


def _parse_vectors(path: str) -> WordVectors:
    """Read a text file with one ``word v1 v2 ...`` line per word, separated by white space.

    A first line of two integers is skipped, empty lines too. Raises ValueError, with path and line,
    for a line without values, with another number of them than the first, with a value that is not
    a finite number or not in UTF-8, and if there is no word.
    """
    words: list[str] = []
    rows: list[Vector] = []
    for number, line in iter_lines(path):
        location = f"{path}, line {number}"
        word, *values = check_utf8(line, location).split() or [""]
        if not word or (number == 1 and len(values) == 1 and f"{word}{values[0]}".isdecimal()):
            continue
        try:
            row = np.array(values, dtype=np.float64)
        except ValueError:
            row = np.empty(0)
        if not len(row) or not np.isfinite(row).all() or (rows and len(row) != len(rows[0])):
            wanted = len(rows[0]) if rows else "one or more"
            raise ValueError(
                f'{location}: expected a word and {wanted} numbers ("word v1 v2 ..."), got '
                f"{line!r:.60}. Give such a text file, or an .npz file of WordVectors.to_disk."
            )
        words.append(word)
        rows.append(row)
    if not rows:
        raise ValueError(f'{path}: no word vectors. Expected lines of "word v1 v2 ...".')
    return WordVectors(words, cast(Any, np.array(rows)))


def learn_positions(contexts: Contexts, *, bins: Sequence[int] = BIN_STARTS) -> PositionTable:
    """Learn a similarity of positions: alike if the same words occur there more than by chance.

    With ``f_wp`` the share of word w among the words at p, and ``f_w`` its share everywhere, P̂ is
    ``Σ_w (f_wp - f_w)(f_wq - f_w)``; on the diagonal the two words drawn from p are different
    tokens, because otherwise rare words would make every position like itself. Negative eigenvalues
    are set to 0, and the mean of the diagonal to 1.

    Positions are binned at the distances ``bins``; a bin with fewer than two words resembles none.
    Raises ValueError if no position differs from another.
    """
    counts = _count_by_bin(contexts, bins)
    totals = counts.sum(axis=0)
    everywhere = counts.sum(axis=1) / max(counts.sum(), 1.0)
    shares = counts / np.maximum(totals, 1.0)

    same = shares.T @ shares
    pairs = np.maximum(totals * (totals - 1), 1.0)
    np.fill_diagonal(same, (counts * (counts - 1)).sum(axis=0) / pairs)
    chance = shares.T @ everywhere
    P = same - chance[:, None] - chance[None, :] + everywhere @ everywhere
    used = (totals > 1).astype(float)
    P = _project_semidefinite(P * used[:, None] * used[None, :])

    mean = float(np.diag(P).mean())
    if mean <= 0:
        raise ValueError(
            f"{len(contexts)} contexts with {len(contexts.words)} words show no position that "
            "differs from another. Learn from more text."
        )
    return PositionTable((P / mean).tolist(), bins=bins)


def learn_word_vectors(
    texts: Sequence[Sequence[str]], *, rank: int = 100, window: int = 5, minimum: int = 5
) -> WordVectors:
    """Learn unit vectors of words from their neighbours: truncated SVD of their positive PMI.

    Parameters
    ----------
    texts
        Lists of words, in the form that the representation uses.
    rank
        Length of the vectors; must be below the number of words.
    window
        Largest distance of two words that count as neighbours. Neighbours are in one text, and rare
        words between them count as distance.
    minimum
        Words that occur less often get no vector.

    Returns
    -------
    WordVectors
        Words in order of first occurrence. A word without positive PMI has a vector of zeros.

    Raises
    ------
    ValueError
        If a number is below 1, or if there are not more than ``rank`` words.

    >>> texts = [["gene", "is", "transcribed"], ["protein", "is", "bound"]] * 5
    >>> learn_word_vectors(texts, rank=2).words
    ('gene', 'is', 'transcribed', 'protein', 'bound')
    """
    if rank < 1 or window < 1 or minimum < 1:
        raise ValueError(
            f"rank, window and minimum must be at least 1, got {rank}, {window}, {minimum}"
        )
    counts = Counter(word for text in texts for word in text)
    words = [word for word, count in counts.items() if count >= minimum]
    if len(words) <= rank:
        raise ValueError(
            f"{len(words)} words seen at least {minimum} times are too few for vectors of {rank} "
            "numbers. Give more text, or lower rank or minimum."
        )
    return WordVectors(words, cast(Any, _svd_vectors(texts, words, rank, window)))


def _svd_vectors(
    texts: Sequence[Sequence[str]], words: Sequence[str], rank: int, window: int
) -> Matrix:
    """Return unit vectors (words, rank) of ``words``: truncated SVD of their positive PMI.

    ``texts`` are lists of words; words of one text up to ``window`` apart are neighbours. ``rank``
    must be below the number of words. A word without positive PMI has a row of zeros. The random
    seed is fixed.
    """
    pmi = _positive_pmi(_cooccurrences(texts, words, window))
    U, s, _ = randomized_svd(pmi, n_components=rank, random_state=0)
    V = U * np.sqrt(s)
    return np.asarray(V / np.maximum(np.linalg.norm(V, axis=1, keepdims=True), 1e-300))


def _count_by_bin(contexts: Contexts, bins: Sequence[int]) -> Matrix:
    """Return how often each word occurs in each bin, over all contexts.

    The shape is (words of the vocabulary, 2b) for b ``bins``: first the bins before the target,
    farthest first, then those after it, nearest first. Position 0 counts as 1.
    """
    width = 2 * len(bins)
    cells = contexts.words.astype(np.int64) * width + bin_positions(contexts.positions, bins)
    shape = (len(contexts.vocabulary), width)
    return np.bincount(cells, minlength=shape[0] * width).astype(float).reshape(shape)


def _project_semidefinite(P: Matrix) -> Matrix:
    """Return the nearest positive semidefinite matrix: negative eigenvalues of P set to 0.

    P is made symmetric first.
    """
    w, Q = np.linalg.eigh((P + P.T) / 2)
    return (Q * w.clip(min=0.0)) @ Q.T


def _cooccurrences(
    texts: Sequence[Sequence[str]], words: Sequence[str], window: int
) -> SparseMatrix:
    """Return how often two of ``words`` occur at most ``window`` words apart in a text.

    Symmetric, shape (words, words); two occurrences of one word count twice. Words not listed are
    skipped but count as distance. Cells of repeated pairs are added up.
    """
    ids = {word: i for i, word in enumerate(words)}
    left, right = [], []
    for text in texts:
        numbers = np.array([ids.get(word, -1) for word in text], dtype=np.int64)
        for step in range(1, min(window, len(numbers) - 1) + 1):
            both = (numbers[:-step] >= 0) & (numbers[step:] >= 0)
            left.append(numbers[:-step][both])
            right.append(numbers[step:][both])
    a = np.concatenate([np.empty(0, np.int64), *left, *right])
    b = np.concatenate([np.empty(0, np.int64), *right, *left])
    return sp.csr_array((np.ones(len(a)), (a, b)), shape=(len(words), len(words)))


def _positive_pmi(counts: SparseMatrix) -> SparseMatrix:
    """Return the positive pointwise mutual information of symmetric co-occurrence counts.

    Same shape; negative values and cells without a count are 0.
    """
    cells = counts.tocoo()
    margin = np.asarray(counts.sum(axis=1)).ravel()
    pmi = np.log(cells.data * margin.sum() / (margin[cells.row] * margin[cells.col]))
    return sp.csr_array((pmi.clip(min=0.0), (cells.row, cells.col)), shape=counts.shape)
