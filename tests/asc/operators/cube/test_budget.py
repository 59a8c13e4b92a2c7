"""The budget of the optimiser in a definition."""

from __future__ import annotations

from typing import Any

import pytest

from asc.errors import CubeError
from asc.operators.cube.budget import (
    CHOSEN_CELLS_MAX,
    CHOSEN_VIEWS_MAX,
    DEFAULT_BUDGET,
    budget_of,
    plain_budget,
)
from asc.operators.cube.optimiser import Budget


def test_it_is_read_back_as_it_was_written() -> None:
    assert budget_of({}) == budget_of(plain_budget(DEFAULT_BUDGET)) == DEFAULT_BUDGET
    most = Budget(CHOSEN_VIEWS_MAX, CHOSEN_CELLS_MAX)
    assert budget_of(plain_budget(most)) == most
    assert budget_of({"cuboids": 0, "cells": 0}) == Budget(0, 0)


@pytest.mark.parametrize(
    "plain",
    [
        {"cuboids": CHOSEN_VIEWS_MAX + 1},
        {"cells": CHOSEN_CELLS_MAX + 1},
        {"cells": -1},
        {"cuboids": True},
        {"cells": "9"},
    ],
)
def test_another_number_is_refused(plain: dict[str, Any]) -> None:
    with pytest.raises(CubeError, match="give a whole number up to"):
        budget_of(plain)
