"""The folder of cubes beside the registry: what stands is kept, what was removed is deleted, nothing comes back."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.layout import Layout
from asc.operators.cube.task_fold import CubePartial
from asc.operators.cube.view import View
from asc.schema import Schema
from broker.cancellation import Cancellation
from broker.config.sections import LimitsConfig
from broker.errors import CubeStoreError, FoldError, NotThereError
from broker.kafka.cluster import KafkaCluster
from broker.matching.fold_task import FoldCounts, FoldPartial
from broker.operators.cube.definition import StandingCube
from broker.operators.cube.folder import CubeFolder, cube_of
from broker.operators.cube.keeper import Keeper
from broker.operators.fold_destination import FoldDestination
from broker.operators.folder import FoldBatch, FoldContext
from broker.plans.stream_folder import take_folders
from tests.broker.operators.cube.kept_stream import (
    BASE_US,
    MINUTE_US,
    SCHEMA,
    Record,
    Topic,
    cube_id,
    definition,
    partial,
)
from tests.broker.operators.cube.test_keeper import damage

OWN = definition()
OTHER = definition(measures=["count(*) AS n", "max(delay) AS d"])
WIDE = Schema.of("carrier STRING, dest STRING, delay DECIMAL(20, 2), t TIMESTAMP")


def query(since: int = 3, own: CubeDefinition = OWN, name: str = "late", schema: Schema = SCHEMA) -> FoldDestination:
    generation = cube_id(name, own).generation
    plain = {"generation": generation, "cube": {"name": "cube", **own.plain()}, "schema": schema.ddl()}
    return FoldDestination("cube", name, "asc.late", "unix_micros(t)", (), plain, since)


def apart(own: FoldDestination) -> FoldDestination:
    """Return a query that keeps late records apart."""
    return replace(own, definition={**own.definition, "late": "apart"})


def folder_of(path: Path, schema: Schema = SCHEMA) -> CubeFolder:
    # Cubes without windows ask no Kafka.
    return CubeFolder(FoldContext("flights", path, schema, LimitsConfig(), 0, "UTC", cast(KafkaCluster, None)))


class Run:
    """A topic of one record a minute, and a folder that takes a batch of one record with each commit."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.folder = folder_of(path)
        records: list[Record] = [("B6", "JFK", 1, each * MINUTE_US) for each in range(20)]
        self.topic = Topic(partitions={0: records})
        self.offset = 0

    def start_again(self) -> None:
        self.folder.close()
        self.folder = folder_of(self.path)

    def set_registered(
        self,
        *planned: FoldDestination,
        version: int,
        paused: Mapping[str, int | None] | None = None,
        unserved: Mapping[str, str] | None = None,
    ) -> None:
        registered = {**(paused or {}), **{own.id: own.since for own in planned}}
        self.folder.set_registered(registered, {own.id: own for own in planned}, version, unserved or {})

    def commit(
        self,
        *planned: FoldDestination,
        version: int,
        again: bool = False,
        waiting: frozenset[int] = frozenset(),
        records: int = 1,
    ) -> Mapping[str, str]:
        first = self.offset - again
        self.offset = end = first + records
        batch_records = self.topic.partitions[0][first:end]
        found = {own.id: self._partial(own, batch_records) for own in planned}
        newest = {"unix_micros(t)": {0: self.topic_time(batch_records)}}
        own = {each.id: each for each in planned}
        batch = FoldBatch(7, version, "T", {0: first}, {0: end}, waiting, own, found, {}, newest)
        return self.folder.commit(batch)

    @staticmethod
    def topic_time(records: Sequence[Record]) -> int:
        time_us = records[-1][3]
        assert time_us is not None
        return BASE_US + time_us

    @staticmethod
    def _partial(own: FoldDestination, records: Sequence[Record]) -> FoldPartial:
        layout = Layout.of(CubeDefinition.parse(own.definition["cube"]), Schema.from_ddl(own.definition["schema"]))
        made = partial(layout.definition, [records])
        state = CubePartial(made.cells, made.records).to_bytes(layout)
        return FoldPartial(state, FoldCounts(sum(made.records.values())))

    def count(self, own: FoldDestination) -> int | None:
        """The records of a cube; None where it is not kept."""
        if cube_of(own) not in self.folder.keeper.snapshot.cubes:
            return None
        rows: list[dict[str, Any]] = self.folder.keeper.questions.query(cube_of(own), {"by": [], "live": True})["rows"]
        return int(rows[0]["n"])


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path)


