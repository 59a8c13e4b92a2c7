"""Coverage: the offsets of folded records, as disjoint intervals by topic and partition."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

INTERVALS_MAX = 256
"""The most intervals that are stored for a partition. If there are more, the nearest intervals are joined. A joined
interval also contains the offsets between the intervals, which count as covered.
"""

Interval = tuple[int, int]
"""A range of offsets: the first offset, and the offset after the last."""

Intervals = tuple[Interval, ...]
"""Disjoint, ascending intervals, with at least one offset between each two. An empty interval marks the offset at which
coverage begins.
"""

Place = tuple[str, int]
"""A partition: the id of its topic, and its number."""


@dataclass(frozen=True, slots=True)
class BatchInterval:
    """The offsets of a batch's records: the id of the topic, and by partition the first offset (``first``) and the
    offset after the last record (``end``).

    Both offsets are equal if the batch has no record of the partition. The number of a batch does not identify its
    records, because the numbers restart at 0 with a new folder of the stream.
    """

    topic_id: str
    first: Mapping[int, int]
    end: Mapping[int, int]

    @property
    def places(self) -> Mapping[Place, Interval]:
        """Return the interval of each partition."""
        return {(self.topic_id, each): (self.first.get(each, end), end) for each, end in self.end.items()}


@dataclass(frozen=True, slots=True)
class Coverage:
    """Sets of offsets by topic and partition.

    Immutable. A topic is identified by its id, not by its name. Cost: proportional to the intervals that an operation
    touches, plus a copy of references to the other intervals. A stream has one interval for each partition, and one
    more for each pause, until :meth:`bounded` merges them.

    >>> own = Coverage().with_all({("t", 0): [(0, 10)]}).with_all({("t", 0): [(10, 12)]})
    >>> own.of(("t", 0)), own.uncovered({("t", 0): (8, 15)})
    (((0, 12),), {('t', 0): ((12, 15),)})
    """

    intervals: Mapping[Place, Intervals] = field(default_factory=lambda: MappingProxyType({}))

    def of(self, place: Place) -> Intervals:
        """Return the covered intervals of offsets of a partition, in ascending order."""
        return self.intervals.get(place, ())

    def end(self, place: Place) -> int | None:
        """Return the offset after the last covered offset of a partition. Return None if nothing of the partition is
        covered.
        """
        own = self.of(place)
        return own[-1][1] if own else None

    @property
    def begins_at_zero(self) -> bool:
        """Return whether the coverage of each partition is one interval from offset 0 on. Return False if no partition
        has coverage.
        """
        return bool(self.intervals) and all(len(own) == 1 and own[0][0] == 0 for own in self.intervals.values())

    def uncovered(self, batch: Mapping[Place, Interval]) -> dict[Place, Intervals]:
        """Return the offsets of a batch that are not covered, by partition, without empty intervals."""
        found = {place: without(own, _meeting(self.of(place), own)) for place, own in batch.items()}
        return {place: intervals for place, intervals in found.items() if intervals}

    def meets(self, batch: Mapping[Place, Interval]) -> bool:
        """Return whether some offsets of a batch are covered."""
        return any(
            max(first, start) < min(end, stop)
            for place, (first, end) in batch.items()
            for start, stop in _meeting(self.of(place), (first, end))
        )

    def with_all(self, added: Mapping[Place, Sequence[Interval]]) -> Coverage:
        """Return the coverage with the intervals ``added``, by partition. Touching intervals become one interval."""
        own = {place: _with(self.of(place), several) for place, several in added.items()}
        return Coverage(MappingProxyType({**self.intervals, **own}))

    def without_all(self, removed: Mapping[Place, Interval]) -> Coverage:
        """Return the coverage without the offsets of some intervals."""
        intervals = dict(self.intervals)
        for place in removed.keys() & intervals.keys():
            own = intervals[place]
            start, stop = _span(own, removed[place])
            if start < stop:
                left = (part for each in own[start:stop] for part in without(each, (removed[place],)))
                intervals[place] = (*own[:start], *left, *own[stop:])
        return Coverage(MappingProxyType({place: own for place, own in intervals.items() if own}))

    def bounded(self, most: int = INTERVALS_MAX) -> Coverage:
        """Return the coverage with at most ``most`` intervals for each partition. The nearest intervals are joined,
        including the offsets between them.

        Invariant: no offset is lost, and the first and the last offset of a partition are unchanged.

        >>> Coverage().with_all({("t", 0): [(0, 5), (9, 12), (13, 14)]}).bounded(2).of(("t", 0))
        ((0, 5), (9, 14))
        """
        found = {place: _nearest(own, most) for place, own in self.intervals.items() if len(own) > most}
        return Coverage(MappingProxyType({**self.intervals, **found})) if found else self


def _nearest(intervals: Intervals, most: int) -> Intervals:
    """Join the intervals with the smallest distances until ``most`` intervals are left, and return these. Of equal
    distances, the first are joined. ``intervals``: disjoint and ascending.
    """
    between = sorted(range(1, len(intervals)), key=lambda place: intervals[place][0] - intervals[place - 1][1])
    joined = set(between[: len(intervals) - most])
    kept = [intervals[0]]
    for place in range(1, len(intervals)):
        if place in joined:
            kept[-1] = (kept[-1][0], intervals[place][1])
        else:
            kept.append(intervals[place])
    return tuple(kept)


def _span(own: Intervals, interval: Interval) -> tuple[int, int]:
    """Return the range of indices of the disjoint, ascending intervals that may share an offset with ``interval``."""
    first, end = interval
    return max(0, bisect_right(own, (first, first)) - 1), bisect_right(own, (end, end))


def _meeting(own: Intervals, interval: Interval) -> Intervals:
    return own[slice(*_span(own, interval))]


def _with(before: Intervals, added: Sequence[Interval]) -> Intervals:
    """Return the disjoint, ascending intervals ``before``, extended by the intervals ``added``. Intervals that precede
    all added intervals are unchanged.
    """
    if not added:
        return before
    start = max(0, bisect_right(before, min(added)) - 1)
    return (*before[:start], *merged((*before[start:], *added)))


def merged(intervals: Iterable[Interval]) -> Intervals:
    """Return the offsets of some intervals as disjoint, ascending intervals.

    >>> merged([(5, 7), (0, 2), (2, 3), (9, 9)])
    ((0, 3), (5, 7), (9, 9))
    """
    disjoint: list[Interval] = []
    for first, end in sorted(intervals):
        if disjoint and first <= disjoint[-1][1]:
            disjoint[-1] = (disjoint[-1][0], max(disjoint[-1][1], end))
        else:
            disjoint.append((first, end))
    return tuple(disjoint)


def without(interval: Interval, others: Sequence[Interval]) -> Intervals:
    """Return the offsets of an interval that are in none of the other intervals, which are disjoint and ascending.

    >>> without((0, 10), ((2, 3), (8, 12)))
    ((0, 2), (3, 8))
    """
    first, end = interval
    remaining = []
    for start, stop in others:
        if start == stop:
            continue
        if first < min(start, end):
            remaining.append((first, min(start, end)))
        first = max(first, stop)
    if first < end:
        remaining.append((first, end))
    return tuple(remaining)
