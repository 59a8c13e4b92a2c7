"""Bands of ages in definitions."""

from __future__ import annotations

import pytest

from asc.errors import CubeError
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.keep import AGE_S_MAX, BAND_PANES_MAX, BANDS_MAX, Band, bands_of, plain_bands
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
        "30d:20y a:0 c:0 `upper(d) || ':'`:0",
    ]
    assert bands_of(plain_bands(bands, DEFINITION), DEFINITION) == bands
    assert bands_of(None, DEFINITION) == bands_of([], DEFINITION) == ()


@pytest.mark.parametrize(
    ("plain", "error"),
    [
        ("15min:1d", "keep '15min:1d': give bands of grain:age"),
        ([7], "give bands of grain:age"),
        (["15min"], "give bands of grain:age"),
        (["15min:"], "has '' for a length of time: write a whole number"),
        (["0min:1d"], "has '0min' for a length of time"),
        (["15min:1d a"], "give bands of grain:age"),
        (["15min:1d x:1"], "names x, which is no dimension: name some of a, b, c"),
        (["15min:1d a:3"], "keeps 3 levels of a, which has 2"),
        (["1h:1d"], "keeps other panes than the cube: begin with a band of 15min"),
        (["15min:1d c:0"], "keeps other panes than the cube"),
        (["15min:1d", "50min:2d"], "has a grain that is no multiple of 15min that divides a day"),
        (["15min:1d", "7h:7d"], "has a grain that is no multiple of 15min"),
        (
            ["15min:1d", "1h:2d c:0", "1d:3d"],
            "keep '1d:3d': keeps 1 level of c, and the band before it only 0: add c:0",
        ),
        (["15min:1d", "1h:2d a:1", "2h:3d"], "keep '2h:3d': keeps 2 levels of a, .* only 1: add a:1"),
        (["15min:1d", "1h:2d", "90min:3d"], "has a grain of 90min, .* before it 1h: give a multiple of 1h"),
        (["15min:1d", "15min:2d"], "keeps the same panes as the band before it: give a longer grain or fewer levels"),
        (["15min:2d", "1h:1d"], "ends no later than the band before it"),
        (["1h:30d 1d:2y"], "keep '1h:30d 1d:2y': has 1d:2y after its age: write a comma between two bands"),
        (["15min:1M"], "keep '15min:1M': has '1M' for a length of time: write a whole number and s, min, h, d, w or y"),
        (["15min:30"], "has '30' for a length of time"),
        (["15min:-3d"], "has '-3d' for a length of time"),
        ([""], "keep '': give bands of grain:age"),
        (["15min:20min"], "has an age that is no multiple of 15min"),
        ([f"15min:{AGE_S_MAX + 900}s"], "has an age that is no multiple of 15min up to"),
        (["15min:1d"] * (BANDS_MAX + 1), f"a cube has at most {BANDS_MAX} bands"),
    ],
)
def test_others_are_refused(plain: object, error: str) -> None:
    with pytest.raises(CubeError, match=error):
        bands_of(plain, DEFINITION)


def of_grain(grain_s: int) -> CubeDefinition:
    return CubeDefinition.parse({"measures": ["count(*)"], "grain_s": grain_s})


@pytest.mark.parametrize(
    ("grain_s", "plain"),
    [(60, ["1min:1d", "1d:2y"]), (HOUR_S, ["1h:1d", "30d:1y", "360d:9y"]), (DAY_S, ["1d:1y", "1y:9y"])],
)
def test_a_pane_of_a_band_may_consist_of_a_day_of_minutes_a_month_of_hours_or_a_year_of_days(
    grain_s: int, plain: list[str]
) -> None:
    assert len(bands_of(plain, of_grain(grain_s))) == len(plain)


@pytest.mark.parametrize(
    ("grain_s", "plain", "remedy"),
    [
        (60, ["1min:1h", "2d:1y"], "add a band of 1d between them"),
        (60, ["1min:1h", "30d:1y"], "add a band of 1d between them"),
        (10, ["10s:1h", "30d:1y"], "add a band of 4h between them"),
        (1, ["1s:1h", "1min:2h", "30d:1y"], "add a band of 1d between them"),
        (HOUR_S, ["1h:1d", "1999d:20y"], "add a band of 1d between them"),
        (DAY_S, ["1d:1y", "1999d:20y"], "give a grain of at most 1440d"),
    ],
)
def test_a_pane_of_more_panes_than_are_merged_at_once_is_refused_with_a_band_between(
    grain_s: int, plain: list[str], remedy: str
) -> None:
    error = f"keep '{plain[-1]}': merges .* into one, more than {BAND_PANES_MAX:,}: {remedy}$"
    with pytest.raises(CubeError, match=error):
        bands_of(plain, of_grain(grain_s))


def test_a_band_shorter_than_the_window_is_refused() -> None:
    output = Output.parse({"output": [[]], "window_s": 2 * DAY_S, "slide_s": DAY_S}, DEFINITION)
    with pytest.raises(CubeError, match="keep '15min:1d': is shorter than the window of 2d"):
        bands_of(["15min:1d"], DEFINITION, output)
    assert len(bands_of(["15min:2d"], DEFINITION, output)) == 1


def test_a_cube_without_a_time_has_no_ages() -> None:
    timeless = CubeDefinition.parse({"measures": ["count(*)"]}, needs_time=False)
    with pytest.raises(CubeError, match="has no ages without a time"):
        bands_of(["1h:1d"], timeless)


def test_a_band_keeps_a_level_of_a_computed_dimension() -> None:
    plain = {"dimensions": [["geohash(lat, lon, 10 > 20) AS geo"], ["c"]], "measures": ["count(*)"], "grain_s": 3_600}
    cube = CubeDefinition.parse(plain)
    bands = bands_of(["1h:1d", "1h:2d Geo:10", "1d:3d geo:0 c:0"], cube)
    assert [band.view.cuboid for band in bands] == [(2, 1), (1, 1), (0, 0)]
    assert plain_bands(bands, cube) == ["1h:1d", "1h:2d geo:10", "1d:3d geo:0 c:0"]
    assert bands_of(plain_bands(bands, cube), cube) == bands
    with pytest.raises(CubeError, match="keeps geo:5, which is no level: give one of geo:10, geo:20, geo:0"):
        bands_of(["1h:1d", "1d:2d geo:5"], cube)
    with pytest.raises(CubeError, match="and the band before it only 1: add geo:10"):
        bands_of(["1h:1d", "1h:2d geo:10", "1d:3d"], cube)


def test_an_age_of_whole_years_is_in_years() -> None:
    assert plain_bands(bands_of(["15min:30d", "1h:2y"], DEFINITION), DEFINITION) == ["15min:30d", "1h:2y"]
    assert plain_bands(bands_of(["15min:730d"], DEFINITION), DEFINITION) == ["15min:2y"]
