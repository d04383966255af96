"""Spoilt cfg files, settings, model folders, results and tables: used, or refused by name."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.campaign.findings import check
from tests.campaign.mutations import (
    TOKENS,
    VALUES,
    any_of,
    spoil_bytes,
    spoil_json,
    spoil_tokens,
    spoil_tree,
)
from tests.campaign.sandbox import run_all
from tests.campaign.settings import INPUTS, SEED
from textrank.cli.run import _parse_folds, parse_grid
from textrank.config import (
    load_pipeline,
    parse_setting,
    pipeline_names,
    to_config,
    with_task_settings,
)
from textrank.io import read_arrays, write_manifest
from textrank.io.reading import shipped_folder
from textrank.model import Model

pytestmark = pytest.mark.campaign
WORDS = any_of(spoil_bytes, spoil_tokens, spoil_tokens)
WAYS = {
    "meta.json": any_of(spoil_bytes, spoil_json),
    "config.cfg": WORDS,
    "arrays.npz": spoil_bytes,
}


def flat(block: dict[str, Any], place: str = "") -> Iterator[str]:
    for key, value in block.items():
        yield f"{place}{key}"
        if isinstance(value, dict):
            yield from flat(value, f"{place}{key}.")


def test_spoilt_pipelines(tmp_path: Path) -> None:
    shipped = [p.read_bytes() for p in sorted(shipped_folder("pipelines").glob("*.cfg"))]
    file = tmp_path / "x.cfg"

    def spoilt(number: int) -> bytes:
        rng = random.Random(f"{SEED} cfg {number}")
        return WORDS(rng.choice(shipped), rng)

    def attempt(number: int) -> Iterator[str]:
        file.write_bytes(spoilt(number))
        yield str(file)
        load_pipeline(file)
        yield ""

    check("pipeline.cfg", run_all(INPUTS, attempt), spoilt)


def test_any_setting() -> None:
    names = pipeline_names()
    keys = {name: list(flat(to_config(load_pipeline(name)))) for name in names}

    def attempt(number: int) -> Iterator[str]:
        rng = random.Random(f"{SEED} set {number}")
        name = rng.choice(names)
        key = rng.choice(keys[name]) if rng.random() < 0.95 else rng.choice(TOKENS)
        text = f"{key}={_value(rng)}"
        yield ""
        load_pipeline(name, dict([parse_setting(text)]))
        yield ""
        parse_grid(text)

    check("--set of a pipeline", run_all(INPUTS, attempt))


def _value(rng: random.Random) -> str:
    if rng.random() < 0.3:
        return rng.choice([*TOKENS, "[" * 5000, "9" * 5000, '{"a":' * 500])
    return json.dumps(rng.choice(VALUES))


def test_any_setting_of_a_model() -> None:
    model = Model.from_disk(shipped_folder("models") / "gene_protein")
    keys = [f"task.{key}" for key in to_config(model.pipeline)["task"]]

    def attempt(number: int) -> Iterator[str]:
        rng = random.Random(f"{SEED} adjust {number}")
        yield ""
        with_task_settings(model, [f"{rng.choice(keys)}={_value(rng)}"])

    check("--set of a model", run_all(INPUTS, attempt))


def test_strangers_models(tmp_path: Path) -> None:
    """Each file spoilt, and sealed again where a stranger would."""
    whole, folder = tmp_path / "whole", tmp_path / "model"
    Model.from_disk(shipped_folder("models") / "gene_protein").prune(50).to_disk(whole)
    meta = json.loads((whole / "meta.json").read_text())
    arrays = dict(read_arrays(whole / "arrays.npz"))

    def attempt(number: int) -> Iterator[str]:
        rng = random.Random(f"{SEED} model {number}")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(whole, folder)
        name = rng.choice(["meta.json", "config.cfg", "arrays.npz", "inside"])
        if name == "inside":
            key = rng.choice(list(arrays))
            spoilt = {**arrays, key: _spoilt(arrays[key], rng)}
            np.savez(folder / "arrays.npz", **spoilt)  # uncompressed: most of the time went there
        else:
            way = WAYS[name]
            (folder / name).write_bytes(way((whole / name).read_bytes(), rng))
        if name != "meta.json" and rng.random() < 0.9:
            write_manifest(folder, meta)
        elif rng.random() < 0.5:
            changed = spoil_tree(meta, rng)
            if isinstance(changed, dict):
                _try_seal(folder, changed)
        yield str(folder)
        Model.from_disk(folder)

    check("model folder", run_all(INPUTS, attempt))


def _try_seal(folder: Path, meta: dict[str, Any]) -> None:
    try:
        write_manifest(folder, meta)
    except (ValueError, TypeError, RecursionError):
        return


def _spoilt(array: Any, rng: random.Random) -> Any:
    ways = [
        lambda a: a[: len(a) // 2],
        lambda a: np.zeros((0, *a.shape[1:]), a.dtype),
        lambda a: a[:, None],
        lambda a: a.astype(np.float32) * np.nan,
        lambda a: -a.astype(np.int64) - 1,
        lambda a: a.astype(np.int64) + 10**9,
        lambda a: a.astype("U5"),
        lambda a: np.array(3),
        lambda a: np.concatenate([a, a]),
    ]
    return rng.choice(ways)(np.atleast_1d(array))


def test_spoilt_folds(tmp_path: Path) -> None:
    file = tmp_path / "folds.json"
    seeds = [json.dumps({f"d{n}": n % 3 for n in range(9)}).encode(), b'{"c": {"d1": 0, "d2": 1}}']

    def spoilt(number: int) -> bytes:
        rng = random.Random(f"{SEED} folds {number}")
        return any_of(spoil_bytes, spoil_json, spoil_tokens)(rng.choice(seeds), rng)

    def attempt(number: int) -> Iterator[str]:
        file.write_bytes(spoilt(number))
        yield str(file)
        _parse_folds(str(file), "c")

    check("folds.json", run_all(INPUTS, attempt), spoilt)
