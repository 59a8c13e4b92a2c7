"""What is measured of a sequence: what is refused, and constructs whose values are not known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from asc.errors import PlanError
from asc.plan.plan import Plan
from monitor.errors import MonitorError
from monitor.hybrid import hybrid_sequence
from monitor.statistics import Walk, conditional_selectivity, dropping_ratio, walked

if TYPE_CHECKING:
    from conftest import PlanOf, Sampled


def test_an_order_of_another_block_is_refused(three: Plan, sampled: Sampled, plan_of: PlanOf) -> None:
    block, sample = sampled(three, [1], [1], [1])
    other = plan_of({"a": 5}).blocks[0]
    with pytest.raises(PlanError, match=r"order of constructs and rows \(1, 0\): the block has 3 constructs"):
        walked(block, sample, other.order)


@pytest.mark.parametrize("constructs", [(0, 0), (0, 3), (-1,)])
def test_a_prefix_of_what_is_not_there_is_refused(three: Plan, constructs: tuple[int, ...], sampled: Sampled) -> None:
    block, sample = sampled(three, [1], [1], [1])
    with pytest.raises(MonitorError, match="different ones out of the block's 3"):
        dropping_ratio(block, sample, constructs)
    with pytest.raises(MonitorError, match="different ones"):
        conditional_selectivity(block, sample, constructs[:-1], constructs[-1])


def test_a_construct_that_is_not_known_rules_nothing_out(three: Plan, sampled: Sampled) -> None:
    block, all_known = sampled(three, [0], [9], [0])
    assert walked(block, all_known, block.order_of((0, 1, 2))) == Walk(1, 1, 3, 0, 2)
    block, sample = sampled(three, [0], [9], [0], known=[1])
    assert walked(block, sample, block.order_of((0, 1, 2))) == Walk(1, 0, 3, 0, 2)
    assert dropping_ratio(block, sample, (0, 1, 2)) == 0
    assert hybrid_sequence(block, sample, (0, 1, 2), 1).micro_arrows == ()
