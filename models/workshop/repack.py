"""Store the names of a trained model as new models are: ``python -m workshop.repack FOLDER ...``.

Nothing that was trained changes: names and weights stay the same, only ``FeatureNames.to_arrays``
writes them more compactly than earlier versions did. Submodels in the folder are included.
"""

from __future__ import annotations

import sys
from pathlib import Path

from textrank.features import FeatureNames
from textrank.io import META_FILE, read_arrays, verify_manifest, write_arrays, write_manifest
from textrank.model import FORMAT_VERSION, Model

NAMES_PREFIX = "names/"  # of the keys of names in ``arrays.npz``


def repack(folder: Path) -> None:
    """Rewrite ``arrays.npz`` of a model folder and of its submodels, and their manifests.

    Files that need not change keep their bytes. Raises ValueError if a file does not match its
    checksum.
    """
    for model_folder in (folder, *(path.parent for path in sorted(folder.glob(f"*/{META_FILE}")))):
        file = model_folder / "arrays.npz"
        if not file.is_file():
            continue
        meta, arrays = verify_manifest(model_folder), read_arrays(file)
        stored = {
            key.removeprefix(NAMES_PREFIX): array
            for key, array in arrays.items()
            if key.startswith(NAMES_PREFIX)
        }
        new = FeatureNames.from_arrays(stored).to_arrays() if stored else {}
        if new.keys() == stored.keys():
            continue
        others = {key: array for key, array in arrays.items() if not key.startswith(NAMES_PREFIX)}
        write_arrays(file, {**others, **{NAMES_PREFIX + key: array for key, array in new.items()}})
        write_manifest(model_folder, {**meta, "format": FORMAT_VERSION}, only=meta["files"])
    Model.from_disk(folder)


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        repack(Path(argument))
