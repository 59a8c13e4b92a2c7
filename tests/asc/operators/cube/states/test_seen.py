"""Sets of values with counts: their false-positive chance, the bounds of counts, and the bytes of states."""

from __future__ import annotations

import math
import random
import struct
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
from asc.operators.cube.states import seen
from asc.operators.cube.states.seen import CHANCE, CONFIDENCE, Seen, hashes_of
from asc.operators.cube.states.seen_kernels import BLOCK_WORDS, DENSE, DENSE_HEAD, ROWS, SPARSE
from asc.operators.cube.states.sizes import STATED_MAX
from tests.asc.operators.cube.peak_memory import peak_bytes

MASK = 2**64 - 1


def fold(state: Seen, column: pa.Array, cells: Sequence[int] | np.ndarray | int = 0, count: int = 1) -> pa.Array:
    """Return the states of cells. ``cells``: that of each value, or one cell for all."""
    rows = np.arange(len(column))
    places = np.full(len(column), cells) if isinstance(cells, int) else np.asarray(cells)
    return state.fold(state.values(column), frozen(rows), frozen(places.astype(np.int32)), count)


def merge(state: Seen, parts: Sequence[pa.Array]) -> pa.Array:
    """Return the union of the states of one cell."""
    return state.merge(pa.concat_arrays(parts), frozen(np.zeros(len(parts), dtype=np.int32)), 1)


def share_of_maybe(state: Seen, states: pa.Array, hashes: np.ndarray) -> float:
    return sum(bool(state.find(states, hashed).maybe[0]) for hashed in hashes) / len(hashes)


def numbers(first: int, count: int) -> pa.Array:
    return pa.array(np.arange(first, first + count))


@pytest.mark.parametrize("stated", [1, 10, 700, 1_000, 100_000, STATED_MAX])
def test_at_the_stated_number_the_chance_is_below_one_percent(stated: int) -> None:
    state = Seen(stated)
    states = fold(state, numbers(0, stated))
    chance = float(state.totals(states).chances[0])
    assert chance <= CHANCE
    others = hashes_of(numbers(10**9, 20_000))
    found = share_of_maybe(state, states, others)
    assert found <= chance + 5 * math.sqrt(chance * (1 - chance) / 20_000)
    assert all(state.find(states, hashed).maybe[0] for hashed in hashes_of(numbers(0, min(stated, 2_000))))


def test_at_the_stated_number_the_chance_is_below_one_percent_for_every_seed(full_size: bool) -> None:
    """Draw from 1,000 seeds in nightly runs."""
    chances = []
    for seed in range(1_000 if full_size else 100):
        drawn = np.random.default_rng(seed)
        state = Seen(int(drawn.integers(1, 3_000)))
        first = int(drawn.integers(0, 2**40))
        chances.append(float(state.totals(fold(state, numbers(first, state.shape.stated))).chances[0]))
    assert max(chances) <= CHANCE
    assert np.mean(chances) <= 0.6 * CHANCE


def test_the_counters_alone_would_report_far_more_values() -> None:
    """A CountMin sketch as a filter: a value is reported if all of its counters are above zero."""
    state = Seen(1_000)
    states = fold(state, numbers(0, 1_000))
    counters = read(states[0].as_py(), state)["counters"]
    others = [int(hashed) for hashed in hashes_of(numbers(10**6, 5_000))]
    by_counters = sum(all(counters[place] for place in places(hashed, state)) for hashed in others) / 5_000
    by_filter = share_of_maybe(state, states, np.array(others, dtype=np.uint64))
    assert by_filter <= CHANCE < 0.1 < by_counters


@pytest.mark.parametrize("times", [2, 5, 20])
def test_beyond_the_stated_number_the_honest_chance_is_reported(times: int) -> None:
    state = Seen(1_000)
    states = fold(state, numbers(0, 1_000 * times))
    totals = state.totals(states)
    chance = float(totals.chances[0])
    assert chance > CHANCE
    found = share_of_maybe(state, states, hashes_of(numbers(10**6, 20_000)))
    assert abs(found - chance) <= 5 * math.sqrt(chance * (1 - chance) / 20_000) + 1e-4
    assert totals.values.tolist() == [1_000 * times]
    if times < 20:
        assert abs(totals.different[0] / (1_000 * times) - 1) <= 0.05


