"""The choice of views: within its budget, better than random sets, and stable."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asc.operators.cube.cell_sample import CellSample
from asc.operators.cube.demand import Demand
from asc.operators.cube.optimiser import Budget, StoredCells, best_proposal, best_views, propose, views_within
from asc.operators.cube.view import View
from asc.operators.cube.view_costs import ViewCosts
from asc.operators.cube.view_estimate import ViewEstimate
from tests.asc.operators.cube.key_cells import cells_of
from tests.asc.operators.cube.lattices import PANES, drawn, lattice_of

SHAPES = [(1, 1), (2, 1), (3,), (1, 1, 1)]


def best_of_random(costs: ViewCosts, budget: Budget, size: int, seed: int) -> float:
    """Return the least cost of 2,000 random sets of so many views within a budget."""
    random = np.random.default_rng(seed)
    least = float("inf")
    for _ in range(2_000):
        order = 1 + random.permutation(len(costs.views) - 1)
        fitting = order[np.cumsum(costs.cells[order]) <= budget.cells][:size].tolist()
        least = min(least, costs.cost(fitting))
    return least


@pytest.mark.parametrize(("levels", "seed"), [((1, 1, 1), 0), ((2, 1, 1), 1), ((1, 1, 1, 1, 1), 2)])
@pytest.mark.parametrize(("demanded", "skew"), [(12, 1.0), (30, 0.0), (60, 1.0)])
@pytest.mark.parametrize("share", [float("inf"), 0.5])
def test_it_costs_little_more_than_the_best_of_2000_random_sets(
    levels: tuple[int, ...], seed: int, demanded: int, skew: float, share: float
) -> None:
    costs = drawn(seed, *levels, demanded=demanded, skew=skew).costs()
    budget = Budget(cells=share * float(costs.cells[0]))
    found = best_views(costs, (), budget)
    assert costs.cost(found) <= 1.3 * best_of_random(costs, budget, len(found), seed)


@given(
    st.integers(0, 10_000),
    st.sampled_from(SHAPES),
    st.integers(1, 12),
    st.builds(Budget, st.integers(0, 3), st.floats(0, 2)),
    st.tuples(st.integers(0, 2), st.integers(0, 4)),
)
def test_a_proposal_keeps_to_the_budget_and_keeps_the_pins(
    seed: int, levels: tuple[int, ...], demanded: int, budget: Budget, counts: tuple[int, int]
) -> None:
    costs = drawn(seed, *levels, demanded=demanded).costs()
    places = (1 + np.random.default_rng(seed).permutation(len(costs.views) - 1)).tolist()
    pins, kept = places[: counts[0]], places[counts[0] : sum(counts)]
    budget = replace(budget, cells=budget.cells * float(costs.cells[0]))
    found = best_proposal(costs, kept, pins, budget)
    chosen = [costs.views.index(view) for view in found.views]
    assert {costs.views[place] for place in pins} <= {*found.views}
    others = [place for place in chosen if place not in pins]
    if others:
        assert len(chosen) <= budget.views
        assert costs.cells[chosen].sum() <= budget.cells * (1 + 1e-12)
    # Changes lead from the stored views to the proposed ones.
    before = {costs.views[place] for place in kept}
    added, removed = ({own.view for own in several} for several in (found.additions, found.removals))
    assert (before | added) - removed == {*found.views}
    assert not before & added
    assert removed <= before
    assert found.cost == pytest.approx(costs.cost([*kept, *pins]))
    if others and not removed:
        assert costs.cost(chosen) <= found.cost + 1e-6
    # A view that saves nothing is not added.
    assert all(own.saved_cells_an_hour > 0 for own in found.additions if own.view not in {costs.views[p] for p in pins})


@given(st.integers(0, 10_000), st.sampled_from(SHAPES), st.integers(1, 10))
def test_it_is_near_the_best_of_all_pairs_of_views(seed: int, levels: tuple[int, ...], demanded: int) -> None:
    costs = drawn(seed, *levels, demanded=demanded).costs()
    found = best_views(costs, (), Budget(views=2))
    assert len(found) <= 2
    every = [(), *combinations(range(1, len(costs.views)), 1), *combinations(range(1, len(costs.views)), 2)]
    least = min(costs.cost(own) for own in every[:2_000])
    nothing = costs.cost([])
    # A greedy search of two steps saves at least 3/4 of the greatest saving (Nemhauser and others, 1978).
    assert nothing - costs.cost(found) >= 0.75 * (nothing - least) - 1e-6


@given(st.integers(0, 10_000), st.sampled_from(SHAPES), st.integers(1, 12), st.integers(1, 4))
def test_nothing_changes_for_a_gain_up_to_a_tenth(
    seed: int, levels: tuple[int, ...], demanded: int, stored: int
) -> None:
    costs = drawn(seed, *levels, demanded=demanded).costs()
    kept = (1 + np.random.default_rng(seed).permutation(len(costs.views) - 1))[:stored].tolist()
    found = best_proposal(costs, kept, (), Budget())
    if found.best_cost >= 0.9 * found.cost:
        assert not found.changes
        assert {*found.views} == {costs.views[place] for place in kept}
    else:
        assert found.changes
        chosen = [costs.views.index(view) for view in found.views]
        assert costs.cost(chosen) == pytest.approx(found.best_cost)
        # The proposal, once stored, is stable.
        assert not best_proposal(costs, chosen, (), Budget()).changes


def two_views(saved: float) -> ViewCosts:
    """Return the costs of a base view of 100 cells a pane and of a view that costs ``saved`` less."""
    lattice = lattice_of(1)
    views = (lattice.base, View((0,), 1))
    return ViewCosts.of(lattice, views, np.array([100.0, 100.0 - saved]) * PANES, PANES, {View((0,), 1): 1_000.0})


def test_a_gain_of_a_tenth_is_too_little_and_more_is_enough() -> None:
    # It reads 1,000 panes an hour, and merges one.
    assert not best_proposal(two_views(10), (), (), Budget()).changes
    (added,) = best_proposal(two_views(10.2), (), (), Budget()).changes
    assert added.is_added
    assert added.saved_cells_an_hour == pytest.approx(10_200 - 89.8)


def test_views_beyond_a_smaller_budget_are_removed_whatever_they_save() -> None:
    costs = drawn(1, 1, 1, 1).costs()
    stored = best_views(costs, (), Budget())
    assert len(stored) == 8
    assert len(best_proposal(costs, stored, (), Budget(views=3)).views) == 3
    cells = float(costs.cells[stored].sum())
    fewer = best_proposal(costs, stored, (), Budget(cells=cells * 0.99))
    assert fewer.removals
    # Pins stay beyond any budget, and nothing is added to them.
    found = best_proposal(costs, stored, stored[:2], Budget(views=1))
    assert {*found.views} == {costs.views[place] for place in stored[:2]}


@given(st.integers(0, 10_000), st.integers(0, 9), st.floats(0, 1), st.integers(0, 3))
def test_a_lower_budget_keeps_the_pins_and_the_views_that_save_most(
    seed: int, views: int, share: float, pinned: int
) -> None:
    costs = drawn(seed, 1, 1, 1).costs()
    stored = (1 + np.random.default_rng(seed).permutation(len(costs.views) - 1))[:8].tolist()
    pins = stored[:pinned]
    budget = Budget(views, share * float(costs.cells[stored].sum()))
    kept = views_within(costs, stored, pins, budget)
    assert set(pins) <= set(kept) <= set(stored)
    others = [place for place in kept if place not in pins]
    assert not others or (len(kept) <= views and costs.cells[kept].sum() <= budget.cells)
    assert views_within(costs, stored, pins, Budget(8, float("inf"))) == stored
    if views == len(stored) - 1 and pinned == 0:
        (gone,) = set(stored) - set(views_within(costs, stored, (), Budget(views)))
        every = [costs.cost([place for place in stored if place != own]) for own in stored]
        assert costs.cost([place for place in stored if place != gone]) == pytest.approx(min(every))


def test_of_equal_gains_the_fewer_cells_are_taken_and_then_the_first_name() -> None:
    lattice = lattice_of(1, 1)
    views = (lattice.base, View((0, 1), 1), View((1, 0), 1))
    asked = {View((1, 0), 1): 10.0, View((0, 1), 1): 10.0}
    for cells, expected in (([100.0, 20, 20], 2), ([100.0, 10, 20], 1), ([100.0, 20, 10], 2)):
        costs = ViewCosts.of(lattice, views, np.array(cells), 1, asked)
        assert best_views(costs, (), Budget(views=1)) == [expected]
    assert lattice.name(views[2]) < lattice.name(views[1])


def test_if_cells_are_scarce_two_small_views_are_better_than_a_large_one_of_more_gain() -> None:
    lattice = lattice_of(1, 1, 1)
    views = (lattice.base, View((1, 0, 0), 1), View((0, 1, 0), 1), View((0, 0, 1), 1))
    asked = dict(zip(views[1:], (10.0, 8.0, 8.0), strict=True))
    costs = ViewCosts.of(lattice, views, np.array([1_000.0, 100, 50, 50]), 1, asked)
    assert sorted(best_views(costs, (), Budget(cells=100))) == [2, 3]
    assert best_views(costs, (), Budget(views=1)) == [1]


@pytest.mark.parametrize("is_wide_pinned", [False, True])
def test_a_view_that_later_views_make_idle_is_not_added(is_wide_pinned: bool) -> None:
    lattice = lattice_of(1, 1, 1)
    wide, left, right, other = View((1, 1, 0), 1), View((1, 0, 0), 1), View((0, 1, 0), 1), View((0, 0, 1), 1)
    costs = ViewCosts.of(
        *(lattice, (lattice.base, wide, left, right, other), np.array([1_000.0, 100, 60, 60, 500]), 1),
        {left: 10.0, right: 10.0, other: 0.01},
    )
    # At first, the wide view has the largest gain, because it answers both questions.
    assert best_views(costs, (), Budget(views=1)) == [1]
    pins = [1] if is_wide_pinned else []
    found = best_proposal(costs, (), pins, Budget(views=3))
    assert {*found.views} == {left, right, *(costs.views[place] for place in pins)}
    saved = {own.view: own.saved_cells_an_hour for own in found.additions}
    assert min(saved[left], saved[right]) > 0
    assert not is_wide_pinned or saved[wide] < 0


def test_the_place_of_an_idle_view_is_used_for_another_one() -> None:
    lattice = lattice_of(1, 1, 1)
    wide, left, right, other = View((1, 1, 0), 1), View((1, 0, 0), 1), View((0, 1, 0), 1), View((0, 0, 1), 1)
    costs = ViewCosts.of(
        *(lattice, (lattice.base, wide, left, right, other), np.array([1_000.0, 100, 60, 60, 990]), 1),
        {left: 10.0, right: 10.0, other: 20.0},
    )
    assert sorted(best_views(costs, (), Budget(views=3))) == [2, 3]
    costs = replace(costs, merged=np.zeros(5))
    assert sorted(best_views(costs, (), Budget(views=3))) == [2, 3, 4]


def test_without_a_demand_only_pins_are_stored() -> None:
    costs = drawn(1, 1, 1, demanded=0).costs(tuple(drawn(1, 1, 1).lattice.views()))
    found = best_proposal(costs, [3, 4], [5], Budget())
    assert found.views == (costs.views[5],)
    assert {own.view for own in found.removals} == {costs.views[3], costs.views[4]}


def test_a_demand_and_a_sample_become_a_proposal() -> None:
    lattice = lattice_of(1, 1)
    random = np.random.default_rng(1)
    panes = np.repeat(np.arange(PANES), 100)
    cells = cells_of(panes, random.integers(0, 3, len(panes)), random.integers(0, 400, len(panes)))
    daily, hourly, pin = View((1, 0), 24), View((1, 0), 1), View((0, 0), 24)
    demand = Demand.begin(0).plus(daily, PANES, at_s=0, questions=60)
    stored = StoredCells(cells.count, PANES, {View((0, 1), 1): 70_000.0})
    estimate = ViewEstimate(lattice, CellSample.of([cells], lattice.panes_a_day))
    pauses: list[None] = []
    found = propose(
        *(estimate, demand.panes_an_hour(at_s=3_600), stored),
        pins=[pin],
        pause=lambda: pauses.append(None),
    )
    assert {*found.views} == {daily, pin}
    daily_line, pin_line, removed = found.changes
    assert daily_line.cells == pytest.approx(90, rel=0.01)
    # Its 60 questions an hour read 90 cells each, not all. Three cells a day are merged.
    assert daily_line.saved_cells_an_hour == pytest.approx(60 * (cells.count - 90) - 3 / 24, rel=0.01)
    assert daily_line.text().startswith("+ a_1 at 1d: 90 cells, saves 4,1")
    assert pin_line.text() == "+ () at 1d: 30 cells, costs 0 cells an hour"
    assert removed.text() == "- b_1 at 1h: 70,000 cells, its removal saves 97 cells an hour"
    assert found.lines()[3].startswith("the best views found cost 5,40")
    assert found.plain()["changes"][2] == {
        **{"view": "b_1 at 1h", "change": "remove", "cells": 70_000, "saved_cells_an_hour": 97},
    }
    assert pauses
    # Stored, they stay.
    again = StoredCells(cells.count, PANES, {daily: 90.0, pin: 30.0})
    later = propose(estimate, demand.plus(hourly, 1, at_s=0).panes_an_hour(at_s=3_600), again, pins=[pin])
    assert not later.changes
    assert later.lines()[0].startswith("no change: the best views found cost ")


def test_the_work_can_be_ended_between_its_steps() -> None:
    lattice = lattice_of(1, 1)
    cells = cells_of(np.arange(100), np.arange(100) % 3, np.arange(100) % 5)

    estimate = ViewEstimate(lattice, CellSample.of([cells], 24))

    def end() -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        propose(estimate, {View((1, 0), 24): 5.0}, StoredCells(100, 100, {}), pause=end)
