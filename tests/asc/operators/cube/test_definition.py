"""Definitions of cubes."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from asc.errors import CubeError
from asc.operators.cube.definition import DIMENSIONS_MAX, MEASURES_MAX, CubeDefinition

PLAIN: dict[str, Any] = {
    "dimensions": [["origin", "dest"], ["carrier"]],
    "measures": ["count(*) AS flights", "sum(arr_delay) FILTER (WHERE arr_delay > 0)"],
    "time": "time_hour",
    "grain_s": 3_600,
}


def test_a_definition_is_written_and_read_again() -> None:
    found = CubeDefinition.parse(PLAIN)
    assert CubeDefinition.parse(found.plain()) == found
    assert hash(found) == hash(CubeDefinition.parse(PLAIN))
    assert found.plain()["name"] == "cube"
    assert found.grain_us == 3_600_000_000


def test_a_definition_is_read_without_the_kernels() -> None:
    code = "import sys; from asc.operators.cube import CubeDefinition; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_defaults() -> None:
    found = CubeDefinition.parse({"measures": ["count(*)"], "grain_s": 60})
    assert (found.time, found.dimensions.count) == ("_timestamp", 1)


def test_a_cube_over_files_needs_no_time() -> None:
    found = CubeDefinition.parse({"measures": ["count(*)"]}, needs_time=False)
    assert (found.time, found.grain_s) == (None, None)
    assert CubeDefinition.parse(found.plain(), needs_time=False) == found
    with pytest.raises(CubeError, match="grain_s: is missing, the length of a pane"):
        CubeDefinition.parse({"measures": ["count(*)"], "time": "ts"}, needs_time=False)
    assert CubeDefinition.parse({"measures": ["count(*)"], "grain_s": 60}, needs_time=False).time == "_timestamp"


@pytest.mark.parametrize("grain_s", [1, 60, 900, 1_800, 3_600, 7_200, 10_800, 14_400, 21_600, 28_800, 43_200, 86_400])
def test_a_grain_divides_an_hour_or_a_day(grain_s: int) -> None:
    assert CubeDefinition.parse({**PLAIN, "grain_s": grain_s}).grain_s == grain_s
    assert CubeDefinition.parse({**PLAIN, "grain_s": float(grain_s)}).grain_s == grain_s


@pytest.mark.parametrize(
    "grain_s", [0, -60, 7, 2_400, 3_601, 5_400, 18_000, 36_000, 172_800, 0.5, True, "60", float("nan"), None, [60]]
)
def test_another_grain_is_refused(grain_s: object) -> None:
    with pytest.raises(CubeError, match="give seconds that divide an hour, or whole hours that divide 24"):
        CubeDefinition.parse({**PLAIN, "grain_s": grain_s})


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"dimension": []}, "field 'dimension': is not known"),
        ({"dimensions": "origin"}, "dimensions 'origin': give a list of hierarchies"),
        ({"dimensions": ["origin"]}, "dimensions 'origin': give a list of hierarchies"),
        ({"dimensions": [[]]}, "dimensions []: give a list of hierarchies"),
        ({"dimensions": [["a"], [" A "]]}, "dimension 'A': is there twice"),
        ({"dimensions": [[7]]}, "dimension 7: give an expression"),
        ({"dimensions": [["x" * 10_001]]}, "of at most 10,000 characters"),
        ({"dimensions": [["\ud800"]]}, "holds half of a surrogate pair"),
        (
            {"dimensions": [[f"c{i}"] for i in range(DIMENSIONS_MAX + 1)]},
            "dimensions 17: a cube has at most 16 expressions",
        ),
        ({"dimensions": [[f"c{i}"] for i in range(13)]}, "cuboids 8192: a cube has at most 4,096"),
        ({"measures": None}, "measures: give a list"),
        ({"measures": []}, "measures []: give a list"),
        ({"measures": "count(*)"}, "measures 'count(*)': give a list"),
        ({"measures": [f"sum(x) AS m{i}" for i in range(MEASURES_MAX + 1)]}, "measures 33: a cube has at most 32"),
        ({"measures": ["sum(a) AS n", "sum(b) AS N"]}, "measure 'N': has the name of another one"),
        ({"measures": ["count(*)", "count( * )"]}, "measure 'count(*)': has the name of another one"),
        ({"measures": ["count(*) AS group"]}, "measure 'group': is a name that answers use"),
        ({"measures": ["count(*) AS Carrier"]}, "measure 'Carrier': has the name of a dimension"),
        ({"time": 7}, "time 7: give an expression"),
    ],
)
def test_what_is_no_definition_is_refused_in_one_line(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(CubeError) as caught:
        CubeDefinition.parse({**PLAIN, **changed})
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_most_that_is_allowed() -> None:
    most = {"dimensions": [[f"c{i}"] for i in range(12)], "measures": [f"sum(x) AS m{i}" for i in range(32)]}
    assert CubeDefinition.parse({**PLAIN, **most}).dimensions.count == 4_096
    one = {"dimensions": [[f"c{i}" for i in range(16)]]}
    assert len(CubeDefinition.parse({**PLAIN, **one}).dimensions.names) == 16


def test_a_generation_changes_with_what_a_piece_depends_on() -> None:
    own = CubeDefinition.parse(PLAIN)
    generations = {own.generation("flights", "true"), own.generation("flights", "false"), own.generation("f", "true")}
    for changed in ({"time": "ts"}, {"grain_s": 60}, {"dimensions": [["carrier"]]}, {"measures": ["count(*)"]}):
        generations.add(CubeDefinition.parse({**PLAIN, **changed}).generation("flights", "true"))
    assert len(generations) == 7
    # Stored pieces bear it, so it is the same in every process and version.
    assert own.generation("flights", "true") == "235893a7a95a037b"


def test_a_computed_dimension_has_levels_and_one_text() -> None:
    plain = {**PLAIN, "dimensions": [["geohash(lat,lon, 5>10)"], ["carrier"]], "measures": ["count(*)"]}
    found = CubeDefinition.parse(plain)
    assert found.dimensions.hierarchies == (("geo:5", "geo:10"), ("carrier",))
    assert found.plain()["dimensions"] == [["geohash(lat, lon, 5 > 10) AS geo"], ["carrier"]]
    assert CubeDefinition.parse(found.plain()) == found
    assert found.record_expressions == ("lat", "lon", "carrier")
    assert found.summary() == "count(*) by geohash(lat, lon, 5 > 10) AS geo, carrier, every 1h"
    spelled = {**plain, "dimensions": [["geohash(lat, lon, 5 > 10) AS geo"], ["carrier"]]}
    assert CubeDefinition.parse(spelled).generation("air", "true") == found.generation("air", "true")


@pytest.mark.parametrize(
    ("dimensions", "said"),
    [
        ([["carrier", "geohash(a, b, 5)"]], "is no level of another dimension"),
        ([["geohash(a, b, 5)"], ["geohash(c, d, 5)"]], "is not the only dimension named geo: give it another name"),
        ([["geohash(a, b, 5) AS Geo"], ["geohash(c, d, 10)"]], "is not the only dimension named geo"),
        ([["geohash(a, b, 5)"], ["geo"]], "is not the only dimension named geo"),
        ([["geohash(a, b, 5)"], ["geo:5"]], "dimension 'geo:5': is there twice"),
        ([["geohash(a, b, 1 > 2 > 3 > 4 > 5 > 6 > 7 > 8 > 9 > 10 > 11 > 12 > 13 > 14 > 15 > 16 > 17)"]], "at most 16"),
    ],
)
def test_a_refused_computed_dimension(dimensions: list[list[str]], said: str) -> None:
    with pytest.raises(CubeError) as caught:
        CubeDefinition.parse({**PLAIN, "dimensions": dimensions, "measures": ["count(*)"]})
    assert said in str(caught.value)
