"""Cells of points, beside the contract of all ways to compute labels."""

from __future__ import annotations

import numpy as np
import pytest

from asc.operators.dbscan import cells as module
from asc.operators.dbscan.cells import Cells, CellSetting, labels_by_cells
from asc.operators.dbscan.reference import labels as labels_by_reference
from tests.asc.operators.dbscan.label_methods import heaps

SETTINGS = [CellSetting(radius, least) for radius in (0.01, 0.011, 0.05, 0.2) for least in (1, 2, 7, 40)]


@pytest.mark.parametrize("attributes", [1, 2, 5])
def test_near_cells_that_have_no_room_together_are_listed_a_part_at_a_time(
    monkeypatch: pytest.MonkeyPatch, attributes: int
) -> None:
    points = heaps(400, attributes=attributes)
    whole = dict(labels_by_cells(points, SETTINGS))
    monkeypatch.setattr(module, "_CAPACITY", 1)
    own = Cells.of(points, 0.01, 0.05)
    parts = list(own.near())
    assert len(parts) > 1
    assert [part[0] for part in parts[1:]] == [part[1] for part in parts[:-1]]
    assert parts[-1][1] == own.grid.cells
    for setting, found in labels_by_cells(points, SETTINGS):
        assert np.array_equal(found.labels, whole[setting].labels)
        numbers, core = labels_by_reference(points, setting.radius, setting.min_samples)
        assert np.array_equal(found.labels, numbers)
        assert np.array_equal(found.is_core, core)


def test_the_nearest_points_of_each_are_those_within_the_widest_radius() -> None:
    points = heaps(300)
    squares = ((points[:, np.newaxis] - points) ** 2).sum(axis=2)
    np.fill_diagonal(squares, np.inf)
    wanted = np.sort(squares, axis=1)[:, :12]
    found = Cells.of(points, 0.04, 0.05).nearest(12)
    near = wanted <= 0.05 * 0.05
    assert near.any()
    assert not near.all()
    assert np.allclose(found[near], wanted[near], rtol=1e-12)
    assert (found[~near] > 0.05 * 0.05).all()


def test_radii_that_are_alike_share_their_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[float, float]] = []
    of = Cells.of

    def counted(values: object, least: float, widest: float, orders: object) -> Cells:
        made.append((least, widest))
        return of(values, least, widest, orders)  # type: ignore[arg-type]

    monkeypatch.setattr(Cells, "of", counted)
    list(labels_by_cells(heaps(100), [CellSetting(radius, 3) for radius in (0.1, 0.11, 0.12, 0.13, 0.2)]))
    assert made == [(0.2, 0.2), (0.11, 0.13), (0.1, 0.1)]


def test_no_setting_makes_no_cells() -> None:
    assert list(labels_by_cells(heaps(10), [])) == []
