"""Model Context Protocol server of ``textrank mcp``: tools for language-model applications.

``create_server`` registers three tools on a server of the official SDK: ``extract_statements`` and
``link_gene`` work on text, ``ask_results`` on result folders that the user named when the server
was started. No tool writes, and none reads other files or the network.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from textrank.config import package_versions
from textrank.web.api import (
    MAX_GENES,
    MAX_NAME_CHARACTERS,
    MAX_TEXT_CHARACTERS,
    AnnotationService,
    InputDocument,
)

try:
    from mcp.server.mcpserver import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "textrank mcp needs the MCP SDK 2 or later. Install it with: "
        "pip install 'textrank-kernels[mcp]'"
    ) from error

MAX_ROWS = 100
MAX_QUESTION_CHARACTERS = 2000
INSTRUCTIONS = (
    "Finds statements about proteins in biomedical text (binding, phosphorylation, regulation), "
    "with status (asserted, negated, speculated), direction, probability and gene identifiers. "
    "Probabilities are calibrated; statements with interacts=false are below the model's level."
)


def create_server(service: AnnotationService, results: Sequence[Path] = ()) -> MCPServer:
    """Return the server with its tools; it is not started.

    ``service`` must annotate texts with a model whose task states facts. ``results`` are the
    folders of ``textrank apply --out`` that ``ask_results`` may read. They are called by their last
    part; of two with one name the last is used. If there are none, the tool is left out.

    ``extract_statements`` returns ``statements`` and ``left_out``, the number of those left out:
    pairs that do not interact, unless they are negated or speculated or the caller wants all.
    ``link_gene`` returns ``name`` and ``genes`` (``AnnotationService.link_gene``), ``ask_results``
    what ``ask_folder`` does, by default for the first folder. Tools raise ToolError for input that
    they refuse.
    """
    server = MCPServer(
        "textrank",
        instructions=INSTRUCTIONS,
        version=package_versions()["textrank"],
        log_level="WARNING",
    )

    @server.tool()
    def extract_statements(
        text: Annotated[str, Field(description="English text.", max_length=MAX_TEXT_CHARACTERS)],
        only_interactions: Annotated[
            bool, Field(description="Leave out pairs that do not interact.")
        ] = True,
    ) -> dict[str, Any]:
        """Find statements about pairs of proteins in a text, with identifiers and probabilities."""
        try:
            (row,) = service.annotate([InputDocument("text", text)])
        except ValueError as error:
            raise ToolError(str(error)) from error
        statements = row[f"textrank_{service.task}"] or []
        kept = [
            statement
            for statement in statements
            if not only_interactions
            or statement.get("interacts")
            or statement.get("status") in ("negated", "speculated")
        ]
        return {"statements": kept, "left_out": len(statements) - len(kept)}

    @server.tool()
    def link_gene(
        name: Annotated[
            str,
            Field(
                description="Name of a gene or protein.",
                min_length=1,
                max_length=MAX_NAME_CHARACTERS,
            ),
        ],
        species: Annotated[
            int | None, Field(description="NCBI taxon, such as 9606 for human.", ge=1)
        ] = None,
        text: Annotated[
            str | None,
            Field(
                description="Text with the name, to choose by its context.",
                max_length=MAX_TEXT_CHARACTERS,
            ),
        ] = None,
        limit: Annotated[int, Field(ge=1, le=MAX_GENES)] = 5,
    ) -> dict[str, Any]:
        """Find the genes that a name may mean: NCBI Gene, HGNC, UniProt and species."""
        return {
            "name": name,
            "genes": service.link_gene(name, species=species, text=text, limit=limit),
        }

    if results:
        folders = {folder.name or str(folder): folder for folder in results}

        about = "Answer a question about extracted statements: partners, evidence, counts."

        @server.tool(description=f"{about} Results: {', '.join(folders)}.")
        def ask_results(
            question: Annotated[
                str,
                Field(
                    description='Such as "what inhibits TP53", "partners of GRB2" or "top 5".',
                    max_length=MAX_QUESTION_CHARACTERS,
                ),
            ],
            results: Annotated[
                str | None, Field(description="Name of the results; by default the first.")
            ] = None,
            limit: Annotated[int, Field(ge=1, le=MAX_ROWS)] = 20,
        ) -> dict[str, Any]:
            """Answer a question about extracted statements: partners, evidence, counts."""
            folder = folders.get(results or next(iter(folders)))
            if folder is None:
                raise ToolError(f"no results {results!r:.60}; available: {', '.join(folders)}.")
            try:
                return ask_folder(folder, question, limit)
            except ValueError as error:
                raise ToolError(str(error)) from error

    return server


def ask_folder(folder: Path, question: str, limit: int) -> dict[str, Any]:
    """Return ``kind``, ``rows`` and ``note`` of the answer to a question about a result folder.

    There are at most ``limit`` rows, as dictionaries. Raises ValueError if the question is not
    understood or the folder cannot be read.
    """
    from textrank.results.questions import answer_question
    from textrank.results.store import NO_FILTER, open_results

    with closing(open_results(folder)) as opened:
        answer = answer_question(opened, question, NO_FILTER, limit)
    rows = [{key: _plain(value) for key, value in row.items()} for row in answer.rows]
    return {"kind": answer.kind, "rows": rows, "note": answer.note}


def _plain(value: Any) -> Any:
    """Return a value that JSON can represent: text, numbers, lists and dictionaries unchanged.

    Other values, such as dates and decimals of the database, become text. Items of lists and
    dictionaries are not converted.
    """
    is_plain = value is None or isinstance(value, str | int | float | bool | list | dict)
    return value if is_plain else str(value)
