"""Typer application: shared options, input of commands, loading of commands, and exit codes."""

from __future__ import annotations

import errno
import functools
import importlib.util
import inspect
import io
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_type_hints

import typer

import textrank
from textrank import progress
from textrank.cli import COMMANDS

if TYPE_CHECKING:
    from rich.console import Console
    from spacy.language import Language
    from spacy.tokens import Doc

    from textrank.config import NamedCorpus
    from textrank.formats.base import Record
    from textrank.model import Model
    from textrank.pipeline import Pipeline
    from textrank.protocols import Corpus, Task

# Arguments and options of several commands --------------------------------------------------------

PipelineName = Annotated[str, typer.Argument(help="Name of a shipped pipeline, or path of a cfg.")]
CorpusPath = Annotated[str, typer.Argument(help="Data file, or folder with a corpus.cfg.")]
ModelName = Annotated[str, typer.Argument(help="Name of a shipped model, or folder of a model.")]
Texts = Annotated[list[str], typer.Argument(help="Text or corpus files; - is standard input.")]
Settings = Annotated[
    list[str], typer.Option("--set", metavar="KEY=VALUE", help="Override a value of the cfg.")
]
TaskSettings = Annotated[
    list[str],
    typer.Option("--set", metavar="KEY=VALUE", help="Override a setting of the task."),
]
Port = Annotated[int, typer.Option(help="Port of 127.0.0.1; 0 takes a free one.", min=0, max=65535)]
Browser = Annotated[bool, typer.Option("--no-browser", help="Only print the address.")]
Nlp = Annotated[str | None, typer.Option("--nlp", help="Name or path of a spaCy pipeline to use.")]


def check_output_file(path: Path | None) -> Path | None:
    """Return ``path`` unchanged; raise ValueError unless a file can be written there.

    Callback of command-line options. None is accepted. Nothing is written.
    """
    from textrank.io import check_writable

    return check_writable(path)


def _check_report_folder(path: Path | None) -> Path | None:
    """Return ``path`` unchanged; raise ValueError unless a report can be written to this folder.

    Callback of command-line options. None is accepted. Raises ModuleNotFoundError if matplotlib,
    which draws the plots, is not installed. Nothing is written.
    """
    if path is not None:
        from textrank.io import check_folder_writable
        from textrank.reports.html import require_matplotlib

        require_matplotlib()
        check_folder_writable(path)
    return path


def _check_page(path: Path | None) -> Path | None:
    """Return ``path`` unchanged; raise ValueError unless an HTML page can be written to this file.

    Callback of command-line options. None is accepted. Raises ModuleNotFoundError if matplotlib,
    which draws the plots, is not installed. Nothing is written.
    """
    if path is not None:
        from textrank.reports.html import require_matplotlib

        require_matplotlib()
    return check_output_file(path)


JsonFile = Annotated[
    Path | None,
    typer.Option(
        "--json", metavar="FILE", help="Write the results as JSON.", callback=check_output_file
    ),
]
PageFile = Annotated[
    Path | None,
    typer.Option(
        "--html", metavar="FILE", help="Write an HTML page with plots.", callback=_check_page
    ),
]
ReportFolder = Annotated[
    Path | None,
    typer.Option(
        "--report",
        metavar="DIR",
        help="Write report.html with curves.",
        callback=_check_report_folder,
    ),
]


def check_web_extra() -> None:
    """Raise ValueError, with the pip command, if duckdb, starlette or uvicorn is not installed."""
    try:
        import duckdb  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ModuleNotFoundError as error:
        raise ValueError(
            f"pages need {error.name}. Install the extra: pip install 'textrank-kernels[web]'."
        ) from error


def make_console() -> Console:
    """Return a rich Console for standard output, 140 columns wide if it is not a terminal."""
    from rich.console import Console

    terminal = Console()
    return terminal if terminal.is_terminal else Console(width=140)


def write_json_result(result: Any, file: Path | None) -> None:
    """Write ``result.to_dict()`` as JSON to ``file``; does nothing if ``file`` is None.

    An existing file is replaced.
    """
    if file is not None:
        from textrank.reports.table import write_json

        write_json(result.to_dict(), file)


