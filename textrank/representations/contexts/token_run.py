"""TokenRun: the tokens of some Docs one after the other, and where targets stand among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc, Span

from textrank.docs import TOKENS, token_table
from textrank.types import Indices
from textrank.types.ragged import offsets


@dataclass(frozen=True, eq=False)
class TokenRun:
    """The tokens of the Docs that targets stand in; those of one Doc are read once in a row."""

    targets: Sequence[Span]
    docs: Sequence[Doc]  # in the order of their targets
    owner: Indices  # (n,) the Doc of each target

    @classmethod
    def of(cls, targets: Sequence[Span]) -> TokenRun:
        """The Docs of targets, of which those of one stand together."""
        docs = [next(own).doc for _, own in groupby(targets, key=lambda target: id(target.doc))]
        owner, number = [], -1
        for target in targets:
            number += number < 0 or target.doc is not docs[number]
            owner.append(number)
        return cls(targets, docs, np.array(owner, dtype=np.intp))

    @cached_property
    def begins(self) -> Indices:
        """Where each Doc begins, and the end of all."""
        return offsets([len(doc) for doc in self.docs])

    @cached_property
    def spans(self) -> tuple[Indices, Indices]:  # (n,), (n,)
        """First token and end of each target."""
        own = np.array([(t.start, t.end) for t in self.targets], dtype=np.intp).reshape(-1, 2)
        starts, ends = (own + self.begins[self.owner, None]).T
        return starts, ends

    def column(self, attribute: str) -> NDArray[np.uint64]:
        """An attribute of all tokens."""
        read = attribute in TOKENS
        own = [token_table(d)[attribute] if read else d.to_array(attribute) for d in self.docs]
        return np.concatenate([np.empty(0, dtype=np.uint64), *own])

    def bounds(self, kind: str) -> tuple[Indices, Indices]:  # (n,), (n,)
        """First token and end of the "document" or of the "sentence", or sentences, of each."""
        if kind == "document":
            return self.begins[self.owner], self.begins[self.owner + 1]
        marked = np.flatnonzero(self.column("SENT_START") == 1)
        limits = np.union1d(marked, self.begins)
        starts, ends = self.spans
        low = limits[np.searchsorted(limits, starts, side="right") - 1]
        return low, limits[np.searchsorted(limits, ends, side="left")]
