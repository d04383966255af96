"""``textrank lsp``: language server for real-word spelling errors."""

from __future__ import annotations

import logging

EXAMPLE = "Example: textrank lsp    (started by the editor, over standard input and output)"
MAX_LOG_CHARACTERS = 300  # of a line; pygls quotes whole messages, with the text of the document


class OneLineFormatter(logging.Formatter):
    """Formatter that writes the first line of a message and its exception, without a traceback."""

    def format(self, record: logging.LogRecord) -> str:
        """Return one line of at most ``MAX_LOG_CHARACTERS``: message, exception type and text."""
        message = f"textrank lsp: {record.getMessage().partition(chr(10))[0]}"
        if record.exc_info and (error := record.exc_info[1]) is not None:
            message += f" ({type(error).__name__}: {error})"
        return " ".join(message.split())[:MAX_LOG_CHARACTERS]


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
    handler = logging.StreamHandler()
    handler.setFormatter(OneLineFormatter())
    logging.getLogger().addHandler(handler)  # pygls and futures report messages that are not valid
    make_server().start_io()
