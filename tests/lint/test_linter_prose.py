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


LIST = """- One that is larger then the other.
    - Nested, and larger then the other.

      Continued, and larger then the other.

1. First

    Also larger then the other.

Text.

    code is larger then the other
"""
LATEX = r"""\section{This is larger then that one}
It is larger then the \emph{other} one, as in~\cite{larger}.
\begin{itemize}
\item This one is larger then the other.
\end{itemize}
\begin{equation} then \end{equation}
"""
PYTHON = '''def f(x):
    """Return one that is larger then the other.

    Parameters
    ----------
    x : int
        One that is larger then the other
    y : then
        Other.
    """
    # This one is larger
    # then the other one.
    then = 1  # larger then the other
'''
C = """int then; /* This one is larger
 * then the other one. */
// And this one is larger then the other.
char *s = "then // then";
"""
SHELL = """then=1  # larger then that
# This one is larger
# then the other one.
echo "# then"
"""


@pytest.mark.parametrize(
    ("kind", "text", "lines"),
    [
        ("markdown", LIST, [1, 2, 4, 8]),
        ("latex", LATEX, [1, 2, 4]),
        ("python", PYTHON, [2, 7, 12, 13]),
        ("c", C, [2, 3]),
        ("hash", SHELL, [1, 3]),
    ],
)
def test_words_of_lists_paragraphs_and_comments_are_prose(kind, text, lines):
    kept = blank_non_prose(text, kind).split("\n")
    assert [number for number, line in enumerate(kept, 1) if "then" in line] == lines


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("python", "# This one is larger\n# then the other.\n"),
        ("c", "    /* This one is larger\n     * then the other. */\n"),
        ("latex", "This one is \\emph{larger}\nthen the other.\n"),
        ("markdown", "> This one is larger\n> then the other.\n"),
    ],
)
def test_markup_between_words_of_a_sentence_leaves_them_together(kind, text):
    between = blank_non_prose(text, kind).partition("larger")[2].partition("then")[0]
    assert between
    assert not between.strip()


@pytest.mark.parametrize("kind", FILE_KINDS)
@pytest.mark.parametrize("stretch", ["a", "a.", "@", "a_", "1/", "-a"])
def test_a_stretch_without_blanks_is_no_prose(kind, stretch):
    """What follows is not looked at letter by letter, which took time by the square."""
    text = stretch * 30_000
    kept = blank_non_prose(text, kind)
    assert set(kept) <= {NON_PROSE, BLOCK_BREAK}
    assert len(kept) == len(text)


@given(st.text(max_size=200), st.sampled_from(FILE_KINDS))
def test_offsets_and_line_ends_stay(text, kind):
    found = blank_non_prose(text, kind)
    assert len(found) == len(text)
    assert all(a in (b, NON_PROSE, BLOCK_BREAK, " ") for a, b in zip(found, text, strict=True))
    assert [i for i, c in enumerate(text) if c == "\n"] == [
        i for i, c in enumerate(found) if c == "\n"
    ]
