"""The command line: a file a command, and the only place that prints.

``COMMANDS`` is the one table. Only the command that is asked for is imported, and it imports what
it works with when it runs, so that help and completion wait for nothing of spaCy, SciPy or
scikit-learn.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Mapping

# The name of a command is that of its module, whose function ``command`` does it.
COMMANDS: Mapping[str, str] = {
    "run": "Cross-validates a pipeline on a corpus, whole documents held out.",
    "train": "Trains a pipeline on a corpus and writes the model as a folder.",
    "evaluate": "Tests a trained model on an annotated corpus.",
    "apply": "Judges texts with a model: one JSON line a document.",
    "query": "Answers a question to a result: partners, evidence, networks.",
    "explore": "Shows results in a browser: facts, evidence, documents, neighbourhoods.",
    "curate": "Teaches a model in a browser, answer by answer.",
    "spell": "Finds real-word spelling errors in the prose of files, as a linter.",
    "lsp": "Serves spelling proposals to an editor.",
    "explain": "Says why: the named features whose sum is the score.",
    "compare": "Tests whether runs on the same folds differ.",
    "cross": "Trains on each corpus and tests on each other.",
    "reproduce": "Repeats the tables of the sources, their figures beside ours.",
    "convert": "Writes a corpus in another format.",
    "info": "Lists what is registered and shipped, or what a name is.",
}


# How many new objects Python waits for until it looks for garbage in circles, and how often it
# then looks at older ones. Its own numbers cost a fifteenth of loading a model.
GC_THRESHOLDS = (10_000, 5, 5)


def main() -> None:
    """Runs the command of the arguments; ends with its exit code."""
    gc.set_threshold(*GC_THRESHOLDS)
    try:
        from textrank.cli.app import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # before a command was begun
        sys.stderr.write("textrank: error: interrupted; nothing half-written remains.\n")
        code = 130
    sys.exit(code)


__all__ = ["COMMANDS", "main"]
