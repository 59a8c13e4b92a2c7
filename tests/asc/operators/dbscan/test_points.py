"""Points in order."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from asc.operators.dbscan.points import Come, Place, Points
from asc.operators.exclusions import KEY_BYTES_MAX

Records = list[tuple[int, int, int]]
records = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 2), st.integers(0, 9)), max_size=40)


def come(given_records: Records, seen_us: int = 0, *, keyed: bool = False) -> Points:
    # The time of a record is a function of it.
    rows = [
        Come(partition * 3 + offset * 5 % 7, partition, offset, (partition, 0.5), f"é{offset}" if keyed else None, 0)
        for _, partition, offset in given_records
    ]
    return Points.arrived(rows, seen_us, 2)


def places(points: Points) -> list[Place]:
    return [points.place(row) for row in range(points.count)]


@given(given_records=records, cuts=st.lists(st.integers(0, 40), max_size=4), keyed=st.booleans())
def test_points_are_in_order_each_once_however_they_are_cut(
    given_records: Records, cuts: list[int], keyed: bool
) -> None:
    records = [(7, partition, offset) for _, partition, offset in given_records]
    whole, new = Points.none(2).merged(come(records, keyed=keyed), 0)
    assert places(whole) == sorted(set(places(come(records))))
    firsts = [number for number, record in enumerate(records) if record not in records[:number]]
    assert new.tolist() == firsts
    assert sorted(whole.arrival.tolist()) == list(range(whole.count))
    points, arrived = Points.none(2), 0
    edges = sorted(min(cut, len(records)) for cut in cuts)
    for low, high in zip([0, *edges], [*edges, len(records)], strict=True):
        points, fresh = points.merged(come(records[low:high], keyed=keyed), arrived)
        arrived += len(fresh)
    assert list(points.to_bytes()) == list(whole.to_bytes())
    again = Points.of_bytes(iter(list(whole.to_bytes())), 2)
    assert list(again.to_bytes()) == list(whole.to_bytes())


def test_arrival_is_in_the_order_of_messages_and_a_repeat_keeps_the_first() -> None:
    points, _ = Points.none(2).merged(come([(7, 1, 5), (7, 0, 2)], seen_us=3), 10)
    points, new = points.merged(come([(7, 0, 2), (7, 0, 1), (7, 1, 5)], seen_us=9), 12)
    assert new.tolist() == [1]
    assert dict(zip(points.offset.tolist(), points.arrival.tolist(), strict=True)) == {5: 10, 2: 11, 1: 12}
    assert dict(zip(points.offset.tolist(), points.seen_us.tolist(), strict=True)) == {5: 3, 2: 3, 1: 9}


@given(given_records=records, place=st.tuples(st.integers(0, 15), st.integers(0, 2), st.integers(0, 9)))
def test_points_are_counted_by_time_and_by_place(given_records: Records, place: tuple[int, int, int]) -> None:
    points, _ = Points.none(2).merged(come(given_records), 0)
    assert points.until(Place(*place)) == sum(own <= Place(*place) for own in places(points))
    assert points.before(place[0]) == sum(own.time_us < place[0] for own in places(points))


def test_a_point_of_two_attributes_takes_at_most_64_bytes() -> None:
    points, _ = Points.none(2).merged(come([(7, 0, n) for n in range(1_000)]), 0)
    assert sum(map(len, points.to_bytes())) <= 64 * points.count


def test_a_key_takes_its_bytes_of_utf_8_and_three_more() -> None:
    keys = ["日" * (KEY_BYTES_MAX // 3), "é" * (KEY_BYTES_MAX // 2), "k" * KEY_BYTES_MAX, None]
    points = Points.arrived([Come(7, 0, n, (1.0, 0.5), keys[n % 4], 0) for n in range(1_000)], 0, 2)
    parts = list(points.to_bytes())
    assert len(parts[-1]) <= (KEY_BYTES_MAX + 3) * points.count + 2
    # Version 0.2.0 wrote escapes.
    former = [*parts[:-1], json.dumps(json.loads(parts[-1]), separators=(",", ":")).encode()]
    assert len(former[-1]) > len(parts[-1])
    for own in (parts, former):
        again = Points.of_bytes(iter(own), 2)
        assert again.keys is not None
        assert again.keys.tolist() == [keys[n % 4] for n in range(1_000)]
        assert list(again.to_bytes()) == parts
