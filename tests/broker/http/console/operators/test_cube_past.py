"""The past of a cube on its page: bars from when to when, the watermark, open panes and gaps."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from broker.http.console.operators.cube_past import ShownPast, past_drawing, shown_past
from broker.operators.cube.keeper import Keeper
from tests.broker.operators.cube.kept_stream import BASE_US, MINUTE_US, batch
from tests.broker.operators.cube.test_ageing import aged
from tests.broker.operators.cube.view_rig import CUBE, OWN, filled, state_of

HOSTILE = "<script>alert(1)</script>\"'&\u202e"


def past_of(keeper: Keeper) -> ShownPast:
    return shown_past(keeper.snapshot, state_of(keeper))


def minutes(interval: tuple[int, int] | None) -> tuple[int, int] | None:
    return None if interval is None else tuple((own - BASE_US) // MINUTE_US for own in interval)  # type: ignore[return-value]


def bars(svg: str, css: str) -> list[tuple[float, float]]:
    found = re.findall(f'<rect class="{css}" x="([^"]*)" y="[^"]*" width="([^"]*)"', svg)
    return [(float(x), float(width)) for x, width in found]


def test_each_region_is_a_bar_the_newest_first(tmp_path: Path) -> None:
    keeper, _ = aged(tmp_path, "1min:10min", "5min:40min", "20min:80min carrier:0")
    past = past_of(keeper)
    assert [(own.name, own.is_base, minutes(own.interval)) for own in past.spans] == [
        ("carrier, dest at 1min", True, (230, 240)),
        ("carrier, dest at 5min", False, (200, 230)),
        ("dest at 20min", False, (160, 200)),
    ]
    assert [own.panes for own in past.spans] == [10, 6, 2]
    assert [own.cells for own in past.spans] == [20, 12, 2]
    assert past.first_us == BASE_US + 160 * MINUTE_US
    assert past.deleted_to_us == past.first_us
    assert (past.open_panes, minutes(past.open)) == (1, (240, 241))
    svg = str(past_drawing(past, "q"))
    (base,), (finer, coarser), (opened,) = (bars(svg, css) for css in ("stored base", "stored band", "opened"))
    assert coarser[0] == 8.0
    assert round(coarser[0] + coarser[1], 1) == finer[0]
    assert abs(finer[0] + finer[1] - base[0]) < 0.2
    assert abs(opened[0] + opened[1] - 592.0) < 0.2
    places = re.findall(r' (?:x|x1|x2)="([^"]*)"', svg)
    assert all(8 <= float(each) <= 592 for each in places)
    assert "watermark: 2013-07-10 04:00" in svg
    assert "first kept pane: 2013-07-10 02:40" in svg


def test_the_first_kept_pane_may_lie_within_a_pane_of_a_band(tmp_path: Path) -> None:
    keeper, _ = aged(tmp_path, "1min:10min", "20min:60min")
    state = replace(state_of(keeper), kept_from=BASE_US // MINUTE_US + 185)
    past = shown_past(keeper.snapshot, state)
    assert past.first_us == BASE_US + 185 * MINUTE_US
    assert minutes(past.spans[-1].interval) == (185, 220)


def test_panes_are_deleted_to_a_time_that_may_be_before_the_first_pane(tmp_path: Path) -> None:
    keeper, _ = aged(tmp_path, "1min:10min", "20min:3000min")
    past = past_of(keeper)
    # The first pane of the records is still there, and panes of an older time would not be.
    assert past.first_us == BASE_US
    assert past.deleted_to_us is not None
    assert past.deleted_to_us < past.first_us


def test_a_cube_without_closed_panes_has_its_open_ones(tmp_path: Path) -> None:
    keeper, _ = filled(tmp_path, minutes=1)
    past = past_of(keeper)
    assert [own.interval for own in past.spans] == [None]
    assert (past.open_panes, past.deleted_to_us) == (1, None)
    svg = str(past_drawing(past, "q"))
    assert (len(bars(svg, "opened")), bars(svg, "stored base")) == (1, [])
    assert "1 length of panes, 1 open pane, 0 gaps." in svg
    assert "<title>1 open pane, " in svg


def test_a_cube_without_records_has_no_picture(tmp_path: Path) -> None:
    keeper, _ = filled(tmp_path, minutes=1)
    keeper.remove("q")
    keeper.define(CUBE, OWN, since=7)
    assert past_drawing(past_of(keeper), "q") is None


def test_gaps_are_shaded_within_the_axis(tmp_path: Path) -> None:
    keeper, topic = filled(tmp_path, minutes=61)
    assert bars(str(past_drawing(past_of(keeper), "q")), "missing") == []
    keeper.pause(["q"])
    past = past_of(keeper)
    assert past.gaps == ((BASE_US + 60 * MINUTE_US, None),)
    ((x, width),) = bars(str(past_drawing(past, "q")), "missing")
    assert round(x + width) == 592
    whole = replace(past, gaps=((None, None), (None, BASE_US), (past.end_us, None)))
    assert bars(str(past_drawing(whole, "q")), "missing") == [(8.0, 584.0)]
    assert topic.commit(keeper, batch(122, 122), {CUBE: OWN})


def test_names_are_text(tmp_path: Path) -> None:
    past = past_of(filled(tmp_path)[0])
    hostile = replace(past, spans=tuple(replace(own, name=HOSTILE * 3) for own in past.spans))
    svg = str(past_drawing(hostile, HOSTILE))
    assert "<script>" not in svg
    assert "\u202e" not in svg
    assert "&lt;script&gt;" in svg
