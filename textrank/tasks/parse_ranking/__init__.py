"""TODO: say what textrank.tasks.parse_ranking holds."""
