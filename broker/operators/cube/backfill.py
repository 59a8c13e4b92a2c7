"""The backfill of the cubes of a stream: the choice of the next offsets to be read, and the progress."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from asc.operators.cube.json_values import bound_text
from broker.operators.backfill import BackfillBatch, SourceOffsets
from broker.operators.cube.backfilling import BATCH_RECORDS, Seam, has_unreported, lacking, newest_part
from broker.operators.cube.coverage import Coverage, Intervals, Place
from broker.operators.cube.cube_state import BACKFILLED, CubeId, CubeState
from broker.operators.cube.keeper import Keeper
from broker.operators.cube.region import first_kept
from broker.operators.cube.snapshot import Snapshot
from broker.operators.fold_destination import FoldDestination

LOG = logging.getLogger("asc.cubes")

Wanted = Mapping[CubeId, FoldDestination]
"""The planned cubes that are to be backfilled, each with its query."""


@dataclass(frozen=True, slots=True)
class _Failure:
    """The reason why the backfill of a cube failed. ``since``: the registration of the cube's query; a new registration
    tries the backfill again.
    """

    since: int
    reason: str


class CubeBackfill:
    """The component that chooses the offsets that the cubes of a stream read next, and stores which backfills failed.

    The coverage of a cube is the progress of its backfill, so no other progress is stored. Only the thread of the
    stream's backfill calls the methods. Other threads may call :meth:`problem` and :meth:`forget`.

    A cube whose records are in too many panes for one transaction reads fewer offsets in one batch. Such a cube chooses
    the offsets before the other cubes, so that each cube reads its newest offsets first. Offsets that several cubes
    lack are read once for all of them.
    """

    def __init__(self) -> None:
        self._failed: dict[CubeId, _Failure] = {}
        self._most: dict[CubeId, int] = {}

    def wanted(self, keeper: Keeper, planned: Iterable[tuple[CubeId, FoldDestination]]) -> Wanted:
        """Return the cubes of planned queries that are to be backfilled, without cubes that are parked, that cannot be
        read, or whose backfill has failed.
        """
        cubes = keeper.snapshot.cubes
        return {
            cube: query
            for cube, query in planned
            if (state := cubes.get(cube)) is not None
            and is_wanted(state, query)
            and state.parked is None
            and state.layout is not None
            and not self._has_failed(cube, query.since)
        }

    def next(self, keeper: Keeper, wanted: Wanted, source: SourceOffsets) -> BackfillBatch | None:
        """Return the next offsets to be read, and the cubes that lack all of these offsets. Return None if no cube
        lacks offsets.

        If a requested backfill is complete, the keeper records that it is no longer requested. ``source``: the offsets
        that the topic still has, and the offsets from which live batches read. Cost: proportional to the intervals of
        the cubes' coverage.
        """
        seam = seam_of(source)
        if not source.ends:
            return None
        lacked: dict[CubeId, Mapping[Place, Intervals]] = {}
        unreported: list[CubeId] = []
        self._most = {cube: most for cube, most in self._most.items() if cube in wanted}
        for cube in sorted(wanted, key=lambda each: (self._most_of(each), keeper.snapshot.cube(each).number)):
            state = keeper.snapshot.cube(cube)
            if not state.batch and not source.is_settled:
                # The plan of the running batch may not contain this new cube. So the offset at which the cube's live
                # batches begin is not yet known.
                continue
            if own := lacking(state.coverage, seam):
                lacked[cube] = own
                continue
            self._most.pop(cube, None)
            if has_unreported(state, seam):
                unreported.append(cube)
            elif state.is_wanted:
                keeper.want_backfill(cube, is_wanted=False)
        if not lacked:
            return BackfillBatch(source, {}, _queries(unreported, wanted)) if unreported else None
        first = next(iter(lacked))
        part = newest_part(lacked[first], self._most_of(first))
        cubes = [cube for cube, own in lacked.items() if not Coverage(own).uncovered(part)]
        intervals = {partition: own for (_, partition), own in part.items()}
        return BackfillBatch(source, intervals, _queries(cubes, wanted))

    def halve(self, cube: CubeId, batch: BackfillBatch, panes: int) -> None:
        """Limit the next backfill batches of a cube to half the offsets of ``batch``, because the records of ``batch``
        are in ``panes`` panes, which are too many for one transaction.
        """
        offsets = sum(end - first for first, end in batch.intervals.values())
        self._most[cube] = max(1, offsets // 2)
        text = "cube %s: its records at %d offsets are in %d panes, so that its backfill reads %d offsets at once"
        LOG.info(text, cube.query, offsets, panes, self._most[cube])

    def fail(self, cube: CubeId, since: int, reason: str) -> None:
        """Record that a cube cannot be backfilled, until its query is registered anew. The live batches of the cube
        continue. ``since``: the registration of the query.
        """
        self._failed[cube] = _Failure(since, reason)

    def forget(self, cube: CubeId) -> None:
        """Forget that the backfill of a cube failed, so that the next call of :meth:`next` tries it again."""
        self._failed.pop(cube, None)

    def problem(self, state: CubeState) -> str | None:
        """Return the reason why the backfill of a cube failed. Return None if it did not fail."""
        return self._failed[state.id].reason if self._has_failed(state.id, state.since) else None

    def _has_failed(self, cube: CubeId, since: int) -> bool:
        failure = self._failed.get(cube)
        return failure is not None and failure.since == since

    def _most_of(self, cube: CubeId) -> int:
        return self._most.get(cube, BATCH_RECORDS)


def is_wanted(state: CubeState, query: FoldDestination) -> bool:
    """Return whether a cube is to be backfilled, by its definition or by a request."""
    return state.is_wanted or query.definition.get("from") == "earliest"


def seam_of(source: SourceOffsets) -> Seam:
    """Return the first and the last offsets between which a backfill reads each partition of a source topic."""
    return Seam(source.topic_id, source.ends, source.begins)


def progress_of(
    snapshot: Snapshot, state: CubeState, source: SourceOffsets, *, is_wanted: bool, problem: str | None
) -> dict[str, Any]:
    """Return the progress of a cube's backfill as the API shows it. ``is_wanted``: whether the cube is to be
    backfilled. ``problem``: the reason why the backfill does not continue; None if it continues.
    """
    seam = seam_of(source)
    gaps = list(snapshot.all_gaps(state))
    offsets, left = [], 0
    for place, (_, end) in sorted(seam.places.items()):
        begin = min(seam.begin(place), end)
        lacked = _count(state.coverage.uncovered({place: (begin, end)}))
        expired = _count(state.coverage.uncovered({place: (0, begin)}))
        left += lacked
        folded = end - lacked - expired
        offsets.append({"partition": place[1], "from": 0, "to": end, "folded": folded, "expired": expired})
    phase = "done" if not left else "running" if is_wanted else "off"
    if left and is_wanted and (problem or state.parked):
        phase = "stopped"
    whole_from_us = _whole_from_us(state, [gap.end_us for gap in gaps])
    return {
        "id": state.id.query,
        "phase": phase,
        "problem": (problem or state.parked) if phase == "stopped" else None,
        "topic_id": source.topic_id,
        "offsets": offsets,
        "left": left,
        "backfilled": state.counters.get(BACKFILLED, 0),
        "whole": not gaps,
        "whole_from": None if whole_from_us is None else bound_text(whole_from_us),
        "gaps": [gap.plain() for gap in gaps],
    }


def _whole_from_us(state: CubeState, ends_us: Collection[int | None]) -> int | None:
    """Return the time from which on the cube has all records, in microseconds since the epoch. It is the end of the
    last gap, or the begin of the first pane if there is no gap. The time is never before the first pane that is kept.
    Return None if a gap has no known end, or if there is no pane. ``ends_us``: the ends of the gaps; None for an
    unknown end.
    """
    known = [end_us for end_us in ends_us if end_us is not None]
    if len(known) < len(ends_us):
        return None
    first = first_kept(state) if not known else state.kept_from
    return max((*known, *([] if first is None else [first * state.grain_us])), default=None)


def _count(intervals: Mapping[Place, Intervals]) -> int:
    return sum(end - first for several in intervals.values() for first, end in several)


def _queries(cubes: Iterable[CubeId], wanted: Wanted) -> dict[str, FoldDestination]:
    return {cube.query: wanted[cube] for cube in cubes}
