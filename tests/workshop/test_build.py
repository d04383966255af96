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
from workshop.cut_treebank import iter_documents
from workshop.recipes import load_recipe, read_source

from textrank import dump_pipeline, load_corpus, load_model, load_nlp, load_pipeline
from textrank.model import Model

ROOT = Path(__file__).parents[2]
RECIPE = """
pipeline = "pipeline.cfg"
keep = 50
licence = "MIT"

[sources.names]
reader = "json_lines.v1"
project = "corpora/sample-gene-protein/corpus.jsonl"
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
    recipe = load_recipe(folder / "recipe")
    for file in (recipe.script, recipe.prepare):
        assert not file or (folder / "recipe" / file).is_file()
    if recipe.module:
        assert (ROOT / "models" / f"{recipe.module.replace('.', '/')}.py").is_file()
    if recipe.pipeline:
        load_pipeline(recipe.pipeline_path)
    card = ROOT / "models" / name.parts[0] / "README.md"  # what stands inside a model has its card
    assert re.search("[Ll]icence|public domain", card.read_text(encoding="utf-8"))
    assert f"make models/{name.parts[0]}" in card.read_text(encoding="utf-8")


def test_a_recipe_without_script_gives_a_model(tmp_path, monkeypatch):
    recipe = tmp_path / "models" / "tiny" / "recipe"
    recipe.mkdir(parents=True)
    settings = {"learner.learner.alphas": [1.0], "learner.minimum": 1}
    pipeline = load_pipeline("gene_protein", settings)
    (recipe / "pipeline.cfg").write_text(dump_pipeline(pipeline))
    (recipe / "recipe.toml").write_text(RECIPE)
    monkeypatch.setattr(workshop, "MODELS", tmp_path / "models")
    workshop.build("tiny", tmp_path)
    built = Model.from_disk(tmp_path / "models" / "tiny")
    docs = list(load_corpus(ROOT / "corpora" / "sample-gene-protein")(load_nlp(only=())))
    direct = pipeline.fit(docs).prune(50)
    candidates = pipeline.task.candidates(docs[0])
    np.testing.assert_allclose(built.score(candidates), direct.score(candidates), atol=1e-9)
    assert built.meta["licence"] == "MIT"
    assert (recipe / "recipe.toml").is_file()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "expected one of script, module and pipeline, got none"),
        ('script = "a.py"\nmodule = "b"', "got script, module"),
    ],
)
def test_a_recipe_has_one_way_to_build(content, message, tmp_path):
    (tmp_path / "recipe.toml").write_text(content)
    with pytest.raises(ValueError, match=message):
        load_recipe(tmp_path)


def test_a_source_without_a_file_is_refused(tmp_path):
    (tmp_path / "recipe.toml").write_text('pipeline = "p"\n[sources.a]\nreader = "conllu.v1"')
    with pytest.raises(ValueError, match=r"\[sources.a\]: expected one of data, project"):
        read_source(load_recipe(tmp_path), "a", tmp_path)


def test_an_unknown_model_is_named_with_those_that_exist():
    with pytest.raises(SystemExit, match=r"no recipe for 'nothing'; available: .*gene_protein"):
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
    for name, sentences in iter_documents(data / "treebanks" / "craft-dev.conllu.gz"):
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
