"""One writer of files and folders: whole or not at all, through links, never over a device.

A file or folder is filled under a hidden name beside its place, brought to the disk, and takes its
place in one step. Whoever is stopped in between, by a signal, a full disk or a power cut, leaves
the old under the name; what a killed run left lying about is cleared away by the next one that
writes there. What is no plain file (a pipe, a terminal, a device) is written to as it is.
"""

from __future__ import annotations

import ctypes
import errno
import gzip
import hashlib
import io
import json
import os
import re
import secrets
import shutil
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from textrank.io.reading import load_json, read_text

try:
    import fcntl
except ImportError:  # not a POSIX system
    fcntl = None  # type: ignore[assignment]
DRAFT_SUFFIX, BACKUP_SUFFIX = ".part", ".old"  # what hidden names end in
DRAFT_NAME = re.compile(r"\..*\.[0-9a-f]{8}\.[0-9a-f]{12}\.(part|old)", re.DOTALL)
MAX_FOLDER_ENTRIES = (
    10_000  # entries of a folder that are carried over when some of its files are written anew
)
DISK_FULL_ERRNOS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def check_writable(path: str | Path | None) -> Path | None:
    """The path itself, where a file may be written: asked before long work, not after it."""
    if path is None:
        return None
    target = Path(path)
    try:
        found = os.stat(target)
    except FileNotFoundError:
        folder = resolve_links(target).parent
        if not folder.is_dir():
            raise ValueError(
                f"cannot write {target}: folder {folder} does not exist. Make it first."
            ) from None
        _check_access(folder, target)
        return target
    except OSError as error:
        raise ValueError(f"cannot write {target}: {error.strerror}.") from None
    if stat.S_ISDIR(found.st_mode):
        raise ValueError(f"cannot write {target}: it is a folder. Name a file inside it.")
    _check_access(target, target)
    if stat.S_ISREG(found.st_mode) and not _is_stream(target):
        _check_access(resolve_links(target).parent, target)
    return target


@contextmanager
def open_atomic(path: str | Path) -> Iterator[IO[str]]:
    """A UTF-8 text file that appears under its name only when all of it is written."""
    with open_atomic_bytes(path) as raw:
        text = io.TextIOWrapper(raw, encoding="utf-8", newline="")
        try:
            yield text
        finally:
            text.detach()  # flushes, but leaves the bytes open, which have yet to reach the disk


@contextmanager
def open_atomic_bytes(path: str | Path) -> Iterator[IO[bytes]]:
    """Bytes likewise; packed where the name ends in ``.gz``, without the time in the header."""
    path = Path(path)
    with _open_draft_file(path) as raw:
        if path.suffix == ".gz":
            with gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed:
                yield packed  # type: ignore[misc]
        else:
            yield raw


def write_text(text: str, path: str | Path) -> None:
    """Writes a text, whole or not at all."""
    with open_atomic(path) as out:
        out.write(text)


@contextmanager
def open_new_text(path: Path) -> Iterator[IO[str]]:
    """A text file in a folder that is itself put in place as a whole: no draft of its own."""
    path.unlink(missing_ok=True)  # it may be a link to the file whose place it takes
    with path.open("x", encoding="utf-8", newline="") as out:
        yield out


@contextmanager
def _open_draft_file(path: Path) -> Iterator[IO[bytes]]:
    check_writable(path)
    with _name_file_in_disk_errors(path):
        if is_stream_or_device(path):
            with path.open("ab") as stream:  # never truncates where output is kept
                yield stream
            return
        target = resolve_links(path)
        remove_abandoned_drafts(target)
        draft, handle = _create_draft(target, os.open, os.O_CREAT | os.O_EXCL | os.O_RDWR)
        try:
            with os.fdopen(handle, "wb") as raw:
                _copy_mode(target, draft)
                yield raw
                raw.flush()
                os.fsync(raw.fileno())
                os.replace(draft, target)  # while it is locked: nobody takes it for debris
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
        fsync_folder(target.parent)


