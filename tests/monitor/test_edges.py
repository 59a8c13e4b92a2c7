"""Bad input, and samples that say little: without tuples, nothing or everything matching, constant or NULL columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
import pytest

from asc.errors import PlanError
from asc.evaluation.regions import region_ids
from asc.keys.attribute import PAttribute
from asc.keys.constraint import Constraint
from asc.plan.block import Block, static_sequence
from asc.plan.compiler import compile_plan
from asc.plan.plan import Plan, Query
from asc.predicate.normal_form import Conjunct, Predicate
from monitor.errors import MonitorError
from monitor.hybrid import hybrid_sequence
from monitor.macro import MacroSearch, macro_sequence
from monitor.sample import Sample
from monitor.statistics import Walk, conditional_selectivity, costs_of, dropping_ratio, walked

A, B, C = (PAttribute(name, pa.int32(), (name,)) for name in "abc")
SampleOf = Callable[[Sequence[str]], Sample]


def over(attribute: PAttribute, low: int) -> tuple[PAttribute, Constraint]:
    return attribute, Constraint((((low, 1), None),))


def plan_of(*conjuncts: Conjunct) -> Plan:
    return compile_plan([Query(f"q{i}", Predicate("", (conjunct,))) for i, conjunct in enumerate(conjuncts)])


def sampled(plan: Plan, *columns: Sequence[int | None], known: Sequence[int] | None = None) -> tuple[Block, Sample]:
    arrays = [pa.array(column, pa.int32()) for column in columns]
    return plan.blocks[0], Sample.of(plan.blocks[0], region_ids(plan, arrays, len(arrays[0])), known)


@pytest.fixture(scope="module")
def three() -> Plan:
    """Three constructs; a and b are a cover set, c alone covers one conjunct."""
    return plan_of((over(A, 5), over(B, 5)), (over(B, 3), over(C, 7)))


MEASURES: list[Callable[[Block, Sample], object]] = [
    lambda block, sample: walked(block, sample, block.order_of((0, 1, 2))),
    lambda block, sample: costs_of(block, sample, block.order_of((0, 1, 2))),
    lambda block, sample: dropping_ratio(block, sample, (0, 1)),
    lambda block, sample: conditional_selectivity(block, sample, (), 0),
    macro_sequence,
    lambda block, sample: MacroSearch(block).step(sample),
    lambda block, sample: hybrid_sequence(block, sample, (0, 1, 2)),
]


@pytest.mark.parametrize("measure", MEASURES)
def test_a_sample_without_tuples_cannot_be_measured(three: Plan, measure: Callable[[Block, Sample], object]) -> None:
    block, sample = sampled(three, [], [], [])
    assert len(sample) == 0
    with pytest.raises(MonitorError, match="tuples in the sample 0: nothing can be measured"):
        measure(block, sample)


@pytest.mark.parametrize("measure", MEASURES)
def test_a_sample_of_another_block_is_refused(three: Plan, measure: Callable[[Block, Sample], object]) -> None:
    other = plan_of((over(A, 5), over(B, 5)), (over(B, 5), over(C, 7)))
    with pytest.raises(MonitorError, match="regions of the sample"):
        measure(three.blocks[0], sampled(other, [1], [1], [1])[1])


def test_region_ids_that_do_not_fit_are_refused(three: Plan) -> None:
    block = three.blocks[0]
    with pytest.raises(MonitorError, match=r"shape of region ids \(2, 4\)"):
        Sample.of(block, np.zeros((2, 4), dtype=np.uint16))
    with pytest.raises(MonitorError, match="region 9: construct 0 has 3 and NULL's"):
        Sample.of(block, np.full((3, 4), 9, dtype=np.uint16))


@pytest.mark.parametrize("sequence", [(), (0, 1), (0, 1, 1), (0, 1, 3), (0, 1, 2, 0), (-1, 0, 1)])
def test_a_sequence_that_is_no_permutation_is_refused(three: Plan, sequence: tuple[int, ...]) -> None:
    block, sample = sampled(three, [1], [1], [1])
    with pytest.raises(PlanError, match=r"sequence .* a permutation of the block's 3 constructs"):
        hybrid_sequence(block, sample, sequence)


def test_an_order_of_another_block_is_refused(three: Plan) -> None:
    block, sample = sampled(three, [1], [1], [1])
    other = plan_of((over(A, 5),)).blocks[0]
    with pytest.raises(PlanError, match=r"order of constructs and rows \(1, 0\): the block has 3 constructs"):
        walked(block, sample, other.order)


@pytest.mark.parametrize("constructs", [(0, 0), (0, 3), (-1,)])
def test_a_prefix_of_what_is_not_there_is_refused(three: Plan, constructs: tuple[int, ...]) -> None:
    block, sample = sampled(three, [1], [1], [1])
    with pytest.raises(MonitorError, match="different ones out of the block's 3"):
        dropping_ratio(block, sample, constructs)
    with pytest.raises(MonitorError, match="different ones"):
        conditional_selectivity(block, sample, constructs[:-1], constructs[-1])


@pytest.mark.parametrize("min_visitors", [0, -1])
def test_at_least_one_visitor(three: Plan, min_visitors: int) -> None:
    block, sample = sampled(three, [1], [1], [1])
    with pytest.raises(MonitorError, match="least number of visitors"):
        hybrid_sequence(block, sample, (0, 1, 2), min_visitors)


def test_a_search_that_is_not_done_or_done_already(three: Plan) -> None:
    block, sample = sampled(three, [1], [1], [1])
    search = MacroSearch(block)
    with pytest.raises(MonitorError, match="constructs in sequence 0: 3 are needed"):
        search.result()
    search.step(sample)
    search.step(sample)
    assert search.done
    with pytest.raises(MonitorError, match="the sequence is complete"):
        search.step(sample)


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (([0] * 50, [0] * 50, [0] * 50), Walk(50, 50, 50, 0, 0)),
        (([9] * 50, [9] * 50, [9] * 50), Walk(50, 0, 150, 0, 100)),
        (([None] * 50, [None] * 50, [None] * 50), Walk(50, 50, 50, 0, 0)),
    ],
    ids=["nothing matches", "everything matches", "all NULL"],
)
def test_constant_columns(three: Plan, columns: tuple[list[int | None], ...], expected: Walk) -> None:
    """As b alone covers both conjuncts it comes first, and where it drops every tuple the cost is 1."""
    block, sample = sampled(three, *columns)
    found = macro_sequence(block, sample)
    assert found.sequence == (1, 0, 2)
    hybrid = hybrid_sequence(block, sample, found.sequence, 1)
    assert hybrid.micro_arrows == ()
    assert walked(block, sample, hybrid.order) == expected
    assert walked(block, sample, block.order_of(found.sequence)).micro_ratio == 0


def test_an_attribute_that_is_all_null_and_one_that_is_constant(three: Plan) -> None:
    """NULL in c fails one conjunct of every tuple; a admits every tuple, so it is the last to ask."""
    block, sample = sampled(three, [9] * 4, [1, 4, 9, 9], [None] * 4)
    assert macro_sequence(block, sample).sequence == (2, 1, 0)
    assert walked(block, sample, block.order_of((2, 1, 0))).evaluated == 2 + 2 + 3 + 3


def test_constructs_not_known_come_last_in_static_order(three: Plan) -> None:
    block, sample = sampled(three, [0, 9], [0, 9], [0, 9], known=[2])
    unknown = [construct for construct in static_sequence(block) if construct != 2]
    assert macro_sequence(block, sample).sequence == (2, *unknown)
    assert all(step.measure is None for step in macro_sequence(block, sample).steps)
    nothing = sampled(three, [0], [0], [0], known=[])[1]
    assert list(macro_sequence(block, nothing).sequence) == static_sequence(block)
    with pytest.raises(MonitorError, match="construct 0: its values were not sampled"):
        conditional_selectivity(block, sample, (), 0)


def test_a_construct_that_is_not_known_rules_nothing_out(three: Plan) -> None:
    block, all_known = sampled(three, [0], [9], [0])
    assert walked(block, all_known, block.order_of((0, 1, 2))) == Walk(1, 1, 3, 0, 2)
    block, sample = sampled(three, [0], [9], [0], known=[1])
    assert walked(block, sample, block.order_of((0, 1, 2))) == Walk(1, 0, 3, 0, 2)
    assert dropping_ratio(block, sample, (0, 1, 2)) == 0
    assert hybrid_sequence(block, sample, (0, 1, 2), 1).micro_arrows == ()


def test_a_period_that_knows_less_leaves_the_construct_to_the_end(three: Plan) -> None:
    search = MacroSearch(three.blocks[0])
    search.step(sampled(three, [9], [0], [9])[1])
    search.step(sampled(three, [0], [0], [0], known=[1, 2])[1])
    assert search.result().sequence == (1, 2, 0)


def test_where_the_known_constructs_cover_only_a_part(three: Plan) -> None:
    """What b would add is not known: a and c are compared by the conjuncts as they stand, and b comes last."""
    block, sample = sampled(three, [0, 9, 9], [0, 0, 0], [0, 0, 9], known=[0, 2])
    found = macro_sequence(block, sample)
    assert found.sequence == (2, 0, 1)
    assert found.steps[0].value == (1 + 1 + 2) / 6


def test_conjuncts_without_constraints_are_covered_by_nothing() -> None:
    """The compiler makes none (a predicate that admits everything is match-all); such a bit is left in every GRB."""
    plan = plan_of((over(A, 5), over(B, 5)), ())
    block, sample = sampled(plan, [0, 9, 0], [9, 0, 0])
    found = macro_sequence(block, sample)
    assert sorted(found.sequence) == [0, 1]
    assert walked(block, sample, block.order_of(found.sequence)).dropped == 0
    assert hybrid_sequence(block, sample, found.sequence, 1).micro_arrows == ()


def test_one_construct_needs_no_step() -> None:
    plan = plan_of((over(A, 5),))
    assert MacroSearch(plan.blocks[0]).done
    block, sample = sampled(plan, [3, 9])
    assert macro_sequence(block, sample).sequence == (0,)
    assert hybrid_sequence(block, sample, (0,), 1).micro_arrows == ()


def test_a_block_whose_queries_are_all_gone_drops_every_tuple_at_no_cost(three: Plan) -> None:
    block = three.blocks[0].without(np.array([0, 1], dtype=np.int32))
    sample = sampled(three, [9], [9], [9])[1]
    assert sorted(macro_sequence(block, sample).sequence) == [0, 1, 2]
    assert walked(block, sample, block.order_of((0, 1, 2))) == Walk(1, 1, 0, 0, 0)
    assert hybrid_sequence(block, sample, (0, 1, 2), 1).micro_arrows == ()


def test_a_sample_is_measured_as_well_after_a_swap_of_sequences(three: Plan) -> None:
    block, sample = sampled(three, [0, 9], [9, 0], [9, 9])
    swapped = block.with_order(block.order_of((2, 1, 0), [(2, 0, 0)]))
    order = block.order_of((0, 1, 2))
    assert walked(swapped, sample, order) == walked(block, sample, order)


def test_samples_cannot_be_written(example: Plan, sample_of: SampleOf) -> None:
    with pytest.raises(ValueError, match="read-only"):
        sample_of(["t1"]).regions[0] = 0
