"""Word-position matrices of contexts, and their transformations."""

__all__ = ["collocations", "learned", "transformations", "word_positions", "word_transformations"]
