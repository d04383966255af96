"""Atomic writing of files and folders, and the checksummed ``meta.json`` of model folders.

Everything the package writes goes through this module. A file or folder is first written under a
hidden draft name next to its target, flushed to disk, and then renamed over the target in one step.
A process that is stopped in between (signal, full disk, power cut) therefore leaves the old version
in place. Drafts that a killed process left behind are removed by the next write to the same target:
a draft is locked (``flock``) while its writer is alive, so only abandoned drafts are removed.

- Files: ``open_atomic``, ``open_atomic_bytes``, ``write_text``.
- Folders: ``atomic_folder`` replaces a folder, ``update_folder`` changes some of its files.
- Checks to make before a long computation: ``check_writable``, ``check_folder_writable``,
  ``check_model_target``.
- Model folders: ``atomic_model_folder``, ``write_manifest``, ``verify_manifest``.

Symbolic links are followed. Pipes, terminals and devices are written to directly.
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
DRAFT_SUFFIX, BACKUP_SUFFIX = ".part", ".old"
DRAFT_NAME = re.compile(r"\..*\.[0-9a-f]{8}\.[0-9a-f]{12}\.(part|old)", re.DOTALL)
MAX_FOLDER_ENTRIES = 10_000  # that update_folder carries over
DISK_FULL_ERRNOS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


# Files --------------------------------------------------------------------------------------------


def check_writable(path: str | Path | None) -> Path | None:
    """Check that a file can be written at ``path`` and return it as a Path.

    Call it before a long computation. ``None`` (no file requested) is returned unchanged. The
    parent folder must exist and be writable; an existing target must be a writable file, pipe or
    device and not a folder. Nothing is created.

    Raises
    ------
    ValueError
        If it cannot be written, with the reason.
    """
    if path is None:
        return None
    target = Path(path)
    try:
        status = os.stat(target)
    except FileNotFoundError:
        folder = resolve_links(target).parent
        if not folder.is_dir():
            raise ValueError(
                f"cannot write {target}: folder {folder} does not exist. Create it first."
            ) from None
        _check_access(folder, target)
        return target
    except OSError as error:
        raise ValueError(f"cannot write {target}: {error.strerror}.") from None
    if stat.S_ISDIR(status.st_mode):
        raise ValueError(f"cannot write {target}: it is a folder. Name a file inside it.")
    _check_access(target, target)
    if stat.S_ISREG(status.st_mode) and not _is_stream(target):
        _check_access(resolve_links(target).parent, target)
    return target


@contextmanager
def open_atomic(path: str | Path) -> Iterator[IO[str]]:
    """Open a UTF-8 text file for writing; it replaces ``path`` only when the block ends normally.

    Newlines are written as given. A name that ends in ``.gz`` is compressed. If the block raises,
    the old file stays. Raises ValueError at once if ``path`` is not writable.
    """
    with open_atomic_bytes(path) as raw:
        text = io.TextIOWrapper(raw, encoding="utf-8", newline="")
        try:
            yield text
        finally:
            text.detach()  # flushes, but leaves the bytes open, which have yet to reach the disk


@contextmanager
def open_atomic_bytes(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a binary file for writing; it replaces ``path`` only when the block ends normally.

    A name that ends in ``.gz`` is compressed, without a time stamp in the header, so that equal
    content gives equal bytes. If the block raises, the old file stays. Permissions of an old file
    are kept. Raises ValueError at once if ``path`` is not writable.
    """
    path = Path(path)
    with _open_draft_file(path) as raw:
        if path.suffix == ".gz":
            with gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as compressed:
                yield compressed  # type: ignore[misc]
        else:
            yield raw


def write_text(text: str, path: str | Path) -> None:
    """Write ``text`` to ``path`` as UTF-8, atomically; newlines are written as given.

    A name that ends in ``.gz`` is compressed. Raises ValueError if ``path`` is not writable.
    """
    with open_atomic(path) as out:
        out.write(text)


@contextmanager
def open_new_text(path: Path) -> Iterator[IO[str]]:
    """Open a new UTF-8 text file inside a folder that is itself being written atomically.

    For use inside ``atomic_folder`` and ``update_folder``: the file gets no draft of its own. An
    existing file of that name is removed first, not overwritten, because in ``update_folder`` it is
    a hard link to the old version.
    """
    path.unlink(missing_ok=True)  # it may be a link to the file whose place it takes
    with path.open("x", encoding="utf-8", newline="") as out:
        yield out


