"""What a mention looks like."""

__all__ = ["beside", "core", "facts", "target"]
