"""Gaps: intervals of event time in which records of a cube may be missing. Adjacent gaps are merged, so that a cube has
at most GAPS_MAX gaps.
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
"""The most gaps that are stored for a cube. If there are more, the nearest gaps are merged."""


@dataclass(frozen=True, slots=True)
class Gap:
    """An interval of event time in which records of a cube may be missing, and the reason. ``first_us``, ``end_us``:
    its bounds in microseconds since the epoch; None means that there is no bound.

    ``number``: the number of its row in the store; 0 if it has no row. ``newest_us``: if the end of the gap is not
    known yet, the newest time of the partitions that have had records after the missing ones; None if no partition has.
    ``offsets``: the offsets whose records are missing; None if the offsets are not known, or if the records were lost
    by damage.
    """

    first_us: int | None
    end_us: int | None
    reason: str
    number: int = 0
    newest_us: int | None = None
    offsets: GapOffsets | None = None

    def with_newest(self, times_us: Iterable[int]) -> Gap:
        """Return the gap with an updated ``newest_us``. ``times_us``: the newest times of partitions that have had
        records after the missing ones.
        """
        known = [*times_us, *(() if self.newest_us is None else (self.newest_us,))]
        return replace(self, newest_us=max(known, default=None))

    def ended(self, lateness_us: int) -> Gap:
        """Return the gap with its end. The caller calls this when each partition has had a record after the missing
        ones. If there is no newest time, return the gap unchanged. ``lateness_us``: the allowed lateness.
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
        """Return the gap in the form of the API, with times as texts."""
        first, end = (None if own is None else bound_text(own) for own in (self.first_us, self.end_us))
        return {"from": first, "to": end, "reason": self.reason}


def bounded(gaps: Sequence[Gap], most: int = GAPS_MAX) -> tuple[Gap, ...]:
    """Merge gaps until there are at most ``most``, and return them ordered by the numbers of their rows. Gaps that
    overlap or touch, and have equal reasons, become one gap.

    If there are still more than ``most``, the nearest gaps are merged, whatever their reasons. Invariant: the result
    contains all times of the gaps ``gaps``; a merged gap may contain more times, and never fewer. Gaps without an end
    may be merged, because the same later batch gives an end to all of them. The gap before the first batch is never
    merged, because it is removed when coverage begins at offset 0.
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
    """Merge gaps that overlap or touch, and return all gaps by their begin. All of them have an end."""
    joined: list[Gap] = []
    for own in sorted(gaps, key=_begin):
        if joined and _distance_us(joined[-1], own) <= 0:
            joined[-1] = _union((joined[-1], own))
        else:
            joined.append(own)
    return joined


def _nearest(gaps: Iterable[Gap], most: int) -> list[Gap]:
    """Merge the gaps with the smallest distances until ``most`` gaps are left, and return them. All of them have an
    end.
    """
    ordered = sorted(gaps, key=_begin)
    if len(ordered) <= most:
        return ordered
    distances_us, latest = [], ordered[0]
    for gap in ordered[1:]:
        distances_us.append(_distance_us(latest, gap))
        latest = max(latest, gap, key=_end)
    # Select as many of the smallest distances as there are gaps too many. The two gaps at each selected distance merge.
    nearest = set(sorted(range(len(distances_us)), key=lambda each: distances_us[each])[: len(ordered) - most])
    joined = [ordered[0]]
    for place, gap in enumerate(ordered[1:]):
        if place in nearest:
            joined[-1] = _union((joined[-1], gap))
        else:
            joined.append(gap)
    return joined


def _union(gaps: Sequence[Gap]) -> Gap:
    """Return the smallest gap that contains all gaps ``gaps``. Either all of the gaps have an end, or none has one."""
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
    """Return the union of the offsets of some gaps. Return None if the offsets of a gap are not known."""
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
    """Return the microseconds from the end of a gap to the begin of a later gap. They are zero or negative if the gaps
    touch or overlap.
    """
    return 0 if later.first_us is None else later.first_us - _end(earlier)
