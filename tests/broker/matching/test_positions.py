"""Positions through Spark: what crosses, what a record's position is, and what is accepted, against shapely."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
import shapely

import asc
import broker
from asc.errors import AscError
from asc.spatial.feature import Feature
from asc.spatial.shape import box_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

_DDL = "id INT, lon DOUBLE, lat DOUBLE, f FLOAT, n BIGINT, d DECIMAL(12, 9), at STRUCT<x: DOUBLE, y: DOUBLE>, alt INT"
_SQUARE = shapely.box(0, 0, 5, 5)
_TEXT = "ST_PolygonFromEnvelope(0, 0, 5, 5)"


@pytest.fixture(scope="module")
def frame(spark: SparkSession) -> DataFrame:
    from decimal import Decimal

    random = np.random.default_rng(0)
    places = np.round(random.uniform(-8, 8, (300, 2)) * 2) / 2
    rows: list[tuple[Any, ...]] = [
        (i, x, y, x, round(x), Decimal(repr(y)), {"x": x, "y": y}, i % 9) for i, (x, y) in enumerate(places.tolist())
    ]
    odd = [(None, 1.0), (1.0, None), (math.nan, 1.0), (1.0, math.inf), (181.0, 1.0), (1.0, 90.5), (-0.0, 0.0)]
    rows += [(1_000 + i, x, y, x, None, None, None, 3) for i, (x, y) in enumerate(odd)]
    return spark.createDataFrame(rows, _DDL)


def expected(frame: DataFrame, of: Any) -> list[int]:
    found = []
    for row in frame.collect():
        x, y = of(row)
        known = x is not None and y is not None and math.isfinite(x) and math.isfinite(y)
        if known and abs(x) <= 180 and abs(y) <= 90 and shapely.contains(_SQUARE, shapely.Point(x, y)):
            found.append(row.id)
    return found


@pytest.mark.parametrize(
    ("point", "of"),
    [
        ("ST_Point(lon, lat)", lambda row: (row.lon, row.lat)),
        ("ST_Point(f, d)", lambda row: (row.f, None if row.d is None else float(row.d))),
        ("ST_Point(n, lat)", lambda row: (None if row.n is None else float(row.n), row.lat)),
        ("ST_Point(at.x, at.y)", lambda row: (None, None) if row["at"] is None else (row["at"].x, row["at"].y)),
        (
            "ST_Point(lon + alt, lat / alt)",
            lambda row: (
                None if row.lon is None else row.lon + row.alt,
                None if row.lat is None or row.alt == 0 else row.lat / row.alt,
            ),
        ),
        ("ST_Point(lon, 2.5)", lambda row: (row.lon, 2.5)),
    ],
)
def test_positions_of_any_numbers_are_met_as_shapely_meets_them(frame: DataFrame, point: str, of: Any) -> None:
    queries = {
        "in": f"ST_Contains({_TEXT}, {point})",
        "low": f"ST_Contains({_TEXT}, {point}) AND alt < 4",
        "out": f"NOT ST_Contains({_TEXT}, {point})",
        "unknown": f"ST_Contains({_TEXT}, {point}) IS NULL",
    }
    found: dict[str, list[int]] = {name: [] for name in queries}
    for row in broker.match(frame, queries).collect():
        for query in row.queries:
            found[query].append(row.id)
    inside = expected(frame, of)
    alt = {row.id: row.alt for row in frame.collect()}
    assert sorted(found["in"]) == inside
    assert sorted(found["low"]) == [i for i in inside if alt[i] < 4]
    assert sorted(found["in"] + found["out"] + found["unknown"]) == sorted(alt)


def test_boxes_that_spark_computes_meet_shapes(frame: DataFrame) -> None:
    queries = {
        "in": f"ST_Contains({_TEXT}, ST_Expand(ST_Point(lon, lat), 0.5, alt / 4))",
        "over": f"ST_Intersects({_TEXT}, ST_PolygonFromEnvelope(lon, lat, lon + 1, lat + alt)) AND alt > 2",
        "never": f"ST_Intersects({_TEXT}, ST_PolygonFromEnvelope(lon + 1, lat, lon, lat))",
    }
    found: dict[str, list[int]] = {name: [] for name in queries}
    for row in broker.match(frame, queries).collect():
        for query in row.queries:
            found[query].append(row.id)
    inside, over = [], []
    for row in frame.collect():
        if row.lon is None or row.lat is None or not (math.isfinite(row.lon) and math.isfinite(row.lat)):
            continue
        if abs(row.lon) > 170 or abs(row.lat) > 80:
            continue
        around = box_of(row.lon - 0.5, row.lat - row.alt / 4, row.lon + 0.5, row.lat + row.alt / 4)
        inside += [row.id] if shapely.contains(_SQUARE, around) else []
        beside = box_of(row.lon, row.lat, row.lon + 1, row.lat + row.alt)
        over += [row.id] if shapely.intersects(_SQUARE, beside) and row.alt > 2 else []
    assert sorted(found["in"]) == inside
    assert sorted(found["over"]) == over
    assert found["never"] == []


def test_spark_is_not_asked_for_what_it_has_not(frame: DataFrame) -> None:
    with pytest.raises(AscError, match="under AND, OR, NOT and IS alone"):
        broker.match(frame, {"q": f"coalesce(ST_Contains({_TEXT}, ST_Point(lon, lat)), true)"})


def test_a_set_with_fences_is_a_function_of_sql(spark: SparkSession, frame: DataFrame) -> None:
    broker.register_function(spark, "fences", {"in": f"ST_Contains({_TEXT}, ST_Point(lon, lat))"}, frame)
    frame.createOrReplaceTempView("aircraft")
    found = spark.sql("SELECT id FROM aircraft WHERE array_contains(fences(lon, lat), 'in')").collect()
    assert sorted(row.id for row in found) == expected(frame, lambda row: (row.lon, row.lat))


def test_a_join_is_as_many_queries(frame: DataFrame, tmp_path: Path) -> None:
    chance = np.random.default_rng(3)
    boxes = {f"b{i}": shapely.box(x, y, x + 3, y + 2) for i, (x, y) in enumerate(chance.integers(-8, 8, (20, 2)))}
    lines = [
        json.dumps(
            {"type": "Feature", "id": name, "geometry": json.loads(shapely.to_geojson(box)), "properties": {"top": i}}
        )
        for i, (name, box) in enumerate(boxes.items())
    ]
    path = tmp_path / "zones.ndjson"
    path.write_text("\n".join(lines), "utf-8")
    zones = asc.read_layer(path, properties="top INT")
    where = "ST_Covers(zones.geometry, ST_Point(lon, lat)) AND alt * 2 < zones.top"
    joined = broker.match(frame, {"in": asc.Join("zones", where), "high": "alt > 7"}, layers={"zones": zones})
    single = {
        f"in-{name}": f"ST_Covers(ST_GeomFromText('{box.wkt}'), ST_Point(lon, lat)) AND alt * 2 < {i}"
        for i, (name, box) in enumerate(boxes.items())
    }
    wanted = broker.match(frame, {**single, "high": "alt > 7"})
    found = {row.id: row.queries for row in joined.select("id", "queries").collect()}
    alike = {row.id: row.queries for row in wanted.select("id", "queries").collect()}
    assert {row: [name.replace("/", "-") for name in names] for row, names in found.items()} == alike
    assert sum(any(name.startswith("in/") for name in names) for names in found.values()) > 20


TYPED = """low TINYINT, l BIGINT, w DOUBLE, r FLOAT, t STRING, b BOOLEAN, m DECIMAL(9,3), day DATE, at TIMESTAMP,
local TIMESTAMP_NTZ"""
GIVEN = {
    **{"low": -3, "l": -(1 << 63), "w": 1e300, "r": 0.1, "t": "it's ${x} \\ Ø", "b": True, "m": "-1.5"},
    **{"day": "2024-02-29", "at": "2024-02-29T12:00:00.25+01:00", "local": "0999-01-01T00:00:00"},
}


def test_spark_reads_the_constants_of_a_row_as_they_are(spark: SparkSession) -> None:
    """What Spark computes with them, for every type: each compared with itself, in an expression that is not ours."""
    from asc.predicate.normal_form.join_predicate import constant
    from asc.schema import properties_of_ddl

    properties = properties_of_ddl(TYPED)
    values = properties.values(GIVEN)
    row = asc.Layer({"x": Feature(None, GIVEN)}, properties=properties)
    for name, kind in properties.types.items():
        literal = constant(values[name], kind)
        column = spark.sql(f"SELECT {literal.sql} AS c").toArrow()["c"]
        assert column.type == kind
        assert column.to_pylist() == pa.array([values[name]], kind).to_pylist()
        frame = spark.sql(f"SELECT {literal.sql} AS c, 1 AS n")
        where = f"array(c, z.{name})[n] = c AND greatest(z.{name}, c) = c"
        found = broker.match(frame, {"q": asc.Join("z", where)}, layers={"z": row})
        assert [one.queries for one in found.collect()] == [["q/x"]]
