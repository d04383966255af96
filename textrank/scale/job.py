"""Plan of a run: the job, its input files, their slices, and the manifest that records all this.

All values are plain, so that they can be sent to any worker and stored as JSON.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from textrank.config import corpus_paths
from textrank.io import file_checksum, find_input, open_atomic
from textrank.results.schema import FORMATS, TABLES, Format

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)


# Job ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Job:
    """Specification of a run: model, task settings, result folder and file format.

    Attributes
    ----------
    model
        Name of a shipped model, or path of one.
    folder
        Folder of the result.
    nlp
        Name or path of a spaCy pipeline; None takes the shipped one.
    settings
        Changed settings of the task as on the command line, such as ``("task.precision=0.9",)``.
    format
        "parquet" or "jsonl".
    whole
        Whether to parse every sentence. By default only sentences that can contain an answer are
        parsed, which gives the same results.

    Raises
    ------
    ValueError
        If the format is unknown.
    """

    model: str
    folder: str
    nlp: str | None = None
    settings: tuple[str, ...] = ()
    format: Format = "parquet"
    whole: bool = False

    def __post_init__(self) -> None:
        """Make ``settings`` a tuple; raise ValueError for an unknown format."""
        object.__setattr__(self, "settings", tuple(self.settings))
        if self.format not in FORMATS:
            raise ValueError(f"--format must be one of {', '.join(FORMATS)}, got {self.format!r}.")

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values, which ``from_dict`` reads."""
        return {**asdict(self), "settings": list(self.settings)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Job:
        """Build a Job from the values of ``to_dict``; raise TypeError for an unknown key."""
        return cls(**{**values, "settings": tuple(values["settings"])})


# Inputs and slices --------------------------------------------------------------------------------

GZIP_RATIO = 4  # size after unpacking relative to before, about
XML_BYTES_PER_TEXT_BYTE = 5  # in PubMed's files
MAX_SLICE_FILES = 1000  # each costs an open and a close
SLICE_BYTES = 8 << 20  # of text: about 1.2 million words, two minutes of work
ANNOTATION_SUFFIXES = (".ann", ".a1", ".a2")  # of a .txt file with the same name


@dataclass(frozen=True)
class Input:
    """Input file as the manifest records it.

    Attributes
    ----------
    source
        Path as the user gave it.
    path
        Absolute path.
    size, modified
        Size in bytes and modification time in nanoseconds, of the path itself.
    checksum
        SHA-256 (``path_checksum``) of all files that a reader opens for the input
        (``list_read_files``).
    state
        Hash of names, sizes and modification times of these files; "" in older results, whose
        checksum is that of the path alone.
    """

    source: str
    path: str
    size: int
    modified: int
    checksum: str
    state: str = ""


@dataclass(frozen=True)
class Piece:
    """Selection of documents of one input file: those numbered ``first``, ``first + step``, ….

    Attributes
    ----------
    source
        Path of the file as the user gave it.
    input
        Number of the file in the manifest.
    first, step
        Documents whose number modulo ``step`` is ``first`` are included; the first document is 0.
    only
        If not None, exactly the documents with these numbers; other fields do not matter then.
    without
        Numbers of documents to leave out.

    Examples
    --------
    >>> [n for n in range(8) if Piece("a.jsonl", 0, first=1, step=3).wants(n)]
    [1, 4, 7]
    """

    source: str
    input: int
    first: int = 0
    step: int = 1
    only: tuple[int, ...] | None = None
    without: tuple[int, ...] = ()

    def wants(self, number: int) -> bool:
        """Return whether the document with this number, counted from 0, is included.

        If ``only`` is given, it alone decides.
        """
        if self.only is not None:
            return number in self.only
        return number % self.step == self.first and number not in self.without


@dataclass(frozen=True)
class Slice:
    """Unit of work: pieces of input files that a worker processes into one part of the results.

    The part is stored under ``id``.
    """

    pieces: tuple[Piece, ...]

    @property
    def id(self) -> str:
        """Hash of the pieces, 16 hexadecimal digits, which names the part.

        Equal slices have equal ids.
        """
        text = json.dumps(self.to_dict(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def to_dict(self) -> dict[str, Any]:
        """Return the pieces as JSON values, which ``from_dict`` reads."""
        return {"pieces": [asdict(piece) for piece in self.pieces]}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Slice:
        """Build a Slice from the values of ``to_dict``."""
        return cls(tuple(_piece_from_dict(row) for row in values["pieces"]))

    def split_off(self, suspects: Sequence[tuple[int, int]]) -> list[Slice]:
        """Return smaller slices to replace this one, to isolate a document that kills workers.

        The slice itself is not changed.

        Parameters
        ----------
        suspects
            Documents that may be to blame, as pairs ``(index of the piece, number of the
            document)``. If there are none, the pieces are divided into two halves.

        Returns
        -------
        list of Slice
            The first half of the suspects, the second half (one more if their number is odd), and
            the slice without the suspects; empty slices are left out. [] if the slice cannot be
            split: if it is a single document, or if there are no suspects and it has a single
            piece.
        """
        if not suspects:
            return self._halves()
        middle = len(suspects) // 2
        groups = [group for group in (suspects[:middle], suspects[middle:]) if group]
        parts = [self._only(group) for group in groups]
        rest = self._rest(suspects)
        parts += [rest] if rest.pieces else []
        return [] if parts == [self] else parts

    def _halves(self) -> list[Slice]:
        """Return two slices with half of the pieces each, or [] if there is only one piece.

        If the number of pieces is odd, the second slice has one more.
        """
        middle = len(self.pieces) // 2
        return [Slice(self.pieces[:middle]), Slice(self.pieces[middle:])] if middle else []

    def _only(self, suspects: Sequence[tuple[int, int]]) -> Slice:
        """Return a slice of the suspects alone; pieces without a suspect are left out.

        ``suspects`` are pairs of the index of a piece and the number of a document in its file.
        """
        numbers_by_piece: dict[int, list[int]] = {}
        for piece, number in suspects:
            numbers_by_piece.setdefault(piece, []).append(number)
        pieces = [
            replace(self.pieces[p], first=0, step=1, only=tuple(numbers), without=())
            for p, numbers in numbers_by_piece.items()
        ]
        return Slice(tuple(pieces))

    def _rest(self, suspects: Sequence[tuple[int, int]]) -> Slice:
        """Return the slice without the suspects; it has no pieces if nothing is left.

        ``suspects`` are pairs of the index of a piece and the number of a document in its file. A
        piece whose documents are not listed in ``only`` is always kept, with its suspects added to
        ``without``, since it is unknown whether it has other documents.
        """
        rest = []
        for index, piece in enumerate(self.pieces):
            removed = [number for p, number in suspects if p == index]
            if piece.only is None:
                rest.append(replace(piece, without=(*piece.without, *removed)))
            elif remaining := tuple(number for number in piece.only if number not in removed):
                rest.append(replace(piece, only=remaining))
        return Slice(tuple(rest))


def _piece_from_dict(row: Mapping[str, Any]) -> Piece:
    """Build a Piece from the JSON values of ``Slice.to_dict``, with lists made tuples."""
    only = None if row["only"] is None else tuple(row["only"])
    return Piece(**{**row, "only": only, "without": tuple(row["without"])})


def iter_input_files(paths: Iterable[str]) -> Iterator[str]:
    """Iterate over the input files that ``paths`` name, with each folder replaced by its files.

    A folder gives the files of all its levels, sorted by path, except hidden files, files about the
    texts (README, licence, checksums, Markdown) and annotation files next to a text. A folder with
    a ``corpus.cfg`` is one input and yielded itself, but only if ``paths`` names it; below another
    folder its files are yielded one by one, without the cfg, which would name them again. A path
    that does not exist may name a shipped sample (``find_input``). Files are not checked for
    duplicates, and a file named in ``paths`` is always yielded. Raises ValueError for another
    missing path or a folder without input files, when it is reached.
    """
    for text in paths:
        path = find_input(text)
        if not path.exists():
            raise ValueError(f"{path}: no such file or folder. Check the path.")
        if not path.is_dir() or (path / "corpus.cfg").is_file():
            yield str(path)
            continue
        files = sorted(p for p in path.rglob("*") if p.is_file() and not _is_not_text(p, path))
        if not files:
            raise ValueError(f"{path}: no file in this folder.")
        yield from map(str, files)


_ABOUT_FILE = re.compile(
    r"(?i)(?:readme|licen[cs]e|copying|notice|changelog)(?:\.\w+)?|.*\.(?:md|md5|sha\d+)"
    r"|corpus\.cfg"
)


def _is_not_text(file: Path, folder: Path) -> bool:
    """Return whether a file of a folder is hidden, an annotation file, or about the texts.

    A file is hidden if its name, or that of a sub-folder of ``folder`` above it, begins with ".".
    An annotation file has a suffix in ``ANNOTATION_SUFFIXES`` and a text (``.txt``) of the same
    name next to it. Names of files about the texts (README, licences, checksums, ``corpus.cfg``, …)
    match ``_ABOUT_FILE``.
    """
    is_hidden = any(part.startswith(".") for part in file.relative_to(folder).parts)
    is_annotation = file.suffix in ANNOTATION_SUFFIXES and file.with_suffix(".txt").exists()
    return is_hidden or is_annotation or _ABOUT_FILE.fullmatch(file.name) is not None


def describe_input(source: str, inputs_by_path: Mapping[str, Input]) -> Input:
    """Return the record of an input file or folder, with its checksum.

    ``inputs_by_path`` has the inputs recorded earlier, by absolute path. If the names, sizes and
    modification times of all files of the input are those recorded, the files are not read again
    and the recorded Input is returned. An Input without a ``state`` (of an older result) is
    returned if the checksum of the path is the same. Otherwise a new Input is returned, also for a
    recorded file that has changed. ``source`` must exist (FileNotFoundError).
    """
    path = Path(source).resolve()
    old = inputs_by_path.get(str(path))
    files = list_read_files(path)
    state = _hash_state(path, files)
    if old and old.state == state:
        return old
    status = path.stat()
    checksum = path_checksum(path, files)
    if old and not old.state and old.checksum == path_checksum(path):
        return old  # a result of an older textrank, which recorded only this checksum
    return Input(source, str(path), status.st_size, status.st_mtime_ns, checksum, state)


def list_read_files(path: Path) -> list[Path]:
    """Return all files that a reader opens for an input, sorted.

    A change of any of them changes the input. For a folder or a ``.cfg`` file these are all files
    in the folder and below, and those that the cfg names elsewhere. For a text or annotation file
    they are the text and all annotation files of the same name next to it. ``path`` must exist.
    """
    if path.is_dir() or path.suffix == ".cfg":
        folder = path if path.is_dir() else path.parent
        places = {folder, *(place.resolve() for place in corpus_paths(path))}
        files = {file for place in places for file in _walk(place)}
    elif path.suffix in (".txt", *ANNOTATION_SUFFIXES):
        others = (path.with_suffix(suffix) for suffix in (".txt", *ANNOTATION_SUFFIXES))
        files = {path, *(other for other in others if other.is_file())}
    else:
        files = {path}
    return sorted(files)


def _walk(path: Path) -> list[Path]:
    """Return all files in a folder and below it, or ``[path]`` for a file; [] for a missing path.

    The order is undefined.
    """
    return [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]


def _hash_state(path: Path, files: Sequence[Path]) -> str:
    """Return a hash of the names, sizes and modification times of the files of an input.

    ``path`` is the input; names are relative to it, or to its folder if it is a file. The hash
    depends on the order of ``files``, which must exist.
    """
    rows = []
    for file in files:
        status = file.stat()
        rows.append(f"{_relative_name(file, path)} {status.st_size} {status.st_mtime_ns}")
    return hashlib.sha256("\n".join(rows).encode(errors="surrogateescape")).hexdigest()


def _relative_name(file: Path, path: Path) -> str:
    """Return the path of ``file`` relative to ``path``, or to its folder if ``path`` is a file.

    Parts are separated by "/"; the result begins with ".." for a file outside this folder.
    """
    return Path(os.path.relpath(file, path if path.is_dir() else path.parent)).as_posix()


def path_checksum(path: Path, files: Sequence[Path] | None = None) -> str:
    """Return the SHA-256 of a file, or of the names and checksums of several files, in hexadecimal.

    ``files`` are the sorted files that belong to ``path``; None takes ``path`` itself, or all files
    in the folder ``path`` and below it. Names are relative to ``path``, so moving a folder does not
    change its checksum.
    """
    files = sorted(_walk(path)) if files is None else files
    if list(files) == [path]:
        return file_checksum(path)
    lines = [f"{_relative_name(file, path)} {file_checksum(file)}" for file in files]
    return hashlib.sha256("\n".join(lines).encode(errors="surrogateescape")).hexdigest()


def plan_slices(inputs: Mapping[int, Input], size: int = SLICE_BYTES) -> list[Slice]:
    """Divide inputs into slices of about ``size`` bytes of text.

    ``inputs`` maps the number in the manifest to the input. Smaller files are combined in order, at
    most ``MAX_SLICE_FILES`` per slice. A file of at least ``size`` bytes gives n slices, each with
    every n-th document, which may come before the slice of smaller files that precede it. Returns
    [] for no inputs.
    """
    slices: list[Slice] = []
    group: list[Piece] = []
    group_bytes = 0
    for number, file in inputs.items():
        text_bytes = estimate_text_bytes(Path(file.path))
        if text_bytes >= size:
            steps = -(-text_bytes // size)
            pieces = [Piece(file.source, number, first, steps) for first in range(steps)]
            slices += [Slice((piece,)) for piece in pieces]
            continue
        if group and (group_bytes + text_bytes > size or len(group) == MAX_SLICE_FILES):
            slices.append(Slice(tuple(group)))
            group, group_bytes = [], 0
        group.append(Piece(file.source, number))
        group_bytes += text_bytes
    return [*slices, Slice(tuple(group))] if group else slices


def estimate_text_bytes(path: Path) -> int:
    """Estimate from size and suffix how many bytes of text a file or folder holds.

    The size of a file ending in ".gz" is multiplied by ``GZIP_RATIO``; that of XML is divided by
    ``XML_BYTES_PER_TEXT_BYTE``, as most of it is markup. A folder is the sum of all its files. No
    file is opened. ``path`` must exist.
    """
    if path.is_dir():
        return sum(estimate_text_bytes(file) for file in path.rglob("*") if file.is_file())
    size = path.stat().st_size
    name = path.name.lower()
    if name.endswith(".gz"):
        size, name = size * GZIP_RATIO, name.removesuffix(".gz")
    return size // XML_BYTES_PER_TEXT_BYTE if name.endswith((".xml", ".nxml")) else size


# Manifest -----------------------------------------------------------------------------------------

MANIFEST_FILE = "manifest.json"
MANIFEST_FORMAT = 1  # increase it when an older textrank cannot read the new folder
RECORDED_PACKAGES = ("textrank-kernels", "spacy", "numpy", "scipy", "scikit-learn", "pyarrow")


@dataclass(frozen=True)
class Manifest:
    """Content of ``manifest.json``: settings, inputs and planned slices of a result folder.

    Attributes
    ----------
    settings
        Everything the results depend on (``textrank.scale.worker.job_settings``); never changed.
    inputs
        Input files, to which more may be added; slices refer to them by position.
    slices
        Planned units of work.
    versions
        Versions of the packages in ``RECORDED_PACKAGES`` when the result was begun.
    """

    settings: Mapping[str, Any]
    inputs: tuple[Input, ...] = ()
    slices: tuple[Slice, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)

    def write(self, folder: Path) -> None:
        """Write or replace ``manifest.json`` in ``folder``, which must exist, atomically.

        Besides the fields it has ``format`` (``MANIFEST_FORMAT``) and ``columns`` (``TABLES``).
        """
        values = {
            "format": MANIFEST_FORMAT,
            "settings": dict(self.settings),
            "versions": dict(self.versions),
            "columns": TABLES,
            "inputs": [asdict(file) for file in self.inputs],
            "slices": [slice.to_dict() for slice in self.slices],
        }
        with open_atomic(folder / MANIFEST_FILE) as out:
            out.write(json.dumps(values, indent=1, ensure_ascii=False) + "\n")

    @classmethod
    def read(cls, folder: Path) -> Manifest | None:
        """Read the manifest of a folder; return None if there is none.

        Raises ValueError if it is damaged. The folder need not exist. The number of the manifest's
        format is not checked.
        """
        file = folder / MANIFEST_FILE
        try:
            values = json.loads(file.read_text(encoding="utf-8"))
            return cls(
                dict(values["settings"]),
                tuple(Input(**row) for row in values["inputs"]),
                tuple(map(Slice.from_dict, values["slices"])),
                dict(values["versions"]),
            )
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise ValueError(
                f"{file}: damaged ({error}). Restore it, or begin a result in another folder."
            ) from error

    def check_settings(self, settings: Mapping[str, Any], folder: Path) -> None:
        """Raise ValueError if the folder was begun with other settings than these.

        Only the keys of ``settings`` are compared; a key that was not recorded counts as None.
        ``folder`` is only used in the message.
        """
        for key, value in settings.items():
            if (recorded := self.settings.get(key)) != value:
                raise ValueError(
                    f"{folder} was made with another {key.replace('_', ' ')} "
                    f"({_shorten(recorded)}, now {_shorten(value)}). Use the same, or write to "
                    "another folder."
                )

    def add_inputs(self, sources: Sequence[str], size: int = SLICE_BYTES) -> Manifest:
        """Return a new manifest with more inputs and their slices added.

        ``sources`` are files and folders (``iter_input_files``); files that are already recorded
        (by absolute path), or given twice, are skipped. ``size`` is the approximate bytes of text
        per slice. Versions are those of this manifest if it has any, else the installed ones. This
        manifest is not changed, and nothing is written. Raises ValueError if a recorded file has
        changed, a path is missing or a folder has no input files.
        """
        inputs_by_path = {file.path: file for file in self.inputs}
        new: dict[int, Input] = {}
        for source in iter_input_files(sources):
            file = describe_input(source, inputs_by_path)
            recorded = inputs_by_path.get(file.path)
            if recorded is None:
                new[len(self.inputs) + len(new)] = file
                inputs_by_path[file.path] = file
            elif recorded.checksum != file.checksum:
                raise ValueError(
                    f"{source}: has changed since the result was begun. Give the new version "
                    "another name and add it: its documents then replace those of the old one."
                )
        inputs = (*self.inputs, *new.values())
        slices = (*self.slices, *plan_slices(new, size))
        return Manifest(self.settings, inputs, slices, self.versions or installed_versions())


def installed_versions() -> dict[str, str]:
    """Return the version of each of ``RECORDED_PACKAGES`` that is installed, by name."""
    versions = {}
    for package in RECORDED_PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return versions


def _shorten(value: Any) -> str:
    """Return a value as JSON of at most 60 characters; a longer one is cut and ends with "..."."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."
