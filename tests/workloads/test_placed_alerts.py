"""Alerts on measures and places: a tail of a measure, a range of a place, and ranges of the rest."""

from __future__ import annotations

import numpy as np
import pytest

from workloads.errors import WorkloadError
from workloads.placed_alerts import MEASURES, PLACES, placed_alerts

DOMAIN = 1_000_000


def test_a_tail_of_a_measure_a_range_of_a_place_and_others() -> None:
    workload = placed_alerts(300, seed=2)
    assert workload.queries == 300
    for query in range(300):
        own = workload.owner == query
        attributes, low, high = workload.attribute[own], workload.low[own], workload.high[own]
        assert 3 <= len(attributes) == len(set(attributes.tolist())) <= 5
        assert attributes[0] in MEASURES
        assert attributes[1] in PLACES
        assert not {*attributes[2:].tolist()} & {*MEASURES, *PLACES}
        assert 0.985 * DOMAIN <= low[0] < 0.995 * DOMAIN
        assert high[0] == DOMAIN - 1
        # No range reaches into the outermost hundredths, so that values there are out of all of them.
        assert low[1:].min() >= 0.02 * DOMAIN
        assert high[1:].max() < 0.98 * DOMAIN
        assert (high[1:] - low[1:] + 1).tolist() == [300_000] * (len(low) - 1)


def test_the_same_seed_gives_the_same_alerts() -> None:
    first, same, other = (placed_alerts(50, seed=seed).texts() for seed in (1, 1, 2))
    assert first == same
    assert first != other
    assert np.diff(placed_alerts(50).owner).min() >= 0


def test_more_ranges_than_attributes_are_refused() -> None:
    with pytest.raises(WorkloadError, match="ranges a query"):
        placed_alerts(10, attributes=10, ranges=(2, 4))