@contextmanager
def atomic_folder(
    path: str | Path, check: Callable[[Path], object] | None = None
) -> Iterator[Path]:
    """A folder to fill, which takes its place, whole, when the block ends well.

    What stood there is replaced in one step, so that the name always holds the old or the new.
    ``check`` refuses what must not be replaced.
    """
    with _open_draft_folder(Path(path), check) as (draft, _):
        yield draft


@contextmanager
def update_folder(path: str | Path) -> Iterator[Path]:
    """A folder to write some files of anew, together: all of them change in one step.

    Files that are not written again are carried over. The folder is made where there is none.
    """
    path = Path(path)
    with _open_draft_folder(path, check_folder_writable, parents=True) as (draft, target):
        if target.is_dir():
            shutil.copytree(
                target, draft, symlinks=True, copy_function=_link_or_copy, dirs_exist_ok=True
            )
        yield draft


@contextmanager
def _open_draft_folder(
    path: Path, check: Callable[[Path], object] | None, *, parents: bool = False
) -> Iterator[tuple[Path, Path]]:
    target = resolve_links(path)
    if parents:
        target.parent.mkdir(parents=True, exist_ok=True)
    recover_interrupted_write(target)
    if check is not None:
        check(path)
    with _name_file_in_disk_errors(path):
        draft, lock = _create_draft(target, _make_folder, 0)
        try:
            _copy_mode(target, draft)
            yield draft, target
            _fsync_tree(draft)
            _put_in_place(draft, target)
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise
        finally:
            if lock >= 0:
                os.close(lock)
        fsync_folder(target.parent)
        shutil.rmtree(draft, ignore_errors=True)  # what stood there before


def recover_interrupted_write(path: str | Path) -> None:
    """Puts back what a killed run had moved aside under this name, and clears its debris."""
    target = resolve_links(Path(path))
    if not os.path.lexists(target):
        former = next((p for p in _list_drafts(target) if p.name.endswith(BACKUP_SUFFIX)), None)
        if former is not None:
            os.rename(former, target)
    remove_abandoned_drafts(target)


def remove_abandoned_drafts(target: Path) -> None:
    """Removes what runs that were killed left of this file or folder; none at work is touched."""
    for path in _list_drafts(target):
        _remove_if_unlocked(path)


def remove_abandoned_drafts_in(folder: str | Path) -> None:
    """Removes what killed runs left in a folder, whatever they were writing."""
    for path in sorted(Path(folder).iterdir()) if Path(folder).is_dir() else []:
        if DRAFT_NAME.fullmatch(path.name) and path.name.endswith(DRAFT_SUFFIX):
            _remove_if_unlocked(path)


def resolve_links(path: Path) -> Path:
    """Where a path leads: itself, or what the links lead to, whether or not it exists."""
    return Path(os.path.realpath(path))


