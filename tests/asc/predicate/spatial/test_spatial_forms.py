"""Forms with ST_: what they are read as, and what is refused with the place in the text."""

from __future__ import annotations

import pytest

from asc.errors import PredicateError, SchemaError
from asc.predicate import normalise
from asc.predicate.expressions.spelling import read_as
from asc.predicate.limits import Limits
from asc.predicate.normal_form.describe import describe
from asc.schema import Schema

SCHEMA = Schema.from_ddl(
    "lon DOUBLE, lat DOUBLE, alt INT, s STRING, f FLOAT, d DECIMAL(9, 6), at STRUCT<x: DOUBLE, y: DOUBLE>"
)
SQUARE = "ST_GeomFromText('POLYGON((0 0,4 0,4 4,0 4,0 0))')"
SQUARE_SQL = "ST_GeomFromText('POLYGON ((0 0, 4 0, 4 4, 0 4, 0 0))')"
P = "ST_Point(lon, lat)"


def terms(text: str) -> list[list[str]]:
    lines = describe(normalise(text, SCHEMA)).split("\np-attributes")[0].splitlines()[1:]
    return [line.strip().removeprefix("or ").split(" AND ") for line in lines]


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (f"ST_Contains({SQUARE}, {P})", [[f"ST_Contains({SQUARE_SQL}, {P})"]]),
        (f"st_within({P}, {SQUARE})", [[f"ST_Contains({SQUARE_SQL}, {P})"]]),
        (f"ST_Covers({SQUARE}, {P})", [[f"ST_Intersects({SQUARE_SQL}, {P})"]]),
        (f"ST_CoveredBy({P}, {SQUARE})", [[f"ST_Intersects({SQUARE_SQL}, {P})"]]),
        (f"ST_Intersects({P}, {SQUARE})", [[f"ST_Intersects({SQUARE_SQL}, {P})"]]),
        (f"ST_Touches({SQUARE}, {P})", [[f"ST_Intersects({SQUARE_SQL}, {P})", f"NOT ST_Contains({SQUARE_SQL}, {P})"]]),
        (f"ST_Disjoint({P}, {SQUARE})", [[f"NOT ST_Intersects({SQUARE_SQL}, {P})"]]),
        (f"NOT ST_Disjoint({P}, {SQUARE})", [[f"ST_Intersects({SQUARE_SQL}, {P})"]]),
        (f"ST_DWithin({SQUARE}, {P}, 1.5)", [[f"ST_DWithin({SQUARE_SQL}, {P}, 1.5)"]]),
        (f"ST_Contains({SQUARE}, {P}) = false", [[f"NOT ST_Contains({SQUARE_SQL}, {P})"]]),
        (f"ST_Contains({SQUARE}, {P}) IS NULL", [[f"ST_Contains({SQUARE_SQL}, {P}) IS NULL"]]),
        (f"(ST_Contains({SQUARE}, {P}) OR alt > 1) IS TRUE", [[f"ST_Contains({SQUARE_SQL}, {P})"], ["alt > 1"]]),
        (f"ST_Contains({SQUARE}, ST_Point(2, 2)) AND alt > 1", [["alt > 1"]]),
        (f"ST_Contains({SQUARE}, ST_Point(at.x, at.y))", [[f"ST_Contains({SQUARE_SQL}, ST_Point(at.x, at.y))"]]),
        ("ST_DistanceSphere(ST_Point(8, 47), ST_Point(lon, lat)) > 5e3 AND alt > 1", None),
        (
            f"ST_Touches({SQUARE}, ST_PolygonFromEnvelope(lon, lat, lon, lat))",
            [[f"ST_Touches({SQUARE_SQL}, ST_PolygonFromEnvelope(lon, lat, lon, lat))"]],
        ),
        (
            f"ST_Covers({SQUARE}, ST_Expand({P}, 1, f))",
            [
                [
                    f"ST_Covers({SQUARE_SQL}, ST_PolygonFromEnvelope(CAST((lon) AS DOUBLE) - CAST((1) AS DOUBLE), "
                    "CAST((lat) AS DOUBLE) - CAST((f) AS DOUBLE), CAST((lon) AS DOUBLE) + CAST((1) AS DOUBLE), "
                    "CAST((lat) AS DOUBLE) + CAST((f) AS DOUBLE)))"
                ]
            ],
        ),
        (
            f"ST_Contains(ST_Expand(ST_Point(2, 2), 2, 2), {P})",
            [[f"ST_Contains(ST_GeomFromText('POLYGON ((4 0, 4 4, 0 4, 0 0, 4 0))'), {P})"]],
        ),
    ],
)
def test_forms_are_read_as_what_the_engine_asks(text: str, read: list[list[str]] | None) -> None:
    if read is None:
        near = f"NOT (ST_DistanceSphere(ST_GeomFromText('POINT (8 47)'), {P}) <= 5000.0)"
        read = [[near, "alt > 1"]]
    assert terms(text) == read


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ST_DistanceSphere(ST_Point(8, 47), ST_Point(lon, lat)) <= 3e7", "IS NOT NULL"),
        ("ST_DistanceSphere(ST_Point(8, 47), ST_Point(lon, lat)) < -1", "accepts no record"),
        ("ST_DistanceSphere(ST_Point(8, 47), ST_Point(lon, lat)) >= -1", "IS NOT NULL"),
        (f"ST_Contains({SQUARE}, ST_Point(NULL, lat)) OR alt > 1", "alt > 1"),
        (f"ST_Contains(ST_GeomFromText('POLYGON EMPTY'), {P})", "warning: the shape is empty"),
        (f"ST_Contains({SQUARE}, ST_Point(5, 5))", "accepts no record"),
    ],
)
def test_what_no_record_decides_is_decided(text: str, shown: str) -> None:
    assert shown in describe(normalise(text, SCHEMA))


