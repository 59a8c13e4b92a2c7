"""Pinned views in definitions."""

from __future__ import annotations

import pytest

from asc.errors import CubeError
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.pins import PINS_MAX, pins_of, plain_pins
from asc.operators.cube.view import View

DEFINITION = CubeDefinition.parse({"dimensions": [["a", "b"], ["c"]], "measures": ["count(*)"], "grain_s": 3600})


def test_they_are_read_back_as_they_are_written() -> None:
    plain = [["a", "b"], [], {"by": ["c"], "grain_s": 86_400}]
    pins = pins_of(plain, DEFINITION)
    assert pins == (View((2, 0), 1), View((0, 0), 1), View((0, 1), 24))
    assert plain_pins(pins, DEFINITION) == plain
    assert pins_of([["b"], {"by": ["b"], "grain_s": 7200.0}], DEFINITION) == (View((2, 0), 1), View((2, 0), 2))
    assert pins_of(None, DEFINITION) == pins_of([], DEFINITION) == ()


@pytest.mark.parametrize(
    ("plain", "error"),
    [
        ("carrier", "materialise 'carrier': give a list of cuboids"),
        ([["a"], "c"], "materialise 'c': give a list of cuboids"),
        ([{"cuboid": ["a"]}], "give a list of cuboids"),
        ([["x"]], "materialise 'x': is no dimension"),
        ([["a"], ["a"]], "materialise 'a at 1h': is there twice"),
        ([["b", "c"], [], {"by": ["C", "b"], "grain_s": 3_600}], "materialise 'a, b, c at 1h': is the base view"),
        ([["a", " A"]], "materialise 'a': is named twice in one view"),
        ([{"by": ["b"], "grain_s": 86_400}, {"by": ["a", "b"], "grain_s": 86_400}], "'a, b at 1d': is there twice"),
        (
            [{"by": [], "grain_s": 5_400}],
            "materialise '\\(\\) at 90min': has panes that are no multiple of the cube's 1h: give others, as 1h",
        ),
        ([{"by": ["c"], "grain_s": 604_800}], "materialise 'c at 7d': has panes that do not divide a day"),
        ([{"by": [], "grain_s": "1d"}], "materialise '1d': "),
        ([["a"]] * (PINS_MAX + 1), f"materialise {PINS_MAX + 1}: a cube has at most {PINS_MAX} pinned views"),
    ],
)
def test_others_are_refused(plain: object, error: str) -> None:
    with pytest.raises(CubeError, match=error):
        pins_of(plain, DEFINITION)
