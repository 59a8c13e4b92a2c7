"""The optimiser: the choice of the views that a cube stores, so that questions read the fewest cells within
a budget.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

import numpy as np

from asc.operators.cube.candidates import candidates
from asc.operators.cube.kept_cells import KeptBand, KeptCells
from asc.operators.cube.proposal import Proposal, ViewChange
from asc.operators.cube.view import View
from asc.operators.cube.view_costs import ViewCosts
from asc.operators.cube.view_estimate import Pause, ViewEstimate, unpaused

DEFAULT_VIEWS = 8
_KEPT_SHARE = 0.9
"""The best set of views replaces the stored one if its cost is below this share of the present cost. Without this
threshold, two sets of about equal cost would replace each other every hour.
"""
_SEARCHES = 4
"""The largest number of greedy searches. Each search begins with the useful views of the preceding one."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The largest number of views that are stored besides the base view, and the largest number of their cells. Pinned
    views count.
    """

    views: int = DEFAULT_VIEWS
    cells: float = float("inf")


@dataclass(frozen=True, slots=True)
class StoredCells:
    """The numbers of cells that a cube stores. ``base``, ``panes``, ``bands``: of the closed panes that are kept, see
    :class:`KeptCells`. ``views``: of each other stored view, over the panes for which the view can be computed;
    estimated for an incomplete view.
    """

    base: int
    panes: int
    views: Mapping[View, float]
    bands: tuple[KeptBand, ...] = ()

    @property
    def kept(self) -> KeptCells:
        """Return the cells of the kept panes."""
        return KeptCells(self.base, self.panes, self.bands)


def propose(
    estimate: ViewEstimate,
    asked: Mapping[View, float],
    stored: StoredCells,
    *,
    pins: Iterable[View] = (),
    budget: Budget = Budget(),
    pause: Pause = unpaused,
) -> Proposal:
    """Return the proposal for a demand: the views to store.

    ``estimate``: the estimated cells of views, from a sample of the newest base cells. ``asked``: for each view, the
    number of the cube's panes that questions read in an hour, see :meth:`Demand.panes_an_hour`. ``pins``: the views
    that are stored at any cost. ``pause``: a function that is called between steps of at most some milliseconds; it may
    sleep, or raise an exception to cancel the computation.

    Cost: some .2 ms for each candidate, at most some 4,096, and .1 s for 4,096 demanded views.
    """
    pins, lattice = tuple(dict.fromkeys(pins)), estimate.lattice
    views = candidates(lattice, asked, [*stored.views, *pins])
    shares, kept = estimate.shares(views, pause), stored.kept
    cells = np.array([kept.estimated(view, share) for view, share in zip(views, shares.tolist(), strict=True)])
    cells[0] = stored.base
    for place, view in enumerate(views):
        cells[place] = stored.views.get(view, cells[place])
    costs = ViewCosts.of(lattice, views, cells, stored.panes, asked, bands=stored.bands)
    places = {view: place for place, view in enumerate(views)}
    places.pop(lattice.base)
    own = [places[view] for view in stored.views if view in places]
    return best_proposal(costs, own, [places[view] for view in pins if view in places], budget, pause)


def best_proposal(
    costs: ViewCosts, stored: Sequence[int], pins: Sequence[int], budget: Budget, pause: Pause = unpaused
) -> Proposal:
    """Return the proposal for candidates with known costs. ``stored``, ``pins``: indices of candidates.

    The stored views and the pins are proposed again if they are within the budget and the best set costs at most 10 %
    less.
    """
    kept = list(dict.fromkeys([*stored, *pins]))
    best = best_views(costs, pins, budget, pause)
    cost, best_cost = costs.cost(kept), costs.cost(best)
    is_over = len(kept) > max(budget.views, len(pins)) or (
        len(kept) > len(pins) and float(costs.cells[kept].sum()) > budget.cells
    )
    proposed = best if is_over or best_cost < _KEPT_SHARE * cost else kept
    added = _changes(costs, proposed, [place for place in proposed if place not in stored], is_added=True)
    removed = _changes(costs, stored, [place for place in stored if place not in proposed], is_added=False)
    views = tuple(costs.views[place] for place in sorted(proposed, key=lambda place: costs.names[place]))
    return Proposal(views, (*added, *removed), cost, best_cost)


def best_views(costs: ViewCosts, pins: Sequence[int], budget: Budget, pause: Pause = unpaused) -> list[int]:
    """Return the indices of the pins, and of the best other views that were found within a budget.

    Two greedy searches begin with the pins. The first adds the view with the largest gain for each of its cells, which
    is best if the budget of cells is small. If the budget of views is small, that search would choose many tiny views;
    so the second adds the view with the largest gain. The result with the lower cost is returned; if they are equal,
    the first.
    """
    searched = [_searched(costs, pins, budget, pause, is_by_cell=own) for own in (True, False)]
    return min(searched, key=costs.cost)


def views_within(costs: ViewCosts, stored: Sequence[int], pins: Sequence[int], budget: Budget) -> list[int]:
    """Return the indices of the stored views that stay within a budget. Pins always stay.

    Views are removed one by one: the view whose removal costs the least first; of several, the one with more cells,
    then the last by name.
    """
    kept = list(dict.fromkeys([*stored, *pins]))
    others = [place for place in kept if place not in pins]
    while others and (len(kept) > budget.views or float(costs.cells[kept].sum()) > budget.cells):
        saved = dict(zip(others, _savings(costs, kept, others), strict=True))
        least = min(saved.values())
        gone = max((place for place in others if saved[place] == least), key=lambda own: _rank(costs, own))
        kept.remove(gone)
        others.remove(gone)
    return kept


def _rank(costs: ViewCosts, place: int) -> tuple[float, str]:
    return float(costs.cells[place]), costs.names[place]


def _searched(costs: ViewCosts, pins: Sequence[int], budget: Budget, pause: Pause, *, is_by_cell: bool) -> list[int]:
    """Return the indices of the pins, and of the views that greedy searches find. Each of these views saves cost beside
    the others.

    A view that was added may save nothing after other views with fewer cells are added that answer the same questions.
    Such a view is dropped, and a further search uses its part of the budget.
    dropped, and a further search spends its part of the budget.
    """
    chosen = list(pins)
    for _ in range(_SEARCHES):
        found = _greedy(costs, chosen, budget, pause, is_by_cell=is_by_cell)
        chosen = _without_idle(costs, found, len(pins), pause)
        if len(chosen) == len(found):
            break
    return chosen


def _without_idle(costs: ViewCosts, chosen: Sequence[int], pins: int, pause: Pause) -> list[int]:
    """Return the views without those that save nothing beside the others. The first ``pins`` views stay.

    The view that costs the most is dropped first, because the other views may save more without it.
    """
    kept = list(chosen)
    while len(kept) > pins:
        saved = _savings(costs, kept, kept[pins:], pause)
        place = int(np.argmin(saved))
        if saved[place] > 0:
            break
        del kept[pins + place]
    return kept


def _savings(costs: ViewCosts, chosen: Sequence[int], places: Sequence[int], pause: Pause = unpaused) -> list[float]:
    """Return for each candidate in ``places`` the cost that it saves beside the other chosen candidates."""
    saved = []
    for place in places:
        nearest = costs.nearest([other for other in chosen if other != place])
        saved.append(float(costs.gains(nearest, np.array([place]), pause)[0]))
    return saved


def _greedy(costs: ViewCosts, start: Sequence[int], budget: Budget, pause: Pause, *, is_by_cell: bool) -> list[int]:
    """Return the views ``start``, and the views that a greedy search adds. Of equal gains, fewer cells win, then the
    name.

    Storing a view never raises the gain of another view. So a gain that was computed with fewer stored views is an
    upper bound. Only the view with the largest upper bound is computed again.
    """
    chosen = list(start)
    nearest = costs.nearest(chosen)
    left = budget.cells - float(costs.cells[chosen].sum())

    def entry(place: int, gain: float) -> tuple[float, float, str, int, int]:
        score = gain / max(float(costs.cells[place]), 1e-9) if is_by_cell else gain
        return -score, float(costs.cells[place]), costs.names[place], place, len(chosen)

    fitting = np.flatnonzero(costs.cells <= left)
    places = fitting[~np.isin(fitting, [0, *chosen])]
    gains = costs.gains(nearest, places, pause)
    heap = [entry(place, gain) for place, gain in zip(places.tolist(), gains.tolist(), strict=True) if gain > 0]
    heapify(heap)
    while heap and len(chosen) < budget.views:
        _, cells, _, place, at = heappop(heap)
        if cells > left:
            continue
        if at < len(chosen):
            (gain,) = costs.gains(nearest, np.array([place]), pause).tolist()
            if gain > 0:
                heappush(heap, entry(place, gain))
            continue
        chosen.append(place)
        left -= cells
        nearest = costs.with_view(nearest, place)
    return chosen


def _changes(costs: ViewCosts, beside: Sequence[int], places: Sequence[int], *, is_added: bool) -> list[ViewChange]:
    """Return the changes of the views in ``places``, with the cost that each change saves beside the views in
    ``beside``.
    """
    sign = 1 if is_added else -1
    found = [
        ViewChange(costs.views[place], costs.names[place], is_added, float(costs.cells[place]), sign * saved)
        for place, saved in zip(places, _savings(costs, beside, places), strict=True)
    ]
    return sorted(found, key=lambda own: (-own.saved_cells_an_hour, own.cells, own.name))
