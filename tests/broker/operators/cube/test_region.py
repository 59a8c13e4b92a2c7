"""Regions of a cube's past: each ends where the next one begins."""

from __future__ import annotations

from pathlib import Path

import pytest

from asc.errors import CubeError
from asc.operators.cube.view import View
from broker.operators.cube.panes import ClosedPanes
from broker.operators.cube.region import Region, kept_levels, kept_regions
from tests.broker.operators.cube.test_ageing import MINUTE, aged
from tests.broker.operators.cube.view_rig import OWN, answer, state_of


def test_bands_and_the_base_follow_each_other_without_a_gap(tmp_path: Path) -> None:
    keeper, _ = aged(tmp_path, "1min:10min", "5min:40min", "20min:80min carrier:0")
    regions = kept_regions(state_of(keeper), MINUTE + 240)
    assert [(own.view.panes, own.first, own.end) for own in regions] == [
        (20, MINUTE + 160, MINUTE + 200),
        (5, MINUTE + 200, MINUTE + 230),
        (1, MINUTE + 230, MINUTE + 240),
    ]
    assert all(own.is_kept for own in regions)


def test_a_cube_without_bands_has_one_region(tmp_path: Path) -> None:
    keeper, _ = aged(tmp_path)
    (region,) = kept_regions(state_of(keeper), None)
    assert (region.first, region.end) == (None, None)


def test_the_levels_of_all_kept_panes_are_those_of_which_each_question_has_an_answer(tmp_path: Path) -> None:
    keeper, _ = aged(tmp_path, "1min:10min", "5min:40min dest:0", "20min:80min carrier:0 dest:0")
    assert kept_levels(state_of(keeper)) == (0, 0)
    keeper, _ = aged(tmp_path / "two", "1min:10min", "5min:400min dest:0", "20min:800min carrier:0 dest:0")
    # No pane has reached the last band yet.
    assert kept_levels(state_of(keeper)) == (1, 0)
    names = [own for own in OWN.dimensions.names if own != "dest"]
    assert answer(keeper, by=names)["groups"] == 2
    with pytest.raises(CubeError, match="by 'dest': is not kept before"):
        answer(keeper, by=["dest"])
    keeper, _ = aged(tmp_path / "none")
    assert kept_levels(state_of(keeper)) == OWN.dimensions.base


def test_whole_panes_lie_within_the_interval_and_the_region() -> None:
    region = Region(View((0,), 10), ClosedPanes(), 20, 60)
    assert region.whole_panes(0, 100) == (2, 6)
    assert region.whole_panes(25, 49) == (3, 4)
    assert region.within(0, 30) == (20, 30)
