"""Brown and Reuters as Docs, for the figures of the spelling task."""

from __future__ import annotations

import html
import re
import tarfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import spacy
from spacy.language import Language
from spacy.tokens import Doc

from textrank.representations.collocations import collapse_digits, tag_lexicon


def brown(path: Path) -> Iterator[tuple[str, list[list[tuple[str, str]]]]]:
    """Each file with its sentences, lists of (word, tag)."""
    with zipfile.ZipFile(path) as archive:
        for name in sorted(archive.namelist()):
            if re.fullmatch(r".*/c[a-r]\d\d", name):
                lines = archive.read(name).decode("utf-8", errors="replace").splitlines()
                split = [[t.rpartition("/")[::2] for t in line.split()] for line in lines]
                yield name[-4:], [sentence for sentence in split if sentence]


def brown_docs(path: Path) -> Iterator[Doc]:
    """The files as Docs, sentences as given."""
    nlp = spacy.blank("en")
    quotes = {"``": '"', "''": '"'}
    for name, sentences in brown(path):
        yield doc_of(nlp, name, [" ".join(quotes.get(w, w) for w, _ in s) for s in sentences])


def brown_lexicon(path: Path) -> dict[str, list[str]]:
    """The tags of each word of the whole corpus; never those of a word in its context."""
    tagged = ((w, t) for _, sentences in brown(path) for s in sentences for w, t in s)
    plain = ((collapse_digits(w), re.sub(r"^fw-|-(tl|hl|nc).*$", "", t) or t) for w, t in tagged)
    return tag_lexicon(plain)


def reuters_docs(path: Path) -> Iterator[Doc]:
    """The articles with a body, in the order of the files; sentences by punctuation."""
    nlp = spacy.blank("en")
    sentencizer = nlp.add_pipe("sentencizer")
    with tarfile.open(path) as archive:
        for member in sorted(archive.getmembers(), key=lambda m: m.name):
            if not member.name.endswith(".sgm"):
                continue
            stream = archive.extractfile(member)
            text = "" if stream is None else stream.read().decode("latin-1")
            for article in re.findall(r"<REUTERS.*?</REUTERS>", text, re.DOTALL):
                body = re.search(r"<BODY>(.*?)</BODY>", article, re.DOTALL)
                number = re.search(r'NEWID="(\d+)"', article)
                if body and number:
                    plain = re.sub(r"[\x00-\x1f\s]+", " ", html.unescape(body[1]))
                    doc = sentencizer(nlp.make_doc(plain.strip()))
                    doc.user_data["document"] = number[1]
                    yield doc


def doc_of(nlp: Language, name: str, sentences: Sequence[str]) -> Doc:
    """A Doc of sentences, one a line."""
    text = "\n".join(sentences)
    firsts = {0} | {match.end() for match in re.finditer("\n", text)}
    plain = nlp.make_doc(text)
    doc = Doc(
        nlp.vocab,
        words=[token.text for token in plain],
        spaces=[bool(token.whitespace_) for token in plain],
        sent_starts=[token.idx in firsts for token in plain],
    )
    doc.user_data["document"] = name
    return doc
