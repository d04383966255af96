"""A results folder and a client that holds the token, for tests of pages."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="pages need the extra web")
pytest.importorskip("duckdb", reason="pages need the extra web")

with warnings.catch_warnings():  # of a successor to httpx that is not everywhere yet
    warnings.simplefilter("ignore")
    from starlette.testclient import TestClient

from textrank.results.store import open_store
from textrank.web.app import Credentials, GuardMiddleware
from textrank.web.explorer import Explorer

HERE = Path(__file__).parent
GATE = Credentials("secret-token", "secret-csrf", 8000)


def load(name: str) -> Any:
    """Import a helper module of this folder, which is not a package."""
    spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a results folder of 400 statements."""
    target: Path = tmp_path_factory.mktemp("results") / "made"
    return load("folders").write_folder(target, statements=400)


@pytest.fixture(scope="session")
def guarded() -> Callable[..., TestClient]:
    """Return a function that makes a client of an application with access control."""

    def client(app: Any, *, token: bool = True) -> TestClient:
        headers = {"authorization": "Bearer secret-token"} if token else {}
        return TestClient(GuardMiddleware(app, GATE), "http://127.0.0.1:8000", headers=headers)

    return client


@pytest.fixture(scope="session")
def explorer(folder: Path, guarded: Callable[..., TestClient]) -> TestClient:
    """Return a client of the explorer of ``folder``."""
    return guarded(Explorer(open_store(folder)).app())
