"""The time to split the shard of a large pane into two shards and to merge the two again, and how long batches wait
meanwhile.
"""

from __future__ import annotations

import statistics
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from asc.operators.cube.shards import Shards
from bench.cube_keeper import KeptCubes, kept_cubes
from bench.timed import timed
from workloads.sales import BEGIN_US, DIMENSIONS, NARROW, sales

_PRODUCTS = 500
_SMALL_RECORDS = 200
"""The number of records of a batch that is committed during a split or a merge."""
_PANE_US = 60_000_000
_ONE, _TWO, _EIGHT = Shards(), Shards.of([2, 3]), Shards.of(range(8, 16))


@dataclass(frozen=True, slots=True)
class ShardsSize:
    """The size of the measurement: the number of cells of the pane, the number of batches committed without a split or
    merge, and the number of runs.
    """

    cells: int
    batches: int
    repetitions: int


FULL = ShardsSize(250_000, 50, 5)
QUICK = ShardsSize(500, 3, 1)


def shards(size: ShardsSize) -> dict[str, Any]:
    """Return the seconds of a split and of a merge, and the seconds that these changes add to the slowest commit of a
    batch in another thread.

    The pane is open, and is one shard before the split and after the merge. The result also has the seconds in which a
    batch closes the pane, and in which a late record joins it, with one shard and with eight. Raise RuntimeError if a
    record is not counted exactly once.
    """
    records = _of_groups(size.cells)
    runs = [_changed(records, size.batches) for _ in range(size.repetitions)]
    closed = {len(own): [_closed(records, own) for _ in range(size.repetitions)] for own in (_ONE, _EIGHT)}
    return {
        "cells": size.cells,
        "runs": runs,
        **{name: round(statistics.median(run[name] for run in runs), 4) for name in ("split_s", "merge_s", "held_s")},
        "closed": [
            {
                "shards": count,
                "close_s": round(statistics.median(close_s for close_s, _ in several), 4),
                "late_s": round(statistics.median(late_s for _, late_s in several), 4),
            }
            for count, several in closed.items()
        ],
    }


def _changed(records: pa.Table, batches: int) -> dict[str, Any]:
    """Return the times of a split and of a merge while another thread commits small batches."""
    small = records.slice(0, _SMALL_RECORDS)
    with (
        tempfile.TemporaryDirectory(prefix="asc-bench-") as name,
        kept_cubes(Path(name) / "cubes.sqlite", [DIMENSIONS]) as kept,
    ):
        _commit(kept, records)
        alone = [_commit(kept, small) for _ in range(batches)]
        over, beside = threading.Event(), []

        def commit_small() -> None:
            while not over.is_set():
                beside.append(_commit(kept, small))

        thread = threading.Thread(target=commit_small)
        thread.start()
        try:
            split_s = timed(lambda: _change(kept, _ONE, _TWO))
            merge_s = timed(lambda: _change(kept, _TWO, _ONE))
        finally:
            over.set()
            thread.join()
        _check(kept, records.num_rows + small.num_rows * (batches + len(beside)))
    return {
        "split_s": round(split_s, 4),
        "merge_s": round(merge_s, 4),
        "batches_beside": len(beside),
        "alone_median_s": round(statistics.median(alone), 5),
        "held_s": round(max(beside, default=0.0) - statistics.median(alone), 5),
    }


def _closed(records: pa.Table, wanted: Shards) -> tuple[float, float]:
    """Return the seconds in which a batch closes the pane of two batches, and in which a late record joins the pane."""
    with (
        tempfile.TemporaryDirectory(prefix="asc-bench-") as name,
        kept_cubes(Path(name) / "cubes.sqlite", [DIMENSIONS]) as kept,
    ):
        if wanted is not _ONE:
            _change(kept, _ONE, wanted)
        _commit(kept, records)
        _commit(kept, records)
        late = records.slice(0, 1)
        close_s = kept.commit(kept.partials(_at(late, BEGIN_US + _PANE_US)), 1, BEGIN_US + 2 * _PANE_US)
        late_s = _commit(kept, late)
        _check(kept, 2 * records.num_rows + 2)
    return close_s, late_s


def _commit(kept: KeptCubes, records: pa.Table) -> float:
    return kept.commit(kept.partials(records), records.num_rows, BEGIN_US)


def _change(kept: KeptCubes, former: Shards, wanted: Shards) -> None:
    if not kept.keeper.shards.change(kept.id(), former, wanted):
        raise RuntimeError("the shards have not changed")


def _check(kept: KeptCubes, wanted: int) -> None:
    counted = kept.ask({"by": [], "live": True})["rows"][0]["records"]
    if counted != wanted:
        raise RuntimeError(f"the cube counts {counted:,} of {wanted:,} records")


def _of_groups(count: int) -> pa.Table:
    """Return ``count`` sales of one time, each of another shop and product."""
    records = _at(sales(count, NARROW), BEGIN_US)
    numbers = np.arange(count)
    texts: Sequence[tuple[str, Any]] = (("shop", numbers // _PRODUCTS), ("product", numbers % _PRODUCTS))
    for name, own in texts:
        column = pa.array([f"{name}-{each:05d}" for each in own.tolist()])
        records = records.set_column(records.column_names.index(name), name, column)
    return records


def _at(records: pa.Table, time_us: int) -> pa.Table:
    times = pa.array(np.full(records.num_rows, time_us), pa.timestamp("us", "UTC"))
    return records.set_column(0, "sold_at", times)
