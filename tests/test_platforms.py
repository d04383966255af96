"""Names, line ends and encodings of Windows and macOS, as far as Linux can show them."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import unicodedata
from pathlib import Path, PureWindowsPath

import pytest
import spacy
from spacy.pipeline import Sentencizer
from spacy.tokens import Doc

from tests.campaign import samples
from textrank.config import load_corpus
from textrank.formats.base import WINDOWS_DEVICES, UniqueFileNames
from textrank.formats.detection import write_docs
from textrank.lint.linter import changed_lines

NLP = spacy.blank("en")
IDS = (
    "a", "A", "Ab", "aB", "AB", "ab", "%41", "con", "CON", "cOn", "Con.x", "con.x", "nul", "AUX",
    "COM1", "lpt9.txt", "\u00e9", "e\u0301", "\u00c9", "a:b", "a\\b", "a/b", "C:\\x", "..", ".",
    "x.", "x ", " x", "x|y", "x?", "x*", '"x"', "<x>", "\t", "\u03b2-catenin", "\u212b",
)  # fmt: skip


def docs(ids: tuple[str, ...] = IDS) -> list[Doc]:
    made = []
    for number, name in enumerate(ids):
        doc = NLP(f"Text number {number}.")
        doc.user_data["document"] = name
        doc.spans["entities"] = []
        made.append(doc)
    return made


@pytest.mark.parametrize("format", ["text", "brat"])
@pytest.mark.parametrize("order", [1, -1])
def test_ids_become_names_of_different_files_on_every_system(
    format: str, order: int, tmp_path: Path
) -> None:
    made = docs(IDS[::order])
    write_docs(made, tmp_path / "out", format=format)
    files = [file.name for file in (tmp_path / "out").iterdir() if file.suffix == ".txt"]
    assert len(files) == len(IDS)
    assert len({unicodedata.normalize("NFD", name).casefold() for name in files}) == len(IDS)
    for name in files:
        assert PureWindowsPath(name).name == name
        assert name.isascii()
        assert not set(name) & set('<>:"/\\|?*\t')
        assert name.partition(".")[0].rstrip().lower() not in WINDOWS_DEVICES
    again = {doc.user_data["document"]: doc.text for doc in load_corpus(tmp_path / "out")(NLP)}
    assert again == {doc.user_data["document"]: doc.text for doc in made}


def test_the_same_id_twice_is_refused_in_any_spelling_of_its_file() -> None:
    for ids in (("a", "a"), ("a", "A", "A"), ("con", "con"), ("A", "a", "a")):
        names = UniqueFileNames()
        *first, last = docs(ids)
        for doc in first:
            names.name_for(doc)
        with pytest.raises(ValueError, match="two documents have the id"):
            names.name_for(last)


def test_an_id_that_no_file_name_can_hold_is_refused_by_name(tmp_path: Path) -> None:
    write_docs(docs(("x" * 250,)), tmp_path / "fits", format="text")
    for name in ("x" * 251, "\u03b2" * 60):
        with pytest.raises(ValueError, match=r"the id .* is too long for the name of a file"):
            write_docs(docs((name,)), tmp_path / "out", format="text")
    assert not (tmp_path / "out").exists()


def test_long_paths(tmp_path: Path) -> None:
    """Longer than the 260 characters that old programs on Windows can open."""
    folder = tmp_path.joinpath(*["folder with blanks and \u00e9" * 2] * 7)
    folder.mkdir(parents=True)
    file = folder / "a.jsonl"
    assert len(str(file)) > 300
    write_docs([Sentencizer()(doc) for doc in docs(("one",))], file)
    assert [doc.user_data["document"] for doc in load_corpus(file)(NLP)] == ["one"]


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_names_of_files_keep_the_form_that_the_system_gives(form: str, tmp_path: Path) -> None:
    """macOS may give a name back decomposed; annotations beside a text are found all the same."""
    name = unicodedata.normalize(form, "caf\u00e9 \u00c5")
    (tmp_path / f"{name}.txt").write_text("SHC binds GRB2.", encoding="utf-8")
    (tmp_path / f"{name}.ann").write_text("T1\tprotein 0 3\tSHC\n", encoding="utf-8")
    (doc,) = load_corpus(tmp_path)(NLP)
    assert doc.user_data["document"] == name
    assert [span.text for span in doc.spans["entities"]] == ["SHC"]


def read_plain(file: Path) -> list[tuple[object, str, list[tuple[int, int]]]]:
    return [
        (
            doc.user_data["document"],
            doc.text,
            [(s.start_char, s.end_char) for s in doc.spans.get("entities", [])],
        )
        for doc in load_corpus(file)(NLP)
    ]


LINE_FORMATS = (
    "a.jsonl", "a.json", "a.bioc.xml", "a.pubtator", "a.conllu", "a.xml", "pubmed.xml", "a.nxml",
    "a.nbib", "a.csv", "a.html", "a.letor",
)  # fmt: skip


@pytest.mark.parametrize("name", LINE_FORMATS)
@pytest.mark.parametrize("packed", [False, True])
def test_files_written_on_windows_are_read_alike(name: str, packed: bool, tmp_path: Path) -> None:
    """A byte order mark, and line ends of two characters, outside of texts."""
    plain = samples.files()[name]
    file = tmp_path / (f"{name}.gz" if packed else name)
    pack = gzip.compress if packed else bytes
    file.write_bytes(pack(plain))
    expected = read_plain(file)
    file.write_bytes(pack(b"\xef\xbb\xbf" + plain.replace(b"\n", b"\r\n")))
    read = read_plain(file)
    assert [row[0] for row in read] == [row[0] for row in expected]
    assert [row[1].replace("\r\n", "\n") for row in read] == [row[1] for row in expected]
    if "\r" not in "".join(row[1] for row in read):
        assert read == expected


@pytest.mark.parametrize("name", ["A.TXT", "A.CSV", "A.JSONL", "A.XML", "A.NXML", "A.CONLLU"])
def test_suffixes_in_capitals(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(samples.files()[name.lower()])
    assert read_plain(tmp_path / name)


def run_textrank(*arguments: str, folder: Path, **settings: str) -> tuple[int, bytes, bytes]:
    """Return exit code, output and errors of a command, as bytes."""
    command = [sys.executable, "-m", "textrank", *arguments]
    environment = os.environ | {"PYTHONUTF8": "0", **settings}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="locales of POSIX")
def test_files_are_utf8_whatever_the_locale(tmp_path: Path) -> None:
    """As on Windows, where the default encoding of Python is not UTF-8."""
    text = "Na\u00efve \u03b2-catenin binds \u2603."
    (tmp_path / "t.csv").write_bytes(f"\ufeffid,text\r\nd\u00e9,{text}\r\n".encode())
    arguments = ("convert", "t.csv", "t.jsonl")
    done = run_textrank(*arguments, folder=tmp_path, LC_ALL="C", PYTHONCOERCECLOCALE="0")
    assert done == (0, b"t.jsonl: 1 documents\n", b"")
    (row,) = map(json.loads, (tmp_path / "t.jsonl").read_text("utf-8").splitlines())
    assert (row["id"], row["text"]) == ("d\u00e9", text)


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "utf-16"])
def test_output_to_a_pipe_is_utf8(encoding: str, tmp_path: Path) -> None:
    """Python takes cp1252 on Windows, which has no Greek letters."""
    (tmp_path / "t.csv").write_text("id,text\nd,text\n")
    arguments = ("convert", "t.csv", "\u03b2.jsonl")
    code, out, errors = run_textrank(*arguments, folder=tmp_path, PYTHONIOENCODING=encoding)
    assert (code, errors) == (0, b"")
    assert out.decode("utf-8") == "\u03b2.jsonl: 1 documents\n"
    code, out, errors = run_textrank(
        "convert", "\u03b1.csv", "b.jsonl", folder=tmp_path, PYTHONIOENCODING=encoding
    )
    assert (code, out) == (2, b"")
    assert "\u03b1.csv: no such file" in errors.decode("utf-8")


def test_changes_of_a_file_in_any_encoding_are_found(tmp_path: Path) -> None:
    """The answer of git holds the old bytes of the file, and lines that look like its own."""
    file = tmp_path / "a.md"
    run = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    file.write_bytes("caf\u00e9 \u201e\r@@ -1 +700 @@\nsame\n".encode("cp1252", "replace"))
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "first"]):
        subprocess.run([*run, *command], cwd=tmp_path, check=True)
    file.write_text("caf\u00e9\nsame\n", encoding="utf-8")
    assert changed_lines(file, "HEAD") == {1}
