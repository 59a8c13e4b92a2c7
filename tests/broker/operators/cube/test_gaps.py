"""Gaps in event time: of disorder, of several partitions, of those that are silent; beside an oracle."""

from __future__ import annotations

import contextlib
import random
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asc.operators.cube.json_values import instant_of, instant_text
from asc.operators.times import FIRST_US, LAST_US
from broker.errors import CubeStoreError
from broker.operators.cube.coverage import BatchInterval
from broker.operators.cube.cube_state import RESTORED, CubeId
from broker.operators.cube.gaps import GAPS_MAX, NO_BATCH, SEVERAL, Gap, bounded
from broker.operators.cube.keeper import Keeper
from tests.broker.operators.cube.kept_stream import (
    BASE_US,
    MINUTE_US,
    Topic,
    cube_id,
    definition,
    just_after,
    opened,
    partial,
)

OWN = definition()
P, Q = cube_id("p", OWN), cube_id("q", OWN)
LATENESS_S = 150
LATENESS_US = LATENESS_S * 1_000_000


def minute(number: float) -> str:
    return instant_text(BASE_US + round(number * MINUTE_US))


def whole_panes(keeper: Keeper, last: int) -> list[bool]:
    """Whether each pane up to a minute is told to be whole."""
    return [
        keeper.questions.query(P, {"from": minute(n), "to": minute(n + 1), "live": True})["whole"] for n in range(last)
    ]


