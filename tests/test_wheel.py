"""The wheel, installed outside the repository, offers the same commands."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = ("pyproject.toml", "README.md", "LICENSE", "textrank", "pipelines", "models", "corpora")


def run(*command: object, cwd: Path) -> str:
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(
        list(map(str, command)), cwd=cwd, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def build(folder: Path) -> Path:
    """The wheel, built from a copy so that nothing is left in the repository."""
    source = folder / "source"
    source.mkdir()
    for name in SOURCES:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, source / name)
    options = ["--no-deps", "--no-build-isolation", "--wheel-dir", folder]
    run(sys.executable, "-m", "pip", "wheel", "--quiet", *options, source, cwd=folder)
    (wheel,) = folder.glob("*.whl")
    return wheel


def check_commands(scripts: Path, cwd: Path) -> None:
    """The installed command knows the shipped pipelines and works on a corpus of the user's."""
    shown = run(scripts / "textrank", "info", cwd=cwd)
    shipped = [p.stem for p in (ROOT / "pipelines").glob("*.cfg")]
    assert all(name in shown for name in shipped)
    code = "import textrank; print(textrank.__file__)"
    assert str(cwd) in run(scripts / "python", "-c", code, cwd=cwd)
    shown = run(scripts / "textrank", "run", "ppi", "corpora/sample-ppi", "--folds", 5, cwd=cwd)
    assert "AUC" in shown
    (cwd / "text.txt").write_text("SHC binds to the EGF receptor.")
    assert '"interacts": true' in run(scripts / "textrank", "apply", "ppi", "text.txt", cwd=cwd)


def test_wheel_works_outside_the_repository(tmp_path: Path) -> None:
    """Dependencies are borrowed from this environment; ``slow`` has the one that installs them."""
    wheel = build(tmp_path)
    assert wheel.stat().st_size <= 60e6
    venv.create(tmp_path / "env", with_pip=False, symlinks=True)
    scripts = tmp_path / "env" / "bin"
    target = next((tmp_path / "env" / "lib").glob("python*/site-packages"))
    borrowed = dict.fromkeys([sysconfig.get_path("purelib"), *map(str, _site_packages())])
    (target / "borrowed.pth").write_text("\n".join(borrowed))
    pip = [sys.executable, "-m", "pip", "--python", scripts / "python", "install", "--quiet"]
    run(*pip, "--no-deps", "--ignore-installed", wheel, cwd=tmp_path)
    check_commands(scripts, tmp_path)


@pytest.mark.slow
def test_wheel_installs_into_an_empty_environment(tmp_path: Path) -> None:
    wheel = build(tmp_path)
    venv.create(tmp_path / "env", with_pip=True, symlinks=True)
    scripts = tmp_path / "env" / "bin"
    run(scripts / "python", "-m", "pip", "install", "--quiet", wheel, cwd=tmp_path)
    check_commands(scripts, tmp_path)


def _site_packages() -> list[Path]:
    """Where this environment's packages lie, but for the repository itself."""
    return [Path(p) for p in sys.path if p.endswith("site-packages") and Path(p).is_dir()]


def test_spacy_loads_the_pipeline_by_name(tmp_path: Path) -> None:
    source = tmp_path / "source"
    shutil.copytree(ROOT / "packaging" / "en_textrank_bio", source)
    options = ["--no-deps", "--no-build-isolation", "--quiet", "--target", tmp_path / "installed"]
    run(sys.executable, "-m", "pip", "install", *options, source, cwd=tmp_path)
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path / 'installed')!r}); import spacy;"
        "import json; from spacy.cli.info import info_model;"
        "nlp = spacy.load('en_textrank_bio'); meta = info_model('en_textrank_bio');"
        "stored = [[n.pipe_names, n.component_names, n.disabled] for n in (nlp,)][0];"
        "few = spacy.load('en_textrank_bio', exclude=['ner', 'identifiers']);"
        "names = spacy.load('en_textrank_bio', enable=['sentences', 'names_tok2vec', 'kinds']);"
        "keys = ('name', 'version', 'pipeline', 'components', 'disabled');"
        "print(json.dumps([stored, {k: meta[k] for k in keys}, few.pipe_names, names.pipe_names]))"
    )
    shown = json.loads(run(sys.executable, "-c", code, cwd=tmp_path).splitlines()[-1])
    (enabled, components, disabled), meta, without, chosen = shown
    assert enabled == meta["pipeline"]
    assert components == meta["components"]
    assert disabled == meta["disabled"]
    assert enabled[-1] == "identifiers"
    assert not {"ner", "identifiers"} & set(without)
    assert chosen == ["sentences", "names_tok2vec", "kinds"]
    assert (
        meta["version"]
        == tomllib.loads((source / "pyproject.toml").read_text())["project"]["version"]
    )
