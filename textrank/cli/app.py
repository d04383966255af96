"""Arguments and options that several commands take, and what several of them do."""

from __future__ import annotations

import errno
import functools
import importlib.util
import inspect
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_type_hints

import typer

import textrank
from textrank import progress
from textrank.cli import COMMANDS

if TYPE_CHECKING:
    from rich.console import Console

PipelineName = Annotated[str, typer.Argument(help="A shipped pipeline (ppi) or the path of a cfg.")]
CorpusPath = Annotated[str, typer.Argument(help="A data file, or a folder with a corpus.cfg.")]
ModelName = Annotated[str, typer.Argument(help="A shipped model or the folder of a trained one.")]
Texts = Annotated[list[str], typer.Argument(help="Text or corpus files; - is standard input.")]
Settings = Annotated[
    list[str], typer.Option("--set", metavar="KEY=VALUE", help="Overrides a value of the cfg.")
]
TaskSettings = Annotated[
    list[str],
    typer.Option("--set", metavar="KEY=VALUE", help="As task.precision=0.99 of a spelling model."),
]
Nlp = Annotated[
    str | None, typer.Option("--nlp", help="A spaCy model by name or path instead of ours.")
]


def check_output_file(path: Path | None) -> Path | None:
    """Refuses before long work, not after it."""
    from textrank.io import check_writable

    return check_writable(path)


def _drawable(path: Path | None) -> Path | None:
    if path is not None:
        from textrank.io import check_folder_writable
        from textrank.reports.plots import check_installed

        check_installed()
        check_folder_writable(path)
    return path


JsonFile = Annotated[
    Path | None,
    typer.Option(
        "--json", metavar="FILE", help="Writes figures as JSON.", callback=check_output_file
    ),
]
ReportFolder = Annotated[
    Path | None,
    typer.Option(
        "--report", metavar="DIR", help="Writes report.html, with curves.", callback=_drawable
    ),
]


def make_console() -> Console:
    """Standard output; wide enough for every table where it goes to a file or a pipe."""
    from rich.console import Console

    own = Console()
    return own if own.is_terminal else Console(width=140)


def write_json_figures(found: Any, file: Path | None) -> None:
    """The figures as JSON, where a file is named."""
    if file is not None:
        from textrank.reports.table import write_data

        write_data(found.to_dict(), file)


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


SIZE_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
Code = Annotated[
    Path | None,
    typer.Option(metavar="FILE.py", help="Runs your own Python first, which registers classes."),
]
MaxBytes = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE", help="Bytes of a document or packed file that may be held, as 200M."
    ),
]
SkipBad = Annotated[
    bool, typer.Option("--skip-bad", help="Leaves out documents with errors and says how many.")
]
COMMON_OPTIONS: dict[str, tuple[Any, Any]] = {
    "code": (Code, None),
    "max_bytes": (MaxBytes, None),
    "skip_bad": (SkipBad, False),
}


def with_common_options(run: Callable[..., Any]) -> Callable[..., Any]:
    """The function of a command, with ``--code``, ``--max-bytes`` and ``--skip-bad`` besides."""

    @functools.wraps(run)
    def whole(*arguments: Any, **named: Any) -> Any:
        own = {key: named.pop(key) for key in COMMON_OPTIONS}
        import_code_file(own["code"])
        from textrank.formats.base import READING, ReadOptions

        READING.set(ReadOptions(limit=parse_size(own["max_bytes"]), skip_bad=own["skip_bad"]))
        return run(*arguments, **named)

    hints = get_type_hints(run, include_extras=True)
    given = inspect.signature(run).parameters.values()
    parameters = [p.replace(annotation=hints.get(p.name, p.annotation)) for p in given]
    parameters += [
        inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for key, (kind, default) in COMMON_OPTIONS.items()
    ]
    shown: Any = whole
    shown.__signature__ = inspect.Signature(parameters)
    shown.__annotations__ = {p.name: p.annotation for p in parameters}
    return whole


