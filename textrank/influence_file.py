"""File with the influence of each training document on a model that keeps no training data.

``StoredInfluence`` holds, for each training document, how the coefficients of a model would change
without it, rounded to save space. ``Model.influence(candidates, stored=...)`` multiplies kernel
values with them. The file has ids of documents and numbers, no text. It belongs to one model, whose
checksum it carries, and is refused for any other.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.linalg as sla
from numpy.typing import NDArray

from textrank.features import Matrix
from textrank.io import read_arrays, write_arrays

if TYPE_CHECKING:
    from textrank.model import Model

INFLUENCE_FILE = "influence.npz"  # name of the file beside a model
FORMAT = 1
KEYS = ("format", "model", "documents", "values", "step")
STEP = 0.005  # of rounding, in units of raw scores
JITTER = 1e-9  # added to the diagonal of a Gram matrix, relative to its mean


def model_checksum(model: Model) -> str:
    """Return the SHA-256 of a model's coefficients, in hexadecimal, which tells models apart."""
    coef = np.ascontiguousarray(model.fit.coef, dtype="<f8")
    return hashlib.sha256(coef.tobytes()).hexdigest()


def basis_factor(model: Model) -> Matrix:  # (b, b)
    """Return the lower Cholesky factor ``L`` of the Gram matrix of the basis of a model.

    A small multiple of the identity is added, so that equal candidates do no harm.
    """
    support: Any = model.support
    K = np.asarray(model.pipeline.kernel(support, support), dtype=np.float64)
    K = (K + K.T) / 2
    K.flat[:: len(K) + 1] += JITTER * np.trace(K) / len(K)
    return np.asarray(sla.cholesky(K, lower=True))


@dataclass(frozen=True, eq=False)
class StoredInfluence:
    """Rounded changes of the coefficients of a model without each of g training documents.

    Rounded are the coordinates ``L' changes``, with ``L`` from ``basis_factor``, in which the norm
    of a function is the Euclidean one. The change of the score of ``x`` is their product with
    ``z = L^-1 k_x``. The length of ``z`` is at most ``sqrt(k(x, x))``, so rounding by at most half
    a ``step`` changes a raw score by about ``step / sqrt(12)`` times that.
    """

    model: str  # checksum of the model, see ``model_checksum``
    documents: tuple[str, ...]  # (g,) ids; documents that share text are one, joined by " + "
    values: NDArray[Any]  # (b, g, h) coordinates in units of ``step``
    step: float

    @classmethod
    def from_changes(
        cls, changes: Matrix, documents: Sequence[str], model: Model, step: float | None = STEP
    ) -> StoredInfluence:
        """Round the changes (b, g, h) of the coefficients of a model; ``step`` None keeps float64.

        Raises ValueError if a coordinate is more than 32767 steps.
        """
        b, g, h = changes.shape
        flat = (basis_factor(model).T @ changes.reshape(b, g * h)).reshape(b, g, h)
        if step is None:
            return cls(model_checksum(model), tuple(documents), flat, 1.0)
        rounded = np.rint(flat / step)
        if np.abs(rounded).max(initial=0) > np.iinfo(np.int16).max:
            raise ValueError(f"step {step} is too small for these changes. Choose a larger one.")
        return cls(model_checksum(model), tuple(documents), rounded.astype(np.int16), step)

    def of_scores(self, kernel_values: Matrix, model: Model) -> Matrix:  # (m, g, h)
        """Return the change of each raw score without each document.

        ``kernel_values`` (m, b) are those of the candidates with the basis of the model.
        """
        b, g, h = self.values.shape
        Z = sla.solve_triangular(basis_factor(model), kernel_values.T, lower=True).T
        precision = np.float64 if self.values.dtype == np.float64 else np.float32
        flat = self.values.reshape(b, g * h).astype(precision)
        changes = Z.astype(precision) @ flat
        return np.asarray(changes.reshape(-1, g, h), dtype=np.float64) * self.step

    def to_disk(self, file: str | Path) -> None:
        """Write all fields to a compressed array file (.npz); an existing one is replaced.

        16-bit values are stored as their low bytes, plus the position and value of those that do
        not fit into one byte. Nothing is lost.
        """
        # Low and high bytes apart, document by document, compress best.
        values = np.ascontiguousarray(self.values.transpose(2, 1, 0))
        is_rounded = values.dtype == np.int16
        low = values.astype(np.int8) if is_rounded else values
        arrays = {
            "format": np.array(FORMAT),
            "model": np.frombuffer(self.model.encode(), dtype=np.uint8),
            "documents": np.frombuffer(json.dumps(self.documents).encode(), dtype=np.uint8),
            "step": np.array(self.step),
            "values": low,
        }
        if is_rounded:
            large = np.flatnonzero(values != low)
            arrays |= {"large": large.astype(np.int64), "large_values": values.flat[large]}
        write_arrays(Path(file), arrays)

    @classmethod
    def from_disk(cls, file: str | Path, model: Model) -> StoredInfluence:
        """Read a file that ``to_disk`` wrote for ``model``.

        Raises
        ------
        ValueError
            If the file is missing, damaged or of another format version, or belongs to a model with
            another checksum.
        """
        path = Path(file)
        arrays = read_arrays(path)
        if any(key not in arrays for key in KEYS):
            raise ValueError(f"{path}: not a file of influences. Build it again.")
        if arrays["format"] != FORMAT:
            raise ValueError(
                f"{path}: format {arrays['format']}, but this textrank reads {FORMAT}. Install the "
                "version that wrote it."
            )
        checksum = arrays["model"].tobytes().decode("ascii", "replace")
        if checksum != model_checksum(model):
            raise ValueError(
                f"{path} belongs to another model (another version of it, for instance). Get the "
                "file of this one, or build it with make models/ppi-influence."
            )
        try:
            documents = tuple(json.loads(arrays["documents"].tobytes()))
            values = arrays["values"]
            if values.dtype == np.int8:
                values = values.astype(np.int16)
                large: Any = arrays["large"]
                np.put(values, large, arrays["large_values"])
            heads = 1 if model.fit.coef.ndim == 1 else model.fit.coef.shape[1]
            if values.shape != (heads, len(documents), len(model.fit.coef)):
                raise ValueError("shapes do not fit the model")
            step = float(arrays["step"])
            if not 0 < step < np.inf:
                raise ValueError("the step is not a positive number")
        except (LookupError, TypeError, ValueError) as error:
            raise ValueError(f"{path}: damaged ({error}). Restore the file.") from error
        return cls(checksum, documents, values.transpose(2, 1, 0), step)
