"""Arrow's buffers as NumPy arrays: wherever a slice begins, with NULLs or without."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from asc.keys.buffers import fixed_width, null_mask

values = st.lists(st.integers(-5, 5) | st.none(), min_size=1, max_size=40)


@given(values, st.data())
def test_slices(drawn: list[int | None], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(drawn)))
    stop = data.draw(st.integers(start, len(drawn)))
    part, own = pa.array(drawn, pa.int16()).slice(start, stop - start), drawn[start:stop]
    mask = null_mask(part)
    assert (mask is None) == (None not in own)
    nulls = np.zeros(len(own), dtype=np.bool_) if mask is None else mask
    assert nulls.tolist() == [value is None for value in own]
    numbers = fixed_width(part, np.int16)[~nulls]
    assert numbers.tolist() == [value for value in own if value is not None]
