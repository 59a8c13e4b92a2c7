"""The last positions of objects against a dictionary, whatever is folded when."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from asc.operators.near.positions import ROW_SCHEMA, Positions

EVERY, WINDOW = 10, 25

Row = tuple[str, int, int]
ROWS = st.lists(st.tuples(st.sampled_from("abcé"), st.integers(-30, 60), st.integers(0, 5)), max_size=12)


def table(rows: list[Row]) -> pa.Table:
    columns = list(zip(*[(key, at, 0, offset, 1.5, 2.5, None) for key, at, offset in rows], strict=True))
    return pa.table(columns or [[] for _ in ROW_SCHEMA], schema=ROW_SCHEMA)


@settings(max_examples=200)
@given(parts=st.lists(ROWS, max_size=4), capacity=st.integers(0, 12), ticks=st.lists(st.integers(0, 9), max_size=3))
def test_a_tick_has_the_last_row_of_each_key_and_room_is_by_first_come(
    parts: list[list[Row]], capacity: int, ticks: list[int]
) -> None:
    positions = Positions(EVERY)
    held: dict[tuple[str, int], Row] = {}
    for rows in parts:
        taken = 0
        for row in rows:
            key, at, offset = row
            place = (key, -(-at // EVERY))
            if place not in held and len(held) >= capacity:
                continue
            taken += 1
            before = held.get(place)
            if before is None or (at, offset) >= before[1:]:
                held[place] = row
        assert positions.add(table(rows), capacity) == taken
        assert positions.count >= len(held)
        positions = Positions(EVERY, positions.rows, positions.folded)
    for tick in sorted({tick * EVERY for tick in ticks}):
        last: dict[str, Row] = {}
        for row in sorted(held.values(), key=lambda row: row[1:]):
            if row[1] <= tick:
                last[row[0]] = row
        there = {key: row for key, row in last.items() if row[1] > tick - WINDOW}
        snapshot = positions.passed(tick, WINDOW)
        found = zip(snapshot.keys, snapshot.time_us.tolist(), snapshot.places, strict=True)
        assert [(key, at, offset) for key, at, (_, offset) in found] == [there[key] for key in sorted(there)]
        # What no later tick needs is gone.
        kept = {key: row for key, row in last.items() if row[1] > tick + EVERY - WINDOW}
        held = {
            (row[0], -(-row[1] // EVERY)): row for row in [*kept.values(), *(r for r in held.values() if r[1] > tick)]
        }
        assert positions.count == len(held)


def test_the_first_tick_is_that_of_the_earliest_row() -> None:
    positions = Positions(EVERY)
    assert positions.first_tick_us is None
    positions.add(table([("a", 20, 1), ("b", 11, 2)]), 10)
    assert positions.first_tick_us == 20
    positions.add(table([("a", 10, 3)]), 10)
    assert positions.first_tick_us == 10
