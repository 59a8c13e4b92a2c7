"""The cost of near queries with many objects. The benchmark measures a tick of a near query, and compares its search
for pairs with shapely's tree of points.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import shapely
from tqdm import tqdm

from asc.operators.feed import Observation, Settings, Watermarks
from asc.operators.near.near_query import OP, NearQuery
from asc.operators.near.proximity import near_pairs
from asc.operators.near.ticks import Ticks
from asc.spatial.shape import EARTH_RADIUS_M, distance_sphere_m
from bench.machine import machine
from bench.result_file import write_result
from bench.timed import medians_in_turns

DISTANCE_M = 9_260.0
"""The distance of the near query: five nautical miles."""

_WEST, _SOUTH, _EAST, _NORTH = -10.0, 36.0, 30.0, 60.0
_SECOND = 1_000_000
_SELECTION, _TIME = "a41c9e0273d15b88", "3b9e01c75f1d"
_QUERY = NearQuery(
    *("close", "out", "n1", _TIME, (_SELECTION,), ("near", "apart")), DISTANCE_M, 30 * _SECOND, 10 * _SECOND
)
_SPEED_M_S = 250.0

Reals = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Size:
    """The size of the measurement: the numbers of objects, and the number of measured ticks. Each contender runs as
    many times as there are measured ticks.
    """

    objects: tuple[int, ...]
    ticks: int


FULL = Size((1_000, 10_000, 100_000), 5)
QUICK = Size((300,), 1)


def run(*, quick: bool, output_dir: Path) -> dict[str, Any]:
    """Measure everything, write ``near.json`` into the folder, and return the content of the file.

    The objects are over Europe. In each tick, every object is observed once and has moved as far as an aircraft flies.
    The time of a tick covers the operator's work from messages to outputs in one thread, and the reading and writing of
    its state. Raises RuntimeError if the k-d tree and shapely's tree find different pairs.
    """
    size = QUICK if quick else FULL
    result = {
        "benchmark": "near",
        "quick": quick,
        "machine": machine(),
        "shapely": shapely.__version__,
        "distance_m": DISTANCE_M,
        "results": [_measured(count, size.ticks) for count in tqdm(size.objects, leave=False, disable=None)],
    }
    write_result(output_dir, "near", result)
    return result


def table(result: dict[str, Any]) -> str:
    """Return the result as lines of text."""
    lines = [
        f"within {result['distance_m']:,.0f} m, over Europe; seconds, one thread",
        f"{'objects':>8}{'pairs':>10}{'told':>8}{'a tick':>9}{'messages':>10}{'state':>8}{'MB':>6}{'k-d tree':>10}"
        f"{'STRtree':>9}",
    ]
    for row in result["results"]:
        lines.append(
            f"{row['objects']:>8,}{row['pairs']:>10,}{row['told_a_tick']:>8,}{row['tick_s']:>9.3f}"
            f"{row['messages_s']:>10.3f}{row['state_s']:>8.3f}{row['state_bytes'] / 1e6:>6.1f}"
            f"{row['kd_tree_s']:>10.3f}{row['str_tree_s']:>9.3f}"
        )
    return "\n".join(lines)


def _measured(count: int, ticks: int) -> dict[str, Any]:
    random = np.random.default_rng(count)
    x, y = random.uniform(_WEST, _EAST, count), random.uniform(_SOUTH, _NORTH, count)
    course = random.uniform(0, 2 * np.pi, count)
    state = Ticks()
    list(state.read([Settings(OP, "source", False, 10 * count, (_QUERY.settings(),)).text()]))
    taken: dict[str, list[float]] = {"tick_s": [], "messages_s": [], "state_s": []}
    event_count = 0
    for tick in range(ticks + 1):
        texts = [
            Observation(
                OP, "n1", f"{i:06x}", (tick * 10 + 1) * _SECOND, (x[i], y[i]), 0, tick * count + i, (_SELECTION,)
            ).text()
            for i in range(count)
        ]
        start_s = time.perf_counter()
        list(state.read(texts))
        read = time.perf_counter()
        events = list(state.read([Watermarks({_TIME: (tick * 10 + 10) * _SECOND + 1}).text()]))
        ticked = time.perf_counter()
        content = state.to_bytes()
        state = Ticks.of_bytes(content)
        ended = time.perf_counter()
        if tick:
            # Exclude the first tick, because all near pairs are new in it, so that it has more outputs than later
            # ticks.
            event_count += len(events)
            for name, seconds in (
                ("messages_s", read - start_s),
                ("tick_s", ticked - read),
                ("state_s", ended - ticked),
            ):
                taken[name].append(seconds)
        moved = _SPEED_M_S * 10 / (EARTH_RADIUS_M * math.pi / 180)
        x, y = x + moved * np.sin(course) / np.cos(np.radians(y)), np.clip(y + moved * np.cos(course), -90, 90)
    medians = medians_in_turns(
        {"kd_tree_s": lambda: _by_kd_tree(x, y), "str_tree_s": lambda: _by_str_tree(x, y)}, ticks
    )
    pairs = {"k-d tree": _by_kd_tree(x, y), "STRtree": _by_str_tree(x, y)}
    if len(set(pairs.values())) != 1:
        raise RuntimeError(f"{count} objects: numbers of pairs differ: {pairs}")
    return {
        "objects": count,
        "pairs": pairs["k-d tree"],
        "told_a_tick": round(event_count / ticks),
        **{name: sorted(seconds)[len(seconds) // 2] for name, seconds in taken.items()},
        "state_bytes": len(content),
        **medians,
    }


def _by_kd_tree(x: Reals, y: Reals) -> int:
    found = near_pairs(x, y, DISTANCE_M, 1 << 40)
    assert found is not None
    return len(found)


def _by_str_tree(x: Reals, y: Reals) -> int:
    """Count the pairs with shapely's tree: find all points within a number of degrees, then compute the distance of
    each pair.

    The number of degrees is the length of ``DISTANCE_M`` in degrees of longitude at the northernmost point.
    """
    points: npt.NDArray[Any] = np.asarray(shapely.points(x, y))
    degrees = DISTANCE_M / (EARTH_RADIUS_M * math.pi / 180) / math.cos(math.radians(float(np.abs(y).max()))) * 1.001
    first, second = shapely.STRtree(points).query(points, predicate="dwithin", distance=degrees)
    first, second = first[first < second], second[first < second]
    low, high = np.radians(y[first]), np.radians(y[second])
    half = np.sin((high - low) / 2) ** 2
    half += np.cos(low) * np.cos(high) * np.sin(np.radians(x[second] - x[first]) / 2) ** 2
    far_m = 2 * EARTH_RADIUS_M * np.arcsin(np.sqrt(half))
    # For pairs whose distance differs from DISTANCE_M by less than a millimetre, the exact distance by Python's
    # ``math`` decides.
    doubtful = np.flatnonzero(np.abs(far_m - DISTANCE_M) < 1e-3)
    sure = int(np.count_nonzero(far_m[np.abs(far_m - DISTANCE_M) >= 1e-3] <= DISTANCE_M))
    places = ((x[first[i]], y[first[i]], x[second[i]], y[second[i]]) for i in doubtful)
    return sure + sum(distance_sphere_m(*map(float, place)) <= DISTANCE_M for place in places)
