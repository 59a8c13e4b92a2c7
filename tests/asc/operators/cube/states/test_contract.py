"""The contract of all states: any split and order of values gives the same state, and the answer is exact."""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from decimal import Context, Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asc.frozen import frozen
from asc.operators.cube.states.count import Count, RecordCount
from asc.operators.cube.states.distinct import Distinct
from asc.operators.cube.states.distinct_answers import estimates
from asc.operators.cube.states.exact_sum import ExactSum
from asc.operators.cube.states.extreme import Extreme
from asc.operators.cube.states.float_sum import FloatSum
from asc.operators.cube.states.frequent import Frequent
from asc.operators.cube.states.moments import Moments
from asc.operators.cube.states.quantile_kernels import read_sketch
from asc.operators.cube.states.quantiles import Quantiles
from asc.operators.cube.states.seen import Seen
from asc.operators.cube.states.state import State, Values

CELLS = 4
LONG = (-(2**63), 2**63 - 1)
UTC = timezone.utc
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
WIDE = Context(prec=100)

Answer = Callable[[Sequence[Any]], Any]


def key_of(value: Any) -> Any:
    """Return what orders values as Spark does: NaN above infinity."""
    if not isinstance(value, float):
        return value
    return (True, 0.0) if math.isnan(value) else (False, value)


def least(values: Sequence[Any]) -> Any:
    return min(values, key=key_of) if values else None


def greatest(values: Sequence[Any]) -> Any:
    return max(values, key=key_of) if values else None


def total(values: Sequence[Any]) -> Decimal | None:
    """Return the exact sum; None of nothing, and of more than 38 digits."""
    if not values:
        return None
    exact = decimal_sum(values)
    units = WIDE.scaleb(exact, -int(exact.as_tuple().exponent))
    return exact if -(10**38) < units < 10**38 else None


def decimal_sum(values: Sequence[Any]) -> Decimal:
    found = Decimal(0)
    for value in values:
        found = WIDE.add(found, Decimal(value))
    return found


def float_sum(values: Sequence[float]) -> float | None:
    """Return the sum that IEEE has of infinities and NaN, else the exact sum, rounded once."""
    if not values:
        return None
    odd = [value for value in values if not math.isfinite(value)]
    if odd:
        return sum(odd)
    return exact_sum(values)


def exact_sum(values: Sequence[float]) -> float:
    scaled = [math.ldexp(value, -64) for value in values]
    large = any(abs(value) > 2.0**900 for value in values)
    try:
        return math.ldexp(math.fsum(scaled), 64) if large else math.fsum(values)
    except OverflowError:
        return math.copysign(math.inf, math.fsum(scaled))


@dataclass(frozen=True)
class Kind:
    """A state with the values that it takes, and what Python says that it answers.

    There are three classes of states: with equal bytes, with sums of doubles within their error bound, and with answers
    within the bounds that they state. ``within``: for the third class, whether an answer holds for the exact one.
    ``read``: a function of sketches, which is read in place of their answers, and is equal for any split and order.
    """

    name: str
    state: State
    type: pa.DataType
    values: st.SearchStrategy[Any]
    answer: Answer
    is_exact: bool = True
    within: Callable[[Any, Any], bool] | None = None
    read: Callable[[Any, pa.Array], list[Any]] | None = None


def counted(state: Distinct, states: pa.Array) -> list[Any]:
    numbers: list[Any] = estimates(state, states).field("estimate").to_pylist()
    return numbers


def is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def different(values: Sequence[Any]) -> int:
    """Return the number of different values, as Spark groups them."""
    return len({"NaN" if is_nan(value) else value for value in values})


def kept(state: Quantiles, states: pa.Array) -> list[Any]:
    """Return the values that sketches keep, which are all of a few."""
    stored, (items, item_bytes) = state.checked(states), state.item_memory()
    weights = np.empty(len(items))
    numbers: list[list[float] | None] = []
    for place in range(len(states)):
        count = read_sketch(stored, place, items, item_bytes, weights)
        assert set(weights[:count]) <= {1.0}
        numbers.append(sorted(items[:count].tolist()) if count else None)
    return numbers


def sorted_doubles(values: Sequence[Any]) -> list[float] | None:
    return sorted(float(value) + 0.0 for value in values if not is_nan(value)) or None


def decimals(precision: int, scale: int) -> st.SearchStrategy[Decimal]:
    bound = 10**precision - 1
    return st.integers(-bound, bound).map(lambda number: Decimal(number).scaleb(-scale, WIDE))


