"""The figures of the README and of the FAQ agree with their sources."""

from __future__ import annotations

import importlib.util
import io
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from textrank.cli.app import run

ROOT = Path(__file__).parents[1]
TABLE_PAGES = ("README.md", "docs/index.md", "docs/start.md")  # show output of `apply --table`


@pytest.fixture(scope="module")
def figures() -> ModuleType:
    spec = importlib.util.spec_from_file_location("figures", ROOT / "docs" / "figures.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_generated_figures_are_up_to_date(figures: ModuleType) -> None:
    pages = figures.pages()
    assert ROOT / "docs" / "faq.md" in pages
    for page in pages:
        text = page.read_text("utf-8")
        assert figures.update_figures(text) == text, (
            f"{page.name} is outdated; run python docs/figures.py"
        )


def test_figure_is_read_from_its_place(figures: ModuleType) -> None:
    leaks = "docs/reproduce/leaks.json AImed, F/split"
    assert figures.update_figures(f"<!-- {leaks} -->1.0<!-- -->") != f"<!-- {leaks} -->1.0<!-- -->"
    with pytest.raises(IndexError):
        figures.value("docs/reproduce/leaks.json", "AImed, F/none")


@pytest.mark.parametrize("page", TABLE_PAGES)
def test_shown_tables_are_up_to_date(
    page: str, figures: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    text = io.TextIOWrapper(io.BytesIO(figures.table_sentences(page).encode()), encoding="utf-8")
    monkeypatch.setattr(sys, "stdin", text)
    assert run(["apply", "ppi", "-", "--table"]) == 0
    expected = capsys.readouterr().out.split()
    shown = figures.TABLE.search((ROOT / page).read_text("utf-8"))[0].split()
    is_number = [bool(re.fullmatch(r"[01]\.\d\d", word)) for word in expected]
    assert len(shown) == len(expected)
    for word, other, number in zip(shown, expected, is_number, strict=True):
        if number:  # the last digit may differ between machines
            assert float(word) == pytest.approx(float(other), abs=0.011), page
        else:
            assert word == other, f"{page} is outdated; run python docs/figures.py"


CARDS = ["models/ppi/README.md"]


@pytest.mark.parametrize(
    ("page", "pattern", "sources"),
    [
        ("README.md", r"\| textrank, F at a threshold [^|]*\|(.*)", CARDS),
        ("README.md", r"- (Of 146 statements [^.]*)\.", CARDS),
        ("README.md", r"\| textrank, AUC \|(.*)", CARDS),
        ("README.md", r"\| Protein interactions \|(.*)", CARDS),
        ("README.md", r"\| Gene identifiers \|(.*)", ["models/identifiers/README.md"]),
        ("README.md", r"\| Gene, protein or RNA \|(.*)", ["models/gene_protein/README.md"]),
        ("README.md", r"\| Real-word errors \|(.*)", ["docs/experiments/spelling.md"]),
        ("README.md", r"\| Parse ranking \|(.*)", ["models/parse_ranking/README.md"]),
        ("docs/faq.md", r"BioRED dev: (.*?)\(card", ["models/identifiers/README.md"]),
        ("docs/faq.md", r"151 pairs, two megabytes(.*)\|", ["docs/experiments/spelling.md"]),
    ],
)  # fmt: skip
def test_figures_agree_with_their_sources(page: str, pattern: str, sources: list[str]) -> None:
    match = re.search(pattern, (ROOT / page).read_text("utf-8"))
    assert match is not None
    figures = re.findall(r"(?<![\w.])(?:\d*\.\d+|\d+)(?![\w.])", match[1])
    assert figures
    text = "".join((ROOT / source).read_text("utf-8") for source in sources)
    missing = [x for x in figures if not re.search(rf"(?<![\d.]){re.escape(x)}0?(?!\d)", text)]
    assert missing == [], f"{page} has figures that {sources} do not have"
