"""Points of the benchmark: recorded ones where a folder has them, and the same made ones each time."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np

from bench.dbscan_points import AIRCRAFT_FILE, aircraft, heaps


def test_recorded_positions_are_in_order_of_time_and_begin_anew(tmp_path: Path) -> None:
    file = tmp_path / AIRCRAFT_FILE
    file.parent.mkdir()
    with gzip.open(file, "wt") as out:
        out.write("ts,icao24,longitude,latitude\n20,a,2.0,47.0\n10,b,1.0,46.0\n30,c,,48.0\n")
    stream = aircraft(tmp_path, 3)
    assert stream.name == "recorded aircraft"
    assert stream.values.tolist() == [[0.68, 46.0], [1.36, 47.0], [0.68, 46.0]]


def test_without_a_folder_they_are_simulated() -> None:
    stream = aircraft(None, 500)
    assert (stream.name, stream.values.shape) == ("simulated aircraft", (500, 2))
    assert len(np.unique(stream.values, axis=0)) > 400


def test_made_points_are_the_same_each_time() -> None:
    assert np.array_equal(heaps(100).values, heaps(100).values)
    assert not np.array_equal(heaps(100).values, heaps(100, seed=1).values)
