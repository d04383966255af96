"""Divisions into folds that keep what belongs together on one side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from textrank.types import Indices


def document_folds(documents: Sequence[str], k: int, seed: int) -> Indices:
    """The fold of each entry, 0 .. k - 1; entries of one document share it.

    The distinct documents are shuffled with the seed and dealt out, so that folds hold equally
    many, give or take one. Documents are sorted first: the folds depend on their names alone, not
    on the order of a file.

    >>> document_folds(["a", "a", "b", "c", "d"], k=2, seed=1)
    array([0, 0, 1, 0, 1])
    """
    names = sorted(set(documents))
    if not 2 <= k <= len(names):
        raise ValueError(
            f"cannot deal {len(names)} documents out into {k} folds: at least 2 folds and no more "
            "than documents. Choose another number of folds. (Documents that share a sentence or "
            "an original count as one, for they are held out together.)"
        )
    order = np.random.default_rng(seed).permutation(len(names))
    fold = {names[document]: place % k for place, document in enumerate(order)}
    return np.array([fold[document] for document in documents], dtype=np.intp)


def given_folds(documents: Sequence[str], table: Mapping[str, int]) -> Indices:
    """The fold of each entry as a table of documents gives it, renumbered from 0 without gaps.

    Every document must be in the table; documents that only the table knows do no harm.
    """
    missing = sorted(set(documents) - set(table))
    if missing:
        raise ValueError(
            f"{len(missing)} documents are in no fold, the first is {missing[0]!r}. "
            "Name every document of the corpus in the fold file."
        )
    given = [table[document] for document in documents]
    numbers = {fold: i for i, fold in enumerate(sorted(set(given)))}
    if len(numbers) < 2:
        raise ValueError(
            f"the fold file puts all documents into fold {given[0] if given else 'none'}. "
            "Evaluation needs at least 2 folds."
        )
    return np.array([numbers[fold] for fold in given], dtype=np.intp)
