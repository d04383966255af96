"""Experiments that reproduce a published table: settings, results, Markdown page and data sets.

An ``Experiment`` computes the cells of one table; ``reproduce_table`` runs it, unless its result
with the same settings is already stored, and returns a ``Table``. ``published.json`` has the
figures of the papers, ``tables.toml`` the texts. The data sets at the end are shared by several
experiments.
"""

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
from textrank.language.segmentation import set_sentence_starts
from textrank.reports.table import write_json

# Experiments and their tables ---------------------------------------------------------------------

Better: TypeAlias = Literal["higher", "lower", "neither"]
FIGURES_REVISION = 1  # of experiments whose figures never changed


@dataclass(frozen=True)
class Figure:
    """Measured value: mean and standard deviation of several runs.

    ``spread`` None for a single value.
    """

    mean: float
    spread: float | None = None

    @classmethod
    def from_values(cls, values: Sequence[float]) -> Figure:
        """Return the mean and the standard deviation of several runs, rounded to six digits.

        The standard deviation is that of the population (divided by n). The spread of a single
        value is None; without values the mean is NaN.

        >>> Figure.from_values([0.5, 0.7])
        Figure(mean=0.6, spread=0.1)
        """
        mean, spread = float(np.mean(values)), float(np.std(values))
        return cls(round(mean, 6), round(spread, 6) if len(values) > 1 else None)


Cells: TypeAlias = Mapping[str, Mapping[str, Figure]]  # by row and column


@dataclass(frozen=True)
class RunSettings:
    """Settings of a run.

    Attributes
    ----------
    data
        Folder of the research data.
    seed
        Seed of all random numbers.
    full
        Run the full version, which uses all data and takes longer, instead of the short one.
    """

    data: Path
    seed: int = 0
    full: bool = False

    def file(self, name: str) -> Path:
        """Return the path of a data file, ``name`` relative to ``data``.

        Raises ValueError if it is missing.
        """
        path = self.data / name
        if not path.exists():
            raise ValueError(
                f"{path}: no such file, which this table needs. Name the folder of the research "
                "data with --data."
            )
        return path


@dataclass(frozen=True)
class TableText:
    """Explanatory texts of a table, from ``tables.toml``.

    Attributes
    ----------
    measure
        What the figures are.
    spread
        What the standard deviation is taken over.
    differs
        How data and procedure differ from the paper.
    better
        Whether higher or lower figures are better.
    part
        What the short version leaves out; "" if it is complete.
    why
        Why ours are worse, where they are.
    digits
        Decimals to show.
    """

    title: str
    measure: str
    spread: str
    differs: str
    better: Better = "higher"
    part: str = ""
    why: str = ""
    digits: int = 3


@dataclass(frozen=True)
class Experiment:
    """Computation of one published table.

    Attributes
    ----------
    name
        Key in ``published.json`` and ``tables.toml``, and name of the stored result.
    run
        Computes the cells by row and column.
    files
        Data files that are needed, relative to ``RunSettings.data``.
    revision
        Increased when the same settings give other figures, so that stored ones are not used.
    """

    name: str
    run: Callable[[RunSettings], Cells]
    files: Sequence[str] = ()
    revision: int = FIGURES_REVISION

    @property
    def text(self) -> TableText:
        """Texts of the table, read from ``tables.toml``, line breaks replaced by spaces.

        Raises KeyError if the file has no entry of this name.
        """
        tables = tomllib.loads((files("textrank.reproduce") / "tables.toml").read_text("utf-8"))
        return TableText(**{k: _join_lines(v) for k, v in tables[self.name].items()})

    def check(self, run_settings: RunSettings) -> None:
        """Raise ValueError if a data file is missing; call it before long work."""
        for name in self.files:
            run_settings.file(name)

    def settings(self, run_settings: RunSettings) -> dict[str, Any]:
        """Return what the figures depend on: ``seed``, ``full``, ``revision`` and ``files``.

        ``files`` are sizes in bytes by name. ``full`` is False for an experiment without a short
        version, whose two versions are the same. Raises ValueError if a data file is missing.
        """
        sizes = {name: run_settings.file(name).stat().st_size for name in self.files}
        full = run_settings.full and bool(self.text.part)
        return {
            "seed": run_settings.seed,
            "full": full,
            "revision": self.revision,
            "files": sizes,
        }


