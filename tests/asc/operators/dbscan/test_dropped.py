"""Windows of dropped points: which ones are remembered, and written as skipped."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asc.operators.dbscan import dropped
from asc.operators.dbscan.clusters import Clusters
from asc.operators.dbscan.dropped import Dropped
from asc.operators.dbscan.points import Place
from asc.operators.dbscan.schedule import Schedule
from asc.operators.feed import Watermarks
from tests.asc.operators.dbscan.model import MS, Record, query, run, settings, texts, values

YEAR_MS = 31_557_600_000
LIMIT = 2
"""The points of a window. The track holds three times as many."""
MINUTES = query(window=120_000 * MS, slide=60_000 * MS, min_samples=1)


def numbers(found: Dropped | None) -> list[int]:
    ranges = () if found is None else found.ranges
    return [number for own in ranges for number in range(own.first, own.last + 1)]


def windows_with(places: Iterable[int], schedule: Schedule, done: int) -> list[int]:
    """The newest numbers by definition: each window is tried for each position."""
    around = range(-(10**3), 10**3)
    bounds = {number: schedule.bounds(number) for number in around if number > done}
    found = [number for number, (low, high) in bounds.items() if any(low <= place < high for place in places)]
    return sorted(found)[-dropped.WINDOWS_MAX :]


@given(
    places=st.lists(st.integers(-300, 300), min_size=1, max_size=30),
    cuts=st.lists(st.integers(1, 29), max_size=4),
    slide=st.integers(1, 7),
    slides=st.integers(1, 5),
    done=st.integers(-60, 60),
)
def test_the_newest_windows_with_a_dropped_point_are_remembered(
    places: list[int], cuts: list[int], slide: int, slides: int, done: int
) -> None:
    schedule = Schedule(slide * slides - slides // 2, slide)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(dropped, "WINDOWS_MAX", 9)
        found: Dropped | None = None
        ends = sorted({cut for cut in cuts if cut < len(places)})
        for low, high in zip([0, *ends], [*ends, len(places)], strict=True):
            part = np.array(places[low:high], dtype=np.int64)
            own = Dropped.at(part, schedule, done, Place(max(places[low:high]), 0, 0))
            found = own if found is None else found.merged(own)
        wanted = windows_with(places, schedule, done)
    assert found is not None
    assert numbers(found) == wanted
    assert found.newest == Place(max(places), 0, 0)
    assert found == Dropped.of_plain(json.loads(json.dumps(found.plain())))
    for number in range(-70, 70):
        assert found.next_from(number) == next((own for own in wanted if own >= number), None)
        assert numbers(found.after(number)) == [own for own in wanted if own > number]


def record(time_ms: int, offset: int) -> Record:
    return Record(time_ms * MS, (float(offset), 0.0), offset=offset)


def messages_of(times_ms: Sequence[int], *, passed_ms: int) -> list[str]:
    records = texts(record(time_ms, offset).message() for offset, time_ms in enumerate(times_ms))
    start = Watermarks({"ts": -60_000 * MS}).text()
    return [settings(MINUTES, limit=LIMIT).text(), start, *records, Watermarks({"ts": passed_ms * MS}).text()]


def windows(messages: Sequence[str]) -> list[dict[str, Any]]:
    return [own for own in values(run(messages)) if own["record"] == "window"]


@pytest.mark.parametrize("is_old_first", [False, True])
def test_two_dropped_points_far_apart_skip_only_their_windows(is_old_first: bool) -> None:
    now_ms = 50 * YEAR_MS
    # Seven points a day later drop both.
    dropped_ms = [0, now_ms] if is_old_first else [now_ms, 0]
    held_ms = [now_ms + 86_400_000 + 60_000 * n for n in range(7)]
    messages = messages_of([*dropped_ms, *held_ms], passed_ms=held_ms[-1])
    found = windows(messages)
    skipped = [own["window"] for own in found if "skipped" in own]
    assert skipped[:2] == [
        ["1969-12-31T23:59:00.000000Z", "1970-01-01T00:01:00.000000Z"],
        ["1970-01-01T00:00:00.000000Z", "1970-01-01T00:02:00.000000Z"],
    ]
    # Two for each of the points that were dropped: the two, and the oldest of the seven.
    assert len(skipped) == 6
    assert any(own.get("points") for own in found)
    for cut in range(1, len(messages)):
        clusters = Clusters()
        before = run(messages[:cut], clusters)
        after = run(messages[cut:], Clusters.of_bytes(clusters.to_bytes()))
        assert [own for own in values([*before, *after]) if own["record"] == "window"] == found


def test_the_windows_of_many_dropped_points_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dropped, "WINDOWS_MAX", 10)
    times_ms = [n * YEAR_MS for n in range(60)]
    found = windows(messages_of(times_ms, passed_ms=60 * YEAR_MS))
    skipped = [own for own in found if "skipped" in own]
    assert len(skipped) == 10
    assert [own["points"] for own in found if "skipped" not in own and own["points"]] == [1] * 12


def test_a_window_whose_points_were_all_dropped_is_not_written_as_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dropped, "WINDOWS_MAX", 10)
    # The first point is in windows that are written. Then a point a minute comes, of which most are dropped.
    minutes = range(60)
    records = [record(60_000 * n, n) for n in minutes]
    marks = [Watermarks({"ts": 60_000 * n * MS}).text() for n in (-2, 1, 61)]
    messages = [settings(MINUTES, limit=LIMIT).text(), marks[0], *texts([records[0].message()]), marks[1]]
    messages += [*texts(own.message() for own in records[1:]), marks[2]]
    found = [("skipped" if "skipped" in own else own["points"]) for own in windows(messages)]
    assert found == [1, *["skipped"] * 10, *[2] * 5, 1]


def test_a_state_of_form_1_skips_the_windows_between_its_positions() -> None:
    times_ms = [60_000 * n for n in range(9)]
    messages = messages_of(times_ms, passed_ms=times_ms[-1])
    clusters = Clusters()
    run(messages[:-1], clusters)
    content = clusters.to_bytes()
    size = int.from_bytes(content[:8], "big")
    head = json.loads(content[8 : 8 + size])
    ((*_, (progress,)),) = head["tracks"]
    assert head["form"] == 2
    ranges, newest = progress[7]
    assert ranges == [[-1, 2]]
    head["form"], progress[7] = 1, [0, 120_000 * MS, newest]
    old = json.dumps(head).encode()
    read = Clusters.of_bytes(len(old).to_bytes(8, "big") + old + content[8 + size :])
    assert read.to_bytes() == content
