"""The definition of DBSCAN queries, literally, over all pairs of points. Faster implementations give equal results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

NOISE = -1

Id = tuple[int, int]
"""The id of a cluster: the end of the window in which the cluster appeared, and its label in that window."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster of one window: the numbers that identify its points, and those of its core points."""

    points: frozenset[int]
    core: frozenset[int]


def neighbours(points: npt.NDArray[np.float64], eps: float) -> npt.NDArray[np.bool_]:
    """Return for each pair of points whether their squared differences, summed in the order of the attributes, are at
    most ``eps * eps``.
    """
    total = np.zeros((len(points), len(points)))
    with np.errstate(over="ignore", invalid="ignore"):
        for values in points.T:
            difference = values[:, np.newaxis] - values
            total += difference * difference
    near: npt.NDArray[np.bool_] = total <= np.float64(eps) * np.float64(eps)
    return near


def labels(
    points: npt.NDArray[np.float64], eps: float, min_samples: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.bool_]]:
    """Return the label of each point (the number of its cluster, or NOISE), and whether it is a core point."""
    near = neighbours(points, eps)
    core = near.sum(axis=1) >= min_samples
    point_labels = np.full(len(points), NOISE, dtype=np.int32)
    label = 0
    for first in np.flatnonzero(core):
        if point_labels[first] != NOISE:
            continue
        reached = [first]
        point_labels[first] = label
        while reached:
            connected = near[reached.pop()] & core & (point_labels == NOISE)
            point_labels[connected] = label
            reached += np.flatnonzero(connected).tolist()
        label += 1
    for border in np.flatnonzero(~core):
        reaching = point_labels[near[border] & core]
        point_labels[border] = reaching.min() if len(reaching) else NOISE
    return point_labels, core


def time_windows(
    times: npt.NDArray[np.int64], window: int, slide: int, watermark: int
) -> Iterator[tuple[int, int, npt.NDArray[np.int64]]]:
    """Yield the begin, the exclusive end and the point indices of each final window, from the first window with a point
    on. Of consecutive empty windows, yield only the first.
    """
    number, is_after_empty = (int(times.min()) - window) // slide if len(times) else 0, True
    while len(times) and number * slide + window <= watermark:
        begin = number * slide
        held = np.flatnonzero((times >= begin) & (times < begin + window))
        if len(held) or not is_after_empty:
            yield begin, begin + window, held
        is_after_empty = not len(held)
        number += 1


def count_windows(points: int, window: int, slide: int) -> Iterator[tuple[int, int, npt.NDArray[np.int64]]]:
    """Yield for each full window the numbers of its first and last point, and the indices of its points."""
    for begin in range(0, points - window + 1, slide):
        yield begin + 1, begin + window, np.arange(begin, begin + window)


def evolved(
    old: Mapping[Id, Cluster], new: Mapping[int, Cluster], end: int
) -> tuple[dict[int, Id], dict[int, list[Id]]]:
    """Return by label the id of each new cluster, and the ids of the old clusters to which the cluster is related."""
    common = {(old_id, label): len(old[old_id].core & new[label].core) for old_id in old for label in new}
    relations = {pair: core for pair, core in common.items() if core}
    for old_id in old.keys() - {pair[0] for pair in relations}:
        for label in new.keys() - {label for (_, label), core in common.items() if core}:
            relations[old_id, label] = len(old[old_id].points & new[label].points)
    relations = {pair: points for pair, points in relations.items() if points}
    ids: dict[int, Id] = {}
    for old_id, label in sorted(relations, key=lambda pair: (-relations[pair], pair)):
        if label not in ids and old_id not in ids.values():
            ids[label] = old_id
    related = {label: sorted(old_id for old_id, other in relations if other == label) for label in new}
    return {label: ids.get(label, (end, label)) for label in new}, related
