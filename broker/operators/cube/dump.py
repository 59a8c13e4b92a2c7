"""Dumps: copies of the file of cubes. One copy exists at a time, commits continue during the copy, and the copy is
deleted after it was read.
"""

from __future__ import annotations

import threading
import weakref
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from broker.cancellation import Cancellation
from broker.errors import CubeStoreError, TooManyDumpsError
from broker.operators.cube.store import Store


class Dump:
    """A complete copy of the file of cubes, which can be read once.

    Invariant: a complete copy has no name in its folder. So the file system frees its bytes when the copy is closed or
    the process ends.
    """

    def __init__(self) -> None:
        self._file: BinaryIO | None = None
        self.is_over = False
        self.size_bytes = 0

    def begin(self, path: Path) -> None:
        """Open the complete copy at ``path``, and remove its name from the folder. Raise OSError."""
        self._file = path.open("rb")
        path.unlink()
        self.size_bytes = self._file.seek(0, 2)
        self._file.seek(0)

    def read(self, most_bytes: int) -> bytes:
        """Return the next bytes of the copy, at most ``most_bytes``. Return empty bytes at the end."""
        return b"" if self._file is None else self._file.read(most_bytes)

    def close(self) -> None:
        """Free the bytes of the copy, and allow another copy. Do nothing if the copy is already closed."""
        self.is_over = True
        if self._file is not None:
            self._file.close()


class Dumps:
    """The copies of a store. Invariant: at most one copy exists at a time. A copy no longer counts after it is closed,
    or if no object refers to it.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._path = store.path.with_name(f"{store.path.name}.dump")
        self._lock = threading.Lock()
        self._last: weakref.ref[Dump] | None = None
        self._delete()

    def make(self, cancellation: Cancellation) -> Dump:
        """Return a copy of all committed data, which is written next to the file.

        Raise TooManyDumpsError while another copy exists, CubeStoreError if the copy cannot be written, and
        CancelledError if the caller no longer wants the copy. Cost: some 3 s for each GB, and as many bytes on the
        disk.
        """
        dump = Dump()
        with self._lock:
            last = None if self._last is None else self._last()
            if last is not None and not last.is_over:
                raise TooManyDumpsError("dumps of cubes", 1, "is made or read now: ask again when it is over")
            self._last = weakref.ref(dump)
        try:
            self._store.copy(self._path, cancellation.check)
            dump.begin(self._path)
        except OSError as error:
            self._end(dump)
            remedy = f"cannot be read, {error}: ask for it again"
            raise CubeStoreError("copy of cubes", str(self._path), remedy) from None
        except BaseException:
            self._end(dump)
            raise
        return dump

    def _end(self, dump: Dump) -> None:
        self._delete()
        dump.close()

    def _delete(self) -> None:
        # A daemon that is killed during a copy leaves an incomplete copy. The next daemon that opens the file deletes
        # that copy.
        with suppress(OSError):
            self._path.unlink(missing_ok=True)
