"""Fences: as wide as they say, near positions, the same for the same seed."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import shapely

from workloads.fences import POSITIONS_FILE, SHAPES_FILE, fences


def test_made_fences_are_valid_as_wide_as_they_say_and_near_positions() -> None:
    drawn = fences(200, None)
    bounds = shapely.bounds(drawn.shapes)
    widths = np.maximum(bounds[:, 2] - bounds[:, 0], bounds[:, 3] - bounds[:, 1]) * 111_195
    assert not drawn.recorded
    assert shapely.is_valid(drawn.shapes).all()
    assert (widths > 199).all()
    assert (widths < 2_001).all()
    assert fences(200, None).positions.tolist() == drawn.positions.tolist()


def test_recorded_ones_are_read_from_a_folder(tmp_path: Path) -> None:
    for name in (POSITIONS_FILE, SHAPES_FILE):
        (tmp_path / name).parent.mkdir(parents=True)
    rows = "ts,longitude,latitude\n" + "".join(f"{n},{8 + n / 10},47\n" for n in range(5)) + "9,,47\n"
    (tmp_path / POSITIONS_FILE).write_bytes(gzip.compress(rows.encode()))
    square = {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 0]]]}
    features = [
        {"type": "Feature", "geometry": one} for one in (square, {"type": "Point", "coordinates": [1, 2]}, None)
    ]
    (tmp_path / SHAPES_FILE).write_bytes(gzip.compress(json.dumps({"features": features}).encode()))
    drawn = fences(7, tmp_path)
    assert drawn.recorded
    assert len(drawn.shapes) == 7
    assert sorted(drawn.positions[:, 0].tolist()) == [8.0, 8.1, 8.2, 8.3, 8.4]
    assert {shape.geom_type for shape in drawn.shapes} == {"Polygon"}
