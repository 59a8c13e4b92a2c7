"""Histograms of questions: each value in the first bound that it does not pass."""

from __future__ import annotations

from broker.operators.cube.question_figures import CELLS_BOUNDS, SECONDS_BOUNDS, Histogram, QuestionFigures


def test_a_value_at_a_bound_is_within_it() -> None:
    own = Histogram((1.0, 2.0))
    for value in (0.5, 1.0, 1.5, 2.0, 2.5):
        own.observe(value)
    assert own.cumulative() == ([2, 4, 5], 7.5)


def test_bounds_ascend() -> None:
    own = QuestionFigures()
    assert (own.seconds.bounds, own.cells.bounds) == (SECONDS_BOUNDS, CELLS_BOUNDS)
    for bounds in (SECONDS_BOUNDS, CELLS_BOUNDS):
        assert list(bounds) == sorted(set(bounds))
