"""Files of labels: one Parquet file for each query, with the points of all its windows."""

from __future__ import annotations

import resource
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from broker.unfinished_file import unfinished
from cli.failure import CommandError
from cli.operators.dbscan.unwritable import unwritable

if TYPE_CHECKING:
    from asc.operators.dbscan.chains import Labels
    from asc.operators.dbscan.points import Ints, Points
    from asc.operators.dbscan.progress import DueWindow

SCHEMA = pa.schema([("window_end", pa.int64()), ("row", pa.int64()), ("label", pa.int32()), ("role", pa.string())])
"""The columns of a label file. ``window_end``: the end of the window in microseconds since 1970, or the number of its
last point. ``row``: the number of the row in the input file.
"""

_ROLES = pa.array(["core", "border", "noise"])
_ROWS_A_GROUP = 1 << 16
_ROWS_HELD = 1 << 22
_OTHER_FILES = 128
"""The number of files that the process may have open besides the label files."""


class LabelFiles:
    """The label files of queries, in one folder. A file gets its final name when it is complete. If a file cannot be
    written, methods raise CommandError with the name of the file.
    """

    def __init__(self, folder: Path, queries: Iterable[str]) -> None:
        self._names = {query: folder / f"{query}.parquet" for query in queries}
        self._writers: dict[str, pq.ParquetWriter] = {}
        self._held: dict[str, list[pa.Table]] = {}
        self._rows: dict[str, int] = {}

    def add(self, due: DueWindow, points: Points, rows: Ints, labels: Labels) -> None:
        """Add the points of a window. ``due``: the window, whose end is exclusive. If points define the window, its
        exclusive end counted from 0 equals the number of its last point counted from 1.
        """
        query = due.progress.query.id
        roles = np.where(labels.is_core, 0, np.where(labels.labels >= 0, 1, 2))
        columns = [np.full(len(rows), due.end), points.offset[rows], labels.labels, _ROLES.take(pa.array(roles))]
        self._held.setdefault(query, []).append(pa.table(columns, schema=SCHEMA))
        self._rows[query] = self._rows.get(query, 0) + len(rows)
        if self._rows[query] >= _ROWS_A_GROUP:
            self._write(query)
        elif sum(self._rows.values()) >= _ROWS_HELD:
            for other in list(self._held):
                self._write(other)

    def end(self) -> None:
        """Write buffered rows, and give each file its final name."""
        for query, name in self._names.items():
            self._write(query)
            with _naming(name):
                self._writers.pop(query).close()
                unfinished(name).replace(name)

    def close(self) -> None:
        """Close and remove incomplete files."""
        for writer in self._writers.values():
            # Closing writes the end of the file, which fails again on a full disk.
            with suppress(OSError):
                writer.close()
        for name in self._names.values():
            # A writer that failed before its first row may have left a file as well.
            with suppress(OSError):
                unfinished(name).unlink(missing_ok=True)

    def _write(self, query: str) -> None:
        name = self._names[query]
        with _naming(name):
            if query not in self._writers:
                self._writers[query] = pq.ParquetWriter(unfinished(name), SCHEMA)
            held = self._held.pop(query, [])
            self._rows.pop(query, None)
            if held:
                self._writers[query].write_table(pa.concat_tables(held))


@contextmanager
def label_files(folder: Path, queries: Iterable[str]) -> Iterator[LabelFiles]:
    """Yield the label files of queries, and complete them at the end. Raise CommandError if the folder cannot be made
    or a file cannot be written. After any error, no part of a file remains.
    """
    names = list(queries)
    _open_at_once(len(names))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable("folder of labels", folder, error) from error
    files = LabelFiles(folder, names)
    try:
        yield files
        files.end()
    finally:
        files.close()


def _open_at_once(files: int) -> None:
    """Allow the process to open ``files`` label files at once. Raise CommandError if the system permits fewer."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = files + _OTHER_FILES
    if hard not in (resource.RLIM_INFINITY, -1) and hard < wanted:
        raise CommandError("--labels, files", files, f"a process may open {hard:,} files here: raise 'ulimit -n'")
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


@contextmanager
def _naming(name: Path) -> Iterator[None]:
    """Replace an OSError within the context by a CommandError with the name of the file."""
    try:
        yield
    except OSError as error:
        raise unwritable("file of labels", name, error) from error
