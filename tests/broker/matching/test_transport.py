"""How values cross: what is read is what was sent, NULL and NaN apart, and as many words as flags need."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import broker
from asc.keys.attribute import PAttribute
from broker.matching.transport import FLAG_BITS, FLAGGED_DIGITS, Transport

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def integers(bits: int) -> st.SearchStrategy[int]:
    return st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


EPOCH = datetime(1970, 1, 1)
TYPES: dict[pa.DataType, st.SearchStrategy[Any]] = {
    pa.bool_(): st.booleans(),
    pa.int8(): integers(8),
    pa.int16(): integers(16),
    pa.int32(): integers(32),
    pa.int64(): integers(64),
    pa.float32(): st.floats(width=32),
    pa.float64(): st.floats(),
    pa.decimal128(5, 2): st.decimals(-999, 999, places=2),
    pa.decimal128(FLAGGED_DIGITS, 0): st.integers(-(10**18) + 1, 10**18 - 1).map(Decimal),
    pa.decimal128(38, 4): st.decimals(-(10**30), 10**30, places=4),
    pa.date32(): st.dates(),
    pa.timestamp("us"): st.datetimes(),
    pa.timestamp("us", "UTC"): st.datetimes(timezones=st.just(timezone.utc)),
    pa.string(): st.text(st.characters(exclude_categories=["Cs"])),
    pa.binary(): st.binary(),
}
VALUES = {data_type: st.lists(st.none() | values, min_size=7, max_size=7) for data_type, values in TYPES.items()}


def sent(values: Sequence[Any], data_type: pa.DataType) -> pd.Series:
    """The values of a carrier as PySpark hands them over: numbers without NULL, or Python objects."""
    types = pa.types
    if types.is_boolean(data_type):
        return pd.Series([-1 if value is None else int(value) for value in values], dtype="int8")
    if types.is_string(data_type):
        return pd.Series([None if value is None else value.encode() for value in values], dtype=object)
    if types.is_binary(data_type) or (types.is_decimal(data_type) and data_type.precision > FLAGGED_DIGITS):
        return pd.Series(list(values), dtype=object)
    if types.is_decimal(data_type):
        return pd.Series([int((value or 0) * 10**data_type.scale) for value in values], dtype="int64")
    if types.is_date(data_type):
        return pd.Series([0 if value is None else (value - date(1970, 1, 1)).days for value in values], dtype="int32")
    if types.is_timestamp(data_type):
        ages = [None if value is None else value.replace(tzinfo=None) - EPOCH for value in values]
        micros = [0 if age is None else (age.days * 86_400 + age.seconds) * 10**6 + age.microseconds for age in ages]
        return pd.Series(micros, dtype="int64")
    return pd.Series([0 if value is None else value for value in values], dtype=data_type.to_pandas_dtype())


def bits(value: Any) -> Any:
    """A float by its bits: 0.0 is not -0.0, and a NaN is that NaN."""
    return struct.pack("d", value) if isinstance(value, float) and not math.isnan(value) else str(value)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.sampled_from(list(TYPES)), max_size=5).flatmap(
        lambda kinds: st.tuples(st.just(kinds), st.tuples(*(VALUES[kind] for kind in kinds)))
    )
)
def test_what_is_read_is_what_was_sent(drawn: tuple[list[pa.DataType], tuple[list[Any], ...]]) -> None:
    kinds, columns = drawn
    attributes = [PAttribute(f"c{place}", kind) for place, kind in enumerate(kinds)]
    nullable = [None in column for column in columns]
    transport = Transport.of(attributes, nullable)
    words = [np.zeros(7, np.int64) for _ in transport.flag_words]
    for carrier, column in zip(transport.carriers, columns, strict=True):
        if carrier.flag is not None:
            is_null = np.array([value is None for value in column])
            words[carrier.flag // FLAG_BITS] |= is_null.astype(np.int64) << (carrier.flag % FLAG_BITS)
    series = [sent(column, kind) for column, kind in zip(columns, kinds, strict=True)]
    arrived = [*series, *map(pd.Series, words)]
    assert len(arrived or ["0"]) == len(transport.arguments)
    for found, column, kind in zip(transport.read(arrived), columns, kinds, strict=True):
        assert found.type == kind
        found.validate(full=True)
        expected = pa.array(column, kind).to_pylist()
        assert [bits(value) for value in found.to_pylist()] == [bits(value) for value in expected]


@pytest.mark.parametrize(("flagged", "words"), [(0, 0), (1, 1), (63, 1), (64, 2), (126, 2), (127, 3)])
def test_as_many_words_as_hold_the_flags(flagged: int, words: int) -> None:
    attributes = [PAttribute(f"c{place}", pa.int32()) for place in range(flagged)]
    transport = Transport.of([*attributes, PAttribute("never", pa.int32())], [True] * flagged + [False])
    assert len(transport.flag_words) == words
    assert [carrier.flag for carrier in transport.carriers] == [*range(flagged), None]
    assert "".join(transport.flag_words).count("isnull(") == flagged
    assert transport.carriers[-1].sql == "never"
    # The last row has every flag, the first none: each is read from its own bit.
    arrived = [pd.Series([7, 7], dtype="int32")] * (flagged + 1)
    arrived += [pd.Series([0, 2**63 - 1], dtype="int64")] * words
    wanted = [[7, None]] * flagged + [[7, 7]]
    assert [column.to_pylist() for column in transport.read(arrived)] == wanted


def test_what_is_the_same_once_encoded_crosses_once() -> None:
    attributes = [
        PAttribute("d", pa.date32(), ("d",)),
        PAttribute("n", pa.int32(), ("n",)),
        PAttribute("unix_date(d)", pa.int32()),
        PAttribute("n", pa.int32(), ("n",), is_matched=True),
    ]
    transport = Transport.of(attributes, [True] * 4)
    assert len(transport.arguments) == transport.values + len(transport.flag_words)
    arrived = [pd.Series([18_262, 0], dtype="int32"), pd.Series([7, 8], dtype="int32"), pd.Series([0, 1])]
    days, numbers, computed, again = transport.read(arrived)
    assert days.cast(pa.int32()).to_pylist() == [18_262, None]
    assert computed.to_pylist()[0] == 18_262
    assert numbers.to_pylist() == again.to_pylist() == [7, 8]


def test_without_an_attribute_there_is_an_argument_for_the_row_count() -> None:
    transport = Transport.of([], [])
    assert transport.arguments == ("0",)
    assert transport.read([pd.Series([0, 0])]) == []
    assert transport.errors([]) == {}


@given(st.sets(st.integers(0, 200), min_size=1), st.data())
def test_errors_are_found_by_slot_and_row(fallible: set[int], data: st.DataObject) -> None:
    slots = sorted(fallible)
    transport = Transport.of([PAttribute("c", pa.int32())], [True], {slot: f"c = {slot}" for slot in slots})
    assert len(transport.error_words) == -(-len(slots) // FLAG_BITS)
    assert transport.arguments[-len(transport.error_words) :] == transport.error_words
    failed = data.draw(st.dictionaries(st.sampled_from(slots), st.sets(st.integers(0, 4), min_size=1)))
    words = np.zeros((len(transport.error_words), 5), np.int64)
    for slot, rows in failed.items():
        place = slots.index(slot)
        words[place // FLAG_BITS, list(rows)] |= 1 << (place % FLAG_BITS)
    values, flags = pd.Series([1] * 5, dtype="int32"), pd.Series([0] * 5, dtype="int64")
    found = transport.errors([values, flags, *map(pd.Series, words)])
    assert {slot: set(np.flatnonzero(mask).tolist()) for slot, mask in found.items()} == failed


# -- by Spark


def _ids(df: DataFrame) -> set[int]:
    return {row.id for row in df.select("id").collect()}


def test_strings_that_are_not_utf_8_are_compared_by_their_bytes(spark: SparkSession) -> None:
    df = spark.sql("SELECT id, CAST(s AS STRING) AS s FROM VALUES (1, X'ff'), (2, X'c3'), (3, X'61') AS t(id, s)")
    assert _ids(broker.match(df, {"q": "s > 'a'"})) == _ids(df.filter("s > 'a'")) == {1, 2}


def test_many_nullable_attributes_need_more_than_one_word_of_flags(spark: SparkSession) -> None:
    names = [f"c{number}" for number in range(130)]
    columns = [f"IF(id % 131 = {number}, NULL, id) AS {name}" for number, name in enumerate(names)]
    df = spark.range(262).selectExpr("id", *columns)
    matched = broker.match(df, {name: f"{name} IS NULL" for name in names})
    found = {row.id: row.queries for row in matched.collect()}
    # Of every 131 rows the last has no NULL.
    assert found == {number: [names[number % 131]] for number in range(262) if number % 131 < 130}
