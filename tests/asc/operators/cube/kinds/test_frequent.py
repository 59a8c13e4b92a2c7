"""The measure ``frequent``, and the question for its first items."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from asc.errors import CubeError
from asc.operators.cube.cube import Cube
from asc.operators.cube.definition import CubeDefinition

ROWS = pa.table(
    {
        "host": ["a"] * 7 + ["b"] * 2,
        "url": ["/x", "/x", "/x", "/y", "/y", "/z", None, "/q", "/q"],
        "price": pa.array([Decimal(count) for count in (1, 1, 2, 2, 2, 3, 3, 4, 4)], pa.decimal128(4, 1)),
    }
)


def cube(*measures: str, table: pa.Table = ROWS) -> Cube:
    """Return a cube over a table, folded in two parts."""
    found = Cube(CubeDefinition.parse({"dimensions": [["host"]], "measures": measures}, needs_time=False), table.schema)
    found.fold(table.slice(0, 4))
    found.fold(table.slice(4))
    return found


def asked(own: Cube, *measures: str, by: tuple[str, ...] = ("host",)) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = own.query({"by": list(by), "measures": list(measures)})["rows"]
    return rows


def item(value: object, count: int) -> dict[str, object]:
    return {"item": value, "estimate": count, "low": count, "high": count, "confidence": 1.0}


def test_the_items_of_each_group_by_descending_count() -> None:
    a, b = asked(cube("frequent(url) AS top"), "top", "frequent(url, 1)")
    assert a["top"] == {"values": 6, "bound": 0, "items": [item("/x", 3), item("/y", 2), item("/z", 1)]}
    assert b["top"] == {"values": 2, "bound": 0, "items": [item("/q", 2)]}
    assert a["frequent(url, 1)"] == {"values": 6, "bound": 0, "items": [item("/x", 3)]}


def test_the_groups_are_rolled_up() -> None:
    (row,) = asked(cube("frequent(price, 10) AS prices"), "frequent(price, 2)", by=())
    assert row["frequent(price, 2)"]["items"] == [item("2.0", 3), item("1.0", 2)]


def test_beyond_the_capacity_the_bound_is_reported() -> None:
    (row,) = asked(cube("frequent(url, 2) AS top"), "top", by=())
    first, second = row["top"]["items"]
    assert first == item("/x", 3)
    assert (second["item"], second["low"], second["high"]) == ("/q", 2, 3)
    # "/y" occurred twice.
    assert row["top"]["bound"] == 2 <= 8 / 3


def test_nothing_has_no_items() -> None:
    own = cube("frequent(url) AS top")
    (row,) = own.query({"by": [], "where": "host = 'zzz'"})["rows"]
    assert row["top"] == {"values": 0, "bound": 0, "items": []}


@pytest.mark.parametrize(
    ("measure", "remedy"),
    [
        ("frequent(url, 0)", "keep 1 to 4,096 items"),
        ("frequent(url, 4097)", "keep 1 to 4,096 items"),
        ("frequent(url, 2.5)", "keep 1 to 4,096 items"),
        ("frequent(url, 'a')", "keep 1 to 4,096 items"),
        ("frequent(url, 5, 6)", "has 3 arguments: write frequent"),
        ("frequent(url, price)", "has 'price', which is no constant"),
        ("frequent()", "has no argument"),
    ],
)
def test_a_declaration_is_refused_in_one_line(measure: str, remedy: str) -> None:
    with pytest.raises(CubeError, match=remedy) as caught:
        cube(measure)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("measure", "remedy"),
    [
        ("frequent(url, 0)", "asks for 0 items: write the number of items, 1 or more"),
        ("frequent(url, true)", "asks for True items"),
        ("frequent(url, 65)", r"asks for more items than the 64 of a cell: declare frequent\(x, 65\)"),
        ("frequent(price)", r"declare the measure frequent\(price\)"),
    ],
)
def test_a_question_is_refused_in_one_line(measure: str, remedy: str) -> None:
    with pytest.raises(CubeError, match=remedy) as caught:
        asked(cube("frequent(url) AS top"), measure)
    assert "\n" not in str(caught.value)


def test_values_that_are_not_plain_are_refused() -> None:
    with pytest.raises(CubeError, match="takes plain values, and tags is ARRAY<STRING>: CAST it"):
        cube("frequent(tags)", table=pa.table({"host": ["a"], "tags": [["x"]]}))


def test_answers_without_an_order_cannot_order_rows() -> None:
    with pytest.raises(CubeError, match="has answers without an order"):
        cube("frequent(url) AS top").query({"by": ["host"], "order": ["top DESC"]})
