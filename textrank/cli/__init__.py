"""Command line: one module per command, and the only package that prints.

``COMMANDS`` lists the commands. Only the requested one is imported, and it imports spaCy, SciPy and
scikit-learn when it runs, so that help and shell completion are fast.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Mapping

# Command (also the name of its module, whose function ``command`` runs it) -> line of help.
COMMANDS: Mapping[str, str] = {
    "run": "Cross-validate a pipeline on a corpus.",
    "train": "Train a model on a corpus.",
    "add": "Add documents to a trained model, exactly, with a receipt.",
    "forget": "Remove documents from a trained model, exactly, with a receipt.",
    "evaluate": "Evaluate a model on an annotated corpus.",
    "apply": "Annotate texts with a model.",
    "query": "Search the results of apply: partners, evidence, networks.",
    "download": "Download PubMed files, or articles by number or query.",
    "export": "Export the facts of results: INDRA, PSI-MITAB, BEL, CX2, GraphML, SIF.",
    "results": "Check the results of apply, and remove damaged parts.",
    "explore": "Show results in a browser.",
    "curate": "Annotate texts and train a model interactively in a browser.",
    "serve": "Serve a model over HTTP on this machine (REST, INCEpTION).",
    "mcp": "Serve tools for language-model applications (MCP).",
    "replay": "Replay an annotation: answers that active learning saves, and a forecast.",
    "spell": "Find real-word spelling errors in files.",
    "lsp": "Show spelling errors in an editor (language server).",
    "explain": "Show which features led to each score.",
    "compare": "Test whether runs on the same folds differ significantly.",
    "audit": "Find gold labels that are probably wrong.",
    "league": "Score the stored answers of several systems on the same documents.",
    "cross": "Train on each corpus and test on each of the others.",
    "transfer": "Find out which other corpora help a target corpus.",
    "reproduce": "Reproduce tables of published papers.",
    "convert": "Convert a corpus to another format.",
    "info": "List models, pipelines and registered names, or describe one.",
}


# Thresholds of Python's cyclic garbage collector. With the default ones collections take a
# fifteenth of the time to load a model.
GC_THRESHOLDS = (10_000, 5, 5)


def main() -> None:
    """Run the command in ``sys.argv`` and exit with its code.

    The code is 130 if it is interrupted before a command starts. Changes the thresholds of Python's
    garbage collector for the whole process.
    """
    gc.set_threshold(*GC_THRESHOLDS)
    try:
        from textrank.cli.app import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # before a command was started
        sys.stderr.write("textrank: error: interrupted; no partial output remains.\n")
        code = 130
    sys.exit(code)


__all__ = ["COMMANDS", "main"]
