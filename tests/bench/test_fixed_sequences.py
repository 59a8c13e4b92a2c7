"""SEQ_best and SEQ_worst against the enumeration of all orders, and the counts they rest on against walking."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

import numpy as np
import pytest

from asc.errors import AscError
from bench.fixed_sequences import EXACT_CONSTRUCTS, alive_after_subsets, fixed_sequences
from bench.recorded_stream import RecordedStream
from monitor.statistics import dropping_ratio, walked

Make = Callable[..., RecordedStream]


def cost(stream: RecordedStream, order: tuple[int, ...]) -> int:
    return walked(stream.block, stream.whole, stream.block.order_of(order)).evaluated


@pytest.mark.parametrize("attributes", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("seed", [1, 2])
def test_exact_is_what_enumeration_finds(small_stream: Make, attributes: int, seed: int) -> None:
    stream = small_stream(attributes, seed=seed)
    costs = [cost(stream, order) for order in permutations(range(len(stream.block.slots)))]
    found = fixed_sequences(stream.block, stream.whole)
    assert found.exact
    assert found.tuples == len(stream)
    assert cost(stream, found.best) == min(costs)
    assert cost(stream, found.worst) == max(costs)


def test_more_conjuncts_than_a_word_and_tuples_that_fill_no_word(small_stream: Make) -> None:
    stream = small_stream(5, queries=150, tuples=131, predicates=(3, 5))
    costs = [cost(stream, order) for order in permutations(range(5))]
    found = fixed_sequences(stream.block, stream.whole)
    assert (cost(stream, found.best), cost(stream, found.worst)) == (min(costs), max(costs))


def test_tuples_alive_after_each_subset(small_stream: Make) -> None:
    stream = small_stream(6, queries=40)
    alive, least = alive_after_subsets(stream.block, stream.whole)
    for subset in range(1 << 6):
        members = [construct for construct in range(6) if subset >> construct & 1]
        dropped = dropping_ratio(stream.block, stream.whole, members)
        assert alive[subset] == round((1 - dropped) * len(stream))
    best = fixed_sequences(stream.block, stream.whole).best
    assert least.sum() <= cost(stream, best)
    assert (least[least < 6] >= 1).all()
    assert np.count_nonzero(least == 6) >= alive[-1]


def test_blocks_larger_than_what_stays_in_the_cache(small_stream: Make) -> None:
    stream = small_stream(16, queries=60, tuples=70)
    alive, _ = alive_after_subsets(stream.block, stream.whole)
    for subset in (0, 1 << 15, (1 << 16) - 1, 0b1010_1010_1010_1010, 0b1111_0000_0000_1111):
        members = [construct for construct in range(16) if subset >> construct & 1]
        assert alive[subset] == round((1 - dropping_ratio(stream.block, stream.whole, members)) * 70)


def test_beyond_the_limit_local_search_says_that_it_is_one(small_stream: Make) -> None:
    stream = small_stream(5, queries=20)
    exact = fixed_sequences(stream.block, stream.whole)
    searched = fixed_sequences(stream.block, stream.whole, exact_constructs=4)
    assert not searched.exact
    assert cost(stream, exact.best) <= cost(stream, searched.best) <= cost(stream, searched.worst)
    assert cost(stream, searched.worst) <= cost(stream, exact.worst)


def test_all_subsets_of_too_many_constructs_are_refused(small_stream: Make) -> None:
    stream = small_stream(EXACT_CONSTRUCTS + 1, queries=80, tuples=10)
    with pytest.raises(AscError, match="number of constructs"):
        alive_after_subsets(stream.block, stream.whole)
    assert not fixed_sequences(stream.block, stream.whole).exact