@dataclass(frozen=True)
class Table:
    """Result of an experiment, with the published figures.

    Attributes
    ----------
    settings
        ``Experiment.settings`` of the run.
    cells
        Our figures by row and column.
    seconds
        Processor time.
    versions
        Versions of the packages used.
    """

    experiment: Experiment
    settings: Mapping[str, Any]
    cells: Cells
    seconds: float
    versions: Mapping[str, str] = field(default_factory=package_versions)

    @property
    def published(self) -> Mapping[str, Mapping[str, float]]:
        """Figures of the paper by row and column; not every cell has one."""
        return get_published(self.experiment.name)["figures"]

    @property
    def rows(self) -> list[str]:
        """Names of all rows, each once: those of the paper first, then others of ours."""
        return list(dict.fromkeys([*self.published, *self.cells]))

    @property
    def columns(self) -> list[str]:
        """Names of all columns, each once: those of the paper first, then others of ours."""
        both = [*self.published.values(), *self.cells.values()]
        return list(dict.fromkeys(column for row in both for column in row))

    def worse(self) -> Iterator[tuple[str, str, float]]:
        """Iterate over row, column and difference (ours minus theirs) where the paper is better.

        Cells are in the order of the paper. Differences of up to 0.0005 count as equal; cells
        without our figure are left out. Nothing is yielded if ``TableText.better`` is "neither".
        """
        sign = {"higher": 1.0, "lower": -1.0, "neither": 0.0}[self.experiment.text.better]
        for row, columns in self.published.items():
            for column, value in columns.items():
                ours = self.cells.get(row, {}).get(column)
                if ours is not None and sign * (ours.mean - value) < -0.5 * 10**-3:
                    yield row, column, ours.mean - value

    def to_dict(self) -> dict[str, Any]:
        """Return the content of the JSON file, which ``load_table`` reads.

        Keys are ``name``, ``title``, ``source``, ``where``, ``measure``, ``settings``, ``figures``,
        ``seconds`` and ``versions``. ``figures`` has one entry per cell of ours with ``row``,
        ``column``, ``ours``, ``spread`` and ``source``, the published figure or None.
        """
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
    experiment: Experiment, run_settings: RunSettings, folder: Path
) -> tuple[Table, bool]:
    """Return the table of an experiment, and whether it was computed now.

    A table stored in ``folder``, which must exist, with the same settings is returned as it is;
    otherwise the experiment runs and its result is stored there as ``<name>.json``, replacing an
    older one. Raises ValueError if a data file is missing or the stored file is not a table.
    """
    settings = experiment.settings(run_settings)
    stored = load_table(experiment, folder)
    if stored is not None and stored.settings == settings:
        return stored, False
    start = time.process_time()
    cells = experiment.run(run_settings)
    table = Table(experiment, settings, cells, time.process_time() - start)
    write_json(table.to_dict(), folder / f"{experiment.name}.json")
    return table, True


def get_published(name: str) -> Mapping[str, Any]:
    """Return the ``source`` of a table, ``where`` in it, and ``figures`` by row and column.

    ``source`` is a key of ``get_sources``. Raises KeyError for an unknown table.
    """
    return dict(_load_published_file()["tables"][name])


def get_sources() -> Mapping[str, str]:
    """Return the citation of each paper by key, in the order of the page."""
    return dict(_load_published_file()["sources"])


def get_not_reproduced(source: str) -> Sequence[tuple[str, str]]:
    """Return the tables and figures of a paper that have no counterpart here, each with a reason.

    ``source`` is a key of ``get_sources``; the result is empty if everything was reproduced.
    """
    return [
        (where, reason)
        for where, reason in _load_published_file()["not_reproduced"].get(source, [])
    ]


def _load_published_file() -> dict[str, Any]:
    """Return the content of ``published.json``, which is shipped with the package."""
    path = files("textrank.reproduce") / "published.json"
    content: dict[str, Any] = load_json(path.read_text("utf-8"), "published.json")
    return content


def load_table(experiment: Experiment, folder: Path) -> Table | None:
    """Return the stored table of an experiment, whatever its settings; None if there is none.

    The file is ``<name of the experiment>.json`` in ``folder``. Published figures in it are not
    read. Raises ValueError if the file is not such a table.
    """
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
        raise ValueError(
            f"{path}: not a table of textrank reproduce ({error!r}). Remove the file."
        ) from None


