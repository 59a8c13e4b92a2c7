"""The points of a time series: intervals of equal length that consist of whole panes of views and bands."""

from __future__ import annotations

from dataclasses import dataclass
from math import lcm

from asc.operators.cube.lattice import Lattice


@dataclass(frozen=True, slots=True)
class Points:
    """Successive points. ``first``: the number of the first pane of the first point. ``panes``: the number of panes of
    each point. ``count``: the number of points. The first and the last point may extend beyond the interval of the
    series, where there are no cells.
    """

    first: int
    panes: int
    count: int

    @staticmethod
    def of(first: int, end: int, most: int, lattice: Lattice, unit: int = 1) -> Points:
        """Return the shortest points that cover the panes from ``first`` to before ``end``.

        ``most``: the largest number of points. ``unit``: the number of panes that are stored together, which no point
        divides. The length of a point is a length of panes in the lattice, or whole days. So it is a multiple of the
        length of some view's panes, and each point begins at the begin of such a pane.

        >>> from asc.operators.cube.cuboid import Dimensions
        >>> hours = Lattice(Dimensions(()), 3_600)
        >>> Points.of(7, 247, 240, hours), Points.of(7, 248, 240, hours), Points.of(7, 24 * 365, 240, hours)
        (Points(first=7, panes=1, count=240), Points(first=6, panes=2, count=121), Points(first=0, panes=48, count=183))
        >>> Points.of(50, 200, 240, hours, unit=6)
        Points(first=48, panes=6, count=26)
        """
        for panes in lattice.lengths:
            begin = first // panes * panes
            if panes % unit == 0 and end - begin <= most * panes:
                return Points(begin, panes, -(-(end - begin) // panes))
        days = lcm(lattice.panes_a_day, unit)
        begin = first // days * days
        panes = days * max(1, -(-(end - begin) // (most * days)))
        return Points(begin, panes, -(-(end - begin) // panes))
