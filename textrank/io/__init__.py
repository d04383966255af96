"""One writer of whole files and folders, npz, checksums, size limits, streams."""

from textrank.io.archives import untarred, unzip, unzipped
from textrank.io.arrays import pack, read_arrays, unpack, write_arrays
from textrank.io.files import LIMIT, WHOLE, Bounded, open_bytes, read_bytes, read_text
from textrank.io.folders import META, check_target, new_folder, seal, unseal
from textrank.io.items import Selection, is_selecting, parsed, selecting
from textrank.io.shipped import shipped_folder
from textrank.io.streams import check_utf8, json_items, lines, load_json, read_json
from textrank.io.whole import (
    changed_folder,
    check_changeable,
    check_writable,
    clear_folder,
    fresh_text,
    recover,
    write_text,
    writing,
    writing_bytes,
)
from textrank.io.xml import attributes, content, elements, printable, xml_text

__all__ = [
    "LIMIT",
    "META",
    "WHOLE",
    "Bounded",
    "Selection",
    "attributes",
    "changed_folder",
    "check_changeable",
    "check_target",
    "check_utf8",
    "check_writable",
    "clear_folder",
    "content",
    "elements",
    "fresh_text",
    "is_selecting",
    "json_items",
    "lines",
    "load_json",
    "new_folder",
    "open_bytes",
    "pack",
    "parsed",
    "printable",
    "read_arrays",
    "read_bytes",
    "read_json",
    "read_text",
    "recover",
    "seal",
    "selecting",
    "shipped_folder",
    "unpack",
    "unseal",
    "untarred",
    "unzip",
    "unzipped",
    "write_arrays",
    "write_text",
    "writing",
    "writing_bytes",
    "xml_text",
]
