"""The file of a stream's cubes: its path, and the copy that a new leader makes of the former leader's file.

A former leader keeps its database and log open, and renaming the files does not prevent its writes. So each leader
writes to a separate file. The name of the file contains the number of takeovers, like the name of the stream's folder
(:mod:`broker.plans.stream_folder`).
"""

from __future__ import annotations

import errno
import logging
import os
import re
import shutil
from contextlib import suppress
from pathlib import Path

from broker.disk_sync import sync
from broker.errors import CubeStoreError
from broker.plans.stream_folder import CUBES, stream_folder, takeovers_of

LOG = logging.getLogger("asc.cubes")

_NAME = re.compile(r"cubes(?:~([0-9]+))?\.sqlite")
_LOG = "-wal"
_BESIDE = ("", _LOG, "-journal", ".dump", ".new", f".new{_LOG}")
"""The ends of the names of the files that a leader may leave. These files are the database, its log, the journal of a
new file, a copy for a client, and parts of a copy.
"""
_TRIES = 5
"""The number of times that a file is copied while its log changes."""
_COMPARED_BYTES = 1 << 20


def cubes_path(checkpoint_dir: Path, stream: str) -> Path:
    """Return the path of the file of a stream's cubes. The file is not in the stream's folder, which may be removed
    separately.

    A daemon calls this once, when it starts to serve. So a daemon that is replaced later continues to write to its own
    file.
    """
    folder = stream_folder(checkpoint_dir / CUBES, stream)
    number = takeovers_of(folder)
    return folder / (f"cubes~{number}.sqlite" if number else "cubes.sqlite")


def has_cubes(path: Path) -> bool:
    """Return whether the file of cubes exists, or the file of a former leader from which it can be copied. Raise
    OSError.
    """
    return path.exists() or _former(path) is not None


def copy_former(path: Path) -> None:
    """Copy the file of the former leader to ``path``, with all committed transactions. Do nothing if there is already a
    file, or none to copy.

    The former leader may still have its file open: it may be suspended within a write, resume at any time, and never
    release its lock. It cannot write to the copy. A transaction that the former leader commits after the copy is lost.
    No records are lost with it, because the batch of the transaction is bound but not completed, so that this leader
    replays it.

    A crash at any point leaves either no file at ``path``, or a complete and durable copy. Raise CubeStoreError if the
    file cannot be copied; then the call can be repeated. Cost: the file is read, written and synced once. Both files
    occupy the disk until the former file is deleted.
    """
    try:
        if path.parent.is_file():
            raise CubeStoreError("cubes", str(path), "another daemon has taken them over: this one writes no more")
        former = None if path.exists() else _former(path)
        if former is None:
            return
        _copy(former, path)
    except OSError as error:
        raise CubeStoreError("cubes", str(path), f"cannot be copied, {error}: mend that, and try again") from None
    LOG.info("cubes are copied from the file of the former leader, %s", former)
    for each in range(_number(path)):
        _delete(path.with_name(_name(each)), *_BESIDE)


def _copy(former: Path, path: Path) -> None:
    new = path.with_name(f"{path.name}.new")
    if shutil.disk_usage(path.parent).free < former.stat().st_size:
        # Check the space before the copy. Otherwise each attempt, once a second, would fill the disk.
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    try:
        for _ in range(_TRIES):
            if _is_copied(former, new):
                break
        else:
            remedy = "is written by the daemon that served before: stop that one, and the batch is run again"
            raise CubeStoreError("cubes", str(former), remedy)
        # The database is renamed last, so that the copy is complete if it exists.
        _log_of(new).replace(_log_of(path))
        new.replace(path)
    except BaseException:
        _delete(new, "", _LOG)
        raise
    sync(path.parent)


def _is_copied(former: Path, new: Path) -> bool:
    """Copy a database and its log. Return whether the copy is consistent, although another process may write.

    Invariant of SQLite in WAL mode: a transaction is appended to the log, with checksums, and synced. Only then its
    pages are copied into the database. SQLite restarts the log, with another salt in its first bytes, only after all
    pages of the log are synced in the database. So at any time, database and log together contain all transactions.
    Each page that is being written in the database is also in the log, from which a reader takes it.

    The log is copied before the database, and compared after it. If the log is unchanged, SQLite has neither appended
    to it nor restarted it during the copy. Then each page that was written in the meantime is in the copied log.
    Otherwise the copied database may have pages of transactions that the copied log lacks. An incomplete transaction at
    the end of the log has no valid checksum and commit mark, and SQLite ignores it.

    No process creates or deletes the log during the copy, because this needs the path of the log, which the takeover
    has changed. Each step opens the files again, because a network file system shows the current bytes only to a newly
    opened file.
    """
    _copy_synced(_log_of(former), _log_of(new))
    _copy_synced(former, new)
    return _is_same(_log_of(former), _log_of(new))


def _copy_synced(source: Path, target: Path) -> None:
    """Copy a file, and sync the copy. The copy of a missing log is empty."""
    # Create a new file, because a suspended daemon may have the old one open.
    target.unlink(missing_ok=True)
    try:
        shutil.copy(source, target)
    except FileNotFoundError:
        if not source.name.endswith(_LOG):
            raise
        target.touch()
    sync(target)


def _is_same(one: Path, other: Path) -> bool:
    """Return whether a log, which may be missing, has the same bytes as its copy."""
    try:
        first = one.open("rb")
    except FileNotFoundError:
        return other.stat().st_size == 0
    with first, other.open("rb") as second:
        while True:
            block = first.read(_COMPARED_BYTES)
            if block != second.read(_COMPARED_BYTES):
                return False
            if not block:
                return True


def _former(path: Path) -> Path | None:
    """Return the path of the file of cubes that the last former leader wrote. Return None if there is no such file."""
    number = _number(path)
    found = max((each for each in _numbers(path.parent) if each < number), default=None) if number else None
    return None if found is None else path.with_name(_name(found))


def _numbers(folder: Path) -> list[int]:
    """Return the numbers of takeovers in the names of the files of cubes in a folder."""
    try:
        names = [each.name for each in folder.iterdir()]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [int(found[1] or 0) for name in names if (found := _NAME.fullmatch(name))]


def _number(path: Path) -> int:
    found = _NAME.fullmatch(path.name)
    return int(found[1] or 0) if found else 0


def _name(number: int) -> str:
    return f"cubes~{number}.sqlite" if number else "cubes.sqlite"


def _log_of(path: Path) -> Path:
    return path.with_name(path.name + _LOG)


def _delete(path: Path, *ends: str) -> None:
    for end in ends:
        with suppress(OSError):
            path.with_name(path.name + end).unlink(missing_ok=True)
