"""What DBSCAN queries output, against the specification record by record, and what changes no byte of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as sized
from hypothesis import strategies as st

from asc.errors import FeedFormError
from asc.operators.dbscan import identity
from asc.operators.dbscan.clusters import Clusters
from asc.operators.dbscan.dbscan_query import DbscanQuery
from asc.operators.dbscan.records import DbscanOutput
from asc.operators.exclusions import KEY_BYTES_MAX
from asc.operators.feed import Observation, Watermarks
from asc.operators.times import LAST_US, time_text
from tests.asc.operators.dbscan.model import MS, Record, expected, feed, query, run, settings, texts, values

LATENESS_US = 12 * MS

TIMED = query("timed", lateness_us=LATENESS_US, members="changes", sample=4)
WIDE = query("wide", eps=2.0, min_samples=2, window=40 * MS, slide=MS * 15, lateness_us=LATENESS_US, members="all")
OTHER = query("other", selections=("r",), eps=1.5, window=30 * MS, slide=30 * MS)
COUNTED = query("counted", is_timed=False, window=12, slide=5, members="changes")
EVERY = query("every", selections=("r", "s"), is_timed=False, window=7, slide=7, eps=2.0, sample=0)
QUERIES = (TIMED, WIDE, OTHER, COUNTED, EVERY)


@st.composite
def streams(draw: st.DrawFn) -> list[list[Record]]:
    """Batches of records on an integer grid, in disorder within the lateness, with gaps, ties and repeated values."""
    found: list[list[Record]] = []
    now, offset = draw(st.sampled_from([0, 7 * MS, -50 * MS])), 0
    moves = st.tuples(st.sampled_from([0, 0, 1, 2, 5, 9]), st.integers(0, 12), st.integers(0, 63), st.integers(0, 3))
    for _ in range(draw(st.integers(1, 6))):
        batch = []
        least = now
        for forward, behind, value, accepted in draw(st.lists(moves, max_size=20)):
            now += forward * MS
            time_us = max(now - behind * MS, least - LATENESS_US)
            selections = (("s",), ("s", "r"), ("r",), ())[accepted]
            batch.append(Record(time_us, (value // 8 * 1.0, value % 8 * 1.0), selections, offset, 0, f"é{value}"))
            offset += 1
        found.append(batch)
        now += draw(st.sampled_from([0, 0, 3, 60])) * MS
    return found


def last_watermark(batches: Sequence[Sequence[Record]]) -> int:
    return max(record.time_us for batch in batches for record in batch) - LATENESS_US


@sized(max_examples=60)
@given(batches=streams())
def test_outputs_are_those_of_the_specification(batches: list[list[Record]]) -> None:
    records = [record for batch in batches for record in batch]
    outputs = run(texts(feed(batches, LATENESS_US, *QUERIES)))
    for own in QUERIES:
        wanted = list(expected(records, own, last_watermark(batches))) if records else []
        assert values(outputs, own.id) == wanted


@sized(max_examples=25)
@given(batches=streams(), data=st.data())
def test_no_cut_no_repeat_and_no_cache_changes_a_byte(batches: list[list[Record]], data: st.DataObject) -> None:
    limit = data.draw(st.sampled_from([1_000, 13, 7, 2]))
    messages = texts(feed(batches, LATENESS_US, *QUERIES, limit=limit))
    whole = Clusters()
    outputs = run(messages, whole)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(messages)), max_size=5)))
    for edges in (cuts, range(len(messages))):
        clusters, found = Clusters(label_bytes=0, keeps_neighbours=False), list[DbscanOutput]()
        for low, high in zip([0, *edges], [*edges, len(messages)], strict=True):
            found += run(messages[low:high], clusters)
            state = clusters.to_bytes()
            clusters = Clusters.of_bytes(state, label_bytes=0)
            assert clusters.to_bytes() == state
        assert found == outputs
        assert clusters.to_bytes() == whole.to_bytes()
    twice = Clusters()
    assert run([text for each in messages for text in (each, each)], twice) == outputs
    assert twice.to_bytes() == whole.to_bytes()
    # What came since the last watermark comes again, as after a fault.
    again = Clusters()
    assert run([*messages, *messages], again) == outputs


@sized(max_examples=25)
@given(batches=streams(), name=st.sampled_from([own.id for own in QUERIES]))
def test_other_queries_change_no_byte(batches: list[list[Record]], name: str) -> None:
    (own,) = [each for each in QUERIES if each.id == name]
    alone = run(texts(feed(batches, LATENESS_US, own)))
    together = run(texts(feed(batches, LATENESS_US, *QUERIES)))
    assert [each for each in together if each.query == name] == alone
    # A WHERE that is moved upstream: the stream has the accepted records alone.
    moved = [[record for record in batch if {*record.selections} & {*own.selections}] for batch in batches]
    watermarks = [each for each in feed(batches, LATENESS_US, own) if isinstance(each, Watermarks)]
    messages = iter(watermarks)
    upstream = [settings(own)]
    for batch, kept in zip(batches, moved, strict=True):
        upstream += [record.message() for record in kept]
        upstream += [next(messages)] if batch else []
    assert run(texts(upstream)) == alone


@sized(max_examples=25)
@given(batches=streams(), data=st.data())
def test_groups_of_equal_times_in_another_order_change_no_byte(
    batches: list[list[Record]], data: st.DataObject
) -> None:
    records = sorted((record for batch in batches for record in batch), key=lambda own: own.time_us)
    times = sorted({record.time_us for record in records})
    # The first point of each query stays: with it begins what is whole.
    records[:1] = [replace(record, selections=("r", "s")) for record in records[:1]]
    moved = sorted(times[1:], key=lambda own: (own // LATENESS_US, data.draw(st.integers(0, 9))))
    outputs = []
    for order in (times, times[:1] + moved):
        one_by_one = [[record] for own in order for record in records if record.time_us == own]
        outputs.append(run(texts(feed(one_by_one, LATENESS_US, *QUERIES))))
    one, other = outputs
    for own in QUERIES:
        assert [each for each in one if each.query == own.id] == [each for each in other if each.query == own.id]


@sized(max_examples=25)
@given(batches=streams(), ids_max=st.integers(1, 3), cut=st.integers(0, 120))
def test_ids_start_anew_after_more_clusters_than_the_limit_at_any_cut(
    batches: list[list[Record]], ids_max: int, cut: int
) -> None:
    records = [record for batch in batches for record in batch]
    messages = texts(feed(batches, LATENESS_US, *QUERIES))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(identity, "IDS_HELD_MAX", ids_max)
        clusters = Clusters()
        outputs = run(messages[:cut], clusters)
        outputs += run(messages[cut:], Clusters.of_bytes(clusters.to_bytes()))
        for own in QUERIES:
            wanted = list(expected(records, own, last_watermark(batches))) if records else []
            assert values(outputs, own.id) == wanted
            alone = run(texts(feed(batches, LATENESS_US, own)))
            assert [each for each in outputs if each.query == own.id] == alone


@sized(max_examples=25)
@given(batches=streams(), power=st.integers(-30, 30))
def test_values_times_a_power_of_two_keep_clusters_and_ids(batches: list[list[Record]], power: int) -> None:
    factor = 2.0**power

    def scaled(record: Record) -> Record:
        return replace(record, values=tuple(value * factor for value in record.values))

    one = run(texts(feed(batches, LATENESS_US, *QUERIES)))
    own = [replace(each, eps=each.eps * factor) for each in QUERIES]
    other = run(texts(feed([list(map(scaled, batch)) for batch in batches], LATENESS_US, *own)))
    assert [each.identity for each in one] == [each.identity for each in other]
    for before, after in zip(values(one), values(other), strict=True):
        for fields in (before, after):
            for name in ("center", "box", "sample"):
                fields.pop(name, None)
        assert before == after


@sized(max_examples=25)
@given(batches=streams())
def test_every_old_id_lives_on_or_has_disappeared(batches: list[list[Record]]) -> None:
    outputs = values(run(texts(feed(batches, LATENESS_US, *QUERIES))))
    for own in QUERIES:
        old, new = set[str](), set[str]()
        for value in (each for each in outputs if each["query"] == own.id):
            if value["record"] == "cluster":
                new.add(value["cluster"])
            elif value["record"] == "window":
                assert value["core"] + value["border"] + value["noise"] == value["points"]
                assert old - new == value["disappeared"].keys()
                assert all(new.issuperset(joined) for joined in value["disappeared"].values())
                old, new = new, set()


# -- windows and time


def crowd(time_us: int, count: int = 4, *, first: int = 0) -> list[Record]:
    """Records of one cluster, with offsets from the first on."""
    return [Record(time_us, (0.0, number * 0.5), ("s",), first + number) for number in range(count)]


def passed(time_us: int) -> str:
    return Watermarks({"ts": time_us}).text()


def windows(outputs: Sequence[DbscanOutput], name: str = "timed") -> list[tuple[int, int, int]]:
    """The ends of the windows of a query as ids have them, their points and clusters."""
    found = [(own.identity, json.loads(own.value)) for own in outputs if own.query == name and own.kind == "window"]
    return [(int(identity.split(":")[1]), own.get("points", -1), own.get("clusters", -1)) for identity, own in found]


def test_a_window_is_final_from_its_end_to_the_microsecond_and_excludes_it() -> None:
    clusters = Clusters()
    start = texts([settings(query()), *(own.message() for own in [*crowd(0), *crowd(10 * MS, 1, first=9)])])
    assert windows(run([*start, passed(10 * MS - 1)], clusters)) == []
    assert windows(run([passed(10 * MS)], clusters)) == [(10, 4, 1)]
    assert windows(run([passed(20 * MS - 1)], clusters)) == []
    assert windows(run([passed(20 * MS), passed(30 * MS)], clusters)) == [(20, 5, 1), (30, 1, 0)]
    late = [
        record.message().text() for record in (Record(10 * MS, (0, 0), ("s",), 20), Record(19 * MS, (0, 0), ("s",), 21))
    ]
    held = clusters.held
    assert run(late, clusters) == []
    assert clusters.held == held
    assert clusters.counts.excluded == {"late": 2}
    assert windows(run([passed(40 * MS)], clusters)) == [(40, 0, 0)]


def test_a_late_point_is_in_its_windows_that_are_not_final_and_in_none_that_is_computed_again() -> None:
    own = query(members="all")
    start = texts([settings(own), *(record.message() for record in crowd(12 * MS, 3))])
    outputs = []
    late = Record(13 * MS, (0.0, 0.25), ("s",), 50).message().text()
    for label_bytes in (0, 1 << 20):
        clusters = Clusters(label_bytes=label_bytes)
        found = run([*start, passed(20 * MS), late, passed(30 * MS)], clusters)
        outputs.append(found)
        assert windows(found) == [(20, 3, 1), (30, 4, 1)]
        (after,) = [own for own in values(found) if own["record"] == "cluster" and own["points"] == 4]
        # The window before had three points, also where it is computed again.
        assert after["events"] == ["grow"]
        assert clusters.counts.excluded == {}
    assert outputs[0] == outputs[1]


def test_a_point_that_is_late_by_counts_counts_by_time_alone() -> None:
    timed, counted = query(), query("counted", is_timed=False, window=4, slide=4, members="all")
    start = [settings(timed, counted), *(record.message() for record in crowd(12 * MS, 3)), Watermarks({"ts": 13 * MS})]
    late = Record(12 * MS, (0.0, 0.25), ("s",), 50).message()
    rest = [*(record.message() for record in crowd(14 * MS, 1, first=60)), Watermarks({"ts": 30 * MS})]
    clusters = Clusters()
    outputs = run(texts([*start, late, *rest]), clusters)
    assert windows(outputs) == [(20, 5, 1), (30, 5, 1)]
    assert windows(outputs, "counted") == [(4, 4, 1)]
    members = [own.source for own in outputs if own.query == "counted" and own.kind == "member"]
    assert members == ["flights-0-0", "flights-0-1", "flights-0-2", "flights-0-60"]
    assert clusters.counts.excluded == {}


def test_a_gap_of_a_year_is_crossed_by_one_empty_window() -> None:
    year_us = 365 * 86_400 * 1_000_000
    own = query(window=20 * MS, slide=MS)
    messages = [settings(own), *(record.message() for record in crowd(0)), Watermarks({"ts": 5 * MS})]
    messages += [record.message() for record in crowd(year_us, first=10)]
    messages += [Watermarks({"ts": year_us - 3 * MS}), Watermarks({"ts": year_us + 90 * MS})]
    found = windows(run(texts(messages)))
    ends = [end for end, points, _ in found]
    year_ms = year_us // MS
    assert ends == [*range(1, 22), *range(year_ms + 1, year_ms + 22)]
    assert [end for end, points, _ in found if not points] == [21, year_ms + 21]


def test_a_record_names_the_newest_point_that_it_is_about() -> None:
    # The points of two clusters by turns, then one of noise; a later one has a lower offset.
    records = [Record(n * MS, (n % 2 * 50.0, 0.0), ("s",), 100 - n) for n in range(6)]
    records.append(Record(7 * MS, (500.0, 0.0), ("s",), 90))
    outputs = run([settings(query()).text(), *texts(own.message() for own in records), passed(40 * MS)])
    newest = [("10-0", 96), ("10-1", 95), ("", 90)]
    wanted = [(f"timed:{end}{own and ':'}{own}", f"flights-0-{offset}") for end in (10, 20) for own, offset in newest]
    # Of an empty window it is the newest point before it.
    assert [(own.identity, own.source) for own in outputs] == [*wanted, ("timed:30", "flights-0-90")]


def test_a_watermark_beyond_all_times_ends_no_window() -> None:
    clusters = Clusters()
    last = [settings(query()), Record(LAST_US, (0.0, 0.0)).message(), Watermarks({"ts": 2**63 - 1})]
    assert run(texts(last), clusters) == []
    assert clusters.held == 1


def test_a_track_of_the_version_before_whose_watermark_is_the_last_time_begins_anew() -> None:
    """That version bounded the watermarks of times after the year 9999, which made every later point late."""
    clusters, counted = Clusters(), query("counted", is_timed=False, window=4, slide=2)
    first = [settings(query(), counted), *(own.message() for own in crowd(5 * MS)), Watermarks({"ts": 10 * MS})]
    run(texts(first), clusters)
    content = clusters.to_bytes()
    size = int.from_bytes(content[:8], "big")
    head = json.loads(content[8 : 8 + size])
    head["watermarks"]["ts"] = head["tracks"][0][0] = LAST_US
    head["tracks"][0][-1][0][2] = LAST_US // (10 * MS)
    text = json.dumps(head).encode()
    again = Clusters.of_bytes(len(text).to_bytes(8, "big") + text + content[8 + size :])
    outputs = run([*texts(own.message() for own in crowd(55 * MS, first=9)), passed(60 * MS)], again)
    assert (windows(outputs), windows(outputs, "counted")) == ([(60, 4, 1)], [(4, 4, 1)])
    assert again.counts.excluded == {}


def test_points_from_before_a_query_are_in_none_of_its_windows() -> None:
    held, later = query("held", window=50 * MS), query("later")
    clusters = Clusters()
    run(texts([settings(held), *(record.message() for record in crowd(0)), Watermarks({"ts": 2 * MS})]), clusters)
    more = [
        settings(held, later),
        *(record.message() for record in crowd(5 * MS, 3, first=10)),
        Watermarks({"ts": 60 * MS}),
    ]
    outputs = run(texts(more), clusters)
    assert windows(outputs, "later") == [(10, 3, 1), (20, 3, 1), (30, 0, 0)]
    assert windows(outputs, "held")[0] == (10, 7, 1)


def test_a_query_that_comes_anew_repeats_no_window() -> None:
    clusters = Clusters()
    first = run(texts([settings(query()), *(own.message() for own in crowd(0)), Watermarks({"ts": 10 * MS})]), clusters)
    assert windows(first) == [(10, 4, 1)]
    again = [settings(), settings(query()), *(own.message() for own in crowd(0, first=30)), Watermarks({"ts": 30 * MS})]
    assert windows(run(texts(again), clusters)) == [(20, 4, 1), (30, 0, 0)]
    assert Clusters().held == 0


def test_a_query_that_was_removed_and_registered_again_between_two_batches_begins_anew() -> None:
    own = [query(since=3), query("counted", is_timed=False, window=4, slide=2, since=3)]
    again = [replace(each, since=9) for each in own]
    records = [record.message() for record in crowd(5 * MS, 4)]
    later = [record.message() for record in crowd(7 * MS, 4, first=20)]
    messages = [settings(*own), *records, settings(*again), *later, Watermarks({"ts": 30 * MS})]
    outputs = run(texts(messages))
    assert windows(outputs) == [(10, 4, 1), (20, 4, 1), (30, 0, 0)]
    assert windows(outputs, "counted") == [(4, 4, 1)]


@pytest.mark.parametrize("changed", [{"eps": 1.5}, {"min_samples": 2}, {"members": "all"}, {"topic": "elsewhere"}])
def test_a_replaced_query_keeps_its_points_and_its_ids_start_anew(changed: dict[str, object]) -> None:
    clusters = Clusters()
    run(texts([settings(query()), *(own.message() for own in crowd(5 * MS)), Watermarks({"ts": 10 * MS})]), clusters)
    outputs = run([settings(replace(query(), **changed)).text(), passed(20 * MS)], clusters)  # type: ignore[arg-type]
    (found,) = [own for own in values(outputs) if own["record"] == "cluster"]
    assert (found["cluster"], found["events"], found["points"]) == ("20-0", ["appear"], 4)


def test_other_windows_start_with_no_points_and_another_lateness_changes_nothing() -> None:
    clusters = Clusters()
    run(texts([settings(query()), *(own.message() for own in crowd(5 * MS)), Watermarks({"ts": 10 * MS})]), clusters)
    kept = run([settings(replace(query(), lateness_us=7)).text(), passed(20 * MS)], clusters)
    assert [own["cluster"] for own in values(kept) if own["record"] == "cluster"] == ["10-0"]
    assert run([settings(query(window=30 * MS)).text(), passed(40 * MS)], clusters) == []
    assert clusters.held == 0


def test_a_window_is_partial_that_begins_before_the_first_point_and_the_lateness() -> None:
    own = query(lateness_us=10 * MS)
    messages = [settings(own), *(record.message() for record in [*crowd(12 * MS), *crowd(35 * MS, first=9)])]
    outputs = values(run(texts([*messages, Watermarks({"ts": 60 * MS})])))
    partial = {own["window"][0]: own["partial"] for own in outputs if own["record"] == "window"}
    assert partial == {time_text(at * MS): at < 22 for at in (0, 10, 20, 30, 40)}


# -- bounds


def capacity(outputs: Sequence[DbscanOutput], name: str) -> list[int]:
    return [
        int(own.identity.split(":")[1])
        for own in outputs
        if own.query == name and json.loads(own.value).get("skipped") == "capacity"
    ]


@pytest.mark.parametrize("cut", range(0, 14, 3))
def test_a_window_of_one_point_more_than_the_limit_is_skipped_and_ids_start_anew(cut: int) -> None:
    own, counted = query(window=10 * MS), query("counted", is_timed=False, window=6, slide=3)
    records = [*crowd(0, 5), *crowd(10 * MS, 6, first=5), *crowd(20 * MS, 4, first=11)]
    messages = [*texts(feed([records], 0, own, counted, limit=5)), passed(30 * MS)]
    clusters = Clusters()
    outputs = run(messages[:cut], clusters)
    outputs += run(messages[cut:], Clusters.of_bytes(clusters.to_bytes()))
    assert windows(outputs) == [(10, 5, 1), (20, -1, -1), (30, 4, 1)]
    assert capacity(outputs, "timed") == [20]
    assert capacity(outputs, "counted") == [6, 9, 12, 15]
    assert all(own["events"] == ["appear"] for own in values(outputs) if own["record"] == "cluster")
    (skipped,) = [own for own in outputs if own.query == "timed" and "skipped" in own.value]
    assert (skipped.source, json.loads(skipped.value).keys()) == (
        "flights-0-10",
        {"query", "record", "window", "partial", "skipped"},
    )


def test_windows_of_points_that_were_dropped_are_skipped_and_later_ones_whole() -> None:
    own, counted = query(window=10 * MS), query("counted", is_timed=False, window=4, slide=2)
    # Fifteen points at most are held; the first watermark comes after twenty.
    records = [record for at in range(5) for record in crowd(at * 10 * MS, first=at * 4)]
    for cut in range(len(records)):
        clusters = Clusters()
        messages = texts(feed([records], 0, own, counted, limit=5))
        outputs = run(messages[:cut], clusters)
        clusters = Clusters.of_bytes(clusters.to_bytes())
        outputs += run([*messages[cut:], passed(60 * MS)], clusters)
        assert windows(outputs) == [(10, -1, -1), (20, -1, -1), *((end, 4, 1) for end in (30, 40, 50)), (60, 0, 0)]
        # Five were dropped: the windows from the points 1, 3 and 5 on are not whole.
        assert capacity(outputs, "counted") == [4, 6, 8]
        assert [end for end, *_ in windows(outputs, "counted")] == [4, 6, 8, 10, 12, 14, 16, 18, 20]
        assert json.loads(outputs[-1].value)["partial"] is False


def test_points_that_were_dropped_after_they_got_a_number_skip_no_later_window() -> None:
    held, counted = query("held", window=900 * MS, slide=100 * MS), query("counted", is_timed=False, window=4, slide=2)
    records = [Record(number * MS, (0.0, 0.0), ("s",), number) for number in range(20)]
    messages = [
        settings(held, counted, limit=5),
        *(record.message() for record in records[:14]),
        Watermarks({"ts": 10 * MS}),
    ]
    messages += [*(record.message() for record in records[14:]), Watermarks({"ts": 20 * MS})]
    outputs = run(texts(messages))
    # Five were dropped, whose windows were told.
    assert [end for end, *_ in windows(outputs, "counted")] == [4, 6, 8, 10, 12, 14, 16, 18, 20]
    assert capacity(outputs, "counted") == []


def test_points_before_those_that_were_dropped_are_excluded_however_often_they_come() -> None:
    own = query(window=10 * MS)
    records = [record for at in range(5) for record in crowd(at * 10 * MS, first=at * 4)]
    messages = texts([settings(own, limit=5), *(record.message() for record in records)])
    again = [records[0].message().text(), Record(MS, (0.0, 0.0), ("s",), 90).message().text()]
    found = []
    for repeats in (0, 1, 2):
        clusters = Clusters()
        found.append(run([*messages, *again * repeats, passed(60 * MS)], clusters))
        assert clusters.held <= 15
    assert found[0] == found[1] == found[2]


def test_no_more_than_three_windows_and_an_eighth_are_held() -> None:
    clusters = Clusters()
    for number in range(300):
        run(texts([settings(query(), limit=16), Record(number, (0.0, 0.0), ("s",), number).message()]), clusters)
        assert clusters.held <= 48 + 6
    run([passed(400)], clusters)
    assert clusters.held == 48
    assert clusters.counts.excluded["capacity"] == 252
    assert clusters.of_bytes(clusters.to_bytes()).held == 48


def test_a_state_does_not_grow_with_slides() -> None:
    own, counted = query(window=20 * MS), query("counted", is_timed=False, window=12, slide=6)
    clusters, sizes = Clusters(), []
    run([settings(own, counted).text()], clusters)
    for slide in range(60):
        run(texts(record.message() for record in crowd(slide * 10 * MS, 6, first=slide * 6)), clusters)
        run([passed(slide * 10 * MS)], clusters)
        sizes.append(len(clusters.to_bytes()))
    assert max(sizes[20:]) - min(sizes[20:]) < 40


def test_the_state_of_many_queries_is_small() -> None:
    windows_of = {"window": 10 * MS, "slide": 5 * MS, "sample": 0}
    queries = [query(f"q{number}", eps=0.03 + number / 1e5, **windows_of) for number in range(1_000)]
    random = np.random.default_rng(0)
    clusters = Clusters()
    run([settings(*queries, limit=200_000).text()], clusters)
    records = [
        Record(number, (float(x), float(y)), ("s",), number) for number, (x, y) in enumerate(random.random((10_000, 2)))
    ]
    run(texts(record.message() for record in records), clusters)
    before = clusters.to_bytes()
    # All points are in the last one of two windows, and in the state, because the next window is compared with it.
    outputs = run([passed(10 * MS)], clusters)
    last = [own["clusters"] for own in values(outputs) if own["record"] == "window" and own["points"] == 10_000]
    assert (len(last), clusters.held) == (1_000, 10_000)
    assert min(last) > 0
    after = clusters.to_bytes()
    assert len(after) <= 2_000_000
    # A window adds the ids of its clusters and some numbers. A bit for each label would add 1.25 MB.
    assert 0 < len(after) - len(before) - 12 * sum(last) <= 100 * len(queries)


# -- what is no point


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"time_us": None}, "time"),
        ({"time_us": 10**18}, "time"),
        ({"is_future": True}, "future_timestamp"),
        ({"position": (1.0,)}, "attributes"),
        ({"position": (1.0, 2.0, 3.0)}, "attributes"),
        ({"position": (1.0, None)}, "attributes"),
        ({"position": (1.0, "NaN")}, "attributes"),
        ({"position": (1.0, 10**400)}, "attributes"),
        ({"position": (1.0, True)}, "attributes"),
        ({"key": "é" * KEY_BYTES_MAX}, "key"),
    ],
)
def test_what_is_no_point_is_counted_and_changes_nothing(changed: dict[str, object], reason: str) -> None:
    start = [settings(query()), *(own.message() for own in crowd(0))]
    wrong = replace(Record(MS, (0.0, 0.0), ("s",), 70).message(), **changed)  # type: ignore[arg-type]
    clusters, without = Clusters(), Clusters()
    outputs = run(texts([*start, wrong, Watermarks({"ts": 10 * MS})]), clusters)
    assert outputs == run(texts([*start, Watermarks({"ts": 10 * MS})]), without)
    assert clusters.to_bytes() == without.to_bytes()
    assert clusters.counts.excluded == {reason: 1}
    unwatched = replace(wrong, selections=("elsewhere",))
    run([unwatched.text()], clusters)
    assert clusters.counts.excluded == {reason: 1}


def test_a_point_without_a_key_is_a_point() -> None:
    own = query(members="all")
    records = [replace(record, key='é"' if record.offset else None) for record in crowd(0)]
    outputs = values(run(texts([*feed([records], 0, own), Watermarks({"ts": 10 * MS})])))
    assert [each["key"] for each in outputs if each["record"] == "member"] == [None, 'é"', 'é"', 'é"']


@pytest.mark.parametrize("position", [(181.0, 0.0), (0.0, 90.5)])
def test_a_position_out_of_range_is_excluded(position: tuple[float, float]) -> None:
    own = query(is_position=True, eps=1_000.0)
    clusters = Clusters()
    run(texts([settings(own), Record(0, position).message()]), clusters)
    assert clusters.counts.excluded == {"position": 1}


def test_positions_are_in_degrees_across_the_antimeridian() -> None:
    own = query(is_position=True, eps=30_000.0, min_samples=2)
    positions = [(179.9, 10.0), (-179.9, 10.0), (179.8, 10.2), (7.5, 47.0)]
    records = [Record(0, position, ("s",), number) for number, position in enumerate(positions)]
    outputs = values(run(texts([settings(own), *(each.message() for each in records), Watermarks({"ts": 10 * MS})])))
    cluster, window = outputs
    assert cluster["points"] == 3
    assert cluster["box"] == [[179.8, 10.0], [-179.9, 10.2]]
    assert cluster["center"] == pytest.approx([179.933, 10.067], abs=1e-3)
    assert window["sample"] == [[*position, label] for position, label in zip(positions, (0, 0, 0, -1), strict=True)]


def test_a_centre_is_the_mean_where_the_sum_is_infinite() -> None:
    own = query(eps=1e154, min_samples=2)
    records = [Record(0, (1.7e308, 0.0), ("s",), number) for number in range(3)]
    outputs = values(run(texts([settings(own), *(each.message() for each in records), Watermarks({"ts": 10 * MS})])))
    assert outputs[0]["center"] == [1.7e308, 0.0]


def test_garbage_is_counted_and_processing_continues() -> None:
    start = texts([settings(query()), *(own.message() for own in crowd(0))])
    faulty = json.loads(settings(query()).text())
    faulty["settings"]["queries"][0]["definition"]["eps"] = -1
    garbage = ["{", "null", json.dumps(faulty), Observation("dbscan", "t", None, 1, (0.0, 0.0), 0, 1).text()[:-5]]
    clusters = Clusters()
    assert windows(run([*start, *garbage, passed(10 * MS)], clusters)) == [(10, 4, 1)]
    assert clusters.counts.excluded == {"unreadable": 4}


def test_a_state_of_another_form_names_the_remedy() -> None:
    state = Clusters().to_bytes().replace(b'"form":2', b'"form":9')
    with pytest.raises(FeedFormError, match="run the version that wrote it"):
        Clusters.of_bytes(state)


def test_the_end_of_a_feed_settles_all_points_of_windows_by_counts() -> None:
    counted, timed = query("counted", is_timed=False, window=4, slide=2), query()
    clusters = Clusters()
    outputs = run(texts(feed([crowd(0), crowd(10 * MS, first=4)], 0, counted, timed)), clusters)
    assert windows(outputs, "counted") == [(4, 4, 1)]
    assert windows(list(clusters.settled()), "counted") == [(6, 4, 1), (8, 4, 1)]


def _labels(labels_of: dict[tuple[str, int], list[int]]) -> Callable[..., None]:
    return lambda due, points, rows, labels: labels_of.update(
        {(due.progress.query.id, due.number): labels.labels.tolist()}
    )


def test_labels_are_told_of_each_window() -> None:
    labels_of: dict[tuple[str, int], list[int]] = {}
    own = [query(), query("counted", is_timed=False, window=4, slide=2)]
    run(texts([*feed([crowd(0)], 0, *own), Watermarks({"ts": 10 * MS})]), Clusters(on_labels=_labels(labels_of)))
    assert labels_of == {("timed", -1): [0, 0, 0, 0], ("counted", 0): [0, 0, 0, 0]}


def test_queries_of_one_track_with_other_numbers_of_attributes_are_kept_apart() -> None:
    one: DbscanQuery = query("one", attributes=1)
    outputs = run(texts([settings(one, query()), *(own.message() for own in crowd(0)), Watermarks({"ts": 10 * MS})]))
    assert (windows(outputs), windows(outputs, "one")) == ([(10, 4, 1)], [])


def test_a_query_without_a_lateness_has_that_of_the_stream() -> None:
    records = [Record(MS * second, (0.0, 0.0), offset=second).message() for second in range(0, 60, 2)]
    outputs = []
    for own, stream_us in ((query(lateness_us=15 * MS), 0), (query(), 15 * MS)):
        late_settings = replace(settings(own), lateness_us=stream_us)
        clusters = Clusters()
        outputs.append(run(texts([late_settings, *records, Watermarks({"ts": 50 * MS})]), clusters))
        assert Clusters.of_bytes(clusters.to_bytes()).to_bytes() == clusters.to_bytes()
    assert outputs[0] == outputs[1]
    partial = [own["partial"] for own in values(outputs[0]) if own["record"] == "window"]
    # The windows from -10, 0 and 10 on begin before all records that may come.
    assert partial == [True, True, True, False, False]


def test_zeros_of_both_signs_keep_their_texts() -> None:
    # A box's coordinates have their texts once for all clusters, and the two zeros are equal.
    places = [(-0.0, 9.0), (0.0, 50.0), (-0.0, 90.0)]
    records = [Record(MS * 11, place, offset=number).message() for number, place in enumerate(places)]
    outputs = run(texts([settings(query(min_samples=1)), *records, Watermarks({"ts": 20 * MS})]))
    boxes = [output.value.partition('"box":')[2][:7] for output in outputs if output.kind == "cluster"]
    assert boxes == ["[[-0.0,", "[[0.0,5", "[[-0.0,"]