def test_a_filter_without_a_zero_reports_every_value() -> None:
    state = Seen(1)
    states = fold(state, numbers(0, 50_000))
    totals = state.totals(states)
    assert totals.chances.tolist() == [1.0]
    assert totals.different.tolist() == totals.values.tolist() == [50_000]
    assert share_of_maybe(state, states, hashes_of(numbers(10**6, 100))) == 1.0


def test_counts_are_within_their_bounds(full_size: bool) -> None:
    """1,000 seeds in nightly runs: no count below the truth, and bounds as confident as stated."""
    within = above = 0
    for seed in range(1_000 if full_size else 15):
        drawn = np.random.default_rng(seed)
        stated = int(drawn.integers(20, 500))
        column = drawn.zipf(1.3, 5_000) % (2 * stated)
        state = Seen(stated)
        parts = np.array_split(column, 7)
        states = merge(state, [fold(state, pa.array(part)) for part in parts])
        truth = Counter(column.tolist())
        items = list(range(2 * stated))
        for item, hashed in zip(items, hashes_of(pa.array(items)), strict=True):
            sighting = state.find(states, hashed)
            assert sighting.lows[0] <= sighting.highs[0]
            assert truth[item] <= sighting.highs[0]
            within += int(sighting.lows[0] <= truth[item])
            above += 1
            assert sighting.maybe[0] or not truth[item]
            if sighting.is_exact[0]:
                assert sighting.highs[0] == truth[item]
    assert within / above >= CONFIDENCE


def test_counts_of_a_sparse_state_are_exact() -> None:
    state = Seen(1_000)
    states = fold(state, pa.array(["a"] * 300 + ["b"] * 70_000 + ["c", None]))
    for text, count in (("a", 300), ("b", 70_000), ("c", 1), ("d", 0)):
        sighting = state.find(states, hashes_of(pa.array([text]))[0])
        assert (sighting.lows[0], sighting.highs[0], bool(sighting.is_exact[0])) == (count, count, True)
        assert bool(sighting.maybe[0]) == (count > 0)
    totals = state.totals(states)
    assert (totals.values[0], totals.different[0]) == (70_301, 3)
    assert totals.chances[0] == 3 * 2.0**-64


ROWS_OF_CELLS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 300)), max_size=250)


@settings(max_examples=60, deadline=None)
@given(rows=ROWS_OF_CELLS, stated=st.sampled_from([1, 3, 30]), data=st.data())
def test_any_split_and_order_gives_equal_bytes_sparse_or_dense(
    rows: list[tuple[int, int]], stated: int, data: st.DataObject
) -> None:
    state = Seen(stated)

    def folded(own: Sequence[tuple[int, int]]) -> pa.Array:
        return fold(state, pa.array([value for _, value in own], pa.int64()), [cell for cell, _ in own], 3)

    whole = folded(rows)
    shuffled = data.draw(st.permutations(rows))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(rows)), max_size=5)))
    parts = [folded(shuffled[start:end]) for start, end in zip([0, *cuts], [*cuts, len(rows)], strict=True)]
    cells = frozen(np.tile(np.arange(3, dtype=np.int32), len(parts)))
    assert state.merge(pa.concat_arrays(parts), cells, 3).equals(whole)
    by_pairs = parts[0]
    for part in parts[1:]:
        by_pairs = state.merge(pa.concat_arrays([part, by_pairs]), frozen(cells[:6].copy()), 3)
    assert by_pairs.equals(whole)


