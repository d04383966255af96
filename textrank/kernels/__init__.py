"""Two lists of representations -> Gram matrix, one module a kernel. Knows arrays, not text."""

__all__ = [
    "algebra",
    "all_paths",
    "blocks",
    "centred",
    "combined",
    "each_view",
    "label_bag",
    "locality",
    "positional",
    "shortest_path",
    "similarity",
    "vectors",
]
