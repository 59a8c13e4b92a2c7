"""Slices: the predicate of a group accepts that group and no other one, whatever its values are."""

from __future__ import annotations

from datetime import date, datetime, timezone
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from asc.operators.cube.cube import Cube
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.layout import Layout
from asc.operators.cube.slice_text import slice_text
from asc.schema import Schema

VALUES: dict[str, list[Any]] = {
    "BOOLEAN": [None, True, False],
    "TINYINT": [None, -128, 0, 127],
    "BIGINT": [None, -(2**63), -1, 0, 2**63 - 1],
    "DECIMAL(10, 2)": [None, Decimal("-1.50"), Decimal("0.00"), Decimal("99999999.99")],
    "DECIMAL(38, 0)": [None, Decimal(10**38 - 1), Decimal(-1)],
    "FLOAT": [None, 0.1, -1.5, float("nan"), float("inf"), float("-inf"), 1e-45, 0.0],
    "DOUBLE": [None, 0.1, 1e300, -5e-324, float("nan"), float("inf"), float("-inf"), 0.0, 3.0],
    "STRING": [
        *(None, "", "JFK", "O'HARE", '"', "\\", "\\'", "\\n", "\n", "a' OR 1 = 1 --", "%_", "Zürich", "\U0001f600"),
        *("`", "/* */", "\x00", "NULL", "x" * 4_000),
    ],
    "BINARY": [None, b"", b"\x00\xff'", b"JFK"],
    "DATE": [None, date(1, 1, 1), date(1969, 12, 31), date(9999, 12, 31)],
    "TIMESTAMP": [
        None,
        datetime(2013, 7, 10, 12, 0, 0, 1, timezone.utc),
        datetime(1969, 12, 31, 23, 59, 59, 999_999, timezone.utc),
        datetime(9999, 12, 31, tzinfo=timezone.utc),
    ],
    "TIMESTAMP_NTZ": [None, datetime(2013, 7, 10, 12), datetime(1, 1, 1)],
}


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("name", ["d", "`a b``c`"])
def test_a_slice_has_its_group_alone(kind: str, name: str) -> None:
    column = {"d": "d", "`a b``c`": "a b`c"}[name]
    schema = Schema.of(f"{name} {kind}, n INT")
    definition = CubeDefinition.parse({"dimensions": [[name], ["n"]], "measures": ["count(*) AS r"]}, needs_time=False)
    layout = Layout.of(definition, schema)
    cube = Cube(definition, schema)
    values = VALUES[kind]
    table = pa.table(
        {column: pa.array(values, schema.arrow.field(0).type), "n": pa.array(range(len(values)), pa.int32())}
    )
    cube.fold(table)
    rows = cube.query({"by": [name]})["rows"]
    assert len(rows) == len(values)
    for row in rows:
        where = slice_text(layout, row["group"])
        if row["group"][name] in ("NaN", "Infinity") and kind in ("FLOAT", "DOUBLE"):
            # No comparison with a constant tells one from the other.
            assert where is None
        else:
            assert cube.query({"by": [name], "where": where})["rows"] == [row], where


def test_a_time_is_local_to_the_stream_and_none_where_clocks_show_it_twice() -> None:
    schema = Schema.of("t TIMESTAMP")
    definition = CubeDefinition.parse({"dimensions": [["t"]], "measures": ["count(*)"]}, needs_time=False)
    layout = Layout.of(definition, schema, "Europe/Berlin")
    assert slice_text(layout, {"t": "2013-07-10T12:00:00Z"}) == "t = TIMESTAMP '2013-07-10 14:00:00'"
    found = [slice_text(layout, {"t": f"2013-10-27T{hour:02}:30:00Z"}) for hour in (0, 1, 2)]
    assert found == ["t = TIMESTAMP '2013-10-27 02:30:00'", None, "t = TIMESTAMP '2013-10-27 03:30:00'"]


def test_of_several_dimensions_all_count_and_of_none_each_record() -> None:
    schema = Schema.of("a STRING, b INT")
    definition = CubeDefinition.parse({"dimensions": [["a", "b"]], "measures": ["count(*)"]}, needs_time=False)
    layout = Layout.of(definition, schema)
    assert slice_text(layout, {"a": None, "b": -3}) == "a IS NULL AND b = -3"
    assert slice_text(layout, {}) == "TRUE"
