"""Libraries of others are what their table says."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import textrank.web

VENDOR = Path(textrank.web.__file__).parent / "vendor"


def test_every_vendored_file_has_its_checksum_and_licence() -> None:
    table = (VENDOR / "README.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `([^`]+)` .*?\| `([0-9a-f]{64})` \|", table, flags=re.MULTILINE))
    code = {p.relative_to(VENDOR).as_posix() for p in VENDOR.rglob("*.*js")}
    assert set(rows) == code
    for name, checksum in rows.items():
        assert hashlib.sha256((VENDOR / name).read_bytes()).hexdigest() == checksum
        assert "Permission is hereby granted" in (VENDOR / name).with_name("LICENSE").read_text()
