"""Ways to keep test data apart from training data, and what can be asked beyond one report."""
