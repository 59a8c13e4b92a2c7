"""Arguments that are bounded: themselves within the bounds, and NULL beyond them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from asc.predicate import normalise
from asc.predicate.expressions.expression import Expression
from asc.predicate.functions.bounded import MAX_LENGTH_CHARS, MAX_PAIR_CHARS, MAX_SOUGHT_CHARS
from asc.schema import Schema

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize(
    ("text", "sql"),
    [
        ("space(n)", "space(if(CAST(n AS INT) <= 10000, greatest(CAST(n AS INT), -1), NULL))"),
        ("space(5)", "space(5)"),
        ("repeat('abc', n)", "repeat('abc', if(CAST(n AS INT) <= 3333, greatest(CAST(n AS INT), -1), NULL))"),
        ("contains(s, t)", "contains(s, if(length(t) <= 1000, t, NULL))"),
        ("contains('abc', t)", "contains('abc', t)"),
        ("trim(s, t)", "trim(if(length(s) <= 1000, s, NULL), t)"),
        ("trim(s)", "trim(s)"),
        ("bit_get(n, tiny)", "bit_get(n, if(CAST(tiny AS INT) BETWEEN 0 AND 31, CAST(tiny AS INT), NULL))"),
    ],
)
def test_text_for_spark(text: str, sql: str, expression_of: Callable[[str], Expression]) -> None:
    assert expression_of(text).sql == sql


WITHIN = """
lpad(s, n, t)
rpad(s, price)
repeat(s, n)
repeat('ab', s)
space(n)
contains(s, t)
instr(s, t)
locate(t, s)
position(t, s, 2)
btrim(s, t)
trim(t, s)
ltrim(t, s)
rtrim(t, s)
substring_index(s, t, n)
split_part(s, t, n)
find_in_set(t, s)
levenshtein(s, t)
levenshtein(s, t, n)
replace(s, t)
replace(s, t, 'x')
replace(s, 'a', t)
replace(s, t, s)
format_number(price, n)
bit_get(big, n)
"""
BEYOND = """
lpad(s, big)
repeat('ab', n)
repeat(t, n)
space(n)
contains(s, t)
locate(t, s)
find_in_set(t, s)
btrim(s, t)
trim(t, s)
split_part(s, ',', n - n)
levenshtein(s, t)
replace(s, t)
replace(s, 'a', t)
format_number(price, n)
bit_get(big, n)
getbit(big, - n)
"""


@pytest.mark.spark
def test_within_the_bounds_a_call_is_itself(spark: SparkSession, expression_of: Callable[[str], Expression]) -> None:
    rows = """
        ('abcabc', 'b', 2, 3L, 1.9), ('', '', 1, -1L, 0.0), ('\u6771a\U0001f680', '\U0001f680', 3, 0L, 5.5),
        (' 7 ', ' ', 30, 7L, -2.5), ('a,b', 'a', 8, NULL, NULL), (NULL, 'x', NULL, 9L, 25.0), ('x', NULL, 5, 1L, 1.0)
    """
    df = spark.sql(f"SELECT * FROM VALUES {rows} AS v(s, t, n, big, price)").coalesce(1).localCheckpoint()
    texts = WITHIN.split("\n")[1:-1]
    differing = [f"NOT (({text}) <=> ({expression_of(text).sql}))" for text in texts]
    assert df.where(" OR ".join(differing)).count() == 0, [d for d in differing if df.where(d).count()]


@pytest.mark.spark
def test_beyond_the_bounds_it_is_null(spark: SparkSession, expression_of: Callable[[str], Expression]) -> None:
    long = "repeat('a', 1000000)"
    df = spark.sql(f"SELECT {long} s, {long} t, 2147483647 n, 2147483648L - 1 big, 1.5 price").localCheckpoint()
    texts = BEYOND.split("\n")[1:-1]
    nulls = [f"({expression_of(text).sql}) IS NULL" for text in texts]
    assert df.where(" AND ".join(nulls)).count() == 1, [n for n in nulls if not df.where(n).count()]


@pytest.mark.spark
def test_at_a_bound_it_is_a_value_and_one_beyond_it_is_null(
    spark: SparkSession, expression_of: Callable[[str], Expression]
) -> None:
    df = spark.sql(
        f"SELECT CAST(id AS INT) + {MAX_LENGTH_CHARS} n, repeat('a', CAST(id AS INT) + {MAX_SOUGHT_CHARS}) t, "
        f"repeat('b', {MAX_PAIR_CHARS // MAX_SOUGHT_CHARS}) s FROM range(2) ORDER BY id"
    ).localCheckpoint()
    texts = [expression_of(text).sql for text in ("space(n)", "contains(s, t)", "levenshtein(s, t)")]
    found = df.selectExpr(*(f"({text}) IS NULL" for text in texts)).collect()
    assert [tuple(row) for row in found] == [(False,) * 3, (True,) * 3]


@pytest.mark.parametrize(
    ("where", "warned"),
    [
        ("contains(s, t)", "contains"),
        ("contains(s, 'x')", None),
        ("lpad(s, n) = 'x'", "lpad"),
        ("lpad(s, 5) = 'x'", None),
        ("sequence(1, n)[0] = 1", "sequence"),
        ("size(array_repeat(1, n)) = 2", "array_repeat"),
        ("trim(s) = 'x'", None),
    ],
)
def test_who_asks_for_what_a_record_brings_is_warned(where: str, warned: str | None) -> None:
    warnings = normalise(where, Schema.from_ddl("s STRING, t STRING, n INT")).warnings
    wanted = [] if warned is None else [f"{warned} of what a record brings is NULL beyond a bound, an evaluation error"]
    assert list(warnings) == wanted
