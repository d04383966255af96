"""``textrank convert`` and ``textrank download``: corpora and articles as files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from textrank.cli.app import (
    DEFAULT_OPTIONS,
    CommonOptions,
    CorpusPath,
    JsonFile,
    Nlp,
    refuse_ignored,
)

if TYPE_CHECKING:
    from textrank.io.remote import ArticleSummary


def convert_command(
    corpus: CorpusPath,
    target: Annotated[Path, typer.Argument(help="File or folder to write.")],
    format: Annotated[
        str | None, typer.Option(help="Name of the format; `textrank info` lists them.")
    ] = None,
    nlp: Nlp = None,
    options: CommonOptions = DEFAULT_OPTIONS,
) -> None:
    """Convert a corpus to another format.

    The format is that of the target's suffix unless --format names one.
    """
    typer.echo(f"{target}: {convert_corpus(corpus, target, format, nlp, options)} documents")


def convert_corpus(
    corpus: str,
    target: Path,
    format: str | None = None,
    nlp: str | None = None,
    options: CommonOptions = DEFAULT_OPTIONS,
) -> int:
    """Write a corpus in another format and return the number of documents.

    The target is checked before anything is read; documents are read and written one by one.

    Parameters
    ----------
    corpus
        Data file or folder.
    target
        File or folder to write.
    format
        Key of ``formats.detection.WRITERS``; None chooses the format by the suffix of ``target``.
    nlp
        Name or path of a spaCy pipeline that analyses the texts. None only tokenizes them and
        splits them into sentences by rules.
    options
        Reading options.

    Raises
    ------
    ValueError
        If the format is unknown, the corpus cannot be read or the target cannot be written.
    """
    import itertools

    import spacy

    from textrank.component import load_language
    from textrank.formats.detection import check_output_path, write_docs

    check_output_path(target, format=format)
    language = spacy.blank("en") if nlp is None else load_language(nlp)
    numbers = itertools.count()
    docs = (doc for doc, _ in zip(options.load_corpus(corpus)(language), numbers, strict=False))
    write_docs(docs, target, format=format)
    return next(numbers)


PARTS = ("all", "baseline", "updates")
Pmids = Annotated[
    str | None,
    typer.Option("--pmid", metavar="LIST", help="PubMed numbers, or a file with numbers."),
]
Query = Annotated[str | None, typer.Option(metavar="TEXT", help="Query to PubMed.")]
MaxArticles = Annotated[
    int, typer.Option("--max-articles", metavar="N", help="With --query: most articles to fetch.")
]
DEFAULT_MAX_ARTICLES = 100


def download_command(
    context: typer.Context,
    what: Annotated[str, typer.Argument(help="What to download: pubmed.")],
    folder: Annotated[Path, typer.Argument(help="Folder to write to; created if missing.")],
    pmid: Pmids = None,
    query: Query = None,
    max_articles: MaxArticles = DEFAULT_MAX_ARTICLES,
    part: Annotated[str, typer.Option(help="Files to download: all, baseline or updates.")] = "all",
    files: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Only the first N files of each part.")
    ] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Check the MD5 sums of finished files too.")
    ] = False,
    url: Annotated[
        str | None, typer.Option(help="Address of a mirror of ftp.ncbi.nlm.nih.gov/pubmed.")
    ] = None,
    json_: JsonFile = None,
) -> None:
    """Download PubMed: all files with checksums, or single articles.

    Call it again after an interruption: finished files are skipped and a partial one is resumed.
    Articles by --pmid or --query come from NCBI's E-utilities; NCBI asks for the environment
    variables NCBI_EMAIL and NCBI_API_KEY.

    \f
    Raises ValueError if ``what`` is not "pubmed", ``part`` is not one of ``PARTS``, or an option
    was given that has no effect: --part, --files, --verify and --url with --pmid or --query,
    --max-articles without --query. ``json_`` gets the counts that are printed, and for articles
    the numbers that PubMed lacks and the files.
    """
    from textrank.io.remote import PUBMED_FOLDERS, PUBMED_URL, download_pubmed

    if what != "pubmed":
        raise ValueError(f"{what!r} cannot be downloaded; available: pubmed.")
    if part not in PARTS:
        raise ValueError(f"--part must be one of {', '.join(PARTS)}, got {part!r}.")
    if pmid is not None or query is not None:
        ignored = ("part", "files", "verify", "url")
        refuse_ignored(context, ignored, "with --pmid or --query", "download whole files")
        summary = fetch_pubmed_articles(context, pmid, query, max_articles, folder)
        result: dict[str, Any] = {"articles": summary.articles, "missing": summary.missing}
        result["files"] = [str(file) for file in summary.files]
        typer.echo(f"{folder}: {summary.articles} articles in {len(summary.files)} files")
    else:
        refuse_ignored(context, ("max_articles",), "without --query", "add --query TEXT")
        downloaded = download_pubmed(
            folder,
            parts=PUBMED_FOLDERS if part == "all" else [part],
            limit=files,
            verify=verify,
            url=url or PUBMED_URL,
        )
        result = downloaded._asdict()
        typer.echo(
            f"{folder}: {downloaded.downloaded} files downloaded ({downloaded.bytes:,} bytes), "
            f"{downloaded.present} present before"
        )
    if json_ is not None:
        from textrank.reports.table import write_json

        write_json(result, json_)


def fetch_pubmed_articles(
    context: typer.Context,
    pmid: str | None,
    query: str | None,
    max_articles: int,
    folder: Path,
) -> ArticleSummary:
    """Download the articles of ``--pmid`` or ``--query`` into a folder and return a summary.

    ``pmid`` lists PubMed numbers or names a file with them (``io.remote.read_pmids``);
    ``max_articles`` limits a query only. ``context`` tells which options were given. Articles that
    PubMed does not have are named in a warning on standard error, the first ten of them. Raises
    ValueError if both ``pmid`` and ``query`` are given, ``--max-articles`` is given with ``pmid``,
    all numbers are unknown to PubMed, or NCBI cannot be reached.
    """
    from textrank.io.remote import EUtilities, fetch_articles, read_pmids

    if pmid is not None and query is not None:
        raise ValueError("--pmid and --query cannot be combined. Leave one out.")
    client = EUtilities.from_environment()
    if pmid is not None:
        refuse_ignored(context, ("max_articles",), "with --pmid", "use --query")
        numbers = read_pmids(pmid)
    else:
        numbers = client.search(query or "", max_articles)
    summary = fetch_articles(client, numbers, folder)
    if summary.missing:
        shown = ", ".join(summary.missing[:10]) + (", …" if len(summary.missing) > 10 else "")
        message = f"PubMed has no article {shown}"
        if not summary.articles:
            raise ValueError(f"{message}. Check the numbers.")
        typer.echo(f"textrank: warning: {message} ({len(summary.missing)} in all).", err=True)
    return summary
