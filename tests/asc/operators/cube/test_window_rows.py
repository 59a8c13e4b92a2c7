"""Rows of windows: keys, values and identities."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

from asc.operators.cube import portions as portions_module
from asc.operators.cube.cells import Cells
from asc.operators.cube.comparing import rolled_up
from asc.operators.cube.cube import Cube
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.output import Output
from asc.operators.cube.window_rows import WindowRow, WindowWriting
from tests.asc.operators.cube.peak_memory import peak_bytes

DEFINITION = CubeDefinition.parse(
    {
        "dimensions": [["a", "upper(b)"], ["c"]],
        "measures": ['count(*) AS `größe"`', "sum(x) AS s", "max(y) AS m"],
        "time": "t",
        "grain_s": 3600,
    }
)
DAY = 24


def written(*, revision: int = 0, is_late: bool = False) -> tuple[WindowWriting, Cube]:
    cube = Cube(DEFINITION, "a STRING, b STRING, c DOUBLE, x DECIMAL(38,0), y DOUBLE, t TIMESTAMP")
    cube.fold(
        pa.table(
            {
                "a": ['O"Hare'],
                "upper(b)": pa.array([None], pa.string()),
                "c": [float("nan")],
                "x": pa.array([10**30], pa.decimal128(38, 0)),
                "y": [float("inf")],
                "t": pa.array([1], pa.timestamp("us", "UTC")),
            }
        )
    )
    output = Output.parse({"output": [["upper(b)", "c"], []], "window_s": 86_400, "slide_s": 86_400}, DEFINITION)
    assert output is not None
    return WindowWriting("late", "0123456789abcdef", cube.layout, output), cube


def test_a_row_has_its_group_its_window_and_its_measures_as_answers_have_them() -> None:
    writing, cube = written()
    cells = rolled_up(cube.layout, [cube.cells], writing.columns(0))
    (row,) = writing.rows(cells, 1, 0, revision=3, is_whole=False, is_late=True)
    assert json.loads(row.key) == {
        "cuboid": ["a", "upper(b)", "c"],
        "group": {"a": 'O"Hare', "upper(b)": None, "c": "NaN"},
    }
    assert row.value is not None
    answered = cube.query({"by": ["upper(b)", "c"]})["rows"][0]
    assert json.loads(row.value) == {
        "query": "late",
        "window": ["1970-01-01T00:00:00Z", "1970-01-02T00:00:00Z"],
        **{name: value for name, value in answered.items() if name != "group"},
        "revision": 3,
        "whole": False,
    }
    assert 'größe\\"'.encode() in row.value
    assert (row.kind, row.identity) == (
        "revision",
        "late/0123456789abcdef@1970-01-02T00:00:00Z/a,upper(b),c#3",
    )


def test_the_cuboid_of_all_records_and_a_tombstone() -> None:
    writing, cube = written()
    cells = rolled_up(cube.layout, [cube.cells], ())
    (row,) = writing.rows(cells, 2, 1, revision=0, is_whole=True)
    assert (row.kind, row.key) == ("window", b'{"cuboid":[],"group":{}}')
    assert row.identity == "late/0123456789abcdef@1970-01-03T00:00:00Z/()#0"
    (gone,) = writing.tombstones(cells, 3, 1, revision=1)
    assert (gone.kind, gone.key, gone.value) == ("tombstone", row.key, None)
    assert gone.identity == "late/0123456789abcdef@1970-01-04T00:00:00Z/()#1"
    assert list(writing.rows(cells.slice(0, 0), 2, 1, revision=0, is_whole=True)) == []


def many(count: int) -> tuple[WindowWriting, Cells]:
    """Cells of many groups, and the writing of their rows."""
    measures = [*(f"sum(x) AS s{place}" for place in range(5)), "avg(x) AS a", "avg(y) AS b", "max(z) AS m"]
    plain = {"dimensions": [["k"]], "measures": measures, "time": "t", "grain_s": 3_600}
    definition = CubeDefinition.parse(plain)
    cube = Cube(definition, "k STRING, x BIGINT, y DOUBLE, z STRING, t TIMESTAMP")
    places = np.arange(count)
    cube.fold(
        pa.table(
            {
                "k": [f"group {place}" for place in range(count)],
                # Some are beyond what a double represents exactly.
                "x": np.where(places % 1_000 == 7, 2**62 + places, places),
                "y": places / 3,
                "z": [None if place % 5 == 0 else "z" * (place % 9) for place in range(count)],
                "t": pa.array([1] * count, pa.timestamp("us", "UTC")),
            }
        )
    )
    output = Output.parse({"output": [["k"]], "window_s": 3_600, "slide_s": 3_600}, definition)
    assert output is not None
    return WindowWriting("late", "0123456789abcdef", cube.layout, output), cube.cells


def test_rows_of_any_portions_are_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    writing, cells = many(2_100)

    def rows() -> list[WindowRow]:
        gone = writing.tombstones(cells, 1, 0, revision=0)
        return [*writing.rows(cells, 1, 0, revision=0, is_whole=True), *gone]

    whole = rows()
    assert len(whole) == 4_200
    for cells_most, bytes_most in ((1_000, 1 << 20), (7, 1 << 20), (1_000, 200)):
        monkeypatch.setattr(portions_module, "_CELLS_MOST", cells_most)
        monkeypatch.setattr(portions_module, "_BYTES_MOST", bytes_most)
        assert rows() == whole


def test_the_values_of_a_portion_alone_are_in_memory() -> None:
    writing, cells = many(120_000)

    def written() -> None:
        assert sum(1 for _ in writing.rows(cells, 1, 0, revision=0, is_whole=True)) == cells.count
        assert sum(1 for _ in writing.tombstones(cells, 1, 0, revision=0)) == cells.count

    # All values at once take more than five times as much.
    assert peak_bytes(written) <= 14 << 20
