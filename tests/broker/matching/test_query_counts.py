"""Counts by query are those of a Counter, however they are put aside, added up and merged."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.matching import query_counts
from broker.matching.query_counts import QueryCounting, QueryCounts

BATCHES = st.lists(st.lists(st.integers(0, 99), max_size=60), max_size=8)


def plain(counts: QueryCounts) -> dict[int, int]:
    assert (np.diff(counts.ordinals) > 0).all()
    assert (counts.counts > 0).all()
    return dict(zip(counts.ordinals.tolist(), counts.counts.tolist(), strict=True))


@given(BATCHES, st.sampled_from([1, 20, 1_000]), st.sampled_from([100, 100_000]))
def test_what_tasks_count_adds_up(batches: list[list[int]], folded_at: int, queries: int) -> None:
    wanted: Counter[int] = Counter()
    tasks = [QueryCounting(queries), QueryCounting(queries)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(query_counts, "_FOLDED_AT", folded_at)
        for number, batch in enumerate(batches):
            tasks[number % 2].add(np.array(batch, dtype=np.int32))
            wanted.update(batch)
    assert plain(QueryCounts.together([task.counts() for task in tasks])) == dict(wanted)


def test_many_pairs_are_added_up_before_they_are_many_more_than_the_queries() -> None:
    counting = QueryCounting(10)
    for _ in range(100):
        counting.add(np.arange(10).repeat(1_000))
    assert counting._aside_count < query_counts._FOLDED_AT
    assert plain(counting.counts()) == dict.fromkeys(range(10), 100_000)


def test_nothing_accepted_is_no_count() -> None:
    assert plain(QueryCounting(1_000_000).counts()) == {}
    assert plain(QueryCounts.together(())) == {}
