"""Slices: cut without counting, halved without loss."""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textrank.scale.job import (
    Input,
    Manifest,
    Piece,
    Slice,
    iter_input_files,
    path_checksum,
    plan_slices,
)

NUMBERS = range(200)


@given(st.sets(st.integers(0, 199), min_size=1), st.integers(1, 5))
def test_cutting_off_suspects_keeps_every_document_once(suspects: set[int], step: int) -> None:
    whole = Slice((Piece("a", 0, 0, step), Piece("b", 1)))
    pairs = [(0, n) for n in sorted(suspects) if n % step == 0] or [(1, min(suspects))]
    parts = whole.split_off(pairs)
    for source, number in [(s, n) for s in "ab" for n in NUMBERS]:
        owners = [p for part in parts for p in part.pieces if p.source == source]
        wanted = any(p.wants(number) for p in whole.pieces if p.source == source)
        assert sum(p.wants(number) for p in owners) == wanted


def test_one_document_alone_cannot_be_cut() -> None:
    alone = Slice((Piece("a", 0, only=(7,)),))
    assert alone.split_off([(0, 7)]) == []
    assert Slice((Piece("a", 0),)).split_off([]) == []


def test_ids_tell_slices_apart_and_stay() -> None:
    slices = [Slice((Piece("a", 0, first, 3),)) for first in range(3)]
    assert len({s.id for s in slices}) == 3
    assert Slice.from_dict(slices[1].to_dict()).id == slices[1].id


def test_small_files_share_a_slice_and_large_ones_are_cut(tmp_path: Path) -> None:
    inputs = {}
    for number, size in enumerate([10, 10, 1000, 10]):
        file = tmp_path / f"{number}.txt"
        file.write_text("x" * size)
        inputs[number] = Input(str(file), str(file), size, 0, "")
    slices = plan_slices(inputs, size=400)
    assert [[p.input for p in s.pieces] for s in slices] == [[2], [2], [2], [0, 1, 3]]
    assert [s.pieces[0].step for s in slices] == [3, 3, 3, 1]


def test_a_folder_stands_for_its_files_but_not_hidden_ones(tmp_path: Path) -> None:
    for name in ("b.txt", "a.jsonl", ".secret", "b.ann"):
        (tmp_path / name).write_text("x")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "c.xml").write_text("x")
    found = [Path(p).name for p in iter_input_files([str(tmp_path)])]
    assert found == ["a.jsonl", "b.txt", "c.xml"]


def test_what_tells_about_the_texts_of_a_folder_is_none_of_them(tmp_path: Path) -> None:
    for name in ("README.md", "LICENSE", "pubmed.xml.gz.md5", "notes.md", "a.txt", "readme-2.txt"):
        (tmp_path / name).write_text("GRB2 binds SOS1.")
    found = [Path(file).name for file in iter_input_files([str(tmp_path)])]
    assert found == ["a.txt", "readme-2.txt"]
    assert list(iter_input_files([str(tmp_path / "README.md")]))  # asked for by name, it is read


def test_a_corpus_inside_a_folder_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "a.jsonl").write_text('{"text": "GRB2 binds SOS1."}')
    (tmp_path / "inner" / "corpus.cfg").write_text(
        '[corpus]\n@readers = "json_lines.v1"\npath = "a.jsonl"\n'
    )
    assert list(iter_input_files([str(tmp_path)])) == [str(tmp_path / "inner" / "a.jsonl")]
    named = [str(tmp_path / "inner"), str(tmp_path / "inner" / "corpus.cfg")]
    assert list(iter_input_files(named)) == named


def test_an_input_that_is_not_there_is_named() -> None:
    with pytest.raises(ValueError, match="nowhere: no such file"):
        list(iter_input_files(["nowhere"]))


def test_checksums_of_folders_see_names_and_contents(tmp_path: Path) -> None:
    sums = []
    for name, text in [("a", "1"), ("a", "2"), ("b", "2")]:
        for file in tmp_path.iterdir():
            file.unlink()
        (tmp_path / name).write_text(text)
        sums.append(path_checksum(tmp_path))
    assert all(one != other for one, other in pairwise(sums))


CORPUS_CFG = """[corpus]
@readers = "json_lines.v1"
path = "{path}"
"""


@pytest.mark.parametrize("path", ["texts/a.jsonl", "../elsewhere/a.jsonl"])
@pytest.mark.parametrize("named", ["", "corpus.cfg"])
def test_a_change_inside_a_corpus_is_noticed(path: str, named: str, tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    file = folder / path
    for place in (folder / "texts", tmp_path / "elsewhere"):
        place.mkdir(parents=True)
    file.write_text('{"text": "GRB2 binds SOS1."}')
    (folder / "corpus.cfg").write_text(CORPUS_CFG.format(path=path))
    source = str(folder / named)
    manifest = Manifest({}).add_inputs([source])
    assert manifest.add_inputs([source]) == manifest
    rewrite_in_place(file, '{"text": "GRB2 meets SOS1."}')
    with pytest.raises(ValueError, match="has changed since"):
        manifest.add_inputs([source])


@pytest.mark.parametrize("suffix", [".ann", ".a1", ".a2"])
@pytest.mark.parametrize("named", ["", "a.txt"])
def test_annotations_belong_to_their_text(suffix: str, named: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("GRB2 binds SOS1.")
    (tmp_path / f"a{suffix}").write_text("T1\tProtein 0 4\tGRB2\n")
    source = str(tmp_path / named)
    manifest = Manifest({}).add_inputs([source])
    assert manifest.add_inputs([source]) == manifest
    rewrite_in_place(tmp_path / f"a{suffix}", "T1\tProtein 11 15\tSOS1\n")
    with pytest.raises(ValueError, match="has changed since"):
        manifest.add_inputs([source])


def test_a_touched_input_of_equal_content_is_unchanged(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("GRB2 binds SOS1.")
    manifest = Manifest({}).add_inputs([str(tmp_path)])
    os.utime(tmp_path / "a.txt", ns=(1, 1))
    assert manifest.add_inputs([str(tmp_path)]).slices == manifest.slices


def test_results_of_older_versions_go_on(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("GRB2 binds SOS1.")
    (tmp_path / "a.ann").write_text("T1\tProtein 0 4\tGRB2\n")
    text = tmp_path / "a.txt"
    status = text.stat()
    old = Input(str(text), str(text), status.st_size, status.st_mtime_ns, path_checksum(text))
    manifest = Manifest({}, (old,), tuple(plan_slices({0: old})), {"spacy": "3"})
    assert manifest.add_inputs([str(text)]) == manifest


def rewrite_in_place(file: Path, text: str) -> None:
    """Write other content; the folder keeps its size and time, the file gets a new time."""
    folder = file.parent.stat()
    file.write_text(text)
    os.utime(file, ns=(1, 1))
    os.utime(file.parent, ns=(folder.st_atime_ns, folder.st_mtime_ns))
