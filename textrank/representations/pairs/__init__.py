"""What a pair of names in a sentence looks like."""
