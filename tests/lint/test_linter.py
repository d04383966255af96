"""The linter on files: places, formats, exit codes, settings, changed lines."""

from __future__ import annotations

import json
import subprocess

import pytest

from textrank.cli.app import run
from textrank.lint import Linter
from textrank.lint.linter import Settings

WRONG = "This one is larger then the other.\n"
RIGHT = "This one is larger than the other.\n"


@pytest.fixture(scope="module")
def linter():
    return Linter()


def test_a_wrong_word_is_found_at_its_place(linter):
    (one,) = linter(f"Fine.\n\n{WRONG}", file="a.md", kind="markdown")
    assert (one.line, one.column, one.word, one.proposal) == (3, 20, "then", "than")
    assert one.offset == 26
    assert one.length == 4
    assert one.because


def test_right_words_and_code_are_left_alone(linter):
    assert linter(RIGHT) == []
    assert linter(f"    {WRONG}", kind="markdown") == []


def test_words_of_the_user_are_never_judged():
    assert Linter(words=["then"])(WRONG) == []


def spell(capsys, *arguments):
    code = run(["spell", *map(str, arguments)])
    return code, capsys.readouterr()


def test_exit_codes_and_lines_are_those_of_linters(tmp_path, capsys):
    wrong, right = tmp_path / "wrong.txt", tmp_path / "right.txt"
    wrong.write_text(WRONG)
    right.write_text(RIGHT)
    code, shown = spell(capsys, wrong)
    assert code == 1
    assert shown.out.startswith(f"{wrong}:1:20: then → than")
    assert spell(capsys, right)[0] == 0
    code, shown = spell(capsys, tmp_path / "missing.txt")
    assert code == 2
    assert "missing.txt" in shown.err


def test_json_has_the_stable_keys(tmp_path, capsys):
    file = tmp_path / "a.txt"
    file.write_text(WRONG)
    (row,) = json.loads(spell(capsys, file, "--format", "json")[1].out)
    keys = [
        "file",
        "line",
        "column",
        "offset",
        "length",
        "word",
        "proposal",
        "probability",
        "because",
    ]
    assert list(row) == keys


def test_diff_and_fix(tmp_path, capsys):
    file = tmp_path / "a.txt"
    file.write_text(WRONG)
    shown = spell(capsys, file, "--format", "diff")[1].out
    assert "-This one is larger then" in shown
    assert "+This one is larger than" in shown
    assert spell(capsys, file, "--fix")[0] == 1
    assert file.read_text() == RIGHT
    assert spell(capsys, file)[0] == 0


def test_settings_of_the_project_count(tmp_path, capsys):
    (tmp_path / "pyproject.toml").write_text('[tool.textrank.spell]\nwords = ["then"]\n')
    file = tmp_path / "a.txt"
    file.write_text(WRONG)
    assert spell(capsys, file)[0] == 0
    (tmp_path / "pyproject.toml").write_text("[tool.textrank.spell]\nwrods = []\n")
    code, shown = spell(capsys, file)
    assert code == 2
    assert "wrods" in shown.err


def test_only_changed_lines_are_judged(tmp_path, capsys):
    file = tmp_path / "a.txt"
    file.write_text(WRONG)
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@t", "-C", str(tmp_path)]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
        subprocess.run([*git, *words], check=True)
    assert spell(capsys, file, "--since", "HEAD")[0] == 0
    file.write_text(f"{WRONG}\nSurely this one is larger then the other.\n")
    code, shown = spell(capsys, file, "--since", "HEAD")
    assert code == 1
    assert ":3:" in shown.out
    assert ":1:" not in shown.out


def test_sarif_has_a_result_with_place_and_fix(tmp_path, capsys):
    file = tmp_path / "a.txt"
    file.write_text(f"Fine.\n{WRONG}")
    log = json.loads(spell(capsys, file, "--format", "sarif")[1].out)
    assert log["version"] == "2.1.0"
    (run_,) = log["runs"]
    (result,) = run_["results"]
    assert result["ruleId"] in {rule["id"] for rule in run_["tool"]["driver"]["rules"]}
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == file.as_posix()
    region = {"startLine": 2, "startColumn": 20, "charOffset": 25, "charLength": 4}
    assert place["region"] == region
    (change,) = result["fixes"][0]["artifactChanges"]
    assert change["replacements"][0]["insertedContent"]["text"] == "than"
    file.write_text(RIGHT)
    log = json.loads(spell(capsys, file, "--format", "sarif")[1].out)
    assert log["runs"][0]["results"] == []


def test_a_dictionary_beside_the_settings_lists_words_and_pairs(tmp_path, capsys):
    settings = tmp_path / "pyproject.toml"
    settings.write_text('[tool.textrank.spell]\ndictionary = ["words.txt"]\n')
    (tmp_path / "docs").mkdir()
    file = tmp_path / "docs" / "a.txt"
    file.write_text(WRONG)
    code, shown = spell(capsys, file)
    assert code == 2
    assert "words.txt" in shown.err
    for entry, expected in (("then", 0), ("then/than  # a pair", 0), ("# then", 1), ("than", 1)):
        (tmp_path / "words.txt").write_text(f"{entry}\n")
        assert spell(capsys, file)[0] == expected


@pytest.mark.parametrize(
    "line",
    ['words = "then"', "words = [1]", 'precision = "high"', "precision = 1.5", "style = 1"],
)
def test_wrong_settings_are_refused_by_name(tmp_path, capsys, line):
    (tmp_path / "pyproject.toml").write_text(f"[tool.textrank.spell]\n{line}\n")
    file = tmp_path / "a.txt"
    file.write_text(RIGHT)
    code, shown = spell(capsys, file)
    assert code == 2
    assert line.split()[0] in shown.err
    assert "pyproject.toml" in shown.err


@pytest.mark.parametrize(
    ("text", "section"),
    [
        ("tool = 1", "tool"),
        ("[tool]\ntextrank = []", "tool.textrank"),
        ("[tool.textrank]\nspell = 3", "tool.textrank.spell"),
        ('[tool.textrank]\nspell = "then"', "tool.textrank.spell"),
    ],
)
def test_settings_that_are_not_a_table_are_refused(tmp_path, text, section):
    (tmp_path / "pyproject.toml").write_text(f"{text}\n")
    with pytest.raises(ValueError, match=rf"pyproject\.toml: {section} must be a table"):
        Settings.from_folder(tmp_path)


def test_a_revision_that_is_an_option_of_git_is_refused(tmp_path, capsys):
    file, target = tmp_path / "a.txt", tmp_path / "written"
    file.write_text(WRONG)
    subprocess.run(["git", "-C", str(tmp_path), "init", "-q"], check=True)
    code, shown = spell(capsys, file, f"--since=--output={target}")
    assert code == 2
    assert "begins with a hyphen" in shown.err
    assert not target.exists()
