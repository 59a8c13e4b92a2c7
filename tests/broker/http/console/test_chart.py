"""Lines of the last hour, as SVG and in words."""

from __future__ import annotations

import math
import re

from hypothesis import example, given
from hypothesis import strategies as st

from broker.http.console.chart import SECONDS, Line, bar, chart

NOW_S = 100_000 * 60 + 12.0
MINUTE = 100_000 * 60


def points(svg: str) -> list[list[tuple[float, float]]]:
    return [
        [(float(x), float(y)) for x, y in (pair.split(",") for pair in text.split())]
        for text in re.findall(r'points="([^"]*)"', svg)
    ]


def drawn(*lines: Line) -> str:
    return str(chart("Records a second", lines, now_s=NOW_S, step_s=60, unit="records/s"))


def test_a_line_goes_from_an_hour_ago_to_now_and_no_value_is_0() -> None:
    ((*_, before, last),) = points(drawn(Line("in", {MINUTE - 60: 50.0, MINUTE: 100.0, MINUTE - 7200: 1e9})))
    ((first, *rest),) = points(drawn(Line("in", {MINUTE: 1.0})))
    assert len(rest) == 59
    assert first[0] < rest[0][0] < rest[-1][0] == last[0]
    assert len({y for _, y in (first, *rest[:-1])}) == 1
    # Upwards is less: 100 at the top, 50 halfway, 0 at the foot.
    assert last[1] < before[1] < first[1]
    assert before[1] == (last[1] + first[1]) / 2


def test_where_nothing_was_measured_a_line_has_a_gap() -> None:
    values = {MINUTE - 600: 1.0, MINUTE - 540: 2.0, MINUTE - 60: 1.0, MINUTE: 1.0}
    svg = drawn(Line("latency", values, has_gaps=True))
    assert [len(piece) for piece in points(svg)] == [2, 2]
    alone = drawn(Line("latency", {MINUTE - 600: 1.0}, has_gaps=True))
    assert points(alone) == []
    assert alone.count("<circle") == 1
    assert "latency: at most 1 records/s, now none" in alone


def test_of_what_was_before_the_start_nothing_is_drawn() -> None:
    svg = drawn(Line("in", {MINUTE: 4.0}, since_s=MINUTE - 590.0))
    ((first, *rest),) = points(svg)
    assert len(rest) == 10
    assert first[0] > 300
    assert points(drawn(Line("in", {}, since_s=MINUTE + 1.0))) == []


def test_a_count_of_a_minute_that_is_not_over_is_left_out() -> None:
    lines = [Line("accepted", {MINUTE - 60: 50.0, MINUTE: 900.0})]
    svg = str(chart("Records", lines, now_s=NOW_S, step_s=60, unit="a minute", is_whole=True))
    ((*before, last),) = points(svg)
    assert len(before) == 59
    assert all(last[1] < y for _, y in before)
    assert "accepted: at most 50 a minute, now 50" in svg


def test_it_is_said_in_words_as_well() -> None:
    svg = drawn(Line("in", {MINUTE: 1234.0, MINUTE - 60: 5000.0}), Line("out", {}))
    label = re.search(r'aria-label="([^"]*)"', svg)
    assert label is not None
    assert label[1] == (
        "Records a second, the last hour. in: at most 5,000 records/s, now 1,234; out: at most 0 records/s, now 0"
    )


def test_durations_are_told_in_the_unit_of_their_size() -> None:
    svg = str(chart("Latency", [Line("half", {MINUTE: 100.0})], now_s=NOW_S, step_s=60, unit=SECONDS))
    assert "half: at most 100 s, now 100 s" in svg
    assert re.findall(r'text-anchor="end">([^<]*)</text>', svg) == ["0", "50 s", "100 s", "now"]
    axis = [str(chart("", [Line("", {MINUTE: value})], now_s=NOW_S, step_s=60, unit=SECONDS)) for value in (0.08, 299)]
    assert [re.findall(r'"end">([^<]*)</text>', each)[1:3] for each in axis] == [
        ["50 ms", "100 ms"],
        ["2.5 min", "5 min"],
    ]


@example({0: 5e-324}, False)
@given(st.dictionaries(st.integers(0, 59), st.floats(0, 1e15), max_size=60), st.booleans())
def test_every_point_is_within_the_picture(values: dict[int, float], has_gaps: bool) -> None:
    svg = drawn(Line("in", {MINUTE - 60 * ago: value for ago, value in values.items()}, has_gaps))
    box = re.search(r'viewBox="0 0 ([0-9]+) ([0-9]+)"', svg)
    assert box is not None
    for piece in points(svg):
        for x, y in piece:
            assert math.isfinite(x + y)
            assert 0 <= x <= float(box[1])
            assert 0 <= y <= float(box[2])


def test_names_are_text() -> None:
    assert "<b>" not in drawn(Line("<b>", {}))


def test_a_bar_is_a_share() -> None:
    found = [re.findall(r'class="part" width="([0-9.]+)"', bar(share, "x")) for share in (-1.0, 0.0, 0.5, 1.0, 2.0)]
    assert [float(width) for (width,) in found] == [0, 0, 50, 100, 100]
