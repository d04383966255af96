"""The one table of names; pipelines, corpora and models by name or path."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from confection import Config
from spacy.language import Language
from spacy.tokens import Doc

from textrank.formats.bioc import BioCJSON, BioCXML
from textrank.formats.bionlp import BioNLP
from textrank.formats.brat import Brat
from textrank.formats.columns import Columns
from textrank.formats.conllu import ConllU
from textrank.formats.doc_bin import DocBinFile
from textrank.formats.jats import JATS
from textrank.formats.json_lines import JsonLines
from textrank.formats.letor import Letor
from textrank.formats.plain_text import PlainText
from textrank.formats.ppi_xml import PPIXML
from textrank.formats.pubmed import Medline, PubMedXML
from textrank.formats.pubtator import PubTator
from textrank.formats.reading import READING, Reading
from textrank.formats.reuters import Reuters
from textrank.formats.senseval import Senseval
from textrank.formats.table import reader_for
from textrank.formats.together import Together
from textrank.formats.web_page import HTML
from textrank.io import shipped_folder
from textrank.kernels.algebra import (
    Exponential,
    Gaussian,
    Normalized,
    OnView,
    Polynomial,
    Power,
    Product,
    Scale,
    Sum,
)
from textrank.kernels.all_paths import AllPathsGraph
from textrank.kernels.blocks import Blocks
from textrank.kernels.centred import Centred
from textrank.kernels.combined import CombinedViews
from textrank.kernels.each_view import EachView
from textrank.kernels.label_bag import LabelBag
from textrank.kernels.locality import (
    GapWeighted,
    LocalityConvolution,
    LocalityImproved,
    LocalSum,
    SpectrumKernel,
)
from textrank.kernels.positional import Positional
from textrank.kernels.shortest_path import ShortestPathGraph
from textrank.kernels.similarity import Distance, Similarities
from textrank.kernels.vectors import Linear
from textrank.learners.blockwise import Blockwise
from textrank.learners.cg import SparseRLS
from textrank.learners.document_stage import DocumentStage
from textrank.learners.rankrls import RankRLS
from textrank.learners.ranksvm import RankSVM
from textrank.learners.reduced import ReducedRLS
from textrank.learners.rls import RLS
from textrank.linalg.gram import Blocked
from textrank.model import Model
from textrank.pipeline import Pipeline
from textrank.registries import config_of, register
from textrank.representations.contexts.collocations import Collocations, Tags
from textrank.representations.contexts.transformations import (
    Bag,
    LogScale,
    Mixture,
    PositionTable,
    ScaleFree,
    Sided,
    Smooth,
    Strict,
    Weighting,
    Within,
)
from textrank.representations.contexts.word_positions import WordPositions
from textrank.representations.contexts.word_transformations import (
    CharacterNgrams,
    EqualWords,
    SharedStem,
    SharedTag,
    WordVectorFile,
    WordVectors,
)
from textrank.representations.mentions.beside import Beside
from textrank.representations.mentions.core import Core, Once
from textrank.representations.mentions.facts import Facts
from textrank.representations.mentions.target import Mention, Question
from textrank.representations.pairs.dependency_graph import DependencyGraph
from textrank.representations.pairs.descriptors import PairDescriptors
from textrank.representations.pairs.global_context import GlobalContext
from textrank.representations.pairs.local_context import LocalContext
from textrank.representations.pairs.path_walks import PathWalks
from textrank.representations.pairs.side_words import SideWords
from textrank.representations.pairs.trigger_roles import TriggerRoles
from textrank.representations.parses.arc_features import ArcFeatures
from textrank.representations.parses.arc_votes import ArcVotes
from textrank.representations.parses.graph import ParseGraph
from textrank.representations.parses.sequences import ParseSequences
from textrank.representations.parses.support import ParseSupport
from textrank.representations.views import Views
from textrank.settings import resolved
from textrank.tasks.categorise import Categorise
from textrank.tasks.gene_protein import GeneProtein
from textrank.tasks.identifiers import Identifiers
from textrank.tasks.pair_views import PairViews
from textrank.tasks.parse_ranking import ParseRanking
from textrank.tasks.ppi import PPI
from textrank.tasks.retrieve import Retrieve
from textrank.tasks.spelling import Spelling
from textrank.tasks.statement_views import StatementViews
from textrank.tasks.statements import PPIStatement
from textrank.tasks.wsd import WordSenses
from textrank.view_pipeline import view_pipeline

# A name once published stays: saved models speak it. Its number rises only when a saved model
# would score differently.
TABLE: Mapping[str, Mapping[str, Callable[..., Any]]] = {
    "pipelines": {"pipeline.v1": Pipeline, "views.v1": view_pipeline},
    "tasks": {
        "categorise.v1": Categorise,
        "gene_protein.v1": GeneProtein,
        "identifiers.v1": Identifiers,
        "parse_ranking.v1": ParseRanking,
        "ppi.v1": PPI,
        "ppi_statement.v1": PPIStatement,
        "retrieve.v1": Retrieve,
        "spelling.v1": Spelling,
        "wsd.v1": WordSenses,
    },
    "representations": {
        "arc_features.v1": ArcFeatures,
        "beside.v1": Beside,
        "collocations.v1": Collocations,
        "core.v1": Core,
        "dependency_graph.v1": DependencyGraph,
        "facts.v1": Facts,
        "mention.v1": Mention,
        "once.v1": Once,
        "parse_graph.v1": ParseGraph,
        "global_context.v1": GlobalContext,
        "local_context.v1": LocalContext,
        "pair_descriptors.v1": PairDescriptors,
        "pair_views.v1": PairViews,
        "parse_sequences.v1": ParseSequences,
        "arc_votes.v1": ArcVotes,
        "parse_support.v1": ParseSupport,
        "path_walks.v1": PathWalks,
        "side_words.v1": SideWords,
        "statement_views.v1": StatementViews,
        "trigger_roles.v1": TriggerRoles,
        "question.v1": Question,
        "views.v1": Views,
        "word_positions.v1": WordPositions,
    },
    "transformations": {
        "bag.v1": Bag,
        "character_ngrams.v1": CharacterNgrams,
        "equal_words.v1": EqualWords,
        "log_scale.v1": LogScale,
        "mixture.v1": Mixture,
        "position_table.v1": PositionTable,
        "scale_free.v1": ScaleFree,
        "shared_stem.v1": SharedStem,
        "shared_tag.v1": SharedTag,
        "sided.v1": Sided,
        "smooth.v1": Smooth,
        "strict.v1": Strict,
        "tags.v1": Tags,
        "weighting.v1": Weighting,
        "within.v1": Within,
        "word_vector_file.v1": WordVectorFile,
        "word_vectors.v1": WordVectors,
    },
    "kernels": {
        "all_paths.v1": AllPathsGraph,
        "blocked.v1": Blocked,
        "blocks.v1": Blocks,
        "centred.v1": Centred,
        "combined_views.v1": CombinedViews,
        "distance.v1": Distance,
        "each_view.v1": EachView,
        "exponential.v1": Exponential,
        "gap_weighted.v1": GapWeighted,
        "gaussian.v1": Gaussian,
        "label_bag.v1": LabelBag,
        "linear.v1": Linear,
        "local_sum.v1": LocalSum,
        "locality_convolution.v1": LocalityConvolution,
        "locality_improved.v1": LocalityImproved,
        "normalized.v1": Normalized,
        "on_view.v1": OnView,
        "polynomial.v1": Polynomial,
        "positional.v1": Positional,
        "power.v1": Power,
        "product.v1": Product,
        "scale.v1": Scale,
        "shortest_path.v1": ShortestPathGraph,
        "similarities.v1": Similarities,
        "spectrum.v1": SpectrumKernel,
        "sum.v1": Sum,
    },
    "learners": {
        "blockwise.v1": Blockwise,
        "document_stage.v1": DocumentStage,
        "rankrls.v1": RankRLS,
        "ranksvm.v1": RankSVM,
        "reduced_rls.v1": ReducedRLS,
        "rls.v1": RLS,
        "sparse_rls.v1": SparseRLS,
    },
    "readers": {
        "bioc_json.v1": BioCJSON,
        "bioc_xml.v1": BioCXML,
        "bionlp.v1": BioNLP,
        "brat.v1": Brat,
        "conllu.v1": ConllU,
        "doc_bin.v1": DocBinFile,
        "json_lines.v1": JsonLines,
        "letor.v1": Letor,
        "plain_text.v1": PlainText,
        "ppi_xml.v1": PPIXML,
        "pubmed_xml.v1": PubMedXML,
        "medline.v1": Medline,
        "jats.v1": JATS,
        "columns.v1": Columns,
        "html.v1": HTML,
        "pubtator.v1": PubTator,
        "reuters.v1": Reuters,
        "senseval.v1": Senseval,
        "together.v1": Together,
    },
}

for role, names in TABLE.items():
    for name, cls in names.items():
        register(role, name, cls)


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
