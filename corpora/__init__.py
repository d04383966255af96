"""Sample corpora of all tasks, a folder each."""
