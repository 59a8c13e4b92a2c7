"""The forms of Spark's grammar, one by one: each parses to what the tree says, and accepts what ``filter`` accepts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import reduce
from typing import TYPE_CHECKING, Any

import pytest

from asc.predicate import Predicate, normalise
from asc.schema import Schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from tests.tiers import PartOf

pytestmark = [pytest.mark.spark, pytest.mark.slow]

DDL = (
    "flag BOOLEAN, tiny TINYINT, n INT, m INT, big BIGINT, d DOUBLE, price DECIMAL(10,2), s STRING, city STRING,"
    " raw BINARY, day DATE, ts TIMESTAMP, ts2 TIMESTAMP, ntz TIMESTAMP_NTZ, list ARRAY<INT>, tags ARRAY<STRING>,"
    " dict MAP<STRING, INT>, place STRUCT<x: INT, name: STRING>,"
    " items ARRAY<STRUCT<a: INT, t: STRING, xs: ARRAY<INT>>>, `end` INT, `order` INT, `from` INT, `case` INT,"
    " `interval` INT, `in` INT, `not` INT"
)
SCHEMA = Schema.from_ddl(DDL)
POOLS = {
    "flag": ("true", "false", "NULL"),
    "tiny": ("0", "5", "-128"),
    "n": ("5", "-1", "NULL", "2147483647", "0"),
    "m": ("7", "5", "0"),
    "big": ("5", "9223372036854775807", "-1"),
    "d": ("5.5", "'NaN'", "'-Infinity'", "-0.0D", "1e19"),
    "price": ("5.50", "-0.01", "0"),
    "s": ("'true'", "'abc'", "''", "' Abc '", "'🚀x'", "'5'", "NULL", "'a%b'"),
    "city": ("'abc'", "'ZÜRICH'", "'xxabcxx'", "'ΑΣ'", "'🚀'"),
    "raw": ("X'616263'", "X'FF00'", "X''"),
    "day": ("'2013-07-04'", "'0001-01-01'", "'9999-12-31'", "NULL"),
    "ts": ("'2013-07-04 12:00:00'", "'2013-03-10 02:30:00'", "'0001-01-01'", "'9999-12-31 23:59:59.999999'", "NULL"),
    "ts2": ("'2013-07-05 12:00:00.5'", "'2013-03-10 07:30:00'", "'1970-01-01'"),
    "ntz": ("'2013-07-04 12:00:00'", "'2013-03-10 02:30:00'", "'1969-12-31 23:59:59.999999'"),
    "list": ("array(1, 5, NULL)", "array()", "NULL", "array(7, 7)", "array(NULL)"),
    "tags": ("array('a', 'abc', NULL)", "array('Abc', '🚀')", "array()", "NULL"),
    "dict": ("map('a', 1, 'b', NULL)", "map()", "NULL", "map('A', 5)"),
    "place": ("named_struct('x', 1, 'name', 'q')", "named_struct('x', NULL, 'name', 'abc')", "NULL"),
    "items": (
        "array(named_struct('a', 1, 't', 'abc', 'xs', array(1, 2)), NULL)",
        "array(named_struct('a', 5, 't', NULL, 'xs', array(5, NULL)))",
        "array()",
    ),
    **{f"`{name}`": ("1", "2", "NULL") for name in ("end", "order", "from", "case", "interval", "in", "not")},
}
EXTREMES = {
    "day": ("date_from_unix_date(-2147483648)", "date_from_unix_date(2147483647)"),
    "ts": ("timestamp_micros(-9223372036854775808)", "timestamp_micros(9223372036854775807)"),
    "ts2": ("timestamp_micros(9223372036854775807)", "timestamp_micros(-9223372036854775808)"),
    "ntz": ("CAST(timestamp_micros(9223372036854775807) AS TIMESTAMP_NTZ)", "'0001-01-01'"),
    "big": ("-9223372036854775808", "9223372036854775807"),
    "n": ("-2147483648", "2147483647"),
    "list": ("array(-2147483648, 2147483647)",),
}
ROWS = 60
OF_TIME = re.compile(r"(?i)\b(day|ts2?|ntz)\b|date|time|hour|zone|unix")

FORMS = r"""
int(s) = 5
boolean(s)
bigint(n) = 5L AND smallint(n) < 6 AND tinyint(m) > 0
float(d) = 5.5 OR double(s) = 5
decimal(s) = 5
string(n) = '5'
binary(s) = X'616263'
date(ts) = DATE '2013-07-04'
timestamp(day) < ts
date('2013-07-04') = day
try_cast(s AS INT) = 5
s::int::string = '5'
CAST(n AS VARCHAR(1)) = '5' OR CAST(s AS CHAR(3)) = 'abc'
s LIKE ANY ('a%', '%c')
s LIKE SOME ('abc')
s LIKE ANY ('a%', NULL)
s LIKE ALL ('a%', '%c')
s LIKE ALL ('a%', NULL)
s NOT LIKE ANY ('a%', '%c')
s NOT LIKE ANY ('a%', NULL)
s NOT LIKE ALL ('a%', 'tr%')
s NOT LIKE ALL ('a%', NULL)
NOT s LIKE ALL ('a%', 'tr%')
s ILIKE 'A%'
s NOT ILIKE '%C'
city ILIKE 'zÜr%'
s ILIKE 'A/%B' ESCAPE '/'
s ILIKE ANY ('A%', 'TR%')
s NOT ILIKE ALL ('A%', NULL)
s ILIKE SOME ('%B%')
s ILIKE NULL
like(s, 'a%')
like(s, 'a/%%', '/')
ilike(s, 'A%')
try_add(ts, INTERVAL 1 HOUR) < ts2
try_subtract(ts2, ts) > INTERVAL 1 HOUR
try_add(day, 1) = DATE '2013-07-05'
try_subtract(day, INTERVAL 1 YEAR) < DATE '2013-01-01'
raw LIKE 'a%'
raw LIKE '%b%'
raw RLIKE '^a'
raw ILIKE 'A%'
n LIKE 5
s LIKE concat('a', '%')
s LIKE 'a' || '%'
s LIKE city
city LIKE '%' || s || '%'
s ILIKE city
s NOT LIKE ALL (city, concat('a', '%'))
like(s, city, '/')
s RLIKE concat('^[a-c]', '+')
date_format(ts, concat('yyyy', '-MM')) = '2013-07'
concat_ws(',', tags, list) = 'Abc,🚀'
array(n, s)[0] = '5'
size(sequence(day, DATE '2013-07-14')) = 11
TRIM(BOTH FROM s) = 'Abc'
TRIM(LEADING FROM s) = 'Abc '
TRIM(FROM s) = 'Abc'
TRIM(BOTH 'x' FROM city) = 'abc'
TRIM(LEADING 'x' FROM city) = 'abcxx'
TRIM(TRAILING 'x' FROM city) = 'xxabc'
TRIM('xa' FROM city) = 'bc'
trim(s) = 'Abc'
trim('x', city) = 'abc'
POSITION('b' IN city) = 2
position('b', city) = 2
POSITION('b' IN lower(city)) > 2
SUBSTRING(city FROM 2) = 'bc'
SUBSTRING(city FROM 1 FOR 2) = 'ab'
SUBSTR(city FROM -2 FOR 1) = 'b'
substring(city, 2, 1) = 'b'
EXTRACT(YEAR FROM day) = 2013
EXTRACT(SECOND FROM ts2) = 0.5
EXTRACT(doy FROM ts) > 100
EXTRACT(HOUR FROM day) = 0
EXTRACT(YEAR FROM '2013-07-04') = 2013
EXTRACT(MINUTE FROM s) IS NULL
extract(DAYOFWEEK_ISO FROM ntz) = 4
extract('MONTH', ts) = 7
date_part('YEAR', ts) = 2013
datepart('minutes', ts) = 30
EXTRACT(DAY FROM ts2 - ts) = 1
TIMESTAMPADD(HOUR, 1, ts) > ts2
DATEADD(MONTH, -1L, day) < ts
DATE_ADD(DAY, 2, ntz) > TIMESTAMP_NTZ '2013-07-05 00:00:00'
date_add(day, 1) = DATE '2013-07-05'
TIMESTAMPDIFF(MINUTE, ts, ts2) > 60
DATEDIFF(DAY, day, ts2) = 1
datediff(day, DATE '2013-07-03') = 1
day + 1 = DATE '2013-07-05'
1 + day > DATE '2013-07-04'
day - 1 < ts
day - n < DATE '2013-07-01'
ts > TIMESTAMP '2013-07-05 00:00:00' - INTERVAL 1 DAY
ts + INTERVAL 1 HOUR < ts2
INTERVAL '1' HOUR + ts < ts2
ts - INTERVAL '1 02:03:04.5' DAY TO SECOND < TIMESTAMP '2013-07-03 10:00:00'
ts + INTERVAL 1 DAY 2 HOURS - INTERVAL 30 MINUTES > ts2
ts + INTERVAL '1' MONTH > ts2
ts - INTERVAL '1-2' YEAR TO MONTH < ts2
ts + INTERVAL 1.5 SECONDS > ts
ts + INTERVAL '1 day -2 hours' > ts2
ts + INTERVAL -1 DAY < ts2 AND ts - INTERVAL - 1 DAY > ts AND ts + INTERVAL -'1' DAY < ts
ts + (- INTERVAL 1 DAY) < ts
ntz + INTERVAL 1 WEEK > TIMESTAMP_NTZ '2013-07-05 00:00:00'
ntz + INTERVAL 1 MONTH > ts
day + INTERVAL 1 DAY = DATE '2013-07-05'
day + INTERVAL 1 MONTH = DATE '2013-08-04'
day + INTERVAL 25 HOURS > ts
day - INTERVAL 1 WEEK < DATE '2013-07-01'
'2013-07-04' + INTERVAL 2 DAYS = '2013-07-06 00:00:00'
s - INTERVAL 1 HOUR IS NULL
string(day) + INTERVAL 1 DAY > '2013'
day + NULL IS NULL
ts2 - ts > INTERVAL '1' HOUR
ts2 - ts = INTERVAL '1 0:0:0.5' DAY TO SECOND
ts2 - ts BETWEEN INTERVAL 1 HOUR AND INTERVAL 2 DAYS
ts2 - ts IN (INTERVAL 5 HOURS)
ts - ntz < INTERVAL 5 HOURS
ts - day < INTERVAL 13 HOURS
day - DATE '2013-07-01' = INTERVAL 3 DAYS
(ts2 - ts) IS NULL
ts2 - ts + INTERVAL 1 HOUR > INTERVAL 1 DAY
INTERVAL 1 DAY + INTERVAL '02:00' HOUR TO MINUTE < ts2 - ts
(ts2 - ts) * 2 > INTERVAL 1 DAY
m * INTERVAL 1 DAY < ts2 - ts
INTERVAL 3 MONTH * CASE WHEN d BETWEEN -9 AND 9 THEN d END > INTERVAL 1 YEAR
INTERVAL 3 MONTH * price = INTERVAL 1 YEAR
(ts2 - ts) / (m + 1) > INTERVAL 5 HOURS
(ts2 - ts) DIV INTERVAL 1 HOUR > 2
(ts2 - ts) DIV INTERVAL 0 HOUR IS NULL
- (ts2 - ts) < INTERVAL 0 SECOND
-(day - DATE '2013-07-01') = INTERVAL -3 DAYS
+ (ts2 - ts) > INTERVAL 1 HOUR
abs(ts - ts2) > INTERVAL 1 DAY
abs(INTERVAL -'1-1' YEAR TO MONTH) = INTERVAL 13 MONTHS
negative(ts2 - ts) < INTERVAL 1 SECOND AND positive(ts2 - ts) IS NOT NULL
sign(ts - ts2) = -1 OR signum(day - DATE '2013-07-05') = -1
try_add(ts2 - ts, INTERVAL 1 DAY) > INTERVAL 1 DAY
try_subtract(INTERVAL 2 YEAR, INTERVAL 1 MONTH) = INTERVAL 23 MONTH
try_multiply(INTERVAL 2 YEAR, n) > INTERVAL 3 YEAR
try_divide(INTERVAL 2 YEAR, m - 5) > INTERVAL 0 YEAR
day + (day - DATE '2013-07-01') > DATE '2013-07-05'
day + (ts2 - ts) > ts
ts - (ts2 - ts) * 2 < ts2
NULL - ts IS NULL AND day - NULL IS NULL AND INTERVAL 1 DAY + NULL IS NULL
'2013-07-06' - day = INTERVAL 2 DAYS
INTERVAL 1 DAY = INTERVAL 24 HOURS AND n = 5
INTERVAL 1 YEAR <=> INTERVAL 12 MONTHS AND n = 5
ts2 - ts IN (INTERVAL 5 HOURS, INTERVAL '1 0:0:0.5' DAY TO SECOND, NULL)
ts2 - ts IN ('INTERVAL \'1 00:00:00.5\' DAY TO SECOND')
CASE WHEN flag THEN ts2 - ts ELSE INTERVAL 1 HOUR END > INTERVAL 5 HOURS
coalesce(ts2 - ts, INTERVAL 1 HOUR) <= INTERVAL 1 HOUR
coalesce(day - DATE '2013-07-01', 'none') = 'none'
greatest(INTERVAL 1 DAY, ts2 - ts) = INTERVAL 1 DAY
nullif(ts2 - ts, INTERVAL 5 HOURS) IS NULL
array_contains(array(INTERVAL 1 DAY, ts - ts2), ts2 - ts)
CAST(ts2 - ts AS STRING) LIKE 'INTERVAL%'
ts2 - ts LIKE '%DAY%'
length(day - DATE '2013-07-01') = 16
CAST(day - DATE '2013-07-01' AS INT) = 3
CAST(INTERVAL 127 YEARS AS TINYINT) = 127 AND n = 5
CAST(ts2 - ts AS BIGINT) > 3600
CAST(ts2 - ts AS DECIMAL(20, 3)) > 86400.1
CAST(ts2 - ts AS INTERVAL DAY) >= INTERVAL 1 DAY
CAST(m AS INTERVAL DAY) > INTERVAL 5 DAYS
n::INTERVAL MONTH = INTERVAL 5 MONTHS
CAST(price AS INTERVAL SECOND) > INTERVAL 5 SECONDS
CAST(string(m) AS INTERVAL DAY) = INTERVAL 5 DAYS
TRY_CAST(s AS INTERVAL YEAR) = INTERVAL 5 YEARS
CAST('1 2' AS INTERVAL DAY TO HOUR) > INTERVAL 1 DAY AND n = 5
TRY_CAST(s AS INTERVAL) IS NOT NULL
CAST(concat(m, ' days') AS INTERVAL) + ts2 > ts
day + CAST(concat(m, ' hours') AS INTERVAL) > DATE '2013-07-03'
CAST(make_interval(n, m) AS STRING) LIKE '%years%'
make_interval(n) IS NULL
ts2 + make_interval(0, 0, 0, m) > ts
day - make_interval(0, m) < DATE '2013-07-01'
CAST(-make_interval(n) * 2 / 4 AS STRING) <> ''
CAST(make_interval(n) + make_interval(0, m) AS STRING) LIKE '%m%'
try_make_interval(n, m) IS NOT NULL
make_dt_interval(m, n) > INTERVAL 3 DAYS
make_dt_interval(0, 0, 0, price) > INTERVAL 1 SECOND
make_ym_interval(m, m) > INTERVAL 3 YEARS
make_ym_interval(s) = INTERVAL 5 YEARS
width_bucket(ts2 - ts, INTERVAL 0 HOURS, INTERVAL 2 DAYS, 10) > 3
width_bucket(INTERVAL 1 YEAR, INTERVAL 0 YEAR, INTERVAL 10 YEARS, n) = 1
extract(DAY FROM ts2 - ts) = 1
extract(HOURS FROM ts2 - ts) = 5 OR date_part('SECOND', ts2 - ts) = 0.5
extract(MONTH FROM INTERVAL '1-2' YEAR TO MONTH) = 2 AND n = 5
extract(YEAR FROM make_interval(n)) = 5
date_part(NULL, ts) IS NULL
extract(DAY FROM s) IS NULL
TIMESTAMPADD(DAY, m, ts) > ts2
TIMESTAMPADD(YEAR, m, day) > ts
DATEADD(HOUR, tiny, ntz) < ts
DATEADD(MONTH, 1, '2013-07-04') > ts
TIMESTAMPDIFF(MICROSECOND, ts, ts2) > 100
TIMESTAMPDIFF(DAY, '2013-07-01', ts) = 3
TIMESTAMPDIFF(MONTH, ntz, ts2) = 0
array_contains(sequence(DATE '2013-07-04', DATE '2013-08-04', INTERVAL 1 MONTH), day)
size(sequence(TIMESTAMP '2013-07-04 00:00:00', TIMESTAMP '2013-07-03 00:00:00', INTERVAL -7 HOURS)) = 4 AND n = 5
size(sequence(to_date('2013-07-04'), to_date('2013-07-01'))) = 4 AND n = 5
make_timestamp(2013, m, 4, 8, 0, 0, 'CET') < ts
from_utc_timestamp(ts, 'EST') > to_utc_timestamp(ts, 'UTC+3')
convert_timezone('+1:00', 'Japan', ntz) > ntz
from_utc_timestamp(ts, NULL) IS NULL
hour(day) = 0
add_months(day, price) > day
next_day(day, n) IS NULL
date_add(day, '5') > DATE '2013-07-05'
to_date(n) IS NULL
to_date(n, 'y') IS NULL
to_timestamp(d) > ts
to_timestamp(flag) IS NULL
from_unixtime(d) > '1970'
make_date(2013.5D, m, price) = DATE '2013-07-05'
try_make_timestamp(s, 1, 1, 1, 1, '1.5') IS NULL
CAST('2013-07-04' AS STRING) + INTERVAL 2 DAYS = '2013-07-06 00:00:00'
to_date(date_format(DATE '2013-07-04', 'yyyy-MM-dd')) = day
to_char(n, '999') = '  5' OR to_char(price, 'S9.9') IS NULL
to_char(d, '$99.99') LIKE '$%'
to_varchar(s, '99') = ' 5'
to_char(raw, 'HEX') = '616263' OR to_char(raw, 'base64') = '/wA='
to_char(NULL, '99MI') IS NULL
(n, m) = (5, 7)
(n, m) <> (5, 7)
(n, m) < (5, 8)
(n, m) IN ((5, 7), (-1, 5))
(n, m) NOT IN ((5, 7))
(n, s) <=> (n, s)
(n, (m, d)) = (5, (7, 5.5D))
struct(n, m) = struct(5, 7)
struct(n AS a, m).a = 5
place = (1, 'q')
exists(list, x -> x > 1)
exists(list, x -> x > n)
exists(list, n -> n > 1)
forall(list, x -> x IS NOT NULL AND x > 0)
NOT forall(list, x -> x = 7)
size(filter(list, x -> x > 1)) = 1
size(filter(list, (x, i) -> x > i + 1)) = 1
transform(list, x -> x + 1)[0] = 2
transform(tags, (t, i) -> lower(t))[0] = 'abc'
exists(tags, t -> t LIKE 'a%')
exists(tags, t -> t = city)
exists(tags, t -> t IN ('abc', 'x'))
exists(tags, t -> CASE WHEN length(t) > 2 THEN t RLIKE '^A' END)
exists(items, i -> i.a = 1 AND i.t LIKE 'a%')
exists(items, i -> exists(i.xs, x -> x = i.a))
exists(filter(items, i -> i.a > 1), i -> i.t IS NULL)
exists(items, `my item` -> `my item`.a > 1)
exists(items, order -> order.a > 1)
size(map_filter(dict, (k, v) -> v > 0)) = 1
transform_values(dict, (k, v) -> v + 1)['a'] = 2
zip_with(list, list, (a, b) -> a + b)[0] = 2
aggregate(list, 0, (acc, x) -> acc + coalesce(x, 0)) > 5
reduce(list, 0, (acc, x) -> acc + coalesce(x, 0), acc -> acc * 2) = 12
aggregate(list, true, (acc, x) -> acc AND x > 0)
array_contains(items.a, 5)
exists(items.t, t -> t LIKE 'a%')
items.a[0] = 1
filter(items, i -> i.a > 1).t[0] IS NULL AND size(items) > 0
dict.a = 1
dict['a'] = 1
place.x = 1
s IS NOT NULL AND NOT (n IS NULL)
s IS TRUE
s IS NOT FALSE
n IS TRUE
day IS UNKNOWN
n IS NOT UNKNOWN
price IS TRUE
- -n = 5
- - 5 = n
+ +n = +5
+n > -+5
~ ~n = 5
!flag
! flag = false
NOT n IS NULL
n !> 5
n !< 5
n << 1 = 10
n >> 1 = 2 OR n >>> 1 > 100
n || s = '5abc'
raw || raw = X'616263616263'
n = 5. OR n = .5 OR n = 5.e0 OR n = 1.e3
n == 5L
s = r'a%b'
s = R"abc"
s = "abc" -- a comment
s = /* a /* nested */ one */ 'abc'
raw = x'616263'
end = 1 AND order = 1 OR from > 1
case = 1
CASE WHEN case > 1 THEN end END = 2
interval = 1
interval + 1 > 2
interval IN (1)
in IN (1)
not = 1
NOT not = 1
n = 5 IS TRUE
n IS NOT DISTINCT FROM 5
(n = 5 OR flag) IS UNKNOWN
n + 1 IS NULL
"""
TEXTS = FORMS.strip().splitlines()

GUARDED = r"""
n * INTERVAL 1 DAY < ts2 - ts
INTERVAL 3 MONTH * d > INTERVAL 1 YEAR
(ts2 - ts) / n > INTERVAL 5 HOURS
INTERVAL 1 YEAR / s = INTERVAL 2 MONTHS
- (ts - ts2) + (ts2 - ts) > INTERVAL 1 DAY
abs(ts - ts2) * 2 > abs(ts - ts2)
CAST(day - DATE '2013-07-01' AS TINYINT) = 3
CAST(n AS INTERVAL DAY) > INTERVAL 1 DAY
CAST(big AS INTERVAL DAY) IS NULL
CAST(s AS INTERVAL DAY) = CAST(s AS INTERVAL DAY TO SECOND)
CAST(concat(n, ' days') AS INTERVAL) + ts > ts2
day + CAST(concat(n, ' hours') AS INTERVAL) > day - make_interval(n)
ts + make_interval(n) > ts2 AND ts + make_interval(0, 0, 0, n) > ts2
make_dt_interval(n, m) > INTERVAL 3 DAYS
make_ym_interval(n, m) > INTERVAL 3 YEARS
make_interval(n) * d IS NULL OR make_interval(0, n) / d IS NULL OR - make_interval(0, 0, 0, n) IS NULL
TIMESTAMPADD(DAY, n, ts) > ts2
TIMESTAMPADD(YEAR, n, day) > ts
DATEADD(HOUR, big, ntz) IS NULL
add_months(day, d) > day
make_date(d, d, d) IS NULL
date_from_unix_date(d) > day
to_timestamp(d) > ts AND from_unixtime(d) > s
from_utc_timestamp(ts, s) IS NULL
convert_timezone(s, city, ntz) IS NULL
make_timestamp(n, m, m, m, m, s, s) IS NULL
to_char(raw, 'utf-8') = 'abc'
date_format(ts, city) IS NULL OR to_char(day, s) IS NULL OR from_unixtime(n, s) IS NULL
to_date(s, city) IS NULL OR to_timestamp(city, s) IS NULL OR unix_timestamp(s, city) IS NULL
size(sequence(day, CAST(ts AS DATE), INTERVAL 1 MONTH)) > 5
size(sequence(ts, ts2, INTERVAL 5 HOURS)) > 5 OR size(sequence(ntz, CAST(ts AS TIMESTAMP_NTZ))) > 5
"""
"""What makes Spark's own filter throw on some of these rows."""


