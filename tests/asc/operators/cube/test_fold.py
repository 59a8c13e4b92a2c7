"""Records into cells."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from asc.operators.cube.columns import Columns
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.fold import KEY_BYTES_MAX, Folded, folded
from asc.operators.cube.layout import Layout
from asc.schema import Schema

SCHEMA = Schema.from_ddl("s STRING, z BINARY, i INT, ts TIMESTAMP")
PLAIN = {"dimensions": [["s"], ["z"]], "measures": ["count(*) AS n", "sum(i) AS total"], "time": "ts", "grain_s": 60}
LAYOUT = Layout.of(CubeDefinition.parse(PLAIN), SCHEMA)
TIMELESS = Layout.of(CubeDefinition.parse({**PLAIN, "time": None, "grain_s": None}, needs_time=False), SCHEMA)
Rows = list[dict[str, Any]]


def fold(rows: Rows, layout: Layout = LAYOUT, chosen: list[int] | None = None) -> Folded:
    columns = Columns(pa.Table.from_pylist(rows, SCHEMA.arrow), SCHEMA, "UTC")
    return folded(layout, columns, None if chosen is None else np.array(chosen, dtype=np.int64))


def listed(found: Folded) -> list[tuple[Any, ...]]:
    keys = [key.array().to_pylist() for key in found.cells.keys]
    counts = found.cells.states[0].to_pylist()
    return list(zip(found.cells.panes.tolist(), *keys, counts, strict=True))


def test_cells_are_sorted_by_pane_then_key() -> None:
    rows: list[dict[str, Any]] = [
        {"s": s, "ts": second * 1_000_000} for second, s in ((60, "a"), (0, "b"), (59, "b"), (0, None), (-1, "z"))
    ]
    found = fold(rows)
    assert listed(found) == [(-1, "z", None, 1), (0, None, None, 1), (0, "b", None, 2), (1, "a", None, 1)]
    assert (found.counted, found.time, found.too_large) == (5, 0, 0)
    assert found.by_pane == {-1: 1, 0: 3, 1: 1}


def test_chosen_records_are_folded_alone() -> None:
    rows: Rows = [{"s": "a", "ts": 0}, {"s": "b", "ts": 0}, {"s": "a", "ts": 0}, {"s": "c"}]
    found = fold(rows, chosen=[0, 2, 3])
    assert listed(found) == [(0, "a", None, 2)]
    assert (found.counted, found.time) == (2, 1)
    assert fold(rows, chosen=[]).cells.count == 0


def test_the_chosen_places_stay_the_caller_s() -> None:
    given = np.array([0, 1], dtype=np.int64)
    table = pa.Table.from_pylist([{"s": "a", "ts": 0}] * 2, SCHEMA.arrow)
    assert folded(LAYOUT, Columns(table, SCHEMA, "UTC"), given).counted == 2
    assert given.flags.writeable


def test_without_a_time_there_is_one_pane() -> None:
    found = fold([{"s": "a"}, {"s": "a", "ts": 7}], TIMELESS)
    assert listed(found) == [(0, "a", None, 2)]


def test_a_key_of_too_many_bytes_is_excluded() -> None:
    half = KEY_BYTES_MAX // 2
    rows: Rows = [
        {"s": "a" * half, "z": b"b" * half, "ts": 0},
        {"s": "a" * half, "z": b"b" * (half + 1), "ts": 0},
        {"s": "é" * half, "ts": 0},
        {"s": "é" * half, "z": b"b", "ts": 0},
        {"ts": 0},
    ]
    found = fold(rows)
    assert (found.counted, found.too_large) == (3, 2)
    assert [count for *_, count in listed(found)] == [1, 1, 1]


def test_nothing_folds_to_no_cells() -> None:
    for found in (fold([]), fold([{"s": "a"}])):
        assert found.cells.count == 0
        assert [own.type for own in found.cells.states] == [slot.state.storage for slot in LAYOUT.slots]