@pytest.mark.parametrize("beyond", [-1, 0, 1, 2, 30, 400])
def test_the_form_depends_on_the_number_of_different_values_alone(beyond: int) -> None:
    state = Seen(30)
    count = state.shape.sparse_most + beyond
    whole = fold(state, numbers(0, count))
    assert whole[0].as_py()[2] & 15 == (DENSE if beyond > 0 else SPARSE)
    parts = [fold(state, numbers(first, min(7, count - first))) for first in range(0, count, 7)]
    repeated = [*parts, fold(state, numbers(0, 0)), *parts[::-1]]
    twice = fold(state, pa.concat_arrays([numbers(0, count), numbers(0, count)]))
    assert merge(state, parts).equals(whole)
    assert merge(state, repeated).equals(twice)
    assert merge(state, [whole, *parts]).equals(twice)


def test_cells_united_in_small_chunks_and_lists_have_the_same_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    state = Seen(50)
    drawn = np.random.default_rng(3)
    values, cells = pa.array(drawn.integers(0, 90, 3_000)), drawn.integers(0, 12, 3_000)
    parts = [fold(state, values.slice(at, 100), cells[at : at + 100], 12) for at in range(0, 3_000, 100)]
    places = frozen(np.tile(np.arange(12, dtype=np.int32), 30))
    whole = state.merge(pa.concat_arrays(parts), places, 12)
    monkeypatch.setattr(seen, "_CHUNK_WORDS", 16)
    monkeypatch.setattr(seen, "_LISTS_MOST", 2)
    assert state.merge(pa.concat_arrays(parts), places, 12).equals(whole)
    assert whole.equals(fold(state, values, cells, 12))


def mixed(word: int) -> int:
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & MASK
    return word ^ (word >> 31)


def places(hashed: int, state: Seen) -> list[int]:
    """Return the counters of a hash, as the module of the kernels describes them."""
    columns = state.shape.columns
    steps = [mixed((hashed + (row + 1) * 0x9E3779B97F4A7C15) & MASK) for row in range(ROWS)]
    return [row * columns + (((step >> 32) * columns) >> 32) for row, step in enumerate(steps)]


def read(content: bytes, state: Seen) -> dict[str, Any]:
    """Return the parts of a dense state."""
    words = list(struct.unpack(f"<{len(content) // 8}Q", content))
    width = 1 << ((words[0] >> 20) & 15)
    blocks = BLOCK_WORDS * state.shape.blocks
    packed = content[8 * (DENSE_HEAD + blocks) :]
    counters = [int.from_bytes(packed[at : at + width], "little") for at in range(0, len(packed), width)]
    return {"values": words[1], "blocks": words[DENSE_HEAD : DENSE_HEAD + blocks], "counters": counters}


def test_a_dense_state_is_that_of_its_description() -> None:
    state = Seen(100)
    counts = {value: value + 1 for value in range(120)}
    states = fold(state, pa.array([value for value, count in counts.items() for _ in range(count)]))
    blocks = [0] * (BLOCK_WORDS * state.shape.blocks)
    counters = [0] * (ROWS * state.shape.columns)
    for value, count in counts.items():
        hashed = int(hashes_of(pa.array([value]))[0])
        block = ((hashed >> 32) * state.shape.blocks) >> 32
        for turn in range(7):
            bit = (mixed(hashed) >> (9 * turn)) & 511
            blocks[BLOCK_WORDS * block + (bit >> 6)] |= 1 << (bit & 63)
        for place in places(hashed, state):
            counters[place] += count
    found = read(states[0].as_py(), state)
    assert found["values"] == sum(counts.values())
    assert found["blocks"] == blocks
    assert found["counters"][: len(counters)] == counters


@pytest.mark.parametrize(("count", "size"), [(1, 32), (5, 64), (100, 920)])
def test_a_small_cell_is_small_whatever_number_is_stated(count: int, size: int) -> None:
    assert len(fold(Seen(STATED_MAX), numbers(0, count))[0].as_py()) == size
    assert len(fold(Seen(1_000), numbers(0, count))[0].as_py()) == size


