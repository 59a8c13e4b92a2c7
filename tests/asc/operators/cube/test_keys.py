"""Keys of cells."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asc.operators.cube import keys
from asc.operators.cube.keys import Key

TEXTS = st.lists(st.none() | st.sampled_from(["", "a", "b", "é", "\uffff", "\U00010000", "日"]), max_size=12)


def key(values: Sequence[Any], kind: pa.DataType) -> Key:
    return Key.of(pa.array([None, *values], kind).slice(1))


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([None, False, True], pa.bool_()),
        ([None, -(2**63), -1, 0, 2**63 - 1], pa.int64()),
        ([None, "", "A", "a", "aa", "é", "\ud7ff", "\uffff", "\U00010000"], pa.string()),
        ([None, b"", b"\x00", b"\x7f", b"\x80", b"\xff\xff"], pa.binary()),
        ([None, Decimal("-9.0"), Decimal("-0.5"), Decimal("0.5")], pa.decimal128(38, 1)),
        ([None, -math.inf, -1.5, 0.0, 5e-324, math.inf, math.nan], pa.float64()),
        ([None, -1.5, 0.0, math.nan], pa.float32()),
    ],
    ids=lambda given: str(given) if isinstance(given, pa.DataType) else "",
)
def test_codes_order_as_values_do_null_first_and_nan_last(values: list[Any], kind: pa.DataType) -> None:
    order = [5, 1, 3, 0, 2, 4, 6, 7, 8, 3, 0]
    mixed = [values[place % len(values)] for place in order]
    found = key(mixed, kind)
    assert found.codes.tolist() == [place % len(values) for place in order]
    assert found.radix == len(values)
    back = found.array().dictionary_decode().to_pylist()
    assert str(back) == str(mixed)


def test_there_is_one_zero_and_one_nan() -> None:
    odd = pa.array([0.0, -0.0, math.nan, -math.nan, float("nan")])
    found = Key.of(odd)
    assert found.codes.tolist() == [1, 1, 2, 2, 2]
    assert str(found.array().dictionary.to_pylist()) == "[0.0, nan]"


def test_nothing_and_nulls_alone_have_keys() -> None:
    assert key([], pa.string()).radix == 1
    assert key([None, None], pa.date32()).codes.tolist() == [0, 0]
    assert key([None], pa.float64()).array().to_pylist() == [None]


@given(parts=st.lists(TEXTS, min_size=1, max_size=4))
def test_joined_keys_are_the_key_of_all_values(parts: list[list[str | None]]) -> None:
    found = Key.joined([key(part, pa.string()) for part in parts])
    whole = key([value for part in parts for value in part], pa.string())
    assert found.array().equals(whole.array())
    assert found.codes.tolist() == whole.codes.tolist()


def test_a_compact_key_has_the_values_that_occur_alone() -> None:
    found = key(["c", None, "a", "b"], pa.string()).slice(0, 3).compact()
    assert found.dictionary.to_pylist() == ["a", "c"]
    assert found.codes.tolist() == [2, 0, 1]
    assert found.compact() is found


def test_a_dictionary_is_reduced_where_it_is_much_larger_than_its_codes() -> None:
    small = key(["c", None, "a", "b"], pa.string()).slice(0, 3)
    assert small.bounded() is small
    many = key([str(number) for number in range(100)], pa.string()).slice(0, 3)
    assert many.bounded().dictionary.to_pylist() == ["0", "1", "2"]
    long = key(["x" * 4_000, "a"], pa.string()).slice(1, 2)
    assert long.bounded().dictionary.to_pylist() == ["a"]


@given(values=TEXTS)
def test_a_key_is_read_back_from_its_array(values: list[str | None]) -> None:
    found = key(values, pa.string())
    assert Key.of_array(found.array()).codes.tolist() == found.codes.tolist()


def test_sizes_are_those_of_texts_in_bytes() -> None:
    found = key(["日本", "a", None], pa.string())
    assert found.has_bytes
    assert found.sizes.tolist() == [0, 1, 6]
    assert not key([1], pa.int8()).has_bytes


@pytest.mark.parametrize("least", [0, 1 << 16])
@given(parts=st.lists(TEXTS.filter(len), min_size=1, max_size=5))
def test_arrays_of_parts_are_those_of_each_part(parts: list[list[str | None]], least: int) -> None:
    whole = key(["before", *(value for part in parts for value in part)], pa.string())
    bounds = [*itertools.accumulate(map(len, parts), initial=1)]
    with pytest.MonkeyPatch.context() as patch:
        # Without a table for all parts, each part is encoded by itself.
        patch.setattr(keys, "_PAIRS_LEAST", least)
        patch.setattr(keys, "_PAIRS_A_ROW", least)
        found = list(whole.arrays(bounds))
    different = len({frozenset(part) - {None} for part in parts})
    assert len({mark for _, mark in found}) == (different if least and len(parts) > 1 else len(parts))
    for (array, _), part in zip(found, parts, strict=True):
        alone = key(part, pa.string()).array()
        assert array.equals(alone)
        assert array.dictionary.equals(alone.dictionary)
