"""Collect what must not change: answers of models, figures, names, settings and help texts.

Only entry points that outlive a change of the layout are used: the command line, the public API
and the registries. ``python -m tests.golden`` rewrites the stored files.
"""

from __future__ import annotations

import inspect
import io
import json
import math
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]
TOLERANCE = 1e-9  # absolute or relative, whichever allows more

MODELS = ("ppi", "gene_protein", "spelling", "parse_ranking", "identifiers")

# Conjugate gradients stop early by default, and where they stop depends on round-off.
CONVERGED = "learner.learner.tolerance=1e-10"

# pipeline -> (corpus below corpora/, options). No sample is bundled for identifiers and wsd.
FAST_RUNS: dict[str, tuple[str, ...]] = {
    "categorise": ("sample-categorise", "--set", CONVERGED),
    "gene_protein": ("sample-gene-protein",),
    "gene_protein-document": ("sample-gene-protein",),
    "parse_ranking": ("sample-parses",),
    "parse_ranking-lc": ("sample-parses",),
    "ppi": ("sample-ppi",),
    "ppi-apg": ("sample-ppi",),
    "ppi-linear": ("sample-ppi",),
    "retrieve": ("sample-retrieve", "--protocol", "leave-query-out"),
}
SLOW_RUNS: dict[str, tuple[str, ...]] = {
    "ppi_direction": ("sample-statements",),
    "ppi_status": ("sample-statements",),
    "ppi_type": ("sample-statements",),
    "spelling": ("sample-spelling", "--set", CONVERGED),
}
RUNS = FAST_RUNS | SLOW_RUNS

# Figures that other processors give differently: a threshold lies between two scores whose last
# digits differ, and average precision depends on the order of candidates with equal scores.
LOOSE_TOLERANCES = {
    "threshold": 1e-6,
    "average_precision": 1e-3,
    "textrank_spelling": 1e-5,  # its network computes in single precision
}

# Keys of a report that differ between machines and moments.
UNSTABLE_KEYS = ("versions", "seconds")


def run_command(*arguments: str, exit_codes: tuple[int, ...] = (0,)) -> str:
    """Run a textrank command in this process and return its standard output.

    Raises
    ------
    RuntimeError
        If the command ends with an exit code that is not in ``exit_codes``.
    """
    from textrank.cli import main

    output, errors = io.StringIO(), io.StringIO()
    previous_arguments, previous_folder = sys.argv, Path.cwd()
    program = sys.modules["__main__"]
    previous_package = program.__package__
    sys.argv = ["textrank", *arguments]
    program.__package__ = ""  # or the help names the module that runs, pytest say
    os.chdir(ROOT)  # outputs hold relative paths
    try:
        with redirect_stdout(output), redirect_stderr(errors):
            main()
        code: Any = 0
    except SystemExit as stop:
        code = stop.code or 0
    finally:
        sys.argv = previous_arguments
        program.__package__ = previous_package
        os.chdir(previous_folder)
    if code not in exit_codes:
        raise RuntimeError(f"textrank {' '.join(arguments)}: exit code {code}: {errors.getvalue()}")
    return output.getvalue()


def sample_texts() -> list[str]:
    """Return the paths of corpora/sample-text, relative to the root of the repository."""
    paths = sorted((ROOT / "corpora" / "sample-text").glob("*.txt"))
    return [path.relative_to(ROOT).as_posix() for path in paths]


def collect_answers(model: str) -> list[Any]:
    """Return what ``apply`` says about each sample text."""
    return [json.loads(line) for line in run_command("apply", model, *sample_texts()).splitlines()]


def collect_linter() -> list[Any]:
    """Return the proposals of the linter for the sample texts."""
    arguments = ("spell", *sample_texts(), "--format", "json")
    proposals: list[Any] = json.loads(run_command(*arguments, exit_codes=(0, 1)))  # 1: found some
    return proposals


