"""The warm-up of cubes: nothing else is compiled for co-moments afterwards."""

from __future__ import annotations

import sys
from typing import Any

from asc.operators.cube.warm_up import warm_up
from tests.asc.operators.cube.kernel_catalogue import evaluate_kernels


def signatures() -> dict[str, int]:
    """Return the number of compiled signatures of each loop of states."""
    modules: list[tuple[str, Any]] = list(sys.modules.items())
    return {
        f"{name}.{own}": len(function.signatures)
        for name, module in modules
        if name.startswith("asc.operators.cube.states")
        for own, function in list(vars(module).items())
        if hasattr(function, "signatures")
    }


def test_after_the_warm_up_no_loop_of_co_moments_is_compiled() -> None:
    assert warm_up() == 3
    before = signatures()
    assert evaluate_kernels() == 4
    assert signatures() == before
