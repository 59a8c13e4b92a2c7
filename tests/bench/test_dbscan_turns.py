"""Contenders in turns: each has all points in each run, and windows that differ are told."""

from __future__ import annotations

import numpy as np
import pytest

from asc.operators.dbscan.chains import Labels
from bench.dbscan_turns import Windows, cpu_in_turns, memory_of, slides


class Reader:
    """Takes points, and holds some bytes."""

    def __init__(self, steps: list[tuple[int, int]]) -> None:
        self.steps = steps
        self.held = np.zeros(100_000)

    def advance(self, low: int, high: int) -> None:
        self.steps.append((low, high))
        np.zeros(200_000)


@pytest.mark.nightly
def test_each_run_begins_anew_and_has_all_points() -> None:
    steps: list[tuple[int, int]] = []
    found = cpu_in_turns({"one": lambda: Reader(steps), "other": lambda: Reader([])}, 25, 10, 2)
    assert found.keys() == {"one", "other"}
    assert steps == [(0, 10), (10, 20), (20, 25)] * 2
    assert len(list(slides(Reader(steps), 40, 10, 2))) == 2
    assert steps[-2:] == [(40, 50), (50, 60)]


def test_the_most_memory_is_that_of_the_contender() -> None:
    most, held = memory_of(lambda: Reader([]), 20, 10)
    assert 800_000 <= held < 900_000
    # What a step alone needs is not held.
    assert held + 1_600_000 <= most < held + 1_700_000


def test_windows_that_differ_are_told() -> None:
    one, other = Windows(), Windows()
    labels = Labels(np.array([0, -1], dtype=np.int32), np.array([True, False]), 1)
    one.take(3, 500, labels)
    with pytest.raises(RuntimeError, match="peer: 0 windows in place of 1"):
        one.check_same("peer", other)
    other.take(3, 500, labels)
    one.check_same("peer", other)
    assert one.most_clusters() == [1]
    other.take(3, 500, Labels(labels.labels, np.array([True, True]), 1))
    with pytest.raises(RuntimeError, match="peer: labels of query 3 at 500 differ"):
        one.check_same("peer", other)
