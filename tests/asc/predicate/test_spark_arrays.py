"""Arrays and maps against Spark: each predicate accepts what ``DataFrame.filter`` accepts."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from asc.predicate.expressions.types import MAX_DIGITS
from asc.predicate.functions.maps import _MAX_DECIMALS
from tests.asc.predicate.differing import Differing, accepted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

DDL = (
    "flag BOOLEAN, n INT, big BIGINT, d DOUBLE, price DECIMAL(5,2), wide DECIMAL(30,10), s STRING, day DATE, day2 DATE,"
    " ts TIMESTAMP, ntz TIMESTAMP_NTZ, tags ARRAY<STRING>, ns ARRAY<INT>, ls ARRAY<BIGINT>, prices ARRAY<DECIMAL(5,2)>"
)
DAY, INSTANT = dt.date(2024, 2, 29), dt.datetime(2024, 2, 29, 12, 30, tzinfo=dt.timezone.utc)
FRACTIONS = [Decimal("1.50"), Decimal("5.00"), None]
VALUES: list[tuple[Any, ...]] = [
    (True, 5, 5, 5.0, Decimal("5.00"), Decimal(5), "5", DAY, DAY, INSTANT, INSTANT.replace(tzinfo=None)),
    (False, -1, 1 << 40, 0.1, Decimal("-0.01"), Decimal("0.1"), "a", DAY, dt.date(2024, 3, 31), INSTANT, None),
    (None,) * 11,
    (True, 1, 0, float("nan"), Decimal("999.99"), Decimal(10**19), "2024-02-29", DAY, DAY, INSTANT, None),
    (False, 2, 3, 2.0, Decimal("1.50"), Decimal("1.5"), "", dt.date(1, 1, 1), dt.date(9999, 12, 31), None, None),
]
ARRAYS: list[tuple[Any, ...]] = [
    (["a", None, "5"], [1, 5], [5, 1 << 40], FRACTIONS),
    ([], [], [], []),
    (None,) * 4,
    ([""], [None], None, [Decimal("1.00")]),
    (None, None, [1], [Decimal("1.50"), Decimal("2.00")]),
]
ROWS = [(*values, *arrays) for values, arrays in zip(VALUES, ARRAYS, strict=True)]
TEXTS = """
array() = tags
tags <> array()
array() < ns
coalesce(tags, array()) = array()
exists(coalesce(tags, array()), t -> t = 'a')
size(if(flag, tags, array())) = 0
array_contains(CASE WHEN flag THEN ns ELSE array() END, 5)
array_contains(array(), s) IS NULL
array_position(array(), s) = 0
array_union(tags, array()) = tags
array_distinct(array()) = tags
arrays_overlap(tags, array()) IS NULL
size(array_except(tags, array())) = 3
size(array_intersect(array(), tags)) = 0
(tags || array())[0] = 'a'
concat(array(), ns)[1] = 5
array_append(array(), s)[0] = 'a'
array_remove(array(), s) = tags
array_max(array()) IS NULL
exists(array(), x -> x IS NULL)
size(array(array(), tags)[1]) = 3
flatten(array(array(), tags))[0] = 'a'
array(n, s)[0] = '5'
array(n, price)[0] = 5
array(n, price, d)[1] = 5
array(price, wide)[0] = 5.00
array(big, wide)[0] > 4.5
array(day, s)[0] = '2024-02-29'
array(day, ts)[0] = TIMESTAMP '2024-02-29 00:00:00'
array(day, ntz, ts)[1] > ts
array_contains(array(n, s), s)
array_contains(array(n, big, price), wide)
exists(array(n, price), x -> x = 5)
array(tags, ns)[1][0] = '1'
array(ns, ls)[0][0] = 1
array(prices, ns)[1][1] = 5.00
coalesce(ns, ls)[0] = 5
if(flag, tags, ns)[0] = 'a'
concat(ns, tags)[0] = '1'
concat(ns, prices)[0] = 1
coalesce(n, s) = '5'
coalesce(price, n, 0) = 5
CASE WHEN flag THEN price ELSE n END < 5.5
if(flag, n, s) > '3'
greatest(n, price, big) >= 5
nvl2(flag, day, s) = '2024-02-29'
map('a', n, 'b', price)['a'] = 5
map('a', day, 'b', ts)['a'] <= ts
concat_ws(',', tags) = 'a,5'
concat_ws('-', s, tags, n, array(s, 'x')) = '5-a-5-5-5-x'
concat_ws(s, tags) = 'a55'
concat_ws(s, ns, tags) IS NULL
concat_ws(NULL, tags) IS NULL
concat_ws(',', ns) = '1,5'
concat_ws(',', prices, array(day)) LIKE '1.50,5.00%'
concat_ws('', array(flag), array()) = 'true'
concat_ws(n, tags) = 'a55'
size(sequence(day, day2)) = 32
sequence(day2, day)[1] = DATE '2024-03-30'
size(sequence(day, day2, INTERVAL 1 WEEK)) = 5
sequence(day, day2, INTERVAL 1 MONTH)[1] = DATE '2024-03-29'
sequence(day, DATE '2024-03-02')[1] = DATE '2024-03-01'
size(sequence(ts, TIMESTAMP '2024-02-29 15:00:00', INTERVAL 1 HOUR)) = 3
sequence(ntz, TIMESTAMP_NTZ '2024-02-29 15:00:00', INTERVAL 90 MINUTES)[1] > ntz
size(sequence(ts, ts)) = 1
map_from_arrays(slice(prices, 1, 2), ns)[1.50BD] = 1
map_from_arrays(array(price, wide), array(1, 2))[5.00BD] = 1
map(1.5, 'a', 2.25, 'b')[1.50] = s
map(1.5, 'a', 5.0, '5')[price] = s
map(1.5, 'a', 5.0, '5')[d] = s
map(1, 'a', 5, '5')[wide] = s
map(1.5, 'a', 5.0, '5')[n] = s
map(1, 'a', 2.5, 'b')[CAST(1 AS DECIMAL(11,1))] = s
map(1, 'a', 5L, 'b')[big] = s
"""


def test_arrays_and_maps(differing: Differing) -> None:
    assert differing(DDL, ROWS[:1], TEXTS.strip().splitlines()) == []
    texts = [text for text in TEXTS.strip().splitlines() if "sequence(" not in text and "map_from" not in text]
    assert differing(DDL, ROWS, texts) == []


def test_sequences_of_the_record_are_bounded(differing: Differing) -> None:
    """Rows for which Spark does not throw, and those for which it makes no more than 10,000 entries."""
    ends = [
        (DAY, dt.date(2024, 3, 31)),
        (dt.date(2024, 3, 31), DAY),
        (DAY, DAY),
        (dt.date(1583, 1, 1), dt.date(1610, 5, 18)),
        (None, DAY),
    ]
    texts = (
        "size(sequence(a, b)) > 1",
        "sequence(a, b)[1] > a",
        "element_at(sequence(a, b), -1) = b",
        "size(sequence(CAST(a AS TIMESTAMP_NTZ), CAST(b AS TIMESTAMP_NTZ))) > 30",
        "sequence(CAST(a AS TIMESTAMP), CAST(b AS TIMESTAMP))[0] = a",
    )
    assert differing("a DATE, b DATE", ends, texts) == []


def test_sequences_that_spark_throws_for_or_does_not_end_are_null(spark: SparkSession) -> None:
    ends = [(dt.date(1, 1, 1), dt.date(9999, 12, 31)), (DAY, dt.date(2024, 1, 1)), (dt.date(1600, 1, 1), DAY)]
    df = spark.createDataFrame([(i, *row) for i, row in enumerate(ends)], "id INT, a DATE, b DATE")
    df = df.unionByName(
        df.selectExpr("3 AS id", "date_from_unix_date(-2147483648) AS a", "date_from_unix_date(2147483647) AS b").limit(
            1
        )
    )
    df = df.localCheckpoint()
    sequences = (
        "sequence(a, b, INTERVAL 1 DAY)",
        "sequence(CAST(a AS TIMESTAMP), CAST(b AS TIMESTAMP), INTERVAL 1 HOUR)",
        "sequence(CAST(a AS TIMESTAMP_NTZ), CAST(b AS TIMESTAMP_NTZ), INTERVAL 1 HOUR)",
        "sequence(b, a, INTERVAL 1 MONTH)",
    )
    # The size of NULL is -1. A null test asks for the arguments alone, and makes no entry.
    sizes = [f"size({each}) = -1" for each in sequences]
    assert accepted(df, sizes, "a DATE, b DATE") == [{0, 1, 2, 3}] * 3 + [{0, 2, 3}]
    # A date beyond the timestamps is NULL as one.
    nulls = [f"{each} IS NULL" for each in sequences]
    assert accepted(df, nulls, "a DATE, b DATE") == [set(), {3}, {3}, set()]


def test_very_many_decimals_are_no_keys(spark: SparkSession) -> None:
    ids = f"SELECT CAST(id AS INT) id, sequence(1, CAST({_MAX_DECIMALS - 1} + id AS INT)) xs FROM range(3)"
    df = spark.sql(f"SELECT id, xs, CAST(xs AS ARRAY<DECIMAL(10,2)>) ks FROM ({ids})").localCheckpoint()
    texts = (
        "map_from_arrays(ks, xs)[5.00BD] = 5",
        "map_from_arrays(xs, ks)[5] = 5",
        "map_from_entries(transform(ks, k -> struct(k, 1)))[5.00BD] = 1",
        "size(transform_keys(map_from_arrays(xs, xs), (k, v) -> CAST(k AS DECIMAL(10,2)))) > 0",
    )
    few, every = {0, 1}, {0, 1, 2}
    assert accepted(df, texts, "xs ARRAY<INT>, ks ARRAY<DECIMAL(10,2)>") == [few, every, few, few]


def test_as_many_digits_as_the_limit_are_read_as_a_decimal(spark: SparkSession) -> None:
    texts = f"SELECT CAST(id AS INT) id, concat(repeat('0', CAST(id AS INT) + {MAX_DIGITS - 1}), '5') s FROM range(2)"
    df = spark.sql(texts).localCheckpoint()
    assert accepted(df, ["CAST(s AS DECIMAL(10,0)) = 5", "CAST(s AS DECIMAL(10,0)) = 0"], "s STRING") == [{0}, {1}]
