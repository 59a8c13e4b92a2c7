"""Estimation of the size that a cube would have, from records of its stream, before the cube is registered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from asc.operators.cube.computed.geohash import Geohash
from asc.operators.cube.estimate import Estimate
from asc.operators.cube.layout import Layout
from asc.operators.cube.task_columns import TaskColumns
from asc.operators.cube.task_fold import CubeFold, CubePartial
from broker.operators.cube.estimate_body import CubeEstimate
from broker.operators.fold_destination import FoldDestination
from broker.operators.fold_sample import FoldEstimate, FoldSample

MEASURED_PANES_MAX = 1_000
"""The most panes whose stored size is measured. To measure 10,000 panes takes seconds, and slows all other work of the
daemon.
"""


def estimated(destination: FoldDestination, sample: FoldSample | str) -> FoldEstimate:
    """Return the estimated size of a query's cube. The records of the sample are folded by the same code as in workers.

    If no record is counted, the figures are null, and the estimate contains the reason. If there is no sample,
    ``sample`` is a text with the reason, and the figures are null as well.
    """
    fold = CubeFold()
    layout = fold.prepare(destination.definition)
    cuboids = layout.definition.dimensions.count
    if isinstance(sample, str):
        return FoldEstimate(_body(cuboids, dict.fromkeys(Estimate(0, 0, 0, 0, 0).plain()), None, sample))
    rows = sample.columns.num_rows
    state = fold.state(layout)
    columns = fold.columns(sample.columns)
    too_large = state.fold(columns, np.arange(rows, dtype=np.int64)) if rows else 0
    cells = CubePartial.of_bytes(layout, state.to_bytes()).cells
    found = Estimate.of(layout, cells, records=sample.records, counted=rows - too_large, panes_most=MEASURED_PANES_MAX)
    body = _body(cuboids, found.plain(), sample.undecodable, _reason(found))
    warnings = [] if found.warning is None else [found.warning]
    return FoldEstimate(body, (*warnings, *(_odd_positions(layout, columns) if rows else ())))


def _odd_positions(layout: Layout, columns: TaskColumns) -> Iterator[str]:
    """Yield a warning for each geohash dimension whose coordinates may be exchanged."""
    levels = {own.level.dimension.text: own.level for own in layout.dimensions if own.level is not None}
    for level in levels.values():
        if isinstance(level.dimension, Geohash):
            warning = level.dimension.warning([columns.array(own) for own in level.inputs])
            if warning is not None:
                yield warning


def size_text(size: Mapping[str, Any]) -> str:
    """Return one line about the size of a cube over some records, in the form of :meth:`Estimate.plain`.

    >>> size_text(Estimate(9, 0, 0, 0, 0).plain())
    'of 9 records it counts 0'
    >>> size_text(Estimate(1, 1, 1, 1, 500).plain())
    'of 1 record it counts 1: 1 cell in 1 pane, 500 bytes; 1.0 cells a pane, 500.0 bytes a cell, 1.0 records a cell'
    """
    counts = f"of {_number(size['records'], 'record')} it counts {size['counted']:,}"
    if size["cells"] is None:
        return counts
    held = f"{_number(size['cells'], 'cell')} in {_number(size['panes'], 'pane')}, {size['bytes']:,} bytes"
    averages = f"{size['cells_a_pane']:,} cells a pane, {size['bytes_a_cell']:,} bytes a cell"
    return f"{counts}: {held}; {averages}, {size['records_a_cell']:,} records a cell"


def _body(cuboids: int, size: Mapping[str, Any], undecodable: int | None, reason: str | None) -> CubeEstimate:
    unknown = f"cells and bytes are not known: {reason}"
    text = f"it has {_number(cuboids, 'cuboid')}; {unknown if size['cells'] is None else size_text(size)}"
    return CubeEstimate(name="cube", text=text, cuboids=cuboids, undecodable=undecodable, reason=reason, **size)


def _number(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _reason(found: Estimate) -> str | None:
    """Return the reason why the size is not known. Return None if it is known."""
    if not found.records:
        return "the stream has no records"
    return None if found.cells else f"none of the last {found.records:,} records is counted"
