"""A layer's shapes by name."""

from __future__ import annotations

import shapely

from asc.spatial.feature import Feature
from asc.spatial.layer import Layer


def test_a_row_without_a_shape_has_none() -> None:
    square = shapely.box(0, 0, 1, 1)
    layer = Layer({"square": Feature(square, {}), "fares": Feature(None, {"low": 3})})
    assert layer.shape("square") is square
    assert layer.shape("fares") is None
    assert layer.shape("gone") is None
