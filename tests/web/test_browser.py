"""The pages in Chromium: search, facets, graph, evidence, export, and thirty answers with undo."""

from __future__ import annotations

import asyncio
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

from textrank.config import load_corpus, load_pipeline
from textrank.evaluation.audit import audit_dataset
from textrank.results.store import open_store
from textrank.web.active_learner import ActiveLearner
from textrank.web.annotation import AnswerLog, Curation, CurationApp, fingerprint_docs
from textrank.web.app import Credentials, GuardMiddleware
from textrank.web.explorer import Explorer
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
        box = next(a for a in css(browser, "a[role=checkbox]") if "negated" in a.text)
        box.send_keys(" ")
        until(lambda: "status=negated" in browser.current_url)
        until(lambda: css(browser, "a[role=checkbox][aria-checked=true]"))
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
    """What axe-core finds wrong with a page for screen readers and weak eyes, light and dark."""
    package = pytest.importorskip("axe_core_python", reason="axe-core-python audits the pages")
    script = (Path(package.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
    found = []
    for scheme in ("light", "dark"):
        media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        browser.execute_script(script)
        found += [f"{page} ({scheme}) {line}" for line in browser.execute_async_script(AUDIT)]
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
        for path in ("name?key=NCBIGene:1000", "document?id=30000001", "errors", "nowhere"):
            browser.get(root + path)
            found += audited(browser, path)
    assert found == []


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