def test_a_removed_cube_is_deleted_without_a_batch_and_one_registered_anew_begins_empty(run: Run) -> None:
    first = query(since=3)
    run.set_registered(first, version=4)
    run.commit(first, version=4)
    run.set_registered(version=5)
    assert run.count(first) is None
    connection = run.folder.keeper._store
    assert [connection.execute(f"SELECT count(*) FROM {table}")[0][0] for table in ("pieces", "coverage")] == [0, 0]
    again = query(since=5)
    run.set_registered(again, version=6)
    assert run.count(again) == 0
    run.commit(again, version=6)
    assert run.count(again) == 1


def test_removed_and_registered_between_two_batches_it_begins_empty_though_nobody_saw_the_removal(run: Run) -> None:
    run.set_registered(query(since=3), version=4)
    run.commit(query(since=3), version=4)
    run.set_registered(query(since=5), version=6)
    assert run.count(query(since=5)) == 0
    # A batch that was bound before is dropped.
    run.commit(query(since=3), version=4)
    assert run.count(query(since=5)) == 0
    run.commit(query(since=5), version=6)
    assert run.count(query(since=5)) == 1


def test_what_was_removed_while_the_daemon_was_down_is_deleted_at_the_start(run: Run) -> None:
    late, kept = query(), query(name="kept")
    run.set_registered(late, kept, version=4)
    run.commit(late, kept, version=4)
    run.start_again()
    run.set_registered(kept, version=5)
    # The batch that was begun before the removal is run again with its plan.
    run.commit(late, kept, version=4, again=True)
    assert (run.count(late), run.count(kept)) == (None, 1)
    run.commit(late, kept, version=4)
    assert (run.count(late), run.count(kept)) == (None, 2)


def test_a_cube_that_is_paused_or_cannot_be_read_keeps_its_state(run: Run) -> None:
    late, unread = query(), query(name="unread")
    run.set_registered(late, unread, version=4)
    run.commit(late, unread, version=4)
    run.start_again()
    run.set_registered(version=5, paused={"late": 3, "unread": None})
    assert (run.count(late), run.count(unread)) == (1, 1)
    run.set_registered(late, version=6, paused={"unread": None})
    run.commit(late, version=6)
    assert (run.count(late), run.count(unread)) == (2, 1)


def test_while_it_is_paused_an_answer_says_so_though_no_cube_has_a_batch(run: Run) -> None:
    def gaps() -> list[tuple[str, str]]:
        found = run.folder.keeper.questions.query(cube_of(query()), {"live": True})["gaps"]
        return [(gap["to"], gap["reason"]) for gap in found]

    run.set_registered(query(), version=4)
    run.commit(query(), version=4)
    assert gaps() == []
    run.set_registered(version=5, paused={"late": 3})
    assert gaps() == [(None, "paused")]
    # One that was begun before the pause.
    run.commit(query(), version=4)
    assert gaps() == [(None, "paused")]
    run.start_again()
    run.set_registered(query(), version=6)
    assert gaps() == [(None, "paused")]
    run.commit(query(), version=6)
    # It missed nothing.
    assert (gaps(), run.count(query())) == ([], 3)


def test_while_its_query_is_parked_the_gap_has_the_reason(run: Run) -> None:
    def gaps(name: str) -> list[tuple[str, str]]:
        found = run.folder.keeper.questions.query(cube_of(query(name=name)), {"live": True})["gaps"]
        return [(gap["to"], gap["reason"]) for gap in found]

    late, other = query(), query(name="other")
    run.set_registered(late, other, version=4)
    run.commit(late, other, version=4)
    reason = "is parked, for its expression 'f(x)'"
    run.set_registered(
        version=5, paused={"late": 3, "other": 3}, unserved={"late": reason, "of another kind": "is parked"}
    )
    run.start_again()
    run.set_registered(version=5, paused={"late": 3, "other": 3}, unserved={"late": reason})
    assert (gaps("late"), gaps("other")) == ([(None, reason)], [(None, "paused")])
    run.offset += 1
    run.set_registered(late, other, version=6)
    run.commit(late, other, version=6)
    assert [gap_reason for _, gap_reason in gaps("late") + gaps("other")] == [reason, "paused"]
    assert (run.count(late), run.count(other)) == (2, 2)