def rows(pools: dict[str, tuple[str, ...]], count: int) -> str:
    """SELECT of rows that go through the pools, each at its own pace, and a row of NULLs."""
    fields = [
        (field.name, Schema.from_arrow(SCHEMA.arrow.empty_table().select([field.name]).schema))
        for field in SCHEMA.arrow
    ]
    selects = []
    for row in range(count + 1):
        columns = []
        for place, (name, alone) in enumerate(fields):
            pool = pools.get(name) or pools.get(f"`{name}`") or POOLS.get(name) or POOLS[f"`{name}`"]
            value = "NULL" if row == count else pool[(row * (place % 3 + 1) + row // len(pool)) % len(pool)]
            columns.append(f"CAST({value} AS {alone.ddl().split(' ', 1)[1]}) AS `{name}`")
        selects.append(f"SELECT {row} AS id, {', '.join(columns)}")
    return " UNION ALL ".join(selects)


@pytest.fixture(scope="module")
def usual(spark: SparkSession) -> DataFrame:
    return spark.sql(rows({}, ROWS)).coalesce(1).localCheckpoint()


@pytest.fixture(scope="module")
def extreme(spark: SparkSession) -> DataFrame:
    return spark.sql(rows(EXTREMES, 8)).coalesce(1).localCheckpoint()


@pytest.fixture(params=["UTC", pytest.param("America/New_York", marks=pytest.mark.nightly)])
def zone(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[str]:
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", request.param)
    yield request.param
    spark.conf.set("spark.sql.session.timeZone", before)


def columns_of(df: DataFrame, predicates: list[Predicate]) -> dict[str, Any]:
    from pyspark.sql import functions as F  # noqa: N812

    attributes = list(dict.fromkeys(a for predicate in predicates for a in predicate.p_attributes))
    found: dict[str, Any] = {}
    for start in range(0, len(attributes), 50):
        chunk = attributes[start : start + 50]
        table = df.select(*[F.expr(a.sql).alias(f"c{i}") for i, a in enumerate(chunk)]).toArrow()
        for attribute, column in zip(chunk, table.columns, strict=True):
            assert column.type == attribute.type, attribute.sql
            found[attribute.sql] = [attribute.key_of(value) for value in column]
    return found


def accepted(predicate: Predicate, values: dict[str, Any]) -> set[int]:
    return {
        row
        for row in range(ROWS + 1)
        if predicate.match_all
        or any(all(c.admits(values[a.sql][row]) for a, c in conjunct) for conjunct in predicate.conjuncts)
    }


def kept_by_filter(df: DataFrame, texts: list[str]) -> list[set[int]]:
    from pyspark.sql import functions as F  # noqa: N812

    found: list[set[int]] = [set() for _ in texts]
    for start in range(0, len(texts), 25):
        kept = [
            df.filter(text).select(F.lit(start + i).alias("i"), "id")
            for i, text in enumerate(texts[start : start + 25])
        ]
        for row in reduce(type(df).union, kept).collect():
            found[row.i].add(row.id)
    return found


def test_forms_accept_what_filter_accepts(usual: DataFrame, zone: str, part_of: PartOf[str]) -> None:
    # In the second zone those alone that may see it.
    texts = part_of(TEXTS, 2) if zone == "UTC" else [text for text in TEXTS if OF_TIME.search(text)]
    predicates = [normalise(text, SCHEMA, time_zone=zone) for text in texts]
    values = columns_of(usual, predicates)
    wrong = [
        (text, sorted(accepted(predicate, values) ^ expected))
        for text, predicate, expected in zip(texts, predicates, kept_by_filter(usual, texts), strict=True)
        if accepted(predicate, values) != expected
    ]
    assert wrong == []


def test_nothing_throws_at_the_extremes(extreme: DataFrame, zone: str) -> None:
    texts = [*TEXTS, *GUARDED.strip().splitlines()]
    predicates = [normalise(text, SCHEMA, time_zone=zone) for text in texts]
    attributes = list(dict.fromkeys(a for predicate in predicates for a in predicate.p_attributes))
    conditions = [a.error_condition for a in attributes if a.error_condition is not None]
    sqls = [*(a.sql for a in attributes), *conditions]
    # Spark compiles up to a hundred columns together, and computes more one by one.
    found = [sql for start in range(0, len(sqls), 60) for sql in failing(extreme, sqls[start : start + 60])]
    assert [*found, *failing(extreme, sqls)] == []


def failing(df: DataFrame, sqls: list[str]) -> list[str]:
    """The expressions that throw; all of them where they throw together alone."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException
    from pyspark.sql import functions as F  # noqa: N812

    try:
        df.select(*[F.expr(sql).alias(f"c{i}") for i, sql in enumerate(sqls)]).toArrow()
    except (PySparkException, Py4JJavaError):
        half = len(sqls) // 2
        return (half and failing(df, sqls[:half]) + failing(df, sqls[half:])) or sqls
    return []
