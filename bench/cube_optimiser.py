"""The cost of answering questions from the views that the optimiser chooses, compared with the best of many random sets
of equally many views.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from asc.operators.cube.cell_sample import CellSample
from asc.operators.cube.cells import Cells
from asc.operators.cube.cube import Cube
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.grouping import Grouping, pane_digit
from asc.operators.cube.kept_cells import KeptBand
from asc.operators.cube.lattice import Lattice
from asc.operators.cube.optimiser import Budget, StoredCells, propose
from asc.operators.cube.view import View
from asc.operators.cube.view_costs import ViewCosts
from asc.operators.cube.view_estimate import ViewEstimate
from workloads.sales import BEGIN_US, DIMENSIONS, HOUR_US, SALES_DDL, WIDE, sales

_GRAIN_S = 3_600
_VIEWS = 8
_CELL_SHARES = (float("inf"), 0.5)
"""The budgets of stored cells, as shares of the cells of the base view."""
_QUESTIONS_MOST = 100
"""The largest number of questions in an hour for one demanded view. Each question covers a day."""


@dataclass(frozen=True, slots=True)
class OptimiserSize:
    """The size of the measurement. ``records``: the number of sales, spread over ``days`` days. ``demands``: the number
    of random demands, each with questions for ``demanded`` views. ``random_sets``: the number of random sets of views
    to compare with.
    """

    records: int
    days: int
    demands: int
    demanded: int
    random_sets: int


FULL = OptimiserSize(500_000, 30, 10, 60, 2_000)
QUICK = OptimiserSize(5_000, 3, 2, 20, 50)


def optimiser(size: OptimiserSize) -> dict[str, Any]:
    """Return the costs of the optimiser's views and of the best random sets, for each demand and budget of cells. The
    last demand is for a cube that stores the older two thirds of its days in a band with panes of a day.

    The optimiser estimates cells from a sample. Both costs are computed from the actual cells of each view, so an error
    of the estimates makes the optimiser's cost larger. Raise RuntimeError if the optimiser chooses more views than the
    budget permits.
    """
    cells = _cells(size)
    lattice = Lattice(CubeDefinition.parse(_plain()).dimensions, _GRAIN_S)
    views = (lattice.base, *(view for view in lattice.views() if view != lattice.base))
    actual = np.array([_count(cells, lattice, view) for view in views], dtype=np.float64)
    results = []
    for seed in range(size.demands):
        contest = _Contest(lattice, cells, size.days * lattice.panes_a_day, _demand(views, size.demanded, seed), seed)
        costs = ViewCosts.of(lattice, views, actual, contest.panes, contest.asked)
        results += [_contested(contest, costs, share, size.random_sets) for share in _CELL_SHARES]
    contest, costs = _with_band(size, cells, lattice, views)
    results.append(_contested(contest, costs, _CELL_SHARES[0], size.random_sets))
    return {
        "base_cells": cells.count,
        "lattice_views": len(views),
        "demanded_views": size.demanded,
        "random_sets": size.random_sets,
        "results": results,
    }


@dataclass(frozen=True, slots=True, eq=False)
class _Contest:
    """A cube with its base cells over some panes, a random demand for its views, and bands of older panes."""

    lattice: Lattice
    cells: Cells
    panes: int
    asked: Mapping[View, float]
    seed: int
    bands: tuple[KeptBand, ...] = ()


def _with_band(
    size: OptimiserSize, cells: Cells, lattice: Lattice, views: tuple[View, ...]
) -> tuple[_Contest, ViewCosts]:
    """Return the demand for a cube whose older days are in a band of days with all levels, and the actual costs."""
    first, day = int(cells.panes.min()), lattice.panes_a_day
    cut = (first // day + size.days * 2 // 3) * day
    older, newest, days = cells.between(None, cut), cells.between(cut, None), View(lattice.base.cuboid, day)
    bands = (KeptBand(days, _count(older, lattice, days), cut - first),)
    # Count the cells of the band only for views that can be computed from panes of a day.
    counts = [_count(cells if days.is_finer(view) else newest, lattice, view) for view in views]
    asked = _demand(views, size.demanded, size.demands)
    contest = _Contest(lattice, newest, size.days * day - (cut - first), asked, size.demands, bands)
    actual = np.array(counts, dtype=np.float64)
    return contest, ViewCosts.of(lattice, views, actual, contest.panes, contest.asked, bands=bands)


def _contested(contest: _Contest, costs: ViewCosts, share: float, sets: int) -> dict[str, Any]:
    seed, cells, lattice = contest.seed, contest.cells, contest.lattice
    budget = Budget(_VIEWS, share * cells.count)
    stored = StoredCells(cells.count, contest.panes, {}, contest.bands)
    start_s = time.process_time()
    estimate = ViewEstimate(lattice, CellSample.of([cells], lattice.panes_a_day))
    proposal = propose(estimate, contest.asked, stored, budget=budget)
    taken_s = time.process_time() - start_s
    if not 0 < len(proposal.views) <= _VIEWS:
        raise RuntimeError(f"seed {seed}: the optimiser chose {len(proposal.views)} views of at most {_VIEWS}")
    cost = costs.cost([costs.views.index(view) for view in proposal.views])
    random = _best_random_cost(costs, budget, len(proposal.views), sets, seed)
    return {
        "seed": seed,
        "cell_share": None if share == float("inf") else share,
        "views": len(proposal.views),
        "base_cost": round(costs.cost([])),
        "cost": round(cost),
        "random_cost": round(random),
        "ratio": round(cost / random, 4),
        "taken_s": round(taken_s, 4),
    }


def _best_random_cost(costs: ViewCosts, budget: Budget, count: int, sets: int, seed: int) -> float:
    """Return the least cost of random sets of ``count`` views. A set takes the views that fit into the budget of cells,
    in random order.
    """
    random = np.random.default_rng(seed)
    least = float("inf")
    for _ in range(sets):
        chosen: list[int] = []
        left = budget.cells
        for place in (1 + random.permutation(len(costs.views) - 1)).tolist():
            if costs.cells[place] <= left:
                chosen.append(place)
                left -= float(costs.cells[place])
            if len(chosen) == count:
                break
        least = min(least, costs.cost(chosen))
    return least


def _demand(views: tuple[View, ...], count: int, seed: int) -> dict[View, float]:
    """Return a random demand: by view, the number of panes that the questions of an hour read. In every second demand,
    the number decreases with the rank of the view.
    """
    random = np.random.default_rng(seed)
    chosen = random.permutation(len(views))[:count].tolist()
    skew = seed % 2
    questions = random.integers(1, _QUESTIONS_MOST + 1, count) / np.arange(1, count + 1) ** skew
    return {views[place]: 24 * float(rate) for place, rate in zip(chosen, questions, strict=True)}


def _plain() -> dict[str, Any]:
    dimensions = [[name] for name in DIMENSIONS]
    return {"dimensions": dimensions, "measures": ["count(*)"], "time": "sold_at", "grain_s": _GRAIN_S}


def _cells(size: OptimiserSize) -> Cells:
    """Return the cells of sales that are spread evenly over some days."""
    records = sales(size.records, WIDE)
    at_us = BEGIN_US + np.arange(size.records) * (size.days * 24 * HOUR_US) // size.records
    cube = Cube(CubeDefinition.parse(_plain()), SALES_DDL)
    cube.fold(records.set_column(0, "sold_at", pa.array(at_us, pa.timestamp("us", "UTC"))))
    return cube.cells


def _count(cells: Cells, lattice: Lattice, view: View) -> int:
    """Return the number of cells of a view."""
    keys = [cells.keys[place] for place in lattice.dimensions.columns(view.cuboid)]
    digits = [pane_digit(cells.panes // view.panes), *((key.codes, key.radix) for key in keys)]
    return Grouping.of(digits, cells.count).count
