"""Proposals of the optimiser: the views to store, and the changes to the stored views, with the cost that
each saves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from asc.operators.cube.view import View


@dataclass(frozen=True, slots=True)
class ViewChange:
    """A view to add to the stored views, or to remove from them.

    ``cells``: the estimated number of its cells. ``saved_cells_an_hour``: the cost that the change saves, an addition
    beside all other proposed views, a removal beside all other stored views. It is negative if the change increases the
    cost.
    """

    view: View
    name: str
    is_added: bool
    cells: float
    saved_cells_an_hour: float

    def text(self) -> str:
        """Return the change in one line.

        >>> ViewChange(View((1, 0), 24), "origin at 1d", True, 96.2, 41_200.0).text()
        '+ origin at 1d: 96 cells, saves 41,200 cells an hour'
        >>> ViewChange(View((1, 0), 24), "origin at 1d", False, 96.2, -3.0).text()
        '- origin at 1d: 96 cells, its removal costs 3 cells an hour'
        """
        sign, change = ("+", "") if self.is_added else ("-", "its removal ")
        verb = "saves" if self.saved_cells_an_hour >= 0 else "costs"
        saved = _counted(abs(self.saved_cells_an_hour))
        return f"{sign} {self.name}: {_counted(self.cells)}, {change}{verb} {saved} an hour"

    def plain(self) -> dict[str, Any]:
        """Return the change as answers show it."""
        return {
            "view": self.name,
            "change": "add" if self.is_added else "remove",
            "cells": round(self.cells),
            "saved_cells_an_hour": round(self.saved_cells_an_hour),
        }


@dataclass(frozen=True, slots=True)
class Proposal:
    """The views to store besides the base view.

    ``views``: in the order of their names. ``changes``: first the additions, then the removals, each in descending
    order of the saved cost. ``cost``: the number of cells that are read and merged in an hour with the stored views and
    the pins. ``best_cost``: this number for the best set that was found. If it is not much less, ``views`` are the
    stored views and the pins.
    """

    views: tuple[View, ...]
    changes: tuple[ViewChange, ...]
    cost: float
    best_cost: float

    @property
    def additions(self) -> tuple[ViewChange, ...]:
        """Return the views to add."""
        return tuple(own for own in self.changes if own.is_added)

    @property
    def removals(self) -> tuple[ViewChange, ...]:
        """Return the views to remove."""
        return tuple(own for own in self.changes if not own.is_added)

    def lines(self) -> list[str]:
        """Return the proposal as text: a line for each change, then the cost."""
        best, stored = _counted(self.best_cost), _counted(self.cost)
        counted = f"the best views found cost {best} an hour, the stored ones {stored} an hour"
        return [*(own.text() for own in self.changes), counted if self.changes else f"no change: {counted}"]

    def plain(self) -> dict[str, Any]:
        """Return the proposal as answers show it."""
        return {
            "changes": [own.plain() for own in self.changes],
            "cells_an_hour": round(self.cost),
            "best_cells_an_hour": round(self.best_cost),
        }


def _counted(cells: float) -> str:
    """Return a number of cells as text.

    >>> _counted(1.2), _counted(41_200)
    ('1 cell', '41,200 cells')
    """
    number = round(cells)
    return "1 cell" if number == 1 else f"{number:,} cells"
