"""Rewrite the checksums of a trained model: ``python -m workshop.reseal FOLDER ...``.

What is trained is not touched: every file must fit its checksum before, and ``meta.json`` vouches
for itself afterwards, which it did not in format 1. Models inside the folder are sealed too.
"""

from __future__ import annotations

import sys
from pathlib import Path

from textrank.io import META_FILE, verify_manifest, write_manifest
from textrank.model import FORMAT_VERSION, Model


def reseal(folder: Path) -> None:
    """Rewrite the manifest of a model folder and of its submodels; spaCy folders have none."""
    for own in (folder, *(path.parent for path in sorted(folder.glob(f"*/{META_FILE}")))):
        if (own / "arrays.npz").is_file():
            meta = verify_manifest(own)
            write_manifest(own, {**meta, "format": FORMAT_VERSION}, only=meta["files"])
    if (folder / "arrays.npz").is_file():
        Model.from_disk(folder)


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        reseal(Path(argument))
