"""Counts of what the arcs of parses look like; what parses of a sentence share is named once."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from textrank.docs import Candidate
from textrank.representations.pairs.entity_pair import Name
from textrank.types import Features, Names

# The parses of a sentence differ in a few arcs: nearly all names are those of the parse before.


@dataclass
class Columns:
    """Columns of names, and the columns that each part of a sentence's parses has."""

    numbers: dict[Name, int] = field(default_factory=dict)
    sentence: Hashable = None
    parts: dict[Hashable, list[int]] = field(default_factory=dict)
    words: dict[int, str] = field(default_factory=dict)  # those of the sentence that were asked for

    def enter(self, sentence: Hashable) -> None:
        """Forgets the parts of the last sentence where this is another one."""
        if sentence != self.sentence:
            self.sentence, self.parts, self.words = sentence, {}, {}

    def new(self, part: Hashable, names: Iterable[Name]) -> list[int]:
        """The columns of a part of a parse that is new in its sentence."""
        numbers = self.numbers
        found = self.parts[part] = [numbers.setdefault(name, len(numbers)) for name in names]
        return found


def counted(
    candidates: Sequence[Candidate], rows: Iterable[Sequence[int]], columns: Columns
) -> Features:
    """The columns of each parse counted, over the root of its number of words."""
    ends, flat = [0], list[int]()
    for row in rows:
        flat.extend(row)
        ends.append(len(flat))
    shape = (len(candidates), len(columns.numbers))
    cells = (np.ones(len(flat)), np.array(flat, dtype=np.int32), np.array(ends, dtype=np.int32))
    counts = sp.csr_array(cells, shape=shape)
    counts.sum_duplicates()
    roots = np.array([max(len(c.doc), 1) ** 0.5 for c in candidates])
    counts.data /= np.repeat(roots, np.diff(counts.indptr))
    return Features(counts, Names.of(columns.numbers))
