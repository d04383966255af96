"""What a pair of names in a sentence looks like."""

__all__ = [
    "dependency_graph",
    "descriptors",
    "global_context",
    "local_context",
    "networks",
    "path_walks",
    "side_words",
    "trigger_roles",
]
