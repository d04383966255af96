"""Take the screenshots in ``docs/pictures`` with Chromium: ``make screenshots``."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "docs" / "pictures"
WIDTH, HEIGHT = 1200, 760  # pixels


@contextmanager
def serve(*arguments: str) -> Iterator[str]:
    """Run a textrank command that serves pages; yield its address and stop it on exit."""
    command = [sys.executable, "-m", "textrank", *arguments, "--no-browser"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.terminate()


@contextmanager
def browser(*, dark: bool) -> Iterator[Any]:
    """Yield a headless Chromium that prefers the light or dark colour scheme."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                 "--hide-scrollbars"):  # fmt: skip
        options.add_argument(argument)
    driver = webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver")))
    size = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
    yield driver
    driver.quit()


def shoot(address: str, pages: dict[str, str]) -> None:
    """Save one screenshot per page and colour scheme."""
    root = address.partition("?")[0]
    for dark in (False, True):
        with browser(dark=dark) as driver:
            driver.get(address)
            for name, path in pages.items():
                driver.get(root + path)
                for box in driver.find_elements("css selector", "details.why summary")[:1]:
                    box.click()
                _wait(driver)
                file = TARGET / f"{name}{'-dark' if dark else ''}.png"
                driver.save_screenshot(str(file))


def _wait(driver: Any, seconds: float = 60) -> None:
    """Wait until requested explanations are shown, then two seconds for graphs."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        requested = driver.find_elements("css selector", "details.why[open], #reasons")
        if not requested or driver.find_elements("css selector", ".reasons table"):
            break
        time.sleep(0.5)
    time.sleep(2)


def give_answers(address: str, count: int) -> None:
    """Answer ``count`` questions with the gold labels."""
    import spacy

    from textrank.config import load_corpus, load_pipeline

    root, _, token = address.partition("?token=")
    task = load_pipeline("ppi-linear").task
    gold = {}
    for doc in load_corpus(ROOT / "corpora" / "sample-ppi")(spacy.blank("en")):
        for candidate in task.candidates(doc):
            offsets = ",".join(f"{s.start_char}-{s.end_char}" for s in candidate.spans)
            gold[f"{doc.user_data['document']}|{offsets}|"] = (candidate.label or 0) > 0
    state = _request(f"{root}api/state", token)
    for _ in range(count):
        key = state["question"]["key"]
        value = "yes" if gold.get(key) else "no"
        state = _request(f"{root}api/answer", token, {"question": key, "value": value})


def _request(address: str, token: str, value: Any = None) -> dict[str, Any]:
    """Return the JSON answer of an address; POST ``value`` as JSON unless it is None."""
    data = None if value is None else json.dumps(value).encode()
    request = urllib.request.Request(address, data, {"authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return dict(json.load(answer))


def choose_examples(results: Path) -> tuple[str, str]:
    """Return the identifier and the document with most interactions."""
    from textrank.results.store import open_results

    rows = open_results(results).statements(limit=None)
    identifiers = [i for row in rows for i in {row["id_a"], row["id_b"]} if i]
    documents = Counter(row["document"] for row in rows)
    return Counter(identifiers).most_common(1)[0][0], documents.most_common(1)[0][0]


def main() -> None:
    """Take all screenshots: results of the shipped model on the sample, and its curation."""
    TARGET.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        results = Path(work) / "sample"
        command = [sys.executable, "-m", "textrank", "apply", "ppi", "corpora/sample-ppi"]
        subprocess.run([*command, "--out", str(results)], cwd=ROOT, check=True)
        with serve("explore", str(results)) as address:
            identifier, document = choose_examples(results)
            pages = {
                "facts": "",
                "statement": "fact?a=ncbigene:2885&b=ncbigene:6654",
                "name": f"name?key={identifier}",
                "document": f"document?id={document}",
                "network": "network",
            }
            shoot(address, pages)
        answers = str(Path(work) / "answers.sqlite")
        with serve("curate", "ppi", "corpora/sample-ppi", "--answers", answers) as address:
            give_answers(address, 60)
            shoot(address, {"curation": ""})


if __name__ == "__main__":
    main()
