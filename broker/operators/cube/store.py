"""The store of cubes: one SQLite file with all cubes of a stream.

Each row belongs to a cube, by the cube's number, except in the tables ``stream``, ``marks`` and ``newest``. The tables
are:

- ``stream``: the number of the last commit, the commit of the last batch, and the time of the optimiser's last run;
- ``marks``: the mark of each time expression;
- ``newest``: by time expression and partition the newest time of records, and the topic id and end of the last batch;
- ``cubes``: query, generation, definition and the types of the pieces. The versions of the registry at which the query
  was registered, and of the plan with which the cube began. The watermark after the cube's last batch, the commit of
  that batch, and the reason why the cube is parked. Also the numbers of its shards, NULL if it has one;
- ``pieces``: Arrow bytes by pane, with their CRC32. ``is_apart`` is 1 for separate late records. ``view`` is the number
  of the view, or 0 for the base cuboid. ``shard`` is the number of the shard to which all cells of the piece belong;
- ``views``: the materialised views of a cube, and the bands of its older panes: cuboid, panes of the cube in one pane
  of the view, and role. Also the pane before which the view is complete;
- ``demand``: the number of questions for each view of a cube, as JSON;
- ``removed_views``: the numbers of views whose pieces, up to the piece ``until``, are not all deleted yet;
- ``coverage``: disjoint intervals of folded and of missed offsets, by topic id and partition;
- ``gaps``: intervals of event time in which records may be missing, each with the reason;
- ``backfills``: the cubes whose backfill was requested, and is not complete;
- ``counters``: the numbers of accepted records by outcome;
- ``windows``: the topic and output of a cube, the last window that is written, and whether more windows are left for
  the next commit. Also the number of written windows, and the progress of the revisions because of late records;
- ``former_cells``: by batch, the panes that late records of the batch have changed. Also Arrow bytes of the former
  cells of these panes, which written windows still show. Both have a CRC32;
- ``revisions``: the last revision of each window and output cuboid that has one;
- ``removed``: the numbers of deleted cubes whose pieces and former cells are not all deleted yet.

Invariant: the rows of one transaction are written all together or not at all, also after a ``kill -9``, a power failure
or a full disk. The number of a piece is never reused while the file is open, so a number identifies one content.

Cost: one synced write of the log for a commit, and as many bytes again when the log of 16 MiB is copied into the file.
The bytes of a long piece begin in its row and continue in separate pages, so that other columns are read without them.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from broker.disk_sync import sync
from broker.errors import CubeStoreError, DamagedFormerCellsError, DamagedPieceError

FORM = 3
"""The form of the file of cubes that this version of asc-broker reads and writes. This version also reads form 1, which
has no views, and form 2, which has no shards. It refuses a file of any other form.
"""

_APPLICATION = 0x41_53_43_43
"""The application id by which SQLite's tools identify the file: the letters ASCC."""

_PAGE_BYTES = 8_192
_LOG_PAGES = (16 << 20) // _PAGE_BYTES
_COPIED_PAGES = (2 << 20) // _PAGE_BYTES
_WAITED_S = 1.0
_DAMAGED = "is damaged"

