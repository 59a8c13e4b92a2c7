"""Sketches of distinct values: one form for one set of values, that of Apache DataSketches, and damage."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import Any

import datasketches
import numpy as np
import pyarrow as pa
import pytest

from asc.errors import CubeError
from asc.frozen import frozen
from asc.operators.cube.states.distinct import LG_K_LEAST, LG_K_MOST, Distinct
from asc.operators.cube.states.distinct_answers import estimates

SIZES = (1, 7, 8, 24, 25, 100, 384, 385, 400, 3_000, 40_000)
"""Around the sizes at which a sketch takes another form, for several ``lg_k``."""


def folded(column: pa.Array, state: Distinct | None = None) -> pa.Array:
    """Return the sketch of all values of a column, as one cell."""
    state = state or Distinct()
    count = len(column)
    return state.fold(state.values(column), frozen(np.arange(count)), frozen(np.zeros(count, dtype=np.int32)), 1)


def merged(states: Sequence[pa.Array], state: Distinct | None = None) -> pa.Array:
    """Return the union of sketches of one cell each."""
    cells = frozen(np.zeros(len(states), dtype=np.int32))
    return (state or Distinct()).merge(pa.concat_arrays(states), cells, 1)


def of_library(values: Sequence[Any], lg_k: int = 12) -> Any:
    """Return the sketch that the library makes of values, united with itself."""
    sketch = datasketches.hll_sketch(lg_k, datasketches.tgt_hll_type.HLL_4)
    for value in values:
        sketch.update(value)
    union = datasketches.hll_union(lg_k)
    union.update(sketch)
    union.update(sketch)
    return union.get_result(datasketches.tgt_hll_type.HLL_4)


def parts_of(content: bytes) -> tuple[bytes, list[bytes]]:
    """Return a stored sketch without its coupons or exceptions, and these, which the library has in any order."""
    start = {2: 8, 3: 12, 10: 40 + (1 << content[3]) // 2}[content[0]]
    return content[:start], sorted(content[at : at + 4] for at in range(start, len(content), 4))


@pytest.mark.parametrize("lg_k", [8, 11, 12, 13, 14, 16])
@pytest.mark.parametrize("size", SIZES)
def test_a_state_is_the_sketch_of_the_library(lg_k: int, size: int) -> None:
    columns: list[tuple[pa.Array, list[Any]]] = [
        (pa.array(range(size), pa.int64()), list(range(size))),
        (pa.array(texts := [f"ключ {place}" * (place % 5 + 1) for place in range(size)]), texts),
        (pa.array(doubles := [place * 0.37 - 5 for place in range(size)]), doubles),
    ]
    for column, values in columns:
        state = folded(column, Distinct(lg_k))[0].as_py()
        expected = of_library(values, lg_k)
        assert parts_of(state) == parts_of(expected.serialize_compact())
        read = datasketches.hll_sketch.deserialize(state)
        assert read.get_estimate() == expected.get_estimate()
        for sigmas in (1, 2, 3):
            assert read.get_lower_bound(sigmas) == expected.get_lower_bound(sigmas)
            assert read.get_upper_bound(sigmas) == expected.get_upper_bound(sigmas)


def test_registers_with_exceptions_are_those_of_the_library() -> None:
    """Some registers of 40,000 values exceed the least register by more than four bits can express."""
    column = pa.array(np.arange(40_000))
    state = folded(column, Distinct(13))[0].as_py()
    assert len(state) > 40 + 4_096
    assert parts_of(state) == parts_of(of_library(column.to_pylist(), 13).serialize_compact())


@pytest.mark.parametrize("size", [400, 127_000])
def test_any_split_has_one_answer(size: int) -> None:
    values = [f"user-{place}" for place in range(size)]
    draw = random.Random(size)
    whole = folded(pa.array(values))
    for _ in range(40 if size < 1_000 else 4):
        draw.shuffle(values)
        cuts = sorted(draw.randrange(size) for _ in range(draw.randint(1, 9)))
        parts = [values[start:stop] for start, stop in zip([0, *cuts], [*cuts, size], strict=True)]
        # A part in two shards, or in a batch that is folded again, changes nothing.
        parts.append(parts[0])
        states = [folded(pa.array(part, pa.string())) for part in parts]
        one_by_one = states[0]
        for state in states[1:]:
            one_by_one = merged([state, one_by_one])
        assert merged(states).equals(whole)
        assert one_by_one.equals(whole)
    low, estimate, high = (estimates(Distinct(), whole).field(name)[0].as_py() for name in ("low", "estimate", "high"))
    assert low <= estimate <= high
    assert abs(estimate - size) <= 0.04 * size


@pytest.mark.parametrize(
    ("column", "same"),
    [
        (pa.array([True, False, True]), pa.array([1, 0], pa.int64())),
        (pa.array([date(2026, 1, 2)]), pa.array([20_455], pa.int64())),
        (pa.array([datetime(1970, 1, 1, 0, 0, 1, tzinfo=timezone.utc)], pa.timestamp("us", "UTC")), pa.array([10**6])),
        (pa.array([0.0, -0.0, float("nan"), -float("nan")]), pa.array([0.0, float("nan")], pa.float32())),
        (pa.array(["a", "é", ""]), pa.array([b"a", "é".encode(), b""])),
        (pa.array([Decimal("1.50")], pa.decimal128(9, 2)), pa.array([Decimal("1.50")], pa.decimal128(38, 2))),
        (pa.array([7, None], pa.int8()), pa.array([7], pa.int64())),
    ],
)
def test_equal_values_of_different_types_have_equal_states(column: pa.Array, same: pa.Array) -> None:
    assert folded(column).equals(folded(same))


def test_without_values_there_is_no_state_and_no_value() -> None:
    nothing = folded(pa.array([None, None], pa.string()))
    assert nothing.null_count == 1
    assert estimates(Distinct(), nothing)[0].as_py() == {"estimate": 0, "low": 0, "high": 0, "confidence": 0.9545}


@pytest.mark.parametrize("lg_k", [LG_K_LEAST - 1, LG_K_MOST + 1])
def test_another_lg_k_is_refused(lg_k: int) -> None:
    with pytest.raises(CubeError, match=f"lg_k {lg_k}: is out of range: give 8 to 16"):
        Distinct(lg_k)


def test_states_of_unequal_lg_k_never_merge() -> None:
    states = [folded(pa.array([1]), Distinct(12)), folded(pa.array([1]), Distinct(13))]
    with pytest.raises(CubeError, match="distinct with lg_k 12: is merged with another lg_k"):
        merged(states, Distinct(12))


@pytest.mark.parametrize("size", [1, 7, 30, 384, 2_000, 300_000])
def test_no_damage_reaches_the_library(size: int) -> None:
    """Whatever a byte becomes, a state is refused, or is a state of other values, which the library reads."""
    state, draw = Distinct(8 if size > 2_000 else 12), random.Random(size)
    content = folded(pa.array(np.arange(size)), state)[0].as_py()
    assert estimates(state, pa.array([content], pa.binary()))[0].as_py()["estimate"] > 0
    refused = 0
    for trial in range(400):
        damaged = bytearray(content)
        place = trial if trial < 48 and trial < len(content) else draw.randrange(len(content))
        damaged[place] ^= 1 << draw.randrange(8)
        if trial % 7 == 0:
            damaged = damaged[: draw.randrange(len(damaged))] or bytearray(b"\0")
        if trial % 11 == 0:
            damaged += draw.randbytes(draw.randint(1, 9))
        array = pa.array([bytes(damaged), content], pa.binary())
        try:
            merge = state.merge(array, frozen(np.zeros(2, dtype=np.int32)), 1)
        except CubeError:
            refused += 1
            continue
        estimates(state, merge)
    assert refused >= 150


@pytest.mark.parametrize("seed", range(20))
def test_random_bytes_are_refused(seed: int) -> None:
    draw, state = random.Random(seed), Distinct(8)
    for mode in (0, 1, 2):
        content = bytearray(draw.randbytes(draw.randint(1, 300)))
        head = bytes([(2, 3, 10)[mode], 1, 7, 8, draw.randrange(9), draw.choice([8, 24]), draw.randrange(8), mode])
        content[:8] = head
        with pytest.raises(CubeError, match="damaged"):
            state.check_states(pa.array([bytes(content)], pa.binary()))
