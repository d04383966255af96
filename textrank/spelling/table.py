"""The table of hashed weights that all confusion pairs share, reached without searching."""

from __future__ import annotations

import zlib

import numpy as np
import numpy.typing as npt

from textrank.spelling.contexts import Hashes

_MIX = np.uint64(0xD6E8FEB86659FD93)


def question_hash(title: str) -> int:
    """What stands for a pair in the table."""
    return zlib.crc32(title.encode()) * 0x94D049BB133111EB & (1 << 64) - 1


def table_keys(features: Hashes, own: Hashes) -> npt.NDArray[np.uint32]:
    """The keys of features of pairs in the common table: 24 bits of place, 8 that tell apart."""
    found = (features ^ own) * _MIX
    found ^= found >> np.uint64(32)
    return (found * _MIX >> np.uint64(32)).astype(np.uint32)


def spread_table(
    keys: npt.NDArray[np.uint32], weights: npt.NDArray[np.int8]
) -> npt.NDArray[np.uint16]:
    """The table spread out: at the first 24 bits of a key its last eight and its weight."""
    cells = np.zeros(1 << 24, dtype=np.uint16)
    low = (keys & np.uint32(0xFF)).astype(np.uint16) << np.uint16(8)
    cells[keys >> np.uint32(8)] = low | weights.view(np.uint8)
    return cells


def found_weights(
    cells: npt.NDArray[np.uint16], keys: npt.NDArray[np.uint32]
) -> npt.NDArray[np.float32]:
    """The weights of keys, none where the table has another one in its place."""
    cells = cells[keys >> np.uint32(8)]
    same = (cells >> np.uint16(8)) == (keys & np.uint32(0xFF))
    return (cells.astype(np.uint8).view(np.int8) * same).astype(np.float32)
