"""Integers of every width: the ends of their domains are keys of their own."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from asc.keys.column import NO_CONSTANTS
from asc.keys.integers import Integers


@pytest.mark.parametrize("data_type", [pa.int8(), pa.int16(), pa.int32(), pa.int64()], ids=str)
def test_the_ends_of_the_domain(data_type: pa.DataType) -> None:
    space = Integers(data_type)
    low, high, _ = space.domain
    out = np.empty(2, dtype=np.int64)
    space.write(pa.array([low, high], data_type), NO_CONSTANTS, out)
    assert out.tolist() == [low, high]
    with pytest.raises((pa.ArrowInvalid, OverflowError)):
        pa.scalar(high + 1, data_type)
