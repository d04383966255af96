"""Tables of the sources: kept, run again only for other settings, shown beside the source."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from textrank.cli.app import run
from textrank.reproduce import (
    EXPERIMENTS,
    Figure,
    RunSettings,
    load_tables,
    reproduce_table,
    select_experiments,
)
from textrank.reproduce.base import (
    Experiment,
    format_cell,
    format_page,
    format_section,
    get_not_reproduced,
    get_published,
    get_sources,
)


@pytest.fixture
def letor(tmp_path: Path) -> Experiment:
    """A table whose figures are made up, and which counts how often it was run."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "some.txt").write_text("numbers")
    calls = []

    def made_up(setting: RunSettings):
        calls.append(setting)
        return {"RankRLS": {"OHSUMED": Figure(0.5, 0.01), "MQ2008": Figure(0.2 + setting.seed)}}

    experiment = Experiment("letor", made_up, files=("some.txt",))
    object.__setattr__(experiment, "calls", calls)
    return experiment


def test_a_table_is_run_once(letor, tmp_path):
    setting = RunSettings(tmp_path / "data")
    first, new = reproduce_table(letor, setting, tmp_path)
    second, again = reproduce_table(letor, setting, tmp_path)
    assert (new, again, len(letor.calls)) == (True, False, 1)
    assert second.cells == first.cells


@pytest.mark.parametrize("change", ["seed", "file", "damaged"])
def test_other_settings_run_it_again(letor, tmp_path, change):
    setting = RunSettings(tmp_path / "data")
    reproduce_table(letor, setting, tmp_path)
    if change == "file":
        (tmp_path / "data" / "some.txt").write_text("other numbers")
    if change == "damaged":
        (tmp_path / "letor.json").write_text('{"figures": 3}')
        with pytest.raises(ValueError, match=r"letor\.json: not a table of textrank reproduce"):
            reproduce_table(letor, setting, tmp_path)
        return
    table, new = reproduce_table(
        letor, RunSettings(setting.data, seed=int(change == "seed")), tmp_path
    )
    assert new
    assert table.cells["RankRLS"]["MQ2008"].mean == 0.2 + (change == "seed")


def test_a_missing_file_is_named_before_the_work(letor, tmp_path):
    with pytest.raises(ValueError, match=r"some\.txt: no such file.*--data"):
        letor.check(RunSettings(tmp_path))


def test_the_section_says_where_ours_are_worse(letor, tmp_path):
    table, _ = reproduce_table(letor, RunSettings(tmp_path / "data"), tmp_path)
    assert format_cell(table, "RankRLS", "OHSUMED") == "0.340 → **0.500** ±0.010"
    assert format_cell(table, "RankRLS", "MQ2008") == "**0.200**"
    assert format_cell(table, "RLS", "OHSUMED") == "0.346 → –"
    assert "**Ours are worse** in 1 of 1 cells: RankRLS, OHSUMED (+0.160)" in format_section(table)


def test_the_file_holds_both_figures(letor, tmp_path):
    reproduce_table(letor, RunSettings(tmp_path / "data"), tmp_path)
    data = json.loads((tmp_path / "letor.json").read_text())
    row = next(r for r in data["figures"] if r["column"] == "OHSUMED")
    assert (row["source"], row["ours"], row["spread"]) == (0.34, 0.5, 0.01)
    assert data["settings"]["files"] == {"some.txt": 7}


@pytest.mark.parametrize("name", list(EXPERIMENTS))
def test_every_table_has_its_words_and_its_source(name):
    words = EXPERIMENTS[name].text
    assert words.title
    assert words.differs.endswith(".")
    assert get_published(name)["source"] in get_sources()


def test_every_source_has_at_least_two_tables():
    count = dict.fromkeys(get_sources(), 0)
    for name in EXPERIMENTS:
        count[get_published(name)["source"]] += 1
    assert min(count.values()) >= 2


def test_a_wrong_name_fails_with_the_right_ones():
    with pytest.raises(ValueError, match=r"unknown table 'nonsense'\. Available: .*letor"):
        select_experiments(["nonsense"])


def test_the_command_lists_and_keeps_a_page(tmp_path, capsys, monkeypatch):
    assert run(["reproduce", "--list"]) == 0
    assert "multiclass" in capsys.readouterr().out
    made_up = Experiment("multiclass", lambda _: {"iris": {"one-vs-all": Figure(0.04)}})
    monkeypatch.setattr("textrank.reproduce.catalogue.EXPERIMENTS", {"multiclass": made_up})
    words = ["reproduce", "multiclass", "--out", str(tmp_path / "out"), "--data", str(tmp_path)]
    assert run(words) == 0
    assert "0.040" in (tmp_path / "out" / "index.md").read_text()
    assert run(words) == 0
    assert "already done" in capsys.readouterr().out
    assert len(load_tables(tmp_path / "out")) == 1


def test_the_page_in_the_docs_is_the_one_its_figures_make():
    folder = Path(__file__).parents[2] / "docs" / "reproduce"
    assert (folder / "index.md").read_text("utf-8") == format_page(load_tables(folder))


@pytest.mark.parametrize("name", list(EXPERIMENTS))
def test_the_figures_in_the_docs_are_those_of_the_present_set_up(name):
    folder = Path(__file__).parents[2] / "docs" / "reproduce"
    settings = json.loads((folder / f"{name}.json").read_text("utf-8"))["settings"]
    assert settings["revision"] == EXPERIMENTS[name].revision


def test_what_is_not_reproduced_is_listed_with_a_reason(letor, tmp_path):
    table, _ = reproduce_table(letor, RunSettings(tmp_path / "data"), tmp_path)
    page = format_page([table])
    for where, reason in get_not_reproduced(get_published("letor")["source"]):
        assert reason.endswith(".")
        assert f"- {where}: {reason}" in page
