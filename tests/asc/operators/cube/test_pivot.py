"""Pivots: every cell, row and total is that of the answer with these grouping sets, whatever part is shown."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from asc.errors import CubeError
from asc.operators.cube.answer import answer
from asc.operators.cube.cells import Cells
from asc.operators.cube.columns import Columns
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.fold import folded
from asc.operators.cube.layout import Layout
from asc.operators.cube.part import Part
from asc.operators.cube.pivot import Axes, Pivot, pivot
from asc.operators.cube.question import Question
from asc.schema import Schema

SCHEMA = Schema.of("origin STRING, dest STRING, carrier STRING, delay INT, ts TIMESTAMP")
DEFINITION = CubeDefinition.parse(
    {
        "dimensions": [["origin", "dest"], ["carrier"]],
        "measures": ["count(*) AS n", "sum(delay) AS d", "min(delay) AS least", "avg(delay) AS mean"],
        "time": "ts",
        "grain_s": 3_600,
    }
)
LAYOUT = Layout.of(DEFINITION, SCHEMA)


def parts() -> list[Cells]:
    drawn = random.Random(7)
    found = []
    for _ in range(3):
        rows = [
            {
                "origin": drawn.choice([None, "JFK", "EWR"]),
                "dest": drawn.choice([None, "BOS", "MIA", "SFO"]),
                "carrier": drawn.choice([None, "B6", "UA", "DL", "AA"]),
                "delay": drawn.choice([None, -5, 0, 9]),
                "ts": drawn.randrange(4) * 3_600_000_000,
            }
            for _ in range(60)
        ]
        kinds = [*((name, pa.string()) for name in ("origin", "dest", "carrier")), ("delay", pa.int32())]
        schema = pa.schema([*kinds, ("ts", pa.timestamp("us", "UTC"))])
        batch = pa.RecordBatch.from_pylist(rows, schema)
        found.append(folded(LAYOUT, Columns(batch, SCHEMA, "UTC")).cells)
    return found


PARTS = parts()


def asked(down: list[str], across: list[str], **body: Any) -> tuple[Pivot, Question]:
    axes = Axes.of(down, across, DEFINITION.dimensions)
    skip, own = body.pop("skip", 0), {name: body.pop(name) for name in ("columns_skip",) if name in body}
    question = replace(Question.parse({"by": axes.sets(DEFINITION.dimensions), **body}, DEFINITION), skip=skip)
    read = [part.between(question.first, question.end) for part in PARTS]
    return pivot(LAYOUT, [Part.base(LAYOUT, cells) for cells in read], question, axes, columns_most=3, **own), question


def rows(by: list[str], **body: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = answer(
        LAYOUT, [Part.base(LAYOUT, cells) for cells in PARTS], Question.parse({"by": by, **body}, DEFINITION)
    )["rows"]
    return found


@pytest.mark.parametrize(
    ("down", "across"),
    [
        (["origin"], ["carrier"]),
        (["origin", "dest"], ["carrier"]),
        (["carrier"], ["origin", "dest"]),
        ([], ["carrier"]),
        (["carrier"], []),
        ([], []),
    ],
)
@pytest.mark.parametrize(
    "body",
    [
        {},
        {"where": "dest = 'BOS' OR carrier IS NULL"},
        {"order": ["d DESC"], "limit": 2, "skip": 1},
        {"limit": 2, "skip": 1, "columns_skip": 1},
        {"from": "1970-01-01T01:00:00Z", "to": "1970-01-01T03:00:00Z", "limit": 1},
        {"where": "carrier = 'none'"},
    ],
)
def test_it_is_a_part_of_the_answer_with_its_grouping_sets(
    down: list[str], across: list[str], body: dict[str, Any]
) -> None:
    found, question = asked(down, across, **body)
    own = {name: value for name, value in body.items() if name in ("where", "from", "to")}
    in_order = rows(down, **own, **({"order": body["order"]} if "order" in body else {}))
    assert found.rows == in_order[question.skip : question.skip + question.limit]
    assert found.row_count == len(in_order)
    assert found.total == rows([], **own)[0]
    columns = rows(across, **own) if across else []
    skip = body.get("columns_skip", 0)
    assert (found.columns, found.column_count) == (columns[skip : skip + 3], len(columns))
    both = {tuple(sorted(row["group"].items())): row for row in rows([*down, *across], **own)}
    expected = {
        (r, c): both[key]
        for r, row in enumerate(found.rows)
        for c, column in enumerate(found.columns)
        if (key := tuple(sorted({**row["group"], **column["group"]}.items()))) in both
    }
    assert found.cells == expected


def test_one_dimension_is_on_one_axis() -> None:
    with pytest.raises(CubeError, match="across 'dest': is of a dimension that the rows have"):
        Axes.of(["origin"], ["dest"], DEFINITION.dimensions)
    with pytest.raises(CubeError, match="'tail': is no dimension"):
        Axes.of(["tail"], [], DEFINITION.dimensions)


def test_the_sets_are_those_of_cells_rows_columns_and_the_total() -> None:
    axes = Axes.of(["carrier"], ["dest"], DEFINITION.dimensions)
    sets = [["origin", "dest", "carrier"], ["carrier"], ["origin", "dest"], []]
    assert axes.sets(DEFINITION.dimensions) == sets
    assert Axes.of([], [], DEFINITION.dimensions).sets(DEFINITION.dimensions) == [[]]


def test_sums_that_are_too_large_are_counted_wherever_they_are_shown() -> None:
    definition = CubeDefinition.parse({"dimensions": [["k"], ["l"]], "measures": ["sum(x) AS s"]}, needs_time=False)
    schema = Schema.of("k STRING, l STRING, x DECIMAL(38, 0)")
    layout = Layout.of(definition, schema)
    most = 10**38 - 1
    values = {"k": ["a", "a"], "l": ["b", "b"], "x": pa.array([most, most], pa.decimal128(38, 0))}
    batch = pa.RecordBatch.from_pydict({**values, "k": pa.array(values["k"]), "l": pa.array(values["l"])})
    cells = folded(layout, Columns(batch, schema, "UTC")).cells
    axes = Axes.of(["k"], ["l"], definition.dimensions)
    question = Question.parse({"by": axes.sets(definition.dimensions)}, definition)
    # Of the row, the column, the cell and the total.
    assert pivot(layout, [Part.base(layout, cells)], question, axes, columns_most=1).overflows == 4
