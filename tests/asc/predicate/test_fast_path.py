"""What becomes a constraint, with which constants, and what is left to Spark whole."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pytest

from asc.keys.constraint import Constraint, Key
from asc.keys.decimals import decimal_key
from asc.keys.float_bits import NAN_KEY
from asc.keys.floats import float_key
from asc.predicate import Limits, normalise
from asc.predicate.normal_form.describe import describe
from asc.predicate.regex.like_pattern import like_regex
from asc.predicate.regex.pattern_search import Use, search
from asc.schema import Schema
from workloads.random_tuples import ALL_TYPES_DDL

SCHEMA = Schema.from_ddl(ALL_TYPES_DDL + ", labels MAP<STRING, INT>, tags ARRAY<STRING>")


def at(key: Key) -> Constraint:
    return Constraint((((key, 0), (key, 1)),))


def above(key: Key, null: bool = False) -> Constraint:
    return Constraint((((key, 1), None),), null)


def below(key: Key) -> Constraint:
    return Constraint(((None, (key, 0)),))


def from_(key: Key) -> Constraint:
    return Constraint((((key, 0), None),))


def up_to(key: Key) -> Constraint:
    return Constraint(((None, (key, 1)),))


DAY = (dt.date(2013, 7, 4) - dt.date(1970, 1, 1)).days
MIDNIGHT = DAY * 86_400 * 10**6

FAST = [
    ("n > 5", "n", above(5)),
    ("5 < n", "n", above(5)),
    ("n > 5.5", "n", above(5)),
    ("n >= 5.5", "n", above(5)),
    ("n < 5.5", "n", up_to(5)),
    ("n <= -5.5", "n", up_to(-6)),
    ("n < 5.0", "n", below(5)),
    ("n > 5.5D", "n", above(5)),
    ("big < 9007199254740991D", "big", below(2**53 - 1)),
    ("n <=> 5", "n", at(5)),
    ("NOT n <=> 5", "n", Constraint(((None, (5, 0)), ((5, 1), None)), null=True)),
    ("n IS DISTINCT FROM NULL", "n", Constraint(((None, None),))),
    ("n <> 5", "n", Constraint(((None, (5, 0)), ((5, 1), None)))),
    ("tiny > 100Y", "tiny", above(100)),
    ("f = 16777216", "f", at(float_key(16777216.0))),
    ("f > 0.1", "f", above(float_key(0.1))),
    ("f > 0.5F", "f", above(float_key(0.5))),
    ("d >= -0.0D", "d", from_(float_key(0.0))),
    ("d > 1e308", "d", above(float_key(1e308))),
    ("price = 5.5", "price", at(550)),
    ("price > 5.555", "price", above(555)),
    ("price < -5.555", "price", up_to(-556)),
    ("price <= 5", "price", up_to(500)),
    ("wide > 5.5", "wide", above(decimal_key(550_000))),
    ("wide < 1e3BD", "wide", below(decimal_key(100_000_000))),
    ("s >= 'Zürich'", "s", from_("Zürich".encode())),
    ("s LIKE 'ab%'", "s", Constraint((((b"ab", 0), (b"ac", 0)),))),
    ("s LIKE 'a!%' ESCAPE '!'", "s", at(b"a%")),
    ('s = "it\'s"', "s", at(b"it's")),
    (r"s = 'it\'s \u00e9\n'", "s", at("it's é\n".encode())),
    (r"s = r'a\n'", "s", at(rb"a\n")),
    ("s = 'a' 'b'", "s", at(b"ab")),
    ("raw = X'F'", "raw", at(b"\x0f")),
    ("flag", "flag", from_(1)),
    ("flag <> TRUE", "flag", Constraint(((None, (1, 0)),))),
    ("flag IS NOT FALSE", "flag", Constraint((((0, 1), None),), null=True)),
    ("day = DATE '2013-07-04'", "day", at(DAY)),
    ("ntz >= TIMESTAMP_NTZ '2013-07-04 00:00:00.5'", "ntz", from_(MIDNIGHT + 500_000)),
    ("ntz >= DATE '2013-07-04'", "ntz", from_(MIDNIGHT)),
    ("ts < TIMESTAMP '2013-07-04'", "ts", below(MIDNIGHT)),
    ("ts >= DATE '2013-07-04'", "ts", from_(MIDNIGHT)),
    ("place.inner.z IS NULL", "place.inner.z", Constraint((), null=True)),
    ("n IN (1, 3.0, 5L)", "n", Constraint(tuple(((k, 0), (k, 1)) for k in (1, 3, 5)))),
    ("n IN (1, 3, 2)", "n", Constraint((((1, 0), (3, 1)),))),
    ("lower(city) = 'oslo'", "lower(city)", at(b"oslo")),
    ("price * n > 1000", "price * n", above(decimal_key(100_000))),
    ("n % 7 = 0", "n % 7", at(0)),
    ("year(ts) = 2013", "year(ts)", at(2013)),
    ("labels['k'] > 3", "labels['k']", above(3)),
    ("tags[0] = 'x'", "tags[0]", at(b"x")),
    ("day > TIMESTAMP '2013-07-04 00:00:00'", "day", above(DAY)),
    ("day <= TIMESTAMP '2013-07-04 00:00:00.5'", "day", up_to(DAY)),
    ("day >= TIMESTAMP_NTZ '2013-07-04 00:00:00.5'", "day", above(DAY)),
    ("f > 0.1F", "f", above(float_key(0.10000000149011612))),
    ("n::STRING = '5'", "CAST(n AS STRING)", at(b"5")),
    ("(n > 5) = TRUE", "n", above(5)),
    ("isnull(n)", "n", Constraint((), null=True)),
]


@pytest.mark.parametrize(("text", "sql", "constraint"), FAST, ids=[text for text, _, _ in FAST])
def test_one_constraint(text: str, sql: str, constraint: Constraint) -> None:
    predicate = normalise(text, SCHEMA)
    (((attribute, found),),) = predicate.conjuncts
    assert attribute.sql == sql
    assert found == constraint
    assert (attribute.path is None) == (sql not in {a.name for a in SCHEMA.attributes})
    assert predicate.warnings == ()


WHOLE = [
    ("n < m", ""),
    ("big > 9007199254740993D", ""),
    ("n > 16777217F", ""),
    ("f = 16777217", ""),
    ("big > 9223372036854775808", ""),
    ("price > 5.5D", ""),
    ("wide > 12345678901234567890123456789012345.678", ""),
    ("n IN (1, 2.5D)", ""),
    ("f IN (16777217, 5.5)", ""),
    ("ntz > TIMESTAMP '2013-01-01 00:00:00'", ""),
    ("ts > TIMESTAMP '2013-01-01T00:00:00Z'", ""),
    ("s > 5", "write CAST(s AS DOUBLE)"),
    ("n = '5'", "without quotes"),
    ("n > 'hot'", "'hot' is no number: a comparison with it is NULL, and accepts no record"),
    ("n IN ('hot')", "'hot' is no number: n IN ('hot') accepts no record"),
    ("day > '2013-01-01'", "write DATE '2013-01-01'"),
    ("ts > '2013-01-01'", "write TIMESTAMP '2013-01-01'"),
    ("flag = 1", "write TRUE or FALSE"),
    ("s LIKE '%b%'", ""),
    ("s RLIKE '^a[bc]'", ""),
    ("place IS NULL", ""),
    ("(n > 5) = (m > 5)", ""),
    ("round(s, 1) > 2", ""),
    ("n IN (m, 1)", ""),
    # halfway between two floats once rounded to a double
    ("f > 1.00000005960464477540F", ""),
]


@pytest.mark.parametrize(("text", "warning"), WHOLE, ids=[text for text, _ in WHOLE])
def test_left_to_spark(text: str, warning: str) -> None:
    predicate = normalise(text, SCHEMA)
    (((attribute, found),),) = predicate.conjuncts
    assert attribute.path is None
    if "round" not in text:
        assert attribute.type == pa.bool_()
        assert found == Constraint((((1, 0), None),))
    assert len(predicate.warnings) == bool(warning)
    assert all(warning in w for w in predicate.warnings)


def test_nan_is_the_largest_double() -> None:
    predicate = normalise("d > 1e308", SCHEMA)
    assert predicate.conjuncts[0][0][1].admits(NAN_KEY)
    assert not normalise("d <= 1e308", SCHEMA).conjuncts[0][0][1].admits(NAN_KEY)


@pytest.mark.parametrize(
    ("local", "utc"),
    [
        ("2013-07-04 12:00:00", "2013-07-04 16:00:00"),
        ("2013-03-10 02:30:00", "2013-03-10 07:30:00"),  # a gap: the offset from before it
        ("2013-11-03 01:30:00", "2013-11-03 05:30:00"),  # an overlap: the earlier offset
    ],
)
def test_timestamps_are_local(local: str, utc: str) -> None:
    here = normalise(f"ts = TIMESTAMP '{local}'", SCHEMA, time_zone="America/New_York")
    assert here.conjuncts == normalise(f"ts = TIMESTAMP '{utc}'", SCHEMA).conjuncts


@pytest.mark.parametrize(
    ("text", "time_zone"),
    [
        ("ts > DATE '1919-03-31'", "America/Toronto"),
        ("ts > DATE '2018-11-04'", "America/Sao_Paulo"),  # midnight is skipped
        ("ts > DATE '2011-12-30'", "Pacific/Apia"),  # the day is
        ("ts > TIMESTAMP '1999-12-31 23:59:59'", "Europe/Berlin"),
        ("day > TIMESTAMP '2013-07-04 00:00:00'", "Europe/Berlin"),
    ],
)
def test_where_time_zones_are_uncertain_spark_computes(text: str, time_zone: str) -> None:
    (((attribute, _),),) = normalise(text, SCHEMA, time_zone=time_zone).conjuncts
    assert attribute.path is None
    near = text.replace("1919", "2019").replace("1999", "2019").replace("-11-04", "-11-05").replace("12-30", "12-31")
    (((attribute, _),),) = normalise(near, SCHEMA, time_zone=time_zone).conjuncts
    assert (attribute.path is None) == text.startswith("day")


@pytest.mark.parametrize(
    ("text", "sql"),
    [
        ("ts < ntz", "ts < TRY_CAST(ntz AS TIMESTAMP)"),
        ("day < ts", "TRY_CAST(day AS TIMESTAMP) < ts"),
        ("day < ntz", "TRY_CAST(day AS TIMESTAMP_NTZ) < ntz"),
        ("ntz > TIMESTAMP '2013-01-01 00:00:00'", "TRY_CAST(ntz AS TIMESTAMP) > TIMESTAMP '2013-01-01 00:00:00'"),
        ("ts > DATE '+294300-01-01'", "ts > TRY_CAST(DATE '+294300-01-01' AS TIMESTAMP)"),
        ("day IN (ts, ntz)", "TRY_CAST(day AS TIMESTAMP) IN (ts, TRY_CAST(ntz AS TIMESTAMP))"),
        ("ts BETWEEN day AND ntz", "ts >= TRY_CAST(day AS TIMESTAMP) AND ts <= TRY_CAST(ntz AS TIMESTAMP)"),
        (
            "day BETWEEN ts AND ntz",
            "TRY_CAST(day AS TIMESTAMP) >= ts AND TRY_CAST(day AS TIMESTAMP_NTZ) <= ntz",
        ),
        ("CAST(ts AS TIMESTAMP_NTZ) < ntz", "TRY_CAST(ts AS TIMESTAMP_NTZ) < ntz"),
        ("s LIKE '%%%%b_'", "s LIKE '%b_'"),
        ("s LIKE '%%!%!!%%' ESCAPE '!'", r"s LIKE '%\\%!%'"),
        ("s LIKE '_%%!%!!%%' ESCAPE '!'", "s LIKE '_%!%!!%' ESCAPE '!'"),
    ],
)
def test_text_for_spark(text: str, sql: str) -> None:
    (((attribute, _),),) = normalise(text, SCHEMA).conjuncts
    assert attribute.sql == sql


def test_a_long_list() -> None:
    text = f"n IN ({', '.join(map(str, range(0, 20_000, 2)))}, m)"
    (((attribute, _),),) = normalise(text, SCHEMA, limits=Limits(length_chars=10**6, spark_nodes=10**4)).conjuncts
    assert attribute.sql == text


def test_description_reads_like_sql() -> None:
    text = (
        "price BETWEEN 1 AND 5.5 AND (s IS NULL OR s <> 'a') AND NOT flag AND day >= DATE '2013-07-04' AND d > 1.5D"
        " AND ts < TIMESTAMP '2013-07-04 00:00:00.25' AND raw IN (X'00', X'FF') AND n + m NOT IN (1, 3) AND wide > 0.1"
    )
    assert describe(normalise(text, SCHEMA)).splitlines()[1] == (
        "     1.00 <= price <= 5.50 AND (s <> 'a' OR s IS NULL) AND NOT flag AND day >= DATE '2013-07-04' AND d > 1.5"
        " AND ts < TIMESTAMP '2013-07-04 00:00:00.250000Z' AND raw IN (X'00', X'FF') AND (n + m) NOT IN (1, 3)"
        " AND wide > 0.10000"
    )
    assert describe(normalise("n > 5 AND n < 4", SCHEMA)).startswith("accepts no record")
    assert describe(normalise("TRUE", SCHEMA)).startswith("accepts every record")
    assert describe(normalise("s > 5", SCHEMA)).splitlines()[-1].startswith("warning: s is a string")


@pytest.mark.parametrize(
    "pattern", ["^a[bc]", "a{1,3}b?", "^[0-9]+-[0-9]+$", "^(ab|cd)e{2}", r"^\d+\.\d*$", "", "^.*", "(a|b|c)(d|e|f)"]
)
def test_harmless_regular_expressions(pattern: str) -> None:
    assert search(pattern, Use.ALL).pattern == pattern


RISKY = r"""
(a+)+$ (a|a)*b (a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)z
((a|b){2}|c)(ab?|a?b)(x?y?z?|x?y?z?)(x?y?z?|x?y?z?)(x?y?z?|x?y?z?)w a{1000}b{2} ^a*b{900}c{900}
^a*[a-c]d*[a-d]*e (a)\1 (?=a*)b (?iu)a a** a++ [a a) (a *a a{3,2} a{5000} za{0,99}b{0,99}c \Qa\E [[a]] [a&&b]
\p{L} x(ab|b)*y
"""


@pytest.mark.parametrize("pattern", RISKY.split())
def test_regular_expressions_that_could_stall_or_fail(pattern: str) -> None:
    for use in Use:
        with pytest.raises(ValueError):  # noqa: PT011
            search(pattern, use)


@pytest.mark.parametrize("pattern", ["a%", "%a", "%a%", "a%b", "_a", "a_%", "%_", "%%", ""])
def test_like_is_left_alone_where_it_is_linear(pattern: str) -> None:
    assert like_regex(pattern, "\\") is None


@pytest.mark.parametrize("divided", ["n / 0", "n % 0.0", "n DIV 0", "mod(n, 0)", "pmod(n, -0)", "1 / 0"])
def test_a_division_by_the_constant_zero_is_warned_of(divided: str) -> None:
    (warning,) = normalise(f"{divided} > 1 OR {divided} < 0", SCHEMA).warnings
    assert "divides by zero: it is NULL for every record" in warning


@pytest.mark.parametrize("divided", ["n / 2", "n / m", "0 / n", "n / NULL", "n % 0.1", "n * 0"])
def test_another_division_is_not(divided: str) -> None:
    assert not any("zero" in warning for warning in normalise(f"{divided} > 1", SCHEMA).warnings)
