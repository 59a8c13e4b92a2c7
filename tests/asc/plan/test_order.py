"""Orders: what is none is refused, once; what is one is held as the kernels read it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asc.errors import PlanError
from asc.plan.order import Order

BASES = np.array([1, 6, 11], dtype=np.int32)
ROWS = 16
"""Three constructs of three regions each, and NULL's."""

arrows = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 2)), max_size=12)


@given(st.permutations(range(3)), arrows)
def test_arrows_stand_in_the_rows_of_their_regions(sequence: list[int], drawn: list[tuple[int, int, int]]) -> None:
    order = Order.of(BASES, ROWS, sequence, drawn)
    assert order.sequence.tolist() == sequence
    expected = {int(BASES[construct]) + 1 + region: target for construct, region, target in drawn}
    assert {row: int(order.arrows[row]) for row in np.flatnonzero(order.arrows >= 0)} == expected
    assert order.arrow_count == len(expected)
    assert len(order.arrows) == (ROWS if drawn else 0)
    assert not order.sequence.flags.writeable
    assert not order.arrows.flags.writeable
    assert order.macro.sequence is order.sequence
    assert len(order.macro.arrows) == 0


@pytest.mark.parametrize("sequence", [(), (0, 1), (0, 1, 1), (0, 1, 3), (0, 1, 2, 0), (-1, 0, 1)])
def test_a_sequence_that_is_no_permutation_is_refused(sequence: tuple[int, ...]) -> None:
    with pytest.raises(PlanError, match=r"sequence .*: a permutation of the block's 3 constructs"):
        Order.of(BASES, ROWS, sequence)


@pytest.mark.parametrize("arrow", [(0, 4, 1), (0, -1, 1), (0, 0, 3), (0, 0, -1), (3, 0, 0), (-1, 0, 0)])
def test_micro_arrows_from_or_to_nowhere_are_refused(arrow: tuple[int, int, int]) -> None:
    with pytest.raises(PlanError, match="micro-arrow"):
        Order.of(BASES, ROWS, (0, 1, 2), [arrow])


def test_constructs_gained_come_last_without_arrows() -> None:
    bare = Order.of(BASES, ROWS, (2, 0, 1)).with_constructs(2, 10)
    assert (bare.sequence.tolist(), len(bare.arrows)) == ([2, 0, 1, 3, 4], 0)
    led = Order.of(BASES, ROWS, (2, 0, 1), [(0, 3, 2)]).with_constructs(2, 10)
    assert (len(led.arrows), led.arrow_count, led.arrows[5]) == (ROWS + 10, 1, 2)
