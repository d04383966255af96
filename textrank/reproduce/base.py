"""Experiment and Table: one table of a source, run on the data at hand, kept as JSON."""

from __future__ import annotations

import gzip
import io
import re
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
import spacy
from sklearn.datasets import load_iris, load_svmlight_file, load_wine
from sklearn.feature_extraction.text import TfidfVectorizer
from spacy.tokens import Doc

from textrank.candidates import Targets
from textrank.config import package_versions
from textrank.features import FeatureNames, Features, Indices, Matrix, SparseMatrix, Vector
from textrank.formats.research import ReutersArticle, iter_reuters_articles, read_letor_arrays
from textrank.io import (
    MAX_UNPACKED_BYTES,
    iter_tar_files,
    iter_zip_files,
    load_json,
    read_json,
    read_text,
)
from textrank.language.sentences import set_sentence_starts
from textrank.reports.table import write_json

Better: TypeAlias = Literal["higher", "lower", "neither"]
FIGURES_REVISION = 1  # rises when the same settings would give other figures


@dataclass(frozen=True)
class Figure:
    """What we measured: a mean and its spread, None where there was one value only."""

    mean: float
    spread: float | None = None

    @classmethod
    def from_values(cls, values: Sequence[float]) -> Figure:
        """The mean of several runs with their standard deviation.

        >>> Figure.of([0.5, 0.7])
        Figure(mean=0.6, spread=0.1)
        """
        mean, spread = float(np.mean(values)), float(np.std(values))
        return cls(round(mean, 6), round(spread, 6) if len(values) > 1 else None)


Cells: TypeAlias = Mapping[str, Mapping[str, Figure]]  # by row and column


@dataclass(frozen=True)
class RunSettings:
    """Where the data are, the seed of every draw, and whether the long version is wanted."""

    data: Path
    seed: int = 0
    full: bool = False

    def file(self, name: str) -> Path:
        """A file of the data; one that is missing is named."""
        path = self.data / name
        if not path.exists():
            raise ValueError(
                f"{path}: no such file, which this table needs. Name the folder of the research "
                "data with --data."
            )
        return path


@dataclass(frozen=True)
class TableText:
    """What a reader must know of a table."""

    title: str
    measure: str  # what the figures are
    spread: str  # over what
    differs: str  # from the source, in data and procedure
    better: Better = "higher"
    part: str = ""  # what the short version leaves out
    why: str = ""  # why ours are worse where they are
    digits: int = 3


@dataclass(frozen=True)
class Experiment:
    """One table of a source by the name of its figures and words, and how to run it."""

    name: str
    run: Callable[[RunSettings], Cells]
    files: Sequence[str] = ()

    @property
    def text(self) -> TableText:
        """Those of ``tables.toml``."""
        words = tomllib.loads((files("textrank.reproduce") / "tables.toml").read_text("utf-8"))
        return TableText(**{k: _plain(v) for k, v in words[self.name].items()})

    def check(self, setting: RunSettings) -> None:
        """Refuses before long work where a file is missing."""
        for name in self.files:
            setting.file(name)

    def settings(self, setting: RunSettings) -> dict[str, Any]:
        """What the figures depend on."""
        sizes = {name: setting.file(name).stat().st_size for name in self.files}
        full = setting.full and bool(self.text.part)
        return {"seed": setting.seed, "full": full, "revision": FIGURES_REVISION, "files": sizes}


