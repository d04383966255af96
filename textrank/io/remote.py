"""Articles from NCBI: E-utilities for single articles, and files of PubMed with checksums.

Nothing here runs unless a user asks for it by name: ``textrank apply --pmid``, ``--query`` and
``textrank download pubmed``. All functions take the function that opens a URL as an argument, so
that tests use a local server or none. Every failure of the network is a ValueError with a remedy.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeAlias

from defusedxml import ElementTree

from textrank.io.atomic import fsync_folder, lock_file, open_atomic_bytes
from textrank.io.reading import read_text
from textrank.progress import track

OpenUrl: TypeAlias = Callable[[urllib.request.Request, float], Any]  # request and timeout
EUTILS_URL = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils"
PUBMED_URL = "https://ftp.ncbi.nlm.nih.gov/pubmed"
TIMEOUT_SECONDS = 60.0  # without a byte from the server
MAX_TRIES = 4
MAX_WAIT_SECONDS = 60.0  # before another try
MAX_PMIDS = 100_000  # of one call; more are faster from the baseline
MAX_QUERY_RESULTS = 9_999  # that E-utilities list for PubMed
BATCH_PMIDS = 200  # fetched by one request, as NCBI recommends
MAX_RESPONSE_BYTES = 1 << 28
CHUNK_BYTES = 1 << 18
RETRIED_STATUSES = (429, 500, 502, 503, 504)


def open_url(request: urllib.request.Request, timeout: float) -> Any:
    """Open a request of HTTP or HTTPS; ValueError for other schemes, such as ``file:``.

    Passes on the errors of ``urllib.request.urlopen``.
    """
    if not request.full_url.startswith(("https://", "http://")):
        raise ValueError(f"{request.full_url}: not an address of HTTP. Begin it with https://.")
    return urllib.request.urlopen(request, timeout=timeout)


def request_bytes(
    url: str,
    data: Mapping[str, str] | None = None,
    *,
    opener: OpenUrl = open_url,
    sleep: Callable[[float], None] = time.sleep,
) -> bytes:
    """Return the content of a URL, fetched by GET or, with ``data``, by POST.

    Failures that may pass (statuses of ``RETRIED_STATUSES``, lost connections) are tried
    ``MAX_TRIES`` times, with growing pauses or that of the server's Retry-After; a host that has no
    address or refuses to connect is tried once. Raises ValueError if the server refuses, cannot be
    reached or sends more than ``MAX_RESPONSE_BYTES``.
    """
    body = None if data is None else urllib.parse.urlencode(data).encode()
    shown = url.partition("?")[0]  # without an API key
    for attempt in range(1, MAX_TRIES + 1):
        request = urllib.request.Request(url, body, {"User-Agent": "textrank"})
        try:
            with opener(request, TIMEOUT_SECONDS) as response:
                content: bytes = response.read(MAX_RESPONSE_BYTES + 1)
            if len(content) > MAX_RESPONSE_BYTES:
                raise ValueError(f"{shown}: more than {MAX_RESPONSE_BYTES:,} bytes. Ask for less.")
            return content
        except urllib.error.HTTPError as error:
            with error:
                if error.code not in RETRIED_STATUSES or attempt == MAX_TRIES:
                    raise ValueError(f"{shown}: the server refused ({_status(error)}).") from None
                sleep(_pause(attempt, error.headers.get("Retry-After")))
        except (OSError, http.client.HTTPException) as error:
            if attempt == MAX_TRIES or not _may_pass(error):
                raise ValueError(_unreachable(shown, error)) from None
            sleep(_pause(attempt, None))
    raise AssertionError("the last try returns or raises")


def _pause(attempt: int, retry_after: str | None) -> float:
    """Return the seconds to wait after a failed attempt, counted from 1.

    ``retry_after`` is the header of the server, followed if it is a number of seconds; otherwise
    (None, or a date) the pause is 1 and doubles. It is at most ``MAX_WAIT_SECONDS``.
    """
    if retry_after and retry_after.isascii() and retry_after.isdigit():
        return min(float(retry_after[:9]), MAX_WAIT_SECONDS)
    return min(2.0 ** (attempt - 1), MAX_WAIT_SECONDS)


def _may_pass(error: Exception) -> bool:
    """Return whether another try can help: not if the host has no address or refuses to connect.

    The cause of a ``URLError`` decides, its ``reason``.
    """
    reason = getattr(error, "reason", error)
    return not isinstance(reason, ConnectionRefusedError) and type(reason).__name__ != "gaierror"


def _status(error: urllib.error.HTTPError) -> str:
    """Return the status of an error as text, without what the server wrote."""
    return f"{error.code} {http.client.responses.get(error.code, '')}".strip()


def _unreachable(url: str, error: Exception) -> str:
    """Return (not raise) the message for a server that does not answer, with the cause."""
    reason = getattr(error, "reason", None) or error
    return (
        f"{url}: cannot be reached ({reason!s:.120}). Check the network, or fetch the articles on "
        "another machine (PubMed: Save, format PubMed) and name the file."
    )


# E-utilities --------------------------------------------------------------------------------------


def parse_pmids(text: str) -> list[str]:
    """Return PubMed numbers separated by commas, semicolons or white space, without repetitions.

    They are in the order of the text. "PMID:" before a number is accepted, and lines that begin
    with # are skipped. Raises ValueError for anything else, without numbers, and for more than
    ``MAX_PMIDS``.

    >>> parse_pmids("8493578, PMID:7929193\\n8493578")
    ['8493578', '7929193']
    """
    lines = (line for line in text.splitlines() if not line.lstrip().startswith("#"))
    words = re.split(r"[\s,;]+", re.sub(r"(?i)\bpmid\s*:\s*", "", "\n".join(lines)))
    numbers: dict[str, None] = {}
    for word in filter(None, words):
        if not re.fullmatch(r"[1-9][0-9]{0,8}", word):
            raise ValueError(f"{word!r:.40} is not a PubMed number. Write for example 8493578.")
        numbers[word] = None
    if not numbers:
        raise ValueError("no PubMed number. Write for example --pmid 8493578,7929193.")
    if len(numbers) > MAX_PMIDS:
        raise ValueError(
            f"{len(numbers):,} PubMed numbers are more than {MAX_PMIDS:,}. Download the baseline "
            "with textrank download pubmed DIR."
        )
    return list(numbers)


def read_pmids(text_or_file: str) -> list[str]:
    """Return the numbers of ``parse_pmids`` in a text, or in a file if it names one.

    Raises ValueError if there is no number, something else than numbers, or more than
    ``MAX_PMIDS``, or if the file cannot be read; the message begins with the file or "--pmid".
    """
    path = Path(text_or_file)
    is_file = len(text_or_file) < 4096 and "\n" not in text_or_file and path.is_file()
    try:
        return parse_pmids(read_text(path) if is_file else text_or_file)
    except ValueError as error:
        raise ValueError(f"{path}: {error}" if is_file else f"--pmid: {error}") from None


@dataclass
class EUtilities:
    """Client of NCBI's E-utilities that keeps to their limit of requests.

    Attributes
    ----------
    url
        Address of the service.
    api_key, email
        Sent with each request if not empty. With a key ten requests per second are allowed, else
        three.
    opener, sleep, clock
        Functions that open a URL, wait, and return monotonic seconds.
    """

    url: str = EUTILS_URL
    api_key: str = field(default="", repr=False)
    email: str = ""
    opener: OpenUrl = open_url
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    _next_request: float = field(default=0.0, init=False, repr=False)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> EUtilities:
        """Return a client with NCBI_API_KEY, NCBI_EMAIL and NCBI_EUTILS_URL of the environment.

        Each may be missing or empty; the address is then ``EUTILS_URL``.
        """
        return cls(
            (environment.get("NCBI_EUTILS_URL") or EUTILS_URL).rstrip("/"),
            environment.get("NCBI_API_KEY", ""),
            environment.get("NCBI_EMAIL", ""),
        )

    def search(self, query: str, limit: int) -> list[str]:
        """Return the numbers of at most ``limit`` articles for a PubMed query, the latest first.

        Raises ValueError for an empty query, a limit outside 1 to ``MAX_QUERY_RESULTS``, a query
        without a result, or if the server fails or its answer is not JSON.
        """
        if not query.strip():
            raise ValueError("--query is empty. Write for example --query 'GRB2 AND SOS1'.")
        if not 1 <= limit <= MAX_QUERY_RESULTS:
            raise ValueError(
                f"--max-articles must be between 1 and {MAX_QUERY_RESULTS:,}, which is the most "
                f"that PubMed lists, got {limit}."
            )
        values = {"db": "pubmed", "term": query, "retmax": str(limit), "retmode": "json"}
        content = self._request("esearch.fcgi", values)
        try:
            result = json.loads(content)["esearchresult"]
            error = result.get("ERROR") or result.get("errorlist", {}).get("phrasesnotfound")
            numbers = [str(int(number)) for number in result.get("idlist", [])]
        except (ValueError, KeyError, TypeError, AttributeError):
            raise ValueError(f"{self.url}: the answer is not JSON of PubMed.") from None
        if not numbers:
            reason = f" ({error!s:.120})" if error else ""
            raise ValueError(f"PubMed has no article for {query!r:.120}{reason}.")
        return numbers[:limit]

    def fetch(self, pmids: Sequence[str]) -> Iterator[bytes]:
        """Yield the answers for articles, PubMed XML of ``BATCH_PMIDS`` articles at a time.

        Articles that PubMed does not have are missing from it. The content is not checked. Raises
        ValueError if the server fails. Shows progress on a terminal.
        """
        batches = [pmids[i : i + BATCH_PMIDS] for i in range(0, len(pmids), BATCH_PMIDS)]
        for batch in track(batches, "articles", len(batches)):
            values = {"db": "pubmed", "id": ",".join(batch), "retmode": "xml"}
            yield self._request("efetch.fcgi", values)

    def _request(self, name: str, values: Mapping[str, str]) -> bytes:
        """Return the answer of a utility, after the pause that the limit of requests demands.

        ``name`` is its file name, such as ``esearch.fcgi``, and ``values`` its parameters, sent by
        POST. Raises ValueError if the server refuses, cannot be reached or sends too much. The
        pause is 0.34 s between requests, 0.11 s with an API key. The name of the program, and email
        and key if given, are sent too; ``values`` is not changed.
        """
        now = self.clock()
        if now < self._next_request:
            self.sleep(self._next_request - now)
        self._next_request = max(now, self._next_request) + (0.11 if self.api_key else 0.34)
        data = {**values, "tool": "textrank"}
        data |= {"email": self.email} if self.email else {}
        data |= {"api_key": self.api_key} if self.api_key else {}
        return request_bytes(f"{self.url}/{name}", data, opener=self.opener, sleep=self.sleep)


class ArticleSummary(NamedTuple):
    """Files with fetched articles, how many numbers were found, and those that PubMed lacks."""

    files: list[Path]
    articles: int
    missing: list[str]


def fetch_articles(client: EUtilities, pmids: Sequence[str], folder: Path) -> ArticleSummary:
    """Write articles as PubMed XML to a folder, one file for ``BATCH_PMIDS`` articles.

    The folder is created if needed. Files are ``articles-0001.xml`` and so on, each written
    atomically; files of these names are replaced, others stay. Raises ValueError if the server
    fails or answers with something else than PubMed XML; files written before stay.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files: list[Path] = []
    fetched: set[str] = set()
    for number, content in enumerate(client.fetch(pmids), 1):
        fetched |= _list_articles(content, client.url)
        file = folder / f"articles-{number:04d}.xml"
        with open_atomic_bytes(file) as out:
            out.write(content)
        files.append(file)
    missing = [pmid for pmid in pmids if pmid not in fetched]
    return ArticleSummary(files, len(pmids) - len(missing), missing)


