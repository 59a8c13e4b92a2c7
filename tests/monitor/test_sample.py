"""Samples: what cannot be measured, and that nothing else of the block matters."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pytest

from asc.plan.block import Block
from asc.plan.plan import Plan
from monitor.errors import MonitorError
from monitor.hybrid import hybrid_sequence
from monitor.macro import MacroSearch, macro_sequence
from monitor.sample import Sample
from monitor.statistics import conditional_selectivity, costs_of, dropping_ratio, walked

if TYPE_CHECKING:
    from conftest import PlanOf, Sampled, SampleOf


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
def test_a_sample_without_tuples_cannot_be_measured(
    three: Plan, measure: Callable[[Block, Sample], object], sampled: Sampled
) -> None:
    block, sample = sampled(three, [], [], [])
    assert len(sample) == 0
    with pytest.raises(MonitorError, match="tuples in the sample 0: nothing can be measured"):
        measure(block, sample)


@pytest.mark.parametrize("measure", MEASURES)
def test_a_sample_of_another_block_is_refused(
    three: Plan, measure: Callable[[Block, Sample], object], sampled: Sampled, plan_of: PlanOf
) -> None:
    other = plan_of({"a": 5, "b": 5}, {"b": 5, "c": 7})
    with pytest.raises(MonitorError, match="regions of the sample"):
        measure(three.blocks[0], sampled(other, [1], [1], [1])[1])


def test_region_ids_that_do_not_fit_are_refused(three: Plan) -> None:
    block = three.blocks[0]
    with pytest.raises(MonitorError, match=r"shape of region ids \(2, 4\)"):
        Sample.of(block, np.zeros((2, 4), dtype=np.uint16))
    with pytest.raises(MonitorError, match="region 9: construct 0 has 3 and NULL's"):
        Sample.of(block, np.full((3, 4), 9, dtype=np.uint16))


def test_a_sample_is_measured_as_well_after_a_swap_of_sequences(three: Plan, sampled: Sampled) -> None:
    block, sample = sampled(three, [0, 9], [9, 0], [9, 9])
    swapped = block.with_order(block.order_of((2, 1, 0), [(2, 0, 0)]))
    order = block.order_of((0, 1, 2))
    assert walked(swapped, sample, order) == walked(block, sample, order)


def test_samples_cannot_be_written(example: Plan, sample_of: SampleOf) -> None:
    with pytest.raises(ValueError, match="read-only"):
        sample_of(["t1"]).regions[0] = 0
