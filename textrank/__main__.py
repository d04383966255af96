"""``python -m textrank`` is the command ``textrank``."""

from textrank.cli import main

main()
