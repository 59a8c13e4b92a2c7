"""Expressions of operators: computed by their role, and refused in words of their own text."""

from __future__ import annotations

import pytest

from asc.schema import Schema
from broker.errors import QueryError
from broker.operators.expression import Expression, OperatorExpressions, Role
from broker.operators.schema_analyser import SchemaAnalyser

ANALYSER = SchemaAnalyser(Schema.from_ddl("n INT, s STRING, t TIMESTAMP, lon DOUBLE, lat DOUBLE, raw BINARY"))


@pytest.mark.parametrize(
    ("role", "sql", "computed"),
    [
        ("key", "upper(s)", "CAST(upper(s) AS STRING)"),
        ("key", "hex(raw)", "CAST(hex(raw) AS STRING)"),
        ("key", "n", "CAST(n AS STRING)"),
        ("time", "t", "unix_micros(t)"),
        # An expression that may throw is read by its value, and not by whether it is NULL.
        ("time", "timestamp_seconds(n)", "unix_micros(try_add(timestamp_seconds(n), INTERVAL '0' SECOND))"),
        ("key", "make_date(n, 1, 1)", "CAST(try_add(make_date(n, 1, 1), 0) AS STRING)"),
        ("value", "n", "n"),
        ("value", "upper(s)", "upper(s)"),
    ],
)
def test_an_expression_is_computed_by_its_role(role: Role, sql: str, computed: str) -> None:
    (attribute,) = Expression("field", sql, role).read(ANALYSER).read
    assert attribute.sql == computed


def test_a_position_is_read_as_its_parts() -> None:
    (attribute,) = Expression("position", "ST_Point(lon, lat)", "position").read(ANALYSER).read
    assert attribute.part_texts == ("CAST((lon) AS DOUBLE)", "CAST((lat) AS DOUBLE)")


@pytest.mark.parametrize(
    ("role", "sql", "said"),
    [
        ("time", "s", "operator.field 's': is no TIMESTAMP: name one, or CAST it to one"),
        ("key", "s +", "operator.field 's +': syntax error at 'the end': write an expression of Spark SQL"),
        ("key", "nope", "operator.field 'nope': unknown column 'nope': "),
        ("key", "raw", "operator.field 'raw': is BINARY: use hex() or base64() of it, or CAST it to STRING"),
        ("key", "coalesce(raw, raw)", "operator.field 'coalesce(raw, raw)': is BINARY"),
        # Of these, a null test reads whether they are NULL.
        ("key", "encode(s, 'UTF-8')", "operator.field 'encode(s, 'UTF-8')': is BINARY"),
        ("key", "unbase64(s)", "operator.field 'unbase64(s)': is BINARY"),
        ("value", "1 + 1", "operator.field '1 + 1': is the same for every record: name columns that differ"),
        ("position", "n", "operator.field 'n': not a shape or position"),
        ("position", "ST_Point(1, 2)", "operator.field 'ST_Point(1, 2)': is the same for every record"),
    ],
)
def test_a_refusal_names_the_field_and_the_text_of_the_user(role: Role, sql: str, said: str) -> None:
    with pytest.raises(QueryError) as refused:
        Expression("field", sql, role).read(ANALYSER)
    assert str(refused.value).replace('"', "'").startswith(said), refused.value
    assert "\n" not in str(refused.value)


def test_a_position_in_the_plane_is_refused_in_words_of_the_user() -> None:
    analyser = SchemaAnalyser(ANALYSER.attributes.with_crs("planar"))
    with pytest.raises(QueryError, match="is in the plane: this operator needs degrees") as refused:
        Expression("position", "ST_Point(lon, lat)", "position").read(analyser)
    assert "ST_DistanceSphere" not in str(refused.value)


def test_all_expressions_of_an_operator_are_its_fields_and_what_it_carries() -> None:
    one, other = (Expression("field", sql, "value").read(ANALYSER) for sql in ("n", "s"))
    assert OperatorExpressions((one,), (("n", "n"),), (other,)).all == (one, other)
