"""Recipes as files: every shipped model has one, and building gives a model that scores alike."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from workshop import build as workshop
from workshop.cut_treebank import documents

from textrank import dump_pipeline, load_corpus, load_model, load_nlp, load_pipeline
from textrank.model import Model

ROOT = Path(__file__).parents[2]
CORPUS = """
[corpus]
@readers = "json_lines.v1"
path = "PROJECT/corpora/sample-gene-protein/corpus.jsonl"

[recipe]
keep = 50
licence = "MIT"
"""


MODELS = sorted(
    path.parent.relative_to(ROOT / "models") for path in ROOT.glob("models/**/meta.json")
)


def made() -> list[str]:
    """The models that the Makefile builds, in its order."""
    text = (ROOT / "Makefile").read_text().replace("\\\n", " ")
    return re.search(r"^MODELS := (.*)$", text, re.MULTILINE)[1].split()


def test_make_builds_whatever_has_a_recipe_and_the_parser_first():
    recipes = {str(p.parent.relative_to(ROOT / "models")) for p in ROOT.glob("models/**/recipe")}
    assert set(made()) == recipes
    assert made().index("en_textrank_bio") < made().index("parse_ranking") < made().index("ppi")
    printed = subprocess.run(
        ["make", "-n", "-o", ".venv/.develops", "models/ppi/type", "DATA=corpora"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "-m workshop.build ppi/type corpora" in printed.stdout


@pytest.mark.parametrize("name", MODELS, ids=str)
def test_every_model_has_a_recipe_and_a_card(name):
    folder = ROOT / "models" / name
    script = (folder / "recipe" / "build.py").is_file()
    assert script or {p.name for p in (folder / "recipe").iterdir()} >= {
        "pipeline.cfg",
        "corpus.cfg",
    }
    card = ROOT / "models" / name.parts[0] / "README.md"  # what stands inside a model has its card
    assert re.search("[Ll]icence|public domain", card.read_text(encoding="utf-8"))
    assert f"make models/{name.parts[0]}" in card.read_text(encoding="utf-8")


def test_a_recipe_of_two_files_gives_a_model(tmp_path, monkeypatch):
    recipe = tmp_path / "models" / "tiny" / "recipe"
    recipe.mkdir(parents=True)
    settings = {"learner.learner.alphas": [1.0], "learner.minimum": 1}
    pipeline = load_pipeline("gene_protein", settings)
    (recipe / "pipeline.cfg").write_text(dump_pipeline(pipeline))
    (recipe / "corpus.cfg").write_text(CORPUS)
    monkeypatch.setattr(workshop, "MODELS", tmp_path / "models")
    workshop.build("tiny", tmp_path)
    built = Model.from_disk(tmp_path / "models" / "tiny")
    docs = list(load_corpus(ROOT / "corpora" / "sample-gene-protein")(load_nlp(only=())))
    direct = pipeline.fit(docs).strongest(50)
    candidates = pipeline.task.candidates(docs[0])
    np.testing.assert_allclose(built.score(candidates), direct.score(candidates), atol=1e-9)
    assert built.meta["licence"] == "MIT"
    assert (recipe / "corpus.cfg").is_file()


def test_an_unknown_model_is_named_with_those_that_exist():
    with pytest.raises(SystemExit, match=r"no recipe for 'nothing'; there are: .*gene_protein"):
        workshop.build("nothing", Path())


@pytest.mark.slow
@pytest.mark.corpus
def test_the_lexicon_is_rebuilt_to_the_byte(data, tmp_path):
    workshop.build("lexicon", data, tmp_path)
    built, shipped = (f / "english.tsv.gz" for f in (tmp_path, ROOT / "models" / "lexicon"))
    assert built.read_bytes() == shipped.read_bytes()


@pytest.mark.slow
@pytest.mark.corpus
def test_the_recipe_of_parse_ranking_runs_on_a_slice(data, tmp_path):
    """Three documents with a few sentences each: every step of the recipe, minutes saved."""
    blocks: dict[str, list[str]] = {}
    for name, sentences in documents(data / "treebanks" / "craft-dev.conllu.gz"):
        blocks[name] = sentences[:4]
    kept = [(name, own) for name, own in blocks.items() if own][:3]
    text = "".join(f"# newdoc id = {name}\n{s}\n\n" for name, own in kept for s in own)
    (tmp_path / "treebanks").mkdir()
    packed = gzip.compress(text.encode())
    (tmp_path / "treebanks" / "craft-dev.conllu.gz").write_bytes(packed)
    workshop.build("parse_ranking", tmp_path, tmp_path / "model")
    model = Model.from_disk(tmp_path / "model")
    assert model.pipeline == load_model("parse_ranking").pipeline
    assert len(model.heldout) > 12


@pytest.mark.slow
@pytest.mark.corpus
@pytest.mark.parametrize("name", ["gene_protein", "spelling", "parse_ranking", "ppi"])
def test_a_rebuild_scores_as_the_shipped_model(name, data, tmp_path):
    workshop.build(name, data, tmp_path / name)
    again, shipped = Model.from_disk(tmp_path / name), load_model(name)
    assert again.fit.alpha == shipped.fit.alpha
    np.testing.assert_allclose(again.heldout, shipped.heldout, atol=1e-6)
    files = json.loads((tmp_path / name / "meta.json").read_text())["files"]
    assert set(files) == {"arrays.npz", "config.cfg"}
