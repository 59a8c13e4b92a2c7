"""Revisions of windows in rounds: bounded in each commit, complete in the end, and the same after a fault."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.output import Output
from asc.operators.cube.revisions import (
    REVISED_BYTES_MAX,
    REVISED_CELLS_MAX,
    REVISED_ROWS_MAX,
    REVISED_WINDOWS_MAX,
    RevisionLimits,
)
from asc.operators.cube.window_versions import WindowVersions
from broker.errors import KafkaError
from broker.operators.cube import late_cells
from broker.operators.cube.window_state import WindowState
from tests.broker.operators.cube.kept_stream import BASE_US, MINUTE_US, Record, batch
from tests.broker.operators.cube.window_rig import (
    Rig,
    at,
    by_duckdb,
    check,
    last_by_key,
    minute,
    newest,
    output,
    read,
    summaries,
)

_FIRST_PANE = BASE_US // MINUTE_US
CARRIERS = [f"C{number}" for number in range(5)]


@pytest.fixture
def rig_of(tmp_path: Path) -> Iterator[Callable[..., Rig]]:
    made: list[Rig] = []

    def rig(
        own: Output,
        rows: int = 100_000,
        windows: int = 1_000,
        cells: int = 100_000,
        size_bytes: int = 1_000_000,
        **more: CubeDefinition,
    ) -> Rig:
        made.append(Rig.of(tmp_path, own, limits=RevisionLimits(rows, windows, cells, size_bytes), **more))
        return made[-1]

    yield rig
    for one in made:
        one.keeper.close()


def drained(rig: Rig, record: Record) -> int:
    """Commit batches of one record until no revision is left, and return how many it took."""
    for number in range(200):
        if not rig.windows.changes:
            return number
        rig.commit(record)
    raise AssertionError("the revisions do not end")


def test_a_commit_has_the_limits_that_are_told() -> None:
    summaries = REVISED_ROWS_MAX, REVISED_WINDOWS_MAX, REVISED_CELLS_MAX, REVISED_BYTES_MAX
    assert RevisionLimits() == RevisionLimits(*summaries)


def test_no_more_rows_are_revised_in_a_commit_than_may_be(rig_of: Callable[..., Rig]) -> None:
    rig = rig_of(output(4, 1), rows=7)
    assert RevisionLimits().rows == REVISED_ROWS_MAX
    rig.commit(*(at(0.5, carrier) for carrier in CARRIERS), at(5.5, "X"))
    rig.commit(*(at(0.6, carrier) for carrier in CARRIERS))
    assert newest(rig.sent.rows) != by_duckdb(rig.records, rig.own, rig.watermark_us)
    counts = []
    for _ in range(20):
        # Another late record in the middle of the round loses nothing.
        late = [at(1.6, "C3")] if len(counts) == 2 else []
        counts.append(len(rig.commit(*late, at(5.5, "X"))))
        held = {read(row)[0] for row in last_by_key(rig.sent.rows).values() if row.value is not None}
        assert held <= {minute(5)}
    assert max(counts) <= 7
    assert counts[-1] == 0
    check(rig)


def test_no_more_windows_are_computed_again_in_a_commit_than_may_be(rig_of: Callable[..., Rig]) -> None:
    rig = rig_of(output(6, 1, cuboids=[["carrier"]]), windows=4)
    assert RevisionLimits().windows == REVISED_WINDOWS_MAX
    rig.commit(*(at(number + 0.5) for number in range(20)))
    rows = rig.commit(at(3.6), at(9.6))
    assert [own[0] for own in summaries(rows)] == [4, 5, 6, 7, 19]
    assert drained(rig, at(19.6)) == 2
    check(rig)


def test_no_more_cells_are_read_for_revisions_in_a_commit_than_may_be(
    rig_of: Callable[..., Rig], monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = rig_of(output(4, 4, cuboids=[["carrier"], []]), cells=20)
    assert RevisionLimits().cells == REVISED_CELLS_MAX
    rig.commit(*(at(number + 0.5, carrier) for number in range(40) for carrier in CARRIERS))
    made: list[int] = []
    cells = WindowVersions.cells

    def counted(own: WindowVersions, number: int, after: int) -> object:
        made.append(number)
        return cells(own, number, after)

    monkeypatch.setattr(WindowVersions, "cells", counted)
    rig.commit(*(at(number + 0.6, "C0") for number in range(36)))
    # A window has twenty cells: one is computed in any case, and the next ones are for the next commits.
    assert len({number for number in made if number != made[-1]}) == 1
    assert drained(rig, at(39.6)) == 8
    check(rig)


@pytest.mark.parametrize(("size_bytes", "rows_most"), [(1_150, 5), (1, 1)])
def test_no_more_bytes_of_rows_are_revised_in_a_commit_than_may_be(
    rig_of: Callable[..., Rig], size_bytes: int, rows_most: int
) -> None:
    rig = rig_of(output(2, 2, cuboids=[["carrier"]]), size_bytes=size_bytes)
    assert RevisionLimits().size_bytes == REVISED_BYTES_MAX
    carriers = [f"C{number:02}" for number in range(9)]
    rig.commit(*(at(minutes, carrier) for minutes in (0.5, 2.5) for carrier in carriers), at(4.5, "X"))
    rows = rig.commit(*(at(minutes, carrier) for minutes in (0.6, 2.6) for carrier in carriers))
    counts = []
    while rig.windows.changes:
        older = [row for row in rows if row.value and read(row)[0] == minute(2)]
        counts.append(len(older))
        # A row that is larger alone is written all the same.
        assert len(older) <= 1 or sum(len(row.key) + len(row.value or b"") for row in older) <= size_bytes
        rows = rig.commit(at(4.5, "X"))
    assert max(counts) == rows_most
    assert sum(counts) == len(carriers)
    check(rig)


def test_windows_between_panes_that_late_records_changed_are_not_looked_at(rig_of: Callable[..., Rig]) -> None:
    year = 365 * 24 * 60
    rig = rig_of(output(2, 1, cuboids=[[]]), windows=8)
    rig.commit(at(0.5), at(year + 0.5), at(2 * year + 0.5))
    rig.commit(at(0.6), at(year + 0.6))
    assert rig.windows.changes == ()
    assert summaries(rig.sent.rows[-5:-1]) == [(number, "()", (2, 1)) for number in (1, 2, year + 1, year + 2)]


def test_a_late_record_of_a_window_that_is_revised_in_part_waits_for_the_next_round(
    rig_of: Callable[..., Rig],
) -> None:
    rig = rig_of(output(2, 2, cuboids=[["carrier"]]), rows=3)
    rig.commit(*(at(0.5, carrier) for carrier in CARRIERS), at(3.5, "X"))
    rows = rig.commit(*(at(0.6, carrier) for carrier in CARRIERS))
    assert summaries(rows) == [(2, carrier, (2, 1)) for carrier in CARRIERS[:3]]
    # A start between loses nothing of it.
    rig.start_again()
    assert rig.commit_interval(batch(6, 11)) == []
    # The rows that are left are those of the batches before, whatever comes meanwhile.
    assert summaries(rig.commit(at(0.7, "C0"), at(0.7, "C4"))) == [(2, carrier, (2, 1)) for carrier in CARRIERS[3:]]
    assert summaries(rig.commit(at(3.5, "X"))) == [(2, "C0", (3, 2)), (2, "C4", (3, 2))]
    assert rig.commit(at(3.5, "X")) == []
    assert len({(row.identity, row.key) for row in rig.sent.rows}) == len(rig.sent.rows)
    check(rig)


def test_each_group_gets_its_row_though_every_batch_has_a_late_record(rig_of: Callable[..., Rig]) -> None:
    rig = rig_of(output(2, 2, cuboids=[["carrier"]]), rows=4)
    carriers = [f"C{number:02}" for number in range(12)]
    first = [at(minutes, carrier) for minutes in (0.5, 2.5, 4.5) for carrier in carriers]
    rig.commit(*first, at(6.5, "X"))
    rig.commit(*(at(minutes, carrier) for minutes in (0.6, 2.6, 4.6) for carrier in carriers))
    revised: set[tuple[int, str]] = set()
    for number in range(60):
        if len(revised) == 3 * len(carriers):
            break
        # Of each window a group that is written already, and one that is not.
        late = [at(minutes, carriers[place]) for minutes in (0.7, 2.7, 4.7) for place in (number % 3, 11)]
        revised |= {
            (end, carrier) for end, carrier, own in summaries(rig.commit(*late, at(6.5, "X"))) if own and own[0] > 1
        }
    assert revised >= {(end, carrier) for end in (2, 4, 6) for carrier in carriers}
    drained(rig, at(6.5, "X"))
    check(rig)


def test_a_round_ends_with_the_newest_window_of_its_beginning(rig_of: Callable[..., Rig]) -> None:
    rig = rig_of(output(1, 1, cuboids=[["carrier"]]), rows=12)
    rig.commit(*(at(minutes, carrier) for minutes in (0.5, 1.5, 2.5) for carrier in CARRIERS), at(3.5))
    rig.commit(*(at(minutes, carrier) for minutes in (0.6, 1.6, 2.6) for carrier in CARRIERS))
    reached = []
    # Each batch closes a window and changes it in the next one, which is more than a commit may write.
    for number in range(4, 40):
        own = [*(at(number - 1.4, carrier) for carrier in CARRIERS), *(at(number - 2.3, each) for each in CARRIERS)]
        rows = rig.commit(at(0.7, "C0"), *own, at(number + 0.5))
        reached += [end for end, _, value in summaries(rows) if value and value[1] and end == 1]
    assert len(reached) > 6


def test_a_row_that_is_repeated_before_its_revision_is_the_one_of_before(rig_of: Callable[..., Rig]) -> None:
    cube = CubeDefinition.parse(
        {"dimensions": [["carrier"]], "measures": ["sum(delay) AS n"], "time": "t", "grain_s": 60}
    )
    own = Output.parse({"output": [["carrier"]], "window_s": 180, "slide_s": 60}, cube)
    assert own is not None
    rig = rig_of(own, rows=2, cube=cube)
    rig.commit(*(at(number + 0.5, delay=1) for number in range(4)))
    # Window 2 is revised, and the newest one has not the change yet that it is to have.
    rows = rig.commit(at(1.6, delay=5))
    assert summaries(rows) == [(2, "B6", (7, 1)), (3, "B6", (3, 1))]
    # It never has: another record takes the change back.
    rig.commit(at(2.6, delay=-5))
    drained(rig, at(3.5, delay=0))
    (held,) = last_by_key(rig.sent.rows).values()
    assert held.value is not None
    assert json.loads(held.value)["n"] == 3
    rows_of = {read(row)[0]: json.loads(row.value or b"{}")["n"] for row in rig.sent.rows}
    assert rows_of == {minute(1): 1, minute(2): 7, minute(3): 3}


def test_the_number_of_a_revision_is_not_given_twice_after_a_start(rig_of: Callable[..., Rig]) -> None:
    rig = rig_of(output(2, 1, cuboids=[["carrier"]]))
    rig.commit(at(0.5), at(3.5))
    for number in range(6):
        rig.commit(at(0.6))
        if number % 2:
            rig.start_again()
        assert rig.windows.revisions == len(rig.keeper._store.execute("SELECT * FROM revisions"))
    assert len({(row.identity, row.key) for row in rig.sent.rows}) == len(rig.sent.rows)
    check(rig)


def test_panes_that_are_looked_through_one_after_the_other_are_told_as_they_were(
    rig_of: Callable[..., Rig], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(late_cells, "_TOGETHER_BYTES", 1)
    rig = rig_of(output(3, 1), rows=9)
    rig.commit(*(at(number + 0.5, carrier) for number in range(8) for carrier in CARRIERS[number % 3 :]))
    rig.commit(*(at(number + 0.6, carrier) for number in range(7) for carrier in CARRIERS))
    drained(rig, at(7.5))
    check(rig)


def test_windows_of_a_pane_that_is_open_again_have_all_of_its_pieces(rig_of: Callable[..., Rig]) -> None:
    rig = rig_of(output(2, 1, cuboids=[[]]), rows=4)
    rig.commit(*(at(number + 0.5) for number in range(5)))
    # With a longer lateness a pane of written windows is open, and has a piece a commit.
    rig.lateness_s = 150
    rig.start_again()
    assert summaries(rig.commit(at(2.6))) == [(3, "()", (3, 1)), (4, "()", (3, 1))]
    assert summaries(rig.commit(at(2.7), at(2.8))) == [(3, "()", (5, 2)), (4, "()", (5, 2))]
    assert len(rig.keeper.snapshot.cube(rig.id).panes.pane(_FIRST_PANE + 2)) == 3
    assert newest(rig.sent.rows) == by_duckdb(rig.records, rig.own, BASE_US + 4 * MINUTE_US)


times = st.integers(0, 12 * MINUTE_US)
record = st.tuples(
    st.sampled_from(["B6", "UA", "DL", None]), st.sampled_from(["JFK", "LAX"]), st.integers(-3, 3) | st.none(), times
)
steps = st.lists(
    st.tuples(st.lists(record, min_size=1, max_size=8), st.integers(0, 3 * MINUTE_US), st.integers(-1, 6)),
    min_size=2,
    max_size=10,
)
shapes = st.sampled_from([(1, 1), (4, 4), (4, 1), (6, 2), (5, 2)])
limits = st.builds(RevisionLimits, st.integers(2, 9), st.integers(1, 6), st.integers(1, 60), st.integers(1, 3_000))


@pytest.mark.timeout(1_800)
def test_what_is_not_pending_is_that_of_duckdb_and_faults_change_no_row(full_size: bool) -> None:
    @settings(
        max_examples=200 if full_size else 10,
        phases=(Phase.generate,),
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(steps=steps, shape=shapes, own=limits)
    def run(steps: list[tuple[list[Record], int, int]], shape: tuple[int, int], own: RevisionLimits) -> None:
        rows = []
        for has_faults in (False, True):
            with tempfile.TemporaryDirectory() as folder:
                rig = Rig.of(Path(folder), output(*shape), limits=own)
                clock_us = 0
                for records, step_us, fault in steps:
                    clock_us += step_us
                    rig.sent.fails_after = fault if has_faults and fault >= 0 else None
                    windows, before = rig.windows, len(rig.sent.rows)
                    commit(rig, [(*one[:3], (one[3] or 0) + clock_us) for one in records])
                    check_what_is_not_pending(rig)
                    if not has_faults:
                        check_that_each_row_is_another(rig, windows, before)
                drained(rig, ("B6", "JFK", 1, max(one[3] or 0 for one in rig.records)))
                check(rig)
                rows.append({(row.identity, row.key): row.value for row in rig.sent.rows})
                if not has_faults:
                    assert len(rows[0]) == len(rig.sent.rows)
                rig.keeper.close()
        assert rows[0] == rows[1]

    run()


def commit(rig: Rig, records: list[Record]) -> None:
    """Commit a batch, again where the topic does not take its windows: maybe after a start."""
    try:
        rig.commit(*records)
    except KafkaError:
        rig.start_again()
        own = rig.topic.partitions[0]
        rig.commit_interval(batch(len(own) - len(records), len(own)))
    rig.sent.fails_after = None


def check_that_each_row_is_another(rig: Rig, windows: WindowState, before: int) -> None:
    """Rows of a commit are others than the last ones, but for those of the newest window that follow older ones."""
    last = {read(row)[:3]: read(row)[3] for row in rig.sent.rows[:before]}
    for row in rig.sent.rows[before:]:
        end, cuboid, group, value = read(row)
        newest_end = None if windows.written is None else windows.written * rig.own.sliding.slide - _FIRST_PANE
        if value and (newest_end is None or end != minute(newest_end)):
            former = last.get((end, cuboid, group), {})
            assert {**former, "revision": 0, "whole": True} != {**value, "revision": 0, "whole": True}
        last[end, cuboid, group] = value


def check_what_is_not_pending(rig: Rig) -> None:
    """Windows that no change is pending for are equal to DuckDB's."""
    windows, expected = rig.windows, by_duckdb(rig.records, rig.own, rig.watermark_us)
    sliding = rig.own.sliding
    own = [range(change.first, change.end) for change in windows.changes]
    pending = {
        number
        for change, numbers in zip(windows.changes, own, strict=True)
        for number in numbers
        if change.following(sliding, number) == number
    }
    ends = {minute(number * sliding.slide - _FIRST_PANE) for number in pending}
    found = newest(rig.sent.rows)
    assert {k: v for k, v in found.items() if k[0] not in ends} == {
        k: v for k, v in expected.items() if k[0] not in ends
    }
