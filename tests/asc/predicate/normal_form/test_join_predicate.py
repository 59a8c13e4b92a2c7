"""Predicates of joins: of each row what its values would be as constants, and what is refused."""

from __future__ import annotations

import json
import random
import re
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
import shapely
from shapely.geometry import mapping

from asc.errors import PredicateError
from asc.keys.byte_strings import quoted
from asc.predicate import normalise
from asc.predicate.limits import Limits
from asc.predicate.normal_form.join_predicate import LARGE_VERTICES, JoinPredicate
from asc.schema import Schema, properties_of_ddl
from asc.spatial.cover import LARGE
from asc.spatial.feature import Feature
from asc.spatial.layer import Layer

DDL = "n INT, big BIGINT, d DOUBLE, f FLOAT, s STRING, b BOOLEAN, at TIMESTAMP, day DATE, dec DECIMAL(9,2), x DOUBLE"
PROPERTIES = """i INT, l BIGINT, sh SMALLINT, w DOUBLE, r FLOAT, t STRING, flag BOOLEAN, m DECIMAL(3,2), day DATE,
when TIMESTAMP, local TIMESTAMP_NTZ"""
TYPES = properties_of_ddl(PROPERTIES).types
LAYER = Layer({}, properties=properties_of_ddl(PROPERTIES))
SCHEMA = Schema.from_ddl(DDL).with_layers({"z": LAYER, "flat": Layer({}, is_planar=True)})

WHERES = [
    "n < z.i",
    "n BETWEEN z.i AND z.l",
    "z.i <= n AND Z.L >= big",
    "s = z.t AND NOT (n <> z.i)",
    "s IN (z.t, 'k') OR z.flag",
    "s LIKE 'a%' AND b = z.flag",
    "d > z.w AND f <= z.r AND n = z.sh",
    "n + 1 > z.i AND abs(d) < 7",
    "n > z.i + 1",
    "d <=> z.w OR n IS NULL",
    "z.i IS NULL OR n > z.i",
    "ST_Contains(z.geometry, ST_Point(d, x))",
    "NOT ST_Within(ST_Point(d, x), z.geometry) AND n < z.i",
    "ST_Touches(z.geometry, ST_Point(d, x)) OR ST_DWithin(ST_Point(d, x), z.geometry, 2) AND s = z.t",
    "ST_Intersects(ST_Expand(z.geometry, 1, 2), ST_Point(d, x)) AND n IN (1, z.i)",
    "CASE WHEN n > 3 THEN z.i ELSE 2 END = n",
    "exists(array(n, 2), z -> z = 1) AND n = z.i",
    "starts.a = 1 AND n = z.i".replace("starts.a", "n"),
]


def spelled(value: Any, kind: pa.DataType) -> str:
    """A constant as a user writes it."""
    if value is None:
        return "NULL"
    if kind == pa.string():
        return quoted(value)
    if kind == pa.bool_():
        return str(value)
    suffix = {pa.int64(): "L", pa.int16(): "S", pa.float64(): "D", pa.float32(): "F"}.get(kind, "")
    return f"{value!r}{suffix}"


def written_out(where: str, row: Feature) -> str:
    """The WHERE with the constants in its text; a NULL of which something is computed with its type."""
    shape = "NULL" if row.shape is None else f"ST_GeomFromGeoJSON('{json.dumps(mapping(row.shape))}')"
    text = where.replace("Z.L", "z.l").replace("z.geometry", shape)
    for name, value in LAYER.properties.values(row.properties).items():
        if value is None:
            text = re.sub(rf"z\.{name}(?= [+E])", "CAST(NULL AS INT)", text)
        if TYPES[name] in (pa.string(), pa.bool_(), pa.int64(), pa.int32(), pa.int16(), pa.float64(), pa.float32()):
            text = text.replace(f"z.{name}", spelled(value, TYPES[name]))
    return text


def rows(seed: int) -> list[Feature]:
    chance = random.Random(seed)
    found = []
    for _ in range(25):
        given = {
            "i": chance.choice([None, -(1 << 31), -3, 0, 3, 5, (1 << 31) - 1]),
            "l": chance.choice([None, -(1 << 63), 4, 1 << 40]),
            "sh": chance.choice([-7, 3]),
            "w": chance.choice([None, 0.1, -0.0, 1e300, 5e-324]),
            "r": chance.choice([0.1, 3, -2.5]),
            "t": chance.choice([None, "", "k", "it's", "a\\b", "${x}", "Ø\n"]),
            "flag": chance.choice([None, True, False]),
        }
        x, y, wide = chance.uniform(-170, 170), chance.uniform(-80, 80), chance.uniform(0.1, 8)
        shape = chance.choice([shapely.box(x, y, x + wide, y + wide), shapely.Point(x, y).buffer(wide, 3), None])
        found.append(Feature(shape, given))
    return found


