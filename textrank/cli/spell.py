"""``textrank spell``: real-word errors in the prose of files, as linters report them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from textrank.lint import Proposal

EXAMPLE = "Example: textrank spell README.md docs/*.rst --format github"
FORMATS = ("text", "diff", "json", "github")
EXIT_FOUND = 1  # exit code where something is proposed


def command(
    files: Annotated[list[Path], typer.Argument(help="Text, Markdown, rst, LaTeX, HTML, Python.")],
    format: Annotated[str, typer.Option(help=f"One of: {', '.join(FORMATS)}.")] = "text",
    fix: Annotated[bool, typer.Option("--fix", help="Puts the proposals into the files.")] = False,
    precision: Annotated[
        float | None, typer.Option(help="The share of proposals that shall be right.")
    ] = None,
    since: Annotated[
        str | None, typer.Option(metavar="REVISION", help="Only lines changed since then.")
    ] = None,
    model: Annotated[str, typer.Option(help="A table of confusion pairs.")] = "confusions",
) -> int:
    """Finds words that are spelt right and are the wrong ones: *then* for *than*."""
    if format not in FORMATS:
        raise ValueError(f"--format must be one of {', '.join(FORMATS)}, got {format!r}.")
    if precision is not None and not 0 < precision <= 1:
        raise ValueError(f"--precision must lie above 0 and up to 1, got {precision}.")
    texts, found = check_files(files, precision=precision, since=since, model=model)
    _print(texts, found, format)
    if fix:
        _write(texts, found)
    raise typer.Exit(EXIT_FOUND if found else 0)


def check_files(
    files: Sequence[Path],
    *,
    precision: float | None = None,
    since: str | None = None,
    model: str = "confusions",
) -> tuple[dict[Path, str], list[Proposal]]:
    """The texts of the files, and what is proposed for them."""
    from textrank.lint import Linter, file_kind
    from textrank.lint.linter import Settings, changed_lines, read_text

    settings = Settings.from_folder(files[0].parent if files else Path())
    kept = [file for file in files if not any(file.match(p) for p in settings.exclude)]
    texts = {file: read_text(file) for file in kept}
    level = settings.precision if precision is None else precision
    linter = Linter(model, precision=level, words=settings.words)
    found = []
    for file, text in texts.items():
        own = linter(text, file=str(file), kind=file_kind(file))
        lines = None if since is None else changed_lines(file, since)
        found += [one for one in own if lines is None or one.line in lines]
    return texts, found


def _print(texts: dict[Path, str], found: Sequence[Proposal], format: str) -> None:
    if format == "json":
        import json

        typer.echo(json.dumps([one.to_dict() for one in found], ensure_ascii=False, indent=2))
    elif format == "diff":
        typer.echo("".join(_diff(file, text, found) for file, text in texts.items()), nl=False)
    elif format == "github":
        for one in found:
            place = f"file={one.file},line={one.line},col={one.column}"
            typer.echo(f"::warning {place}::{one.word} → {one.proposal}?")
    else:
        for one in found:
            place = f"{one.file}:{one.line}:{one.column}"
            typer.echo(f"{place}: {one.word} → {one.proposal} ({one.probability:.2f})")
            typer.echo(f"    {one.sentence}")
            if one.because:
                typer.echo(f"    because: {one.because}")


def _diff(file: Path, text: str, found: Sequence[Proposal]) -> str:
    import difflib

    from textrank.lint.linter import apply_proposals

    own = [one for one in found if one.file == str(file)]
    after = apply_proposals(text, own).splitlines(keepends=True)
    lines = difflib.unified_diff(text.splitlines(keepends=True), after, f"a/{file}", f"b/{file}")
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def _write(texts: dict[Path, str], found: Sequence[Proposal]) -> None:
    from textrank.io import open_atomic
    from textrank.lint.linter import apply_proposals

    for file, text in texts.items():
        own = [one for one in found if one.file == str(file)]
        if own:
            with open_atomic(file) as out:
                out.write(apply_proposals(text, own))
