"""Online: an RLS model that takes in one answer at a time, at once, with its held-out scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from textrank.features import Indices, Matrix, Vector
from textrank.learners.base import check_alphas, check_gram, check_targets, rows_by_group
from textrank.learners.holdout import heldout_one_alpha, scatter_scores
from textrank.linalg import inverse, not_psd_error


@dataclass(frozen=True, eq=False)
class OnlineRLS:
    """RLS at one alpha whose inverse ``G = (K + alpha I)^-1`` is an old part and a small border.

    With ``G0`` of the ``n`` old candidates, ``X = C G0`` of the ``m`` new ones and their Schur
    complement ``S^-1 = K_new + alpha I - X C'``, the whole inverse is
    ``[[G0 + X'SX, -X'S], [-SX, S]]``; it is never formed. A new candidate with kernel values
    ``k`` has ``v = G k``, ``s = k(x, x) + alpha - k'v``, coefficient ``(y - k'a) / s``, and takes
    ``v`` times that from the others: one product with ``G0``, O(n^2 + m n). Forgetting is the
    same backwards. The blocks of ``G`` of whole documents are kept beside it, so that held-out
    scores ``y_U - G_UU^-1 a_U`` cost small solves only. Every change gives a new value, equal to
    training anew; ``of`` makes the border part of the old again.

    >>> model = OnlineRLS.empty(alpha=1.0).add(np.empty(0), 1.0, 1.0, 0)
    >>> model = model.add(np.array([0.5]), 1.0, -1.0, 1)
    >>> model.coef.round(3)
    array([ 0.667, -0.667])
    >>> model.forget(1).coef
    array([0.5])
    """

    G: Matrix  # (n, n) of the old candidates
    X: Matrix  # (m, n)
    S: Matrix  # (m, m)
    y: Vector  # (n + m,)
    coef: Vector  # (n + m,)
    documents: Indices  # (n + m,)
    alpha: float
    blocks: DocumentBlocks = field(repr=False)

    @classmethod
    def empty(cls, *, alpha: float) -> OnlineRLS:
        """A model of nothing, which scores zero."""
        (alpha,) = check_alphas([alpha])
        none = np.empty((0, 0))
        return cls(none, none, none, np.empty(0), np.empty(0), _NONE, alpha, DocumentBlocks({}))

    @classmethod
    def of(cls, K: Matrix, y: Vector, documents: Indices, *, alpha: float) -> OnlineRLS:
        """The model of a Gram matrix: one Cholesky inverse, everything old."""
        if not len(y):
            return cls.empty(alpha=alpha)
        (alpha,) = check_alphas([alpha])
        G = inverse(check_gram(K), alpha)
        labels = check_targets(y, len(G))[:, 0]
        groups = np.asarray(documents, dtype=np.intp)
        none = np.empty((0, len(G)))
        blocks = DocumentBlocks.of(G, groups)
        return cls(G, none, np.empty((0, 0)), labels, G @ labels, groups, alpha, blocks)

    def __len__(self) -> int:
        return len(self.y)

    @property
    def fresh(self) -> int:
        """How many candidates are in the border; beyond a few hundred, make it old with ``of``."""
        return len(self.X)

    def times(self, k: Vector) -> Vector:
        """``G k`` for any vector of all candidates."""
        n = len(self.G)
        return self._border(self.G @ k[:n], k)

    def _border(self, inner: Vector, k: Vector) -> Vector:
        n = len(self.G)
        last = self.S @ (k[n:] - self.X @ k[:n])
        return np.concatenate([inner - self.X.T @ last, last])

    def add(self, k: Vector, own: float, y: float, document: int) -> OnlineRLS:
        """With a new candidate: its kernel values with those there are, and with itself."""
        n = len(self.G)
        if k.shape != (len(self),):
            raise ValueError(f"{len(self)} candidates, but {k.shape} kernel values with them")
        inner = self.G @ k[:n]
        v = self._border(inner, k)
        # What the others do not explain of it is at least 0 but for round-off.
        s = max(own - float(k @ v), 0.0) + self.alpha
        coef = (y - float(k @ self.coef)) / s
        t = v[n:]
        S = np.block([[self.S + np.outer(t, t) / s, -t[:, None] / s], [-t[None] / s, 1 / s]])
        return replace(
            self,
            X=np.vstack([self.X, inner]),
            S=S,
            y=np.append(self.y, y),
            coef=np.append(self.coef - v * coef, coef),
            documents=np.append(self.documents, np.intp(document)),
            blocks=self.blocks.add(v, s, len(self), document),
        )

    def forget(self, row: int) -> OnlineRLS:
        """Without one candidate; the rows after it move up.

        Of the border it is as cheap as adding; an old one needs a new inverse, O(n^2).
        """
        if not 0 <= row < len(self):
            raise ValueError(f"no candidate {row} among {len(self)}")
        unit = np.zeros(len(self))
        unit[row] = 1.0
        g = self._border(self.G[:, row] if row < len(self.G) else np.zeros(len(self.G)), unit)
        rest = np.delete(np.arange(len(self)), row)
        coef = self.coef[rest] - g[rest] * (self.coef[row] / g[row])
        kept = {"y": self.y[rest], "coef": coef, "documents": self.documents[rest]}
        blocks = self.blocks.forget(g, row, int(self.documents[row]))
        return replace(self._without(row), **kept, blocks=blocks)

    def _without(self, row: int) -> OnlineRLS:
        n = len(self.G)
        if row >= n:
            j = row - n
            left = np.delete(np.arange(self.fresh), j)
            s = self.S[left, j]
            S = self.S[np.ix_(left, left)] - np.outer(s, s) / self.S[j, j]
            return replace(self, X=self.X[left], S=S)
        left = np.delete(np.arange(n), row)
        g = self.G[left, row]
        G = self.G[np.ix_(left, left)] - np.outer(g, g) / self.G[row, row]
        # X = C G0: without a column of C, and with the new inverse of the others.
        x = self.X[:, row] / self.G[row, row]
        X = self.X[:, left] - np.outer(x, g)
        S = self.S - _shrunk(self.S, self.X[:, row], float(self.G[row, row]))
        return replace(self, G=G, X=X, S=S)

    def relabel(self, row: int, y: float) -> OnlineRLS:
        """With another answer to a candidate."""
        unit = np.zeros(len(self))
        unit[row] = y - self.y[row]
        labels = self.y.copy()
        labels[row] = y
        return replace(self, y=labels, coef=self.coef + self.times(unit))

    @property
    def heldout(self) -> Vector:
        """Each candidate scored without its document."""
        scores = np.empty(len(self))
        for index, values in self.blocks.stacks.values():
            scores[index] = self.y[index] - _solved(values, self.coef[index])
        return scores

    def without(self, document: int) -> Vector:
        """The coefficients of all candidates in the model that never saw this document."""
        index, values = self.blocks.block(document)
        if not len(index):
            return self.coef
        z = np.zeros(len(self))
        z[index] = np.linalg.solve(values, self.coef[index])
        old = index[index < len(self.G)]
        inner = z[old] @ self.G[old] if len(old) else np.zeros(len(self.G))
        found = self.coef - self._border(inner, z)
        found[index] = 0.0
        return found


_NONE = np.empty(0, dtype=np.intp)


def _shrunk(S: Matrix, x: Vector, g: float) -> Matrix:
    """What ``S`` loses when an old candidate goes: its ``x x' / g`` is unexplained from now on."""
    u = S @ x
    return np.outer(u, u) / (g + float(x @ u))


