"""Atomic writing, arrays on disk, and bounded reading of files.

``atomic`` writes files and folders in one step, ``arrays`` stores arrays without pickle,
``reading`` opens what users name. Names are imported on first use: reading a text file does not
import NumPy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textrank.io.arrays import (
        iter_tar_files,
        iter_zip_files,
        pack_arrays,
        read_arrays,
        read_zip_entry,
        unpack_arrays,
        write_arrays,
    )
    from textrank.io.atomic import (
        META_FILE,
        atomic_folder,
        atomic_model_folder,
        check_folder_writable,
        check_model_target,
        check_writable,
        file_checksum,
        lock_file,
        open_atomic,
        open_atomic_bytes,
        open_new_text,
        recover_interrupted_write,
        remove_abandoned_drafts_in,
        update_folder,
        verify_manifest,
        write_manifest,
        write_text,
    )
    from textrank.io.reading import (
        MAX_ITEM_BYTES,
        MAX_UNPACKED_BYTES,
        BoundedStream,
        ItemBudget,
        ItemFilter,
        check_utf8,
        check_xml_text,
        escape_xml_text,
        find_input,
        format_xml_attributes,
        iter_elements,
        iter_json_items,
        iter_lines,
        load_json,
        open_bytes,
        parse_digits,
        parse_items,
        read_bytes,
        read_json,
        read_text,
        replace_invalid_xml,
        replace_long_references,
        shipped_folder,
    )

_MODULES = {
    "BoundedStream": "reading",
    "ItemBudget": "reading",
    "ItemFilter": "reading",
    "MAX_ITEM_BYTES": "reading",
    "MAX_UNPACKED_BYTES": "reading",
    "META_FILE": "atomic",
    "atomic_folder": "atomic",
    "atomic_model_folder": "atomic",
    "check_folder_writable": "atomic",
    "check_model_target": "atomic",
    "check_utf8": "reading",
    "check_writable": "atomic",
    "check_xml_text": "reading",
    "escape_xml_text": "reading",
    "file_checksum": "atomic",
    "format_xml_attributes": "reading",
    "iter_elements": "reading",
    "iter_json_items": "reading",
    "iter_lines": "reading",
    "iter_tar_files": "arrays",
    "iter_zip_files": "arrays",
    "load_json": "reading",
    "lock_file": "atomic",
    "open_atomic": "atomic",
    "open_atomic_bytes": "atomic",
    "open_bytes": "reading",
    "open_new_text": "atomic",
    "pack_arrays": "arrays",
    "parse_digits": "reading",
    "parse_items": "reading",
    "read_arrays": "arrays",
    "read_bytes": "reading",
    "read_json": "reading",
    "read_text": "reading",
    "read_zip_entry": "arrays",
    "recover_interrupted_write": "atomic",
    "remove_abandoned_drafts_in": "atomic",
    "replace_invalid_xml": "reading",
    "replace_long_references": "reading",
    "find_input": "reading",
    "shipped_folder": "reading",
    "unpack_arrays": "arrays",
    "update_folder": "atomic",
    "verify_manifest": "atomic",
    "write_arrays": "arrays",
    "write_manifest": "atomic",
    "write_text": "atomic",
}

__all__ = [
    "MAX_ITEM_BYTES",
    "MAX_UNPACKED_BYTES",
    "META_FILE",
    "BoundedStream",
    "ItemBudget",
    "ItemFilter",
    "atomic_folder",
    "atomic_model_folder",
    "check_folder_writable",
    "check_model_target",
    "check_utf8",
    "check_writable",
    "check_xml_text",
    "escape_xml_text",
    "file_checksum",
    "find_input",
    "format_xml_attributes",
    "iter_elements",
    "iter_json_items",
    "iter_lines",
    "iter_tar_files",
    "iter_zip_files",
    "load_json",
    "lock_file",
    "open_atomic",
    "open_atomic_bytes",
    "open_bytes",
    "open_new_text",
    "pack_arrays",
    "parse_digits",
    "parse_items",
    "read_arrays",
    "read_bytes",
    "read_json",
    "read_text",
    "read_zip_entry",
    "recover_interrupted_write",
    "remove_abandoned_drafts_in",
    "replace_invalid_xml",
    "replace_long_references",
    "shipped_folder",
    "unpack_arrays",
    "update_folder",
    "verify_manifest",
    "write_arrays",
    "write_manifest",
    "write_text",
]


def __getattr__(name: str) -> Any:
    """Import a public name on first use and keep it; raise AttributeError for other names."""
    if name not in _MODULES:
        raise AttributeError(f"module 'textrank.io' has no attribute {name!r}")
    value = getattr(import_module(f"textrank.io.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names, also those that are not imported yet."""
    return [*__all__]
