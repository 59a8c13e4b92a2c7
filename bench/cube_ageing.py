"""The time to age a day of a cube: to merge its panes of a minute into one pane of a day. The benchmark also measures
how long questions wait during the merge.
"""

from __future__ import annotations

import statistics
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from asc.frozen import frozen
from asc.operators.cube.cells import joined
from asc.operators.cube.keep import Band
from asc.operators.cube.view import View
from bench.cube_commit import of_different_groups
from bench.cube_keeper import KeptCubes, kept_cubes
from bench.timed import timed
from broker.operators.cube.partial import Partial
from workloads.sales import BEGIN_US, DIMENSIONS

_MINUTE_US, _DAY_MINUTES, _KEPT_MINUTES = 60_000_000, 1_440, 60
_AT_ONCE = 60
"""The number of panes that are written in one commit."""


@dataclass(frozen=True, slots=True)
class AgeingSize:
    """The size of the measurement: the number of cells of a pane, the number of questions asked without ageing, and the
    number of runs.
    """

    cells: int
    questions: int
    repetitions: int


FULL = AgeingSize(1_300, 300, 3)
QUICK = AgeingSize(10, 5, 1)


def ageing(size: AgeingSize) -> dict[str, Any]:
    """Return the seconds that the ageing of a day takes, and the seconds that the ageing adds to the slowest question
    of another thread.

    A question asks for one cuboid over the newest hour, which does not age. The added time is the longest time of a
    question during the ageing, less the median time without ageing. Raise RuntimeError if the day is not stored as one
    pane afterwards.
    """
    runs = [_aged(size) for _ in range(size.repetitions)]
    return {
        "panes": _DAY_MINUTES,
        "cells": size.cells,
        "runs": runs,
        "median_s": round(statistics.median(run["aged_s"] for run in runs), 4),
        "held_s": round(statistics.median(run["longest_s"] - run["alone_median_s"] for run in runs), 5),
    }


def _aged(size: AgeingSize) -> dict[str, Any]:
    with (
        tempfile.TemporaryDirectory(prefix="asc-bench-") as name,
        kept_cubes(Path(name) / "cubes.sqlite", [DIMENSIONS]) as kept,
    ):
        _build(kept, of_different_groups(size.cells))
        (base,) = {View.base(kept.layout().definition.dimensions)}
        hour_s, day_s = 60 * _KEPT_MINUTES, 60 * _DAY_MINUTES
        bands = (Band(base, hour_s), Band(View(base.cuboid, _DAY_MINUTES), 365 * day_s))
        kept.keeper.bands.define(kept.id(), bands)
        asked = {"by": ["region"], "last_s": hour_s}
        kept.ask(asked)
        alone = [timed(lambda: kept.ask(asked)) for _ in range(size.questions)]
        aged_s, beside = _beside(lambda: kept.ask(asked), lambda: kept.keeper.bands.age(600.0))
        status = kept.keeper.snapshot.cube(kept.id())
        panes = [band.panes.count for band in status.bands]
        counted = kept.ask({"by": []})["rows"][0]["records"]
        minutes = _DAY_MINUTES + _KEPT_MINUTES
        if panes != [1] or counted != size.cells * minutes:
            raise RuntimeError(f"bands have {panes} panes, and {counted:,} of {size.cells * minutes:,} records count")
    return {
        "aged_s": round(aged_s, 4),
        "questions": len(beside),
        "alone_median_s": round(statistics.median(alone), 5),
        "alone_longest_s": round(max(alone), 5),
        "median_s": round(statistics.median(beside), 5),
        "longest_s": round(max(beside), 5),
    }


def _build(kept: KeptCubes, batch: pa.Table) -> None:
    """Commit the cells of the batch in each minute of a day and of one more hour."""
    # Move all records of the hour to its first minute, so that their cells belong to one pane.
    at_begin = batch.set_column(0, "sold_at", pa.array([BEGIN_US] * batch.num_rows, pa.timestamp("us", "UTC")))
    (partial,) = kept.partials(at_begin).values()
    first, end = BEGIN_US // _MINUTE_US, BEGIN_US // _MINUTE_US + _DAY_MINUTES + _KEPT_MINUTES
    for begin in range(first, end, _AT_ONCE):
        panes = range(begin, begin + _AT_ONCE)
        parts = [replace(partial.cells, panes=frozen(partial.cells.panes + (pane - first))) for pane in panes]
        cells = {kept.id(): Partial(joined(kept.layout(), parts), dict.fromkeys(panes, batch.num_rows))}
        kept.commit(cells, batch.num_rows * _AT_ONCE, (begin + _AT_ONCE) * _MINUTE_US - 1)
    kept.close_panes(end * _MINUTE_US + 10_000_000)


def _beside(ask: Callable[[], object], work: Callable[[], object]) -> tuple[float, list[float]]:
    """Call ``work``, and call ``ask`` repeatedly in a second thread meanwhile, at least once. Return the seconds of
    ``work``, and the seconds of each call of ``ask``.
    """
    beside: list[float] = []
    done, asked = threading.Event(), threading.Event()

    def reader() -> None:
        while not done.is_set() or not beside:
            beside.append(timed(ask))
            asked.set()

    thread = threading.Thread(target=reader)
    thread.start()
    asked.wait()
    try:
        return timed(work), beside
    finally:
        done.set()
        thread.join()
