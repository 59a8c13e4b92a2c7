"""Fences and positions. If recorded data is available, the fences have shapes of Berlin, and the positions are
positions of aircraft. Otherwise, shapes and positions are generated.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

POSITIONS_FILE = Path("adsb", "adsb_switzerland.csv.gz")
SHAPES_FILE = Path("osm_berlin", "sf_green.geojson.gz")

Reals = npt.NDArray[np.float64]

_METRES_A_DEGREE = 111_195.0
_LEAST_M, _GREATEST_M = 200.0, 2_000.0
_BESIDE = 0.75
"""The largest distance between the middle of a fence and the position near which the fence is placed. It applies to
each axis, and is a multiple of the fence's width.
"""

_MADE_SHAPES = 500
_MADE_POSITIONS = 20_000
_SEED = 20_180_801


@dataclass(frozen=True, slots=True)
class Fences:
    """Fences, which are polygons 0.2 to 2 km wide, and the positions near which they are placed. Coordinates are in
    degrees, longitude first.

    ``recorded``: true if the positions are recorded positions of aircraft, and the fences have the shapes of green
    areas of Berlin.
    """

    shapes: npt.NDArray[Any]
    positions: Reals
    recorded: bool


def fences(count: int, data_dir: Path | None, seed: int = _SEED) -> Fences:
    """Draw ``count`` fences, and return the fences with all positions in random order. A few fences are omitted because
    they are invalid polygons. Shapes and positions are generated if the folder lacks one of the two files.

    Each fence is a shape drawn from all shapes, scaled to a random width, and moved near a position. Of a hundred
    thousand fences, 0.4 fences contain a position on average.
    """
    import shapely

    random = np.random.default_rng(seed)
    recorded = data_dir is not None and all((data_dir / name).exists() for name in (POSITIONS_FILE, SHAPES_FILE))
    if recorded and data_dir is not None:
        outlines, positions = _recorded_shapes(data_dir / SHAPES_FILE), _recorded_positions(data_dir / POSITIONS_FILE)
    else:
        outlines, positions = _made_shapes(random), random.uniform((6.0, 45.5), (10.5, 48.0), (_MADE_POSITIONS, 2))
    positions = positions[random.permutation(len(positions))]
    drawn = random.integers(0, len(outlines), count)
    middle = positions[random.integers(0, len(positions), count)]
    width = np.exp(random.uniform(np.log(_LEAST_M), np.log(_GREATEST_M), count)) / _METRES_A_DEGREE
    middle = middle + random.uniform(-_BESIDE, _BESIDE, (count, 2)) * width[:, None]
    bounds = shapely.bounds(outlines[drawn])
    extent = np.maximum(bounds[:, 2] - bounds[:, 0], bounds[:, 3] - bounds[:, 1])
    vertices, owner = shapely.get_coordinates(outlines[drawn], return_index=True)
    centre = (bounds[:, :2] + bounds[:, 2:]) / 2
    moved = (vertices - centre[owner]) * (width / extent)[owner, None] + middle[owner]
    shapes = shapely.set_coordinates(outlines[drawn].copy(), moved)
    # Omit invalid polygons: scaling rounds the vertices, so that the edges of a few shapes cross.
    return Fences(shapes[shapely.is_valid(shapes)], positions, recorded)


def _recorded_shapes(path: Path) -> npt.NDArray[Any]:
    import shapely

    features = json.loads(gzip.decompress(path.read_bytes()))["features"]
    found = shapely.from_geojson([json.dumps(one["geometry"]) for one in features if one["geometry"]])
    parts = shapely.get_parts(shapely.force_2d(found))
    is_area = (shapely.get_type_id(parts) == shapely.GeometryType.POLYGON) & ~shapely.is_empty(parts)
    areas: npt.NDArray[Any] = parts[is_area & shapely.is_valid(parts)]
    return areas


def _recorded_positions(path: Path) -> Reals:
    import pyarrow.csv as pv

    table = pv.read_csv(path).select(["longitude", "latitude"]).drop_null()
    return np.column_stack([table[name].to_numpy() for name in table.column_names]).astype(np.float64)


def _made_shapes(random: np.random.Generator) -> npt.NDArray[Any]:
    import shapely

    found = []
    for count in random.integers(4, 40, _MADE_SHAPES).tolist():
        angle = np.sort(random.random(count)) * 2 * np.pi
        reach = random.uniform(0.3, 1.0, count)
        found.append(shapely.Polygon(np.column_stack([reach * np.cos(angle), reach * np.sin(angle)])))
    shapes = np.array(found, dtype=object)
    areas: npt.NDArray[Any] = shapes[shapely.is_valid(shapes)]
    return areas