def _solved(values: Matrix, right: Matrix) -> Matrix:
    if values.shape[-1] == 1:
        return np.asarray(right / values[:, :, 0])
    return np.asarray(np.linalg.solve(values, right[:, :, None])[:, :, 0])


@dataclass(frozen=True, eq=False)
class DocumentBlocks:
    """The blocks of an inverse on whole documents, those of one size in one array."""

    stacks: Mapping[int, tuple[Indices, Matrix]]  # size: rows (b, h), blocks (b, h, h)
    numbers: Mapping[int, Indices] = field(default_factory=dict)  # size: the documents (b,)

    @classmethod
    def of(cls, G: Matrix, documents: Indices) -> DocumentBlocks:
        """Cut out of an inverse."""
        groups = rows_by_group(documents, len(G), name="documents")
        found = cls({})
        for size in sorted({len(group) for group in groups}):
            index = np.stack([group for group in groups if len(group) == size])
            stack = index, G[index[:, :, None], index[:, None, :]]
            found = found._with(size, stack, documents[index[:, 0]])
        return found

    def block(self, document: int) -> tuple[Indices, Matrix]:
        """The rows of a document and their block; none where it has no row."""
        for size, numbers in self.numbers.items():
            for place in np.flatnonzero(numbers == document):
                index, values = self.stacks[size]
                return index[place], values[place]
        return _NONE, np.empty((0, 0))

    def add(self, v: Vector, s: float, row: int, document: int) -> DocumentBlocks:
        """After ``v v' / s`` was added to the inverse, and a row and column ``-v / s``."""
        grown = self._outer(v, 1 / s)
        index, values = grown.block(document)
        edge = -v[index] / s
        larger = np.block([[values, edge[:, None]], [edge[None], np.array([[1 / s]])]])
        return grown._drop(document)._put(np.append(index, np.intp(row)), larger, document)

    def forget(self, g: Vector, row: int, document: int) -> DocumentBlocks:
        """After a row left; ``g`` is its column of the inverse."""
        index, values = self.block(document)
        rest = index != row
        left = values[np.ix_(rest, rest)] - np.outer(g[index[rest]], g[index[rest]]) / g[row]
        shrunk = self._drop(document)._outer(g, -1 / g[row])
        found = shrunk._put(index[rest], left, document) if rest.any() else shrunk
        return found._moved(row)

    def _outer(self, v: Vector, factor: float) -> DocumentBlocks:
        """With ``factor v v'`` added to every block."""
        stacks = {}
        for size, (index, values) in self.stacks.items():
            u = v[index]
            stacks[size] = index, values + factor * u[:, :, None] * u[:, None, :]
        return replace(self, stacks=stacks)

    def _put(self, index: Indices, values: Matrix, document: int) -> DocumentBlocks:
        size = len(index)
        if size not in self.stacks:
            return self._with(size, (index[None], values[None]), np.array([document]))
        rows, blocks = self.stacks[size]
        stack = np.vstack([rows, index[None]]), np.concatenate([blocks, values[None]])
        return self._with(size, stack, np.append(self.numbers[size], np.intp(document)))

    def _drop(self, document: int) -> DocumentBlocks:
        size = len(self.block(document)[0])
        if not size:
            return self
        keep = self.numbers[size] != document
        rows, blocks = self.stacks[size]
        return self._with(size, (rows[keep], blocks[keep]), self.numbers[size][keep])

    def _with(self, size: int, stack: tuple[Indices, Matrix], numbers: Indices) -> DocumentBlocks:
        stacks, named = {**self.stacks, size: stack}, {**self.numbers, size: numbers}
        if not len(numbers):
            del stacks[size], named[size]
        return DocumentBlocks(stacks, named)

    def _moved(self, row: int) -> DocumentBlocks:
        """With the rows behind one that left moved up."""
        stacks = {s: (index - (index > row), b) for s, (index, b) in self.stacks.items()}
        return replace(self, stacks=stacks)


