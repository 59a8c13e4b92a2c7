"""Bits of doubles."""

from __future__ import annotations

import math

import numpy as np

from asc.keys.float_bits import NAN_KEY, SIGN_MASK


def test_the_mask_has_all_bits_but_the_sign_and_the_key_of_nan_is_above_infinity() -> None:
    doubles = np.array([-0.0, math.inf, math.nan], dtype=np.float64).view(np.int64).tolist()
    assert doubles[0] & SIGN_MASK == 0
    assert np.iinfo(np.int64).max == SIGN_MASK
    assert doubles[1] < NAN_KEY == doubles[2] & SIGN_MASK
