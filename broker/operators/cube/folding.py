"""Folding: what a batch makes of the state of a cube, but for its pieces, computed before anything is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from broker.operators.cube.batch_time import BatchTime
from broker.operators.cube.coverage import BatchInterval, Interval, Place
from broker.operators.cube.cube_state import PAUSED, CubeState, Gap
from broker.operators.cube.partial import Partial

IN_PART = "a batch of which a part was folded already came again"


def folded_state(
    state: CubeState, batch: BatchInterval, partial: Partial, batch_time: BatchTime, gap_numbers: Iterator[int]
) -> CubeState:
    """Return the state of a cube that has the records of a batch, none of which it had: offsets, counters and gaps.

    Offsets between the last batch and this one are missed: the cube was paused or parked, or the topic lost them.
    """
    places = batch.places
    missed = _skipped(state, places)
    gap = Gap(state.mark_us, None, state.stopped or PAUSED, next(gap_numbers))
    found = _with_gap(state, missed, gap, batch_time)
    coverage = state.coverage.with_all({place: [own] for place, own in places.items()})
    begins_us = state.begins_us
    if begins_us is None and batch_time.newest_us is not None:
        begins_us = batch_time.newest_us + batch_time.lateness_us
    counters = Counter(state.counters)
    counters.update(partial.counters(batch_time.open_before(state.grain_us)))
    return replace(
        found,
        coverage=coverage,
        missed=found.missed.without_all(places),
        counters=MappingProxyType(counters),
        begins_us=begins_us,
    )


def passed_state(
    state: CubeState, batch: BatchInterval, batch_time: BatchTime, gap_numbers: Iterator[int]
) -> CubeState:
    """Return the state of a cube that had a part of a batch: the rest is missed, and a gap tells it."""
    places, seen = batch.places, state.seen()
    missed = _skipped(state, places)
    is_later = True
    for place, rest in seen.uncovered(places).items():
        missed[place] = [*missed.get(place, []), *rest]
        is_later = is_later and rest[0][0] >= (seen.end(place) or 0)
    # Of offsets before others that it has, nobody knows how old their records are.
    gap = Gap(state.mark_us if is_later else None, None, IN_PART, next(gap_numbers))
    return _with_gap(state, missed, gap, batch_time)


def _skipped(state: CubeState, places: Mapping[Place, Interval]) -> dict[Place, list[Interval]]:
    """Return the offsets between what a cube has seen and a batch."""
    if not state.batch:
        return {}
    seen = state.seen()
    ends = {place: seen.end(place) or 0 for place in places}
    return {place: [(ends[place], first)] for place, (first, _) in places.items() if ends[place] < first}


def _with_gap(
    state: CubeState,
    missed: Mapping[Place, list[Interval]],
    gap: Gap,
    batch_time: BatchTime,
) -> CubeState:
    """Return a state after a batch, with a gap if offsets are missed, and with ends of gaps that had none."""
    gaps = [*state.gaps, gap] if missed else list(state.gaps)
    end_us = batch_time.end_of_gap_us
    if end_us is not None:
        gaps = [own if own.end_us is not None else replace(own, end_us=_end_of(own, end_us)) for own in gaps]
    return replace(
        state,
        batch=batch_time.commit,
        stopped=None,
        gaps=tuple(gaps),
        missed=state.missed.with_all(missed),
    )


def _end_of(gap: Gap, end_us: int) -> int:
    # Without lateness the records that are missing may have the very time of the mark.
    return end_us if gap.first_us is None else max(end_us, gap.first_us + 1)
