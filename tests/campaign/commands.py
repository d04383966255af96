"""Commands that write, on small inputs, each with an old output that it replaces."""

from __future__ import annotations

import functools
import os
import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import spacy

from textrank import component, config
from textrank.cli import _apply_out
from textrank.config import load_corpus
from textrank.formats.detection import write_docs
from textrank.scale.job import Job, Slice
from textrank.scale.supervisor import Outcome, Report
from textrank.scale.worker import Worker

ROOT = Path(__file__).parents[2]
Files = dict[str, bytes]
COMMANDS: dict[str, tuple[list[str], list[str]]] = {
    "train": (["train", "ppi-linear", "CORPUS", "OUT/model"], ["model"]),
    "convert to a folder": (["convert", "CORPUS", "OUT/brat"], ["brat"]),
    "convert to a file": (["convert", "CORPUS", "OUT/x.jsonl"], ["x.jsonl"]),
    "convert to texts": (["convert", "CORPUS", "OUT/t", "--format", "text"], ["t"]),
    "apply --write --network --facts": (
        ["apply", "ppi", "TEXT", "--write", "OUT/x.bioc.xml", "--network", "OUT/n.graphml",
         "--facts", "OUT/f.json"],
        ["x.bioc.xml", "n.graphml", "f.json"],
    ),
    "apply --out": (
        ["apply", "ppi", "TEXT", "--out", "OUT/parts", "--format", "jsonl"], ["parts"],
    ),
    "run --report --json": (
        ["run", "ppi-linear", "CORPUS", "--folds", "2", "--report", "OUT/r", "--json", "OUT/j"],
        ["r", "j"],
    ),
    "run --sweep": (
        ["run", "ppi-linear", "CORPUS", "--folds", "2", "--sweep", "learner.alphas=[1],[2]",
         "--cache", "OUT/cache", "--json", "OUT/s.json", "--report", "OUT/s"],
        ["s.json", "s"],
    ),
}  # fmt: skip
SEQUEL = ("apply --out",)  # commands whose folder is incomplete until the last part
PASSING = ("cache",)  # folders that are caches, not outputs


@dataclass
class Case:
    """Command with the content of its outputs before and after."""

    out: Path
    outputs: Sequence[str]
    action: Callable[[], int]
    old: Files
    new: Files

    def run(self) -> int:
        """Run the command in this process and return its exit code."""
        try:
            return self.action()
        except SystemExit as stop:
            return int(stop.code or 0)


def prepared(name: str, folder: Path) -> Case:
    """Return a case whose old output is in place."""
    _keep_loaded()
    arguments, outputs = COMMANDS[name]
    out = folder / "out"
    large, small = _corpora(folder)
    old, new = (_action(arguments, out, corpus) for corpus in (small, large))
    states = []
    for action in (new, old):
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        assert child(action) == 0, name
        states.append(content(out))
    return Case(out, outputs, new, states[1], states[0])


def _action(arguments: Sequence[str], out: Path, corpus: Path) -> Callable[[], int]:
    """Return a function that runs a command; clocks are replaced, because reports have times."""
    words = {"CORPUS": str(corpus), "TEXT": str(corpus.with_suffix(".txt"))}
    filled = [words.get(a, a.replace("OUT", str(out))) for a in arguments]

    def action() -> int:
        """Run the command and return its exit code."""
        from textrank.cli.app import run

        time.perf_counter = float  # reports state seconds, which would differ
        time.time = float
        sys.argv = ["textrank", *filled]
        return run(filled)

    return action


def child(action: Callable[[], int]) -> int:
    """Run an action in a child process without output, and return its exit code."""
    pid = os.fork()
    if pid == 0:
        quiet()
        try:
            os._exit(action())
        except BaseException:
            os._exit(9)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def quiet() -> None:
    """Redirect the output of this process to nowhere."""
    out = os.open(os.devnull, os.O_WRONLY)
    os.dup2(out, 1)
    os.dup2(out, 2)


def content(folder: Path) -> Files:
    """Return all files in a folder, except what a command caches for its next run."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.relative_to(folder).parts[0] not in PASSING
    }


def tables(files: Files) -> Files:
    """Return the result tables; the manifest also depends on the requested inputs."""
    return {k: v for k, v in files.items() if k.endswith(".jsonl")}


def of(files: Files, output: str) -> Files:
    """Return the files of one output, which must change together."""
    return {k: v for k, v in files.items() if k == output or k.startswith(f"{output}/")}


class Inside:
    """Pool that works in the process of the driver, so that a kill can hit either of them."""

    def __init__(self, job: Mapping[str, Any], *_: Any, **__: Any) -> None:
        """Begin with the shared worker and the given job."""
        self.worker = _worker()
        self.worker.job = Job.from_dict(job)
        self.reports: SimpleQueue[Report] = SimpleQueue()

    def capacity(self) -> int:
        """Return 1: slices are processed one by one."""
        return 1

    def submit(self, id: str, slice: Mapping[str, Any], paths: Mapping[int, str]) -> None:
        """Write the part at once; an error of the disk is reported as by a process."""
        try:
            done = self.worker(Slice.from_dict(slice), dict(paths), lambda _: None)
            self.reports.put((id, Outcome(done=done)))
        except OSError as error:
            reason = f"cannot write to {self.worker.job.folder}: {error.strerror or error}"
            self.reports.put((id, Outcome(refused=reason)))

    def check(self) -> None:
        """Do nothing: the worker is always there."""

    def close(self) -> None:
        """Do nothing: there is no process to end."""


@functools.cache
def _worker() -> Worker:
    """Return the worker that all cases share."""
    return Worker(Job("ppi", "", format="jsonl"))


@functools.cache
def _keep_loaded() -> None:
    """Load models and pipelines once, so that a child process needs no time for it."""
    for module, name in ((component, "load_language"), (config, "load_model")):
        load = getattr(module, name)
        kept: dict[str, Any] = {}

        def once(*a: Any, load: Any = load, kept: dict[str, Any] = kept, **k: Any) -> Any:
            key = repr((a, k))
            if key not in kept:
                kept[key] = load(*a, **k)
            return kept[key]

        setattr(module, name, once)
    import textrank.reports.html
    from textrank.tasks.ppi.task import PPI

    textrank.reports.html.require_matplotlib()
    component.load_language(None, PPI())
    component.load_language(None, PPI(), raw=True)
    config.load_model("ppi")
    _worker()
    _apply_out.create_pool = Inside  # type: ignore[assignment]


def _corpora(folder: Path) -> tuple[Path, Path]:
    """Return the paths of a corpus of 8 documents and of its first 6, each with a text file."""
    docs = list(load_corpus(ROOT / "corpora" / "sample-ppi")(spacy.blank("en")))
    paths = []
    for name, count in (("large", 8), ("small", 6)):
        path = folder / name / "c.xml"
        path.parent.mkdir(exist_ok=True)
        write_docs(docs[:count], path)
        path.with_suffix(".txt").write_text(" ".join(doc.text for doc in docs[: count - 5]))
        paths.append(path)
    return paths[0], paths[1]
