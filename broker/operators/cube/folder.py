"""The folder of cubes: the component that commits the cells of a batch, which workers have folded from records, to the
keeper of the stream's cubes.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from asc.errors import AscError, CubeError
from asc.operators.cube.budget import budget_of
from asc.operators.cube.cells import Cells
from asc.operators.cube.keep import bands_of
from asc.operators.cube.layout import Layout
from asc.operators.cube.optimiser import Budget
from asc.operators.cube.output import Output
from asc.operators.cube.pins import pins_of
from asc.operators.cube.task_fold import CubeFold, CubePartial
from broker.cancellation import Cancellation
from broker.errors import BrokerError, CubeStoreError, FoldError, KafkaError, NotThereError, QueryError
from broker.operators.backfill import BackfillBatch, SourceOffsets
from broker.operators.cube.backfill import CubeBackfill, Wanted, progress_of, seam_of
from broker.operators.cube.band_fit import check_fit
from broker.operators.cube.coverage import BatchInterval
from broker.operators.cube.cube_state import CubeId
from broker.operators.cube.cubes_file import cubes_path, has_cubes
from broker.operators.cube.definition import StandingCube, refusal_of
from broker.operators.cube.dump import Dump
from broker.operators.cube.keeper import Keeper
from broker.operators.cube.merging import CubeLimits
from broker.operators.cube.optimiser_runs import OptimiserRuns
from broker.operators.cube.partial import Partial, in_portions
from broker.operators.cube.upkeep import Upkeep
from broker.operators.cube.window_sender import WindowSender
from broker.operators.cube.window_writer import WindowWriter
from broker.operators.fold_destination import FoldDestination
from broker.operators.folder import FoldBatch, FoldContext, FoldTotals
from broker.plans.stream_folder import CUBES

LOG = logging.getLogger("asc.cubes")

_WAITED_S = 2.0
"""The seconds for which a change of the queries waits for a running commit."""

_REFUSED_S = 5.0
"""After the file could not be opened, the seconds during which lists of cubes do not try to open the file again."""

_PURGED_S = 0.5
"""The longest time that one call of :meth:`CubeFolder.tidy` spends on deleted cubes."""

_FILLED_S = 0.5
"""The longest time that one call of :meth:`CubeFolder.tidy` spends on ageing, and on filling views."""

_PAUSE_S = 0.004
"""The pause between two transactions of a backfill batch. During the pause, a waiting live batch takes the lock, which
the backfill would otherwise take again first.
"""

_NOT_REGISTERED = "are not those that are registered"
"""The part of a warning that describes the effect of a failed change of the queries."""

_PREPARED_MAX = 256
"""The most layouts of cubes that are cached."""


@dataclass(frozen=True, slots=True, eq=False)
class _Standing:
    """The arguments of the last call of :meth:`Folder.set_registered`. ``registered``: by query, its registration, or
    None if the registration cannot be read. ``planned``: the queries of the running plan. ``version``: the version of
    that plan. ``unserved``: by query, the reason why a registered query is not served.
    """

    registered: Mapping[str, int | None]
    planned: Mapping[str, FoldDestination]
    version: int
    unserved: Mapping[str, str]

    def has(self, query: str, since: int) -> bool:
        """Return True if the query is registered, and its registration is ``since`` or cannot be read."""
        return query in self.registered and self.registered[query] in (since, None)

    def omits(self, query: str) -> bool:
        """Return True if the query is registered, and in no plan: it is paused or parked."""
        return query in self.registered and query not in self.planned


class CubeFolder:
    """The folder of the cubes of one stream: it commits each batch to the keeper, and then writes the windows that are
    due.

    It opens the keeper when a plan has cubes, or when their file exists.

    Invariant: the cubes of a committed batch are stored in the generation of the batch's plan. The cells of a cube are
    discarded if, in the meantime, its query was removed or replaced by another generation. If the keeper has parked a
    cube, the next commit of a batch with this cube returns the reason. If a later plan contains the cube again, because
    its query was registered anew, the cube continues. If a query is not served, the gap of its cube contains the
    reason.
    """

    def __init__(self, stream: FoldContext) -> None:
        """Create the folder, and fix the path of its file. Raise CubeStoreError if the file cannot be looked for."""
        self._stream = stream
        try:
            # Read only once: if another daemon takes the file over, the path names that daemon's file.
            self._path = cubes_path(stream.checkpoint_dir, stream.name)
        except OSError as error:
            raise _unseen(stream.checkpoint_dir / CUBES / stream.name, error) from None
        self._lock = threading.Lock()
        self._keeper: Keeper | None = None
        self._refused_until_s = 0.0
        self._layouts: dict[str, Layout] = {}
        self._changing = threading.Lock()
        self._standing: _Standing | None = None
        self._tidied: _Standing | None = None
        self._writer: WindowWriter | None = None
        self._sender = WindowSender(stream.cluster)
        self._outputs: Counter[str] = Counter()
        self.totals = FoldTotals()
        self._parked: set[CubeId] = set()
        self._omitted: set[CubeId] = set()
        self._backfill = CubeBackfill()
        self._optimiser = OptimiserRuns()
        self._upkeep = Upkeep(stream.name)
        self._batches = 0
        self._left_after = 0

    @property
    def opened(self) -> Keeper | None:
        """Return the keeper. Return None while it is not open."""
        return self._keeper

    @property
    def keeper(self) -> Keeper:
        """Return the keeper; open it first if it is not open. Raise CubeStoreError if the file of cubes cannot be
        opened, and KafkaError if Kafka does not report the offsets of the source topic.
        """
        with self._lock:
            return self._opened()

    def _opened(self) -> Keeper:
        if self._keeper is None:
            limits, stream = self._stream.limits, self._stream
            try:
                self._keeper = Keeper.open(
                    self._path,
                    stream.attributes,
                    CubeLimits(
                        *(limits.cube_cells, limits.cube_bytes, limits.cube_panes, limits.cube_query_s),
                        shards=limits.cube_shards,
                    ),
                    lateness_s=stream.lateness_us / 1_000_000,
                    time_zone=stream.time_zone,
                    read_to=stream.read_to(),
                )
            except (CubeStoreError, KafkaError):
                self._refused_until_s = time.monotonic() + _REFUSED_S
                raise
        return self._keeper

    def _readable(self, *, is_brief: bool) -> Keeper | None:
        """Return the keeper; open it first if it is not open. Return None if it cannot be opened.

        With ``is_brief``, do not try to open the keeper for _REFUSED_S seconds after a failure. A list of cubes calls
        this method for each cube, and each attempt may wait for a locked file or for Kafka.
        """
        with self._lock:
            if is_brief and self._keeper is None and time.monotonic() < self._refused_until_s:
                return None
            try:
                return self._opened()
            except (CubeStoreError, KafkaError):
                return None

    @property
    def held(self) -> int | None:
        """Return the number of cells in all pieces of all cubes, without views. Return None before the keeper is
        open.
        """
        keeper = self._keeper
        if keeper is None:
            return None
        return sum(state.cells for state in keeper.snapshot.cubes.values())

    @property
    def watermarks_us(self) -> Mapping[str, int]:
        """Return the watermark by time expression of the stream's cubes, in microseconds since the epoch."""
        keeper = self._keeper
        if keeper is None:
            return {}
        snapshot = keeper.snapshot
        return {time: mark - snapshot.lateness_us for time, mark in snapshot.marks.items()}

    @property
    def outputs(self) -> Mapping[str, int]:
        """Return the number of rows of windows that were written since the daemon started, by the type of the
        output.
        """
        return self._outputs.copy()

    def set_registered(
        self,
        registered: Mapping[str, int | None],
        planned: Mapping[str, FoldDestination],
        version: int,
        unserved: Mapping[str, str],
    ) -> None:
        """Create the cubes of planned queries, and delete the cubes of queries that are no longer registered. Resume
        each parked cube whose query is planned now, and was registered but not planned at the previous change.
        """
        self._standing = _Standing(registered, planned, version, unserved)
        # An error is only logged, so that the registration succeeds. The next commit raises the same error.
        self._upkeep.run(_NOT_REGISTERED, self._tidy)

    def tidy(self) -> None:
        """Repeat the changes of cubes that failed in :meth:`set_registered`. Delete some data of deleted cubes, let
        panes age, and fill views from closed panes. Store the demand for views, choose the materialised views anew, and
        check the load of shards, if that is due.

        If one of these steps fails, the others continue, and a line is logged.
        """
        run = self._upkeep.run
        run(_NOT_REGISTERED, self._tidy)
        if (keeper := self._keeper) is not None:
            run("have data of deleted cubes in their file", lambda: keeper.purge(_PURGED_S))
            run("have panes that do not age", lambda: keeper.bands.age(_FILLED_S))
            run("have shards that are not checked", lambda: keeper.shards.check_if_due(self._stream.lag()))
            run("have views that are not filled", lambda: keeper.views.fill(_FILLED_S))
            run("forget the demand for views", lambda: keeper.demands.save(keeper.snapshot.cubes.values()))
            run("have views that are not chosen anew", lambda: self._optimiser.run_if_due(keeper, self._budgets))

    def _budgets(self) -> Iterable[tuple[CubeId, Budget]]:
        """Yield the planned cubes, each with the budget of its definition."""
        standing = self._standing
        for query in () if standing is None else standing.planned.values():
            yield cube_of(query), budget_of(query.definition)

    def _tidy(self) -> None:
        if self._standing is self._tidied:
            return
        # A registration does not wait until Kafka accepts windows.
        if not self._changing.acquire(timeout=_WAITED_S):
            return
        try:
            standing = self._standing
            if standing is None or standing is self._tidied:
                return
            if standing.planned or self._has_file():
                kept = self.keeper.snapshot.cubes.values()
                self.keeper.remove(*{own.id.query for own in kept if not standing.has(own.id.query, own.since)})
                # The reason of such a parked cube was reported before, perhaps by a former daemon. The next plan that
                # contains the cube resumes it.
                omitted = {own.id for own in kept if own.parked is not None and standing.omits(own.id.query)}
                self._parked |= omitted
                planned = [query for query in standing.planned.values() if standing.has(query.id, query.since)]
                for query in planned:
                    self._define(query, standing.version)
                again = self._omitted & set(map(cube_of, planned))
                self._resume(again)
                self._parked -= again
                self._omitted = omitted
                self._pause(standing)
            self._tidied = standing
        finally:
            self._changing.release()

    def write_left(self) -> Mapping[str, str]:
        """Write a part of the windows that the last batch left unwritten, if no batch was committed since the last
        call.

        Return the planned cubes whose windows cannot be written, with the reasons. Raise KafkaError and CubeStoreError.
        """
        if not self._changing.acquire(blocking=False):
            return {}
        try:
            # In a busy stream, the next batch writes the remaining windows.
            keeper, standing, is_busy = self._keeper, self._standing, self._batches != self._left_after
            self._left_after = self._batches
            if keeper is None or standing is None or is_busy:
                return {}
            planned = {cube_of(query) for query in standing.planned.values()}
            cubes = [
                cube
                for cube, state in keeper.snapshot.cubes.items()
                if standing.has(cube.query, state.since) and (cube in planned or state.parked is not None)
            ]
            found = self._window_writer(keeper).write_left(cubes)
            return {cube.query: reason for cube, reason in found.items() if cube in planned}
        finally:
            self._changing.release()

    def _window_writer(self, keeper: Keeper) -> WindowWriter:
        if self._writer is None:
            self._writer = WindowWriter(keeper, self._sender, self._outputs)
        return self._writer

    def dump(self, cancellation: Cancellation) -> Dump:
        """Return a copy of the file of cubes. Raise NotThereError if there is no file, and the errors of
        :meth:`Dumps.make`.
        """
        if not self._has_file():
            raise NotThereError("cubes of stream", self._stream.name, "are none: register a cube with 'asc cube add'")
        return self.keeper.dump(cancellation)

    def _has_file(self) -> bool:
        try:
            return has_cubes(self._path)
        except OSError as error:
            raise _unseen(self._path, error) from None

    def kept(
        self, query_id: str, where: str, definition: StandingCube, *, is_brief: bool = False
    ) -> Mapping[str, Any] | None:
        """Return the state of a cube. Return None if the file cannot be read, or does not yet contain the cube.

        With ``is_brief`` the state has only the fields that a list shows. Otherwise it also has the accounting line,
        gaps, offsets, the progress of each partition, and the reason why the watermark does not advance.
        """
        keeper = self._readable(is_brief=is_brief)
        if keeper is None:
            return None
        snapshot = keeper.snapshot
        cube = CubeId(query_id, definition.cube.generation(self._stream.name, where))
        state = snapshot.cubes.get(cube)
        if state is None:
            return None
        if is_brief:
            return {"cells": state.cells, "bytes": state.size_bytes, "whole": snapshot.is_whole(state)}
        shards = {"shards": keeper.shards.status(state)}
        return {**snapshot.status(cube), **shards, "ageing_problem": keeper.bands.problem(cube)}

    def refusal(self, query_id: str, where: str, definition: StandingCube, since: int) -> QueryError | None:
        """Return an error if the stored bands of a cube do not fit the bands of a changed definition, so that no pane
        would age. Return None if they fit, if the change deletes the cells of the cube, or if the keeper is not open.
        ``since``: the registration of the query before the change.
        """
        keeper = self._keeper
        cube = CubeId(query_id, definition.cube.generation(self._stream.name, where))
        state = None if keeper is None else keeper.snapshot.cubes.get(cube)
        if state is None or state.since != since:
            return None
        try:
            check_fit(state, definition.bands)
        except CubeError as error:
            return refusal_of(error)
        return None

    def commit(self, batch: FoldBatch) -> Mapping[str, str]:
        """Commit a batch, and write the windows that are due. Return the ids of queries whose cubes do not continue,
        with the reasons.

        Raise KafkaError if windows cannot be written. The batch is then replayed, and no record is counted twice.
        """
        with self._changing:
            return self._commit(batch)

    def _commit(self, batch: FoldBatch) -> Mapping[str, str]:
        keeper, standing = self.keeper, self._standing
        if not batch.topic_id and any(topic for topic, _ in keeper.snapshot.ends):
            remedy = "has no id from Kafka now, and had one: offsets of its records cannot be told from others"
            raise FoldError("topic of stream", self._stream.name, remedy)
        self._batches += 1
        writer = self._window_writer(keeper)
        standing_cubes = [
            cube_of(query)
            for name, query in batch.queries.items()
            if name not in batch.failed and (standing is None or standing.has(name, query.since))
        ]
        # A batch that was planned before a query was parked does not resume the query's cube.
        served = [cube for cube in standing_cubes if standing is None or not standing.omits(cube.query)]
        self._resume(self._parked.intersection(served))
        # Rows that the previous commit did not write are computed from that commit.
        refused = dict(writer.write(standing_cubes))
        partials: dict[CubeId, Partial] = {}
        newest: dict[str, Mapping[int, int]] = {}
        for name, query in batch.queries.items():
            if standing is not None and not standing.has(name, query.since):
                LOG.warning("a batch of cube %s is dropped: the query was removed", name)
                continue
            reason = self._define(query, batch.version)
            if reason is not None:
                refused[name] = reason
                continue
            layout, cube = self._layout(query), cube_of(query)
            time = layout.definition.time
            assert time is not None
            newest[time] = batch.newest_us.get(query.time, {})
            is_apart = self._current(query).definition.get("late") == "apart"
            partials[cube] = _partial(layout, batch, name, is_apart=is_apart)
        interval = BatchInterval(batch.topic_id, batch.first, batch.end)
        done = keeper.commit(interval, partials, newest, batch.waiting)
        # Count before windows are written. If the windows cannot be written, the replayed batch is already covered, and
        # is not counted again.
        for cube in done.folded:
            if cube.query in batch.partials:
                self.totals.add(batch.partials[cube.query].counts)
        self._parked = (self._parked - partials.keys()) | done.parked.keys()
        if standing is not None:
            # The batch may have been planned before a query was paused, so mark the cubes of paused queries again.
            self._pause(standing)
        refused.update(writer.write([cube for cube in standing_cubes if cube in partials]))
        self._parked |= {cube for cube in partials if cube.query in refused}
        return {**refused, **{cube.query: reason for cube, reason in done.parked.items() if cube in partials}}

    @property
    def has_backfills(self) -> bool:
        """Return whether planned cubes are to be backfilled. Return False before the keeper is open."""
        keeper = self._keeper
        return keeper is not None and bool(self._wanted(keeper))

    def next_backfill(self, source: SourceOffsets) -> BackfillBatch | None:
        """Return the next batch of the backfill. Return None if no planned cube lacks records that Kafka may have.

        Raise CubeStoreError.
        """
        keeper = self.keeper
        return self._backfill.next(keeper, self._wanted(keeper), source)

    def commit_backfill(self, batch: BackfillBatch, folded: FoldBatch) -> Mapping[str, str]:
        """Commit a backfill batch, and write the revisions of windows that are due. Return the ids of queries whose
        cubes are parked, with the reasons.

        A cube whose query was removed, replaced or paused meanwhile is skipped. A cube that the workers could not fold
        is not parked: only its backfill ends. If the cubes together have too many panes for one transaction, they are
        committed in several transactions, between which live batches may commit. A cube that has too many panes alone
        is skipped, and reads fewer offsets next time. Raise KafkaError and CubeStoreError.
        """
        with self._changing:
            wanted = self._wanted(self.keeper)
            queries = {cube: query for query in batch.queries.values() if (cube := cube_of(query)) in wanted}
            for cube in queries.keys() & {cube_of(batch.queries[name]) for name in folded.failed}:
                LOG.warning("cube %s is not backfilled: %s", cube.query, folded.failed[cube.query])
                self._backfill.fail(cube, batch.queries[cube.query].since, folded.failed[cube.query])
                del queries[cube]
            partials = {cube: _partial(self._layout(query), folded, cube.query) for cube, query in queries.items()}
        portions, wide = in_portions(partials)
        for cube, panes in wide.items():
            self._backfill.halve(cube, batch, panes)
        refused: dict[str, str] = {}
        for place, portion in enumerate(portions):
            if place:
                time.sleep(_PAUSE_S)
            refused.update(self._commit_portion(batch, folded, portion))
        return refused

    def _commit_portion(
        self, batch: BackfillBatch, folded: FoldBatch, portion: Mapping[CubeId, Partial]
    ) -> Mapping[str, str]:
        """Commit some cubes of a backfill batch in one transaction. ``portion``: the partials of these cubes. Return
        the ids of queries whose cubes are parked, with the reasons.
        """
        with self._changing:
            keeper = self._keeper
            if keeper is None:
                # The folder was closed between two portions.
                return {}
            wanted, writer = self._wanted(keeper), self._window_writer(keeper)
            partials = {cube: own for cube, own in portion.items() if cube in wanted}
            queries = {cube: batch.queries[cube.query] for cube in partials}
            refused = dict(writer.write(queries))
            newest = {
                str(self._layout(query).definition.time): folded.newest_us.get(query.time, {})
                for query in queries.values()
            }
            interval = BatchInterval(folded.topic_id, folded.first, folded.end)
            done = keeper.commit(interval, partials, newest, seam=seam_of(batch.source))
            for cube in done.folded:
                if cube.query in folded.partials:
                    self.totals.add(folded.partials[cube.query].counts)
            refused.update(writer.write(queries))
            return {**refused, **{cube.query: reason for cube, reason in done.parked.items() if cube in partials}}

    def _wanted(self, keeper: Keeper) -> Wanted:
        standing = self._standing
        planned = () if standing is None else standing.planned.values()
        return self._backfill.wanted(keeper, ((cube_of(query), query) for query in planned))

    def request_backfill(self, cube: CubeId) -> None:
        """Record durably that a cube is to be backfilled. Raise UnknownQueryError if the keeper does not have the
        cube.
        """
        self._backfill.forget(cube)
        self.keeper.want_backfill(cube)

    def backfill_progress(self, cube: CubeId, definition: StandingCube, source: SourceOffsets) -> dict[str, Any]:
        """Return the progress of a cube's backfill as the API shows it. Raise UnknownQueryError if the keeper does not
        have the cube.
        """
        snapshot = self.keeper.snapshot
        state = snapshot.cube(cube)
        wanted = state.is_wanted or definition.begin == "earliest"
        problem = self._backfill.problem(state)
        standing = self._standing
        if standing is not None and cube.query not in standing.planned:
            problem = "its query is not served now"
        return progress_of(snapshot, state, source, is_wanted=wanted, problem=problem)

    def _pause(self, standing: _Standing) -> None:
        self.keeper.pause(standing.registered.keys() - standing.planned.keys(), standing.unserved)
        self.keeper.bands.retain(set(map(cube_of, standing.planned.values())))

    def _resume(self, cubes: Iterable[CubeId]) -> None:
        """Resume parked cubes, so that they fold records again. Skip cubes that the keeper does not have."""
        for cube in cubes:
            if cube in self.keeper.snapshot.cubes:
                # A cube whose pieces do not fit the types of the records remains parked, and the commit reports this.
                with suppress(QueryError):
                    self.keeper.resume(cube)

    def _define(self, query: FoldDestination, version: int) -> str | None:
        """Create the cube of a query unless the keeper has it. Return the reason if the definition is refused,
        otherwise None. Raise CubeStoreError if the file cannot be written.
        """
        try:
            layout, current = self._layout(query), self._current(query)
            output = Output.parse(current.definition.get("output", {}), layout.definition)
            pins = pins_of(current.definition.get("materialise"), layout.definition)
            names = {"since": query.since, "version": version}
            bands = bands_of(current.definition.get("keep"), layout.definition, output)
            keeper = self.keeper
            keeper.define(cube_of(query), layout.definition, output, current.topic, pins=pins, **names)
            if cube_of(query) in keeper.snapshot.cubes:
                keeper.bands.define(cube_of(query), bands)
                keeper.choice.limit(cube_of(query), budget_of(current.definition))
        except BrokerError:
            raise
        except AscError as error:
            return f"its definition is refused: {error}"
        return None

    def _current(self, query: FoldDestination) -> FoldDestination:
        """Return the destination of the same cube in the running plan, because its windows may have changed. Return
        ``query`` if the running plan does not have the cube.
        """
        planned = None if self._standing is None else self._standing.planned.get(query.id)
        is_same = planned is not None and (cube_of(planned), planned.since) == (cube_of(query), query.since)
        return planned if planned is not None and is_same else query

    def close(self) -> None:
        """Close the file, and the connection that writes windows."""
        self._optimiser.close()
        self._sender.close()
        self._writer = None
        with self._lock:
            if self._keeper is not None:
                self._keeper.close()
            self._keeper = None

    def _layout(self, query: FoldDestination) -> Layout:
        text = query.in_plan().definition
        layout = self._layouts.get(text)
        if layout is None:
            if len(self._layouts) >= _PREPARED_MAX:
                self._layouts.clear()
            self._layouts[text] = layout = CubeFold().prepare(query.definition)
        return layout


def _unseen(path: Path, error: OSError) -> CubeStoreError:
    return CubeStoreError("cubes", str(path), f"cannot be looked for, {error}: mend that")


def cube_of(query: FoldDestination) -> CubeId:
    """Return the identity of the cube of a planned query: the query's id, and the generation in the query's
    definition.
    """
    return CubeId(query.id, str(query.definition["generation"]))


def _partial(layout: Layout, batch: FoldBatch, name: str, *, is_apart: bool = False) -> Partial:
    """Return the partial of a cube: the cells and counts of one batch. The partial is empty if no record of the batch
    is accepted. ``name``: the id of the cube's query. ``is_apart``: whether late records are stored separately.
    """
    none = Cells.none(layout)
    if name in batch.failed:
        return Partial(none, {}, failed=batch.failed[name])
    own = batch.partials.get(name)
    if own is None:
        return Partial(none, {})
    found, counts = CubePartial.of_bytes(layout, own.state), own.counts
    excluded = counts.time, counts.future_timestamp, counts.too_large
    return Partial(found.cells, found.records, *excluded, is_apart=is_apart)
