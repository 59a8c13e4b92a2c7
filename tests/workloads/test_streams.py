"""Streams put together from parts, and what tables of tuples realised."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from workloads.errors import WorkloadError
from workloads.streams import alternating, realised_tuples
from workloads.synthetic import non_uniform_tuples, uniform_tuples


def test_sub_streams_alternate() -> None:
    d1, d2 = uniform_tuples(30), non_uniform_tuples(20)
    stream = alternating([d1, d2], 15, 4)
    assert stream.num_rows == 60
    assert stream.slice(0, 15).equals(d1.slice(0, 15))
    assert stream.slice(15, 15).equals(d2.slice(0, 15))
    assert stream.slice(30, 15).equals(d1.slice(15, 15))
    assert stream.slice(45, 5).equals(d2.slice(15, 5))
    assert stream.slice(50, 10).equals(d2.slice(0, 10))  # used up, begun again


@pytest.mark.parametrize(("rows", "length"), [(0, 5), (5, 0)])
def test_what_cannot_alternate_is_refused(rows: int, length: int) -> None:
    with pytest.raises(WorkloadError):
        alternating([uniform_tuples(rows)], length, 2)


def test_realised_tuples() -> None:
    x = np.arange(1_000) % 10
    found = realised_tuples(pa.table({"x": x, "y": 9 - x, "constant": np.zeros(1_000, dtype=np.int64)}))
    assert (found.tuples, found.attributes) == (1_000, 3)
    assert found.strongest == pytest.approx(1)
    assert found.correlation == pytest.approx(1)
    assert found.top_tenth == pytest.approx((0.1 + 0.1 + 1) / 3)
