"""Snapshots: the state of all cubes of a stream after one commit, from which questions are answered."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from math import gcd
from types import MappingProxyType
from typing import Any

from asc.errors import CubeError
from asc.frozen import frozen
from asc.operators.cube.answer import answer
from asc.operators.cube.answer_memory import Reserve, unbounded
from asc.operators.cube.bin_report import bin_counts
from asc.operators.cube.binned import bins_of
from asc.operators.cube.cells import Cells
from asc.operators.cube.computed.bins import BinDimension
from asc.operators.cube.cuboid import Levels
from asc.operators.cube.json_values import bound_text, instant_text
from asc.operators.cube.layout import Layout
from asc.operators.cube.looked_up import NO_LOOKUPS, LookedUp, Lookups
from asc.operators.cube.part import Part
from asc.operators.cube.points import Points
from asc.operators.cube.question import Question
from asc.operators.cube.selection import within
from asc.operators.cube.source import needed_columns
from asc.operators.cube.state_table import question_of_states, states_table
from asc.operators.cube.within.within_cells import with_within_measures, within_parts
from broker.errors import DamagedPieceError, QueryError, UnknownQueryError
from broker.operators.cube.answer_text import states_bytes
from broker.operators.cube.as_written import refusal_as_written
from broker.operators.cube.asked import Asked
from broker.operators.cube.batch_time import Clock, first_open
from broker.operators.cube.chart_points import chart_points
from broker.operators.cube.coverage import Place
from broker.operators.cube.covering import Segment, by_source, interval_of, portions_of
from broker.operators.cube.cube_state import BACKFILLED, COUNTERS, CubeId, CubeState
from broker.operators.cube.forced import ForcedView
from broker.operators.cube.gaps import Gap
from broker.operators.cube.look import Look, Wanted, look_at
from broker.operators.cube.panes import Panes, StoredPiece, sound
from broker.operators.cube.partition_times import partitions_of, waiting_reason
from broker.operators.cube.reading import PieceReader, decoded_bytes
from broker.operators.cube.region import Region
from broker.operators.cube.store import Store
from broker.operators.cube.stored_interval import with_stored_bounds
from broker.operators.cube.view_status import view_status

_NONE: Mapping[int, Cells | None] = MappingProxyType({})

Count = Callable[[CubeState, Levels, Question, tuple[int, int]], None]
"""A function that adds a question to the demand for views, see :meth:`broker.operators.cube.demands.Demands.count`."""


def uncounted(_state: CubeState, _cuboid: Levels, _question: Question, _interval: tuple[int, int]) -> None:
    """Do not count the question. This is the :data:`Count` for questions that do not belong to the demand."""


class Snapshot:
    """The states of all cubes of a stream after a commit. ``batch``: the commit of the last batch. Thread-safe.

    Invariant: the answers from a snapshot never change. When a later commit merges pieces, the store deletes them. The
    commit passes their cells to the preceding snapshot, where a reader of any older snapshot finds them. So readers
    need no transaction in the store, and the cells of merged pieces are in memory only while an older snapshot is in
    use.
    """

    def __init__(
        self,
        numbers: Mapping[str, int],
        marks: Mapping[str, int],
        lateness_us: int,
        cubes: Mapping[CubeId, CubeState],
        *,
        clocks: Mapping[str, Clock],
        store: Store,
        reader: PieceReader,
    ) -> None:
        """Create the snapshot of a commit. ``numbers``: the number of this commit (``commit``) and of the commit of the
        last batch (``batch``). ``marks``, ``clocks``: by time expression.

        The attribute ``ends`` contains by partition the last offset that any cube has folded or reported by a gap.
        """
        self.commit = numbers["commit"]
        self.batch = numbers["batch"]
        self.marks = MappingProxyType(dict(marks))
        self.lateness_us = lateness_us
        self.cubes = MappingProxyType(dict(cubes))
        self.clocks = MappingProxyType(dict(clocks))
        ends: dict[Place, int] = {}
        for state in self.cubes.values():
            for place, own in (*state.coverage.intervals.items(), *state.missed.intervals.items()):
                ends[place] = max(ends.get(place, 0), own[-1][1])
        self.ends = MappingProxyType(ends)
        self._store = store
        self._reader = reader
        self._gone = _NONE
        self._next: Snapshot | None = None

    def cube(self, cube: CubeId) -> CubeState:
        """Return the state of a cube. Raise UnknownQueryError if the cube does not exist."""
        found = self.cubes.get(cube)
        if found is None:
            raise UnknownQueryError("cube", cube.query, "is not kept, or was replaced: list the queries")
        return found

    def watermark_us(self, state: CubeState) -> int | None:
        """Return the watermark of a cube, in microseconds since the epoch. Return None before its first record with a
        time.
        """
        mark_us = self.marks.get(state.time)
        return None if mark_us is None else mark_us - self.lateness_us

    def closes_us(self, state: CubeState) -> int | None:
        """Return the mark at which the next pane of a cube closes, in microseconds since the epoch. Return None before
        its first record with a time.
        """
        open_from = self._open_from(state)
        return None if open_from is None else (open_from + 1) * state.grain_us + self.lateness_us

    def is_whole(self, state: CubeState) -> bool:
        """Return whether a cube has no gap, so that it lacks no record at any time."""
        return next(self.all_gaps(state), None) is None

    def all_gaps(self, state: CubeState) -> Iterator[Gap]:
        """Yield all gaps of a cube: see :meth:`CubeState.all_gaps`."""
        return state.all_gaps(self.batch, self.ends)

    def query(
        self,
        cube: CubeId,
        body: Mapping[str, Any],
        reserve: Reserve = unbounded,
        lookups: Lookups = NO_LOOKUPS,
        count: Count = uncounted,
    ) -> dict[str, Any]:
        """Return the answer to a request body in the form of the API. It includes open panes only if the body has
        ``live``. ``lookups``: the look-ups whose attributes the body may name. ``count`` is called to add the question
        to the demand; a question that names a view is not counted.

        Raise CubeError if the body is refused, and DamagedPieceError. ``reserve`` is called before each part of the
        work, with the bytes of memory that this part needs, and may raise an error. Cost: a run of closed panes is
        decoded once, as long as it is in the cache.
        """
        state, layout = self._sound(cube)
        seen = _seen(layout, body.get("by"), body, lookups)
        asked = self._asked(body, state, seen)
        question = asked.question
        parts = self._read_seen(state, layout, asked, seen, reserve, count=count)
        bounded = with_stored_bounds(state, asked, self._open_from(state))
        plain_answer = answer(seen.layout, parts, bounded, reserve)
        shown = question.skip + len(plain_answer["rows"])
        return {
            "interval": plain_answer.pop("interval"),
            **self._facts(state, question),
            "open_panes": asked.open_panes,
            **plain_answer,
            "cursor": asked.cursor(self.commit, shown) if shown < plain_answer["groups"] else None,
        }

    def states(
        self, cube: CubeId, body: Mapping[str, Any], reserve: Reserve = unbounded, count: Count = uncounted
    ) -> bytes:
        """Return the states of the cells that a request body asks for, as an Arrow IPC stream. The metadata of the
        stream contain the fields of an answer that describe the interval. Raise the same errors as :meth:`query`.
        """
        state, layout = self._sound(cube)
        seen = LookedUp.of(layout, body.get("by"), body.get("where"), NO_LOOKUPS)
        asked = self._asked(question_of_states(body, layout.definition), state, seen)
        parts = self._read_seen(state, layout, asked, seen, reserve, count=count)
        facts = self._facts(state, asked.question)
        table = states_table(layout, parts, asked.question, cube.generation, facts=facts, reserve=reserve)
        return states_bytes(table, reserve)

    def look(
        self,
        cube: CubeId,
        wanted: Wanted,
        reserve: Reserve = unbounded,
        lookups: Lookups = NO_LOOKUPS,
        count: Count = uncounted,
    ) -> Look:
        """Return the content of a page about a cube. Raise the same errors as :meth:`query`."""
        state, layout = self._sound(cube)
        seen = _seen(layout, [*wanted.down, *wanted.across], wanted.body, lookups)
        asked = self._asked(wanted.question(seen.definition), state, seen)
        open_from = self._open_from(state)
        question = replace(with_stored_bounds(state, asked, open_from), skip=wanted.skip)
        points = None
        if wanted.has_chart(seen.layout):
            points = chart_points(state, question, wanted.points_most, open_from, asked.answer_from)
        parts = self._read_seen(state, layout, asked, seen, reserve, count=count, points=points)
        facts = self._facts(state, asked.question)
        return look_at(seen.layout, parts, question, wanted, points=points, facts=facts, reserve=reserve)

    def bins(self, cube: CubeId, reserve: Reserve = unbounded) -> list[dict[str, Any]]:
        """Return the bins of a cube, with their errors over the sample and over all counted records, in open panes too.

        Raise DamagedPieceError. ``reserve``: as in :meth:`query`. If older panes keep too few levels, the result has no
        errors over the counted records, and contains the reason.
        """
        state, layout = self._sound(cube)
        return [self._bins_of(state, layout, dimension, reserve) for dimension in bins_of(layout.definition)]

    def _bins_of(self, state: CubeState, layout: Layout, dimension: BinDimension, reserve: Reserve) -> dict[str, Any]:
        body = {"by": [dimension.levels[-1]], "live": True}
        seen = LookedUp.of(layout, body["by"], None, NO_LOOKUPS)
        asked = self._asked(body, state, seen)
        try:
            parts = self._read_seen(state, layout, asked, seen, reserve, count=uncounted)
        except CubeError as error:
            return {**dimension.described(), "counted": None, "reason": str(error)}
        counts = bin_counts(layout, dimension, parts, asked.question, reserve)
        return {**dimension.described(), "counted": counts.plain(), "reason": None}

    def status(self, cube: CubeId) -> dict[str, Any]:
        """Return the status of a cube: the accounting line, cells, bytes, gaps, offsets and times of partitions."""
        state = self.cube(cube)
        watermark_us, mark_us = self.watermark_us(state), self.marks.get(state.time)
        gaps = [gap.plain() for gap in state.all_gaps(self.batch, self.ends)]
        clock = self.clocks.get(state.time, Clock())
        return {
            "generation": cube.generation,
            "accounting": state.accounting,
            "accepted": state.accepted,
            **{name: state.counters.get(name, 0) for name in (*COUNTERS, BACKFILLED)},
            "cells": state.cells,
            "bytes": state.size_bytes,
            "panes": state.pane_count,
            "open_panes": len(state.panes.open),
            **view_status(state),
            "time_expression": state.time,
            "mark": None if mark_us is None else instant_text(mark_us),
            "watermark": None if watermark_us is None else bound_text(watermark_us),
            "whole": not gaps,
            "gaps": gaps,
            "parked": state.parked,
            "coverage": [
                {"topic_id": topic, "partition": partition, "from": first, "to": end}
                for (topic, partition), several in sorted(state.coverage.intervals.items())
                for first, end in several
            ],
            "partitions": partitions_of(clock),
            "waiting_reason": waiting_reason(state.time, clock, self.closes_us(state)),
        }

    def cells(self, layout: Layout, piece: StoredPiece, *, is_kept: bool = True) -> Cells:
        """Return the cells of a piece of this snapshot. Raise DamagedPieceError if it is damaged."""
        return self._reader.piece(layout, piece, self._read, is_kept=is_kept)

    def all_cells(self, layout: Layout, pieces: Sequence[StoredPiece], *, is_kept: bool) -> list[Cells]:
        """Return the cells of pieces of this snapshot, in their order. Raise DamagedPieceError if a piece is damaged or
        missing. For a missing row, this error parks only the cube. Another error would stop the stream, in every
        repeated batch.
        """
        return self._reader.pieces(layout, pieces, self._read_view, self._store.pieces, is_kept=is_kept)

    def succeed(self, gone: Mapping[int, Cells | None]) -> None:
        """Store the cells of the pieces that the next commit will delete, by the number of the piece. The value None
        makes readers repeat their question with the newest snapshot.
        """
        self._gone = gone

    def precede(self, following: Snapshot) -> None:
        """Set the snapshot of the next commit. Call this before any later commit."""
        self._next = following

    def parts(
        self,
        state: CubeState,
        layout: Layout,
        first: int | None,
        end: int | None,
    ) -> Iterator[Cells]:
        """Yield the cells of the base cuboid in an interval: of the runs of closed panes that overlap it, then of the
        pieces of open panes.
        """
        yield from self._closed(state.panes, first, end, layout, unbounded)
        yield from self._open(state.panes, first, end, layout, unbounded)

    def _sound(self, cube: CubeId) -> tuple[CubeState, Layout]:
        """Return a cube and its layout. Raise QueryError if its pieces no longer fit the records of the stream."""
        state = self.cube(cube)
        if state.layout is None:
            raise QueryError("cube", cube.query, f"is parked, {state.parked}")
        return state, state.layout

    def _asked(self, body: Mapping[str, Any], state: CubeState, seen: LookedUp) -> Asked:
        """Return a checked request body. ``seen``: the cube with the attributes of look-ups that the body names."""
        return Asked.parse(body, state, self.commit, self._open_from(state), seen)

    def _open_from(self, state: CubeState) -> int | None:
        return first_open(self.marks.get(state.time), self.lateness_us, state.grain_us)

    def _facts(self, state: CubeState, question: Question) -> dict[str, Any]:
        """Return the fields of an answer that describe the question's interval: the watermark, the completeness, the
        gaps and the commit.
        """
        first_us, end_us = (None if pane is None else pane * state.grain_us for pane in (question.first, question.end))
        gaps = [gap.plain() for gap in state.all_gaps(self.batch, self.ends) if gap.overlaps(first_us, end_us)]
        watermark_us = self.watermark_us(state)
        watermark = None if watermark_us is None else bound_text(watermark_us)
        return {"watermark": watermark, "whole": not gaps, "gaps": gaps, "commit": self.commit}

    def _read_all(
        self,
        state: CubeState,
        layout: Layout,
        asked: Asked,
        reserve: Reserve,
        count: Count,
        *,
        points: Points | None = None,
    ) -> list[Part]:
        """Return the cells of the question's interval, in parts: closed panes from the nearest views, then open panes,
        then late records that are stored separately. ``points``: the points of a chart; no pane of a view may cross
        their bounds.
        """
        question, open_from = asked.question, self._open_from(state)
        interval, reading = (question.first, question.end), (layout, reserve)
        parts: list[Part] = []
        wanted = state.definition.dimensions.cuboid_with(needed_columns(layout, question))
        step = question.panes if points is None else gcd(points.panes, question.panes or 0)
        portions = portions_of(state, question, wanted, open_from, asked.answer_from, step=step)
        if asked.answer_from is not None:
            ForcedView(state, question, wanted, asked.answer_from).check(portions)
        elif portions:
            base_levels = state.definition.dimensions.base
            counted = wanted if question.within is None else question.within.exact(wanted, base_levels)
            count(state, counted, replace(question, panes=step), interval_of(portions))
        for source, segments in by_source(portions):
            parts += self._of_source(source, segments, *reading)
        base = self._open(state.panes, *interval, *reading) if asked.is_live else iter(())
        if asked.is_late:
            base = chain(base, self._closed(state.apart, *interval, *reading))
            base = chain(base, self._open(state.apart, *interval, *reading) if asked.is_live else ())
        parts += (Part.base(layout, cells) for cells in base)
        return parts or [Part.base(layout, Cells.none(layout))]

    def _read_seen(
        self,
        state: CubeState,
        layout: Layout,
        asked: Asked,
        seen: LookedUp,
        reserve: Reserve,
        *,
        count: Count,
        points: Points | None = None,
    ) -> list[Part]:
        """Return the cells of the question's interval with the attributes of look-ups that the question names."""
        stored = replace(asked, question=seen.stored(asked.question))
        try:
            parts = self._read_all(state, layout, stored, reserve, count, points=points)
        except CubeError as error:
            raise refusal_as_written(error, asked.question, seen) from None
        if asked.question.within is not None:
            parts = within_parts(layout, parts, asked.question.within, reserve)
        return seen.parts(parts, reserve)

    def _of_source(
        self, source: Region, segments: Sequence[Segment], layout: Layout, reserve: Reserve
    ) -> Iterator[Part]:
        """Yield the cells of a view in ascending disjoint segments of its panes, one part for each run. The panes of
        the yielded cells have the numbers of the cube's panes with which they begin.
        """
        view = source.view
        read = self._read if source.is_kept else self._read_view
        firsts, ends = zip(*segments, strict=True)
        for run in source.closed.runs(firsts[0], ends[-1]):
            place = bisect_right(ends, run[0][0].pane)
            if firsts[place] > run[-1][0].pane:
                continue
            stop = bisect_right(firsts, run[-1][0].pane)
            cells = within(self._reader.run(layout, run, read, reserve), segments[place:stop], reserve)
            if view.panes > 1:
                reserve(cells.panes.nbytes)
                cells = replace(cells, panes=frozen(cells.panes * view.panes))
            yield Part.of(layout, view, cells)

    def _closed(
        self, panes: Panes, first: int | None, end: int | None, layout: Layout, reserve: Reserve
    ) -> Iterator[Cells]:
        for run in panes.closed.runs(first, end):
            yield self._reader.run(layout, run, self._read, reserve)

    def _open(
        self, panes: Panes, first: int | None, end: int | None, layout: Layout, reserve: Reserve
    ) -> Iterator[Cells]:
        for pane in sorted(panes.open):
            if (first is None or first <= pane) and (end is None or pane < end):
                for piece in sound(panes.open[pane]):
                    reserve(decoded_bytes(layout, piece))
                    yield self.cells(layout, piece)

    def _read_view(self, piece: StoredPiece) -> bytes | Cells:
        try:
            return self._read(piece)
        except UnknownQueryError:
            # The view was removed, or is being filled again. DamagedPieceError makes the question run again.
            raise DamagedPieceError("piece", piece.number, "was deleted: ask again", number=piece.number) from None

    def _read(self, piece: StoredPiece) -> bytes | Cells:
        data = self._store.piece(piece.number)
        if data is not None:
            return data
        snapshot: Snapshot | None = self
        while snapshot is not None:
            if piece.number in snapshot._gone:
                gone = snapshot._gone[piece.number]
                if gone is None:
                    raise DamagedPieceError("piece", piece.number, "was damaged: ask again", number=piece.number)
                return gone
            snapshot = snapshot._next
        raise UnknownQueryError("cube", None, "was removed while the question was answered: list the queries")


def _seen(layout: Layout, by: object, body: Mapping[str, Any], lookups: Lookups) -> LookedUp:
    """Return the cube as a question sees it: with attributes of look-ups, and with the measures of a scope."""
    is_scoped = body.get("within") is not None
    return LookedUp.of(with_within_measures(layout) if is_scoped else layout, by, body.get("where"), lookups)