def is_stream_or_device(path: Path) -> bool:
    """Whether the path names something to write to rather than to replace."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)) or _is_stream(path)


def fsync_folder(folder: Path) -> None:
    """Brings the names in a folder to the disk, where the system can."""
    with suppress(OSError):  # some file systems and Windows cannot
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _is_stream(path: Path) -> bool:
    """Whether links lead to an open file of a process, as the name of standard output does."""
    for _ in range(40):
        if re.fullmatch(r"/(proc/[^/]+|dev)/fd", os.path.realpath(path.parent)):
            return True
        if not path.is_symlink():
            return False
        path = path.parent / os.readlink(path)
    return False


def _check_access(path: Path, target: Path) -> None:
    if not os.access(path, os.W_OK):
        raise ValueError(f"cannot write {target}: {path} is read-only. Choose another place.")


def check_folder_writable(path: Path) -> None:
    """Refuses a folder that cannot change as a whole: asked before long work, not after it."""
    target = resolve_links(path)
    if not target.exists():
        return
    if not target.is_dir():
        raise ValueError(f"cannot write {path}: it is no folder. Choose another name.")
    if target == Path.cwd() or target in Path.cwd().parents or os.path.ismount(target):
        raise ValueError(
            f"cannot write {path}: the current folder, or one around it, cannot change as a whole. "
            "Name a folder inside it."
        )
    count = 0
    for _, folders, files in os.walk(target):
        count += len(folders) + len(files)
        if count > MAX_FOLDER_ENTRIES:
            raise ValueError(
                f"cannot write {path}: it holds more than {MAX_FOLDER_ENTRIES:,} other files. Name a new folder."
            )


def _draft_prefix(target: Path) -> str:
    """The beginning of the hidden names of a target, never too long for a file system."""
    name = os.fsencode(target.name)
    short = name[:100].decode("utf-8", errors="ignore")
    return f".{short}.{hashlib.sha256(name).hexdigest()[:8]}."


def _list_drafts(target: Path) -> list[Path]:
    start = _draft_prefix(target)
    try:
        names = os.listdir(target.parent)
    except OSError:
        return []
    return [
        target.parent / n for n in sorted(names) if n.startswith(start) and DRAFT_NAME.fullmatch(n)
    ]


def _create_draft(
    target: Path, make: Callable[[Path, int, int], int], flags: int
) -> tuple[Path, int]:
    """A new hidden file or folder beside the target, locked as long as its handle is open."""
    while True:
        path = target.with_name(f"{_draft_prefix(target)}{secrets.token_hex(6)}{DRAFT_SUFFIX}")
        handle = make(path, flags, 0o666)
        if handle < 0 or _lock_draft(handle, path):
            return path, handle
        os.close(handle)  # another run took it for debris before it was locked


def _make_folder(path: Path, _: int, __: int) -> int:
    os.mkdir(path)
    return os.open(path, os.O_RDONLY) if fcntl is not None else -1


def _lock_draft(handle: int, path: Path) -> bool:
    if fcntl is None:
        return True
    with suppress(OSError):  # a file system without locks
        fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except FileNotFoundError:
        return False


def _remove_if_unlocked(path: Path) -> None:
    """Removes a draft unless a living run holds its lock."""
    handle = -1
    try:
        if fcntl is not None:
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    except OSError:  # at work, gone, or not ours to remove
        pass
    finally:
        if handle >= 0:
            os.close(handle)


def _copy_mode(target: Path, draft: Path) -> None:
    """Rights stay as they were; those of a new file or folder are what the umask leaves."""
    with suppress(OSError):
        os.chmod(draft, stat.S_IMODE(os.stat(target).st_mode))


def _link_or_copy(source: str, target: str) -> str:
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:  # a file system without hard links
        shutil.copy2(source, target, follow_symlinks=False)
    return target


def _fsync_tree(folder: Path) -> None:
    for place, _, files in os.walk(folder):
        for name in files:
            path = Path(place, name)
            if path.is_file() and not path.is_symlink():
                with path.open("rb") as stream:
                    os.fsync(stream.fileno())
        fsync_folder(Path(place))


def _put_in_place(draft: Path, target: Path) -> None:
    """The draft under the target's name, and what stood there under the draft's."""
    if not target.exists():
        os.rename(draft, target)
        return
    if swap_paths(draft, target):
        return
    former = draft.with_name(draft.name.removesuffix(DRAFT_SUFFIX) + BACKUP_SUFFIX)
    os.rename(target, former)  # killed here, the next run puts it back
    try:
        os.rename(draft, target)
    except OSError:
        os.rename(former, target)
        raise
    os.rename(former, draft)


def swap_paths(one: Path, other: Path) -> bool:
    """Swaps two names in one step; false where the system or the file system cannot.

    Linux has ``renameat2`` with RENAME_EXCHANGE, macOS ``renamex_np`` with RENAME_SWAP.
    """
    sys.audit("textrank.exchange", str(one), str(other))
    names = os.fsencode(one), os.fsencode(other)
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "darwin":
            return libc.renamex_np(*names, 2) == 0
        here = -100  # AT_FDCWD
        return libc.renameat2(here, names[0], here, names[1], 2) == 0
    except (AttributeError, OSError, TypeError):
        return False


@contextmanager
def _name_file_in_disk_errors(path: Path) -> Iterator[None]:
    """A full disk is told with the file that did not fit; the system says no name."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno in DISK_FULL_ERRNOS:
            raise OSError(error.errno, f"cannot write: {error.strerror}", str(path)) from error
        raise