_TABLES = """
CREATE TABLE stream (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE marks (time TEXT PRIMARY KEY, mark_us INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE newest (
    time TEXT NOT NULL, partition INTEGER NOT NULL, newest_us INTEGER, topic TEXT, "end" INTEGER,
    PRIMARY KEY (time, partition)) WITHOUT ROWID;
CREATE TABLE cubes (
    number INTEGER PRIMARY KEY AUTOINCREMENT, query TEXT NOT NULL, generation TEXT NOT NULL, definition TEXT NOT NULL,
    types TEXT NOT NULL, first_seen_s INTEGER NOT NULL, since INTEGER NOT NULL, version INTEGER NOT NULL,
    watermark_us INTEGER,
    batch INTEGER NOT NULL DEFAULT 0, parked TEXT, stopped TEXT, UNIQUE (query, generation));
CREATE TABLE pieces (
    number INTEGER PRIMARY KEY, cube INTEGER NOT NULL, pane INTEGER NOT NULL, cells INTEGER NOT NULL,
    crc INTEGER NOT NULL, is_damaged INTEGER NOT NULL DEFAULT 0, data BLOB NOT NULL,
    is_apart INTEGER NOT NULL DEFAULT 0, view INTEGER NOT NULL DEFAULT 0);
CREATE TABLE coverage (
    cube INTEGER NOT NULL, is_missed INTEGER NOT NULL, topic TEXT NOT NULL, partition INTEGER NOT NULL,
    first INTEGER NOT NULL, "end" INTEGER NOT NULL,
    PRIMARY KEY (cube, is_missed, topic, partition, first)) WITHOUT ROWID;
CREATE TABLE gaps (
    number INTEGER PRIMARY KEY, cube INTEGER NOT NULL, first_us INTEGER, end_us INTEGER, reason TEXT NOT NULL,
    newest_us INTEGER);
CREATE TABLE counters (
    cube INTEGER NOT NULL, name TEXT NOT NULL, value INTEGER NOT NULL, PRIMARY KEY (cube, name)) WITHOUT ROWID;
CREATE TABLE windows (
    cube INTEGER PRIMARY KEY, topic TEXT NOT NULL, output TEXT NOT NULL, begun INTEGER, written INTEGER,
    window INTEGER, place INTEGER NOT NULL, skipped INTEGER NOT NULL, batch INTEGER NOT NULL, until INTEGER,
    is_due INTEGER NOT NULL, is_behind INTEGER NOT NULL, count INTEGER NOT NULL);
CREATE TABLE former_cells (
    number INTEGER PRIMARY KEY, cube INTEGER NOT NULL, first INTEGER NOT NULL, "end" INTEGER NOT NULL,
    panes BLOB NOT NULL, panes_crc INTEGER NOT NULL, crc INTEGER NOT NULL, data BLOB NOT NULL);
CREATE TABLE revisions (
    cube INTEGER NOT NULL, window INTEGER NOT NULL, place INTEGER NOT NULL, revision INTEGER NOT NULL,
    PRIMARY KEY (cube, window, place)) WITHOUT ROWID;
CREATE TABLE removed (cube INTEGER PRIMARY KEY);
CREATE INDEX pieces_of_cube ON pieces (cube);
CREATE INDEX gaps_of_cube ON gaps (cube);
CREATE INDEX former_cells_of_cube ON former_cells (cube);
"""

_ADDED_TABLES = """
CREATE TABLE views (
    number INTEGER PRIMARY KEY AUTOINCREMENT, cube INTEGER NOT NULL, cuboid TEXT NOT NULL, panes INTEGER NOT NULL,
    role TEXT NOT NULL, filled_to INTEGER);
CREATE TABLE removed_views (view INTEGER PRIMARY KEY, until INTEGER NOT NULL);
CREATE INDEX pieces_of_view ON pieces (view, pane) WHERE view > 0;
CREATE INDEX base_pieces ON pieces (cube, pane) WHERE view = 0;
ALTER TABLE cubes ADD COLUMN kept_from INTEGER;
ALTER TABLE gaps ADD COLUMN offsets TEXT;
CREATE TABLE backfills (cube INTEGER PRIMARY KEY);
CREATE INDEX views_of_cube ON views (cube);
CREATE TABLE demand (cube INTEGER PRIMARY KEY, counts TEXT NOT NULL);
"""
_SHARD_COLUMNS = """
ALTER TABLE pieces ADD COLUMN shard INTEGER NOT NULL DEFAULT 1;
ALTER TABLE cubes ADD COLUMN shards TEXT;
"""
_CHANGES = {
    1: "ALTER TABLE pieces ADD COLUMN view INTEGER NOT NULL DEFAULT 0;" + _ADDED_TABLES + _SHARD_COLUMNS,
    2: _SHARD_COLUMNS,
}
"""The SQL statements that upgrade a file from an older form to FORM, by the older form."""

_WITH_DATA = ("pieces", "former_cells")
_OF_CUBES = ("coverage", "gaps", "counters", "windows", "revisions", "views", "backfills", "demand")
Rows = list[tuple[Any, ...]]


