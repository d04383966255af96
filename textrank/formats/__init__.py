"""Files and Docs, both ways: one module a format, one table of names, suffixes, sniffers."""

__all__ = [
    "bioc",
    "bionlp",
    "brat",
    "columns",
    "conllu",
    "doc_bin",
    "jats",
    "json_lines",
    "letor",
    "plain_text",
    "ppi_xml",
    "pubmed",
    "pubtator",
    "reuters",
    "senseval",
    "together",
    "web_page",
]
