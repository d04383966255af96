"""What the judged words look like: all names at once as in plain loops."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc

from textrank.candidates import Candidate
from textrank.representations.collocations import Collocations
from textrank.representations.mentions import Mention, NameCore, SyntacticContext, word_shape


def plain(words: list[str], shortest: int, longest: int) -> list[tuple[str, ...]]:
    lower = [word.lower() for word in words]
    whole = " ".join(lower)
    found: list[tuple[str, ...]] = [("whole", whole), ("last", lower[-1])]
    found += [("length", str(min(len(words), 6))), ("shape", word_shape(" ".join(words)))]
    found += [("word", word) for word in lower]
    found += [("pair", one, two) for one, two in pairwise(lower)]
    text = f"<{whole}>"
    for n in range(shortest, longest + 1):
        found += [("letters", text[i : i + n]) for i in range(len(text) - n + 1)]
    return list(dict.fromkeys(found))


@pytest.mark.parametrize("seed", range(3))
def test_names_look_as_in_plain_loops(seed: int) -> None:
    rng = np.random.default_rng(seed)
    vocab = spacy.blank("en").vocab
    candidates, words = [], []
    for _ in range(8):
        own = rng.choice(["IL", "-", "2", "aaaa", "p53", "gene"], rng.integers(1, 8)).tolist()
        doc = Doc(vocab, words=own)
        candidates.append(Candidate(doc, (doc[:],), "d"))
        words.append(own)
    found = Mention(2, 4)(candidates)
    wanted = [plain(own, 2, 4) for own in words]
    assert list(found.names) == list(dict.fromkeys(name for own in wanted for name in own))
    for row, own in zip(found.values.toarray(), wanted, strict=True):
        assert [found.names[i] for i in np.flatnonzero(row)] == sorted(
            own, key=list(found.names).index
        )
        assert set(row.tolist()) <= {0.0, 1.0}


def test_shapes_of_letters_are_those_of_the_pattern() -> None:
    for letter in map(chr, range(0x3000)):
        digits = re.sub(r"\d", "0", letter)
        plain = re.sub(r"[^\W\d_]", lambda m: "A" if m[0].isupper() else "a", digits)
        assert word_shape(letter) == plain


@pytest.mark.parametrize(
    "representation",
    [
        Mention(focus=1),
        NameCore(Mention(), focus=1),
        SyntacticContext(focus=1),
        Collocations(focus=1),
    ],
)
def test_a_span_that_a_candidate_lacks_is_refused(representation):
    doc = spacy.blank("en")("The p53 gene.")
    candidate = Candidate(doc, (doc[1:2],), "d0")
    with pytest.raises(ValueError, match="focus 1 but the candidate in document 'd0' has 1 spans"):
        representation([candidate])
