"""Plans of BBoxDB Streams as predicates: what each part becomes, against boxes by plain arithmetic."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from asc.predicate import normalise
from asc.schema import Schema
from asc.spatial.shape import EARTH_RADIUS_M
from broker.errors import InputError
from broker.importers.bboxdb_plan import translated

SHIPS = "ST_Point(x, y)"


def plan(**more: Any) -> str:
    """As BBoxDB's own plan builder writes it."""
    own = {
        "type": "query-plan",
        "query-uuid": "7d0dc2a2",
        "query-type": "range-query",
        "stream-table": "dgroup_ships",
        "query-range": "[[-10.0,10.0]:[0.0,20.0]]",
        "compare-rectangle": "[[1.0,2.0]:[3.0,4.0]]",
        "report-positive": True,
        "report-watermarks": False,
        "report-invalidations": False,
        "invalidate-state-after": 0,
        "stream-filter": [],
        "stream-transformations": [],
    }
    if more.get("query-type") == "join-query":
        del own["compare-rectangle"], own["report-positive"]
        own.update({"join-table": "dgroup_reefs", "table-transformations": [], "join-filter": []})
    return json.dumps({**own, **more})


def steps(*steps: tuple[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in steps]


RANGE = "ST_Intersects(ST_PolygonFromEnvelope(-10.0, 0.0, 10.0, 20.0), ST_Point(x, y))"


def test_a_range_query_is_its_range_and_what_it_is_compared_with() -> None:
    found = translated(plan(), SHIPS)
    compared = "ST_Intersects(ST_PolygonFromEnvelope(1.0, 3.0, 2.0, 4.0), ST_Point(x, y))"
    assert (found.where, found.stream, found.layer) == (f"{RANGE}\nAND {compared}", "ships", None)
    negative = translated(plan(**{"report-positive": False}), SHIPS)
    assert negative.where == f"{RANGE}\nAND NOT ({compared})"
    assert translated(plan(**{"query-range": "[]", "compare-rectangle": "[]"}), SHIPS).where == "true"
    default = translated(plan(**{"compare-rectangle": "[]"}), None).where
    assert default == RANGE.replace("ST_Point(x, y)", "ST_Point(longitude, latitude)")


def test_filters_stand_where_they_are_asked() -> None:
    chain = steps(("bbox-filter", "[[0,1]:[0,1]]"), ("key-filter", "it's"), ("bbox-enlarge-by-amount", "2.0"))
    found = translated(plan(**{"stream-transformations": [*chain, *steps(("bbox-filter", "[[5,6]:[5,6]]"))]}), SHIPS)
    terms = found.where.split("\nAND ")
    assert terms[1:3] == [
        "ST_Intersects(ST_PolygonFromEnvelope(0.0, 0.0, 1.0, 1.0), ST_Point(x, y))",
        "_key = 'it\\'s'",
    ]
    wide = "ST_PolygonFromEnvelope((x) - 1.0D, (y) - 1.0D, (x) + 1.0D, (y) + 1.0D)"
    assert terms[3] == f"ST_Intersects(ST_PolygonFromEnvelope(5.0, 5.0, 6.0, 6.0), {wide})"
    assert terms[4] == f"ST_Intersects(ST_PolygonFromEnvelope(1.0, 3.0, 2.0, 4.0), {wide})"
    shape = '{"type":"Point","coordinates":[1,2]}'
    filters = [
        {"filter-class": "org.bboxdb.network.query.filter.UserDefinedGeoJsonSpatialFilter", "filter-value": shape}
    ]
    term = translated(plan(**{"stream-filter": filters}), SHIPS).where.split("\nAND ")[1]
    assert term == f"ST_Intersects(ST_GeomFromGeoJSON('{shape}'), ST_Point(x, y))"


def test_a_join_is_over_its_layer() -> None:
    name = "org.bboxdb.network.query.filter.UserDefinedGeoJsonSpatialFilter"
    found = translated(plan(**{"query-type": "join-query"}), SHIPS)
    assert (found.layer, found.where) == ("reefs", f"{RANGE}\nAND ST_Intersects(reefs.geometry, ST_Point(x, y))")
    chain = steps(("bbox-enlarge-by-amount", "2"))
    filters = [{"filter-class": name, "filter-value": "name:Elizabeth Street"}, {"filter-class": f"{name}Strict"}]
    more = {"query-type": "join-query", "stream-transformations": chain, "join-filter": filters}
    terms = translated(plan(**more), SHIPS).where.split("\nAND ")
    assert terms[1].startswith("ST_Intersects(reefs.geometry, ST_PolygonFromEnvelope(")
    # The filters are of what the record is, not of its enlarged box.
    assert terms[2:] == [
        "reefs.name = 'Elizabeth Street'",
        "ST_DWithin(reefs.geometry, ST_Point(x, y), 0.0001)",
        "ST_Intersects(reefs.geometry, ST_Point(x, y))",
    ]


def test_other_dimensions_are_compared_one_by_one() -> None:
    stock = plan(**{"query-range": "[[0,9999]]", "compare-rectangle": "[[100,9999]]"})
    assert translated(stock, None, ["price"]).where == (
        "price <= 9999.0D AND price >= 0.0D\nAND price <= 9999.0D AND price >= 100.0D"
    )
    cube = plan(**{"query-range": "[]", "compare-rectangle": "[[0,1]:[2,3]:[4,5]]"})
    found = translated(cube, None, ["a", "b, c", "least(d, 1)"]).where
    assert found == (
        "a <= 1.0D AND a >= 0.0D AND b <= 3.0D AND c >= 2.0D AND least(d, 1) <= 5.0D AND least(d, 1) >= 4.0D"
    )


def accepted(where: str, rows: list[tuple[float, float]], spark: Any) -> list[bool]:
    """What Spark has of the terms without shapes: the ends of the box, for each row."""
    frame = spark.createDataFrame(rows, "x DOUBLE, y DOUBLE")
    inside = where[where.rindex("ST_PolygonFromEnvelope(") + len("ST_PolygonFromEnvelope(") : -2]
    found = frame.selectExpr(f"array({inside}) AS box").collect()
    return [row["box"] for row in found]


@pytest.mark.spark
@pytest.mark.parametrize("as_bboxdb", [False, True])
def test_boxes_are_enlarged_as_the_paper_says_or_its_code(spark: Any, as_bboxdb: bool) -> None:
    rows = [(8.5, 47.25), (-179.999, -60.0), (0.0, 90.0)]
    chain = steps(("bbox-enlarge-by-amount", "0.5"), ("bbox-enlarge-by-factor", "3"))
    where = translated(plan(**{"stream-transformations": chain}), SHIPS, as_bboxdb=as_bboxdb).where
    for (x, y), box in zip(rows, accepted(where, rows, spark), strict=True):
        side = 0.5 if as_bboxdb else 0.25
        side += (2 if as_bboxdb else 3) * 2 * side / 2
        assert box == pytest.approx([x - side, y - side, x + side, y + side])
    chain = steps(("bbox-enlarge-by-wgs84", "2000.0,3000.0"))
    where = translated(plan(**{"stream-transformations": chain}), SHIPS, as_bboxdb=as_bboxdb).where
    for (x, y), box in zip(rows, accepted(where, rows, spark), strict=True):
        if as_bboxdb:
            across = 1_000 * 360 / abs(math.cos(math.radians(x)) * 6_371_000)
            up = 1_500 * 360 / 6_356_800
            assert box == pytest.approx([x - across, y - up, x + across, y + up])
            continue
        up = math.degrees(1_000 / EARTH_RADIUS_M)
        south, north = max(-90, y - up), min(90, y + up)
        across = math.degrees(1_500 / EARTH_RADIUS_M) / math.cos(math.radians(max(abs(south), abs(north))))
        assert box == pytest.approx([max(-180, x - across), south, min(180, x + across), north])
        assert north < 90 or box[0] == -180
    # It is a predicate of this language.
    schema = Schema.from_ddl("x DOUBLE, y DOUBLE, _key STRING")
    assert normalise(where, schema).read


def test_invalidations_are_events() -> None:
    assert translated(plan(**{"report-invalidations": True}), SHIPS).events == ("enter", "exit")
    found = translated(
        plan(**{"report-invalidations": True, "invalidate-state-after": 3, "report-watermarks": True}), SHIPS
    )
    assert found.events == ("enter", "exit", "lost")
    assert [warning.partition(":")[0] for warning in found.warnings] == [
        "report-watermarks",
        "invalidate-state-after 3",
    ]


REFUSED = [
    ("{", "plan '{': is no JSON"),
    ('{"type": "other"}', "is no query plan of BBoxDB"),
    (plan(**{"query-type": "other"}), "query-type 'other': is to be range-query or join-query"),
    (plan(**{"query-range": "[[1,2]]"}), "dimensions of a box of the plan 1: the record's box has 2"),
    (plan(**{"query-range": "[[1,Infinity]:[2,3]]"}), "its ends are to be finite numbers"),
    (plan(**{"query-range": "somewhere"}), "box of the plan 'somewhere': is none"),
    (plan(**{"query-range": "[[a,b]:[c,d]]"}), "its ends are to be finite numbers"),
    (plan(**{"compare-rectangle": "[]", "report-positive": False}), "outside of all of space is nothing"),
    (plan(**{"stream-table": None}), "stream-table of the plan 'None': is to be the name of a table"),
    (plan(**{"stream-filter": ["x"]}), "stream-filter of the plan"),
    (plan(**{"stream-filter": [{"filter-class": "a.b.Mine"}]}), "filter 'Mine': has no counterpart"),
    (plan(**{"stream-transformations": steps(("user-defined-filter", "x"))}), "transformation 'user-defined-filter'"),
    (plan(**{"stream-transformations": steps(("bbox-enlarge-by-amount", "wide"))}), "is to have 1 finite number"),
    (plan(**{"stream-transformations": steps(("bbox-enlarge-by-wgs84", "1"))}), "is to have 2 finite numbers"),
    (plan(**{"stream-transformations": steps(*[("bbox-enlarge-by-wgs84", "1,1")] * 30)}), "20,000 characters"),
    (plan(**{"query-type": "join-query", "report-positive": False}), "report-positive 'false': of a join"),
    (
        plan(**{"query-type": "join-query", "table-transformations": steps(("bbox-filter", "[]"))}),
        "table-transformations 1",
    ),
    (
        plan(
            **{
                "query-type": "join-query",
                "join-filter": [{"filter-class": "UserDefinedGeoJsonSpatialFilter", "filter-value": "x"}],
            }
        ),
        "filter-value 'x': is to be key:value",
    ),
]


@pytest.mark.parametrize(("text", "said"), REFUSED, ids=[said for _, said in REFUSED])
def test_what_has_no_counterpart_is_refused_in_one_line(text: str, said: str) -> None:
    with pytest.raises(InputError) as refused:
        translated(text, SHIPS)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("position", ["x, y", "ST_Point(x)", "ST_PolygonFromEnvelope(a, b)", "point(x, y)"])
def test_a_position_is_a_point_or_an_envelope(position: str) -> None:
    with pytest.raises(InputError, match="write ST_Point"):
        translated(plan(), position)