def import_code_file(file: Path | None) -> None:
    """Imports a file the user named: the one way to code that no package registers."""
    if file is None:
        return
    if file.suffix != ".py" or not file.is_file():
        raise ValueError(f"--code {file}: no such Python file. Name one that ends in .py.")
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None:
        raise ValueError(f"--code {file}: cannot be imported.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module  # dataclasses look their module up there
    spec.loader.exec_module(module)


def parse_size(text: str | None) -> int | None:
    """A number of bytes, as people write it.

    >>> parse_size("2k"), parse_size("200M")
    (2048, 209715200)
    """
    if text is None:
        return None
    found = re.fullmatch(r"(\d{1,9})([kmg]?)b?", text.strip().lower())
    if not found or not int(found[1]):
        raise ValueError(f"--max-bytes {text}: write a number of bytes, as 500k, 200M or 2G.")
    return int(found[1]) * SIZE_UNITS[found[2]]


T = TypeVar("T")
DESCRIPTION = (
    "Mines text with kernel methods on spaCy: a pipeline meets a corpus and yields a report or a "
    "model."
)
EXIT_INTERRUPTED, EXIT_SIGPIPE = 130, 141
WRITE_ERRNOS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)


def build_app(asked: str | None) -> typer.Typer:
    """All commands, of which only the one asked for is more than its name and a line of help."""
    app = typer.Typer(
        help=DESCRIPTION,
        no_args_is_help=True,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_options)
    for name, line in COMMANDS.items():
        if name == asked:
            module = import_module(f"textrank.cli.{name}")
            app.command(name, epilog=module.EXAMPLE)(with_common_options(module.command))
        else:
            app.command(name, help=line)(_unasked(name))
    return app


def run(arguments: Sequence[str]) -> int:
    """Runs a command and gives its exit code.

    What a user can mend ends with code 2 and one message, no traceback; Ctrl-C with 130.
    """
    warnings.showwarning = _warn
    try:
        with progress.report_progress(_Bars()):
            if sys.stdout is None:
                raise ValueError("standard output is closed, so results would be lost. Open it.")
            code = build_app(_asked(arguments))(args=list(arguments), standalone_mode=False)
            if not sys.stdout.closed:  # a language server closes it
                sys.stdout.flush()  # here a full disk is an error, not a strange code later
        if code == EXIT_INTERRUPTED:
            raise KeyboardInterrupt
        return code if isinstance(code, int) else 0
    except (KeyboardInterrupt, typer.Abort):
        return _fail("interrupted; nothing half-written remains.", EXIT_INTERRUPTED)
    except typer.Exit as stop:
        return int(stop.exit_code)
    except SystemExit as stop:  # so typer ends when nobody reads its output any more
        return _closed() if stop.code == 1 else int(stop.code or 0)
    except BrokenPipeError:
        return _closed()
    except OSError as error:
        if error.filename is None and error.errno in WRITE_ERRNOS:
            sys.stdout = None  # what it still holds cannot be written at the end either
            return _fail(f"standard output cannot be written: {error.strerror}.")
        return _fail(str(error))
    except (ValueError, ModuleNotFoundError) as error:
        return _fail(str(error))
    except MemoryError:
        return _fail("not enough memory. Split the input, or use a smaller part of it.")
    except Exception as error:
        show, code = getattr(error, "show", None), getattr(error, "exit_code", None)
        if show is None or code is None:  # not a usage error of typer's: ours to mend
            raise
        show()
        return int(code)


def _tell_version(asked: bool) -> None:
    if asked:
        typer.echo(f"textrank {textrank.__version__}")
        raise typer.Exit()


def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", "-V", help="Prints the version.", callback=_tell_version, is_eager=True
        ),
    ] = False,
) -> None:
    """What stands before a command."""


def _asked(arguments: Sequence[str]) -> str | None:
    """The command among the arguments, or among those that a shell wants completed."""
    words = os.environ.get("COMP_WORDS", "").split()[1:] or arguments
    return next((word for word in words if not word.startswith("-")), None)


def _unasked(name: str) -> Callable[[], None]:
    def stub() -> None:
        raise ValueError(f"the command {name!r} was not loaded.")

    return stub


class _Bars:
    """Progress bars on standard error; none where it is not a terminal."""

    def track(self, items: Iterable[T], what: str, total: int | None) -> Iterator[T]:
        if not sys.stderr.isatty():
            return iter(items)
        from rich.console import Console
        from rich.progress import track

        return iter(track(items, what, total=total, console=Console(stderr=True), transient=True))


def _warn(message: Any, *_: Any, **__: Any) -> None:
    typer.echo(f"textrank: warning: {message}", err=True)


def _fail(message: str, code: int = 2) -> int:
    typer.echo(f"textrank: error: {message}", err=True)
    return code


def _closed() -> int:
    """Whoever read standard output has gone; Python must not try to flush it once more."""
    sys.stdout = None
    return EXIT_SIGPIPE
