"""The budget of the optimiser of a cube, as the API and the registry represent it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from asc.errors import CubeError
from asc.operators.cube.optimiser import DEFAULT_VIEWS, Budget

CHOSEN_VIEWS_MAX = 64
"""The largest number of views of a budget."""
CHOSEN_CELLS_MAX = 1_000_000_000
"""The largest number of cells of a budget."""
DEFAULT_CELLS = 2_000_000
"""The default number of cells of a budget: some 100 MB of stored views."""

DEFAULT_BUDGET = Budget(DEFAULT_VIEWS, DEFAULT_CELLS)


def budget_of(plain: Mapping[str, Any]) -> Budget:
    """Return the budget in a cube's JSON object, from its fields ``cuboids`` and ``cells``. Raise CubeError if one is
    invalid.

    >>> budget_of({"cuboids": 4})
    Budget(views=4, cells=2000000)
    """
    views = _number(plain, "cuboids", DEFAULT_VIEWS, CHOSEN_VIEWS_MAX)
    return Budget(views, _number(plain, "cells", DEFAULT_CELLS, CHOSEN_CELLS_MAX))


def plain_budget(budget: Budget) -> dict[str, int]:
    """Return a budget as fields that :func:`budget_of` reads."""
    return {"cuboids": budget.views, "cells": int(budget.cells)}


def _number(plain: Mapping[str, Any], name: str, default: int, most: int) -> int:
    given = plain.get(name)
    if given is None:
        return default
    if type(given) is not int or not 0 <= given <= most:
        raise CubeError(name, given, f"give a whole number up to {most:,}, or 0 for no views by choice")
    return given