FLOATS = st.floats() | st.sampled_from([0.0, -0.0, math.inf, -math.inf, math.nan, 1e308, -1e308, 5e-324])
INSTANTS = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)).map(lambda found: found.replace(tzinfo=UTC))
TEXTS = st.text() | st.sampled_from(["", "a", "Z", "é", "\ud7ff", "\uffff", "\U00010000", "ß", "日本"])


ROWS = st.tuples(FLOATS | st.none(), FLOATS | st.integers(-9, 9).map(float) | st.none())


def complete(rows: Sequence[tuple[Any, ...]]) -> int:
    """Return the number of rows without NULL."""
    return sum(None not in row for row in rows)


def is_rounded(found: float | None, exact: float | None) -> bool:
    return found is exact if found is None or exact is None else math.isclose(found, exact, rel_tol=1e-6, abs_tol=1e-3)


VALUES = (
    (pa.bool_(), st.booleans()),
    (pa.int8(), st.integers(-128, 127)),
    (pa.int64(), st.integers(*LONG)),
    (pa.float32(), st.floats(width=32)),
    (pa.float64(), FLOATS),
    (pa.decimal128(9, 3), decimals(9, 3)),
    (pa.decimal128(38, 10), decimals(38, 10)),
    (pa.string(), TEXTS),
    (pa.binary(), st.binary()),
    (pa.date32(), st.dates(date(1, 1, 1), date(9999, 12, 31))),
    (pa.timestamp("us", tz="UTC"), INSTANTS),
)
"""The types that have an order, each with its values."""

KINDS = [
    Kind("records", RecordCount(), pa.int32(), st.integers(0, 9), len),
    Kind("count", Count(), pa.string(), TEXTS, len),
    *(
        Kind(f"sum {kind}", ExactSum(kind), kind, st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1), total)
        for kind, bits in ((pa.int8(), 8), (pa.int16(), 16), (pa.int32(), 32), (pa.int64(), 64))
    ),
    *(
        Kind(f"sum {p},{s}", ExactSum(pa.decimal128(p, s)), pa.decimal128(p, s), decimals(p, s), total)
        for p, s in ((5, 2), (18, 0), (18, 18), (19, 4), (38, 0), (38, 38))
    ),
    Kind("sum double", FloatSum(), pa.float64(), FLOATS, float_sum, is_exact=False),
    Kind("sum float", FloatSum(), pa.float32(), st.floats(width=32), float_sum, is_exact=False),
    *(
        Kind(f"{'max' if is_max else 'min'} {kind}", Extreme(kind, is_max=is_max), kind, values, own)
        for is_max, own in ((False, least), (True, greatest))
        for kind, values in VALUES
    ),
    # The third class: an answer need only be within bounds, here of a sum that is rounded to floats.
    Kind("sum within", FloatSum(), pa.float64(), st.floats(-1e9, 1e9, width=32), float_sum, within=is_rounded),
    Kind("moments", Moments(1), pa.float64(), FLOATS, len),
    *(
        Kind(f"moments {kind}", Moments(1), kind, values, len)
        for kind, values in (
            (pa.int64(), st.integers(*LONG)),
            (pa.float32(), st.floats(width=32)),
            (pa.decimal128(9, 3), decimals(9, 3)),
            (pa.decimal128(38, 38), decimals(38, 38)),
        )
    ),
    Kind("moments of two", Moments(2), pa.float64(), ROWS, complete),
    *(
        Kind(f"distinct {kind}", Distinct(), kind, values, different, read=counted)
        for kind, values in (
            (pa.bool_(), st.booleans()),
            (pa.int8(), st.integers(-128, 127)),
            (pa.int64(), st.integers(*LONG)),
            (pa.float32(), st.floats(width=32)),
            (pa.float64(), FLOATS),
            (pa.decimal128(9, 3), decimals(9, 3)),
            (pa.decimal128(38, 10), decimals(38, 10)),
            (pa.string(), TEXTS),
            (pa.binary(), st.binary()),
            (pa.date32(), st.dates(date(1, 1, 1), date(9999, 12, 31))),
            (pa.timestamp("us", tz="UTC"), INSTANTS),
        )
    ),
    *(
        Kind(f"quantiles {kind}", Quantiles(), kind, values, sorted_doubles, is_exact=False, read=kept)
        for kind, values in (
            (pa.int64(), st.integers(*LONG)),
            (pa.float32(), st.floats(width=32)),
            (pa.float64(), FLOATS),
            (pa.decimal128(9, 3), decimals(9, 3)),
            (pa.decimal128(38, 38), decimals(38, 38)),
        )
    ),
    *(Kind(f"frequent {kind}", Frequent(kind), kind, values, len) for kind, values in VALUES),
    *(Kind(f"seen {kind}", Seen(1_000), kind, values, len) for kind, values in VALUES),
    Kind("seen, dense", Seen(1), pa.int64(), st.integers(0, 40), len),
]

