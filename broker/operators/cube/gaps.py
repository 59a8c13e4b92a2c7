"""Gaps: intervals of event time in which records of a cube may be missing. Adjacent gaps are merged; the number is
bounded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from asc.operators.cube.json_values import bound_text
from broker.operators.cube.coverage import merged

NO_BATCH = "before its first batch"
SEVERAL = "several pauses, parks or lost offsets"
"""The reason of a gap that results from merging gaps with different reasons."""

GapOffsets = tuple[tuple[str, int, int, int], ...]
"""Offsets whose records may be missing: topic id, partition, first offset, and the offset after the last."""

GAPS_MAX = 256
"""The most gaps that are stored of a cube. If there are more, the nearest gaps are merged."""


@dataclass(frozen=True, slots=True)
class Gap:
    """An interval of event time in which records may be missing, and the reason. A bound of None means that there is no
    bound.

    ``number``: the number of its row in the store; 0 if it has no row. ``newest_us``: for a gap without an end so far,
    the newest time of partitions that have had records since; None if there were none. ``offsets``: the offsets whose
    records are missing; None if they are not known, or if the records were lost in another way.
    """

    first_us: int | None
    end_us: int | None
    reason: str
    number: int = 0
    newest_us: int | None = None
    offsets: GapOffsets | None = None

    def with_newest(self, times_us: Iterable[int]) -> Gap:
        """Return the gap after more partitions have had records. ``times_us``: the newest times of these partitions."""
        known = [*times_us, *(() if self.newest_us is None else (self.newest_us,))]
        return replace(self, newest_us=max(known, default=None))

    def ended(self, lateness_us: int) -> Gap:
        """Return the gap with its end, which is known when each partition has had a record since. If there is no newest
        time, return the gap unchanged.
        """
        if self.newest_us is None:
            return self
        # If the lateness is 0, missing records may have exactly the time of the newest record, so the end is at least 1
        # us later.
        end_us = self.newest_us + max(lateness_us, 1)
        return replace(self, end_us=end_us if self.first_us is None else max(end_us, self.first_us + 1))

    def overlaps(self, first_us: int | None, end_us: int | None) -> bool:
        """Return whether the gap overlaps an interval. A bound of None means that there is no bound."""
        begins_before = self.first_us is None or end_us is None or self.first_us < end_us
        ends_after = self.end_us is None or first_us is None or first_us < self.end_us
        return begins_before and ends_after

    def plain(self) -> dict[str, str | None]:
        """Return the gap as answers show it."""
        first, end = (None if own is None else bound_text(own) for own in (self.first_us, self.end_us))
        return {"from": first, "to": end, "reason": self.reason}


def bounded(gaps: Sequence[Gap], most: int = GAPS_MAX) -> tuple[Gap, ...]:
    """Return at most ``most`` gaps, ordered by the numbers of their rows. Gaps that overlap or touch, and have equal
    reasons, become one gap.

    If there are still more than ``most``, the nearest gaps are merged, whatever their reasons. Invariant: the result
    contains all times of the given gaps, so a gap may grow and never shrinks. Gaps without an end get their ends in the
    same batch, later than all of their times. The gap before the first batch is never merged, because it disappears
    when coverage begins at offset 0.
    """
    alone = [own for own in gaps if own.reason == NO_BATCH]
    unended = [own for own in gaps if own.end_us is None and own.reason != NO_BATCH]
    ended = [own for own in gaps if own.end_us is not None and own.reason != NO_BATCH]
    unended = [_union(own) for own in _by_reason(unended)]
    ended = [own for several in _by_reason(ended) for own in _touching(several)]
    if len(unended) > 1 and len(alone) + len(unended) + len(ended) > most:
        unended = [_union(unended)]
    free_count = max(1, most - len(alone) - len(unended))
    return tuple(sorted((*alone, *unended, *_nearest(ended, free_count)), key=lambda own: own.number))


def _by_reason(gaps: Iterable[Gap]) -> list[list[Gap]]:
    found: dict[str, list[Gap]] = {}
    for own in gaps:
        found.setdefault(own.reason, []).append(own)
    return list(found.values())


def _touching(gaps: Iterable[Gap]) -> list[Gap]:
    """Return the gaps, which all have an end. Gaps that overlap or touch are merged."""
    joined: list[Gap] = []
    for own in sorted(gaps, key=_begin):
        if joined and _distance_us(joined[-1], own) <= 0:
            joined[-1] = _union((joined[-1], own))
        else:
            joined.append(own)
    return joined


def _nearest(gaps: Iterable[Gap], most: int) -> list[Gap]:
    """Return the gaps, which all have an end. The nearest gaps are merged until ``most`` are left."""
    ordered = sorted(gaps, key=_begin)
    if len(ordered) <= most:
        return ordered
    distances_us, latest = [], ordered[0]
    for gap in ordered[1:]:
        distances_us.append(_distance_us(latest, gap))
        latest = max(latest, gap, key=_end)
    # The nearest neighbours are joined, until at most ``most`` gaps remain.
    nearest = set(sorted(range(len(distances_us)), key=lambda each: distances_us[each])[: len(ordered) - most])
    joined = [ordered[0]]
    for place, gap in enumerate(ordered[1:]):
        if place in nearest:
            joined[-1] = _union((joined[-1], gap))
        else:
            joined.append(gap)
    return joined


def _union(gaps: Sequence[Gap]) -> Gap:
    """Return the smallest gap that contains some gaps. Either all of the gaps have an end, or none has one."""
    firsts_us = [own.first_us for own in gaps if own.first_us is not None]
    ends_us = [own.end_us for own in gaps if own.end_us is not None]
    reasons = {own.reason for own in gaps}
    union = Gap(
        min(firsts_us) if len(firsts_us) == len(gaps) else None,
        max(ends_us) if len(ends_us) == len(gaps) else None,
        reasons.pop() if len(reasons) == 1 else SEVERAL,
        min(own.number for own in gaps),
        offsets=_joined_offsets(gaps),
    )
    return union.with_newest(own.newest_us for own in gaps if own.newest_us is not None)


def _joined_offsets(gaps: Sequence[Gap]) -> GapOffsets | None:
    """Return the offsets of some gaps together. Return None if those of one gap are not known."""
    intervals: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for gap in gaps:
        if gap.offsets is None:
            return None
        for topic, partition, first, end in gap.offsets:
            intervals.setdefault((topic, partition), []).append((first, end))
    return tuple((*place, *own) for place, several in sorted(intervals.items()) for own in merged(several))


def _begin(gap: Gap) -> tuple[bool, int]:
    return (False, 0) if gap.first_us is None else (True, gap.first_us)


def _end(gap: Gap) -> int:
    assert gap.end_us is not None
    return gap.end_us


def _distance_us(earlier: Gap, later: Gap) -> int:
    """Return the time between two gaps that have an end. The time is zero or negative if the gaps touch or overlap."""
    return 0 if later.first_us is None else later.first_us - _end(earlier)
