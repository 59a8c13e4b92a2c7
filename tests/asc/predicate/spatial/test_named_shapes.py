"""What a text names is found without its schema, and never less than what is read with it."""

from __future__ import annotations

import pytest
import shapely

from asc.predicate import normalise
from asc.predicate.spatial.named_shapes import named_shapes
from asc.schema import Schema
from asc.spatial.feature import Feature
from asc.spatial.layer import Layer

SQUARE = Feature(shapely.box(0, 0, 1, 1), {})
IDS = ("a", "b c", "it's", "Ærø", "shape", "x, 'y'", "back\\slash", "")
SCHEMA = Schema.from_ddl("lon DOUBLE, lat DOUBLE, name STRING").with_layers(
    {name: Layer(dict.fromkeys(IDS, SQUARE)) for name in ("zones", "shapes")}
)
NAMING = {
    "shape('zones', 'a')": {("zones", "a")},
    "SHAPE( 'zones' ,\n'a' )": {("zones", "a")},
    'shape("zones", "it\'s")': {("zones", "it's")},
    "shape('zones', 'it\\'s')": {("zones", "it's")},
    "shape('zones', /* where */ 'a')": {("zones", "a")},
    "shape('zones', -- of 'b'\n 'a')": {("zones", "a")},
    "`shape`('zones', 'a')": {("zones", "a")},
    "shape('shapes', 'shape')": {("shapes", "shape")},
    "shape('zones', 'x, \\'y\\'')": {("zones", "x, 'y'")},
    "shape(r'zones', R'back\\slash')": {("zones", "back\\slash")},
    "shape('zon' 'es', 'a')": {("zones", "a")},
    "shape('zones', 'Ærø')": {("zones", "Ærø")},
    "shape('zones', '')": {("zones", "")},
}


@pytest.mark.parametrize("text", NAMING)
def test_every_spelling_is_found_as_it_is_read(text: str) -> None:
    where = f"name = 'x' OR NOT ST_Contains({text}, ST_Point(lon, lat))"
    assert named_shapes(where) == NAMING[text]
    assert normalise(where, SCHEMA).shapes == NAMING[text]


def test_several() -> None:
    where = "ST_Within(ST_Point(lon, lat), shape('a', 'b')) AND NOT ST_Touches(shape('a', 'c'), ST_Point(lon, lat))"
    assert named_shapes(where) == {("a", "b"), ("a", "c")}


@pytest.mark.parametrize("text", ["delay > 3", "shape > 3", "shape = 'a'", "shape('a', ", "shape('a')", "shape(a, b)"])
def test_what_names_none(text: str) -> None:
    assert named_shapes(text) == frozenset()


def test_a_long_text_is_read_whatever_the_limits_of_predicates() -> None:
    where = " OR ".join(f"ST_Contains(shape('zones', /**/ 'z{i}'), ST_Point(lon, lat))" for i in range(2_000))
    assert len(named_shapes(where)) == 2_000
