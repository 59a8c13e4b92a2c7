"""What every key space promises: keys compare as values do, a column's are its values', a text means its key."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from functools import cmp_to_key
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asc.keys.attribute import PAttribute
from asc.keys.buffers import null_mask
from asc.keys.dictionary import Dictionary
from asc.keys.key_space import KeySpace
from asc.keys.spaces import space_of
from asc.predicate import normalise
from asc.schema import Schema

MOMENTS = st.datetimes(dt.datetime(1, 1, 2), dt.datetime(9999, 12, 30))
TYPES: dict[pa.DataType, st.SearchStrategy[Any]] = {
    pa.bool_(): st.booleans(),
    pa.int8(): st.integers(-128, 127),
    pa.int16(): st.integers(-(2**15), 2**15 - 1),
    pa.int32(): st.integers(-(2**31), 2**31 - 1),
    pa.int64(): st.integers(-(2**63), 2**63 - 1),
    pa.float32(): st.floats(width=32),
    pa.float64(): st.floats(),
    pa.decimal128(10, 2): st.integers(-(10**10) + 1, 10**10 - 1).map(lambda n: Decimal(n).scaleb(-2)),
    pa.decimal128(18, 0): st.integers(-(10**18) + 1, 10**18 - 1).map(Decimal),
    pa.decimal128(19, 0): st.integers(-(10**19) + 1, 10**19 - 1).map(Decimal),
    pa.decimal128(28, 4): st.integers(-(10**28) + 1, 10**28 - 1).map(lambda n: Decimal(n).scaleb(-4)),
    pa.string(): st.text(max_size=12),
    pa.binary(): st.binary(max_size=12),
    pa.date32(): st.dates(),
    pa.timestamp("us"): MOMENTS,
    pa.timestamp("us", tz="UTC"): MOMENTS.map(lambda moment: moment.replace(tzinfo=dt.timezone.utc)),
}
every_type = pytest.mark.parametrize("data_type", TYPES, ids=str)


def space(data_type: pa.DataType) -> KeySpace:
    found = space_of(data_type)
    assert found is not None
    return found


def order(a: Any, b: Any) -> int:
    """As Spark orders values: NaN equals NaN above all else, strings by their bytes."""
    if isinstance(a, float):
        a, b = ((math.isnan(x), 0.0 if math.isnan(x) else x) for x in (a, b))
    if isinstance(a, str):
        a, b = a.encode(), b.encode()
    return int(a > b) - int(a < b)


@every_type
@settings(deadline=None, max_examples=40)
@given(st.data())
def test_keys_compare_as_values_do(data_type: pa.DataType, data: st.DataObject) -> None:
    values = data.draw(st.lists(TYPES[data_type], min_size=2, max_size=6))
    own = space(data_type)
    keys = [own.key_of(pa.scalar(value, data_type)) for value in values]
    for a, key in zip(values, keys, strict=True):
        assert [order(a, b) for b in values] == [int(key > other) - int(key < other) for other in keys]
    low, high, discrete = own.domain
    assert all((low is None or low <= key) and (high is None or key <= high) for key in keys)
    assert discrete == (not own.labelled)
    assert sorted(keys) == [own.key_of(pa.scalar(value, data_type)) for value in sorted(values, key=cmp_to_key(order))]


@every_type
@settings(deadline=None, max_examples=40)  # the first call compiles
@given(st.data())
def test_a_column_has_the_keys_of_its_values(data_type: pa.DataType, data: st.DataObject) -> None:
    own = space(data_type)
    values = data.draw(st.lists(TYPES[data_type] | st.none(), max_size=20))
    array = pa.array([None, *values, None], data_type).slice(1, len(values))
    keys = [None if value is None else own.key_of(pa.scalar(value, data_type)) for value in values]
    dictionary = Dictionary.of([key for key in keys[::2] if key is not None] if own.labelled else [])
    out = np.empty(len(values), dtype=np.int64)
    readable = own.readable(array)
    assert readable is not None
    own.write(readable, dictionary, out)
    nulls = null_mask(array)
    for place, key in enumerate(keys):
        assert (key is None) == (nulls is not None and bool(nulls[place]))
        if key is not None:
            assert out[place] == (dictionary.label(key) if own.labelled else key)


@every_type
@settings(deadline=None, max_examples=30)
@given(st.data())
def test_a_text_is_the_constant_of_its_key(data_type: pa.DataType, data: st.DataObject) -> None:
    own = space(data_type)
    key = own.key_of(pa.scalar(data.draw(TYPES[data_type]), data_type))
    text = own.text(key)
    if text in ("nan", "inf", "-inf"):
        return  # no constant of SQL
    if pa.types.is_floating(data_type):
        text = f"{Decimal(text):.25E}D" if pa.types.is_float64(data_type) else f"CAST('{text}' AS FLOAT)"
    predicate = normalise(f"x = {text}", Schema.from_arrow(pa.schema([("x", data_type)])))
    ((attribute, constraint),) = predicate.conjuncts[0]
    if attribute.path is None:
        return  # left to Spark
    assert constraint.admits(key)
    assert constraint.constants() == (key,)


@every_type
def test_arrays_of_other_types_cannot_be_read(data_type: pa.DataType) -> None:
    others = [other for other in TYPES if other != data_type]
    assert all(space(data_type).readable(pa.nulls(2, other)) is None for other in others)
    assert PAttribute("x", data_type).key_of(pa.scalar(None, data_type)) is None


@pytest.mark.parametrize("precision", [10, 30, 50])
def test_decimals_of_other_widths_have_no_keys(precision: int) -> None:
    assert space_of(pa.decimal256(precision, 2)) is None
