"""Nothing stands idle: modules have users, names have uses, roles state what they can."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from textrank.cli.app import COMMANDS
from textrank.config import TABLE

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "textrank"
LONGEST = 400  # lines of a module
OVER: dict[str, int] = {}  # modules that may be longer, with the reason

# Why a module stands alone though one module imports it. A class that config's table names, a
# command, and a part of a package that its __init__ shows need no reason.
ONE_IMPORTER = {
    "is documented and called by itself": """
        evaluation.identifiers evaluation.leave_pair_out evaluation.permutation
        evaluation.significance evaluation.overlap learners.pairs
        representations.pictures.parse_windows representations.pictures.sentence_graph
        representations.pictures.transformed_context reproduce.page reproduce.classes
        reproduce.ranking reproduce.contexts reproduce.embeddings reproduce.estimates
        reproduce.interactions tasks.network reports.raw_text""",
    "is a method of its own with a reference in plain loops": """
        kernels.prepared kernels.acyclic kernels.window_pairs kernels.diverging language.spanning
        language.repair learners.bias learners.ranking learners.reduced_holdout linalg.tridiagonal
        representations.pairs.collapsed representations.pairs.marked_graphs language.copies
        tasks.parse_trees tasks.aspects tasks.printed_words document_candidates web.reach
        kernels.weighed_places""",
    "is data or a list that grows": """
        representations.pairs.statement_cues representations.pairs.statement_roles
        representations.pairs.described representations.pairs.path_descriptors""",
    "is made by spaCy or another program, and imported only when asked for": """
        language.link_grammar lint.server scale.cluster scale.worker web.curator web.explorer
        web.static_page web.sources""",
    "would make its importer too long to read": """
        io.model_parts lint.files scale.analysis scale.manifest scale.rows web.naming web.exports
        web.trained web.explanation representations.pairs.described_words
        representations.pairs.descriptor_entities representations.pairs.sentence_trees""",
}
# Objects of other libraries, which say by their attributes what they can do.
FOREIGN = {
    "cli/app.py": "typer's errors, whichever click they come from",
    "cli/info.py": "annotations of any kind",
    "evaluation/estimators.py": "scikit-learn's estimators",
    "language/load.py": "spaCy's components",
    "language/products.py": "spaCy's components",
    "scale/analysis.py": "spaCy's components",
    "text/pieces.py": "spaCy's components",
}


def name_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(("textrank", *parts)).removesuffix(".__init__")


@cache
def sources() -> dict[Path, str]:
    """What users and developers run, tests left out."""
    folders = [PACKAGE, ROOT / "models", ROOT / "docs"]
    return {path: path.read_text() for top in folders for path in sorted(top.rglob("*.py"))}


@cache
def prose() -> str:
    """All that is documented, but for what changed and for lists made by a program."""
    tops = [ROOT / "docs", PACKAGE, ROOT / "models", ROOT / "corpora", ROOT / "pipelines"]
    pages = [ROOT / "README.md", *(page for top in tops for page in sorted(top.rglob("*.md")))]
    return "\n".join(page.read_text() for page in pages)


def imported(text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@cache
def importers() -> dict[str, set[str]]:
    """Who imports each module; a package may import its own modules, not they it."""
    own = {name_of(path): path for path in sources() if path.is_relative_to(PACKAGE)}
    found: dict[str, set[str]] = {
        name: set() for name, path in own.items() if not path.name.startswith("__")
    }
    for path, text in sources().items():
        user = name_of(path) if path.is_relative_to(PACKAGE) else str(path.relative_to(ROOT))
        for name in imported(text):
            if name in found and name != user:
                found[name].add(user)
    return found


@cache
def entered() -> set[str]:
    """Modules that start by name: commands, entry points, ``python -m``."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    points = [p for group in project["entry-points"].values() for p in group.values()]
    started = re.findall(r'"-m",\s*"(textrank[\w.]+)"', "\n".join(sources().values()))
    commands = {f"textrank.cli.{name}" for name in COMMANDS}
    return {point.partition(":")[0] for point in points} | set(started) | commands


@pytest.mark.parametrize("name", sorted(importers()))
def test_every_module_has_a_user_or_a_documented_door(name):
    documented = re.search(rf"{re.escape(name)}\b", prose())
    assert importers()[name] or name in entered() or documented, (
        f"only tests import {name}: give it a door that is documented, or let it go"
    )


def test_a_module_of_one_importer_has_a_reason():
    listed = {f"textrank.{name}" for names in ONE_IMPORTER.values() for name in names.split()}
    assert listed <= set(importers()), f"gone: {sorted(listed - set(importers()))}"
    several = sorted(name for name in listed if len(importers()[name]) > 1)
    assert not several, f"more than one importer, so no reason is needed: {several}"
    alone = {
        name
        for name, users in importers().items()
        if len(users) == 1 and not name.startswith("textrank.cli.") and not _shown(name, users)
    }
    assert alone <= listed | entered(), f"one importer and no reason: {sorted(alone - listed)}"


def _shown(name: str, users: set[str]) -> bool:
    """Whether its importer is the table of names, or the face of its own package."""
    (user,) = users
    return user == "textrank.config" or name.startswith(f"{user}.")


