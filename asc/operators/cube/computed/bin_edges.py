"""Bins: intervals of a number, which are groups of a cube. Each coarser level has half as many bins."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from asc.errors import CubeError
from asc.frozen import frozen
from asc.operators.cube.computed.bin_sample import BinSample, Floats, squares

BINS_MAX = 256
"""The largest number of bins of a dimension."""
NRMSE_GOAL, DEVIATIONS_GOAL = 0.025, 0.1
"""The largest errors of the bins that ``bins(x)`` chooses: as a share of the range, and in standard deviations."""
_DIGITS_MOST = 17
"""The number of decimal digits that distinguish any two doubles."""


@dataclass(frozen=True, slots=True)
class BinErrors:
    """The errors of bins over some values, if each value is replaced by the mean of the values in its bin.

    ``rmse``: the root of the mean squared error, in the unit of the values. ``nrmse``: this error divided by the range
    of the sample. ``rmse_sd``: this error divided by the standard deviation of the values.
    """

    rmse: float
    nrmse: float
    rmse_sd: float

    @staticmethod
    def of(rmse: float, least: float, greatest: float, deviation: float) -> BinErrors:
        """Return the errors for a given ``rmse``. ``least``, ``greatest``: the range of the sample. ``deviation``: the
        standard deviation of the values.
        """
        if not rmse:
            return BinErrors(0.0, 0.0, 0.0)
        # Halves of the ends, because their difference may be infinite.
        half_range = greatest / 2 - least / 2
        nrmse = rmse / 2 / half_range if half_range else math.inf
        return BinErrors(rmse, nrmse, rmse / deviation if deviation else math.inf)

    def plain(self) -> dict[str, float | None]:
        """Return the errors as a JSON object. An error that is infinite or NaN becomes null."""
        found = {"rmse": self.rmse, "nrmse": self.nrmse, "rmse_sd": self.rmse_sd}
        return {name: value if math.isfinite(value) else None for name, value in found.items()}

    @property
    def reaches_goals(self) -> bool:
        """Return whether ``nrmse`` and ``rmse_sd`` are small enough for the bins that ``bins(x)`` chooses."""
        return self.nrmse <= NRMSE_GOAL and self.rmse_sd <= DEVIATIONS_GOAL


@dataclass(frozen=True, eq=True)
class BinEdges:
    """Bins of a number, which contain their lower edges and not their upper edges.

    ``edges``: the inner edges, ascending, one fewer than bins; the number of bins is a power of two. The first bin has
    no lower bound and the last bin no upper bound, so that each number is in exactly one bin. NaN is in the last bin,
    because NaN is the greatest number in Spark's order. A bin between two equal edges is empty.

    >>> BinEdges((1.0, 2.5, 7.0)).lows(2).tolist()
    [-inf, 2.5]
    """

    edges: tuple[float, ...]

    @staticmethod
    def parse(plain: object, what: str = "edges") -> BinEdges:
        """Return the bins with the edges in a JSON list. Raise CubeError if the list is invalid. ``what``: its name in
        the error.
        """
        if not isinstance(plain, Sequence) or isinstance(plain, str):
            raise CubeError(what, plain, "is no list: give ascending numbers, one less than bins")
        check_count(len(plain) + 1, what)
        for edge in plain:
            if isinstance(edge, bool) or not isinstance(edge, (int, float)) or not math.isfinite(edge):
                raise CubeError(what, edge, "is no finite number: give ascending numbers")
        edges = tuple(float(edge) + 0.0 for edge in plain)
        for before, edge in pairwise(edges):
            if before > edge:
                raise CubeError(what, edge, f"is less than the edge before it, {before}: give ascending numbers")
        return BinEdges(edges)

    @staticmethod
    def of(sample: BinSample, count: int) -> BinEdges:
        """Return ``count`` bins such that the cube root of the density of a sample has the same integral in each bin.

        Each edge lies between two distinct values of the sample, and is the shortest decimal number there. If several
        edges would lie in one gap between two values, the gap gets one edge, and the other edges divide the remaining
        values. If there are at most as many distinct values as bins, each value has a separate bin.
        """
        different = sample.different
        if len(different) == 1:
            return BinEdges((float(different[0]),) * (count - 1))
        gaps = _gaps(sample.gap_weights(), count)
        found = [shortest_between(float(different[gap]), float(different[gap + 1])) for gap in gaps.tolist()]
        return BinEdges(tuple(found))

    @staticmethod
    def fewest(sample: BinSample) -> BinEdges:
        """Return the smallest number of bins, a power of two from 2 to BINS_MAX, whose errors over a sample reach both
        goals.

        If no number of bins reaches the goals, return BINS_MAX bins.
        """
        count = 2
        while True:
            found = BinEdges.of(sample, count)
            if count == BINS_MAX or found.errors(sample).reaches_goals:
                return found
            count *= 2

    @property
    def count(self) -> int:
        """Return the number of bins."""
        return len(self.edges) + 1

    @cached_property
    def array(self) -> Floats:
        """Return the inner edges as float64[bins - 1], not writeable."""
        return frozen(np.array(self.edges, dtype=np.float64))

    def edges_of(self, count: int) -> Floats:
        """Return the inner edges of the level with ``count`` bins. Each of these bins unites equally many of the finest
        bins.
        """
        step = self.count // count
        return self.array[step - 1 :: step]

    def plain(self) -> list[float]:
        """Return the inner edges as a JSON list."""
        return list(self.edges)

    def codes(self, count: int) -> tuple[Floats, npt.NDArray[np.int32]]:
        """Return the distinct lower edges of the level with ``count`` bins, ascending, and the code of each of the
        finest bins. The code of a bin is the index of its lower edge among the distinct edges, plus 1.
        """
        lows = self.lows(count)
        is_first = np.append(True, lows[1:] > lows[:-1])
        ranks = np.cumsum(is_first, dtype=np.int32)
        return lows[is_first], frozen(np.repeat(ranks, self.count // count))

    def lows(self, count: int) -> Floats:
        """Return the lower edge of each bin of the level with ``count`` bins; the first edge is minus infinity."""
        return np.concatenate(([-np.inf], self.edges_of(count)))

    def errors(self, sample: BinSample) -> BinErrors:
        """Return the errors of the bins over a sample, which need not be the sample from which the edges
        were computed.
        """
        scaled = sample.scaled()
        total = math.fsum(
            squares(scaled[first:end]) for first, end in self._parts(sample) if scaled[first] < scaled[end - 1]
        )
        rmse = math.ldexp(math.sqrt(total / len(scaled)), sample.power)
        ends = float(sample.different[0]), float(sample.different[-1])
        return BinErrors.of(rmse, *ends, math.ldexp(sample.deviation(), sample.power))

    def _parts(self, sample: BinSample) -> Iterator[tuple[int, int]]:
        """Yield for each bin that is not empty the index of its first value in the sample, and the end."""
        ends = [*np.searchsorted(sample.values, self.array, side="left").tolist(), len(sample.values)]
        first = 0
        for end in ends:
            if end > first:
                yield first, end
                first = end


def levels_of(count: int) -> tuple[int, ...]:
    """Return the number of bins of each level of a hierarchy, from coarse to fine.

    >>> levels_of(16)
    (2, 4, 8, 16)
    """
    return tuple(1 << power for power in range(1, count.bit_length()))


def check_count(count: int, what: str) -> None:
    """Raise CubeError if a number of bins is not a power of two from 2 to BINS_MAX. ``what``: the name of the number in
    the error.
    """
    if count < 2 or count > BINS_MAX or count & (count - 1):
        raise CubeError(what, count, f"is no number of bins: give a power of two from 2 to {BINS_MAX}")


def shortest_between(low: float, high: float) -> float:
    """Return a decimal number with few digits that is greater than ``low`` and at most ``high``.

    >>> shortest_between(12.4837, 12.5102), shortest_between(3.0, 4.0), shortest_between(-0.1, 0.0)
    (12.5, 4.0, -0.05)
    """
    middle = low / 2 + high / 2
    for digits in range(1, _DIGITS_MOST):
        found = float(f"{middle:.{digits}g}")
        if low < found <= high:
            return found + 0.0
    return high


def _gaps(weights: Floats, count: int) -> npt.NDArray[np.int64]:
    """Return the index of the gap in which each inner edge of ``count`` bins lies, ascending. ``weights``: the weight
    of each gap; at least one gap.
    """
    numbers = np.arange(count - 1)
    last = len(weights) - 1
    if len(weights) < count:
        # There are fewer gaps than edges are needed: each gap has an edge, and some gaps have several.
        return numbers * (last + 1) // (count - 1)
    share = _share(weights, count)
    ends = np.cumsum(np.minimum(weights, share))
    gaps = np.searchsorted(ends, (numbers + 1) * share, side="left")
    # Only rounding puts two edges into one gap. The next two lines move the later edge to the next gap.
    gaps = np.maximum.accumulate(gaps - numbers) + numbers
    found = np.minimum(gaps, last - (count - 2) + numbers)
    return _with_all(found, np.flatnonzero(weights > share))


def _with_all(gaps: npt.NDArray[np.int64], large: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the gaps with all ``large`` gaps among them. An edge at the end of a large gap may have been assigned to
    the neighbouring gap; then the large gap replaces the nearest gap that is not large.
    """
    chosen = gaps.tolist()
    needed = set(large.tolist())
    for gap in sorted(needed - set(chosen)):
        others = [(abs(own - gap), place) for place, own in enumerate(chosen) if own not in needed]
        chosen[min(others)[1]] = gap
    return np.array(sorted(chosen), dtype=np.int64)


def _share(weights: Floats, count: int) -> float:
    """Return the weight of one bin. A gap whose weight exceeds the weight of a bin counts as one bin, and the other
    weights fill the other bins.
    """
    descending = np.sort(weights)[::-1]
    rest = np.cumsum(descending[::-1])[::-1]
    for large in range(count):
        share = float(rest[large]) / (count - large)
        if descending[large] <= share:
            return share
    return float(descending[count - 1])
