"""Positions as unit vectors."""

from __future__ import annotations

import numpy as np
import pytest

from asc.operators.dbscan.sphere import HALF_EARTH_M, chord, position_of, unit_vectors, west_and_east
from asc.spatial.shape import distance_sphere_m


def test_the_chord_of_a_distance_parts_near_from_far() -> None:
    random = np.random.default_rng(0)
    positions = np.column_stack([random.uniform(-180, 180, 300), random.uniform(-90, 90, 300)])
    vectors = unit_vectors(positions)
    for one, other in random.integers(0, 300, (500, 2)):
        metres = distance_sphere_m(*map(float, (*positions[one], *positions[other])))
        far = float(np.sqrt(((vectors[one] - vectors[other]) ** 2).sum()))
        assert far <= chord(min(metres * (1 + 1e-9) + 1, HALF_EARTH_M))
        assert metres < 10 or far > chord(metres * (1 - 1e-9) - 1)


def test_a_vector_is_the_position_it_was_made_of() -> None:
    for lon, lat in ((8.25, 47.5), (-179.5, -89.0), (0.0, 90.0)):
        found = position_of(*unit_vectors(np.array([[lon, lat]]))[0].tolist())
        assert found[1] == pytest.approx(lat)
        assert lat == 90 or found[0] == pytest.approx(lon)


def test_one_longitude_is_its_own_interval() -> None:
    assert west_and_east(np.array([7.5])) == (7.5, 7.5)
    assert west_and_east(np.array([-180.0, 180.0])) == (180.0, -180.0)
    assert west_and_east(np.array([0.0, 120.0, -120.0])) in {(0.0, -120.0), (-120.0, 120.0), (120.0, 0.0)}
