"""RLS models that are updated instead of retrained, with exact held-out scores.

``OnlineRLS`` adds, removes and relabels one candidate at a time; ``DocumentBlocks`` keeps what its
held-out scores need. ``UpdatableRLS`` adds and removes whole documents, ``UpdatableRankRLS`` whole
queries.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from textrank.features import Indices, Matrix, Vector
from textrank.learners.base import check_alphas, check_gram, check_targets, rows_by_group
from textrank.learners.holdout import heldout_one_alpha, scatter_scores
from textrank.learners.rankrls import QueryCentring
from textrank.linalg import inverse, not_psd_error


@dataclass(frozen=True, eq=False)
class OnlineRLS:
    """RLS model at one alpha to which single candidates can be added, in O(n^2 + m n) each.

    Its inverse ``G = (K + alpha I)^-1`` is an old part and a small border.

    With ``G0`` of the ``n`` old candidates, ``X = C G0`` of the ``m`` new ones and their Schur
    complement ``S^-1 = K_new + alpha I - X C'``, the whole inverse is
    ``[[G0 + X'SX, -X'S], [-SX, S]]``; it is never formed. A new candidate with kernel values
    ``k`` has ``v = G k``, ``s = k(x, x) + alpha - k'v``, coefficient ``(y - k'a) / s``, and takes
    ``v`` times that from the others: one product with ``G0``, O(n^2 + m n). Forgetting reverses
    this. The blocks of ``G`` of whole documents are kept beside it, so that held-out
    scores ``y_U - G_UU^-1 a_U`` cost small solves only. Every change gives a new value, equal to
    retraining; ``from_gram`` makes the border part of the old again.

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
        """Return a model without candidates; raise ValueError unless alpha is positive."""
        (alpha,) = check_alphas([alpha])
        none = np.empty((0, 0))
        return cls(none, none, none, np.empty(0), np.empty(0), _NO_ROWS, alpha, DocumentBlocks({}))

    @classmethod
    def from_gram(cls, K: Matrix, y: Vector, documents: Indices, *, alpha: float) -> OnlineRLS:
        """Train on a Gram matrix (n, n) by one Cholesky inverse; the border is empty.

        ``y`` (n,) are labels, ``documents`` (n,) the number of the document of each candidate. No
        labels give the empty model. Raises ValueError for inputs that do not fit together and if
        ``K`` is not a Gram matrix.
        """
        if not len(y):
            return cls.empty(alpha=alpha)
        (alpha,) = check_alphas([alpha])
        G = inverse(check_gram(K), alpha)
        labels = check_targets(y, len(G))[:, 0]
        groups = np.asarray(documents, dtype=np.intp)
        none = np.empty((0, len(G)))
        blocks = DocumentBlocks.from_inverse(G, groups)
        return cls(G, none, np.empty((0, 0)), labels, G @ labels, groups, alpha, blocks)

    def __len__(self) -> int:
        """Return the number of candidates, ``n + m``."""
        return len(self.y)

    @property
    def border_size(self) -> int:
        """Number of candidates in the border; beyond a few hundred, rebuild with ``from_gram``."""
        return len(self.X)

    def multiply_inverse(self, k: Vector) -> Vector:
        """Return ``G k`` for a vector (n + m,), ``G`` the inverse of all candidates."""
        n = len(self.G)
        return self._border(self.G @ k[:n], k)

    def _border(self, inner: Vector, k: Vector) -> Vector:
        """Return ``G k`` (n + m,) from ``k`` (n + m,) and ``inner = G0 k`` (n,).

        ``G0`` is the inverse of the ``n`` old candidates.
        """
        n = len(self.G)
        last = self.S @ (k[n:] - self.X @ k[:n])
        return np.concatenate([inner - self.X.T @ last, last])

    def add(self, k: Vector, own: float, y: float, document: int) -> OnlineRLS:
        """Return the model with one more candidate, as the last one; this model is not changed.

        ``k`` (n + m,) are its kernel values with the present candidates, ``own`` with itself, ``y``
        its label, ``document`` the number of its document, old or new. It joins the border. That
        the Gram matrix stays positive semi-definite is not checked. Raises ValueError if ``k`` has
        another length.
        """
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
        """Return the model without one candidate; the rows after it move up.

        A candidate of the border is as cheap as adding; an old one needs a new inverse, O(n^2).
        Raises ValueError if there is no such row.
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
        """Return the model with ``G``, ``X`` and ``S`` without a candidate, other fields unchanged.

        ``row`` counts the candidates of ``G`` first, then those added later. The result is not
        consistent until ``forget`` replaces the other fields.
        """
        n = len(self.G)
        if row >= n:
            j = row - n
            left = np.delete(np.arange(self.border_size), j)
            s = self.S[left, j]
            S = self.S[np.ix_(left, left)] - np.outer(s, s) / self.S[j, j]
            return replace(self, X=self.X[left], S=S)
        left = np.delete(np.arange(n), row)
        g = self.G[left, row]
        G = self.G[np.ix_(left, left)] - np.outer(g, g) / self.G[row, row]
        # X = C G0: without a column of C, and with the new inverse of the others.
        x = self.X[:, row] / self.G[row, row]
        X = self.X[:, left] - np.outer(x, g)
        S = self.S - _removed_part(self.S, self.X[:, row], float(self.G[row, row]))
        return replace(self, G=G, X=X, S=S)

    def relabel(self, row: int, y: float) -> OnlineRLS:
        """Return the model with another label ``y`` of the candidate ``row``; O(n^2).

        Raises IndexError if there is no such row; negative rows count from the end.
        """
        unit = np.zeros(len(self))
        unit[row] = y - self.y[row]
        labels = self.y.copy()
        labels[row] = y
        return replace(self, y=labels, coef=self.coef + self.multiply_inverse(unit))

    @property
    def heldout(self) -> Vector:
        """Score (n + m,) of each candidate by the model without its document; computed anew."""
        scores = np.empty(len(self))
        for index, values in self.blocks.stacks.values():
            scores[index] = self.y[index] - _solve_blocks(values, self.coef[index])
        return scores

    def coef_without(self, document: int) -> Vector:
        """Return coefficients (n + m,) of the model without a document, 0 for its candidates.

        For a document without candidates the array ``coef`` itself is returned, not a copy.
        """
        index, values = self.blocks.block(document)
        if not len(index):
            return self.coef
        z = np.zeros(len(self))
        z[index] = np.linalg.solve(values, self.coef[index])
        old = index[index < len(self.G)]
        inner = z[old] @ self.G[old] if len(old) else np.zeros(len(self.G))
        coef = self.coef - self._border(inner, z)
        coef[index] = 0.0
        return coef


_NO_ROWS = np.empty(0, dtype=np.intp)


def _removed_part(S: Matrix, x: Vector, g: float) -> Matrix:
    """Return ``S x x'S / (g + x'S x)``, shape (m, m), of symmetric ``S`` (m, m).

    This rank-one term is what ``S`` loses if an old candidate is removed (Sherman-Morrison); ``x``
    (m,) is the candidate's column of ``X`` and ``g`` its diagonal entry of ``G``.
    """
    u = S @ x
    return np.outer(u, u) / (g + float(x @ u))


def _solve_blocks(values: Matrix, right: Matrix) -> Matrix:
    """Return solutions (b, h) for blocks (b, h, h) and right sides (b, h).

    Raises LinAlgError if a block of several rows is singular.
    """
    if values.shape[-1] == 1:
        return np.asarray(right / values[:, :, 0])
    return np.asarray(np.linalg.solve(values, right[:, :, None])[:, :, 0])


@dataclass(frozen=True, eq=False)
class DocumentBlocks:
    """Blocks of an inverse on whole documents, those of one size stacked in one array.

    A stack has ``b`` documents of ``h`` rows. Values are never changed in place: methods return new
    ones.
    """

    stacks: Mapping[int, tuple[Indices, Matrix]]  # size: rows (b, h), blocks (b, h, h)
    numbers: Mapping[int, Indices] = field(default_factory=dict)  # size: the documents (b,)

    @classmethod
    def from_inverse(cls, G: Matrix, documents: Indices) -> DocumentBlocks:
        """Cut the blocks of the documents (n,) out of an inverse (n, n).

        ``documents`` is the document of each row; rows of a document need not be adjacent and are
        kept in ascending order.
        """
        groups = rows_by_group(documents, len(G), name="documents")
        blocks = cls({})
        for size in sorted({len(group) for group in groups}):
            index = np.stack([group for group in groups if len(group) == size])
            stack = index, G[index[:, :, None], index[:, None, :]]
            blocks = blocks._with(size, stack, documents[index[:, 0]])
        return blocks

    def block(self, document: int) -> tuple[Indices, Matrix]:
        """Return the ascending rows (h,) of a document and their block (h, h).

        Both are empty if the document has no row.
        """
        for size, numbers in self.numbers.items():
            for position in np.flatnonzero(numbers == document):
                index, values = self.stacks[size]
                return index[position], values[position]
        return _NO_ROWS, np.empty((0, 0))

    def add(self, v: Vector, s: float, row: int, document: int) -> DocumentBlocks:
        """Return the blocks after a candidate was added to the inverse as ``row``.

        It adds ``v v' / s`` to the old entries, and a row and column ``-v / s`` with diagonal
        ``1 / s``; ``v`` has an entry for each old row. ``document`` is that of the candidate, known
        or new.
        """
        grown = self._outer(v, 1 / s)
        index, values = grown.block(document)
        edge = -v[index] / s
        larger = np.block([[values, edge[:, None]], [edge[None], np.array([[1 / s]])]])
        return grown._drop(document)._put(np.append(index, np.intp(row)), larger, document)

    def forget(self, g: Vector, row: int, document: int) -> DocumentBlocks:
        """Return the blocks after a row of ``document`` was removed; rows behind it move up.

        ``g`` is its column of the inverse. A document without further rows is dropped.
        """
        index, values = self.block(document)
        rest = index != row
        left = values[np.ix_(rest, rest)] - np.outer(g[index[rest]], g[index[rest]]) / g[row]
        shrunk = self._drop(document)._outer(g, -1 / g[row])
        blocks = shrunk._put(index[rest], left, document) if rest.any() else shrunk
        return blocks._moved(row)

    def _outer(self, v: Vector, factor: float) -> DocumentBlocks:
        """Return the blocks after ``factor v v'`` was added to the inverse; ``v`` has all rows.

        Entries of the inverse outside the blocks do not matter.
        """
        stacks = {}
        for size, (index, values) in self.stacks.items():
            u = v[index]
            stacks[size] = index, values + factor * u[:, :, None] * u[:, None, :]
        return replace(self, stacks=stacks)

    def _put(self, index: Indices, values: Matrix, document: int) -> DocumentBlocks:
        """Return the blocks with the block of one more document.

        ``index`` (h,) are its rows and ``values`` (h, h) its block; the document must not have one
        yet.
        """
        size = len(index)
        if size not in self.stacks:
            return self._with(size, (index[None], values[None]), np.array([document]))
        rows, blocks = self.stacks[size]
        stack = np.vstack([rows, index[None]]), np.concatenate([blocks, values[None]])
        return self._with(size, stack, np.append(self.numbers[size], np.intp(document)))

    def _drop(self, document: int) -> DocumentBlocks:
        """Return the blocks without that of a document; unchanged if it has none."""
        size = len(self.block(document)[0])
        if not size:
            return self
        keep = self.numbers[size] != document
        rows, blocks = self.stacks[size]
        return self._with(size, (rows[keep], blocks[keep]), self.numbers[size][keep])

    def _with(self, size: int, stack: tuple[Indices, Matrix], numbers: Indices) -> DocumentBlocks:
        """Return the blocks with another stack of one size; an empty stack is dropped.

        ``stack`` are rows (b, h) and blocks (b, h, h), ``numbers`` (b,) their documents, ``size``
        is ``h``.
        """
        stacks, named = {**self.stacks, size: stack}, {**self.numbers, size: numbers}
        if not len(numbers):
            del stacks[size], named[size]
        return DocumentBlocks(stacks, named)

    def _moved(self, row: int) -> DocumentBlocks:
        """Return the blocks with all rows above ``row`` lowered by one; ``row`` itself is gone."""
        stacks = {s: (index - (index > row), b) for s, (index, b) in self.stacks.items()}
        return replace(self, stacks=stacks)


REFINEMENT_STEPS = 2  # of iterative refinement, O(n^2) each; the first does nearly all


@dataclass(frozen=True, eq=False)
class UpdatableRLS:
    """RLS model at one alpha to which documents can be added and removed, in O(n^2 m) for m rows.

    It holds the inverse ``G = (K + alpha I)^-1``; every change returns a new model that equals
    retraining, so nothing of a forgotten document remains. ``K`` is kept to refine the
    coefficients: if alpha is small, the round-off of block inverses alone would show in the scores.

    >>> y, documents = np.array([1.0, -1.0, 1.0]), np.array([0, 0, 1])
    >>> model = UpdatableRLS.from_gram(np.eye(3), y, documents, alpha=1.0)
    >>> model.forget([1]).coef
    array([ 0.5, -0.5])
    """

    K: Matrix  # (n, n)
    G: Matrix  # (n, n)
    y: Vector  # (n,)
    documents: Indices  # (n,)
    alpha: float

    @classmethod
    def from_gram(cls, K: Matrix, y: Vector, documents: Indices, *, alpha: float) -> UpdatableRLS:
        """Train on a Gram matrix (n, n) by one Cholesky inverse.

        ``y`` (n,) are labels, ``documents`` (n,) the document of each candidate. Raises ValueError
        for inputs that do not fit together.
        """
        K = check_gram(K)
        (alpha,) = check_alphas([alpha])
        labels = check_targets(y, len(K))[:, 0]
        rows_by_group(documents, len(K), name="documents")
        return cls(K, inverse(K, alpha), labels, np.asarray(documents), alpha)

    @property
    def coef(self) -> Vector:
        """Coefficients (n,) of the present candidates, in their order; computed anew, O(n^2).

        Iterative refinement removes the round-off that updates of ``G`` gather.
        """
        a = self.G @ self.y
        for _ in range(REFINEMENT_STEPS):
            a = a + self.G @ (self.y - self.K @ a - self.alpha * a)
        return np.asarray(a)

    @property
    def heldout(self) -> Vector:
        """Score (n,) of each candidate by the model without its document.

        This takes a Cholesky inverse of its own: the round-off that block inverses gather is
        refined away from the coefficients, but would stay in the blocks of ``G`` used here.
        """
        groups = rows_by_group(self.documents, len(self.y), name="documents")
        G, Y = inverse(self.K, self.alpha), self.y[:, None]
        parts = heldout_one_alpha(G, Y, G @ Y, groups)
        return scatter_scores(parts, np.empty((1, len(Y), 1)))[0, :, 0]

    def add(self, cross: Matrix, gram: Matrix, y: Vector, documents: Indices) -> UpdatableRLS:
        """Return the model with ``m`` more candidates, after the present ``n``.

        ``cross`` (m, n) are kernel values with the present ones, ``gram`` (m, m) among themselves,
        ``y`` (m,) labels and ``documents`` (m,) their documents, old or new. Raises ValueError for
        other shapes and if the joint Gram matrix is not positive semi-definite.
        """
        gram = check_gram(gram)
        m, n = len(gram), len(self.y)
        cross = np.asarray(cross, dtype=np.float64)
        if cross.shape != (m, n):
            raise ValueError(
                f"{m} new candidates and {n} old ones, but kernel values {cross.shape}"
            )
        labels = check_targets(y, m)[:, 0]
        rows_by_group(documents, m, name="documents")
        X = cross @ self.G  # (m, n)
        S = _complement_inverse(gram, X @ cross.T, self.alpha)
        G = np.empty((n + m, n + m))
        G[:n, :n] = self.G + X.T @ S @ X
        G[n:, :n] = -S @ X
        G[:n, n:] = G[n:, :n].T
        G[n:, n:] = S
        both = np.concatenate([self.documents, np.asarray(documents)])
        K = np.block([[self.K, cross.T], [cross, gram]])
        return UpdatableRLS(K, G, np.concatenate([self.y, labels]), both, self.alpha)

    def forget(self, documents: Any) -> UpdatableRLS:
        """Return the model without the candidates of these documents; the others keep their order.

        ``documents`` is one document or a sequence. Raises ValueError for a document that the model
        does not have, and if none would be left.
        """
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


@dataclass(frozen=True, eq=False)
class UpdatableRankRLS:
    """RankRLS at one alpha to which whole queries can be added and removed, in O(n^2 m) for m rows.

    Preferences are all pairs of a query with their magnitudes (cost ``magnitude``, with ties).
    Their Laplacian is block diagonal, ``L = R R``, so that a new query leaves the blocks of the
    others as they are, and least squares on ``R K R`` is updated like RLS. Every change returns a
    new model that equals retraining.

    >>> y, queries = np.array([1.0, 0.0, 5.0, 2.0]), np.array([0, 0, 1, 1])
    >>> K = np.diag([1.0, 1.0, 2.0, 2.0])
    >>> both = UpdatableRankRLS.from_gram(K, y, queries, alpha=1.0)
    >>> one = UpdatableRankRLS.from_gram(K[:2, :2], y[:2], queries[:2], alpha=1.0)
    >>> again = one.add(K[2:, :2], K[2:, 2:], y[2:], queries[2:])
    >>> bool(np.allclose(again.coef, both.coef)), bool(np.allclose(both.forget(1).coef, one.coef))
    (True, True)
    """

    K: Matrix  # (n, n)
    y: Vector  # (n,)
    rooted: UpdatableRLS  # on R K R and R y; its documents are the queries
    normalised: bool = False

    @classmethod
    def from_gram(
        cls, K: Matrix, y: Vector, queries: Indices, *, alpha: float, normalised: bool = False
    ) -> UpdatableRankRLS:
        """Train on a Gram matrix (n, n); ``y`` (n,) are labels, ``queries`` (n,) their queries.

        If ``normalised``, every query counts alike, else every pair. Raises ValueError for inputs
        that do not fit together and if ``K`` is not a Gram matrix.
        """
        K = check_gram(K)
        labels = check_targets(y, len(K))[:, 0]
        root = _root(queries, normalised)
        rooted = UpdatableRLS.from_gram(
            _symmetric(root(root(K).T)), root(labels), np.asarray(queries), alpha=alpha
        )
        return cls(K, labels, rooted, normalised)

    @property
    def queries(self) -> Indices:
        """Query (n,) of each present candidate."""
        return self.rooted.documents

    @property
    def coef(self) -> Vector:
        """Coefficients (n,) of the present candidates, in their order; they sum to 0 per query."""
        return np.asarray(_root(self.queries, self.normalised)(self.rooted.coef))

    @property
    def heldout(self) -> Vector:
        """Score (n,) of each candidate by the model without its query.

        One small solve and O(n h) per query of h candidates, from the stored inverse.
        """
        root = _root(self.queries, self.normalised)
        G, b = self.rooted.G, self.rooted.coef
        scores = np.empty(len(self.y))
        for rows in rows_by_group(self.queries, len(self.y), name="queries"):
            x = np.linalg.solve(G[np.ix_(rows, rows)], b[rows])
            rest = b - G[:, rows] @ x
            rest[rows] = 0.0
            scores[rows] = self.K[rows] @ root(rest)
        return scores

    def add(self, cross: Matrix, gram: Matrix, y: Vector, queries: Indices) -> UpdatableRankRLS:
        """Return the model with ``m`` more candidates of new queries, after the present ``n``.

        ``cross`` (m, n) are kernel values with the present ones, ``gram`` (m, m) among themselves,
        ``y`` (m,) labels and ``queries`` (m,) their queries. Raises ValueError for other shapes, if
        the joint Gram matrix is not positive semi-definite, and for a query that the model has:
        forget it first, and add it as a whole.
        """
        present = np.intersect1d(queries, self.queries)
        if len(present):
            raise ValueError(
                f"query {present[0].item()!r} is in the model. Forget it, and add it as a whole."
            )
        gram = check_gram(gram)
        cross = np.asarray(cross, dtype=np.float64)
        labels = check_targets(y, len(gram))[:, 0]
        if cross.shape != (len(gram), len(self.y)):
            raise ValueError(
                f"{len(gram)} new candidates and {len(self.y)} old ones, but kernel values "
                f"{cross.shape}"
            )
        new, old = _root(queries, self.normalised), _root(self.queries, self.normalised)
        rooted = self.rooted.add(
            new(old(cross.T).T), _symmetric(new(new(gram).T)), new(labels), np.asarray(queries)
        )
        K = np.block([[self.K, cross.T], [cross, gram]])
        return replace(self, K=K, y=np.concatenate([self.y, labels]), rooted=rooted)

    def forget(self, queries: Any) -> UpdatableRankRLS:
        """Return the model without the candidates of these queries; the others keep their order.

        ``queries`` is one query or a sequence. Raises ValueError for a query that the model does
        not have, and if none would be left.
        """
        rest = np.flatnonzero(~np.isin(self.queries, queries))
        rooted = self.rooted.forget(queries)
        return replace(self, K=self.K[np.ix_(rest, rest)], y=self.y[rest], rooted=rooted)


def _root(queries: Indices, normalised: bool) -> Callable[[Matrix], Matrix]:
    """Return the function ``X -> R X`` of all pairs of these queries (n,), ``X`` (n, m) or (n,).

    It subtracts the mean of each query and multiplies by the root of the query's scale: its size h,
    or ``2 / (h - 1)`` if ``normalised``.
    """
    return QueryCentring(np.unique(queries, return_inverse=True)[1], normalised).root


def _symmetric(K: Matrix) -> Matrix:
    """Return ``(K + K') / 2``, a new array without the round-off that makes K asymmetric."""
    return np.asarray((K + K.T) / 2)


def _complement_inverse(own: Matrix, explained: Matrix, alpha: float) -> Matrix:
    """Return ``(own - explained + alpha I)^-1``, whose eigenvalues are at most ``1 / alpha``.

    All matrices are (m, m). What the old candidates do not explain of the new ones is positive
    semi-definite; the difference of two nearly equal matrices is so but for round-off: negative
    eigenvalues become 0. Raises ValueError for one below -1e-8 times the trace of ``own``, or times
    alpha if that is larger.
    """
    w, V = np.linalg.eigh(own - (explained + explained.T) / 2)
    limit = 1e-8 * max(float(np.trace(own)), alpha)
    if w[0] < -limit:
        raise not_psd_error(f"the new candidates add an eigenvalue of {w[0]:.3g}")
    return np.asarray((V / (w.clip(min=0) + alpha)) @ V.T)
