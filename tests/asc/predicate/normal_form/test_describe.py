"""Constraints and predicates in words."""

from __future__ import annotations

import pyarrow as pa
import pytest

from asc.keys.attribute import PAttribute
from asc.keys.constraint import Constraint, Interval
from asc.predicate import normalise
from asc.predicate.normal_form.describe import constraint_text, describe, plain_form
from asc.schema import Schema

SCHEMA = Schema.from_ddl("a INT, b INT, c BOOLEAN, s STRING")
A, C = PAttribute("a", pa.int32(), ("a",)), PAttribute("c", pa.bool_(), ("c",))


def point(key: int) -> Interval:
    return (key, 0), (key, 1)


@pytest.mark.parametrize(
    ("attribute", "constraint", "text"),
    [
        (A, Constraint((((1, 0), (5, 1)),)), "1 <= a <= 5"),
        (A, Constraint((((1, 1), (5, 0)),)), "1 < a < 5"),
        (A, Constraint((point(1), point(3))), "a IN (1, 3)"),
        (A, Constraint(((None, (1, 0)), ((1, 1), None))), "a <> 1"),
        (A, Constraint(((None, (1, 0)), ((1, 1), (3, 0)), ((3, 1), None))), "a NOT IN (1, 3)"),
        (A, Constraint(((None, (0, 0)), point(3)), null=True), "a < 0 OR a = 3 OR a IS NULL"),
        (A, Constraint((), null=True), "a IS NULL"),
        (A, Constraint(((None, None),)), "a IS NOT NULL"),
        (A, Constraint(()), "FALSE"),
        (C, Constraint((point(1),)), "c"),
        (C, Constraint((point(0),)), "NOT c"),
        (PAttribute("a + b", pa.int32()), Constraint((((1, 0), None),)), "(a + b) >= 1"),
        (PAttribute("abs(a + b)", pa.int32()), Constraint((((1, 0), None),)), "abs(a + b) >= 1"),
    ],
)
def test_constraints(attribute: PAttribute, constraint: Constraint, text: str) -> None:
    assert constraint_text(attribute, constraint) == text


def test_long_lists_are_cut() -> None:
    text = constraint_text(A, Constraint(tuple(point(2 * number) for number in range(20))))
    assert text.endswith("22, ... 8 more)")


@pytest.mark.parametrize(
    ("where", "first"), [("TRUE", "accepts every record"), ("a < 1 AND a > 2", "accepts no record")]
)
def test_everything_and_nothing(where: str, first: str) -> None:
    predicate = normalise(where, SCHEMA)
    assert describe(predicate).splitlines()[0] == first
    plain = plain_form(predicate)
    assert (plain["match_all"], plain["contradiction"]) == (where == "TRUE", where != "TRUE")
    assert plain["text"] == describe(predicate)


def test_what_spark_computes_is_told() -> None:
    text = describe(normalise("a > b AND (s = 'x' OR c)", SCHEMA))
    assert "a > b  BOOLEAN  computed by Spark" in text


@pytest.mark.parametrize(
    ("where", "ending"),
    [
        ("s LIKE '%x%'", "BOOLEAN  pattern"),
        ("concat(s, 'y') LIKE '%x%y'", "BOOLEAN  pattern, in what Spark computes"),
        ("ST_Contains(ST_PolygonFromEnvelope(0, 0, 1, 1), ST_Point(a, b))", "BOOLEAN  shape"),
        ("ST_DWithin(ST_Point(a + b, b), ST_Point(1, 2), 9)", "BOOLEAN  shape, in what Spark computes"),
    ],
)
def test_what_the_engine_matches_is_told_by_what_is_matched(where: str, ending: str) -> None:
    line = describe(normalise(where, SCHEMA)).splitlines()[-1]
    assert line.endswith(ending)
