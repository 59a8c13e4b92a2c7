"""The file of records: the records of all windows as NDJSON."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from broker.unfinished_file import unfinished
from cli.operators.dbscan.unwritable import unwritable


class RecordFile:
    """The file of records, which is open until :meth:`end` or :meth:`close`.

    A regular file gets its final name when it is complete. A device or a pipe, such as ``/dev/stdout``, receives the
    records as they are written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            is_regular = path.is_file() or not path.exists()
            # Replace the file that a link names, and not the link.
            self._final = Path(os.path.realpath(path)) if is_regular else None
            self._written = path if self._final is None else unfinished(self._final)
            self._file = self._written.open("w", encoding="utf-8")
        except OSError as error:
            raise unwritable("file of records", path, error) from error

    def write(self, record: str) -> None:
        """Write a record as a line. Raise CommandError if the file cannot be written."""
        try:
            self._file.write(f"{record}\n")
        except OSError as error:
            raise unwritable("file of records", self._path, error) from error

    def end(self) -> None:
        """Write buffered records, and give the file its final name. Raise CommandError if the file cannot be
        written.
        """
        try:
            self._file.close()
            if self._final is not None:
                self._written.replace(self._final)
        except OSError as error:
            raise unwritable("file of records", self._path, error) from error

    def close(self) -> None:
        """Close the file, and remove it if it is incomplete."""
        # Closing writes the buffered records, which fails again on a full disk.
        with suppress(OSError):
            self._file.close()
        if self._final is not None:
            with suppress(OSError):
                self._written.unlink(missing_ok=True)


@contextmanager
def record_file(path: Path) -> Iterator[RecordFile]:
    """Yield the file of records, and complete it at the end. Raise CommandError if it cannot be written.

    After any error, nothing of the file remains, and a file of this name from before is unchanged.
    """
    file = RecordFile(path)
    try:
        yield file
        file.end()
    finally:
        file.close()