@pytest.mark.parametrize("where", WHERES)
def test_of_a_row_it_is_the_predicate_with_its_constants(where: str) -> None:
    join = JoinPredicate(where, SCHEMA, "z")
    for row in rows(WHERES.index(where)):
        wanted = normalise(written_out(where, row), SCHEMA)
        found = join.of(row)
        assert (found.conjuncts, found.match_all) == (wanted.conjuncts, wanted.match_all), written_out(where, row)
        assert found.columns == wanted.columns == join.template.columns
        assert found.text == where


COMPUTED = [
    "abs(d - z.w) < 3",
    "abs(z.i) < n OR z.i IS NULL",
    "upper(z.t) = s",
    "-z.i < n",
    "concat(s, z.t) LIKE 'a%' AND s LIKE z.t",
    "date_add(day, z.i) < day",
    "coalesce(z.w, 2) > d",
]


@pytest.mark.parametrize("where", COMPUTED)
def test_a_null_of_a_row_has_the_type_of_its_property_where_something_is_computed_of_it(where: str) -> None:
    """Of a NULL alone, functions do not know which they are."""
    names = {"z.w": "CAST(NULL AS DOUBLE)", "z.i": "CAST(NULL AS INT)", "z.t": "CAST(NULL AS STRING)"}
    text = where.replace("LIKE z.t", "LIKE NULL").replace("z.i IS NULL", "NULL IS NULL")
    for name, spelled_null in names.items():
        text = text.replace(name, spelled_null)
    found, wanted = JoinPredicate(where, SCHEMA, "z").of(Feature(None, {})), normalise(text, SCHEMA)
    assert (found.conjuncts, found.match_all) == (wanted.conjuncts, wanted.match_all)


@pytest.mark.parametrize("where", ["round(d, z.i) > 3", "s NOT LIKE ALL ('a', z.t)", "n > 3 OR split(s, z.t)[0] = s"])
def test_what_takes_constants_alone_takes_a_null_of_a_row(where: str) -> None:
    text = where.replace("z.i", "NULL").replace("z.t", "NULL")
    found, wanted = JoinPredicate(where, SCHEMA, "z").of(Feature(None, {})), normalise(text, SCHEMA)
    assert (found.conjuncts, found.match_all) == (wanted.conjuncts, wanted.match_all)


def test_constants_of_every_type_are_those_of_a_literal() -> None:
    given = {"m": 4.5, "day": "2024-02-29", "when": "2024-02-29T12:00:00+01:00", "local": "2024-02-29 12:00:00"}
    where = "dec <= z.m AND day >= z.day AND at < z.when AND CAST(at AS TIMESTAMP_NTZ) = z.local"
    wanted = """dec <= 4.50BD AND day >= DATE '2024-02-29' AND at < TIMESTAMP '2024-02-29 11:00:00'
        AND CAST(at AS TIMESTAMP_NTZ) = TIMESTAMP_NTZ '2024-02-29 12:00:00'"""
    assert JoinPredicate(where, SCHEMA, "z").of(Feature(None, given)).conjuncts == normalise(wanted, SCHEMA).conjuncts
    values = LAYER.properties.values(given)
    assert values["m"] == Decimal("4.50")


def test_nothing_of_one_row_is_left_in_another() -> None:
    join = JoinPredicate("n < z.i AND s = z.t", SCHEMA, "z")
    first, second = Feature(None, {"i": 1, "t": "a"}), Feature(None, {"i": 2, "t": "b"})
    before = join.of(first)
    assert join.of(second) != before == join.of(first)


def test_the_template_says_what_holds_for_all_rows() -> None:
    join = JoinPredicate("n % 0 = z.i AND S = z.t", SCHEMA, "z")
    assert join.template.columns == {("n",), ("s",)}
    assert [text for text in join.template.warnings if "divides by zero" in text] == list(join.template.warnings)
    assert JoinPredicate("n = z.i AND n = 2", SCHEMA, "z").template.warnings == ()


def test_names_in_backquotes_and_in_any_case() -> None:
    layers = {"north-sea.1": Layer({}, properties=properties_of_ddl("`a b` INT"))}
    schema = Schema.from_ddl("n INT").with_layers(layers)
    join = JoinPredicate("N < `NORTH-sea.1`.`A b`", schema, "north-sea.1")
    assert join.of(Feature(None, {"a b": 5})).conjuncts == normalise("n < 5", schema).conjuncts


