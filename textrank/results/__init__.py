"""TODO: say what textrank.results holds."""
