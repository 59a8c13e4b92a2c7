"""Generated lattices with cells and demands, for the tests of the optimiser."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp

import numpy as np

from asc.operators.cube.candidates import candidates
from asc.operators.cube.cuboid import Dimensions
from asc.operators.cube.lattice import Lattice
from asc.operators.cube.view import View
from asc.operators.cube.view_costs import ViewCosts

PANES = 24 * 30


def lattice_of(*levels: int, grain_s: int = 3_600) -> Lattice:
    """Return a lattice whose dimensions have so many levels: a_1 > a_2, b_1, ..."""
    hierarchies = tuple(
        tuple(f"{chr(97 + place)}_{level}" for level in range(1, most + 1)) for place, most in enumerate(levels)
    )
    return Lattice(Dimensions(hierarchies), grain_s)


@dataclass(frozen=True)
class Drawn:
    """A lattice with a demand for some of its views, and the number of values of each level."""

    lattice: Lattice
    asked: dict[View, float]
    radixes: tuple[tuple[int, ...], ...]

    def cells(self, view: View) -> float:
        """Return the cells of a view of uniform records, 500 in a pane: fewer than those of every finer view."""
        groups = 1.0
        for values, level in zip(self.radixes, view.cuboid, strict=True):
            for radix in values[:level]:
                groups *= radix
        return groups * (1 - exp(-500 * view.panes / groups)) * PANES / view.panes

    def costs(self, views: tuple[View, ...] | None = None) -> ViewCosts:
        """Return the costs of some views, or of the candidates."""
        views = candidates(self.lattice, self.asked) if views is None else views
        return ViewCosts.of(self.lattice, views, np.array(list(map(self.cells, views))), PANES, self.asked)


def drawn(seed: int, *levels: int, demanded: int = 30, skew: float = 1.0) -> Drawn:
    """Return a lattice with a random demand, whose rates decrease as ranks to the power of ``skew`` increase."""
    random = np.random.default_rng(seed)
    lattice = lattice_of(*levels)
    views = list(lattice.views())
    chosen = random.permutation(len(views))[:demanded].tolist()
    asked = {
        views[place]: float(24 * random.integers(1, 200) / (rank + 1) ** skew) for rank, place in enumerate(chosen)
    }
    radixes = tuple(tuple(random.integers(2, 60, most).tolist()) for most in levels)
    return Drawn(lattice, asked, radixes)