def _join_lines(value: Any) -> Any:
    """Return a string with every run of white space as one space; other values unchanged."""
    return " ".join(value.split()) if isinstance(value, str) else value


# Markdown page ------------------------------------------------------------------------------------

PAGE_INTRODUCTION = """# Reproduced tables

This page is written by `textrank reproduce`; the JSON files next to it hold every number.
A cell shows the **published figure**, an arrow, and **ours**, with the standard deviation if there
are several runs. Without an arrow there is no published figure. Parameters of learners and kernels
are chosen inside each training set, unless a table says otherwise.

The set-ups were not fixed before any figure was seen. After a first look, `letor` got two grades of
relevance, as in the paper, instead of three; `auc-estimates` got a constant feature, without which
no bias showed; `embedding-reuters` got other topics and more articles; RankSVM in `jester` got the
hinge loss of the paper after both losses had been tried; and the samples of `gene-protein`,
`gene-protein-kernels`, `word-senses`, `reduced-set`, `locality` and of the `ppi` tables were
enlarged. So read these tables as attainable figures, not as a blind trial. Reasons given for
differences are our interpretation; they were not tested.

The tables are short versions that take seconds to minutes; where noted, `--full` uses all data.
"""


def format_page(tables: Sequence[Table]) -> str:
    """Return the Markdown page of all tables, grouped by paper, with the total processor time.

    Papers are in the order of ``get_sources``, tables of a paper in the given order, then what was
    not reproduced of it; papers without a table are left out.
    """
    parts = [PAGE_INTRODUCTION]
    for key, citation in get_sources().items():
        source_tables = [t for t in tables if get_published(t.experiment.name)["source"] == key]
        if source_tables:
            parts += [f"## {citation}\n", *(format_section(table) for table in source_tables)]
            parts += _format_not_reproduced(get_not_reproduced(key))
    seconds = sum(table.seconds for table in tables)
    parts.append(f"All {len(tables)} tables took {seconds / 60:.0f} minutes of one processor.\n")
    return "\n".join(parts)


def _format_not_reproduced(items: Sequence[tuple[str, str]]) -> list[str]:
    """Return a Markdown section with one item per missing table; [] without items."""
    if not items:
        return []
    lines = [f"- {where}: {reason}" for where, reason in items]
    return ["### Not reproduced\n", *lines, ""]


def format_section(table: Table) -> str:
    """Return the Markdown section of one table: figures, what differs from the paper, and reasons.

    It begins with the title, the command and the source, and ends with seed and processor time. The
    reasons are there only if some of our figures are worse (``Table.worse``).
    """
    experiment, text = table.experiment, table.experiment.text
    source = get_published(experiment.name)
    where = f"{source['where']}. " if source["where"] else ""
    lines = [
        f"### {text.title}\n",
        f"`textrank reproduce {experiment.name}` · {where}{text.measure}; ± {text.spread}.\n",
        format_markdown(table),
        f"**What differs.** {text.differs}{_partial_note(table)}\n",
        *_worse_note(table),
        f"Seed {table.settings['seed']}, {_format_seconds(table.seconds)} of one processor.\n",
    ]
    return "\n".join(lines)


