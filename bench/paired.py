"""What two things measured side by side differ by, where single measurements differ by more."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

_NORMAL_95 = 1.96


@dataclass(frozen=True, slots=True)
class Shift:
    """An estimate, and the interval that holds the true value with 95 % confidence."""

    estimate: float
    low: float
    high: float


def shift_of(differences: Sequence[float]) -> Shift:
    """Where the differences of pairs are centred: the Hodges-Lehmann estimate, the median of the means of all two
    (and of each one), with the interval that Wilcoxon's signed-rank test gives.

    It asks no more of the differences than that they are symmetric: one that an accident on the machine has made
    twenty times as large counts no more than any other. Fewer than six give the whole range. Cost: n ** 2 / 2 means.

    >>> shift_of([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 700.0]).estimate
    4.0
    """
    values = np.asarray(differences, dtype=np.float64)
    count = len(values)
    first, second = np.triu_indices(count)
    means = np.sort((values[first] + values[second]) / 2)
    spread = _NORMAL_95 * math.sqrt(count * (count + 1) * (2 * count + 1) / 24)
    outside = max(0, math.floor(count * (count + 1) / 4 - spread) - 1)
    return Shift(float(np.median(means)), float(means[outside]), float(means[-1 - outside]))
