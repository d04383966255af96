"""The typer application: commands loaded as they are asked for, errors said in one line."""

from __future__ import annotations

import errno
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from typing import Annotated, Any, TypeVar

import typer

import textrank
from textrank import progress
from textrank.cli import COMMANDS
from textrank.cli.common import extended

T = TypeVar("T")

ABOUT = (
    "Mines text with kernel methods on spaCy: a pipeline meets a corpus and yields a report or a "
    "model."
)
INTERRUPTED, NOBODY_READS = 130, 141
UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)


def application(asked: str | None) -> typer.Typer:
    """All commands, of which only the one asked for is more than its name and a line of help."""
    app = typer.Typer(
        help=ABOUT,
        no_args_is_help=True,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_options)
    for name, line in COMMANDS.items():
        if name == asked:
            module = import_module(f"textrank.cli.{name}")
            app.command(name, epilog=module.EXAMPLE)(extended(module.command))
        else:
            app.command(name, help=line)(_unasked(name))
    return app


def run(arguments: Sequence[str]) -> int:
    """Runs a command and gives its exit code.

    What a user can mend ends with code 2 and one message, no traceback; Ctrl-C with 130.
    """
    warnings.showwarning = _warn
    try:
        with progress.listening(_Bars()):
            if sys.stdout is None:
                raise ValueError("standard output is closed, so results would be lost. Open it.")
            code = application(_asked(arguments))(args=list(arguments), standalone_mode=False)
            if not sys.stdout.closed:  # a language server closes it
                sys.stdout.flush()  # here a full disk is an error, not a strange code later
        if code == INTERRUPTED:
            raise KeyboardInterrupt
        return code if isinstance(code, int) else 0
    except (KeyboardInterrupt, typer.Abort):
        return _fail("interrupted; nothing half-written remains.", INTERRUPTED)
    except typer.Exit as stop:
        return int(stop.exit_code)
    except SystemExit as stop:  # so typer ends when nobody reads its output any more
        return _closed() if stop.code == 1 else int(stop.code or 0)
    except BrokenPipeError:
        return _closed()
    except OSError as error:
        if error.filename is None and error.errno in UNWRITABLE:
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
    return NOBODY_READS
