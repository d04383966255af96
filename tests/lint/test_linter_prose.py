"""Prose found in files of many kinds: offsets stay, what is no prose is blanked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textrank.lint.linter import BLOCK_BREAK, FILE_KINDS, blank_non_prose
from textrank.lint.model import NON_PROSE

CASES = [
    ("markdown", "More then `x than y` one.\n", "then", "than"),
    ("markdown", "Text then.\n\n```py\na than b\n```\n", "then", "than"),
    ("rst", "Text then::\n\n    code than\n\nmore", "then", "than"),
    ("latex", "Text then % than\n", "then", "than"),
    ("html", "<p>then</p><code>than</code>", "then", "than"),
    ("python", 'x = "than"\n# only then\n', "then", "than"),
    ("python", 'def f():\n    """Only then."""\n    return "than"\n', "then", "than"),
    ("text", "see https://a.b/than then", "then", "than"),
    ("text", "then\ntextrank: off\nthan\ntextrank: on\n", "then", "than"),
    ("text", "then\nother than  # textrank: ignore\n", "then", "than"),
]


@pytest.mark.parametrize(("kind", "text", "kept", "gone"), CASES)
def test_prose_stays_and_the_rest_is_blanked(kind, text, kept, gone):
    found = blank_non_prose(text, kind)
    assert kept in found
    assert gone not in found


@given(st.text(max_size=200), st.sampled_from(FILE_KINDS))
def test_offsets_and_line_ends_stay(text, kind):
    found = blank_non_prose(text, kind)
    assert len(found) == len(text)
    assert all(a in (b, NON_PROSE, BLOCK_BREAK, " ") for a, b in zip(found, text, strict=True))
    assert [i for i, c in enumerate(text) if c == "\n"] == [
        i for i, c in enumerate(found) if c == "\n"
    ]
