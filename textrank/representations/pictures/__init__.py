"""Drawings of representations, for the documentation and for looking at one's own data."""
