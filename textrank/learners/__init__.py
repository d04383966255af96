"""Gram or feature matrix -> Fit. Knows arrays, not text."""