def explicit_options(context: typer.Context, *names: str) -> list[str]:
    """Return those of the options ``names`` that were given on the command line.

    ``names`` are parameters of the command's function, such as ``part_size``. The result has the
    longest spelling of each option, such as ``--part-size``, in the order of ``names``. Options
    that have their default or come from an environment variable are left out.
    """
    option_strings = {parameter.name: parameter.opts for parameter in context.command.params}
    return [
        max(option_strings[name], key=len)
        for name in names
        if (source := context.get_parameter_source(name)) and source.name == "COMMANDLINE"
    ]


def refuse_ignored(context: typer.Context, names: tuple[str, ...], when: str, fix: str) -> None:
    """Raise ValueError if one of the options ``names`` was given although it has no effect.

    ``names`` are parameters of the command's function, such as ``part_size``. The message is
    "--option has no effect WHEN. Leave it out, or FIX.", with the given ``when`` and ``fix``.
    """
    if options := explicit_options(context, *names):
        verb = "has" if len(options) == 1 else "have"
        this = "it" if len(options) == 1 else "them"
        raise ValueError(
            f"{', '.join(options)} {verb} no effect {when}. Leave {this} out, or {fix}."
        )


# Options of every command -------------------------------------------------------------------------

SIZE_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
Code = Annotated[
    Path | None,
    typer.Option(metavar="FILE.py", help="Run this Python file first, e.g. to register classes."),
]
MaxBytes = Annotated[
    str | None,
    typer.Option(metavar="SIZE", help="Largest document or compressed file to accept, e.g. 200M."),
]
SkipBad = Annotated[
    bool, typer.Option("--skip-bad", help="Skip documents with errors and report how many.")
]
COMMON_OPTIONS: dict[str, tuple[Any, Any]] = {
    "code": (Code, None),
    "max_bytes": (MaxBytes, None),
    "skip_bad": (SkipBad, False),
}


@dataclass(frozen=True)
class CommonOptions:
    """Options for reading input that every command accepts.

    Attributes
    ----------
    max_bytes
        Largest number of bytes of one document held in memory; None keeps the reader's setting.
    skip_bad
        Leave out documents with errors, with a warning.
    encoding
        Encoding of plain text files; None is UTF-8.
    """

    max_bytes: int | None = None
    skip_bad: bool = False
    encoding: str | None = None

    def load_corpus(self, path: str | Path) -> NamedCorpus:
        """Return the corpus of a folder, cfg, data file or shipped name, read with these options.

        Files are only read when the result is called with a spaCy pipeline, which yields Docs.
        Raises ValueError if there is no such corpus; see ``config.load_corpus``.
        """
        from textrank.config import load_corpus

        return load_corpus(
            path, limit=self.max_bytes, skip_bad=self.skip_bad, encoding=self.encoding
        )


DEFAULT_OPTIONS = CommonOptions()
Encoding = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Encoding of plain text, e.g. latin-1; default UTF-8."),
]
STDIN = "-"  # in place of a file: standard input
STDIN_NAME = "standard input"  # in messages


