"""The life of cubes in a keeper and of its file: begun, replaced, removed, copied, one process at a time."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from asc.errors import CubeError
from asc.schema import Schema
from broker.errors import QueryError, TooManyQuestionsError, UnknownQueryError
from broker.operators.cube.cube_state import CubeId
from broker.operators.cube.cubes_file import cubes_path
from broker.operators.cube.keeper import Keeper
from broker.operators.cube.merging import CubeLimits
from tests.broker.operators.cube.kept_stream import (
    SCHEMA,
    at,
    batch,
    cube_id,
    definition,
    opened,
    rows_of,
    topic_of,
)

OWN = definition()
LATE = cube_id("late", OWN)


def test_the_same_generation_goes_on_and_another_begins_empty(tmp_path: Path) -> None:
    topic = topic_of(*(at(each) for each in range(6)))
    keeper = opened(tmp_path)
    assert keeper.define(LATE, OWN)
    topic.commit(keeper, batch(0, 3), {LATE: OWN})
    assert not keeper.define(LATE, OWN)
    assert sum(row[2] for row in rows_of(keeper, LATE)) == 3
    other = definition(grain_s=900)
    assert keeper.define(cube_id("late", other), other)
    with pytest.raises(UnknownQueryError, match="is not kept"):
        keeper.questions.query(LATE, {})
    # A batch that is bound to the former definition.
    assert topic.commit(keeper, batch(3, 4), {LATE: OWN}).dropped == {LATE}
    assert topic.commit(keeper, batch(4, 6), {cube_id("late", other): other}).folded == {cube_id("late", other)}
    assert sum(row[2] for row in rows_of(keeper, cube_id("late", other))) == 2
    keeper.close()


def test_without_cubes_nothing_is_written(tmp_path: Path) -> None:
    keeper = opened(tmp_path)
    found = topic_of(at(0)).commit(keeper, batch(0, 1), {LATE: OWN})
    assert (found.commit, found.dropped, keeper.snapshot.commit) == (None, {LATE}, 0)
    keeper.close()


def test_a_removed_cube_leaves_nothing(keeper: Keeper, tmp_path: Path) -> None:
    topic = topic_of(*(at(each) for each in range(6)))
    keeper.define(CubeId("other", "x"), OWN)
    topic.commit(keeper, batch(0, 6), {LATE: OWN, CubeId("other", "x"): OWN})
    keeper.remove("other")
    keeper.remove("other")
    keeper.close()
    connection = sqlite3.connect(tmp_path / "cubes.sqlite")
    for table in ("pieces", "coverage", "counters", "gaps"):
        assert connection.execute(f"SELECT DISTINCT cube FROM {table}").fetchall() in ([(1,)], [])
    connection.close()
    again = opened(tmp_path)
    assert set(again.snapshot.cubes) == {LATE}
    again.define(CubeId("other", "x"), OWN)
    assert rows_of(again, CubeId("other", "x")) == []
    again.close()


def test_records_of_other_types_than_the_pieces_park_the_cube(tmp_path: Path) -> None:
    keeper = opened(tmp_path)
    keeper.define(LATE, OWN)
    topic_of(at(0)).commit(keeper, batch(0, 1), {LATE: OWN})
    keeper.close()
    for ddl, remedy in (
        ("carrier STRING, dest STRING, delay DECIMAL(9, 2), t TIMESTAMP", "other types"),
        ("carrier STRING, delay BIGINT, t TIMESTAMP", "unknown column"),
    ):
        changed = Keeper.open(tmp_path / "cubes.sqlite", Schema.of(ddl), CubeLimits(), lateness_s=0)
        with pytest.raises(QueryError, match=remedy):
            changed.questions.query(LATE, {})
        with pytest.raises(QueryError, match=remedy):
            changed.resume(LATE)
        changed.close()
    # Nothing of it is lost meanwhile.
    keeper = opened(tmp_path)
    assert sum(row[2] for row in rows_of(keeper, LATE)) == 1
    keeper.close()


def test_another_time_zone_parks_the_cube_until_it_is_put_back(tmp_path: Path) -> None:
    topic = topic_of(at(0), at(1), at(2))
    keeper = opened(tmp_path)
    keeper.define(LATE, OWN)
    topic.commit(keeper, batch(0, 1), {LATE: OWN})
    keeper.close()
    path = tmp_path / "cubes.sqlite"
    changed = Keeper.open(path, SCHEMA, CubeLimits(), lateness_s=0, time_zone="Europe/Berlin")
    reason = (
        "its cells are of spark.time_zone 'UTC', which is 'Europe/Berlin' now: put it back and resume the query, "
        "or remove the query and register it again, which begins empty"
    )
    assert topic.commit(changed, batch(1, 2), {LATE: OWN}).parked == {LATE: reason}
    # Registered again it has the new zone.
    changed.define(cube_id("again", OWN), OWN)
    assert changed.snapshot.cube(cube_id("again", OWN)).parked is None
    changed.close()
    keeper = opened(tmp_path)
    assert keeper.snapshot.cube(LATE).parked is None
    assert topic.commit(keeper, batch(2, 3), {LATE: OWN}).folded == {LATE}
    assert sum(row[2] for row in rows_of(keeper, LATE)) == 2
    assert not keeper.questions.query(LATE, {"live": True})["whole"]
    keeper.close()


def test_a_definition_that_does_not_fit_is_refused_and_changes_nothing(keeper: Keeper) -> None:
    wrong = definition(measures=["sum(dest) AS d"])
    with pytest.raises(CubeError, match="sum"):
        keeper.define(cube_id("late", wrong), wrong)
    assert set(keeper.snapshot.cubes) == {LATE}


def test_a_ninth_question_is_refused(keeper: Keeper) -> None:
    topic_of(at(0)).commit(keeper, batch(0, 1), {LATE: OWN})
    entered, go_on = threading.Semaphore(0), threading.Event()

    class Waiting(dict):  # type: ignore[type-arg]
        def get(self, name: str, default: object = None) -> object:
            entered.release()
            go_on.wait(60)
            return default

    threads = [threading.Thread(target=keeper.questions.query, args=(LATE, Waiting())) for _ in range(8)]
    for each in threads:
        each.start()
    for _ in threads:
        assert entered.acquire(timeout=60)
    try:
        with pytest.raises(TooManyQuestionsError, match="questions 8: are answered now"):
            keeper.questions.query(LATE, {})
    finally:
        go_on.set()
        for each in threads:
            each.join()
    assert keeper.questions.query(LATE, {"live": True})["rows"]


def test_the_file_is_beside_the_folder_of_the_stream(tmp_path: Path) -> None:
    path = cubes_path(tmp_path, "flights")
    assert path == tmp_path / ".cubes" / "flights" / "cubes.sqlite"
    Keeper.open(path, SCHEMA, CubeLimits(), lateness_s=10).close()
    assert path.is_file()


def test_a_second_process_is_refused_while_one_has_the_file(keeper: Keeper, tmp_path: Path) -> None:
    text = (
        "import sys; from pathlib import Path; from broker.operators.cube.store import Store\n"
        "from broker.errors import CubeStoreError\n"
        "try: Store.open(Path(sys.argv[1]))\n"
        "except CubeStoreError as error: print(error)\n"
        "assert 'pyspark' not in sys.modules\n"
    )
    command = [sys.executable, "-c", text, str(tmp_path / "cubes.sqlite")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("is open in another process: stop that one")
