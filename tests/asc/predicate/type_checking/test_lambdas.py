"""Lambdas: the text that Spark gets, its type, and the bounds on what a record may cost."""

from __future__ import annotations

import pyarrow as pa
import pytest

from asc.errors import PredicateError
from asc.predicate import normalise
from asc.predicate.expressions.expression import Expression
from asc.predicate.limits import Limits
from asc.predicate.syntax.parser import parse
from asc.predicate.type_checking.lambdas import _MAX_LEVELS
from asc.predicate.type_checking.typer import Typer
from asc.schema import Schema

SCHEMA = Schema.from_ddl(
    "n INT, s STRING, xs ARRAY<INT>, tags ARRAY<STRING>, m MAP<STRING, INT>,"
    " items ARRAY<STRUCT<a: INT, t: STRING, xs: ARRAY<INT>, deep: ARRAY<STRUCT<xs: ARRAY<INT>>>>>"
)

PAIRS = pa.list_(pa.struct([("t", pa.string()), ("x", pa.int32())]))


def typed(text: str) -> Expression:
    node, source = parse(text, Limits(), "UTC")
    return Typer(source, SCHEMA).of(node)


@pytest.mark.parametrize(
    ("text", "sql", "data_type"),
    [
        ("exists(xs, x -> x > N)", "exists(xs, x -> x > n)", pa.bool_()),
        ("forall(xs, n -> N > 1)", "forall(xs, N -> N > 1)", pa.bool_()),
        ("filter(xs, (x, i) -> x > i)", "filter(xs, (x, i) -> x > i)", pa.list_(pa.int32())),
        ("transform(xs, x -> x / 2)", "transform(xs, x -> x / 2)", pa.list_(pa.float64())),
        ("transform(tags, t -> lower(t))[0]", "transform(tags, t -> lower(t))[0]", pa.string()),
        ("exists(items, `end` -> `end`.a = 1)", "exists(items, `end` -> `end`.a = 1)", pa.bool_()),
        ("exists(items, i -> exists(i.xs, x -> x = i.a))", None, pa.bool_()),
        ("exists(tags, t -> lpad(t, 5) = s)", "exists(tags, t -> lpad(t, 5) = s)", pa.bool_()),
        ("exists(tags, t -> t = s OR s IS NULL)", "exists(tags, t -> (t = s) OR (s IS NULL))", pa.bool_()),
        ("zip_with(xs, tags, (x, t) -> x)", None, pa.list_(pa.int32())),
        ("map_filter(m, (k, v) -> v > 1)", None, pa.map_(pa.string(), pa.int32())),
        ("transform_values(m, (k, v) -> v > 1)", None, pa.map_(pa.string(), pa.bool_())),
        ("aggregate(xs, 0, (a, x) -> a + x)", None, pa.int32()),
        ("transform(xs, n)", None, pa.list_(pa.int32())),
        ("exists(xs, n > 1)", None, pa.bool_()),
        ("transform(tags, t -> concat(t, t))", None, pa.list_(pa.string())),
        (
            "zip_with(xs, tags, (x, t) -> struct(t, x))",
            None,
            pa.list_(pa.struct([("t", pa.string()), ("x", pa.int32())])),
        ),
        ("transform(sequence(1, 10), x -> x * 2)", None, pa.list_(pa.int32())),
        (
            "aggregate(xs, struct(0 AS a, n AS b), (s, x) -> struct(s.a + x, s.b), s -> s.a)",
            "aggregate(xs, struct(0 AS a, n AS b), (s, x) -> struct(s.a + x, s.b), s -> s.a)",
            pa.int32(),
        ),
        ("reduce(xs, 0, (a, x) -> a + x, a -> a > 5)", None, pa.bool_()),
    ],
)
def test_text_and_type(text: str, sql: str | None, data_type: pa.DataType) -> None:
    found = typed(text)
    assert found.type == data_type
    assert found.sql.lower() == (sql or text).lower()


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("exists(xs)", "write exists"),
        ("exists(xs, x -> x > 1, 2)", "write exists"),
        ("exists(n, x -> x > 1)", "give it an array"),
        ("map_filter(xs, (k, v) -> v > 1)", "give it a map"),
        ("exists(xs, (x, i) -> x > 1)", "has 1 variable$"),
        ("filter(xs, (x, i, j) -> x > 1)", "has 1 or 2 variables"),
        ("zip_with(xs, xs, (x, X) -> x)", "different names"),
        ("exists(xs, x -> x)", "where a condition must stand"),
        ("exists(xs, x -> y > 1)", "unknown column 'y'"),
        ("x > 1 AND exists(xs, x -> x > 1)", "unknown column 'x'"),
        ("coalesce(x -> x)", "last argument"),
        ("exists(tags, t -> s LIKE '%a%')", "bring it out of the lambda"),
        ("exists(xs, x -> x = m.k)", "bring it out of the lambda"),
        ("exists(xs, x -> x = s)", "bring it out of the lambda"),
        ("exists(xs, x -> array_contains(xs, x))", "bring it out of the lambda"),
        ("exists(xs, x -> exists(xs, y -> y = x))", "part of the lambda's variable"),
        ("exists(items, i -> exists(i.xs, x -> i.t LIKE '%a%'))", "bring it out of the lambda"),
        ("exists(items, i -> exists(i.deep, d -> exists(d.xs, x -> x = 1)))", f"at most {_MAX_LEVELS} levels"),
        ("exists(xs, x -> " + " OR ".join(f"x = {i}" for i in range(40)) + ")", "at most 100 operations"),
        ("transform(tags, t -> repeat(t, 2))", "parts of its variables"),
        (f"transform(xs, x -> '{'a' * 33}')", "parts of its variables"),
        ("transform(xs, x -> xs)", "bring it out of the lambda"),
        ("aggregate(tags, '', (a, t) -> a || t)", "a number, boolean, date or timestamp"),
        ("aggregate(xs, 0, (a, x) -> a + 1L)", "from INT to BIGINT"),
        ("aggregate(xs, 0, a -> a)", "2 variables"),
        ("aggregate(xs, 0, (a, x) -> a, a -> 'x')", "a number, boolean, date or timestamp"),
        ("aggregate(xs, 0)", "write aggregate"),
        ("transform(xs, s)", "bring it out of the lambda"),
        ("transform(xs, m)", "bring it out of the lambda"),
        ("transform(sequence(1, 100), x -> x)", "an array of the record"),
        ("transform_keys(m, (k, v) -> NULL)", "keys of type VOID"),
        ("exists(xs, x -> size(sequence(x, 5)) > 3)", "ends are constants up to 50"),
        ("exists(tags, t -> to_date(t, t) IS NULL)", "pattern given to to_date in a lambda"),
        ("exists(tags, t -> date_format(TIMESTAMP '2024-01-01', t) = '1')", "pattern given to date_format in a lambda"),
        ("exists(xs, x -> size(sequence(1, 900)) > x)", "ends are constants up to 50"),
        ("exists(xs, x -> size(array_repeat(1, x)) > 3)", "length given to array_repeat in a lambda"),
        ("map_zip_with(m, map(1, 2), (k, a, b) -> a)", "the keys must be of one type"),
        ("map_zip_with(m, m, (k, a) -> a)", "has 3 variables"),
        ("array_sort(xs, (a, b) -> a < b)", "comparator that gives BOOLEAN"),
        ("array_sort(xs, (a, b) -> 1L)", "comparator that gives BIGINT"),
        ("array_sort(tags, (a, b) -> length(a) - length(b))", "compare its variables"),
        ("array_sort(tags, (a, b) -> CASE WHEN upper(a) < b THEN 1 ELSE 0 END)", "compare its variables"),
        ("array_sort(xs, (a, b) -> " + "a + " * 20 + "b)", "counted 3 times"),
        ("exists(tags, t -> lpad(t, 101) = 'x')", "a constant up to 100"),
        ("exists(xs, x -> space(x) = ' ')", "a constant up to 100"),
        ("exists(tags, t -> repeat('-', n) = t)", "a constant up to 100"),
        ("exists(tags, t -> rpad(t, '9999') = 'x')", "a constant up to 100"),
    ],
)
def test_refusals(text: str, part: str) -> None:
    with pytest.raises(PredicateError, match=part):
        typed(text)


