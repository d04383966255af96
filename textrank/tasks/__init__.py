"""Doc -> candidates, scores -> Doc, gold -> Report; one module a task."""

__all__ = [
    "categorise",
    "gene_protein",
    "identifiers",
    "pair_views",
    "parse_ranking",
    "ppi",
    "retrieve",
    "spelling",
    "statement_views",
    "statements",
    "task",
    "wsd",
]