REFINEMENTS = 2  # steps of iterative refinement, O(n^2) each; the first does nearly all


@dataclass(frozen=True, eq=False)
class UpdatableRLS:
    """RLS at one alpha with its inverse ``G = (K + alpha I)^-1``; every change gives a new value.

    Adding or forgetting ``m`` of ``n`` candidates is a block inverse, O(n^2 m), and the result
    equals training anew. So does forgetting: nothing of a forgotten document remains. ``K`` is
    kept to refine the coefficients: where alpha is small, the round-off of block inverses alone
    would show in the scores.

    >>> model = UpdatableRLS.of(np.eye(3), np.array([1.0, -1.0, 1.0]), np.array([0, 0, 1]), alpha=1.0)
    >>> model.forget([1]).coef
    array([ 0.5, -0.5])
    """

    K: Matrix  # (n, n)
    G: Matrix  # (n, n)
    y: Vector  # (n,)
    documents: Indices  # (n,)
    alpha: float

    @classmethod
    def of(cls, K: Matrix, y: Vector, documents: Indices, *, alpha: float) -> UpdatableRLS:
        """One Cholesky inverse."""
        K = check_gram(K)
        (alpha,) = check_alphas([alpha])
        labels = check_targets(y, len(K))[:, 0]
        rows_by_group(documents, len(K), name="documents")
        return cls(K, inverse(K, alpha), labels, np.asarray(documents), alpha)

    @property
    def coef(self) -> Vector:
        """The coefficients of the candidates it remembers, in their order."""
        a = self.G @ self.y
        for _ in range(REFINEMENTS):
            a = a + self.G @ (self.y - self.K @ a - self.alpha * a)
        return np.asarray(a)

    @property
    def heldout(self) -> Vector:
        """Each candidate scored without its document.

        This takes a Cholesky inverse of its own: the round-off that block inverses gather is
        refined away from the coefficients, but would stay in the blocks of ``G`` used here.
        """
        groups = rows_by_group(self.documents, len(self.y), name="documents")
        G, Y = inverse(self.K, self.alpha), self.y[:, None]
        parts = heldout_one_alpha(G, Y, G @ Y, groups)
        return scatter_scores(parts, np.empty((1, len(Y), 1)))[0, :, 0]

    def add(self, cross: Matrix, own: Matrix, y: Vector, documents: Indices) -> UpdatableRLS:
        """With new candidates: kernel values with the old ones (m, n) and among themselves."""
        own = check_gram(own)
        m, n = len(own), len(self.y)
        cross = np.asarray(cross, dtype=np.float64)
        if cross.shape != (m, n):
            raise ValueError(
                f"{m} new candidates and {n} old ones, but kernel values {cross.shape}"
            )
        labels = check_targets(y, m)[:, 0]
        rows_by_group(documents, m, name="documents")
        X = cross @ self.G  # (m, n)
        S = _complement_inverse(own, X @ cross.T, self.alpha)
        G = np.empty((n + m, n + m))
        G[:n, :n] = self.G + X.T @ S @ X
        G[n:, :n] = -S @ X
        G[:n, n:] = G[n:, :n].T
        G[n:, n:] = S
        both = np.concatenate([self.documents, np.asarray(documents)])
        K = np.block([[self.K, cross.T], [cross, own]])
        return UpdatableRLS(K, G, np.concatenate([self.y, labels]), both, self.alpha)

    def forget(self, documents: Any) -> UpdatableRLS:
        """Without the candidates of these documents."""
        gone = np.isin(self.documents, documents)
        unknown = np.setdiff1d(documents, self.documents)
        if len(unknown):
            raise ValueError(f"document {unknown[0].item()!r} is not among those of the model")
        if gone.all():
            raise ValueError("nothing would be left to learn from. Keep at least one document.")
        out, rest = np.flatnonzero(gone), np.flatnonzero(~gone)
        between = self.G[np.ix_(rest, out)]
        G = self.G[np.ix_(rest, rest)] - between @ np.linalg.solve(
            self.G[np.ix_(out, out)], between.T
        )
        return replace(
            self,
            K=self.K[np.ix_(rest, rest)],
            G=(G + G.T) / 2,
            y=self.y[rest],
            documents=self.documents[rest],
        )


def _complement_inverse(own: Matrix, explained: Matrix, alpha: float) -> Matrix:
    """``(own - explained + alpha I)^-1``, whose eigenvalues are at most ``1 / alpha``.

    What the old candidates do not explain of the new ones is positive semi-definite; the
    difference of two nearly equal matrices is so but for round-off, which is clipped.
    """
    w, V = np.linalg.eigh(own - (explained + explained.T) / 2)
    limit = 1e-8 * max(float(np.trace(own)), alpha)
    if w[0] < -limit:
        raise not_psd_error(f"the new candidates add an eigenvalue of {w[0]:.3g}")
    return np.asarray((V / (w.clip(min=0) + alpha)) @ V.T)
