"""The pages in Chromium: search, facets, graph, evidence, export, and thirty answers with undo."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import socket
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Thread
from time import monotonic, sleep
from typing import Any

import numpy as np
import pytest
import spacy
import uvicorn

from textrank.component import load_language
from textrank.config import load_corpus, load_model, load_pipeline
from textrank.evaluation.audit import audit_dataset
from textrank.evaluation.league import score_league
from textrank.evaluation.statistics import Interval
from textrank.evaluation.sweep import forecast_curve
from textrank.evaluation.transfer import (
    ForeignCorpus,
    HarmfulDocument,
    Transfer,
    TransferEffect,
)
from textrank.reports.explanation import render_influence
from textrank.reports.html import document_url, render_league, render_replay, render_transfer
from textrank.results.store import from_rows, open_store
from textrank.web.active_learner import ActiveLearner, Quality
from textrank.web.annotation import AnswerLog, Curation, CurationApp, fingerprint_docs
from textrank.web.app import Credentials, GuardMiddleware
from textrank.web.explorer import Explorer, StatementExplainer
from textrank.web.rank_curation import RankCuration, RankCurationApp, RankLearner, RankPoint
from textrank.web.replay import CHOSEN, Replay, ReplayPoint
from textrank.web.review import LabelReview, ReviewApp

pytestmark = pytest.mark.browser
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
CORPUS = Path(__file__).parents[2] / "corpora" / "sample-ppi"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Chromium without a window; skipped where it is not installed."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium drives the browser")
    if not CHROMIUM or not DRIVER:
        pytest.skip("no chromium and chromedriver on this machine")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                 "--window-size=1280,900"):  # fmt: skip
        options.add_argument(word)
    downloads = tmp_path_factory.mktemp("downloads")
    options.add_experimental_option("prefs", {"download.default_directory": str(downloads)})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options, webdriver.ChromeService(DRIVER))
    driver.downloads = downloads
    yield driver
    driver.quit()


@pytest.fixture(autouse=True)
def _empty_page(browser: Any) -> None:
    """Leave the page of the test before, whose server is gone, and drop its messages."""
    browser.get("about:blank")
    browser.get_log("browser")


@contextmanager
def served(make: Callable[[Credentials], Any]) -> Iterator[str]:
    """An application on a free port of this machine, in a thread; gives its address."""
    with closing(socket.socket()) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()  # a browser that comes before the server is ready waits
        gate = Credentials(port=listener.getsockname()[1])
        config = uvicorn.Config(
            GuardMiddleware(make(gate), gate), log_level="error", lifespan="off"
        )
        server = uvicorn.Server(config)
        thread = Thread(target=lambda: asyncio.run(server.serve([listener])), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{gate.port}/?token={gate.token}"
        server.should_exit = True
        thread.join(timeout=10)


def until(test: Callable[[], Any], seconds: float = 30) -> Any:
    """What a test gives once it gives something."""
    end = monotonic() + seconds
    while monotonic() < end:
        if found := test():
            return found
        sleep(0.05)
    raise AssertionError("it did not happen in time")


def css(browser: Any, selector: str) -> list[Any]:
    return list(browser.find_elements("css selector", selector))


def quiet(browser: Any) -> None:
    """Nothing went wrong in a page, and no policy was broken."""
    assert [e["message"] for e in browser.get_log("browser") if e["level"] == "SEVERE"] == []


def test_explore_by_search_facets_graph_and_evidence(browser: Any, folder: Path) -> None:
    explorer = Explorer(open_store(folder))
    with served(lambda _: explorer.app()) as address:
        browser.get(address)
        assert "token" not in until(lambda: browser.current_url.partition("?")[2] or "none")
        box = next(a for a in css(browser, "a[role=checkbox]") if "binding" in a.text)
        box.send_keys(" ")
        until(lambda: "type=binding" in browser.current_url)
        until(lambda: css(browser, "a[role=checkbox][aria-checked=true]"))
        for name in ("Negated", "Speculated", "Unlikely", "All", "Likely"):
            next(a for a in css(browser, ".tabs a") if a.text.startswith(name)).click()
            until(lambda name=name: css(browser, ".tabs a[aria-current]")[0].text.startswith(name))
        assert css(browser, ".claims .arrow")
        browser.get(address.partition("?")[0])
        css(browser, "#q")[0].send_keys("p3")
        until(lambda: css(browser, "#suggestions li"))
        css(browser, "#q")[0].send_keys("\ue015\ue007")  # arrow down, enter
        until(lambda: "/name?key=NCBIGene" in browser.current_url)
        first = int(until(lambda: css(browser, "#graph")[0].get_attribute("data-nodes")))
        _expand(browser, first)
        css(browser, "a.open")[0].click()
        until(lambda: css(browser, "mark.e1") and css(browser, "mark.trigger"))
        quiet(browser)


def _expand(browser: Any, first: int) -> None:
    graph = css(browser, "#graph")[0]
    for _ in range(12):
        graph.send_keys("\ue014\ue007")  # arrow right chooses the next name, enter expands it
        sleep(0.3)
        if int(graph.get_attribute("data-nodes")) > first:
            return
    raise AssertionError("the graph did not grow")


def test_the_network_of_a_selection_fits_the_screen_and_opens_names(
    browser: Any, folder: Path
) -> None:
    explorer = Explorer(open_store(folder))
    with served(lambda _: explorer.app()) as address:
        browser.get(address)
        css(browser, "a.button")[0].click()
        until(
            lambda: css(browser, "#graph") and css(browser, "#graph")[0].get_attribute("data-nodes")
        )
        inside = """const graph = document.querySelector('#graph').getBoundingClientRect();
            return graph.bottom <= innerHeight && graph.width > 0.9 * document.body.clientWidth;"""
        assert browser.execute_script(inside)
        css(browser, "#graph")[0].send_keys("\ue014")  # arrow right chooses a name
        assert until(lambda: css(browser, "#open:not(:disabled)"))
        css(browser, "#open")[0].click()
        until(lambda: "/name?key=" in browser.current_url)
        quiet(browser)


def test_a_statement_shows_its_sentence_in_the_text_and_why(browser: Any) -> None:
    model = load_model("ppi")
    nlp = load_language(None, model.pipeline.task)
    explainer = StatementExplainer(lambda: (model, nlp))
    explorer = Explorer(from_rows(one_text(), "made"), explainer)
    with served(lambda _: explorer.app()) as address:
        root = address.partition("?")[0]
        browser.get(address)
        browser.get(f"{root}document?id=10212000")
        assert css(browser, "a.out[href='https://pubmed.ncbi.nlm.nih.gov/10212000/']")
        browser.execute_script("arguments[0].focus()", css(browser, ".stated a")[0])
        chosen = until(lambda: css(browser, ".text .chosen"))
        assert "".join(node.text for node in chosen).startswith("GRB2")
        assert css(browser, ".text .label")[0].text == "RESULTS:"
        css(browser, ".stated a.open")[0].click()
        until(lambda: css(browser, "details.why summary"))[0].click()
        said = until(lambda: css(browser, ".because .said"), 120)[0].text
        assert said == "binds has GRB2 as subject and SOS1 as object."
        assert css(browser, ".reasons tr.kind")
        assert not CODES.search(css(browser, ".reasons")[0].text)
        quiet(browser)


CODES = re.compile(r"pattern|known pairs|PROT\d|nsubj|dobj|path:|candidate")


def one_text() -> dict[str, Any]:
    """A document with one statement, as a store reads it."""
    text = "A title of a paper.\nRESULTS: GRB2 binds SOS1. Nothing else was seen here.\n"
    start = text.index("GRB2")
    names = [(start, start + 4, "GRB2", "ncbigene:2885"),
             (start + 11, start + 15, "SOS1", "ncbigene:6654")]  # fmt: skip
    row = {"document": "10212000", "start_a": start, "end_a": start + 4, "start_b": start + 11,
           "end_b": start + 15, "name_a": "GRB2", "name_b": "SOS1", "id_a": "ncbigene:2885",
           "id_b": "ncbigene:6654", "score": 1.0, "probability": 0.9, "interacts": True,
           "status": "asserted", "type": "binding", "direction": "none",
           "trigger": [[start + 5, start + 10]], "sentence_start": start,
           "sentence": "GRB2 binds SOS1.", "source": "a.txt"}  # fmt: skip
    return {
        "documents": [{"document": "10212000", "title": "A title of a paper.", "text": text}],
        "names": [
            {"document": "10212000", "start": a, "end": b, "name": n, "id": i, "label": "GENE",
             "species": "9606"}
            for a, b, n, i in names
        ],
        "statements": [row],
    }  # fmt: skip


def test_exports_are_downloaded(browser: Any, folder: Path) -> None:
    explorer = Explorer(open_store(folder))
    with served(lambda _: explorer.app()) as address:
        browser.get(address)
        css(browser, "details.menu summary")[0].click()
        css(browser, "details.menu a")[0].click()
        csv = until(lambda: list(browser.downloads.glob("made.csv")))
        assert csv[0].read_text().startswith("document,")
        browser.get(f"{address.partition('?')[0]}name?key=NCBIGene:1000")
        until(lambda: css(browser, "#graph")[0].get_attribute("data-nodes"))
        for kind in ("png", "svg", "json"):
            css(browser, f"#{kind}")[0].click()
        for name in ("graph.png", "graph.svg", "graph.cyjs"):
            until(lambda name=name: list(browser.downloads.glob(name)))
        quiet(browser)


def test_thirty_answers_by_keys_with_undo_equal_training_anew(browser: Any, tmp_path: Path) -> None:
    found = load_corpus(CORPUS)(spacy.blank("en"))
    docs = [doc for _, doc in zip(range(14), found, strict=False)]
    learner = ActiveLearner.from_docs(load_pipeline("ppi-linear"), docs)
    answers = AnswerLog(tmp_path / "a.sqlite", {"texts": fingerprint_docs(docs)})
    curation = Curation(learner, docs, answers, "ada")
    with served(lambda gate: CurationApp(curation, "sample", gate).app()) as address:
        browser.get(address)
        until(lambda: css(browser, "#buttons button"))
        for count in range(1, 31):
            _press(browser, "ny"[count % 3 == 0], count)
            _agrees(curation)
            if count % 10 == 0:
                _press(browser, "z", count - 1)
                _agrees(curation)
                _press(browser, "n", count)
                _agrees(curation)
        assert len(learner.answered) == 30
        quiet(browser)


def _press(browser: Any, key: str, answered: int) -> None:
    css(browser, "body")[0].send_keys(key)
    until(lambda: css(browser, "body")[0].get_attribute("data-answered") == str(answered))


def _agrees(curation: Curation) -> None:
    learner = curation.learner
    with learner.lock:
        index = learner.index
        K = learner.rows.gram(index) + learner.online.alpha * np.eye(len(index))
        coef = np.linalg.solve(K, learner.targets(learner.labels))
        np.testing.assert_allclose(learner.online.coef, coef, atol=1e-8)


def test_a_name_is_marked_by_keys_alone(browser: Any, tmp_path: Path) -> None:
    docs = list(load_corpus(CORPUS)(spacy.blank("en")))[:3]
    learner = ActiveLearner.from_docs(load_pipeline("ppi-linear"), docs)
    curation = Curation(learner, docs, AnswerLog(tmp_path / "a.sqlite", {}), "ada")
    before = len(learner.questions)
    with served(lambda gate: CurationApp(curation, "sample", gate).app()) as address:
        browser.get(address)
        until(lambda: css(browser, ".word"))
        body = css(browser, "body")[0]
        body.send_keys("m")
        until(lambda: css(browser, ".word.chosen"))
        while css(browser, ".word.chosen:is(.e1, .e2, .name)"):
            body.send_keys("\ue014")  # on to a word that is no name
        body.send_keys("\ue007")
        until(lambda: len(learner.questions) > before)
        quiet(browser)


def test_attributes_queues_and_second_opinions_in_curation(browser: Any, tmp_path: Path) -> None:
    docs = list(load_corpus(CORPUS)(spacy.blank("en")))[:6]
    learner = ActiveLearner.from_docs(load_pipeline("ppi-linear"), docs)
    curation = Curation(learner, docs, AnswerLog(tmp_path / "a.sqlite", {}), "ada")
    with served(lambda gate: CurationApp(curation, "sample", gate).app()) as address:
        root = address.partition("?")[0]
        browser.get(address)
        until(lambda: css(browser, "#attributes select"))
        assert "5 more yes and 5 more no" in css(browser, "#needed")[0].text
        choose(browser, "[name=type]", "inhibition")
        choose(browser, "[name=direction]", "b>a")
        identifier = css(browser, "[name=identifier0]")[0]
        identifier.send_keys("GRB2")
        until(lambda: css(browser, "#genes0 option[value='ncbigene:2885']"))
        identifier.clear()
        identifier.send_keys("ncbigene:2885")
        until(lambda: "GRB2 human" in css(browser, ".gene")[0].text)
        css(browser, "button.yes")[0].click()
        until(lambda: css(browser, "body")[0].get_attribute("data-answered") == "1")
        stored = json.loads(curation.active_events[0].details)
        assert (stored["type"], stored["direction"]) == ("inhibition", "b>a")
        assert stored["identifiers"][0] == "ncbigene:2885"
        choose(browser, "#queue", "paper")
        until(lambda: curation.state("ada")["queue"] == "paper")
        browser.get(f"{root}?as=bo")
        until(lambda: css(browser, "#buttons button"))
        choose(browser, "#queue", "second opinion")
        until(lambda: curation.state("bo")["queue"] == "second opinion")
        title = curation.state("bo")["question"]["title"]
        until(lambda: css(browser, "#title")[0].text == title)
        until(lambda: css(browser, "button.no:not(:disabled)"))[0].click()
        until(lambda: "0 of 1 questions" in css(browser, "#agreement")[0].text)
        quiet(browser)


def choose(browser: Any, selector: str, value: str) -> None:
    """Choose a value of a list as a person would."""
    select = pytest.importorskip("selenium.webdriver.support.ui").Select
    select(css(browser, selector)[0]).select_by_value(value)


FACT = "fact?a=NCBIGene:1000&b=NCBIGene:1001"
PAGES = ("", "?show=all", FACT, "name?key=NCBIGene:1000", "document?id=30000001", "network",
         "errors", "nowhere")  # fmt: skip


def test_nothing_is_wider_than_the_screen(browser: Any, folder: Path) -> None:
    explorer = Explorer(open_store(folder))
    with served(lambda _: explorer.app()) as address:
        browser.get(address)
        wide = "return document.documentElement.scrollWidth"
        for path in PAGES:
            browser.get(address.partition("?")[0] + path)
            for width in (1280, 390):
                resize(browser, width)
                assert browser.execute_script(wide) <= width + 1, (path, width)
            browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def resize(browser: Any, width: int) -> None:
    """Show a page as a screen of this width does; narrow ones are phones."""
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def test_pages_name_their_controls_and_fit_a_phone(browser: Any, folder: Path) -> None:
    explorer = Explorer(open_store(folder))
    with served(lambda _: explorer.app()) as address:
        root = address.partition("?")[0]
        browser.get(address)
        for path in ("", "name?key=NCBIGene:1000", "document?id=30000001"):
            browser.get(root + path)
            for node in css(browser, "input:not([type=hidden]), button, a, summary"):
                named = not node.is_displayed() or node.accessible_name.strip()
                assert named, node.get_attribute("outerHTML")
            browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
                "width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True})  # fmt: skip
            wide = "return document.documentElement.scrollWidth"
            assert browser.execute_script(wide) <= 391, path
            browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


AUDIT = """
const done = arguments[arguments.length - 1];
axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]}).then(
  (found) => done(found.violations.map(
    (v) => `${v.id}: ${v.nodes.map((n) => n.html.slice(0, 160)).slice(0, 3).join(" | ")}`)));
