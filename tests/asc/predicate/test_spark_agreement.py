"""What is spelled for Spark, held against Spark: nothing throws, and the types are those inferred."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import product
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from asc.errors import PredicateError
from asc.predicate.functions import FUNCTIONS
from asc.predicate.functions.instants import INSTANTS
from asc.predicate.limits import Limits
from asc.predicate.syntax.interval_type import CALENDAR
from asc.predicate.syntax.parser import parse
from asc.predicate.type_checking.typer import Typer
from asc.schema import Schema
from asc.spark_types import ddl_of_type

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from tests.tiers import PartOf

pytestmark = [pytest.mark.spark, pytest.mark.slow]

EXTREMES = {
    "flag": ("true", "false"),
    "tiny": ("-128Y", "127Y", "0Y"),
    "n": ("-2147483648", "2147483647", "0", "-1", "7"),
    "big": ("-9223372036854775808", "9223372036854775807", "0L", "-1L", "253402300800L"),
    "f": ("CAST('NaN' AS FLOAT)", "CAST('-Infinity' AS FLOAT)", "3.4028234663852886E38F", "-0.0F", "1.5F"),
    "d": ("CAST('NaN' AS DOUBLE)", "CAST('Infinity' AS DOUBLE)", "-1.7976931348623157E308D", "-0.0D", "1e19"),
    "price": ("99999999.99", "-99999999.99", "0.00", "0.01"),
    "wide": (f"{'9' * 32}.999999", f"-{'9' * 32}.999999", "0.000001"),
    "s": ("''", "'abc'", "' 7 '", "'2013-07-04 12:00:00'", "'東京🚀'", "'+300000-01-01'", "'-1e400'", "'%_'"),
    "raw": ("X''", "X'FF00FF'", "X'616263'"),
    "day": (
        "date_from_unix_date(-2147483648)",
        "date_from_unix_date(2147483647)",
        "DATE '0001-01-01'",
        "DATE '2013-03-10'",
    ),
    "ts": (
        "timestamp_micros(-9223372036854775808)",
        "timestamp_micros(9223372036854775807)",
        "TIMESTAMP '2013-03-10 02:30:00'",
    ),
    "ntz": (
        "TIMESTAMP_NTZ '0001-01-01 00:00:00'",
        "TIMESTAMP_NTZ '9999-12-31 23:59:59.999999'",
        "CAST(timestamp_micros(-9223372036854775808) AS TIMESTAMP_NTZ)",
        "CAST(timestamp_micros(9223372036854775807) AS TIMESTAMP_NTZ)",
    ),
    "list": ("array(1, NULL)", "array()"),
    "dict": ("map('a', 1)", "map()"),
    "days": ("array(date_from_unix_date(-2147483648), date_from_unix_date(2147483647))",),
    "instants": ("array(timestamp_micros(-9223372036854775808), timestamp_micros(9223372036854775807))",),
    "by_instant": ("map(timestamp_micros(-9223372036854775808), 1, timestamp_micros(9223372036854775807), 2)",),
    "place": ("named_struct('x', 1)", "named_struct('x', CAST(NULL AS INT))"),
}
DDL = (
    "flag BOOLEAN, tiny TINYINT, n INT, big BIGINT, f FLOAT, d DOUBLE, price DECIMAL(10,2), wide DECIMAL(38,6),"
    " s STRING, raw BINARY, day DATE, ts TIMESTAMP, ntz TIMESTAMP_NTZ, list ARRAY<INT>, dict MAP<STRING, INT>,"
    " days ARRAY<DATE>, instants ARRAY<TIMESTAMP>, by_instant MAP<TIMESTAMP, INT>,"
    " place STRUCT<x: INT>"
)
SCHEMA = Schema.from_ddl(DDL)
ROWS = 8

BY_SORT = {
    "n": ("n", "tiny", "big", "f", "d", "price", "wide", "s", "NULL", "3", "2.5"),
    "N": ("n", "tiny", "big", "f", "d", "price", "wide", "NULL", "3", "2.5"),
    "s": ("s", "raw", "n", "d", "flag", "day", "ts", "wide", "'ab'", "NULL"),
    "i": ("n", "tiny", "2", "-1", "0", "s", "big", "f", "d", "price", "wide", "2.5", "'7'", "NULL"),
    "f": ("n", "2", "0", "big", "NULL", "'#,##0.00'", "'0'", "'#.#'"),
    "k": ("n", "big", "flag", "NULL"),
    "u": ("n", "d", "wide", "s", "flag", "NULL"),
    "t": ("day", "ts", "ntz", "s"),
    "z": ("day", "ts", "ntz", "s"),
    "r": ("s", "day", "ts", "ntz", "n", "NULL"),
    "e": ("n", "tiny", "big", "day", "ts", "s"),
    "w": ("2", "n", "INTERVAL 1 DAY", "INTERVAL 2 MONTHS"),
    "T": ("ts", "ntz", "s"),
    "D": ("day", "ts"),
    "I": ("n", "tiny", "2", "-1", "s", "d"),
    "S": ("s", "raw", "n"),
    "W": ("s", "n", "list", "days", "array(s, NULL)", "array(ts, ntz)", "array()", "array(raw)", "NULL"),
    "B": ("s", "raw", "n"),
    "Y": ("raw", "s"),
    "y": ("list", "dict", "days", "instants"),
    "m": ("dict", "list", "by_instant"),
    "b": ("flag", "n > 1"),
    "a": ("list", "dict"),
    "V": ("parse_json(s)", "n", "NULL"),
    "x": ("n", "big", "d", "wide", "s", "day", "ts", "flag", "NULL", "place", "list", "ntz"),
    "q": ("n", "big", "d", "wide", "s", "day", "flag", "NULL", "place", "ts", "ntz"),
}
PLACES: dict[str, dict[int, tuple[str, ...]]] = {
    name: places
    for names, places in (
        ("round", {1: ("2", "-2", "30", "-30", "'1'", "2.5", "'a'", "NULL")}),
        ("bround", {1: ("2", "-2", "NULL")}),
        ("ceil ceiling floor", {1: ("2", "-2")}),
        ("conv", {1: ("10", "2", "36", "-5", "n"), 2: ("16", "-10", "1", "n")}),
        ("bit_get getbit", {1: ("0", "7", "63", "n", "big", "d", "wide", "s", "NULL")}),
        ("lpad rpad", {1: ("5", "0", "10000", "'a'", "n", "big", "wide", "d", "NULL")}),
        ("replace", {1: ("'ab'", "s", "n", "NULL", "''"), 2: ("'x'", "'xyz'", "s", "NULL")}),
        ("rlike regexp regexp_like regexp_count regexp_substr", {1: ("'a[bc]'", "'^a+'", "''", "NULL")}),
        ("regexp_extract regexp_extract_all", {1: ("'(a)(b)'", "NULL"), 2: ("0", "1", "2", "NULL")}),
        ("regexp_instr", {1: ("'(a)(b)'", "''", "NULL"), 2: ("0", "1", "2", "NULL")}),
        (
            "regexp_replace",
            {1: ("'(a)b'", "''", "NULL"), 2: ("'$1$0'", "'x'", "''", "NULL"), 3: ("1", "1000000", "NULL")},
        ),
        ("split", {1: ("''", "'[ab]'", "NULL"), 2: ("0", "-1", "2", "-2147483648", "NULL")}),
        ("sha2", {1: ("256", "0", "512", "1", "n", "s", "d")}),
        ("encode decode", {1: ("'UTF-8'", "'US-ASCII'", "'utf-16'", "'UTF-32'", "'ISO-8859-1'", "NULL")}),
        ("try_to_binary", {1: ("'hex'", "'base64'", "'utf-8'")}),
        ("array_contains array_position", {1: ("1", "n", "big", "d", "price", "day", "ts", "ntz")}),
        ("map_contains_key", {1: ("'a'", "s", "n", "day", "ts", "ntz")}),
        ("map named_struct", {0: ("'a'",), 2: ("'b'",)}),
        ("element_at try_element_at", {1: ("1", "-1000000000", "n", "tiny", "big", "s", "'a'", "ts")}),
        ("array_append array_prepend array_remove", {1: ("n", "day", "ts", "NULL")}),
        ("array_insert", {1: ("-100", "-1", "1", "100"), 2: ("n", "day", "ts", "NULL")}),
        ("flatten", {0: ("array(list)", "array(days, NULL)")}),
        ("array_repeat", {1: ("0", "3", "n", "n % 20")}),
        ("array_join", {1: ("','", "''"), 2: ("'x'",)}),
        ("array_intersect array_except", {1: ("array(1, NULL)", "array('a')", "array(day)")}),
        ("slice", {1: ("1", "-1000000000", "1000000000", "n"), 2: ("0", "1000000000", "n")}),
        ("sort_array", {1: ("TRUE", "FALSE")}),
        ("get_json_object", {1: ("'$.a[*].b'", "'nonsense'", "'$'")}),
        ("parse_url try_parse_url", {1: ("'HOST'", "'QUERY'", "'USERINFO'"), 2: ("'x'",)}),
        ("instr contains trim btrim ltrim rtrim find_in_set", {1: ("'ab'", "'7'", "s", "n", "raw")}),
        ("levenshtein", {1: ("'ab'", "''", "s"), 2: ("0", "2", "-1", "n", "NULL")}),
        ("mask", {1: ("'X'", "NULL"), 2: ("'🚀'",)}),
        ("substring_index", {1: ("'ab'", "'7'", "s", "''"), 2: ("2",)}),
        ("split_part", {1: ("'ab'", "'7'", "s", "''"), 2: ("-1", "n", "d", "wide", "s", "NULL")}),
        ("locate position", {1: ("'ab'", "s", "n", "raw")}),
        ("repeat", {0: ("s", "'ab'", "raw"), 1: ("0", "100", "-1", "n", "big", "d", "wide", "s", "NULL")}),
        ("sentences", {1: ("'en'", "''", "'de'"), 2: ("'US'", "''")}),
        ("space", {0: ("0", "10000", "n", "big", "d", "wide", "s", "NULL")}),
        ("date_part datepart extract", {0: ("'YEAR'", "'second'", "'DOW_ISO'", "'YEAROFWEEK'", "'HOUR'")}),
        ("date_trunc", {0: ("'YEAR'", "'WEEK'", "'MICROSECOND'", "'DAY'", "'x'", "s")}),
        ("trunc", {1: ("'YEAR'", "'WEEK'", "'MM'", "'x'", "s")}),
        ("next_day", {1: ("'MON'", "'x'", "s")}),
        (
            "date_format",
            {
                1: (
                    "'yyyy-MM-dd HH:mm:ss.SSSSSS'",
                    "'G y D F E a h K k q Q'",
                    "'yy VV z O X x Z'",
                    "'yyyy\\'T\\'HH'",
                    "s",
                )
            },
        ),
        ("from_unixtime", {1: ("'yyyy-MM-dd'", "'yy D VV'", "s")}),
        (
            "to_date to_timestamp to_timestamp_ltz to_timestamp_ntz try_to_timestamp unix_timestamp to_unix_timestamp",
            {1: ("'yyyy-MM-dd HH:mm:ss'", "'yyyyyy-MM-dd'", "'yy D'", "'HH VV'", "'yyyy-MM-dd[ XXX]'", "s")},
        ),
        ("from_utc_timestamp to_utc_timestamp", {1: ("'Asia/Tokyo'", "'-17:59'", "'UTC'")}),
        (
            "convert_timezone",
            {0: ("'Asia/Tokyo'",), 1: ("'America/New_York'", "ntz", "ts", "day", "s"), 2: ("ntz", "ts", "day")},
        ),
        (
            "make_timestamp make_timestamp_ltz make_timestamp_ntz"
            " try_make_timestamp try_make_timestamp_ltz try_make_timestamp_ntz",
            {6: ("'Asia/Tokyo'",)},
        ),
        ("to_binary", {1: ("'hex'", "'base64'", "'utf-8'", "NULL")}),
        ("format_string printf", {0: ("'%5s|%-7s'", "'%s'", "'%2$s %%'", "NULL"), 2: ("s", "n")}),
        (
            "from_json",
            {
                1: (
                    "'a INT, b STRUCT<c: DOUBLE, d: STRING>'",
                    "'flag BOOLEAN NOT NULL'",
                    "'ARRAY<MAP<STRING, DATE>>'",
                    "'map<string, array<struct<t: timestamp, n: timestamp_ntz, b: binary>>>'",
                    "'a VARIANT'",
                    'schema_of_json(\'[{"b": 1.5, "a": [null]}, {"c": true}]\')',
                ),
                2: ("map('timestampFormat', 'dd/MM/yyyy', 'mode', 'PERMISSIVE')", "map('primitivesAsString', 'true')"),
            },
        ),
        (
            "to_json",
            {
                0: (
                    "place",
                    "list",
                    "array(d, NULL)",
                    "array(raw)",
                    "dict",
                    "days",
                    "instants",
                    "by_instant",
                    "named_struct('t', ts, 'l', ntz, 'd', day)",
                    "parse_json(s)",
                    "map(1, map('a', day))",
                ),
                1: ("map('timestampFormat', 'yyyy VV', 'dateFormat', 'HH')", "map('ignoreNullFields', 'false')"),
            },
        ),
        ("schema_of_json", {0: ("'{\"a\": [1, 2.5]}'", "'{'"), 1: ("map('prefersDecimal', 'true')",)}),
        ("schema_of_csv", {0: ("'1,a'", "'\"'", "','"), 1: ("map('sep', '|')",)}),
        ("schema_of_xml", {0: ("'<r><a>1</a></r>'", "'<r>'"), 1: ("map('rowTag', 'r')",)}),
        (
            "from_csv",
            {1: ("'a INT, b STRING, c DATE'", "'t TIMESTAMP'"), 2: ("map('sep', '|')", "map('mode', 'permissive')")},
        ),
        (
            "to_csv",
            {
                0: ("named_struct('t', ts, 'l', ntz, 'd', day)", "named_struct('a', s, 'b', d, 'c', wide)"),
                1: ("map('quoteAll', 'true')", "map('dateFormat', 'HH')"),
            },
        ),
        (
            "to_xml",
            {
                0: (
                    "place",
                    "named_struct('t', ts, 'l', ntz, 'd', day)",
                    "named_struct('a b', s)",
                    "named_struct('a', s, 'b', list, 'c', dict, 'd', raw, 'e', d, 'f', by_instant)",
                ),
                1: ("map('rowTag', 'r', 'nullValue', '-')", "map('timestampFormat', 'yyyy')"),
            },
        ),
        (
            "from_xml",
            {
                0: ("'<r><a>1</a><b><c>x</c></b></r>'", "'<r>'", "''"),
                1: ("'a INT, b STRUCT<c: STRING>'", "'a ARRAY<DATE>, b MAP<STRING, STRING>'", "'a TIMESTAMP'"),
                2: ("map('rowTag', 'r', 'mode', 'PERMISSIVE')",),
            },
        ),
        (
            "xpath xpath_string xpath_boolean xpath_short xpath_int xpath_long xpath_float xpath_double xpath_number",
            {0: ("'<r><a>1</a><a>x</a></r>'", "''"), 1: ("'r/a/text()'", "'sum(//a)'", "'r[('", "'1 div 0'")},
        ),
        (
            "variant_get try_variant_get",
            {1: ("'$'", "'$.a[0][\"b\"]'"), 2: ("'int'", "'date'", "'array<string>'", "'timestamp'")},
        ),
        ("schema_of_variant", {0: ("parse_json('[1, {}]')", "parse_json('[')")}),
        ("to_variant_object", {0: ("list", "dict", "place", "instants", "array(day, NULL)", "named_struct('a', raw)")}),
        (
            "aes_encrypt",
            {
                1: ("'0123456789abcdef'", "raw", "'short'"),
                2: ("'ECB'", "'cbc'"),
                3: ("'PKCS'", "'x'"),
                4: ("X'000102030405060708090a0b0c0d0e0f'", "unhex('00')"),
            },
        ),
        ("aes_decrypt try_aes_decrypt", {2: ("'ECB'", "s"), 3: ("'PKCS'", "s")}),
        (
            "to_char to_varchar",
            {
                0: ("n", "tiny", "big", "f", "d", "price", "wide", "s", "NULL", "day", "ts", "ntz", "raw"),
                1: ("'yyyy-MM-dd HH:mm:ss'", "'G yy VV'", "'999'", "'S$9,990.00'", "'0G0D0PR'", "'hex'", "'UTF-8'"),
            },
        ),
        ("to_number try_to_number", {1: ("'999'", "'S99G990.00'", "'0.99PR'", "'MI$9D'")}),
        (
            "sequence",
            {0: ("1", "-5", "n"), 1: ("7", "900", "tiny"), 2: ("1", "6", "n")},
        ),
        ("array_distinct", {0: ("array(n, 5)", "array(d)", "array(s, NULL)", "list", "days", "instants")}),
        ("array_union", {0: ("array(n, 5)", "array(n, NULL)", "list"), 1: ("array(5)", "array(n)", "list")}),
        ("map_from_arrays", {0: ("list", "days", "array(s)"), 1: ("list", "array(n)")}),
        ("map_from_entries", {0: ("array(struct(n, s))", "array(struct(d, n), NULL)")}),
        ("str_to_map", {1: ("','", "''"), 2: ("':'", "'[a-c]'")}),
        ("concat", {0: ("s", "raw", "list", "days"), 1: ("s", "n", "array(big)", "instants"), 2: ("s", "list")}),
        ("reverse", {0: ("s", "list", "days", "n")}),
        ("try_add", {1: ("n", "big", "d", "price", "wide", "2.5", "f")}),
    )
    for name in names.split()
}
"""Constants, and what else some functions need, by their arguments' places."""
EVERY_PAIR = (
    "array_contains",
    "array_position",
    "map_contains_key",
    "element_at",
    "try_element_at",
    "elt",
    "greatest",
    "coalesce",
    "nullif",
    "equal_null",
    "if",
)


