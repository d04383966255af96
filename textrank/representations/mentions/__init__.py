"""What a mention looks like."""