def collect_run(pipeline: str) -> dict[str, Any]:
    """Return the report of a cross-validation in five folds, without versions and times."""
    corpus, *options = RUNS[pipeline]
    if not options:
        options = ["--folds", "5"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.json"
        run_command("run", pipeline, f"corpora/{corpus}", *options, "--json", str(path))
        report = json.loads(path.read_text(encoding="utf-8"))
    return {key: value for key, value in report.items() if key not in UNSTABLE_KEYS}


def collect_registered_names() -> dict[str, list[str]]:
    """Return every registered name by role."""
    import textrank.config  # noqa: F401  (fills the registries)
    from textrank.config import registered_classes

    return {role: sorted(entries) for role, entries in registered_classes().items()}


def collect_pipelines() -> dict[str, str]:
    """Return the cfg that each shipped pipeline is written as."""
    import textrank

    names = sorted(textrank.pipeline_names())
    return {name: textrank.dump_pipeline(textrank.load_pipeline(name)) for name in names}


def collect_help() -> dict[str, Any]:
    """Return help text, examples and parameters of every command.

    Read from the command itself: versions of typer lay out the page of ``--help`` differently.
    """
    import typer

    from textrank.cli import COMMANDS
    from textrank.cli.app import build_app

    group: Any = typer.main.get_command(build_app(None))
    commands: Any = {"": group}
    for name in sorted(COMMANDS):
        commands[name] = typer.main.get_command(build_app(name)).commands[name]
    return {name: _describe_command(command) for name, command in commands.items()}


def _describe_command(command: Any) -> dict[str, Any]:
    """Return help, epilog and parameters of a command; only values that our code sets."""
    return {
        "help": inspect.cleandoc(command.help or "").partition("\f")[0].rstrip(),  # as shown
        "epilog": command.epilog,
        "parameters": [
            {
                "names": [*parameter.opts, *parameter.secondary_opts],
                "required": parameter.required,
                "repeated": bool(getattr(parameter, "multiple", False) or parameter.nargs == -1),
                "default": parameter.default
                if parameter.default is None
                else str(parameter.default),
                "help": parameter.help,
            }
            for parameter in command.params
            if not getattr(parameter, "hidden", False)
        ],
    }


# file -> key -> function that collects the value
FILES: dict[str, dict[str, Callable[[], Any]]] = {
    "answers.json": {
        **{model: partial(collect_answers, model) for model in MODELS},
        "confusions": collect_linter,
    },
    "runs.json": {pipeline: partial(collect_run, pipeline) for pipeline in sorted(RUNS)},
    "registered_names.json": {"names": collect_registered_names},
    "pipelines.json": {"pipelines": collect_pipelines},
    "help.json": {"help": collect_help},
}


def load(file: str) -> dict[str, Any]:
    """Return the stored values of a file; empty if it does not exist."""
    path = FOLDER / file
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def save(file: str, values: dict[str, Any]) -> None:
    """Write the values of a file. Numbers are written so that they read back exactly."""
    text = json.dumps(values, ensure_ascii=False, indent=1, sort_keys=True)
    (FOLDER / file).write_text(text + "\n", encoding="utf-8", newline="\n")


def plain(value: Any) -> Any:
    """Return a value as it is after being written to JSON and read back."""
    return json.loads(json.dumps(value))


def differences(expected: Any, actual: Any, path: str = "") -> Iterator[str]:
    """Yield one line for each difference: where it is, the stored and the present value.

    Floats may differ by ``TOLERANCE`` (``LOOSE_TOLERANCES`` for some keys); an int and a float that
    are equal count as equal. Everything else has to be equal, including the order of lists.
    """
    if isinstance(expected, dict) and isinstance(actual, dict):
        for key in sorted(expected.keys() | actual.keys()):
            place = f"{path}/{key}"
            if key not in actual:
                yield f"{place}: missing"
            elif key not in expected:
                yield f"{place}: new"
            else:
                yield from differences(expected[key], actual[key], place)
    elif isinstance(expected, list) and isinstance(actual, list):
        if len(expected) != len(actual):
            yield f"{path}: {len(expected)} items stored, {len(actual)} now"
        for index, (one, other) in enumerate(zip(expected, actual, strict=False)):
            yield from differences(one, other, f"{path}/{index}")
    elif _is_number(expected) and _is_number(actual):
        keys = [part for part in path.split("/") if part in LOOSE_TOLERANCES]
        if not _is_close(expected, actual, LOOSE_TOLERANCES[keys[0]] if keys else TOLERANCE):
            yield f"{path}: {expected!r} stored, {actual!r} now"
    elif expected != actual or type(expected) is not type(actual):
        yield f"{path}: {expected!r:.300} stored, {actual!r:.300} now"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_close(expected: float, actual: float, tolerance: float) -> bool:
    if math.isnan(expected) or math.isnan(actual):
        return math.isnan(expected) and math.isnan(actual)
    return math.isclose(expected, actual, rel_tol=tolerance, abs_tol=tolerance)
