"""Estimation of the size that a cube would have, from records of its stream, before the cube is registered."""

from __future__ import annotations

import numpy as np

from asc.operators.cube.estimate import Estimate
from asc.operators.cube.task_fold import CubeFold, CubePartial
from broker.operators.fold_destination import FoldDestination
from broker.operators.fold_sample import FoldEstimate, FoldSample

MEASURED_PANES_MAX = 1_000
"""The most panes whose stored size is measured. Measuring 10,000 panes takes seconds, in which the daemon does little
else.
"""


def estimated(destination: FoldDestination, sample: FoldSample | str) -> FoldEstimate:
    """Return the estimated size of a query's cube. The records of the sample are folded as workers fold records.

    If no record is counted, the figures are null, with the reason. The same holds if ``sample`` is a text, which is the
    reason why there is no sample.
    """
    fold = CubeFold()
    layout = fold.prepare(destination.definition)
    cuboids = layout.definition.dimensions.count
    if isinstance(sample, str):
        nothing = dict.fromkeys(Estimate(0, 0, 0, 0, 0).plain())
        return FoldEstimate({"cuboids": cuboids, **nothing, "undecodable": None, "reason": sample})
    rows = sample.columns.num_rows
    state = fold.state(layout)
    too_large = state.fold(fold.columns(sample.columns), np.arange(rows, dtype=np.int64)) if rows else 0
    cells = CubePartial.of_bytes(layout, state.to_bytes()).cells
    found = Estimate.of(layout, cells, records=sample.records, counted=rows - too_large, panes_most=MEASURED_PANES_MAX)
    plain = {"cuboids": cuboids, **found.plain(), "undecodable": sample.undecodable, "reason": _reason(found)}
    return FoldEstimate(plain, () if found.warning is None else (found.warning,))


def _reason(found: Estimate) -> str | None:
    """Return the reason why the size is not known. Return None if it is known."""
    if not found.records:
        return "the stream has no records"
    return None if found.cells else f"none of the last {found.records:,} records is counted"