@dataclass(frozen=True)
class Table:
    """The figures of an experiment, the source's and ours."""

    experiment: Experiment
    settings: Mapping[str, Any]
    cells: Cells
    seconds: float  # of the processor
    versions: Mapping[str, str] = field(default_factory=package_versions)

    @property
    def published(self) -> Mapping[str, Mapping[str, float]]:
        """The figures of the source, by row and column."""
        return get_published(self.experiment.name)["figures"]

    @property
    def rows(self) -> list[str]:
        """Those of the source first."""
        return list(dict.fromkeys([*self.published, *self.cells]))

    @property
    def columns(self) -> list[str]:
        """Those of the source first."""
        both = [*self.published.values(), *self.cells.values()]
        return list(dict.fromkeys(column for row in both for column in row))

    def worse(self) -> Iterator[tuple[str, str, float]]:
        """Row, column and difference where the source's figure is the better one."""
        sign = {"higher": 1.0, "lower": -1.0, "neither": 0.0}[self.experiment.text.better]
        for row, columns in self.published.items():
            for column, value in columns.items():
                ours = self.cells.get(row, {}).get(column)
                if ours is not None and sign * (ours.mean - value) < -0.5 * 10**-3:
                    yield row, column, ours.mean - value

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as they stand in the file."""
        experiment, source = self.experiment, get_published(self.experiment.name)
        rows = [
            {"row": row, "column": column, "ours": figure.mean, "spread": figure.spread,
             "source": self.published.get(row, {}).get(column)}
            for row, columns in self.cells.items()
            for column, figure in columns.items()
        ]  # fmt: skip
        return {
            "name": experiment.name,
            "title": experiment.text.title,
            "source": source["source"],
            "where": source["where"],
            "measure": experiment.text.measure,
            "settings": dict(self.settings),
            "figures": rows,
            "seconds": round(self.seconds, 1),
            "versions": dict(self.versions),
        }


def reproduce_table(
    experiment: Experiment, setting: RunSettings, folder: Path
) -> tuple[Table, bool]:
    """The table, and whether it was run now: one kept in the folder with these settings is not."""
    settings = experiment.settings(setting)
    found = load_table(experiment, folder)
    if found is not None and found.settings == settings:
        return found, False
    start = time.process_time()
    cells = experiment.run(setting)
    table = Table(experiment, settings, cells, time.process_time() - start)
    write_json(table.to_dict(), folder / f"{experiment.name}.json")
    return table, True


def get_published(name: str) -> Mapping[str, Any]:
    """What a source says: ``source``, ``where`` in it, and ``figures`` by row and column."""
    return dict(_facts()["tables"][name])


def get_sources() -> Mapping[str, str]:
    """The sources by key, as one cites them."""
    return dict(_facts()["sources"])


def _facts() -> dict[str, Any]:
    path = files("textrank.reproduce") / "published.json"
    found: dict[str, Any] = load_json(path.read_text("utf-8"), "published.json")
    return found


def load_table(experiment: Experiment, folder: Path) -> Table | None:
    """The table that a folder holds, whatever its settings; None without one."""
    path = folder / f"{experiment.name}.json"
    if not path.exists():
        return None
    data = read_json(path, MAX_UNPACKED_BYTES)
    cells: dict[str, dict[str, Figure]] = {}
    try:
        for row in data["figures"]:
            figure = Figure(row["ours"], row["spread"])
            cells.setdefault(row["row"], {})[row["column"]] = figure
        return Table(experiment, data["settings"], cells, data["seconds"], data["versions"])
    except (TypeError, KeyError) as error:
        raise ValueError(f"{path}: no table of ours ({error!r}). Remove the file.") from None


def _plain(value: Any) -> Any:
    """Text of several lines as one."""
    return " ".join(value.split()) if isinstance(value, str) else value


PAGE_INTRODUCTION = """# The sources' tables, and ours

