"""``textrank add``: add documents to a model, exactly, with a receipt."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from textrank.cli.app import DEFAULT_OPTIONS, CommonOptions, CorpusPath, JsonFile, Nlp
from textrank.cli.forget import ModelFolder, Out, ReceiptFile, report_update, write_with_receipt

if TYPE_CHECKING:
    from textrank.updates import Receipt

EXAMPLE = "Example: textrank add my-model new-abstracts.bioc.xml"


def command(
    model: ModelFolder,
    corpus: CorpusPath,
    out: Out = None,
    receipt: ReceiptFile = None,
    nlp: Nlp = None,
    json_: JsonFile = None,
    options: CommonOptions = DEFAULT_OPTIONS,
) -> None:
    """Add annotated documents to a model.

    The result is the model trained on its documents and the new ones. Only the new ones are read
    and analysed. A receipt lists the checksums of all files before and after.
    """
    written, file = add_to_folder(model, corpus, nlp, out=out, receipt=receipt, options=options)
    report_update(written, file, json_)


def add_to_folder(
    model: Path,
    corpus: str,
    nlp: str | None = None,
    *,
    out: Path | None = None,
    receipt: Path | None = None,
    options: CommonOptions = DEFAULT_OPTIONS,
) -> tuple[Receipt, Path]:
    """Add the documents of a corpus to the model in a folder; return the receipt and its file.

    ``corpus`` is a data file or folder, ``nlp`` a spaCy pipeline (None: the shipped one). ``out``
    is the folder to write, None replaces the model; ``receipt`` is the file of the receipt, None
    names it after the new model's checksum. Raises ValueError if the model was not trained with
    ``--updatable``, has a document of the same id, or there are no candidates.
    """
    from textrank.candidates import document_id
    from textrank.cli.sources import read_corpus, set_model_parser
    from textrank.config import load_model
    from textrank.updates import add_documents

    loaded = set_model_parser(load_model(model), nlp)
    docs = read_corpus(options.load_corpus(corpus), nlp, loaded.pipeline.task)
    updated = add_documents(loaded, docs)
    documents = list(dict.fromkeys(document_id(doc, n) for n, doc in enumerate(docs)))
    return write_with_receipt(model, loaded, updated, "add", documents, out=out, file=receipt)