def with_common_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return a command with the options ``--code``, ``--max-bytes`` and ``--skip-bad`` added.

    The file of ``--code`` is imported before the command runs. The other two are passed to it as
    ``options=CommonOptions(...)`` if it has a parameter ``options``; a size that cannot be read is
    refused (ValueError) in any case. The signature of the returned function, which typer reads, has
    the new options in place of ``options``. The given function is not changed.
    """
    own_parameters = inspect.signature(command).parameters

    @functools.wraps(command)
    def extended(*arguments: Any, **named: Any) -> Any:
        """Import the file of ``--code``, then run the command with its ``CommonOptions``.

        The options are passed only if the command has a parameter ``options``.
        """
        common = {key: named.pop(key) for key in COMMON_OPTIONS}
        import_code_file(common["code"])
        options = CommonOptions(parse_size(common["max_bytes"]), common["skip_bad"])
        if "options" in own_parameters:
            named["options"] = options
        return command(*arguments, **named)

    hints = get_type_hints(command, include_extras=True)
    parameters = [
        parameter.replace(annotation=hints.get(name, parameter.annotation))
        for name, parameter in own_parameters.items()
        if name != "options"
    ]
    parameters += [
        inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for key, (kind, default) in COMMON_OPTIONS.items()
    ]
    shown: Any = extended
    shown.__signature__ = inspect.Signature(parameters)
    shown.__annotations__ = {p.name: p.annotation for p in parameters}
    return extended


def import_code_file(file: Path | None) -> None:
    """Import a Python file that the user named with ``--code``; None does nothing.

    The module is added to ``sys.modules`` under the file name without ``.py``. Raises ValueError if
    the file does not exist or its name does not end in ``.py``; errors in its code propagate.
    """
    if file is None:
        return
    if file.suffix != ".py" or not file.is_file():
        raise ValueError(f"--code {file}: no such Python file. Name one that ends in .py.")
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None:
        raise ValueError(f"--code {file}: cannot be imported.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module  # dataclasses look up their module here
    spec.loader.exec_module(module)


def parse_size(text: str | None) -> int | None:
    """Return a size such as "200M" in bytes; None stays None.

    Units are k, M and G (powers of 1024), in any case and with or without B. Raises ValueError,
    which names ``--max-bytes``, if the text is not a positive whole number with one of these units.

    >>> parse_size("2k"), parse_size("200M")
    (2048, 209715200)
    """
    if text is None:
        return None
    match = re.fullmatch(r"(\d{1,9})([kmg]?)b?", text.strip().lower())
    if not match or not int(match[1]):
        raise ValueError(
            f"--max-bytes {text}: not a size. Write a number of bytes, e.g. 500k, 200M or 2G."
        )
    return int(match[1]) * SIZE_UNITS[match[2]]


# Input of commands -------------------------------------------------------------------------------


def set_parser(pipeline: Pipeline, nlp: str | None) -> Pipeline:
    """Return the pipeline with its task changed to parse text with the spaCy pipeline ``nlp``.

    ``nlp`` is the name or path of a spaCy pipeline, or None to keep the task. Only tasks that load
    a parser of their own are changed (``Task.with_parser``). The given pipeline is not changed.
    """
    return pipeline if nlp is None else replace(pipeline, task=pipeline.task.with_parser(nlp))


def set_model_parser(model: Model, nlp: str | None) -> Model:
    """Return a copy of the model whose pipeline is changed by ``set_parser``."""
    return replace(model, pipeline=set_parser(model.pipeline, nlp))


def read_corpus(source: Corpus, nlp: str | None, task: Task) -> list[Doc]:
    """Return all Docs of a corpus, analysed with the spaCy components that the task needs.

    ``nlp`` is the name or path of a spaCy pipeline; None takes the shipped one. All Docs are held
    in memory.
    """
    from textrank.component import load_language

    return list(source(load_language(nlp, task)))


def read_texts(
    texts: Sequence[str],
    nlp: Language,
    options: CommonOptions = DEFAULT_OPTIONS,
    on_batch_end: Callable[[], None] | None = None,
) -> Iterator[Doc]:
    """Iterate over the documents of files and of standard input (``-``), analysed by ``nlp``.

    Documents come in the order of ``texts``; standard input is one document with the id "stdin",
    whose errors are raised also with ``options.skip_bad``. A folder that is not itself a corpus is
    replaced by its files (``_expand_folders``), as with ``apply --out``. ``on_batch_end`` is passed
    to the readers (``FileReader.read``). Raises ValueError, when it is reached, if an input cannot
    be read or is too long.
    """
    from textrank.formats.base import build_docs
    from textrank.formats.base import read_corpus as read_corpus_docs
    from textrank.io import MAX_ITEM_BYTES
    from textrank.io.reading import DEFAULT_ENCODING

    for text in _expand_folders(texts):
        if text == STDIN:
            content = _read_stdin(
                options.max_bytes or MAX_ITEM_BYTES, options.encoding or DEFAULT_ENCODING
            )
            yield from build_docs(
                [content],
                _record_stdin,
                nlp,
                path=STDIN_NAME,
                cut=False,
                skip_bad=False,
                on_batch_end=on_batch_end,
            )
        else:
            corpus = options.load_corpus(text)
            yield from read_corpus_docs(corpus.reader, nlp, on_batch_end=on_batch_end)


def _expand_folders(texts: Sequence[str]) -> Iterator[str]:
    """Yield the inputs, with each folder that is not one corpus replaced by the files in it.

    A folder is one corpus, and yielded as it is, if it has a ``corpus.cfg`` or if its input files
    are all plain text (``.txt``) directly in it. Other folders give the files of all levels, sorted
    by path (``iter_input_files``). Files and "-" are yielded as they are. Raises ValueError, when
    it is reached, for a folder without input files.
    """
    from textrank.io import find_input
    from textrank.scale.job import iter_input_files

    for text in texts:
        folder = find_input(text)
        if text == STDIN or not folder.is_dir():
            yield text
            continue
        files = list(iter_input_files([text]))
        is_corpus = all(f.suffix == ".txt" and f.parent == folder for f in map(Path, files))
        yield from [text] if is_corpus else files


def _record_stdin(text: str) -> Record:
    """Return the Record of the text of standard input, with the id "stdin"."""
    from textrank.formats.base import Record

    return Record("stdin", text, STDIN_NAME)


def _read_stdin(limit: int, encoding: str) -> str:
    """Read all of standard input and return it as text, without a byte order mark.

    Raises ValueError if it is closed, has more than ``limit`` bytes, or cannot be decoded.
    """
    from textrank.io.reading import decode_text

    if sys.stdin is None:
        raise ValueError("standard input is closed. Name a file, or pipe text into the command.")
    data = sys.stdin.buffer.read(limit + 1)
    if len(data) > limit:
        raise ValueError(
            f"standard input: more than {limit:,} bytes. Raise the limit with --max-bytes."
        )
    return decode_text(data, STDIN_NAME, encoding)


# Application --------------------------------------------------------------------------------------

T = TypeVar("T")
DESCRIPTION = (
    "Biomedical text mining with kernel methods on spaCy: train, evaluate and apply models for "
    "protein interactions, gene names, spelling and parse ranking."
)
EXIT_INTERRUPTED, EXIT_SIGPIPE = 130, 141
WRITE_ERRNOS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)


def build_app(requested: str | None) -> typer.Typer:
    """Return the typer application with all commands, of which only ``requested`` is imported.

    The other commands are stubs that appear in the help and raise ValueError if they are called.
    None, or a name that is not in ``COMMANDS``, imports no command.
    """
    app = typer.Typer(
        help=DESCRIPTION,
        no_args_is_help=True,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_global_options)
    for name, row in COMMANDS.items():
        if name == requested:
            function = getattr(import_module(f"textrank.cli.{row.module}"), f"{name}_command")
            app.command(name, epilog=f"Example: {row.example}")(with_common_options(function))
        else:
            app.command(name, help=row.help)(_make_stub(name))
    return app


# Options of commands that may be given without a value, and the value they then have.
OPTIONAL_VALUES = {"explain": {"--influence": "stored"}}


def _fill_optional_values(command: str | None, arguments: Sequence[str]) -> list[str]:
    """Return the arguments with default values inserted after options that were given without one.

    Only the options in ``OPTIONAL_VALUES[command]`` may be given without a value. An option has no
    value if it is the last argument or the next argument begins with "--".
    """
    values = OPTIONAL_VALUES.get(command or "", {})
    filled: list[str] = []
    for i, argument in enumerate(arguments):
        filled.append(argument)
        is_bare = i + 1 == len(arguments) or arguments[i + 1].startswith("--")
        if argument in values and is_bare:
            filled.append(values[argument])
    return filled


def _write_utf8() -> None:
    """Reconfigure standard output and standard error: UTF-8 unless they are terminals.

    For a file or pipe Python would use the encoding of the locale, which on Windows lacks Greek
    letters. A terminal keeps its encoding. Characters that cannot be encoded, such as lone
    surrogates, are written as backslash escapes.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and not stream.closed:
            encoding = None if stream.isatty() else "utf-8"
            stream.reconfigure(encoding=encoding, errors="backslashreplace")


