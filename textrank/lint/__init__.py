"""Real-word spelling as a linter: prose found in files, proposals with their places."""

from textrank.lint.linter import Linter, Proposal, kind_of, prose

__all__ = ["Linter", "Proposal", "kind_of", "prose"]
