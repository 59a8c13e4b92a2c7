"""Constraints: the set of values of one p-attribute that one conjunct admits."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

Key = Any
"""A value as a key: an int or bytes, as the key space of its type defines (``asc.keys.key_space``). All keys of one set
have the same type.
"""

Cut = tuple[Key, int]
"""A point between values: ``(c, 0)`` lies just before the constant c, ``(c, 1)`` just after it. Cuts sort as tuples."""

Interval = tuple[Cut | None, Cut | None]
"""The values between two cuts; None is minus infinity on the left and plus infinity on the right."""


@dataclass(frozen=True, slots=True)
class Constraint:
    """A union of intervals, open or closed at each end, and whether NULL is admitted.

    Invariant: the intervals are sorted and disjoint, do not touch, and none is empty. ``a <= 50`` is ``((None, (50,
    1)),)``, ``a < 30`` is ``((None, (30, 0)),)``, ``a = 5`` is ``(((5, 0), (5, 1)),)``. Combining two constraints takes
    time in proportion to the number of their intervals.

    >>> at_most_50 = Constraint(((None, (50, 1)),))
    >>> at_most_50.complement()
    Constraint(intervals=(((50, 1), None),), null=True)
    >>> at_most_50.intersect(Constraint((((30, 0), None),))).admits(50)
    True
    """

    intervals: tuple[Interval, ...]
    null: bool = False

    @property
    def is_empty(self) -> bool:
        return not self.intervals and not self.null

    @property
    def is_full(self) -> bool:
        return self.null and self.intervals == ((None, None),)

    def constants(self) -> tuple[Key, ...]:
        """Return the constraining constants: the distinct end points of the intervals, sorted."""
        return tuple(sorted({cut[0] for interval in self.intervals for cut in interval if cut is not None}))

    def admits(self, key: Key | None) -> bool:
        """Return True if the constraint admits a value. ``key``: the key of the value, None for NULL."""
        if key is None:
            return self.null
        for low, high in self.intervals:
            if (low is None or low <= (key, 0)) and (high is None or (key, 1) <= high):
                return True
        return False

    def complement(self) -> Constraint:
        """Return the constraint that admits exactly the values that this constraint does not admit; the same applies to
        NULL.
        """
        gaps: list[Interval] = []
        start: Cut | None = None
        open_start = True
        for low, high in self.intervals:
            if low is not None and (open_start or start is None or start < low):
                gaps.append((None if open_start else start, low))
            open_start, start = False, high
            if high is None:
                return Constraint(tuple(gaps), not self.null)
        gaps.append((None if open_start else start, None))
        return Constraint(tuple(gaps), not self.null)

    def intersect(self, other: Constraint) -> Constraint:
        """Return the constraint that admits exactly the values that both constraints admit."""
        common: list[Interval] = []
        i = j = 0
        while i < len(self.intervals) and j < len(other.intervals):
            (low_a, high_a), (low_b, high_b) = self.intervals[i], other.intervals[j]
            low = low_b if low_a is None or (low_b is not None and low_b > low_a) else low_a
            a_ends_first = high_b is None or (high_a is not None and high_a <= high_b)
            high = high_a if a_ends_first else high_b
            if low is None or high is None or low < high:
                common.append((low, high))
            if a_ends_first:
                i += 1
            else:
                j += 1
        return Constraint(tuple(common), self.null and other.null)

    def includes(self, other: Constraint) -> bool:
        """Return True if this constraint admits every value that the other constraint admits, including NULL.

        >>> Constraint(((None, (5, 0)), ((7, 0), None))).includes(Constraint((((1, 0), (2, 0)), ((7, 1), None))))
        True
        """
        if other.null and not self.null:
            return False
        i = 0
        for low, high in other.intervals:
            while i < len(self.intervals):
                _, end = self.intervals[i]
                if end is None or (high is not None and high <= end):
                    break
                i += 1
            else:
                return False
            start = self.intervals[i][0]
            if start is not None and (low is None or low < start):
                return False
        return True

    def union(self, other: Constraint) -> Constraint:
        """Return the constraint that admits exactly the values that at least one of the two constraints admits."""
        return Constraint(merged((*self.intervals, *other.intervals)), self.null or other.null)


def merged(intervals: Iterable[Interval]) -> tuple[Interval, ...]:
    """Return the union of any intervals as sorted, disjoint intervals that do not touch.

    >>> merged([((5, 0), (9, 0)), (None, (5, 0)), ((20, 0), (20, 1))])
    ((None, (9, 0)), ((20, 0), (20, 1)))
    """
    ordered = sorted(intervals, key=lambda interval: (interval[0] is not None, interval[0] or ()))
    result: list[Interval] = []
    for low, high in ordered:
        if result:
            last_low, last_high = result[-1]
            if last_high is None:
                break
            if low is None or low <= last_high:
                if high is None or high > last_high:
                    result[-1] = (last_low, high)
                continue
        result.append((low, high))
    return tuple(result)


EMPTY = Constraint((), False)
"""The constraint that admits no value, and not NULL."""
