"""Rewrite the checksums of a trained model: ``python -m workshop.reseal FOLDER ...``.

Nothing that was trained changes: every file must match its checksum before. The new ``meta.json``
has a checksum of itself, which format 1 lacked. Submodels in the folder are included.
"""

from __future__ import annotations

import sys
from pathlib import Path

from textrank.io import META_FILE, verify_manifest, write_manifest
from textrank.model import FORMAT_VERSION, Model


def reseal(folder: Path) -> None:
    """Rewrite the manifest of a model folder and of its submodels.

    Raises ValueError if a file does not match its checksum. A spaCy folder has no manifest: nothing
    happens.
    """
    for model_folder in (folder, *(path.parent for path in sorted(folder.glob(f"*/{META_FILE}")))):
        if (model_folder / "arrays.npz").is_file():
            meta = verify_manifest(model_folder)
            write_manifest(model_folder, {**meta, "format": FORMAT_VERSION}, only=meta["files"])
    if (folder / "arrays.npz").is_file():
        Model.from_disk(folder)


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        reseal(Path(argument))
