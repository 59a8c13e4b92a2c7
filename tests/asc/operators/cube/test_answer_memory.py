"""Memory of answers: what is reserved before each step is no less than the step takes, for the worst cells."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import pyarrow as pa
import pytest

from asc.operators.cube.answer import answer
from asc.operators.cube.answer_memory import rows_bytes
from asc.operators.cube.cells import Cells
from asc.operators.cube.cube import Cube
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.layout import Layout
from asc.operators.cube.part import Part
from asc.operators.cube.pivot import Axes, pivot
from asc.operators.cube.points import Points
from asc.operators.cube.question import Question
from asc.operators.cube.series import series
from tests.asc.operators.cube.peak_memory import peak_bytes

SLACK_BYTES = 1 << 20
"""Of what does not grow with the cells: the compiled expression of a predicate, its parser, imports."""
LIMIT = 100_000


def texts(part: int, count: int, width: int, end: str = "") -> list[str]:
    return [f"{part:04}{each:08}".ljust(width, "x") + end for each in range(count)]


def numbers_of(part: int, count: int) -> dict[str, Any]:
    """Few values of each dimension, the same in each part."""
    own = range(count)
    return {
        "a": [f"a{each % 50}" for each in own],
        "b": [f"b{each // 50 % 20}" for each in own],
        "c": pa.array([each // 1_000 for each in own], pa.int32()),
        "x": list(own),
        "y": [each / 7 for each in own],
    }


Shape = tuple[dict[str, Any], str, Callable[[int, int], dict[str, Any]], int]
PLAIN = ["count(*) AS n", "sum(x) AS s", "avg(y) AS m", "min(x) AS low"]
SHAPES: dict[str, Shape] = {
    "numbers": (
        {"dimensions": [["a"], ["b"], ["c"]], "measures": PLAIN},
        "a STRING, b STRING, c INT, x BIGINT, y DOUBLE",
        numbers_of,
        20_000,
    ),
    "co-moments": (
        {
            "dimensions": [["a"], ["b"], ["c"]],
            "measures": ["corr(x, y) AS n", "regr_intercept(y, x) AS s", "stddev(x) AS m", "count(*) AS low"],
        },
        "a STRING, b STRING, c INT, x BIGINT, y DOUBLE",
        numbers_of,
        20_000,
    ),
    "stats": (
        {"dimensions": [["a"], ["b"], ["c"]], "measures": ["stats(x, y) AS n"]},
        "a STRING, b STRING, c INT, x BIGINT, y DOUBLE",
        numbers_of,
        20_000,
    ),
    "texts": (
        {"dimensions": [["a"], ["b"]], "measures": ["count(*) AS n"]},
        "a STRING, b INT",
        lambda part, count: {
            "a": texts(part, count, 200),
            "b": pa.array([each % 7 for each in range(count)], pa.int32()),
        },
        8_000,
    ),
    "wide texts": (
        {"dimensions": [["a"]], "measures": ["count(*) AS n"]},
        "a STRING",
        lambda part, count: {"a": texts(part, count, 1_000, "\N{GRINNING FACE}")},
        3_000,
    ),
    "binary": (
        {"dimensions": [["a"]], "measures": ["count(*) AS n"]},
        "a BINARY",
        lambda part, count: {"a": pa.array([own.encode() for own in texts(part, count, 1_000)], pa.binary())},
        3_000,
    ),
    "extremes of texts": (
        {"dimensions": [["a"]], "measures": ["count(*) AS n", "max(t) AS t"]},
        "a INT, t STRING",
        lambda part, count: {"a": pa.array(range(count), pa.int32()), "t": texts(part, count, 300)},
        8_000,
    ),
    "frequent items": (
        {"dimensions": [["a"]], "measures": ["count(*) AS n", "frequent(t, 5) AS top"]},
        "a INT, t STRING",
        lambda part, count: {
            "a": pa.array([each // 3 for each in range(count)], pa.int32()),
            "t": texts(part, count, 300, "\N{GRINNING FACE}"),
        },
        8_000,
    ),
    "sets of values": (
        {
            "dimensions": [["a"], ["b"]],
            "measures": ["count(*) AS n", "seen(x, 100) AS few", "seen(x, 1000) AS v", "seen(t, 5) AS texts"],
        },
        "a INT, b INT, x BIGINT, t STRING",
        lambda part, count: {
            "a": pa.array([each % 40 for each in range(count)], pa.int32()),
            "b": pa.array([each // 40 % 9 for each in range(count)], pa.int32()),
            "x": list(range(part * count, (part + 1) * count)),
            "t": texts(part, count, 30),
        },
        40_000,
    ),
    "many dimensions": (
        {"dimensions": [[f"d{each}"] for each in range(10)], "measures": PLAIN},
        f"{', '.join(f'd{each} INT' for each in range(10))}, x BIGINT, y DOUBLE",
        lambda part, count: {
            **{f"d{each}": pa.array([row >> each for row in range(count)], pa.int32()) for each in range(10)},
            "x": list(range(count)),
            "y": [row / 3 for row in range(count)],
        },
        8_000,
    ),
    "panes": (
        {"dimensions": [["a"]], "measures": ["count(*) AS n", "sum(x) AS s"], "time": "ts", "grain_s": 60},
        "a INT, x BIGINT, ts TIMESTAMP",
        lambda part, count: {
            "a": pa.array([row % 40 for row in range(count)], pa.int32()),
            "x": list(range(count)),
            "ts": pa.array([(part + 4 * row) * 120_000_000 for row in range(count)], pa.timestamp("us", "UTC")),
        },
        20_000,
    ),
}


@cache
def cells_of(shape: str) -> tuple[Layout, tuple[Cells, ...]]:
    """The cells of a shape in four parts, each of its own dictionaries."""
    plain, schema, table_of, count = SHAPES[shape]
    cubes = [Cube(CubeDefinition.parse(plain, needs_time=False), schema) for _ in range(4)]
    for part, cube in enumerate(cubes):
        cube.fold(pa.table(table_of(part, count)))
    return cubes[0].layout, tuple(cube.cells for cube in cubes)


class Reserved:
    """The bytes that are reserved, and the most of them."""

    def __init__(self) -> None:
        self.held = self.most = 0

    def __call__(self, size_bytes: int) -> None:
        self.held += size_bytes
        self.most = max(self.most, self.held)


def check(shape: str, work: Callable[[Layout, list[Cells], Reserved], object]) -> None:
    layout, parts = cells_of(shape)
    # What is loaded and compiled once.
    work(layout, [part.slice(0, 2) for part in parts], Reserved())
    reserved = Reserved()
    peak = peak_bytes(partial(work, layout, list(parts), reserved))
    assert peak <= reserved.most + SLACK_BYTES, f"{peak:,} bytes, {reserved.most:,} reserved"
    # And not many times as much: what is refused would really not fit.
    assert reserved.most <= 4 * peak + SLACK_BYTES, f"{peak:,} bytes, {reserved.most:,} reserved"


@pytest.mark.parametrize(
    ("shape", "body"),
    [
        ("numbers", {"by": ["a", "b", "c"], "limit": 1}),
        ("numbers", {"by": ["a", "b", "c"], "limit": LIMIT}),
        ("co-moments", {"by": ["a", "b", "c"], "limit": 1}),
        ("co-moments", {"by": ["a", "b", "c"], "order": ["n", "s DESC", "m"], "limit": LIMIT}),
        ("numbers", {"by": [["a", "b"], ["b", "c"], ["a"], []], "order": ["s DESC", "m"], "limit": LIMIT}),
        ("numbers", {"by": ["a", "b", "c"], "order": ["n", "s DESC", "m", "low", "a", "b", "c"], "limit": LIMIT}),
        ("stats", {"by": ["a", "b", "c"], "limit": LIMIT}),
        ("stats", {"by": ["a", "b", "c"], "measures": ["regression(y, x)", "bounds(x, 2)"], "limit": LIMIT}),
        ("stats", {"by": ["a", "b", "c"], "order": ["bounds(x, 2) DESC", "corr(x, y)"], "limit": 1}),
        ("texts", {"by": ["a"], "limit": 1}),
        ("texts", {"by": ["a", "b"], "limit": LIMIT}),
        ("texts", {"by": ["a"], "order": ["a DESC"], "limit": LIMIT}),
        ("texts", {"by": ["b"], "where": "a > '0001' OR a LIKE '%99%'", "limit": 1}),
        ("texts", {"by": ["a"], "where": "a <> 'x' AND b > 1", "limit": LIMIT}),
        ("wide texts", {"by": ["a"], "limit": LIMIT}),
        ("binary", {"by": ["a"], "limit": LIMIT}),
        ("extremes of texts", {"by": ["a"], "limit": LIMIT}),
        ("extremes of texts", {"by": [], "limit": 1}),
        ("extremes of texts", {"by": ["a"], "order": ["t DESC"], "limit": LIMIT}),
        ("many dimensions", {"by": [f"d{each}" for each in range(10)], "limit": LIMIT}),
        ("many dimensions", {"by": [["d0"], ["d1"], ["d2", "d3"], []], "limit": 1}),
        ("panes", {"by": ["a"], "grain": "1d", "limit": LIMIT}),
        ("panes", {"by": ["a"], "grain": "1d", "hours": "1-13", "order": ["pane DESC"], "limit": LIMIT}),
        ("panes", {"by": [["a"], []], "hours": "22-2", "limit": 1}),
    ],
)
def test_an_answer_takes_no_more_than_is_reserved(shape: str, body: dict[str, Any]) -> None:
    check(
        shape,
        lambda layout, parts, reserved: answer(
            layout, base_parts(layout, parts), Question.parse(body, layout.definition, "Europe/Berlin"), reserved
        ),
    )


def base_parts(layout: Layout, parts: list[Cells]) -> list[Part]:
    return [Part.base(layout, cells) for cells in parts]


@pytest.mark.parametrize(
    ("shape", "down", "across"), [("numbers", ["a"], ["b"]), ("texts", ["a"], ["b"]), ("extremes of texts", ["a"], [])]
)
def test_a_pivot_and_a_series_take_no_more_than_is_reserved(shape: str, down: list[str], across: list[str]) -> None:
    def look(layout: Layout, parts: list[Cells], reserved: Reserved) -> None:
        dimensions = layout.definition.dimensions
        axes = Axes.of(down, across, dimensions)
        body = {"by": axes.sets(dimensions), "order": ["n DESC"], "limit": 50}
        question = Question.parse(body, layout.definition)
        pivot(layout, base_parts(layout, parts), question, axes, columns_most=12, reserve=reserved)
        panes = [pane for part in parts for pane in (int(part.panes.min()), int(part.panes.max()) + 1)]
        points = Points(min(panes), -(-(max(panes) - min(panes)) // 240), 240)
        series(layout, base_parts(layout, parts), question, layout.measures[0], points, reserve=reserved)

    check(shape, look)


def test_states_that_become_no_texts_are_reserved_as_numbers() -> None:
    layout, parts = cells_of("co-moments")
    plain, plain_parts = cells_of("numbers")
    cells, numbers = parts[0], plain_parts[0]
    assert sum(state.nbytes for state in cells.states) > 100 * cells.count
    assert rows_bytes(cells, layout.measures[:3]) == rows_bytes(numbers, plain.measures[:3])
