"""The field ``within`` of questions, compared with the positions of the records."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import shapely
from shapely.geometry import shape

from asc.errors import CubeError
from asc.operators.cube.cube import Cube
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.lookup import Lookup
from asc.operators.cube.within.within import GEOHASHES_MAX

COUNT = 4_000
GEO = "geohash(lat, lon, 5 > 10 > 15) AS geo"
TRIANGLE = {"type": "Polygon", "coordinates": [[[-20.0, -30.0], [60.0, -10.0], [10.0, 50.0], [-20.0, -30.0]]]}


def definition(**changed: Any) -> CubeDefinition:
    plain = {"dimensions": [[GEO], ["kind"]], "measures": ["sum(x) AS total"], **changed}
    return CubeDefinition.parse(plain, needs_time=False)


def records() -> pa.Table:
    random = np.random.default_rng(5)
    latitudes, longitudes = random.normal(0, 40, COUNT), random.normal(0, 80, COUNT)
    latitudes[:3], longitudes[:3] = [90.0, -90.0, 0.0], [180.0, -180.0, 0.0]
    kinds = random.choice(["a", "b"], COUNT)
    x = pa.array(random.integers(0, 9, COUNT), pa.int32())
    return pa.table({"lat": latitudes, "lon": longitudes, "kind": kinds, "x": x})


def cube(**changed: Any) -> Cube:
    found = Cube(definition(**changed), "lat DOUBLE, lon DOUBLE, kind STRING, x INT")
    table = records()
    for start in range(0, COUNT, 1_000):
        found.fold(table.slice(start, 1_000))
    return found


def in_scope(scope: Any) -> np.ndarray[Any, Any]:
    """Return whether each position is in a scope."""
    table = records()
    latitudes, longitudes = table["lat"].to_numpy(), table["lon"].to_numpy()
    is_sound = (np.abs(latitudes) <= 90) & (np.abs(longitudes) <= 180)
    if isinstance(scope, dict):
        return is_sound & shapely.covers(shape(scope), shapely.points(longitudes, latitudes))
    west, south, east, north = scope
    wide = (longitudes >= west) & (longitudes <= east)
    if west > east:
        wide = (longitudes >= west) | (longitudes <= east)
    return is_sound & wide & (latitudes >= south) & (latitudes <= north)


SCOPES = [
    [-20, -30, 60, 50],
    [150, -60, -150, 60],
    [-180, -90, 180, 90],
    [-45, 0, 45, 45],
    [0, 0, 0, 0],
    [-180, 90, 180, 90],
    TRIANGLE,
]


@pytest.mark.parametrize("scope", SCOPES)
def test_the_count_lies_between_the_two_numbers(scope: Any) -> None:
    found = cube()
    is_in, kinds = in_scope(scope), records()["kind"].to_numpy(zero_copy_only=False)
    (row,) = found.query({"within": scope})["rows"]
    assert row["inside"] <= int(is_in.sum()) <= row["inside"] + row["touched"]
    by_kind = found.query({"by": ["kind"], "within": scope})["rows"]
    for own in by_kind:
        true = int((is_in & (kinds == own["group"]["kind"])).sum())
        assert own["inside"] <= true <= own["inside"] + own["touched"]
    assert sum(own["inside"] for own in by_kind) == row["inside"]
    assert sum(own["touched"] for own in by_kind) == row["touched"]


def test_the_whole_world_has_every_position() -> None:
    (row,) = cube().query({"within": [-180, -90, 180, 90], "measures": ["total"]})["rows"]
    assert (row["inside"], row["touched"]) == (int(in_scope([-180, -90, 180, 90]).sum()), 0)
    assert list(row) == ["group", "total", "inside", "touched"]


def test_measures_are_of_all_cells_that_are_not_outside() -> None:
    found = cube(measures=["count(*) AS n", "sum(x) AS total"])
    rows = found.query({"by": ["geo:10"], "within": TRIANGLE, "order": ["touched DESC", "inside"], "limit": 5})["rows"]
    assert all(row["n"] == row["inside"] + row["touched"] for row in rows)
    assert [row["touched"] for row in rows] == sorted((row["touched"] for row in rows), reverse=True)
    (total,) = found.query({"within": TRIANGLE})["rows"]
    cells = found.query({"by": ["geo:15"], "within": TRIANGLE, "limit": 100_000})["rows"]
    assert sum(row["total"] for row in cells) == total["total"]
    assert all(not (row["inside"] and row["touched"]) for row in cells)


def test_geohashes_select_their_cells() -> None:
    found = cube()
    (row,) = found.query({"within": ["s", "KP"]})["rows"]
    by_cell = found.query({"by": ["geo:10"], "where": "`geo:5` = 's' OR `geo:10` = 'kp'", "measures": ["total"]})
    assert (row["total"], row["touched"]) == (sum(own["total"] for own in by_cell["rows"]), 0)
    (fine,) = found.query({"within": ["s000", "s001"]})["rows"]
    assert fine["inside"] == 0
    assert fine["touched"] > 0


def test_a_scope_without_records() -> None:
    found = cube().query({"within": [10, 89.99, 11, 89.995]})
    assert found["rows"][0]["inside"] == 0
    empty = Cube(definition(), "lat DOUBLE, lon DOUBLE, kind STRING, x INT").query({"within": [0, 0, 1, 1]})
    assert empty["rows"] == [{"group": {}, "total": None, "inside": 0, "touched": 0}]


def test_links_keep_the_scope() -> None:
    found = cube().query({"by": ["geo:5"], "within": TRIANGLE})
    assert all(body["within"] == TRIANGLE for body in [*found["roll_up"], *found["drill_down"]])
    assert {"by": ["geo:5", "geo:10"], "within": TRIANGLE} in found["drill_down"]


def test_a_scope_with_where_and_attributes_of_a_look_up() -> None:
    lookups = {"regions": Lookup("regions", "kind", pa.array(["a"]), {"name": pa.array(["north"])})}
    body = {"by": ["regions.name"], "where": "kind = 'a'", "within": SCOPES[0]}
    (row,) = cube().query(body, lookups)["rows"]
    (plain,) = cube().query({"by": ["kind"], "where": "kind = 'a'", "within": SCOPES[0]})["rows"]
    assert row == {**plain, "group": {"regions.name": "north"}}


def test_one_of_several_geohash_dimensions() -> None:
    two = cube(dimensions=[[GEO], ["geohash(lon, lat, 10) AS swapped"]])
    named = two.query({"within": {"dimension": "GEO", "scope": SCOPES[0]}})["rows"]
    assert named == cube().query({"within": SCOPES[0]})["rows"]
    with pytest.raises(CubeError, match="may be of several dimensions, geo, swapped: name one"):
        two.query({"within": SCOPES[0]})
    with pytest.raises(CubeError, match="within 'x': is no dimension of geohashes: the cube has geo, swapped"):
        two.query({"within": {"dimension": "x", "scope": SCOPES[0]}})


@pytest.mark.parametrize(
    ("plain", "said"),
    [
        ("-20,-30,60,50", "give a box as [west, south, east, north]"),
        ([], "give a box"),
        ([1, 2, 3], "give a box"),
        ([1, 2, True, 4], "give a box"),
        ([1, 2, 3, float("nan")], "give a box"),
        ([1, 2, "s", 4], "give a box"),
        ([0, 10, 1, 5], "has its south above its north"),
        ([0, 10, 181, 20], "is out of range: give longitudes from -180 to 180"),
        ([0, -91, 1, 20], "is out of range"),
        (["s", "dra"], "within 'dra': is no geohash of 1 to 60 bits"),
        (["s"] * (GEOHASHES_MAX + 1), "within 10001: a scope has at most 10,000 geohashes"),
        ({"type": "Point", "coordinates": [1, 2]}, "has no area"),
    ],
)
def test_a_refused_scope(plain: Any, said: str) -> None:
    with pytest.raises(CubeError) as caught:
        cube().query({"within": plain})
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_cube_without_geohashes_has_no_scopes() -> None:
    with pytest.raises(CubeError, match=r"needs a dimension geohash\(lat, lon, bits\), and the cube has none"):
        cube(dimensions=[["kind"]]).query({"within": [0, 0, 1, 1]})
    with pytest.raises(CubeError, match="measure 'inside': is not declared"):
        cube().query({"measures": ["inside"]})
