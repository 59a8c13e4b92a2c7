"""A stream: one block of exact regions, and any part of it the same as the tuples that it is of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from asc.evaluation.regions import region_ids
from bench.recorded_stream import RecordedStream
from monitor.sample import Sample

Make = Callable[..., RecordedStream]


@pytest.fixture
def stream(small_stream: Make) -> RecordedStream:
    return small_stream(5, queries=12, tuples=500)


@pytest.mark.nightly
def test_it_is_one_block_of_exact_regions_whatever_the_number_of_queries(small_stream: Make) -> None:
    stream = small_stream(3, queries=20_000, tuples=10)
    assert len(stream.plan.blocks) == 1
    assert all(grid.exact for grid in stream.plan.grids)
    assert stream.block.conjunct_count == 20_000


@pytest.mark.parametrize(("start", "stop"), [(0, 500), (0, 0), (130, 131), (400, 500)])
def test_a_part_has_the_regions_of_its_tuples(stream: RecordedStream, start: int, stop: int) -> None:
    part, columns = stream.part(start, stop), stream.columns_between(start, stop)
    assert len(part) == stop - start
    assert {len(column) for column in columns} == {stop - start}
    found = Sample.of(stream.block, region_ids(stream.plan, columns, stop - start))
    assert (part.regions == found.regions).all()


def test_the_rest_of_a_stream_is_a_stream(stream: RecordedStream) -> None:
    rest = stream.after(130)
    assert len(rest) == 370
    assert (rest.whole.regions == stream.whole.regions[:, 130:]).all()
    assert [column.to_pylist() for column in rest.columns] == [column.to_pylist()[130:] for column in stream.columns]
    assert (rest.part(10, 20).regions == stream.part(140, 150).regions).all()


def test_tuples_are_drawn_once_each_in_their_order_from_where_it_was_asked(stream: RecordedStream) -> None:
    seen = np.zeros(500, dtype=bool)
    numbered = RecordedStream(stream.plan, stream.columns, _numbered(stream))
    for seed in range(30):
        drawn = numbered.drawn(40, np.random.default_rng(seed), 100, 300)
        places = drawn.regions[0]
        assert len(drawn) == 40
        assert (np.diff(places.astype(np.int64)) > 0).all()
        seen[places] = True
    assert not seen[:100].any()
    assert not seen[300:].any()
    assert seen[100:300].mean() > 0.95
    everything = numbered.drawn(500, np.random.default_rng(1))
    assert (everything.regions == numbered.whole.regions).all()


def _numbered(stream: RecordedStream) -> Sample:
    """The sample of the stream with the numbers of the tuples in the place of its first construct's regions."""
    regions = stream.whole.regions.copy()
    regions[0] = np.arange(len(stream))
    return replace(stream.whole, regions=regions)