def test_a_batch_of_a_plan_before_a_park_does_not_resume_the_cube(run: Run) -> None:
    own = query()
    run.set_registered(own, version=4)
    run.commit(own, version=4)
    run.folder.keeper.park(cube_of(own), "its topic takes no row so large")
    assert set(run.commit(own, version=4)) == {"late"}
    run.set_registered(version=5, paused={"late": 3})
    # It was bound before the park, and ends after the query has left the plan.
    assert set(run.commit(own, version=4)) == {"late"}
    assert run.folder.keeper.snapshot.status(cube_of(own))["parked"] == "its topic takes no row so large"
    # Registered anew, it continues at once, also where no batch follows.
    run.set_registered(own, version=6)
    assert run.folder.keeper.snapshot.status(cube_of(own))["parked"] is None
    assert run.commit(own, version=6) == {}
    assert run.count(own) == 2


def test_a_replacement_with_an_equal_generation_goes_on_and_another_begins_empty(run: Run) -> None:
    run.set_registered(query(), version=4)
    run.commit(query(), version=4)
    run.set_registered(query(), version=9)
    run.commit(query(), version=9)
    assert run.count(query()) == 2
    run.set_registered(query(own=OTHER), version=12)
    # Of the plan before: neither folded into the new generation, nor does the old one come back.
    run.commit(query(), version=9)
    assert (run.count(query()), run.count(query(own=OTHER))) == (None, 0)
    run.commit(query(own=OTHER), version=12)
    assert run.count(query(own=OTHER)) == 1


def test_without_cubes_no_file_is_made(run: Run) -> None:
    run.set_registered(version=4)
    with pytest.raises(NotThereError, match="cubes of stream 'flights': are none: register a cube"):
        run.folder.dump(Cancellation())
    assert not (run.path / ".cubes").exists()


