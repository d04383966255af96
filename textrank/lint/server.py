"""A language server: proposals as diagnostics, with a quick fix each."""

from __future__ import annotations

import threading
from typing import Any

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer

from textrank import __version__
from textrank.lint.linter import Linter, Proposal
from textrank.lint.prose import kind_of

SOURCE = "textrank"
PAUSE = 0.3  # seconds without a key before a text is judged


class SpellServer(LanguageServer):
    """Judges open texts in a thread of its own; a newer version of a text replaces an older."""

    def __init__(self) -> None:
        super().__init__("textrank-spell", __version__)
        self.found: dict[str, list[Proposal]] = {}
        self._timers: dict[str, threading.Timer] = {}
        self._linter: Linter | None = None
        self._lock = threading.Lock()

    def later(self, uri: str, pause: float = PAUSE) -> None:
        """Judges a text once nothing has changed for a moment."""
        if (old := self._timers.pop(uri, None)) is not None:
            old.cancel()
        timer = threading.Timer(pause, self._judge, (uri,))
        timer.daemon = True
        self._timers[uri] = timer
        timer.start()

    def _judge(self, uri: str) -> None:
        document = self.workspace.get_text_document(uri)
        text, version = document.source, document.version
        with self._lock:
            self._linter = self._linter or Linter()
            found = self._linter(text, file=uri, kind=kind_of(document.path or uri))
        if self.workspace.get_text_document(uri).version != version:
            return  # typed on meanwhile: the next timer has it
        self.found[uri] = found
        shown = [_diagnostic(one) for one in found]
        self.text_document_publish_diagnostics(
            lsp.PublishDiagnosticsParams(uri=uri, version=version, diagnostics=shown)
        )


def _range(one: Proposal) -> lsp.Range:
    start = lsp.Position(line=one.line - 1, character=one.column - 1)
    return lsp.Range(start, lsp.Position(line=one.line - 1, character=one.column - 1 + one.length))


def _diagnostic(one: Proposal) -> lsp.Diagnostic:
    because = f" ({one.because})" if one.because else ""
    return lsp.Diagnostic(
        range=_range(one),
        message=f"{one.word} → {one.proposal}?{because}",
        severity=lsp.DiagnosticSeverity.Warning,
        source=SOURCE,
    )


def make_server() -> SpellServer:
    """The server, ready to be started over standard input and output."""
    server = SpellServer()

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        server.later(params.text_document.uri, 0.0)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        server.later(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        server.found.pop(params.text_document.uri, None)

    @server.feature(
        lsp.TEXT_DOCUMENT_CODE_ACTION,
        lsp.CodeActionOptions(code_action_kinds=[lsp.CodeActionKind.QuickFix]),
    )
    def actions(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        uri, asked = params.text_document.uri, params.range
        return [
            _action(uri, one)
            for one in server.found.get(uri, ())
            if asked.start.line <= one.line - 1 <= asked.end.line
        ]

    return server


def _action(uri: str, one: Proposal) -> lsp.CodeAction:
    edit: Any = lsp.WorkspaceEdit(changes={uri: [lsp.TextEdit(_range(one), one.proposal)]})
    return lsp.CodeAction(
        title=f"Change to {one.proposal}",
        kind=lsp.CodeActionKind.QuickFix,
        diagnostics=[_diagnostic(one)],
        edit=edit,
    )
