"""Averages, of the states of a sum and of a count."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asc.operators.cube.states.average import average_type, averages
from asc.operators.cube.states.count import Count
from asc.operators.cube.states.exact_sum import ExactSum
from asc.operators.cube.states.float_sum import FloatSum

WIDE = Context(prec=100)


def decimals(precision: int, scale: int) -> st.SearchStrategy[Decimal]:
    bound = 10**precision - 1
    return st.integers(-bound, bound).map(lambda number: Decimal(number).scaleb(-scale, WIDE))


def average(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Return the average of values, and that of no value."""
    column = pa.array(values, kind)
    rows, cells = np.arange(len(values), dtype=np.int64), np.zeros(len(values), dtype=np.int32)
    rows.setflags(write=False)
    cells.setflags(write=False)
    total = FloatSum() if pa.types.is_floating(kind) else ExactSum(kind)
    sums = total.fold(total.values(column), rows, cells, 2)
    counts = Count().fold(Count().values(column), rows, cells, 2)
    return averages(kind, sums, counts)


@settings(max_examples=60, deadline=None)
@given(values=st.lists(st.none() | st.integers(-(2**63), 2**63 - 1) | st.integers(-9, 9), max_size=20))
def test_an_average_of_integers_is_the_exact_sum_divided_and_rounded_once(values: list[int | None]) -> None:
    own = [value for value in values if value is not None]
    assert average(values, pa.int64()).to_pylist() == [sum(own) / len(own) if own else None, None]


@pytest.mark.parametrize(("precision", "scale"), [(7, 2), (18, 6), (38, 10), (38, 38)])
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_an_average_of_decimals_is_what_spark_makes_of_it(precision: int, scale: int, data: st.DataObject) -> None:
    kind = pa.decimal128(precision, scale)
    values = data.draw(st.lists(st.none() | decimals(precision, scale), max_size=20))
    own = [value for value in values if value is not None]
    found = average(values, kind)
    assert found.type == average_type(kind)
    if not own:
        assert found.to_pylist() == [None, None]
        return
    total = Decimal(0)
    for value in own:
        total = WIDE.add(total, value)
    # Spark divides to 39 digits before it rounds to the scale.
    quotient = Context(prec=39, rounding=ROUND_HALF_UP).divide(total, Decimal(len(own)))
    expected = quotient.quantize(Decimal(1).scaleb(-found.type.scale), ROUND_HALF_UP, WIDE)
    fits = abs(expected) < Decimal(10) ** (found.type.precision - found.type.scale)
    assert found.to_pylist() == [expected if fits else None, None]


@pytest.mark.parametrize(("cents", "expected"), [(1, "0.000313"), (-1, "-0.000313"), (3, "0.000938"), (32, "0.010000")])
def test_an_average_of_decimals_is_rounded_half_up(cents: int, expected: str) -> None:
    values = [Decimal(cents).scaleb(-2), *[Decimal("0.00")] * 31]
    assert average(values, pa.decimal128(7, 2)).to_pylist()[0] == Decimal(expected)


@settings(max_examples=40, deadline=None)
@given(values=st.lists(st.none() | st.floats(-1e9, 1e9), max_size=20))
def test_an_average_of_doubles_is_their_sum_divided(values: list[float | None]) -> None:
    own = [value for value in values if value is not None]
    found = average(values, pa.float64()).to_pylist()
    assert found[1] is None
    if not own:
        assert found[0] is None
    else:
        assert abs(found[0] - math.fsum(own) / len(own)) <= 1e-25 * math.fsum(map(abs, own)) + math.ulp(found[0])


def test_an_average_of_infinities_and_nan_is_one_of_them() -> None:
    assert average([math.inf, 1.0], pa.float64()).to_pylist()[0] == math.inf
    assert math.isnan(average([math.inf, -math.inf], pa.float32()).to_pylist()[0])
