"""The file of the store: its form, and what of it cannot be read or written."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from asc.operators.cube.output import Output
from broker.errors import CubeStoreError, QueryError
from broker.operators.cube.cube_state import RESTORED, CubeId
from broker.operators.cube.keeper import Keeper
from broker.operators.cube.store import FORM, Store
from tests.broker.operators.cube.kept_stream import (
    MINUTE_US,
    Record,
    Topic,
    batch,
    cube_id,
    definition,
    duckdb_rows,
    opened,
    rows_of,
)
from tools.faults.small_disk import SmallDisk

OWN = definition()
LATE = cube_id("late", OWN)


def changed(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def test_the_file_is_synced_and_has_a_form(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "a" / "b" / "cubes.sqlite")
    names = ("user_version", "synchronous", "journal_mode", "locking_mode", "secure_delete")
    assert [store.execute(f"PRAGMA {name}")[0][0] for name in names] == [FORM, 2, "wal", "exclusive", 0]
    # Without shared memory it lies on file systems over a network too.
    assert sorted(each.name for each in store.path.parent.iterdir()) == ["cubes.sqlite", "cubes.sqlite-wal"]
    store.close()
    store.close()
    Store.open(tmp_path / "a" / "b" / "cubes.sqlite").close()


@pytest.mark.parametrize(
    ("statements", "reason"),
    [
        (
            [f"PRAGMA user_version = {FORM + 1}"],
            f"is of form {FORM + 1}, and this version reads {FORM}: start the newer",
        ),
        (["PRAGMA user_version = -1"], "is no file of cubes"),
        (["PRAGMA application_id = 7"], "is no file of cubes"),
        (["DROP TABLE pieces"], "is no file of cubes"),
        (["DROP TABLE windows"], "is no file of cubes"),
    ],
)
def test_a_file_of_another_form_is_refused_in_one_line(tmp_path: Path, statements: list[str], reason: str) -> None:
    path = tmp_path / "cubes.sqlite"
    Store.open(path).close()
    changed(path, *statements)
    before = path.read_bytes()
    with pytest.raises(CubeStoreError, match=reason) as refused:
        Store.open(path)
    assert str(path) in str(refused.value)
    assert "\n" not in str(refused.value)
    assert path.read_bytes() == before


def test_a_cube_is_deleted_without_reading_the_rows_of_others(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "cubes.sqlite")
    tables = [name for (name,) in store.execute("SELECT tbl_name FROM sqlite_schema WHERE sql LIKE '%cube INTEGER%'")]
    assert {"pieces", "gaps", "former_cells", "coverage"} <= set(tables)
    for table in tables:
        plan = store.execute(f"EXPLAIN QUERY PLAN DELETE FROM {table} WHERE cube = 7")
        assert [row[-1].split()[0] for row in plan] == ["SEARCH"], table
    store.close()


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    changed(tmp_path / "other.sqlite", "CREATE TABLE t (a)")
    with pytest.raises(CubeStoreError, match="is no file of cubes"):
        Store.open(tmp_path / "other.sqlite")
    (tmp_path / "text").write_bytes(b"no database" * 1_000)
    with pytest.raises(CubeStoreError, match="is damaged, file is not a database"):
        Store.open(tmp_path / "text")
    with pytest.raises(CubeStoreError, match="cannot be"):
        Store.open(tmp_path)
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(CubeStoreError, match="cannot be opened"):
        Store.open(tmp_path / "file" / "cubes.sqlite")


def test_a_damaged_file_is_refused_in_one_line(tmp_path: Path) -> None:
    keeper = opened(tmp_path)
    keeper.define(LATE, OWN)
    keeper.close()
    path = tmp_path / "cubes.sqlite"
    data = bytearray(path.read_bytes())
    data[100:] = b"\xff" * (len(data) - 100)
    path.write_bytes(data)
    with pytest.raises(CubeStoreError, match="is damaged, database disk image is malformed: copy a dump") as refused:
        opened(tmp_path)
    assert "\n" not in str(refused.value)


def damage_definition(path: Path, text: bytes) -> None:
    """Replace the definition of the first cube."""
    changed(path / "cubes.sqlite", f"UPDATE cubes SET definition = CAST(x'{text.hex()}' AS TEXT) WHERE number = 1")


@pytest.mark.parametrize("text", [b"{", b"[]", b'{"grain_s": 7}', b'{"grain_s": 60, \xff'])
def test_a_definition_that_cannot_be_read_parks_its_cube_alone_until_it_is_defined_again(
    tmp_path: Path, text: bytes
) -> None:
    source, other, windows_topic = topic(), CubeId("other", "x"), "asc.late"
    output = Output.parse({"output": [["carrier"]], "window_s": 60, "slide_s": 60}, OWN)
    keeper = opened(tmp_path)
    keeper.define(LATE, OWN, output, windows_topic)
    keeper.define(other, OWN)
    source.commit(keeper, batch(0, 100), {LATE: OWN, other: OWN})
    windows = keeper.snapshot.cube(LATE).windows
    assert windows is not None
    keeper.note(LATE, replace(windows, written=7), {})
    keeper.close()
    damage_definition(tmp_path, text)
    keeper = opened(tmp_path)
    reason = keeper.snapshot.status(LATE)["parked"]
    assert reason.startswith("its definition in the file of cubes is damaged, ")
    assert reason.endswith(": resume the query, or register it again")
    assert [gap["reason"] for gap in keeper.snapshot.status(LATE)["gaps"]] == [reason]
    with pytest.raises(QueryError, match="cube 'late': is parked, its definition in the file of cubes is damaged"):
        keeper.questions.query(LATE, {})
    found = source.commit(keeper, batch(100, 200), {LATE: OWN, other: OWN})
    assert (found.folded, dict(found.parked)) == ({other}, {LATE: reason})
    assert rows_of(keeper, other) == duckdb_rows(source.partitions[0][:200])
    keeper.close()
    keeper = opened(tmp_path)
    assert not keeper.define(LATE, OWN, output, windows_topic)
    state = keeper.snapshot.cube(LATE)
    assert (state.parked, state.windows and state.windows.written) == (None, 7)
    assert source.commit(keeper, batch(200, 300), {LATE: OWN, other: OWN}).folded == {LATE, other}
    expected = duckdb_rows([*source.partitions[0][:100], *source.partitions[0][200:300]])
    assert rows_of(keeper, LATE) == expected
    assert not keeper.questions.query(LATE, {"live": True})["whole"]
    keeper.close()
    keeper = opened(tmp_path)
    assert rows_of(keeper, LATE) == expected
    keeper.close()


def test_a_restored_copy_with_a_damaged_definition_is_not_whole(tmp_path: Path) -> None:
    keeper = opened(tmp_path)
    keeper.define(LATE, OWN)
    topic().commit(keeper, batch(0, 100), {LATE: OWN})
    keeper.close()
    damage_definition(tmp_path, b"{")
    keeper = opened(tmp_path, read_to={("T", 0): 200})
    keeper.define(LATE, OWN)
    assert [gap["reason"] for gap in keeper.questions.query(LATE, {"live": True})["gaps"]] == [RESTORED]
    keeper.close()


def test_a_damaged_definition_that_can_be_read_is_written_anew(tmp_path: Path) -> None:
    keeper = opened(tmp_path)
    keeper.define(LATE, OWN)
    topic().commit(keeper, batch(0, 100), {LATE: OWN})
    keeper.close()
    damage_definition(tmp_path, json.dumps(OWN.plain()).replace("AS `n`", "AS `m`").encode())
    keeper = opened(tmp_path)
    assert "m" in keeper.questions.query(LATE, {"live": True})["rows"][0]
    commit = keeper.snapshot.commit
    for _ in range(2):
        keeper.define(LATE, OWN)
        assert rows_of(keeper, LATE) == duckdb_rows(topic().partitions[0][:100])
    assert keeper.snapshot.commit == commit
    keeper.close()


def topic() -> Topic:
    records: list[Record] = [(f"carrier {each % 50}", "JFK", each, each * MINUTE_US // 50) for each in range(3_000)]
    return Topic(partitions={0: records})


def committed(keeper: Keeper, source: Topic) -> int:
    """Commit batches until the file takes no more, and return the first offset that it has not."""
    for first in range(0, 3_000, 50):
        full = None
        try:
            source.commit(keeper, batch(first, first + 50), {LATE: OWN})
        except CubeStoreError as error:
            full = str(error)
        if full is not None:
            assert "free space on its disk, and the batch is run again" in full
            return first
    return 3_000


def test_a_full_file_fails_the_commit_which_writes_nothing_and_works_when_there_is_room(tmp_path: Path) -> None:
    keeper = opened(tmp_path)
    keeper.define(LATE, OWN)
    source = topic()
    keeper._store.execute("PRAGMA max_page_count = 18")
    first = committed(keeper, source)
    assert 0 < first < 3_000
    before = keeper.snapshot.commit
    with pytest.raises(CubeStoreError, match="database or disk is full"):
        source.commit(keeper, batch(first, first + 50), {LATE: OWN})
    assert rows_of(keeper, LATE) == duckdb_rows(source.partitions[0][:first])
    assert keeper.snapshot.commit == before
    keeper._store.execute("PRAGMA max_page_count = 100000")
    assert source.commit(keeper, batch(first, first + 50), {LATE: OWN}).folded == {LATE}
    assert rows_of(keeper, LATE) == duckdb_rows(source.partitions[0][: first + 50])
    keeper.close()


@pytest.mark.nightly
def test_a_full_disk_fails_the_commit_which_writes_nothing_and_works_when_there_is_room(tmp_path: Path) -> None:
    disk = SmallDisk(tmp_path / "disk", 4)
    try:
        if not disk.mount():
            pytest.skip("only root can mount a file system")
        keeper = opened(disk.folder)
        keeper.define(LATE, OWN)
        source = topic()
        source.commit(keeper, batch(0, 50), {LATE: OWN})
        disk.fill()
        with pytest.raises(CubeStoreError, match="free space on its disk"):
            source.commit(keeper, batch(50, 100), {LATE: OWN})
        keeper.close()
        keeper = opened(disk.folder)
        assert rows_of(keeper, LATE) == duckdb_rows(source.partitions[0][:50])
        with pytest.raises(CubeStoreError, match="free space on its disk"):
            source.commit(keeper, batch(50, 100), {LATE: OWN})
        disk.free()
        first = committed(keeper, source)
        assert rows_of(keeper, LATE) == duckdb_rows(source.partitions[0][:first])
        keeper.close()
    finally:
        disk.unmount()


def test_a_transaction_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "cubes.sqlite")

    def half() -> None:
        with store.transaction():
            store.execute("INSERT INTO marks (time, mark_us) VALUES ('t', 1)")
            raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        half()
    assert store.execute("SELECT * FROM marks") == []

    def wrong() -> None:
        with store.transaction():
            store.execute("INSERT INTO marks (time, mark_us) VALUES ('t', 1)")
            store.execute("INSERT INTO missing VALUES (1)")

    with pytest.raises(CubeStoreError, match="no such table"):
        wrong()
    assert store.execute("SELECT * FROM marks") == []
    store.close()
    with pytest.raises(CubeStoreError, match="closed"):
        store.execute("SELECT 1")


def test_several_pieces_are_read_without_missing_ones_and_not_at_all_if_one_is_damaged(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "cubes.sqlite")
    data = {number: bytes([number]) * 100_000 for number in (1, 2, 3)}
    with store.transaction():
        columns = "number, cube, pane, cells, crc, data"
        rows = ((number, 1, number, 1, 0, own) for number, own in data.items())
        store.execute_all(f"INSERT INTO pieces ({columns}) VALUES (?, ?, ?, ?, ?, ?)", rows)
    assert store.pieces([3, 7, 1]) == {1: data[1], 3: data[3]}
    assert store.pieces([]) == {}
    store.close()
    path = tmp_path / "cubes.sqlite"
    content = path.read_bytes()
    # A page of a long value begins with the number of the next page.
    page = next(own for own in range(0, len(content), 8_192) if content[own + 4 : own + 8_192] == data[2][:8_188])
    path.write_bytes(content[:page] + b"\xff\xff\xff\xf0" + content[page + 4 :])
    store = Store.open(path)
    assert store.pieces([1, 3]) == {1: data[1], 3: data[3]}
    assert store.pieces([1, 2, 3]) == {}
    store.close()
