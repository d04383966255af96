"""Table of the file formats, and the choice of a reader or writer for a path.

``READERS`` and ``WRITERS`` map the name of a format to ``"module:object"``, which is imported on
use, so that reading a text file imports no XML parser. ``detect_format`` chooses by suffix and,
where a suffix is ambiguous (``.xml``, ``.json``, ``.txt``, …), by the beginning of the file.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spacy.tokens import Doc

from textrank.io import check_folder_writable, check_writable, open_bytes

if TYPE_CHECKING:
    from textrank.protocols import Corpus

READERS: Mapping[str, str] = {
    "text": "columns:PlainText",
    "json_lines": "columns:JsonLines",
    "doc_bin": "columns:DocBinFile",
    "brat": "standoff:Brat",
    "bioc_xml": "bioc:BioCXML",
    "bioc_json": "bioc:BioCJSON",
    "bionlp": "standoff:BioNLP",
    "pubtator": "bioc:PubTator",
    "conllu": "columns:ConllU",
    "ppi_xml": "research:PPIXML",
    "pubmed_xml": "pubmed:PubMedXML",
    "jats": "pubmed:JATS",
    "medline": "pubmed:Medline",
    "columns": "columns:Columns",
    "html": "pubmed:HTML",
    "letor": "research:Letor",
    "preferences": "research:PreferenceTable",
    "reuters": "research:Reuters",
    "senseval": "research:Senseval",
}
WRITERS: Mapping[str, str] = {
    "text": "columns:write_text",
    "json_lines": "columns:write_json_lines",
    "doc_bin": "columns:write_doc_bin",
    "brat": "standoff:write_brat",
    "bioc_xml": "bioc:write_bioc_xml",
    "bioc_json": "bioc:write_bioc_json",
    "pubtator": "bioc:write_pubtator",
    "conllu": "columns:write_conllu",
    "ppi_xml": "research:write_ppi_xml",
    "columns": "columns:write_table",
}
FOLDER_FORMATS = ("brat", "text")  # their writers fill a folder
SUFFIXES: Mapping[str, str] = {
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
SNIFFED_SUFFIXES = (
    ".xml",
    ".json",
    ".jsonl",
    ".ndjson",
    ".txt",
    ".tsv",
    ".csv",
)  # of several formats
XML_ROOTS: Mapping[str, str] = {  # root element -> format
    "collection": "bioc_xml",
    "corpus": "ppi_xml",
    "PubmedArticleSet": "pubmed_xml",
    "PubmedArticle": "pubmed_xml",
    "article": "jats",
    "pmc-articleset": "jats",
    "html": "html",
    "HTML": "html",
}
SNIFF_BYTES = 1 << 16  # read to recognise a format
PUBTATOR_SECTION = re.compile(r"([^|\t]+)\|([A-Za-z]+)\|(.*)", re.DOTALL)  # id|t|title


def reader_for(path: str | Path, *, format: str | None = None, **settings: Any) -> Corpus:
    """Return the reader of a file or folder.

    Called with a spaCy pipeline, it iterates over the documents. The file is opened only to detect
    its format.

    Parameters
    ----------
    path
        File or folder to read.
    format
        Key of ``READERS``; None detects it (``detect_format``).
    **settings
        Further arguments of the reader.

    Raises
    ------
    ValueError
        If the format is unknown or not recognised.

    Examples
    --------
    >>> reader_for("abstracts.jsonl", format="json_lines", cut=False)
    JsonLines(path='abstracts.jsonl', cut=False, newlines=None, skip_bad=False, limit=8388608)
    """
    reader: Corpus = _resolve(READERS, format or detect_format(path))(str(path), **settings)
    return reader


def write_docs(
    docs: Iterable[Doc], path: str | Path, *, format: str | None = None, source: str = "gold"
) -> None:
    """Write Docs to a file, or to a folder for formats with one file per document.

    Parameters
    ----------
    docs
        Documents, each with an id in ``user_data["document"]``; consumed one by one.
    path
        Target, replaced atomically.
    format
        Key of ``WRITERS``. None takes the one of the suffix: ``.xml`` is the PPI format,
        ``.bioc.xml`` BioC, and no suffix a folder of brat files.
    source
        Relations to write: "gold", or the name of a task whose results the Docs carry.

    Raises
    ------
    ValueError
        If there is no writer for the suffix, or the format cannot hold results of a task or
        something else the Docs have.
    """
    writer = _resolve(WRITERS, _choose_writer(path, format, source))
    if _accepts_source(writer):
        writer(docs, str(path), source=source)
    else:
        writer(docs, str(path))


def check_output_path(
    path: str | Path | None, *, format: str | None = None, source: str = "gold"
) -> None:
    """Raise ValueError if ``write_docs`` could not write here; call it before long work.

    ``format`` is a key of ``WRITERS``, None takes that of the suffix; ``source`` is "gold" or the
    name of a task whose results are to be written. Nothing is written. A ``path`` of None (no
    output requested) is accepted.
    """
    if path is None:
        return
    if _choose_writer(path, format, source) in FOLDER_FORMATS:
        check_folder_writable(Path(path))
    else:
        check_writable(path)


def _choose_writer(path: str | Path, format: str | None, source: str) -> str:
    """Return the key of ``WRITERS`` for a path, or ``format`` if it is given.

    Raises ValueError if the suffix has no writer, the format is unknown, or it cannot hold the
    results of the task ``source`` ("gold" can always be written).
    """
    name = format or _format_of_suffix(Path(path))
    if name is None or (format is None and name not in WRITERS):
        suffixes = [suffix for suffix, writer in SUFFIXES.items() if writer in WRITERS]
        raise ValueError(
            f"{path}: no format is written with this suffix. Use one of {', '.join(suffixes)}, no "
            "suffix for a folder of brat files, or name the format."
        )
    writer = _resolve(WRITERS, name)
    if source != "gold" and not _accepts_source(writer):
        raise ValueError(
            f"{path}: {name} cannot hold results of a task. Write JSON lines, brat or BioC."
        )
    return name


def _accepts_source(writer: Callable[..., None]) -> bool:
    """Return whether a writer has a parameter ``source``: then it can write task results."""
    return "source" in inspect.signature(writer).parameters


def detect_format(path: str | Path) -> str:
    """Return the key of ``READERS`` for a file or folder, from its suffix and first bytes.

    The content decides for unknown suffixes and those that several formats share; ``.gz`` is
    ignored. A ``.txt`` file with an ``.ann`` file of the same name beside it is brat. A folder is
    "bionlp", "brat" or "text" by the suffixes of its files (``.a1``, else ``.ann``, else ``.txt``).

    Raises
    ------
    ValueError
        If the file cannot be read, its format is not recognised, or a folder has no such file.
    """
    path = Path(path)
    if path.is_dir():
        return _format_of_folder(path)
    beginning = _read_beginning(path)
    suffix = Path(path.name.removesuffix(".gz")).suffix.lower()
    if suffix == ".txt" and path.with_suffix(".ann").exists():
        return "brat"
    if suffix in SNIFFED_SUFFIXES or suffix not in SUFFIXES:
        return _format_of_content(path, beginning, suffix)
    return SUFFIXES[suffix]


def _format_of_folder(path: Path) -> str:
    """Return "bionlp", "brat" or "text" by the suffixes of a folder's files, in this priority.

    Raises ValueError if it has none of their files. Subfolders are not searched, and compressed
    files (``.txt.gz``) do not count.
    """
    for suffix, name in ((".a1", "bionlp"), (".ann", "brat"), (".txt", "text")):
        if any(path.glob(f"*{suffix}")):
            return name
    raise ValueError(f"{path}: neither *.txt nor *.ann in this folder. Name one of its files.")


def _format_of_content(path: Path, beginning: str, suffix: str) -> str:
    """Return the format that the beginning of a file shows; raise ValueError if none is recognised.

    Tried are, in this order: XML by its root (``XML_ROOTS``), preferences, JSON (BioC if it has
    passages or documents, else JSON lines; not in ``.txt``), PubTator, MEDLINE, LETOR, any other
    ``.txt`` as text, CoNLL-U, and any other ``.csv`` or ``.tsv`` as a table. ``suffix`` is in lower
    case, with its dot; ``path`` is used in the message.
    """
    start = beginning.lstrip("\ufeff \t\r\n")
    root = re.match(r"(?:<[?!][^>]*>\s*)*<([\w-]+)", start)
    if root and root[1] in XML_ROOTS:
        return XML_ROOTS[root[1]]
    if _is_preferences(start, suffix):
        return "preferences"
    if start[:1] in ("{", "[") and suffix != ".txt":
        is_bioc = re.search(r'"(passages|documents|PubTator3)"\s*:', beginning)
        return "bioc_json" if is_bioc else "json_lines"
    if PUBTATOR_SECTION.match(start.partition("\n")[0]):
        return "pubtator"
    if re.match(r"PMID *- ?\d", start):
        return "medline"
    if re.match(r"-?\d+(\.\d+)?[ \t]+qid:\S+[ \t]+\d+:", start):
        return "letor"
    if suffix == ".txt":
        return "text"
    if re.match(r"(#[^\n]*\n)*1(-\d+)?\t([^\t\n]*\t){8}[^\t\n]*(\n|$)", start):
        return "conllu"
    if suffix in (".tsv", ".csv"):
        return "columns"
    raise ValueError(
        f"{path}: the format is not recognised. Known suffixes: {', '.join(SUFFIXES)}, each also "
        f"with .gz; an XML file begins with one of {', '.join(XML_ROOTS)}. Or name one of "
        f"{', '.join(READERS)}."
    )


def _is_preferences(start: str, suffix: str) -> bool:
    """Return whether a file begins like preferences.

    For ``.csv`` and ``.tsv`` the columns ``better`` and ``worse`` are required, for ``.jsonl`` and
    ``.ndjson`` these keys in the first line, for ``.json`` an object whose first key is ``items``
    or ``preferences``; other suffixes give False. ``start`` is the beginning of the file without
    leading white space; ``suffix`` is in lower case, with its dot.
    """
    line = start.partition("\n")[0]
    if suffix in (".csv", ".tsv"):
        columns = {cell.strip().strip('"') for cell in re.split(r"[,;\t]", line)}
        return {"better", "worse"} <= columns
    if suffix in (".jsonl", ".ndjson"):
        return all(re.search(rf'"{side}"\s*:', line) for side in ("better", "worse"))
    return suffix == ".json" and bool(re.match(r'\{\s*"(items|preferences)"\s*:', start))


def _read_beginning(path: Path) -> str:
    """Return the first ``SNIFF_BYTES`` of a file as text; invalid bytes become U+FFFD.

    A gzip file is decompressed. Raises ValueError if the file cannot be read.
    """
    with open_bytes(path) as stream:
        data = b""
        while len(data) < SNIFF_BYTES and (chunk := stream.read(SNIFF_BYTES - len(data))):
            data += chunk
    return data.decode("utf-8", errors="replace")


def _format_of_suffix(path: Path) -> str | None:
    """Return the format to write under this name, which need not have a writer.

    No suffix means "brat", an unknown suffix None; ``.gz`` and case are ignored. ``.bioc.xml``
    counts as one suffix.
    """
    name = path.name.lower().removesuffix(".gz")
    if name.endswith(".bioc.xml"):
        return "bioc_xml"
    suffix = Path(name).suffix
    return SUFFIXES.get(suffix) if suffix else "brat"


def _resolve(table: Mapping[str, str], name: str) -> Callable[..., Any]:
    """Import the reader or writer of a format; raise ValueError if ``table`` does not have it."""
    if name not in table:
        raise ValueError(f"unknown format {name!r}. Available: {', '.join(table)}.")
    module, _, attribute = table[name].partition(":")
    resolved: Callable[..., Any] = getattr(import_module(f"textrank.formats.{module}"), attribute)
    return resolved
