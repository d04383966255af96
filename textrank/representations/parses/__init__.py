"""What a parse looks like."""

__all__ = ["arc_features", "arc_votes", "graph", "sequences", "support"]
