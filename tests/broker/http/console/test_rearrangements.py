"""What the monitor did, on a time line."""

from __future__ import annotations

import re
from typing import Any

from broker.http.console.rearrangements import time_line

NOON = "2026-01-31T12:00:00.000+00:00"
NOON_S = 1_769_860_800.0


def event(at: str, before: float, after: float, kind: str = "macro") -> dict[str, Any]:
    return {"at": at, "block": 3, "cost_before": before, "cost_after": after, "kind": kind}


def strokes(svg: str) -> list[tuple[float, float, float]]:
    """Of each: how far from the left, from where, to where."""
    found = re.findall(r'<line class="line line-\d" x1="([\d.]+)" x2="[\d.]+" y1="([\d.]+)" y2="([\d.]+)"', svg)
    return [(float(x), float(before), float(after)) for x, before, after in found]


def test_each_event_stands_where_it_was_and_leads_from_before_to_after() -> None:
    events = [event(NOON, 8.0, 4.0), event("2026-01-31T12:30:00.000+00:00", 4.0, 4.0, "kept")]
    svg = time_line(events, NOON_S + 3600)
    (first, top, half), (second, before, after) = strokes(svg)
    assert (first, second) == (64, 64 + (600 - 8 - 64) / 2)
    assert top < half == before == after
    assert "2026-01-31 12:00:00 UTC</text>" in svg
    assert "2026-01-31 12:00:00 UTC block 3: 8 to 4</title>" in svg
    assert 'aria-label="rearrangements: 1, orders that were measured and kept: 1; since' in svg


def test_one_event_of_just_now_and_none() -> None:
    assert time_line([], NOON_S) == ""
    # The clock of the event may be ahead, and a sequence may cost nothing.
    ((place, before, after),) = strokes(time_line([event(NOON, 0.0, 0.0)], NOON_S - 5))
    assert (place, before == after) == (64, True)
