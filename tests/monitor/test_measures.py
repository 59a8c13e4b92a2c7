"""What each construct of a sequence does at its place, against the definitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from asc.plan.plan import Plan
from monitor.errors import MonitorError
from monitor.measures import measures
from monitor.statistics import conditional_selectivity, dropping_ratio

if TYPE_CHECKING:
    from conftest import Sampled


def test_each_is_measured_after_those_before_it(three: Plan, sampled: Sampled) -> None:
    block, sample = sampled(three, [0, 1, 5], [9, 1, 2], [0, 3, 9])
    found = measures(block, sample, (2, 0, 1))
    assert [one.construct for one in found] == [2, 0, 1]
    for place, one in enumerate(found):
        sequence = (2, 0, 1)[: place + 1]
        assert one.dropping_ratio == dropping_ratio(block, sample, sequence)
        try:
            expected = conditional_selectivity(block, sample, sequence[:-1], one.construct)
        except MonitorError:
            expected = None
        assert one.conditional_selectivity == expected
    assert found[0].conditional_selectivity is not None


def test_what_was_not_sampled_has_no_selectivity(three: Plan, sampled: Sampled) -> None:
    block, sample = sampled(three, [0], [9], [0], known=[1])
    assert measures(block, sample, (0, 1, 2))[0].conditional_selectivity is None


def test_a_sequence_is_of_different_constructs(three: Plan, sampled: Sampled) -> None:
    block, sample = sampled(three, [0], [9], [0])
    with pytest.raises(MonitorError, match="different ones"):
        measures(block, sample, (0, 0, 1))
