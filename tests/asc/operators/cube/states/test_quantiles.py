"""KLL sketches: every value counts, the identity of states, and damage of their bytes."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import datasketches
import numpy as np
import pyarrow as pa
import pytest

from asc.errors import CubeError
from asc.frozen import frozen
from asc.operators.cube.states.quantile_answers import summaries
from asc.operators.cube.states.quantiles import K_LEAST, K_MOST, Quantiles


def folded(column: pa.Array, state: Quantiles | None = None) -> pa.Array:
    """Return the sketch of all values of a column, as one cell."""
    state = state or Quantiles()
    count = len(column)
    return state.fold(state.values(column), frozen(np.arange(count)), frozen(np.zeros(count, dtype=np.int32)), 1)


def merged(states: Sequence[pa.Array], state: Quantiles | None = None) -> pa.Array:
    """Return the merged sketches of one cell each."""
    cells = frozen(np.zeros(len(states), dtype=np.int32))
    return (state or Quantiles()).merge(pa.concat_arrays(states), cells, 1)


def test_every_value_counts_and_nan_and_null_do_not() -> None:
    column = pa.array([2.5, None, math.nan, 2.5, -math.inf, math.inf, -0.0, 0.0])
    (row,) = summaries(Quantiles(), folded(column)).to_pylist()
    assert (row["count"], row["min"], row["max"], row["estimate"]) == (6, -math.inf, math.inf, 0.0)
    assert math.copysign(1, row["estimate"]) == 1.0
    assert folded(pa.array([math.nan, None], pa.float64())).null_count == 1


@pytest.mark.parametrize("k", [20, 21, 200, 4_000])
@pytest.mark.parametrize("size", [1, 2, 19, 21, 200, 201, 5_000])
def test_what_the_library_writes_is_sound(k: int, size: int) -> None:
    state, draw = Quantiles(k), np.random.default_rng(size)
    states = [folded(pa.array(draw.normal(size=size)), state) for _ in range(20)]
    whole = merged(states, state)
    for each in (*states, whole, merged([whole] * 9, state)):
        state.checked(each)
    assert summaries(state, whole)[0]["count"].as_py() == 20 * size
    sketch = datasketches.kll_doubles_sketch.deserialize(whole[0].as_py())
    assert (sketch.k, sketch.n) == (k, 20 * size)


@pytest.mark.parametrize("k", [K_LEAST - 1, K_MOST + 1])
def test_another_k_is_refused(k: int) -> None:
    with pytest.raises(CubeError, match=f"k {k}: is out of range: give 20 to 4,000"):
        Quantiles(k)


def test_states_of_unequal_k_never_merge() -> None:
    states = [folded(pa.array([1.0]), Quantiles(200)), folded(pa.array([1.0]), Quantiles(201))]
    with pytest.raises(CubeError, match="quantiles with k 200: are merged with another k"):
        merged(states, Quantiles(200))


@pytest.mark.parametrize("size", [1, 2, 30, 200, 900, 60_000])
def test_no_damage_reaches_the_library(size: int) -> None:
    """Whatever a byte becomes, a state is refused, or is a sketch that the library reads, merges and asks."""
    state, draw = Quantiles(20), random.Random(size)
    content = folded(pa.array(np.random.default_rng(0).normal(size=size)), state)[0].as_py()
    head = 20 + 4 * content[18] + 16 if size > 1 else 8
    refused = 0
    for trial in range(600):
        damaged = bytearray(content)
        place = trial if trial < head else draw.randrange(min(head, len(content)))
        damaged[place] = draw.randrange(256)
        if trial % 5 == 0:
            damaged[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
        if trial % 7 == 0:
            damaged = damaged[: draw.randrange(len(damaged))] or bytearray(b"\0")
        if trial % 11 == 0:
            damaged += draw.randbytes(draw.randint(1, 9))
        array = pa.array([content, bytes(damaged), content], pa.binary())
        try:
            merge = state.merge(array, frozen(np.zeros(3, dtype=np.int32)), 1)
        except CubeError:
            refused += 1
            continue
        summaries(state, merge)
    assert refused > 400


@pytest.mark.parametrize("seed", range(20))
def test_random_levels_are_refused(seed: int) -> None:
    draw = random.Random(seed)
    levels = draw.choice([1, 2, 30, 60, 61, 62, 200, 255])
    head = bytes([5, 1, 15, 0, 20, 0, 8, 0, *draw.randbytes(8), 20, 0, levels, 0])
    with pytest.raises(CubeError, match="damaged"):
        Quantiles(20).checked(pa.array([head + draw.randbytes(draw.randrange(2_000))], pa.binary()))
