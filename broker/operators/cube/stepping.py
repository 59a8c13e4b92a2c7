"""The steps of all cubes of a stream for one batch: the state of each cube before and after the batch. The steps are
computed before the transaction writes anything.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

from broker.errors import BrokerError, DamagedPieceError
from broker.operators.cube.backfilling import Seam, backfilled_state
from broker.operators.cube.batch_time import BatchTime, Clock
from broker.operators.cube.coverage import BatchInterval
from broker.operators.cube.cube_state import CubeId, CubeState
from broker.operators.cube.folding import folded_state, passed_state
from broker.operators.cube.gaps import Gap
from broker.operators.cube.late_cells import NO_LATE_CHANGES, LateCells, LateChanges
from broker.operators.cube.merging import Merged, PaneMerger
from broker.operators.cube.partial import Committed, Newest, Partial
from broker.operators.cube.snapshot import Snapshot

LOG = logging.getLogger("asc.cubes")

Outcome = Literal["folded", "covered", "partly", "parked", "absent"]
_REPORTED: tuple[Outcome, ...] = ("folded", "covered", "partly")


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """A cube before and after a batch.

    ``outcome``: how the cube used the batch, see :class:`Committed`; ``absent`` if the batch has no partial for the
    cube. ``merged``: the pieces of the cube after the batch. ``damaged``: the numbers of the pieces that were found
    damaged. ``late``: the changes of windows that are already written, each with the bytes of its former cells.
    """

    before: CubeState
    after: CubeState
    outcome: Outcome
    merged: Merged
    damaged: tuple[int, ...] = ()
    late: LateChanges = NO_LATE_CHANGES

    @property
    def new_gaps(self) -> tuple[Gap, ...]:
        """Return the gaps that the batch has added, except gaps that were merged into former gaps."""
        former = {gap.number for gap in self.before.gaps}
        return tuple(gap for gap in self.after.gaps if gap.number not in former)


class BatchSteps:
    """The steps of all cubes of a snapshot for one batch. A cube that fails is parked; the other cubes continue."""

    def __init__(
        self,
        snapshot: Snapshot,
        batch: BatchInterval,
        partials: Mapping[CubeId, Partial],
        newest: Newest,
        *,
        waiting: Collection[int],
        clocks: Mapping[str, Clock],
        merger: PaneMerger,
        late: LateCells,
        gap_numbers: Iterator[int],
        seam: Seam | None = None,
    ) -> None:
        """Determine the outcome of a batch for each cube. ``clocks``: the clocks before the batch. ``seam``: the
        offsets between which a backfill reads; None for a live batch. A backfill changes no mark, and sets a mark only
        if there is none.
        """
        self._seam = seam
        self._newest = newest
        self._snapshot = snapshot
        self._batch = batch
        self._partials = partials
        self._merger = merger
        self._late = late
        self._gap_numbers = gap_numbers
        cubes = snapshot.cubes
        self._outcomes = {cube: self._outcome(state) for cube, state in cubes.items()}
        # A batch that all cubes already contain does not change the mark.
        moved = {cubes[cube].time for cube, own in self._outcomes.items() if own in ("folded", "partly")}
        number = snapshot.commit + 1
        if seam is not None:
            # The first backfill batch has the newest records before the seam. Their times set the mark if there is
            # none, so that panes also close if no live records arrive.
            moved, number = {time for time in moved if time not in snapshot.marks}, max(snapshot.batch, 1)
        self._batch_times = {}
        for time in {state.time for state in cubes.values()}:
            before = clocks.get(time, Clock())
            after = before.after(batch, newest.get(time, {}), waiting) if time in moved else before
            self._batch_times[time] = BatchTime(number, snapshot.lateness_us, before, after)

    @property
    def marks(self) -> dict[str, int]:
        """Return the mark of each time expression after the batch, in microseconds since the epoch."""
        own = {time: own.after.progress.mark_us for time, own in self._batch_times.items()}
        return {**self._snapshot.marks, **{time: mark_us for time, mark_us in own.items() if mark_us is not None}}

    @property
    def clocks(self) -> dict[str, Clock]:
        """Return the clocks of all cubes after the batch."""
        return {time: own.after for time, own in self._batch_times.items()}

    @property
    def is_repeat(self) -> bool:
        """Return True if the batch changes nothing, so that nothing has to be written. Either there are no cubes, or
        some cubes already have the batch and no cube lacks it.
        """
        wanted = {cube for cube, own in self._outcomes.items() if own in ("folded", "partly")}
        if self._seam is not None:
            return not wanted
        return not self._outcomes or ("covered" in self._outcomes.values() and not wanted)

    def all(self) -> list[Step]:
        """Return the step of each cube. Raise CubeStoreError if a piece cannot be read at present."""
        return [self._step(state, self._outcomes[cube]) for cube, state in self._snapshot.cubes.items()]

    def _outcome(self, state: CubeState) -> Outcome:
        partial = self._partials.get(state.id)
        if partial is None:
            return "absent"
        if state.parked is not None:
            return "parked"
        if self._seam is not None:
            # A live batch may have folded some of the offsets in the meantime. The next backfill batch omits these
            # offsets.
            is_stale = state.layout is None or state.coverage.meets(self._batch.places)
            return "absent" if is_stale else "folded"
        if not state.coverage.uncovered(self._batch.places):
            return "covered"
        return "partly" if state.coverage.meets(self._batch.places) else "folded"

    def _step(self, state: CubeState, outcome: Outcome) -> Step:
        before, batch_time = state, self._batch_times[state.time]
        damaged: list[int] = []
        late = NO_LATE_CHANGES
        while True:
            try:
                after, merged, late = self._after(state, outcome, batch_time)
                break
            except DamagedPieceError as error:
                view = state.view_of(error.number)
                if view is not None:
                    LOG.warning("a view of cube %s is damaged, and is filled again", state.id.query)
                    state = state.without_pieces_of(view)
                    continue
                damaged.append(error.number)
                state, outcome = state.with_damage([error.number], self._gap_numbers), "parked"
            except BrokerError:
                raise
            except Exception as error:
                # The failure of one cube must not stop the stream, because it would repeat in every batch.
                LOG.warning("a batch cannot be folded into cube %s", state.id.query, exc_info=True)
                reason = f"a batch cannot be folded into it, {type(error).__name__}: {error}"
                if outcome == "parked":
                    merged = Merged.unmerged(state, batch_time.open_after(state.grain_us))
                    after = merged.kept_by(replace(state, parked=state.parked or reason.splitlines()[0]))
                    break
                # Repeat the loop with the parked cube, so that its panes close at the same time as those of other
                # cubes.
                state, outcome = replace(state, parked=reason.splitlines()[0]), "parked"
        if after.parked is not None and outcome != "absent":
            outcome = "parked"
        return Step(before, after, outcome, merged, tuple(damaged), late)

    def _after(
        self, state: CubeState, outcome: Outcome, batch_time: BatchTime
    ) -> tuple[CubeState, Merged, LateChanges]:
        """Return the state of a cube after the batch, its pieces, and the changes by late records."""
        partial = self._partials.get(state.id)
        if outcome == "folded" and partial is not None:
            over = partial.failed
            if over is None:
                open_from = None if self._seam is not None else batch_time.open_before(state.grain_us)
                cells, apart = partial.parted(open_from, state.kept_from)
                windows, late = self._late.after(state, cells)
                window_bytes = 0 if windows is None else windows.size_bytes
                merged = self._merger.merge(state, cells, batch_time, apart, window_bytes=window_bytes)
                if merged.over is None:
                    after = self._folded(state, partial, batch_time)
                    after = replace(self._with_watermark(after, batch_time), windows=windows)
                    return merged.kept_by(after), merged, late
                over = merged.over
            state = replace(state, parked=over)
        elif outcome == "partly":
            state = self._with_watermark(passed_state(state, self._batch, batch_time, self._gap_numbers), batch_time)
        elif outcome == "covered":
            state = replace(state, batch=batch_time.commit)
        # Close the panes that the watermark has passed, although the cube does not fold the batch.
        merged = self._merger.merge(state, None, batch_time)
        return merged.kept_by(state), merged, NO_LATE_CHANGES

    def _folded(self, state: CubeState, partial: Partial, batch_time: BatchTime) -> CubeState:
        own = self._batch, partial
        if self._seam is not None:
            seam = replace(self._seam, newest=self._newest.get(state.time, {}))
            return backfilled_state(state, *own, seam, batch_time=batch_time, gap_numbers=self._gap_numbers)
        return folded_state(state, *own, batch_time, self._gap_numbers)

    def _with_watermark(self, state: CubeState, batch_time: BatchTime) -> CubeState:
        """Return a state with the watermark of the batch if the cube has read as far as the other cubes. Otherwise
        return it without a watermark; a backfill batch then leaves the watermark unchanged.
        """
        has_all = state.reaches(self._snapshot.ends)
        if self._seam is not None and not has_all:
            return state
        return replace(state, watermark_us=batch_time.watermark_us if has_all else None)


def committed(commit: int | None, steps: Sequence[Step], dropped: frozenset[CubeId]) -> Committed:
    """Return the outcome of a commit. ``commit``: the number of the commit; None if nothing was written. ``dropped``:
    the cubes of the batch that the keeper does not have.
    """
    by_outcome: dict[Outcome, set[CubeId]] = {}
    for step in steps:
        by_outcome.setdefault(step.outcome, set()).add(step.after.id)
    parked = {step.after.id: step.after.parked or "" for step in steps if step.outcome == "parked"}
    for each in sorted(dropped):
        LOG.warning("a batch of cube %s is dropped: its generation %s is not kept", each.query, each.generation)
    folded, covered, partly = (frozenset(by_outcome.get(name, ())) for name in _REPORTED)
    gaps = {step.after.id: step.new_gaps for step in steps if step.new_gaps}
    return Committed(commit, folded, covered, partly, MappingProxyType(parked), dropped, MappingProxyType(gaps))
