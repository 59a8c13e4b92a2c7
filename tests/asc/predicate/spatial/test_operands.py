"""Shapes by name: what they mean, what is refused, and what becomes of those that are gone."""

from __future__ import annotations

import pyarrow as pa
import pytest
import shapely

from asc import Layer, Matcher, PredicateError, Schema
from asc.predicate import normalise
from asc.spatial.feature import Feature

ZONES = {
    "west": Feature(shapely.box(0, 0, 1, 1), {}),
    "east": Feature(shapely.box(1, 0, 2, 1), {}),
    "spot": Feature(shapely.Point(8.5, 47.25), {}),
    "nothing": Feature(None, {}),
}
SCHEMA = Schema.from_ddl("lon DOUBLE, lat DOUBLE, n INT").with_layers({"zones": Layer(ZONES)})
ROWS = pa.table(
    {"lon": [0.5, 1.0, 1.5, None, 8.5], "lat": [0.5, 0.5, 0.5, 0.5, 47.25], "n": pa.array([1] * 5, pa.int32())}
)


@pytest.mark.parametrize(
    ("named", "literal"),
    [
        ("ST_Contains(shape('zones', 'west'), ST_Point(lon, lat))", "ST_PolygonFromEnvelope(0, 0, 1, 1)"),
        ("NOT ST_Covers(shape('zones', 'west'), ST_Point(lon, lat))", "ST_PolygonFromEnvelope(0, 0, 1, 1)"),
        ("ST_DWithin(ST_Point(lon, lat), shape('zones', 'west'), .6) AND n = 1", "ST_PolygonFromEnvelope(0, 0, 1, 1)"),
        ("ST_DistanceSphere(shape('zones', 'spot'), ST_Point(lon, lat)) <= 10", "ST_Point(8.5, 47.25)"),
        ("ST_Intersects(ST_Expand(shape('zones', 'spot'), 1, 1), ST_Point(lon, lat))", "ST_Point(8.5, 47.25)"),
    ],
)
def test_a_name_means_the_shape(named: str, literal: str) -> None:
    shape = named[named.index("shape(") : named.index(")", named.index("shape(")) + 1]
    matcher = Matcher(SCHEMA, {"named": named, "literal": named.replace(shape, literal)})
    found = matcher.match(ROWS, by="query").to_pylist()
    assert found[0]["rows"] == found[1]["rows"]
    assert found[0]["rows"]


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        ("shape('zones', 'wets')", r"no such shape: .*: layer 'zones' has none of that id: did you mean 'west'\?"),
        ("shape('zones', 'nothing')", "no such shape"),
        ("shape('zone', 'west')", "unknown layer: .*: known: zones"),
        ("shape('zones')", "shape with 1 arguments: .* it takes 2"),
        ("shape('zones', 'west', 'x')", "shape with 3 arguments"),
        ("shape('zones', n)", r"name of a shape: .* write shape\('layer', 'id'\), both constant strings"),
        ("shape('zones', NULL)", "name of a shape"),
        ("shape('zones', 7)", "name of a shape"),
    ],
)
def test_what_is_refused(shape: str, said: str) -> None:
    with pytest.raises(PredicateError, match=said):
        normalise(f"ST_Contains({shape}, ST_Point(lon, lat))", SCHEMA)


def test_a_name_alone_is_no_predicate() -> None:
    with pytest.raises(PredicateError, match="an argument of ST_Contains"):
        normalise("shape('zones', 'west') IS NULL", SCHEMA)


@pytest.mark.parametrize("crs", ["wgs84", "planar"])
def test_degrees_and_a_plane_do_not_mix(crs: str) -> None:
    schema = SCHEMA.with_crs(crs).with_layers({"zones": Layer(ZONES, is_planar=crs == "wgs84")})
    with pytest.raises(PredicateError, match=r"layer of another crs: .* the positions in"):
        normalise("ST_Contains(shape('zones', 'west'), ST_Point(lon, lat))", schema)


def test_what_is_gone_is_null_where_it_is_waited_for() -> None:
    gone = "ST_Contains(shape('zones', 'gone'), ST_Point(lon, lat))"
    found = normalise(f"NOT {gone} OR n = 1", SCHEMA, may_wait=True)
    assert found.missing_shapes == found.shapes == {("zones", "gone")}
    assert [[str(attribute) for attribute, _ in conjunct] for conjunct in found.conjuncts] == [["n"]]
    assert any("waits for zones/gone" in warning for warning in found.warnings)
    # NULL, and so is its NOT.
    for where in (gone, f"NOT {gone}"):
        alone = normalise(where, SCHEMA, may_wait=True)
        assert (alone.conjuncts, alone.match_all) == ((), False)
    assert normalise(f"{gone} IS NULL", SCHEMA, may_wait=True).match_all
    # The columns are named all the same, for tokens are held to them.
    assert normalise(gone, SCHEMA, may_wait=True).columns == {("lon",), ("lat",)}
