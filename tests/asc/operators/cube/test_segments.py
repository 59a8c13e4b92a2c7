"""Segments of a question, against a pass over all panes."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asc.errors import CubeError
from asc.operators.cube.question import Question
from tests.asc.operators.cube.local_times import EPOCH, SECOND, definition, spans


def slow_hours(time_zone: str, grain_s: int, first: int, end: int) -> list[int]:
    zone = ZoneInfo(time_zone)
    return [(EPOCH + pane * grain_s * SECOND).astimezone(zone).hour for pane in range(first, end)]


TEXTS = st.lists(
    st.tuples(st.integers(0, 23), st.integers(0, 24)).filter(lambda own: own[0] != own[1]), min_size=1, max_size=3
)


@given(spans(), TEXTS, st.booleans(), st.booleans())
@settings(max_examples=80, deadline=None)
def test_segments_are_the_panes_that_are_read_divided_at_days(
    span: tuple[str, str, int, int, int], ranges: list[tuple[int, int]], has_hours: bool, has_grain: bool
) -> None:
    time_zone, unit, grain_s, first, end = span
    body: dict[str, Any] = {"grain": unit} if has_grain else {}
    if has_hours:
        body["hours"] = ",".join(f"{low}-{high}" for low, high in ranges)
    question = Question.parse(body, definition(grain_s), time_zone)
    panes = range(first, end)
    is_read = [True] * len(panes)
    if question.hours is not None:
        is_read = [hour in question.hours.hours for hour in slow_hours(time_zone, grain_s, first, end)]
        assert question.hours.contains(np.arange(first, end)).tolist() == is_read
    days = question.numbers(np.arange(first, end)).tolist() if has_grain else [0] * len(panes)
    expected: list[tuple[int, int]] = []
    for place, pane in enumerate(panes):
        if is_read[place]:
            follows = place > 0 and is_read[place - 1] and days[place] == days[place - 1]
            expected[-1:] = [(expected[-1][0], pane + 1)] if follows else [*expected[-1:], (pane, pane + 1)]
    assert question.segments(first, end) == expected


def test_a_question_without_grain_and_hours_reads_one_segment() -> None:
    for body in ({}, {"grain_s": 3_600}, {"hours": "0-24"}):
        assert Question.parse(body, definition()).segments(5, 9) == [(5, 9)]
    assert Question.parse({"grain": "1d"}, definition()).segments(5, 5) == []


@pytest.mark.parametrize("body", [{"grain": "1d"}, {"hours": "1-2"}, {"grain": "1M", "hours": "1-2,3-4,5-6"}])
def test_too_many_segments_are_refused(body: dict[str, Any]) -> None:
    question = Question.parse(body, definition(), "Europe/Berlin")
    first, end = -62_135_596_800 // 3_600, 253_402_300_800 // 3_600
    said = "gives over 20,000 intervals from 0001-01-01T00:00:00Z to 10000-01-01T00:00:00Z: give from and to"
    with pytest.raises(CubeError, match=said):
        question.segments(first, end)
    some = 6_000 * 24
    assert 190 < len(question.segments(0, some)) <= 3 * 6_001 + 198
