"""Language server for editors: spelling proposals as diagnostics, each with a quick fix.

``make_server`` returns a ``SpellServer`` that checks open documents in a background thread, a short
time after the last change.
"""

from __future__ import annotations

import re
import threading
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path
from pygls.workspace import PositionCodec

from textrank import __version__
from textrank.lint.linter import Linter, Proposal, Settings, file_kind
from textrank.lint.model import ConfusionModel, shipped_model_path

DIAGNOSTIC_SOURCE = "textrank"
DEBOUNCE_SECONDS = 0.3  # without a change before a text is checked
LINE_END = re.compile(r"\r\n|\n|\r")  # as the protocol defines them; str.splitlines has more


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Text of an open document at one moment; compared by identity.

    ``version`` is the editor's number of the text, None if it gave none; ``kind`` is one of
    ``linter.FILE_KINDS``.
    """

    uri: str
    text: str
    version: int | None
    kind: str


@dataclass(frozen=True)
class Fix:
    """Diagnostic and the word that would resolve it."""

    diagnostic: lsp.Diagnostic
    proposal: str


class SpellServer(LanguageServer):
    """Language server that checks open documents; a newer version of a text replaces an older one.

    Diagnostics and quick fixes always belong to the current version of a text: those of an older
    one are neither published nor offered. The settings are those of the nearest pyproject.toml of
    each document; if it is not valid, defaults are used and the editor shows the error.
    """

    def __init__(self) -> None:
        # Whole texts on every change: pygls splits lines at more characters than editors do, so
        # that it would apply partial changes of some texts at the wrong place.
        """Start without documents; the model is loaded at the first check."""
        super().__init__("textrank-spell", __version__, lsp.TextDocumentSyncKind.Full)
        self._current: dict[str, Snapshot] = {}
        self._fixes: dict[str, tuple[Snapshot, list[Fix]]] = {}
        self._timers: dict[str, threading.Timer] = {}
        self._model: ConfusionModel | None = None
        self._reported_errors: set[str] = set()
        self._linter_lock = threading.Lock()
        self._state_lock = threading.Lock()  # held while a result is compared and published

    def schedule(self, uri: str, delay: float = DEBOUNCE_SECONDS) -> None:
        """Start a check of a document's current text after ``delay`` seconds; return at once.

        Replaces a pending check of the same document. The check runs in a timer thread and is
        dropped if the document changes or is closed before.
        """
        document = self.workspace.get_text_document(uri)
        kind = file_kind(document.path or uri)
        snapshot = Snapshot(uri, document.source, document.version, kind)
        with self._state_lock:
            self._cancel(uri)
            self._current[uri] = snapshot
            timer = threading.Timer(delay, self.check, (snapshot,))
            timer.daemon = True
            self._timers[uri] = timer
        timer.start()

    def check(self, snapshot: Snapshot) -> None:
        """Publish the diagnostics of a text and keep its fixes for ``quick_fixes``.

        Both are dropped if the document was changed or closed meanwhile. The model is loaded at the
        first call. Runs in a timer thread.
        """
        with self._linter_lock:
            linter = self._make_linter(snapshot)
            proposals = linter(snapshot.text, file=snapshot.uri, kind=snapshot.kind)
        ranges = client_ranges(snapshot.text, proposals, self.workspace.position_codec)
        fixes = [
            Fix(_diagnostic(proposal, range_), proposal.proposal)
            for proposal, range_ in zip(proposals, ranges, strict=True)
        ]
        with self._state_lock:
            if self._current.get(snapshot.uri) is not snapshot:
                return  # changed or closed meanwhile
            self._fixes[snapshot.uri] = snapshot, fixes
            self._publish(snapshot.uri, snapshot.version, [fix.diagnostic for fix in fixes])

    def _make_linter(self, snapshot: Snapshot) -> Linter:
        """Return the linter with the settings that hold for a document; needs ``_linter_lock``.

        Settings are those of the nearest pyproject.toml; defaults if the document is not a file, or
        the settings are invalid, which is reported to the editor once per message. ``exclude`` is
        ignored. The model is loaded at the first call.
        """
        if self._model is None:
            self._model = ConfusionModel.from_disk(shipped_model_path("confusions") or "confusions")
        settings = Settings()
        path = to_fs_path(snapshot.uri) if snapshot.uri.startswith("file:") else None
        if path:
            try:
                settings = Settings.from_folder(Path(path).parent)
            except (ValueError, OSError) as error:
                if str(error) not in self._reported_errors:
                    self._reported_errors.add(str(error))
                    self.window_show_message(
                        lsp.ShowMessageParams(lsp.MessageType.Error, f"textrank: {error}")
                    )
        return Linter(
            self._model,
            precision=settings.precision,
            words=settings.words,
            style=settings.style,
        )

    def close(self, uri: str) -> None:
        """Forget a document that was closed, and clear its diagnostics in the editor.

        A check that is running publishes nothing. Unknown documents are accepted.
        """
        with self._state_lock:
            self._cancel(uri)
            self._current.pop(uri, None)
            self._fixes.pop(uri, None)
            self._publish(uri, None, [])

    def quick_fixes(self, uri: str, range_: lsp.Range) -> list[lsp.CodeAction]:
        """Return the fixes whose words begin on a line of ``range_``, in text order.

        Empty for an unknown document, and while its newest version is not yet checked.
        """
        with self._state_lock:
            snapshot, fixes = self._fixes.get(uri, (None, []))
            if snapshot is None or snapshot is not self._current.get(uri):
                return []
        lines = range(range_.start.line, range_.end.line + 1)
        return [
            self._code_action(snapshot, fix)
            for fix in fixes
            if fix.diagnostic.range.start.line in lines
        ]

    def _code_action(self, snapshot: Snapshot, fix: Fix) -> lsp.CodeAction:
        """Return the quick fix of a diagnostic, which replaces the word by the proposal.

        The edit is bound to the version of ``snapshot`` if the editor supports that.
        """
        edit = lsp.TextEdit(fix.diagnostic.range, fix.proposal)
        if self._takes_versions():
            document = lsp.OptionalVersionedTextDocumentIdentifier(
                uri=snapshot.uri, version=snapshot.version
            )
            workspace_edit = lsp.WorkspaceEdit(
                document_changes=[lsp.TextDocumentEdit(document, [edit])]
            )
        else:
            workspace_edit = lsp.WorkspaceEdit(changes={snapshot.uri: [edit]})
        return lsp.CodeAction(
            title=f"Change to {fix.proposal}",
            kind=lsp.CodeActionKind.QuickFix,
            diagnostics=[fix.diagnostic],
            edit=workspace_edit,
        )

    def _takes_versions(self) -> bool:
        """Return whether the editor can reject edits of a text that has changed since."""
        workspace = self.client_capabilities.workspace
        edits = workspace.workspace_edit if workspace else None
        return bool(edits and edits.document_changes)

    def _cancel(self, uri: str) -> None:
        """Cancel the pending check of a document, if there is one; needs ``_state_lock``."""
        if (timer := self._timers.pop(uri, None)) is not None:
            timer.cancel()

    def _publish(self, uri: str, version: int | None, diagnostics: list[lsp.Diagnostic]) -> None:
        """Send the diagnostics of a document to the editor, replacing earlier ones.

        An empty list clears them; None as version leaves the version open.
        """
        self.text_document_publish_diagnostics(
            lsp.PublishDiagnosticsParams(uri=uri, version=version, diagnostics=diagnostics)
        )


def client_ranges(
    text: str, proposals: list[Proposal], codec: PositionCodec
) -> Iterator[lsp.Range]:
    """Yield the range of each proposal in the units of the editor, UTF-16 unless agreed otherwise.

    Lines and columns count from 0, in the order of ``proposals``, which must be of this ``text``.

    >>> codec = PositionCodec()
    >>> word = Proposal("-", 1, 8, offset=7, length=4, word="then", proposal="than",
    ...     probability=1.0, because="")
    >>> [place] = client_ranges("\\N{DNA DOUBLE HELIX} more then", [word], codec)
    >>> place.start.character, place.end.character
    (8, 12)
    """
    starts = [0, *(end.end() for end in LINE_END.finditer(text))]
    line = units = last = 0  # units of text[starts[line] : last]; counted once per character

    def position(offset: int) -> lsp.Position:
        """Return line and column of a character offset; offsets must not decrease."""
        nonlocal line, units, last
        if (new := bisect_right(starts, offset) - 1) != line:
            line, units, last = new, 0, starts[new]
        units, last = units + codec.client_num_units(text[last:offset]), offset
        return lsp.Position(line, units)

    ends = [(n, at) for n, p in enumerate(proposals) for at in (p.offset, p.offset + p.length)]
    positions = {end: position(end[1]) for end in sorted(ends, key=lambda end: end[1])}
    for n, proposal in enumerate(proposals):
        start = proposal.offset
        yield lsp.Range(positions[n, start], positions[n, start + proposal.length])


def _diagnostic(proposal: Proposal, range_: lsp.Range) -> lsp.Diagnostic:
    """Return a proposal as a warning at ``range_``; the message has word, proposal and reasons."""
    because = f" ({proposal.because})" if proposal.because else ""
    return lsp.Diagnostic(
        range=range_,
        message=f"{proposal.word} → {proposal.proposal}?{because}",
        severity=lsp.DiagnosticSeverity.Warning,
        source=DIAGNOSTIC_SOURCE,
    )


def make_server() -> SpellServer:
    """Return the server with its handlers, ready to be started over standard input and output.

    A document is checked at once when it is opened and ``DEBOUNCE_SECONDS`` after its last change,
    and forgotten when it is closed. Requests for code actions get ``SpellServer.quick_fixes``.
    """
    server = SpellServer()

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        """Check a document when it is opened."""
        server.schedule(params.text_document.uri, 0.0)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        """Check a document after a change, debounced."""
        server.schedule(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        """Forget a closed document."""
        server.close(params.text_document.uri)

    @server.feature(
        lsp.TEXT_DOCUMENT_CODE_ACTION,
        lsp.CodeActionOptions(code_action_kinds=[lsp.CodeActionKind.QuickFix]),
    )
    def actions(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        """Return the quick fixes of a range."""
        return server.quick_fixes(params.text_document.uri, params.range)

    return server
