"""Comparisons by a cast: the warning says what they mean to Spark, what to write, and nothing that the user did not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from asc.errors import PredicateError
from asc.predicate import normalise
from asc.predicate.functions import FUNCTIONS
from asc.schema import Schema
from tests.asc.predicate.test_spark_agreement import BY_SORT, PLACES
from tests.asc.predicate.test_spark_agreement import SCHEMA as EVERY_TYPE

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.tiers import PartOf

DDL = "n INT, m INT, tiny TINYINT, s STRING, d DATE, ts TIMESTAMP, ntz TIMESTAMP_NTZ, f DOUBLE, price DECIMAL(10, 2)"
SCHEMA = Schema.from_ddl(f"{DDL}, flag BOOLEAN, xs ARRAY<STRING>")
NULL = "a comparison with it is NULL, and accepts no record"

WARNINGS = [
    ("n = '5'", "n is a number compared with a string: write the number without quotes"),
    ("'5' = n", "n is a number compared with a string: write the number without quotes"),
    ("d < '2024-02-29'", "d is a date compared with a string: write DATE '2024-02-29'"),
    ('d < "2024-02-29"', "d is a date compared with a string: write DATE '2024-02-29'"),
    ("d < '2024'", "d is a date compared with a string: write DATE 'yyyy-mm-dd'"),
    ("ts < '2024-02-29 10:00:00'", "ts is a timestamp compared with a string: write TIMESTAMP '2024-02-29 10:00:00'"),
    ("ntz < '12:30'", "ntz is a timestamp compared with a string: write TIMESTAMP_NTZ 'yyyy-mm-dd hh:mm:ss'"),
    ("f = '-Infinity'", "f is a number compared with a string: write CAST('-Infinity' AS DOUBLE)"),
    ("f = '0x1p3'", "f is a number compared with a string: write CAST('0x1p3' AS DOUBLE)"),
    ("s = 5L", "s is a string compared with a number: write CAST(s AS DOUBLE), or '5' to compare as text"),
    ("s IN (5, 6)", "s is a string, with which IN compares the number 5 as a text: write '5'"),
    ("d IN ('2024-02-29', '2024')", "d is a date compared with a string: write DATE '2024-02-29'"),
    ("n IN ('1e5')", "n is a number compared with a string: write the number without quotes"),
    ("flag = 'yes'", "flag is boolean compared with a string: write TRUE or FALSE"),
    ("n = '1x'", f"'1x' is no number: {NULL}"),
    ("n = '12 apples'", f"'12 apples' is no number: {NULL}"),
    ("n = '1,000'", f"'1,000' is no number: {NULL}"),
    ("n = '0x10'", f"'0x10' is no number: {NULL}"),
    ("f > '1.2.3'", f"'1.2.3' is no number: {NULL}"),
    ("price < '+nan'", f"'+nan' is no number: {NULL}"),
    ("n = '1e5'", f"'1e5' is no INT: {NULL}: write the number without quotes"),
    ("tiny > '128'", f"'128' is no TINYINT: {NULL}: write the number without quotes"),
    ("n BETWEEN 1 AND 'hot'", f"'hot' is no number: {NULL}"),
    ("d = '2026-13-01'", f"'2026-13-01' is no date: {NULL}"),
    ("coalesce(n > 'hot', flag)", f"'hot' is no number: {NULL}"),
    ("n <=> 'hot'", "'hot' is no number: n <=> 'hot' is TRUE only where n is NULL: write n IS NULL"),
    ("'hot' <=> n", "'hot' is no number: 'hot' <=> n is TRUE only where n is NULL: write n IS NULL"),
    (
        "n <=> '1e5'",
        "'1e5' is no INT: n <=> '1e5' is TRUE only where n is NULL: write n IS NULL, or the number without quotes",
    ),
    (
        "n <=> /* DISTINCT */ '1x'",
        "'1x' is no number: n <=> /* DISTINCT */ '1x' is TRUE only where n is NULL: write n IS NULL",
    ),
    (
        "n IS DISTINCT FROM 'hot'",
        "'hot' is no number: n IS DISTINCT FROM 'hot' is TRUE wherever n is not NULL: write n IS NOT NULL",
    ),
    (
        "n is not distinct from '1x'",
        "'1x' is no number: n is not distinct from '1x' is TRUE only where n is NULL: write n IS NULL",
    ),
    (
        "d <=> '2026-13-01'",
        "'2026-13-01' is no date: d <=> '2026-13-01' is TRUE only where d is NULL: write d IS NULL",
    ),
    (
        "equal_null(n, 'hot')",
        "'hot' is no number: equal_null(n, 'hot') is TRUE only where n is NULL: write n IS NULL",
    ),
    ("n IN ('hot')", "'hot' is no number: n IN ('hot') accepts no record"),
    ("n IN ('hot', 'cold')", "no number is among 'hot', 'cold': n IN ('hot', 'cold') accepts no record"),
    ("n IN ('hot', 'inf')", "no INT is among 'hot', 'inf': n IN ('hot', 'inf') accepts no record"),
    ("d IN ('hot')", "'hot' is no date: d IN ('hot') accepts no record"),
    ("n NOT IN ('1x')", "'1x' is no number: n NOT IN ('1x') accepts every record whose n is not NULL"),
    ("n IN ('hot', 5)", "'hot' is no number: n never equals it"),
    ("n IN ('hot', 'cold', m)", "no number is among 'hot', 'cold': n never equals them"),
    ("'hot' IN (n)", "'hot' is no number: n never equals it"),
    ("CASE n WHEN 'hot' THEN flag END", "'hot' is no number: n never equals it"),
    ("CASE d WHEN 'hot' THEN flag END", "'hot' is no date: d never equals it"),
    ("nullif(n, 'hot') = 1", "'hot' is no number: n never equals it"),
    (
        "element_at(xs, n) = 1",
        "element_at(xs, n) is a string compared with a number: "
        "write CAST(element_at(xs, n) AS DOUBLE), or '1' to compare as text",
    ),
    ("element_at(xs, n) / 0 > 1", "element_at(xs, n) / 0 divides by zero: it is NULL for every record"),
    ("(flag || element_at(xs, n)) = 'a'", "flag || element_at(xs, n): || joins texts: between conditions write OR"),
]


@pytest.mark.parametrize(("text", "warning"), WARNINGS, ids=[text for text, _ in WARNINGS])
def test_a_warning_says_what_the_comparison_means(text: str, warning: str) -> None:
    assert normalise(text, SCHEMA).warnings == (warning,)


@pytest.mark.parametrize(
    "text",
    ["n <=> NULL", "n = m", "s IN ('hot', 'cold')", "n IN (1, m)", "s = '1x'", "s <=> 'hot'", "d = DATE '2024-02-29'"],
)
def test_what_is_no_mistake_has_none(text: str) -> None:
    assert normalise(text, SCHEMA).warnings == ()


def test_a_warning_of_a_long_list_is_short() -> None:
    texts, days = (", ".join(form.format(2_000 + i) for i in range(1_000)) for form in ("'x{}'", "'{}-01-01'"))
    (warning,) = normalise(f"n IN ({texts})", SCHEMA).warnings
    assert len(warning) < 300
    (warning,) = normalise(f"d IN ({days})", SCHEMA).warnings
    assert warning == "d is a date compared with a string: write DATE '2000-01-01'"


_FOR_SPARK = re.compile(
    r"try_\w+\(|\b(?:if|left|length|greatest|least|coalesce)\(|CAST\((?:CAST|CASE)|\bX'|\bINTERVAL '0'"
)
"""The forms of calls that are rewritten for Spark so that they do not throw."""
_MOST_PLACES, _TRIED = 4, 12


def calls() -> Iterator[str]:
    """Yield calls of every function of the table with each number of arguments, some of each pool, passing or not."""
    for name, function in FUNCTIONS.items():
        for count in range(max(1, function.least), min(function.most, max(function.least, _MOST_PLACES)) + 1):
            pools = [PLACES.get(name, {}).get(i, BY_SORT[function.sort(i)]) for i in range(count)]
            for turn in range(_TRIED):
                yield f"{name}({', '.join(pool[(turn * (i + 1)) % len(pool)] for i, pool in enumerate(pools))})"


def messages(text: str) -> tuple[str, ...]:
    """Return what is said of a predicate: its warnings, or why it is refused."""
    try:
        return normalise(text, EVERY_TYPE).warnings
    except PredicateError as error:
        return (str(error),)


def test_no_warning_or_refusal_of_a_function_shows_what_the_user_did_not_write(part_of: PartOf[str]) -> None:
    said = {
        text: messages(text)
        for call in part_of(dict.fromkeys(calls()), 13)
        for text in (
            f"{call} = 1",
            f"{call} IN (1, 'hot')",
            f"{call} <=> 'hot'",
            f"{call} / 0 = 1",
            f"{call} || flag = 1",
        )
    }
    rewritten = [
        (text, message)
        for text, found in said.items()
        for message in found
        if any(
            part.casefold() not in text.casefold()
            for part in _FOR_SPARK.findall(message.replace("write X'hex digits'", ""))
        )
    ]
    assert rewritten == []
    warned = {text.partition("(")[0] for text, found in said.items() if any("compared with" in each for each in found)}
    assert len(warned) > 50, len(warned)


@pytest.mark.spark
@pytest.mark.nightly
def test_what_a_warning_says_of_records_holds_in_spark(spark: SparkSession) -> None:
    rows = spark.sql(
        "SELECT 1 n, 1 m, 1Y tiny, 'hot' s, DATE '2024-02-29' d, "
        "TIMESTAMP '2020-01-01' ts, TIMESTAMP_NTZ '2020-01-01' ntz, "
        "1D f, 1.5BD price, TRUE flag, array('a') xs UNION ALL "
        "SELECT NULL, 2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL"
    ).localCheckpoint()
    for text, warning in WARNINGS:
        kept = [row.n for row in rows.filter(text).collect()]
        if "accepts no record" in warning and "coalesce" not in text:
            assert kept == [], text
        elif "IS NOT NULL" in warning or "accepts every record" in warning:
            assert kept == [1], text
        elif "IS NULL" in warning:
            assert kept == [None], text
