"""Plans: queries by id and ordinal, their constraints, and orders that are put in place."""

from __future__ import annotations

import pyarrow as pa
import pytest

from asc.errors import PlanError
from asc.plan.compiler import change_plan, compile_plan
from asc.plan.plan import CompileOptions, Plan, Query, insertion_point
from asc.predicate import normalise
from asc.schema import Schema

SCHEMA = Schema.from_ddl("a INT, b INT, s STRING")
TEXTS = {"all": "TRUE", "both": "a > 5 AND s = 'x'", "either": "a > 5 OR b < 3", "none": "FALSE"}
MANY = CompileOptions(exact_bytes=0, block_conjuncts=64, rebuild_share=1_000.0)


def query(query_id: str, text: str) -> Query:
    return Query(query_id, normalise(text, SCHEMA), f"topic-{query_id[0]}")


@pytest.fixture
def plan() -> Plan:
    return compile_plan(query(query_id, text) for query_id, text in TEXTS.items())


def test_queries_by_id(plan: Plan) -> None:
    assert len(plan) == 4
    assert [plan.ordinal(query_id) for query_id in sorted(TEXTS)] == [0, 1, 2, 3]
    assert "both" in plan
    assert "bot" not in plan
    assert plan.match_all.tolist() == [0]
    assert plan.topics.to_pylist() == ["topic-a", "topic-b", "topic-e", "topic-n"]
    with pytest.raises(PlanError, match="unknown query 'bot'"):
        plan.handle("bot")


def test_where_a_query_stands_and_what_it_asks(plan: Plan) -> None:
    ((block, bits),) = plan.conjuncts_of("either")
    found = [[(own.sql, constraint) for own, constraint in plan.constraints(block, bit)] for bit in bits]
    expected = normalise(TEXTS["either"], SCHEMA).conjuncts
    assert found == [[(own.sql, constraint) for own, constraint in conjunct] for conjunct in expected]
    assert plan.conjuncts_of("all") == plan.conjuncts_of("none") == []


def test_constructs_are_views_of_the_blocks_memory(plan: Plan) -> None:
    constructs = plan.constructs(0)
    assert [construct.attribute.sql for construct in constructs] == ["a", "b", "s"]
    assert constructs[2].constants == (b"x",)
    assert [construct.qub.count() for construct in constructs] == [2, 1, 1]


def test_orders_are_put_in_place_by_block(plan: Plan) -> None:
    order = plan.blocks[0].order_of([2, 1, 0], [(0, 0, 1)])
    ordered = plan.with_orders({0: order})
    assert ordered.blocks[0].order is order
    assert plan.blocks[0].order is not order
    assert ordered.version == plan.version


def test_orders_found_for_blocks_of_another_plan_follow_the_blocks() -> None:
    numbered = [query(f"q{number:03d}", f"a > {number} AND b < {number}") for number in range(128)]
    old = compile_plan(numbered, MANY)
    assert len(old.blocks) == 2
    # The first ones are at home at b, and so stand behind the others.
    new = change_plan(old, remove=[own.id for own in numbered[64:]])
    assert [block.matrix for block in new.blocks] == [old.blocks[1].matrix]
    orders = {number: block.order_of([1, 0]) for number, block in enumerate(old.blocks)}
    found = new.with_orders_of(old, orders)
    assert found.blocks[0].order is orders[1]
    assert new.with_orders_of(old, {0: orders[0]}) is new


def test_insertion_points_are_those_of_a_sorted_list() -> None:
    ids = pa.array(["b", "d", "ż"])
    assert [insertion_point(ids, own) for own in ("a", "b", "c", "z", "ż", "東")] == [0, 0, 1, 2, 2, 3]
    assert insertion_point(pa.array([], pa.string()), "a") == 0
