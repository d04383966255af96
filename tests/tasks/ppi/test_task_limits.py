"""A sentence of any size needs bounded memory, and what is left out is said."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import spacy
from spacy.tokens import Doc, Span

from textrank import candidates
from textrank.candidates import Candidate, chunk_candidates
from textrank.tasks.ppi.task import MAX_PAIR_TOKENS_SQUARED, PPI


def listed(count: int, between: int = 1) -> Doc:
    words = [word for n in range(count) for word in (f"GRB{n}", *["and"] * between)]
    doc = Doc(spacy.blank("en").vocab, words=words, sent_starts=[True] + [False] * (len(words) - 1))
    doc.spans["entities"] = [Span(doc, n, n + 1) for n in range(0, len(words), between + 1)]
    return doc


def test_pairs_of_close_names_stay_and_the_rest_is_told() -> None:
    doc = listed(400)
    with pytest.warns(UserWarning, match="of 79,800 pairs left out"):
        found = PPI().candidates(doc)
    assert 0 < len(found) <= MAX_PAIR_TOKENS_SQUARED // 800**2
    assert {c.spans[1].start - c.spans[0].start for c in found} == {2}


def test_a_long_list_is_judged_whole() -> None:
    assert len(PPI().candidates(listed(40))) == 780


def test_a_sentence_beyond_reason_has_no_pairs() -> None:
    with pytest.warns(UserWarning, match="1 of 1 pairs left out"):
        assert PPI().candidates(listed(2, between=2000)) == []


def test_portions_are_bounded_by_words_and_lose_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "MAX_CHUNK_WORDS", 100)
    everyone = PPI().candidates(listed(10))
    parts = list(chunk_candidates(everyone))
    assert [c for part in parts for c in part] == everyone
    assert all(20 * len(part) <= 100 for part in parts)
    assert list(chunk_candidates([])) == []


def test_names_of_an_endless_sentence_make_no_more_portions_than_others() -> None:
    """Each portion reads its text anew."""
    doc = listed(3000)
    alone = [Candidate(doc, (span,), "d") for span in doc.spans["entities"]]
    parts = list(chunk_candidates(alone))
    assert [c for part in parts for c in part] == alone
    assert len(parts) == 1


def test_what_is_no_protein_is_not_paired(make_doc: Callable[..., Doc]) -> None:
    doc = make_doc(["Aspirin", "binds", "COX1"], heads=[1, 1, 1], deps=["a", "ROOT", "b"])
    doc.spans["entities"] = [Span(doc, 0, 1, label="DRUG"), Span(doc, 2, 3, label="protein")]
    assert PPI().candidates(doc) == []
    assert len(PPI(labels=["DRUG", "protein"]).names(doc)) == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "text", [" and ".join(f"GRB{i}" for i in range(400)), "a-" * 50_000], ids=["names", "hyphens"]
)
def test_one_sentence_stays_within_bounded_memory(text: str, tmp_path: Path) -> None:
    """These took 11.8 GB and 1.3 GB; here they must do with 3 GB of addresses."""
    (tmp_path / "x.txt").write_text(text)
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30));"
        "from textrank.cli.app import run; sys.exit(run(sys.argv[1:]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "apply", "ppi", str(tmp_path / "x.txt")],
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr[-500:]
    assert "not enough memory" not in done.stderr