Written by `textrank reproduce`, figures and all; the JSON files beside this page hold every number.
A cell shows the **source's figure** before the arrow and **ours** behind it, with the spread where
there are several runs; without an arrow, the source has no figure there. Parameters of learners and
kernels are chosen inside each training part, unless a table says otherwise. The set-ups were not
fixed before any figure was seen: after a first look `letor` took relevance in two grades, as the
source words it, instead of three; `auc-estimates` was given a constant feature, without which no
bias showed; `embedding-reuters` took other topics and more articles; and the samples of
`gene-protein`, `gene-protein-kernels`, `word-senses`, `reduced-set`, `locality` and of `ppi`
tables were enlarged. Read those as what can be had, not as a blind trial. Why a figure differs is
our reading; no experiment was made for it.
The tables are short versions of seconds to minutes; where one says so, `--full` takes whole data.
"""


def format_page(tables: Sequence[Table]) -> str:
    """All tables, grouped by their source, with a summary of the time they took."""
    parts = [PAGE_INTRODUCTION]
    for key, cited in get_sources().items():
        own = [t for t in tables if get_published(t.experiment.name)["source"] == key]
        if own:
            parts += [f"## {cited}\n", *(format_section(table) for table in own)]
    seconds = sum(table.seconds for table in tables)
    parts.append(f"All {len(tables)} tables took {seconds / 60:.0f} minutes of one processor.\n")
    return "\n".join(parts)


def format_section(table: Table) -> str:
    """One table with what a reader must know."""
    experiment, words = table.experiment, table.experiment.text
    source = get_published(experiment.name)
    where = f"{source['where']}. " if source["where"] else ""
    lines = [
        f"### {words.title}\n",
        f"`textrank reproduce {experiment.name}` · {where}{words.measure}; ± {words.spread}.\n",
        format_markdown(table),
        f"**What differs.** {words.differs}{_part(table)}\n",
        *_worse(table),
        f"Seed {table.settings['seed']}, {_time(table.seconds)} of one processor.\n",
    ]
    return "\n".join(lines)


def format_markdown(table: Table) -> str:
    """The figures alone, a row for each row of the source."""
    columns = table.columns
    lines = ["| | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    for row in table.rows:
        cells = " | ".join(format_cell(table, row, column) for column in columns)
        lines.append(f"| {row} | {cells} |")
    return "\n".join(lines) + "\n"


def format_cell(table: Table, row: str, column: str) -> str:
    """The source's figure, an arrow, ours."""
    digits = table.experiment.text.digits
    source = table.published.get(row, {}).get(column)
    ours = table.cells.get(row, {}).get(column)
    if source is None and ours is None:
        return ""
    shown = _figure(ours, digits)
    return shown if source is None else f"{source:.{digits}f} → {shown}"


def _figure(figure: Figure | None, digits: int) -> str:
    if figure is None:
        return "–"
    spread = "" if figure.spread is None else f" ±{figure.spread:.{digits}f}"
    return f"**{figure.mean:.{digits}f}**{spread}"


def _part(table: Table) -> str:
    part = table.experiment.text.part
    return f" Here {part}; `--full` takes all." if part and not table.settings["full"] else ""


def _worse(table: Table) -> list[str]:
    """Says where ours are worse, the largest gaps first, and why."""
    found = sorted(table.worse(), key=lambda cell: -abs(cell[2]))
    if not found:
        return []
    digits = table.experiment.text.digits
    shown = [f"{row}, {column} ({gap:+.{digits}f})" for row, column, gap in found[:6]]
    more = f" and {len(found) - 6} more" if len(found) > 6 else ""
    compared = sum(
        len(set(own) & set(table.cells.get(r, {}))) for r, own in table.published.items()
    )
    summary = f"**Ours are worse** in {len(found)} of {compared} cells: {'; '.join(shown)}{more}."
    return [f"{summary} {table.experiment.text.why}".strip() + "\n"]


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


REUTERS = "text/reuters21578.tar.gz"
SMALL = "rank/small-classification.tar.gz"
JESTER = "rank/jester-1.csv.gz"
OHSUMED = "rank/letor3-ohsumed.tar.gz"
MQ2008 = "rank/letor4-mq2008.tar.gz"
JNLPBA = "jnlpba/train.jsonl.gz"
SENSEVAL = "text/senseval.zip"
BROWN = "text/brown.zip"
CRAFT = "treebanks/craft-dev.conllu.gz"
Sample = tuple[Matrix, Vector]


def read_modapte_articles(path: Path) -> list[ReutersArticle]:
    """Articles of the ModApte split, in their order."""
    return [a for a in iter_reuters_articles(path) if a.judged and a.split in ("TRAIN", "TEST")]


def most_frequent_topics(found: list[ReutersArticle], number: int) -> list[str]:
    """The topics with most articles, by name."""
    counts = Counter(topic for article in found for topic in article.topics)
    return sorted(topic for topic, _ in counts.most_common(number))


