"""Examples 4 to 7 of the paper on the worked example, number for number."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from asc.plan.plan import Plan
from monitor.hybrid import MicroArrow, hybrid_sequence
from monitor.macro import MacroSearch, MacroStep
from monitor.sample import Sample
from monitor.statistics import Measure, Walk, conditional_selectivity, costs_of, dropping_ratio, walked

A1, A2, A3, A4 = range(4)
SampleOf = Callable[[Sequence[str]], Sample]
ARROWS = [(A1, 4, A2), (A2, 4, A4), (A4, 4, A3)]


def test_example_4_dropping_ratio(example: Plan, sample_of: SampleOf) -> None:
    assert dropping_ratio(example.blocks[0], sample_of(["t1", "t2", "t3"]), (A1, A2, A3)) == 2 / 3


def test_example_5_macro_sequence_with_one_tuple_a_period(example: Plan, sample_of: SampleOf) -> None:
    search = MacroSearch(example.blocks[0])
    for name in ("t1", "t2", "t3"):
        assert not search.done
        search.step(sample_of([name]))
    assert search.done
    found = search.result()
    assert found.sequence == (A2, A1, A3, A4)
    assert found.steps == (
        MacroStep(A2, Measure.CONDITIONAL_SELECTIVITY, 1 / 2, ((A1, 3 / 4), (A3, 3 / 4), (A4, 3 / 4))),
        MacroStep(A1, Measure.CONDITIONAL_SELECTIVITY, 0, ((A3, 1 / 2), (A4, 1))),
        MacroStep(A3, Measure.DROPPING_RATIO, 1, ((A4, 0),)),
        MacroStep(A4),
    )


def test_example_5_each_figure_by_itself(example: Plan, sample_of: SampleOf) -> None:
    block = example.blocks[0]
    singles = [conditional_selectivity(block, sample_of(["t1"]), (), construct) for construct in range(4)]
    assert singles == [3 / 4, 1 / 2, 3 / 4, 3 / 4]
    seconds = [conditional_selectivity(block, sample_of(["t2"]), (A2,), construct) for construct in (A1, A3, A4)]
    assert seconds == [0, 1 / 2, 1]
    thirds = [dropping_ratio(block, sample_of(["t3"]), (A2, A1, construct)) for construct in (A3, A4)]
    assert thirds == [1, 0]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("t6", Walk(tuples=1, dropped=1, evaluated=3, micro_arrows=2, macro_arrows=0)),
        ("t7", Walk(tuples=1, dropped=0, evaluated=4, micro_arrows=1, macro_arrows=2)),
    ],
)
def test_example_7_cost_of_the_hybrid_sequence(example: Plan, sample_of: SampleOf, name: str, expected: Walk) -> None:
    block = example.blocks[0]
    assert walked(block, sample_of([name]), block.order_of((A1, A2, A3, A4), ARROWS)) == expected


def test_example_7_both_tuples_together(example: Plan, sample_of: SampleOf) -> None:
    block, sample = example.blocks[0], sample_of(["t6", "t7"])
    order = block.order_of((A1, A2, A3, A4), ARROWS)
    walk = walked(block, sample, order)
    assert (walk.tuples, walk.evaluated, walk.cost, walk.dropping_ratio, walk.micro_ratio) == (2, 7, 3.5, 0.5, 0.6)
    assert costs_of(block, sample, order).tolist() == [3, 4]


def test_example_6_first_micro_arrow(example: Plan, sample_of: SampleOf) -> None:
    found = hybrid_sequence(example.blocks[0], sample_of(["t4"]), (A1, A4, A2, A3), min_visitors=1)
    assert found.micro_arrows == (MicroArrow(A1, 4, A2, 1, 1, Measure.CONDITIONAL_SELECTIVITY, 0, 1 / 2),)


def test_example_6_both_micro_arrows(example: Plan, sample_of: SampleOf) -> None:
    """After A1.ra[5] -> A2 only t5 is left, covered by A1 and A2: the second arrow is a matter of dropping ratios."""
    block, sample = example.blocks[0], sample_of(["t4", "t5"])
    found = hybrid_sequence(block, sample, (A1, A3, A2, A4), min_visitors=1)
    assert found.order.sequence.tolist() == [A1, A3, A2, A4]
    assert block.with_order(found.order).micro_arrows() == [(A1, 4, A2), (A2, 4, A4)]
    assert found.micro_arrows[1] == MicroArrow(A2, 4, A4, 2, 1, Measure.DROPPING_RATIO, 1, 0)
    walk = walked(block, sample, found.order)
    assert (walk.cost, walk.dropped, walk.micro_ratio) == (2.5, 2, 1.0)


def test_example_6_no_arrow_where_the_macro_successor_is_as_good(example: Plan, sample_of: SampleOf) -> None:
    found = hybrid_sequence(example.blocks[0], sample_of(["t4"]), (A1, A2, A3, A4), min_visitors=1)
    assert found.micro_arrows == ()
