"""Part ``paper`` of the DBSCAN benchmark: figures 18 to 32 of the paper, measured with the paper's contenders and the
engine's.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from asc.operators.dbscan.points import Floats
from bench.dbscan_compare import check_variation, differing, variation
from bench.dbscan_extra_n import ExtraN
from bench.dbscan_goals import ALONE, EXTRA_N, EXTRA_N_SHARED, INCDBSCAN
from bench.dbscan_own import Alone, Records, Take, Together, observation_texts
from bench.dbscan_peers import Incremental, missing
from bench.dbscan_points import aircraft
from bench.dbscan_queries import BenchQuery, Ranges
from bench.dbscan_sizes import PaperSize
from bench.dbscan_turns import Make, Streaming, Windows, cpu_in_turns, memory_of, run_through

OWN, OWN_LABELS = "asc", "asc, labels alone"
CONTENDERS = (OWN, OWN_LABELS, ALONE, EXTRA_N_SHARED, EXTRA_N, INCDBSCAN)

_STEP = 500
_WINDOWS, _SLIDES = (1_000, 5_000), (500, 5_000)
_TRACED = 5
"""The number of queries for which the memory, the searches and the visits of incdbscan are measured. The time of
incdbscan is measured for 20 queries.
"""
_INCREMENTAL = 20


@dataclass(frozen=True, slots=True)
class Case:
    """A test case of the paper. ``figures``: the numbers of the paper's figures. ``ranges``: the ranges from which the
    parameters of queries are drawn. ``counts``: the numbers of queries; if empty, the numbers in `PaperSize`.
    ``groups``: true if several groups of queries are drawn.
    """

    figures: tuple[int, ...]
    title: str
    ranges: Ranges
    counts: tuple[int, ...] = (5, 10, 15, 20)
    groups: bool = False


CASES: Mapping[str, Case] = {
    "count": Case((18, 19), "arbitrary min_samples", Ranges(0.05, (2, 20), 5_000, 1_000)),
    "range": Case((20, 21), "arbitrary eps", Ranges((0.01, 0.1), 10, 5_000, 1_000)),
    "window": Case((22, 23), "arbitrary window", Ranges(0.05, 10, _WINDOWS, 500)),
    "slide": Case((24, 25), "arbitrary slide", Ranges(0.05, 10, 5_000, _SLIDES)),
    "pattern": Case((26, 27), "arbitrary eps and min_samples", Ranges((0.01, 0.1), (2, 20), 5_000, 1_000)),
    "windows": Case((28, 29), "arbitrary window and slide", Ranges(0.05, 10, _WINDOWS, _SLIDES)),
    "general": Case((30,), "four arbitrary parameters", Ranges((0.01, 0.1), (2, 20), _WINDOWS, _SLIDES), (), True),
    "scale": Case((31, 32), "many queries", Ranges((0.001, 0.01), (2, 30), _WINDOWS, _SLIDES), ()),
}
"""The cases by name. The parameters are the paper's, with one exception: cases with a fixed eps have 0.05 degrees
instead of the paper's 0.01. Aircraft are farther apart than the paper's vehicles.
"""


def case_of(figure: int) -> str:
    """Return the name of the case that measures a figure.

    >>> case_of(18), case_of(30)
    ('count', 'general')
    """
    return next(name for name, case in CASES.items() if figure in case.figures)


def measured_case(name: str, size: PaperSize, data: Path | None) -> dict[str, Any]:
    """Measure the time of the contenders for a case. Return one entry per number of queries and group.

    Raises RuntimeError if the labels of contenders differ. Raises RuntimeError if eps or min_samples vary, but the
    queries find too similar numbers of clusters.
    """
    case = CASES[name]
    stream = aircraft(data, size.points)
    texts = observation_texts(stream.values)
    ranges = case.ranges.scaled(size.share)
    counts = case.counts or (size.counts if case.groups else size.scales)
    has_patterns = isinstance(ranges.eps, tuple) or isinstance(ranges.min_samples, tuple)
    results, apart = [], 0
    for group in range(size.groups if case.groups else 1):
        queries = ranges.group(max(counts), group)
        first = stream.values[: size.incremental_points]
        incremental, others = ({}, 0) if group else _incremental(first, queries, size)
        for count in counts:
            own = _Group(stream.values, texts, queries[:count], size)
            entry: dict[str, Any] = {"queries": count, "group": group, **own.measured()}
            if has_patterns and count == max(counts) and not size.is_quick:
                check_variation(f"{case.title}, {count} queries", own.clusters)
            for figure, of_queries in incremental.items():
                # incdbscan runs each query separately, so the time of all is extrapolated from some of them.
                entry[figure][INCDBSCAN] = sum(of_queries[:count]) * count / min(count, len(of_queries))
            results.append(entry)
        apart += others
    shown = {"stream": stream.name, "points": size.points, "figures": list(case.figures)}
    return {**shown, "differing": {INCDBSCAN: apart}, "results": results}


class _Group:
    """A group of queries over a stream, measured for all contenders except incdbscan."""

    def __init__(self, values: Floats, texts: Sequence[str], queries: Sequence[BenchQuery], size: PaperSize) -> None:
        self._values, self._texts, self._size = values, texts, size
        self._step = max(1, round(_STEP * size.share))
        self._queries = queries
        self._some = queries[: size.most_queries]
        self.clusters: list[int] = []

    def measured(self) -> dict[str, Any]:
        """Return figures by contender. For many queries, the figures of Extra-N are extrapolated from fewer queries.
        The engine's figures are never extrapolated.
        """
        points, size = self._size.points, self._size
        searches, visits, search_us = self._checked()
        cpu_s = cpu_in_turns(self._makers(), points, self._step, size.runs)
        memory = {name: memory_of(make, points, self._step) for name, make in self._makers().items()}
        figures = {
            "cpu_us": {name: spent_s / points * 1e6 for name, spent_s in cpu_s.items()},
            "bytes": {name: float(most) for name, (most, _) in memory.items()},
            "held_bytes": {name: float(held) for name, (_, held) in memory.items()},
            "searches": searches,
            "visits": visits,
            "search_us": search_us,
        }
        self._extrapolate(figures)
        return {"variation": round(variation(self.clusters), 1), "extra_n_queries": len(self._some), **figures}

    def _extrapolate(self, figures: Mapping[str, dict[str, float]]) -> None:
        """Estimate the figures of Extra-N for all queries from its figures for some queries. The cost of shared
        searches is the same for any number of queries.
        """
        share = len(self._queries) / len(self._some)
        once_us = figures["search_us"][EXTRA_N_SHARED]
        figures["cpu_us"][EXTRA_N_SHARED] = once_us + (figures["cpu_us"][EXTRA_N_SHARED] - once_us) * share
        for name, of_contenders in figures.items():
            of_contenders[EXTRA_N] *= share
            if name in {"bytes", "held_bytes", "visits"}:
                of_contenders[EXTRA_N_SHARED] *= share

    def _makers(self) -> dict[str, Make]:
        values, queries, some = self._values, self._queries, self._some
        return {
            OWN: lambda: Records(self._texts, queries),
            OWN_LABELS: lambda: Together(values, queries),
            ALONE: lambda: Alone(values, queries),
            EXTRA_N_SHARED: lambda: ExtraN(values, some, is_shared=True),
            EXTRA_N: lambda: ExtraN(values, some, is_shared=False),
        }

    def _checked(self) -> tuple[dict[str, float], dict[str, float], dict[str, float]]:
        """Check that all contenders find the same windows. Return, by contender, the number of searches, the number of
        visits, and the microseconds of searches per point. The check also warms the contenders up.
        """
        values, queries, some = self._values, self._queries, self._some
        asc_windows, own_some = Windows(), Windows()
        self._through(Records(self._texts, queries, asc_windows.take))
        own_some.found = {(place, end): found for (place, end), found in asc_windows.found.items() if place < len(some)}
        self.clusters = asc_windows.most_clusters()
        counted: dict[str, Callable[[Take], Together | ExtraN]] = {
            OWN_LABELS: lambda take: Together(values, queries, take, is_counted=True),
            ALONE: lambda take: Alone(values, queries, take, is_counted=True),
            EXTRA_N_SHARED: lambda take: ExtraN(values, some, take, is_shared=True),
            EXTRA_N: lambda take: ExtraN(values, some, take, is_shared=False),
        }
        searches: dict[str, float] = {}
        visits: dict[str, float] = {}
        search_us: dict[str, float] = {}
        for name, make in counted.items():
            theirs = Windows()
            contender = make(theirs.take)
            self._through(contender)
            (own_some if name in {EXTRA_N, EXTRA_N_SHARED} else asc_windows).check_same(name, theirs)
            searches[name], visits[name] = float(contender.searches), float(contender.visits)
            search_us[name] = contender.search_s / self._size.points * 1e6
        return searches, visits, search_us

    def _through(self, contender: Streaming) -> None:
        run_through(contender, self._size.points, self._step)


def _incremental(values: Floats, queries: Sequence[BenchQuery], size: PaperSize) -> tuple[dict[str, list[float]], int]:
    """Measure incdbscan for a few queries. Return one value per query for each figure, and the number of points that
    incdbscan labels differently. Return no figures if incdbscan is not installed.

    Incdbscan processes fewer points than the other contenders. Its searches and visits are extrapolated to all points,
    because its cost per record is constant.
    """
    if missing(INCDBSCAN) is not None:
        return {}, 0
    step, share = max(1, round(_STEP * size.share)), size.points / len(values)
    figures: dict[str, list[float]] = {name: [] for name in ("cpu_us", "bytes", "held_bytes", "searches", "visits")}
    # The first call is not measured, because it imports the package and fills caches.
    run_through(Incremental(values, queries[:1]), queries[0].window, step)
    for query in queries[: min(_INCREMENTAL, size.most_queries)]:
        start_s = time.process_time()
        run_through(Incremental(values, [query]), len(values), step)
        figures["cpu_us"].append((time.process_time() - start_s) / len(values) * 1e6)
    apart: list[int] = []
    for query in queries[: min(_TRACED, size.most_queries)]:
        windows = Windows()

        def take(place: int, end: int, labels: Any, windows: Windows = windows) -> None:
            apart.append(differing(INCDBSCAN, windows.found[place, end], labels))

        run_through(Together(values, [query], windows.take), len(values), step)
        counted = Incremental(values, [query], take, is_counted=True)
        run_through(counted, len(values), step)
        figures["searches"].append(counted.searches * share)
        figures["visits"].append(counted.visits * share)
        most, held = memory_of(partial(Incremental, values, [query]), len(values), step)
        figures["bytes"].append(float(most))
        figures["held_bytes"].append(float(held))
    return figures, sum(apart)
