"""The eddy's lottery: what holds whatever is drawn, and that the same seed draws the same."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bench.fixed_sequences import alive_after_subsets
from bench.recorded_stream import RecordedStream
from bench.ticket_routing import ticket_routing
from monitor.statistics import dropping_ratio
from workloads.synthetic import Workload, synthetic_columns, uniform_tuples

Make = Callable[..., RecordedStream]


def test_a_tuple_visits_no_fewer_modules_than_drop_it_and_no_more_than_there_are(small_stream: Make) -> None:
    stream = small_stream(7, queries=20, tuples=2_000)
    visits = ticket_routing(stream.block, stream.whole)
    _, least = alive_after_subsets(stream.block, stream.whole)
    assert (least <= visits).all()
    assert visits.max() <= 7
    unmatched = dropping_ratio(stream.block, stream.whole, range(7))
    assert np.count_nonzero(visits < 7) <= round(unmatched * len(stream))


def test_a_single_module_is_visited_once_by_every_tuple(small_stream: Make) -> None:
    stream = small_stream(1, queries=5, predicates=(1, 1))
    assert (ticket_routing(stream.block, stream.whole) == 1).all()


def test_the_same_seed_draws_the_same(small_stream: Make) -> None:
    stream = small_stream(6, tuples=1_000)
    first = ticket_routing(stream.block, stream.whole, seed=3)
    assert (first == ticket_routing(stream.block, stream.whole, seed=3)).all()
    assert (first != ticket_routing(stream.block, stream.whole, seed=4)).any()


def test_the_module_that_drops_most_is_soon_visited_first() -> None:
    # One query: a0 drops nine tuples of ten, a1 one of ten.
    bounds = [np.array(values) for values in ([0, 0], [0, 1], [0, 0], [1, 17])]
    workload = Workload(*synthetic_columns(2, 20), *bounds)
    stream = RecordedStream.of(workload, uniform_tuples(20_000, attributes=2, domain=20))
    visits = ticket_routing(stream.block, stream.whole)
    first_a0, first_a1 = 1.1, 1.9
    assert visits[5_000:].mean() < first_a0 + 0.2 * (first_a1 - first_a0)
