"""Queries of the benchmark: within their ranges, and no slide is longer than its window."""

from __future__ import annotations

from bench.dbscan_queries import Ranges, step_of


def test_parameters_are_within_their_ranges() -> None:
    queries = Ranges((0.01, 0.1), (2, 20), (1_000, 5_000), (500, 5_000)).group(200, 1)
    assert all(0.01 <= own.eps <= 0.1 and 2 <= own.min_samples <= 20 for own in queries)
    assert {own.window for own in queries} == set(range(1_000, 5_001, 500))
    assert min(own.slide for own in queries) == 500
    assert all(own.slide <= own.window for own in queries)
    assert len(set(queries)) == 200
    assert step_of(queries) == 500


def test_a_share_of_the_length_keeps_the_other_parameters() -> None:
    scaled = Ranges(0.02, 10, (1_000, 5_000), 500).scaled(0.1)
    assert scaled == Ranges(0.02, 10, (100, 500), 50, 50)
    assert {(own.eps, own.min_samples, own.slide) for own in scaled.group(9, 0)} == {(0.02, 10, 50)}
