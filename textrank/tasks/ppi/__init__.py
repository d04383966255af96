"""TODO: say what textrank.tasks.ppi holds."""
