"""Readers and writers of corpora: files to spaCy Docs and back.

``detection`` lists the formats and chooses one for a path, ``base`` has what they share, and each
family of formats has a module of its own. Names are imported on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textrank.formats.base import (
        ConcatCorpus,
        FileReader,
        Mention,
        ReadOptions,
        Record,
        build_docs,
        get_mentions,
        get_relations,
        read_corpus,
    )
    from textrank.formats.bioc import (
        BioCJSON,
        BioCXML,
        PubTator,
        write_bioc_json,
        write_bioc_xml,
        write_pubtator,
    )
    from textrank.formats.columns import (
        Columns,
        ConllU,
        DocBinFile,
        JsonLines,
        PlainText,
        write_conllu,
        write_doc_bin,
        write_json_lines,
        write_names,
        write_pairs,
        write_table,
        write_text,
    )
    from textrank.formats.detection import (
        READERS,
        WRITERS,
        check_output_path,
        detect_format,
        reader_for,
        write_docs,
    )
    from textrank.formats.pubmed import HTML, JATS, Medline, PubMedXML
    from textrank.formats.research import (
        PPIXML,
        Letor,
        PreferenceTable,
        Reuters,
        Senseval,
        read_letor_arrays,
        write_ppi_xml,
    )
    from textrank.formats.standoff import BioNLP, Brat, write_brat

_MODULES = {
    "BioCJSON": "bioc",
    "BioCXML": "bioc",
    "BioNLP": "standoff",
    "Brat": "standoff",
    "Columns": "columns",
    "ConcatCorpus": "base",
    "ConllU": "columns",
    "DocBinFile": "columns",
    "FileReader": "base",
    "HTML": "pubmed",
    "JATS": "pubmed",
    "JsonLines": "columns",
    "Letor": "research",
    "Medline": "pubmed",
    "Mention": "base",
    "PPIXML": "research",
    "PlainText": "columns",
    "PubMedXML": "pubmed",
    "PubTator": "bioc",
    "READERS": "detection",
    "ReadOptions": "base",
    "Record": "base",
    "PreferenceTable": "research",
    "Reuters": "research",
    "Senseval": "research",
    "WRITERS": "detection",
    "build_docs": "base",
    "check_output_path": "detection",
    "detect_format": "detection",
    "get_mentions": "base",
    "get_relations": "base",
    "read_corpus": "base",
    "read_letor_arrays": "research",
    "reader_for": "detection",
    "write_bioc_json": "bioc",
    "write_bioc_xml": "bioc",
    "write_brat": "standoff",
    "write_conllu": "columns",
    "write_doc_bin": "columns",
    "write_docs": "detection",
    "write_json_lines": "columns",
    "write_names": "columns",
    "write_pairs": "columns",
    "write_ppi_xml": "research",
    "write_pubtator": "bioc",
    "write_table": "columns",
    "write_text": "columns",
}

__all__ = [
    "HTML",
    "JATS",
    "PPIXML",
    "READERS",
    "WRITERS",
    "BioCJSON",
    "BioCXML",
    "BioNLP",
    "Brat",
    "Columns",
    "ConcatCorpus",
    "ConllU",
    "DocBinFile",
    "FileReader",
    "JsonLines",
    "Letor",
    "Medline",
    "Mention",
    "PlainText",
    "PreferenceTable",
    "PubMedXML",
    "PubTator",
    "ReadOptions",
    "Record",
    "Reuters",
    "Senseval",
    "build_docs",
    "check_output_path",
    "detect_format",
    "get_mentions",
    "get_relations",
    "read_corpus",
    "read_letor_arrays",
    "reader_for",
    "write_bioc_json",
    "write_bioc_xml",
    "write_brat",
    "write_conllu",
    "write_doc_bin",
    "write_docs",
    "write_json_lines",
    "write_names",
    "write_pairs",
    "write_ppi_xml",
    "write_pubtator",
    "write_table",
    "write_text",
]


def __getattr__(name: str) -> Any:
    """Import a public name on first use and keep it; raise AttributeError for other names."""
    if name not in _MODULES:
        raise AttributeError(f"module 'textrank.formats' has no attribute {name!r}")
    value = getattr(import_module(f"textrank.formats.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names, also those that are not imported yet."""
    return [*__all__]
