"""Statistics of co-moments against exact fractions, and what Spark 4.0 answers where there is no number."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Context, Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from asc.frozen import frozen
from asc.operators.cube.aggregates import OF_ONE_COLUMN, OF_TWO_COLUMNS
from asc.operators.cube.states.moments import Moments
from asc.operators.cube.states.statistic import Statistic

WIDE = Context(prec=60, Emax=10**9, Emin=-(10**9))
Row = tuple[float | None, float | None]
INF, NAN = math.inf, math.nan


def answers(rows: Sequence[Row]) -> dict[str, float | None]:
    """Return all statistics of rows of y and x, each half of the rows folded apart."""
    found: dict[str, float | None] = {}
    for columns, functions in ((1, OF_ONE_COLUMN), (2, OF_TWO_COLUMNS)):
        state = Moments(columns)
        parts = []
        for part in (rows[::2], rows[1::2]):
            own = [
                state.values(pa.array([row[2 - columns + each] for row in part], pa.float64()))
                for each in range(columns)
            ]
            values = state.together(own)
            parts.append(
                state.fold(values, frozen(np.arange(len(part))), frozen(np.zeros(len(part), dtype=np.int32)), 1)
            )
        states = state.merge(pa.concat_arrays(parts), frozen(np.zeros(2, dtype=np.int32)), 1)
        for function in functions:
            statistic = Statistic(function, 0, columns - 1)
            array = statistic.of(state, states)
            assert array.type == statistic.type
            found[function] = array[0].as_py()
    return found


def exact(rows: Sequence[Row]) -> dict[str, Decimal | int | None]:
    """Return all statistics of finite rows, from fractions."""
    xs = [Fraction(x) for _, x in rows if x is not None]
    pairs = [(Fraction(y), Fraction(x)) for y, x in rows if x is not None and y is not None]
    one, two = _moments([(x, x) for x in xs]), _moments(pairs)
    n, xx = len(xs), one[3]
    found: dict[str, Decimal | int | None] = {"var_pop": _number(xx, n * n)}
    found["var_samp"] = found["variance"] = _number(xx, n * (n - 1))
    found["stddev_pop"] = _root(found["var_pop"])
    found["stddev_samp"] = found["stddev"] = _root(found["var_samp"])
    n, (sum_y, sum_x, yy, xx, xy) = len(pairs), two
    root = _root(_number(xx * yy, 1))
    found |= {
        "covar_pop": _number(xy, n * n),
        "covar_samp": _number(xy, n * (n - 1)),
        "corr": None if n < 2 or not root else WIDE.divide(_number(xy, 1) or Decimal(0), root),
        "regr_count": n,
        "regr_slope": _number(xy, xx),
        "regr_intercept": _number(sum_y * xx - sum_x * xy, n * xx),
        "regr_r2": None if not yy else Decimal(1) if not xx else _number(xy * xy, xx * yy),
        "regr_sxx": _number(xx, n),
        "regr_sxy": _number(xy, n),
        "regr_syy": _number(yy, n),
        "regr_avgx": _number(sum_x, n),
        "regr_avgy": _number(sum_y, n),
    }
    return found


def _moments(pairs: Sequence[tuple[Fraction, Fraction]]) -> tuple[Fraction, ...]:
    n = len(pairs)
    sum_y, sum_x = sum((y for y, _ in pairs), Fraction(0)), sum((x for _, x in pairs), Fraction(0))
    yy = n * sum((y * y for y, _ in pairs), Fraction(0)) - sum_y * sum_y
    xx = n * sum((x * x for _, x in pairs), Fraction(0)) - sum_x * sum_x
    xy = n * sum((y * x for y, x in pairs), Fraction(0)) - sum_x * sum_y
    return sum_y, sum_x, yy, xx, xy


def _number(numerator: Fraction, divisor: Fraction | int) -> Decimal | None:
    if not divisor:
        return None
    found = Fraction(numerator) / divisor
    return WIDE.divide(Decimal(found.numerator), Decimal(found.denominator))


def _root(value: Decimal | int | None) -> Decimal | None:
    return None if value is None else WIDE.sqrt(Decimal(value))


def assert_near(name: str, found: float | None, expected: Decimal | int | None) -> None:
    """Assert that an answer is within 4 units of the last place of the exact one."""
    if expected is None or found is None:
        assert found is expected, (name, found, expected)
        return
    nearest = float(expected)
    if math.isinf(nearest):
        assert found == nearest, (name, found, expected)
        return
    # A subnormal number is rounded again, to a whole number of the least doubles.
    assert abs(Decimal(found) - Decimal(expected)) <= 4 * Decimal(math.ulp(nearest)), (name, found, expected)
    assert math.copysign(1, found) == 1 or found < 0, name


FINITE = (
    st.floats(allow_nan=False, allow_infinity=False)
    | st.integers(-5, 5).map(float)
    | st.sampled_from([-0.0, 5e-324, -1.7976931348623157e308, 1e9, 1e9 + 1, 1e154, 1e-160])
    | st.floats(1e9 - 4, 1e9 + 4)
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(FINITE | st.none(), FINITE | st.none()), max_size=12))
@example([])
@example([(1.0, 2.0)])
@example([(1.0, 5e-324), (2.0, 1e-323)])
@example([(1.0, 1e200), (2.0, 2e200), (4.0, -1e200)])
def test_every_statistic_is_the_exact_one(rows: list[Row]) -> None:
    found, expected = answers(rows), exact(rows)
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        assert_near(name, found[name], value)


def test_deviations_much_smaller_than_the_mean_are_kept() -> None:
    draw = np.random.default_rng(7)
    xs = draw.normal(1e9, 1, 4_000)
    rows: list[Row] = [
        (2 * x + noise, x) for x, noise in zip(xs.tolist(), draw.normal(0, 1, 4_000).tolist(), strict=True)
    ]
    found, expected = answers(rows), exact(rows)
    assert 0.9 < (found["stddev"] or 0) < 1.1
    for name, value in expected.items():
        assert_near(name, found[name], value)


NO_NUMBERS: list[tuple[str, list[Row], Mapping[str, float | None]]] = [
    ("nothing", [(None, 1.0)], {"var_pop": 0, "var_samp": None, "covar_pop": None, "regr_count": 0, "regr_sxx": None}),
    (
        "one row",
        [(1.0, 2.0)],
        {"var_pop": 0, "stddev": None, "covar_pop": 0, "covar_samp": None, "corr": None, "regr_slope": None}
        | {"regr_intercept": None, "regr_r2": None, "regr_sxx": 0, "regr_sxy": 0, "regr_syy": 0, "regr_avgx": 2},
    ),
    (
        "equal x",
        [(1.0, 2.0), (3.0, 2.0)],
        {"corr": None, "regr_slope": None, "regr_intercept": None, "regr_r2": 1, "regr_sxx": 0, "regr_syy": 2},
    ),
    (
        "equal y",
        [(2.0, 1.0), (2.0, 3.0)],
        {"corr": None, "regr_slope": 0, "regr_intercept": 2, "regr_r2": None, "regr_sxx": 2, "regr_syy": 0},
    ),
    (
        "infinite x",
        [(1.0, 1.0), (2.0, INF)],
        {"var_pop": NAN, "stddev": NAN, "covar_pop": NAN, "corr": NAN, "regr_count": 2, "regr_slope": NAN}
        | {"regr_r2": NAN, "regr_intercept": NAN, "regr_sxx": NAN, "regr_sxy": NAN, "regr_syy": 0.5, "regr_avgx": INF}
        | {"regr_avgy": 1.5},
    ),
    (
        "one infinite x",
        [(1.0, -INF)],
        {"var_pop": NAN, "var_samp": None, "covar_samp": None, "corr": None, "regr_slope": NAN, "regr_r2": None}
        | {"regr_sxx": NAN, "regr_syy": 0, "regr_avgx": -INF},
    ),
    (
        "NaN of y",
        [(NAN, 1.0), (2.0, 3.0)],
        {"var_pop": 1, "covar_pop": NAN, "regr_slope": NAN, "regr_sxx": 2, "regr_syy": NAN, "regr_avgy": NAN},
    ),
]


@pytest.mark.parametrize(("rows", "expected"), [each[1:] for each in NO_NUMBERS], ids=[each[0] for each in NO_NUMBERS])
def test_where_there_is_no_number_the_answer_is_that_of_spark(
    rows: list[Row], expected: Mapping[str, float | None]
) -> None:
    found = answers(rows)
    for name, value in expected.items():
        own = found[name]
        if value is not None and math.isnan(value):
            assert own is not None, name
            assert math.isnan(own), (name, own)
        else:
            assert own == value, (name, own)


def test_the_sum_of_infinities_of_both_signs_is_nan() -> None:
    assert math.isnan(answers([(1.0, INF), (1.0, -INF)])["regr_avgx"] or 0.0)


def test_what_lies_under_null_is_zero() -> None:
    state = Moments(2)
    states = state.merge(pa.array([], pa.binary()), frozen(np.zeros(0, dtype=np.int32)), 3)
    found = Statistic("corr", 0, 1).of(state, states)
    assert found.null_count == 3
    assert not any(found.buffers()[1].to_pybytes())


def test_a_sum_just_above_the_middle_of_two_doubles_is_rounded_up() -> None:
    rows = [(1.0, x) for x in (2.0**54, 2.0, 2.0**-60, 0.0)]
    assert answers(rows)["regr_avgx"] == (2.0**54 + 4) / 4
    assert answers([*rows[:2], *rows[3:], *rows[3:]])["regr_avgx"] == 2.0**54 / 4
