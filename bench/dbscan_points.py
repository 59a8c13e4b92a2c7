"""Points of the DBSCAN benchmark: recorded and simulated aircraft, and generated clusters."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow.csv

from workloads.aircraft import simulated

AIRCRAFT_FILE = Path("adsb", "adsb_switzerland.csv.gz")
EAST_SHARE = 0.68
"""The length of a degree of longitude over Switzerland, as a share of the length of a degree of latitude."""

_DURATION_S = 10_800
"""The length of the simulated reports in seconds."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class PointStream:
    """A stream of points float64[points, 2] in order of time, with the name of its source."""

    name: str
    values: Floats


def aircraft(folder: Path | None, count: int) -> PointStream:
    """Return positions of aircraft: recorded positions of the folder, or simulated positions if the folder has none.

    If there are fewer than ``count`` positions, the stream repeats them. A window that is shorter than a repetition
    contains no point twice.
    """
    file = None if folder is None else folder / AIRCRAFT_FILE
    if file is not None and file.is_file():
        table = pyarrow.csv.read_csv(file).sort_by("ts")
        longitude, latitude = (table[name].to_numpy() for name in ("longitude", "latitude"))
        name = "recorded aircraft"
    else:
        _, reports = simulated(min(1_500, max(50, count // 80)), duration_s=_DURATION_S)
        longitude, latitude, name = reports.longitude, reports.latitude, "simulated aircraft"
    values = np.column_stack([longitude * EAST_SHARE, latitude])
    values = values[np.isfinite(values).all(axis=1)]
    return PointStream(name, np.ascontiguousarray(values[np.arange(count) % len(values)]))


def heaps(count: int, number: int = 100, *, spread: float = 0.02, seed: int = 0) -> PointStream:
    """Return Gaussian heaps in a unit square in random order. A tenth of the points is uniform noise.

    >>> heaps(50, 3).values.shape
    (50, 2)
    """
    random = np.random.default_rng(seed)
    centres = random.random((number, 2))
    own = centres[random.integers(0, number, count - count // 10)]
    together = [own + random.normal(0, spread, own.shape), random.random((count // 10, 2))]
    return PointStream(f"{number} made heaps", random.permutation(np.concatenate(together)))
