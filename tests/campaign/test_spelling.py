"""The linter on random and hostile texts: places that fit, and never a traceback."""

from __future__ import annotations

import random

import pytest

from tests.campaign.mutations import spoil_bytes, spoil_tokens
from tests.campaign.settings import INPUTS, SEED
from textrank.lint import Linter
from textrank.lint.linter import FILE_KINDS, apply_proposals

pytestmark = pytest.mark.campaign
SAMPLE = """# More *then* one

It's larger then `x`, and [its](a.md) own page says <b>were</b> it is — “then” or 12.5 then.
- one of them is there
* they're “too” late\x00to the their
.. code:: python

    then = than
\\begin{equation} then \\end{equation} $x then y$ % than
def f():
    '''Returns more then one.'''  # and then
<pre>then</pre> &amp; it’s THEN I’ll I'd
"""
ALPHABET = "thenaiswrto ’'\"`*_-./@&<>[](){}$%\\#|\x00¶\u2028\t\n\r01é😀ßİ\ufeff\ud800"


def texts(rng: random.Random, count: int) -> list[str]:
    """Spoilt samples, and characters at random."""
    found = []
    for number in range(count):
        if number % 3 == 0:
            found.append("".join(rng.choices(ALPHABET, k=rng.randrange(400))))
        else:
            spoil = spoil_bytes if number % 3 == 1 else spoil_tokens
            found.append(spoil(SAMPLE.encode(), rng).decode("utf-8", "replace")[:20_000])
    return found


def test_no_text_breaks_the_linter():
    rng = random.Random(SEED)
    linter = Linter(precision=0.5)
    for text in texts(rng, INPUTS):
        kind = rng.choice(FILE_KINDS)
        found = linter(text, kind=kind)
        for one in found:
            assert text[one.offset : one.offset + one.length] == one.word
            assert text.split("\n")[one.line - 1][one.column - 1 :].startswith(one.word[:1])
            assert one.word.lower() != one.proposal.lower()
        assert apply_proposals(text, found) != text or not found