each_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
Row = tuple[int, Any]


def rows_of(kind: Kind) -> st.SearchStrategy[list[Row]]:
    value = kind.values if not kind.state.takes_values else kind.values | st.none()
    return st.lists(st.tuples(st.integers(0, CELLS - 1), value), max_size=30)


def fold(kind: Kind, rows: Sequence[Row], count: int = CELLS) -> pa.Array:
    """Return the states of rows by cell. The values are a part of a longer array, in another order, as in a batch."""
    values = values_of(kind, [value for _, value in rows])
    places = np.arange(len(rows), dtype=np.int64)
    cells = np.array([cell for cell, _ in rows], dtype=np.int32)
    places.setflags(write=False)
    cells.setflags(write=False)
    return kind.state.fold(values, places, cells, count)


def values_of(kind: Kind, values: Sequence[Any]) -> Values | None:
    if not kind.state.takes_values:
        return None
    if isinstance(kind.state, Moments) and kind.state.columns > 1:
        columns = zip(*((None, None) if row is None else row for row in [*values, None]), strict=True)
        return kind.state.together([kind.state.values(column_of(kind, each[:-1])) for each in columns])
    return kind.state.values(column_of(kind, values))


def column_of(kind: Kind, values: Sequence[Any]) -> pa.Array:
    return pa.array([None, *values, None], kind.type).slice(1).slice(0, len(values) + 1)


def merge(kind: Kind, parts: Sequence[pa.Array]) -> pa.Array:
    cells = np.tile(np.arange(CELLS, dtype=np.int32), len(parts))
    cells.setflags(write=False)
    return kind.state.merge(pa.concat_arrays([*parts, pa.array([], kind.state.storage)]), cells, CELLS)


def bytes_of(states: pa.Array) -> bytes:
    """Return the states as they are stored."""
    sink = pa.BufferOutputStream()
    batch = pa.record_batch({"s": states})
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    found: bytes = sink.getvalue().to_pybytes()
    return found


def assert_equal(kind: Kind, left: pa.Array, right: pa.Array, rows: Sequence[Row]) -> None:
    assert left.type == right.type == kind.state.storage
    if kind.within is not None:
        for states in (left, right):
            assert_within(kind, answers(kind, states), rows)
        return
    if kind.is_exact:
        assert bytes_of(left) == bytes_of(right)
        return
    if kind.read is not None:
        assert answers(kind, left) == answers(kind, right)
        return
    for cell, (one, other) in enumerate(zip(answers(kind, left), answers(kind, right), strict=True)):
        assert is_near(one, other, [value for own, value in rows if own == cell and value is not None])


def assert_within(kind: Kind, found: Sequence[Any], rows: Sequence[Row]) -> None:
    """Check the answers of states of the third class against the exact ones."""
    assert kind.within is not None
    for cell, answer in enumerate(found):
        values = [value for own, value in rows if own == cell and value is not None]
        assert kind.within(answer, kind.answer(values)), (answer, values)


def answers(kind: Kind, states: pa.Array) -> list[Any]:
    if kind.read is not None:
        return kind.read(kind.state, states)
    found = kind.state.answer(states)
    assert found.type == kind.state.type
    if pa.types.is_timestamp(found.type):
        times = found.cast(pa.int64()).to_pylist()
        return [None if us is None else EPOCH + timedelta(microseconds=us) for us in times]
    listed: list[Any] = found.to_pylist()
    return listed


def is_near(found: float | None, expected: float | None, values: Sequence[float]) -> bool:
    """Return whether a sum is within 1 ulp, where the magnitudes are at most 1e12 times the sum."""
    if found is None or expected is None:
        return found is expected
    if math.isnan(expected) or math.isinf(expected):
        return found == expected or (math.isnan(found) and math.isnan(expected))
    magnitude = exact_sum([abs(value) for value in values])
    if magnitude > 1e12 * abs(expected):
        return abs(found - expected) <= 1e-20 * magnitude + 5e-324
    return abs(found - expected) <= math.ulp(expected)


def is_same(found: Any, expected: Any) -> bool:
    if isinstance(found, float) and isinstance(expected, float):
        # No zero of an answer is negative, and NaN is NaN.
        same = math.isnan(found) and math.isnan(expected)
        return same or (found == expected and math.copysign(1, found) == math.copysign(1, expected + 0.0))
    return bool(found == expected) and type(found) is type(expected)


