"""Outputs of cubes: what they are, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from asc.errors import CubeError
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.output import NO_OUTPUT, OUTPUTS_MAX, WINDOW_PANES_MAX, WINDOWS_A_PANE_MAX, Output
from asc.operators.cube.sliding import Sliding

CUBE = CubeDefinition.parse(
    {"dimensions": [["origin", "dest"], ["carrier"]], "measures": ["count(*)"], "grain_s": 3600}
)
PLAIN: dict[str, Any] = {"output": [["dest"], []], "window_s": 86_400, "slide_s": 3_600, "emit": "changes"}


def test_it_is_read_back_as_it_was_written() -> None:
    found = Output.parse(PLAIN, CUBE)
    assert found is not None
    # A level implies its coarser ones.
    assert found.plain(CUBE) == {**PLAIN, "output": [["origin", "dest"], []]}
    assert Output.parse(found.plain(CUBE), CUBE) == found
    assert found.sliding == Sliding(24, 1)
    assert found.summary() == "writes changes of windows of 1d every 1h"
    tumbling = Output.parse({"output": [["carrier"]], "window_s": 7_200.0, "slide_s": 7_200}, CUBE)
    assert tumbling is not None
    assert (tumbling.emit, tumbling.sliding, tumbling.window_s) == ("all", Sliding(2, 2), 7_200)


@pytest.mark.parametrize("plain", [{}, NO_OUTPUT, {"output": None}, {"emit": "all"}])
def test_a_cube_may_have_none(plain: dict[str, Any]) -> None:
    assert Output.parse(plain, CUBE) is None


def test_the_most_that_is_allowed() -> None:
    many = CubeDefinition.parse(
        {"dimensions": [[f"d{n}"] for n in range(7)], "measures": ["count(*)"], "grain_s": 3600}
    )
    cuboids = [[f"d{n}" for n in range(7) if own & 1 << n] for own in range(OUTPUTS_MAX)]
    hours = WINDOWS_A_PANE_MAX
    assert Output.parse({"output": cuboids, "window_s": 3_600 * hours, "slide_s": 3_600}, many) is not None
    slide_s = 3_600 * (WINDOW_PANES_MAX // 100)
    assert Output.parse({"output": [[]], "window_s": 3_600 * WINDOW_PANES_MAX, "slide_s": slide_s}, CUBE) is not None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"output": []}, "window_s 86400: belongs to windows, and the cube has no output"),
        ({"output": [["tailnum"]]}, "output 'tailnum': is no dimension"),
        ({"output": [["dest"], ["origin", "dest"]]}, "output 'origin, dest': is there twice"),
        ({"output": [[]] * (OUTPUTS_MAX + 1)}, "output 65: a cube has at most 64 output cuboids"),
        ({"output": "dest"}, "output 'dest': give a list of cuboids"),
        ({"output": ["dest"]}, "output ['dest']: give a list of cuboids"),
        ({"output": [[7]]}, "output 7: is no dimension"),
        ({"window_s": None}, "window_s: is missing: an output needs window_s and slide_s, multiples of 1h"),
        ({"slide_s": None}, "slide_s: is missing"),
        ({"window_s": 5_400}, "window_s 5400: is off the grain of 1h: give a multiple of it"),
        ({"slide_s": 0.5}, "slide_s 0.5: is off the grain"),
        ({"slide_s": 0}, "slide_s 0: is off the grain"),
        ({"slide_s": True}, "slide_s True: is off the grain"),
        ({"slide_s": 90_000}, "slide_s 90000: is longer than the window of 1d"),
        ({"window_s": 3_600 * (WINDOW_PANES_MAX + 1)}, "window_s 360003600: is over 100,000 panes of 1h"),
        ({"window_s": 3_600 * (WINDOWS_A_PANE_MAX + 1)}, "slide_s 3600: has a record in over 1,440 windows"),
        ({"emit": "some"}, "emit 'some': is not known: give all or changes"),
    ],
)
def test_what_is_no_output_is_refused_in_one_line(change: dict[str, Any], said: str) -> None:
    with pytest.raises(CubeError) as refused:
        Output.parse({**PLAIN, **change}, CUBE)
    assert str(refused.value).startswith(said)
    assert "\n" not in str(refused.value)


def test_a_cube_without_a_time_has_no_windows() -> None:
    timeless = CubeDefinition.parse({"measures": ["count(*)"]}, needs_time=False)
    with pytest.raises(CubeError, match="has no windows without a time"):
        Output.parse({**PLAIN, "output": [[]]}, timeless)
