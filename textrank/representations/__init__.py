"""Candidate -> matrix, graph or sequence; one module a representation."""
