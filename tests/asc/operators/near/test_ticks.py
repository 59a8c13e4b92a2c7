"""Pairs against plain loops over all observations of all objects, in any cut."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asc.errors import FeedFormError
from asc.operators.feed import Message, Observation, Settings, Watermarks
from asc.operators.near.near_query import OP, NearQuery
from asc.operators.near.pair_tick import PairEvent
from asc.operators.near.positions import Positions
from asc.operators.near.ticks import Ticks
from asc.spatial.shape import distance_sphere_m

SECOND = 1_000_000
NEAR = NearQuery("close", "closes", "n1", "ts", ("close",), ("pair",), 1_000.0, 30 * SECOND, 10 * SECOND)
CHANGES = replace(NEAR, kinds=("near", "apart"))
DEGREE_M = 111_195


def standing(*queries: NearQuery, limit: int = 1_000) -> Settings:
    return Settings(OP, "flights", False, limit, tuple(query.settings() for query in queries))


def seen(key: str | None, offset: int, second: float | None, metres: float = 0, **more: Any) -> Observation:
    """An object so many metres north of a place."""
    time_us = None if second is None else round(second * SECOND)
    plain = Observation(OP, "n1", key, time_us, (7.5, 47 + metres / DEGREE_M), 0, offset, ("close",))
    return replace(plain, **more)


def passed(second: float) -> Watermarks:
    return Watermarks({"ts": round(second * SECOND)})


def outputs_of(messages: Sequence[Message], cuts: Sequence[int] = (), pairs_max: int = 1_000) -> list[PairEvent]:
    return ticks_of(messages, cuts, pairs_max)[0]


def ticks_of(
    messages: Sequence[Message], cuts: Sequence[int] = (), pairs_max: int = 1_000
) -> tuple[list[PairEvent], Ticks]:
    """What is told of messages that come in several parts; between two of them the state is what its bytes say."""
    ticks, found = Ticks(pairs_max), list[PairEvent]()
    for low, high in zip([0, *cuts], [*cuts, len(messages)], strict=True):
        found += ticks.read([message.text() for message in messages[low:high]])
        counts = ticks.counts
        ticks = Ticks.of_bytes(ticks.to_bytes(), pairs_max)
        ticks.counts = counts
    return found, ticks


def named(events: Sequence[PairEvent]) -> list[tuple[str, str, str, str]]:
    """Kind, second of the tick, and the keys of the two."""
    found = []
    for event in events:
        plain = json.loads(event.value)
        assert json.loads(event.key) == plain["keys"]
        assert event.identity == f"{event.query}:{event.kind}:{plain['time']}:{event.key}"
        found.append((event.kind, plain["time"][17:19], *plain["keys"]))
    return found


def test_the_last_positions_before_each_tick_are_compared() -> None:
    messages = [
        standing(NEAR),
        seen("b", 1, 1),
        seen("a", 2, 2, 900),
        seen("c", 3, 3, 5_000),
        passed(10),
        seen("a", 4, 11, 4_500),
        passed(10.5),
        passed(20.5),
        passed(100),
    ]
    events = outputs_of(messages)
    # A tick is final when the watermark is past it. Each object is where it was seen last for 30 s, not longer.
    assert named(events) == [("pair", "10", "a", "b"), ("pair", "20", "a", "c"), ("pair", "30", "a", "c")]
    assert events[0] == PairEvent(
        "closes",
        '["a","b"]',
        '{"query":"close","event":"pair","time":"1970-01-01T00:00:10.000000Z","distance_m":900.001,"keys":["a","b"],'
        '"times":["1970-01-01T00:00:02.000000Z","1970-01-01T00:00:01.000000Z"],'
        f'"positions":[[7.5,{47 + 900 / DEGREE_M}],[7.5,47.0]],"sources":["flights-0-2","flights-0-1"]}}',
        'close:pair:1970-01-01T00:00:10.000000Z:["a","b"]',
        "close",
        "flights-0-2",
        "pair",
    )


def test_a_window_is_open_where_it_begins_and_closed_where_it_ends() -> None:
    messages = [standing(NEAR), seen("a", 1, 10), seen("b", 2, 40), passed(41)]
    assert outputs_of(messages) == []
    assert named(outputs_of([standing(NEAR), seen("a", 1, 10.000001), seen("b", 2, 40), passed(41)])) == [
        ("pair", "40", "a", "b")
    ]
    # Of two at one time the later offset.
    tie = [standing(NEAR), seen("a", 1, 5, 5_000), seen("a", 2, 5), seen("b", 3, 5), seen("b", 2, 5, 5_000), passed(11)]
    assert named(outputs_of(tie)) == [("pair", "10", "a", "b")]


def test_changes_are_what_differs_from_tick_to_tick() -> None:
    messages = [
        standing(CHANGES),
        seen("a", 1, 1),
        seen("b", 2, 1),
        passed(11),
        seen("b", 3, 12, 500),
        passed(21),
        seen("b", 4, 22, 9_000),
        passed(31),
        seen("a", 5, 32, 9_000),
        passed(200),
    ]
    events = outputs_of(messages)
    assert named(events) == [
        ("near", "10", "a", "b"),
        ("apart", "30", "a", "b"),
        ("near", "40", "a", "b"),
        # b was seen at 22 s last, and is nowhere after 52 s.
        ("apart", "00", "a", "b"),
    ]
    # What is apart is told as it was when it was near last.
    apart = json.loads(events[1].value)
    assert (apart["distance_m"], apart["sources"]) == (500.0, ["flights-0-1", "flights-0-3"])
    only = [standing(replace(CHANGES, kinds=("apart",))), *messages[1:]]
    assert named(outputs_of(only)) == [event for event in named(events) if event[0] == "apart"]


def test_with_a_condition_both_ticks_are_told_for_spark_to_judge() -> None:
    query = replace(CHANGES, condition="a.z = b.z")
    messages = [
        standing(query),
        seen("a", 1, 1, carried='{"z":1}'),
        seen("b", 2, 1, carried='{"z":2}'),
        passed(11),
        seen("b", 3, 12, carried='{"z":1}'),
        passed(21),
        seen("b", 4, 22, 9_000, carried="{}"),
        passed(31),
    ]
    found = [(each.kind, each.own, each.other) for each in outputs_of(messages)]
    first, then = ('{"z":1}', '{"z":2}'), ('{"z":1}', '{"z":1}')
    assert found == [
        ("near", first, None),
        ("near", then, first),
        ("apart", first, then),
        ("apart", then, None),
    ]


def test_what_is_no_observation_is_counted_and_changes_nothing() -> None:
    wrong = [
        (seen(None, 9, 5), "key"),
        (seen("c", 9, None), "time"),
        (seen("c", 9, None, is_future=True), "future_timestamp"),
        (seen("c", 9, 5, position=(7.5, None)), "position"),
        (seen("c", 9, 5, position=(7.5, 91.0)), "position"),
        (seen("c", 9, 15, carried="x" * 512), "too_large"),
        (seen("c", 9, 5, position=()), "position"),
        (seen("c", 9, 5, position=(7.5,)), "position"),
        (seen("c", 9, 5, position=(7.5, 47.0, 7.5, 47.0)), "position"),
        (seen("c", 9, 5, position=(10**400, 47.0)), "position"),
        (seen("c", 9, 5, position=(False, 47.0)), "position"),
        (seen("c", 9, -10), "late"),
        (seen("c", 9, -10.5), "late"),
    ]
    first = [standing(NEAR), seen("a", 1, 1), seen("b", 2, 1), passed(11)]
    others = [seen("c", 3, 15, selections=()), seen("c", 4, 15, track="n2")]
    events, ticks = ticks_of([*first, *(each for each, _ in wrong), *others, passed(21)])
    assert named(events) == [("pair", "10", "a", "b"), ("pair", "20", "a", "b")]
    counted = {reason: sum(1 for _, other in wrong if other == reason) for _, reason in wrong}
    assert ticks.counts.excluded == counted
    assert ticks.counts.observations == 2
    # What is after the last final tick is in time, though the watermark is past it.
    assert named(outputs_of([*first, passed(15), seen("c", 3, 12), passed(21)]))[-1] == ("pair", "20", "b", "c")


def test_what_is_late_for_some_ticks_counts_in_those_that_are_not_final() -> None:
    first = [standing(NEAR), seen("a", 1, 12), seen("b", 2, 12, 9_000), passed(21)]
    # At 20 the tick of 20 is final, that of 30 has (0, 30].
    assert named(outputs_of([*first, seen("c", 3, 0.1), seen("d", 4, 20), seen("a", 5, 11), passed(31)])) == [
        ("pair", "30", "a", "c"),
        ("pair", "30", "a", "d"),
        ("pair", "30", "c", "d"),
    ]
    assert outputs_of([*first, seen("c", 3, 0), passed(31)]) == []
    # In no tick at all, which no tick that is final makes late.
    brief = replace(NEAR, window_us=3 * SECOND)
    _, ticks = ticks_of([standing(brief), seen("a", 1, 12), passed(21), seen("b", 2, 22), seen("c", 3, 20)])
    assert ticks.counts.excluded == {"late": 1}


def test_a_tick_with_too_many_pairs_is_excluded_and_the_next_is_compared_with_the_one_before() -> None:
    crowd = [seen(f"c{i}", 10 + i, 12) for i in range(4)]
    gone = [seen(f"c{i}", 20 + i, 22, 5_000 * (i + 1)) for i in range(4)]
    messages = [standing(CHANGES), seen("a", 1, 1), seen("b", 2, 1), passed(11), *crowd, passed(21), *gone, passed(31)]
    events, ticks = ticks_of(messages, pairs_max=14)
    assert named(events) == [("near", "10", "a", "b")]
    assert ticks.counts.excluded == {"too_many_pairs": 1}
    # Six objects have fifteen pairs.
    assert len(outputs_of(messages, pairs_max=15)) == 1 + 14 + 14


def test_queries_that_come_change_and_go() -> None:
    other = replace(NEAR, id="far", selections=("far",), topic="fars", distance_m=20_000.0)
    both = ("close", "far")
    messages: list[Message] = [
        standing(NEAR, other),
        seen("a", 1, 1, selections=both),
        seen("b", 2, 1, 5_000, selections=both),
        passed(11),
        standing(NEAR),
        passed(21),
        standing(NEAR, other),
        passed(31),
        standing(replace(NEAR, distance_m=6_000.0)),
        seen("a", 3, 32),
        seen("b", 4, 32, 5_000),
        passed(41),
    ]
    events, ticks = ticks_of(messages)
    found = [(event.query, event.topic, *named([event])[0][1:]) for event in events]
    # What is gone knows nothing when it comes again; what looks farther goes on with what it has.
    assert found == [("far", "fars", "10", "a", "b"), ("close", "closes", "40", "a", "b")]
    assert ticks.held == 2
    # Other ticks begin after those that were final.
    slower = replace(NEAR, every_us=20 * SECOND, window_us=60 * SECOND, distance_m=9_000.0)
    more = [*messages[:4], standing(slower), seen("a", 3, 5, 0), seen("b", 4, 15), seen("a", 5, 15), passed(21)]
    assert named(outputs_of(more))[-1] == ("pair", "20", "a", "b")


def test_a_query_that_was_removed_and_registered_again_between_two_batches_begins_anew() -> None:
    own = replace(CHANGES, since=3)
    first = [standing(own), seen("a", 1, 1), seen("b", 2, 1), passed(11), seen("a", 3, 12), seen("b", 4, 12)]
    other = replace(own, selections=("high",))
    apart = [seen(key, 5 + offset, 22, 9_000 * offset, selections=("high",)) for offset, key in enumerate("ab")]
    events, ticks = ticks_of([*first, standing(replace(other, since=9)), passed(21), *apart, passed(31)])
    assert named(events) == [("near", "10", "a", "b")]
    assert ticks.held == 2
    # A replacement is of the same registration, and keeps the positions of the former predicate.
    replaced = [*first, standing(other), passed(21), *apart, passed(31)]
    assert named(outputs_of(replaced)) == [("near", "10", "a", "b"), ("apart", "30", "a", "b")]


def test_no_more_is_held_than_has_room_whatever_the_cut() -> None:
    messages: list[Message] = [standing(NEAR, limit=3)]
    messages += [seen(key, i, 1 + i) for i, key in enumerate("abcadeb")]
    messages += [passed(11)]
    for cuts in ((), (3,), (2, 5, 6)):
        events, ticks = ticks_of(messages, cuts)
        assert len(events) == 3
        assert ticks.counts.excluded == {"capacity": 2}, cuts
        assert ticks.counts.observations == 5


def test_a_query_that_comes_again_tells_nothing_of_ticks_that_were_told() -> None:
    """What it told of them has the same identity, and would be other bytes."""
    first = [standing(NEAR), seen("a", 1, 1), seen("b", 2, 1), passed(31), standing()]
    again = [*first, standing(NEAR), seen("c", 3, 2), seen("d", 4, 2), passed(25), passed(41)]
    for cuts in ((), (4, 5, 6)):
        found, ticks = ticks_of(again, cuts)
        assert named(found) == [("pair", second, "a", "b") for second in ("10", "20", "30")]
        assert ticks.counts.excluded == {"late": 2}
    # One of another id, on the same track.
    other = replace(NEAR, id="other", selections=("other",))
    late = [seen(key, 9, 0, selections=("other",)) for key in "cd"]
    assert ticks_of([*first, standing(NEAR, other), *late, passed(41)])[1].counts.excluded == {"late": 2}


def test_of_a_tick_that_is_told_only_the_objects_of_its_pairs_are_held() -> None:
    alone = [seen(f"far{i}", 10 + i, 1, 2_000 * (i + 2)) for i in range(200)]
    first = [standing(CHANGES), *alone, seen("a", 1, 1), seen("b", 2, 1)]
    state = ticks_of([*first, passed(11)])[1].to_bytes()
    assert len(state) < len(ticks_of([*first])[1].to_bytes()) + 2_000
    events = outputs_of([*first, passed(11), seen("far7", 500, 22), seen("b", 501, 22, 900), passed(31)])
    assert named(events) == [("near", "10", "a", "b"), ("near", "30", "a", "far7"), ("near", "30", "b", "far7")]


def test_a_long_pause_is_no_work() -> None:
    """A day without records has 86,400 ticks, of which those with nobody are passed over."""
    quick = replace(NEAR, every_us=SECOND, window_us=2 * SECOND)
    messages = [standing(quick), seen("a", 1, 0.5), seen("b", 2, 0.5), passed(1e9), seen("a", 3, 1e9 + 0.5)]
    events = outputs_of([*messages, seen("b", 4, 1e9 + 0.5), passed(3e9)])
    assert len(events) == 4


def test_the_last_tick_of_the_last_year_is_told_and_no_tick_after_it() -> None:
    end_s = 253_402_300_800
    for query in (NEAR, CHANGES):
        messages = [standing(query), seen("a", 1, end_s - 11), seen("b", 2, end_s - 11), seen("a", 3, end_s - 5)]
        assert outputs_of([*messages, passed(end_s + 100)]) == []
        events, ticks = ticks_of([*messages, passed(end_s - 1), passed(end_s + 100)])
        assert [each.kind for each in events] == [query.kinds[0]]
        assert ticks.counts.excluded == {}


def test_a_watermark_beyond_all_times_in_a_state_of_the_version_before_is_forgotten() -> None:
    """It made all ticks final, and every record late."""
    _, ticks = ticks_of([standing(CHANGES, replace(NEAR, id="other")), seen("a", 1, 1), seen("b", 2, 1), passed(11)])
    content, far_us = ticks.to_bytes(), 9 * 10**18
    size = int.from_bytes(content[:8], "big")
    head = json.loads(content[8 : 8 + size])
    head["watermarks"]["ts"] = far_us
    for watch in head["watches"]:
        watch[2] = far_us
    text = json.dumps(head).encode()
    again = Ticks.of_bytes(len(text).to_bytes(8, "big") + text + content[8 + size :])
    later = [seen("a", 3, 101), seen("b", 4, 101), passed(111)]
    events = named([*again.read([message.text() for message in later])])
    assert [each for each in events if each[1] == "50"] == [("near", "50", "a", "b"), ("pair", "50", "a", "b")]
    assert again.counts.excluded == {}


def test_who_is_alone_is_looked_at_once_however_many_ticks_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []

    def counted(self: Positions, at_us: int, window_us: int) -> Any:
        looked.append(at_us)
        return passed_by(self, at_us, window_us)

    passed_by = Positions.passed
    monkeypatch.setattr(Positions, "passed", counted)
    quick = replace(CHANGES, every_us=SECOND, window_us=100 * SECOND)
    alone = [message for second in range(0, 1_000, 50) for message in (seen("a", second, second), passed(second + 49))]
    events = outputs_of([standing(quick), *alone, seen("b", 2_000, 1_000), passed(1_003)])
    assert named(events) == [("near", "40", "a", "b")]
    assert len(looked) == 20 + 4


def test_a_state_of_another_form_is_refused() -> None:
    content = Ticks().to_bytes().replace(b'"form":2', b'"form":9')
    with pytest.raises(FeedFormError, match="form of the state of pairs 9: run the version that wrote it"):
        Ticks.of_bytes(content)
    ticks = Ticks()
    wrong = [b"{", b"[]", b'{"v":2,"op":"near","t":"n1"}', b"null", b'{"v":2,"time":5}', b'{"v":2,"time":{"ts":"x"}}']
    surrogate = seen("?", 1, 1).text().replace("?", "\\ud800")
    assert list(ticks.read([standing(NEAR).text(), *wrong, surrogate, passed(11).text()])) == []
    assert ticks.counts.excluded == {"unreadable": 7}


def by_plain_loops(messages: Sequence[Message], query: NearQuery) -> list[tuple[str, str, str, str]]:
    """Every tick before every watermark, each found anew from all observations so far."""
    known: list[Observation] = []
    done_us, found, before = -(2**62), [], set[tuple[str, str]]()
    for message in messages:
        if isinstance(message, Observation):
            if message.time_us is not None and message.time_us > done_us + min(0, query.every_us - query.window_us):
                known.append(message)
        elif isinstance(message, Watermarks):
            last_us = (message.by_time["ts"] - 1) // query.every_us * query.every_us
            first_us = max(done_us + query.every_us, -200 * SECOND)
            for tick_us in range(first_us, last_us + 1, query.every_us):
                near = near_at(tick_us, known, query)
                second = f"{tick_us // SECOND % 60:02}"
                if query.kinds == ("pair",):
                    found += [("pair", second, *pair) for pair in sorted(near)]
                else:
                    found += [("near", second, *pair) for pair in sorted(near - before)]
                    found += [("apart", second, *pair) for pair in sorted(before - near)]
                before = near
            done_us = max(done_us, last_us)
    return found


def near_at(tick_us: int, known: Sequence[Observation], query: NearQuery) -> set[tuple[str, str]]:
    last: dict[str, Observation] = {}
    for one in known:
        assert one.key is not None
        assert one.time_us is not None
        if tick_us - query.window_us < one.time_us <= tick_us:
            other = last.get(one.key)
            if other is None or (one.time_us, one.offset) > (other.time_us or 0, other.offset):
                last[one.key] = one
    return {
        (a.key or "", b.key or "")
        for a, b in combinations(sorted(last.values(), key=lambda each: each.key or ""), 2)
        if distance_sphere_m(*a.position, *b.position) <= query.distance_m  # type: ignore[arg-type]
    }


@st.composite
def streams(draw: st.DrawFn) -> list[Message]:
    messages: list[Message] = []
    time_s = 0.0
    for offset in range(draw(st.integers(0, 40))):
        time_s += draw(st.sampled_from([0, 0.5, 1, 4, 9.5, 25]))
        if draw(st.integers(0, 4)) == 0:
            messages.append(passed(time_s - draw(st.sampled_from([0, 5, 10]))))
            continue
        late = draw(st.sampled_from([0, 0, 0, 3, 12]))
        key = draw(st.sampled_from("abcdé"))
        messages.append(seen(key, offset, time_s - late, draw(st.sampled_from([0, 400, 999, 1_000, 1_001, 2_500]))))
    return [*messages, passed(time_s + 100)]


@settings(max_examples=150, deadline=None)
@given(
    messages=streams(),
    kinds=st.sampled_from([("pair",), ("near", "apart")]),
    window_s=st.sampled_from([3, 10, 30]),
    cuts=st.lists(st.integers(0, 42), max_size=4),
)
def test_pairs_are_those_of_plain_loops_in_any_cut(
    messages: list[Message], kinds: tuple[str, ...], window_s: int, cuts: list[int]
) -> None:
    query = replace(NEAR, kinds=kinds, window_us=window_s * SECOND)
    own = [standing(query), *messages]
    events, ticks = ticks_of(own, sorted(min(cut, len(own)) for cut in cuts))
    assert named(events) == by_plain_loops(messages, query)
    # The last of each object is forgotten once no tick needs it.
    assert ticks.held == 0
