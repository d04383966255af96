"""``textrank lsp``: language server for real-word spelling errors."""

from __future__ import annotations

EXAMPLE = "Example: textrank lsp    (started by the editor, over standard input and output)"


def command() -> None:
    """Start a language server that shows spelling errors in an editor.

    Editors start it and talk to it over standard input and output.
    """
    try:
        from textrank.lint.server import make_server
    except ModuleNotFoundError as error:
        raise ValueError(
            f"the language server needs {error.name}. Install the extra: "
            "pip install 'textrank-kernels[lsp]'."
        ) from error
    make_server().start_io()
