"""A corpus judged in parts gives the figures of the whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import textrank
from textrank.formats.detection import write_docs
from textrank.scale.distributed import evaluate_parts

SAMPLE = Path(__file__).parents[2] / "corpora" / "sample-ppi"


def parts_of(folder: Path, count: int) -> list[str]:
    """The sample in files of whole documents, written by us."""
    docs = list(textrank.load_corpus(SAMPLE)(textrank.load_nlp()))
    names = [f"{folder}/part{number}.xml" for number in range(count)]
    for number, name in enumerate(names):
        write_docs(docs[number::count], Path(name), format="ppi_xml")
    return names


def check_same(found: Any, whole: Any) -> None:
    ours, theirs = found.folds[0], whole.folds[0]
    for name in ("auc", "precision", "recall", "f"):
        assert ours.measures[name] == pytest.approx(theirs.measures[name], abs=1e-9)
    assert found.counts == whole.counts
    assert found.intervals["f"] == pytest.approx(whole.intervals["f"], abs=1e-9)


@pytest.fixture(scope="module")
def whole() -> Any:
    docs = textrank.load_corpus(SAMPLE)(textrank.load_nlp())
    return textrank.evaluate(textrank.load_model("ppi"), docs)


def test_parts_give_the_figures_of_the_whole(tmp_path: Path, whole: Any) -> None:
    check_same(evaluate_parts("ppi", parts_of(tmp_path, 3)), whole)


@pytest.mark.slow
def test_workers_of_a_cluster_give_them_too(tmp_path: Path, whole: Any) -> None:
    distributed = pytest.importorskip("distributed")
    how = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**how) as cluster, distributed.Client(cluster) as client:
        check_same(evaluate_parts("ppi", parts_of(tmp_path, 2), client), whole)


def test_a_ranking_is_refused() -> None:
    with pytest.raises(ValueError, match="only yes/no tasks"):
        evaluate_parts("parse_ranking", [])