def _list_articles(content: bytes, url: str) -> set[str]:
    """Return the numbers of the articles in PubMed XML; ValueError if it is something else.

    ``url`` begins the message.
    """
    try:
        root = ElementTree.fromstring(content)
    except (ElementTree.ParseError, ValueError) as error:
        raise ValueError(f"{url}: the answer is not XML ({error!s:.60}). Try later.") from None
    if root.tag != "PubmedArticleSet":
        raise ValueError(f"{url}: the answer is <{root.tag}>, not PubMed XML. Try again later.")
    return {
        (node.text or "").strip() for node in root.findall("PubmedArticle/MedlineCitation/PMID")
    }


# Files of PubMed ----------------------------------------------------------------------------------

PUBMED_FOLDERS: Mapping[str, str] = {"baseline": "baseline", "updates": "updatefiles"}
_FILE_NAME = re.compile(r'href="(pubmed\d{2}n\d{4}\.xml\.gz)"')


class DownloadSummary(NamedTuple):
    """Numbers of files that were fetched and of those that were there already."""

    downloaded: int
    present: int
    bytes: int  # of the downloaded files


def download_pubmed(
    folder: Path,
    *,
    parts: Iterable[str] = tuple(PUBMED_FOLDERS),
    limit: int | None = None,
    verify: bool = False,
    url: str = PUBMED_URL,
    opener: OpenUrl = open_url,
    sleep: Callable[[float], None] = time.sleep,
) -> DownloadSummary:
    """Download the files of PubMed that a folder does not have, and check each by its MD5 sum.

    A file appears under its name only when it is complete and its checksum is right, so a call
    after an interruption continues: finished files are skipped, and a partial one is resumed.

    Parameters
    ----------
    folder
        Target, created if missing. Only one process may download to it at a time.
    parts
        Keys of ``PUBMED_FOLDERS``: the yearly baseline, and the daily updates to it.
    limit
        Largest number of files of each part, the first ones; None means all.
    verify
        Compare the checksums of finished files too, and fetch damaged ones again.
    url
        Address of PubMed's folder, or of a mirror.
    opener, sleep
        Functions that open a URL and wait.

    Raises
    ------
    ValueError
        If another process downloads to the folder, the server cannot be reached or lists no file, a
        checksum is wrong twice, or the disk is full.
    KeyError
        If a part is not a key of ``PUBMED_FOLDERS``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    try:
        lock = lock_file(folder / ".download.lock")
    except OSError as error:
        raise ValueError(
            f"{folder}: another process downloads to this folder, or it cannot be written "
            f"({error.strerror}). Wait for it."
        ) from None
    with lock:
        names: list[tuple[str, str]] = []
        for part in parts:
            address = f"{url.rstrip('/')}/{PUBMED_FOLDERS[part]}"
            page = request_bytes(f"{address}/", opener=opener, sleep=sleep).decode("latin-1")
            file_names = sorted(set(_FILE_NAME.findall(page)))
            if not file_names:
                raise ValueError(f"{address}/: lists no file of PubMed. Check the address.")
            names += [(address, name) for name in file_names[:limit]]
        downloaded, present, size = 0, 0, 0
        for address, name in track(names, "files", len(names)):
            target = folder / name
            if target.is_file() and not verify:
                present += 1
                continue
            sums = request_bytes(f"{address}/{name}.md5", opener=opener, sleep=sleep)
            digest = _parse_md5(sums, f"{address}/{name}.md5")
            if target.is_file() and _file_md5(target) == digest:
                present += 1
                continue
            size += download_file(f"{address}/{name}", target, digest, opener=opener, sleep=sleep)
            downloaded += 1
    return DownloadSummary(downloaded, present, size)


def download_file(
    url: str,
    target: Path,
    md5: str,
    *,
    opener: OpenUrl = open_url,
    sleep: Callable[[float], None] = time.sleep,
) -> int:
    """Download a file, resume a partial download, check the MD5 sum and return its size.

    The partial file is beside the target, as ``.NAME.part``. It is kept if the connection breaks,
    and removed if the checksum is wrong. If the server answers that nothing is left (416), a wrong
    partial file is removed and fetched anew, which counts as a try; without a partial file the
    server refuses. An existing target is replaced;
    ``md5`` is hexadecimal, in lower case. Raises ValueError after ``MAX_TRIES`` failures, if the
    server refuses, the checksum is wrong twice, or the file cannot be written.
    """
    partial = target.with_name(f".{target.name}.part")
    wrong_sums = 0
    for attempt in range(1, MAX_TRIES + 1):
        try:
            _continue_download(url, partial, opener)
        except urllib.error.HTTPError as error:
            with error:
                # Nothing is left, or the file is another one by now.
                if error.code == 416 and partial.is_file():
                    if _file_md5(partial) != md5:
                        partial.unlink()
                        continue
                elif error.code in RETRIED_STATUSES and attempt < MAX_TRIES:
                    sleep(_pause(attempt, error.headers.get("Retry-After")))
                    continue
                else:
                    raise ValueError(f"{url}: the server refused ({_status(error)}).") from None
        except (OSError, http.client.HTTPException) as error:
            if getattr(error, "filename", None) or getattr(error, "errno", None) == 28:
                raise ValueError(f"{partial}: cannot be written ({error}).") from None
            if attempt == MAX_TRIES or not _may_pass(error):
                message = f"{_unreachable(url, error)} What was received is kept; call again."
                raise ValueError(message) from None
            sleep(_pause(attempt, None))
            continue
        if _file_md5(partial) == md5:
            size = partial.stat().st_size
            partial.replace(target)
            fsync_folder(target.parent)
            return size
        wrong_sums += 1
        with suppress(FileNotFoundError):
            partial.unlink()
        if wrong_sums == 2:
            break
    raise ValueError(
        f"{url}: the checksum is wrong although the file was fetched again. Try later or use --url."
    )


def _continue_download(url: str, partial: Path, opener: OpenUrl) -> None:
    """Fetch what a partial file lacks; start anew if the server does not support ranges.

    Appends to ``partial``, which is created if missing, and flushes it to disk. Raises OSError
    (urllib.error.HTTPError if the server refuses) or http.client.HTTPException if the connection
    breaks; what was received stays in the file.
    """
    start = partial.stat().st_size if partial.is_file() else 0
    headers = {"User-Agent": "textrank", "Accept-Encoding": "identity"}
    headers |= {"Range": f"bytes={start}-"} if start else {}
    request = urllib.request.Request(url, None, headers)
    with opener(request, TIMEOUT_SECONDS) as response:
        is_partial = response.status == 206
        announced = str(response.headers.get("Content-Range", "")) if is_partial else ""
        if is_partial and not announced.startswith(f"bytes {start}-"):
            raise http.client.HTTPException(f"a wrong range was sent: {announced:.40}")
        expected = response.headers.get("Content-Length")
        with partial.open("ab" if is_partial else "wb") as out:
            received = _copy(response, out)
            out.flush()
            os.fsync(out.fileno())
    if expected is not None and expected.isdigit() and received < int(expected):
        raise http.client.IncompleteRead(b"", int(expected) - received)


def _copy(response: Any, out: IO[bytes]) -> int:
    """Copy a response to a file in chunks and return the number of bytes."""
    received = 0
    while chunk := response.read(CHUNK_BYTES):
        out.write(chunk)
        received += len(chunk)
    return received


def _parse_md5(content: bytes, url: str) -> str:
    """Return the sum in an ``.md5`` file (``MD5(name)= 0123…``) in lower case.

    Raises ValueError, beginning with ``url``, if its first 1,000 bytes have none.
    """
    match = re.search(rb"\b([0-9a-fA-F]{32})\b", content[:1000])
    if not match:
        raise ValueError(f"{url}: no MD5 sum in this file. Try again later.")
    return match[1].decode().lower()


def _file_md5(path: Path) -> str:
    """Return the MD5 sum of a file, read in chunks; "" if there is no such file."""
    digest = hashlib.md5(usedforsecurity=False)
    try:
        with path.open("rb") as file:
            while chunk := file.read(CHUNK_BYTES):
                digest.update(chunk)
    except FileNotFoundError:
        return ""
    return digest.hexdigest()
