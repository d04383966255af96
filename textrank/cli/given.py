"""Refusal of options that were typed and would have no effect."""

from __future__ import annotations

import typer


def given_options(context: typer.Context, *names: str) -> list[str]:
    """Return the options among ``names`` that were typed, as they are written: ``--part-size``.

    ``names`` are parameters of the command's function. Defaults do not count.
    """
    written = {parameter.name: parameter.opts for parameter in context.command.params}
    return [
        max(written[name], key=len)
        for name in names
        if (source := context.get_parameter_source(name)) and source.name == "COMMANDLINE"
    ]


def refuse_ignored(context: typer.Context, names: tuple[str, ...], when: str, fix: str) -> None:
    """Raise ValueError if one of the options ``names`` was typed, since it would have no effect.

    ``when`` completes "--option has no effect ..." and names the other option; ``fix`` says what
    to do besides leaving the option out.
    """
    if options := given_options(context, *names):
        verb = "has" if len(options) == 1 else "have"
        this = "it" if len(options) == 1 else "them"
        raise ValueError(
            f"{', '.join(options)} {verb} no effect {when}. Leave {this} out, or {fix}."
        )
