"""Linter for real-word spelling errors: ``Linter`` finds them in the prose of files.

The model is in ``textrank.lint.model``, the language server for editors in
``textrank.lint.server``. Nothing here loads spaCy.
"""

from textrank.lint.linter import Linter, Proposal, blank_non_prose, file_kind

__all__ = ["Linter", "Proposal", "blank_non_prose", "file_kind"]
