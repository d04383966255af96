"""The bundled samples are what their README files say, to the last character offset."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest
import spacy
from defusedxml.ElementTree import parse

from textrank.config import load_corpus

LOADED = ("ppi", "gene-protein", "spelling", "categorise")
CORPORA = Path(__file__).parents[1] / "corpora"
FILES = {
    "sample-ppi": "corpus.xml",
    "sample-gene-protein": "corpus.jsonl",
    "sample-spelling": "texts/*.txt",
    "sample-parses": "corpus.conllu",
    "sample-text": "*.txt",
    "sample-categorise": "corpus.jsonl",
    "sample-retrieve": "*[rl]",
}


@pytest.fixture(scope="module")
def sentences():
    return list(parse(CORPORA / "sample-ppi" / "corpus.xml").getroot().iter("sentence"))


def pieces(element):
    places = (place.split("-") for place in element.get("charOffset").split(","))
    return [(int(first), int(last) + 1) for first, last in places]


@pytest.mark.parametrize("name", FILES)
def test_readme_states_licence_and_checksum_of_the_files(name):
    readme = (CORPORA / name / "README.md").read_text(encoding="utf-8")
    data = b"".join(file.read_bytes() for file in sorted((CORPORA / name).glob(FILES[name])))
    assert "MIT" in readme
    assert hashlib.sha256(data).hexdigest() in readme


def test_ppi_offsets_give_the_names(sentences):
    for sentence in sentences:
        text = sentence.get("text")
        for entity in sentence.iter("entity"):
            assert " ".join(text[a:b] for a, b in pieces(entity)) == entity.get("text")


def test_ppi_tokens_stand_at_their_offsets_and_hold_the_dependencies(sentences):
    for sentence in sentences:
        tokens = {token.get("id"): token for token in sentence.iter("token")}
        for token in tokens.values():
            assert [sentence.get("text")[a:b] for a, b in pieces(token)] == [token.get("text")]
        arcs = [(arc.get("t1"), arc.get("t2")) for arc in sentence.iter("dependency")]
        assert tokens.keys() >= {end for arc in arcs for end in arc}
        assert len({dependent for _, dependent in arcs}) == len(arcs) == len(tokens) - 1


def test_ppi_lists_every_pair_of_a_sentence_once(sentences):
    for sentence in sentences:
        ids = [entity.get("id") for entity in sentence.iter("entity")]
        pairs = [(pair.get("e1"), pair.get("e2")) for pair in sentence.iter("pair")]
        assert pairs == list(itertools.combinations(ids, 2))


def test_ppi_counts_are_those_of_the_readme(sentences):
    answers = Counter(p.get("interaction") for s in sentences for p in s.iter("pair"))
    names = [entity for s in sentences for entity in s.iter("entity")]
    broken = sum(len(pieces(entity)) > 1 for entity in names)
    readme = (CORPORA / "sample-ppi" / "README.md").read_text(encoding="utf-8")
    documents = {s.get("id").rsplit(".", 1)[0] for s in sentences}
    assert (
        f"{len(documents)} documents, {len(sentences)} sentences, {len(names)} names "
        f"({broken} of them in two pieces), "
        f"{answers['True']} true and {answers['False']} false pairs"
    ) in readme


def test_ppi_has_one_abstract_twice_under_two_ids():
    root = parse(CORPORA / "sample-ppi" / "corpus.xml").getroot()
    texts = defaultdict(list)
    for document in root:
        texts[tuple(s.get("text") for s in document)].append(document.get("id"))
    assert [ids for ids in texts.values() if len(ids) > 1] == [["Sample.d0", "Sample.d45"]]
    origins = [document.get("origId") for document in root]
    assert len(set(origins)) == len(origins)


def test_gene_protein_entities_are_whole_words_in_order():
    lines = (CORPORA / "sample-gene-protein" / "corpus.jsonl").read_text("utf-8").splitlines()
    labels = Counter()
    for row in map(json.loads, lines):
        end = 0
        for start, stop, label in row["entities"]:
            assert end <= start < stop <= len(row["text"])
            assert re.fullmatch(r"\S(.*\S)?", row["text"][start:stop])
            labels[label] += 1
            end = stop
    assert len(lines) == 42
    assert labels == {"protein": 169, "DNA": 135, "RNA": 27}


def test_spelling_has_every_member_of_every_set_several_times():
    sets = (
        "accept/except affect/effect among/between amount/number begin/being cite/sight/site "
        "country/county fewer/less I/me its/it's lead/led maybe/may_be passed/past peace/piece "
        "principal/principle quiet/quite raise/rise than/then their/there/they're "
        "weather/whether your/you're"
    )
    files = sorted((CORPORA / "sample-spelling" / "texts").glob("*.txt"))
    text = "".join(file.read_text(encoding="utf-8") for file in files)
    counts = Counter(re.findall(r"may be\b|[a-z]+(?:'[a-z]+)?|\bI\b", text))
    members = [word.replace("_", " ") for word in re.split("[ /]", sets)]
    assert len(files) == 23
    assert len(text.splitlines()) == 453
    assert min(counts[word] for word in members) >= 4


def test_parses_are_trees_and_differ_in_goodness():
    blocks = defaultdict(dict)
    text = (CORPORA / "sample-parses" / "corpus.conllu").read_text("utf-8")
    for block in text.strip().split("\n\n"):
        about = dict(re.findall(r"^# (\w+) = (.*)$", block, re.MULTILINE))
        rows = [line.split("\t") for line in block.splitlines() if not line.startswith("#")]
        arcs = [(int(row[6]), row[7]) for row in rows]
        assert _is_tree([head for head, _ in arcs])
        blocks[about["sent_id"]][about["parse"]] = arcs
    assert len(blocks) == 30
    for parses in blocks.values():
        gold = parses.pop("gold")
        scores = {sum(a == b for a, b in zip(gold, arcs, strict=True)) for arcs in parses.values()}
        assert len(parses) == 8
        assert len(scores) >= 4


def _is_tree(heads):
    reached = {0}
    for _ in heads:
        reached |= {i for i, head in enumerate(heads, 1) if head in reached}
    return len(reached) == len(heads) + 1 and heads.count(0) == 1


@pytest.mark.parametrize(
    "name", ["sample-ppi", "sample-gene-protein", "sample-spelling", "sample-categorise"]
)
def test_every_sample_loads_by_its_folder(name):
    docs = list(load_corpus(CORPORA / name)(spacy.blank("en")))
    assert len({doc.user_data["document"] for doc in docs}) == len(docs) > 20
    assert all(list(doc.sents) for doc in docs)


def test_parses_load_by_their_folder():
    docs = list(load_corpus(CORPORA / "sample-parses")(spacy.blank("en")))
    assert sum(len(doc.user_data["gold"]) for doc in docs) == 30
    assert sum(len(doc.user_data["parses"]) for doc in docs) == 240
