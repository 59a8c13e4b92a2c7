"""Layers from files of every form, and what of them is refused, with its place."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from asc import Matcher, ShapeError, layer_file, read_layer
from asc.layer_file import file_rows
from asc.spatial.reading import Rules

WEST = [[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]]
BOW_TIE = [[0, 0], [2, 2], [2, 0], [0, 2], [0, 0]]


def feature(ring: object = WEST, **more: Any) -> dict[str, Any]:
    return {"type": "Feature", "geometry": {"type": "Polygon", "coordinates": [ring]}, "properties": {}, **more}


def collection(*features: Any, **more: Any) -> str:
    return json.dumps({"type": "FeatureCollection", "features": features, **more})


FILES = {
    "zones.geojson": collection(feature(id="west"), feature(properties={"id": "east"})),
    "zones.json": "\ufeff" + collection(feature(id="west"), feature(id="east")),
    "zones.ndjson": f"{json.dumps(feature(id='west'))}\n\n\x1e{json.dumps(feature(id='east'))}\n",
    "zones.csv": 'id,ceiling,WKT\nwest,3,"POLYGON ((0 0, 1 0, 1 1, 0 1, 0 0))"\neast,4,POINT (1 2)\n',
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("is_packed", [False, True])
def test_every_form_is_read(name: str, is_packed: bool, tmp_path: Path) -> None:
    path = tmp_path / (f"{name}.gz" if is_packed else name)
    content = FILES[name].encode()
    path.write_bytes(gzip.compress(content) if is_packed else content)
    layer = read_layer(path)
    assert set(layer.features) == {"west", "east"}
    shape = layer.shape("west")
    assert shape is not None
    assert shape.bounds == (0, 0, 1, 1)


def test_the_columns_of_csv_are_properties(tmp_path: Path) -> None:
    path = tmp_path / "zones.csv"
    path.write_text(FILES["zones.csv"], "utf-8")
    assert [row.row.properties for row in file_rows(path, Rules()) if not isinstance(row.row, ShapeError)] == [
        {"id": "west", "ceiling": "3"},
        {"id": "east", "ceiling": "4"},
    ]


def test_the_id_is_a_property_that_is_named(tmp_path: Path) -> None:
    path = tmp_path / "countries.geojson"
    path.write_text(collection(feature(id=1, properties={"A3": "CHE"}), feature(properties={"A3": 7})), "utf-8")
    assert set(read_layer(path, id="A3").features) == {"CHE", "7"}
    with pytest.raises(
        ShapeError, match=r"feature 2: Feature 'without an id': it has no id of its own, nor a property"
    ):
        read_layer(path)
    with pytest.raises(ShapeError, match=r"feature 1: .* it has no property 'B'"):
        read_layer(path, id="B")


BAD = {
    "unknown.shp": ("", "name one that ends in .geojson, .ndjson or .csv"),
    "a.geojson": ("{", "zones.a.geojson, the file '{': is no JSON"),
    "a2.geojson": (
        f"{json.dumps(feature(id='a'))}\n" * 2,
        "has more after its first JSON value: with a Feature a line",
    ),
    "b.geojson": ("[]", "is no JSON object"),
    "c.geojson": ('{"type": "Polygon"}', "GeoJSON of type 'Polygon': a FeatureCollection is wanted"),
    "d.geojson": (collection(3), "feature 1 '3': is no Feature"),
    "e.geojson": (collection(feature(id="a"), feature(id="a")), "feature 2: id 'a': feature 1 has it as well"),
    "f.geojson": (collection(feature(BOW_TIE, id="a")), "feature 1 (a): invalid shape 'Self-intersection at 1 1'"),
    "g.geojson": (
        collection(feature(id="a"), crs={"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::2056"}}),
        "is not longitude and latitude",
    ),
    "h.ndjson": (f"{json.dumps(feature(id='a'))}\nx", "line 2 'x': is no JSON: Expecting value (column 1)"),
    "i.csv": ("id,shape\na,POINT (1 2)\n", "columns 'id, shape': call the column of WKT one of wkt, geometry"),
    "j.csv": ("id,wkt\na,POINT (1\n", "line 2 (a): WKT 'POINT (1'"),
    "k.csv": ("id,wkt\n,POINT (1 2)\n", "line 2: Feature 'without an id'"),
    "l.csv": ("", "columns ''"),
    "m.geojson": ('{"type": "FeatureCollection"}', "features of the FeatureCollection 'missing': give an array"),
    "m2.geojson": ('{"type": "FeatureCollection", "features": null}', "features of the FeatureCollection 'null': give"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_wrong_is_told_with_its_place(name: str, tmp_path: Path) -> None:
    content, said = BAD[name]
    (tmp_path / f"zones.{name}").write_text(content, "utf-8")
    with pytest.raises(ShapeError) as caught:
        read_layer(tmp_path / f"zones.{name}")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        (
            "latin.geojson",
            collection(feature(id="x")).replace('"x"', '"\xe9"').encode("latin-1"),
            "is no UTF-8, at byte",
        ),
        ("half.csv.gz", gzip.compress(FILES["zones.csv"].encode(), mtime=0)[:-12], "cannot be unpacked"),
        ("none.ndjson.gz", b"\x1f\x8bnothing", "cannot be unpacked"),
    ],
)
def test_a_file_that_is_damaged(name: str, content: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ShapeError, match=said):
        read_layer(tmp_path / name)


def test_a_field_of_csv_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layer_file, "_FIELD_BYTES_MAX", 1_000)
    path = tmp_path / "zones.csv"
    path.write_text(f"id,wkt\na,POINT (1 2)\nb,{'x' * 1_001}\n", "utf-8")
    with pytest.raises(ShapeError, match=r"line 3: is no CSV: field larger than field limit \(1000\)"):
        read_layer(path)


def test_other_readers_of_csv_keep_their_limit(tmp_path: Path) -> None:
    before = csv.field_size_limit()
    path = tmp_path / "zones.csv"
    path.write_text(f"id,wkt\na,{' ' * (before + 1)}POINT (1 2)\nb,POINT (3 4)\n", "utf-8")
    rows = file_rows(path, Rules())
    assert next(rows).id == "a"
    assert csv.field_size_limit() == before
    assert [row.id for row in rows] == ["b"]
    assert csv.field_size_limit() == before


def test_what_is_invalid_is_mended_where_it_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "zones.geojson"
    path.write_text(collection(feature(BOW_TIE, id="a")), "utf-8")
    assert "mended" in read_layer(path, repair=True).features["a"].warnings[0]
    with pytest.raises(ShapeError, match="crs 'degrees': write wgs84 or planar"):
        read_layer(path, crs="degrees")


def test_a_plane_and_wide_edges(tmp_path: Path) -> None:
    path = tmp_path / "zones.geojson"
    wide = [[-100, 0], [100, 0], [100, 5], [-100, 5], [-100, 0]]
    document = collection(feature(wide, id="wide"), crs={"properties": {"name": "EPSG:2056"}})
    path.write_text(document, "utf-8")
    assert read_layer(path, crs="planar").is_planar
    path.write_text(collection(feature(wide, id="wide")), "utf-8")
    with pytest.raises(ShapeError, match="edge over 180 degrees"):
        read_layer(path)
    assert not read_layer(path, allow_edges_over_180_deg=True).is_planar


@pytest.mark.parametrize(
    "crs", ["EPSG:2056", [], {}, {"properties": None}, {"properties": ["x"]}, {"properties": {"name": 1}}], ids=repr
)
def test_a_crs_without_a_name_is_none(crs: object, tmp_path: Path) -> None:
    path = tmp_path / "zones.geojson"
    path.write_text(collection(feature(id="a"), crs=crs), "utf-8")
    assert list(read_layer(path).features) == ["a"]


def test_a_matcher_takes_files(tmp_path: Path) -> None:
    path = tmp_path / "zones.geojson"
    path.write_text(collection(feature(id="west")), "utf-8")
    queries = {"in": "ST_Contains(shape('zones', 'west'), ST_Point(x, y))"}
    rows = pa.table({"x": [0.5, 2.0], "y": [0.5, 0.5]})
    for crs in ("wgs84", "planar"):
        matcher = Matcher("x DOUBLE, y DOUBLE", queries, crs=crs, layers={"zones": path})
        assert matcher.match(rows).to_pylist() == [{"row": 0, "query": "in"}]


@pytest.mark.parametrize(
    ("name", "bound"),
    [("z.ndjson", "_LINE_CHARS_MAX"), ("z.csv", "_LINE_CHARS_MAX"), ("z.geojson.gz", "_DOCUMENT_CHARS_MAX")],
)
def test_what_is_too_long_is_refused_before_it_is_read_whole(
    name: str, bound: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"asc.layer_file.{bound}", 100)
    path, text = tmp_path / name, ("wkt,id\n" if name == "z.csv" else "") + "1" * 101
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    with pytest.raises(ShapeError, match=rf"^file of shapes '{name}': has more than 100 characters"):
        list(file_rows(path, Rules()))
    # At the bound it is read, and is no shape.
    monkeypatch.setattr(f"asc.layer_file.{bound}", 101)
    with pytest.raises(ShapeError) as caught:
        list(file_rows(path, Rules()))
    assert "has more than" not in str(caught.value)
