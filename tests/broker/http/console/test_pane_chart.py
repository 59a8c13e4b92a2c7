"""Lines over panes: points in their places, breaks where nothing is known, shades where records may be missing."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from broker.http.console.drawing import HEIGHT, WIDTH, x_of, y_of
from broker.http.console.pane_chart import Interval, Panes, pane_chart

HOUR_US = 3_600_000_000
DAY = Panes(0, HOUR_US, 4)


def drawn(
    values: Mapping[int, float], over_nothing: float | None = None, missing: Sequence[Interval] = (), panes: Panes = DAY
) -> str:
    times = ("begin", "middle", "end")
    return str(pane_chart("flights", "said", panes, values, over_nothing, times=times, missing=missing))


def lines(svg: str) -> list[list[tuple[float, ...]]]:
    found = re.findall(r'points="([^"]*)"', svg)
    return [[tuple(map(float, point.split(","))) for point in text.split()] for text in found]


def test_a_pane_without_a_value_is_that_over_nothing_or_a_break() -> None:
    (whole,) = lines(drawn({0: 100.0, 3: 50.0}, over_nothing=0.0))
    assert [y for _, y in whole] == [y_of(1), y_of(0), y_of(0), y_of(0.5)]
    assert [x for x, _ in whole] == [x_of(each / 8) for each in (1, 3, 5, 7)]
    parts = drawn({0: 100.0, 1: 50.0, 3: 1.0})
    assert (len(lines(parts)), parts.count("<circle")) == (1, 1)
    assert lines(drawn({})) == []


def test_values_below_0_have_their_place_and_0_a_rule() -> None:
    (found,) = lines(drawn({0: -100.0, 1: 0.0, 2: 50.0}))
    assert found[0][1] > found[1][1] > found[2][1]
    assert re.findall(r'text-anchor="end">([^<]*)<', drawn({0: -100.0, 1: 50.0}))[:3] == ["-100", "0", "50"]
    assert re.findall(r'text-anchor="end">([^<]*)<', drawn({0: -1.0}))[:3] == ["-1", "-0.5", "0"]


def test_gaps_are_shaded_as_far_as_the_chart_goes() -> None:
    for missing, width in (
        ((None, None), 1.0),
        ((HOUR_US, 2 * HOUR_US), 0.25),
        ((3 * HOUR_US, 9 * HOUR_US), 0.25),
        ((None, HOUR_US), 0.25),
        ((-9 * HOUR_US, 2 * HOUR_US), 0.5),
    ):
        (found,) = re.findall(r'class="missing" x="[^"]*" y="[^"]*" width="([^"]*)"', drawn({}, missing=[missing]))
        assert float(found) == width * (x_of(1) - x_of(0))
    for missing in ((4 * HOUR_US, None), (None, 0), (-5, -1)):
        assert "missing" not in drawn({}, missing=[missing])


def test_texts_are_no_markup() -> None:
    svg = str(pane_chart("<b>", '"<i>', DAY, {}, None, times=("<u>", "", "")))
    assert not {"<b>", "<i>", "<u>"} & set(re.findall("<[a-z]>", svg))


@given(
    st.dictionaries(st.integers(0, 3), st.floats(allow_nan=False, allow_infinity=False)), st.sampled_from([0.0, None])
)
def test_every_value_is_within_the_picture(values: dict[int, float], over_nothing: float | None) -> None:
    svg = drawn(values, over_nothing)
    places: list[Any] = [
        *re.findall(r'c[xy]="([^"]*)"', svg),
        *(each for one in lines(svg) for point in one for each in point),
    ]
    assert all(math.isfinite(float(each)) and 0 <= float(each) <= max(WIDTH, HEIGHT) for each in places)
    assert drawn({0: sys.float_info.max, 1: -sys.float_info.max})
