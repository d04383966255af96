"""Load and use mutated model folders under an audit hook: ``python -m tests.audited_models``.

``python -m tests.audited_models FOLDER COUNT`` prints one line of JSON: how many models were used,
how many refused, and the forbidden events: an import of a module that is not of Python, spaCy,
textrank or its dependencies, an open for writing, an open of a file that is neither part of these
packages nor of the model, a link, a folder made, a process or a socket.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import site
import sys
import sysconfig
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from tests.campaign.mutations import VALUES, any_of, spoil_bytes, spoil_json, spoil_tokens
from textrank.component import load_language
from textrank.config import load_model, registered_classes
from textrank.io import META_FILE, read_arrays, shipped_folder, write_arrays, write_manifest

NAMES = ("gene_protein", "spelling", "parse_ranking", "ppi")
TEXT = "The adaptor GRB2 binds SOS1. It is larger then p53, which activates MDM2."
HOSTILE = [
    "/etc/passwd", "../secret.txt", "secret.txt", "secret", "wheel", "pip", "en_core_web_sm", "os",
    "model:../secret.txt", "model:arrays.npz", "file:///etc/passwd", "http://127.0.0.1:9/", "~",
]  # fmt: skip
FORBIDDEN = (
    "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty",
    "socket.__new__", "socket.connect", "socket.bind", "socket.getaddrinfo", "os.mkdir",
    "os.remove", "os.rename", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.chmod",
    "os.putenv", "shutil.rmtree", "shutil.copyfile", "shutil.move", "pickle.find_class",
    "ctypes.dlopen", "code.__new__", "webbrowser.open", "urllib.Request", "sqlite3.connect",
)  # fmt: skip


class Audit:
    """Audit hook that records forbidden events while ``active``; ``folder`` is the model's."""

    def __init__(self, folder: Path) -> None:
        self.active = False
        self.model = ""
        self.violations: list[str] = []
        self.folder = str(folder)
        packages = {*site.getsitepackages(), *sysconfig.get_paths().values(), sys.base_prefix}
        packages |= {path for path in sys.path if path.endswith("site-packages")}
        packages |= {str(Path(__file__).parents[1] / name) for name in ("textrank", "models")}
        packages |= {str(shipped_folder("models")), str(shipped_folder("pipelines"))}
        self.packages = tuple(os.path.realpath(path) for path in packages)
        self.modules = set(sys.modules)

    def __call__(self, event: str, values: tuple[Any, ...]) -> None:
        """Record an event if it is forbidden (called by Python)."""
        if not self.active:
            return
        if event == "open":
            self._check_open(*values)
        elif event in FORBIDDEN:
            self._add(f"{event} {values!r:.100}")

    def check_imports(self) -> None:
        """Record modules that were imported since, unless they belong to packages in use before.

        The event "import" is not used: libraries try modules that are not installed.
        """
        roots = {name.partition(".")[0] for name in self.modules} | set(sys.stdlib_module_names)
        for name in set(sys.modules) - self.modules:
            if name.partition(".")[0] not in roots:
                self._add(f"import {name}")
        self.modules |= set(sys.modules)

    def _check_open(self, path: Any, mode: Any, flags: int) -> None:
        """Record an open for writing, and one outside of the packages and the model."""
        is_write = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
        if isinstance(path, int):
            return
        real = os.path.realpath(os.fsdecode(path))
        is_allowed = real.startswith((self.folder + os.sep, *self.packages, "/proc/self"))
        if is_write or not is_allowed:
            self._add(f"open {real!r:.100} {mode!r}")

    def _add(self, violation: str) -> None:
        self.violations.append(f"{self.model}: {violation}")


def spoil_setting(text: str, rng: random.Random) -> str:
    """Change the value of one setting of a cfg to a hostile one, or name another class."""
    lines = text.splitlines()
    rows = [n for n, line in enumerate(lines) if " = " in line]
    names = [
        name for role, entries in registered_classes().items() for name in entries if role != "x"
    ]
    for _ in range(rng.randint(1, 3)):
        row = rng.choice(rows)
        key = lines[row].partition(" = ")[0]
        value = rng.choice([rng.choice(HOSTILE), rng.choice(VALUES), rng.choice(names)])
        if key.startswith("@") and rng.random() < 0.5:
            key = rng.choice(["@callbacks", "@loggers", "@readers", "@architectures", "@misc", key])
        try:
            lines[row] = f"{key} = {json.dumps(value)}"
        except (ValueError, RecursionError):
            continue
    named = [n for n, line in enumerate(lines) if line.split(" = ")[0] in STRING_SETTINGS]
    if named and rng.random() < 0.6:
        row = rng.choice(named)
        lines[row] = f"{lines[row].split(' = ')[0]} = {json.dumps(rng.choice(HOSTILE))}"
    return "\n".join(lines)


