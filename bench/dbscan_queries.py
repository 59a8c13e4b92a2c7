"""Queries of the DBSCAN benchmark, drawn from ranges of their parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd

import numpy as np

Range = tuple[float, float] | float
"""The range of a parameter: its minimum and maximum, or its only value."""


@dataclass(frozen=True, slots=True)
class BenchQuery:
    """A query over a count window. Its n-th window has the ``window`` points that begin at ``n * slide``."""

    eps: float
    min_samples: int
    window: int
    slide: int

    def is_due(self, end: int) -> bool:
        """Return True if a window ends before point number ``end``.

        >>> [end for end in range(20) if BenchQuery(1.0, 2, 9, 5).is_due(end)]
        [9, 14, 19]
        """
        return end >= self.window and (end - self.window) % self.slide == 0


@dataclass(frozen=True, slots=True)
class Ranges:
    """The ranges from which the parameters of a group of queries are drawn.

    Windows and slides are multiples of ``step``, and no slide is longer than its window.
    """

    eps: Range
    min_samples: Range
    window: Range
    slide: Range
    step: int = 500

    def group(self, count: int, seed: int) -> list[BenchQuery]:
        """Return ``count`` queries. The same seed gives the same queries.

        >>> Ranges((0.1, 0.2), (2, 20), 1000, 500).group(2, 1) == Ranges((0.1, 0.2), (2, 20), 1000, 500).group(2, 1)
        True
        """
        random = np.random.default_rng(seed)
        queries = []
        for _ in range(count):
            eps = self.eps if isinstance(self.eps, (int, float)) else float(random.uniform(*self.eps))
            least = _whole(random, self.min_samples, 1)
            window = _whole(random, self.window, self.step)
            slide = min(_whole(random, self.slide, self.step), window)
            queries.append(BenchQuery(float(eps), least, window, slide))
        return queries

    def scaled(self, share: float) -> Ranges:
        """Return the ranges with windows and slides shortened to the given share."""
        step = max(1, round(self.step * share))
        return Ranges(self.eps, self.min_samples, _scaled(self.window, share), _scaled(self.slide, share), step)


def step_of(queries: Sequence[BenchQuery]) -> int:
    """Return the longest step such that every window of the queries ends at a multiple of the step.

    >>> step_of([BenchQuery(1.0, 2, 1500, 1000), BenchQuery(1.0, 2, 2000, 500)])
    500
    """
    return gcd(*(own for query in queries for own in (query.window, query.slide)))


def _whole(random: np.random.Generator, own: Range, step: int) -> int:
    if isinstance(own, (int, float)):
        return int(own)
    low, high = (-(-int(own[0]) // step), int(own[1]) // step)
    return int(random.integers(low, high + 1)) * step


def _scaled(own: Range, share: float) -> Range:
    if isinstance(own, (int, float)):
        return round(own * share)
    return round(own[0] * share), round(own[1] * share)
