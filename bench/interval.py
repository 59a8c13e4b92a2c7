"""The 95 % confidence interval of a mean, from a few independent values."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

CONFIDENCE = 0.95

_BISECTIONS = 100


@dataclass(frozen=True, slots=True)
class Interval:
    """The mean of some independent values and Student's interval around it. For a single value, both ends equal the
    value.

    Tables, plots and verdicts all use this interval, so they cannot contradict each other.
    """

    mean: float
    low: float
    high: float

    @staticmethod
    def of(values: Sequence[float]) -> Interval:
        """Return the interval of several values, one per seed: figures, differences or ratios.

        >>> Interval.of([1.0, 2.0, 3.0]).rounded(2)
        '2.00 ± 2.48'
        """
        mean, count = statistics.fmean(values), len(values)
        if count < 2:
            return Interval(mean, mean, mean)
        half = student_quantile(count - 1) * statistics.stdev(values) / math.sqrt(count)
        return Interval(mean, mean - half, mean + half)

    @property
    def half(self) -> float:
        """Half the width of the interval: the distance from the mean to either end."""
        return self.high - self.mean

    def __str__(self) -> str:
        return self.rounded(2)

    def rounded(self, digits: int) -> str:
        """Format the mean and half of the interval's width, as in the tables."""
        return f"{self.mean:.{digits}f} ± {self.half:.{digits}f}"


def student_quantile(freedom: int, confidence: float = CONFIDENCE) -> float:
    """Return the bound b for which ``confidence`` of Student's distribution lies between -b and b.

    The distribution has ``freedom`` degrees of freedom.

    >>> round(student_quantile(19), 3)
    2.093
    """
    low, high = 0.0, 1.0
    while _within(high, freedom) < confidence:
        high *= 2
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, freedom) < confidence else (low, middle)
    return high


def _within(bound: float, freedom: int) -> float:
    """Return the share of Student's distribution between -``bound`` and ``bound``.

    The computation is the finite series for integer degrees of freedom.
    """
    angle = math.atan(bound / math.sqrt(freedom))
    cosine = math.cos(angle)
    is_odd = freedom % 2
    term, total = (cosine, 0.0) if is_odd else (1.0, 0.0)
    for power in range(1 + is_odd, freedom, 2):
        total += term
        term *= cosine**2 * power / (power + 1)
    if is_odd:
        return 2 / math.pi * (angle + math.sin(angle) * total)
    return math.sin(angle) * total
