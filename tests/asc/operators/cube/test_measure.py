"""Measures as text."""

from __future__ import annotations

import pytest

from asc.errors import CubeError
from asc.operators.cube.measure import Measure


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("count(*)", Measure("count", (), None, "count(*)")),
        ("COUNT( * ) as flights", Measure("count", (), None, "flights")),
        ("sum(arr_delay) AS delay", Measure("sum", ("arr_delay",), None, "delay")),
        ("sum(a + b * (c - 1)) AS `two words`", Measure("sum", ("a + b * (c - 1)",), None, "two words")),
        ("max(s) AS `a``b`", Measure("max", ("s",), None, "a`b")),
        ("avg(coalesce(a, 0))", Measure("avg", ("coalesce(a, 0)",), None, "avg(coalesce(a, 0))")),
        ("min(x) filter (where y > 0)", Measure("min", ("x",), "y > 0", "min(x) FILTER (WHERE y > 0)")),
        ("count(*) FILTER (WHERE s = ') AS x') AS n", Measure("count", (), "s = ') AS x'", "n")),
        ("sum(m['a,b'] + a[0])", Measure("sum", ("m['a,b'] + a[0]",), None, "sum(m['a,b'] + a[0])")),
        ("sum( a -- of a\n ) FILTER (WHERE /* b */ b > 0 -- of b\n ) AS n", Measure("sum", ("a",), "b > 0", "n")),
        ("count(CASE WHEN a THEN 1 END) AS n", Measure("count", ("CASE WHEN a THEN 1 END",), None, "n")),
        ("STDDEV(x)", Measure("stddev", ("x",), None, "stddev(x)")),
        ("corr( y, x ) AS r", Measure("corr", ("y", "x"), None, "r")),
        (
            "regr_slope(f(a, b)[0] -- y\n, x)",
            Measure("regr_slope", ("f(a, b)[0]", "x"), None, "regr_slope(f(a, b)[0], x)"),
        ),
        ("corr(y, x) FILTER (WHERE a IN (1, 2)) AS r", Measure("corr", ("y", "x"), "a IN (1, 2)", "r")),
    ],
)
def test_a_measure_is_read_and_spelled_again(text: str, expected: Measure) -> None:
    found = Measure.parse(text)
    assert found == expected
    assert Measure.parse(found.text) == found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("count(*)", None),
        ("sum(a)", "a"),
        ("count(*) FILTER (WHERE a > 0 OR b)", "CASE WHEN (a > 0 OR b) THEN 1 END"),
        ("sum(x + 1) FILTER (WHERE a > 0)", "CASE WHEN (a > 0) THEN x + 1 END"),
    ],
)
def test_a_filter_is_an_expression(text: str, expected: str | None) -> None:
    assert Measure.parse(text).expressions == (() if expected is None else (expected,))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "measure: write f(x)"),
        ("", "measure '': write f(x)"),
        ("x" * 20_001, "of at most 20,000 characters"),
        ("delay", "measure 'delay': is no call of a function"),
        ("median(x)", "has the function 'median', which is none of a cube"),
        ("sum()", "has no argument"),
        ("sum(-- nothing\n)", "has no argument"),
        ("sum(*)", "* goes with count alone"),
        ("count(DISTINCT x)", "write distinct(x), an estimate, or leave DISTINCT out"),
        ("sum(a, b)", "has several arguments"),
        ("stddev(a, b)", "has several arguments: give one expression"),
        ("corr(a)", "has one argument: give two expressions, as in corr(y, x)"),
        ("regr_r2(a, b, c)", "has 3 arguments: give two expressions, as in regr_r2(y, x)"),
        ("corr(a, )", "has no argument"),
        ("corr(a, *)", "* goes with count alone"),
        ("regr_count(*)", "* goes with count alone"),
        ("count(*, a)", "* goes with count alone"),
        ("sum(a", "has a parenthesis that is not closed"),
        ("sum(a))", "has ')' where it should end"),
        ("sum(a) delay", "has 'delay' where it should end"),
        ("sum(a) AS", "has no name after AS"),
        ("sum(a) AS 'x'", "has no name after AS"),
        ("sum(a) FILTER (a > 0)", "has an unreadable FILTER"),
        ("sum(a) FILTER (WHERE )", "has no predicate after WHERE"),
        ("sum(a) FILTER (WHERE a > 0", "has a parenthesis that is not closed"),
        ("sum(a) OVER ()", "has 'OVER' where it should end"),
        ("sum('a)", "is a quote or a comment left open?"),
        ("sum(a) AS \ud800", "holds half of a surrogate pair"),
    ],
)
def test_what_is_no_measure_is_refused_in_one_line(text: object, said: str) -> None:
    with pytest.raises(CubeError) as caught:
        Measure.parse(text)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
