"""The research data as arrays, read in one place."""

from __future__ import annotations

import gzip
import io
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import scipy.sparse as sp
import spacy
from sklearn.datasets import load_iris, load_svmlight_file, load_wine
from sklearn.feature_extraction.text import TfidfVectorizer
from spacy.tokens import Doc

from textrank.docs import Targets
from textrank.formats.letor import letor_arrays
from textrank.formats.reuters import Article, articles
from textrank.io import WHOLE, read_text, untarred, unzipped
from textrank.text import set_starts
from textrank.types import Features, Indices, Matrix, Names, SparseMatrix, Vector

REUTERS = "text/reuters21578.tar.gz"
SMALL = "rank/small-classification.tar.gz"
JESTER = "rank/jester-1.csv.gz"
OHSUMED = "rank/letor3-ohsumed.tar.gz"
MQ2008 = "rank/letor4-mq2008.tar.gz"
JNLPBA = "jnlpba/train.jsonl.gz"
SENSEVAL = "text/senseval.zip"
BROWN = "text/brown.zip"
CRAFT = "treebanks/craft-dev.conllu.gz"

Sample = tuple[Matrix, Vector]


def modapte(path: Path) -> list[Article]:
    """Articles of the ModApte split, in their order."""
    return [a for a in articles(path) if a.judged and a.split in ("TRAIN", "TEST")]


def frequent_topics(found: list[Article], number: int) -> list[str]:
    """The topics with most articles, by name."""
    counts = Counter(topic for article in found for topic in article.topics)
    return sorted(topic for topic, _ in counts.most_common(number))


def tfidf(train: list[str], test: list[str]) -> tuple[SparseMatrix, SparseMatrix]:
    """Unit vectors of words; document frequencies are those of the training texts."""
    words = TfidfVectorizer(sublinear_tf=True, stop_words="english")
    return sp.csr_array(words.fit_transform(train)), sp.csr_array(words.transform(test))


def signs(found: list[Article], topic: str) -> Vector:
    """1 for the articles of a topic, -1 for the others."""
    return np.array([1.0 if topic in article.topics else -1.0 for article in found])


def letor_parts(path: Path) -> list[tuple[Matrix, Vector, Indices]]:
    """The five parts of a LETOR collection: features, relevance, numbers of queries."""
    names = [name for name, _ in untarred(path, ".txt")]
    parts = []
    for name in names:
        X, y, queries = letor_arrays(path, name)
        parts.append((X, y, np.unique(queries, return_inverse=True)[1]))
    return parts


def small_sets(path: Path) -> dict[str, Sample]:
    """The small classification sets by name, with iris and wine of scikit-learn."""
    found = {Path(name).stem: _svm(data) for name, data in untarred(path, ".svm")}
    vowel = [found.pop(f"vowel-{half}") for half in ("train", "test")]
    found["vowel"] = (np.vstack([x for x, _ in vowel]), np.concatenate([y for _, y in vowel]))
    found["iris"] = load_iris(return_X_y=True)
    found["wine"] = load_wine(return_X_y=True)
    return found


def jester(path: Path) -> Matrix:
    """Ratings of users (rows) for the hundred jokes, NaN where there is none."""
    with gzip.open(path, "rt") as stream:
        return np.genfromtxt(io.StringIO(stream.read()), delimiter=",", filling_values=np.nan)


def featured(X: Matrix | SparseMatrix) -> Features:
    """Columns under their numbers."""
    return Features(sp.csr_array(X), Names.of([str(i) for i in range(X.shape[1])]))


def alone(y: Vector) -> Targets:
    """Every candidate a document and a query of its own."""
    return Targets(y, np.arange(len(y)), np.arange(len(y)))


def _svm(data: bytes) -> Sample:
    X, y = load_svmlight_file(io.BytesIO(data))
    return X.toarray(), y


def brown_docs(path: Path) -> Iterator[Doc]:
    """The files of the Brown corpus as Docs, a sentence a line."""
    nlp = spacy.blank("en")
    quotes = {"``": '"', "''": '"'}
    for name, data in unzipped(path, ""):
        if re.fullmatch(r".*/c[a-r]\d\d", name):
            lines = data.decode("utf-8", errors="replace").splitlines()
            split = [[t.rpartition("/")[0] for t in line.split()] for line in lines]
            text = "\n".join(" ".join(quotes.get(w, w) for w in s) for s in split if s)
            doc = nlp.make_doc(text)
            firsts = {0} | {match.end() for match in re.finditer("\n", text)}
            set_starts(doc, [token.i for token in doc if token.idx in firsts], final=True)
            doc.user_data["document"] = name[-4:]
            yield doc


def treebank_part(path: Path, number: int) -> str:
    """So many sentences of 5 to 40 words of every document of a CoNLL-U file, evenly spread."""
    name, found = "", dict[str, list[str]]()
    for block in read_text(path, WHOLE).split("\n\n"):
        match = re.search(r"^# newdoc id = (.*)$", block, re.MULTILINE)
        name = match[1] if match else name
        if 5 <= len(re.findall(r"^\d+\t", block, re.MULTILINE)) <= 40:
            plain = re.sub(r"^# new.*\n", "", block.strip("\n"), flags=re.MULTILINE)
            found.setdefault(name, []).append(f"# newdoc id = {name}\n{plain}\n\n")
    return "".join("".join(own[:: max(len(own) // number, 1)][:number]) for own in found.values())
