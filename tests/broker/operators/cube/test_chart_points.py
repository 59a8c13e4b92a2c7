"""The points of a chart are in line with the bands in its interval."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from asc.operators.cube.points import Points
from asc.operators.cube.question import Question
from asc.operators.cube.view import View
from broker.operators.cube.chart_points import chart_points
from tests.broker.operators.cube.kept_stream import BASE_US, MINUTE_US
from tests.broker.operators.cube.test_ageing import aged
from tests.broker.operators.cube.view_rig import OWN, state_of

FIRST = BASE_US // MINUTE_US


def test_only_bands_in_the_interval_and_a_forced_view_count(tmp_path: Path) -> None:
    keeper, _ = aged(tmp_path, "1min:60min", "10min:120min")
    state = state_of(keeper)
    until = state.bands[0].end
    assert until is not None
    newest = replace(Question.parse({}, OWN), first=until, end=until + 30)
    open_from = until + 60
    assert chart_points(state, newest, 240, open_from, None) == Points(until, 1, 30)
    forced = chart_points(state, newest, 240, open_from, View((0, 0), 30))
    assert forced is not None
    assert (forced.first % 30, forced.panes) == (0, 30)
    both = chart_points(state, replace(newest, first=until - 10), 240, open_from, None)
    assert both == Points(until - 10, 10, 4)
    assert chart_points(state, replace(newest, first=None), 240, open_from, None) is None
    assert chart_points(state, replace(newest, first=until + 30), 240, open_from, None) is None
    keeper.close()