def run(arguments: Sequence[str]) -> int:
    """Run a command and return its exit code.

    ``arguments`` are those after the program's name. Errors that a user can fix (ValueError,
    OSError, ModuleNotFoundError, MemoryError, usage errors) are printed as one line without a
    traceback and give exit code 2. Ctrl-C gives 130 and a closed output pipe 141; an integer that a
    command returns is its exit code. Other exceptions are programming errors and are raised. For
    the whole process, ``warnings.showwarning`` is replaced so that a warning is one line, and
    output to files and pipes is set to UTF-8.
    """
    warnings.showwarning = _print_warning
    _write_utf8()
    try:
        with progress.report_progress(_ProgressBars()):
            if sys.stdout is None:
                raise ValueError("standard output is closed, so results would be lost. Open it.")
            name = _find_command(arguments)
            given = _fill_optional_values(name, arguments)
            code = build_app(name)(args=given, standalone_mode=False)
            if not sys.stdout.closed:  # a language server closes it
                sys.stdout.flush()  # so that a full disk is reported as an error
        if code == EXIT_INTERRUPTED:
            raise KeyboardInterrupt
        return code if isinstance(code, int) else 0
    except (KeyboardInterrupt, typer.Abort):
        return _print_error("interrupted; no partial output remains.", EXIT_INTERRUPTED)
    except typer.Exit as stop:
        return int(stop.exit_code)
    except SystemExit as stop:  # raised by typer when the reader of its output has gone
        return _handle_closed_stdout() if stop.code == 1 else int(stop.code or 0)
    except BrokenPipeError:
        return _handle_closed_stdout()
    except OSError as error:
        if error.filename is None and error.errno in WRITE_ERRNOS:
            sys.stdout = None  # or Python would fail again when it flushes at exit
            return _print_error(f"standard output cannot be written: {error.strerror}.")
        return _print_error(str(error))
    except (ValueError, ModuleNotFoundError) as error:
        return _print_error(str(error))
    except MemoryError:
        return _print_error("not enough memory. Split the input, or use a smaller part of it.")
    except Exception as error:
        show, code = getattr(error, "show", None), getattr(error, "exit_code", None)
        if show is None or code is None:  # not a usage error of typer: a bug
            raise
        show()
        return int(code)