def test_variables_are_forgotten_behind_the_lambda() -> None:
    node, source = parse("exists(xs, x -> y > 1)", Limits(), "UTC")
    typer = Typer(source, SCHEMA)
    with pytest.raises(PredicateError):
        typer.of(node)
    assert typer.scopes == []


def test_errors_in_a_body_are_not_counted_and_those_beside_it_are() -> None:
    (only,) = normalise("exists(xs, x -> 1 / x > 0)", SCHEMA).p_attributes
    assert only.error_condition is None
    (both,) = normalise("aggregate(xs, 1 / n, (a, x) -> a + x) > 0", SCHEMA).p_attributes
    assert both.error_condition is not None
    assert "a +" not in both.error_condition


def test_what_a_lambda_can_make_spark_throw_for_is_null_and_counted() -> None:
    comparator = typed("array_sort(items, (p, q) -> p.a - q.a)").sql
    made = "array_sort(p_, (p, q) -> p.a - q.a)"
    assert comparator == (
        f"transform(array(items), p_ -> if(try_add(date_from_unix_date(size({made})), 0) IS NOT NULL, {made}, NULL))[0]"
    )
    for text in ("array_sort(xs, (a, b) -> b - a)[0] = 1", "transform_keys(m, (k, v) -> v)[1] = 1"):
        (attribute,) = normalise(text, SCHEMA).p_attributes
        assert attribute.error_condition is not None
    (plain,) = normalise("transform(xs, 1 / n)[0] = 1", SCHEMA).p_attributes
    assert plain.error_condition is None


def test_maps_are_put_together_where_they_are_small() -> None:
    assert "size(p.a) + size(p.b) <= 1000" in typed("map_zip_with(m, m, (k, a, b) -> a + b)").sql


@pytest.mark.parametrize(
    ("core", "around"),
    [
        ("xs", "transform({0}, y -> struct(y, y))"),
        ("xs", "transform({0}, y -> named_struct('a', y, 'b', y))"),
        ("xs", "transform({0}, y -> nvl2(y, struct(y, y, y, y), NULL))"),
        ("xs", "transform({0}, y -> array(y, y))"),
        ("tags", "transform({0}, y -> concat(y, y))"),
        ("tags", "filter(transform({0}, y -> y || y), z -> z > 'a')"),
        ("m", "transform_values({0}, (k, v) -> struct(v, v))"),
        ("xs", "zip_with(xs, {0}, (x, y) -> struct(y, y))"),
        ("n", "aggregate(xs, {0}, (a, x) -> a, a -> struct(a, a))"),
    ],
)
def test_what_is_made_longer_is_not_made_longer_again_and_again(core: str, around: str) -> None:
    """Each lambda doubles what the one within it doubled: seven times are 128, and twenty are all memory there is."""

    def nested(times: int) -> str:
        text = core
        for _ in range(times):
            text = around.replace("{0}", text)
        return text

    typed(nested(2))
    for times in (7, 12):
        with pytest.raises(PredicateError, match=r"100 times longer than the record|at most 100 operations"):
            typed(nested(times))
