"""The page is one file, needs no network, shows the errors, and runs in a real browser."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from textrank.evaluation import Counts, Decision, Report
from textrank.evaluation.report import ranking_fold
from textrank.reports.html import (
    Step,
    flatten_settings,
    mark_sentence,
    path_steps,
    render_report,
    select_worst_errors,
    write_report_page,
)

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, BROWSERS)), None)
FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--enable-logging=stderr"),
]


class Links(HTMLParser):
    """Collects what a page would fetch, and the nesting of its elements."""

    VOID = frozenset({"meta", "link", "input", "br"})

    def __init__(self):
        super().__init__()
        self.fetched, self.open, self.ids = [], [], []

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.fetched += [values[k] for k in ("src", "href", "xlink:href") if k in values]
        self.ids += [values["id"]] if "id" in values else []
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in self.VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="session")
def text(report):
    return render_report(report)


def test_the_page_fetches_nothing_and_is_well_formed(text):
    links = Links()
    links.feed(text)
    assert links.open == []
    assert all(target.startswith(("#", "data:")) for target in links.fetched)
    assert len(links.ids) == len(set(links.ids))


def test_the_file_is_written_and_the_same_each_time(report, text, tmp_path):
    write_report_page(report, tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == text


def test_text_of_the_corpus_is_escaped(text):
    assert "&lt;and&gt;" in text
    assert "<and>" not in text
    assert "&lt;marked&gt; report" in text


def test_plots_follow_the_colours_of_the_page(text):
    for name in ("roc", "precision-recall", "calibration", "folds", "alpha", "learning"):
        assert f'id="figure-{name}"' in text
    assert "var(--accent)" in text
    assert not re.search(r"#0[1-5]0[1-5]0[1-5]", text)


def test_errors_are_the_wrong_answers_clearest_first(report):
    errors = select_worst_errors(report, limit=5)
    wrong = [d for d in report.decisions if d.decision != (d.label > 0)]
    assert [e.margin for e in errors] == sorted((e.margin for e in errors), reverse=True)
    assert errors[0].margin == pytest.approx(max(abs(d.score) for d in wrong))
    for kind, sign in (("false positive", -1), ("false negative", 1)):
        same = [e for e in errors if e.kind == kind]
        assert 0 < len(same) <= 5
        assert all(e.decision.label == sign for e in same)


def test_the_same_error_in_several_splits_is_shown_once(report):
    again = [replace(d, split=1) for d in report.decisions]
    errors = select_worst_errors(replace(report, decisions=[*report.decisions, *again]))
    assert len(errors) == len(select_worst_errors(report))
    assert {(e.times, e.splits) for e in errors} == {(2, 2)}


def test_errors_can_be_left_out_where_the_text_may_not_be_shared(report):
    plain = replace(report, decisions=report.decisions[:40], curves={})
    text = render_report(plain, errors=0)
    assert "XyzB" not in text
    assert 'id="errors"' not in text


def test_pieces_mark_overlapping_mentions_and_lose_no_letter():
    decision = Decision("d", "p53 p53 kinase", [(4, 7), (4, 14)], 1.0, 1.0)
    assert mark_sentence(decision) == [("p53 ", ""), ("p53", "e1 e2"), (" kinase", "e2")]
    assert "".join(text for text, _ in mark_sentence(decision)) == decision.text


def test_steps_walk_from_the_first_mention_to_the_second(report):
    decision = report.decisions[0]
    assert path_steps(decision) == [
        Step("AbcA", True, "nsubj", forward=False),
        Step("binds", False, "dobj", forward=True),
        Step("factor", False, "appos", forward=True),
        Step("XyzB", True),
    ]
    single = replace(decision, path=decision.path[:1], spans=decision.spans[:1])
    assert [step.word for step in path_steps(single)] == ["AbcA", "binds"]
    assert path_steps(replace(decision, path=())) == []


def test_rankings_show_the_queries_whose_first_choice_is_worst():
    rows = [("a", 0.2, 0.9), ("a", 0.8, 0.1), ("b", 0.7, 0.6), ("b", 0.1, 0.5)]
    decisions = [Decision("d", "x y", [(0, 1)], s, y, query=q) for q, y, s in rows]
    fold = ranking_fold([r[1] for r in rows], [r[2] for r in rows], [r[0] for r in rows])
    report = Report("parse", "c", "p", {}, 0, Counts(1, 4, 4), [fold], decisions=decisions)
    (error,) = select_worst_errors(report)
    assert (error.kind, error.margin, error.decision.query) == (
        "wrong order",
        pytest.approx(0.6),
        "a",
    )
    assert "Kendall" in render_report(report)


def test_settings_are_shown_with_dotted_keys():
    rows = flatten_settings({"learner": {"alphas": [1.0]}, "task": "ppi"})
    assert list(rows) == [("learner.alphas", "[1.0]"), ("task", '"ppi"')]


PROBE = """<script>
  const form = document.querySelector("form.filter"), found = {};
  const shown = () => document.querySelectorAll("ol.errors > li:not([hidden])").length;
  const change = (act) => { act(); form.dispatchEvent(new Event("input")); return shown(); };
  found.all = shown();
  found.positives = change(() => { form.elements.kind.value = "false positive"; });
  found.words = change(() => { form.elements.text.value = "conj INHIBITS"; });
  found.none = change(() => { form.elements.text.value = "nowhere-to-be-found"; });
  found.message = !document.querySelector("#errors .none").hidden;
  found.count = form.elements.count.value;
  found.wide = document.documentElement.scrollWidth - innerWidth;
  document.body.dataset.found = JSON.stringify(found);
</script></body>"""


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")
@pytest.mark.parametrize("size", ["1200,900", "500,900"])
def test_the_page_runs_in_a_browser_without_console_errors(report, text, tmp_path, size):
    file = tmp_path / "report.html"
    file.write_text(text.replace("</body>", PROBE), encoding="utf-8")
    profile = f"--user-data-dir={tmp_path / 'profile'}"
    command = [CHROMIUM, *FLAGS, profile, f"--window-size={size}", "--dump-dom", file.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)

    assert "CONSOLE" not in done.stderr
    data = re.search(r'data-found="([^"]*)"', done.stdout).group(1)
    found = json.loads(data.replace("&quot;", '"'))
    errors = select_worst_errors(report)
    positives = [e for e in errors if e.kind == "false positive"]
    assert found["all"] == len(errors)
    assert found["positives"] == len(positives)
    assert found["words"] == sum(any(s.relation == "conj" for s in e.steps) for e in positives)
    assert (found["none"], found["message"]) == (0, True)
    assert found["count"] == f"0 of {len(errors)}"
    assert found["wide"] <= 0  # nothing sticks out, so a phone does not scroll sideways