def format_markdown(table: Table) -> str:
    """Return the figures as a Markdown table, one line per entry of ``Table.rows``.

    Columns are those of ``Table.columns``. A cell is "published → ours", only ours if nothing is
    published, and empty without both.
    """
    columns = table.columns
    lines = ["| | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    for row in table.rows:
        cells = " | ".join(format_cell(table, row, column) for column in columns)
        lines.append(f"| {row} | {cells} |")
    return "\n".join(lines) + "\n"


def format_cell(table: Table, row: str, column: str) -> str:
    """Return "published → ours" for a cell, only ours if nothing is published, "" for neither.

    Ours is a dash where only the paper has a figure.
    """
    digits = table.experiment.text.digits
    source = table.published.get(row, {}).get(column)
    ours = table.cells.get(row, {}).get(column)
    if source is None and ours is None:
        return ""
    formatted = _format_figure(ours, digits)
    return formatted if source is None else f"{source:.{digits}f} → {formatted}"


def _format_figure(figure: Figure | None, digits: int) -> str:
    """Return a mean in bold, with "±" and the standard deviation if there is one.

    A dash for None.
    """
    if figure is None:
        return "–"
    spread = "" if figure.spread is None else f" ±{figure.spread:.{digits}f}"
    return f"**{figure.mean:.{digits}f}**{spread}"


def _partial_note(table: Table) -> str:
    """Return a sentence about what the short version leaves out, with a space before it.

    "" for the full version, or if nothing is left out.
    """
    part = table.experiment.text.part
    return f" Here {part}; `--full` takes all." if part and not table.settings["full"] else ""


def _worse_note(table: Table) -> list[str]:
    """Return a paragraph about the cells where ours are worse, in a list; [] if there are none.

    The six largest gaps are listed, largest first, with the reason of the table's texts (``why``).
    """
    gaps = sorted(table.worse(), key=lambda cell: -abs(cell[2]))
    if not gaps:
        return []
    digits = table.experiment.text.digits
    largest = [f"{row}, {column} ({gap:+.{digits}f})" for row, column, gap in gaps[:6]]
    more = f" and {len(gaps) - 6} more" if len(gaps) > 6 else ""
    compared = sum(
        len(set(columns) & set(table.cells.get(r, {}))) for r, columns in table.published.items()
    )
    summary = f"**Ours are worse** in {len(gaps)} of {compared} cells: {'; '.join(largest)}{more}."
    return [f"{summary} {table.experiment.text.why}".strip() + "\n"]


def _format_seconds(seconds: float) -> str:
    """Return a time rounded to seconds, or to minutes from 100 seconds on."""
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


# Data sets ----------------------------------------------------------------------------------------

REUTERS = "text/reuters21578.tar.gz"
SMALL_SETS = "rank/small-classification.tar.gz"
JESTER = "rank/jester-1.csv.gz"
OHSUMED = "rank/letor3-ohsumed.tar.gz"
MQ2008 = "rank/letor4-mq2008.tar.gz"
JNLPBA = "jnlpba/train.jsonl.gz"
SENSEVAL = "text/senseval.zip"
BROWN = "text/brown.zip"
CRAFT = "treebanks/craft-dev.conllu.gz"
GENIA = "treebanks/genia-sd-dev.conllu.gz"
Sample = tuple[Matrix, Vector]


def read_modapte_articles(path: Path) -> list[ReutersArticle]:
    """Return the judged articles of the ModApte split, training and test, in file order.

    ``path`` is the tar archive of Reuters-21578.
    """
    return [a for a in iter_reuters_articles(path) if a.judged and a.split in ("TRAIN", "TEST")]


def most_frequent_topics(articles: list[ReutersArticle], number: int) -> list[str]:
    """Return the ``number`` topics with the most articles, sorted by name.

    Fewer if there are fewer; of topics with as many articles, those that occur first are taken.
    """
    counts = Counter(topic for article in articles for topic in article.topics)
    return sorted(topic for topic, _ in counts.most_common(number))


def fit_tfidf(train: list[str], test: list[str]) -> tuple[SparseMatrix, SparseMatrix]:
    """Return tf-idf vectors of training and test texts, one row per text, of unit length.

    Vocabulary and document frequencies are those of the training texts, without English stop words;
    other words of test texts are ignored. Term frequencies are logarithmic. A text without known
    words is a row of zeros.
    """
    vectorizer = TfidfVectorizer(sublinear_tf=True, stop_words="english")
    return sp.csr_array(vectorizer.fit_transform(train)), sp.csr_array(vectorizer.transform(test))


def topic_labels(articles: list[ReutersArticle], topic: str) -> Vector:
    """Return 1.0 for articles that have the topic and -1.0 for the others, (articles,)."""
    return np.array([1.0 if topic in article.topics else -1.0 for article in articles])


def read_letor_parts(path: Path) -> list[tuple[Matrix, Vector, Indices]]:
    """Return features, relevance and query numbers of each part of a LETOR collection.

    ``path`` is a tar archive with one ``.txt`` file per part; parts are in the order of the
    archive. Features have one row per document. Query numbers are consecutive from 0 within each
    part, so two parts use the same ones.
    """
    names = [name for name, _ in iter_tar_files(path, ".txt")]
    parts = []
    for name in names:
        X, y, queries = read_letor_arrays(path, name)
        parts.append((X, y, np.unique(queries, return_inverse=True)[1]))
    return parts


def read_small_sets(path: Path) -> dict[str, Sample]:
    """Return features and labels (X, y) of the small classification sets by name.

    ``path`` is a tar archive of svmlight files (``name.svm``). The two halves of vowel are joined;
    iris and wine come from scikit-learn. Labels are as in the files: -1 and 1, or class numbers.
    Raises KeyError if a half of vowel is missing.
    """
    sets = {Path(name).stem: _parse_svmlight(data) for name, data in iter_tar_files(path, ".svm")}
    vowel = [sets.pop(f"vowel-{half}") for half in ("train", "test")]
    sets["vowel"] = (np.vstack([x for x, _ in vowel]), np.concatenate([y for _, y in vowel]))
    sets["iris"] = load_iris(return_X_y=True)
    sets["wine"] = load_wine(return_X_y=True)
    return sets


def read_jester(path: Path) -> Matrix:
    """Return the ratings of users (rows) for the hundred jokes (columns), NaN where there is none.

    ``path`` is a CSV file compressed with gzip, without a header; empty fields are missing ratings.
    """
    with gzip.open(path, "rt") as stream:
        return np.genfromtxt(io.StringIO(stream.read()), delimiter=",", filling_values=np.nan)


def to_features(X: Matrix | SparseMatrix) -> Features:
    """Return a matrix as sparse Features, with columns named by their number from "0"."""
    return Features(
        sp.csr_array(X), FeatureNames.from_iterable([str(i) for i in range(X.shape[1])])
    )


def independent_targets(y: Vector) -> Targets:
    """Return Targets of y in which every candidate is a document and a query of its own."""
    return Targets(y, np.arange(len(y)), np.arange(len(y)))


def _parse_svmlight(data: bytes) -> Sample:
    """Return the dense features and labels in bytes of the svmlight format."""
    X, y = load_svmlight_file(io.BytesIO(data))
    return X.toarray(), y


def iter_brown_docs(path: Path) -> Iterator[Doc]:
    """Iterate over the files of the Brown corpus as Docs, one sentence per line.

    ``path`` is a zip archive; only files named like "ca01" are read, in its order. Tags are
    removed, quotes are made plain, and empty lines dropped. A sentence begins at each line and
    nowhere else; the file name becomes the document id.
    """
    nlp = spacy.blank("en")
    quotes = {"``": '"', "''": '"'}
    for name, data in iter_zip_files(path, ""):
        if re.fullmatch(r".*/c[a-r]\d\d", name):
            lines = data.decode("utf-8", errors="replace").splitlines()
            sentences = [[t.rpartition("/")[0] for t in line.split()] for line in lines]
            text = "\n".join(" ".join(quotes.get(w, w) for w in s) for s in sentences if s)
            doc = nlp.make_doc(text)
            sentence_starts = {0} | {match.end() for match in re.finditer("\n", text)}
            set_sentence_starts(
                doc, [token.i for token in doc if token.idx in sentence_starts], final=True
            )
            doc.user_data["document"] = name[-4:]
            yield doc


def sample_treebank(path: Path, number: int) -> str:
    """Return CoNLL-U text with at most ``number`` evenly spread sentences of every document.

    Only sentences of 5 to 40 words are taken, in file order; ``number`` is at least 1. Each begins
    with its "# newdoc id" line. A document begins with such a line or with another "# pmid" than
    before; its parts are put together if its id comes again later.
    """
    name, sentences_by_document = "", dict[str, list[str]]()
    for block in read_text(path, MAX_UNPACKED_BYTES).split("\n\n"):
        match = re.search(r"^# (?:newdoc id|pmid) = (.*)$", block, re.MULTILINE)
        name = match[1] if match else name
        if 5 <= len(re.findall(r"^\d+\t", block, re.MULTILINE)) <= 40:
            sentence = re.sub(r"^# new.*\n", "", block.strip("\n"), flags=re.MULTILINE)
            sentences_by_document.setdefault(name, []).append(
                f"# newdoc id = {name}\n{sentence}\n\n"
            )
    return "".join(
        "".join(sentences[:: max(len(sentences) // number, 1)][:number])
        for sentences in sentences_by_document.values()
    )