META_FILE = "meta.json"


def check_model_target(path: str | Path) -> Path:
    """Where a folder may be written; ask before long work, not after it."""
    target = Path(path)
    if target.exists() and not (target / META_FILE).is_file() and any(_entries(target)):
        raise ValueError(f"{target} exists and is not a model. Choose another name.")
    if resolve_links(target) == Path.cwd():
        raise ValueError(f"cannot write {target}: it is the current folder. Choose another name.")
    if not resolve_links(target).parent.is_dir():
        raise ValueError(f"cannot write {target}: folder {target.parent} does not exist.")
    return target


@contextmanager
def atomic_model_folder(path: str | Path) -> Iterator[Path]:
    """A folder to fill, put in its place only when the block ends well.

    What stood there before is replaced in one step; a folder that is not one of ours is refused.
    """
    with atomic_folder(path, check_model_target) as folder:
        yield folder


def write_manifest(
    folder: Path, meta: Mapping[str, Any], only: Iterable[str] | None = None
) -> None:
    """Writes ``meta.json`` with a checksum of every other file, or some, and of itself, last."""
    own = (f.name for f in folder.iterdir() if f.name != META_FILE and f.is_file())
    names = sorted(own if only is None else only)
    sealed = {**meta, "files": {name: file_checksum(folder / name) for name in names}}
    sealed["checksum"] = _meta_checksum(sealed)
    text = json.dumps(sealed, indent=2, ensure_ascii=False, allow_nan=False)
    (folder / META_FILE).write_text(text + "\n", encoding="utf-8")


def verify_manifest(path: str | Path, needed: tuple[str, ...] = ()) -> dict[str, Any]:
    """The ``meta.json`` of a folder, after every file it names was found unchanged.

    ``needed`` files must be among them, and so must the checksum of ``meta.json`` itself where its
    format has one (from 2 on).
    """
    folder = Path(path)
    if not folder.exists():
        recover_interrupted_write(
            folder
        )  # a run may have been killed while it put a new one in its place
    if not folder.is_dir():
        raise ValueError(f"{folder}: no such model folder. `textrank info` lists the shipped ones.")
    if not (folder / META_FILE).is_file():
        raise ValueError(f"{folder}: no {META_FILE}, so this is not a model. Train one.")
    meta = load_json(read_text(folder / META_FILE), str(folder / META_FILE))
    files = meta.get("files") if isinstance(meta, dict) else None
    if not isinstance(files, dict):
        raise ValueError(f"{folder / META_FILE}: damaged, it names no files. Restore the model.")
    _verify_meta_checksum(meta, folder / META_FILE)
    for name in {*files, *needed}:
        file = folder / Path(name).name
        if not file.is_file():
            raise ValueError(f"{file}: missing. Restore the model, or train it again.")
        if files.get(name) != file_checksum(file):
            raise ValueError(f"{file}: damaged, its checksum differs. Restore the model.")
    return dict(meta)


def _verify_meta_checksum(meta: Mapping[str, Any], file: Path) -> None:
    older = meta.get("format") == 1 and "checksum" not in meta
    if not older and meta.get("checksum") != _meta_checksum(meta):
        raise ValueError(f"{file}: damaged, its checksum differs. Restore the model.")


def _meta_checksum(meta: Mapping[str, Any]) -> str:
    """The checksum of a meta.json, but for the checksum itself."""
    rest = {key: value for key, value in meta.items() if key != "checksum"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def _entries(folder: Path) -> Iterator[Path]:
    return folder.iterdir() if folder.is_dir() else iter([folder])


def file_checksum(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