def _print_version(is_given: bool) -> None:
    """Print the version and raise ``typer.Exit`` if ``--version`` was given (callback)."""
    if is_given:
        typer.echo(f"textrank {textrank.__version__}")
        raise typer.Exit()


def _global_options(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            "-V",
            help="Print the version and exit.",
            callback=_print_version,
            is_eager=True,
        ),
    ] = False,
) -> None:
    """Accept the options that precede a command: ``--version``, which its callback handles."""


def _find_command(arguments: Sequence[str]) -> str | None:
    """Return the name of the requested command, or None if there is none.

    This is the first argument that does not begin with "-"; it need not be a known command. During
    shell completion the words of the environment variable COMP_WORDS are used instead of
    ``arguments``.
    """
    words = os.environ.get("COMP_WORDS", "").split()[1:] or arguments
    return next((word for word in words if not word.startswith("-")), None)


def _make_stub(name: str) -> Callable[[], None]:
    """Return a placeholder for the command ``name``, whose module was not imported.

    The function has the help text of the command and raises ValueError if it is called.
    """

    def stub() -> None:
        """Raise ValueError: only the module of the requested command is imported."""
        raise ValueError(f"the command {name!r} was not loaded.")

    return stub


class _ProgressBars:
    """Progress bars on standard error, shown only if it is a terminal."""

    def track(self, items: Iterable[T], what: str, total: int | None) -> Iterator[T]:
        """Iterate over ``items`` with a bar labelled ``what``, which disappears at the end.

        ``total`` is the number of items; None if it is unknown. If standard error is not a
        terminal, no bar is shown.
        """
        if not sys.stderr.isatty():
            return iter(items)
        from rich.console import Console
        from rich.progress import track

        return iter(track(items, what, total=total, console=Console(stderr=True), transient=True))


def _print_warning(message: Any, *_: Any, **__: Any) -> None:
    """Print the message of a warning on standard error, without its category and source line.

    Replaces ``warnings.showwarning``; its other arguments are ignored.
    """
    typer.echo(f"textrank: warning: {message}", err=True)


def _print_error(message: str, code: int = 2) -> int:
    """Print an error on standard error and return the exit code, 2 by default."""
    typer.echo(f"textrank: error: {message}", err=True)
    return code


def _handle_closed_stdout() -> int:
    """Return exit code 141 and set ``sys.stdout`` to None.

    Without this, Python would fail again when it flushes the closed standard output at exit.
    """
    sys.stdout = None
    return EXIT_SIGPIPE
