"""Bounds hold on bytes as they are unpacked; errors name the file and the place."""

from __future__ import annotations

import gzip
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

from textrank.io import (
    check_utf8,
    iter_elements,
    iter_json_items,
    iter_lines,
    iter_zip_files,
    load_json,
    open_bytes,
    read_arrays,
    read_text,
    reading,
)


def test_a_gzip_bomb_is_refused_by_what_it_unpacks_to(tmp_path: Path) -> None:
    file = tmp_path / "bomb.gz"
    file.write_bytes(gzip.compress(b"\n" * (80 << 20), 9))
    with pytest.raises(ValueError, match=r"bomb\.gz: unpacks to more than"), open_bytes(file) as s:
        list(iter(lambda: bool(s.read(1 << 18)), False))


def test_a_line_without_end_is_refused_before_it_is_held(tmp_path: Path) -> None:
    file = tmp_path / "long.gz"
    file.write_bytes(gzip.compress(b"x" * (20 << 20)))
    with pytest.raises(ValueError, match=r"has more than .* bytes after unpacking"):
        list(iter_lines(file))
    assert len(next(iter_lines(file, 30 << 20))[1]) == 20 << 20


def test_one_bad_line_does_not_hide_the_others(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"good\nb\xffd\r\ngood")
    found = dict(iter_lines(tmp_path / "x"))
    assert (found[1], found[3]) == ("good", "good")
    with pytest.raises(ValueError, match="x, line 2, byte 1: not UTF-8"):
        check_utf8(found[2], "x, line 2")


@pytest.mark.parametrize("data", ["[" * 100_000, '{"a":' * 100_000, "9" * 10_000, "{"])
def test_json_that_is_too_much_is_named(data: str) -> None:
    with pytest.raises(ValueError, match=r"^here"):
        load_json(data, "here")


def test_a_collection_is_read_one_document_at_a_time(tmp_path: Path) -> None:
    docs = [{"id": str(n), "text": "x" * 40_000} for n in range(100)]
    file = tmp_path / "c.json"
    file.write_text(json.dumps({"source": "s", "documents": docs, "end": 1}, indent=1))
    assert list(iter_json_items(file, ["documents"], 1 << 19)) == docs
    file.write_text(json.dumps(docs))
    assert list(iter_json_items(file, ["documents"], 1 << 19)) == docs
    file.write_text(json.dumps(docs)[:-500])
    with pytest.raises(ValueError, match=r"c\.json"):
        list(iter_json_items(file, ["documents"], 1 << 19))


@pytest.mark.parametrize("number", ["1234", "-12.5", "1.25e+10", "7"])
def test_a_number_at_the_end_of_a_chunk_is_one_item(
    number: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "n.json"
    for size in range(1, 12):
        monkeypatch.setattr(reading, "CHUNK_BYTES", size)
        file.write_text(f"[{number}, {number} ,\n{number}]")
        assert list(iter_json_items(file, [])) == [float(number)] * 3
        file.write_text(f"[{number}, {number}")
        with pytest.raises(ValueError, match=r"n\.json: ends inside a list"):
            list(iter_json_items(file, []))


def test_deep_and_endless_elements_are_refused(tmp_path: Path) -> None:
    deep = tmp_path / "deep.xml"
    deep.write_text("<a>" * 1000 + "</a>" * 1000)
    with pytest.raises(ValueError, match=r"deep\.xml: elements nested deeper"):
        list(iter_elements(deep, "document"))
    wide = tmp_path / "wide.xml"
    wide.write_text(f"<c><document>{'<b/>' * 50_000}</document></c>")
    with pytest.raises(ValueError, match=r"wide\.xml: .* more than 100,000 bytes"):
        list(iter_elements(wide, "document", 100_000))


def test_an_element_inside_others_is_dropped_after_use(tmp_path: Path) -> None:
    file = tmp_path / "x.xml"
    file.write_text(f"<c><set>{'<document><t>x</t></document>' * 5000}</set></c>")
    seen = [len(element) for element in iter_elements(file, "document", 40_000)]
    assert seen == [1] * 5000


def test_what_a_zip_says_of_its_sizes_is_not_believed(tmp_path: Path) -> None:
    file = tmp_path / "x.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.pos", b"\0" * (4 << 20))
    with pytest.raises(ValueError, match=r"x\.zip: a\.pos unpacks to more than 1,000,000"):
        list(iter_zip_files(file, ".pos", 1_000_000))
    file.write_bytes(file.read_bytes()[:-30])
    with pytest.raises(ValueError, match=r"x\.zip: not a readable zip"):
        list(iter_zip_files(file, ".pos"))


def test_arrays_that_claim_more_than_they_hold_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "x.npz"
    header = b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (10**12,), }"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.npy", header.replace(b"10**12", b"999999999999").ljust(128) + b"\n")
    with pytest.raises(ValueError, match=r"x\.npz: not readable as arrays"):
        read_arrays(file)
    np.savez_compressed(file, x=np.zeros(20_000_000))
    with pytest.raises(ValueError, match="unpacks to more than"):
        read_arrays(file)
    np.savez(file, x=np.arange(6.0).reshape(2, 3), e=np.zeros((0, 2)))
    assert read_arrays(file)["x"][1, 2] == 5.0


def test_text_names_the_byte_that_is_no_utf8(tmp_path: Path) -> None:
    (tmp_path / "t").write_bytes(b"ab\xff")
    with pytest.raises(ValueError, match=r"t, byte 2: not UTF-8"):
        read_text(tmp_path / "t")
