"""``textrank results``: check what ``textrank apply --out`` wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

ACTIONS = ("verify",)
EXIT_PROBLEMS = 3  # as for apply --out: the command worked, but not all is well


def results_command(
    action: Annotated[str, typer.Argument(help="What to do: verify.")],
    folder: Annotated[Path, typer.Argument(help="Folder written by textrank apply --out.")],
    repair: Annotated[
        bool, typer.Option("--repair", help="Remove damaged parts; apply computes them again.")
    ] = False,
    json_: Annotated[
        bool, typer.Option("--json", help="Print one JSON object per problem.")
    ] = False,
) -> int:
    """Read every part of a result and report what is damaged, missing or changed.

    \f
    Returns ``EXIT_PROBLEMS`` if a problem was not repaired, else 0. With --json no counts and hints
    are printed. Raises ValueError for another action, or as ``verify_folder`` does.
    """
    if action not in ACTIONS:
        raise ValueError(f"{action!r} is not an action; available: {', '.join(ACTIONS)}.")
    from textrank.scale.run import count_parts_without_checksums, verify_folder

    problems = verify_folder(folder, repair=repair)
    for problem in problems:
        if json_:
            typer.echo(json.dumps(problem.to_dict(), ensure_ascii=False))
        else:
            note = " (removed)" if problem.repaired else ""
            typer.echo(f"{problem.kind}: {problem.place}: {problem.reason}{note}")
    if not json_:
        removed = sum(problem.repaired for problem in problems)
        typer.echo(
            f"{folder}: {len(problems)} problems" + (f", {removed} removed" if repair else "")
        )
        if unchecked := count_parts_without_checksums(folder):
            typer.echo(
                f"{unchecked} parts have no checksums, since an older textrank wrote them: they "
                "were only read. To get checksums, write to another folder."
            )
        if removed:
            typer.echo("Run textrank apply --out again to compute removed parts.")
    return EXIT_PROBLEMS if any(not problem.repaired for problem in problems) else 0
