"""The comparison of a peer's labels with the engine's: equal label numbers, or equal clusters except for border points
and rounding.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from asc.operators.dbscan.chains import Labels

LEAST_VARIATION = 5.0
"""The least variation of a run. The variation is the ratio of the largest to the smallest number of clusters that a
query of the run finds.
"""

DIFFERING_MOST = 0.01
"""The largest share of core points that a peer with different rounding may label differently."""

Numbers = npt.NDArray[np.int32]


def check_equal(name: str, own: Labels, labels: npt.NDArray[np.int64] | Numbers) -> None:
    """Raise RuntimeError if the numbers in ``labels`` are not equal to the engine's label numbers in ``own``."""
    if not np.array_equal(own.labels, labels):
        differing = int(np.count_nonzero(own.labels != labels)) if len(own.labels) == len(labels) else len(labels)
        raise RuntimeError(f"{name}: {differing:,} of {len(own.labels):,} labels differ")


def differing(name: str, asc_labels: Labels, labels: npt.NDArray[np.int64] | Numbers) -> int:
    """Return the number of points that a peer labels differently, regardless of the numbers of its clusters.

    Each cluster of the peer is paired with at most one cluster of the engine; pairs with more common core points come
    first. Raises RuntimeError if more core points have different labels than rounding explains.
    """
    numbers = np.asarray(labels, dtype=np.int64)
    core = asc_labels.is_core
    pairs, counts = np.unique(np.stack([numbers[core], asc_labels.labels[core]]), axis=1, return_counts=True)
    standing, taken = np.full(int(numbers.max(initial=-1)) + 1, -2, dtype=np.int64), set()
    for place in np.argsort(-counts, kind="stable"):
        peer, label = int(pairs[0, place]), int(pairs[1, place])
        if peer >= 0 and standing[peer] == -2 and label not in taken:
            standing[peer] = label
            taken.add(label)
    renamed = np.full(len(numbers), -1, dtype=np.int64)
    renamed[numbers >= 0] = standing[numbers[numbers >= 0]]
    others = renamed != asc_labels.labels
    of_core = int(np.count_nonzero(others & core))
    if of_core > DIFFERING_MOST * max(1, int(np.count_nonzero(core))):
        raise RuntimeError(f"{name}: {of_core:,} of {int(np.count_nonzero(core)):,} core points are in other clusters")
    return int(np.count_nonzero(others))


def variation(clusters: Sequence[int]) -> float:
    """Return the ratio of the largest to the smallest number of clusters that a query finds. The smallest number counts
    as at least 1.

    >>> variation([3, 60, 12]), variation([0, 4])
    (20.0, 4.0)
    """
    return max(clusters) / max(1, min(clusters))


def check_variation(case: str, clusters: Sequence[int]) -> float:
    """Return the variation of a run: the ratio of the largest to the smallest number of clusters. Raise RuntimeError if
    the variation is too small, because equal labels prove little if all queries find similar clusters.
    """
    found = variation(clusters)
    if found < LEAST_VARIATION:
        counts = f"{min(clusters)} to {max(clusters)} clusters"
        raise RuntimeError(f"{case}: its queries find {counts}, which vary by less than {LEAST_VARIATION:.0f} times")
    return found
