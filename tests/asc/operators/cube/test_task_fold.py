"""Cubes in tasks: however records are cut into batches and tasks, the cells of all of them."""

from __future__ import annotations

import pickle
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from asc.operators.cube.cube import Cube
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.fold import KEY_BYTES_MAX
from asc.operators.cube.task_columns import TaskColumns
from asc.operators.cube.task_fold import CubeFold, CubePartial

HOUR_US = 3_600_000_000
DDL = "k STRING, b BOOLEAN, v BIGINT, ts TIMESTAMP, l ARRAY<INT>"
PLAIN = {
    "dimensions": [["k", "(v > 5)"], ["b"]],
    "measures": ["count(*) AS n", "sum(v)", "count(l) AS lists", "max(v) FILTER (WHERE v < 8) AS least"],
    "time": "ts",
    "grain_s": 3_600,
}
DEFINITION = {"cube": PLAIN, "schema": DDL}
FOLD = CubeFold()


def rows_of(count: int) -> list[dict[str, Any]]:
    draw = np.random.default_rng(1)
    return [
        {
            "k": ["a", "b", None, "é"][draw.integers(4)],
            "b": [True, False, None][draw.integers(3)],
            "v": [None, *range(10)][draw.integers(11)],
            "ts": int(draw.integers(-5 * HOUR_US, 5 * HOUR_US)),
            "l": [None, [1]][draw.integers(2)],
        }
        for _ in range(count)
    ]


def crossing(rows: list[dict[str, Any]]) -> pa.RecordBatch:
    """The columns in the form in which they reach a task."""

    def whole(values: list[Any]) -> pa.Array:
        return pa.array([None if value is None else int(value) for value in values], pa.int32())

    v = [row["v"] for row in rows]
    least = [value if value is not None and value < 8 else None for value in v]
    return pa.record_batch(
        {
            "k": pa.array([row["k"] for row in rows], pa.string()),
            "(v > 5)": whole([None if value is None else value > 5 for value in v]),
            "b": whole([row["b"] for row in rows]),
            "v": pa.array(v, pa.int64()),
            "l": whole([None if row["l"] is None else 1 for row in rows]),
            "CASE WHEN (v < 8) THEN v END": pa.array(least, pa.int64()),
            "ts": pa.array([row["ts"] for row in rows], pa.int64()),
        }
    )


def wanted(rows: list[dict[str, Any]]) -> list[tuple[int, bytes]]:
    """The pieces of the cube that the library makes of a table."""
    cube = Cube(CubeDefinition.parse(PLAIN), DDL)
    types = {"k": pa.string(), "b": pa.bool_(), "v": pa.int64(), "ts": pa.timestamp("us", tz="UTC")}
    table = pa.table({name: pa.array([row[name] for row in rows], own) for name, own in types.items()})
    lists = pa.array([row["l"] for row in rows], pa.list_(pa.int32()))
    is_large = pa.array([None if row["v"] is None else row["v"] > 5 for row in rows], pa.bool_())
    cube.fold(table.append_column("l", lists).append_column("(v > 5)", is_large))
    return [(piece.pane, piece.to_bytes()) for piece in cube.pieces()]


@pytest.mark.parametrize("cut", [1, 7, 100])
def test_any_cut_into_batches_and_tasks_gives_the_cells_of_all(cut: int) -> None:
    # The layout travels to workers.
    rows, layout = rows_of(200), pickle.loads(pickle.dumps(FOLD.prepare(DEFINITION)))
    states = []
    for task in (rows[:90], rows[90:], []):
        state = FOLD.state(layout)
        for start in range(0, len(task), cut):
            columns = FOLD.columns(crossing(task[start : start + cut]))
            assert state.fold(columns, np.arange(columns.count, dtype=np.int64)) == 0
        states.append(state.to_bytes())
        assert state.nbytes > 0 or not task
    merged = FOLD.merge(layout, states)
    partial = CubePartial.of_bytes(layout, merged)
    assert [(piece.pane, piece.to_bytes()) for piece in partial.cells.pieces(layout)] == wanted(rows)
    assert partial.records == Counter(row["ts"] // HOUR_US for row in rows)
    # In any grouping it is the same.
    nested = CubePartial.of_bytes(layout, FOLD.merge(layout, [FOLD.merge(layout, states[:2]), states[2]]))
    assert [piece.to_bytes() for piece in nested.cells.pieces(layout)] == [own for _, own in wanted(rows)]


def test_some_rows_of_a_batch_are_folded_and_too_large_keys_are_counted() -> None:
    layout, rows = FOLD.prepare(DEFINITION), rows_of(10)
    rows[4]["k"] = "x" * (KEY_BYTES_MAX + 1)
    state = FOLD.state(layout)
    assert state.fold(FOLD.columns(crossing(rows)), np.array([1, 4, 8])) == 1
    partial = CubePartial.of_bytes(layout, state.to_bytes())
    assert [(piece.pane, piece.to_bytes()) for piece in partial.cells.pieces(layout)] == wanted([rows[1], rows[8]])
    assert sum(partial.records.values()) == 2
    # Values of rows that are not folded take no room.
    assert state.nbytes < KEY_BYTES_MAX


def test_a_compact_state_has_each_group_once() -> None:
    layout, rows = FOLD.prepare(DEFINITION), rows_of(50)
    state, once = FOLD.state(layout), FOLD.state(layout)
    for target, times in ((state, 8), (once, 1)):
        for _ in range(times):
            columns = FOLD.columns(crossing(rows))
            target.fold(columns, np.arange(columns.count, dtype=np.int64))
    assert state.nbytes > 4 * once.nbytes
    state.compact()
    assert state.nbytes < 2 * once.nbytes
    partial = CubePartial.of_bytes(layout, state.to_bytes())
    assert sum(partial.records.values()) == 8 * len(rows)


def test_values_are_again_what_they_were_and_texts_are_whole() -> None:
    batch = crossing(rows_of(3))
    damaged = pa.array([b"a", b"\xff\xfeb", None], pa.binary()).view(pa.string())
    columns = TaskColumns(batch.set_column(0, "k", damaged))
    found = {operand.sql: columns.array(operand) for operand in FOLD.prepare(DEFINITION).operands}
    assert found["b"].type == found["(v > 5)"].type == pa.bool_()
    assert found["ts"].type == pa.timestamp("us", tz="UTC")
    assert found["k"].to_pylist() == ["a", "\ufffd\ufffdb", None]
    assert found["l"].type == pa.int32()
