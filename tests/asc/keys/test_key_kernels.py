"""The compiled loops give the keys that single values have (those of byte strings: test_dictionary, regions:
test_grid).
"""

from __future__ import annotations

import struct

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from asc.keys.float_bits import NAN_KEY
from asc.keys.floats import float_key
from asc.keys.key_kernels import float_keys


def keys(values: list[float]) -> list[int]:
    out = np.empty(len(values), dtype=np.int64)
    float_keys(np.array(values, dtype=np.float64), out)
    return out.tolist()


@settings(deadline=None)  # the first call compiles
@given(st.lists(st.floats()))
def test_float_keys_of_a_column_are_those_of_its_values(values: list[float]) -> None:
    assert keys(values) == [float_key(value) for value in values]


def test_every_nan_is_the_same_value() -> None:
    patterns = (0x7FF8_0000_0000_0000, 0xFFF8_0000_0000_0000, 0x7FF0_0000_0000_0001, 0xFFFF_FFFF_FFFF_FFFF)
    values = [struct.unpack("<d", struct.pack("<Q", pattern))[0] for pattern in patterns]
    assert keys(values) == [NAN_KEY] * len(patterns)
    assert keys([float("inf")])[0] < NAN_KEY


def test_zeros_are_one_value() -> None:
    assert keys([0.0, -0.0]) == [0, 0]
