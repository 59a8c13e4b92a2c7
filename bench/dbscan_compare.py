"""Comparison of labels: number for number, or as far as a peer's rule permits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from asc.operators.dbscan.chains import Labels

LEAST_VARIATION = 5.0
"""The least ratio of the most to the fewest clusters of the queries of a run."""

DIFFERING_MOST = 0.01
"""The largest share of core points that a peer with other rounding may label otherwise."""

Numbers = npt.NDArray[np.int32]


def check_equal(name: str, own: Labels, labels: npt.NDArray[np.int64] | Numbers) -> None:
    """Raise RuntimeError where labels are not ours, number for number."""
    if not np.array_equal(own.labels, labels):
        differing = int(np.count_nonzero(own.labels != labels)) if len(own.labels) == len(labels) else len(labels)
        raise RuntimeError(f"{name}: {differing:,} of {len(own.labels):,} labels differ")


def differing(name: str, own: Labels, labels: npt.NDArray[np.int64] | Numbers) -> int:
    """Count the points that a peer labels otherwise, whatever numbers its clusters have.

    Each of its clusters stands for the one of ours that most of its core points are in, and each of ours once.
    RuntimeError where that leaves more core points than rounding explains.
    """
    numbers = np.asarray(labels, dtype=np.int64)
    core = own.is_core
    pairs, counts = np.unique(np.stack([numbers[core], own.labels[core]]), axis=1, return_counts=True)
    standing, taken = np.full(int(numbers.max(initial=-1)) + 1, -2, dtype=np.int64), set()
    for place in np.argsort(-counts, kind="stable"):
        peer, label = int(pairs[0, place]), int(pairs[1, place])
        if peer >= 0 and standing[peer] == -2 and label not in taken:
            standing[peer] = label
            taken.add(label)
    renamed = np.full(len(numbers), -1, dtype=np.int64)
    renamed[numbers >= 0] = standing[numbers[numbers >= 0]]
    others = renamed != own.labels
    of_core = int(np.count_nonzero(others & core))
    if of_core > DIFFERING_MOST * max(1, int(np.count_nonzero(core))):
        raise RuntimeError(f"{name}: {of_core:,} of {int(np.count_nonzero(core)):,} core points are in other clusters")
    return int(np.count_nonzero(others))


def variation(clusters: Sequence[int]) -> float:
    """Return how many times as many clusters the query with the most has as the one with the fewest, at least 1 each.

    >>> variation([3, 60, 12]), variation([0, 4])
    (20.0, 4.0)
    """
    return max(clusters) / max(1, min(clusters))


def check_variation(case: str, clusters: Sequence[int]) -> float:
    """Return the variation of a run's queries; RuntimeError where they find too much alike to say anything."""
    found = variation(clusters)
    if found < LEAST_VARIATION:
        counts = f"{min(clusters)} to {max(clusters)} clusters"
        raise RuntimeError(f"{case}: its queries find {counts}, which vary by less than {LEAST_VARIATION:.0f} times")
    return found
