"""What a user waits for, as ratios measured in one run: printed, and written as a page of docs.

``python -m tests.benchmarks.waiting [PAGE]``; ``make bench`` runs it. One thread, CPU time, medians
of ratios within a repeat, so that what else the machine does counts for both sides.
"""

from __future__ import annotations

import gzip
import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from tests.benchmarks.pubmed import citations
from tests.benchmarks.ratios import gaussian, labels, measure
from textrank.language.normalization import to_plain_text

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks.md"
DATA = Path(__file__).parents[3] / "shared" / "data"
REPEATS = int(os.environ.get("BENCH_REPEATS", "3"))
TEXTS = int(os.environ.get("BENCH_TEXTS", "200"))
SHORT = "GRB2 binds SOS1 and activates the Ras gene in HeLa cells. MDM2 does not inhibit p53 mRNA."
LONG = (1_000, 4_000, 16_000, 64_000)  # words of one document; parse ranking up to the third
TASKS = ("ppi", "gene_protein", "identifiers", "spelling", "parse_ranking")
LANGUAGE = """
from textrank.language.load import model_path, register_components
register_components()
import spacy
spacy.load(model_path())
"""

Rows = list[tuple[str, ...]]


def main(page: Path = PAGE) -> None:
    """Measure everything, print it and write the page."""
    text = ""
    for part in (_head, _started, _tasks, _long, _learners):
        section = part()
        sys.stdout.write(section)
        sys.stdout.flush()
        text += section
    page.write_text(text, encoding="utf-8")


def _head() -> str:
    """Return the head of the page: versions and machine."""
    versions = [f"{name} {version(name)}" for name in ("numpy", "scipy", "spacy", "scikit-learn")]
    versions += (
        [f"rlscore {version('rlscore')}"] if find_spec("rlscore") else ["RLScore not installed"]
    )
    return (
        "# Benchmarks\n\n"
        "Written by `make bench`: one thread, CPU time, medians of "
        f"{REPEATS} ratios, both sides of each measured in one run.\n\n"
        f"Python {platform.python_version()}, {', '.join(versions)}; {_processor()}, "
        f"{os.cpu_count()} cores. Texts: {_abstracts()[0]}.\n"
    )


