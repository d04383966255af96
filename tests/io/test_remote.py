"""Articles and files of PubMed from a local server: limits, resume, checksums, failures."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
import threading
import urllib.parse
from collections.abc import Iterator
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request

import pytest

from textrank.cli.app import run
from textrank.io.remote import (
    MAX_TRIES,
    EUtilities,
    download_file,
    download_pubmed,
    fetch_articles,
    parse_pmids,
    read_pmids,
)

ARTICLE = (
    '<PubmedArticle><MedlineCitation><PMID Version="1">{}</PMID><Article><ArticleTitle>GRB2 binds '
    "SOS1.</ArticleTitle></Article></MedlineCitation></PubmedArticle>"
)
KNOWN = ("8493578", "7929193")
NAMES = ("pubmed26n0001.xml.gz", "pubmed26n0002.xml.gz")


class Server:
    """A small NCBI: E-utilities and two files; it can break connections and damage files."""

    def __init__(self) -> None:
        self.files = {name: gzip.compress(name.encode() * 5000, mtime=0) for name in NAMES}
        self.requests: list[tuple[str, dict[str, str], str]] = []  # path, values, range
        self.failures: list[int] = []  # statuses of the next requests of E-utilities
        self.cuts: list[int] = []  # bytes after which the next files end too early
        self.damaged = 0  # next files with a wrong byte
        self.ranges = True
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.requests.append((self.path, {}, self.headers.get("Range", "")))
                outer.send_file(self)

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                values = dict(urllib.parse.parse_qsl(body))
                outer.requests.append((self.path, values, ""))
                if outer.failures:
                    self.send_response(outer.failures.pop(0))
                    self.send_header("Retry-After", "7")
                    self.end_headers()
                    return
                outer.reply(self, outer.answer(self.path, values))

            def log_message(self, *_: Any) -> None:
                """Print nothing."""

        self.httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.httpd.server_port}"
        threading.Thread(target=self.httpd.serve_forever, args=(0.01,), daemon=True).start()

    def reply(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    def answer(self, path: str, values: dict[str, str]) -> bytes:
        if path.endswith("esearch.fcgi"):
            found = [] if values["term"] == "nothing" else list(KNOWN)
            return json.dumps({"esearchresult": {"idlist": found}}).encode()
        articles = "".join(ARTICLE.format(n) for n in values["id"].split(",") if n in KNOWN)
        return f"<PubmedArticleSet>{articles}</PubmedArticleSet>".encode()

    def send_file(self, handler: BaseHTTPRequestHandler) -> None:
        name = handler.path.rpartition("/")[2]
        if not name:
            part = NAMES[:1] if "baseline" in handler.path else NAMES[1:]
            self.reply(handler, "".join(f'<a href="{n}">{n}</a>' for n in part).encode())
            return
        if name.endswith(".md5"):
            sum_ = hashlib.md5(self.files[name.removesuffix(".md5")]).hexdigest()
            self.reply(handler, f"MD5({name})= {sum_}\n".encode())
            return
        content = self.files[name]
        if self.damaged:
            self.damaged -= 1
            content = bytes([content[0] ^ 1]) + content[1:]
        start = 0
        asked = re.fullmatch(r"bytes=(\d+)-", handler.headers.get("Range", ""))
        if asked and self.ranges:
            start = int(asked[1])
            if start >= len(content):
                handler.send_response(416)
                handler.end_headers()
                return
            handler.send_response(206)
            end = len(content) - 1
            handler.send_header("Content-Range", f"bytes {start}-{end}/{len(content)}")
        else:
            handler.send_response(200)
        handler.send_header("Content-Length", str(len(content) - start))
        handler.end_headers()
        end = start + self.cuts.pop(0) if self.cuts else len(content)
        handler.wfile.write(content[start:end])


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.httpd.shutdown()
    made.httpd.server_close()


@pytest.fixture
def no_wait() -> list[float]:
    """Pauses that were asked for; append is used as ``sleep``."""
    return []


def test_numbers_are_read_from_lists_and_files(tmp_path: Path) -> None:
    file = tmp_path / "pmids.txt"
    file.write_text("# two articles\nPMID: 8493578\n7929193\n8493578\n")
    assert read_pmids(str(file)) == list(KNOWN) == parse_pmids("8493578;7929193")
    for wrong in ("", "12a", "0", "1234567890"):
        with pytest.raises(ValueError, match="PubMed number"):
            read_pmids(wrong)


def test_requests_keep_to_the_limit_and_name_the_user(
    server: Server, no_wait: list[float], tmp_path: Path
) -> None:
    client = EUtilities(server.url, email="me@example.org", sleep=no_wait.append, clock=lambda: 5.0)
    numbers = [str(number) for number in range(10_000_000, 10_000_450)]
    summary = fetch_articles(client, [*numbers, *KNOWN], tmp_path)
    assert summary.articles == 2
    assert summary.missing == numbers
    assert [file.name for file in summary.files] == [f"articles-000{n}.xml" for n in (1, 2, 3)]
    assert no_wait == pytest.approx([0.34, 0.68])
    assert {values["email"] for _, values, _ in server.requests} == {"me@example.org"}
    assert all("api_key" not in values for _, values, _ in server.requests)
    fast = EUtilities(server.url, api_key="key", sleep=no_wait.append, clock=lambda: 5.0)
    no_wait.clear()
    assert fast.search("GRB2", 1) == ["8493578"]
    assert fast.search("GRB2", 5) == list(KNOWN)
    assert no_wait == pytest.approx([0.11])
    assert server.requests[-1][1]["api_key"] == "key"
    assert "key" not in repr(fast)


def test_a_busy_server_is_asked_again(server: Server, no_wait: list[float]) -> None:
    client = EUtilities(server.url, sleep=no_wait.append, clock=lambda: 0.0)
    server.failures = [429, 503]
    assert client.search("GRB2", 5) == list(KNOWN)
    assert no_wait == [7.0, 7.0]
    server.failures = [429] * MAX_TRIES
    with pytest.raises(ValueError, match="refused \\(429 Too Many Requests\\)"):
        client.search("GRB2", 5)
    server.failures = [400]
    with pytest.raises(ValueError, match="refused \\(400"):
        client.search("GRB2", 5)
    with pytest.raises(ValueError, match="no article for 'nothing'"):
        client.search("nothing", 5)


def test_apply_takes_pubmed_numbers_and_queries(
    server: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NCBI_EUTILS_URL", server.url)
    assert run(["apply", "ppi", "--pmid", "8493578,5"]) == 0
    output = capsys.readouterr()
    (row,) = map(json.loads, output.out.splitlines())
    assert (row["document"], row["textrank_ppi"][0]["names"]) == ("8493578", ["GRB2", "SOS1"])
    assert "PubMed has no article 5" in output.err
    assert run(["apply", "ppi", "--query", "GRB2", "--max-articles", "1"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--pmid", "5"], "no article 5"),
        (["--pmid", "x"], "not a PubMed number"),
        (["--pmid", "5", "--query", "x"], "cannot be combined"),
        (["--pmid", "5", "file.txt"], "replace files"),
        (["--pmid", "5", "--out", "here"], "download pubmed DIR"),
        (["--max-articles", "5", "-"], "without --query"),
        ([], "nothing to annotate"),
    ],
)
def test_wrong_use_is_refused(
    arguments: list[str],
    message: str,
    server: Server,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("NCBI_EUTILS_URL", server.url)
    assert run(["apply", "ppi", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_offline_the_message_says_what_to_do(
    server: Server,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("NCBI_EUTILS_URL", server.url)
    server.httpd.shutdown()
    server.httpd.server_close()
    assert run(["apply", "ppi", "--pmid", "8493578"]) == 2
    assert "cannot be reached" in capsys.readouterr().err
    assert run(["download", "pubmed", str(tmp_path), "--url", server.url]) == 2
    assert "Check the network" in capsys.readouterr().err


def test_all_files_are_downloaded_once(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["download", "pubmed", str(tmp_path), "--url", server.url]
    assert run([*arguments, "--json", str(tmp_path / "x.json")]) == 0
    for name, content in server.files.items():
        assert (tmp_path / name).read_bytes() == content
    size = sum(map(len, server.files.values()))
    result = json.loads((tmp_path / "x.json").read_text())
    assert result == {"downloaded": 2, "present": 0, "bytes": size}
    server.requests.clear()
    assert run(arguments) == 0
    assert [path for path, *_ in server.requests] == ["/baseline/", "/updatefiles/"]
    assert "0 files downloaded (0 bytes), 2 present before" in capsys.readouterr().out


def test_a_damaged_file_is_found_and_fetched_again(server: Server, tmp_path: Path) -> None:
    download_pubmed(tmp_path, parts=["baseline"], url=server.url)
    (tmp_path / NAMES[0]).write_bytes(b"damaged")
    assert download_pubmed(tmp_path, parts=["baseline"], url=server.url).present == 1
    assert download_pubmed(tmp_path, parts=["baseline"], url=server.url, verify=True)[0] == 1
    assert (tmp_path / NAMES[0]).read_bytes() == server.files[NAMES[0]]


@pytest.mark.parametrize("ranges", [True, False])
def test_a_broken_connection_is_resumed(
    ranges: bool, server: Server, no_wait: list[float], tmp_path: Path
) -> None:
    server.ranges, server.cuts = ranges, [40, 30]
    content = server.files[NAMES[0]]
    url, md5 = f"{server.url}/baseline/{NAMES[0]}", hashlib.md5(content).hexdigest()
    size = download_file(url, tmp_path / "x.gz", md5, sleep=no_wait.append)
    assert size == len(content)
    assert (tmp_path / "x.gz").read_bytes() == content
    starts = [asked for _, _, asked in server.requests]
    assert starts == (["", "bytes=40-", "bytes=70-"] if ranges else ["", "bytes=40-", "bytes=30-"])
    assert [path.name for path in tmp_path.iterdir()] == ["x.gz"]


def test_what_was_received_is_kept_for_the_next_call(
    server: Server, no_wait: list[float], tmp_path: Path
) -> None:
    server.cuts = [20] * MAX_TRIES
    with pytest.raises(ValueError, match="is kept; call again"):
        download_pubmed(tmp_path, parts=["baseline"], url=server.url, sleep=no_wait.append)
    assert not (tmp_path / NAMES[0]).exists()
    server.requests.clear()
    download_pubmed(tmp_path, parts=["baseline"], url=server.url, sleep=no_wait.append)
    assert server.requests[-1][2] == f"bytes={20 * MAX_TRIES}-"
    assert (tmp_path / NAMES[0]).read_bytes() == server.files[NAMES[0]]


def test_a_complete_part_of_an_interrupted_call_is_used(server: Server, tmp_path: Path) -> None:
    (tmp_path / f".{NAMES[0]}.part").write_bytes(server.files[NAMES[0]])
    download_pubmed(tmp_path, parts=["baseline"], url=server.url)
    assert (tmp_path / NAMES[0]).read_bytes() == server.files[NAMES[0]]


def test_a_part_of_another_file_is_dropped(server: Server, tmp_path: Path) -> None:
    (tmp_path / f".{NAMES[0]}.part").write_bytes(b"x" * 50)
    download_pubmed(tmp_path, parts=["baseline"], url=server.url)
    assert (tmp_path / NAMES[0]).read_bytes() == server.files[NAMES[0]]


def test_a_wrong_checksum_is_an_error(server: Server, tmp_path: Path) -> None:
    server.damaged = 1
    download_pubmed(tmp_path / "one", parts=["baseline"], url=server.url)
    assert (tmp_path / "one" / NAMES[0]).read_bytes() == server.files[NAMES[0]]
    server.damaged = 2
    with pytest.raises(ValueError, match="checksum is wrong"):
        download_pubmed(tmp_path / "two", parts=["baseline"], url=server.url)
    assert [path.name for path in (tmp_path / "two").iterdir()] == [".download.lock"]


def test_only_http_is_opened(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["download", "pubmed", str(tmp_path / "x"), "--url", "file:///etc"]) == 2
    assert "not an address of HTTP" in capsys.readouterr().err
    assert run(["download", "chemistry", str(tmp_path / "x")]) == 2
    assert "available: pubmed" in capsys.readouterr().err


def test_a_refused_range_without_a_part_is_reported(tmp_path: Path) -> None:
    def refuse(request: Request, timeout: float) -> None:
        raise HTTPError(request.full_url, 416, "Range Not Satisfiable", Message(), io.BytesIO())

    with pytest.raises(ValueError, match=r"^http://x/y: the server refused \(.*416"):
        download_file("http://x/y", tmp_path / "y", "0" * 32, opener=refuse)
    (tmp_path / ".y.part").write_bytes(b"")
    with pytest.raises(ValueError, match=r"^http://x/y: the server refused \(.*416"):
        download_file("http://x/y", tmp_path / "y", "0" * 32, opener=refuse)