@pytest.fixture(scope="module")
def extremes(spark: SparkSession) -> DataFrame:
    """Eight rows with the extremes of every type in every column, and a row of NULLs."""
    rows = [
        ", ".join(f"{values[i % len(values)]} AS `{name}`" for name, values in EXTREMES.items()) for i in range(ROWS)
    ]
    rows.append(", ".join(f"NULL AS `{name}`" for name in EXTREMES))
    casts = ", ".join(
        f"CAST(`{f.name}` AS {Schema(pa.schema([f])).ddl().split(' ', 1)[1]}) `{f.name}`" for f in SCHEMA.arrow
    )
    union = " UNION ALL ".join(f"SELECT {row}" for row in rows)
    df = spark.sql(f"SELECT {casts} FROM ({union})")
    # a real relation, so that the optimiser cannot compute the expressions on the driver
    return df.localCheckpoint()


def texts_of_calls() -> Iterator[str]:
    """Calls of every allowed function with every sort of argument it takes."""
    for name, function in sorted(FUNCTIONS.items()):
        places = PLACES.get(name, {})
        for count in range(function.least, min(function.most, max(function.least, 3)) + 1):
            pools = [places.get(i, BY_SORT[function.sort(i)]) for i in range(count)]
            if not pools:
                yield f"{name}()"
            for i, pool in enumerate(pools):
                for arg in pool:
                    # one argument through its whole pool, the others at the ends of theirs
                    for end in (
                        range(max(map(len, pools[1:]), default=1))
                        if name in EVERY_PAIR
                        else (0, -1)[: max(1, 4 - count)]
                    ):
                        rest = {j: p[min(end, len(p) - 1)] for j, p in enumerate(pools)}
                        yield f"{name}({', '.join({**rest, i: arg}[j] for j in range(count))})"


