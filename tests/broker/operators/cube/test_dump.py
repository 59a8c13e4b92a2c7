"""Dumps: a copy answers as a commit did, and leaves nothing behind, whatever happens while it is made or read."""

from __future__ import annotations

import gc
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from broker.cancellation import Cancellation
from broker.errors import CancelledError, CubeStoreError, TooManyDumpsError
from broker.operators.cube.dump import Dump
from broker.operators.cube.keeper import Keeper
from tests.broker.operators.cube.kept_stream import (
    MINUTE_US,
    Topic,
    batch,
    cube_id,
    definition,
    duckdb_rows,
    opened,
    rows_of,
)
from tools.faults.small_disk import SmallDisk

OWN = definition(measures=("count(*) AS n", "sum(delay) AS d", "stddev(delay) AS sd"))
LATE = cube_id("late", OWN)
FIRST = 4_000


class Look(Cancellation):
    """Look of the copying: what is done between its parts."""

    __slots__ = ("looks", "work")

    def __init__(self, work: Callable[[int], None]) -> None:
        super().__init__()
        self.work = work
        self.looks = 0

    def check(self) -> None:
        """Work, in another thread as a commit does, and be done before the copying goes on."""
        self.looks += 1
        thread = threading.Thread(target=self.work, args=(self.looks,))
        thread.start()
        thread.join()
        super().check()


