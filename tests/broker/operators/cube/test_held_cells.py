"""The cells that a cube and its views have, for the optimiser."""

from __future__ import annotations

from pathlib import Path

from asc.operators.cube.keep import bands_of
from asc.operators.cube.kept_cells import KeptBand
from asc.operators.cube.optimiser import StoredCells
from asc.operators.cube.view import View
from broker.operators.cube.held_cells import held_cells
from tests.broker.operators.cube.view_rig import CUBE, OWN, filled, state_of


def test_open_panes_are_not_counted_and_unfilled_views_are_estimated(tmp_path: Path) -> None:
    keeper, _ = filled(tmp_path, View((1, 0), 60))
    keeper.views.choose(CUBE, [View((0, 0), 60)])
    found = held_cells(state_of(keeper), keeper.choice.estimate(CUBE))
    assert found == StoredCells(240, 120, {View((1, 0), 60): 4.0, View((0, 0), 60): 2.0})


def test_bands_are_counted_with_the_panes_that_they_cover(tmp_path: Path) -> None:
    keeper, _ = filled(tmp_path)
    keeper.bands.define(CUBE, bands_of(["1min:60min", "1h:180min"], OWN))
    keeper.bands.age(10)
    found = held_cells(state_of(keeper), keeper.choice.estimate(CUBE))
    assert found == StoredCells(120, 60, {}, (KeptBand(View((1, 1), 60), 2, 60),))


def test_a_cube_without_closed_panes_has_none(tmp_path: Path) -> None:
    keeper, _ = filled(tmp_path, minutes=1)
    assert held_cells(state_of(keeper), keeper.choice.estimate(CUBE)) == StoredCells(0, 0, {})
