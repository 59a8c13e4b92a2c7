"""What is known of each block: kept while its conjuncts are, whatever its number; nothing of one that changed."""

from __future__ import annotations

import numpy as np
import pytest

from asc.plan.compiler import change_plan, compile_plan
from asc.plan.plan import CompileOptions, Plan
from broker.config.sections import MonitorConfig
from broker.matching.tally import Tally
from broker.monitoring.block_states import BlockStates
from monitor.adaptation import Figures, Trigger
from monitor.macro import MacroSearch
from monitor.measures import ConstructMeasure
from workloads.synthetic import d1_workload

BLOCKS = CompileOptions(exact_bytes=0, block_conjuncts=64, bounded_rows=0, rebuild_share=1.0)
PLAN = compile_plan(d1_workload(200, seed=9).standing_queries(), BLOCKS)
SETTINGS = MonitorConfig(lambda_tuples=1_000, sample_tuples=100, mu=0.5)
KNOWN = Figures(dropping_ratio=0.5, cost=4.0)


def tally(tuples: int, dropped: int, evaluated: int, blocks: int = len(PLAN.blocks)) -> Tally:
    """The same counts in each block."""
    return Tally(1, tuples, 0, np.full(blocks, dropped), np.full(blocks, evaluated), None)


def ids_of_block(plan: Plan, number: int) -> list[str]:
    owners = set(plan.blocks[number].table.owner.tolist()) - {-1}
    return sorted(plan.query_ids[int(plan.ranks[owner])].as_py() for owner in owners)


@pytest.fixture
def states() -> BlockStates:
    """Of the plan, each block measured."""
    found = BlockStates()
    found.follow(PLAN, SETTINGS)
    for state in found:
        state.put_in_place(KNOWN)
    return found


def test_nothing_is_measured_before_a_plan_was_followed_and_all_of_one_without_blocks() -> None:
    states = BlockStates()
    assert (states.is_measured, states.is_searching, list(states), states.due()) == (False, False, [], [])
    states.follow(compile_plan(()), SETTINGS)
    assert (states.is_measured, list(states)) == (True, [])
    states.follow(PLAN, SETTINGS)
    assert not states.is_measured
    assert [state.matrix is block.matrix for state, block in zip(states, PLAN.blocks, strict=True)] == [True] * 4


def test_the_plan_itself_in_another_order_and_of_another_version_keeps_every_state(states: BlockStates) -> None:
    before = list(states)
    block = PLAN.blocks[1]
    other = PLAN.with_orders({1: block.order_of(block.sequence.tolist()[::-1])})
    for plan in (PLAN, other, change_plan(other, version=9)):
        states.follow(plan, SETTINGS)
        assert all(state is own for state, own in zip(states, before, strict=True))
    assert states.is_measured


def test_the_states_of_blocks_that_are_left_move_with_their_numbers(states: BlockStates) -> None:
    before = list(states)
    plan = change_plan(PLAN, remove=ids_of_block(PLAN, 1))
    assert len(plan.blocks) == len(before) - 1
    states.follow(plan, SETTINGS)
    assert all(state is own for state, own in zip(states, [before[0], *before[2:]], strict=True))
    assert states.is_measured


def test_of_a_block_that_changed_nothing_is_known(states: BlockStates) -> None:
    before = list(states)
    states.follow(change_plan(PLAN, remove=ids_of_block(PLAN, 2)[:1]), SETTINGS)
    assert [state is own for state, own in zip(states, before, strict=True)] == [True, True, False, True]
    assert [state.figures for state in states] == [KNOWN, KNOWN, None, KNOWN]
    assert not states.is_measured


def test_a_block_without_figures_is_due_after_a_sample_and_one_with_them_after_lambda(states: BlockStates) -> None:
    states.follow(change_plan(PLAN, remove=ids_of_block(PLAN, 2)[:1]), SETTINGS)
    states.count(tally(99, 0, 0), SETTINGS)
    assert states.due() == []
    states.count(tally(1, 0, 0), SETTINGS)
    ((number, state),) = states.due()
    assert (number, state.cause and state.cause.trigger) == (2, Trigger.UNMEASURED)
    states.count(tally(899, 0, 0), SETTINGS)
    assert [number for number, _ in states.due()] == [2]
    states.count(tally(1, 0, 0), SETTINGS)
    assert [number for number, _ in states.due()] == [0, 1, 2, 3]


def test_a_sample_larger_than_lambda_is_not_waited_for() -> None:
    settings = MonitorConfig(lambda_tuples=50, sample_tuples=100)
    states = BlockStates()
    states.follow(PLAN, settings)
    states.count(tally(50, 0, 0), settings)
    assert len(states.due()) == len(PLAN.blocks)


def test_what_called_first_is_told_until_another_sequence_is_in_place(states: BlockStates) -> None:
    states.count(tally(1_000, 1_000, 4_000), SETTINGS)
    first = [state.cause for _, state in states.due()]
    assert [change and change.trigger for change in first] == [Trigger.DROPPING_RATIO] * 4
    # The dropping ratio is as before, the cost is not; what called is what is told all the same.
    states.count(tally(1_000, 500, 9_000), SETTINGS)
    assert [state.cause for _, state in states.due()] == first
    assert not states.is_measured
    for _, state in states.due():
        state.put_in_place(KNOWN)
    assert (states.is_measured, states.due()) == (True, [])
    states.count(tally(1_000, 500, 9_000), SETTINGS)
    assert [state.cause and state.cause.trigger for _, state in states.due()] == [Trigger.COST] * 4


@pytest.mark.parametrize(("triggers", "due"), [((), 0), (("cost",), 0), (("dropping_ratio",), 4)])
def test_only_what_is_looked_at_calls(states: BlockStates, triggers: tuple[str, ...], due: int) -> None:
    settings = MonitorConfig.model_validate({**SETTINGS.model_dump(), "triggers": list(triggers)})
    states.count(tally(1_000, 1_000, 4_000), settings)
    assert len(states.due()) == due


def test_a_search_lasts_until_its_sequence_is_in_place(states: BlockStates) -> None:
    state = list(states)[1]
    state.search = MacroSearch(PLAN.blocks[1])
    assert states.is_searching
    state.put_in_place(KNOWN)
    assert not states.is_searching


def test_a_block_put_in_place_without_figures_is_measured_at_the_next_look(states: BlockStates) -> None:
    list(states)[3].put_in_place(None)
    assert not states.is_measured
    states.count(tally(100, 50, 400), SETTINGS)
    assert [number for number, _ in states.due()] == [3]


def test_what_was_measured_of_constructs_goes_with_the_sequence(states: BlockStates) -> None:
    first = next(iter(states))
    own = (ConstructMeasure(0, 0.25, 0.0),)
    first.put_in_place(KNOWN, own)
    assert first.measured == own
    first.put_in_place(KNOWN)
    assert first.measured == ()