@each_kind
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_any_split_gives_the_same_state(kind: Kind, data: st.DataObject) -> None:
    rows = data.draw(rows_of(kind))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(rows)), max_size=4)))
    parts = [rows[start:stop] for start, stop in zip([0, *cuts], [*cuts, len(rows)], strict=True)]
    whole = fold(kind, rows)
    states = [fold(kind, part) for part in parts]
    assert_equal(kind, merge(kind, states), whole, rows)
    by_pairs = states[0]
    for part in states[1:]:
        by_pairs = merge(kind, [by_pairs, part])
    assert_equal(kind, by_pairs, whole, rows)


@each_kind
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_any_order_gives_the_same_state(kind: Kind, data: st.DataObject) -> None:
    rows = data.draw(rows_of(kind))
    shuffled = data.draw(st.permutations(rows))
    assert_equal(kind, fold(kind, rows), fold(kind, shuffled), rows)
    states = [fold(kind, rows[:3]), fold(kind, rows[3:7]), fold(kind, rows[7:])]
    assert_equal(kind, merge(kind, states), merge(kind, states[::-1]), rows)


@each_kind
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_the_answer_is_that_of_python(kind: Kind, data: st.DataObject) -> None:
    rows = data.draw(rows_of(kind))
    found = answers(kind, fold(kind, rows))
    if kind.within is not None:
        assert_within(kind, found, rows)
        return
    for cell in range(CELLS):
        values = [value for own, value in rows if own == cell and (value is not None or not kind.state.takes_values)]
        expected = kind.answer(values)
        if kind.is_exact or kind.read is not None:
            assert is_same(found[cell], expected), (found[cell], expected)
        else:
            assert is_near(found[cell], expected, values), (found[cell], expected)


@each_kind
def test_a_part_without_values_changes_nothing(kind: Kind) -> None:
    value = {"records": 1}.get(kind.name)
    rows = [(0, value)] * 3
    nothing = fold(kind, [])
    assert_equal(kind, merge(kind, [nothing, fold(kind, rows), nothing]), fold(kind, rows), rows)
    assert len(merge(kind, [])) == CELLS
    assert_equal(kind, merge(kind, []), nothing, [])
    if kind.within is None:
        assert answers(kind, nothing) == [kind.answer([])] * CELLS
    else:
        assert_within(kind, answers(kind, nothing), [])
    counts = Count | Moments | Distinct | Frequent | Seen
    assert answers(kind, nothing) == [0 if isinstance(kind.state, counts) else None] * CELLS


@each_kind
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_states_are_read_from_a_part_of_an_array(kind: Kind, data: st.DataObject) -> None:
    rows = data.draw(rows_of(kind))
    states = fold(kind, rows)
    cells = np.arange(2, dtype=np.int32)
    cells.setflags(write=False)
    part = kind.state.merge(states.slice(1, 2), cells, 2)
    own = [(cell - 1, value) for cell, value in rows if cell in (1, 2)]
    assert_equal(kind, part, fold(kind, own, 2), own)


@each_kind
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_states_that_were_written_and_read_go_on(kind: Kind, data: st.DataObject) -> None:
    rows = data.draw(rows_of(kind))
    cut = data.draw(st.integers(0, len(rows)))
    former = pa.ipc.open_stream(bytes_of(fold(kind, rows[:cut]))).read_all()["s"].combine_chunks()
    assert_equal(kind, merge(kind, [former, fold(kind, rows[cut:])]), fold(kind, rows), rows)


def test_an_answer_beyond_its_bounds_fails_the_contract() -> None:
    kind = next(own for own in KINDS if own.name == "sum within")
    states = fold(kind, [(0, 1.0), (1, 2.0)])
    assert_equal(kind, states, states, [(0, 1.0), (1, 2.0)])
    with pytest.raises(AssertionError):
        assert_equal(kind, states, states, [(0, 1.0), (1, 2.1)])


def test_a_sum_of_bigints_does_not_wrap() -> None:
    kind = next(own for own in KINDS if own.name == "sum int64")
    rows = [(0, LONG[1])] * 9 + [(1, LONG[0])] * 9
    assert answers(kind, fold(kind, rows))[:2] == [Decimal(9 * LONG[1]), Decimal(9 * LONG[0])]


@pytest.mark.parametrize("value", [2**62 - 1, 2**62, -(2**62), -(2**62) - 1])
def test_a_sum_just_within_and_just_beyond_64_bits_is_exact(value: int) -> None:
    kind = next(own for own in KINDS if own.name == "sum int64")
    assert answers(kind, fold(kind, [(0, value), (0, value)]))[:2] == [Decimal(2 * value), None]


