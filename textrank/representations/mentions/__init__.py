"""What a mention looks like."""

__all__ = ["beside", "binary", "core", "facts", "target"]
