"""The language server as an editor sees it, over standard input and output."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

pytest.importorskip("pygls")

TEXT = "This one is larger then the other.\n"
URI = "file:///a.md"


def write(process, message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    process.stdin.flush()


def read(process, wanted, most=50):
    """The first message that ``wanted`` accepts, of at most ``most``."""
    for _ in range(most):
        size = 0
        while (line := process.stdout.readline().strip()) != b"":
            if line.lower().startswith(b"content-length"):
                size = int(line.split(b":")[1])
        message = json.loads(process.stdout.read(size))
        if wanted(message):
            return message
    raise AssertionError("no such message")


@contextmanager
def editor(capabilities, log=None):
    """A server that was started and greeted by an editor; ``log`` gets its standard error."""
    command = [sys.executable, "-m", "textrank", "lsp"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log
    ) as process:
        write(process, {"id": 1, "method": "initialize", "params": {
            "processId": None, "rootUri": None, "capabilities": capabilities}})  # fmt: skip
        found = read(process, lambda m: m.get("id") == 1)
        assert found["result"]["capabilities"]["codeActionProvider"]
        write(process, {"method": "initialized", "params": {}})
        try:
            yield process
        except BaseException:
            process.kill()
            raise
        write(process, {"id": 99, "method": "shutdown"})
        read(process, lambda m: m.get("id") == 99)
        write(process, {"method": "exit"})
        assert process.wait(20) == 0


def show(process, text):
    """The diagnostics of a text that is opened."""
    document = {"uri": URI, "languageId": "markdown", "version": 1, "text": text}
    write(process, {"method": "textDocument/didOpen", "params": {"textDocument": document}})
    shown = read(process, lambda m: m.get("method") == "textDocument/publishDiagnostics")
    return shown["params"]["diagnostics"]


def test_the_settings_of_the_project_count_in_the_editor(tmp_path):
    document = {"languageId": "markdown", "version": 1, "text": TEXT}
    settings = tmp_path / "pyproject.toml"

    def diagnostics(process, name):
        uri = (tmp_path / name).as_uri()
        opened = {"textDocument": {**document, "uri": uri}}
        write(process, {"method": "textDocument/didOpen", "params": opened})
        shown = read(
            process,
            lambda m: m.get("params", {}).get("uri") == uri and "diagnostics" in m["params"],
        )
        return shown["params"]["diagnostics"]

    with editor({}) as process:
        settings.write_text('[tool.textrank.spell]\nwords = ["then"]\n')
        assert diagnostics(process, "a.md") == []
        settings.write_text("[tool.textrank.spell]\nwrods = []\n")
        assert len(diagnostics(process, "b.md")) == 1  # the defaults hold


def fixes(process, place):
    asked = {"textDocument": {"uri": URI}, "range": place, "context": {"diagnostics": []}}
    write(process, {"id": 2, "method": "textDocument/codeAction", "params": asked})
    return read(process, lambda m: m.get("id") == 2)["result"]


def test_diagnostics_and_quick_fixes_reach_an_editor():
    with editor({}) as process:
        (one,) = show(process, TEXT)
        assert one["range"]["start"] == {"line": 0, "character": 19}
        assert "than" in one["message"]
        (action,) = fixes(process, one["range"])
        assert action["edit"]["changes"][URI][0]["newText"] == "than"


@pytest.mark.parametrize(
    ("encodings", "codec", "unit"),
    [(None, "utf-16-le", 2), (["utf-8"], "utf-8", 1), (["utf-32"], "utf-32-le", 4)],
)
def test_a_quick_fix_after_emoji_replaces_its_word(encodings, codec, unit):
    line = "\N{DNA DOUBLE HELIX}" * 4 + " This one is larger then the other."
    edits = {"workspaceEdit": {"documentChanges": True}}
    general = {"positionEncodings": encodings} if encodings else {}
    with editor({"workspace": edits, "general": general}) as process:
        (one,) = show(process, f"# Title\r\n\x0cold page\r{line}\n")
        (action,) = fixes(process, one["range"])
        (change,) = action["edit"]["documentChanges"]
        assert change["textDocument"] == {"uri": URI, "version": 1}
        (edit,) = change["edits"]
        start, end = edit["range"]["start"], edit["range"]["end"]
        assert (start["line"], end["line"]) == (2, 2)
        units = line.encode(codec)
        word = units[start["character"] * unit : end["character"] * unit]
        assert word.decode(codec) == "then"
        assert edit["newText"] == "than"


def test_closing_a_text_clears_its_diagnostics():
    with editor({}) as process:
        place = show(process, TEXT)[0]["range"]
        closed = {"textDocument": {"uri": URI}}
        write(process, {"method": "textDocument/didClose", "params": closed})
        asked = {"textDocument": {"uri": URI}, "range": place, "context": {"diagnostics": []}}
        write(process, {"id": 3, "method": "textDocument/codeAction", "params": asked})
        seen = []
        answer = read(process, lambda m: seen.append(m) or m.get("id") == 3)
        assert not answer["result"]
        published = [m for m in seen if m.get("method") == "textDocument/publishDiagnostics"]
        assert [m["params"]["diagnostics"] for m in published] == [[]]


def test_ranges_of_a_long_line_take_linear_time():
    from pygls.workspace import PositionCodec

    from textrank.lint.linter import Proposal
    from textrank.lint.server import client_ranges

    class CountingCodec(PositionCodec):
        counted = 0

        def client_num_units(self, chars):
            self.counted += len(chars)
            return super().client_num_units(chars)

    text = ("\N{DNA DOUBLE HELIX} it is larger then that. " * 500 + "\n") * 2
    places = [n for n in range(len(text)) if text.startswith("then", n)]
    proposals = [Proposal("-", 1, 1, n, 4, "then", "than", 1.0, "") for n in places[::-1]]
    codec = CountingCodec()
    ranges = list(client_ranges(text, proposals, codec))
    assert codec.counted <= len(text)
    lines = text.encode("utf-16-le").split("\n".encode("utf-16-le"))
    assert len(ranges) == 1000
    for found in ranges:
        assert found.start.line == found.end.line
        units = lines[found.start.line][2 * found.start.character : 2 * found.end.character]
        assert units.decode("utf-16-le") == "then"


def test_messages_that_are_not_valid_are_reported_in_a_line(tmp_path):
    bodies = [b"{", b"\xff", b"[]", b"{}", b'{"jsonrpc": "2.0", "method": "textDocument/didOpen"}']
    log = tmp_path / "log"
    with log.open("wb") as stream, editor({}, stream) as process:
        for body in bodies:
            process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        assert len(show(process, TEXT)) == 1
    lines = log.read_text(encoding="utf-8").splitlines()
    assert len(lines) >= len(bodies) - 1
    assert all(line.startswith("textrank lsp: ") for line in lines)


class Editor:
    """A server in this process: timers run when the test says so, messages are kept."""

    def __init__(self, monkeypatch):
        from lsprotocol import types as lsp
        from pygls.workspace import Workspace

        from textrank.lint import server as module

        self.lsp = lsp
        self.timers, self.published = [], []
        monkeypatch.setattr(module.threading, "Timer", self._timer)
        self.server = module.make_server()
        self.server.protocol._workspace = Workspace(None, lsp.TextDocumentSyncKind.Full)
        self.server.protocol.client_capabilities = lsp.ClientCapabilities()
        self.server.text_document_publish_diagnostics = self.published.append

    def _timer(self, pause, function, arguments):
        run = SimpleNamespace(run=lambda: function(*arguments), start=lambda: None)
        run.cancel = lambda: None  # too late: the thread is already at work
        self.timers.append(run)
        return run

    def tell(self, method, **params):
        handler = self.server.protocol.fm.features[method]
        return handler(SimpleNamespace(**params))

    def open(self, text, version=1):
        item = self.lsp.TextDocumentItem(URI, "markdown", version, text)
        self.server.workspace.put_text_document(item)
        self.tell("textDocument/didOpen", text_document=item)

    def change(self, text, version):
        named = self.lsp.VersionedTextDocumentIdentifier(version, URI)
        whole = self.lsp.TextDocumentContentChangeWholeDocument(text)
        self.server.workspace.update_text_document(named, whole)
        self.tell("textDocument/didChange", text_document=named)

    def close(self):
        self.server.workspace.remove_text_document(URI)
        self.tell("textDocument/didClose", text_document=SimpleNamespace(uri=URI))

    def fixes(self):
        first, last = self.lsp.Position(0, 0), self.lsp.Position(9, 0)
        document, place = SimpleNamespace(uri=URI), self.lsp.Range(first, last)
        return self.tell("textDocument/codeAction", text_document=document, range=place)


def test_no_fix_is_offered_for_the_text_before_a_change(monkeypatch):
    editor = Editor(monkeypatch)
    editor.open(TEXT)
    editor.timers[0].run()
    (before,) = editor.fixes()
    editor.change(f"Much was said. {TEXT}", 2)
    assert editor.fixes() == []
    editor.timers[1].run()
    (after,) = editor.fixes()
    start, moved = (one.edit.changes[URI][0].range.start.character for one in (before, after))
    assert moved - start == len("Much was said. ")
    assert [one.version for one in editor.published] == [1, 2]


def test_a_text_judged_late_is_not_shown_any_more(monkeypatch):
    editor = Editor(monkeypatch)
    editor.open(TEXT)
    editor.change(f"Much was said. {TEXT}", 2)
    editor.timers[0].run()  # of the older version
    assert not editor.published
    editor.close()
    editor.timers[1].run()  # of a text that is closed
    assert [one.diagnostics for one in editor.published] == [[]]
    editor.open("All is well.\n")  # opened again under the same version
    editor.timers[0].run()
    assert len(editor.published) == 1
    assert editor.fixes() == []
