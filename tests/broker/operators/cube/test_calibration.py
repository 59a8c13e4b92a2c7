"""Definitions of standing cubes get edges, and refuse levels that the bins do not have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pytest

from broker.errors import QueryError
from broker.operators.cube.calibration import calibrated
from broker.operators.cube.definition import StandingCube

PLAIN: dict[str, Any] = {"name": "cube", "dimensions": [["bins(x)"]], "measures": ["count(*)"], "grain_s": 3_600}


def sampler(texts: Sequence[str]) -> Mapping[str, pa.Array]:
    """Return a sample of eight values for each expression."""
    return {text: pa.array([0.0, 1, 2, 3, 4, 5, 6, 7]) for text in texts}


def never(_texts: Sequence[str]) -> Mapping[str, pa.Array]:
    """Refuse to return a sample."""
    raise AssertionError("the sample was read")


def test_a_sample_decides_once() -> None:
    first = calibrated(StandingCube.parse(PLAIN), None, sampler)
    assert first.cube.dimensions.hierarchies == (("x:2", "x:4", "x:8"),)
    assert calibrated(first, None, never) is first
    assert calibrated(StandingCube.parse(PLAIN), first, never) == first
    assert StandingCube.parse(first.plain()) == first


def test_levels_in_other_fields_are_those_that_the_bins_have() -> None:
    own = {**PLAIN, "materialise": [["x:4"]], "output": [["x:2"]], "window_s": 3_600, "slide_s": 3_600}
    found = calibrated(StandingCube.parse(own), None, sampler)
    assert found.plain()["materialise"] == [["x:2", "x:4"]]
    assert found.plain()["output"] == [["x:2"]]
    with pytest.raises(QueryError, match=r"operator.* 'x:16': is no dimension: name some of x:2, x:4, x:8"):
        calibrated(StandingCube.parse({**PLAIN, "materialise": [["x:64"]]}), None, sampler)


def test_a_sample_without_numbers_is_refused() -> None:
    with pytest.raises(QueryError, match=r"operator.dimension 'bins\(x\) AS x': has no finite number in the sample"):
        calibrated(
            StandingCube.parse(PLAIN), None, lambda texts: {text: pa.array([None], pa.int64()) for text in texts}
        )