def source() -> Topic:
    records = [(f"{each:06}".ljust(1_500, "x"), "JFK", each, each * MINUTE_US // 500) for each in range(FIRST + 500)]
    return Topic(partitions={0: list(records)})


@pytest.fixture
def keeper(tmp_path: Path) -> Iterator[Keeper]:
    """Has some 6 MB of cells, in several parts of a copy."""
    own = opened(tmp_path / "own")
    own.define(LATE, OWN)
    source().commit(own, batch(0, FIRST), {LATE: OWN})
    yield own
    own.close()


def saved(dump: Dump, folder: Path) -> Path:
    folder.mkdir()
    path = folder / "cubes.sqlite"
    with path.open("wb") as file:
        while part := dump.read(1 << 20):
            file.write(part)
    assert path.stat().st_size == dump.size_bytes
    dump.close()
    return path


def names(keeper: Keeper) -> list[str]:
    return sorted(each.name for each in keeper._store.path.parent.iterdir())


OWN_NAMES = ["cubes.sqlite", "cubes.sqlite-wal"]


def test_a_copy_is_a_file_that_a_keeper_starts_with(keeper: Keeper, tmp_path: Path) -> None:
    dump = keeper.dump()
    assert names(keeper) == OWN_NAMES
    # What is committed afterwards is not in it.
    source().commit(keeper, batch(FIRST, FIRST + 10), {LATE: OWN})
    saved(dump, tmp_path / "copies")
    copy = opened(tmp_path / "copies")
    assert rows_of(copy, LATE) == duckdb_rows(source().partitions[0][:FIRST])
    assert source().commit(copy, batch(0, FIRST), {LATE: OWN}).covered == {LATE}
    source().commit(copy, batch(FIRST, FIRST + 10), {LATE: OWN})
    body = {"by": ["carrier"], "live": True, "limit": 5_000}
    assert copy.questions.query(LATE, body) == keeper.questions.query(LATE, body)
    # What a stream has read since the copy is a gap of the keeper that starts with it.
    source().commit(copy, batch(FIRST + 20, FIRST + 30), {LATE: OWN})
    assert not copy.questions.query(LATE, body)["whole"]
    copy.close()


def test_commits_go_on_between_the_parts_of_a_copy_which_has_them(keeper: Keeper, tmp_path: Path) -> None:
    committed: list[int] = []

    def commit(look: int) -> None:
        first = FIRST + 50 * (look - 1)
        source().commit(keeper, batch(first, first + 50), {LATE: OWN})
        committed.append(look)

    look = Look(commit)
    dump = keeper.dump(look)
    assert committed == [*range(1, look.looks + 1)]
    assert len(committed) > 2
    saved(dump, tmp_path / "copies")
    copy = opened(tmp_path / "copies")
    # The last look comes after the last part.
    copied = copy.snapshot.cube(LATE).coverage.end(("T", 0))
    assert copied in (FIRST + 50 * look.looks, FIRST + 50 * (look.looks - 1))
    assert rows_of(copy, LATE) == duckdb_rows(source().partitions[0][:copied])
    assert copy._store.execute("PRAGMA integrity_check") == [("ok",)]
    copy.close()


def test_one_is_made_or_read_at_a_time(keeper: Keeper) -> None:
    refusals: list[Exception] = []

    def second(_look: int) -> None:
        try:
            keeper.dump()
        except TooManyDumpsError as error:
            refusals.append(error)

    look = Look(second)
    dump = keeper.dump(look)
    assert len(refusals) == look.looks > 0
    with pytest.raises(TooManyDumpsError, match="dumps of cubes 1: is made or read now: ask again when it is over"):
        keeper.dump()
    dump.close()
    dump.close()
    again = keeper.dump()
    # Of one that is forgotten nothing is left either.
    del again
    gc.collect()
    keeper.dump().close()
    assert names(keeper) == OWN_NAMES


def test_one_that_nobody_wants_any_more_leaves_nothing(keeper: Keeper) -> None:
    cancellation = Cancellation()
    look = Look(lambda looks: cancellation.cancel("the client is gone") if looks == 2 else None)
    look._within = cancellation
    with pytest.raises(CancelledError, match="the client is gone"):
        keeper.dump(look)
    assert look.looks == 2
    assert names(keeper) == OWN_NAMES
    keeper.dump().close()


def test_a_file_that_is_closed_meanwhile_ends_it_and_is_free(keeper: Keeper, tmp_path: Path) -> None:
    with pytest.raises(CubeStoreError, match=r"copy of cubes .*: cannot be written, the file was closed"):
        keeper.dump(Look(lambda _looks: keeper.close()))
    assert names(keeper) == ["cubes.sqlite"]
    again = opened(tmp_path / "own")
    assert rows_of(again, LATE) == duckdb_rows(source().partitions[0][:FIRST])
    again.close()


def test_what_a_killed_daemon_left_is_deleted_when_the_file_is_opened(keeper: Keeper, tmp_path: Path) -> None:
    keeper.close()
    (tmp_path / "own" / "cubes.sqlite.dump").write_bytes(b"a part")
    again = opened(tmp_path / "own")
    assert names(again) == OWN_NAMES
    again.close()


def test_a_place_that_cannot_be_written_is_told_in_one_line(keeper: Keeper) -> None:
    (keeper._store.path.parent / "cubes.sqlite.dump").mkdir()
    with pytest.raises(CubeStoreError, match=r"copy of cubes .*: cannot be written, unable to open") as refused:
        keeper.dump()
    assert "\n" not in str(refused.value)
    assert source().commit(keeper, batch(FIRST, FIRST + 1), {LATE: OWN}).folded == {LATE}


@pytest.mark.nightly
def test_a_full_disk_is_told_in_one_line_and_leaves_nothing(tmp_path: Path) -> None:
    disk = SmallDisk(tmp_path / "disk", 20)
    try:
        if not disk.mount():
            pytest.skip("only root can mount a file system")
        keeper = opened(disk.folder)
        keeper.define(LATE, OWN)
        source().commit(keeper, batch(0, FIRST), {LATE: OWN})
        before = names(keeper)
        (disk.folder / "ballast").write_bytes(bytes(shutil.disk_usage(disk.folder).free - (3 << 20)))
        with pytest.raises(CubeStoreError, match=r"cannot be written, .*: free space on its disk") as full:
            keeper.dump()
        assert "\n" not in str(full.value)
        assert names(keeper) == sorted([*before, "ballast"])
        (disk.folder / "ballast").unlink()
        assert source().commit(keeper, batch(FIRST, FIRST + 1), {LATE: OWN}).folded == {LATE}
        keeper.close()
    finally:
        disk.unmount()
