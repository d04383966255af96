"""Word-position matrices of contexts, and their transformations."""
