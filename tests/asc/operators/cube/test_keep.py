"""Bands of ages in definitions."""

from __future__ import annotations

import pytest

from asc.errors import CubeError
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.keep import AGE_S_MAX, BANDS_MAX, Band, bands_of, plain_bands
from asc.operators.cube.output import Output
from asc.operators.cube.view import View

DEFINITION = CubeDefinition.parse(
    {"dimensions": [["a", "b"], ["c"], ["upper(d) || ':'"]], "measures": ["count(*)"], "grain_s": 900}
)
HOUR_S, DAY_S = 3_600, 86_400


def test_they_are_read_back_as_they_are_written() -> None:
    plain = ["15min:1d", "1h:30d b:1", "1d:104w c:0 a:1", "30d:20y c:0 a:0 `upper(d) || ':'`:0"]
    bands = bands_of(plain, DEFINITION)
    assert bands == (
        Band(View((2, 1, 1), 1), DAY_S),
        Band(View((1, 1, 1), 4), 30 * DAY_S),
        Band(View((1, 0, 1), 96), 728 * DAY_S),
        Band(View((0, 0, 0), 30 * 96), 7_300 * DAY_S),
    )
    assert plain_bands(bands, DEFINITION) == [
        "15min:1d",
        "1h:30d a:1",
        "1d:728d a:1 c:0",
        "30d:7300d a:0 c:0 `upper(d) || ':'`:0",
    ]
    assert bands_of(plain_bands(bands, DEFINITION), DEFINITION) == bands
    assert bands_of(None, DEFINITION) == bands_of([], DEFINITION) == ()


@pytest.mark.parametrize(
    ("plain", "error"),
    [
        ("15min:1d", "keep '15min:1d': give bands of grain:age"),
        ([7], "give bands of grain:age"),
        (["15min"], "give bands of grain:age"),
        (["15min:"], "give bands of grain:age"),
        (["0min:1d"], "give bands of grain:age"),
        (["15min:1d a"], "give bands of grain:age"),
        (["15min:1d x:1"], "names x, which is no dimension: name some of a, b, c"),
        (["15min:1d a:3"], "keeps 3 levels of a, which has 2"),
        (["1h:1d"], "keeps other panes than the cube: begin with a band of 15min"),
        (["15min:1d c:0"], "keeps other panes than the cube"),
        (["15min:1d", "50min:2d"], "has a grain that is no multiple of 15min that divides a day"),
        (["15min:1d", "7h:7d"], "has a grain that is no multiple of 15min"),
        (["15min:1d", "1h:2d c:0", "1d:3d"], "keep '1d:3d': is not computed from the band before it"),
        (["15min:1d", "1h:2d", "90min:3d"], "is not computed from the band before it"),
        (["15min:1d", "15min:2d"], "is not computed from the band before it"),
        (["15min:2d", "1h:1d"], "ends no later than the band before it"),
        (["15min:20min"], "has an age that is no multiple of 15min"),
        ([f"15min:{AGE_S_MAX + 900}s"], "has an age that is no multiple of 15min up to"),
        (["15min:1d"] * (BANDS_MAX + 1), f"a cube has at most {BANDS_MAX} bands"),
    ],
)
def test_others_are_refused(plain: object, error: str) -> None:
    with pytest.raises(CubeError, match=error):
        bands_of(plain, DEFINITION)


def test_a_band_shorter_than_the_window_is_refused() -> None:
    output = Output.parse({"output": [[]], "window_s": 2 * DAY_S, "slide_s": DAY_S}, DEFINITION)
    with pytest.raises(CubeError, match="keep '15min:1d': is shorter than the window of 172800 s"):
        bands_of(["15min:1d"], DEFINITION, output)
    assert len(bands_of(["15min:2d"], DEFINITION, output)) == 1


def test_a_cube_without_a_time_has_no_ages() -> None:
    timeless = CubeDefinition.parse({"measures": ["count(*)"]}, needs_time=False)
    with pytest.raises(CubeError, match="has no ages without a time"):
        bands_of(["1h:1d"], timeless)
