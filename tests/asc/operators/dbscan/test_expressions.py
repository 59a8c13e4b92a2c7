"""Expressions of DBSCAN queries."""

from __future__ import annotations

from typing import Any

import pytest

from asc.errors import DbscanError
from asc.operators.dbscan.definition import DbscanDefinition
from asc.operators.dbscan.expressions import DbscanExpressions
from asc.schema import Schema

SCHEMA = Schema.from_ddl(
    "x DOUBLE, y DECIMAL(9, 4), n INT, s STRING, ts TIMESTAMP, b BOOLEAN, at STRUCT<lon: DOUBLE>, raw BINARY"
)
PLAIN: dict[str, Any] = {"attributes": ["x", "y"], "eps": 0.5, "min_samples": 5, "window_s": 600, "slide_s": 60}


def read(schema: Schema = SCHEMA, **changed: Any) -> DbscanExpressions:
    plain = {name: own for name, own in {**PLAIN, **changed}.items() if own is not None}
    return DbscanExpressions.of(DbscanDefinition.parse(plain, needs_time=False), schema, "UTC")


def test_plain_columns_are_told_from_what_is_computed() -> None:
    found = read(attributes=["x", "at.lon", "n", "y * 2"], time="ts", key="s")
    assert [own.path for own in found.values] == [("x",), ("at", "lon"), ("n",), None]
    assert found.time is not None
    assert found.key is not None
    assert (found.time.path, found.key.path) == (("ts",), ("s",))
    assert read().time is None


def test_a_position_is_two_numbers() -> None:
    found = read(attributes=None, position="ST_Point(at.lon, n + 1)")
    assert [own.path for own in found.values] == [("at", "lon"), None]
    assert found.values[0].sql == "CAST((at.lon) AS DOUBLE)"


@pytest.mark.parametrize("sql", ["hex(raw)", "base64(raw)", "CAST(raw AS STRING)", "b", "ts"])
def test_a_key_is_what_has_a_text(sql: str) -> None:
    key = read(key=sql).key
    assert key is not None
    assert key.sql == sql


def test_a_time_may_be_null_for_far_years() -> None:
    # The page on DBSCAN names this one.
    time = read(time="IF(ts < TIMESTAMP '2030-01-01', ts, NULL)").time
    assert time is not None
    assert time.path is None


def test_windows_that_share_no_point_are_warned_of() -> None:
    assert read(slide_s=600).warnings == ("slide = window: consecutive windows share no point, so no id lasts",)
    assert read().warnings == ()


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"attributes": ["s"]}, "operator.attributes 's': is STRING, no number"),
        ({"attributes": ["b"]}, "no number"),
        ({"attributes": ["ts"]}, "no number"),
        ({"attributes": ["at"]}, "no array, map or struct"),
        ({"attributes": ["1 + 1"]}, "is the same for every record"),
        ({"attributes": ["z"]}, "unknown column 'z'"),
        ({"attributes": ["rand()"]}, "operator.attributes 'rand()'"),
        ({"time": "s"}, "operator.time 's': is STRING, no TIMESTAMP"),
        ({"key": "at"}, "no array, map or struct"),
        ({"key": "raw"}, "operator.key 'raw': is BINARY: use hex() or base64() of it, or CAST it to STRING"),
        ({"key": "coalesce(raw, raw)"}, "operator.key 'coalesce(raw, raw)': is BINARY"),
        ({"attributes": None, "position": "ST_Point(1, 2)"}, "is no point that differs"),
        ({"attributes": None, "position": "x"}, "operator.position 'x'"),
    ],
)
def test_what_does_not_fit_its_use_is_refused(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(DbscanError) as refused:
        read(**changed)
    assert said in str(refused.value)


def test_a_position_needs_degrees() -> None:
    with pytest.raises(DbscanError, match="the stream is planar"):
        read(SCHEMA.with_crs("planar"), attributes=None, position="ST_Point(x, n)")
