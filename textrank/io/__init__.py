"""One writer of whole files and folders, npz, checksums, size limits, streams."""

from textrank.io.arrays import pack, read_arrays, unpack, write_arrays
from textrank.io.files import LIMIT, open_bytes
from textrank.io.folders import META, check_target, new_folder, seal, unseal
from textrank.io.streams import (
    Selection,
    is_selecting,
    lines,
    parsed,
    selecting,
    writing,
    writing_bytes,
)
from textrank.io.xml import attributes, content, elements, xml_text

__all__ = [
    "LIMIT",
    "META",
    "Selection",
    "attributes",
    "check_target",
    "content",
    "elements",
    "is_selecting",
    "lines",
    "new_folder",
    "open_bytes",
    "pack",
    "parsed",
    "read_arrays",
    "seal",
    "selecting",
    "unpack",
    "unseal",
    "write_arrays",
    "writing",
    "writing_bytes",
    "xml_text",
]
