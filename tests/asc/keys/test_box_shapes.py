"""Boxes of records against shapes: as shapely relates them, one by one."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import shapely

from asc.matcher import Matcher
from asc.plan.parts import Part, parts_of, plan_of
from asc.spatial.shape import box_of

SCHEMA = "a DOUBLE, b DOUBLE, c DOUBLE, d DOUBLE, n BIGINT"
BOX = "ST_PolygonFromEnvelope(a, b, c, d)"
FORMS: dict[str, Callable[[Any, Any], Any]] = {
    "ST_Contains({shape}, {box})": shapely.contains,
    "ST_Within({box}, {shape})": shapely.contains,
    "ST_Covers({shape}, {box})": shapely.covers,
    "ST_CoveredBy({box}, {shape})": shapely.covers,
    "ST_Intersects({box}, {shape})": shapely.intersects,
    "ST_Touches({shape}, {box})": shapely.touches,
    "ST_Disjoint({shape}, {box})": shapely.disjoint,
    "ST_DWithin({shape}, {box}, 0.75)": lambda shape, box: shapely.dwithin(shape, box, 0.75),
}


def polygon(random: np.random.Generator) -> shapely.Polygon:
    count = int(random.integers(3, 8))
    angle, reach = np.sort(random.random(count)) * 2 * math.pi, random.uniform(1, 6, count)
    middle = random.uniform(-4, 4, 2)
    found = shapely.Polygon(
        np.round((middle + np.column_stack([np.cos(angle), np.sin(angle)]) * reach[:, None]) * 2) / 2
    )
    return found if found.is_valid and found.area > 0 else polygon(random)


@pytest.mark.parametrize("seed", range(3))
def test_boxes_meet_shapes_as_shapely_relates_them(seed: int) -> None:
    random = np.random.default_rng(seed)
    corner, size = (
        np.round(random.uniform(-6, 6, (2, 300)) * 2) / 2,
        np.round(random.uniform(-0.5, 4, (2, 300)) * 2) / 2,
    )
    corner[0, :3] = np.nan, 200, np.inf
    far = corner + size
    absent = random.random(300) < 0.03
    columns = {"a": pa.array(corner[0], mask=absent), "b": corner[1], "c": far[0], "d": far[1]}
    table = pa.table({**columns, "n": random.integers(0, 9, 300)})
    queries, expected = {}, {}
    for number in range(40):
        shape, (form, relate) = polygon(random), list(FORMS.items())[number % len(FORMS)]
        where = form.format(shape=f"ST_GeomFromText('{shapely.to_wkt(shape)}')", box=BOX)
        negated, also = random.random() < 0.3, random.random() < 0.4
        queries[f"q{number:02}"] = f"{'NOT ' if negated else ''}{where}{' AND n > 4' if also else ''}"
        rows = []
        for row, values in enumerate(table.to_pylist()):
            corners = [values[name] for name in "abcd"]
            if None in corners or not all(map(math.isfinite, corners)) or abs(corners[0]) > 180:
                continue
            if corners[0] <= corners[2] and corners[1] <= corners[3] and (not also or values["n"] > 4):
                rows += [row] if bool(relate(shape, box_of(*corners))) != negated else []
        expected[f"q{number:02}"] = rows
    matcher = Matcher(SCHEMA, queries)
    found = {one["query"]: one["rows"] for one in matcher.match(table, by="query").to_pylist()}
    assert found == expected
    travelled = plan_of([Part.from_bytes(part.to_bytes()) for part in parts_of(matcher.plan)])
    assert [own.sql for own in travelled.p_attributes] == [own.sql for own in matcher.plan.p_attributes]
    assert set(travelled.patterns) == set(matcher.plan.patterns)


def test_a_box_beyond_the_antimeridian_is_tried_at_every_turn() -> None:
    across = "ST_PolygonFromEnvelope(170, -10, 190, 10)"
    queries = {
        "in": f"ST_Contains({across}, {BOX})",
        "meets": f"ST_Intersects({across}, {BOX})",
        "apart": f"ST_Disjoint({across}, {BOX})",
        "touches": f"ST_Touches({across}, {BOX})",
    }
    boxes = [(-178, 0, -175, 5), (172, 0, 180, 5), (-171, 0, -160, 5), (0, 0, 5, 5), (-170, 0, -160, 5)]
    table = pa.table({name: [float(box[place]) for box in boxes] for place, name in enumerate("abcd")})
    table = table.append_column("n", pa.array([0] * 5))
    found = {one["query"]: one["rows"] for one in Matcher(SCHEMA, queries).match(table, by="query").to_pylist()}
    assert found == {"in": [0, 1], "meets": [0, 1, 2, 4], "apart": [3], "touches": [4]}


def test_queries_with_boxes_come_and_go() -> None:
    table = pa.table({"a": [0.0, 5.0], "b": [0.0, 5.0], "c": [1.0, 6.0], "d": [1.0, 6.0], "n": [0, 0]})
    matcher = Matcher(SCHEMA)
    for number in range(30):
        matcher.add(
            f"q{number:02}", f"ST_Intersects(ST_PolygonFromEnvelope({number}, {number}, {number + 1}, 50), {BOX})"
        )
    matcher.remove("q00")
    found = {one["query"]: one["rows"] for one in matcher.match(table, by="query").to_pylist()}
    assert found["q01"] == [0]
    assert found["q05"] == [1]
    assert "q00" not in found
    assert found["q10"] == []