def fit_tfidf(train: list[str], test: list[str]) -> tuple[SparseMatrix, SparseMatrix]:
    """Unit vectors of words; document frequencies are those of the training texts."""
    words = TfidfVectorizer(sublinear_tf=True, stop_words="english")
    return sp.csr_array(words.fit_transform(train)), sp.csr_array(words.transform(test))


def topic_labels(found: list[ReutersArticle], topic: str) -> Vector:
    """1 for the articles of a topic, -1 for the others."""
    return np.array([1.0 if topic in article.topics else -1.0 for article in found])


def read_letor_parts(path: Path) -> list[tuple[Matrix, Vector, Indices]]:
    """The five parts of a LETOR collection: features, relevance, numbers of queries."""
    names = [name for name, _ in iter_tar_files(path, ".txt")]
    parts = []
    for name in names:
        X, y, queries = read_letor_arrays(path, name)
        parts.append((X, y, np.unique(queries, return_inverse=True)[1]))
    return parts


def read_small_sets(path: Path) -> dict[str, Sample]:
    """The small classification sets by name, with iris and wine of scikit-learn."""
    found = {Path(name).stem: _svm(data) for name, data in iter_tar_files(path, ".svm")}
    vowel = [found.pop(f"vowel-{half}") for half in ("train", "test")]
    found["vowel"] = (np.vstack([x for x, _ in vowel]), np.concatenate([y for _, y in vowel]))
    found["iris"] = load_iris(return_X_y=True)
    found["wine"] = load_wine(return_X_y=True)
    return found


def read_jester(path: Path) -> Matrix:
    """Ratings of users (rows) for the hundred jokes, NaN where there is none."""
    with gzip.open(path, "rt") as stream:
        return np.genfromtxt(io.StringIO(stream.read()), delimiter=",", filling_values=np.nan)


def to_features(X: Matrix | SparseMatrix) -> Features:
    """Columns under their numbers."""
    return Features(
        sp.csr_array(X), FeatureNames.from_iterable([str(i) for i in range(X.shape[1])])
    )


def independent_targets(y: Vector) -> Targets:
    """Every candidate a document and a query of its own."""
    return Targets(y, np.arange(len(y)), np.arange(len(y)))


def _svm(data: bytes) -> Sample:
    X, y = load_svmlight_file(io.BytesIO(data))
    return X.toarray(), y


def iter_brown_docs(path: Path) -> Iterator[Doc]:
    """The files of the Brown corpus as Docs, a sentence a line."""
    nlp = spacy.blank("en")
    quotes = {"``": '"', "''": '"'}
    for name, data in iter_zip_files(path, ""):
        if re.fullmatch(r".*/c[a-r]\d\d", name):
            lines = data.decode("utf-8", errors="replace").splitlines()
            split = [[t.rpartition("/")[0] for t in line.split()] for line in lines]
            text = "\n".join(" ".join(quotes.get(w, w) for w in s) for s in split if s)
            doc = nlp.make_doc(text)
            firsts = {0} | {match.end() for match in re.finditer("\n", text)}
            set_sentence_starts(doc, [token.i for token in doc if token.idx in firsts], final=True)
            doc.user_data["document"] = name[-4:]
            yield doc


def sample_treebank(path: Path, number: int) -> str:
    """So many sentences of 5 to 40 words of every document of a CoNLL-U file, evenly spread."""
    name, found = "", dict[str, list[str]]()
    for block in read_text(path, MAX_UNPACKED_BYTES).split("\n\n"):
        match = re.search(r"^# newdoc id = (.*)$", block, re.MULTILINE)
        name = match[1] if match else name
        if 5 <= len(re.findall(r"^\d+\t", block, re.MULTILINE)) <= 40:
            plain = re.sub(r"^# new.*\n", "", block.strip("\n"), flags=re.MULTILINE)
            found.setdefault(name, []).append(f"# newdoc id = {name}\n{plain}\n\n")
    return "".join("".join(own[:: max(len(own) // number, 1)][:number]) for own in found.values())
