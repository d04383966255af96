from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from textrank.features import FeatureNames, Features, MultiView
from textrank.graphs import GraphBatch, LabelledGraph
from textrank.io import (
    atomic_model_folder,
    pack_arrays,
    read_arrays,
    unpack_arrays,
    verify_manifest,
    write_arrays,
    write_manifest,
)

FEATURES = Features(
    sp.csr_array([[1.0, 0.0], [0.0, 2.0]]), FeatureNames.from_iterable([("a", "b"), ("c\n",)])
)
GRAPHS = GraphBatch.from_graphs(
    [LabelledGraph(["a", "b"], {(0, 1): 0.5}), LabelledGraph(["c"], {})]
)


def through(value: Any, folder: Path) -> Any:
    write_arrays(folder / "arrays.npz", pack_arrays(value))
    return unpack_arrays(read_arrays(folder / "arrays.npz"))


def test_features_come_back(tmp_path: Path) -> None:
    again = through(FEATURES, tmp_path)
    np.testing.assert_array_equal(again.values.toarray(), FEATURES.values.toarray())
    assert list(again.names) == list(FEATURES.names)


def test_graphs_come_back(tmp_path: Path) -> None:
    assert list(through(GRAPHS, tmp_path)) == list(GRAPHS)


def test_views_come_back_in_order(tmp_path: Path) -> None:
    views = MultiView({"z": np.eye(2), "graphs": GRAPHS, "a": FEATURES})
    again = through(views, tmp_path)
    assert list(again.views) == ["z", "graphs", "a"]
    np.testing.assert_array_equal(again.view("z"), np.eye(2))


@pytest.mark.parametrize(
    "values", [["text", "ä", ""], [1, 2.5], [["a", "b"], []], [{"a": 0.1}], []]
)
def test_plain_values_come_back(values: list[object], tmp_path: Path) -> None:
    assert through(values, tmp_path) == values


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ([{"a", "b"}], "a list of set cannot be saved"),
        ([("a", "b")], "a list of tuple cannot be saved"),  # they would come back as lists
        ([float("nan")], "a list of float cannot be saved"),
        ([{1: "a"}], "a list of dict cannot be saved"),
        (("a",), "a tuple cannot be saved"),
        ("text", "a str cannot be saved"),
    ],
)
def test_what_would_not_come_back_is_refused(values: object, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        pack_arrays(values)


def test_values_nested_without_end_are_refused() -> None:
    deep = np.frombuffer(b"[" * 100_000 + b"]" * 100_000, dtype=np.uint8)
    with pytest.raises(ValueError, match="nested too deeply"):
        unpack_arrays({"x:values": deep})


def test_an_array_of_objects_is_not_read(tmp_path: Path) -> None:
    np.savez(tmp_path / "evil.npz", x=np.array([{"code": 1}], dtype=object))
    with pytest.raises(ValueError, match=r"evil\.npz: not readable"):
        read_arrays(tmp_path / "evil.npz")


def test_same_arrays_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_arrays(tmp_path / name, pack_arrays(FEATURES))
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_a_failure_leaves_the_old_folder(tmp_path: Path) -> None:
    with atomic_model_folder(tmp_path / "model") as folder:
        (folder / "x").write_text("old")
        write_manifest(folder, {"n": 1})
    with pytest.raises(FileNotFoundError), atomic_model_folder(tmp_path / "model") as folder:
        (folder / "no such folder" / "x").write_text("new")
    assert (tmp_path / "model" / "x").read_text() == "old"
    assert verify_manifest(tmp_path / "model")["n"] == 1
    assert [p.name for p in tmp_path.iterdir()] == ["model"]