def texts_of_operators() -> Iterator[str]:
    numbers = ("n", "big", "f", "d", "price", "wide", "s", "2.5")
    operators = ("+", "-", "*", "/", "%", "DIV", "&", "|", "^", "||", "<<", ">>", ">>>")
    for operator, left, right in product(operators, numbers, numbers):
        yield f"{left} {operator} {right}"
    for operator, operand in product(("-", "+", "~"), ("n", "tiny", "big", "f", "d", "price", "wide", "s")):
        yield f"{operator} {operand}"
    for source, target in product(EXTREMES, CASTS):
        yield f"CAST({source} AS {target})"
        yield f"TRY_CAST({source} AS {target})"
    for left, right in product(("day", "ts", "ntz", "s"), repeat=2):
        yield f"{left} < {right}"
        yield f"{left} IN ({right}, NULL)"
        yield f"{left} BETWEEN {right} AND {right}"
    for results in product(("n", "big", "d", "price", "s", "NULL", "flag", "day", "ts", "ntz"), repeat=2):
        yield "CASE WHEN flag THEN {} ELSE {} END".format(*results)
        yield f"CASE {left} WHEN {right} THEN 1 END"
    for left, right in product(("days", "instants", "by_instant"), repeat=2):
        yield f"{left} = {right}"
    yield from ("instants[0] > DATE '+294300-01-01'", "ts > DATE '+294300-01-01'", "by_instant[ts]", "by_instant[day]")
    yield from ("day > TIMESTAMP '2020-01-05 00:00:00'", "ntz > TIMESTAMP '2020-01-05 00:00:00'", "days[0] < ntz")
    for target in ("ARRAY<STRING>", "ARRAY<TINYINT>", "MAP<STRING, DOUBLE>", "STRUCT<a: STRING>", "ARRAY<TIMESTAMP>"):
        for source in ("list", "dict", "days", "instants", "place", "NULL"):
            yield f"CAST({source} AS {target})"
            yield f"TRY_CAST({source} AS {target})"
    yield from LAMBDAS
    yield from ("list[n]", "list[0]", "dict[s]", "place.x", "dict['a']", "s LIKE '%a%b_'", "s LIKE 'a/%' ESCAPE '/'")
    yield from ("s LIKE s", "n LIKE s", "s LIKE d ESCAPE '1'", "raw LIKE raw", "s ILIKE concat(s, '%')")


