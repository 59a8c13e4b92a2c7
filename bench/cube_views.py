"""The processor time to fold and commit sales into a cube with one materialised view, and with up to thirty."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa

from asc.operators.cube.view import View
from bench.cube_keeper import LATENESS_S, kept_cubes
from workloads.sales import BEGIN_US, DIMENSIONS, HOUR_US, NARROW, sales

_PANES = 60
"""The number of the cube's panes in one pane of a view: the cube has panes of a minute, and the views have panes of an
hour.
"""


@dataclass(frozen=True, slots=True)
class ViewsSize:
    """The size of the measurement. ``records``: the number of records of each of ``hours`` hours. ``batch``: the number
    of records of a batch. ``views``: the numbers of views to measure. ``repetitions``: the number of runs.
    """

    records: int
    hours: int
    batch: int
    views: tuple[int, ...]
    repetitions: int


FULL = ViewsSize(1_000_000, 2, 100_000, (1, 5, 10, 20, 30), 3)
QUICK = ViewsSize(4_000, 1, 2_000, (1, 30), 1)


def views(size: ViewsSize) -> dict[str, Any]:
    """Return the records per second of one thread, by the number of views and the length of their panes.

    ``minute``: the views have the panes of the cube, so each closed pane is rolled up into every view. ``hour``: a pane
    of a view has sixty panes of the cube. Numbers of views alternate, and a ratio is the median of the ratios of all
    runs to the run with one view in the same round. Raise RuntimeError if a view does not count each record once.
    """
    hours = [
        sales(size.records, NARROW, seed=1 + hour, begin_us=BEGIN_US + hour * HOUR_US) for hour in range(size.hours)
    ]
    records = pa.concat_tables(hours)
    batches = [records.slice(begin, size.batch) for begin in range(0, records.num_rows, size.batch)]
    results = []
    for grain, panes in (("minute", 1), ("hour", _PANES)):
        seconds: dict[int, list[float]] = {count: [] for count in size.views}
        _seconds(batches[:1], _chosen(1, panes))
        for _ in range(size.repetitions):
            for count in size.views:
                seconds[count].append(_seconds(batches, _chosen(count, panes)))
        for count, own_s in seconds.items():
            ratios = [first / each for first, each in zip(seconds[size.views[0]], own_s, strict=True)]
            rate = round(records.num_rows / statistics.median(own_s), 1)
            ratio = round(statistics.median(ratios), 4)
            results.append({"grain": grain, "views": count, "runs_s": own_s, "records_a_s": rate, "ratio": ratio})
    return {"records": records.num_rows, "batch": size.batch, "results": results}


def _chosen(count: int, panes: int) -> list[View]:
    """Return the ``count`` finest views of the cube apart from the base cuboid. ``panes``: the number of the cube's
    panes in one pane of a view.
    """
    cuboids = sorted(product((0, 1), repeat=len(DIMENSIONS)), key=lambda own: (-sum(own), own))
    return [View(cuboid, panes) for cuboid in cuboids[1 : count + 1]]


def _seconds(batches: Sequence[pa.Table], pins: Sequence[View]) -> float:
    """Return the processor seconds to fold and commit the batches into a new cube with the given views."""
    count = sum(batch.num_rows for batch in batches)
    with (
        tempfile.TemporaryDirectory(prefix="asc-bench-") as name,
        kept_cubes(Path(name) / "cubes.sqlite", [DIMENSIONS], pins=pins) as kept,
    ):
        start_s = time.process_time()
        for batch in batches:
            newest_us = batch["sold_at"].cast(pa.int64())[-1].as_py()
            kept.commit(kept.partials(batch), batch.num_rows, newest_us)
        end_us = -(-newest_us // HOUR_US) * HOUR_US
        kept.close_panes(end_us + round(LATENESS_S * 1_000_000))
        # Fill the views that lag behind the batches. A daemon does this in the background.
        kept.keeper.views.fill(600.0)
        taken_s = time.process_time() - start_s
        dimensions = kept.layout().definition.dimensions
        for view in pins:
            by = [dimensions.names[place] for place in dimensions.columns(view.cuboid)]
            asked = {"by": [], "answer_from": {"by": by, "grain_s": 60 * view.panes}}
            answer = kept.ask(asked)
            counted, parts = answer["rows"][0]["records"], [own["cuboid"] for own in answer["answered_by"]]
            if counted != count or parts != [by]:
                raise RuntimeError(f"the view by {by} counts {counted:,} of {count:,} records, answered by {parts}")
    return round(taken_s, 4)