def test_a_folder_that_cannot_be_looked_into_is_told_and_stops_no_registration(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = folder_of(tmp_path)
    (tmp_path / ".cubes").mkdir()
    # Longer than a name may be.
    (tmp_path / ".cubes" / "flights").symlink_to("s" * 300)
    folder.set_registered({}, {}, 4, {})
    folder.tidy()
    (message,) = caplog.messages
    assert "cannot be looked for" in message
    assert "\n" not in message
    # Which file is its own a daemon has to know from the start.
    with pytest.raises(CubeStoreError, match=r"\.cubes/flights': cannot be looked for, "):
        folder_of(tmp_path)


def test_a_daemon_that_is_replaced_never_opens_the_file_of_the_next_one(run: Run) -> None:
    run.set_registered(query(), version=4)
    run.commit(query(), version=4)
    former, early = run.folder, folder_of(run.path)
    take_folders(run.path, ["flights"])
    run.folder = folder_of(run.path)
    # Beside a file that is to be copied, no query need be planned.
    run.set_registered(version=4, paused={"late": 3})
    run.commit(query(), version=4)
    former.close()
    for own in (former, early):
        with pytest.raises(CubeStoreError, match="another daemon has taken them over: this one writes no more"):
            own.keeper  # noqa: B018
    run.folder.dump(Cancellation()).close()
    assert run.count(query()) == 2


def test_a_list_of_cubes_waits_once_for_a_file_that_another_process_has(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    run.set_registered(query(), version=4)
    run.commit(query(), version=4)
    run.folder.close()
    path = run.path / ".cubes" / "flights" / "cubes.sqlite"
    definition_of = StandingCube.parse({"name": "cube", **OWN.plain()})
    opens: list[Path] = []
    opened_by = Keeper.open

    def counted(path: Path, *values: Any, **more: Any) -> Keeper:
        opens.append(path)
        return opened_by(path, *values, **more)

    monkeypatch.setattr(Keeper, "open", staticmethod(counted))
    with contextlib.closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        assert {run.folder.kept("late", "true", definition_of, is_brief=True) is None for _ in range(1_000)} == {True}
        assert len(opens) == 1
        # What has to be done tries each time, and so says why.
        with pytest.raises(CubeStoreError, match="is open in another process"):
            run.commit(query(), version=4)
        assert len(opens) == 2
    # Once it is open, nothing is remembered of that.
    assert run.commit(query(), version=4, again=True) == {}
    found = run.folder.kept("late", "true", definition_of, is_brief=True)
    assert found is not None
    assert found["cells"] == 2


def test_a_large_cube_is_deleted_in_parts_while_batches_go_on(tmp_path: Path) -> None:
    run = Run(tmp_path)
    run.topic.partitions[0] = [("B6", "JFK", 1, each * MINUTE_US) for each in range(500)]
    large, kept = query(name="large"), query(name="kept")
    run.set_registered(large, kept, version=4)
    run.commit(large, kept, version=4, records=450)
    run.set_registered(kept, version=5)
    assert (run.count(large), run.count(kept)) == (None, 450)
    store = run.folder.keeper._store
    assert store.execute("SELECT count(*) FROM pieces WHERE cube = 1") == [(250,)]
    # What is left is known after a start, and a cube of its name has nothing of it.
    run.start_again()
    again = query(since=5, name="large")
    run.set_registered(kept, again, version=6)
    run.commit(kept, again, version=6)
    assert (run.count(again), run.count(kept)) == (1, 451)
    run.folder.tidy()
    store = run.folder.keeper._store
    assert store.execute("SELECT cube, count(*) FROM pieces GROUP BY cube") == [(2, 451), (3, 1)]
    assert store.execute("SELECT * FROM removed") == []
    assert (run.count(again), run.count(kept)) == (1, 451)


def test_what_could_not_be_deleted_is_deleted_later(run: Run) -> None:
    run.set_registered(query(), query(name="kept"), version=4)
    run.commit(query(), query(name="kept"), version=4)
    run.folder.close()
    path = run.path / ".cubes" / "flights" / "cubes.sqlite"
    other = sqlite3.connect(path)
    other.execute("PRAGMA locking_mode = EXCLUSIVE")
    other.execute("BEGIN EXCLUSIVE")
    run.set_registered(query(name="kept"), version=5)
    # The upkeep has other things to do as well.
    run.folder.tidy()
    other.close()
    run.folder.tidy()
    assert (run.count(query()), run.count(query(name="kept"))) == (None, 1)


def test_records_of_other_types_park_the_cube_and_not_the_stream(run: Run) -> None:
    run.set_registered(query(), version=4)
    run.commit(query(), version=4)
    run.folder.close()
    run.folder = folder_of(run.path, WIDE)
    run.set_registered(query(), query(name="other", schema=WIDE), version=5)
    found = run.commit(query(), query(name="other", schema=WIDE), version=5)
    assert list(found) == ["late"]
    assert "other types than its pieces" in found["late"]
    assert run.count(query(name="other", schema=WIDE)) == 1


def test_a_partition_that_waits_holds_the_watermark(run: Run) -> None:
    run.set_registered(query(), version=4)
    run.commit(query(), version=4, waiting=frozenset({1}))
    assert dict(run.folder.watermarks_us) == {}
    run.commit(query(), version=4)
    assert dict(run.folder.watermarks_us) == {"t": BASE_US + MINUTE_US}


def test_a_damaged_piece_that_a_question_finds_parks_the_query(run: Run) -> None:
    own = query()
    run.set_registered(own, version=4)
    for _ in range(4):
        run.commit(own, version=4)
    run.folder.close()
    damage(run.path / ".cubes" / "flights" / "cubes.sqlite", 0)
    run.folder = folder_of(run.path)
    run.set_registered(own, version=4)
    assert run.count(own) == 3
    # The next batch names it, so that the query is parked; registered anew it goes on without the piece.
    reasons = {"late": "a piece of the pane of 2013-07-10T00:00:00Z is damaged"}
    assert run.commit(own, version=4) == reasons
    assert run.folder.keeper.snapshot.cube(cube_of(own)).parked == reasons["late"]
    assert run.commit(own, version=5) == {}
    assert run.count(own) == 4


def test_a_cube_that_was_parked_before_a_restart_goes_on_once_it_is_resumed(run: Run) -> None:
    own = query()
    run.set_registered(own, version=4)
    run.commit(own, version=4)
    run.folder.keeper.park_damaged(cube_of(own), next(run.folder.keeper.snapshot.cube(cube_of(own)).pieces()).number)
    assert list(run.commit(own, version=4)) == ["late"]
    run.start_again()
    # It stays parked while its query is, and the first batch after that has it.
    run.set_registered(version=5, paused={own.id: own.since})
    run.commit(version=5)
    run.set_registered(own, version=6)
    assert run.commit(own, version=6) == {}
    assert run.count(own) == 1


def test_a_damaged_definition_is_that_of_the_registered_query(run: Run, caplog: pytest.LogCaptureFixture) -> None:
    late, other = query(), query(name="other")
    run.set_registered(late, other, version=4)
    run.commit(late, other, version=4)
    run.folder.close()
    with contextlib.closing(sqlite3.connect(run.path / ".cubes" / "flights" / "cubes.sqlite")) as connection:
        sql = "UPDATE cubes SET definition = replace(definition, 'grain_s', 'grain_t') WHERE query = 'late'"
        assert connection.execute(sql).rowcount == 1
        connection.commit()
    run.folder = folder_of(run.path)
    # Nobody asks for it while its query is paused.
    run.set_registered(other, version=5, paused={"late": 3})
    assert run.commit(other, version=5) == {}
    assert "grain_t" in str(run.folder.keeper.snapshot.status(cube_of(late))["parked"])
    run.set_registered(late, other, version=6)
    assert run.commit(late, other, version=6) == {}
    assert (run.count(late), run.count(other)) == (2, 3)
    assert "cube late: its definition was damaged in the file of cubes, and is written anew" in caplog.text


def test_a_batch_that_is_run_again_adds_nothing_to_the_totals(run: Run) -> None:
    own, other = query(), query(name="other")
    run.set_registered(own, version=4)
    run.commit(own, version=4)
    run.commit(own, version=4, again=True)
    assert (run.folder.totals.counted, run.count(own)) == (1, 1)
    # One that is dropped, as its query was removed, and one whose cube is parked.
    run.commit(own, other, version=4)
    assert run.folder.totals.counted == 2
    run.folder.keeper.park_damaged(cube_of(own), 1)
    run.commit(own, version=4)
    assert (run.folder.totals.counted, run.count(own)) == (2, 1)


def test_a_batch_without_the_id_of_its_topic_is_run_again_where_one_was_known(run: Run) -> None:
    own = query()
    run.set_registered(own, version=4)
    run.commit(own, version=4)
    batch = FoldBatch(8, 4, "", {0: 0}, {0: 1}, frozenset(), {own.id: own}, {}, {}, {})
    with pytest.raises(FoldError, match="topic of stream 'flights': has no id from Kafka now"):
        run.folder.commit(batch)
    assert run.count(own) == 1


def test_late_records_are_what_the_running_plan_says_and_a_change_keeps_all_pieces(run: Run) -> None:
    run.topic.partitions[0][2:5] = [("UA", "JFK", 1, 0)] * 3
    run.set_registered(query(), version=4)
    for _ in range(2):
        run.commit(query(), version=4)
    run.set_registered(apart(query()), version=5)
    assert run.count(query()) == 2
    # Bound before the change, and run after it; then one of the plan of now.
    run.commit(query(), version=4)
    run.commit(apart(query()), version=5)
    status = run.folder.keeper.snapshot.status(cube_of(query()))
    assert [status[name] for name in ("counted", "late", "apart")] == [2, 0, 2]
    run.start_again()
    run.set_registered(query(), version=6)
    run.commit(query(), version=6)
    status = run.folder.keeper.snapshot.status(cube_of(query()))
    assert [status[name] for name in ("counted", "late", "apart")] == [3, 1, 2]
    found = run.folder.keeper.questions.query(cube_of(query()), {"live": True, "late": True})
    assert (run.count(query()), found["rows"][0]["n"]) == (3, 5)


def test_a_registration_with_lower_limits_removes_chosen_views_at_once(run: Run) -> None:
    def limited(**limits: int) -> FoldDestination:
        return replace(query(), definition={**query().definition, **limits})

    run.set_registered(limited(), version=4)
    run.commit(limited(), version=4, records=8)
    cube = cube_of(query())
    run.folder.keeper.views.choose(cube, [View((0, 0), 1)])
    run.folder.tidy()
    assert [own.role for own in run.folder.keeper.snapshot.cube(cube).views] == ["chosen"]
    # Another query, and higher limits, remove nothing.
    run.set_registered(limited(cuboids=9, cells=10), query(name="other"), version=5)
    assert [own.role for own in run.folder.keeper.snapshot.cube(cube).views] == ["chosen"]
    run.set_registered(limited(cuboids=0), version=6)
    assert run.folder.keeper.snapshot.cube(cube).views == ()
