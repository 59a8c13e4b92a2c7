"""Files that all executors of a host map from one copy in memory, although each executor has its own file with the same
bytes.

The executors of a host share no folder of Spark. So the first executor that maps a file creates a link to it in a
folder of the user, and the others map the target of the link.
"""

from __future__ import annotations

import fcntl
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

_LOCK = ".lock"


class HostFiles:
    """The links to shared files of one user on one host. In the context of :func:`host_files`, no other process uses
    the links.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def open(self, name: str, path: Path) -> BinaryIO:
        """Open the file that is shared under a name on this host. If there is no such file, open ``path``, and share it
        under this name.

        The caller guarantees that all files with the same name have the same bytes.
        """
        file = path.open("rb")
        if self._folder is None:
            return file
        link = self._folder / name
        with suppress(OSError):
            shared = link.open("rb")
            if os.fstat(shared.fileno()).st_size == os.fstat(file.fileno()).st_size:
                file.close()
                return shared
            shared.close()
        # There is no link, or it leads to the folder of a former executor. If no link can be made, the host has one
        # more copy in memory.
        with suppress(OSError):
            link.unlink(missing_ok=True)
            link.symlink_to(path.absolute())
        return file


@contextmanager
def host_files() -> Iterator[HostFiles]:
    """Yield the links of this user on this host, after deleting links to missing files.

    If the folder of links cannot be created, or belongs to another user, no file is shared.
    """
    folder = Path(tempfile.gettempdir()) / f"asc-parts-{os.getuid()}"
    try:
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        found = folder.lstat()
        # Anybody can make a folder of this name first, and links in it.
        is_own = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077
        lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o600) if is_own else None
    except OSError:
        lock = None
    if lock is None:
        yield HostFiles(None)
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with suppress(OSError):
            for link in folder.iterdir():
                if not link.exists():
                    link.unlink(missing_ok=True)
        yield HostFiles(folder)
    finally:
        os.close(lock)
