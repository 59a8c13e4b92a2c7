"""Rows of part ``ratios`` of the DBSCAN benchmark. They measure incremental contenders, dense heaps of points, the
sizes of messages and states, and slides late in a stream.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from asc.operators.dbscan.labels import Setting, labels
from bench.dbscan_compare import differing
from bench.dbscan_extra_n import ExtraN
from bench.dbscan_goals import DBSCAN, EXTRA_N, INCDBSCAN, Figure
from bench.dbscan_own import Records, Together, observation_texts
from bench.dbscan_peers import Incremental, Numbers, dbscan, missing
from bench.dbscan_points import Floats, aircraft
from bench.dbscan_queries import BenchQuery, Ranges
from bench.dbscan_sizes import RatioSize
from bench.dbscan_turns import Streaming, Windows, run_through, slides

_EPS, _LEAST = 0.02, 5


def incremental(key: str, size: RatioSize, window: int, slide: int, data: Path | None) -> dict[str, Any]:
    """Measure the processor time of a slide of one query, from messages to records, and the time of incdbscan and
    Extra-N.
    """
    window, slide = round(window * size.share), max(1, round(slide * size.share))
    window -= window % slide
    count = window + (size.runs + 1) * slide
    stream = aircraft(data, count)
    query = BenchQuery(_EPS, _LEAST, window, slide)
    windows, theirs = Windows(), Windows()
    numbers: dict[int, Numbers] = {}
    contenders: dict[str, Streaming] = {
        "asc": Records(observation_texts(stream.values), [query], windows.take),
        "asc, labels alone": Together(stream.values, [query]),
        EXTRA_N: ExtraN(stream.values, [query], theirs.take, is_shared=False),
    }
    if missing(INCDBSCAN) is None:
        contenders[INCDBSCAN] = Incremental(
            stream.values, [query], lambda _, end, found: numbers.__setitem__(end, found)
        )
    # Do not measure the first two windows. Incdbscan inserts points only at the end of a window, so its first step
    # inserts the points of a whole window.
    for own in contenders.values():
        run_through(own, window + slide, slide)
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for low in range(window + slide, count, slide):
        for name, own in contenders.items():
            seconds[name] += slides(own, low, slide, 1)
    windows.check_same(EXTRA_N, theirs)
    apart = {
        INCDBSCAN: sum(differing(INCDBSCAN, windows.found[0, end], found) for end, found in numbers.items()),
    }
    shown = {"stream": stream.name, "window": window, "slide": slide, "differing": apart if numbers else {}}
    median = {name: round(statistics.median(own), 6) for name, own in seconds.items()}
    return {"key": key, "results": [{**shown, "slide_s": median}]}


def dense_heaps(size: RatioSize) -> dict[str, Any]:
    """Measure the processor time to label 12 dense heaps, and the memory that this takes in addition to the points.
    Dense heaps are the worst case for an algorithm that stores all pairs of neighbours.
    """
    random = np.random.default_rng(0)
    own = [random.normal((1_000 * heap, 0), 40, (round(15_000 * size.share), 2)) for heap in range(12)]
    points = random.permutation(np.concatenate(own))
    asked = [Setting(40.0, 10)]
    labels(points[:1_000], asked)
    if missing(DBSCAN) is None:
        dbscan(points[:1_000], 40.0, 10)
    seconds: dict[str, list[float]] = {"asc": []}
    apart: dict[str, int] = {}
    above = _grown_bytes(points, asked)
    for _ in range(size.runs):
        start_s = time.process_time()
        (asc_labels,) = labels(points, asked)
        seconds["asc"].append(time.process_time() - start_s)
        if missing(DBSCAN) is None:
            start_s = time.process_time()
            theirs = dbscan(points, 40.0, 10)
            seconds.setdefault(DBSCAN, []).append(time.process_time() - start_s)
            apart[DBSCAN] = differing(DBSCAN, asc_labels, theirs)
    median = {name: round(statistics.median(each), 5) for name, each in seconds.items()}
    shown = {"points": len(points), "clusters": asc_labels.clusters, "differing": apart, "above_bytes": above}
    return {"key": "heaps", "results": [{**shown, "slide_s": median}]}


def _grown_bytes(points: Floats, asked: list[Setting]) -> int:
    """Compute labels, and return the bytes by which the peak memory of this process exceeds the memory before."""
    # Writing 5 resets the peak memory (VmHWM) that the kernel reports for this process.
    Path("/proc/self/clear_refs").write_text("5")
    before = _memory_bytes("VmRSS")
    labels(points, asked)
    return max(0, _memory_bytes("VmHWM") - before)


def _memory_bytes(name: str) -> int:
    lines = Path("/proc/self/status").read_text("utf-8").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{name}:"))


def sizes(size: RatioSize, data: Path | None) -> dict[str, Any]:
    """Measure the bytes of the largest feed message, and the bytes of the state of many queries with one WHERE."""
    window = round(10_000 * size.share)
    slide = window // 10
    queries = Ranges((0.005, 0.05), (2, 30), (window // 5, window), slide, slide).group(size.queries, 2)
    stream = aircraft(data, window)
    texts = observation_texts(stream.values)
    contender = Records(texts, queries)
    run_through(contender, window, slide)
    state = contender.clusters.to_bytes()
    return {
        "key": "sizes",
        "queries": len(queries),
        "points": contender.clusters.held,
        "message_bytes": max(len(text.encode()) for text in texts),
        "state_bytes": len(state),
    }


def later(size: RatioSize, data: Path | None) -> dict[str, Any]:
    """Measure the processor time of a slide and the bytes of the operator's state, early and late in a stream. Their
    difference shows whether they grow with time. The stream repeats the same points.

    The stream repeats after ten slides, so every tenth window has the same points in the same order.
    """
    window, slide = 1_000, 100
    queries = Ranges((0.02, 0.1), (2, 30), window, slide, slide).group(20, 3)
    period = aircraft(data, window).values
    last = size.slides
    texts = observation_texts(period[np.arange((last + 10) * slide) % window])
    contender = Records(texts, queries)
    spent: dict[int, float] = {}
    states: dict[int, int] = {}
    for number, spent_s in enumerate(slides(contender, 0, slide, last + 10), 1):
        spent[number] = spent_s
        if number in {20, last}:
            states[number] = len(contender.clusters.to_bytes())
    return {
        "key": "later",
        "slides": last,
        "queries": len(queries),
        "early_s": statistics.median(spent[number] for number in range(11, 21)),
        "late_s": statistics.median(spent[number] for number in range(last, last + 10)),
        "early_bytes": states[20],
        "late_bytes": states[last],
    }


def figures_of(row: Mapping[str, Any]) -> Iterator[tuple[str, Figure]]:
    """Yield the figures of a row that are no ratios to a peer, each with the name of its goal."""
    if row["key"] == "heaps":
        yield "heaps-bytes", row["results"][0]["above_bytes"] / 1e6
    elif row["key"] == "sizes":
        yield "message", float(row["message_bytes"])
        yield "state", row["state_bytes"] / 1e6
    elif row["key"] == "later":
        yield "later-cost", row["late_s"] / row["early_s"]
        yield "later-state", row["late_bytes"] / row["early_bytes"]
