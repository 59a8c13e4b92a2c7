"""Standing cubes with a geohash dimension: ageing to coarser cells, views, and restarts, in questions about a scope."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from asc.errors import CubeError
from asc.operators.cube.columns import Columns
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.fold import folded
from asc.operators.cube.keep import bands_of
from asc.operators.cube.layout import Layout
from asc.operators.cube.view import View
from asc.schema import Schema
from broker.operators.cube.keeper import Keeper
from broker.operators.cube.merging import CubeLimits
from broker.operators.cube.partial import Partial
from tests.broker.operators.cube.kept_stream import BASE_US, MINUTE_US, batch, cube_id, minute

SCHEMA = Schema.from_ddl("lat DOUBLE, lon DOUBLE, ts TIMESTAMP")
PLACES = CubeDefinition.parse(
    {
        "dimensions": [["geohash(lat, lon, 5 > 10 > 15) AS geo"]],
        "measures": ["max(lat) AS north"],
        "time": "ts",
        "grain_s": 60,
    }
)
CUBE = cube_id("places", PLACES)
SCOPE = [-20, -30, 60, 50]
MINUTES, A_MINUTE = 61, 40


def positions() -> tuple[Any, Any, Any]:
    """Return the minutes, latitudes and longitudes of the records."""
    random = np.random.default_rng(7)
    count = MINUTES * A_MINUTE
    return np.repeat(np.arange(MINUTES), A_MINUTE), random.uniform(-90, 90, count), random.uniform(-180, 180, count)


def in_scope(first: int, end: int) -> int:
    """Return the number of records in the scope, of some minutes."""
    minutes, latitudes, longitudes = positions()
    west, south, east, north = SCOPE
    is_in = (longitudes >= west) & (longitudes <= east) & (latitudes >= south) & (latitudes <= north)
    return int((is_in & (minutes >= first) & (minutes < end)).sum())


def opened(folder: Path) -> Keeper:
    return Keeper.open(folder / "cubes.sqlite", SCHEMA, CubeLimits(), lateness_s=0, read_to={})


def filled(folder: Path, *keep: str, pins: tuple[View, ...] = ()) -> Keeper:
    keeper = opened(folder)
    keeper.define(CUBE, PLACES, pins=pins)
    keeper.bands.define(CUBE, bands_of(list(keep), PLACES))
    minutes, latitudes, longitudes = positions()
    times = BASE_US + minutes * MINUTE_US
    table = pa.table({"lat": latitudes, "lon": longitudes, "ts": pa.array(times, pa.timestamp("us", "UTC"))})
    found = folded(Layout.of(PLACES, SCHEMA), Columns(table, SCHEMA, "UTC"))
    partial = Partial(found.cells, found.by_pane)
    keeper.commit(batch(0, len(times)), {CUBE: partial}, {"ts": {0: int(times[-1])}})
    keeper.bands.age(10)
    keeper.views.fill(10)
    return keeper


def answer(keeper: Keeper, **body: Any) -> dict[str, Any]:
    return keeper.questions.query(CUBE, {"limit": 100_000, **body})


def test_old_panes_answer_by_their_coarser_cells_and_after_a_restart(tmp_path: Path) -> None:
    keeper = filled(tmp_path, "1min:20min", "10min:2h geo:10")
    found = answer(keeper, within=SCOPE)
    cuboids = [own["cuboid"] for own in found["answered_by"]]
    assert cuboids == [["geo:5", "geo:10"], ["geo:5", "geo:10", "geo:15"]]
    for first, end in ((0, 40), (40, 60), (0, 60)):
        (row,) = answer(keeper, within=SCOPE, **{"from": minute(first), "to": minute(end)})["rows"]
        assert row["inside"] <= in_scope(first, end) <= row["inside"] + row["touched"]
    (old,) = answer(keeper, within=SCOPE, **{"from": minute(0), "to": minute(40)})["rows"]
    (new,) = answer(keeper, within=SCOPE, **{"from": minute(40), "to": minute(60)})["rows"]
    assert old["touched"] / (old["inside"] + old["touched"]) > new["touched"] / (new["inside"] + new["touched"])
    with pytest.raises(CubeError, match="by 'geo:15': is not kept before"):
        answer(keeper, by=["geo:15"], within=SCOPE)
    keeper.close()
    keeper = opened(tmp_path)
    assert answer(keeper, within=SCOPE)["rows"] == found["rows"]
    keeper.close()


def test_panes_without_cells_answer_no_scope(tmp_path: Path) -> None:
    keeper = filled(tmp_path, "1min:20min", "10min:2h geo:0")
    with pytest.raises(CubeError, match="within 'geo:5': needs geo:5, which is not kept before"):
        answer(keeper, within=SCOPE)
    (row,) = answer(keeper, within=SCOPE, **{"from": minute(40)})["rows"]
    assert row["inside"] <= in_scope(40, 60) <= row["inside"] + row["touched"]
    keeper.close()


def test_the_finest_view_answers_unless_another_one_is_named(tmp_path: Path) -> None:
    keeper = filled(tmp_path, pins=(View((1,), 1), View((3,), 10)))
    found = answer(keeper, within=SCOPE, by=["geo:5"])
    assert [own["cuboid"][-1] for own in found["answered_by"]] == ["geo:15"]
    assert found["answered_by"][0]["grain_s"] == 600
    assert answer(keeper, by=["geo:5"])["answered_by"][0]["cuboid"] == ["geo:5"]
    coarse = answer(keeper, within=SCOPE, by=["geo:5"], answer_from={"by": ["geo:5"], "grain_s": 60})
    assert coarse["answered_by"][0]["cuboid"] == ["geo:5"]
    fine, rough = ({row["group"]["geo:5"]: row for row in own["rows"]} for own in (found, coarse))
    assert fine.keys() <= rough.keys()
    assert all(rough[name]["inside"] <= fine[name]["inside"] for name in fine)
    assert sum(row["touched"] for row in rough.values()) > sum(row["touched"] for row in fine.values())
    keeper.close()


def test_a_cursor_is_of_one_scope(tmp_path: Path) -> None:
    keeper = filled(tmp_path)
    first = answer(keeper, by=["geo:10"], within=SCOPE, limit=3)
    rest = answer(keeper, by=["geo:10"], within=SCOPE, cursor=first["cursor"])
    assert first["rows"] + rest["rows"] == answer(keeper, by=["geo:10"], within=SCOPE)["rows"]
    with pytest.raises(CubeError, match="is of another question"):
        answer(keeper, by=["geo:10"], within=["s"], cursor=first["cursor"])
    keeper.close()
