"""Evaluation errors of positions: which queries of listed blocks they concern."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from asc.evaluation.evaluation_errors import queries_with_errors
from asc.plan.compiler import compile_plan
from asc.plan.plan import Query
from asc.predicate import normalise
from workloads.drawn_fences import SCHEMA, columns_of


def test_an_unknown_position_concerns_the_queries_whose_other_terms_hold() -> None:
    sqls = {
        "fence": "ST_Contains(ST_PolygonFromEnvelope(0, 0, 4, 4), ST_Point(lon, lat))",
        "low": "ST_Contains(ST_PolygonFromEnvelope(0, 0, 4, 4), ST_Point(lon, lat)) AND alt < 10",
        "high": "ST_Contains(ST_PolygonFromEnvelope(0, 0, 4, 4), ST_Point(lon, lat)) AND alt > 10",
        "other": "ST_Contains(ST_PolygonFromEnvelope(0, 0, 4, 4), ST_Point(x, y))",
        "two": "ST_Contains(ST_PolygonFromEnvelope(0, 0, 4, 4), ST_Point(lon, lat)) AND "
        "ST_Contains(ST_PolygonFromEnvelope(0, 0, 4, 4), ST_Point(x, y))",
        "not": "NOT ST_Contains(ST_PolygonFromEnvelope(0, 0, 4, 4), ST_Point(lon, lat))",
    }
    plan = compile_plan(Query(i, normalise(sql, SCHEMA)) for i, sql in sqls.items())
    table = pa.table(
        {
            "lon": [500.0, 500.0],
            "lat": [1.0, 1.0],
            "x": pa.array([1, 9], pa.float32()),
            "y": pa.array([1, 9], pa.float32()),
            "alt": pa.array([5, 50], pa.int32()),
            "s": ["a", "b"],
        }
    )
    errors = {slot: np.ones(2, dtype=np.bool_) for slot, own in enumerate(plan.p_attributes) if "lon" in str(own)}
    handles, counts = queries_with_errors(plan, columns_of(plan, table), errors)
    found = {plan.query_ids[int(plan.ranks[h])].as_py(): int(c) for h, c in zip(handles, counts, strict=True)}
    assert found == {"fence": 2, "low": 1, "high": 1, "two": 1, "not": 2}
