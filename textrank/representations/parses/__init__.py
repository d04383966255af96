"""What a parse looks like."""
