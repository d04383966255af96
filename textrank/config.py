"""Load pipelines, corpora and models by name or path."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from confection import Config

from textrank.io import shipped_folder
from textrank.registries import config_of
from textrank.settings import resolved

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

    from textrank.model import Model
    from textrank.pipeline import Pipeline


@dataclass(frozen=True)
class NamedCorpus:
    """A corpus with the name its folds and reports know it by."""

    name: str
    reader: Callable[[Language], Iterator[Doc]]

    def __call__(self, nlp: Language) -> Iterator[Doc]:
        return self.reader(nlp)


def load_pipeline(name: str | Path, settings: Mapping[str, Any] | None = None) -> Pipeline:
    """A shipped pipeline by name, or any by the path of its cfg; ``settings`` override values.

    >>> load_pipeline("ppi", {"learner.alphas": [1.0]}).learner.alphas
    (1.0,)
    """
    from textrank.pipeline import Pipeline

    path = _shipped("pipelines", f"{name}.cfg") or Path(name)
    if path.suffix != ".cfg":
        raise ValueError(
            f"no pipeline {str(name)!r}: neither shipped ({', '.join(pipeline_names())}) nor the "
            "path of a .cfg file."
        )
    overrides = {f"pipeline.{key}": value for key, value in (settings or {}).items()}
    found = resolved(path, "pipeline", overrides, spelt=_spelt)
    if not isinstance(found, Pipeline):
        raise ValueError(f"{path}: [pipeline] is a {type(found).__name__}, not a pipeline.")
    return found


def _spelt(pipeline: Any) -> dict[str, Any]:
    return {"pipeline": config_of(pipeline)}


def dump_pipeline(pipeline: Pipeline) -> str:
    """Any pipeline as the text of a cfg; loading it gives an equal pipeline."""
    return Config({"pipeline": config_of(pipeline)}).to_str()


def load_corpus(
    path: str | Path, *, limit: int | None = None, skip_bad: bool = False
) -> NamedCorpus:
    """A corpus by its folder with a ``corpus.cfg``, by that cfg, or by a data file.

    ``limit`` is how many bytes may be held at once, of a document or a packed file; ``skip_bad``
    leaves out documents with errors. Both go before what the cfg says.

    >>> import spacy
    >>> len(list(load_corpus("corpora/sample-ppi")(spacy.blank("en"))))
    50
    """
    from textrank.formats.reading import READING, Reading
    from textrank.formats.table import reader_for

    path = Path(path)
    asked = Reading(limit, skip_bad) if limit or skip_bad else READING.get()
    if not path.exists():
        raise ValueError(f"{path}: no such file or folder. Check the path of the corpus.")
    cfg = path / "corpus.cfg" if path.is_dir() else path
    if cfg.suffix == ".cfg" and cfg.is_file():
        bound = _bound(resolved(cfg, "corpus", {}), cfg)
        if not callable(bound):
            raise ValueError(f"{cfg}: [corpus] is no reader. Name one by @readers.")
        return NamedCorpus(cfg.absolute().parent.name, asked.applied(bound))
    stem = path.name if path.is_dir() else Path(path.name.removesuffix(".gz")).stem
    return NamedCorpus(stem, asked.applied(reader_for(path)))


def load_model(name: str | Path) -> Model:
    """A shipped model by name, or any by the path of its folder.

    >>> load_model("ppi").pipeline.task.name
    'ppi'
    """
    from textrank.model import Model

    shipped = _shipped("models", str(name), "meta.json")
    return Model.from_disk(shipped.parent if shipped else Path(name))


def pipeline_names() -> list[str]:
    """The pipelines that ship with textrank."""
    return sorted(p.name.removesuffix(".cfg") for p in shipped_folder("pipelines").glob("*.cfg"))


def model_names() -> list[str]:
    """The task models that ship with textrank."""
    return sorted(p.parent.name for p in shipped_folder("models").glob("*/arrays.npz"))


def _bound(reader: Any, cfg: Path) -> Any:
    """The reader with its paths, which a cfg gives relative to itself, made whole."""
    from textrank.formats.together import Together

    if isinstance(reader, Together):
        return Together({name: _bound(part, cfg) for name, part in reader.corpora.items()})
    if is_dataclass(reader) and any(field.name == "path" for field in fields(reader)):
        settings: Any = reader
        _check_reader(settings, cfg)
        return replace(settings, path=str(cfg.parent / settings.path))
    return reader


def _check_reader(reader: Any, cfg: Path) -> None:
    """Raises where a cfg gives a path or a limit that the system would stumble over."""
    given = asdict(reader)
    path, limit = given["path"], given.get("limit", 1)
    if not isinstance(path, str) or not _whole(path):
        raise ValueError(f"{cfg}: [corpus] path {path!r} is no path. Write it in whole letters.")
    if isinstance(limit, bool) or not isinstance(limit, int) or not 0 < limit < 1 << 62:
        raise ValueError(f"{cfg}: [corpus] limit must be a number of bytes, got {limit!r:.40}.")


def _whole(path: str) -> bool:
    """Whether a system can name a file so: no NUL, no half of a surrogate pair."""
    return not any(letter == "\0" or "\ud800" <= letter <= "\udfff" for letter in path)


def _shipped(kind: str, *parts: str) -> Path | None:
    path = shipped_folder(kind).joinpath(*parts)
    inside = all(Path(part).name == part for part in parts)
    return path if inside and path.is_file() else None
