"""Samples of a number, from which the edges of bins are computed. Equal samples have equal edges on every machine.

The code uses only operations that IEEE 754 rounds exactly, in a fixed order. The cube root of the C library is not
among them, so this module computes it by Newton's method.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from asc.errors import CubeError
from asc.frozen import frozen

Floats = npt.NDArray[np.float64]

NO_SAMPLE_REMEDY = (
    "publish records that have some, or give a file of records with --calibrate FILE; the API also takes edges, as in "
    "bins(x, 4, [10, 20, 30])"
)
_ROOT_STEPS = 6
"""The number of steps of Newton's method for a cube root. The start is within 13 %, and each step doubles the correct
digits.
"""


@dataclass(frozen=True, slots=True, eq=False)
class BinSample:
    """The finite values of a sample.

    ``values`` float64[n], not writeable: the values, at least one, ascending, with duplicates. ``different``: the
    distinct values. ``counts``: how often each distinct value occurs. ``power``: the values divided by ``2**power``
    have magnitudes of at most 1, so that no difference and no square of them overflows.
    """

    values: Floats
    different: Floats
    counts: npt.NDArray[np.int64]
    power: int

    @staticmethod
    def of(values: Floats, what: str = "values") -> BinSample:
        """Return the sample of ``values``; NaN and infinities are excluded. Raise CubeError if no value is left.

        ``what``: the name of the values in the error. Cost: a sort.
        """
        finite = np.sort(values[np.isfinite(values)]) + 0.0
        if not len(finite):
            raise CubeError("dimension", what, f"has no finite number in the sample: {NO_SAMPLE_REMEDY}")
        different, counts = np.unique(finite, return_counts=True)
        power = int(np.frexp(np.maximum(-finite[0], finite[-1]))[1])
        return BinSample(frozen(finite), frozen(different), frozen(counts.astype(np.int64)), power)

    def scaled(self) -> Floats:
        """Return all values divided by ``2**power``."""
        found: Floats = np.ldexp(self.values, -self.power)
        return found

    def gap_weights(self) -> Floats:
        """Return for each gap between two successive distinct values the integral of the cube root of the density.

        In a gap, the density is the mean of the counts of its two values, divided by the length of the gap. So the
        integral is the cube root of this mean times the cube root of the squared length.
        """
        lengths: Floats = np.diff(np.ldexp(self.different, -self.power))
        roots = cube_roots(lengths)
        numbers: Floats = ((self.counts[:-1] + self.counts[1:]) * 0.5).astype(np.float64)
        return cube_roots(numbers) * roots * roots

    def deviation(self) -> float:
        """Return the standard deviation of the values divided by ``2**power``, with their number as the divisor."""
        return math.sqrt(squares(self.scaled()) / len(self.values))


def squares(values: Floats) -> float:
    """Return the sum of the squared deviations of values from their mean. There is at least one value.

    >>> squares(np.array([1.0, 2.0, 3.0]))
    2.0
    """
    deviations = values - math.fsum(values) / len(values)
    return math.fsum(deviations * deviations)


def cube_roots(values: Floats) -> Floats:
    """Return the cube roots of numbers that are not negative, equal on every machine, within 2 ulp.

    >>> cube_roots(np.array([0.0, 27.0, 1e-300])).tolist()
    [0.0, 3.0, 1e-100]
    """
    fractions, powers = np.frexp(values)
    thirds = -(-powers // 3)
    # Scale each number to between 1/8 and 1, where the line 0.45 + 0.57 x is within 13 % of the cube root.
    reduced = np.ldexp(fractions, powers - 3 * thirds)
    roots = 0.45 + 0.57 * reduced
    for _ in range(_ROOT_STEPS):
        roots = (roots + roots + reduced / (roots * roots)) / 3.0
    found: Floats = np.ldexp(np.where(values == 0.0, 0.0, roots), thirds)
    return found