@pytest.mark.parametrize(
    ("text", "at", "said"),
    [
        (f"coalesce(ST_Contains({SQUARE}, {P}), true)", "ST_Contains", "under AND, OR, NOT and IS alone"),
        (f"if(alt > 1, ST_Contains({SQUARE}, {P}), true)", "ST_Contains", "under AND, OR, NOT and IS alone"),
        (f"ST_Contains({P}, {SQUARE})", "ST_Contains", "write the shape first, or ST_Within"),
        (f"ST_Within({SQUARE}, {P})", "ST_Within", "write the position first, or ST_Contains"),
        (f"ST_Contains({SQUARE}, ST_Point(s, lat))", "s, lat", "CAST it AS DOUBLE"),
        (f"ST_Contains({SQUARE})", "ST_Contains", "it takes 2"),
        (f"ST_Intersects({P}, ST_Point(lat, lon))", "ST_Intersects", "one side must be a constant shape"),
        (f"ST_Intersects({SQUARE}, {SQUARE})", "ST_Intersects", "one side must be a position"),
        (f"ST_Contains(s, {P})", "s, ", "not a shape or position"),
        (f"ST_Contains(ST_GeomFromText(s), {P})", "s)", "must be a constant string"),
        (f"ST_DWithin({SQUARE}, {P}, -1)", "-1", "a number from 0 to 1e+100"),
        (f"ST_DWithin({SQUARE}, {P}, 1e101)", "1e101", "a number from 0 to 1e+100"),
        (f"ST_DistanceSphere(ST_GeomFromText('POINT EMPTY'), {P}) < 5", "ST_DistanceSphere", "two positions"),
        (f"ST_DWithin({SQUARE}, {P}, alt)", "alt", "must be a constant number"),
        (f"ST_DistanceSphere({SQUARE}, {P}) < 5", "ST_DistanceSphere", "two positions"),
        (f"ST_DistanceSphere(ST_Point(1, 1), ST_Expand({P}, 1, 1)) < 5", "ST_DistanceSphere", "two positions"),
        (f"ST_Contains({SQUARE}, ST_PolygonFromEnvelope(lon, lat, s, 1))", "s, 1", "CAST it AS DOUBLE"),
        ("ST_DistanceSphere(ST_Point(1, 2), ST_Point(lon, lat)) = 5", "ST_DistanceSphere", "<, <=, > or >="),
        ("ST_DistanceSphere(ST_Point(1, 2), ST_Point(lon, lat)) < alt", "ST_DistanceSphere", "<, <=, > or >="),
        ("ST_Point(lon, lat) = 3", "ST_Point", "argument of ST_Contains"),
        (f"ST_Contains(ST_GeomFromText('POLYGON((0 0,1 1,1 0,0 1,0 0))'), {P})", "'POLYGON", "Self-intersection"),
        (f"ST_Contains(ST_PolygonFromEnvelope(1, 1, 0, 0), {P})", "ST_PolygonFromEnvelope", "least x and y"),
        (f"ST_Buffer({P}, 3) = 1", "ST_Buffer", "unknown function"),
        (f"ST_Contain({SQUARE}, {P})", "ST_Contain", "did you mean 'st_contains'?"),
    ],
)
def test_what_is_refused_says_where_and_what_to_write(text: str, at: str, said: str) -> None:
    with pytest.raises(PredicateError) as caught:
        normalise(text, SCHEMA)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.start == text.index(at)


