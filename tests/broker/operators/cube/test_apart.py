"""Late records that stay apart: counted once, in answers that ask for them alone, and in no window."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from asc.errors import CubeError
from asc.operators.cube.keep import bands_of
from broker.operators.cube.keeper import Keeper
from broker.operators.cube.merging import CubeLimits
from tests.broker.operators.cube import window_rig
from tests.broker.operators.cube.kept_stream import (
    Record,
    Topic,
    batch,
    cube_id,
    definition,
    duckdb_rows,
    opened,
    rows_of,
)
from tests.broker.operators.cube.test_keeper import at, damage, minute, topic_of
from tests.broker.operators.cube.window_rig import Rig, by_duckdb, newest, output

OWN = definition()
LATE = cube_id("late", OWN)
RECORDS = [*(at(each) for each in range(6)), at(1, "UA", 7), at(1, "B6", 9), at(6), at(2.5, "UA", 3), at(5.9)]
"""By batches of six, two, and one after another: the two are late, and so is the last but one."""
BATCHES = ((0, 6), (6, 8), (8, 9), (9, 10), (10, 11))
JOINED = [own for place, own in enumerate(RECORDS) if place not in (6, 7, 9, 10)]


@pytest.fixture
def keeper(tmp_path: Path) -> Iterator[Keeper]:
    own = opened(tmp_path)
    own.define(LATE, OWN)
    yield own
    own.close()


def commit_all(keeper: Keeper, topic: Topic, batches: Sequence[tuple[int, int]] = BATCHES) -> None:
    for first, end in batches:
        assert topic.commit(keeper, batch(first, end), {LATE: OWN}, [LATE]).folded == {LATE}


def test_late_records_are_in_answers_that_ask_for_them_alone(keeper: Keeper) -> None:
    commit_all(keeper, topic_of(*RECORDS))
    assert rows_of(keeper, LATE) == duckdb_rows(JOINED)
    assert rows_of(keeper, LATE, late=False) == duckdb_rows(JOINED)
    assert rows_of(keeper, LATE, late=True) == duckdb_rows(RECORDS)
    # Of a pane, by a predicate, and without open panes.
    body = {"from": minute(1), "to": minute(2), "live": False}
    assert rows_of(keeper, LATE, **body) == [("B6", "JFK", 1, 1)]
    assert rows_of(keeper, LATE, **body, late=True) == [("B6", "JFK", 2, 10), ("UA", "JFK", 1, 7)]
    assert rows_of(keeper, LATE, where="carrier = 'UA'") == []
    assert rows_of(keeper, LATE, where="carrier = 'UA'", late=True) == [("UA", "JFK", 2, 10)]
    found = keeper.questions.query(LATE, {"by": ["carrier"], "late": True, "from": minute(1), "to": minute(3)})
    assert found["whole"]
    assert found["roll_up"] == [{"by": [], "from": minute(1), "to": minute(3), "late": True}]
    assert [own["cells"] for own in found["answered_by"]] == [5]


def test_the_accounting_has_them_apart_from_those_that_are_counted(keeper: Keeper) -> None:
    topic = topic_of(*RECORDS)
    commit_all(keeper, topic)
    status = keeper.snapshot.status(LATE)
    assert status["accounting"] == (
        "11 accepted = 7 counted (0 late) + 4 apart + 0 expired + 0 time + 0 future_timestamp + 0 too_large"
    )
    assert [status[name] for name in ("accepted", "counted", "late", "apart", "expired")] == [11, 7, 0, 4, 0]
    # One piece a pane on each side: the panes 1, 2 and 5 have late ones.
    assert (status["panes"], status["open_panes"]) == (7 + 3, 1)
    assert status["cells"] == 7 + 4
    rows = keeper._store.execute("SELECT is_apart, count(*), sum(length(data)) FROM pieces GROUP BY is_apart")
    assert [(is_apart, count) for is_apart, count, _ in rows] == [(0, 7), (1, 3)]
    assert status["bytes"] == sum(size for _, _, size in rows)


def test_a_start_and_batches_that_come_again_count_none_twice(tmp_path: Path) -> None:
    topic = topic_of(*RECORDS)
    keeper = opened(tmp_path)
    keeper.define(LATE, OWN)
    commit_all(keeper, topic)
    for _ in range(2):
        status = keeper.snapshot.status(LATE)
        for first, end in BATCHES:
            # Whatever is said of late records now.
            for apart in ([], [LATE]):
                assert topic.commit(keeper, batch(first, end), {LATE: OWN}, apart).covered == {LATE}
        assert keeper.snapshot.status(LATE) == status
        assert rows_of(keeper, LATE, late=True) == duckdb_rows(RECORDS)
        assert rows_of(keeper, LATE) == duckdb_rows(JOINED)
        keeper.close()
        keeper = opened(tmp_path)
    keeper.close()


def test_what_was_apart_or_joined_stays_so_when_the_cube_changes(keeper: Keeper) -> None:
    topic = topic_of(*RECORDS)
    commit_all(keeper, topic, BATCHES[:2])
    for first, end in BATCHES[2:4]:
        assert topic.commit(keeper, batch(first, end), {LATE: OWN}).folded == {LATE}
    commit_all(keeper, topic, BATCHES[4:])
    status = keeper.snapshot.status(LATE)
    assert [status[name] for name in ("counted", "late", "apart")] == [8, 1, 3]
    apart = [RECORDS[each] for each in (6, 7, 10)]
    assert rows_of(keeper, LATE) == duckdb_rows([own for own in RECORDS if own not in apart])
    assert rows_of(keeper, LATE, late=True) == duckdb_rows(RECORDS)


@pytest.mark.parametrize("cuts", [(3,), (6, 7), (2, 6, 9), tuple(range(1, 11))])
def test_all_records_are_the_same_for_any_cut(keeper: Keeper, cuts: tuple[int, ...]) -> None:
    topic = topic_of(*RECORDS)
    commit_all(keeper, topic, list(zip((0, *cuts), (*cuts, 11), strict=True)))
    assert rows_of(keeper, LATE, late=True) == duckdb_rows(RECORDS)
    assert keeper.snapshot.status(LATE)["accepted"] == 11


def test_no_window_has_them(tmp_path: Path) -> None:
    rig = Rig.of(tmp_path, output(4, 1))
    rig.is_apart = True
    rig.commit(*(at(each) for each in range(5)))
    assert rig.commit(at(9)) != []
    late = [at(1, "UA", 50), at(2, "B6", -50)]
    first, sent = len(rig.records), len(rig.sent.rows)
    rig.topic.partitions[0] += late
    own = {window_rig.LATE: window_rig.CUBE}
    rig.topic.commit(rig.keeper, batch(first, first + 2), own, [window_rig.LATE])
    assert rig.keeper.snapshot.status(window_rig.LATE)["apart"] == 2
    # Nothing is kept for revisions, and none is written.
    windows = rig.keeper.snapshot.cube(window_rig.LATE).windows
    assert windows is not None
    assert (windows.changes, windows.is_due) == ((), False)
    assert rig.writer.write([window_rig.LATE]) == {}
    assert len(rig.sent.rows) == sent

    def joined() -> list[Record]:
        return [own for own in rig.records if own not in late]

    assert newest(rig.sent.rows) == by_duckdb(joined(), rig.own, rig.watermark_us)
    # A record that joins its pane later brings none of them into it.
    rig.is_apart = False
    assert [row.kind for row in rig.commit(at(2, "UA", 4))] != []
    rig.start_again()
    rig.commit(at(12))
    assert newest(rig.sent.rows) == by_duckdb(joined(), rig.own, rig.watermark_us)
    assert rig.keeper.questions.query(window_rig.LATE, {"late": True, "live": True})["rows"][0]["n"] == len(rig.records)
    rig.keeper.close()


def test_the_bounds_of_a_cube_are_those_of_both(tmp_path: Path) -> None:
    def parking_of(limits: CubeLimits, *records: Record) -> dict[str, int | str]:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        keeper = opened(folder, limits=limits)
        keeper.define(LATE, OWN)
        topic = topic_of(at(0), at(9), *records)
        topic.commit(keeper, batch(0, 2), {LATE: OWN}, [LATE])
        found: dict[str, int | str] = {}
        for place in range(len(records)):
            parked = topic.commit(keeper, batch(2 + place, 3 + place), {LATE: OWN}, [LATE]).parked
            if parked:
                found = {"place": place, "told": parked[LATE]}
                break
        assert keeper.snapshot.status(LATE)["bytes"] <= limits.size_bytes
        keeper.close()
        return found

    late = [at(0, carrier) for carrier in "ABCDEFGH"]
    remedy = "raise it or {}, then 'asc query resume late'"
    reached = f"limits.cube_cells is 3: {remedy.format('leave dimensions out')}"
    cells = f"the pane of 2013-07-10T00:00:00Z has 4 cells, and {reached}"
    assert parking_of(CubeLimits(pane_cells=3), *late) == {"place": 2, "told": cells}
    panes = f"it has 5 panes, and limits.cube_panes is 4: {remedy.format('choose a longer grain')}"
    assert parking_of(CubeLimits(panes=4), *(at(each) for each in (0, 1, 2))) == {"place": 2, "told": panes}
    found = parking_of(CubeLimits(size_bytes=4_000), *(at(each) for each in range(9)))
    assert f"limits.cube_bytes is 4,000: {remedy.format('leave dimensions out')}" in str(found["told"])


def test_a_damaged_piece_of_them_parks_the_cube(tmp_path: Path) -> None:
    topic = topic_of(*RECORDS)
    keeper = opened(tmp_path)
    keeper.define(LATE, OWN)
    commit_all(keeper, topic)
    keeper.close()
    damage(tmp_path / "cubes.sqlite", 1, is_apart=True)
    keeper = opened(tmp_path)
    # Answers that have none of it are not told.
    assert rows_of(keeper, LATE) == duckdb_rows(JOINED)
    found = keeper.questions.query(LATE, {"late": True, "live": True})
    assert found["rows"][0]["n"] == len(RECORDS) - 2
    reason = f"a piece of the pane of {minute(1)} is damaged"
    assert (minute(1), minute(2), reason) in [tuple(own.values()) for own in found["gaps"]]
    assert keeper.snapshot.status(LATE)["parked"] == reason
    keeper.resume(LATE)
    assert keeper.snapshot.status(LATE)["panes"] == 7 + 2
    keeper.close()
    keeper = opened(tmp_path)
    assert keeper.questions.query(LATE, {"late": True, "live": True})["rows"][0]["n"] == len(RECORDS) - 2
    keeper.close()


def test_a_longer_lateness_opens_their_panes_again(tmp_path: Path) -> None:
    keeper = opened(tmp_path)
    keeper.define(LATE, OWN)
    reopened = at(5.5, "UA", 4)
    topic = topic_of(*RECORDS, reopened, at(20))
    commit_all(keeper, topic)
    keeper.close()
    keeper = opened(tmp_path, lateness_s=300)
    # The panes from the second minute on are open again: this record is not late any more.
    topic.commit(keeper, batch(11, 12), {LATE: OWN}, [LATE])
    assert rows_of(keeper, LATE) == duckdb_rows([*JOINED, reopened])
    assert rows_of(keeper, LATE, late=True) == duckdb_rows([*RECORDS, reopened])
    topic.commit(keeper, batch(12, 13), {LATE: OWN}, [LATE])
    assert rows_of(keeper, LATE, late=True) == duckdb_rows(topic.partitions[0])
    keeper.close()


@pytest.mark.parametrize("body", [{"late": "yes"}, {"late": 1}])
def test_what_is_no_flag_is_refused(keeper: Keeper, body: dict[str, Any]) -> None:
    with pytest.raises(CubeError, match=r"late '?(yes|1)'?: give true, for late records that stay apart too, or false"):
        keeper.questions.query(LATE, body)


def test_late_records_stay_apart_when_the_panes_of_the_cube_age(tmp_path: Path) -> None:
    records = [
        *(at(each) for each in range(60)),
        at(1, "UA", 7),
        at(2, "UA", 9),
        *(at(each) for each in range(60, 200)),
    ]
    keeper, topic = opened(tmp_path), topic_of(*records)
    keeper.define(LATE, OWN)
    for first, end in ((0, 60), (60, 62)):
        topic.commit(keeper, batch(first, end), {LATE: OWN}, [LATE])
    # Later records of closed panes join them, so that several bands are allowed.
    topic.commit(keeper, batch(62, len(records)), {LATE: OWN})
    keeper.bands.define(LATE, bands_of(["1min:30min", "10min:1440min"], OWN))
    keeper.bands.age(10)
    assert_kept_apart(keeper)
    keeper.close()
    assert_kept_apart(opened(tmp_path))


def test_late_records_stay_apart_from_panes_that_are_stored_in_a_band(tmp_path: Path) -> None:
    records = [*(at(each) for each in range(200)), at(1, "UA", 7), at(2, "UA", 9)]
    keeper, topic = opened(tmp_path), topic_of(*records)
    keeper.define(LATE, OWN)
    keeper.bands.define(LATE, bands_of(["1min:30min", "10min:1440min"], OWN))
    topic.commit(keeper, batch(0, 200), {LATE: OWN})
    keeper.bands.age(10)
    keeper.bands.define(LATE, [])
    topic.commit(keeper, batch(200, 202), {LATE: OWN}, [LATE])
    assert_kept_apart(keeper)
    keeper.close()
    assert_kept_apart(opened(tmp_path))


def test_late_records_that_stay_apart_are_deleted_for_their_age(tmp_path: Path) -> None:
    records = [*(at(each) for each in range(60)), at(1, "UA", 7), *(at(each) for each in range(60, 200))]
    keeper, topic = opened(tmp_path), topic_of(*records)
    keeper.define(LATE, OWN)
    for first, end in ((0, 60), (60, 61), (61, len(records))):
        topic.commit(keeper, batch(first, end), {LATE: OWN}, [LATE])
    keeper.bands.define(LATE, bands_of(["1min:30min"], OWN))
    keeper.bands.age(10)
    assert keeper.snapshot.cube(LATE).apart.count == 0
    keeper.close()
    with closing(sqlite3.connect(tmp_path / "cubes.sqlite")) as connection:
        assert connection.execute("SELECT count(*) FROM pieces WHERE is_apart").fetchone() == (0,)


def assert_kept_apart(keeper: Keeper) -> None:
    """Check that the cube has 199 closed records, and two more that stay apart."""
    assert keeper.snapshot.status(LATE)["accounting"].startswith("202 accepted = 200 counted (0 late) + 2 apart")
    counts = [
        [row["n"] for row in keeper.questions.query(LATE, {"by": [], "late": late})["rows"]] for late in (False, True)
    ]
    assert counts == [[199], [201]]
