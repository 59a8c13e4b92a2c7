"""Series: the points of a measure are the answers of their intervals."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pyarrow as pa
import pytest

from asc.operators.cube.answer import answer
from asc.operators.cube.columns import Columns
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.fold import folded
from asc.operators.cube.layout import Layout
from asc.operators.cube.part import Part
from asc.operators.cube.points import Points
from asc.operators.cube.question import Question
from asc.operators.cube.series import is_number, series
from asc.schema import Schema

SCHEMA = Schema.of("k STRING, x DOUBLE, ts TIMESTAMP")
MEASURES = ["count(*) AS n", "sum(x) AS s", "min(k) AS least", "avg(x) AS mean", "count(x) AS m"]
DEFINITION = CubeDefinition.parse({"dimensions": [["k"]], "measures": MEASURES, "time": "ts", "grain_s": 60})
LAYOUT = Layout.of(DEFINITION, SCHEMA)
BEGIN = datetime(2026, 6, 1, tzinfo=timezone.utc)

RECORDS = [("a", 1.5, 0), ("b", -4.0, 0), ("a", None, 2), ("b", float("nan"), 3), ("a", 2.0, 8)]
"""Key, value and minute."""


def cells_of(records: list[tuple[str, float | None, int]]) -> Any:
    kinds = pa.schema([("k", pa.string()), ("x", pa.float64()), ("ts", pa.timestamp("us", "UTC"))])
    rows = [{"k": k, "x": x, "ts": BEGIN + timedelta(minutes=minute)} for k, x, minute in records]
    return folded(LAYOUT, Columns(pa.RecordBatch.from_pylist(rows, kinds), SCHEMA, "UTC")).cells


def found(measure: int, points: tuple[int, int] = (1, 9), **body: Any) -> Any:
    """Return the series of a measure. ``points``: the length of the points, and their number."""
    question = Question.parse({"by": ["k"], **body}, DEFINITION)
    read = [part.between(question.first, question.end) for part in (cells_of(RECORDS[:3]), cells_of(RECORDS[3:]))]
    first = round(BEGIN.timestamp()) // 60 if question.first is None else question.first
    parts = [Part.base(LAYOUT, cells) for cells in read]
    return series(LAYOUT, parts, question, LAYOUT.measures[measure], Points(first, *points))


def test_each_pane_is_a_point_and_panes_without_records_have_none() -> None:
    own = found(0)
    assert (own.panes, own.points, own.values, own.over_nothing) == (1, 9, {0: 2.0, 2: 1.0, 3: 1.0, 8: 1.0}, 0.0)
    assert own.first * 60 == BEGIN.timestamp()
    # NULL and NaN are no points.
    assert (found(1).values, found(1).over_nothing) == ({0: -2.5, 8: 2.0}, None)
    assert found(4).over_nothing == 0.0


def test_many_panes_are_merged_into_as_many_points_as_fit() -> None:
    own = found(3, (3, 3))
    assert (own.panes, own.points) == (3, 3)
    for point, value in own.values.items():
        first = BEGIN + timedelta(minutes=3 * point)
        body = {"by": [], "from": first.isoformat(), "to": (first + timedelta(minutes=3)).isoformat()}
        question = Question.parse(body, DEFINITION)
        assert answer(LAYOUT, [Part.base(LAYOUT, cells_of(RECORDS))], question)["rows"][0]["mean"] == value
    assert found(0, (9, 1)).values == {0: 5.0}


def test_an_interval_and_where_bound_it() -> None:
    own = found(0, (1, 3), **{"from": "2026-06-01T00:02:00Z", "to": "2026-06-01T00:05:00Z", "where": "k = 'b'"})
    assert (own.points, own.values) == (3, {1: 1.0})
    assert found(0, where="k = 'none'") is None


@pytest.mark.parametrize(("place", "drawn"), [(0, True), (1, True), (2, False), (3, True)])
def test_only_numbers_are_drawn(place: int, drawn: bool) -> None:
    assert is_number(LAYOUT.measures[place]) == drawn
