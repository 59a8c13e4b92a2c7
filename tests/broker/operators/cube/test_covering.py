"""Intervals are read from the nearest stored views."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asc.errors import CubeError
from asc.operators.cube.calendar import Calendar
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.question import Question
from asc.operators.cube.view import View
from broker.operators.cube.covering import Portion, covered
from broker.operators.cube.panes import ClosedPanes, StoredPiece
from broker.operators.cube.region import Region
from tests.broker.operators.cube.kept_stream import (
    minute,
)
from tests.broker.operators.cube.test_ageing import aged
from tests.broker.operators.cube.view_rig import (
    answer,
    filled,
)


def test_an_interval_is_read_from_the_coarsest_view_and_its_ends_from_finer_ones(tmp_path: Path) -> None:
    keeper, _ = filled(tmp_path, View((0, 0), 60), View((1, 0), 5))
    found = answer(keeper, **{"by": [], "from": minute(3), "to": minute(121)})
    assert [(own["cuboid"], own["grain_s"], own["panes"]) for own in found["answered_by"]] == [
        (["carrier", "dest"], 60, 2),
        (["carrier"], 300, 11),
        ([], 3600, 1),
    ]
    assert found["rows"] == [{"group": {}, "n": 234, "d": 234, "sd": 0.0}]
    by_carrier = answer(keeper, by=["carrier"], where="carrier = 'B6'")
    assert by_carrier["answered_by"][0]["grain_s"] == 300
    assert by_carrier["rows"][0]["n"] == 120


def test_a_band_is_not_forced(tmp_path: Path) -> None:
    keeper, _ = aged(tmp_path, "1min:60min", "10min:120min carrier:0")
    said = "answer_from 'dest at 10min': is a band, which is read in any case, and cannot be forced: the cube has"
    with pytest.raises(CubeError, match=said):
        answer(keeper, by=[], answer_from={"by": ["dest"], "grain_s": 600})


def test_a_view_that_is_not_there_and_one_that_is_no_ancestor_are_refused(tmp_path: Path) -> None:
    keeper, _ = filled(tmp_path, View((1, 0), 5))
    with pytest.raises(CubeError, match=r"answer_from 'dest at 1min': is not materialised: the cube has carrier, dest"):
        answer(keeper, by=[], answer_from={"by": ["dest"]})
    with pytest.raises(
        CubeError, match=r"answer_from 'carrier at 5min': is no ancestor of the question, as it has no dest"
    ):
        answer(keeper, by=["dest"], answer_from={"by": ["carrier"], "grain_s": 300})
    for refused in ("carrier", {"cuboid": []}, {"by": "carrier"}, 7):
        with pytest.raises(CubeError, match=r"answer_from .*: give a stored view as an object, as"):
            answer(keeper, by=[], answer_from=refused)


def covering(view: View, cells_by_pane: dict[int, int], end: int | None = None) -> Region:
    pieces = {pane: (StoredPiece(pane + 1, pane, count, 8, 0),) for pane, count in cells_by_pane.items()}
    return Region(view, ClosedPanes().changed(pieces), end=end)


def read_cells_of(portions: list[Portion]) -> int:
    return sum(own.source.closed.cells(own.first, own.end) for own in portions)


@settings(max_examples=200, deadline=None)
@given(
    cells=st.lists(st.integers(0, 9), min_size=1, max_size=60),
    lengths=st.lists(st.tuples(st.sampled_from([1, 2, 3, 4, 6, 12]), st.integers(0, 60)), max_size=5),
    span=st.tuples(st.integers(0, 59), st.integers(1, 60)),
    step=st.sampled_from([None, 1, 2, 6]),
)
def test_portions_cover_each_pane_once_and_cost_no_more_than_any_one_view(
    cells: list[int], lengths: list[tuple[int, int]], span: tuple[int, int], step: int | None
) -> None:
    base = covering(View((2, 1), 1), dict(enumerate(cells)))
    views = []
    for panes, end in lengths:
        sums = {pane: -(-sum(cells[pane * panes : (pane + 1) * panes]) // 2) for pane in range(end // panes)}
        views.append(covering(View((1, 1), panes), sums, end // panes * panes))
    first, end = span[0], span[0] + span[1]
    portions = covered(base, views, (1, 0), [(first, end)], step)
    panes = [own.source.view.panes for own in portions]
    bounds = [(own.first * length, own.end * length) for own, length in zip(portions, panes, strict=True)]
    assert bounds[0][0] == first
    assert bounds[-1][1] == end
    assert all(one[1] == other[0] for one, other in pairwise(bounds))
    assert all(step is None or step % length == 0 for length in panes)
    for own in views:
        alone = covered(base, [own], (1, 0), [(first, end)], step)
        assert read_cells_of(portions) <= read_cells_of(alone)


def test_a_view_without_a_dimension_of_the_question_is_not_read() -> None:
    base = covering(View((2, 1), 1), {0: 9})
    coarse = covering(View((1, 0), 1), {0: 1}, end=1)
    (portion,) = covered(base, [coarse], (0, 1), [(0, 1)])
    assert portion.source is base


HOURLY = CubeDefinition.parse({"dimensions": [["a"], ["b"]], "measures": ["count(*)"], "time": "t", "grain_s": 3_600})
DAY_2013 = 15_896
"""The number of 2013-07-10 since 1970."""


def hourly(days: int, *lengths: int, of_base: int = 6) -> tuple[Region, list[Region]]:
    """Return the base region of some days, with cells in each hour, and views with one cell in each of their panes."""
    first, end = 24 * DAY_2013, 24 * (DAY_2013 + days)
    base = covering(View((1, 1), 1), dict.fromkeys(range(first, end), of_base), end)
    cells = [dict.fromkeys(range(first // panes, end // panes), 1) for panes in lengths]
    views = [covering(View((1, 0), panes), own, end) for panes, own in zip(lengths, cells, strict=True)]
    return base, views


def segments_of(body: dict[str, str], zone: str, days: int) -> Sequence[tuple[int, int]]:
    """Return the segments of a question over whole local days, one less than the days at both ends."""
    question = Question.parse({"by": ["a"], **body}, HOURLY, zone)
    calendar = Calendar("1d", zone, 3_600)
    first, end = (calendar.ceil(24 * (DAY_2013 + own)) for own in (1, days - 1))
    return question.segments(first, end)


@pytest.mark.parametrize("body", [{"hours": "14-16"}, {"grain": "1d"}, {"hours": "5-6,14-16"}])
@pytest.mark.parametrize("zone", ["America/New_York", "UTC", "Asia/Tokyo"])
def test_further_views_never_make_many_segments_dearer(zone: str, body: dict[str, str]) -> None:
    base, views = hourly(145, 1, 2, 6, 12, 24)
    segments = segments_of(body, zone, 145)
    assert len(segments) > 100
    read = {
        several: read_cells_of(covered(base, several, (1, 0), segments))
        for count in range(6)
        for several in combinations(views, count)
    }
    for several, cells in read.items():
        assert all(cells <= read[(own,)] for own in several), [own.view.panes for own in several]
        assert cells <= read[()]


def test_many_segments_read_the_views_that_fit_into_them() -> None:
    base, (hours, halves, days) = hourly(145, 1, 12, 24)
    of_hours, of_days = (segments_of(own, "America/New_York", 145) for own in ({"hours": "14-16"}, {"grain": "1d"}))
    views = [hours, halves, days]
    assert read_cells_of(covered(base, views, (1, 0), of_hours)) == 2 * len(of_hours)
    # Half a day in UTC lies in each day of New York, and twelve hours beside it, or thirteen as summer time ends.
    assert read_cells_of(covered(base, views, (1, 0), of_days)) == 13 * len(of_days) + 1


def test_the_second_view_of_many_segments_answers_the_ends_of_the_first() -> None:
    base, (hours, halves, days) = hourly(24 * 365, 1, 12, 24)
    segments = segments_of({"grain": "1M"}, "America/New_York", 24 * 365)
    assert len(segments) > 100
    found = read_cells_of(covered(base, [hours, halves, days], (1, 0), segments))
    assert found <= read_cells_of(covered(base, [hours, halves], (1, 0), segments))


def test_of_more_views_than_are_compared_those_count_that_fit() -> None:
    base, views = hourly(40, 1, 2, 3, 4, 6, 8, 12, 24)
    coarse = [covering(View((2, 0), own.view.panes), dict.fromkeys(own.closed, 1)) for own in views[1:]]
    segments = segments_of({"hours": "14-15"}, "America/New_York", 40)
    assert len(segments) <= 100
    assert read_cells_of(covered(base, [*coarse, *views], (1, 0), segments)) == len(segments)