@cache
def settings() -> str:
    """All cfg files that ship: pipelines, corpora, models and their recipes."""
    tops = [ROOT / "pipelines", ROOT / "corpora", ROOT / "models"]
    return "\n".join(cfg.read_text() for top in tops for cfg in sorted(top.rglob("*.cfg")))


@pytest.mark.parametrize(
    ("role", "name"), [(role, name) for role, names in TABLE.items() for name in names]
)
def test_every_registered_name_is_used_by_a_cfg_or_documented(role, name):
    used = f'= "{name}"' in settings() or f'"{name}"' in prose() or f"`{name}`" in prose()
    assert used, f"{role}: neither a shipped cfg nor a page uses {name}"


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=name_of)
def test_nothing_is_probed_for_what_a_role_should_state(path):
    """No ``hasattr``, and no ``getattr`` by a fixed name: a Protocol says what is there."""
    calls = [n for n in ast.walk(ast.parse(sources()[path])) if isinstance(n, ast.Call)]
    probing = [
        ast.unparse(call)
        for call in calls
        if isinstance(call.func, ast.Name)
        and (
            call.func.id == "hasattr"
            or (
                call.func.id == "getattr"
                and (len(call.args) > 2 or isinstance(call.args[1], ast.Constant | ast.JoinedStr))
            )
        )
    ]
    allowed = str(path.relative_to(PACKAGE)) in FOREIGN
    assert allowed or not probing, f"state it in a Protocol instead: {probing}"


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=name_of)
def test_modules_can_be_read_in_one_go(path):
    assert len(sources()[path].splitlines()) <= OVER.get(name_of(path), LONGEST)


@cache
def defined() -> dict[str, set[str]]:
    """The functions, classes and methods of each file of the package."""
    found: dict[str, set[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        own = found.setdefault(str(path.relative_to(PACKAGE)), set())
        for node in ast.parse(sources()[path]).body:
            own |= {node.name} if isinstance(node, ast.FunctionDef | ast.ClassDef) else set()
            methods = node.body if isinstance(node, ast.ClassDef) else ()
            for part in (part for part in methods if isinstance(part, ast.FunctionDef)):
                own |= {part.name, f"{node.name}.{part.name}"}
    return found


def steps(command: str) -> list[str]:
    """The numbered steps of a walk in docs/architecture.md."""
    page = (ROOT / "docs" / "architecture.md").read_text()
    walk = page.partition(f"## `{command}`")[2].partition("\n## ")[0]
    return re.findall(r"^\d+\..*(?:\n    .*)*", walk, re.MULTILINE)


WALKS = {
    "textrank apply ppi text.txt": (25, "Twenty-five"),
    "textrank run ppi corpus": (22, "Twenty-two"),
}


@pytest.mark.parametrize("command", WALKS)
def test_the_walks_name_files_and_functions_that_exist(command):
    anywhere = set().union(*defined().values())
    for step in steps(command):
        for words in re.findall(r"`([^`]+)`", step):
            file, colon, name = words.partition(": ")
            if file.endswith(".py"):
                assert file in defined(), f"{step}: no file {file}"
                assert not colon or name in defined()[file], f"{step}: no {name} in {file}"
            elif re.fullmatch(r"[A-Z]\w+(\.\w+)?|[a-z_]+", words):
                assert words in anywhere, f"{step}: nothing is called {words}"


@pytest.mark.parametrize("command", WALKS)
def test_the_number_of_steps_is_stated(command):
    count, words = WALKS[command]
    assert steps(command)[-1].startswith(f"{count}.")
    assert f"{words} steps" in (ROOT / "docs" / "architecture.md").read_text()


def changes() -> dict[str, str]:
    """The rows of the table of changes in CONTRIBUTING.md."""
    page = (ROOT / "CONTRIBUTING.md").read_text().partition("changes and the files they touch")[2]
    rows = re.findall(r"^\| (.+?) \| (.+) \|$", page.partition("\n## ")[0], re.MULTILINE)
    return {change: files for change, files in rows if change != "change"}


def test_the_number_of_changes_is_stated():
    assert len(changes()) == 16
    assert "## Sixteen changes" in (ROOT / "CONTRIBUTING.md").read_text()


@pytest.mark.parametrize("change", changes())
def test_the_files_and_names_of_a_change_exist(change):
    own = [path for path in re.findall(r"`([\w/.]+)`", changes()[change]) if "/" in path]
    for path in own:
        folder = path.partition("NAME")[0].rpartition("/")[0] if "NAME" in path else path
        assert (PACKAGE / folder).exists() or (ROOT / folder).exists(), f"{change}: no {path}"
    texts = [place.read_text() for place in _places(own)]
    for name in set(re.findall(r"`([A-Za-z_]+)`", changes()[change])) - {"README", "Makefile"}:
        assert any(re.search(rf"\b{name}\b", text) for text in texts), f"{change}: no {name}"


def _places(own: list[str]) -> Iterator[Path]:
    """What a name of a row may stand in: the files and folders beside it, and what all touch."""
    always = ["config.py", "tasks/task.py", "tasks/ppi.py", "evaluation/splits.py", "Makefile"]
    for path in [*own, *always]:
        place = PACKAGE / path if (PACKAGE / path).exists() else ROOT / path
        yield from place.glob("*.py") if place.is_dir() else [place] if place.is_file() else []
