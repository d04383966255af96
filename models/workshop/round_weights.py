"""Round the parameters of trained networks so that they compress better.

``python -m workshop.round_weights FOLDER ...`` rounds spaCy pipelines in place. Deflate cannot
shorten the last bits of a mantissa, which are noise: with 12 of 23 bits the networks take two
thirds of the space. ``workshop.networks.assemble`` and ``workshop.backward_parser`` round what
they have trained, so rounding a shipped pipeline again changes nothing.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import spacy
from numpy.typing import NDArray
from spacy.language import Language

from textrank.language.load import register_components

MANTISSA_BITS = 12  # kept of the 23 of float32; the relative error is at most 2 ** -13


def round_mantissa(values: NDArray[np.float32], bits: int = MANTISSA_BITS) -> NDArray[np.float32]:
    """Return float32 values rounded to ``bits`` explicit bits of their mantissa, halves up.

    ``values`` must be finite, and ``bits`` at most 22.
    """
    dropped = np.uint32(23 - bits)
    words = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    half = np.uint32(1) << (dropped - np.uint32(1))
    return (((words + half) >> dropped) << dropped).view(np.float32)


def round_networks(nlp: Language) -> Language:
    """Round all float32 parameters of the components' networks, in place; return ``nlp``."""
    components: list[tuple[str, Any]] = [*nlp._components]  # also disabled ones
    for _, component in components:
        for node in component.model.walk() if hasattr(component, "model") else ():
            for name in node.param_names:
                if node.has_param(name) and node.get_param(name).dtype == np.float32:
                    node.set_param(name, round_mantissa(node.get_param(name)))
    return nlp


def main(folder: Path) -> None:
    """Round the networks of the pipeline in ``folder`` and write their files again."""
    register_components()
    nlp = round_networks(spacy.load(folder))
    components: list[tuple[str, Any]] = [*nlp._components]
    for name, component in components:
        if (folder / name / "model").is_file():
            component.model.to_disk(folder / name / "model")


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        main(Path(argument))
