"""A model folder that is damaged or a stranger's is refused by name, and runs no code."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from textrank.config import read_config
from textrank.io import read_arrays, write_arrays, write_manifest
from textrank.language import load_nlp
from textrank.language.load import model_path
from textrank.model import Model

Damage = Callable[[Path], None]


def sealed(change: Callable[[dict[str, object]], object], arrays: bool = False) -> Damage:
    """A change to meta.json or the arrays that is sealed again, as a stranger would."""

    def damage(folder: Path) -> None:
        meta = json.loads((folder / "meta.json").read_text())
        if arrays:
            values = dict(read_arrays(folder / "arrays.npz"))
            change(values)  # type: ignore[arg-type]
            write_arrays(folder / "arrays.npz", values)
        else:
            change(meta)
        write_manifest(folder, meta)

    return damage


def written(name: str, text: str) -> Damage:
    return lambda folder: (folder / name).write_text(text) and None


DAMAGES: dict[str, Damage] = {
    "no alpha": sealed(lambda meta: meta.pop("alpha")),
    "alpha in words": sealed(lambda meta: meta.update(alpha="much")),
    "alpha of 400 digits": sealed(lambda meta: meta.update(alpha=10**399)),
    "no threshold": sealed(lambda meta: meta.pop("threshold")),
    "no coef": sealed(lambda a: a.pop("coef"), arrays=True),
    "a longer coef": sealed(lambda a: a.update(coef=np.ones(7)), arrays=True),
    "coef that is no number": sealed(lambda a: a.update(coef=a["coef"] * np.nan), arrays=True),
    "deep meta": written("meta.json", "[" * 100_000),
    "a list for meta": written("meta.json", "[]"),
    "no files": written("meta.json", '{"format": 2, "files": []}'),
    "an unsealed change": written("config.cfg", "[pipeline]\n"),
}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "gene_protein"
    Model.from_disk(model_path("gene_protein")).to_disk(folder)
    return folder


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_named(name: str, model: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(model, folder)
    DAMAGES[name](folder)
    with pytest.raises(ValueError, match=str(folder)) as told:
        Model.from_disk(folder)
    assert "Error(" not in str(told.value)  # our words, not Python's


def test_meta_itself_is_vouched_for(model: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(model, folder)
    meta = json.loads((folder / "meta.json").read_text())
    (folder / "meta.json").write_text(json.dumps({**meta, "threshold": -1.0}))
    with pytest.raises(ValueError, match=r"meta\.json: damaged, its checksum differs"):
        Model.from_disk(folder)


def test_a_name_does_not_import_what_is_no_model(tmp_path: Path) -> None:
    sys.modules.pop("this", None)  # a module that says so when it is imported
    for name in ("this", "pip", "os"):
        with pytest.raises(ValueError, match="spaCy pipeline"):
            load_nlp(name)
    assert "this" not in sys.modules
    with pytest.raises(ValueError, match="spaCy pipeline"):
        load_nlp(tmp_path)


def test_a_cfg_cannot_expand_without_end(tmp_path: Path) -> None:
    rows = ["[a]", 'x0 = "ha"', *(f'x{n} = "${{a.x{n - 1}}}${{a.x{n - 1}}}"' for n in range(1, 30))]
    (tmp_path / "corpus.cfg").write_text("\n".join(rows))
    with pytest.raises(ValueError, match=r"corpus\.cfg: references"):
        read_config(tmp_path / "corpus.cfg")


def test_an_older_model_is_sealed_anew(tmp_path: Path) -> None:
    from workshop.reseal import reseal

    folder = tmp_path / "model"
    Model.from_disk(model_path("gene_protein")).to_disk(folder)
    meta = json.loads((folder / "meta.json").read_text())
    older = {key: value for key, value in meta.items() if key != "checksum"} | {"format": 1}
    (folder / "meta.json").write_text(json.dumps(older))
    (folder / "README.md").write_text("a card, which is no part of the model")
    reseal(folder)
    (folder / "README.md").write_text("another card")
    assert Model.from_disk(folder).meta["format"] == meta["format"]
    text = (folder / "meta.json").read_text()
    (folder / "meta.json").write_text(text.replace('"alpha": ', '"alpha": 1'))
    with pytest.raises(ValueError, match="its checksum differs"):
        Model.from_disk(folder)
