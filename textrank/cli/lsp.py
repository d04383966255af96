"""``textrank lsp``: real-word errors in your editor, by the language server protocol."""

from __future__ import annotations

EXAMPLE = "Example: textrank lsp    (started by the editor, over standard input and output)"


def command() -> None:
    """Serves spelling proposals to an editor over standard input and output."""
    try:
        from textrank.lint.server import make_server
    except ModuleNotFoundError as error:
        raise ValueError(
            f"the language server needs {error.name}. Install the extra: "
            "pip install 'textrank-kernels[lsp]'."
        ) from error
    make_server().start_io()
