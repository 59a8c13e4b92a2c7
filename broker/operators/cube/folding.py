"""The offsets, counters and gaps of a cube after a batch, computed before the transaction writes anything. Pieces are
computed elsewhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from broker.operators.cube.batch_time import BatchTime
from broker.operators.cube.coverage import BatchInterval, Coverage, Interval, Place, merged
from broker.operators.cube.cube_state import PAUSED, CubeState
from broker.operators.cube.gaps import NO_BATCH, Gap, GapOffsets, bounded
from broker.operators.cube.partial import Partial

IN_PART = "a batch of which a part was folded already came again"


def folded_state(
    state: CubeState, batch: BatchInterval, partial: Partial, batch_time: BatchTime, gap_numbers: Iterator[int]
) -> CubeState:
    """Return the state of a cube after a batch, with new offsets, counters and gaps. Before the batch, the cube had
    none of the batch's records.

    Offsets between the cube's last batch and this batch are recorded as missed, because the cube was paused or parked,
    or the topic lost the records. Offsets before the cube's first batch are missed as well. After very many pauses,
    nearby intervals of coverage are joined, and the missed offsets between them count as folded. A replayed batch with
    these offsets is skipped, and the gap that reports the offsets remains.
    """
    places = batch.places
    missed = _skipped(state, places)
    coverage = state.coverage.with_all({place: [own] for place, own in places.items()}).bounded()
    after = replace(state, coverage=coverage, missed=state.missed.with_all(missed).without_all(places).bounded())
    gap = Gap(state.watermark_us, None, state.stopped or PAUSED)
    ends = {place: own[-1][1] for place, own in missed.items()}
    gap = replace(gap, offsets=offsets_of(missed))
    if not state.batch:
        ends = _begins(coverage)
        before = offsets_of({place: [(0, first)] for place, first in ends.items()})
        gap = Gap(None, None, NO_BATCH, offsets=before)
    found = _with_gap(after, _needed(state), gap, ends, batch_time=batch_time, gap_numbers=gap_numbers)
    counters = Counter(state.counters)
    counters.update(partial.counters(batch_time.open_before(state.grain_us), state.kept_from))
    return replace(found, counters=MappingProxyType(counters))


def passed_state(
    state: CubeState, batch: BatchInterval, batch_time: BatchTime, gap_numbers: Iterator[int]
) -> CubeState:
    """Return the state of a cube that had already folded a part of a batch. The other records of the batch are recorded
    as missed, and a gap reports them.
    """
    places, seen = batch.places, state.seen()
    missed = _skipped(state, places)
    is_later = True
    for place, rest in seen.uncovered(places).items():
        missed[place] = [*missed.get(place, []), *rest]
        is_later = is_later and rest[0][0] >= (seen.end(place) or 0)
    # Missed records before folded offsets may be of any time, so the gap then has no begin.
    gap = Gap(state.watermark_us if is_later else None, None, IN_PART, offsets=offsets_of(missed))
    after = replace(state, missed=state.missed.with_all(missed).bounded())
    ends = {place: own[-1][1] for place, own in missed.items()}
    return _with_gap(after, _needed(state), gap, ends, batch_time=batch_time, gap_numbers=gap_numbers)


def offsets_of(intervals: Mapping[Place, Sequence[Interval]]) -> GapOffsets:
    """Return intervals of offsets in the form in which a gap stores them: see :data:`GapOffsets`."""
    return tuple((*place, *own) for place, several in sorted(intervals.items()) for own in merged(several))


def _skipped(state: CubeState, places: Mapping[Place, Interval]) -> dict[Place, list[Interval]]:
    """Return, by partition, the offsets after the last one that a cube has seen and before the first one of a batch."""
    if not state.batch:
        return {}
    ends = {place: state.end(place) for place in places}
    return {place: [(ends[place], first)] for place, (first, _) in places.items() if ends[place] < first}


def _begins(coverage: Coverage) -> dict[Place, int]:
    """Return the first covered offset of each partition that has records before that offset."""
    return {place: own[0][0] for place, own in coverage.intervals.items() if own[0][0]}


def _needed(state: CubeState) -> dict[Place, int]:
    """Return by partition the offset after the last missed record. A later record of the partition with a time bounds
    the times of the missed records, so that a gap can end.
    """
    return {**_begins(state.coverage), **{place: own[-1][1] for place, own in state.missed.intervals.items()}}


def _with_gap(
    state: CubeState,
    needed: Mapping[Place, int],
    gap: Gap,
    ends: Mapping[Place, int],
    *,
    batch_time: BatchTime,
    gap_numbers: Iterator[int],
) -> CubeState:
    """Return a state after a batch. Add the new gap if offsets are missed (``ends`` is not empty), and set the ends of
    open gaps whose ends are known now.

    A gap ends when each partition with missed records has had a later record, because each partition has its own newest
    time. The newest time of a partition comes from this batch, or from an earlier batch if that time is later.
    ``needed``: the result of :func:`_needed` before the batch. ``ends``: by partition, the end of the offsets that the
    new gap reports; empty if there are none.
    """
    before, clock = batch_time.before, batch_time.after
    came: list[int] = []
    for place, end in {**needed, **ends}.items():
        time_us, is_new = clock.time_after(place, end), before.time_after(place, end) is None
        if time_us is not None and (is_new or place in ends):
            # The batch may contain only old records that were sent again, so use an earlier newest time if it is later.
            former_us = before.progress.newest.get(place[1])
            came.append(time_us if former_us is None else max(time_us, former_us))
    gaps = [*state.gaps, replace(gap, number=next(gap_numbers))] if ends else list(state.gaps)
    gaps = [own if own.end_us is not None else own.with_newest(came) for own in gaps]
    if all(clock.time_after(place, end) is not None for place, end in _needed(state).items()):
        gaps = [own if own.end_us is not None else own.ended(batch_time.lateness_us) for own in gaps]
    return replace(state, batch=batch_time.commit, stopped=None, gaps=bounded(gaps))
