"""Models and pipelines can be sent to other processes, fresh or used, however these start."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from textrank.component import load_language
from textrank.config import load_model, model_names
from textrank.language import load_nlp

TEXT = "The protein GRB2 binds to SOS1. It is larger then the other, and p53 activates MDM2."
ROOT = Path(__file__).parents[1]


def send(value: Any) -> Any:
    """Return what another process would receive."""
    return pickle.loads(pickle.dumps(value))


def test_the_shipped_pipeline_can_be_sent_before_and_after_use() -> None:
    nlp = load_nlp()

    def answers(pipeline: Any) -> list[Any]:
        doc = pipeline(TEXT)
        return [doc.to_json(), [(s.text, s.kb_id_) for s in doc.spans["entities"]]]

    fresh = send(nlp)
    expected = answers(nlp)
    assert answers(fresh) == expected
    assert answers(send(nlp)) == expected


@pytest.mark.parametrize("name", model_names())
def test_a_model_can_be_sent_before_and_after_use(name: str) -> None:
    model = load_model(name)
    nlp = load_language(None, model.pipeline.task, raw=True)
    attribute = f"textrank_{model.pipeline.task.name}"
    fresh = send(model)
    expected = getattr(model(nlp(TEXT))._, attribute)
    assert expected
    assert getattr(fresh(nlp(TEXT))._, attribute) == expected
    assert getattr(send(model)(nlp(TEXT))._, attribute) == expected


SCRIPT = """
import multiprocessing, sys
from textrank.config import load_model
from textrank.language import load_nlp

def score(model, text):
    nlp = load_nlp(only=["genes", "parser"])
    return [row["score"] for row in model(nlp(text))._.textrank_ppi]

if __name__ == "__main__":
    method, text = sys.argv[1:]
    multiprocessing.set_start_method(method)
    nlp = load_nlp()
    nlp.add_pipe("textrank_ppi")
    texts = [text, text.replace("GRB2", "SHC1"), "No names.", text]
    one = [doc._.textrank_ppi for doc in nlp.pipe(texts)]
    two = [doc._.textrank_ppi for doc in nlp.pipe(texts, n_process=2, batch_size=2)]
    assert one[0], "no answer"
    assert one == two, (one, two)
    model = load_model("ppi")
    with multiprocessing.get_context(method).Pool(1) as pool:
        assert pool.apply(score, (model, text)) == score(model, text)
    print("equal")
"""


@pytest.mark.slow
@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])
def test_processes_give_equal_answers(method: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, str(script), method, TEXT],
        cwd=ROOT, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.stdout.strip() == "equal", done.stderr[-2000:]


@pytest.mark.slow
def test_joblib_sends_models() -> None:
    joblib = pytest.importorskip("joblib")
    model = load_model("gene_protein")
    nlp = load_language(None, model.pipeline.task, raw=True)
    candidates = model.pipeline.task.candidates(nlp(TEXT))
    assert candidates
    model.score(candidates)
    call = joblib.delayed(type(model).prune)
    smaller, _ = joblib.Parallel(n_jobs=2)([call(model, 5), call(model, 6)])
    assert len(smaller.names) == 5
