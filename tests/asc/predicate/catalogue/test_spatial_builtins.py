"""The functions of shapes as they are listed: every one, with an example that is read."""

from __future__ import annotations

import shapely

from asc.predicate import normalise
from asc.predicate.catalogue.spatial_builtins import spatial_builtins
from asc.predicate.spatial.spatial_forms import SPATIAL_FUNCTIONS
from asc.schema import Schema
from asc.spatial.feature import Feature
from asc.spatial.layer import Layer

ZONES = Layer({"old-town": Feature(shapely.box(8.5, 47.3, 8.6, 47.4), {})})
SCHEMA = Schema.from_ddl("lon DOUBLE, lat DOUBLE").with_layers({"zones": ZONES})


def test_every_function_is_listed_with_an_example_that_is_read() -> None:
    listed = spatial_builtins()
    assert {one.name for one in listed} == SPATIAL_FUNCTIONS
    for one in listed:
        assert one.name in one.example.lower()
        assert normalise(one.example, SCHEMA).conjuncts
