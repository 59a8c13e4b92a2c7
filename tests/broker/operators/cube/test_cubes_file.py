"""A leader has all that the former one committed, in a file that the former one cannot write to."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from broker.errors import CubeStoreError
from broker.operators.cube import cubes_file
from broker.operators.cube.cubes_file import copy_former, cubes_path, has_cubes
from broker.operators.cube.keeper import Keeper
from broker.operators.cube.merging import CubeLimits
from broker.plans.stream_folder import CUBES, take_folders
from tests.broker.operators.cube.kept_stream import (
    MINUTE_US,
    SCHEMA,
    Topic,
    batch,
    cube_id,
    definition,
    duckdb_rows,
    rows_of,
)
from tools.faults.small_disk import SmallDisk

STREAM = "flights"
OWN = definition()
LATE = cube_id("late", OWN)
BATCH = 50
ROWS = 40
LARGE = "x" * 3_000


class Sums:
    """A database as a leader has it open: rows of a page or so each, and the sum of their numbers in one of them."""

    def __init__(self, path: Path, log_pages: int = 0) -> None:
        """Create it; after ``log_pages`` the log is copied into it by itself, after 0 never."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self._connection = sqlite3.connect(path, isolation_level=None)
        for name, value in (("locking_mode", "EXCLUSIVE"), ("journal_mode", "WAL"), ("synchronous", "FULL")):
            self._connection.execute(f"PRAGMA {name} = {value}")
        self._connection.execute(f"PRAGMA wal_autocheckpoint = {log_pages}")
        self._connection.execute("CREATE TABLE sums (row INTEGER PRIMARY KEY, n INTEGER, data TEXT)")
        self._connection.executemany("INSERT INTO sums VALUES (?, 0, ?)", ((row, LARGE) for row in range(ROWS + 1)))
        self.commits = 0

    def commit(self) -> None:
        """Add one to some rows, and to the sum."""
        self.commits += 1
        self._connection.execute("BEGIN IMMEDIATE")
        for row in range(7):
            self._connection.execute("UPDATE sums SET n = n + 1 WHERE row = ?", (1 + (self.commits * 5 + row) % ROWS,))
        self._connection.execute("UPDATE sums SET n = n + 7 WHERE row = 0")
        self._connection.execute("COMMIT")

    def checkpoint(self) -> None:
        """Copy the log into the database; the next commit starts the log anew."""
        self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)")

    def begin(self) -> None:
        """Write a part of a transaction into the log."""
        self._connection.execute("PRAGMA cache_size = 1")
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.execute("UPDATE sums SET n = n + 100")

    def close(self) -> None:
        self._connection.close()


def commits_in(path: Path) -> int:
    """The commits that a copy has, each of them whole."""
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        ((total,),) = connection.execute("SELECT n FROM sums WHERE row = 0").fetchall()
        ((added,),) = connection.execute("SELECT sum(n) FROM sums WHERE row > 0").fetchall()
    assert total == added
    assert total % 7 == 0
    return int(total) // 7


