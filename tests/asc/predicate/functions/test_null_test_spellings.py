"""Calls in null tests: spelled as Spark's own, or as ones that are NULL for the same arguments and take little work."""

from __future__ import annotations

import pytest

from asc.predicate.functions import FUNCTIONS
from asc.predicate.functions.bounded import BOUNDED
from asc.predicate.functions.maps import KEYED
from asc.predicate.functions.null_test_spellings import UNCAUGHT
from asc.predicate.limits import Limits
from asc.predicate.syntax.parser import parse
from asc.predicate.type_checking.typer import Typer
from asc.schema import Schema

SCHEMA = Schema.from_ddl("n INT, big BIGINT, s STRING, t STRING, day DATE, ts TIMESTAMP, xs ARRAY<INT>")


@pytest.mark.parametrize(
    ("text", "sql"),
    [
        ("add_months(day, n)", "add_months(day, n)"),
        ("parse_json(s)", "parse_json(s)"),
        ("nvl2(s, day, ts)", "nvl2(s, day, ts)"),
        ("make_dt_interval(n, n, n, s)", "make_dt_interval(n, n, n, left(s, 20000))"),
        ("to_number(s, '99')", "to_number(left(s, 1000), '99')"),
        ("space(n)", "space(CAST(n AS INT) & 1)"),
        ("space(5)", "space(5)"),
        ("contains(s, t)", "contains(s, left(t, 1))"),
        ("trim(s)", "trim(s)"),
        ("trim(t, s)", "trim(left(t, 1), s)"),
        ("split_part(s, ',', n)", "split_part(s, ',', CAST(n AS INT) & 1 | 1)"),
        ("sequence(n, big)", "sequence(n & 0Y, big & 0Y)"),
        ("sequence(1, 3)", "sequence(1, 3)"),
        ("str_to_map(s, ',', ':')", "str_to_map(left(s, 0))"),
        ("regexp_extract(s, 'a', 2)", "left(s, 1)"),
        ("timestamp_seconds(big) + INTERVAL 1 DAY", "timestamp_seconds(big) + INTERVAL '1' DAY"),
        ("CAST(day AS TIMESTAMP)", "CAST(day AS TIMESTAMP)"),
        ("day < ts", "day < ts"),
        ("concat_ws(s, array(s, t), t)", "concat_ws(s)"),
    ],
)
def test_spellings(text: str, sql: str) -> None:
    tree, source = parse(text, Limits(), "UTC")
    assert Typer(source, SCHEMA, catches=False).of(tree).sql == sql


def test_each_is_a_function_that_may_be_spelled_otherwise() -> None:
    assert [name for name in UNCAUGHT if FUNCTIONS[name].spelling is None] == []
    assert UNCAUGHT.keys() >= BOUNDED


def test_every_function_that_can_fail_has_one() -> None:
    """But for maps, whose null test is refused."""
    failing = {name for name, function in FUNCTIONS.items() if function.spelling is not None and function.fails is True}
    assert failing - UNCAUGHT.keys() == {"map_concat", "map_from_arrays"} <= KEYED
