"""Events against plain loops over the observations of one object and one query, in any cut."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asc.errors import FeedFormError
from asc.operators.events.bucket import Bucket, Event
from asc.operators.events.event_query import KINDS, OP, EventQuery
from asc.operators.exclusions import KEY_BYTES_MAX
from asc.operators.feed import Message, Observation, Settings, Watermarks

SECOND = 1_000_000
OVER = EventQuery("over", "overs", "t", "ts", ("over",), KINDS, 0, 300 * SECOND)
SLOW = EventQuery("slow", "slows", "t", "ts", ("slow",), KINDS, 30 * SECOND, 60 * SECOND)


def standing(*queries: EventQuery, **more: Any) -> Settings:
    return replace(Settings(OP, "flights", False, 1_000, tuple(query.settings() for query in queries)), **more)


SETTINGS = standing(OVER, SLOW)


def seen(key: str | None, offset: int, second: int | None, *accepted: str, **more: Any) -> Observation:
    time_us = None if second is None else second * SECOND
    plain = Observation(OP, "t", key, time_us, (7.5, 47.0), 0, offset, accepted)
    return replace(plain, **more)


def events_of(messages: Sequence[Message], cuts: Sequence[int] = ()) -> tuple[list[Event], Bucket]:
    """The events of messages that come in several parts; between two of them the state is what its bytes say."""
    bucket, found = Bucket(), list[Event]()
    for low, high in zip([0, *cuts], [*cuts, len(messages)], strict=True):
        found += bucket.read([message.text() for message in messages[low:high]])
        counts = bucket.counts
        bucket = Bucket.of_bytes(bucket.to_bytes())
        bucket.counts = counts
    return found, bucket


def summaries(events: Sequence[Event]) -> list[tuple[str, str, int]]:
    """Query (or query/shape), kind and offset of events."""
    found = []
    for event in events:
        name, kind, source = event.identity.split(":")
        found.append((name, kind, int(source.rpartition("-")[2])))
    return found


def test_enter_and_exit_alternate_and_come_at_first_sight() -> None:
    messages = [
        SETTINGS,
        seen("a", 1, 10, "over"),
        seen("b", 2, 10),
        seen("a", 3, 20, "over"),
        seen("a", 4, 30),
        seen("b", 5, 40, "over"),
        seen("a", 6, 50),
    ]
    events, _ = events_of(messages)
    assert summaries(events) == [("over", "enter", 1), ("over", "exit", 4), ("over", "enter", 5)]
    assert events[1] == Event(
        "overs",
        "a",
        '{"query":"over","shape":null,"event":"exit","time":"1970-01-01T00:00:30.000000Z",'
        '"since":"1970-01-01T00:00:30.000000Z","position":[7.5,47.0],"source":"flights-0-4"}',
        "over:exit:flights-0-4",
        "over",
        "flights-0-4",
        "exit",
    )


def test_a_dwell_is_waited_for_on_both_sides() -> None:
    inside = [seen("a", 1 + i, 10 * i, "slow") for i in range(5)]
    outside = [seen("a", 10, 50), seen("a", 11, 60, "slow"), seen("a", 12, 70), seen("a", 13, 100)]
    events, _ = events_of([SETTINGS, *inside, *outside])
    # A look outside that ends before the dwell is none.
    assert summaries(events) == [("slow", "enter", 4), ("slow", "exit", 13)]
    assert [json.loads(event.value)["since"][17:19] for event in events] == ["00", "10"]


def test_each_shape_of_a_query_is_entered_on_its_own() -> None:
    messages = [SETTINGS, seen("a", 1, 0, "over/CHE"), seen("a", 2, 1, "over/CHE", "over/FRA"), seen("a", 3, 2)]
    events, _ = events_of(messages)
    assert summaries(events) == [
        ("over/CHE", "enter", 1),
        ("over/FRA", "enter", 2),
        ("over/CHE", "exit", 3),
        ("over/FRA", "exit", 3),
    ]
    assert json.loads(events[0].value)["shape"] == "CHE"
    assert json.loads(events[0].value)["query"] == "over"


def test_what_is_no_observation_is_counted_and_changes_nothing() -> None:
    wrong = [
        (seen(None, 9, 11), "key"),
        (seen("k" * (KEY_BYTES_MAX + 1), 9, 11), "key"),
        (seen("a", 9, None), "time"),
        (seen("a", 9, 300_000_000_000), "time"),
        (seen("a", 9, None, is_future=True), "future_timestamp"),
        (seen("a", 9, 11, position=(7.5, None)), "position"),
        (seen("a", 9, 11, position=(7.5, float("inf"))), "position"),
        (seen("a", 9, 11, position=(7.5, 91.0)), "position"),
        (seen("a", 9, 11, partition=1), "partition"),
        (seen("a", 2, 11), "unordered"),
        (seen("a", 1, 11), "unordered"),
        (seen("a", 9, 9), "stale"),
    ]
    first = [SETTINGS, seen("a", 1, 10, "over"), seen("a", 2, 10, "over")]
    events, bucket = events_of([*first, *(each for each, _ in wrong), seen("a", 9, 12)])
    assert summaries(events) == [("over", "enter", 1), ("over", "exit", 9)]
    assert bucket.counts.excluded == Counter(reason for _, reason in wrong)
    assert bucket.counts.observations == 3
    bucket = Bucket()
    assert list(bucket.read([b"{", b"[]", b'{"v":2,"op":"events","t":"t"}', b"null"])) == []
    wrong_query = {**OVER.settings().plain(), "definition": {}}
    wrong_settings = {"v": 2, "op": OP, "settings": {**SETTINGS.plain(), "queries": [wrong_query]}}
    assert list(bucket.read([json.dumps(wrong_settings)])) == []
    assert bucket.counts.excluded == {"unreadable": 5}


def test_a_plane_has_other_positions_than_the_earth() -> None:
    planar = replace(SETTINGS, is_planar=True)
    events, _ = events_of([planar, seen("a", 1, 10, "over", position=(5e6, 1e7))])
    assert summaries(events) == [("over", "enter", 1)]


def test_what_is_not_seen_any_more_is_lost_and_forgotten() -> None:
    first = [SETTINGS, seen("a", 1, 0, "over", "slow"), seen("a", 2, 40, "over", "slow"), seen("b", 3, 40)]

    def after(*seconds: int) -> tuple[list[tuple[str, str, int]], int]:
        events, bucket = events_of([*first, *(Watermarks({"ts": s * SECOND}) for s in seconds)])
        return summaries(events)[2:], bucket.held

    assert after(99) == ([], 2)
    assert after(100) == ([("slow", "lost", 2)], 2)
    assert after(100, 339) == ([("slow", "lost", 2)], 2)
    assert after(340) == ([("over", "lost", 2), ("slow", "lost", 2)], 0)
    assert after(100, 340) == ([("slow", "lost", 2), ("over", "lost", 2)], 0)
    events, _ = events_of([*first, Watermarks({"ts": 340 * SECOND}), seen("a", 4, 350, "over")])
    assert summaries(events)[-1] == ("over", "enter", 4)


def test_a_query_that_is_gone_is_told_nothing_and_one_that_stands_goes_on() -> None:
    other = replace(SLOW, id="over2", selections=("over2",))
    messages = [
        SETTINGS,
        seen("a", 1, 0, "over"),
        standing(other),
        seen("a", 2, 1),
        SETTINGS,
        seen("a", 3, 2),
        seen("a", 4, 3, "over"),
        standing(replace(OVER, topic="elsewhere")),
        seen("a", 5, 4),
    ]
    events, _ = events_of(messages)
    assert summaries(events) == [("over", "enter", 1), ("over", "enter", 4), ("over", "exit", 5)]
    assert events[-1].topic == "elsewhere"
    # Without queries nothing is held.
    assert events_of([*messages, standing()])[1].held == 0


def test_a_query_that_was_removed_and_registered_again_between_two_batches_begins_anew() -> None:
    own = replace(OVER, since=3)
    first = [standing(own), seen("a", 1, 0, "over"), seen("b", 2, 0, "over")]
    again = standing(replace(own, selections=("over5",), since=9))
    events, bucket = events_of([*first, again, seen("a", 3, 1, "over"), seen("b", 4, 1, "over", "over5")])
    # No exit of an object that the new query has not had inside.
    assert summaries(events) == [("over", "enter", 1), ("over", "enter", 2), ("over", "enter", 4)]
    assert bucket.held == 2
    # A replacement is of the same registration. A query that watches the track meanwhile goes on.
    replaced = standing(replace(own, selections=("over5",)))
    assert summaries(events_of([*first, replaced, seen("a", 3, 1, "over")])[0])[2:] == [("over", "exit", 3)]
    other = replace(OVER, id="other", since=4)
    both, later = standing(own, other), standing(replace(own, since=9), other)
    events, _ = events_of([both, seen("a", 1, 0, "over"), later, seen("a", 2, 1)])
    assert summaries(events) == [("other", "enter", 1), ("over", "enter", 1), ("other", "exit", 2)]


def test_no_more_objects_are_held_than_have_room() -> None:
    few = replace(SETTINGS, limit=2)
    events, bucket = events_of([few, *(seen(key, i, i, "over") for i, key in enumerate("abcab"))])
    assert summaries(events) == [("over", "enter", 0), ("over", "enter", 1)]
    assert (bucket.held, bucket.counts.excluded) == (2, {"capacity": 1})


def test_a_watermark_beyond_all_times_in_a_state_of_the_version_before_is_forgotten() -> None:
    _, bucket = events_of([SETTINGS, seen("a", 1, 10, "over")])
    plain = json.loads(bucket.to_bytes())
    plain["tracks"]["t"][0] = 9 * 10**18
    again = Bucket.of_bytes(json.dumps(plain).encode())
    assert summaries([*again.read([Watermarks({"ts": 310 * SECOND}).text()])]) == [("over", "lost", 1)]


def test_a_state_of_another_form_is_refused() -> None:
    with pytest.raises(FeedFormError, match="form of the state of events 99: run the version that wrote it"):
        Bucket.of_bytes(b'{"form": 99, "settings": {}}')


def plain_events(messages: Sequence[Observation], query: EventQuery, name: str) -> list[tuple[str, str, int]]:
    """Enter and exit of one query (or shape), by plain loops over each object's own records, without a state that is
    carried: a kind for each observation by looking back from it.
    """
    objects: dict[str, list[Observation]] = defaultdict(list)
    for one in messages:
        assert one.key is not None
        before = objects[one.key]
        if one.time_us is None or any(one.offset <= e.offset or one.time_us < (e.time_us or 0) for e in before):
            continue
        before.append(one)
    found = []
    for own in objects.values():
        is_inside = False
        for at, one in enumerate(own):
            is_accepted = name in one.selections
            start = at
            while start > 0 and (name in own[start - 1].selections) == is_accepted:
                start -= 1
            if is_accepted != is_inside and (one.time_us or 0) - (own[start].time_us or 0) >= query.dwell_us:
                is_inside = is_accepted
                found.append((name, "enter" if is_accepted else "exit", one.offset))
    return sorted(found)


NAMES = ("over", "over/CHE", "slow")


@st.composite
def observations(draw: st.DrawFn) -> list[Observation]:
    offset, found = 0, []
    for _ in range(draw(st.integers(0, 30))):
        offset += draw(st.sampled_from([1, 1, 1, 2, 0, -1]))
        accepted = sorted(draw(st.sets(st.sampled_from(NAMES))))
        second = draw(st.one_of(st.none(), st.integers(0, 200)))
        found.append(seen(draw(st.sampled_from("abc")), max(offset, 0), second, *accepted))
    return found


@settings(deadline=None, max_examples=60)
@given(observations(), st.sets(st.integers(1, 30)), st.lists(st.tuples(st.integers(0, 30), st.integers(0, 500))))
def test_any_cut_gives_the_events_of_plain_loops(
    found: list[Observation], cuts: set[int], watermarks: list[tuple[int, int]]
) -> None:
    messages: list[Message] = [SETTINGS, *found]
    whole, _ = events_of(messages)
    parts, _ = events_of(messages, sorted(cut for cut in cuts if cut < len(messages)))
    assert parts == whole
    by_name = {
        name: sorted(each for each in summaries(whole) if each[0] == name and each[1] != "lost") for name in NAMES
    }
    assert by_name == {name: plain_events(found, SLOW if name == "slow" else OVER, name) for name in NAMES}
    for place, second in sorted(watermarks, reverse=True):
        messages.insert(min(1 + place, len(messages)), Watermarks({"ts": second * SECOND}))
    whole, bucket = events_of(messages)
    parts, cut_bucket = events_of(messages, sorted(cut for cut in cuts if cut < len(messages)))
    assert parts == whole
    assert cut_bucket.to_bytes() == bucket.to_bytes()
    _check_order(whole)


@settings(deadline=None, max_examples=60)
@given(observations(), st.lists(st.tuples(st.integers(0, 30), st.sampled_from([SETTINGS, 150, 600, standing(SLOW)]))))
def test_the_numbers_inside_are_those_of_a_state_that_has_no_numbers(
    found: list[Observation], others: list[tuple[int, Settings | int]]
) -> None:
    messages: list[Message] = [SETTINGS, *found]
    for place, other in others:
        message = other if isinstance(other, Settings) else Watermarks({"ts": other * SECOND})
        messages.insert(min(1 + place, len(messages)), message)
    bucket = Bucket()
    for message in messages:
        list(bucket.read([message.text()]))
        state = bucket.to_bytes()
        plain = json.loads(state)
        # As an earlier version wrote it: the numbers come from a walk over the objects.
        del plain["inside"]
        counted = Bucket.of_bytes(json.dumps(plain, separators=(",", ":")).encode())
        assert counted.to_bytes() == state
        list(counted.read([]))
        assert counted.counts.latest == bucket.counts.latest


def _check_order(events: Sequence[Event]) -> None:
    """Of an object and a name, what enters has left or was lost before, and the other way round."""
    last: dict[tuple[str, str], str] = {}
    for event in events:
        name, kind, _ = event.identity.split(":")
        before = last.get((event.key, name), "exit")
        assert (kind == "enter") == (before in ("exit", "lost")), (before, event)
        last[event.key, name] = kind