def named(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


@pytest.fixture
def sums(tmp_path: Path) -> Iterator[Sums]:
    """The file of a former leader, some of it in the log alone."""
    own = Sums(tmp_path / "cubes.sqlite")
    for _ in range(9):
        own.commit()
    own.checkpoint()
    own.commit()
    own.commit()
    yield own
    own.close()


def interrupted(
    monkeypatch: pytest.MonkeyPatch, after: str, work: Callable[[], None], *, times: int = 1
) -> Callable[[], int]:
    """Have ``work`` done after the log or the database is copied, some times. Return how often it was done."""
    honest, done = cubes_file._copy_synced, [0]

    def copy(source: Path, target: Path) -> None:
        honest(source, target)
        if source.name.endswith("-wal") == (after == "log") and done[0] < times:
            done[0] += 1
            work()

    monkeypatch.setattr(cubes_file, "_copy_synced", copy)
    return lambda: done[0]


@pytest.mark.parametrize("after", ["log", "database"])
@pytest.mark.parametrize(
    "steps",
    [
        ["commit"],
        ["checkpoint"],
        ["commit", "checkpoint"],
        ["checkpoint", "commit"],
        ["checkpoint", "commit", "checkpoint"],
        ["begin"],
    ],
    ids="-".join,
)
def test_a_copy_has_each_commit_whole_whatever_the_former_leader_does_meanwhile(
    sums: Sums, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: list[str], after: str
) -> None:
    def work() -> None:
        for step in steps:
            getattr(sums, step)()

    count = interrupted(monkeypatch, after, work)
    copy_former(tmp_path / "cubes~1.sqlite")
    assert count() == 1
    assert commits_in(tmp_path / "cubes~1.sqlite") == sums.commits


def test_one_that_never_stops_to_write_is_named_and_its_file_stays(
    sums: Sums, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "cubes~1.sqlite"
    interrupted(monkeypatch, "database", sums.commit, times=5)
    with pytest.raises(CubeStoreError, match=r"cubes\.sqlite': is written by the daemon that served before: stop"):
        copy_former(path)
    assert named(tmp_path) == ["cubes.sqlite", "cubes.sqlite-wal"]
    assert has_cubes(path)
    copy_former(path)
    assert commits_in(path) == sums.commits


def test_what_a_copy_that_broke_off_has_left_is_replaced_and_former_files_are_deleted(
    sums: Sums, tmp_path: Path
) -> None:
    # Two leaders did not come to the end of it, the second one after its log had its name.
    for name in ("cubes~1.sqlite.new", "cubes~1.sqlite.new-wal", "cubes~2.sqlite-wal", "cubes~2.sqlite.new"):
        (tmp_path / name).write_bytes((tmp_path / "cubes.sqlite-wal").read_bytes()[:9_000])
    (tmp_path / "cubes.sqlite.dump").touch()
    others = ("cubes.sqlite.bak", "my-cubes.sqlite", "cubes~x.sqlite")
    for name in others:
        (tmp_path / name).touch()
    copy_former(tmp_path / "cubes~2.sqlite")
    sums.commit()
    assert commits_in(tmp_path / "cubes~2.sqlite") == sums.commits - 1
    assert set(named(tmp_path)) == {*others, "cubes~2.sqlite"}
    # It is the leader's own from now on, and the one that the next leader copies.
    copy_former(tmp_path / "cubes~2.sqlite")
    copy_former(tmp_path / "cubes~3.sqlite")
    assert commits_in(tmp_path / "cubes~3.sqlite") == sums.commits - 1


def test_a_file_without_a_log_is_copied_and_without_a_former_file_there_is_nothing(sums: Sums, tmp_path: Path) -> None:
    sums.close()
    assert named(tmp_path) == ["cubes.sqlite"]
    copy_former(tmp_path / "cubes~1.sqlite")
    assert commits_in(tmp_path / "cubes~1.sqlite") == sums.commits
    for path in (tmp_path / "none" / "cubes~1.sqlite", tmp_path / "cubes.sqlite"):
        copy_former(path)
        assert not has_cubes(path)
        assert not path.exists()


_ALONE = """
import sys
from pathlib import Path
from tests.broker.operators.cube.test_cubes_file import Sums
sums = Sums(Path(sys.argv[1]), log_pages=25)
while True:
    sums.commit()
    print(sums.commits, flush=True)
"""


def test_one_that_is_stopped_at_any_instruction_has_all_that_it_acknowledged_in_the_copy(tmp_path: Path) -> None:
    chance, acknowledged = random.Random(7), 0
    command = [sys.executable, "-c", _ALONE, str(tmp_path / "cubes.sqlite")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        try:
            assert writer.stdout is not None
            for number in range(20):
                for _ in range(chance.randrange(1, 12)):
                    acknowledged = int(writer.stdout.readline())
                stop(writer)
                copy = tmp_path / f"copy-{number}"
                cubes_file._copy(tmp_path / "cubes.sqlite", copy)
                assert commits_in(copy) >= acknowledged
                writer.send_signal(signal.SIGCONT)
            # While it goes on, a copy is refused, or whole.
            for number in range(20, 30):
                with suppress(CubeStoreError):
                    cubes_file._copy(tmp_path / "cubes.sqlite", tmp_path / f"copy-{number}")
                    assert commits_in(tmp_path / f"copy-{number}") >= acknowledged
        finally:
            writer.kill()


def stop(process: subprocess.Popen[str]) -> None:
    """Stop a process, and wait until it is."""
    process.send_signal(signal.SIGSTOP)
    _, status = os.waitpid(process.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status)


def topic() -> Topic:
    return Topic(partitions={0: [("B6", "JFK", each, each * MINUTE_US // 7) for each in range(10 * BATCH)]})


def lead(checkpoint_dir: str) -> None:
    """Commit a batch for each line that is read, and say so."""
    keeper = opened(Path(checkpoint_dir))
    keeper.define(LATE, OWN)
    print("open", flush=True)
    for number, _ in enumerate(sys.stdin):
        commit(keeper, number)
        print(f"committed {number}", flush=True)
    keeper.close()


def opened(checkpoint_dir: Path) -> Keeper:
    return Keeper.open(cubes_path(checkpoint_dir, STREAM), SCHEMA, CubeLimits(), lateness_s=0)


def commit(keeper: Keeper, number: int) -> None:
    done = topic().commit(keeper, batch(number * BATCH, (number + 1) * BATCH), {LATE: OWN})
    assert done.folded == {LATE}


@pytest.fixture
def leader(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that has the file of cubes open, with a cube."""
    call = f"lead({str(tmp_path)!r})"
    command = [sys.executable, "-c", f"from tests.broker.operators.cube.test_cubes_file import lead; {call}"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert said(process) == "open"
        yield process
        process.kill()


def said(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def has_committed(process: subprocess.Popen[str], number: int) -> bool:
    """Have a process commit its next batch."""
    assert process.stdin is not None
    print(file=process.stdin, flush=True)
    return said(process) == f"committed {number}"


def test_a_suspended_leader_is_replaced_and_changes_nothing_when_it_goes_on(
    leader: subprocess.Popen[str], tmp_path: Path
) -> None:
    assert has_committed(leader, 0)
    assert has_committed(leader, 1)
    stop(leader)
    # It keeps its file until its stream is taken over, as one does that is not suspended.
    with pytest.raises(CubeStoreError, match="is open in another process"):
        opened(tmp_path)
    take_folders(tmp_path, [STREAM])
    own = tmp_path / CUBES / f"{STREAM}~1"
    assert cubes_path(tmp_path, STREAM) == own / "cubes~1.sqlite"
    keeper = opened(tmp_path)
    records = topic().partitions[0]
    assert rows_of(keeper, LATE) == duckdb_rows(records[: 2 * BATCH])
    commit(keeper, 2)
    before = rows_of(keeper, LATE)
    assert before == duckdb_rows(records[: 3 * BATCH])
    assert named(own) == ["cubes~1.sqlite", "cubes~1.sqlite-wal"]
    # It has its file as before, which nobody reads, and removes its log by the former path.
    leader.send_signal(signal.SIGCONT)
    assert has_committed(leader, 2)
    assert has_committed(leader, 3)
    assert leader.stdin is not None
    leader.stdin.close()
    assert leader.wait(60) == 0
    assert rows_of(keeper, LATE) == before
    assert named(own) == ["cubes~1.sqlite", "cubes~1.sqlite-wal"]
    commit(keeper, 3)
    keeper.close()
    keeper = opened(tmp_path)
    assert rows_of(keeper, LATE) == duckdb_rows(records[: 4 * BATCH])
    assert keeper.questions.query(LATE, {"live": True})["whole"]
    keeper.close()


def test_leaders_after_each_other_have_all_that_was_committed(tmp_path: Path) -> None:
    own = Path()
    for number in range(4):
        keeper = opened(tmp_path)
        keeper.define(LATE, OWN)
        own = cubes_path(tmp_path, STREAM)
        assert rows_of(keeper, LATE) == duckdb_rows(topic().partitions[0][: number * BATCH])
        commit(keeper, number)
        keeper.close()
        # The second one of them came to nothing before it opened the file.
        for _ in range(1 + number % 2):
            take_folders(tmp_path, [STREAM])
        assert has_cubes(cubes_path(tmp_path, STREAM))
    with pytest.raises(CubeStoreError, match="another daemon has taken them over: this one writes no more"):
        copy_former(own)


def test_a_stream_without_cubes_has_none_after_a_takeover_either(tmp_path: Path) -> None:
    former = cubes_path(tmp_path, STREAM)
    for _ in range(3):
        take_folders(tmp_path, [STREAM])
        assert not has_cubes(cubes_path(tmp_path, STREAM))
    # One that was replaced before it made the file makes none.
    with pytest.raises(CubeStoreError, match="another daemon has taken them over"):
        Keeper.open(former, SCHEMA, CubeLimits(), lateness_s=0)
    opened(tmp_path).close()
    assert named(tmp_path / CUBES / f"{STREAM}~3") == ["cubes~3.sqlite"]


def test_a_damaged_file_is_copied_as_it_is(tmp_path: Path) -> None:
    former = cubes_path(tmp_path, STREAM)
    former.parent.mkdir(parents=True)
    former.write_bytes(b"no database" * 1_000)
    take_folders(tmp_path, [STREAM])
    with pytest.raises(CubeStoreError, match="is damaged, file is not a database: copy a dump there"):
        opened(tmp_path)
    assert cubes_path(tmp_path, STREAM).read_bytes() == b"no database" * 1_000


@pytest.mark.nightly
def test_without_space_on_the_disk_the_former_file_stays(tmp_path: Path) -> None:
    disk = SmallDisk(tmp_path / "disk", 4)
    try:
        if not disk.mount():
            pytest.skip("only root can mount a file system")
        with closing(Sums(disk.folder / "cubes.sqlite")) as sums:
            sums.commit()
            disk.fill()
            path = disk.folder / "cubes~1.sqlite"
            with pytest.raises(CubeStoreError, match=r"cubes~1\.sqlite': cannot be copied, .*No space left on device"):
                copy_former(path)
            disk.free()
            assert named(disk.folder) == ["cubes.sqlite", "cubes.sqlite-wal"]
            copy_former(path)
            assert commits_in(path) == 1
    finally:
        disk.unmount()
