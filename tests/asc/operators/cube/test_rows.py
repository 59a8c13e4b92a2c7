"""Rows of answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from asc.operators.cube.columns import Columns
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.fold import folded
from asc.operators.cube.layout import Layout
from asc.operators.cube.question import Question
from asc.operators.cube.rows import rows_of
from asc.schema import Schema

SCHEMA = Schema.from_ddl("s STRING, i BIGINT")
PLAIN = {"dimensions": [["s"]], "measures": ["sum(i) AS total", "avg(i) AS mean", "max(s) AS last"]}
LAYOUT = Layout.of(CubeDefinition.parse(PLAIN, needs_time=False), SCHEMA)


def found(
    rows: list[tuple[str | None, int | None]], most: int = 10, skip: int = 0, **body: Any
) -> tuple[list[tuple[Any, ...]], int]:
    table = pa.table(
        {"s": pa.array([s for s, _ in rows], pa.string()), "i": pa.array([i for _, i in rows], pa.int64())}
    )
    cells = folded(LAYOUT, Columns(table, SCHEMA, "UTC")).cells
    question = Question.parse({"by": ["s"], **body}, LAYOUT.definition)
    answer = rows_of(LAYOUT, cells, (0,), question, most, skip=skip)
    made, groups = answer.rows, answer.groups
    return [(row["group"]["s"], *(row[name] for name in row if name != "group")) for row in made], groups


ROWS = [("b", 2), ("a", 2**62), ("a", 2**62), (None, None), ("c", -5), ("b", 1)]


def test_rows_are_in_the_order_of_groups() -> None:
    expected = [(None, None, None, None), ("a", 2**63, 2.0**62, "a"), ("b", 3, 1.5, "b"), ("c", -5, -5.0, "c")]
    assert found(ROWS) == (expected, 4)
    assert found(ROWS, most=2) == (expected[:2], 4)
    assert found(ROWS, most=0) == ([], 4)
    assert found(ROWS, most=2, skip=1) == (expected[1:3], 4)
    assert found(ROWS, skip=9) == ([], 4)


def test_rows_of_short_sums_are_integers_too() -> None:
    made, _ = found([("b", 2), (None, None), ("c", -5)], measures=["total"])
    assert made == [(None, None), ("b", 2), ("c", -5)]
    assert all(type(total) is int for _, total in made[1:])


def test_rows_are_ordered_by_measures_and_dimensions() -> None:
    assert [row[0] for row in found(ROWS, order=["total"])[0]] == [None, "c", "b", "a"]
    assert [row[0] for row in found(ROWS, order=["MEAN desc"])[0]] == ["a", "b", "c", None]
    assert [row[0] for row in found(ROWS, order=["s DESC"])[0]] == ["c", "b", "a", None]
    assert found(ROWS, order=["last DESC"], most=1)[0][0] == ("c", -5, -5.0, "c")
    assert [row[0] for row in found(ROWS, order=["total"], most=2, skip=1)[0]] == ["c", "b"]


def test_over_nothing_the_cuboid_without_dimensions_has_a_row() -> None:
    none = folded(LAYOUT, Columns(SCHEMA.arrow.empty_table(), SCHEMA, "UTC")).cells.rolled_up([])
    question = Question.parse({}, LAYOUT.definition)
    assert rows_of(LAYOUT, none, (), question, 5).rows == [{"group": {}, "total": None, "mean": None, "last": None}]
    assert not np.size(none.panes)
