"""The stored views and bands in the status of a cube."""

from __future__ import annotations

from pathlib import Path

from asc.operators.cube.keep import bands_of
from asc.operators.cube.view import View
from broker.operators.cube.view_status import view_status
from tests.broker.operators.cube.kept_stream import minute
from tests.broker.operators.cube.view_rig import CUBE, OWN, filled, state_of


def test_views_and_bands_are_named_with_their_sizes_and_ends(tmp_path: Path) -> None:
    keeper, _ = filled(tmp_path, View((1, 0), 60))
    found = view_status(state_of(keeper))
    size_bytes = state_of(keeper).views[0].panes.size_bytes
    assert found == {"views": 1, "view_cells": 4, "view_bytes": size_bytes, "kept_from": None, "bands": []}
    keeper.bands.define(
        CUBE, bands_of(["1min:30min", "30min:60min carrier:0 dest:0", "1h:90min carrier:0 dest:0"], OWN)
    )
    keeper.bands.age(10)
    found = view_status(state_of(keeper))
    assert found["kept_from"] == minute(0)
    assert [(own["view"], own["to"]) for own in found["bands"]] == [
        ("() at 30min", minute(90)),
        ("() at 1h", minute(60)),
    ]
