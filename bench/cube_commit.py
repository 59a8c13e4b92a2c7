"""The time to commit a batch to twenty cubes. A commit writes a thousand cells of each cube to the cube file, and syncs
the file to the disk.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from bench.cube_keeper import kept_cubes
from workloads.sales import BEGIN_US, DIMENSIONS, NARROW, sales

_BETWEEN_US = 2_000_000
"""The event time between two batches."""


@dataclass(frozen=True, slots=True)
class CommitSize:
    """The size of the measurement: the number of cubes, the number of cells of each cube in a batch, and the number of
    batches.
    """

    cubes: int
    cells: int
    batches: int


FULL = CommitSize(20, 1_000, 50)
QUICK = CommitSize(3, 100, 4)


def commit(size: CommitSize) -> dict[str, Any]:
    """Return the elapsed seconds of each commit. Raise RuntimeError if a record is not counted exactly once.

    Each batch has cells of the same groups as the previous batch, in the pane of the batch's time. So commits merge
    pieces, and close panes, as often as in a daemon.
    """
    batch = of_different_groups(size.cells)
    with (
        tempfile.TemporaryDirectory(prefix="asc-bench-") as name,
        kept_cubes(Path(name) / "cubes.sqlite", [DIMENSIONS] * size.cubes) as kept,
    ):
        taken = []
        for number in range(size.batches):
            now_us = BEGIN_US + number * _BETWEEN_US
            partials = kept.partials(_at(batch, now_us))
            taken.append(kept.commit(partials, batch.num_rows, now_us))
        for number in range(size.cubes):
            counted = kept.ask({"by": [], "live": True}, number)["rows"][0]["records"]
            if counted != size.batches * size.cells:
                raise RuntimeError(f"cube {number} counts {counted:,} of {size.batches * size.cells:,} records")
        size_bytes = sum(path.stat().st_size for path in Path(name).iterdir())
    return {
        "cubes": size.cubes,
        "cells": size.cells,
        "runs_s": [round(each, 5) for each in taken],
        "median_s": round(statistics.median(taken), 5),
        "worst_s": round(max(taken), 5),
        "file_bytes": size_bytes,
    }


def of_different_groups(count: int, values: Sequence[int] = NARROW) -> pa.Table:
    """Return ``count`` sales, each of a different group."""
    records = sales(20 * count, values)
    keys = records.select(DIMENSIONS).append_column("row", pa.array(np.arange(records.num_rows)))
    rows = keys.group_by(list(DIMENSIONS)).aggregate([("row", "min")])["row_min"].to_numpy()
    return records.take(pa.array(np.sort(rows)[:count]))


def _at(records: pa.Table, now_us: int) -> pa.Table:
    times = pa.array(np.full(records.num_rows, now_us), pa.timestamp("us", "UTC"))
    return records.set_column(0, "sold_at", times)
