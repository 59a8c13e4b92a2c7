"""What the list says of NULL as an argument, asked of Spark for every function and each of its arguments."""

from __future__ import annotations

from datetime import date, datetime, timezone
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from asc.predicate.catalogue.null_arguments import OF_NULL
from asc.predicate.functions import FUNCTIONS
from tests.asc.predicate.test_every_function import accepted, call, calls
from tests.asc.predicate.test_spark_agreement import DDL

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from tests.tiers import PartOf

pytestmark = [pytest.mark.spark, pytest.mark.slow]

_AT_ONCE = 64
_DAY, _AT = date(2024, 5, 6), datetime(2024, 5, 6, 7, 8, 9, tzinfo=timezone.utc)
_ROW = {
    **dict.fromkeys(("tiny", "n", "big"), 5),
    **dict.fromkeys(("f", "d"), 2.5),
    "flag": True,
    "price": Decimal("1.50"),
    "wide": Decimal("1.500000"),
    "s": "5",
    "raw": b"5",
    "day": _DAY,
    "ts": _AT,
    "ntz": _AT.replace(tzinfo=None),
    "list": [5],
    "dict": {"5": 5},
    "days": [_DAY],
    "instants": [_AT],
    "by_instant": {_AT: 5},
    "place": (5,),
}


@pytest.fixture(scope="module")
def one(spark: SparkSession) -> DataFrame:
    """A row without a NULL."""
    empty = spark.createDataFrame([], DDL)
    return spark.createDataFrame([tuple(_ROW[name] for name in empty.columns)], empty.schema).coalesce(1)


def are_null(one: DataFrame, texts: list[str]) -> list[bool | None]:
    """Whether each is NULL; None for one that Spark refuses."""
    from pyspark.errors import PySparkException

    try:
        return list(one.selectExpr(*(f"({text}) IS NULL AS c{i}" for i, text in enumerate(texts))).collect()[0])
    except PySparkException:
        half = len(texts) // 2
        return [None] if half == 0 else are_null(one, texts[:half]) + are_null(one, texts[half:])


def nulls() -> list[tuple[str, str, str]]:
    """Names and calls in which one argument is NULL: as none that Spark knows before, and as a constant."""
    found = []
    for name, args in calls():
        for place, arg in enumerate(args):
            never, null = (
                call(name, [*args[:place], text, *args[place + 1 :]])
                for text in (f"CASE WHEN n IS NULL THEN {arg} END", "NULL")
            )
            found.append((name, never, null if accepted(null) else ""))
    return found


def test_a_call_with_null_is_null_but_where_it_is_said(one: DataFrame, part_of: PartOf[str]) -> None:
    chosen = set(part_of(sorted(FUNCTIONS), 10))
    asked = [each for each in nulls() if each[0] in chosen]
    assert {name for name, _, _ in asked} >= chosen - {"e", "pi"}
    values: list[bool | None] = []
    for start in range(0, len(asked), _AT_ONCE):
        values += are_null(one, [never for _, never, _ in asked[start : start + _AT_ONCE]])
    refused = [place for place, value in enumerate(values) if value is None and asked[place][2]]
    for place, value in zip(refused, are_null(one, [asked[place][2] for place in refused]), strict=True):
        values[place] = value
    assert values.count(None) < 0.1 * len(values)
    assert {
        name for (name, _, _), value in zip(asked, values, strict=True) if value is False
    } == OF_NULL.keys() & chosen


NULL = "nullif(n, n)"
TEXT = "nullif(s, s)"
SAID: dict[str, dict[str, Any]] = {
    "array": {f"array(n, {NULL})": [5, None]},
    "array_append": {f"array_append(list, {NULL})": [5, None]},
    "array_insert": {f"array_insert(list, 1, {NULL})": [None, 5]},
    "array_prepend": {f"array_prepend(list, {NULL})": [None, 5]},
    "array_repeat": {f"array_repeat({NULL}, 2)": [None, None]},
    "cardinality": {"cardinality(nullif(list, list))": -1},
    "coalesce": {f"coalesce({NULL}, 7, 8)": 7},
    "collation": {f"collation({TEXT})": "SYSTEM.BUILTIN.UTF8_BINARY"},
    "concat_ws": {f"concat_ws('-', s, {TEXT}, s)": "5-5", f"concat_ws({TEXT}, s)": None},
    "decode": {f"decode({NULL}, NULL, 'a', 'b')": "a", f"decode(raw, {TEXT})": None},
    "equal_null": {f"equal_null({NULL}, {NULL})": True, f"equal_null(n, {NULL})": False},
    "format_string": {f"format_string('%s!', {TEXT})": "null!", f"format_string({TEXT}, s)": None},
    "greatest": {f"greatest({NULL}, 7)": 7, f"greatest({NULL}, {NULL})": None},
    "hash": {f"hash({NULL}, s) = hash(s)": True},
    "if": {f"if({NULL} > 1, 1, 2)": 2, f"if(n > 1, {NULL}, 2)": None},
    "ifnull": {f"ifnull({NULL}, 7)": 7},
    "is_variant_null": {f"is_variant_null(parse_json({TEXT}))": False},
    "isnan": {"isnan(nullif(d, d))": False},
    "isnotnull": {f"isnotnull({NULL})": False},
    "isnull": {f"isnull({NULL})": True},
    "least": {f"least({NULL}, 7)": 7, f"least({NULL}, {NULL})": None},
    "locate": {f"locate('5', s, {NULL})": 0, f"locate({TEXT}, s)": None},
    "map": {f"map('a', {NULL})": {"a": None}},
    "mask": {"mask('aB1', NULL)": "xBn", f"mask({TEXT})": None},
    "named_struct": {f"named_struct('a', {NULL}).a": None},
    "nanvl": {"nanvl(d, nullif(d, d))": 2.5, "nanvl(double('NaN'), nullif(d, d))": None},
    "nullif": {f"nullif(n, {NULL})": 5},
    "nvl": {f"nvl({NULL}, 7)": 7},
    "nvl2": {f"nvl2({NULL}, 1, 2)": 2, f"nvl2(n, {NULL}, 2)": None},
    "position": {f"position('5', s, {NULL})": 0, f"position({TEXT}, s)": None},
    "printf": {f"printf('%s!', {TEXT})": "null!"},
    "sentences": {f"sentences(s, {TEXT}, {TEXT}) = sentences(s)": True},
    "size": {"size(nullif(list, list))": -1},
    "to_unix_timestamp": {f"to_unix_timestamp(day, {TEXT}) = to_unix_timestamp(day)": True},
    "typeof": {f"typeof({NULL})": "int"},
    "unix_timestamp": {f"unix_timestamp(day, {TEXT}) = unix_timestamp(day)": True},
    "xxhash64": {f"xxhash64({NULL}, s) = xxhash64(s)": True},
    "zeroifnull": {f"zeroifnull({NULL})": 0},
}


def test_what_is_said_is_what_spark_gives(one: DataFrame) -> None:
    assert SAID.keys() == OF_NULL.keys()
    wanted = {text: value for values in SAID.values() for text, value in values.items()}
    row = one.selectExpr(*(f"{text} AS c{i}" for i, text in enumerate(wanted))).collect()[0]
    assert dict(zip(wanted, row, strict=True)) == wanted
