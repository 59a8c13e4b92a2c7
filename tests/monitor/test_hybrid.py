"""The search for micro-arrows where there is little to find, and what it refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from asc.errors import PlanError
from asc.plan.plan import Plan
from monitor.errors import MonitorError
from monitor.hybrid import hybrid_sequence
from monitor.macro import macro_sequence
from monitor.statistics import Walk, walked

if TYPE_CHECKING:
    from conftest import Sampled


@pytest.mark.parametrize("sequence", [(), (0, 1), (0, 1, 1), (0, 1, 3), (0, 1, 2, 0), (-1, 0, 1)])
def test_a_sequence_that_is_no_permutation_is_refused(three: Plan, sequence: tuple[int, ...], sampled: Sampled) -> None:
    block, sample = sampled(three, [1], [1], [1])
    with pytest.raises(PlanError, match=r"sequence .* a permutation of the block's 3 constructs"):
        hybrid_sequence(block, sample, sequence)


@pytest.mark.parametrize("min_visitors", [0, -1])
def test_at_least_one_visitor(three: Plan, min_visitors: int, sampled: Sampled) -> None:
    block, sample = sampled(three, [1], [1], [1])
    with pytest.raises(MonitorError, match="least number of visitors"):
        hybrid_sequence(block, sample, (0, 1, 2), min_visitors)


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (([0] * 50, [0] * 50, [0] * 50), Walk(50, 50, 50, 0, 0)),
        (([9] * 50, [9] * 50, [9] * 50), Walk(50, 0, 150, 0, 100)),
        (([None] * 50, [None] * 50, [None] * 50), Walk(50, 50, 50, 0, 0)),
    ],
    ids=["nothing matches", "everything matches", "all NULL"],
)
def test_constant_columns(three: Plan, columns: tuple[list[int | None], ...], expected: Walk, sampled: Sampled) -> None:
    """As b alone covers both conjuncts it comes first, and where it drops every tuple the cost is 1."""
    block, sample = sampled(three, *columns)
    found = macro_sequence(block, sample)
    assert found.sequence == (1, 0, 2)
    hybrid = hybrid_sequence(block, sample, found.sequence, 1)
    assert hybrid.micro_arrows == ()
    assert walked(block, sample, hybrid.order) == expected
    assert walked(block, sample, block.order_of(found.sequence)).micro_ratio == 0