def test_a_dense_state_has_the_stated_size() -> None:
    state = Seen(10_000)
    least, most = state.dense_bytes
    assert len(fold(state, numbers(0, 10_000))[0].as_py()) == least
    deep = pa.array(np.repeat(np.arange(10_000), 300))
    assert least < len(fold(state, deep)[0].as_py()) < most


def test_cells_of_one_record_each_take_little_memory(full_size: bool) -> None:
    """Fold, and then merge, cells of one value each at the largest stated number."""
    count = 1_000_000 if full_size else 100_000
    state = Seen(STATED_MAX)
    column = numbers(0, count)
    states = fold(state, column, np.arange(count), count)
    assert states.nbytes <= 40 * count
    work = 400 * count
    assert peak_bytes(lambda: fold(state, column, np.arange(count), count)) <= work
    assert peak_bytes(lambda: merge(state, [states])[0]) <= work


def test_very_many_different_values_in_one_cell(full_size: bool) -> None:
    count, batch = (10_000_000 if full_size else 400_000), 200_000
    state = Seen(100_000)
    states = pa.array([], state.storage)
    for first in range(0, count, batch):
        states = merge(state, [*([states] if len(states) else []), fold(state, numbers(first, batch))])
    totals = state.totals(states)
    assert totals.values.tolist() == [count]
    assert len(states[0].as_py()) <= state.dense_bytes[1]
    assert all(state.find(states, hashed).maybe[0] for hashed in hashes_of(numbers(count - 500, 500)))


def test_one_value_a_million_times() -> None:
    state = Seen(1_000)
    states = fold(state, pa.array(np.zeros(1_000_000, dtype=np.int64)))
    assert len(states[0].as_py()) == 32
    for _ in range(20):
        states = merge(state, [states, states])
    assert state.answer(states).to_pylist() == [1_000_000 * 2**20]


@pytest.mark.parametrize("stated", [0, -1, STATED_MAX + 1])
def test_a_number_out_of_range_is_refused_with_the_size(stated: int) -> None:
    with pytest.raises(
        CubeError, match=r"is out of range: state 1 to 1,000,000 a cell, of which each cell takes 5\.4 to 33 MB"
    ) as caught:
        Seen(stated)
    assert "\n" not in str(caught.value)


def test_states_of_another_number_never_merge() -> None:
    for count in (3, 2_000):
        states = fold(Seen(1_000), numbers(0, count))
        with pytest.raises(CubeError, match="number of values of seen 1001: is merged with another number"):
            merge(Seen(1_001), [states])


@pytest.mark.parametrize("count", [3, 400])
def test_a_damaged_state_is_refused_or_read_without_harm(count: int) -> None:
    state = Seen(100)
    good = fold(state, numbers(0, count))[0].as_py()
    draw = random.Random(count)
    refused: list[str] = []
    for turn in range(600):
        bad = bytearray(good)
        if turn % 3 == 0:
            bad = bad[: draw.randrange(1, len(bad))]
        for _ in range(draw.randint(1, 4)):
            bad[draw.randrange(min(len(bad), 40))] = draw.randrange(256)
        states = pa.array([good, bytes(bad)], pa.binary())
        try:
            merge(state, [states.slice(0, 1), states.slice(1, 1)])
            state.find(states, np.uint64(7))
        except CubeError as error:
            refused.append(str(error))
    assert len(refused) > 300
    assert not any("\n" in text for text in refused)


def test_hashes_that_do_not_ascend_are_damage() -> None:
    state = Seen(100)
    good = fold(state, numbers(0, 3))[0].as_py()
    bad = good[:16] + good[24:32] + good[16:24] + good[32:]
    with pytest.raises(CubeError, match="state 'seen of 100 values': is damaged: restore a copy"):
        merge(state, [pa.array([bad], pa.binary())])


def test_states_of_more_bytes_than_an_array_has_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert seen._STATE_BYTES_MAX == 2**31 - 1
    monkeypatch.setattr(seen, "_STATE_BYTES_MAX", 63)
    with pytest.raises(CubeError, match="sets of values in bytes 64: group by fewer values"):
        fold(Seen(10), numbers(0, 5))
