"""Abbreviations and what a text says they stand for."""

from __future__ import annotations

import re

_SHORT = re.compile(r"\(\s*([^\s()\[\],;]{2,10}|[A-Za-z]{1,4}[\s-]\w{1,4})\s*(?:[,;][^()]*)?\)")
_WORD = re.compile(r"\S+")


def long_forms(text: str) -> dict[str, str]:
    """Each abbreviation of a text with its long form: ``long form (LF)``.

    The letters of the abbreviation are matched from its end, its first letter at the beginning of
    a word (Schwartz and Hearst, 2003, Pacific Symposium on Biocomputing 8).

    >>> long_forms("class switch recombination (CSR) and p53 (see below)")
    {'CSR': 'class switch recombination'}
    """
    found: dict[str, str] = {}
    for bracket in _SHORT.finditer(text):
        short = bracket.group(1)
        if any(c.isalpha() for c in short) and short[0].isalnum():
            long = _long(short, text[max(0, bracket.start() - 200) : bracket.start()])
            if long and short not in found:
                found[short] = long
    return found


def _long(short: str, before: str) -> str:
    """The shortest end of a text whose letters hold those of the abbreviation in order."""
    most = min(len(short) + 5, len(short) * 2)
    sentence = re.split(r"[.;:]\s", before.rstrip())[-1]
    words = list(_WORD.finditer(sentence))[-most:]
    if not words:
        return ""
    window = sentence[words[0].start() :]
    place = len(window)
    letters = [c.lower() for c in short if c.isalnum()]
    for i in range(len(letters) - 1, -1, -1):
        place -= 1
        while place >= 0 and not (
            window[place].lower() == letters[i]
            and (i > 0 or place == 0 or not window[place - 1].isalnum())
        ):
            place -= 1
        if place < 0:
            return ""
    long = window[place:].strip()
    return long if len(long) > len(short) and short not in long.split() else ""
