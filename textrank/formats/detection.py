"""Which reader or writer a file wants, by its name and its first bytes."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

from spacy.language import Language
from spacy.tokens import Doc

from textrank.formats.bioc import (
    SECTION,
    BioCJSON,
    BioCXML,
    PubTator,
    write_bioc_json,
    write_bioc_xml,
    write_pubtator,
)
from textrank.formats.columns import (
    Columns,
    DocBinFile,
    JsonLines,
    PlainText,
    write_doc_bin,
    write_json_lines,
    write_table,
    write_text,
)
from textrank.formats.conllu import ConllU, write_conllu
from textrank.formats.ppi_xml import PPIXML, write_ppi_xml
from textrank.formats.pubmed import HTML, JATS, Medline, PubMedXML
from textrank.formats.research import Letor, Reuters, Senseval
from textrank.formats.standoff import BioNLP, Brat, write_brat
from textrank.io import check_folder_writable, check_writable, open_bytes

Corpus: TypeAlias = Callable[[Language], Iterator[Doc]]  # a reader, bound to its files

READERS: dict[str, Callable[..., Corpus]] = {
    "text": PlainText,
    "json_lines": JsonLines,
    "doc_bin": DocBinFile,
    "brat": Brat,
    "bioc_xml": BioCXML,
    "bioc_json": BioCJSON,
    "bionlp": BioNLP,
    "pubtator": PubTator,
    "conllu": ConllU,
    "ppi_xml": PPIXML,
    "pubmed_xml": PubMedXML,
    "jats": JATS,
    "medline": Medline,
    "columns": Columns,
    "html": HTML,
    "letor": Letor,
    "reuters": Reuters,
    "senseval": Senseval,
}
WRITERS: dict[str, Callable[..., None]] = {
    "text": write_text,
    "json_lines": write_json_lines,
    "doc_bin": write_doc_bin,
    "brat": write_brat,
    "bioc_xml": write_bioc_xml,
    "bioc_json": write_bioc_json,
    "pubtator": write_pubtator,
    "conllu": write_conllu,
    "ppi_xml": write_ppi_xml,
    "columns": write_table,
}
SUFFIXES = {
    ".txt": "text",
    ".ann": "brat",
    ".jsonl": "json_lines",
    ".ndjson": "json_lines",
    ".json": "bioc_json",
    ".spacy": "doc_bin",
    ".conllu": "conllu",
    ".conll": "conllu",
    ".pubtator": "pubtator",
    ".xml": "ppi_xml",
    ".nbib": "medline",
    ".medline": "medline",
    ".csv": "columns",
    ".tsv": "columns",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".nxml": "jats",
    ".letor": "letor",
    ".sgm": "reuters",
    ".tar": "bionlp",
    ".tgz": "bionlp",
    ".pos": "senseval",
    ".zip": "senseval",
}
ROOTS = {  # of XML files
    "collection": "bioc_xml",
    "corpus": "ppi_xml",
    "PubmedArticleSet": "pubmed_xml",
    "PubmedArticle": "pubmed_xml",
    "article": "jats",
    "pmc-articleset": "jats",
    "html": "html",
    "HTML": "html",
}
HEAD = 1 << 16  # bytes that are looked at


def reader_for(path: str | Path, *, format: str | None = None, **settings: Any) -> Corpus:
    """The reader of a file or folder, by the name of its format or by looking at it.

    ``settings`` go to the reader. ``READERS`` lists the formats.

    >>> reader_for("abstracts.jsonl", format="json_lines", cut=False)
    JsonLines(path='abstracts.jsonl', cut=False, newlines=None, skip_bad=False, limit=8388608)
    """
    return _choice(READERS, format or detect_format(path))(str(path), **settings)


def write_docs(
    docs: Iterable[Doc], path: str | Path, *, format: str | None = None, source: str = "gold"
) -> None:
    """Write Docs in a format: the one named, or the one the path's suffix stands for.

    ``.xml`` is the PPI format and ``.bioc.xml`` BioC; a name without suffix is a folder of
    brat files. Relations are the corpus's own, or the results of the task that ``source`` names.
    What the format cannot state is said by its writer.
    """
    writer = _writer(path, format, source)
    if "source" in inspect.signature(writer).parameters:
        writer(docs, str(path), source=source)
    else:
        writer(docs, str(path))


def check_output_path(
    path: str | Path | None, *, format: str | None = None, source: str = "gold"
) -> None:
    """Refuses where Docs could not be written: asked before long work, not after it."""
    if path is None:
        return
    if _writer(path, format, source) in (write_brat, write_text):
        check_folder_writable(Path(path))
    else:
        check_writable(path)


def _writer(path: str | Path, format: str | None, source: str) -> Callable[..., None]:
    name = format or _suffix_format(Path(path))
    if name is None or (format is None and name not in WRITERS):
        known = [suffix for suffix, own in SUFFIXES.items() if own in WRITERS]
        raise ValueError(
            f"{path}: unknown suffix to write. Use {_known(known)}, no suffix for a folder of brat "
            "files, or name the format."
        )
    writer: Callable[..., None] = _choice(WRITERS, name)
    if source != "gold" and "source" not in inspect.signature(writer).parameters:
        raise ValueError(f"{path}: {name} cannot state results. Write JSON lines, brat or BioC.")
    return writer


def detect_format(path: str | Path) -> str:
    """The name of a file's or folder's format, from its suffix and its first bytes."""
    path = Path(path)
    if path.is_dir():
        return _folder_format(path)
    head = _head(path)
    suffix = Path(path.name.removesuffix(".gz")).suffix.lower()
    if suffix == ".txt" and path.with_suffix(".ann").exists():
        return "brat"
    if suffix in (".xml", ".json", ".jsonl", ".ndjson", ".txt", ".tsv") or suffix not in SUFFIXES:
        return _content_format(path, head, suffix)
    return SUFFIXES[suffix]


def _folder_format(path: Path) -> str:
    for suffix, name in ((".a1", "bionlp"), (".ann", "brat"), (".txt", "text")):
        if any(path.glob(f"*{suffix}")):
            return name
    raise ValueError(f"{path}: neither *.txt nor *.ann in this folder. Name one of its files.")


def _content_format(path: Path, head: str, suffix: str) -> str:
    start = head.lstrip("\ufeff \t\r\n")
    root = re.match(r"(?:<[?!][^>]*>\s*)*<([\w-]+)", start)
    if root and root[1] in ROOTS:
        return ROOTS[root[1]]
    if start[:1] in ("{", "[") and suffix != ".txt":
        return (
            "bioc_json"
            if re.search(r'"(passages|documents|PubTator3)"\s*:', head)
            else "json_lines"
        )
    if SECTION.match(start.partition("\n")[0]):
        return "pubtator"
    if re.match(r"PMID *- ?\d", start):
        return "medline"
    if re.match(r"-?\d+(\.\d+)?[ \t]+qid:\S+[ \t]+\d+:", start):
        return "letor"
    if suffix == ".txt":
        return "text"
    if re.match(r"(#[^\n]*\n)*1(-\d+)?\t([^\t\n]*\t){8}[^\t\n]*(\n|$)", start):
        return "conllu"
    if suffix == ".tsv":
        return "columns"
    raise ValueError(
        f"{path}: the format is not recognised. Known suffixes: {_known(SUFFIXES)}, each also with "
        f".gz; an XML file begins with one of {_known(ROOTS)}. Or name one of {_known(READERS)}."
    )


def _head(path: Path) -> str:
    with open_bytes(path) as stream:
        data = b""
        while len(data) < HEAD and (chunk := stream.read(HEAD - len(data))):
            data += chunk
    return data.decode("utf-8", errors="replace")


def _suffix_format(path: Path) -> str | None:
    name = path.name.removesuffix(".gz").lower()
    if name.endswith(".bioc.xml"):
        return "bioc_xml"
    suffix = Path(name).suffix
    return SUFFIXES.get(suffix) if suffix else "brat"


def _choice(table: dict[str, Callable[..., Any]], name: str) -> Callable[..., Any]:
    if name not in table:
        raise ValueError(f"unknown format {name!r}. Known: {_known(table)}.")
    return table[name]


def _known(names: Iterable[str]) -> str:
    return ", ".join(names)
