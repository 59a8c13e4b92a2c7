"""Windows by counts, of a track that drops points beyond its capacity."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as sized
from hypothesis import strategies as st

from asc.operators.dbscan.chains import Labels
from asc.operators.dbscan.clusters import Clusters
from asc.operators.dbscan.points import Ints, Points
from asc.operators.dbscan.progress import DueWindow
from asc.operators.dbscan.records import DbscanOutput
from asc.operators.feed import Message, Watermarks
from tests.asc.operators.dbscan.model import MS, Record, expected, feed, query, run, settings, texts, values

LIMIT = 2
"""The points of a window. The track holds three times as many."""
FORWARD_MS = 12

HOLDING = query("holding", window=900 * MS, slide=900 * MS)
COUNTED = query("counted", selections=("r",), is_timed=False, window=2, slide=2, members="all", min_samples=1)


def record(time_ms: float, offset: int, *selections: str) -> Record:
    return Record(int(time_ms * MS), (float(offset), 0.0), selections or ("r",), offset)


def messages_of(records: Iterable[Record]) -> list[str]:
    return texts(own.message() for own in records)


def passed(time_ms: int) -> str:
    return Watermarks({"ts": time_ms * MS}).text()


def results(outputs: Sequence[DbscanOutput]) -> dict[tuple[int, int], list[int] | str]:
    """The numbers of each window of the query ``counted``: with the offsets of its points, or with the reason why it is
    skipped.
    """
    found: dict[tuple[int, int], list[int] | str] = {}
    offsets: list[int] = []
    for output in (own for own in outputs if own.query == "counted"):
        if output.kind == "member":
            offsets.append(int(output.source.rpartition("-")[2]))
        elif output.kind == "window":
            value: dict[str, Any] = json.loads(output.value)
            first, last = value["window"]
            found[first, last] = value.get("skipped", offsets)
            offsets = []
    return found


def in_two(messages: Sequence[str], cut: int) -> list[DbscanOutput]:
    """The outputs of messages, with the state written and read between two of them."""
    clusters = Clusters()
    outputs = run(messages[:cut], clusters)
    return outputs + run(messages[cut:], Clusters.of_bytes(clusters.to_bytes()))


@pytest.mark.parametrize("repeats", [(), (0,), (7, 7), (0, 7, 8), range(9)])
def test_a_window_whose_point_was_dropped_on_arrival_is_skipped(repeats: Sequence[int]) -> None:
    # The seventh point drops the first one. The point at 12 ms is before that one, though its query lost none.
    records = [*(record(15 + n, n, "s") for n in range(7)), record(12, 7), record(30, 8)]
    messages = [settings(HOLDING, COUNTED, limit=LIMIT).text(), *messages_of(records)]
    messages += messages_of(records[place] for place in repeats)
    messages += [*messages_of([record(31, 9)]), passed(40), *messages_of([record(41, 10)]), passed(50)]
    clusters = Clusters()
    outputs = run(messages, clusters)
    assert results(outputs) == {(1, 2): "capacity", (3, 4): [9, 10]}
    assert clusters.counts.excluded["capacity"] >= 1
    (skipped,) = [own for own in outputs if own.identity == "counted:2"]
    assert skipped.source == "flights-0-8"
    for cut in range(len(messages)):
        assert in_two(messages, cut) == outputs
    assert run([text for each in messages for text in (each, each)]) == outputs


@pytest.mark.parametrize("watermark_ms", [0, -5])
@pytest.mark.parametrize("again", [[], [0], [1], [0, 1, 0], [1, 2, 7]])
def test_a_repeat_of_a_dropped_point_skips_no_further_window(watermark_ms: int, again: Sequence[int]) -> None:
    # Two of eight points are dropped: those of the first window, which is then written before they are settled.
    records = [record(n, n) for n in range(8)]
    messages = [settings(COUNTED, limit=LIMIT).text(), passed(-9), *messages_of(records)]
    messages += messages_of(records[place] for place in again)
    messages += [passed(watermark_ms), *messages_of(records[place] for place in again), passed(20)]
    outputs = run(messages)
    assert results(outputs) == {(1, 2): "capacity", (3, 4): [2, 3], (5, 6): [4, 5], (7, 8): [6, 7]}
    for cut in range(len(messages)):
        assert in_two(messages, cut) == outputs


def test_a_point_that_may_be_a_repeat_moves_no_number() -> None:
    records = [record(n, n) for n in range(8)]
    start = [settings(COUNTED, limit=LIMIT).text(), *messages_of(records)]
    # Points 0 and 1 are dropped. One between them and one before them come late.
    found = run([*start, *messages_of([record(0.5, 20), record(-1, 21)]), passed(20)])
    assert results(found) == results(run([*start, passed(20)]))


def test_points_dropped_on_arrival_are_numbered_as_they_come() -> None:
    early = [record(15 + n / 10, n, "s") for n in range(7)]
    late = [record(5 + n, 10 + n) for n in range(5)]
    messages = [settings(HOLDING, COUNTED, limit=LIMIT).text(), *messages_of([*early, *late]), passed(5)]
    rest = [*messages_of(record(30 + n, 20 + n) for n in range(3)), passed(50)]
    # Five came, of which the windows from 1 and 3 on are told at once.
    assert results(run([*messages, *rest])) == {
        (1, 2): "capacity",
        (3, 4): "capacity",
        (5, 6): "capacity",
        (7, 8): [21, 22],
    }


# -- any streams


@st.composite
def batches_of(draw: st.DrawFn, *, is_ordered: bool) -> list[list[Record]]:
    """Batches of records within the lateness, of which those of ``s`` are before those of ``r``. With ``is_ordered``,
    those of ``r`` are in the order of time.
    """
    found: list[list[Record]] = []
    now_ms, offset = 0, 0
    steps = st.tuples(st.integers(0, 3), st.integers(0, FORWARD_MS), st.sampled_from("sssr"))
    for _ in range(draw(st.integers(1, 4))):
        batch = []
        for step, forward_ms, selection in draw(st.lists(steps, min_size=1, max_size=16)):
            now_ms += step
            is_now = is_ordered and selection == "r"
            batch.append(record(now_ms + (0 if is_now else forward_ms), offset, selection))
            offset += 1
        found.append(batch)
    return found


@sized(max_examples=80)
@given(batches=batches_of(is_ordered=True))
def test_windows_of_points_in_order_have_the_numbers_of_the_specification(batches: list[list[Record]]) -> None:
    records = [own for batch in batches for own in batch]
    messages = feed(batches, FORWARD_MS * MS, HOLDING, COUNTED, limit=LIMIT)
    watermark_us = _last_watermark(messages)
    wanted = [own for own in expected(records, COUNTED, watermark_us) if own["record"] == "window"]
    found = [own for own in values(run(texts(messages)), "counted") if own["record"] == "window"]
    # Skipped windows of dropped points may be written before the watermark.
    assert [own["window"] for own in found[: len(wanted)]] == [own["window"] for own in wanted]
    assert all("skipped" in own for own in found[len(wanted) :])
    for own, other in zip(found, wanted, strict=False):
        assert "skipped" in own or (own["points"], own["sample"]) == (other["points"], other["sample"])


@sized(max_examples=80)
@given(batches=batches_of(is_ordered=False), slide=st.integers(1, 3))
def test_a_window_that_is_written_lacks_no_point(batches: list[list[Record]], slide: int) -> None:
    own = query("counted", selections=("r", "q"), is_timed=False, window=3, slide=slide)
    both = query("both", selections=("r", "s"), is_timed=False, window=3, slide=slide)
    windows: list[tuple[str, list[int]]] = []

    def take(due: DueWindow, points: Points, rows: Ints, _: Labels) -> None:
        windows.append((due.progress.query.id, points.offset[rows].tolist()))

    clusters = Clusters(on_labels=take)
    run(texts(feed(batches, FORWARD_MS * MS, HOLDING, own, both, limit=3)), clusters)
    records = sorted((each for batch in batches for each in batch), key=lambda each: (each.time_us, each.offset))
    for name, offsets in windows:
        accepted = [each.offset for each in records if name == "both" or "r" in each.selections]
        first = accepted.index(offsets[0])
        assert offsets == accepted[first : first + 3]


def _last_watermark(messages: Sequence[Message]) -> int:
    return max(own.by_time["ts"] for own in messages if isinstance(own, Watermarks))
