"""``textrank add`` and ``textrank forget``: update a model exactly, with a receipt."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from textrank.cli.app import (
    DEFAULT_OPTIONS,
    CommonOptions,
    CorpusPath,
    JsonFile,
    Nlp,
    check_output_file,
    read_corpus,
    refuse_ignored,
    set_model_parser,
)

if TYPE_CHECKING:
    from textrank.model import Model
    from textrank.training import Receipt


ModelFolder = Annotated[
    Path, typer.Argument(help="Folder of a model trained with train --updatable.")
]
Out = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Write the new model here instead of replacing the old one."),
]
ReceiptFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Receipt to write; by default beside the model, named after its checksum.",
        callback=check_output_file,
    ),
]


def add_command(
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
    """Add the documents of a corpus to the model in a folder; return the receipt and its path.

    ``corpus`` is a data file or folder, ``nlp`` a spaCy pipeline (None: the shipped one). ``out``
    is the folder of the new model; None replaces the old one. ``receipt`` is the file of the
    receipt; None names it as ``write_with_receipt`` does. Raises ValueError, before anything is
    written, if the model was not trained with ``--updatable``, already has a document of the same
    id, or the corpus has no candidates.
    """
    from textrank.candidates import document_id
    from textrank.config import load_model
    from textrank.training import add_documents

    loaded = set_model_parser(load_model(model), nlp)
    docs = read_corpus(options.load_corpus(corpus), nlp, loaded.pipeline.task)
    updated = add_documents(loaded, docs)
    documents = list(dict.fromkeys(document_id(doc, n) for n, doc in enumerate(docs)))
    return write_with_receipt(model, loaded, updated, "add", documents, out=out, file=receipt)


def forget_command(
    context: typer.Context,
    model: ModelFolder,
    documents: Annotated[
        list[str] | None, typer.Argument(help="Ids of the training documents to forget.")
    ] = None,
    out: Out = None,
    receipt: ReceiptFile = None,
    verify: Annotated[
        Path | None,
        typer.Option(metavar="RECEIPT", help="Check a receipt of forget or add instead."),
    ] = None,
    json_: JsonFile = None,
) -> None:
    """Remove training documents from a model.

    The result is the model that was never trained on them, with its threshold, calibration and
    held-out scores. A receipt lists the checksums of all files before and after.

    \f
    With --verify nothing is changed: the result of ``verify_receipt`` is printed and written as
    JSON, and ``documents``, --out and --receipt are refused. Raises ValueError without ids and
    without --verify.
    """
    from textrank.reports.table import write_json

    if verify is not None:
        refused = ("documents", "out", "receipt")
        refuse_ignored(context, refused, "with --verify", "leave out --verify")
        from textrank.training import verify_receipt

        verification = verify_receipt(verify, model)
        if json_ is not None:
            write_json(verification, json_)
        typer.echo(_describe_verification(verification, verify))
        return
    if not documents:
        raise ValueError("no document to forget. Give the id of at least one, or --verify RECEIPT.")
    written, file = forget_in_folder(model, documents, out=out, receipt=receipt)
    report_update(written, file, json_)


def forget_in_folder(
    model: Path, documents: Sequence[str], *, out: Path | None = None, receipt: Path | None = None
) -> tuple[Receipt, Path]:
    """Remove training documents from the model in a folder; return the receipt and its path.

    ``documents`` are ids; repeated ones count once. ``out`` is the folder of the new model; None
    replaces the old one. ``receipt`` is the file of the receipt; None names it as
    ``write_with_receipt`` does. Raises ValueError, before anything is written, if the model keeps
    no training data, does not know a document, or has too little left to learn from.
    """
    from textrank.config import load_model
    from textrank.training import forget_documents

    unique = list(dict.fromkeys(documents))
    loaded = load_model(model)
    updated = forget_documents(loaded, unique)
    return write_with_receipt(model, loaded, updated, "forget", unique, out=out, file=receipt)


def write_with_receipt(
    source: Path,
    model: Model,
    updated: Model,
    action: Literal["forget", "add"],
    documents: Sequence[str],
    *,
    out: Path | None,
    file: Path | None,
) -> tuple[Receipt, Path]:
    """Write an updated model and its receipt; return the receipt and its path.

    ``source`` is the folder of the old ``model``, and ``documents`` are the ids that were added or
    forgotten. ``out`` is the folder of the new model; None replaces ``source``. ``file`` is the
    file of the receipt; None takes ``FOLDER.ACTION-CHECKSUM.json`` next to the written folder, with
    the first 12 digits of the new checksum. Raises ValueError if the folder cannot be written.
    """
    from textrank.io import META_FILE, check_model_target, write_text
    from textrank.training import write_update

    target = check_model_target(out or source)
    receipt = write_update(source, model, updated, action, documents, target=target)
    mark = receipt.after[META_FILE][:12]
    path = file or target.with_name(f"{target.name}.{action}-{mark}.json")
    write_text(receipt.to_text(), path)
    return receipt, path


def report_update(receipt: Receipt, file: Path, json_: Path | None) -> None:
    """Print a summary of an update and, unless ``json_`` is None, write it there as JSON.

    ``file`` is the path of the receipt. If documents that share a sentence with forgotten ones stay
    in the model, their number and the first five ids are printed on standard error.
    """
    from textrank.reports.table import write_json

    if json_ is not None:
        write_json({**receipt.to_dict(), "receipt": str(file)}, json_)
    verb = "forgot" if receipt.action == "forget" else "added"
    typer.echo(
        f"{verb} {len(receipt.documents)} documents with {receipt.candidates} candidates; "
        f"receipt: {file}"
    )
    if receipt.copies and receipt.action == "forget":
        typer.echo(
            f"{len(receipt.copies)} other documents share a sentence with them and stay: "
            f"{', '.join(receipt.copies[:5])}",
            err=True,
        )


def _describe_verification(verification: dict[str, Any], receipt: Path) -> str:
    """Return the message that a receipt was verified.

    ``verification`` is the result of ``verify_receipt``, which raises ValueError if the receipt
    does not hold.
    """
    state = "not in the model" if verification["action"] == "forget" else "in the model"
    count = len(verification["documents"])
    return (
        f"{receipt}: verified. {count} documents are {state}; training again on "
        f"the stored documents differs by {verification['difference']:.1e}."
    )
