"""A simulated PubMed: baseline files of any size, in our own words."""

from __future__ import annotations

import gzip
import random
from collections.abc import Iterator
from pathlib import Path

VERBS = [
    "binds",
    "activates",
    "inhibits",
    "phosphorylates",
    "recruits",
    "stabilises",
    "degrades",
    "represses",
]
OPENINGS = ["Here we show that", "In these cells", "Our data suggest that", "It is known that"]
FILLERS = (
    "The mechanism has been a matter of debate for several years.",
    "Samples were taken at four times and kept cold until they were measured.",
    "Further work will have to tell how general this observation is.",
)


def citations(count: int, seed: int = 0, first: int = 1) -> Iterator[str]:
    """PubmedArticle elements with new names throughout, so that no cache knows them all."""
    draw = random.Random(seed)
    for pmid in range(first, first + count):
        names = [
            f"{draw.choice('ABCDEFGHKLMNPRST')}{draw.choice('AEIOU')}K{draw.randrange(10**4)}"
            for _ in range(6)
        ]
        sentences = [
            f"{draw.choice(OPENINGS)} {a} {draw.choice(VERBS)} {b}."
            for a, b in zip(names[::2], names[1::2], strict=True)
        ]
        text = " ".join(part for pair in zip(sentences, FILLERS, strict=True) for part in pair)
        yield (
            f'<PubmedArticle><MedlineCitation><PMID Version="1">{pmid}</PMID><Article><Journal>'
            f"<JournalIssue><PubDate><Year>{1990 + pmid % 35}</Year></PubDate></JournalIssue>"
            f"</Journal><ArticleTitle>On {names[0]} and {names[1]}.</ArticleTitle>"
            f"<Abstract><AbstractText>{text}</AbstractText></Abstract></Article>"
            "</MedlineCitation></PubmedArticle>\n"
        )


def write_baseline(path: Path, count: int, seed: int = 0, first: int = 1) -> Path:
    """A packed file of as many citations, as PubMed's baseline files are."""
    with gzip.open(path, "wt", encoding="utf-8", compresslevel=1) as out:
        out.write('<?xml version="1.0" encoding="utf-8"?>\n<PubmedArticleSet>\n')
        out.writelines(citations(count, seed, first))
        out.write("</PubmedArticleSet>\n")
    return path