@pytest.mark.parametrize(
    ("where", "layer", "said"),
    [
        ("n < z.i", "nowhere", "unknown layer 'nowhere'"),
        ("n < 3", "z", "asks nothing of the layer"),
        ("n < z.hight", "z", "unknown property 'z.hight': known of a row: geometry, i"),
        ("n < z.i.more", "z", "unknown property"),
        ("z.geometry = 3", "z", "Spark computes"),
        ("z.geometry IS NULL AND n > z.i", "z", "Spark computes"),
        ("length(z.geometry) > n", "z", "Spark computes"),
        ("ST_Contains(z.t, ST_Point(d, x))", "z", "not a shape or position"),
        ("ST_Contains(flat.geometry, ST_Point(d, x))", "flat", "layer of another crs"),
        ("n < z.i AND other.i > 3", "z", "unknown column"),
        ("n < z.i AND", "z", "syntax error"),
        ("b < z.w", "z", "compared with"),
    ],
)
def test_what_is_refused(where: str, layer: str, said: str) -> None:
    with pytest.raises(PredicateError, match=r"^[^\n]*$") as refused:
        JoinPredicate(where, SCHEMA, layer)
    assert said in str(refused.value)


def test_a_layer_that_a_column_hides() -> None:
    schema = Schema.from_ddl("z STRUCT<i: INT>, n INT").with_layers({"z": LAYER})
    with pytest.raises(PredicateError, match="give the layer another name"):
        JoinPredicate("n = z.i", schema, "z")


def test_a_row_may_be_refused_where_others_are_not() -> None:
    join = JoinPredicate("ST_DWithin(z.geometry, ST_Point(d, x), z.w) AND s RLIKE z.t", SCHEMA, "z")
    join.of(Feature(shapely.Point(0, 0), {"w": 3, "t": "^a"}))
    with pytest.raises(PredicateError, match="distance"):
        join.of(Feature(shapely.Point(0, 0), {"w": -1, "t": "^a"}))
    with pytest.raises(PredicateError, match="regular expression"):
        join.of(Feature(shapely.Point(0, 0), {"w": 1, "t": "(a*)*(b"}))


def test_limits_hold_for_every_row() -> None:
    with pytest.raises(PredicateError, match="at most 5 characters"):
        JoinPredicate("n < z.i", SCHEMA, "z", limits=Limits(length_chars=5))


def rows_of(count: int, shape: shapely.Geometry | None = None) -> dict[str, Feature]:
    return {f"r{i}": Feature(shape, {"i": i, "w": float(i)}) for i in range(count)}


def test_the_effort_of_a_join_is_that_of_its_rows_together() -> None:
    """Thirty disjuncts over ten thousand shapes take minutes: they are refused before any of them is made."""
    terms = " OR ".join(f"(n = z.i + {k} AND ST_Contains(z.geometry, ST_Point(d + {k}, x)))" for k in range(30))
    join, rows = JoinPredicate(terms, SCHEMA, "z"), rows_of(10_000, shapely.box(0, 0, 1, 1))
    assert 3_000_000 < join.effort(rows) < 5_000_000
    with pytest.raises(PredicateError) as refused:
        join.check_effort(rows)
    said = str(refused.value)
    assert said.startswith("join of 10,000 shapes, about 4,")
    assert said.endswith("at most 2,000,000: write fewer terms, simplify large shapes, or raise limits.join_nodes")
    assert "\n" not in said
    assert len(said) < 600
    # A tenth of the shapes, or a larger bound, passes; of no row there is no effort.
    join.check_effort(dict(list(rows.items())[:1_000]))
    JoinPredicate(terms, SCHEMA, "z", limits=Limits(join_nodes=5_000_000)).check_effort(rows)
    assert join.effort({}) == 0


def test_a_normal_form_counts_beside_the_terms() -> None:
    """Two joins of as many terms: one of them has the product of its disjuncts looked at for each row."""
    groups = [
        " OR ".join(f"({name} = z.i + {k} AND x <> {10 * place + k})" for k in range(4))
        for place, name in enumerate(("n", "big", "d"))
    ]
    flat, product = (how.join(f"({group})" for group in groups) for how in (" OR ", " AND "))
    few = rows_of(10)
    assert JoinPredicate(product, SCHEMA, "z").effort(few) > 2 * JoinPredicate(flat, SCHEMA, "z").effort(few)


def test_vertices_of_large_shapes_count_for_each_term_that_asks_for_them() -> None:
    small, large = (shapely.Point(0, 0).buffer(1, quad_segs=count) for count in (64, 1024))
    contains, near = "ST_Contains(z.geometry, ST_Point(d, x))", "ST_DWithin(z.geometry, ST_Point(d, x), z.w)"

    def effort(where: str, shape: shapely.Geometry) -> int:
        return JoinPredicate(where, SCHEMA, "z").effort(rows_of(100, shape))

    assert effort(contains, small) < 100 * 20
    assert effort(contains, large) > 100 * 500
    assert effort(near, large) > 100 * 2_000
    assert effort(f"{contains} OR {near} OR n = 1 AND {near}", large) > 100 * 4_500
    assert LARGE_VERTICES == LARGE