def test_a_predicate_with_too_many_conjuncts_is_refused_for_spark_cannot_compute_it() -> None:
    many = " AND ".join(f"(alt > {n} OR s = '{n}' OR ST_Contains({SQUARE}, {P}))" for n in range(8))
    with pytest.raises(PredicateError, match="under AND, OR, NOT and IS alone"):
        normalise(many, SCHEMA, limits=Limits(conjuncts=2))


def test_the_columns_of_a_position_are_named_and_read() -> None:
    predicate = normalise(f"ST_Contains({SQUARE}, ST_Point(at.x, f)) AND alt > 1", SCHEMA)
    assert predicate.columns == {("at", "x"), ("f",), ("alt",)}
    position = predicate.read[0]
    assert [part.path for part in position.parts] == [("at", "x"), ("f",)]
    assert not position.is_computed
    assert normalise(f"ST_Contains({SQUARE}, ST_Point(lon + 1, lat))", SCHEMA).read[0].is_computed


def test_a_position_beyond_the_earth_is_an_evaluation_error() -> None:
    condition = normalise(f"ST_Contains({SQUARE}, ST_Point(lon, lat / alt))", SCHEMA).read[0].error_condition
    assert condition is not None
    assert "> 180D" in condition
    assert "> 90D" in condition
    assert "alt" in condition


def test_the_text_is_spelled_again_as_it_was_read() -> None:
    text = f"ST_Contains({SQUARE}, ST_Point(lon, -lat)) AND NOT alt = 1"
    assert normalise(read_as(text, Limits(), "UTC"), SCHEMA).conjuncts == normalise(text, SCHEMA).conjuncts


def test_in_a_plane_there_are_no_degrees() -> None:
    plane = SCHEMA.with_crs("planar")
    far = "ST_Contains(ST_PolygonFromEnvelope(1000, 1000, 9000, 9000), ST_Point(lon, lat))"
    assert normalise(far, plane).read[0].error_condition is None
    with pytest.raises(PredicateError, match="beyond 90 degrees"):
        normalise(far, SCHEMA)
    with pytest.raises(PredicateError, match="it needs degrees"):
        normalise("ST_DistanceSphere(ST_Point(1, 2), ST_Point(lon, lat)) < 5", plane)
    with pytest.raises(SchemaError, match="wgs84 or planar"):
        SCHEMA.with_crs("mercator")