LAMBDAS = (
    "transform(list, n)",
    "transform(list, (x, i) -> struct(x, i))",
    "transform_keys(dict, (k, v) -> n)",
    "transform_keys(map(n, 1, 2, 3), (k, v) -> v)",
    "map_zip_with(dict, dict, (k, a, b) -> a + b)",
    "array_sort(list, (a, b) -> b - a)",
    "array_sort(instants, (a, b) -> CASE WHEN a < b THEN 1 WHEN a > b THEN -1 ELSE 0 END)",
    "aggregate(list, named_struct('a', 0, 'b', n), (s, x) -> named_struct('a', s.a + x, 'b', s.b), s -> s.a)",
    "map(n, 1, 3, big)",
    "map(d, 1, 0.0D, 2)",
    "list || array(big)",
)

CAST_TARGETS = """
BOOLEAN TINYINT SMALLINT INT BIGINT FLOAT DOUBLE DECIMAL(10,2) DECIMAL(38,18) STRING BINARY DATE TIMESTAMP
TIMESTAMP_NTZ
"""
CASTS = tuple(CAST_TARGETS.split())


def typed(texts: Iterator[str]) -> dict[str, pa.DataType | None]:
    """The accepted ones: text for Spark -> inferred type."""
    found: dict[str, pa.DataType | None] = {}
    for text in texts:
        tree, source = parse(text, Limits(), "UTC")
        try:
            expression = Typer(source, SCHEMA).of(tree)
        except PredicateError:
            continue
        found[expression.sql] = expression.type
    return found


