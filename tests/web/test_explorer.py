"""The explorer's pages, exports and what they do with hostile text."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import defusedxml.ElementTree as ET
import pytest
from starlette.testclient import TestClient

from textrank.component import load_language
from textrank.config import load_model
from textrank.results.queries import select_evidence
from textrank.results.store import from_rows, open_store
from textrank.web.explorer import (
    MAX_STATIC_STATEMENTS,
    Explorer,
    StatementExplainer,
    mark_document,
    present_relation,
    render_static_page,
)

EVIL = '<script>alert("x")</script><img src=x onerror=alert(1)>'


def _row(**changes: Any) -> dict[str, Any]:
    row = {"document": "d1", "start_a": 0, "end_a": 3, "start_b": 10, "end_b": 14,
           "name_a": "SHC", "name_b": "GRB2", "id_a": "X:1", "id_b": "X:2", "score": 1.0,
           "probability": 0.9, "interacts": True, "status": "asserted", "type": "binding",
           "direction": "none", "trigger": [[4, 9]], "sentence_start": 0,
           "sentence": "SHC binds GRB2.", "source": "a.txt"}  # fmt: skip
    return {**row, **changes}


def test_the_table_shows_facts_with_facets(explorer: TestClient) -> None:
    page = explorer.get("/").text
    assert page.count('class="open"') == 50
    assert "phosphorylation" in page
    assert "Species" in page


def test_a_facet_narrows_and_can_be_taken_back(explorer: TestClient) -> None:
    page = explorer.get("/?type=binding").text
    assert 'aria-checked="true"' in page
    rows = list(csv.DictReader(io.StringIO(explorer.get("/export/csv?type=binding").text)))
    assert rows
    assert {row["type"] for row in rows} == {"binding"}


def test_every_pair_has_one_standing_and_likely_ones_are_shown_first(explorer: TestClient) -> None:
    shown = {
        name: explorer.get(f"/?show={name}&page=1").text
        for name in ("likely", "negated", "speculated", "unlikely", "all")
    }
    assert explorer.get("/").text == shown["likely"]
    counts = {}
    for name, page in shown.items():
        tab = page[page.index('class="tabs"') :]
        counts[name] = int(re.search(rf"{name.capitalize()} <span>([\d ]+)<", tab)[1])
    assert sum(counts.values()) == 2 * counts["all"]
    assert "negated</span>" not in shown["likely"]  # the tag of another standing


def test_an_unlikely_pair_has_neither_type_nor_direction(
    guarded: Callable[..., TestClient],
) -> None:
    row = _row(probability=0.2, interacts=False, type="activation", direction="a>b")
    client = guarded(Explorer(from_rows({"statements": [row]}, "made")).app())
    for path in ("/?show=unlikely", "/fact?a=X:1&b=X:2", "/document?id=d1"):
        page = client.get(path).text.partition('class="results"')[2] or client.get(path).text
        assert "unlikely" in page
        assert "activation" not in page
        assert "→" not in page
    assert "0 <span>likely facts" in client.get("/").text


def test_conflicts_are_said_with_the_fact(guarded: Callable[..., TestClient]) -> None:
    rows = [
        _row(type="activation", direction="a>b"),
        _row(document="d2", type="inhibition", direction="b>a"),
        _row(document="d3", status="negated", interacts=False),
    ]
    client = guarded(Explorer(from_rows({"statements": rows}, "made")).app())
    table = client.get("/").text
    for tag in ("activation or inhibition?", "direction?", "also denied"):
        assert tag in table
    page = client.get("/fact?a=X:1&b=X:2").text
    assert "1 says activation, 1 says inhibition" in page
    assert "1 statement denies it as binding" in page
    assert "stated by 2 independent papers" in page


def test_symbols_species_and_links_are_shown_and_found(guarded: Callable[..., TestClient]) -> None:
    row = _row(
        document="10212000", id_a="ncbigene:2885", id_b="ncbigene:6654", name_a="Ash", name_b="Sos"
    )
    names = [
        {"document": "10212000", "start": 0, "end": 3, "name": "Ash", "id": "ncbigene:2885",
         "species": "9606"}
    ]  # fmt: skip
    store = from_rows({"statements": [row], "names": names}, "made")
    client = guarded(Explorer(store).app())
    for word in ("GRB2", "SOS1", "ncbigene:6654", "human", "PMID 10212000", "Sos"):
        assert "1 <span>likely fact" in client.get("/", params={"q": word}).text, word
    assert "No likely fact" in client.get("/", params={"q": "zebrafish"}).text
    page = client.get("/fact?a=ncbigene:2885&b=ncbigene:6654").text
    for link in ("https://www.ncbi.nlm.nih.gov/gene/2885", "uniprotkb/P62993", "GRB2", "human"):
        assert link in page
    assert "https://pubmed.ncbi.nlm.nih.gov/10212000/" in client.get("/document?id=10212000").text


def test_a_text_keeps_its_sections_and_links_its_names() -> None:
    text = "A title.\n\nBACKGROUND: SHC binds GRB2. More.\nMethods\nNothing.\n"
    start = text.index("SHC")
    row = present_relation(
        {**_row(start_a=start, end_a=start + 3, start_b=start + 10, end_b=start + 14,
                sentence_start=start, trigger=[[start + 4, start + 9]]),
         "key_a": "X:1", "key_b": "X:2"}
    )  # fmt: skip
    passages = list(mark_document({"text": text, "names": []}, [row]))
    assert [is_heading for is_heading, _ in passages] == [False, False, True, False]
    assert "".join(piece["text"] for _, pieces in passages for piece in pieces) == text.replace(
        "\n", ""
    )
    pieces = {piece["text"]: piece for piece in passages[1][1]}
    assert pieces["BACKGROUND:"]["classes"] == "label"
    assert pieces["SHC"]["href"] == "/name?key=X%3A1"
    assert pieces["binds"]["classes"] == "states trigger"
    assert pieces[" More."]["classes"] == ""


@pytest.mark.parametrize("word", ["p3", "PRO3", "pro-3", "ncbigene:1003"])
def test_synonyms_and_identifiers_find_the_same_statements(explorer: TestClient, word: str) -> None:
    rows = csv.DictReader(io.StringIO(explorer.get("/export/csv", params={"q": word}).text))
    names = {n for row in rows for n in (row["name_a"], row["name_b"])}
    assert {"p3", "PRO3"} <= names


def test_words_that_no_single_name_has_are_looked_for_together(explorer: TestClient) -> None:
    text = explorer.get("/export/csv", params={"q": "PRO0 PRO3"}).text
    rows = list(csv.DictReader(io.StringIO(text)))
    assert rows
    for row in rows:
        assert {row["id_a"], row["id_b"]} == {"NCBIGene:1000", "NCBIGene:1003"}


def test_a_fact_has_every_sentence_with_names_and_trigger_marked(explorer: TestClient) -> None:
    page = explorer.get("/fact?a=NCBIGene:1000&b=NCBIGene:1001").text
    assert '<mark class="e1">' in page
    assert '<mark class="e2">' in page
    assert '<mark class="trigger">' in page
    found = explorer.get("/export/csv", params={"q": "NCBIGene:1000"}).text
    rows = list(csv.DictReader(io.StringIO(found)))
    both = [r for r in rows if {r["id_a"], r["id_b"]} == {"NCBIGene:1000", "NCBIGene:1001"}]
    assert page.count('<p class="sentence">') == len(both)


def test_a_document_and_a_name_have_pages(explorer: TestClient) -> None:
    assert "Proteins of line 1" in explorer.get("/document?id=30000001").text
    page = explorer.get("/name?key=NCBIGene:1003").text
    assert "PRO3" in page
    assert "p3" in page


def test_the_neighbourhood_is_limited_and_says_what_it_leaves_out(explorer: TestClient) -> None:
    found = explorer.get("/api/neighbours?key=NCBIGene:1000&limit=5").json()
    assert len(found["nodes"]) == 6
    assert found["partners"] > 5
    assert all({e["a"], e["b"]} <= {n["key"] for n in found["nodes"]} for e in found["edges"])


def test_networks_are_exported_in_three_formats(explorer: TestClient) -> None:
    root = ET.fromstring(explorer.get("/export/graphml").content)
    edges = root.findall(".//{*}edge")
    found = json.loads(explorer.get("/export/cyjs").text)["elements"]["edges"]
    lines = explorer.get("/export/sif").text.splitlines()
    assert len(edges) == len(found) == len(lines) > 50


def test_what_is_not_there_is_said(explorer: TestClient) -> None:
    for path in ("/fact?a=x&b=y", "/name?key=x", "/document?id=x", "/nowhere", "/export/exe",
                 "/assets/../../pyproject.toml", "/assets/..%2f..%2fpyproject.toml",
                 "/export/..%2f..%2fetc%2fpasswd"):  # fmt: skip
        assert explorer.get(path).status_code == 404, path
    assert "not well-formed" in explorer.get("/errors").text


def test_odd_addresses_do_no_harm(explorer: TestClient) -> None:
    for path in ("/?page=0", "/?page=99999999999", "/?page=-1", "/?sort=;DROP", "/?type=%00",
                 "/?q=%27%22%3B--", "/api/neighbours?key=NCBIGene:1000&least=nan&limit=inf",
                 "/?year=abc&year=2000"):  # fmt: skip
        assert explorer.get(path).status_code == 200, path


def test_hostile_text_stays_text(guarded: Callable[..., TestClient]) -> None:
    evil = _row(document=EVIL, name_a=EVIL, id_a=EVIL, sentence=EVIL, source=EVIL, type=EVIL)
    failed = {"source": EVIL, "document": EVIL, "reason": EVIL}
    store = from_rows({"statements": [evil, _row()], "errors": [failed],
                       "documents": [{"document": EVIL, "title": EVIL, "text": EVIL}]},
                      EVIL)  # fmt: skip
    client = guarded(Explorer(store).app())
    for path, values in (("/", {}), ("/fact", {"a": EVIL, "b": "X:2"}), ("/name", {"key": EVIL}),
                         ("/document", {"id": EVIL}), ("/errors", {}),
                         ("/", {"q": EVIL})):  # fmt: skip
        page = client.get(path, params=values)
        assert page.status_code == 200, path
        assert "<script>alert" not in page.text
        assert "<img" not in page.text
    assert "<script>alert" not in render_static_page(store)
    header = client.get("/export/csv").headers["content-disposition"]
    assert "<" not in header


def test_a_spreadsheet_runs_nothing(guarded: Callable[..., TestClient]) -> None:
    client = guarded(Explorer(from_rows({"statements": [_row(name_a="=1+1")]}, "x")).app())
    (row,) = csv.DictReader(io.StringIO(client.get("/export/csv").text))
    assert row["name_a"] == "'=1+1"


def test_json_lines_of_apply_are_opened_and_marked(tmp_path: Path) -> None:
    row = {"names": ["SHC", "GRB2"], "spans": [[20, 23], [30, 34]], "score": 0.5,
           "identifiers": [None, "NCBIGene:2885"], "probability": 0.8, "interacts": True,
           "sentence": "SHC binds GRB2.", "status": "asserted", "type": "binding",
           "direction": "none", "trigger": [[24, 29]]}  # fmt: skip
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps({"document": "d1", "textrank_ppi": [row]}) + "\n")
    found = open_store(file).fetch("SELECT sentence_start, key_a, key_b FROM pairs")
    assert found == [{"sentence_start": 20, "key_a": "shc", "key_b": "NCBIGene:2885"}]


def test_a_corpus_shows_its_gold(guarded: Callable[..., TestClient]) -> None:
    store = open_store(Path(__file__).parents[2] / "corpora" / "sample-ppi")
    assert store.fetch_value("SELECT count(*) FROM pairs WHERE interacts") == 222
    page = guarded(Explorer(store).app()).get("/document?id=Sample.d0").text
    assert re.search('<a class="name[^>]*>SHC</a>', page)


def test_another_task_and_a_missing_path_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text('{"document": "d", "textrank_spelling": []}\n')
    with pytest.raises(ValueError, match="explore shows interactions"):
        open_store(file)
    with pytest.raises(ValueError, match="no such file"):
        open_store(tmp_path / "nothing")


def test_a_page_for_itself_refuses_too_much() -> None:
    rows = [_row(document=f"d{i}") for i in range(3)]
    assert "SHC binds GRB2." in render_static_page(from_rows({"statements": rows}, "x"))
    store = from_rows({"statements": rows}, "x")
    store.connection.execute(
        f"INSERT INTO pairs SELECT p.* FROM pairs p, range({MAX_STATIC_STATEMENTS})"
    )
    with pytest.raises(ValueError, match="too many for one page"):
        render_static_page(store)


def test_statements_of_files_that_share_document_ids_are_not_multiplied(
    guarded: Callable[..., TestClient],
) -> None:
    rows = [
        _row(source=source, sentence=f"SHC binds GRB2 in {source}.") for source in ("a.txt", "b")
    ]
    store = from_rows({"statements": [*rows, _row(document="d2", source=None)]}, "made")
    sentences = [*(row["sentence"] for row in rows), "SHC binds GRB2."]
    evidence = select_evidence(store, "X:1", "X:2")
    assert sorted(row["sentence"] for row in evidence) == sorted(sentences)
    client = guarded(Explorer(store).app())
    exported = list(csv.DictReader(io.StringIO(client.get("/export/csv").text)))
    assert sorted(row["sentence"] for row in exported) == sorted(sentences)
    page = render_static_page(store)
    assert [page.count(sentence) for sentence in sentences] == [1, 1, 1]


def test_what_interacts_comes_before_what_is_denied(guarded: Callable[..., TestClient]) -> None:
    denied = _row(id_a="X:3", name_a="GRB7", probability=0.99, interacts=False, status="negated")
    store = from_rows({"statements": [denied, _row()]}, "made")
    page = guarded(Explorer(store).app()).get("/?show=all").text
    assert page.index("<b>SHC</b>") < page.index("<b>GRB7</b>")


def test_a_document_lists_its_names_each_once(guarded: Callable[..., TestClient]) -> None:
    names = [
        {"document": "d1", "start": s, "end": s + 3, "name": n, "id": i, "species": "9606"}
        for s, n, i in ((0, "SHC", "X:1"), (20, "Shc", "X:1"), (30, "ALB", "X:9"))
    ]
    store = from_rows({"statements": [_row()], "names": names}, "made")
    page = guarded(Explorer(store).app()).get("/document?id=d1").text
    names_of_page = page[page.index('<ul class="called">') :]
    assert names_of_page.count('href="/name?key=X%3A1"') == 1
    assert "2 times" in page
    assert 'href="/name?key=X%3A9"' not in page  # it is in no statement and has no page
    assert "human" in page


def test_a_report_is_linked_and_only_its_pages_are_served(
    folder: Path, guarded: Callable[..., TestClient]
) -> None:
    pages = {"report.html": "<p>report</p>", "explanations.html": "<p>why</p>"}
    client = guarded(Explorer(open_store(folder), reports=pages).app())
    assert 'href="/report/report.html"' in client.get("/").text
    found = client.get("/report/report.html")
    assert found.text == "<p>report</p>"
    assert "script-src 'sha256-" in found.headers["content-security-policy"]
    for name in ("manifest.json", "..%2fmanifest.json", "%2e%2e/%2e%2e/etc/passwd"):
        assert client.get(f"/report/{name}").status_code == 404


def test_statements_of_a_document_are_explained_and_lead_back(
    tmp_path: Path, guarded: Callable[..., TestClient]
) -> None:
    model = load_model("ppi")
    nlp = load_language(None, model.pipeline.task)
    rows = [_row(sentence=f"SHC binds GRB2. {EVIL}")]
    client = guarded(
        Explorer(
            from_rows({"statements": rows}, "made"), StatementExplainer(lambda: (model, nlp))
        ).app()
    )
    assert "/explanations?id=d1" in client.get("/document?id=d1").text
    page = client.get("/explanations?id=d1").text
    assert 'href="/document?id=d1"' in page
    assert "<em>binds</em> has SHC as subject and GRB2 as object." in page
    assert "<img" not in page
    assert client.get("/explanations?id=none").status_code == 404
