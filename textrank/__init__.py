"""Mines text with kernel methods on spaCy."""
