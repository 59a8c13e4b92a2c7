"""The search for a macro-sequence on samples that say little: unknown, constant, all NULL, nothing left."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from asc.plan.block import static_sequence
from asc.plan.plan import Plan
from monitor.errors import MonitorError
from monitor.hybrid import hybrid_sequence
from monitor.macro import MacroSearch, macro_sequence
from monitor.statistics import Walk, conditional_selectivity, walked

if TYPE_CHECKING:
    from conftest import PlanOf, Sampled


def test_a_search_that_is_not_done_or_done_already(three: Plan, sampled: Sampled) -> None:
    block, sample = sampled(three, [1], [1], [1])
    search = MacroSearch(block)
    with pytest.raises(MonitorError, match="constructs in sequence 0: 3 are needed"):
        search.result()
    search.step(sample)
    search.step(sample)
    assert search.done
    with pytest.raises(MonitorError, match="the sequence is complete"):
        search.step(sample)


def test_an_attribute_that_is_all_null_and_one_that_is_constant(three: Plan, sampled: Sampled) -> None:
    """NULL in c fails one conjunct of every tuple; a admits every tuple, so it is the last to ask."""
    block, sample = sampled(three, [9] * 4, [1, 4, 9, 9], [None] * 4)
    assert macro_sequence(block, sample).sequence == (2, 1, 0)
    assert walked(block, sample, block.order_of((2, 1, 0))).evaluated == 2 + 2 + 3 + 3


def test_constructs_not_known_come_last_in_static_order(three: Plan, sampled: Sampled) -> None:
    block, sample = sampled(three, [0, 9], [0, 9], [0, 9], known=[2])
    unknown = [construct for construct in static_sequence(block) if construct != 2]
    assert macro_sequence(block, sample).sequence == (2, *unknown)
    assert all(step.measure is None for step in macro_sequence(block, sample).steps)
    nothing = sampled(three, [0], [0], [0], known=[])[1]
    assert list(macro_sequence(block, nothing).sequence) == static_sequence(block)
    with pytest.raises(MonitorError, match="construct 0: its values were not sampled"):
        conditional_selectivity(block, sample, (), 0)


def test_a_period_that_knows_less_leaves_the_construct_to_the_end(three: Plan, sampled: Sampled) -> None:
    search = MacroSearch(three.blocks[0])
    search.step(sampled(three, [9], [0], [9])[1])
    search.step(sampled(three, [0], [0], [0], known=[1, 2])[1])
    assert search.result().sequence == (1, 2, 0)


def test_where_the_known_constructs_cover_only_a_part(three: Plan, sampled: Sampled) -> None:
    """What b would add is not known: a and c are compared by the conjuncts as they stand, and b comes last."""
    block, sample = sampled(three, [0, 9, 9], [0, 0, 0], [0, 0, 9], known=[0, 2])
    found = macro_sequence(block, sample)
    assert found.sequence == (2, 0, 1)
    assert found.steps[0].value == (1 + 1 + 2) / 6


def test_conjuncts_without_constraints_are_covered_by_nothing(sampled: Sampled, plan_of: PlanOf) -> None:
    """The compiler makes none (a predicate that admits everything is match-all); such a bit is left in every GRB."""
    plan = plan_of({"a": 5, "b": 5}, {})
    block, sample = sampled(plan, [0, 9, 0], [9, 0, 0])
    found = macro_sequence(block, sample)
    assert sorted(found.sequence) == [0, 1]
    assert walked(block, sample, block.order_of(found.sequence)).dropped == 0
    assert hybrid_sequence(block, sample, found.sequence, 1).micro_arrows == ()


def test_one_construct_needs_no_step(sampled: Sampled, plan_of: PlanOf) -> None:
    plan = plan_of({"a": 5})
    assert MacroSearch(plan.blocks[0]).done
    block, sample = sampled(plan, [3, 9])
    assert macro_sequence(block, sample).sequence == (0,)
    assert hybrid_sequence(block, sample, (0,), 1).micro_arrows == ()


def test_a_block_whose_queries_are_all_gone_drops_every_tuple_at_no_cost(three: Plan, sampled: Sampled) -> None:
    block = three.blocks[0].without(np.array([0, 1], dtype=np.int32))
    sample = sampled(three, [9], [9], [9])[1]
    assert sorted(macro_sequence(block, sample).sequence) == [0, 1, 2]
    assert walked(block, sample, block.order_of((0, 1, 2))) == Walk(1, 1, 0, 0, 0)
    assert hybrid_sequence(block, sample, (0, 1, 2), 1).micro_arrows == ()
