"""Answers of the API as pages are made of, from real plans."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

import pyarrow as pa
import pytest

from asc.evaluation.trace import plain
from asc.evaluation.trace_walk import traced
from asc.plan.compiler import compile_plan
from asc.plan.layout import laid_out
from asc.plan.plan import Plan, Query
from asc.predicate import normalise
from asc.schema import Schema

Answer = Mapping[str, Any]

SCHEMA = Schema.from_ddl("delay INT, city STRING, note STRING")
WHERES = {
    "late": "delay > 30 AND city = 'Oslo'",
    "either": "delay > 90 OR city IN ('Oslo', 'Bergen')",
    "port": "note LIKE '%port%down%' AND delay > 0",
    "early": "delay < 0",
}


def answer_of(
    wheres: Mapping[str, str], values: Mapping[str, Any], query: str | None, schema: Schema = SCHEMA
) -> dict[str, Any]:
    """As ``POST /v1/trace`` answers."""
    plan = compile_plan([Query(name, normalise(where, schema)) for name, where in wheres.items()])
    scalars = [pa.scalar(values[attribute.path[0]], attribute.type) for attribute in plan.p_attributes]
    trace = dict(plain(traced(plan, scalars, query_id=query)))
    return {
        "stream": "flights",
        "version": 7,
        "source": None,
        "record": None,
        "tuple": dict(values),
        "query": None if query is None else {"id": query, "where": wheres[query]},
        "dead_letter": None,
        "verdict": trace.pop("verdict"),
        "trace": trace,
        "warnings": ["field 'nn': not in the stream's schema, excluded"],
    }


@pytest.fixture
def answer() -> dict[str, Any]:
    """Of a query that does not accept a tuple."""
    return answer_of(WHERES, {"delay": 45, "city": "Bergen", "note": "port 7 is down"}, "late")


@pytest.fixture
def answers() -> Callable[..., dict[str, Any]]:
    return answer_of


@pytest.fixture
def block_answers() -> Callable[[Plan], dict[str, Any]]:
    """As ``GET /v1/plan/{stream}/blocks/0`` answers."""

    def of(plan: Plan) -> dict[str, Any]:
        first = plan.blocks[0].sequence.tolist()[0]
        measured = {"construct": first, "conditional_selectivity": 0.25, "dropping_ratio": 0.125}
        monitor = {"dropping_ratio": 0.5, "cost": 2.0, "constructs": [measured]}
        return {"stream": "flights", "version": 7, **asdict(laid_out(plan, 0)), "monitor": monitor}

    return of