def _processor() -> str:
    """Return the name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((x.partition(":")[2].strip() for x in lines if x.startswith("model name")), "")


def _abstracts() -> tuple[str, list[str]]:
    """Return a description of the abstracts, and twice TEXTS of them."""
    path = DATA / "jnlpba" / "train.jsonl.gz"
    if path.is_file():
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            texts = [json.loads(line)["text"] for line in lines]
        return f"{TEXTS} abstracts of JNLPBA, others read before", texts[: 2 * TEXTS]
    return f"{TEXTS} abstracts made up", [to_plain_text(text) for text in citations(2 * TEXTS)]


def _articles() -> list[str]:
    """Return at most six long articles; [] if the data are missing."""
    path = DATA / "pubmed" / "articles-06000.jsonl.gz"
    if not path.is_file():
        return []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in islice(lines, 20)]
    return [text for text in texts if len(text) > 20_000][:6]


def table(title: str, columns: Sequence[str], rows: Rows) -> str:
    """Return a Markdown table with a heading."""
    lines = [columns, ["---"] + ["---:"] * (len(columns) - 1), *rows]
    return f"\n## {title}\n\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def ratio(seconds: Mapping[str, Sequence[float]], name: str, unit: str) -> float:
    """Return the median ratio of two measurements, by repeat."""
    return median(a / b for a, b in zip(seconds[name], seconds[unit], strict=True))


def _command(*arguments: str, given: str = "") -> float:
    """Return the CPU seconds of a new Python process."""
    begun = resource.getrusage(resource.RUSAGE_CHILDREN)
    one = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    subprocess.run(
        [sys.executable, *arguments], input=given, text=True, capture_output=True, check=True,
        env=os.environ | one,
    )  # fmt: skip
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended.ru_utime + ended.ru_stime - begun.ru_utime - begun.ru_stime


def _started() -> str:
    """Return the table of start-up times."""
    spacy, load = "`import spacy`", "`spacy.load` of the language model, with imports"
    commands: dict[str, tuple[str, ...]] = {
        spacy: ("-c", "import spacy"),
        load: ("-c", LANGUAGE),
        "`import textrank`": ("-c", "import textrank"),
        "`textrank --help`": ("-m", "textrank", "--help"),
        **{f"`textrank apply {t}`, first answer": ("-m", "textrank", "apply", t, "-")
           for t in TASKS},
    }  # fmt: skip
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(REPEATS):
        for name, arguments in commands.items():
            seconds[name].append(_command(*arguments, given=SHORT))
    rows = [
        (name, f"{median(values):.2f}", *(f"{ratio(seconds, name, u):.2f}" for u in (spacy, load)))
        for name, values in seconds.items()
    ]
    return table("Start-up", ("command", "CPU s", "× import of spaCy", "× loading"), rows)


def _tasks() -> str:
    """Return the tables of tasks relative to the language pipeline, on one short text and many."""
    from textrank.language import load_nlp

    nlp = load_nlp()
    texts = _abstracts()[1]
    before, texts = texts[TEXTS:], texts[:TEXTS]
    for _ in nlp.pipe(before):
        pass
    words = sum(len(text.split()) for text in texts)
    language = _language(nlp, texts, words, "abstracts")
    if articles := _articles():
        for _ in nlp.pipe(articles[:1]):
            pass
        words = sum(len(text.split()) for text in articles[1:])
        language += _language(nlp, articles[1:], words, f"{len(articles) - 1} articles")
    rows = [row for name in TASKS for row in _task(nlp, name, texts)]
    columns = ("task", "unit", "one short text, warm", f"{TEXTS} abstracts", "ms per abstract")
    return language + table("Tasks over the language pipeline", columns, rows)


def _language(nlp: Any, texts: Sequence[str], words: int, kind: str) -> str:
    """Return the table of the components of the language pipeline."""
    runs = {
        "tokens": [],
        "tags and parse": ["tagger", "parser"],
        "names": ["genes", "ner"],
        "all but identifiers": [name for name in nlp.component_names if name != "identifiers"],
        "all": nlp.component_names,
    }

    def run(enable: Sequence[str]) -> Callable[[], object]:
        from textrank.language.load import resolve_components

        def work() -> None:
            with nlp.select_pipes(enable=resolve_components(nlp, enable) if enable else []):
                for _ in nlp.pipe(texts):
                    pass

        return work

    seconds = measure({name: run(enable) for name, enable in runs.items()}, REPEATS)
    rows = [
        (name, f"{words / median(values):,.0f}", f"{ratio(seconds, name, 'all'):.2f}")
        for name, values in seconds.items()
    ]
    return table(
        f"Language pipeline, {kind}", ("components", "words per CPU s", "× complete pipeline"), rows
    )


def _task(nlp: Any, name: str, texts: Sequence[str]) -> Rows:
    """Return a row relative to what the task reads, and for word tasks one per tokenizer time."""
    from textrank.config import load_model
    from textrank.language.load import resolve_components

    model = load_model(name)
    task = model.pipeline.task
    alone = not (task.required_pipes or task.required_pipes_raw)  # reads words only
    enable = resolve_components(nlp, []) if alone else nlp.component_names

    def analysed(batch: Sequence[str]) -> list[Any]:
        with nlp.select_pipes(enable=enable):
            return list(nlp.pipe(batch))

    list(model.pipe(analysed([SHORT, *texts[:2]])))
    shown: list[list[str]] = []
    cost = 0.0
    for batch, times in (([SHORT], 20), (list(texts), 1)):
        docs = [analysed(batch) for _ in range(REPEATS * times)]
        rest = iter(docs)
        seconds = measure(
            {
                "language": lambda batch=batch, n=times: [analysed(batch) for _ in range(n)],
                "tokens": lambda batch=batch, n=times: [nlp.tokenizer(t) for t in batch * n],
                "task": lambda rest=rest, n=times: [list(model.pipe(next(rest))) for _ in range(n)],
            },
            REPEATS,
        )
        shown.append([f"{ratio(seconds, 'task', unit):.2f}" for unit in ("language", "tokens")])
        cost = 1000 * median(seconds["task"]) / len(batch)
    over_language, over_tokens = zip(*shown, strict=True)
    unit = "tokens and sentences" if alone else "complete language pipeline"
    rows: Rows = [(name, unit, *over_language, f"{cost:.1f}")]
    return [*rows, (name, "the bare tokenizer", "", over_tokens[1], "")] if alone else rows


def _long() -> str:
    """Return the table of time by document length, with the exponent of growth."""
    from textrank.config import load_model
    from textrank.language import load_nlp

    nlp = load_nlp()
    each = _abstracts()[1]
    few = sum(len(text.split()) for text in each) // max(len(each), 1)
    words = "\n\n".join(each * (1 + LONG[-1] // (few * len(each)))).split(" ")
    texts = {size: " ".join(words[:size]) for size in LONG}
    rows = []
    for name in ("language", *TASKS):
        model = None if name == "language" else load_model(name)
        sizes = LONG[:-1] if name == "parse_ranking" else LONG
        seconds = []
        for size in (sizes[0], *sizes):  # the first one twice: to warm up
            doc = nlp(texts[size]) if model else None
            begun = time.process_time()
            if model is None or doc is None:
                nlp(texts[size])
            else:
                model(doc)
            seconds.append(time.process_time() - begun)
        power = np.polyfit(np.log(sizes), np.log(seconds[1:]), 1)[0]
        rows.append((name, f"{sizes[-1]:,}", f"{seconds[-1]:.2f}", f"{power:.2f}"))
    columns = ("task", "words in the longest text", "CPU s", f"exponent from {LONG[0]:,} words on")
    return table("Growth with document length", columns, rows)


def _learners() -> str:
    """Return the table of learners, in units of one eigendecomposition."""
    from textrank.candidates import Targets
    from textrank.learners.base import rows_by_group
    from textrank.learners.rankrls import RankRLS
    from textrank.learners.rls import rls_coefs, rls_path

    n, grid = 1000, 2.0 ** np.arange(-15, 15)
    K, y = gaussian(n)
    fives = labels(n, 5)
    targets = Targets(y, fives, fives)
    ours: dict[str, Callable[[], object]] = {
        "path of 30 alphas": lambda: rls_coefs(K, y[:, None], grid, dual=True),
        "leave-one-out, 30 alphas": lambda: rls_path(
            K, y[:, None], grid, rows_by_group(np.arange(n), n), dual=True
        ),
        "leave-group-out (5), 30 alphas": lambda: rls_path(
            K, y[:, None], grid, rows_by_group(fives, n), dual=True
        ),
        "RankRLS, leave-query-out (5), 30 alphas": lambda: RankRLS(alphas=grid).fit(K, targets),
    }
    theirs = _rlscore(K, y, fives, grid) if find_spec("rlscore") else {}
    unit = "one eigh"
    all_ = {unit: lambda: np.linalg.eigh(K), **ours, **{f"~{k}": v for k, v in theirs.items()}}
    seconds = measure(all_, REPEATS)
    rows = [
        (
            name,
            f"{ratio(seconds, name, unit):.2f}",
            f"{ratio(seconds, f'~{name}', unit):.2f}" if name in theirs else "not installed",
        )
        for name in ours
    ]
    title = f"Learners, {n} candidates, in units of one `eigh`"
    return table(title, ("computation", "textrank", "RLScore"), rows)


def _rlscore(K: Any, y: Any, groups: Any, grid: Any) -> dict[str, Callable[[], object]]:
    """Return the computations of RLScore by name."""
    from rlscore.learner import RLS  # type: ignore[import-not-found]

    folds = [np.flatnonzero(groups == g).tolist() for g in np.unique(groups)]

    def rls() -> Any:
        return RLS(K, y, kernel="PrecomputedKernel")

    def path() -> None:
        learner = rls()
        for alpha in grid:
            learner.solve(alpha)

    def alone() -> None:
        learner = rls()
        for alpha in grid:
            learner.solve(alpha)
            learner.leave_one_out()

    def by_group() -> None:
        learner = rls()
        for alpha in grid:
            learner.solve(alpha)
            for fold in folds:
                learner.holdout(fold)

    names = ("path of 30 alphas", "leave-one-out, 30 alphas", "leave-group-out (5), 30 alphas")
    return dict(zip(names, (path, alone, by_group), strict=True))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
