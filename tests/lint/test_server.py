"""The language server as an editor sees it, over standard input and output."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

pytest.importorskip("pygls")

TEXT = "This one is larger then the other.\n"
URI = "file:///a.md"


def write(process, message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    process.stdin.flush()


def read(process, wanted):
    """The first message that ``wanted`` accepts."""
    for _ in range(50):
        size = 0
        while (line := process.stdout.readline().strip()) != b"":
            if line.lower().startswith(b"content-length"):
                size = int(line.split(b":")[1])
        message = json.loads(process.stdout.read(size))
        if wanted(message):
            return message
    raise AssertionError("no such message")


def test_diagnostics_and_quick_fixes_reach_an_editor():
    command = [sys.executable, "-m", "textrank", "lsp"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        write(process, {"id": 1, "method": "initialize", "params": {
            "processId": None, "rootUri": None, "capabilities": {}}})  # fmt: skip
        found = read(process, lambda m: m.get("id") == 1)
        assert found["result"]["capabilities"]["codeActionProvider"]
        write(process, {"method": "initialized", "params": {}})
        document = {"uri": URI, "languageId": "markdown", "version": 1, "text": TEXT}
        write(process, {"method": "textDocument/didOpen", "params": {"textDocument": document}})
        shown = read(process, lambda m: m.get("method") == "textDocument/publishDiagnostics")
        (one,) = shown["params"]["diagnostics"]
        assert one["range"]["start"] == {"line": 0, "character": 19}
        assert "than" in one["message"]
        asked = {
            "textDocument": {"uri": URI},
            "range": one["range"],
            "context": {"diagnostics": []},
        }
        write(process, {"id": 2, "method": "textDocument/codeAction", "params": asked})
        (action,) = read(process, lambda m: m.get("id") == 2)["result"]
        assert action["edit"]["changes"][URI][0]["newText"] == "than"
        write(process, {"id": 3, "method": "shutdown"})
        read(process, lambda m: m.get("id") == 3)
        write(process, {"method": "exit"})
        assert process.wait(20) == 0