@contextmanager
def _open_draft_file(path: Path) -> Iterator[IO[bytes]]:
    """Open the draft of a file for writing, and rename it to ``path`` when the block ends normally.

    The draft is flushed to disk first and removed if the block raises. Pipes, terminals and devices
    have no draft: they are opened in append mode, which never truncates a file that standard output
    is redirected to. Raises ValueError if ``path`` is not writable.
    """
    check_writable(path)
    with _name_file_in_disk_errors(path):
        if is_stream_or_device(path):
            with path.open("ab") as stream:
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
                os.replace(draft, target)  # while it is locked, so that nobody removes it
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
        fsync_folder(target.parent)


# Folders ------------------------------------------------------------------------------------------


@contextmanager
def atomic_folder(
    path: str | Path, check: Callable[[Path], object] | None = None
) -> Iterator[Path]:
    """Yield an empty folder to fill; it replaces ``path`` in one step when the block ends normally.

    The old folder is then removed with all its files; if the block raises, it stays. The parent
    folder must exist. ``check(path)`` is called first and may raise to protect an existing folder
    that must not be replaced; ``None`` allows any.
    """
    with _open_draft_folder(Path(path), check) as (draft, _):
        yield draft


@contextmanager
def update_folder(path: str | Path) -> Iterator[Path]:
    """Yield a copy of the folder at ``path`` to change; it replaces ``path`` when the block ends.

    Existing files are carried over as hard links: never write into one, but create it anew
    (``open_new_text``). The folder and its parents are created if they do not exist. If the block
    raises, the old folder stays.

    Raises
    ------
    ValueError
        If ``path`` is a file, the current folder or one of its parents, a mount point, or has more
        than ``MAX_FOLDER_ENTRIES`` entries.
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
    """Yield ``(draft, target)``: a locked empty folder and the resolved path it will move to.

    The draft is renamed when the block ends normally and removed when it raises. ``parents``
    creates missing parent folders. ``check(path)`` is called before and may raise to protect an
    existing folder; None allows any.
    """
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
        shutil.rmtree(draft, ignore_errors=True)  # now holds the old version


def recover_interrupted_write(path: str | Path) -> None:
    """Restore the folder that a killed process had moved aside, and remove its drafts.

    ``path`` is the folder to restore; if it exists only abandoned drafts are removed. Restoring is
    needed only on systems that cannot swap two names in one step (see ``swap_paths``).
    """
    target = resolve_links(Path(path))
    if not os.path.lexists(target):
        backup = next((p for p in _list_drafts(target) if p.name.endswith(BACKUP_SUFFIX)), None)
        if backup is not None:
            os.rename(backup, target)
    remove_abandoned_drafts(target)


def remove_abandoned_drafts(target: Path) -> None:
    """Remove drafts and backups of ``target`` whose writer is dead; those in use are left alone.

    ``target`` is a path without symbolic links (``resolve_links``). Errors are ignored.
    """
    for path in _list_drafts(target):
        _remove_if_unlocked(path)


def remove_abandoned_drafts_in(folder: str | Path) -> None:
    """Remove the drafts of dead writers from ``folder``, whatever file they were for.

    Backups and subfolders are not searched; a missing folder is accepted.
    """
    for path in sorted(Path(folder).iterdir()) if Path(folder).is_dir() else []:
        if DRAFT_NAME.fullmatch(path.name) and path.name.endswith(DRAFT_SUFFIX):
            _remove_if_unlocked(path)


def resolve_links(path: Path) -> Path:
    """Return the path that ``path`` leads to after all symbolic links; it need not exist."""
    return Path(os.path.realpath(path))


def is_stream_or_device(path: Path) -> bool:
    """Return whether ``path`` is written to in place: a pipe, terminal, device or open file.

    False if it does not exist.
    """
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)) or _is_stream(path)


def fsync_folder(folder: Path) -> None:
    """Flush the directory entries of ``folder`` to disk; does nothing where that is unsupported."""
    with suppress(OSError):  # some file systems and Windows cannot
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _is_stream(path: Path) -> bool:
    """Return whether links lead to ``/dev/fd`` or ``/proc/*/fd``, as ``/dev/stdout`` does.

    At most 40 links are followed.
    """
    for _ in range(40):
        if re.fullmatch(r"/(proc/[^/]+|dev)/fd", os.path.realpath(path.parent)):
            return True
        if not path.is_symlink():
            return False
        path = path.parent / os.readlink(path)
    return False


def _check_access(path: Path, target: Path) -> None:
    """Raise ValueError that ``target`` cannot be written if ``path`` is read-only.

    ``path`` is the target itself or its folder.
    """
    if not os.access(path, os.W_OK):
        raise ValueError(f"cannot write {target}: {path} is read-only. Choose another location.")


def check_folder_writable(path: Path) -> None:
    """Raise ValueError unless ``update_folder`` can replace the folder at ``path``.

    Call it before a long computation. Refused are a file, the current folder or one of its parents,
    a mount point, and a folder with more than ``MAX_FOLDER_ENTRIES`` entries, which would all be
    linked over. A missing folder is accepted. Permissions are not checked.
    """
    target = resolve_links(path)
    if not target.exists():
        return
    if not target.is_dir():
        raise ValueError(f"cannot write {path}: it is not a folder. Choose another name.")
    if target == Path.cwd() or target in Path.cwd().parents or os.path.ismount(target):
        raise ValueError(
            f"cannot write {path}: the current folder and its parents cannot be replaced. "
            "Name a folder inside it."
        )
    count = 0
    for _, folders, files in os.walk(target):
        count += len(folders) + len(files)
        if count > MAX_FOLDER_ENTRIES:
            raise ValueError(
                f"cannot write {path}: it has more than {MAX_FOLDER_ENTRIES:,} entries. "
                "Name a new folder."
            )


# Drafts: names, locks and the final rename --------------------------------------------------------


def _draft_prefix(target: Path) -> str:
    """Return the first part of all draft names of ``target``, short enough for any file system.

    It has a dot, the beginning of the name and a hash of the whole name.
    """
    name = os.fsencode(target.name)
    beginning = name[:100].decode("utf-8", errors="ignore")
    return f".{beginning}.{hashlib.sha256(name).hexdigest()[:8]}."


def _list_drafts(target: Path) -> list[Path]:
    """Return the drafts and backups of ``target`` in its folder, sorted by name.

    [] if the folder cannot be read.
    """
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
    """Create a hidden file or folder next to ``target``; return its path and its locked handle.

    ``make(path, flags, mode)`` creates it and returns an open descriptor, or -1 where folders
    cannot be locked; ``flags`` are passed on to it. Closing the descriptor releases the lock, which
    is left to the caller.
    """
    while True:
        path = target.with_name(f"{_draft_prefix(target)}{secrets.token_hex(6)}{DRAFT_SUFFIX}")
        handle = make(path, flags, 0o666)
        if handle < 0 or _lock_draft(handle, path):
            return path, handle
        os.close(handle)  # another process removed it before it was locked


def _make_folder(path: Path, _: int, __: int) -> int:
    """Create a folder; return an open descriptor of it, or -1 on a system without ``flock``.

    Has the signature of ``os.open``, whose flags and mode it ignores.
    """
    os.mkdir(path)
    return os.open(path, os.O_RDONLY) if fcntl is not None else -1


def _lock_draft(handle: int, path: Path) -> bool:
    """Lock a new draft; return False if another process removed it before it was locked.

    ``handle`` is its open descriptor. Without support for locks it returns True.
    """
    if fcntl is None:
        return True
    with suppress(OSError):  # a file system without locks
        fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except FileNotFoundError:
        return False


def _remove_if_unlocked(path: Path) -> None:
    """Remove a draft (file or folder) unless a living process holds its lock; errors are ignored.

    A symbolic link is left alone. Without ``flock`` the draft is always removed.
    """
    handle = -1
    try:
        if fcntl is not None:
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    except OSError:  # in use, already removed, or owned by another user
        pass
    finally:
        if handle >= 0:
            os.close(handle)


def _copy_mode(target: Path, draft: Path) -> None:
    """Give the draft the permissions of an existing target; a new one keeps those of the umask."""
    with suppress(OSError):
        os.chmod(draft, stat.S_IMODE(os.stat(target).st_mode))


def _link_or_copy(source: str, target: str) -> str:
    """Hard-link ``source`` to ``target``, or copy it where the file system has no hard links.

    Symbolic links are kept as such. Returns ``target``, as ``shutil.copytree`` expects.
    """
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:  # a file system without hard links
        shutil.copy2(source, target, follow_symlinks=False)
    return target


def _fsync_tree(folder: Path) -> None:
    """Flush all files and folders in ``folder`` and below it to disk; links are skipped."""
    for parent, _, files in os.walk(folder):
        for name in files:
            path = Path(parent, name)
            if path.is_file() and not path.is_symlink():
                with path.open("rb") as stream:
                    os.fsync(stream.fileno())
        fsync_folder(Path(parent))


def _put_in_place(draft: Path, target: Path) -> None:
    """Rename ``draft`` to ``target``; an old ``target`` is then found under the draft's name.

    Where names cannot be swapped, the old one is moved to a backup in between and put back on an
    error.
    """
    if not target.exists():
        os.rename(draft, target)
        return
    if swap_paths(draft, target):
        return
    backup = draft.with_name(draft.name.removesuffix(DRAFT_SUFFIX) + BACKUP_SUFFIX)
    os.rename(target, backup)  # killed here, the next run puts it back
    try:
        os.rename(draft, target)
    except OSError:
        os.rename(backup, target)
        raise
    os.rename(backup, draft)


def swap_paths(first: Path, second: Path) -> bool:
    """Swap the names of two existing paths in one step; return False where the system cannot.

    Nothing has changed if it returns False. Uses ``renameat2`` with RENAME_EXCHANGE on Linux and
    ``renamex_np`` with RENAME_SWAP on macOS. Raises the audit event ``textrank.exchange`` with both
    paths before.
    """
    sys.audit("textrank.exchange", str(first), str(second))
    names = os.fsencode(first), os.fsencode(second)
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "darwin":
            return libc.renamex_np(*names, 2) == 0
        AT_FDCWD = -100  # paths are relative to the current folder
        return libc.renameat2(AT_FDCWD, names[0], AT_FDCWD, names[1], 2) == 0
    except (AttributeError, OSError, TypeError):
        return False


@contextmanager
def _name_file_in_disk_errors(path: Path) -> Iterator[None]:
    """Add ``path`` to an OSError about a full disk, which the system raises without a file name.

    Other errors of the block pass unchanged.
    """
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno in DISK_FULL_ERRNOS:
            raise OSError(error.errno, f"cannot write: {error.strerror}", str(path)) from error
        raise


# Model folders ------------------------------------------------------------------------------------

META_FILE = "meta.json"


def check_model_target(path: str | Path) -> Path:
    """Raise ValueError unless a model folder can be written at ``path``; return it as a Path.

    Call it before a long computation. Refused are an existing file, a non-empty folder without
    ``meta.json``, the current folder, and a path whose parent does not exist. Permissions are not
    checked.
    """
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
    """Yield an empty folder for a model; it replaces ``path`` when the block ends normally.

    If the block raises, the old folder stays. Call ``write_manifest`` last in the block.

    Raises
    ------
    ValueError
        If ``path`` is not a valid target (``check_model_target``), e.g. a folder that holds
        something other than a model.
    """
    with atomic_folder(path, check_model_target) as folder:
        yield folder


def write_manifest(
    folder: Path, meta: Mapping[str, Any], only: Iterable[str] | None = None
) -> None:
    """Write ``meta.json``: ``meta``, the SHA-256 of the other files, and a checksum of itself.

    Call it last, when all files of ``folder`` are written. It is not atomic by itself. Raises
    ValueError if ``meta`` has NaN or infinite numbers, FileNotFoundError if a file of ``only`` is
    missing.

    Parameters
    ----------
    folder
        Folder of the model; ``meta.json`` in it is overwritten.
    meta
        JSON values. Keys ``files`` and ``checksum`` are added.
    only
        Names of the files to list; None lists every file directly in ``folder``.
    """
    all_names = (f.name for f in folder.iterdir() if f.name != META_FILE and f.is_file())
    names = sorted(all_names if only is None else only)
    manifest = {**meta, "files": {name: file_checksum(folder / name) for name in names}}
    manifest["checksum"] = _meta_checksum(manifest)
    text = json.dumps(manifest, indent=2, ensure_ascii=False, allow_nan=False)
    (folder / META_FILE).write_text(text + "\n", encoding="utf-8")


def verify_manifest(
    path: str | Path, needed: tuple[str, ...] = (), *, follow_links: bool = True
) -> dict[str, Any]:
    """Return the ``meta.json`` of a folder after checking the checksum of every file it lists.

    All its keys are returned, ``files`` and ``checksum`` too. Files that are not listed are
    ignored.

    Parameters
    ----------
    path
        Folder written with ``write_manifest``. A replacement that was interrupted is recovered
        first.
    needed
        Names of files that must be listed.
    follow_links
        Whether entries of the folder may be symbolic links. The folder itself may be one.

    Raises
    ------
    ValueError
        If the folder or its ``meta.json`` is missing, a listed or needed file is missing or
        changed, an entry is a link, pipe or device and those are not followed, or if the checksum
        of ``meta.json`` itself differs (format 1 has none).
    """
    folder = Path(path)
    if not folder.exists():
        recover_interrupted_write(folder)
    if not folder.is_dir():
        raise ValueError(f"{folder}: no such model folder. `textrank info` lists the shipped ones.")
    if not follow_links:
        _refuse_links(folder)
    if not (folder / META_FILE).is_file():
        raise ValueError(f"{folder}: no {META_FILE}, so this is not a model. Train one.")
    meta = load_json(read_text(folder / META_FILE), str(folder / META_FILE))
    files = meta.get("files") if isinstance(meta, dict) else None
    if not isinstance(files, dict):
        raise ValueError(f"{folder / META_FILE}: damaged, it lists no files. Restore the model.")
    _verify_meta_checksum(meta, folder / META_FILE)
    for name in {*files, *needed}:
        file = folder / Path(name).name
        if not file.is_file():
            raise ValueError(f"{file}: missing. Restore the model, or train it again.")
        if files.get(name) != file_checksum(file):
            raise ValueError(f"{file}: damaged, its checksum differs. Restore the model.")
    return dict(meta)


def _refuse_links(folder: Path) -> None:
    """Raise ValueError if a folder has an entry that is neither a regular file nor a folder.

    Links can lead to files of the reader or back to the folder; pipes and devices never end.
    """
    for entry in sorted(folder.iterdir()):
        if entry.is_symlink() or not (entry.is_file() or entry.is_dir()):
            raise ValueError(
                f"{entry}: a link, pipe or device, which a model must not contain. Replace it by "
                "the file, or load the model with trusted=True."
            )


def _verify_meta_checksum(meta: Mapping[str, Any], file: Path) -> None:
    """Raise ValueError if the checksum inside ``meta`` does not fit the rest of it.

    A ``meta`` of format 1 may have none, but one that it has is checked; any other format needs
    one. ``file`` is used in the message.
    """
    older = meta.get("format") == 1 and "checksum" not in meta
    if not older and meta.get("checksum") != _meta_checksum(meta):
        raise ValueError(f"{file}: damaged, its checksum differs. Restore the model.")


def _meta_checksum(meta: Mapping[str, Any]) -> str:
    """Return the SHA-256 of ``meta`` as sorted JSON, leaving out its key ``checksum``.

    The result is hexadecimal; ``meta`` must be JSON values.
    """
    content = {key: value for key, value in meta.items() if key != "checksum"}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _entries(folder: Path) -> Iterator[Path]:
    """Iterate over the entries of a folder; a path that is not a folder counts as one entry."""
    return folder.iterdir() if folder.is_dir() else iter([folder])


def lock_file(path: Path) -> IO[str]:
    """Create a file if necessary, lock it for this process and return it, open.

    The lock ends when the returned file is closed or the process ends, however that happens. The
    file stays. Raises OSError if another process has the lock, or the file cannot be written.
    """
    handle = path.open("a", encoding="utf-8")
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(handle.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        handle.close()
        raise
    return handle


def file_checksum(file: Path) -> str:
    """Return the SHA-256 of a file as a hexadecimal string; raise OSError if it is unreadable."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
