"""Parts of answers: the keys of a view's cells by the indices of dimensions."""

from __future__ import annotations

import pyarrow as pa

from asc.operators.cube.columns import Columns
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.fold import folded
from asc.operators.cube.layout import Layout
from asc.operators.cube.part import Part
from asc.operators.cube.view import View
from asc.schema import Schema

SCHEMA = Schema.of("a STRING, b STRING, c STRING")
DEFINITION = CubeDefinition.parse({"dimensions": [["a", "b"], ["c"]], "measures": ["count(*)"]}, needs_time=False)
LAYOUT = Layout.of(DEFINITION, SCHEMA)
RECORDS = pa.RecordBatch.from_pylist([{"a": "1", "b": "2", "c": "3"}, {"a": "4", "b": "5", "c": "6"}])


def values(part: Part, columns: list[int]) -> list[list[str]]:
    return [key.array().to_pylist() for key in part.keyed_by(columns).keys]


def test_its_keys_are_found_by_the_index_of_the_dimension() -> None:
    cells = folded(LAYOUT, Columns(RECORDS, SCHEMA, "UTC")).cells
    assert values(Part.base(LAYOUT, cells), [0, 2]) == [["1", "4"], ["3", "6"]]
    view = Part.of(LAYOUT, View((1, 1)), cells.rolled_up([0, 2]))
    assert view.columns == (0, 2)
    assert values(view, [2]) == [["3", "6"]]
    assert view.between(5, 9).count == 0
