"""Short texts and Docs that nobody would write: letters of all kinds, names, markup, runs."""

from __future__ import annotations

import random

from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

PARTS = [
    "SHC",
    "GRB2",
    "p53",
    "IL-2R",
    "α-chain",
    "NF-κB",
    "TNF-α",
    "ERK1/2",
    "(HeLa)",
    "binds",
    "to",
    "interacts",
    "with",
    "does",
    "not",
    "bind",
    "may",
    "activates",
    "phosphorylates",
    "inhibits",
    ".",
    ",",
    ";",
    ":",
    "-",
    "/",
    "(",
    ")",
    "[",
    "]",
    '"',
    "'",
    "%",
    "+",
    "=",
    "<",
    ">",
    "&",
    "&lt;",
    "&amp;",
    "<i>",
    "</i>",
    "<sup>2+</sup>",
    "http://a.b/c",
    "a@b.c",
    "10.1000/xyz",
    "Fig.",
    "et",
    "al.",
    "e.g.",
    "i.e.",
    "5'-UTR",
    "3.5",
    "1,000",
    "-1",
    "0",
    "and",
    "or",
    "of",
    "the",
    "in",
    "with",
    "their",
    "there",
    "they're",
    "than",
    "then",
    "its",
    "it's",
    "affect",
    "effect",
    "quiet",
    "quite",
    "maybe",
    "may",
    "be",
    "weather",
    "whether",
    "principal",
    "principle",
    "I",
    "me",
    "NULL",
    "nan",
    "inf",
    "None",
    "True",
]
ODD = [
    "\n",
    "\n\n",
    "\r\n",
    "\t",
    " ",
    "  ",
    "\u00a0",
    "\u2028",
    "\u200b",
    "\u00ad",
    "\ufeff",
    "\x00",
    "\x07",
    "\x1b",
    "\ud800",
    "\udfff",
    "\u0301",
    "é",
    "ß",
    "İ",
    "ﬁ",
    "😀",
    "👩\u200d🔬",
    "中文",
    "العربية",
    "\U0010ffff",
    "…",
    "–",
    "—",
    "“",
    "”",
    "′",
    "½",
    "²",
    "①",
    "Ω",
    "ϕ",
    "…" * 20,
    ")" * 30,
    "a-" * 40,
    "." * 50,
    "A" * 300,
    "1" * 400,
    "\n" * 20,
    "- x\n",
    "# h\n",
    "|a|b|\n",
    "  1. y\n",
]


def text(rng: random.Random) -> str:
    """Return a random text of one to about sixty pieces; one in a hundred is much longer."""
    count = rng.randint(1, 60) if rng.random() < 0.99 else rng.randint(200, 800)
    odd = rng.choice([0.0, 0.05, 0.3, 0.9])
    pieces = []
    for _ in range(count):
        piece = rng.choice(ODD) if rng.random() < odd else rng.choice(PARTS)
        if rng.random() < 0.02:
            piece = chr(rng.choice([rng.randrange(0x300), rng.randrange(0x110000)]))
        pieces.append(piece + (" " if rng.random() < 0.8 else ""))
    return "".join(pieces)


def doc(vocab: Vocab, rng: random.Random) -> Doc:
    """Return a Doc with random tokens, parse and entities, as no component would make it."""
    pieces = [*PARTS, *(o for o in ODD if o.isprintable()), "\n"]
    size = rng.choice([0, 1, 1, 2, 3, 8, 30])
    words = [rng.choice(pieces) for _ in range(size)]
    spaces = [rng.random() < 0.7 for _ in words]
    made = Doc(vocab, words=words, spaces=spaces, **_parse(size, rng))
    spans = []
    for number in range(rng.choice([0, 0, 1, 2, 5, 12]) if size else 0):
        start = rng.randrange(size)
        end = rng.randint(start + 1, min(size, start + 5))
        label = rng.choice(["protein", "", "DRUG", "Gene", "a b\n"])
        spans.append(Span(made, start, end, label, span_id=rng.choice(["", "T1", f"T{number}"])))
    if rng.random() < 0.9:
        made.spans["entities"] = spans
    if rng.random() < 0.3:
        made.user_data["document"] = rng.choice(["", "d", "\u00e9/..", "x" * 300])
    return made


def _parse(size: int, rng: random.Random) -> dict[str, list[str] | list[int] | list[bool]]:
    """Return random heads and labels of a tree."""
    if not size or rng.random() < 0.3:
        starts = [i == 0 or rng.random() < 0.2 for i in range(size)]
        return {"sent_starts": starts}
    heads = [rng.randint(0, i) if rng.random() < 0.8 else i for i in range(size)]
    deps = [
        "ROOT" if head == i else rng.choice(["nsubj", "dobj", ""]) for i, head in enumerate(heads)
    ]
    tags = [rng.choice(["NN", "VBZ", "IN", "_SP", "XX", ""]) for _ in range(size)]
    return {"heads": heads, "deps": deps, "tags": tags}
