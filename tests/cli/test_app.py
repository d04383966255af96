"""The command line: exit codes, messages, JSON, and nothing half-written."""

from __future__ import annotations

import gc
import gzip
import json
import re
import shutil
import sys
from pathlib import Path

import pytest

from textrank.cli import GC_THRESHOLDS, main

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve one-sentence documents whose verb tells the answer, with analyses."""
    rows = []
    for n in range(12):
        verb, answer = ("binds", "True") if n % 2 else ("sees", "False")
        words = [f"A{n}", verb, f"B{n}"]
        text = " ".join(words)
        starts = [0, len(words[0]) + 1, len(words[0]) + len(verb) + 2]
        places = [f"{a}-{a + len(w) - 1}" for a, w in zip(starts, words, strict=True)]
        tokens = "".join(
            f'<token id="t{i}" charOffset="{p}" POS="NN" text="{w}" />'
            for i, (p, w) in enumerate(zip(places, words, strict=True))
        )
        rows.append(
            f'<document id="d{n}"><sentence id="d{n}.s0" text="{text}">'
            f'<entity id="d{n}.e0" charOffset="{places[0]}" />'
            f'<entity id="d{n}.e1" charOffset="{places[2]}" />'
            f'<pair id="d{n}.p0" e1="d{n}.e0" e2="d{n}.e1" interaction="{answer}" />'
            '<sentenceanalyses><parses><parse parser="p" tokenizer="split">'
            '<dependency id="1" t1="t1" t2="t0" type="nsubj" />'
            '<dependency id="2" t1="t1" t2="t2" type="dobj" /></parse></parses><tokenizations>'
            f'<tokenization tokenizer="split">{tokens}</tokenization></tokenizations>'
            "</sentenceanalyses></sentence></document>"
        )
    path = tmp_path_factory.mktemp("corpus") / "tiny.xml"
    path.write_text(f"<corpus>{''.join(rows)}</corpus>")
    return path


@pytest.fixture(scope="module")
def model(corpus: Path) -> Path:
    path = corpus.parent / "model"
    assert call("train", "ppi", corpus, path) == 0
    return path


def call(*arguments: object) -> int:
    """The exit code of a command, in this process."""
    before = sys.argv
    sys.argv = ["textrank", *map(str, arguments)]
    try:
        main()
    except SystemExit as stop:
        return int(stop.code or 0)
    finally:
        sys.argv = before
    return 0


def fails(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """The one message of a command that must fail with code 2."""
    code = call(*arguments)
    shown = capsys.readouterr()
    assert code == 2, shown.err
    assert "Traceback" not in shown.err
    return shown.err


def test_run_keeps_the_json_contract(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "figures.json"
    assert call("run", "ppi", corpus, "--folds", 4, "--seed", 3, "--splits", 2, "--json", out) == 0
    figures = json.loads(out.read_text())
    keys = [
        "task",
        "corpus",
        "procedure",
        "settings",
        "seed",
        "versions",
        "counts",
        "measures",
        "folds",
        "seconds",
    ]
    assert [key for key in keys if key not in figures] == []
    counts = {"documents": 12, "candidates": 12, "positives": 6, "unreachable": 0}
    assert figures["counts"] == counts
    assert figures["task"] == "ppi"
    assert figures["corpus"] == "tiny"
    assert figures["seed"] == 3
    assert len(figures["folds"]) == 8
    for measure in ("auc", "f", "precision", "recall"):
        assert set(figures["measures"][measure]) >= {"mean", "std"}
    assert figures["measures"]["f"]["mean"] == 1.0
    assert set(figures["seconds"]) >= {"reading", "representation", "kernel", "learner"}


def test_run_prints_a_table(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("run", "ppi", corpus, "--folds", 4) == 0
    shown = capsys.readouterr()
    assert "12 documents · 12 candidates · 6 positive" in shown.out
    assert "AUC" in shown.out
    assert shown.err == ""


def test_given_folds_by_corpus_or_plain(corpus: Path, tmp_path: Path) -> None:
    folds = {f"d{n}": n % 3 for n in range(12)}
    for number, table in enumerate((folds, {"tiny": folds})):
        (tmp_path / "folds.json").write_text(json.dumps(table))
        out = tmp_path / f"{number}.json"
        assert call("run", "ppi", corpus, "--folds", tmp_path / "folds.json", "--json", out) == 0
        assert len(json.loads(out.read_text())["folds"]) == 3


def test_set_changes_one_value(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "figures.json"
    options = ["--set", "learner.alphas=[2.0]", "--folds", 3, "--json", out]
    assert call("run", "ppi-apg" if _has("ppi-apg") else "ppi", corpus, *options) == 0
    assert json.loads(out.read_text())["settings"]["learner"]["alphas"] == [2.0]


def test_evaluate_and_apply_use_a_trained_model(
    corpus: Path, model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "figures.json"
    assert call("evaluate", model, corpus, "--json", out) == 0
    figures = json.loads(out.read_text())
    assert figures["measures"]["auc"] == pytest.approx({"mean": 1.0, "std": 0.0, "undefined": 0})
    assert "trained on tiny" in figures["procedure"]
    assert call("evaluate", model, corpus, "--positives", "1.0", "--json", out) == 0
    figures = json.loads(out.read_text())
    assert "yes to a share of 1, as asked" in figures["procedure"]
    assert figures["measures"]["precision"]["mean"] == pytest.approx(0.5)
    assert call("evaluate", model, corpus, "--positives", "auto", "--json", out) == 0
    figures = json.loads(out.read_text())
    assert "threshold at the mean of the test scores" in figures["procedure"]
    assert figures["measures"]["f"]["mean"] == pytest.approx(1.0)
    capsys.readouterr()
    for wrong in ("half", "1.5"):
        assert call("evaluate", model, corpus, "--positives", wrong) == 2
        assert "give a share between 0 and 1" in capsys.readouterr().err
    assert call("apply", model, corpus) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(rows) == 12
    assert rows[1]["textrank_ppi"][0]["names"] == ["A1", "B1"]
    assert [row["textrank_ppi"][0]["interacts"] for row in rows] == [n % 2 == 1 for n in range(12)]


def test_errors_of_a_report_and_their_explanations_lead_to_one_another(
    corpus: Path, model: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "report"
    assert call("evaluate", model, corpus, "--positives", "1.0", "--report", folder) == 0
    report, why = ((folder / f"{name}.html").read_text() for name in ("report", "explanations"))
    links = re.findall(r'href="explanations.html#(e\d+)"', report)
    assert len(links) == 6  # every second of twelve is no, and all were told yes
    assert re.findall(r'<article class="why" id="(e\d+)"', why) == links
    back = re.findall(r'href="report.html#(e\d+)"', why)
    assert back == links
    assert all(f'<li id="{name}"' in report for name in back)


def test_info_lists_and_describes(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("info") == 0
    assert "all_paths.v1" in capsys.readouterr().out
    assert call("info", "all_paths.v1") == 0
    shown = capsys.readouterr().out
    assert "combine" in shown
    assert "textrank.kernels.graphs" in shown


@pytest.mark.parametrize("command", ["run", "train", "evaluate", "apply", "info"])
def test_help_has_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(command, "--help") == 0
    assert "Example:" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "ppi", "{gone}"], r"gone\.xml: no such file"),
        (["run", "nosuch", "{corpus}"], "no pipeline 'nosuch'"),
        (["run", "ppi", "{corpus}", "--set", "learner.alphaz=1"], "no setting 'alphaz'.*alphas"),
        (["run", "ppi", "{corpus}", "--set", "learnr.alphas=1"], "no block 'learnr'"),
        (["run", "ppi", "{corpus}", "--set", "learner.alphas=[0]"], "alphas"),
        (["run", "ppi", "{corpus}", "--set", "learner.@learners=x.v1"], "registered as 'x.v1'"),
        (["run", "ppi", "{corpus}", "--folds", "{gone}"], "no such file"),
        (["run", "ppi", "{corpus}", "--folds", "99"], "cannot divide 12 documents into 99 folds"),
        (["evaluate", "nosuch", "{corpus}"], "nosuch: no such model"),
        (["run", "ppi", "{corpus}", "--json", "{gone}/x.json"], "does not exist"),
        (["info", "nosuch"], "nothing is registered as 'nosuch'"),
        (["run", "ppi"], "Missing argument"),
    ],
)
def test_mistakes_end_with_code_2_and_one_message(
    corpus: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    words: str,
) -> None:
    import re

    filled = [a.format(corpus=corpus, gone=tmp_path / "gone.xml") for a in arguments]
    assert re.search(words, fails(capsys, *filled))


def test_broken_corpora_leave_nothing_behind(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = corpus.read_text()
    broken = {
        "truncated.xml.gz": gzip.compress(text.encode())[:-20],
        "bomb.xml": b'<!DOCTYPE c [<!ENTITY a "x"><!ENTITY b "&a;&a;">]><corpus>&b;</corpus>',
        "outside.xml": text.replace('charOffset="0-1"', 'charOffset="0-999"', 1).encode(),
        "empty.xml": b"<corpus></corpus>",
        "nothing.xml": b"",
    }
    folder = tmp_path / "files"
    folder.mkdir()
    for name, content in broken.items():
        (folder / name).write_bytes(content)
        message = fails(capsys, "run", "ppi", folder / name, "--json", tmp_path / "out.json")
        assert name in message
        assert fails(capsys, "train", "ppi", folder / name, tmp_path / "model")
    options = ["--set", "task.entities=nothing"]
    assert "no span group 'nothing'" in fails(capsys, "train", "ppi", corpus, "m", *options)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["files"]


def test_unknown_analysis_is_named(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(corpus, tmp_path / "tiny.xml")
    (tmp_path / "corpus.cfg").write_text(
        '[corpus]\n@readers = "ppi_xml.v1"\npath = "tiny.xml"\nanalysis = "stanford"\n'
    )
    assert "no analysis 'stanford'" in fails(capsys, "run", "ppi", tmp_path)


@pytest.mark.parametrize("name", ["arrays.npz", "config.cfg", "meta.json"])
@pytest.mark.parametrize("how", ["missing", "damaged"])
def test_a_broken_model_is_refused(
    model: Path,
    corpus: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
    how: str,
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(model, copy)
    if how == "missing":
        (copy / name).unlink()
    else:
        content = (copy / name).read_bytes()
        (copy / name).write_bytes(content[: len(content) // 2])
    message = fails(capsys, "evaluate", copy, corpus)
    assert name in message
    assert str(copy) in message


def test_a_foreign_folder_is_not_overwritten(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.txt").write_text("years of work")
    message = fails(capsys, "train", "ppi", corpus, tmp_path / "thesis")
    assert "is not a model" in message
    assert (tmp_path / "thesis" / "chapter.txt").read_text() == "years of work"


def _has(pipeline: str) -> bool:
    return (ROOT / "pipelines" / f"{pipeline}.cfg").is_file()


def test_models_are_left_out_of_the_search_for_garbage(tmp_path, monkeypatch, capsys):
    """Which walks through all that was made since: a model, each time."""
    calls = []
    monkeypatch.setattr("gc.freeze", lambda: calls.append("freeze"))
    monkeypatch.setattr("gc.set_threshold", lambda *numbers: calls.append(numbers))
    (tmp_path / "a.txt").write_text("It was quite.", "utf-8")
    monkeypatch.setattr(sys, "argv", ["textrank", "apply", "spelling", str(tmp_path / "a.txt")])
    with pytest.raises(SystemExit, match="0"):
        main()
    assert calls == [GC_THRESHOLDS, "freeze"]
    assert json.loads(capsys.readouterr().out)["document"]


def test_nothing_stays_out_of_the_search_for_garbage_after_apply(tmp_path):
    """Otherwise Python cannot free it at exit, and DuckDB reports pages of leaks."""
    (tmp_path / "a.txt").write_text("It was quite.", "utf-8")
    assert call("apply", "spelling", tmp_path / "a.txt") == 0
    assert gc.get_freeze_count() == 0