class Source:
    """Three partitions and a reader of them; both cubes have a batch, or only the other one."""

    def __init__(self, folder: Path, lateness_s: float = 0) -> None:
        self.topic = Topic(partitions={each: [] for each in range(3)})
        self.keeper = opened(folder, lateness_s=lateness_s)
        for each in (P, Q):
            self.keeper.define(each, OWN)
        self.done = dict.fromkeys(range(3), 0)
        self.missed: set[int] = set()

    def read(self, *, paused: bool = False, waiting: frozenset[int] = frozenset()) -> None:
        """Commit all that was published since the last time; all cubes are paused then, or none."""
        end = {each: self.done[each] if each in waiting else len(own) for each, own in self.topic.partitions.items()}
        batch = BatchInterval("T", dict(self.done), end)
        self.done = end
        if paused:
            for records in self.topic.records(batch).values():
                self.missed |= {time // MINUTE_US for _, _, _, time in records if time is not None}
        else:
            cubes = {P: OWN, Q: OWN}
            tasks = list(self.topic.records(batch).values())
            partials = {each: partial(own, tasks) for each, own in cubes.items()}
            self.keeper.commit(batch, partials, self.topic.newest(batch), waiting)

    def publish(self, *records: tuple[int, float]) -> None:
        """Publish a record a partition and minute."""
        for partition, at in records:
            self.topic.partitions[partition].append(("B6", "JFK", 1, round(at * MINUTE_US)))


@pytest.fixture
def source(tmp_path: Path):
    own = Source(tmp_path)
    yield own
    own.keeper.close()


def test_what_is_late_within_the_lateness_during_a_pause_is_told(tmp_path: Path) -> None:
    own = Source(tmp_path, lateness_s=120)
    own.publish((0, 0.5), (0, 5.5))
    own.read()
    # Before the mark, and not late: its pane is open.
    own.publish((0, 3.6), (0, 6.5))
    own.read(paused=True)
    own.publish((0, 8.5))
    own.read()
    # From the third minute and a half to the tenth and a half.
    assert whole_panes(own.keeper, 13) == [True] * 3 + [False] * 8 + [True] * 2
    own.keeper.close()


def test_a_gap_ends_when_each_partition_with_missed_records_has_had_another(source: Source) -> None:
    source.publish((0, 0.5), (1, 0.5), (2, 0.5))
    source.read()
    # The first partition is far ahead of the second; the third has nothing in the pause.
    source.publish((0, 9.5), (1, 1.5))
    source.read(paused=True)
    source.publish((1, 2.5), (2, 2.5))
    source.read()
    assert whole_panes(source.keeper, 12) == [False] * 12
    source.publish((1, 11.5))
    source.read()
    assert whole_panes(source.keeper, 12) == [False] * 12
    source.publish((0, 10.2))
    source.read()
    # The eleventh minute of the second partition was no more missed.
    assert whole_panes(source.keeper, 12) == [False] * 11 + [True]


def test_a_gap_reaches_the_newest_missed_record_where_old_ones_are_sent_again(source: Source) -> None:
    source.publish((0, 0.5), (0, 9.5))
    source.read()
    third = cube_id("third", OWN)
    source.keeper.define(third, OWN)
    source.publish((0, 2.5))
    source.topic.commit(source.keeper, BatchInterval("T", source.done, {0: 3, 1: 0, 2: 0}), {third: OWN})
    found = source.keeper.questions.query(third, {"live": True})
    assert [(gap["from"], gap["to"]) for gap in found["gaps"]] == [(None, just_after(9.5))]


def test_a_restored_copy_is_not_whole_from_its_watermark_on(tmp_path: Path) -> None:
    own = Source(tmp_path)
    own.publish((0, 0.5), (0, 5.5))
    own.read()
    own.keeper.close()
    read_to = {("T", 0): 2}
    as_it_was = opened(tmp_path, read_to=read_to)
    assert whole_panes(as_it_was, 8) == [True] * 8
    as_it_was.close()
    # The stream has read two more records, which the copy has not.
    own.keeper = opened(tmp_path, read_to={("T", 0): 4})
    assert whole_panes(own.keeper, 8) == [True] * 5 + [False] * 3
    (gap,) = own.keeper.questions.query(P, {"live": True})["gaps"]
    assert (gap["from"], gap["to"], gap["reason"]) == (minute(5.5), None, RESTORED)
    own.publish((0, 6.5), (0, 7.5))
    own.read(paused=True)
    own.publish((0, 8.5))
    own.read()
    (gap,) = own.keeper.questions.query(P, {"live": True})["gaps"]
    assert (gap["from"], gap["to"], gap["reason"]) == (minute(5.5), just_after(8.5), RESTORED)
    own.keeper.close()


@pytest.mark.parametrize("failed", ["define", "commit"])
def test_a_restored_copy_is_not_whole_after_a_write_that_failed(tmp_path: Path, failed: str) -> None:
    own, third = Source(tmp_path), cube_id("third", OWN)
    own.publish((0, 0.5), (0, 5.5))
    own.read()
    own.keeper.close()
    own.keeper = keeper = opened(tmp_path, read_to={("T", 0): 4})
    own.publish((0, 6.5), (0, 7.5), (0, 8.5))
    places = BatchInterval("T", {0: 4, 1: 0, 2: 0}, {0: 5, 1: 0, 2: 0})

    def gaps() -> list[tuple[str | None, str | None, str]]:
        found = keeper.questions.query(P, {"live": True})["gaps"]
        return [(gap["from"], gap["to"], gap["reason"]) for gap in found]

    def write(what: str) -> None:
        if what == "define":
            keeper.define(third, OWN)
        else:
            own.topic.commit(keeper, places, {P: OWN, Q: OWN})

    keeper._store.execute("PRAGMA query_only = ON")
    with pytest.raises(CubeStoreError):
        write(failed)
    keeper._store.execute("PRAGMA query_only = OFF")
    # The next write reads the file again, which does not know that it is a copy.
    write("define")
    assert gaps() == [(minute(5.5), None, RESTORED)]
    write("commit")
    assert gaps() == [(minute(5.5), just_after(8.5), RESTORED)]
    keeper.close()


def test_coverage_begins_when_each_partition_that_had_records_has_had_another(source: Source) -> None:
    source.publish((0, 9.5), (1, 0.5))
    source.read(paused=True)
    source.publish((1, 1.5), (2, 1.5))
    source.read()
    assert whole_panes(source.keeper, 12) == [False] * 12
    source.publish((0, 10.2))
    source.read()
    assert whole_panes(source.keeper, 12) == [False] * 11 + [True]
    # Another cube knows from these how new the records of a silent partition were.
    third = cube_id("third", OWN)
    source.keeper.define(third, OWN)
    source.publish((1, 10.5))
    source.topic.commit(source.keeper, BatchInterval("T", source.done, {0: 2, 1: 3, 2: 1}), {third: OWN})
    found = source.keeper.questions.query(third, {"live": True})
    assert [(gap["from"], gap["to"]) for gap in found["gaps"]] == [(None, just_after(10.5))]


def test_a_batch_that_accepts_nothing_begins_coverage(source: Source) -> None:
    source.publish((0, 0.5), (1, 0.5), (2, 0.5))
    source.read(paused=True)
    source.publish((0, 1.5), (1, 1.5), (2, 1.5))
    records = BatchInterval("T", dict(source.done), {0: 2, 1: 2, 2: 2})
    source.keeper.commit(records, {P: partial(OWN, [[]])}, source.topic.newest(records))
    assert whole_panes(source.keeper, 4) == [False, False, True, True]


def test_a_partition_that_waits_holds_the_mark_of_cubes(source: Source) -> None:
    source.publish((0, 5), (1, 3), (2, 5))
    source.read()
    source.publish((0, 9), (1, 8), (2, 9))
    source.read(waiting=frozenset({1}))
    assert source.keeper.questions.query(P, {})["watermark"] == minute(3)
    source.read()
    assert source.keeper.questions.query(P, {})["watermark"] == minute(8)


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(2, 60))])
def test_beside_an_oracle_exactly_the_panes_that_may_miss_a_record_are_not_whole(tmp_path: Path, seed: int) -> None:
    """Partitions beside each other, each record less late than the lateness, and a pause."""
    rng = random.Random(seed)
    own = Source(tmp_path, lateness_s=LATENESS_S)
    clock_us, pause = 0, range(14, 14 + rng.randrange(1, 6))
    mark_us, missing, newest_us = 0, dict.fromkeys(range(3), False), 0
    for step in range(40):
        came: dict[int, int] = {}
        for _ in range(rng.randrange(1, 12)):
            clock_us += rng.randrange(MINUTE_US // 2)
            partition, time_us = rng.randrange(3), max(0, clock_us - rng.randrange(LATENESS_US))
            own.topic.partitions[partition].append(("B6", "JFK", 1, time_us))
            came[partition] = max(time_us, came.get(partition, 0))
        own.read(paused=step in pause)
        if step < pause.start:
            mark_us = max(mark_us, min(came.values()))
        for partition, time_us in came.items():
            if step in pause:
                missing[partition] = True
            elif missing[partition]:
                # Its first batch after the pause: what was missed is less newer than that than the lateness.
                missing[partition], newest_us = False, max(newest_us, time_us)
    last = clock_us // MINUTE_US + 4
    whole = whole_panes(own.keeper, last)
    assert own.missed
    assert not any(missing.values())
    assert not any(whole[pane] for pane in own.missed)
    first_us, end_us = mark_us - LATENESS_US, newest_us + LATENESS_US
    may_miss = [n for n in range(last) if (n + 1) * MINUTE_US > first_us and n * MINUTE_US < end_us]
    assert [pane for pane, is_whole in enumerate(whole) if not is_whole] == may_miss
    own.keeper.close()


@pytest.mark.parametrize("is_other_read", [False, True])
def test_a_missed_record_with_the_time_of_the_next_one_is_told(tmp_path: Path, is_other_read: bool) -> None:
    keeper, other = opened(tmp_path, lateness_s=0), cube_id("other", OWN)
    keeper.define(P, OWN)
    keeper.define(other, OWN)
    topic = Topic(partitions={0: [("B6", "JFK", 1, minutes * MINUTE_US) for minutes in (0, 1, 2, 2, 2, 4)]})

    def read(first: int, end: int, *cubes: CubeId) -> None:
        topic.commit(keeper, BatchInterval("T", {0: first}, {0: end}), dict.fromkeys(cubes, OWN))

    read(0, 2, P, other)
    keeper.pause(["p"])
    if is_other_read:
        read(2, 4, other)
    read(4, 5, P, other)
    read(5, 6, P, other)
    found = keeper.questions.query(P, {"from": minute(2), "to": minute(3), "live": True})
    assert (found["rows"][0]["n"], found["whole"]) == (1, False)
    keeper.close()


def test_a_topic_that_has_removed_its_first_records_is_not_whole_before_those_that_are_left(tmp_path: Path) -> None:
    # As after retention, before the cube was registered: one partition begins at 0, the other one does not.
    records = [("B6", "JFK", 1, each * MINUTE_US) for each in range(9)]
    keeper, topic = opened(tmp_path), Topic(partitions={0: list(records), 1: list(records)})
    keeper.define(P, OWN)
    topic.commit(keeper, BatchInterval("T", {0: 0, 1: 4}, {0: 6, 1: 6}), {P: OWN})
    assert whole_panes(keeper, 8) == [False] * 6 + [True] * 2
    assert keeper.snapshot.status(P)["gaps"] == [
        {"from": None, "to": just_after(5), "reason": "before its first batch"},
    ]
    # Nor where the partition has lost all of them: nobody knows how new they were.
    again = opened(tmp_path / "empty")
    again.define(P, OWN)
    topic.commit(again, BatchInterval("T", {0: 0, 1: 4}, {0: 6, 1: 4}), {P: OWN})
    assert not any(whole_panes(again, 9))
    topic.commit(again, BatchInterval("T", {0: 6, 1: 4}, {0: 6, 1: 5}), {P: OWN})
    assert whole_panes(again, 8) == [False] * 5 + [True] * 3
    again.close()
    keeper.close()


def test_records_that_a_topic_removes_while_the_daemon_is_down_are_a_gap(tmp_path: Path) -> None:
    topic = Topic(partitions={0: [("B6", "JFK", 1, each * MINUTE_US) for each in range(12)]})
    keeper = opened(tmp_path)
    keeper.define(P, OWN)
    topic.commit(keeper, BatchInterval("T", {0: 0}, {0: 4}), {P: OWN})
    keeper.close()
    keeper = opened(tmp_path)
    # The stream begins anew at the first record that is left.
    topic.commit(keeper, BatchInterval("T", {0: 7}, {0: 9}), {P: OWN})
    assert whole_panes(keeper, 11) == [*[True] * 3, *[False] * 6, *[True] * 2]
    keeper.close()


def paused_again_and_again(folder: Path, pauses: int, *, read: int) -> Keeper:
    """Return a keeper of a cube that reads batches of a record and a minute, and misses one, again and again."""
    keeper, step = opened(folder), read + 1
    keeper.define(P, OWN)
    topic = Topic(partitions={0: [("B6", "JFK", 1, each * MINUTE_US) for each in range(step * (pauses + 1))]})
    for first in range(0, step * (pauses + 1), step):
        for offset in range(first, first + read):
            topic.commit(keeper, BatchInterval("T", {0: offset}, {0: offset + 1}), {P: OWN})
        keeper.pause(["p"])
    return keeper


def test_the_bounds_of_a_gap_are_within_the_years_that_have_a_text() -> None:
    gap = Gap(FIRST_US - LATENESS_US, LAST_US + LATENESS_US, "paused")
    assert gap.plain() == {"from": "0001-01-01T00:00:00Z", "to": "10000-01-01T00:00:00Z", "reason": "paused"}
    assert [instant_of("gap", gap.plain()[name]) for name in ("from", "to")] == [FIRST_US, LAST_US + 1]


def test_pauses_that_follow_each_other_are_one_gap(tmp_path: Path) -> None:
    keeper = paused_again_and_again(tmp_path, 20, read=1)
    assert not any(whole_panes(keeper, 40))
    (own,) = keeper.snapshot.cube(P).gaps
    assert own.plain() == {"from": minute(0), "to": just_after(40), "reason": "paused"}
    assert keeper._store.execute("SELECT count(*) FROM gaps") == [(1,)]
    keeper.close()
    with contextlib.closing(opened(tmp_path)) as again:
        assert again.snapshot.cube(P).gaps == (own,)


def test_a_cube_keeps_few_gaps_and_each_pane_that_may_miss_a_record_is_in_one(tmp_path: Path) -> None:
    keeper = paused_again_and_again(tmp_path, GAPS_MAX + 40, read=2)
    assert len(keeper.snapshot.cube(P).gaps) == GAPS_MAX
    assert keeper._store.execute("SELECT count(*) FROM gaps") == [(GAPS_MAX,)]
    intervals = [(gap["from"], gap["to"]) for gap in keeper.questions.query(P, {"live": True})["gaps"]]
    missed = [minute(each) for each in range(2, 3 * (GAPS_MAX + 40), 3)]
    assert [each for each in missed if not any(first <= each < (end or "~") for first, end in intervals)] == []
    # Nothing but what is between the gaps that became one is told in vain.
    assert (intervals[0][0], whole_panes(keeper, 1)) == (minute(1), [True])
    keeper.close()


GAPS = st.lists(
    st.builds(
        lambda first, length, reason, newest: Gap(first, length and (first or 0) + length, reason, 0, newest),
        st.none() | st.integers(0, 200),
        st.none() | st.integers(1, 20),
        st.sampled_from(["paused", "parked", NO_BATCH]),
        st.none() | st.integers(0, 300),
    ),
    max_size=30,
)


@given(GAPS, st.integers(4, 12))
def test_gaps_that_become_one_grow_and_never_shrink(drawn: list[Gap], most: int) -> None:
    one = [own for own in drawn if own.reason == NO_BATCH][:1]
    gaps = [replace(own, number=n + 1) for n, own in enumerate([*one, *(e for e in drawn if e.reason != NO_BATCH)])]
    found = bounded(gaps, most)
    assert len(found) <= most
    assert [own.number for own in found] == sorted({own.number for own in found} & {own.number for own in gaps})
    for own in gaps:
        assert any(
            (each.first_us is None or (own.first_us is not None and each.first_us <= own.first_us))
            and ((own.end_us is None) == (each.end_us is None))
            and (own.end_us is None or each.end_us is None or each.end_us >= own.end_us)
            and (each.reason in (own.reason, SEVERAL))
            and (own.newest_us is None or (each.newest_us is not None and each.newest_us >= own.newest_us))
            for each in found
        )
    if len(gaps) <= most:
        # Nothing becomes one but what has one reason.
        assert {own.reason for own in found} == {own.reason for own in gaps}
        assert bounded(found, most) == found
