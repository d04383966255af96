"""Train and score the shipped language pipeline.

``python -m workshop.language_pipeline DATA OUT``
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import srsly
import typer
from spacy.language import Language
from workshop.component_training import (
    RECOGNIZERS,
    build_lemma_tables,
    retrain_evidence,
    train_names,
    train_syntax,
)
from workshop.evaluate import evaluate
from workshop.name_kinds import KIND_FILES, read_kinds
from workshop.networks import Settings, add_names, add_syntax, assemble, blank_nlp, get_state
from workshop.prepare import (
    EVENT_CORPORA,
    PPI_CORPORA,
    NameDocs,
    Treebank,
    read_bc2gm,
    read_craft_train,
    read_events,
    read_jnlpba,
    read_treebank,
)
from workshop.self_training import sample_pubmed_sentences
from workshop.word_table import SPECIES, build_word_table

from textrank.language.load import SHIPPED_PIPELINE

SYNTAX_SETTINGS = Settings(epochs=6)
NAME_SETTINGS = Settings(epochs=7, words=800, dropout=0.3, rows=4000, vectors=64, evidence=39)
N_UNLABELLED = 24_000  # sentences of PubMed for self-training
INPUT_FILES = (
    *(f"treebanks/craft-{part}.conllu.gz" for part in ("train", "dev")),
    *(f"treebanks/genia-constituency-{part}.jsonl.gz" for part in ("train", "dev", "future_use")),
    *(f"treebanks/genia-{kind}-{part}.conllu.gz" for kind in ("sd", "ud1")
      for part in ("dev", "future_use")),
    *(f"ner/bc2gm-{part}.tsv.gz" for part in ("train", "devel")),
    *(f"ner/bc2gm-{part}-alternatives.tar.gz" for part in ("train", "devel")),
    *(f"events/{name}.tar.gz" for name in EVENT_CORPORA),
    *KIND_FILES.values(),
    *(f"ids/ncbi-{species}.tsv.gz" for species in SPECIES),
    "ids/famplex-grounding_map.csv.gz",
    "pubmed/mixed-00000.jsonl.gz",
    *(f"ppi/{corpus}.xml.gz" for corpus in PPI_CORPORA),
    "jnlpba/train.jsonl.gz",
)  # fmt: skip
SOURCES = [
    {"name": "CRAFT, train part", "license": "CC BY 3.0", "author": "Verspoor et al. 2012"},
    {"name": "GENIA treebank", "license": "CC BY 3.0", "author": "Tateisi et al. 2005"},
    {"name": "JNLPBA 2004, train part", "license": "CC BY 3.0", "author": "Kim et al. 2004"},
    {"name": "BC2GM, train part", "license": "CC BY 4.0", "author": "Smith et al. 2008"},
    {"name": "BioNLP-ST 2013 GE (names)", "license": "CC BY 3.0", "author": "Kim et al. 2013"},
    {"name": "BioNLP-ST 2011 EPI (names)", "license": "CC BY 3.0", "author": "Ohta et al. 2011"},
    {"name": "NLM-Gene, train part", "license": "CC0", "author": "Islamaj et al. 2021"},
    {"name": "GNormPlus, train part", "license": "public domain", "author": "Wei et al. 2015"},
    {"name": "BioRED, train part (names)", "license": "public domain", "author": "Luo et al. 2022"},
    {"name": "NCBI Gene (symbols)", "license": "public domain", "author": "NCBI"},
    {"name": "FamPlex (families)", "license": "CC0", "author": "Bachman et al. 2018"},
    {"name": "spacy-lookups-data (lemmas)", "license": "MIT", "author": "Explosion"},
]  # fmt: skip


def build(
    data: Path,
    *,
    syntax: Settings = SYNTAX_SETTINGS,
    names: Settings = NAME_SETTINGS,
    keep: Path | None = None,
    keep_names: Path | None = None,
) -> Language:
    """Train and score the pipeline on the corpora in ``data``; return it with scores in its meta.

    Tagger and parser are trained in one process, the entity recognisers in another.

    Parameters
    ----------
    data
        Folder that has INPUT_FILES; FileNotFoundError is raised if some are missing.
    syntax, names
        Settings of the two networks.
    keep
        Folder of an earlier pipeline, whose tagger and parser are taken instead of training.
    keep_names
        Folder of an earlier pipeline, whose network of names and recognisers "genes" and "ner" are
        taken; evidence, "proteins" and "kinds" are trained.
    """
    missing = [name for name in INPUT_FILES if not (data / name).is_file()]
    if missing:
        raise FileNotFoundError(
            f"{data} lacks {', '.join(missing)}; models/README.md names the data"
        )
    kept_syntax = None if keep is None else read_syntax(keep, syntax)
    with ProcessPoolExecutor(2) as pool:
        syntax_result: Future[Any] = pool.submit(
            _train_syntax_part, data, None if kept_syntax else syntax
        )
        names_result = pool.submit(_train_names_part, data, names, keep_names)
        (trained_syntax, treebank), trained_names = syntax_result.result(), names_result.result()
    syntax_half = kept_syntax or trained_syntax
    state = {**syntax_half.state, **trained_names}
    # A copy is scored: the vocabulary of the pipeline must not collect words of the test data.
    scored = assemble(state, syntax_half.tables, syntax, names)
    nlp = assemble(state, syntax_half.tables, syntax, names)
    scores = evaluate(scored, treebank, read_names(data), data)
    set_meta(nlp, scores, {**syntax_half.training, "names": asdict(names)})
    return nlp


@dataclass(frozen=True)
class TrainedSyntax:
    """Weights of tagger and parser, the tables of lemmas, and the settings of training."""

    state: Mapping[str, bytes]
    tables: Mapping[str, Any]
    training: Mapping[str, Any]


def read_syntax(folder: Path, settings: Settings) -> TrainedSyntax:
    """Read tagger, parser and lemmas of the pipeline in ``folder``.

    Raises ValueError if it is not a pipeline of this command.
    """
    nlp = blank_nlp()
    add_syntax(nlp, settings)
    try:
        training = {
            key: value
            for key, value in srsly.read_json(folder / "meta.json")["training"].items()
            if key != "names"
        }
        tables = srsly.msgpack_loads((folder / "morphology" / "tables.msgpack").read_bytes())
        learned = _read_components(nlp, folder, nlp.pipe_names)
    except (OSError, KeyError, ValueError) as error:
        raise ValueError(
            f"{folder} holds no pipeline of this command, whose tagger and parser could be kept: "
            f"{error}"
        ) from error
    return TrainedSyntax(learned, tables, training)


def read_recognizers(folder: Path, settings: Settings) -> dict[str, bytes]:
    """Read the network of names and RECOGNIZERS of the pipeline in ``folder``.

    Raises ValueError if it is not a pipeline of this command.
    """
    nlp = blank_nlp()
    add_names(nlp, settings)
    try:
        return _read_components(nlp, folder, ["names_tok2vec", *RECOGNIZERS])
    except (OSError, KeyError, ValueError) as error:
        raise ValueError(
            f"{folder} holds no pipeline of this command, whose names could be kept: {error}"
        ) from error


def _read_components(nlp: Language, folder: Path, names: Sequence[str]) -> dict[str, bytes]:
    """Return the weights of these components of the pipeline in ``folder``."""
    for name in names:
        component: Any = nlp.get_pipe(name)
        component.from_disk(folder / name, exclude=["vocab"])
    return get_state(nlp, names)


def read_names(data: Path) -> dict[str, NameDocs]:
    """Read the training data of each entity recogniser."""
    vocab = blank_nlp().vocab
    return {
        "genes": read_bc2gm(data, vocab),
        "ner": read_jnlpba(data, vocab),
        "proteins": read_events(data, vocab),
    }


def _train_syntax_part(
    data: Path, settings: Settings | None
) -> tuple[TrainedSyntax | None, Treebank]:
    """Read the treebanks, and train tagger and parser unless ``settings`` is None."""
    treebank = read_treebank(data)
    if settings is None:
        return None, treebank
    learned = train_syntax(treebank.train, settings, _make_reporter("tagger and parser"))
    return TrainedSyntax(
        learned, build_lemma_tables(treebank), {"syntax": asdict(settings)}
    ), treebank


def _train_names_part(data: Path, settings: Settings, keep: Path | None) -> dict[str, bytes]:
    """Train the entity recognisers and return their weights.

    With ``keep``, network, "genes" and "ner" are taken from that pipeline.
    """
    corpora = read_names(data)
    unlabelled = sample_pubmed_sentences(data, N_UNLABELLED, settings.seed)
    kinds = read_kinds(data, blank_nlp().vocab)
    if keep is not None:
        kept_weights = read_recognizers(keep, settings)
        return retrain_evidence(
            kept_weights, corpora, unlabelled, settings, _make_reporter("names"), kinds=kinds
        )
    texts = [
        [t.text for t in doc if not t.is_space]
        for corpus in corpora.values()
        for doc in corpus.train
    ]
    table = build_word_table(data, texts, settings.vectors, settings.seed)
    tagged = read_craft_train(data)
    return train_names(
        corpora, tagged, table, unlabelled, settings, _make_reporter("names"), kinds=kinds
    )


def _make_reporter(what: str) -> Callable[[str], None]:
    """Return a function that prints a message with the time and ``what``."""
    return lambda message: typer.echo(f"{datetime.now(UTC):%H:%M:%S} {what}: {message}")


def set_meta(
    nlp: Language, scores: dict[str, dict[str, float]], training: Mapping[str, Any]
) -> None:
    """Write name, licence, sources, settings and scores to the meta of a pipeline, in place."""
    nlp.meta.update(
        name=SHIPPED_PIPELINE.removeprefix("en_"),
        version="0.1.0",
        description="English biomedical text: tags, dependencies, lemmas, names.",
        author="The textrank developers",
        license="CC BY 4.0",
        sources=SOURCES,
        performance=scores,
        training=dict(training),
        versions={"spacy": version("spacy"), "thinc": version("thinc"),
                  "scikit-learn": version("scikit-learn")},
        requirements=["textrank-kernels"],
    )  # fmt: skip


def main(
    data: Annotated[Path, typer.Argument(help="folder with treebanks/, jnlpba/, ner/ and ppi/")],
    out: Annotated[Path, typer.Argument(help="folder the pipeline is written to")],
    syntax_epochs: Annotated[
        int, typer.Option(help="runs through the treebanks")
    ] = SYNTAX_SETTINGS.epochs,
    names_epochs: Annotated[
        int, typer.Option(help="runs through the names")
    ] = NAME_SETTINGS.epochs,
    keep: Annotated[
        Path | None, typer.Option(help="earlier pipeline whose tagger and parser are kept")
    ] = None,
    keep_names: Annotated[
        Path | None, typer.Option(help="earlier pipeline whose names are kept, proteins aside")
    ] = None,
) -> None:
    """Train the biomedical pipeline, score it on held-out data, and write it."""
    syntax = replace(SYNTAX_SETTINGS, epochs=syntax_epochs)
    names = replace(NAME_SETTINGS, epochs=names_epochs)
    try:
        out.mkdir(parents=True, exist_ok=True)  # before hours of work, not after
        nlp = build(data, syntax=syntax, names=names, keep=keep, keep_names=keep_names)
    except (OSError, ValueError) as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(2) from error
    nlp.to_disk(out)
    for corpus, scores in nlp.meta["performance"].items():
        typer.echo(f"{corpus}: " + ", ".join(f"{name} {value}" for name, value in scores.items()))


if __name__ == "__main__":
    typer.run(main)
