"""Figures of the README and of the page that compares tools are those of their sources."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def figures() -> ModuleType:
    spec = importlib.util.spec_from_file_location("figures", ROOT / "docs" / "figures.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_figures_of_files_are_those_of_the_files(figures: ModuleType) -> None:
    pages = figures.pages()
    assert ROOT / "docs" / "faq.md" in pages
    for page in pages:
        text = page.read_text("utf-8")
        assert figures.filled(text) == text, f"{page.name} is old: python docs/figures.py"


def test_a_figure_is_taken_from_its_place(figures: ModuleType) -> None:
    leaks = "docs/reproduce/leaks.json AImed, F/split"
    assert figures.filled(f"<!-- {leaks} -->1.0<!-- -->") != f"<!-- {leaks} -->1.0<!-- -->"
    with pytest.raises(IndexError):
        figures.value("docs/reproduce/leaks.json", "AImed, F/none")


@pytest.mark.parametrize(
    ("page", "said", "sources"),
    [
        ("README.md", r"\| shipped method \|(.*)", ["models/ppi/README.md"]),
        ("README.md", r"\| AUC of the same \|(.*)", ["models/ppi/README.md"]),
        ("README.md", r"--positives auto`\), F is (.*)\.", ["models/ppi/README.md"]),
        ("README.md", r"with 1 % of the words made wrong: ([^.]*\.\d.*\n.*)",
         ["docs/experiments/spelling.md"]),
        ("docs/faq.md", r"BioRED dev: (.*?)\(card", ["models/identifiers/README.md"]),
        ("docs/faq.md", r"151 pairs, two megabytes(.*)\|", ["docs/experiments/spelling.md"]),
    ],
)  # fmt: skip
def test_figures_of_tables_stand_in_their_sources(page: str, said: str, sources: list[str]) -> None:
    found = re.search(said, (ROOT / page).read_text("utf-8"))
    assert found is not None
    told = re.findall(r"(?<![\w.])\d*\.\d+", found[1])
    assert told
    known = "".join((ROOT / source).read_text("utf-8") for source in sources)
    missing = [x for x in told if not re.search(rf"(?<![\d.]){re.escape(x)}0?(?!\d)", known)]
    assert missing == [], f"{page} says what {sources} do not"
