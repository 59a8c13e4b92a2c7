"""Sources of answers: the cells that WHERE accepts, with the keys that a question names and no other."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pyarrow as pa
import pytest

from asc.operators.cube.columns import Columns
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.fold import folded
from asc.operators.cube.layout import Layout
from asc.operators.cube.part import Part
from asc.operators.cube.question import Question
from asc.operators.cube.source import Source, needed
from asc.schema import Schema

SCHEMA = Schema.of("a STRING, b STRING, t TIMESTAMP")
DEFINITION = CubeDefinition.parse(
    {"dimensions": [["a"], ["b"]], "measures": ["count(*) AS n"], "time": "t", "grain_s": 60}
)
LAYOUT = Layout.of(DEFINITION, SCHEMA)


def source(**body: Any) -> Source:
    at = datetime(2026, 6, 1, tzinfo=timezone.utc)
    values = {"a": ["x", "x", "y", None], "b": ["p", "q", "p", "q"], "t": pa.array([at] * 4, pa.timestamp("us", "UTC"))}
    batch = pa.RecordBatch.from_pydict(
        {name: pa.array(own) if isinstance(own, list) else own for name, own in values.items()}
    )
    cells = folded(LAYOUT, Columns(batch, SCHEMA, "UTC")).cells
    return needed(LAYOUT, [Part.base(LAYOUT, cells)], Question.parse(body, DEFINITION))


@pytest.mark.parametrize(
    ("body", "columns", "cells"),
    [
        ({"by": ["a"]}, (0,), 4),
        ({"by": []}, (), 4),
        ({"by": ["a"], "where": "b = 'p'"}, (0, 1), 2),
        ({"by": ["a"], "where": "b = 'none'"}, (0, 1), 0),
        ({"by": ["a"], "where": "1 = 0"}, (0,), 0),
    ],
)
def test_it_has_the_cells_that_are_asked_for(body: dict[str, Any], columns: tuple[int, ...], cells: int) -> None:
    found = source(**body)
    assert (found.columns, found.count) == (columns, cells)


def test_a_coarser_cuboid_is_merged_once() -> None:
    fine = source(by=["a", "b"])
    coarse = fine.rolled_up(LAYOUT, (0,))
    assert (coarse.columns, coarse.cells.count) == ((0,), 3)
    assert coarse.rolled_up(LAYOUT, (0,)) is coarse
    assert coarse.rolled_up(LAYOUT, ()).cells.count == 1
