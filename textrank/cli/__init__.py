"""Command line: one module per group of related commands; the only package that prints.

``COMMANDS`` lists the commands. Only the module of the requested one is imported, and it imports
spaCy, SciPy and scikit-learn when it runs, so that help and shell completion are fast.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Mapping
from typing import NamedTuple


class Command(NamedTuple):
    """Entry of ``COMMANDS``: where a command is implemented, and its lines of help.

    Attributes
    ----------
    module
        Module of this package whose function ``<command>_command`` runs the command.
    help
        Line in the list of commands of ``textrank --help``.
    example
        Command line shown at the end of the command's own help.
    """

    module: str
    help: str
    example: str


# In the order of ``textrank --help``.
COMMANDS: Mapping[str, Command] = {
    "run": Command(
        "run",
        "Cross-validate a pipeline on a corpus.",
        "textrank run ppi corpora/sample-ppi --folds 5 --set learner.alphas=[0.5,1]",
    ),
    "train": Command(
        "train", "Train a model on a corpus.", "textrank train ppi corpora/sample-ppi my-model"
    ),
    "add": Command(
        "update",
        "Add documents to a trained model, exactly, with a receipt.",
        "textrank add my-model new-abstracts.bioc.xml",
    ),
    "forget": Command(
        "update",
        "Remove documents from a trained model, exactly, with a receipt.",
        "textrank forget my-model PMID12345 --receipt forgotten.json",
    ),
    "evaluate": Command(
        "evaluate",
        "Evaluate a model on an annotated corpus.",
        "textrank evaluate my-model other-corpus.xml.gz --json figures.json",
    ),
    "apply": Command(
        "apply", "Annotate texts with a model.", "echo 'SHC binds to GRB2.' | textrank apply ppi -"
    ),
    "query": Command(
        "query",
        "Search the results of apply: partners, evidence, networks.",
        'textrank query results "who interacts with GRB2"',
    ),
    "download": Command(
        "files",
        "Download PubMed files, or articles by number or query.",
        "textrank download pubmed articles --pmid 8493578,7929193",
    ),
    "export": Command(
        "query",
        "Export the facts of results: INDRA, PSI-MITAB, BEL, CX2, GraphML, SIF.",
        "textrank export results statements.indra.json --probability 0.8",
    ),
    "results": Command(
        "results",
        "Check the results of apply, and remove damaged parts.",
        "textrank results verify results",
    ),
    "explore": Command(
        "servers", "Show results in a browser.", "textrank explore corpora/sample-ppi"
    ),
    "curate": Command(
        "curate",
        "Annotate texts and train a model interactively in a browser.",
        "textrank curate ppi abstracts.txt",
    ),
    "serve": Command(
        "servers",
        "Serve a model over HTTP on this machine (REST, INCEpTION).",
        "textrank serve ppi --port 8000, then: curl -H 'Authorization: Bearer TOKEN' "
        "-H 'Content-Type: application/json' "
        '-d \'{"documents": [{"text": "GRB2 binds SOS1."}]}\' http://127.0.0.1:8000/v1/annotate',
    ),
    "mcp": Command(
        "servers",
        "Serve tools for language-model applications (MCP).",
        "textrank mcp --results results",
    ),
    "replay": Command(
        "comparisons",
        "Replay an annotation: answers that active learning saves, and a forecast.",
        "textrank replay ppi-linear corpora/sample-ppi --answers 100 --html curve.html",
    ),
    "spell": Command(
        "spell",
        "Find real-word spelling errors in files.",
        "textrank spell README.md docs/*.rst --format github",
    ),
    "lsp": Command(
        "servers",
        "Show spelling errors in an editor (language server).",
        "textrank lsp    (started by the editor, over standard input and output)",
    ),
    "explain": Command(
        "explain",
        "Show which features led to each score.",
        "textrank explain my-model abstract.txt --html why.html",
    ),
    "compare": Command(
        "comparisons",
        "Test whether runs on the same folds differ significantly.",
        "textrank compare one.json other.json",
    ),
    "audit": Command(
        "audit",
        "Find gold labels that are probably wrong.",
        "textrank audit ppi corpora/sample-ppi --top 10 --json doubts.json",
    ),
    "league": Command(
        "comparisons",
        "Score the stored answers of several systems on the same documents.",
        "textrank league gold.bioc.xml ours.bioc.xml theirs.pubtator --json league.json",
    ),
    "cross": Command(
        "comparisons",
        "Train on each corpus and test on each of the others.",
        "textrank cross ppi AImed.xml.gz IEPA.xml.gz LLL.xml.gz",
    ),
    "transfer": Command(
        "comparisons",
        "Find out which other corpora help a target corpus.",
        "textrank transfer mine.bioc.xml AImed.xml.gz IEPA.xml.gz --html effects.html",
    ),
    "reproduce": Command(
        "run",
        "Reproduce tables of published papers.",
        "textrank reproduce multiclass letor --data ../shared/data",
    ),
    "convert": Command(
        "files",
        "Convert a corpus to another format.",
        "textrank convert corpora/sample-ppi sample.bioc.xml",
    ),
    "info": Command(
        "info",
        "List models, pipelines and registered names, or describe one.",
        "textrank info all_paths.v1",
    ),
}

# Thresholds of Python's cyclic garbage collector. With the default ones collections take a
# fifteenth of the time to load a model.
GC_THRESHOLDS = (10_000, 5, 5)


def main() -> None:
    """Run the command in ``sys.argv`` and exit the process with its exit code.

    The exit code is 130 if the user presses Ctrl-C before the command starts; see ``app.run`` for
    the other codes. Sets the thresholds of Python's garbage collector for the whole process.
    """
    gc.set_threshold(*GC_THRESHOLDS)
    try:
        from textrank.cli.app import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # before a command was started
        sys.stderr.write("textrank: error: interrupted; no partial output remains.\n")
        code = 130
    sys.exit(code)


__all__ = ["COMMANDS", "Command", "main"]
