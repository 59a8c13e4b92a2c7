"""Costs of sets of views, beside a recomputation by the definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asc.operators.cube import view_costs
from asc.operators.cube.cuboid import Dimensions
from asc.operators.cube.kept_cells import KeptBand
from asc.operators.cube.lattice import Lattice
from asc.operators.cube.view import View
from asc.operators.cube.view_costs import ViewCosts
from tests.asc.operators.cube.lattices import PANES, Drawn, drawn

SHAPES = [(1, 1), (2, 1), (3,), (1, 1, 1)]


def naive_cost(case: Drawn, costs: ViewCosts, chosen: list[int]) -> float:
    """Return the sum of f cells(nearest) and cells(v) closings, by the lattice's own search."""
    stored = {costs.views[place]: float(costs.cells[place]) for place in (0, *chosen)}
    read = sum(rate * stored[case.lattice.nearest(view, stored)] / PANES for view, rate in case.asked.items())
    # A view has cells / (panes / view.panes) cells in a pane, and 1 / view.panes panes of it close in an hour.
    panes = {place: PANES / costs.views[place].panes for place in chosen}
    merged = sum(float(costs.cells[place]) / panes[place] / costs.views[place].panes for place in chosen)
    return read + merged


@given(st.integers(0, 10_000), st.sampled_from(SHAPES), st.integers(0, 20), st.randoms(use_true_random=False))
def test_a_cost_is_that_of_the_definition(seed: int, levels: tuple[int, ...], demanded: int, random: object) -> None:
    case = drawn(seed, *levels, demanded=demanded)
    costs = case.costs()
    draw = np.random.default_rng(seed)
    chosen = draw.permutation(np.arange(1, len(costs.views)))[:4].tolist()
    assert costs.cost(chosen) == pytest.approx(naive_cost(case, costs, chosen))
    # A gain is the difference of two costs.
    others = np.array([place for place in range(1, len(costs.views)) if place not in chosen], dtype=np.int64)
    nearest = costs.nearest(chosen)
    for place, gain in zip(others.tolist(), costs.gains(nearest, others).tolist(), strict=True):
        expected = costs.cost(chosen) - costs.cost([*chosen, place])
        assert gain == pytest.approx(expected, abs=1e-6 * costs.cost(chosen) + 1e-9)
        assert costs.with_view(nearest, place).tolist() == costs.nearest([*chosen, place]).tolist()


def test_gains_are_the_same_in_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    costs = drawn(3, 2, 1, 1).costs()
    places = np.arange(1, len(costs.views))
    whole = costs.gains(costs.nearest([]), places)
    pauses: list[None] = []
    monkeypatch.setattr(view_costs, "_COMPARED", 100)
    assert np.allclose(costs.gains(costs.nearest([]), places, lambda: pauses.append(None)), whole, rtol=1e-12)
    assert len(pauses) == -(-len(places) // (100 // len(costs.rates)))


def test_the_base_view_costs_nothing_to_keep() -> None:
    case = drawn(3, 1, demanded=0)
    costs = case.costs((case.lattice.base, *list(case.lattice.views())[1:3]))
    assert costs.cost([]) == costs.cost([0]) == 0
    assert costs.cost([1]) == pytest.approx(float(costs.cells[1]) / PANES)


def test_bands_are_read_for_the_panes_that_a_view_does_not_cover() -> None:
    lattice = Lattice(Dimensions((("a",),)), 60)
    base, halves, hours = lattice.base, View((0,), 30), View((0,), 60)
    asked = {View((1,), 1): 10.0, hours: 660.0}
    bands = (KeptBand(View((1,), 60), 100.0, 600),)
    costs = ViewCosts.of(lattice, (base, halves, hours), np.array([600.0, 20.0, 55.0]), 60, asked, bands=bands)
    # The first question reads ten base cells in a pane, and the second one reads all cells once an hour.
    assert costs.cost([]) == pytest.approx(100 + 700)
    # The view of half hours has the base cells only, and 20 of its cells close in an hour.
    assert costs.cost([1]) == pytest.approx(100 + 20 + 100 + 20)
    assert costs.cost([2]) == pytest.approx(100 + 55 + 55 / 11)
    assert costs.cost([1, 2]) == pytest.approx(100 + 55 + 20 + 55 / 11)
    gains = costs.gains(costs.nearest([1]), np.array([2]))
    assert gains.tolist() == pytest.approx([120 - 55 - 55 / 11])
