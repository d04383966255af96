"""Statements as a table to read."""

from __future__ import annotations

import re

from textrank.cli.app import run


def test_statements_are_shown_with_their_status(tmp_path, capsys):
    file = tmp_path / "a.txt"
    file.write_text("GRB2 binds SOS1. RAD51 does not interact with PTEN.")
    assert run(["apply", "ppi", str(file), "--table"]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"GRB2 – SOS1 +asserted +binding", shown)
    assert re.search(r"RAD51 – PTEN +negated +binding", shown)


def test_other_answers_have_no_such_table(tmp_path, capsys):
    file = tmp_path / "a.txt"
    file.write_text("Larger then this.")
    assert run(["apply", "spelling", str(file), "--table"]) == 2
    assert "--table" in capsys.readouterr().err
