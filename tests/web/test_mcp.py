"""Tools of ``textrank mcp``, called by the client of the official SDK."""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pytest.importorskip("mcp.server.mcpserver", reason="needs the extra mcp")
    import anyio
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

pytest.importorskip("duckdb")

from textrank.cli.app import run
from textrank.web.api import AnnotationService
from textrank.web.mcp_server import create_server

TEXT = "GRB2 binds SOS1. RAD51 does not interact with PTEN."


def call(server: Any, tool: str, **arguments: Any) -> tuple[bool, Any]:
    """Whether a tool failed, and its structured result or message."""

    async def main() -> Any:
        async with Client(server) as client:
            return await client.call_tool(tool, arguments)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = anyio.run(main)
    failed = bool(result.is_error)
    return failed, result.content[0].text if failed else json.loads(result.content[0].text)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mcp")
    (folder / "one.txt").write_text("GRB2 binds SOS1. MDM2 is phosphorylated by AKT1.")
    options = ["--out", str(folder / "made"), "--format", "jsonl"]
    assert run(["apply", "ppi", str(folder / "one.txt"), *options]) == 0
    return folder / "made"


@pytest.fixture(scope="module")
def server(results: Path) -> Any:
    return create_server(AnnotationService("ppi"), [results])


def test_tools_are_described(server: Any) -> None:
    async def main() -> Any:
        async with Client(server) as client:
            return (await client.list_tools()).tools

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tools = {tool.name: tool for tool in anyio.run(main)}
    assert set(tools) == {"extract_statements", "link_gene", "ask_results"}
    for tool in tools.values():
        assert tool.description
    assert tools["extract_statements"].input_schema["required"] == ["text"]


def test_statements_are_extracted(server: Any) -> None:
    failed, result = call(server, "extract_statements", text=TEXT)
    assert not failed
    first, second = result["statements"]
    assert (first["names"], first["interacts"]) == (["GRB2", "SOS1"], True)
    assert (second["names"], second["status"]) == (["RAD51", "PTEN"], "negated")


def test_genes_are_linked(server: Any) -> None:
    failed, result = call(server, "link_gene", name="p53", species=9606, limit=1)
    assert not failed
    assert [gene["identifier"] for gene in result["genes"]] == ["ncbigene:7157"]
    assert call(server, "link_gene", name="p53", limit=0)[0]


def test_results_are_asked_and_errors_say_what_to_ask(server: Any) -> None:
    failed, result = call(server, "ask_results", question="what phosphorylates MDM2")
    assert not failed
    assert [row["name"] for row in result["rows"]] == ["AKT1"]
    failed, message = call(server, "ask_results", question="why is the sky blue and not green")
    assert failed
    assert "partners of" in message
    failed, message = call(server, "ask_results", question="top 3", results="other")
    assert failed
    assert "available: made" in message


def test_only_result_folders_are_accepted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["mcp", "--results", str(tmp_path)]) == 2
    assert "not a result folder" in capsys.readouterr().err
    assert run(["mcp", "--model", "spelling"]) == 2
    assert "which states no relations" in capsys.readouterr().err


@pytest.mark.slow
def test_the_command_speaks_over_standard_streams(results: Path) -> None:
    arguments = ["-m", "textrank", "mcp", "--results", str(results)]
    parameters = StdioServerParameters(command=sys.executable, args=arguments)
    failed, result = call(stdio_client(parameters), "extract_statements", text=TEXT)
    assert not failed
    assert result["statements"][0]["names"] == ["GRB2", "SOS1"]
