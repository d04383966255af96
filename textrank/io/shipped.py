"""The folders that come with the package: pipelines and models."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path


def shipped_folder(kind: str) -> Path:
    """``pipelines`` or ``models``: inside the installed package, or beside it in a source folder.

    Python started in the root of the repository finds the source folder before the installed
    package, and there these two stand beside ``textrank``, not inside it.
    """
    try:
        return Path(str(files(f"textrank.{kind}")))
    except ModuleNotFoundError:
        beside = Path(__file__).resolve().parents[2] / kind
        if (beside / "__init__.py").is_file():
            return beside
        raise ValueError(
            f"the {kind} that come with textrank are missing from {Path(__file__).parents[1]}. "
            "Install the package, or start Python in another folder."
        ) from None