STRING_SETTINGS = ("parser", "mirror", "lexicon", "tags", "path", "tables", "stop_words", "source")


def spoil_mildly(text: str, rng: random.Random) -> str:
    """Change values of a cfg to others of their type, so that most of these models can be used."""
    lines = text.splitlines()
    for row, line in enumerate(lines):
        key, _, value = line.partition(" = ")
        if key in ("parser", "mirror", "entities") and rng.random() < 0.7:
            lines[row] = f"{key} = {json.dumps(rng.choice(HOSTILE))}"
        elif value.replace(".", "").isdigit() and rng.random() < 0.1:
            lines[row] = f"{key} = {rng.choice([1, 2, 3])}" + (".5" if "." in value else "")
    return "\n".join(lines)


def spoil_model(folder: Path, rng: random.Random) -> None:
    """Change one thing in a model folder and, mostly, seal it again, as a stranger would."""
    meta = json.loads((folder / META_FILE).read_text())
    match rng.randrange(9):
        case 6 | 7 | 8:
            text = (folder / "config.cfg").read_text()
            (folder / "config.cfg").write_text(spoil_mildly(text, rng))
        case 0 | 1 | 2:
            text = (folder / "config.cfg").read_text()
            (folder / "config.cfg").write_text(spoil_setting(text, rng), errors="replace")
        case 3:
            name = rng.choice(["config.cfg", META_FILE, "arrays.npz"])
            way = any_of(spoil_bytes, spoil_tokens) if name != META_FILE else spoil_json
            (folder / name).write_bytes(way((folder / name).read_bytes(), rng))
            if name == META_FILE and rng.random() < 0.5:
                return
        case 4:
            entry = folder / rng.choice(["arrays.npz", "config.cfg", "type", "status", "more"])
            shutil.rmtree(entry, ignore_errors=True)
            entry.unlink(missing_ok=True)
            entry.symlink_to(rng.choice([folder, Path("/etc/passwd"), folder.parent / "secret"]))
        case 5:
            arrays = dict(read_arrays(folder / "arrays.npz"))
            key = rng.choice(sorted(arrays))
            array = np.atleast_1d(arrays[key])
            ways = [array[:0], array[: len(array) // 2], np.concatenate([array, array])]
            write_arrays(folder / "arrays.npz", {**arrays, key: rng.choice(ways)})
    try:
        write_manifest(folder, meta)
    except (OSError, ValueError):
        return


def main(target: str, count: str) -> None:
    """Load ``count`` mutated models in the folder ``target`` and print the summary."""
    warnings.simplefilter("ignore")
    work = Path(target)
    (work / "secret.txt").write_text("a\tNN\n")
    for name in ("secret", "whole"):
        (work / name).mkdir(exist_ok=True)
    (work / "secret" / "config.cfg").write_text('[nlp]\nlang = "en"\npipeline = []\n')
    os.chdir(work)
    registered_classes()
    models = {name: load_model(name) for name in NAMES}
    languages = {n: load_language(None, m.pipeline.task, raw=True) for n, m in models.items()}
    for name, model in models.items():
        model(languages[name](TEXT))  # everything that is loaded on first use
        smaller = model.prune(200) if model.names is not None else model
        smaller.to_disk(work / "whole" / name)
    folder = work / "model"
    audit = Audit(folder)
    sys.addaudithook(audit)
    outcomes = {"used": 0, "refused": 0}
    errors: list[str] = []
    for number in range(int(count)):
        rng = random.Random(number)
        name = rng.choice(NAMES)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(work / "whole" / name, folder)
        spoil_model(folder, rng)
        docs = {key: language(TEXT) for key, language in languages.items()}
        audit.model, audit.active = f"{number} {name}", True
        try:
            model = load_model(folder)
            outcomes["used"] += 1
            try:
                doc = docs.get(model.pipeline.task.name, docs["ppi"])
                model(doc)
            except Exception as error:
                if not isinstance(error, ValueError):
                    errors.append(f"{number} use {error!r:.200}")
        except ValueError as error:
            outcomes["refused"] += 1
            if str(folder) not in str(error):
                errors.append(f"{number} unnamed {error!s:.200}")
        except Exception as error:
            errors.append(f"{number} load {error!r:.200}")
        finally:
            audit.active = False
            audit.check_imports()
    summary = {"models": int(count), **outcomes, "violations": audit.violations, "errors": errors}
    sys.stdout.write(json.dumps(summary) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
