"""Cut the sentences whose parses are ranked: ``cut_sentences.py DATA OUT``."""

from __future__ import annotations

import sys
from pathlib import Path

from workshop.cut_treebank import ALL_SENTENCES, cut_treebank

data, work = map(Path, sys.argv[1:])
cut_treebank(data / "treebanks" / "craft-dev.conllu.gz", ALL_SENTENCES, work / "craft-dev.conllu")
