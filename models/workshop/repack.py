"""Store the names of a trained model as new models are: ``python -m workshop.repack FOLDER ...``.

Nothing that was trained changes: names and weights stay the same, only ``FeatureNames.to_arrays``
writes them more compactly than earlier versions did. Submodels in the folder are included.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from textrank.features import Arrays, FeatureNames
from textrank.io import META_FILE, read_arrays, verify_manifest, write_arrays, write_manifest
from textrank.model import FORMAT_VERSION, Model

NAMES = re.compile(r"(.*\bnames/)\w+")  # keys of the names of a model, or of one view


def repack_names(arrays: Arrays) -> Arrays:
    """Return the arrays of a model with all feature names as ``to_arrays`` writes them now."""
    groups: dict[str, Arrays] = {}
    for key, array in arrays.items():
        if match := NAMES.fullmatch(key):
            groups.setdefault(match[1], {})[key.removeprefix(match[1])] = array
    repacked: Arrays = {}
    for key, array in arrays.items():
        if match := NAMES.fullmatch(key):
            names = FeatureNames.from_arrays(groups.pop(match[1])) if match[1] in groups else None
            new = {} if names is None else names.to_arrays()
            repacked |= {match[1] + name: new_array for name, new_array in new.items()}
        else:
            repacked[key] = array
    return repacked


def repack(folder: Path) -> None:
    """Rewrite ``arrays.npz`` of a model folder and of its submodels, and their manifests.

    Raises ValueError if a file does not match its checksum.
    """
    for model_folder in (folder, *(path.parent for path in sorted(folder.glob(f"*/{META_FILE}")))):
        file = model_folder / "arrays.npz"
        if file.is_file():
            meta = verify_manifest(model_folder)
            write_arrays(file, repack_names(read_arrays(file)))
            write_manifest(model_folder, {**meta, "format": FORMAT_VERSION}, only=meta["files"])
    Model.from_disk(folder)


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        repack(Path(argument))
