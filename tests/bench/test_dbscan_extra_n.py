"""Extra-N and our contenders find the same: windows, labels and core points."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from asc.operators.dbscan.reference import labels
from bench.dbscan_extra_n import ExtraN
from bench.dbscan_own import Alone, Records, Together, observation_texts
from bench.dbscan_points import Floats, heaps
from bench.dbscan_queries import BenchQuery, Ranges, step_of
from bench.dbscan_turns import Streaming, Windows, run_through

Make = Callable[[Floats, list[BenchQuery], Windows], Streaming]

CONTENDERS: dict[str, Make] = {
    "records": lambda values, queries, windows: Records(observation_texts(values), queries, windows.take),
    "together": lambda values, queries, windows: Together(values, queries, windows.take, is_counted=True),
    "alone": lambda values, queries, windows: Alone(values, queries, windows.take, is_counted=True),
    "Extra-N": lambda values, queries, windows: ExtraN(values, queries, windows.take, is_shared=False),
    "shared": lambda values, queries, windows: ExtraN(values, queries, windows.take, is_shared=True),
}


@pytest.mark.parametrize(
    "digits", [pytest.param(17, id="apart", marks=pytest.mark.nightly), pytest.param(2, id="ties")]
)
@pytest.mark.parametrize("name", CONTENDERS)
def test_labels_are_those_of_the_definition(name: str, digits: int) -> None:
    values = np.round(heaps(600, 6, spread=0.05).values, digits)
    queries = Ranges((0.01, 0.12), (1, 15), (60, 240), (20, 240), 20).group(12, digits)
    windows = Windows()
    run_through(CONTENDERS[name](values, queries, windows), len(values), step_of(queries))
    ends = {(place, end) for place, own in enumerate(queries) for end in range(601) if own.is_due(end)}
    assert windows.found.keys() == ends
    for (place, end), found in windows.found.items():
        query = queries[place]
        numbers, core = labels(values[end - query.window : end], query.eps, query.min_samples)
        assert np.array_equal(found.labels, numbers), query
        assert np.array_equal(found.is_core, core), query


def test_searches_and_visits_are_counted() -> None:
    values = heaps(300, 3).values
    queries = Ranges((0.02, 0.1), (2, 9), 100, 50, 50).group(4, 0)
    own = {name: CONTENDERS[name](values, queries, Windows()) for name in ("together", "alone", "Extra-N", "shared")}
    for contender in own.values():
        run_through(contender, len(values), 50)
    counts = {name: (contender.searches, contender.visits) for name, contender in own.items()}  # type: ignore[attr-defined]
    assert counts["Extra-N"][0] == 4 * counts["shared"][0] == 1_200
    assert 300 <= counts["together"][0] == counts["alone"][0] <= 600
    assert 0 < counts["together"][1] != counts["alone"][1] > 0
    # The shared search hands each query the neighbours of the widest one as well.
    assert 0 < counts["Extra-N"][1] < counts["shared"][1]


def test_a_search_makes_room_for_many_neighbours() -> None:
    values = np.zeros((300, 2))
    windows = Windows()
    run_through(ExtraN(values, [BenchQuery(1.0, 300, 300, 300)], windows.take, is_shared=False), 300, 300)
    assert windows.found[0, 300].is_core.all()
