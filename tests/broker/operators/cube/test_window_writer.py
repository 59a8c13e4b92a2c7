"""Windows as they are written: equal to DuckDB at each slide, once, with revisions and tombstones."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.output import Output
from asc.operators.cube.window_rows import WindowRow
from asc.operators.cube.windows import Windows
from asc.operators.times import FIRST_US
from broker.errors import KafkaError
from broker.operators.cube.window_writer import WindowWriter
from tests.broker.operators.cube.kept_stream import BASE_US, MINUTE_US, Record, Topic, batch, cube_id, opened
from tests.broker.operators.cube.window_rig import (
    CUBE,
    LATE,
    Rig,
    Sent,
    at,
    by_duckdb,
    check,
    minute,
    newest,
    output,
    summaries,
)


@pytest.fixture
def rig_of(tmp_path: Path) -> Iterator[Callable[..., Rig]]:
    made: list[Rig] = []

    def rig(own: Output, **more: float) -> Rig:
        made.append(Rig.of(tmp_path, own, **more))
        return made[-1]

    yield rig
    for one in made:
        one.keeper.close()


def test_a_window_is_written_with_the_first_commit_whose_watermark_reaches_its_end(rig_of: Callable[..., Rig]) -> None:
    rig = rig_of(output(2, 1, cuboids=[["carrier"]]), lateness_s=10)
    assert rig.commit(at(0.5), at(0.9, "UA")) == []
    # The mark has reached the end, and the watermark has not, by a microsecond.
    assert rig.commit(("UA", "JFK", 1, MINUTE_US + 10_000_000 - 1)) == []
    (b6, ua) = rig.commit(("UA", "JFK", 2, MINUTE_US + 10_000_000))
    assert b6.key == b'{"cuboid":["carrier"],"group":{"carrier":"B6"}}'
    assert (
        b6.value
        == (
            f'{{"query":"late","window":["{minute(-1)}","{minute(1)}"],"n":1,"d":1,"least":1,"most":1,"mean":1.0,'
            '"spread":0.0,"known":1,'
            '"revision":0,"whole":true}'
        ).encode()
    )
    assert b6.identity == f"late/{LATE.generation}@{minute(1)}/carrier#0"
    assert (b6.kind, ua.kind, summaries([ua])) == ("window", "window", [(1, "UA", (1, 0))])
    assert rig.outputs == {"window": 2}


def test_no_text_of_a_window_is_before_the_year_1(rig_of: Callable[..., Rig]) -> None:
    rig = rig_of(output(4, 1), lateness_s=60)
    for number in (0, 0.5, 2.5, 8.5):
        rig.commit(("B6", "JFK", 1, FIRST_US - BASE_US + round(number * MINUTE_US)))
        if not number:
            assert rig.keeper.snapshot.status(rig.id)["watermark"] == "0001-01-01T00:00:00Z"
    begins = [json.loads(row.value)["window"][0] for row in rig.sent.rows if row.value]
    assert [datetime.fromisoformat(each.removesuffix("Z")).minute for each in begins[::2]] == [0, 0, 0, 0, 1, 2]
    check(rig)


def test_disorder_within_the_lateness_changes_no_row(rig_of: Callable[..., Rig], tmp_path: Path) -> None:
    lateness_us = 10_000_000
    rows = []
    for number, shift_us in enumerate((0, lateness_us - 1_000)):
        folder = tmp_path / str(number)
        folder.mkdir()
        rig = Rig.of(folder, output(3, 1), lateness_s=10)
        for each in range(60):
            # Every other record comes after one that is newer by the lateness, but for a millisecond.
            behind_us = shift_us if each % 2 else 0
            rig.commit((("B6", "UA")[each % 3 == 0], "JFK", each, each * 7_000_000 + 20_000_000 - behind_us))
        assert newest(rig.sent.rows) == by_duckdb(rig.records, rig.own, rig.watermark_us)
        assert {row.kind for row in rig.sent.rows} <= {"window", "tombstone"}
        rows.append(rig.sent.rows)
        rig.keeper.close()
    assert rows[0]
    assert rows[1]


def test_a_minimum_rises_when_its_pane_has_left_the_window(rig_of: Callable[..., Rig]) -> None:
    rig = rig_of(output(3, 1, cuboids=[[]]))
    for number, delay in enumerate((5, -9, 7, 8, 6, 9)):
        rig.commit(at(number + 0.5, delay=delay))
    values = [json.loads(row.value or b"{}") for row in rig.sent.rows]
    assert [(own["least"], own["most"]) for own in values] == [(5, 5), (-9, 5), (-9, 7), (-9, 8), (6, 8)]


def test_a_group_that_leaves_gets_one_tombstone_and_empty_windows_nothing(rig_of: Callable[..., Rig]) -> None:
    rig = rig_of(output(2, 1, cuboids=[["carrier"]]))
    rig.commit(at(0.5), at(0.6, "UA"), at(1.5, "UA"))
    assert summaries(rig.commit(at(4.5, "DL"))) == [
        *((2, "B6", (1, 0)), (2, "UA", (2, 0)), (3, "UA", (1, 0)), (3, "B6", None), (4, "UA", None)),
    ]
    # A jump of a year: what is there is written, and each group leaves once.
    year = 365 * 24 * 60
    rows = rig.commit(at(year + 0.5, "DL"))
    assert summaries(rows) == [(5, "DL", (1, 0)), (6, "DL", (1, 0)), (7, "DL", None)]
    assert summaries(rig.commit(at(year + 1.5, "B6"))) == [(year + 1, "DL", (1, 0))]
    assert rig.commit(at(year + 1.6, "B6")) == []


def test_changes_are_the_groups_with_other_measures(rig_of: Callable[..., Rig]) -> None:
    rig = rig_of(output(3, 1, "changes", [["carrier"]]))
    rig.commit(at(0.5), at(1.5, "UA"))
    rig.commit(at(2.5, "UA"))
    # UA has one record in the second window and two in the third, B6 one in both.
    assert summaries(rig.sent.rows) == [(1, "B6", (1, 0)), (2, "UA", (1, 0))]
    rig.commit(at(3.5, "DL"))
    assert summaries(rig.sent.rows)[2:] == [(3, "UA", (2, 0))]
    rig.commit(at(4.5, "DL"))
    assert summaries(rig.sent.rows)[3:] == [(4, "DL", (1, 0)), (4, "B6", None)]


def test_an_empty_window_has_revision_0_without_rows(rig_of: Callable[..., Rig]) -> None:
    rig = rig_of(output(1, 1, cuboids=[["carrier"]]))
    rig.commit(at(0.5), at(4.5))
    assert summaries(rig.sent.rows) == [(1, "B6", (1, 0)), (2, "B6", None)]
    # The first rows that the window has are rows of the next revision, and so are those after them.
    assert summaries(rig.commit(at(2.5, "UA")))[0] == (3, "UA", (1, 1))
    assert summaries(rig.commit(at(2.6, "UA")))[0] == (3, "UA", (2, 2))


def test_a_late_record_writes_its_groups_again_and_the_newest_window_last(rig_of: Callable[..., Rig]) -> None:
    rig = rig_of(output(1, 1, cuboids=[["carrier"]]))
    rig.commit(at(0.5), at(0.6, "UA"), at(1.5), at(2.5))
    assert rig.watermark_us is not None
    written = len(rig.sent.rows)
    rows = rig.commit(at(0.7), at(2.6))
    # A window that is not the newest is followed by the newest one, else it would be what a compacted topic keeps.
    assert summaries(rows) == [(1, "B6", (2, 1)), (2, "B6", (1, 1))]
    assert [row.kind for row in rows] == ["revision", "revision"]
    # Of UA, which is in no newer window, a tombstone.
    assert summaries(rig.commit(at(0.8, "UA"), at(2.7))) == [(1, "UA", (2, 2)), (2, "UA", None)]
    # A group that the window had not is new in it.
    assert summaries(rig.commit(at(1.8, "DL"), at(2.8))) == [(2, "DL", (1, 3))]
    assert rig.commit(at(2.9)) == []
    assert rig.outputs == {"window": written - 1, "tombstone": 2, "revision": 4}
    check(rig)


def test_a_late_record_that_changes_no_measure_writes_nothing(rig_of: Callable[..., Rig], tmp_path: Path) -> None:
    own = CubeDefinition.parse(
        {"dimensions": [["carrier"]], "measures": ["max(delay) AS most"], "time": "t", "grain_s": 60}
    )
    cube = cube_id("late", own)
    windows = Output.parse({"output": [["carrier"]], "window_s": 120, "slide_s": 60}, own)
    keeper, sent, topic = opened(tmp_path), Sent(), Topic(partitions={0: [at(0.5, delay=9), at(2.5), at(0.6), at(1.6)]})
    keeper.define(cube, own, windows, "asc.late")
    writer = WindowWriter(keeper, sent, Counter())  # type: ignore[arg-type]
    for place in range(4):
        topic.commit(keeper, batch(place, place + 1), {cube: own})
        writer.write([cube])
    assert len(sent.rows) == 2
    assert keeper.snapshot.cubes[cube].windows is not None
    assert keeper.snapshot.cubes[cube].windows.changes == ()
    keeper.close()


def test_what_was_sent_and_not_noted_is_sent_again_byte_for_byte(rig_of: Callable[..., Rig]) -> None:
    rig = rig_of(output(2, 1))
    rig.commit(at(0.5), at(0.6, "UA"), at(1.5, "UA"), at(3.5))
    rig.commit(at(0.7))
    whole = {(row.identity, row.key): row.value for row in rig.sent.rows}
    assert len(whole) == len(rig.sent.rows)
    for fails_after in range(0, len(rig.sent.rows), 3):
        rig.keeper.close()
        (rig.folder / "cubes.sqlite").unlink()
        again = Rig.of(rig.folder, rig.own)
        again.sent.fails_after = fails_after
        for records in (rig.records[:4], rig.records[4:]):
            try:
                again.commit(*records)
            except KafkaError:
                # Spark runs the batch again, maybe after a start.
                if fails_after % 2:
                    again.start_again()
                own = again.topic.partitions[0]
                again.commit_interval(batch(len(own) - len(records), len(own)))
        assert {(row.identity, row.key): row.value for row in again.sent.rows} == whole
        again.keeper.close()


def test_a_batch_that_comes_again_writes_nothing(rig_of: Callable[..., Rig]) -> None:
    rig = rig_of(output(2, 1))
    rig.commit(at(0.5), at(3.5))
    assert rig.commit_interval(batch(0, 2)) == []
    rig.start_again()
    assert rig.commit_interval(batch(0, 2)) == []
    assert rig.sent.rows


def test_a_damaged_piece_and_whatever_else_fails_park_the_cube_alone(
    rig_of: Callable[..., Rig], monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = rig_of(output(3, 1))
    rig.commit(at(0.5), at(1.5))
    rig.start_again()
    rig.topic.partitions[0].append(at(2.5))
    rig.topic.commit(rig.keeper, batch(2, 3), {LATE: CUBE})

    def failing(own: Windows, number: int, first_window: int | None) -> Iterator[WindowRow]:
        raise ValueError("odd\nnumber")

    with monkeypatch.context() as patch:
        patch.setattr(Windows, "rows", failing)
        assert rig.writer.write([LATE]) == {"late": "its windows cannot be computed, ValueError: odd"}
    assert rig.keeper.snapshot.cube(LATE).parked == "its windows cannot be computed, ValueError: odd"
    rig.keeper.resume(LATE)
    rig.keeper._store.execute("UPDATE pieces SET data = zeroblob(8) WHERE pane = ?", (BASE_US // MINUTE_US,))
    rig.start_again()
    (reason,) = rig.writer.write([LATE]).values()
    assert reason == f"a piece of the pane of {minute(0)} is damaged"
    assert rig.keeper.snapshot.cube(LATE).parked == reason
    assert rig.writer.write([LATE]) == {}


def test_a_window_with_a_gap_is_not_whole(rig_of: Callable[..., Rig]) -> None:
    rig = rig_of(output(1, 1, cuboids=[[]]))
    rig.commit(at(0.5))
    rig.commit(at(1.5))
    rig.topic.partitions[0] += [at(1.6), at(2.5)]
    rig.topic.commit(rig.keeper, batch(2, 4), {})
    rig.commit(at(3.5))
    rig.commit(at(4.5))
    rig.commit(at(5.5))
    values = [json.loads(row.value) for row in rig.sent.rows if row.value is not None]
    assert [(own["window"][1], own["whole"]) for own in values] == [
        *((minute(1), True), (minute(2), False), (minute(4), False), (minute(5), True)),
    ]


def test_a_silent_partition_holds_no_window_back_and_its_late_records_are_merged(rig_of: Callable[..., Rig]) -> None:
    rig = rig_of(output(2, 1), lateness_s=5)
    carriers = ("B6", "UA", "DL")
    for number in range(12):
        sending = [each for each in (0, 1, 2) if each < 2 or number not in range(3, 8)]
        rig.commit_all({each: [at(number + 0.5 + each / 10, carriers[each])] for each in sending})
        # The first partition is the furthest behind of those that send.
        assert rig.watermark_us == BASE_US + round((number + 0.5) * MINUTE_US) - 5_000_000
        check(rig)
    # What the silent one had not sent comes at once, and is late.
    late = [at(number + 0.7, "DL") for number in range(3, 8)]
    rows = rig.commit_all({0: [at(11.6)], 2: late})
    assert {row.kind for row in rows} == {"revision"}
    check(rig)


def test_an_output_of_a_cube_that_has_cells_begins_after_its_watermark(rig_of: Callable[..., Rig]) -> None:
    rig = rig_of(output(2, 1, cuboids=[["carrier"]]))
    rig.commit(at(0.5), at(3.5))
    before = len(rig.sent.rows)
    rig.own = output(2, 1, "changes", [["carrier"]])
    rig.keeper.define(LATE, CUBE, rig.own, "asc.late")
    rig.keeper.define(LATE, CUBE, rig.own, "asc.late")
    # Nothing is told of the window before, which was written by other rules.
    assert summaries(rig.commit(at(4.5))) == [(4, "B6", (1, 0))]
    assert summaries(rig.commit(at(0.6))) == []
    rig.keeper.define(LATE, CUBE)
    assert rig.commit(at(9.5)) == []
    assert len(rig.sent.rows) == before + 1
    assert rig.keeper._store.execute("SELECT * FROM windows") == []


def test_a_cube_that_is_removed_leaves_nothing_of_its_windows(rig_of: Callable[..., Rig]) -> None:
    rig = rig_of(output(2, 1))
    rig.commit(at(0.5), at(3.5))
    rig.sent.fails_after = 0
    with pytest.raises(KafkaError):
        rig.commit(at(0.6))
    tables = ("windows", "former_cells")
    assert all(rig.keeper._store.execute(f"SELECT * FROM {table}") for table in tables)
    rig.keeper.remove("late")
    assert not any(rig.keeper._store.execute(f"SELECT * FROM {table}") for table in (*tables, "revisions"))


times = st.integers(0, 12 * MINUTE_US)
record = st.tuples(
    st.sampled_from(["B6", "UA", None]), st.sampled_from(["JFK", "LAX"]), st.integers(-3, 3) | st.none(), times
)
steps = st.lists(
    st.tuples(st.integers(0, 2), st.lists(record, min_size=1, max_size=6), st.integers(0, 5 * MINUTE_US)),
    min_size=1,
    max_size=8,
)


shapes = st.sampled_from([(1, 1), (4, 4), (4, 1), (6, 2), (5, 2)])


@pytest.mark.timeout(1_800)
def test_windows_are_those_of_duckdb_whatever_is_late(full_size: bool) -> None:
    @settings(
        max_examples=150 if full_size else 15,
        phases=(Phase.generate, Phase.shrink),
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(steps=steps, shape=shapes, emit=st.sampled_from(["all", "changes"]), lateness_s=st.sampled_from([0, 30]))
    def run(steps: list[tuple[int, list[Record], int]], shape: tuple[int, int], emit: str, lateness_s: int) -> None:
        with tempfile.TemporaryDirectory() as folder:
            rig = Rig.of(Path(folder), output(*shape, emit), lateness_s=lateness_s)
            clock_us = 0
            for partition, records, step_us in steps:
                clock_us += step_us
                rig.commit(*((*own[:3], (own[3] or 0) + clock_us) for own in records), partition=partition)
                check(rig)
            rig.keeper.close()

    run()
