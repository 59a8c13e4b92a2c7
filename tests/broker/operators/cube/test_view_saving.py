"""Views in the file of cubes."""

from __future__ import annotations

from pathlib import Path

from asc.operators.cube.view import View
from tests.broker.operators.cube.kept_stream import (
    opened,
    to_form_1,
)
from tests.broker.operators.cube.view_rig import (
    CUBE,
    OWN,
    answer,
    filled,
)


def test_a_file_without_views_is_read(tmp_path: Path) -> None:
    keeper, _ = filled(tmp_path)
    wanted = answer(keeper, by=["carrier"])
    keeper.close()
    to_form_1(tmp_path)
    keeper = opened(tmp_path)
    keeper.define(CUBE, OWN, pins=[View((1, 0), 60)])
    keeper.views.fill(10)
    again = answer(keeper, by=["carrier"])
    assert again["rows"] == wanted["rows"]
    assert again["answered_by"][0]["grain_s"] == 3600
