"""Co-moments: the doubles that are summed, and the bytes of a state."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from asc.errors import CubeError
from asc.frozen import frozen
from asc.operators.cube.states import moments
from asc.operators.cube.states.moments import Moments
from asc.operators.cube.states.state import Places, Rows, Values
from tests.asc.operators.cube.peak_memory import peak_bytes

LARGEST = 1.7976931348623157e308
SMALLEST = 5e-324


def folded(*columns: Sequence[float | None]) -> pa.Array:
    """Return the state of one cell."""
    state = Moments(len(columns))
    values = state.together([state.values(pa.array(column, pa.float64())) for column in columns])
    count = len(columns[0])
    return state.fold(values, frozen(np.arange(count)), frozen(np.zeros(count, dtype=np.int32)), 1)


def integers_of(state: bytes, columns: int) -> list[Fraction]:
    """Return the sums of a state, as its module describes the bytes: of each column, then of each pair."""
    words = [int.from_bytes(state[at : at + 4], "little") for at in range(0, len(state), 4)]
    at, found = 2, []
    for number in range(columns + columns * (columns + 1) // 2):
        first, count = words[at] >> 16, words[at] & 0xFFFF
        data = b"".join(word.to_bytes(4, "little") for word in words[at + 1 : at + 1 + count])
        unit = Fraction(1, 2**1074) if number < columns else Fraction(1, 2**2148)
        found.append(int.from_bytes(data, "little", signed=True) * 2 ** (32 * first) * unit)
        at += 1 + count
    assert at == len(words)
    return found


@pytest.mark.parametrize("seed", range(30))
def test_sums_and_sums_of_products_are_exact(seed: int) -> None:
    draw = random.Random(seed)

    def value() -> float:
        return draw.choice([draw.uniform(-1, 1) * 2.0 ** draw.randint(-1000, 1000), draw.gauss(1e9, 1), LARGEST, -0.0])

    columns = [[value() for _ in range(40)] for _ in range(3)]
    exact = [[Fraction(each) for each in column] for column in columns]
    products = [
        sum(one * other for one, other in zip(exact[first], exact[second], strict=True))
        for first in range(3)
        for second in range(first, 3)
    ]
    assert integers_of(folded(*columns)[0].as_py(), 3) == [*map(sum, exact), *products]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([0.0, -0.0], 4),
        ([1.0], 6),
        ([-3.0, 5.0, 900.0], 6),
        ([SMALLEST], 6),
        ([LARGEST], 12),
        ([1.0, -1.0], 5),
        ([math.inf, 3.0], 4),
    ],
)
def test_a_state_has_only_the_words_that_differ_from_zero(values: list[float], words: int) -> None:
    assert len(folded(values)[0].as_py()) == 4 * words


def test_the_largest_state_has_a_stated_size() -> None:
    values = [LARGEST, SMALLEST] * 1_000
    assert len(folded(values, values)[0].as_py()) <= 4 * (2 + 5 + 2 * 69 + 3 * 137)


@pytest.mark.parametrize("values", [[1.0, 2.0, None], [math.inf, 1.0], [None, None]])
def test_a_row_with_null_counts_for_neither_column(values: list[float | None]) -> None:
    other = [1.0] * len(values)
    kept = [value for value in values if value is not None]
    assert folded(values, other).equals(folded(kept, other[: len(kept)]))


def test_infinities_and_nan_leave_no_other_content() -> None:
    assert folded([math.inf, 1.0, 2.0]).equals(folded([5.0, math.inf, math.inf]))
    assert folded([math.inf, -math.inf, 2.0]).equals(folded([math.nan, 7.0, 1e300]))
    assert not folded([math.inf, 1.0, 2.0]).equals(folded([-math.inf, 1.0, 2.0]))


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (Decimal("0.1"), pa.decimal128(5, 2)),
        (Decimal("9007199254740993"), pa.decimal128(18, 0)),
        (Decimal("12345678901234567890.123456789"), pa.decimal128(38, 9)),
        (Decimal("-0.00000000000000000000000000000000000001"), pa.decimal128(38, 38)),
        (2**63 - 1, pa.int64()),
        (2**53 + 1, pa.int64()),
        (-128, pa.int8()),
        (0.25, pa.float32()),
    ],
)
def test_a_number_is_rounded_once_to_the_nearest_double(value: Any, kind: pa.DataType) -> None:
    found = Moments(1).values(pa.array([value, None], kind))
    assert found.numbers[0] == float(value)
    assert found.nulls.tolist() == [False, True]


def test_a_damaged_state_is_refused_and_not_read() -> None:
    good = folded([1.5, 2.0], [3.0, 4.0])[0].as_py()
    state = Moments(2)
    cells = frozen(np.zeros(1, dtype=np.int32))
    for bad in (good[:-4], good + b"\0" * 4, good[:8], good[:5], good[:8] + b"\xff" * 4 + good[12:]):
        with pytest.raises(CubeError, match="is damaged") as caught:
            state.merge(pa.array([bad], pa.binary()), cells, 1)
        assert "\n" not in str(caught.value)
    assert state.merge(pa.array([good], pa.binary()), cells, 1)[0].as_py() == good


def test_states_that_are_doubled_very_often_stay_exact() -> None:
    states, cells = folded([-1.5, 3.0]), frozen(np.zeros(2, dtype=np.int32))
    state = Moments(1)
    for _ in range(40):
        states = state.merge(pa.concat_arrays([states, states]), cells, 1)
    assert state.answer(states).to_pylist() == [2**41]
    assert integers_of(states[0].as_py(), 1) == [2**40 * Fraction(3, 2), 2**40 * Fraction(45, 4)]


def test_states_of_more_bytes_than_an_array_has_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert moments._STATE_BYTES_MAX == 2**31 - 1
    size_bytes = len(folded([1.5, 2.5])[0].as_py())
    monkeypatch.setattr(moments, "_STATE_BYTES_MAX", size_bytes)
    assert len(folded([1.5, 2.5])) == 1
    monkeypatch.setattr(moments, "_STATE_BYTES_MAX", size_bytes - 1)
    with pytest.raises(CubeError, match=f"co-moments in bytes {size_bytes}: group by fewer values"):
        folded([1.5, 2.5])


def extremes(cells: int) -> tuple[Moments, Values, Rows, Places]:
    """Return two records for each cell, whose magnitudes differ by nearly all exponents of doubles."""
    values = np.random.default_rng(2).uniform(1, 9, size=(2, 2 * cells)) * np.repeat([1e300, 1e-300], cells)
    state = Moments(2)
    rows, places = frozen(np.arange(2 * cells)), frozen(np.tile(np.arange(cells, dtype=np.int32), 2))
    return state, state.together([state.values(pa.array(column)) for column in values]), rows, places


@pytest.mark.parametrize("words", [1, 700, 5_000])
def test_cells_in_parts_have_the_bytes_of_the_whole(words: int, monkeypatch: pytest.MonkeyPatch) -> None:
    state, values, rows, places = extremes(50)
    states = state.fold(values, rows, places, 50)
    halves = [state.fold(values, rows[part], frozen(places[part]), 50) for part in (slice(0, 50), slice(50, 100))]
    monkeypatch.setattr(moments, "PART_WORDS", words)
    assert state.fold(values, rows, places, 50).equals(states)
    assert state.merge(pa.concat_arrays(halves), places, 50).equals(states)


def test_a_fold_and_a_merge_hold_the_digits_of_a_part_at_once() -> None:
    cells = 20_000
    state, values, rows, places = extremes(cells)
    states = state.fold(values, rows, places, cells)
    # The plan of the words, and the memory of states that is set aside, both grow with the cells.
    most = 1.25 * states.nbytes + 8 * moments.PART_WORDS + (8 << 20)
    # All digits together take twice the bytes of the states.
    assert most < 2.5 * states.nbytes
    assert peak_bytes(lambda: state.fold(values, rows, places, cells)) <= most
    cells_of_states = frozen(np.arange(cells, dtype=np.int32))
    assert peak_bytes(lambda: state.merge(states, cells_of_states, cells)) <= most
