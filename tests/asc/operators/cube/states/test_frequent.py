"""Frequent items: bounds of their counts, no item missing above the bound, and the bytes of states."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asc.errors import CubeError
from asc.frozen import frozen
from asc.operators.cube.states import frequent
from asc.operators.cube.states.frequent import Frequent
from asc.operators.cube.states.sizes import CAPACITY_MAX, ITEM_BYTES_MAX


def fold(state: Frequent, values: Sequence[Any] | np.ndarray) -> pa.Array:
    """Return the state of one cell."""
    column = pa.array(values, state.item_type)
    rows = frozen(np.arange(len(column)))
    return state.fold(state.values(column), rows, frozen(np.zeros(len(column), dtype=np.int32)), 1)


def merge(state: Frequent, parts: Sequence[pa.Array]) -> pa.Array:
    """Return the state of the values of several states of one cell."""
    return state.merge(pa.concat_arrays(parts), frozen(np.zeros(len(parts), dtype=np.int32)), 1)


def assert_bounds(state: Frequent, states: pa.Array, truth: Counter[Any]) -> None:
    """Assert that the bounds of all items hold, and that no item above the bound is missing."""
    listed = state.listed(states)
    total, bound = int(listed.values[0]), int(listed.bounds[0])
    assert total == sum(truth.values())
    assert bound <= total / (state.capacity + 1)
    items = listed.items.to_pylist()
    assert len(items) == len(set(items)) <= state.capacity
    for item, low, estimate, high in zip(items, listed.lows, listed.estimates, listed.highs, strict=True):
        assert low <= truth[item] <= high
        assert low <= estimate <= high <= low + bound
    assert {item for item, count in truth.items() if count > bound} <= set(items)
    assert listed.estimates.tolist() == sorted(listed.estimates.tolist(), reverse=True)


def test_bounds_hold_after_a_thousand_merges(full_size: bool) -> None:
    """Merge 1,000 states, by pairs and at once, and compare the bounds with the counts of Python."""
    for seed in range(20 if full_size else 1):
        drawn = np.random.default_rng(seed)
        values = drawn.zipf(1.1 + seed % 5 / 5, 20_000) % 3_000
        state = Frequent(pa.int64(), (8, 64, 200)[seed % 3])
        parts = [fold(state, part) for part in np.array_split(values, 1_000)]
        truth = Counter(values.tolist())
        assert_bounds(state, merge(state, parts), truth)
        by_pairs = parts[0]
        for part in parts[1:]:
            by_pairs = merge(state, [by_pairs, part])
        assert_bounds(state, by_pairs, truth)
        assert int(state.listed(by_pairs).bounds[0]) > int(state.listed(parts[0]).bounds[0])


def test_bounds_hold_for_every_seed(full_size: bool) -> None:
    """Draw from 1,000 seeds in nightly runs."""
    for seed in range(1_000 if full_size else 20):
        drawn = np.random.default_rng(seed)
        values = drawn.zipf(1.05 + seed % 7 / 5, int(drawn.integers(1, 4_000))) % int(drawn.integers(2, 2_000))
        state = Frequent(pa.int64(), int(drawn.integers(1, 100)))
        parts = [fold(state, part) for part in np.array_split(values, int(drawn.integers(1, 60)))]
        middle = len(parts) // 2
        halves = [merge(state, parts[:middle])] if middle else []
        assert_bounds(state, merge(state, [*halves, *parts[middle:]]), Counter(values.tolist()))


@settings(max_examples=100, deadline=None)
@given(
    values=st.lists(st.sampled_from("aaaabbbccdefghijklé\U00010000") | st.text(max_size=2), max_size=80),
    capacity=st.integers(1, 6),
    cuts=st.lists(st.integers(0, 80), max_size=6),
)
def test_bounds_hold_for_any_split(values: list[str], capacity: int, cuts: list[int]) -> None:
    state = Frequent(pa.string(), capacity)
    ends = sorted(cuts)
    parts = [values[start:end] for start, end in zip([0, *ends], [*ends, len(values)], strict=True)]
    states = [fold(state, part) for part in parts]
    whole = merge(state, states)
    if values:
        assert_bounds(state, whole, Counter(values))
    assert merge(state, states[::-1]).equals(whole)


def test_counts_are_exact_up_to_the_capacity_and_for_items_that_never_went() -> None:
    state = Frequent(pa.string(), 3)
    exact = state.listed(fold(state, ["a"] * 5 + ["b"] * 2 + ["c", None]))
    assert exact.items.to_pylist() == ["a", "b", "c"]
    assert exact.lows.tolist() == exact.highs.tolist() == [5, 2, 1]
    assert exact.bounds.tolist() == [0]
    more = state.listed(merge(state, [fold(state, ["a"] * 50 + [f"x{n}" for n in range(9)]) for _ in range(100)]))
    assert more.items.to_pylist()[0] == "a"
    assert (more.lows[0], more.highs[0]) == (5_000, 5_000)
    assert more.bounds.tolist() == [100]


def test_the_bound_is_that_of_the_merged_state() -> None:
    state = Frequent(pa.int64(), 2)
    parts = [fold(state, [3 * part, 3 * part + 1, 3 * part + 2]) for part in range(10)]
    assert [int(state.listed(part).bounds[0]) for part in parts] == [1] * 10
    assert state.listed(merge(state, parts)).bounds.tolist() == [10]


def test_a_text_that_is_too_long_is_counted_in_the_bound() -> None:
    state = Frequent(pa.string(), 4)
    longest, longer = "x" * ITEM_BYTES_MAX, "y" * (ITEM_BYTES_MAX + 1)
    states = merge(state, [fold(state, [longest, longer, longer, "a"]), fold(state, [longer])])
    listed = state.listed(states)
    assert listed.items.to_pylist() == ["a", longest]
    assert listed.highs.tolist() == [1, 1]
    assert (listed.values[0], listed.bounds[0]) == (5, 3)


def test_very_many_different_values_in_one_cell(full_size: bool) -> None:
    count, batch = (10_000_000 if full_size else 400_000), 200_000
    state = Frequent(pa.int64())
    states: list[pa.Array] = []
    for first in range(0, count, batch):
        own = np.arange(first, first + batch)
        own[: batch // 10] = -1
        states = [merge(state, [*states, fold(state, own)])]
    listed = state.listed(states[0])
    assert listed.items.to_pylist()[0] == -1
    assert listed.lows[0] == listed.highs[0] == count // 10
    assert listed.bounds[0] <= count / 65


def test_one_value_a_million_times() -> None:
    state = Frequent(pa.string())
    states = fold(state, ["a"] * 1_000_000)
    for _ in range(20):
        states = merge(state, [states, states])
    listed = state.listed(states)
    assert (listed.items.to_pylist(), listed.lows.tolist(), listed.bounds.tolist()) == (["a"], [10**6 * 2**20], [0])


@pytest.mark.parametrize(("values", "size"), [(["abc"], 12), (["a", "b", "c", "d", "e"], 26)])
def test_a_small_cell_is_small_whatever_the_capacity_is(values: list[str], size: int) -> None:
    assert len(fold(Frequent(pa.string()), values)[0].as_py()) == size
    assert len(fold(Frequent(pa.string(), CAPACITY_MAX), values)[0].as_py()) == size + 1


@pytest.mark.parametrize("capacity", [0, -1, CAPACITY_MAX + 1])
def test_a_capacity_out_of_range_is_refused(capacity: int) -> None:
    with pytest.raises(CubeError, match=r"is out of range: keep 1 to 4,096 items"):
        Frequent(pa.string(), capacity)


def test_states_of_another_capacity_never_merge() -> None:
    states = fold(Frequent(pa.string(), 64), ["a"])
    with pytest.raises(CubeError, match="capacity of frequent 65: is merged with another capacity"):
        merge(Frequent(pa.string(), 65), [states])


@pytest.mark.parametrize("kind", [pa.string(), pa.int8(), pa.decimal128(3, 1)])
def test_a_damaged_state_is_refused_or_read_without_harm(kind: pa.DataType) -> None:
    state = Frequent(kind, 8)
    good = fold(state, pa.array([str(number) for number in range(9)]).cast(kind).to_pylist() * 3)[0].as_py()
    draw = random.Random(1)
    refused: list[str] = []
    for turn in range(600):
        bad = bytearray(good)
        if turn % 3 == 0:
            bad = bad[: draw.randrange(1, len(bad))]
        for _ in range(draw.randint(1, 4)):
            bad[draw.randrange(len(bad))] = draw.randrange(256)
        try:
            state.listed(merge(state, [pa.array([good], pa.binary()), pa.array([bytes(bad)], pa.binary())]))
        except CubeError as error:
            refused.append(str(error))
    assert len(refused) > 300
    assert not any("\n" in text for text in refused)


def test_states_of_more_bytes_than_an_array_has_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert frequent._STATE_BYTES_MAX == 2**31 - 1
    monkeypatch.setattr(frequent, "_STATE_BYTES_MAX", 11)
    with pytest.raises(CubeError, match="frequent items in bytes 12: group by fewer values"):
        fold(Frequent(pa.string()), ["abc"])
