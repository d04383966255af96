"""Species words against the plain list of them."""

from __future__ import annotations

import random
import re

import pytest

from textrank.tasks.identifiers import names

WORDS = sorted(names._TAXON_OF_WORD | names._TAXON_OF_HINT, key=len, reverse=True)
PLAIN = re.compile(
    r"(?<![\w-])(?:" + "|".join(map(re.escape, WORDS)) + r")(?![\w])|[(-]-/-", re.IGNORECASE
)


@pytest.mark.parametrize("seed", range(20))
def test_words_are_found_as_by_a_list_of_them_longest_first(seed):
    draw = random.Random(seed)
    pieces = [*WORDS, *" -/()._xs1", "Ba/F3(-/-)", "nude", "mic", "MICE", "\u017fheep", "\u212a562"]
    text = "".join(draw.choice(pieces) + draw.choice(["", " ", "-", ", "]) for _ in range(400))
    found = [match.span() for match in names._SPECIES_PATTERN.finditer(text)]
    assert found == [match.span() for match in PLAIN.finditer(text)]
    assert found
