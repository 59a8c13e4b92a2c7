"""Part ``ratios`` of the DBSCAN benchmark: the engine's cost compared with scikit-learn, dbscan, hdbscan
and incdbscan.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from asc.operators.dbscan.chains import Labels
from asc.operators.dbscan.labels import Setting, labels
from asc.operators.dbscan.points import Floats
from bench.dbscan_compare import check_equal, check_variation, differing
from bench.dbscan_goals import EXTRA_N, HDBSCAN, SKLEARN, Figure
from bench.dbscan_own import Records, Together, observation_texts
from bench.dbscan_peers import PACKAGES, Peer, hdbscan_cuts, missing, peers
from bench.dbscan_points import aircraft, heaps
from bench.dbscan_queries import BenchQuery, Ranges
from bench.dbscan_sizes import RatioSize
from bench.dbscan_turns import Windows, run_through, slides

NAMES: Mapping[str, str] = {**PACKAGES, SKLEARN: "sklearn", EXTRA_N: "extra-n"}
"""The name that each rival has within the names of goals."""


def many(key: str, size: RatioSize, share: float, eps: tuple[float, float], data: Path | None) -> dict[str, Any]:
    """Measure the processor time of a slide for many different queries, from points to labels, and the time of peers.

    Windows are 20 to 100 % of the largest window, and each slide is a tenth of the largest window. Peers run a sample
    of the queries, which covers all sizes of windows. Their times are extrapolated to all queries.
    """
    largest = round(10_000 * size.share * share)
    slide = max(1, largest // 10)
    ranges = Ranges(eps, (2, 30), (largest // 5, largest), slide, slide)
    queries = ranges.group(size.queries, 1)
    some = _some(queries, size.peer_queries)
    begin = largest - slide
    points = begin + (size.runs + 1) * slide
    results = []
    for stream in (aircraft(data, points), heaps(points)):
        windows, clusters = Windows(), [0] * len(queries)

        def take(
            place: int, end: int, labels: Labels, windows: Windows = windows, clusters: list[int] = clusters
        ) -> None:
            clusters[place] = max(clusters[place], labels.clusters)
            # Copying the labels of all windows would take time, so only some are copied.
            if place in some:
                windows.take(place, end, labels)

        contender = Together(stream.values, queries, take)
        run_through(contender, begin, slide)
        seconds: dict[str, list[float]] = {"asc": []}
        apart: dict[str, int] = {}
        for turn in range(size.runs + 1):
            low = begin + turn * slide
            windows.found.clear()
            spent_s = next(slides(contender, low, slide, 1))
            if not turn:
                # The first slide is not measured, because it fills the caches of all contenders.
                _warm(stream.values[low : low + slide], queries[0])
                continue
            seconds["asc"].append(spent_s)
            for peer in peers():
                spent_s, others = _peer_slide(peer, stream.values, low + slide, some, windows)
                seconds.setdefault(peer.name, []).append(spent_s * len(queries) / len(some))
                apart[peer.name] = apart.get(peer.name, 0) + others
        varied = check_variation(f"{key}, {stream.name}", clusters)
        results.append(
            {
                **{"stream": stream.name, "queries": len(queries), "window": largest, "slide": slide},
                **{"peer_queries": len(some), "variation": round(varied, 1), "differing": apart},
                "slide_s": {name: round(statistics.median(own), 5) for name, own in seconds.items()},
            }
        )
    return {"key": key, "runs": size.runs, "results": results}


def _warm(points: Floats, query: BenchQuery) -> None:
    for peer in peers():
        peer.labels(points, query.eps, query.min_samples)


def _some(queries: Sequence[BenchQuery], count: int) -> dict[int, BenchQuery]:
    """Return a sample of ``count`` queries by their index in ``queries``. Sort the queries by window and eps, and
    select them at equal distances, so that the sample covers all sizes of windows.
    """
    order = sorted(range(len(queries)), key=lambda place: (queries[place].window, queries[place].eps))
    chosen = [order[len(order) * number // count] for number in range(min(count, len(order)))]
    return {place: queries[place] for place in chosen}


def _peer_slide(
    peer: Peer, values: Floats, end: int, some: Mapping[int, BenchQuery], windows: Windows
) -> tuple[float, int]:
    """Run a peer for the queries ``some``, on their windows that end at ``end``. Return the processor time, and the
    number of points that the peer labels differently from ``windows``.
    """
    spent_s, others = 0.0, 0
    for place, query in some.items():
        window = values[end - query.window : end]
        start_s = time.process_time()
        found = peer.labels(window, query.eps, query.min_samples)
        spent_s += time.process_time() - start_s
        others += _compared(peer, windows.found[place, end], found)
    return spent_s, others


def _compared(peer: Peer, own: Labels, found: Any) -> int:
    if peer.is_exact:
        check_equal(peer.name, own, found)
        return 0
    return differing(peer.name, own, found)


def settings(size: RatioSize) -> dict[str, Any]:
    """Measure the processor time to label one window for many settings, and the time of peers."""
    stream = heaps(round(100_000 * size.share))
    radii = np.linspace(0.002, 0.02, 10).tolist()
    asked = [Setting(radius, least) for least in range(2, 31) for radius in radii]
    labels(stream.values[:1_000], asked[:20])
    _warm(stream.values[:1_000], BenchQuery(radii[0], 5, 1_000, 1_000))
    if missing(HDBSCAN) is None:
        hdbscan_cuts(stream.values[:1_000], 5, radii[:1])
    some = [asked[len(asked) * number // size.peer_queries] for number in range(size.peer_queries)]
    seconds: dict[str, list[float]] = {"asc": []}
    apart: dict[str, int] = {}
    for _ in range(size.runs):
        start_s = time.process_time()
        labels_by_setting = dict(zip(asked, labels(stream.values, asked), strict=True))
        seconds["asc"].append(time.process_time() - start_s)
        for peer in peers():
            spent_s = 0.0
            for setting in some:
                start_s = time.process_time()
                theirs = peer.labels(stream.values, setting.radius, setting.min_samples)
                spent_s += time.process_time() - start_s
                apart[peer.name] = apart.get(peer.name, 0) + _compared(peer, labels_by_setting[setting], theirs)
            seconds.setdefault(peer.name, []).append(spent_s * len(asked) / len(some))
        if missing(HDBSCAN) is None:
            spent_s, others = _hierarchies(stream.values, radii, labels_by_setting)
            seconds.setdefault(HDBSCAN, []).append(spent_s)
            apart[HDBSCAN] = apart.get(HDBSCAN, 0) + others
    varied = check_variation("settings", [own.clusters for own in labels_by_setting.values()])
    median = {name: round(statistics.median(own), 4) for name, own in seconds.items()}
    own = {"stream": stream.name, "points": len(stream.values), "settings": len(asked), "peer_queries": len(some)}
    return {
        "key": "settings",
        "results": [{**own, "variation": round(varied, 1), "differing": apart, "slide_s": median}],
    }


def _hierarchies(
    points: Floats, radii: Sequence[float], labels_by_setting: Mapping[Setting, Labels]
) -> tuple[float, int]:
    """Measure hdbscan, which needs one tree for each of the 29 values of min_samples. Return the processor time of all
    trees, extrapolated from two trees. Also return the number of core points that hdbscan labels differently in these
    two trees.
    """
    spent_s, others, asked = 0.0, 0, (5, 20)
    for least in asked:
        start_s = time.process_time()
        cuts = hdbscan_cuts(points, least, radii)
        spent_s += time.process_time() - start_s
        for radius, cut in zip(radii, cuts, strict=True):
            own = labels_by_setting[Setting(radius, least)]
            # HDBSCAN has no border points, and makes each point that is not core a separate cluster.
            core = own.is_core
            others += differing(HDBSCAN, Labels(own.labels[core], core[core], own.clusters), cut[core])
    return spent_s * 29 / len(asked), others


def single(key: str, size: RatioSize, neighbours: int, data: Path | None) -> dict[str, Any]:
    """Measure the processor time of a slide of one query, from messages to records, and the time of peers to label the
    window.

    ``neighbours``: the number of neighbours that eps gives a point of generated heaps. With 0, the points are aircraft,
    and eps is fixed.
    """
    window = round(10_000 * size.share)
    slide = window // 10
    count = window + (size.runs + 1) * slide
    stream = heaps(count) if neighbours else aircraft(data, count)
    eps = _radius(stream.values[:window], neighbours) if neighbours else 0.02
    query = BenchQuery(eps, 10, window, slide)
    windows = Windows()
    contender = Records(observation_texts(stream.values), [query], windows.take)
    alone = Together(stream.values, [query])
    run_through(contender, window, slide)
    run_through(alone, window, slide)
    _warm(stream.values[:slide], query)
    seconds: dict[str, list[float]] = {"asc": [], "asc, labels alone": []}
    apart: dict[str, int] = {}
    for low in range(window, window + size.runs * slide, slide):
        seconds["asc"] += slides(contender, low, slide, 1)
        seconds["asc, labels alone"] += slides(alone, low, slide, 1)
        for peer in peers():
            spent_s, others = _peer_slide(peer, stream.values, low + slide, {0: query}, windows)
            seconds.setdefault(peer.name, []).append(spent_s)
            apart[peer.name] = apart.get(peer.name, 0) + others
    shown = {"stream": stream.name, "window": window, "slide": slide, "eps": round(eps, 6), "differing": apart}
    median = {name: round(statistics.median(each), 6) for name, each in seconds.items()}
    return {"key": key, "results": [{**shown, "records": contender.records, "slide_s": median}]}


def _radius(points: Floats, neighbours: int) -> float:
    """Return the radius within which a typical point has ``neighbours`` neighbours: the median of these radii over
    every fiftieth point.
    """
    distances = [np.sort(np.hypot(*(points - points[row]).T))[neighbours - 1] for row in range(0, len(points), 50)]
    return float(np.median(distances))


def ratios_of(row: Mapping[str, Any]) -> Iterator[tuple[str, Figure]]:
    """Yield the ratios of a row, each with the name of its goal. If a row has several streams, yield the lowest ratio
    of the streams.
    """
    results: list[Any] = row["results"]
    for peer, name in NAMES.items():
        own = [each["slide_s"] for each in results]
        if all(peer in each for each in own):
            yield f"{row['key']}-{name}", min(each[peer] / each["asc"] for each in own)
