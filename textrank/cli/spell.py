"""``textrank spell``: linter for real-word spelling errors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from textrank.lint import Proposal

FORMATS = ("text", "diff", "json", "github", "sarif")
SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
SARIF_RULE = "real-word-error"
EXIT_FOUND = 1  # something was found


def spell_command(
    files: Annotated[
        list[Path],
        typer.Argument(help="Text, Markdown, rst, LaTeX or HTML files, or code with comments."),
    ],
    format: Annotated[str, typer.Option(help=f"One of: {', '.join(FORMATS)}.")] = "text",
    fix: Annotated[bool, typer.Option("--fix", help="Apply the corrections to the files.")] = False,
    precision: Annotated[
        float | None, typer.Option(help="Precision to aim at, between 0 and 1.")
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(metavar="REVISION", help="Check only lines changed since this git revision."),
    ] = None,
    model: Annotated[
        str, typer.Option(help="Name or path of the confusion pairs to use.")
    ] = "confusions",
    style: Annotated[
        bool, typer.Option("--style", help="Also flag matters of style, such as less/fewer.")
    ] = False,
) -> int:
    """Find correctly spelled words that are wrong in context, e.g. *then* for *than*.

    Exits with code 1 if any are found, also if --fix corrected them.

    \f
    Corrections are printed before --fix writes the files. Raises ValueError for an unknown format,
    or a precision that is not above 0 and at most 1.
    """
    if format not in FORMATS:
        raise ValueError(f"--format must be one of {', '.join(FORMATS)}, got {format!r}.")
    if precision is not None and not 0 < precision <= 1:
        raise ValueError(f"--precision must be above 0 and at most 1, got {precision}.")
    texts, proposals = check_files(
        files, precision=precision, since=since, model=model, style=style
    )
    _print_proposals(texts, proposals, format)
    if fix:
        _fix_files(texts, proposals)
    raise typer.Exit(EXIT_FOUND if proposals else 0)


def check_files(
    files: Sequence[Path],
    *,
    precision: float | None = None,
    since: str | None = None,
    model: str = "confusions",
    style: bool = False,
) -> tuple[dict[Path, str], list[Proposal]]:
    """Return the texts of the files and the corrections proposed for them.

    Returns a dict of the text of each file that was checked, and a list of corrections in the order
    of the files. The settings of the project, for all files, are those of the nearest
    pyproject.toml in the folder of the first file (without files, the current folder) or above it.

    Parameters
    ----------
    files
        Files to check; those that the settings of the project exclude are skipped.
    precision
        Precision to aim at; None takes the one of the settings.
    since
        Git revision: return only corrections in lines changed since then; None returns all.
    model
        Name or path of the confusion pairs.
    style
        Whether to flag matters of style; the settings can ask for it too.

    Raises
    ------
    ValueError
        If a file is missing, too large or not UTF-8, or git fails for ``since``.
    """
    from textrank.lint import Linter, file_kind
    from textrank.lint.linter import Settings, changed_lines, read_text

    settings = Settings.from_folder(files[0].parent if files else Path())
    checked = [file for file in files if not any(file.match(p) for p in settings.exclude)]
    texts = {file: read_text(file) for file in checked}
    aimed_precision = settings.precision if precision is None else precision
    style = style or settings.style
    linter = Linter(model, precision=aimed_precision, words=settings.words, style=style)
    proposals = []
    for file, text in texts.items():
        file_proposals = linter(text, file=str(file), kind=file_kind(file))
        lines = None if since is None else changed_lines(file, since)
        proposals += [
            proposal for proposal in file_proposals if lines is None or proposal.line in lines
        ]
    return texts, proposals


def _print_proposals(texts: dict[Path, str], proposals: Sequence[Proposal], format: str) -> None:
    """Print the proposals in one of ``FORMATS``; any other ``format`` prints plain text.

    ``texts`` are the contents of the files, which only "diff" needs.
    """
    if format == "json":
        import json

        typer.echo(
            json.dumps([proposal.to_dict() for proposal in proposals], ensure_ascii=False, indent=2)
        )
    elif format == "sarif":
        import json

        typer.echo(json.dumps(_to_sarif(proposals), ensure_ascii=False, indent=2))
    elif format == "diff":
        typer.echo(
            "".join(_format_diff(file, text, proposals) for file, text in texts.items()), nl=False
        )
    elif format == "github":
        for proposal in proposals:
            position = f"file={proposal.file},line={proposal.line},col={proposal.column}"
            typer.echo(f"::warning {position}::{proposal.word} → {proposal.proposal}?")
    else:
        for proposal in proposals:
            position = f"{proposal.file}:{proposal.line}:{proposal.column}"
            typer.echo(
                f"{position}: {proposal.word} → {proposal.proposal} ({proposal.probability:.2f})"
            )
            typer.echo(f"    {proposal.sentence}")
            if proposal.because:
                typer.echo(f"    because: {proposal.because}")


def _to_sarif(proposals: Sequence[Proposal]) -> dict[str, Any]:
    """Return the proposals as a SARIF 2.1.0 log with one run and one result per proposal.

    Each result has a fix that replaces the word. Paths are written as given, with forward slashes;
    columns count Unicode code points from 1.
    """
    from textrank import __version__

    results = []
    for proposal in proposals:
        place = {"uri": Path(proposal.file).as_posix()}
        region = {
            "startLine": proposal.line,
            "startColumn": proposal.column,
            "charOffset": proposal.offset,
            "charLength": proposal.length,
        }
        replacement = {"deletedRegion": region, "insertedContent": {"text": proposal.proposal}}
        change = {"artifactLocation": place, "replacements": [replacement]}
        results.append(
            {
                "ruleId": SARIF_RULE,
                "level": "warning",
                "message": {"text": f"{proposal.word} → {proposal.proposal}?"},
                "locations": [{"physicalLocation": {"artifactLocation": place, "region": region}}],
                "fixes": [{"artifactChanges": [change]}],
                "properties": {"probability": proposal.probability},
            }
        )
    rule = {
        "id": SARIF_RULE,
        "shortDescription": {"text": "Correctly spelled word that is wrong in its context."},
    }
    driver = {"name": "textrank spell", "version": __version__, "rules": [rule]}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}


def _format_diff(file: Path, text: str, proposals: Sequence[Proposal]) -> str:
    """Return the unified diff of a file with its proposals applied; "" without any.

    ``text`` is the content of the file. Proposals for other files are ignored. A last line without
    a line break is shown with one.
    """
    import difflib

    from textrank.lint.linter import apply_proposals

    file_proposals = [proposal for proposal in proposals if proposal.file == str(file)]
    fixed_lines = apply_proposals(text, file_proposals).splitlines(keepends=True)
    lines = difflib.unified_diff(
        text.splitlines(keepends=True), fixed_lines, f"a/{file}", f"b/{file}"
    )
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def _fix_files(texts: dict[Path, str], proposals: Sequence[Proposal]) -> None:
    """Write the corrected text of each file that has proposals, atomically.

    ``texts`` has the contents for which the proposals were made: a change made to a file since it
    was read is lost. Files without proposals are not written.
    """
    from textrank.io import open_atomic
    from textrank.lint.linter import apply_proposals

    for file, text in texts.items():
        file_proposals = [proposal for proposal in proposals if proposal.file == str(file)]
        if file_proposals:
            with open_atomic(file) as out:
                out.write(apply_proposals(text, file_proposals))
