"""The ways by which labels are computed, all of which have to agree, and the points that they are tried on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
from sklearn.cluster import DBSCAN

from asc.operators.dbscan import reference
from asc.operators.dbscan.cells import Cells, CellSetting, labels_by_cells
from asc.operators.dbscan.chains import Labels
from asc.operators.dbscan.labels import Setting, labelled, labels
from asc.operators.dbscan.neighbours import Neighbours

Floats = npt.NDArray[np.float64]
Method = Callable[[Floats, Sequence[Setting]], list[Labels]]


def _reference(points: Floats, settings: Sequence[Setting]) -> list[Labels]:
    found = []
    for own in settings:
        numbers, core = reference.labels(points[own.first :], own.radius, own.min_samples)
        found.append(Labels(numbers, core, int(numbers.max(initial=-1)) + 1))
    return found


def _cells(points: Floats, settings: Sequence[Setting]) -> list[Labels]:
    alone = [(Cells.of(points[own.first :], own.radius), CellSetting(own.radius, own.min_samples)) for own in settings]
    return [cells.labels(setting) for cells, setting in alone]


def _cells_together(points: Floats, settings: Sequence[Setting]) -> list[Labels]:
    """Cells without any pair: those of alike radii are shared, and the nearest points say what is core."""
    found = {}
    for first in {own.first for own in settings}:
        asked = {CellSetting(own.radius, own.min_samples) for own in settings if own.first == first}
        # Enough of them for the nearest points to be listed.
        more = {CellSetting(own.radius * factor, own.min_samples) for own in asked for factor in (0.9, 1.1, 1.2)}
        for setting, own in labels_by_cells(points[first:], [*(asked | more)]):
            found[Setting(setting.radius, setting.min_samples, first)] = own
    return [found[own] for own in settings]


def _alone(points: Floats, settings: Sequence[Setting]) -> list[Labels]:
    return [labels(points, [own])[0] for own in settings]


def _shared(points: Floats, settings: Sequence[Setting]) -> list[Labels]:
    """Beside many others, with which they share the ranks at which points become core."""
    more = [Setting(own.radius * 0.7, least, own.first) for own in settings for least in range(1, 6)]
    return labels(points, [*settings, *more])[: len(settings)]


def _kept(points: Floats, settings: Sequence[Setting]) -> list[Labels]:
    """Neighbours that were stored before, with older points that are no part of the window, and with some between."""
    radii = np.unique([own.radius for own in settings])
    others = points[::-3] + 0.25 * radii[0] if len(points) else points
    before, cut = len(others), len(points) // 3
    together = np.concatenate([others, points[:cut], others, points[cut:]])
    rows = np.concatenate([before + np.arange(cut), 2 * before + np.arange(cut, len(points))])
    neighbours = Neighbours.of(together[: before + cut], radii)
    for low, high in ((before + cut, 2 * before + cut), (2 * before + cut, len(together))):
        more = neighbours.extended(together[low:high])
        neighbours = Neighbours.of(together[:high], radii) if more is None else more
    found = dict(labelled(points, settings, neighbours, rows))
    return [found[place] for place in range(len(settings))]


METHODS: Mapping[str, Method] = {
    "together": labels,
    "alone": _alone,
    "shared": _shared,
    "kept": _kept,
    "cells": _cells,
    "cells together": _cells_together,
    "reference": _reference,
}


def by_scikit_learn(points: Floats, eps: float, min_samples: int) -> npt.NDArray[np.int64]:
    found: npt.NDArray[np.int64] = DBSCAN(eps=eps, min_samples=min_samples, algorithm="kd_tree").fit(points).labels_
    return found


def heaps(count: int, number: int = 20, *, seed: int = 0, attributes: int = 2) -> Floats:
    """Points of Gaussian heaps in a unit square, a tenth of them noise, in random order."""
    random = np.random.default_rng(seed)
    centres = random.random((number, attributes))
    own = centres[random.integers(0, number, count - count // 10)]
    together = [own + random.normal(0, 0.02, own.shape), random.random((count // 10, attributes))]
    found: Floats = random.permutation(np.concatenate(together))
    return found
