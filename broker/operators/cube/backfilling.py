"""Backfill of a cube: the offsets that the cube lacks, and the state of the cube after some of these offsets are
folded. The state is computed before the transaction writes anything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from asc.operators.cube.cells import Cells
from broker.operators.cube.batch_time import BatchTime
from broker.operators.cube.coverage import BatchInterval, Coverage, Interval, Intervals, Place
from broker.operators.cube.cube_state import BACKFILLED, CubeState
from broker.operators.cube.folding import folded_state, offsets_of
from broker.operators.cube.gaps import NO_BATCH, Gap, bounded
from broker.operators.cube.partial import Partial

BATCH_RECORDS = 200_000
"""The approximate number of offsets of one backfill batch, of all partitions together."""


@dataclass(frozen=True, slots=True)
class Seam:
    """The offsets between which a backfill reads a topic, by partition.

    ``ends``: the offsets from which on live batches read. ``begins``: the first offsets that Kafka still has.
    ``newest``: the newest time of the records of the backfill batch, by partition, in microseconds since the epoch.
    These times do not change the watermark.
    """

    topic_id: str
    ends: Mapping[int, int]
    begins: Mapping[int, int]
    newest: Mapping[int, int] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def places(self) -> dict[Place, Interval]:
        """Return the offsets from 0 up to the live batches, by partition."""
        return {(self.topic_id, each): (0, end) for each, end in self.ends.items()}

    def begin(self, place: Place) -> int:
        """Return the first offset of a partition that Kafka still has. Return 0 if it is not known."""
        return self.begins.get(place[1], 0)


def lacking(coverage: Coverage, seam: Seam) -> dict[Place, Intervals]:
    """Return the offsets that Kafka still has and a cube has not folded, by partition."""
    readable = {place: (seam.begin(place), end) for place, (_, end) in seam.places.items() if seam.begin(place) < end}
    return coverage.uncovered(readable)


def has_unreported(state: CubeState, seam: Seam) -> bool:
    """Return whether a cube lacks offsets that Kafka has already deleted, and that no gap reports yet."""
    return bool(state.seen().uncovered(_expired(state.coverage, seam)))


def newest_part(lacked: Mapping[Place, Intervals], most: int = BATCH_RECORDS) -> dict[Place, Interval]:
    """Return the next offsets to be read: about ``most`` offsets in total, from the end of the last lacked interval of
    each partition.

    The newest records are read first. So the coverage of a partition grows from the live records towards older offsets,
    and one end describes the gap of records that are still missing. Each partition gets a part of ``most`` in
    proportion to its lacked offsets, and at least one offset.

    >>> newest_part({("t", 0): ((0, 90),), ("t", 1): ((0, 4), (8, 10))}, 20)
    {('t', 0): (71, 90), ('t', 1): (9, 10)}
    """
    last = {place: own[-1] for place, own in lacked.items()}
    total = sum(end - first for first, end in last.values())
    if total <= most:
        return last
    return {
        place: (max(first, end - max(1, (end - first) * most // total)), end) for place, (first, end) in last.items()
    }


def backfilled_state(
    state: CubeState,
    batch: BatchInterval,
    partial: Partial,
    seam: Seam,
    *,
    batch_time: BatchTime,
    gap_numbers: Iterator[int],
) -> CubeState:
    """Return the state of a cube after a backfill batch, with new offsets, counters and gaps, but without its pieces.

    Before the batch, the cube had none of the batch's records. Gaps whose offsets are all folded are removed. After a
    partition has all offsets that Kafka still has, a gap reports the earlier offsets, whose records have expired.
    ``batch_time``: the clock of the last live batch, which a backfill does not change. ``gap_numbers``: the numbers for
    new gaps.
    """
    state = _begun(state, seam, batch_time, gap_numbers)
    coverage = state.coverage.with_all({place: [own] for place, own in batch.places.items()})
    missed = state.missed.without_all(batch.places)
    counters = Counter(state.counters)
    # Backfilled records are not late, however old they are: they are counted for the first time.
    counted = partial.counters(None, state.kept_from)
    counters.update({**counted, BACKFILLED: counted["counted"]})
    after = replace(state, coverage=coverage, missed=missed, counters=MappingProxyType(counters))
    after = _with_expired(after, batch, seam, batch_time, gap_numbers)
    gaps = [own for own in after.gaps if not _is_folded(own, after)]
    return replace(after, gaps=bounded(gaps))


def _begun(state: CubeState, seam: Seam, batch_time: BatchTime, gap_numbers: Iterator[int]) -> CubeState:
    """Return the state of a cube in which each offset before the seam is either covered or reported by a gap.

    This is the state after an empty live batch at the seam. The next live batch begins at the seam, so that it adds no
    gap for offsets that the backfill will read.
    """
    ends = {place: end for place, (_, end) in seam.places.items()}
    if state.batch and all(state.end(place) >= end for place, end in ends.items()):
        return state
    # If the cube has read a partition further than the seam, the empty batch is at the last offset that the cube has
    # read.
    own = {place[1]: max(end, state.end(place)) for place, end in ends.items()}
    empty = BatchInterval(seam.topic_id, own, own)
    assert state.layout is not None
    none = Partial(Cells.none(state.layout), MappingProxyType({}))
    return folded_state(state, empty, none, batch_time, gap_numbers)


def _expired(coverage: Coverage, seam: Seam) -> dict[Place, Interval]:
    """Return the offsets that Kafka has already deleted, for each partition of which the cube has folded all offsets
    that Kafka still has before the seam.
    """
    lacked = lacking(coverage, seam)
    return {place: (0, min(seam.begin(place), end)) for place, (_, end) in seam.places.items() if place not in lacked}


def _with_expired(
    state: CubeState, batch: BatchInterval, seam: Seam, batch_time: BatchTime, gap_numbers: Iterator[int]
) -> CubeState:
    """Return a state with a gap for the expired offsets of each partition whose backfill is complete, if no gap reports
    these offsets yet.
    """
    expired = state.seen().uncovered(_expired(state.coverage, seam))
    gaps = [
        Gap(None, _expired_to_us(state, place, batch, seam, batch_time), reason, next(gap_numbers), offsets=offsets)
        for place, several in sorted(expired.items())
        for reason, offsets in ((expired_reason(place[1], several[-1][1]), offsets_of({place: several})),)
    ]
    return replace(state, missed=state.missed.with_all(expired), gaps=(*state.gaps, *gaps))


def expired_reason(partition: int, end: int) -> str:
    """Return the reason of the gap for the offsets of a partition before ``end``."""
    return f"the topic no longer has the records of partition {partition} before offset {end:,}, which have expired"


def _expired_to_us(
    state: CubeState, place: Place, batch: BatchInterval, seam: Seam, batch_time: BatchTime
) -> int | None:
    """Return the end of the gap of a partition's expired records, in microseconds since the epoch. Return None while
    the end is not known.

    The end is the newest time of the records that follow the expired offsets, plus the lateness. The end of the gap
    before the first batch of a cube follows the same rule.
    """
    interval, newest_us = batch.places.get(place), seam.newest.get(place[1])
    if newest_us is None or interval is None or interval[0] != seam.begin(place):
        former = [own.end_us for own in state.gaps if own.reason == NO_BATCH]
        if former and former[0] is not None:
            return former[0]
        newest_us = batch_time.after.time_after(place, seam.begin(place))
    return None if newest_us is None else newest_us + max(batch_time.lateness_us, 1)


def _is_folded(gap: Gap, state: CubeState) -> bool:
    """Return whether a gap has known offsets, and all of them are folded."""
    if not gap.offsets:
        return False
    intervals = [((topic, partition), (first, end)) for topic, partition, first, end in gap.offsets]
    # Coverage whose nearest intervals were joined may contain missed offsets. So check the missed offsets as well.
    return not any(
        state.missed.meets({place: own}) or state.coverage.uncovered({place: own}) for place, own in intervals
    )
