"""The optimiser beside random sets, once at a size that measures nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

import bench.cube_optimiser
from asc.operators.cube.proposal import Proposal
from bench.cube_optimiser import QUICK, optimiser


def test_each_demand_is_met_by_chosen_and_by_random_views() -> None:
    found = optimiser(replace(QUICK, records=2_000))
    assert [(own["seed"], own["cell_share"]) for own in found["results"]] == [
        *((0, None), (0, 0.5)),
        *((1, None), (1, 0.5)),
        # The last demand is for a cube with a band.
        (2, None),
    ]
    for own in found["results"]:
        assert 0 < own["views"] <= 8
        assert 0 < own["cost"] < own["base_cost"]
        assert own["ratio"] == pytest.approx(own["cost"] / own["random_cost"], rel=1e-3)


def test_no_view_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench.cube_optimiser, "propose", lambda *_, **__: Proposal((), (), 1.0, 1.0))
    with pytest.raises(RuntimeError, match="seed 0: the optimiser chose 0 views of at most 8"):
        optimiser(replace(QUICK, records=200))
