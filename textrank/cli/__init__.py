"""The command line: a file a command."""

from textrank.cli.app import main

__all__ = ["main"]
