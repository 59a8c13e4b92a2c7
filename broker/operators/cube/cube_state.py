"""States of cubes: the data about a cube after a commit, without the cells of its pieces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain

from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.json_values import instant_text
from asc.operators.cube.layout import Layout
from asc.operators.cube.revisions import Unit
from asc.operators.cube.shards import Shards
from asc.operators.cube.view import View
from broker.operators.cube.coverage import Coverage, Place
from broker.operators.cube.gaps import NO_BATCH, Gap, bounded
from broker.operators.cube.panes import Panes, StoredPiece
from broker.operators.cube.stored_view import StoredView
from broker.operators.cube.window_state import KeptChange, WindowState

COUNTERS = ("counted", "late", "apart", "expired", "time", "future_timestamp", "too_large")
"""The names of the counters of accepted records, by outcome. A ``late`` record was added to a closed pane, and is also
``counted``. An ``apart`` record is late, and is stored separately. An ``expired`` record belongs to a pane that was
deleted for its age. The last three names are reasons for which records are excluded.
"""

BACKFILLED = "backfilled"
"""The name of the counter of records that a backfill has counted. They are also ``counted``."""

ONE_SHARD = Shards()
"""The shards of a cube that is not divided."""

PAUSED = "paused"
BEHIND = "other cubes have read further"
RESTORED = "the stream has read further than the file of cubes, as after the restore of a copy"


@dataclass(frozen=True, slots=True, order=True)
class CubeId:
    """The identity of a cube: the id of its query (``query``), and the hash of the parameters on which its pieces
    depend (``generation``).
    """

    query: str
    generation: str


@dataclass(frozen=True, slots=True, eq=False)
class CubeState:
    """A cube after a commit.

    ``number``: the number of its row in the store. ``layout``: None if the records of the stream now have other types
    than the pieces, or another time zone. ``missed``: the offsets whose records are missing in the cube; gaps report
    them. ``since``: the registration of its query, see :class:`FoldDestination`. ``version``: the version of the plan
    with which the cube began.

    ``watermark_us``: the watermark after its last batch. If the cube stops after this batch, it misses records from
    this time on. It is None if other cubes have read further, because the shared watermark then is not that of this
    cube's last batch. ``batch``: the commit of its last batch. ``parked``: the reason why the cube is parked; None if
    it is not. ``stopped``: the reason why the cube misses records until its next batch, such as a former park or a
    pause. ``windows``: the progress of its windows; None if it writes none. ``apart``: the pieces of late records that
    are stored separately. ``is_wanted``: whether a backfill was requested, and is not complete. ``views``: the
    materialised views of its lattice, without the base view. ``bands``: the bands of older panes, finest first, each
    with its pieces; the base pieces of these panes are deleted. ``kept_from``: the first pane that is not deleted for
    its age; None if none is. ``shards``: the shards into which new pieces of large panes are divided. Older pieces may
    be divided into other shards.

    Invariant: the pieces contain exactly the accepted records that have a time and whose offsets are in ``coverage``.
    """

    id: CubeId
    number: int
    definition: CubeDefinition
    layout: Layout | None
    panes: Panes
    coverage: Coverage
    missed: Coverage
    gaps: tuple[Gap, ...]
    counters: Mapping[str, int]
    since: int = -1
    version: int = 0
    watermark_us: int | None = None
    batch: int = 0
    parked: str | None = None
    stopped: str | None = None
    windows: WindowState | None = None
    apart: Panes = field(default_factory=Panes.none)
    is_wanted: bool = False
    views: tuple[StoredView, ...] = ()
    bands: tuple[StoredView, ...] = ()
    kept_from: int | None = None
    shards: Shards = ONE_SHARD

    @property
    def time(self) -> str:
        """Return the time expression of the cube."""
        assert self.definition.time is not None
        return self.definition.time

    @property
    def grain_us(self) -> int:
        """Return the length of the cube's panes in microseconds."""
        assert self.definition.grain_us is not None
        return self.definition.grain_us

    @property
    def cells(self) -> int:
        """Return the number of cells in the pieces of the base cuboid, of separate late records and of bands, without
        views.
        """
        return self.panes.cells + self.apart.cells + sum(band.panes.cells for band in self.bands)

    @property
    def size_bytes(self) -> int:
        """Return the bytes of all pieces, including those of views, and of the former cells that windows keep for late
        records.
        """
        bands = sum(band.panes.size_bytes for band in self.bands)
        return self.panes.size_bytes + self.apart.size_bytes + bands + self.window_bytes + self.view_bytes

    @property
    def window_bytes(self) -> int:
        """Return the bytes of the former cells that windows keep for late records."""
        return 0 if self.windows is None else self.windows.size_bytes

    @property
    def view_bytes(self) -> int:
        """Return the stored bytes of the pieces of all materialised views."""
        return sum(view.panes.size_bytes for view in self.views)

    @property
    def view_cells(self) -> int:
        """Return the number of cells in the pieces of all materialised views."""
        return sum(view.panes.cells for view in self.views)

    @property
    def pane_count(self) -> int:
        """Return the number of panes. A pane counts twice if some of its late records are stored separately."""
        return self.panes.count + self.apart.count + sum(band.panes.count for band in self.bands)

    @property
    def base_from(self) -> int | None:
        """Return the first pane that the base pieces keep. Return None if no pane has moved to a band or was deleted
        for its age.
        """
        return _latest(self.bands[0].end if self.bands else None, self.kept_from)

    def bounds(self) -> tuple[int | None, ...]:
        """Return a tuple that changes whenever panes become unnecessary. It contains the first kept pane of the base
        pieces and the first kept pane of separate late records. Then follow the number and the first kept pane of each
        band and view.
        """
        return self.base_from, self.kept_from, *chain.from_iterable((view.number, pane) for view, pane in self.firsts())

    def firsts(self) -> Iterator[tuple[StoredView, int | None]]:
        """Yield each band and view with the number of its first kept pane. The number is None if all of its panes are
        kept.
        """
        coarser = [*(band.end for band in self.bands[1:]), None]
        for band, end in zip(self.bands, coarser, strict=False):
            first = _latest(end, self.kept_from)
            yield band, None if first is None else first // band.view.panes
        for view in self.views:
            first = self.derived_from(view.view)
            yield view, None if first is None else -(-first // view.view.panes)

    def without_unkept(self) -> CubeState:
        """Return the state without pieces whose panes have moved to a band, or were deleted for their age. The rows of
        these pieces may still be in the store.
        """
        if self.base_from is None:
            return self
        kept = {
            view.number: replace(view, panes=view.panes.kept_from(first))
            for view, first in self.firsts()
            if first is not None
        }
        return replace(
            self,
            panes=self.panes.kept_from(self.base_from),
            # Late records that are stored separately are never moved to a band.
            apart=self.apart if self.kept_from is None else self.apart.kept_from(self.kept_from),
            views=tuple(kept.get(view.number, view) for view in self.views),
            bands=tuple(kept.get(band.number, band) for band in self.bands),
        )

    def derived_from(self, view: View) -> int | None:
        """Return the first pane of the cube for which a view can be computed from kept pieces. Return None if the view
        can be computed for all panes.
        """
        coarser = [band.end for band in self.bands if not band.view.is_finer(view) and band.end is not None]
        return max((*coarser, *([] if self.kept_from is None else [self.kept_from])), default=None)

    def view_of(self, piece: int) -> StoredView | None:
        """Return the view to which a piece belongs. Return None for a piece of the base cuboid, or an unknown one."""
        return next((view for view in self.views if view.has(piece)), None)

    def without_pieces_of(self, *views: StoredView) -> CubeState:
        """Return the state without the pieces of some views. Later the views are filled again from the base pieces."""
        numbers = {view.number for view in views}
        return replace(self, views=tuple(view.emptied() if view.number in numbers else view for view in self.views))

    def pieces(self) -> Iterator[StoredPiece]:
        """Yield the pieces of the base cuboid, of separate late records, and of bands. Pieces of views are not
        included.
        """
        yield from self.panes.pieces()
        yield from self.apart.pieces()
        for band in self.bands:
            yield from band.panes.pieces()

    @property
    def accepted(self) -> int:
        """Return the number of records in the cube's batches that the query accepted."""
        return sum(count for name, count in self.counters.items() if name not in ("late", BACKFILLED))

    @property
    def accounting(self) -> str:
        """Return a line with the number of accepted records, and the numbers by outcome of which it is the sum."""
        own = {name: self.counters.get(name, 0) for name in COUNTERS}
        late, counted = own.pop("late"), own.pop("counted")
        excluded = "".join(f" + {count:,} {name}" for name, count in own.items())
        backfilled = self.counters.get(BACKFILLED, 0)
        also = f", {backfilled:,} backfilled" if backfilled else ""
        return f"{self.accepted:,} accepted = {counted:,} counted ({late:,} late{also}){excluded}"

    def seen(self) -> Coverage:
        """Return the offsets that are folded or reported by a gap. Cost: proportional to their intervals."""
        return self.coverage.with_all(self.missed.intervals)

    def end(self, place: Place) -> int:
        """Return the offset after a partition's last offset that is folded or reported by a gap. Return 0 if there is
        no such offset.
        """
        return max(self.coverage.end(place) or 0, self.missed.end(place) or 0)

    def reaches(self, ends: Mapping[Place, int]) -> bool:
        """Return whether the cube has folded, or reported by a gap, each partition up to the partition's offset in
        ``ends``. Partitions of topics of which the cube has neither are ignored.
        """
        topics = {topic for own in (self.coverage, self.missed) for topic, _ in own.intervals}
        return all(self.end(place) >= end for place, end in ends.items() if place[0] in topics)

    def all_gaps(self, last_batch: int, ends: Mapping[Place, int]) -> Iterator[Gap]:
        """Yield all gaps: the stored gaps, the time before the first batch, and the time since the cube stopped
        folding.

        ``last_batch``: the commit of the last batch of the stream. ``ends``: the offsets up to which the stream's cubes
        have read.
        """
        if not self.batch:
            yield Gap(None, None, NO_BATCH)
        # The gap before the first batch is omitted after a backfill has read the records of this time.
        yield from (gap for gap in self.gaps if gap.reason != NO_BATCH or not self.seen().begins_at_zero)
        is_stopped = self.parked is not None or self.stopped is not None
        if is_stopped or 0 < self.batch < last_batch or not self.reaches(ends):
            reason = self.parked or self.stopped or (BEHIND if self.watermark_us is None else PAUSED)
            yield Gap(self.watermark_us, None, reason)

    def with_damage(self, numbers: Iterable[int], gap_numbers: Iterator[int]) -> CubeState:
        """Return the state after the pieces ``numbers`` were found damaged: the cube is parked, and the panes of these
        pieces become gaps.
        """
        gone = set(numbers)
        damaged = [each for each in self.pieces() if each.number in gone]
        gaps, reason = list(self.gaps), self.parked
        lengths = {own.number: band.view.panes for band in self.bands for own in band.panes.pieces() if own in damaged}
        for pane, length in sorted({(each.pane, lengths.get(each.number, 1)) for each in damaged}):
            first_us, end_us = (each * length * self.grain_us for each in (pane, pane + 1))
            detail = f"a piece of the pane of {instant_text(first_us)} is damaged"
            gaps.append(Gap(first_us, end_us, detail, next(gap_numbers)))
            reason = reason or detail
        panes, apart = self.panes.with_damage(damaged), self.apart.with_damage(damaged)
        bands = tuple(replace(band, panes=band.panes.with_damage(damaged)) if lengths else band for band in self.bands)
        after = replace(self, panes=panes, apart=apart, bands=bands, gaps=bounded(gaps), parked=reason)
        # The views still contain the cells of the damaged pieces. Empty the views, because answers must not depend on
        # the view that is read.
        return after.without_pieces_of(*self.views)

    def with_damaged_change(
        self, gone: KeptChange, raised: Mapping[Unit, int], gap_numbers: Iterator[int]
    ) -> CubeState:
        """Return the state after the former cells of a change of windows were found damaged. The cube is parked, the
        change is removed, and its panes become gaps. ``gone``: the change.

        ``raised``: as in :meth:`WindowState.without_change`.
        """
        assert self.windows is not None
        spans = [(first * self.grain_us, end * self.grain_us) for first, end in gone.spans(self.windows.output.sliding)]
        detail = f"former cells of windows of the pane of {instant_text(spans[0][0])} are damaged"
        gaps = [Gap(*span, detail, next(gap_numbers)) for span in spans]
        windows = self.windows.without_change(gone, raised)
        return replace(self, windows=windows, gaps=bounded([*self.gaps, *gaps]), parked=self.parked or detail)


def _latest(one: int | None, other: int | None) -> int | None:
    """Return the later of two panes. None means that there is no pane; return None if both are None."""
    return max((pane for pane in (one, other) if pane is not None), default=None)
