"""Sentences in the wording of results: experiments, complexes, enzymes, loss, contrasts.

``findings`` gives (frame, text with letters, pairs), a pair being (who, whom, status, type). Frames
are the lines of ``findings.tsv``: a text, a tab, and its pairs as "AB type", separated by "; ". The
letters of a pair are followed by "-" if it is negated and by "?" if it is speculated. A text has
alternatives in square brackets, of which one is chosen for each sentence, and slots for verbs: b
(base) and v (third person) of one verb, w (third person) of another. The types ``*`` and ``+`` are
those of the two verbs.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from constructions import Pair, Words

REPEATS = 6  # sentences of a frame
STATUS = {"": "asserted", "-": "negated", "?": "speculated"}


def findings(
    rng: random.Random,
    transitive: Mapping[str, Sequence[str]],
    joined: Sequence[str],
    cells: Sequence[str],
) -> Iterator[tuple[str, str, list[Pair]]]:
    """Yield every frame ``REPEATS`` times, with alternatives, verbs and places chosen at random."""
    words = Words(rng, transitive, joined)
    for line in Path(__file__).with_name("findings.tsv").read_text("utf-8").splitlines():
        frame, pairs = line.split("\t")
        for _ in range(REPEATS):
            text = re.sub(r"\[([^]]*)\]", lambda m: rng.choice(m[1].split("|")), frame)
            kind, (b, v, _, _, _) = words.verb()
            other, (_, w, _, _, _) = words.verb()
            slots = {"b": b, "v": v, "w": w, "cells": rng.choice(cells)}
            for slot, word in slots.items():
                text = text.replace(f"{{{slot}}}", word)
            yield frame, text.replace("  ", " ").strip(), _parse_pairs(text, pairs, kind, other)


def _parse_pairs(text: str, pairs: str, kind: str, other: str) -> list[Pair]:
    """Return the pairs of a frame whose two names are in the text; ``*`` and ``+`` are verbs."""
    result = []
    for part in filter(None, pairs.split("; ")):
        names, name = part.split()
        if all(f"{{{letter}}}" in text for letter in names[:2]):
            status = STATUS[names[2:]]
            result.append((names[0], names[1], status, {"*": kind, "+": other}.get(name, name)))
    return result
