"""Floats: NaN, zeros and the way back from a key."""

from __future__ import annotations

import math

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from asc.keys.float_bits import NAN_KEY
from asc.keys.floats import Floats, float_key, float_of_key


@given(st.floats(allow_nan=False))
def test_a_key_leads_back_to_its_double(value: float) -> None:
    assert float_of_key(float_key(value)) == value


def test_nan_is_one_value_above_all_others() -> None:
    assert float_key(math.nan) == float_key(-math.nan) == NAN_KEY > float_key(math.inf)
    assert math.isnan(float_of_key(NAN_KEY))


def test_zeros_are_one_value_between_the_least_numbers() -> None:
    assert float_key(-5e-324) < float_key(-0.0) == float_key(0.0) == 0 < float_key(5e-324)


def test_a_float_has_the_key_of_the_double_that_it_is() -> None:
    tenth = pa.scalar(0.1, pa.float32())
    assert Floats(pa.float32()).key_of(tenth) == float_key(tenth.as_py()) != float_key(0.1)
