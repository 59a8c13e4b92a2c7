"""The packaged samples of Natural Earth: what is in them, and that they are made again byte for byte."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from asc.errors import ShapeError
from asc.layer_file import file_rows
from asc.spatial.reading import Rules
from workloads.natural_earth import countries_path, places, places_path, write_samples


def test_one_country_is_invalid_as_it_is_in_the_source() -> None:
    rows = list(file_rows(countries_path(), Rules(), "ADM0_A3"))
    refused = {one.id: str(one.row) for one in rows if isinstance(one.row, ShapeError)}
    assert len(rows) == 177
    assert set(refused) == {"SDN"}
    assert "Self-intersection at 33.963393 9.4642852" in refused["SDN"]


def test_places_are_in_europe_and_of_different_names() -> None:
    found = places()
    assert len({place.name for place in found}) == len(found) > 200
    assert all(-10 < place.longitude < 30 and 35 < place.latitude < 62 for place in found)


def test_samples_are_made_of_the_tables(tmp_path: Path) -> None:
    def written(name: str, *features: object) -> Path:
        path = tmp_path / f"{name}.json.gz"
        path.write_bytes(gzip.compress(json.dumps({"features": features}).encode()))
        return path

    ring = [[0.123456789, 1], [2, 3], [4, 5.000000049], [0.123456789, 1]]
    country = {
        "geometry": {"type": "Polygon", "coordinates": [ring]},
        "properties": {"ADM0_A3": "ABC", "NAME": "Abc", "POP": 3},
    }

    def port(name: str, *place: float) -> object:
        return {"properties": {"name": name, "rank": 8}, "geometry": {"type": "Point", "coordinates": place}}

    ports = port("Sète", 3.7, 43.4), port("Bari", 16.9, 41.1), port("Bari", 16.86, 41.13), port("Tokyo", 139.8, 35.6)
    write_samples(written("countries", country), written("ports", *ports), tmp_path)
    (found,) = json.loads(gzip.decompress((tmp_path / countries_path().name).read_bytes()))["features"]
    assert found["properties"] == {"ADM0_A3": "ABC", "NAME": "Abc"}
    assert found["geometry"]["coordinates"] == [[[0.1234568, 1], [2, 3], [4, 5.0], [0.1234568, 1]]]
    chosen = json.loads(gzip.decompress((tmp_path / places_path().name).read_bytes()))
    assert chosen == [["Bari", 16.86, 41.13], ["Sète", 3.7, 43.4]]
