"""Partials: the cells that the records of a batch add to a cube, and the outcome of a commit of these cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np

from asc.operators.cube.cells import Cells
from broker.operators.cube.cube_state import CubeId
from broker.operators.cube.gaps import Gap

Newest = Mapping[str, Mapping[int, int]]
"""The newest usable time of all decoded records of a batch, in microseconds, by time expression and partition."""


@dataclass(frozen=True, slots=True, eq=False)
class Partial:
    """The cells into which workers have folded the records of a batch that a cube accepts, with all partitions merged.

    ``cells``: cells of the base cuboid, in any panes. ``records``: the number of records in these cells, by pane.
    ``time``, ``future_timestamp`` and ``too_large``: the numbers of excluded records by reason. ``failed``: the reason
    why the workers could not fold the batch; None if they could. ``is_apart``: whether records of closed panes are
    stored separately.
    """

    cells: Cells
    records: Mapping[int, int]
    time: int = 0
    future_timestamp: int = 0
    too_large: int = 0
    failed: str | None = None
    is_apart: bool = False

    def parted(self, open_from: int | None, kept_from: int | None = None) -> tuple[Cells, Cells | None]:
        """Return the cells that are added to their panes, and the cells of late records that are stored separately. The
        second value is None if there are no such late records.

        ``open_from``: the first pane that is open when the batch begins; None if all panes are open. ``kept_from``: the
        first pane that is not deleted for its age; None if none is. Cells of deleted panes are in neither value.
        """
        cells = self.cells if kept_from is None else self.cells.between(kept_from, None)
        late = int(np.searchsorted(cells.panes, open_from)) if self.is_apart and open_from is not None else 0
        if not late:
            return cells, None
        # Copy the cells, because a slice would be written with the whole buffers of both parts.
        return cells.take(np.arange(late, cells.count)), cells.take(np.arange(late))

    def counters(self, open_from: int | None, kept_from: int | None = None) -> dict[str, int]:
        """Return the increment of each counter. ``open_from``, ``kept_from``: as for :meth:`parted`."""
        expired = sum(count for pane, count in self.records.items() if kept_from is not None and pane < kept_from)
        late = sum(count for pane, count in self.records.items() if open_from is not None and pane < open_from)
        late -= expired
        apart = late if self.is_apart else 0
        return {
            "counted": sum(self.records.values()) - apart - expired,
            "late": late - apart,
            "apart": apart,
            "expired": expired,
            "time": self.time,
            "future_timestamp": self.future_timestamp,
            "too_large": self.too_large,
        }


BATCH_PANES_MAX = 50_000
"""The most panes in which one transaction writes pieces, in all cubes of a stream together. The limit bounds the time
of a transaction, because to write a piece takes some 0.1 ms.
"""


def of_bounded_panes(partials: Mapping[CubeId, Partial]) -> dict[CubeId, Partial]:
    """Return the partials if they have at most BATCH_PANES_MAX panes together. Otherwise mark the partials with the
    most panes as failed, until the other partials have at most this number.
    """
    bounded = dict(partials)
    panes = sum(len(own.records) for own in bounded.values())
    for cube in sorted(bounded, key=lambda each: (-len(bounded[each].records), each)):
        if panes <= BATCH_PANES_MAX:
            break
        own = len(bounded[cube].records)
        text = (
            f"its records of one batch are in {own:,} panes, the most of all cubes, which may have {BATCH_PANES_MAX:,}"
        )
        bounded[cube] = replace(bounded[cube], failed=f"{text}: choose a longer grain, or lower max_records_per_batch")
        panes -= own
    return bounded


def in_portions(partials: Mapping[CubeId, Partial]) -> tuple[list[dict[CubeId, Partial]], dict[CubeId, int]]:
    """Divide partials, in their order, into portions of at most BATCH_PANES_MAX panes, and return the portions. The
    second value contains the cubes whose partials alone have more panes, each with the number of panes; they are in no
    portion.
    """
    portions: list[dict[CubeId, Partial]] = []
    wide: dict[CubeId, int] = {}
    panes = 0
    for cube, partial in partials.items():
        pane_count = len(partial.records)
        if pane_count > BATCH_PANES_MAX:
            wide[cube] = pane_count
            continue
        if not portions or panes + pane_count > BATCH_PANES_MAX:
            portions.append({})
            panes = 0
        portions[-1][cube] = partial
        panes += pane_count
    return portions, wide


@dataclass(frozen=True, slots=True)
class Committed:
    """The outcome of a commit for each cube.

    ``commit``: the number of the commit; None if there was nothing to write. ``folded``: the cubes to which the commit
    added the batch. ``covered``: the cubes that already had the batch. ``partly``: the cubes that already had a part of
    the batch; a gap reports the other part. ``parked``: the cubes to which the batch is not added because they are
    parked, with the reason. ``dropped``: the cubes of the batch that the keeper no longer has, such as replaced ones.
    ``gaps``: the new gaps of each cube.
    """

    commit: int | None
    folded: frozenset[CubeId] = frozenset()
    covered: frozenset[CubeId] = frozenset()
    partly: frozenset[CubeId] = frozenset()
    parked: Mapping[CubeId, str] = field(default_factory=lambda: MappingProxyType({}))
    dropped: frozenset[CubeId] = frozenset()
    gaps: Mapping[CubeId, tuple[Gap, ...]] = field(default_factory=lambda: MappingProxyType({}))
