"""Write the tag lexicon english.tsv.gz: ``write_lexicon.py DATA OUT``.

It has the words that occur at least three times in CRAFT (train) and the GENIA trees (train), both
CC BY 3.0, with the tags of at least a tenth of their uses, and FUNCTION_WORDS, which scientific
text lacks.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from textrank.representations.collocations import collapse_digits, tag_lexicon, write_lexicon

FUNCTION_WORDS = """
i PRP|me PRP|you PRP|he PRP|she PRP|him PRP|we PRP|us PRP|they PRP|them PRP|my PRP$|your PRP$
his PRP$|her PRP$ PRP|our PRP$|mine PRP|yours PRP|hers PRP|ours PRP|myself PRP|yourself PRP
himself PRP|herself PRP|themselves PRP|ourselves PRP|n't RB|'m VBP|'re VBP|'ve VBP|'ll MD
'd MD VBD|'s VBZ POS|ca MD|wo MD|do VBP VB|does VBZ|did VBD|am VBP|ai VBP|who WP|whom WP|whose WP$
why WRB|yes UH|no DT UH|oh UH|please UH VB|somebody NN|anybody NN|nobody NN|everybody NN|someone NN
anyone NN|everyone NN|something NN|anything NN|nothing NN|everything NN|never RB|always RB|ever RB
just RB|maybe RB|perhaps RB|today NN|tomorrow NN|yesterday NN|tonight NN|here RB|away RB|back RB
"""


def iter_tagged_words(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the words of a CoNLL-U file or of bracketed trees with their Penn tags."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("{"):
                pairs = re.findall(r"\(([^\s()]+) ([^\s()]+)\)", json.loads(line)["tree"])
                yield from ((word, tag) for tag, word in pairs)
            elif re.match(r"\d+\t", line):
                cells = line.split("\t")
                yield cells[1], cells[4] if cells[4] != "_" else cells[3]


SOURCES = ("craft-train.conllu.gz", "genia-constituency-train.jsonl.gz")


def main(data: Path, out: Path) -> None:
    """Write the lexicon to a folder."""
    paths = [data / "treebanks" / name for name in SOURCES]
    tagged_words = [
        (collapse_digits(w.lower()), t) for path in paths for w, t in iter_tagged_words(path)
    ]
    counts = Counter(word for word, _ in tagged_words)
    frequent = (
        pair for pair in tagged_words if counts[pair[0]] >= 3 and not re.search(r"\s", pair[0])
    )
    lexicon = {word: tags[:4] for word, tags in tag_lexicon(frequent).items() if len(word) < 25}
    for entry in re.split(r"[|\n]", FUNCTION_WORDS.strip()):
        word, *tags = entry.split()
        lexicon[word] = tags
    write_lexicon(lexicon, out / "english.tsv.gz")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:3]))
