"""The rule of the paper's section 5.2: when it looks, which trigger it names, what it compares with."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.adaptation import Adaptation, Cause, Figures, Thresholds, Trigger
from monitor.errors import MonitorError


def state(mu: float, before: Figures | None, *, dropping: bool = True, cost: bool = True) -> Adaptation:
    adaptation = Adaptation(Thresholds(100, mu, dropping, cost))
    adaptation.put_in_place(before)
    return adaptation


@pytest.mark.parametrize("tuples", [0, -1])
def test_lambda_is_at_least_one(tuples: int) -> None:
    with pytest.raises(MonitorError, match=f"lambda {tuples}: at least 1 tuple"):
        Thresholds(tuples, 0.1)


@pytest.mark.parametrize("mu", [-0.1, math.nan, math.inf])
def test_mu_is_a_number_that_is_not_negative(mu: float) -> None:
    with pytest.raises(MonitorError, match="threshold mu"):
        Thresholds(100, mu)


@pytest.mark.parametrize("counts", [(-1, 0, 0), (1, 2, 0), (1, -1, 0), (1, 0, -1)])
def test_counts_that_cannot_be_are_refused(counts: tuple[int, int, int]) -> None:
    with pytest.raises(MonitorError, match="counts of a batch"):
        state(0.1, Figures(0.5, 2.0)).count(*counts)


@pytest.mark.parametrize(
    ("dropped", "evaluated", "dropping", "cost", "expected"),
    [
        (50, 200, True, True, None),
        (74, 200, True, True, None),
        (75, 200, True, True, Trigger.DROPPING_RATIO),
        (25, 200, True, True, Trigger.DROPPING_RATIO),
        (50, 300, True, True, Trigger.COST),
        (50, 100, True, True, Trigger.COST),
        (50, 299, True, True, None),
        (75, 300, True, True, Trigger.DROPPING_RATIO),
        (75, 300, False, True, Trigger.COST),
        (75, 300, True, False, Trigger.DROPPING_RATIO),
        (50, 300, True, False, None),
        (75, 200, False, True, None),
        (75, 300, False, False, None),
    ],
)
def test_triggers(dropped: int, evaluated: int, dropping: bool, cost: bool, expected: Trigger | None) -> None:
    cause = state(0.5, Figures(0.5, 2.0), dropping=dropping, cost=cost).count(100, dropped, evaluated)
    assert (None if cause is None else cause.trigger) is expected
    if cause is not None:
        now = Figures(dropped / 100, evaluated / 100)
        assert cause == Cause(cause.trigger, 100, Figures(0.5, 2.0), now)


@pytest.mark.parametrize(("dropped", "expected"), [(0, None), (1, Trigger.DROPPING_RATIO)])
def test_from_zero_anything_more_is_a_change(dropped: int, expected: Trigger | None) -> None:
    cause = state(1_000.0, Figures(0.0, 2.0)).count(100, dropped, 200)
    assert (None if cause is None else cause.trigger) is expected


@pytest.mark.parametrize("before", [Figures(0.0, 2.0), Figures(0.5, 2.0), Figures(0.0, 0.0)])
@pytest.mark.parametrize(
    ("dropping", "cost", "expected"),
    [(True, True, Trigger.DROPPING_RATIO), (False, True, Trigger.COST), (False, False, None)],
)
def test_mu_0_rearranges_every_lambda(before: Figures, dropping: bool, cost: bool, expected: Trigger | None) -> None:
    adaptation = state(0.0, before, dropping=dropping, cost=cost)
    for _ in range(3):
        dropped, evaluated = int(before.dropping_ratio * 100), int(before.cost * 100)
        assert adaptation.count(99, dropped, evaluated) is None
        cause = adaptation.count(1, 0, 0)
        assert (None if cause is None else cause.trigger) is expected


def test_counts_add_up_to_lambda_and_begin_anew() -> None:
    adaptation = state(0.5, Figures(0.5, 2.0))
    assert adaptation.count(99, 99, 99) is None
    cause = adaptation.count(61, 61, 61)
    assert cause is not None
    assert (cause.tuples, cause.now) == (160, Figures(1.0, 1.0))
    assert adaptation.count(99, 99, 99) is None


def test_nothing_measured_of_the_sequence_in_place() -> None:
    """The first look fires, for there is nothing to compare with; without any trigger nothing does."""
    cause = Adaptation(Thresholds(100, 0.5)).count(100, 50, 200)
    assert cause == Cause(Trigger.UNMEASURED, 100, None, Figures(0.5, 2.0))
    assert Adaptation(Thresholds(100, 0.5, False, False)).count(100, 50, 200) is None


def test_another_sequence_begins_with_its_own_figures() -> None:
    adaptation = state(0.5, Figures(0.5, 2.0))
    adaptation.count(90, 90, 90)
    adaptation.put_in_place(Figures(0.9, 1.0))
    assert adaptation.before == Figures(0.9, 1.0)
    assert adaptation.count(99, 90, 99) is None
    assert adaptation.count(1, 0, 1) is None
    cause = adaptation.count(100, 10, 100)
    assert cause is not None
    assert cause.before == Figures(0.9, 1.0)


def test_thresholds_change_on_a_running_state() -> None:
    adaptation = state(0.5, Figures(0.5, 2.0))
    assert adaptation.count(60, 0, 120) is None
    adaptation.thresholds = Thresholds(70, 0.5)
    cause = adaptation.count(10, 0, 20)
    assert cause is not None
    assert cause.tuples == 70
    adaptation.thresholds = Thresholds(70, 5.0)
    assert adaptation.count(70, 0, 140) is None


@given(
    st.integers(1, 50),
    st.floats(0, 3),
    st.lists(st.tuples(st.integers(0, 30), st.floats(0, 1), st.integers(0, 5)), max_size=40),
)
def test_looks_are_where_lambda_is_reached(recompute: int, mu: float, batches: list[tuple[int, float, int]]) -> None:
    """Against the rule written down once more over the whole list of batches."""
    before = Figures(0.4, 2.0)
    adaptation = Adaptation(Thresholds(recompute, mu))
    adaptation.put_in_place(before)
    tuples = dropped = evaluated = 0
    for size, share, cost in batches:
        gone = int(share * size)
        tuples, dropped, evaluated = tuples + size, dropped + gone, evaluated + cost * size
        cause = adaptation.count(size, gone, cost * size)
        if tuples < recompute:
            assert cause is None
            continue
        now = Figures(dropped / tuples, evaluated / tuples)
        shares = [abs(now.dropping_ratio - 0.4) / 0.4, abs(now.cost - 2.0) / 2.0]
        expected = next((t for t, s in zip(Trigger, shares, strict=False) if s >= mu), None)
        assert (None if cause is None else cause.trigger) is expected
        tuples = dropped = evaluated = 0