class Store:
    """The SQLite file of cubes, used through one connection. Thread-safe; while a transaction runs, other threads wait
    for the connection.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        self._lock = threading.RLock()
        self._is_closed = False

    @staticmethod
    def open(path: Path) -> Store:
        """Return the store in a file. Create the file if it is missing. Raise CubeStoreError if the file cannot be
        used.
        """
        try:
            _make_folder(path.parent)
            connection = sqlite3.connect(path, timeout=_WAITED_S, isolation_level=None, check_same_thread=False)
        except (OSError, sqlite3.Error) as error:
            raise CubeStoreError("cubes", str(path), f"cannot be opened, {error}: mend that, and start again") from None
        # Read a text with a damaged byte as well, so that the damage affects only its own cube.
        connection.text_factory = _text
        try:
            # Set the exclusive mode before the first access. Then the log needs no shared memory, which network file
            # systems do not support.
            for name, value in (("locking_mode", "EXCLUSIVE"), ("page_size", _PAGE_BYTES), ("journal_mode", "WAL")):
                connection.execute(f"PRAGMA {name} = {value}")
            connection.execute("PRAGMA synchronous = FULL")
            # Debian's SQLite would fill each page of a deleted piece with zeros, and write these pages to the log.
            connection.execute("PRAGMA secure_delete = OFF")
            connection.execute(f"PRAGMA wal_autocheckpoint = {_LOG_PAGES}")
            store = Store(path, connection)
            store._check_form()
        except sqlite3.Error as error:
            connection.close()
            raise _refused(path, error) from None
        except CubeStoreError:
            connection.close()
            raise
        return store

    def close(self) -> None:
        """Close the file. Do nothing if it is already closed."""
        with self._lock:
            self._is_closed = True
            self._connection.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Execute the statements within the context as one transaction. Raise CubeStoreError if the transaction
        fails.
        """
        with self._lock:
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                yield
                self._connection.execute("COMMIT")
            except sqlite3.Error as error:
                self._roll_back()
                raise _refused(self.path, error) from None
            except BaseException:
                self._roll_back()
                raise

    def execute(self, sql: str, values: Sequence[Any] = ()) -> Rows:
        """Return the rows of a statement's result. Raise CubeStoreError if the statement fails."""
        with self._lock:
            try:
                return self._connection.execute(sql, values).fetchall()
            except sqlite3.Error as error:
                raise _refused(self.path, error) from None

    def execute_all(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Execute a statement once for each row of values. Raise CubeStoreError if the statement fails."""
        with self._lock:
            try:
                self._connection.executemany(sql, rows)
            except sqlite3.Error as error:
                raise _refused(self.path, error) from None

    def piece(self, number: int) -> bytes | None:
        """Return the bytes of a piece. Return None if the piece no longer exists. Raise DamagedPieceError if its pages
        are damaged.
        """
        try:
            rows = self.execute("SELECT data FROM pieces WHERE number = ?", (number,))
        except CubeStoreError as error:
            if not error.remedy.startswith(_DAMAGED):
                raise
            raise DamagedPieceError(error.subject, error.value, error.remedy, number=number) from None
        return bytes(rows[0][0]) if rows else None

    def pieces(self, numbers: Sequence[int]) -> dict[int, bytes]:
        """Return the bytes of pieces by number, without pieces that no longer exist. Return an empty dictionary if the
        pages of a piece are damaged.
        """
        if not numbers:
            return {}
        places = ", ".join("?" * len(numbers))
        try:
            return dict(self.execute(f"SELECT number, data FROM pieces WHERE number IN ({places})", numbers))
        except CubeStoreError as error:
            if not error.remedy.startswith(_DAMAGED):
                raise
            return {}

    def former_cells(self, number: int) -> tuple[int, bytes]:
        """Return the CRC32 and the bytes of former cells. Raise DamagedFormerCellsError if their pages are damaged."""
        try:
            rows = self.execute("SELECT crc, data FROM former_cells WHERE number = ?", (number,))
        except CubeStoreError as error:
            if not error.remedy.startswith(_DAMAGED):
                raise
            raise DamagedFormerCellsError(error.subject, error.value, error.remedy, number=number) from None
        crc, data = rows[0]
        return crc, bytes(data)

    def remove(self, cube: int) -> None:
        """Delete a cube with all its data except its pieces and former cells, which :meth:`purge` deletes later."""
        for table in _OF_CUBES:
            self.execute(f"DELETE FROM {table} WHERE cube = ?", (cube,))
        self.execute("DELETE FROM cubes WHERE number = ?", (cube,))
        self.execute("INSERT INTO removed (cube) VALUES (?)", (cube,))

    def purge(self, most: int) -> bool:
        """Delete at most ``most`` pieces and former cells of deleted cubes and views. Return whether some may remain.

        Call within a transaction. Cost: some 0.1 ms for each piece, because its pages are read and marked as free.
        """
        for view, until in self.execute("SELECT view, until FROM removed_views"):
            some = "SELECT number FROM pieces WHERE view = ? AND number <= ? LIMIT ?"
            sql = f"DELETE FROM pieces WHERE number IN ({some}) RETURNING number"
            most -= len(self.execute(sql, (view, until, most)))
            if most <= 0:
                return True
            self.execute("DELETE FROM removed_views WHERE view = ?", (view,))
        for (cube,) in self.execute("SELECT cube FROM removed"):
            for table in _WITH_DATA:
                some = f"SELECT number FROM {table} WHERE cube = ? LIMIT ?"
                sql = f"DELETE FROM {table} WHERE number IN ({some}) RETURNING number"
                most -= len(self.execute(sql, (cube, most)))
                if most <= 0:
                    return True
            self.execute("DELETE FROM removed WHERE cube = ?", (cube,))
        return False

    def copy(self, path: Path, look: Callable[[], None]) -> None:
        """Write a copy of the file to ``path``. The copy includes all commits up to the end of copying. An existing
        file is replaced.

        ``look`` is called after each part of 2 MiB, and may cancel the copy by an error. Raise CubeStoreError if the
        copy cannot be written; an incomplete copy may remain. Cost: a concurrent commit waits for at most one part,
        some 10 ms.
        """

        def pause(_status: int, _left: int, _total: int) -> None:
            # Other threads may use the connection between two parts. SQLite adds their changes to the copy.
            self._lock.release()
            try:
                look()
            finally:
                self._lock.acquire()
            if self._is_closed:
                raise sqlite3.ProgrammingError("the file was closed")

        try:
            with closing(sqlite3.connect(path, isolation_level=None)) as target:
                for name in ("journal_mode", "synchronous"):
                    target.execute(f"PRAGMA {name} = OFF")
                with self._lock:
                    self._connection.backup(target, pages=_COPIED_PAGES, progress=pause)
            sync(path)
        except (OSError, sqlite3.Error) as error:
            remedy = f"cannot be written, {error}: free space on its disk, and ask for it again"
            raise CubeStoreError("copy of cubes", str(path), remedy) from None

    def _roll_back(self) -> None:
        # Ignore the error of ROLLBACK: after some errors SQLite has already ended the transaction, and a closed
        # connection has none.
        with suppress(sqlite3.Error):
            self._connection.execute("ROLLBACK")

    def _check_form(self) -> None:
        form = self.execute("PRAGMA user_version")[0][0]
        application = self.execute("PRAGMA application_id")[0][0]
        if (form, application) == (0, 0) and not self.execute("SELECT 1 FROM sqlite_schema LIMIT 1"):
            with self.transaction():
                self._make(_TABLES + _ADDED_TABLES + _SHARD_COLUMNS)
                self.execute(f"PRAGMA application_id = {_APPLICATION}")
            return
        if application == _APPLICATION and form > FORM:
            remedy = f"is of form {form}, and this version reads {FORM}: start the newer version that wrote it"
            raise CubeStoreError("cubes", str(self.path), remedy)
        tables = {name for (name,) in self.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
        needed = ("stream", "marks", "newest", "cubes", "removed", *_WITH_DATA, *_OF_CUBES)
        added = {"views", "backfills", "demand"} if form == 1 else set()
        if form in _CHANGES and application == _APPLICATION and tables.issuperset(set(needed) - added):
            with self.transaction():
                self._make(_CHANGES[form])
            return
        if (form, application) != (FORM, _APPLICATION) or not tables.issuperset(needed):
            raise CubeStoreError("cubes", str(self.path), "is no file of cubes: move it away, or copy a dump there")

    def _make(self, statements: str) -> None:
        for statement in statements.split(";"):
            self.execute(statement)
        self.execute(f"PRAGMA user_version = {FORM}")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _make_folder(folder: Path) -> None:
    """Create a folder and its parents durably, so that they exist after a power failure."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for each in missing:
        sync(each.parent)


def _refused(path: Path, error: sqlite3.Error) -> CubeStoreError:
    """Return an error of SQLite as a CubeStoreError with a remedy."""
    text = str(error)
    if "locked" in text:
        remedy = "is open in another process: stop that one"
    elif "unable to open" in text:
        remedy = f"cannot be opened, {text}: mend that, and start again"
    elif "full" in text or "I/O" in text:
        remedy = f"cannot be written, {text}: free space on its disk, and the batch is run again"
    elif "malformed" in text or "not a database" in text:
        remedy = f"{_DAMAGED}, {text}: copy a dump there, or move it away and the cubes begin anew"
    else:
        remedy = f"{text}: look at the file with the command sqlite3"
    return CubeStoreError("cubes", str(path), remedy)