"""


def audited(browser: Any, page: str) -> list[str]:
    """What axe-core finds wrong with a page: light, dark and on a phone."""
    package = pytest.importorskip("axe_core_python", reason="axe-core-python audits the pages")
    script = (Path(package.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
    found = []
    for scheme, width in (("light", 1280), ("dark", 1280), ("light", 390)):
        media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        resize(browser, width)
        browser.execute_script(script)
        lines = browser.execute_async_script(AUDIT)
        found += [f"{page} ({scheme}, {width}) {line}" for line in lines]
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    return found


def test_explorer_passes_an_audit_of_accessibility(browser: Any, folder: Path) -> None:
    explorer = Explorer(open_store(folder))
    with served(lambda _: explorer.app()) as address:
        root = address.partition("?")[0]
        browser.get(address)
        found = audited(browser, "facts")
        css(browser, "a.open")[0].click()
        until(lambda: css(browser, ".evidence"))
        found += audited(browser, "statement")
        for path in PAGES:
            browser.get(root + path)
            found += audited(browser, path)
    explorer = Explorer(from_rows(one_text(), "made"))
    with served(lambda _: explorer.app()) as address:
        browser.get(address)
        for path in ("", "document?id=10212000", "fact?a=ncbigene:2885&b=ncbigene:6654"):
            browser.get(address.partition("?")[0] + path)
            found += audited(browser, f"one text, {path}")
    assert found == []


def test_curation_shows_a_forecast(browser: Any, tmp_path: Path) -> None:
    docs = list(load_corpus(CORPUS)(spacy.blank("en")))[:6]
    learner = ActiveLearner.from_docs(load_pipeline("ppi-linear"), docs)
    curation = Curation(learner, docs, AnswerLog(tmp_path / "a.sqlite", {}), "ada")
    learner.history[:] = [Quality(0.8, 0.8 - 3 / n, 0.1, n) for n in range(11, 91)]
    browser.get_log("browser")  # drop the messages of earlier tests, which opened a missing page
    with served(lambda gate: CurationApp(curation, "sample", gate).app()) as address:
        browser.get(address)
        lines = until(lambda: [element.text for element in css(browser, ".forecast")])
        assert len(lines) == 2
        assert re.fullmatch(r"The next 20 answers: F \+\d.*to about 7\d\.\d\.", lines[0])
        quiet(browser)


def test_the_page_of_deciding_documents_has_links(browser: Any, tmp_path: Path) -> None:
    entries = [
        {"document": "10022882", "change": -0.3, "url": document_url("10022882")},
        {"document": "d<1>", "change": 0.1, "url": document_url("d<1>")},
    ]
    row = {"document": "x", "text": "SHC binds GRB2.", "spans": [(0, 3), (10, 14)], "score": 0.5}
    page = tmp_path / "why.html"
    page.write_text(render_influence([{**row, "influence": entries}]), encoding="utf-8")
    browser.get(page.as_uri())
    assert [link.get_attribute("href") for link in css(browser, "td a")] == [entries[0]["url"]]
    assert "[SHC] binds [GRB2]." in css(browser, ".sentence")[0].text
    assert [cell.text for cell in css(browser, "tbody td:first-child")] == ["10022882", "d<1>"]
    quiet(browser)


def test_curation_passes_an_audit_of_accessibility(browser: Any, tmp_path: Path) -> None:
    docs = list(load_corpus(CORPUS)(spacy.blank("en")))[:6]
    learner = ActiveLearner.from_docs(load_pipeline("ppi-linear"), docs)
    curation = Curation(learner, docs, AnswerLog(tmp_path / "a.sqlite", {}), "ada")
    with served(lambda gate: CurationApp(curation, "sample", gate).app()) as address:
        browser.get(address)
        until(lambda: css(browser, "#buttons button"))
        for count in range(1, 4):
            _press(browser, "yn"[count % 2], count)
        assert audited(browser, "curation") == []


def label_review(tmp_path: Path) -> LabelReview:
    """A review of the doubtful labels of a few documents."""
    docs = list(load_corpus(CORPUS)(spacy.blank("en")))[:8]
    pipeline = load_pipeline("ppi-linear")
    dataset = pipeline.prepare(docs)
    audit = audit_dataset(pipeline, dataset)
    log = AnswerLog(tmp_path / "d.sqlite", {})
    return LabelReview(pipeline.task, docs, dataset, audit, log, "ada")


def _decide(browser: Any, key: str, decided: int) -> None:
    css(browser, "body")[0].send_keys(key)
    until(lambda: css(browser, "body")[0].get_attribute("data-decided") == str(decided))


def test_doubts_are_decided_by_keys_and_mouse_and_exported(browser: Any, tmp_path: Path) -> None:
    review = label_review(tmp_path)
    browser.get_log("browser")  # forget the messages of earlier pages
    with served(lambda gate: ReviewApp(review, "sample", gate).app()) as address:
        browser.get(address)
        until(lambda: css(browser, "#buttons button"))
        assert css(browser, "#passage mark.e1")
        for count in range(1, 6):
            _decide(browser, "12u"[count % 3], count)
        _decide(browser, "z", 4)
        gold = css(browser, "#buttons button.no")[0]
        gold.click()
        until(lambda: css(browser, "body")[0].get_attribute("data-decided") == "5")
        assert len(review.log.active_events()) == 5
        assert "labels reviewed by 1 person" in css(browser, "#agreement")[0].text
        css(browser, "#random")[0].click()
        first = review.next_item(random=True)
        assert first is not None
        until(lambda: f"doubt {first.rank}" in css(browser, "#where")[0].text)
        css(browser, "select[data-filter=kind] option")[1].click()
        until(lambda: css(browser, "#title")[0].text)
        browser.get(f"{address.partition('?')[0]}?as=bob")
        until(lambda: css(browser, "body")[0].get_attribute("data-decided") == "0")
        _decide(browser, "1", 1)
        until(lambda: "decided by two or more" in css(browser, "#agreement")[0].text)
        css(browser, "details.menu summary")[0].click()
        link = next(a for a in css(browser, "details.menu a") if "json lines" in a.text)
        link.click()
        corpus = until(lambda: list(browser.downloads.glob("corrected.jsonl")))
        assert len(corpus[0].read_text().splitlines()) == len(review.docs)
        quiet(browser)


def test_review_is_accessible_and_fits_a_phone(browser: Any, tmp_path: Path) -> None:
    review = label_review(tmp_path)
    with served(lambda gate: ReviewApp(review, "sample", gate).app()) as address:
        browser.get(address)
        until(lambda: css(browser, "#buttons button"))
        _decide(browser, "1", 1)
        assert audited(browser, "review") == []
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True})  # fmt: skip
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 391
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def open_page(browser: Any, text: str, file: Path) -> None:
    """Write a page and open it; messages of earlier pages are dropped."""
    file.write_text(text, encoding="utf-8")
    browser.get_log("browser")
    browser.get(file.as_uri())


def assert_good_page(browser: Any, page: str) -> None:
    """Nothing failed, axe finds no violation, and nothing is wider than a phone."""
    quiet(browser)
    assert audited(browser, page) == []
    for width in (1280, 390):
        resize(browser, width)
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width + 1
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    quiet(browser)


def test_the_league_page_ranks_systems_and_is_accessible(browser: Any, tmp_path: Path) -> None:
    gold = list(load_corpus(CORPUS)(spacy.blank("en")))[:12]
    league = score_league(gold, {"all <1>": gold, "some": gold[:8]}, name="sample")
    open_page(browser, render_league(league), tmp_path / "league.html")
    sections = css(browser, "main section")
    assert len(sections) == len(league.scores) + 1  # the last has the tests
    rows = [row.text.split() for row in sections[0].find_elements("css selector", "tbody tr")]
    assert [row[:2] for row in rows] == [["all", "<1>"], ["some", rows[0][2]]]
    assert "100.0" in rows[0]
    recall = league.scores["names, exact"]["some"].hits.prf.recall
    assert f"{100 * recall:.1f}" in rows[1]
    assert "some: 4 documents without answers" in css(browser, ".note")[0].text
    assert_good_page(browser, "league")


def made_replay() -> Replay:
    """A replay of 20 points whose curve flattens, with two random orders below it."""
    n = np.arange(10, 210, 10)
    rng = np.random.default_rng(0)

    def curve(level: float) -> list[ReplayPoint]:
        values = level - 1.5 * n**-0.6 + rng.normal(scale=0.004, size=len(n))
        return [
            ReplayPoint(int(k), float(v), None, float(v)) for k, v in zip(n, values, strict=True)
        ]

    curves = {CHOSEN: curve(0.8), "random 0": curve(0.76), "random 1": curve(0.75)}
    points = curves[CHOSEN]
    forecasts = forecast_curve([p.answers for p in points], [p.value for p in points])
    return Replay("ppi", "sample <corpus>", "ppi-linear", "F", 3, 400, curves, forecasts)


def test_the_replay_page_shows_curve_forecast_and_stop(browser: Any, tmp_path: Path) -> None:
    replay = made_replay()
    open_page(browser, render_replay(replay.to_dict()), tmp_path / "replay.html")
    assert "sample <corpus>" in css(browser, "h1")[0].text
    assert len(css(browser, "figure svg")) == 2
    assert len(css(browser, "#points tbody tr")) == 20
    assert len(css(browser, "#errors tbody tr")) == 2
    names = [name.text.lower() for name in css(browser, ".card .name")]
    assert names[1:] == ["answers needed", "20 more answers", "50 more answers", "stop after"]
    _, first, _ = replay.answers_needed()
    assert css(browser, ".card .value")[1].text == str(first)
    assert_good_page(browser, "replay")


def test_a_short_replay_has_a_page_without_forecast(browser: Any, tmp_path: Path) -> None:
    whole = made_replay()
    curves = {name: points[:1] for name, points in whole.curves.items()}
    short = Replay("ppi", "c", "p", "F", 3, 400, curves)
    open_page(browser, render_replay(short.to_dict()), tmp_path / "replay.html")
    assert len(css(browser, "figure svg")) == 1
    assert "too few points for a forecast" in css(browser, ".cards")[0].text
    assert_good_page(browser, "short replay")


def test_the_transfer_page_shows_weights_effects_and_harm(browser: Any, tmp_path: Path) -> None:
    interval = Interval(-0.01, 0.04, 0.95)
    corpora = {
        "IEPA": ForeignCorpus(
            90, 400, 2, 10, TransferEffect(1.0, 0.02, interval, 0.03, interval), 1.0
        ),
        "b<1>": ForeignCorpus(50, 300, 0, 0, TransferEffect(0.0, 0.0, interval, None, None), 0.0),
    }
    harmful = [
        HarmfulDocument("IEPA", "10022882", 4, -0.01, 0.002),
        HarmfulDocument("IEPA", "d<2>", 3, -0.002, None),
    ]
    combined = TransferEffect(None, 0.025, interval, 0.03, interval)
    transfer = Transfer(
        "mine", "ppi-linear", 0.5, 40, 330, 3, 0.88, 0.75, combined, corpora, harmful
    )
    open_page(browser, render_transfer(transfer), tmp_path / "transfer.html")
    assert len(css(browser, "figure svg")) == 2
    rows = [row.text for row in css(browser, "#corpora tbody tr")]
    assert [row.split()[0] for row in rows] == ["IEPA", "b<1>", "all"]
    assert "+2.0 (-1.0 to +4.0)" in rows[0]
    links = [link.get_attribute("href") for link in css(browser, "#harmful a")]
    assert links == [document_url("10022882")]
    assert "3 target documents were left out" in css(browser, ".note")[0].text
    assert_good_page(browser, "transfer")
    nothing = Transfer("mine", "p", 0.5, 40, 330, 0, 0.88, 0.75, combined, corpora, ())
    assert "None of the foreign documents" in render_transfer(nothing)


def test_rank_curation_shows_a_forecast_and_when_to_stop(browser: Any, tmp_path: Path) -> None:
    docs = list(load_corpus(CORPUS.parent / "sample-parses")(spacy.blank("en")))
    learner = RankLearner.from_docs(load_pipeline("parse_ranking"), docs)
    curation = RankCuration(learner, AnswerLog(tmp_path / "a.sqlite", {}), "ada")
    best = np.zeros(len(learner.questions), dtype=np.intp)
    learner.history[:] = [RankPoint(n, 0.8 - 3 / n, best) for n in range(1, 91)]
    browser.get_log("browser")  # forget the messages of earlier pages
    with served(lambda gate: RankCurationApp(curation, "sample", gate).app()) as address:
        browser.get(address)
        lines = until(lambda: [element.text for element in css(browser, ".forecast")])
        assert len(lines) == 2
        words = r"The next 20 choices: \+\d\.\d points .*, to about 7\d % held out\."
        assert re.fullmatch(words, lines[0])
        assert css(browser, "#advice b")[0].text == "Enough"
        assert audited(browser, "advice of rank curation") == []
        quiet(browser)
    curation.answers.close()


def test_the_best_parse_is_chosen_by_keys_and_mouse(browser: Any, tmp_path: Path) -> None:
    docs = list(load_corpus(CORPUS.parent / "sample-parses")(spacy.blank("en")))
    learner = RankLearner.from_docs(load_pipeline("parse_ranking"), docs)
    curation = RankCuration(learner, AnswerLog(tmp_path / "a.sqlite", {}), "ada")
    browser.get_log("browser")  # forget the messages of earlier pages
    with served(lambda gate: RankCurationApp(curation, "sample", gate).app()) as address:
        browser.get(address)
        until(lambda: css(browser, "#options button"))
        assert "depends on" in css(browser, "#options ul li")[0].text
        for count in range(1, 4):
            _press(browser, "21u"[count % 3], count)
        _press(browser, "z", 2)
        css(browser, "#options button")[2].click()
        until(lambda: css(browser, "body")[0].get_attribute("data-answered") == "3")
        assert len(curation.answers.active_events()) == 3
        choose(browser, "#order", "text")
        first = next(q for key, q in learner.questions.items() if key not in learner.answered)
        text = learner.candidates[first.rows[0]].doc.text.strip()
        until(lambda: css(browser, "#passage")[0].text.strip() == text)
        assert audited(browser, "rank") == []
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True})  # fmt: skip
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 391
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        quiet(browser)
    curation.answers.close()
