"""TODO: say what textrank.tasks.identifiers holds."""