@each_kind
def test_what_lies_under_null_is_zero(kind: Kind) -> None:
    states = fold(kind, [])
    assert not any(states.buffers()[1].to_pybytes())
    assert not any(merge(kind, [states, states]).buffers()[1].to_pybytes())


def test_a_sum_of_more_than_38_digits_is_null_and_counted_and_comes_back() -> None:
    kind = next(own for own in KINDS if own.name == "sum 38,0")
    state = kind.state
    assert isinstance(state, ExactSum)
    most = Decimal(10**38 - 1)
    over = fold(kind, [(0, most), (0, most), (1, most), (2, most.copy_negate()), (2, Decimal(-1))])
    assert answers(kind, over) == [None, most, None, None]
    assert state.overflows(over) == 2
    assert ExactSum.integers(over) == [2 * int(most), int(most), -int(most) - 1, 0]
    back = merge(kind, [over, fold(kind, [(0, most.copy_negate())])])
    assert answers(kind, back)[0] == most


def test_a_sum_of_very_many_large_decimals_is_exact() -> None:
    kind = next(own for own in KINDS if own.name == "sum 38,0")
    states = fold(kind, [(0, Decimal(10**38 - 1)), (1, Decimal(1 - 10**38))])
    for _ in range(40):
        states = merge(kind, [states, states])
    assert ExactSum.integers(states)[:2] == [2**40 * (10**38 - 1), -(2**40) * (10**38 - 1)]


@pytest.mark.parametrize("seed", range(300))
def test_a_cancelling_sum_is_within_one_ulp_of_fsum(seed: int) -> None:
    kind = next(own for own in KINDS if own.name == "sum double")
    draw = random.Random(seed)
    scale = 10.0 ** draw.uniform(0, 11)
    values = [draw.uniform(-scale, scale) for _ in range(300)]
    values += [-value for value in values] + [draw.uniform(-1, 1) for _ in range(20)]
    draw.shuffle(values)
    values += [draw.choice([1e16, 1e-16, 3.0])]
    cuts = sorted(draw.randrange(len(values)) for _ in range(6))
    parts = [values[start:stop] for start, stop in zip([0, *cuts], [*cuts, len(values)], strict=True)]
    states = merge(kind, [fold(kind, [(0, value) for value in part]) for part in parts])
    found, expected = answers(kind, states)[0], math.fsum(values)
    assert sum(map(abs, values)) <= 1e12 * abs(expected) or is_near(found, expected, values)
    if sum(map(abs, values)) <= 1e12 * abs(expected):
        assert abs(found - expected) <= math.ulp(expected)


@pytest.mark.parametrize("cells", [1, 1_000_000])
@pytest.mark.parametrize("value", [0.1, 1 / 3])
def test_a_million_equal_values_and_their_sum_taken_away(value: float, cells: int) -> None:
    """Sum values folded into one cell, or into as many cells as values, which are then merged."""
    state = FloatSum()
    values = np.full(1_000_000, value)
    whole = math.fsum(values)
    values = np.append(values, [-whole, 2 * whole / 0.999e12])
    exact = math.fsum(values)
    assert math.fsum(np.abs(values)) <= 1e12 * abs(exact)
    rows = frozen(np.arange(len(values)))
    places = frozen((rows % cells).astype(np.int32))
    states = state.fold(state.values(pa.array(values)), rows, places, cells)
    found = state.answer(state.merge(states, frozen(np.zeros(cells, dtype=np.int32)), 1))[0].as_py()
    assert abs(found - exact) <= math.ulp(exact)


def test_sums_of_doubles_beyond_all_doubles() -> None:
    kind = next(own for own in KINDS if own.name == "sum double")
    most = 1.7976931348623157e308
    rows = [(0, most), (0, most), (1, most), (1, most), (1, -most), (2, math.inf), (2, -math.inf), (3, math.inf)]
    assert answers(kind, fold(kind, rows))[0] == math.inf
    assert answers(kind, fold(kind, rows))[1] == most
    assert math.isnan(answers(kind, fold(kind, rows))[2])
    assert answers(kind, fold(kind, [*rows, (3, -most), (3, -most)]))[3] == math.inf
    # Of values that are not finite the bytes are equal as well.
    odd = [(0, 1.0), (0, math.inf), (0, math.nan), (0, -math.inf), (1, -math.inf), (1, 7e300)]
    assert bytes_of(fold(kind, odd)) == bytes_of(merge(kind, [fold(kind, [row]) for row in odd[::-1]]))
    quiet = struct.unpack("<d", struct.pack("<Q", 0xFFF8000000000001))[0]
    assert bytes_of(fold(kind, [(0, quiet)])) == bytes_of(fold(kind, [(0, math.nan)]))
