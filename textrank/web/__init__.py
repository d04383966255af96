"""Pages people look at and teach from: the explorer of results, and curation.

Served on this machine alone, without a build step and without a network: Starlette, Jinja
templates, plain ES modules, and libraries that lie in ``vendor`` with licence and checksum.
"""

__all__ = [
    "answers",
    "curation",
    "curator",
    "explorer",
    "reasons",
    "server",
    "sources",
    "static_page",
    "store",
    "teaching",
]
