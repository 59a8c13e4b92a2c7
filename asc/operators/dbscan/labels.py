"""Labels: the clusters of ordered points, for many settings (radius, min_samples and first point) at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from asc.operators.dbscan.cells import CellSetting, labels_by_cells
from asc.operators.dbscan.chains import Labels, Step, WindowPairs, chains_of, grown
from asc.operators.dbscan.neighbours import Neighbours
from asc.operators.dbscan.points import Floats, Ints


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting of one window: the radius, min_samples, and the first point. The window ends with the last point."""

    radius: float
    min_samples: int
    first: int = 0


def labels(points: Floats, settings: Sequence[Setting]) -> list[Labels]:
    """Return the clusters of points in order, float64[points, attributes], for each setting.

    >>> points = np.array([[0.0], [1.0], [2.0], [9.0]])
    >>> [own.labels.tolist() for own in labels(points, [Setting(1.0, 2), Setting(1.0, 3), Setting(1.0, 1, 2)])]
    [[0, 0, 0, -1], [0, 0, 0, -1], [0, 1]]
    """
    radii = np.unique(np.array([own.radius for own in settings], dtype=np.float64))
    neighbours = Neighbours.of(points, radii)
    found = dict(labelled(points, settings, neighbours, np.arange(len(points))))
    return [found[place] for place in range(len(settings))]


def labelled(
    points: Floats, settings: Sequence[Setting], neighbours: Neighbours, rows: Ints
) -> Iterator[tuple[int, Labels]]:
    """Yield for each setting its index and the clusters of the points, in any order. Equal settings are computed once.

    ``rows``: the indices of the points in ``neighbours``. If ``neighbours`` does not have the radius of a setting, the
    clusters are computed by cells.
    """
    places: dict[Setting, list[int]] = {}
    for place, setting in enumerate(settings):
        bounded = Setting(setting.radius, min(setting.min_samples, len(points) + 1), setting.first)
        places.setdefault(bounded, []).append(place)
    ranks = {setting: neighbours.rank(setting.radius) for setting in places}
    stored = [(setting, rank) for setting, rank in ranks.items() if rank is not None and setting.first < len(points)]
    for setting, clusters in _by_pairs(stored, neighbours, rows):
        yield from ((place, clusters) for place in places[setting])
    others: dict[int, list[CellSetting]] = {}
    for setting, rank in ranks.items():
        if rank is None or setting.first >= len(points):
            others.setdefault(setting.first, []).append(CellSetting(setting.radius, setting.min_samples))
    for first, own in others.items():
        for asked, clusters in labels_by_cells(points[first:], own):
            yield from ((place, clusters) for place in places[Setting(asked.radius, asked.min_samples, first)])


def _by_pairs(
    stored: Sequence[tuple[Setting, int]], neighbours: Neighbours, rows: Ints
) -> Iterator[tuple[Setting, Labels]]:
    if not stored:
        return
    first = min(setting.first for setting, _ in stored)
    used = np.unique(np.array([rank for _, rank in stored], dtype=np.int64))
    pairs = WindowPairs.of(neighbours, rows[first:], used)
    own_ranks = np.searchsorted(used, [rank for _, rank in stored]).tolist()
    steps = [
        Step(rank, setting.min_samples, setting.first - first)
        for rank, (setting, _) in zip(own_ranks, stored, strict=True)
    ]
    pairs = pairs.with_core_ranks(steps)
    for chain in chains_of(steps):
        for place, found in zip(chain, grown(pairs, [steps[place] for place in chain]), strict=True):
            yield stored[place][0], found
