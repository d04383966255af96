"""What a run applies, in plain values that go to any worker."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from textrank.io import open_atomic
from textrank.results.schema import FORMATS, TABLES, Format

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)


@dataclass(frozen=True)
class Job:
    """A model with its settings, and where and how its answers are written.

    ``model`` and ``nlp`` are names or paths, as on the command line. ``whole`` parses every
    sentence, also those without an answer; the answers are the same.
    """

    model: str
    folder: str
    nlp: str | None = None
    settings: tuple[str, ...] = ()
    format: Format = "parquet"
    whole: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "settings", tuple(self.settings))
        if self.format not in FORMATS:
            raise ValueError(f"--format must be one of {', '.join(FORMATS)}, got {self.format!r}.")

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for the manifest and on the way to a worker."""
        return {**asdict(self), "settings": list(self.settings)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Job:
        """What ``to_dict`` gave."""
        return cls(**{**values, "settings": tuple(values["settings"])})


GZIP_RATIO = 4  # how much larger a packed file is after unpacking, about
XML_BYTES_PER_TEXT_BYTE = 5  # bytes of XML for one byte of text, in PubMed's files
MAX_SLICE_FILES = 1000  # in one slice; each is opened and closed
SLICE_BYTES = 8 << 20  # bytes of text in a slice: about 1.2 million words, two minutes
ANNOTATION_SUFFIXES = (".ann", ".a1", ".a2")  # annotations of a text file of the same name


@dataclass(frozen=True)
class Input:
    """A file to read, as the manifest keeps it."""

    source: str  # as the user wrote it
    path: str  # from the root, so that it is found from anywhere
    size: int
    modified: int
    checksum: str


@dataclass(frozen=True)
class Piece:
    """Some documents of a file: those numbered ``first``, ``first + step`` and so on.

    ``only`` names single ones among them instead, ``without`` leaves some out.

    >>> [n for n in range(8) if Piece("a.jsonl", 0, first=1, step=3).wants(n)]
    [1, 4, 7]
    """

    source: str
    input: int  # number of the file in the manifest
    first: int = 0
    step: int = 1
    only: tuple[int, ...] | None = None
    without: tuple[int, ...] = ()

    def wants(self, number: int) -> bool:
        """Whether the document of this number is meant; the first of a file has number 0."""
        if self.only is not None:
            return number in self.only
        return number % self.step == self.first and number not in self.without

    def halves(self) -> tuple[Piece, Piece]:
        """Two pieces that share nothing and together are this one."""
        if self.only is not None:
            middle = len(self.only) // 2
            return replace(self, only=self.only[:middle]), replace(self, only=self.only[middle:])
        twice = self.step * 2
        return (
            replace(self, step=twice),
            replace(self, step=twice, first=self.first + self.step),
        )


@dataclass(frozen=True)
class Slice:
    """What one task works on and one part holds."""

    pieces: tuple[Piece, ...]

    @property
    def id(self) -> str:
        """A name for its part, the same whenever and wherever it is asked for."""
        text = json.dumps(self.to_dict(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for the manifest and on the way to a worker."""
        return {"pieces": [asdict(piece) for piece in self.pieces]}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Slice:
        """What ``to_dict`` gave."""
        return cls(tuple(_piece(row) for row in values["pieces"]))

    def without(self, suspects: Sequence[tuple[int, int]]) -> list[Slice]:
        """This slice in smaller ones, when something among the suspects kills whoever reads it.

        ``suspects`` are pairs of a piece and a document of it. They are cut in two and the rest is
        a slice of its own; where there are none, the slice is halved. One document alone, or one
        file of which no document was ever reached, cannot be cut: no slice is given.
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
        middle = len(self.pieces) // 2
        return [Slice(self.pieces[:middle]), Slice(self.pieces[middle:])] if middle else []

    def _only(self, suspects: Sequence[tuple[int, int]]) -> Slice:
        found: dict[int, list[int]] = {}
        for piece, number in suspects:
            found.setdefault(piece, []).append(number)
        pieces = [
            replace(self.pieces[p], first=0, step=1, only=tuple(numbers), without=())
            for p, numbers in found.items()
        ]
        return Slice(tuple(pieces))

    def _rest(self, suspects: Sequence[tuple[int, int]]) -> Slice:
        rest = []
        for index, piece in enumerate(self.pieces):
            out = [number for p, number in suspects if p == index]
            if piece.only is None:
                rest.append(replace(piece, without=(*piece.without, *out)))
            elif kept := tuple(number for number in piece.only if number not in out):
                rest.append(replace(piece, only=kept))
        return Slice(tuple(rest))


def _piece(row: Mapping[str, Any]) -> Piece:
    only = None if row["only"] is None else tuple(row["only"])
    return Piece(**{**row, "only": only, "without": tuple(row["without"])})


def iter_input_files(paths: Iterable[str]) -> Iterator[str]:
    """The files that paths stand for: themselves, or all that lie in a folder.

    Hidden ones, and what tells about the texts instead of being one (a README, a licence, a
    checksum), are left out. A folder with a ``corpus.cfg`` is one input, read as its cfg says.
    """
    for text in paths:
        path = Path(text)
        if not path.exists():
            raise ValueError(f"{path}: no such file or folder. Check the path.")
        if not path.is_dir() or (path / "corpus.cfg").is_file():
            yield text
            continue
        files = sorted(p for p in path.rglob("*") if p.is_file() and not _aside(p, path))
        if not files:
            raise ValueError(f"{path}: no file in this folder.")
        yield from map(str, files)


_ABOUT = re.compile(
    r"(?i)(?:readme|licen[cs]e|copying|notice|changelog)(?:\.\w+)?|.*\.(?:md|md5|sha\d+)"
)


def _aside(file: Path, folder: Path) -> bool:
    """Whether a file is none of the texts of its folder."""
    hidden = any(part.startswith(".") for part in file.relative_to(folder).parts)
    beside = file.suffix in ANNOTATION_SUFFIXES and file.with_suffix(".txt").exists()
    return hidden or beside or _ABOUT.fullmatch(file.name) is not None


def describe_input(source: str, known: Mapping[str, Input]) -> Input:
    """The file with its checksum; what was looked at before is not read again.

    As in ``make`` and ``rsync``, a file of the same size and time is taken to be the same.
    """
    path = Path(source).resolve()
    facts = path.stat()
    old = known.get(str(path))
    if old and (old.size, old.modified) == (facts.st_size, facts.st_mtime_ns):
        return old
    return Input(source, str(path), facts.st_size, facts.st_mtime_ns, path_checksum(path))


def path_checksum(path: Path) -> str:
    """SHA-256 of a file, or of all files of a folder with their names."""
    if path.is_file():
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    files = sorted(file for file in path.rglob("*") if file.is_file())
    lines = [f"{file.relative_to(path).as_posix()} {path_checksum(file)}" for file in files]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def plan_slices(inputs: Mapping[int, Input], size: int = SLICE_BYTES) -> list[Slice]:
    """The inputs in slices of about ``size`` bytes of text, in their order."""
    slices: list[Slice] = []
    group: list[Piece] = []
    filled = 0
    for number, file in inputs.items():
        text = estimate_text_bytes(Path(file.path))
        if text >= size:
            steps = -(-text // size)
            pieces = [Piece(file.source, number, first, steps) for first in range(steps)]
            slices += [Slice((piece,)) for piece in pieces]
            continue
        if group and (filled + text > size or len(group) == MAX_SLICE_FILES):
            slices.append(Slice(tuple(group)))
            group, filled = [], 0
        group.append(Piece(file.source, number))
        filled += text
    return [*slices, Slice(tuple(group))] if group else slices


def estimate_text_bytes(path: Path) -> int:
    """How much text a file holds, roughly, by its size and suffix."""
    if path.is_dir():
        return sum(estimate_text_bytes(file) for file in path.rglob("*") if file.is_file())
    size = path.stat().st_size
    name = path.name.lower()
    if name.endswith(".gz"):
        size, name = size * GZIP_RATIO, name.removesuffix(".gz")
    return size // XML_BYTES_PER_TEXT_BYTE if name.endswith((".xml", ".nxml")) else size


MANIFEST_FILE = "manifest.json"
MANIFEST_FORMAT = 1  # rises when an older textrank could not read a new folder
RECORDED_PACKAGES = ("textrank-kernels", "spacy", "numpy", "scipy", "scikit-learn", "pyarrow")


@dataclass(frozen=True)
class Manifest:
    """Settings that may not change, and inputs and slices, to which more may be added."""

    settings: Mapping[str, Any]
    inputs: tuple[Input, ...] = ()
    slices: tuple[Slice, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)

    def write(self, folder: Path) -> None:
        """Puts it into the folder of the result, in place of an older one."""
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
        """That of a folder; None where a run has not begun."""
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
        """Raise where a run with other settings would mix its answers with those here."""
        for key, value in settings.items():
            if (old := self.settings.get(key)) != value:
                raise ValueError(
                    f"{folder} was made with another {key.replace('_', ' ')} ({_short(old)}, now "
                    f"{_short(value)}). Use the same, or write to another folder."
                )

    def add_inputs(self, sources: Sequence[str], size: int = SLICE_BYTES) -> Manifest:
        """With further inputs in slices of their own; known and unchanged ones stay as they are."""
        known = {file.path: file for file in self.inputs}
        new: dict[int, Input] = {}
        for source in iter_input_files(sources):
            file = describe_input(source, known)
            old = known.get(file.path)
            if old is None:
                new[len(self.inputs) + len(new)] = file
                known[file.path] = file
            elif old.checksum != file.checksum:
                raise ValueError(
                    f"{source}: has changed since the result was begun. Give the new version "
                    "another name and add it: its documents then replace those of the old one."
                )
        inputs = (*self.inputs, *new.values())
        slices = (*self.slices, *plan_slices(new, size))
        return Manifest(self.settings, inputs, slices, self.versions or package_versions())


def package_versions() -> dict[str, str]:
    """The versions of what answers depend on, as far as installed."""
    found = {}
    for package in RECORDED_PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."
