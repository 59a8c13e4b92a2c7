"""Natural Earth's countries and some of its ports, packaged with the project: the map under the simulated aircraft.

The command ``python -m workloads.natural_earth COUNTRIES PORTS`` generates the samples again, byte for byte. Its inputs
are the tables ``ne_110m_admin_0_countries`` and ``ne_10m_ports`` as GeoJSON, gzipped (see ``data/README.md``).
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

_DIGITS = 7
"""The number of decimal digits of a coordinate in degrees, which is a precision of about a centimetre. With fewer
digits, more countries would become invalid polygons.
"""

_EUROPE = (-10.0, 35.0, 30.0, 62.0)


class Place(NamedTuple):
    """A place between which aircraft fly: its name, and its position in degrees."""

    name: str
    longitude: float
    latitude: float


def countries_path() -> Path:
    """Return the path of the 177 countries as GeoJSON with the properties ``ADM0_A3`` and ``NAME``. The shape of one
    country is no valid polygon.
    """
    return Path(__file__).parent / "data" / "countries.geojson.gz"


def places_path() -> Path:
    """Return the path of the ports of Europe as a JSON list, with one port per name."""
    return Path(__file__).parent / "data" / "places.json.gz"


def places() -> list[Place]:
    """Return the ports, ordered by name."""
    with gzip.open(places_path(), "rt", encoding="utf-8") as file:
        return [Place(*row) for row in json.load(file)]


def write_samples(countries: Path, ports: Path, folder: Path) -> None:
    """Write the packaged countries and ports into a folder. ``countries`` and ``ports`` are the files with the whole
    tables. Of a country, only two properties and coordinates with seven decimal digits are retained.
    """
    kept = [
        {
            "type": "Feature",
            "properties": {name: one["properties"][name] for name in ("ADM0_A3", "NAME")},
            "geometry": {**one["geometry"], "coordinates": _rounded(one["geometry"]["coordinates"])},
        }
        for one in _features(countries)
    ]
    _write(folder / countries_path().name, {"type": "FeatureCollection", "features": kept})
    named = {_place(one).name: _place(one) for one in _features(ports)}
    west, south, east, north = _EUROPE
    inside = [one for one in named.values() if west < one.longitude < east and south < one.latitude < north]
    _write(folder / places_path().name, sorted(inside))


def _features(path: Path) -> list[Mapping[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        found: list[Mapping[str, Any]] = json.load(file)["features"]
    return found


def _place(feature: Mapping[str, Any]) -> Place:
    longitude, latitude = _rounded(feature["geometry"]["coordinates"])
    return Place(feature["properties"]["name"], longitude, latitude)


def _rounded(coordinates: Any) -> Any:
    return round(coordinates, _DIGITS) if isinstance(coordinates, (int, float)) else [*map(_rounded, coordinates)]


def _write(path: Path, document: object) -> None:
    content = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
    with path.open("wb") as raw, gzip.GzipFile("", "wb", compresslevel=9, fileobj=raw, mtime=0) as file:
        file.write(content)


if __name__ == "__main__":
    write_samples(Path(sys.argv[1]), Path(sys.argv[2]), countries_path().parent)
