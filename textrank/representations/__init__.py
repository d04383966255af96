"""Candidate -> matrix, graph or sequence; one module a representation."""

__all__ = ["contexts", "mentions", "pairs", "parses", "pictures", "views"]