def evaluated(df: DataFrame, sqls: list[str]) -> list[str]:
    """The type of each expression, after its values were computed, or the error of analysing or computing it."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException
    from pyspark.sql import functions as F  # noqa: N812

    try:
        selected = df.select(*[F.expr(sql).alias(f"c{i}") for i, sql in enumerate(sqls)])
        selected.write.format("noop").mode("overwrite").save()
        return [field.dataType.simpleString() for field in selected.schema]
    except (PySparkException, Py4JJavaError) as error:
        if len(sqls) == 1:
            return [f"error: {' '.join(str(error).split())[:300]}"]
        half = len(sqls) // 2
        return evaluated(df, sqls[:half]) + evaluated(df, sqls[half:])


def simple_string(data_type: pa.DataType) -> str:
    """A type as Spark prints it."""
    return ddl_of_type(data_type).lower().replace(": ", ":").replace(", ", ",")


@pytest.fixture(
    params=["UTC", *(pytest.param(zone, marks=pytest.mark.nightly) for zone in ("America/New_York", "Asia/Tokyo"))]
)
def zone(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[str]:
    """A session time zone on each side of UTC: an offset may lead beyond the range of timestamps at either end."""
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", request.param)
    yield request.param
    spark.conf.set("spark.sql.session.timeZone", before)


def of_instants(texts: Iterator[str]) -> Iterator[str]:
    return (text for text in texts if re.search(r"\b(day|days|ts|ntz|instants|by_instant|TIMESTAMP\w*|DATE)\b", text))


@pytest.mark.parametrize("texts", [texts_of_calls, texts_of_operators], ids=["functions", "operators"])
def test_nothing_throws_and_types_are_as_inferred(
    extremes: DataFrame, texts: Callable[[], Iterator[str]], zone: str, part_of: PartOf[str]
) -> None:
    inferred = typed(part_of(texts() if zone == "UTC" else of_instants(texts()), 7))
    sqls = list(inferred)
    assert len(sqls) > (100 if zone == "UTC" else 20)
    # Spark writes no calendar interval, not even nowhere.
    written = [f"CAST(({sql}) AS STRING)" if inferred[sql] == CALENDAR else sql for sql in sqls]
    found = [t for i in range(0, len(sqls), 64) for t in evaluated(extremes, written[i : i + 64])]
    failed = [(sql, kind) for sql, kind in zip(sqls, found, strict=True) if kind.startswith("error")]
    assert not failed, f"{len(failed)} are refused by Spark or throw: {failed[:10]}"
    wrong = [
        (sql, kind, str(inferred[sql]))
        for sql, kind in zip(sqls, found, strict=True)
        if (data_type := inferred[sql]) not in (None, CALENDAR) and kind != simple_string(data_type)
    ]
    assert not wrong, f"{len(wrong)} differ: {wrong[:10]}"


ZONED = frozenset(("from_utc_timestamp", "to_utc_timestamp", "convert_timezone"))
ORDINARY = """
    ('2013-07-04', 3, 5L, DATE '2013-07-04', TIMESTAMP '2013-07-04 12:00:00.5', TIMESTAMP_NTZ '2013-03-10 02:30:00'),
    ('2013-07-04 12:34:56', -7, 0L, DATE '0001-01-01', TIMESTAMP '1969-12-31 23:59:59.999999',
        TIMESTAMP_NTZ '9999-12-31 23:59:59'),
    ('', NULL, 100L, DATE '9999-12-31', TIMESTAMP '2013-11-03 05:30:00', TIMESTAMP_NTZ '1582-10-10 00:00:00'),
    (NULL, 2, NULL, NULL, NULL, NULL)
"""


def test_what_is_caught_is_else_what_the_call_is(spark: SparkSession) -> None:
    """Calls that are written otherwise for Spark, on values for which the calls themselves do not throw."""
    names = ("s", "n", "big", "day", "ts", "ntz")
    pairs = {}
    for text in texts_of_calls():
        name, _, rest = text.partition("(")
        # A zone that a column names makes the call throw.
        if (
            name not in ZONED
            and name in INSTANTS
            and set(re.findall(r"\b[a-z]+\b", re.sub(r"'.*?'", "", rest))) <= set(names)
        ):
            with suppress(PredicateError):
                tree, source = parse(text, Limits(), "UTC")
                pairs[text] = Typer(source, SCHEMA).of(tree).sql
    differing = [f"NOT (({text}) <=> ({sql}))" for text, sql in pairs.items() if text != sql]
    assert len(differing) > 100
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "America/New_York")
    df = session.sql(f"SELECT * FROM VALUES {ORDINARY} AS v({', '.join(names)})").coalesce(1).localCheckpoint()
    for start in range(0, len(differing), 50):
        chunk = differing[start : start + 50]
        assert df.where(" OR ".join(chunk)).count() == 0, chunk
