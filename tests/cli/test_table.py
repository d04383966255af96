"""Statements as a table to read."""

from __future__ import annotations

import re

from textrank.cli.app import run
from textrank.cli.apply import _describe_decision


def test_statements_are_shown_with_their_status(tmp_path, capsys):
    file = tmp_path / "a.txt"
    file.write_text("GRB2 binds SOS1. RAD51 does not interact with PTEN.")
    assert run(["apply", "ppi", str(file), "--table"]) == 0
    shown = capsys.readouterr().out
    assert "[a] GRB2 binds SOS1.\nGRB2 – SOS1 " in shown
    assert re.search(r"GRB2 – SOS1 +asserted +binding", shown)
    assert re.search(r"RAD51 – PTEN +negated +binding", shown)


def test_a_level_that_no_held_out_statement_reaches_is_described():
    figures = {"heldout_precision": None, "heldout_recall": 0.0}
    text = _describe_decision({"relation": "any", "level": 1.0, **figures})
    assert "precision 0 %, recall 0 %" in text


def test_other_answers_have_no_such_table(tmp_path, capsys):
    file = tmp_path / "a.txt"
    file.write_text("Larger then this.")
    assert run(["apply", "spelling", str(file), "--table"]) == 2
    assert "--table" in capsys.readouterr().err


def test_a_sentence_in_place_of_a_file_is_explained(capsys):
    assert run(["apply", "ppi", "GRB2 binds SOS1."]) == 2
    assert "echo 'GRB2 binds SOS1.' | textrank apply ppi -" in capsys.readouterr().err


def test_a_folder_of_several_formats_is_read_as_with_out(tmp_path, capsys):
    (tmp_path / "deep").mkdir()
    (tmp_path / "a.jsonl").write_text('{"id": "d1", "text": "GRB2 binds SOS1."}\n')
    (tmp_path / "deep" / "b.txt").write_text("MDM2 binds p53.")
    assert run(["apply", "ppi", str(tmp_path), "--table"]) == 0
    shown = capsys.readouterr().out
    assert "[d1] GRB2 binds SOS1." in shown
    assert "[b] MDM2 binds p53." in shown


def test_plain_text_in_another_encoding(tmp_path, capsys):
    file = tmp_path / "a.txt"
    file.write_bytes("MDM2 binds p53 – naïve cells. é".encode("cp1252"))
    assert run(["apply", "ppi", str(file), "--table"]) == 2
    assert "--encoding" in capsys.readouterr().err
    assert run(["apply", "ppi", str(file), "--table", "--encoding", "cp1252"]) == 0
    assert "MDM2 binds p53 – naïve cells." in capsys.readouterr().out
    assert run(["apply", "ppi", str(file), "--encoding", "klingon"]) == 2
    assert "no encoding 'klingon'" in capsys.readouterr().err
    lines = tmp_path / "a.jsonl"
    lines.write_text('{"id": "d1", "text": "GRB2 binds SOS1."}\n')
    assert run(["apply", "ppi", str(lines), "--encoding", "cp1252"]) == 2
    assert "--encoding is for plain text" in capsys.readouterr().err
    assert run(["apply", "ppi", str(file), "--out", str(tmp_path / "r"), "--encoding", "x"]) == 2
