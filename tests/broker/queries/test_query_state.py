"""A start from a snapshot and the records after it comes to what a start from all records comes to."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest

from asc.plan.compiler import compile_plan
from asc.plan.plan import Plan, Query
from broker.queries import registrar as registrar_module
from broker.queries.change import Put, Remove
from broker.queries.query import RegisteredQuery
from broker.queries.registrar import Registrar

if TYPE_CHECKING:
    from conftest import Resting
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.kafka, pytest.mark.spark]


def meaning(plan: Plan) -> dict[str, list[str]]:
    """What a plan holds of each query, whatever its blocks."""
    return {
        query_id: sorted(
            str(sorted((attribute.sql, str(constraint)) for attribute, constraint in plan.constraints(block, bit)))
            for block, bits in plan.conjuncts_of(query_id)
            for bit in bits
        )
        for query_id in plan.query_ids.to_pylist()
    }


def started(resting: Resting, spark: SparkSession) -> tuple[Registrar, dict[str, Plan]]:
    from broker.stream.stream import Stream

    streams = {name: Stream(name, resting.config, spark, resting.cluster) for name in resting.config.streams}
    registrar = Registrar(resting.config, resting.cluster, resting.registry, streams)
    registrar.load()
    return registrar, {name: stream.running.plan for name, stream in streams.items()}


def test_both_starts_come_to_the_same(
    resting: Resting, spark: SparkSession, stored: Registrar, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        resumed, plans = started(resting, spark)
    assert "8 changes after it" in caplog.text
    caplog.clear()
    for path in (resting.config.spark.checkpoint_dir / ".snapshot").iterdir():
        path.unlink()
    with caplog.at_level(logging.INFO):
        whole, others = started(resting, spark)
    assert "no snapshot of the queries" in caplog.text
    assert dict(resumed.standing.queries) == dict(whole.standing.queries) == dict(stored.standing.queries)
    assert resumed.standing.version == whole.standing.version == stored.standing.version
    assert dict(resumed.standing.unserved) == dict(whole.standing.unserved)
    for name, plan in plans.items():
        assert plan.version == others[name].version
        assert meaning(plan) == meaning(others[name])
        assert plan.topics.to_pylist() == others[name].topics.to_pylist()


def test_a_plan_of_which_much_has_changed_is_compiled_anew_beside_what_goes_on(
    resting: Resting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("broker.queries.planning._LARGE", 10)
    registrar, stream = resting.registrar(), resting.streams()[resting.stream("json")]

    def put(i: int, where: str) -> Put:
        return Put(RegisteredQuery(f"anew-{i:04d}", stream.name, where, "stored"))

    wheres = ["n BETWEEN {0} AND {1} AND s > 's{0}'", "n * 2 = {0}", "s = 'x{0}' AND n <> {1}"]

    def where(i: int) -> str:
        return wheres[0 if i % 50 else 1 if i % 100 else 2].format(i, i + 9)

    registrar.apply([put(i, where(i)) for i in range(2_000)]).raised()
    assert stream.running.plan.changes == 0
    for low in range(2_000, 2_800, 100):
        registrar.apply([put(i, where(i)) for i in range(low, low + 100)]).raised()
    plan = stream.running.plan
    assert plan.changes == 800
    compiled = registrar_module.renewed

    def meanwhile(plan: Plan) -> Plan:
        # Somebody else goes on while it is compiled.
        registrar.apply([put(9_999, "n = 9999 AND s = 'new'"), put(7, "n < 7"), Remove("anew-0008")]).raised()
        return compiled(plan)

    monkeypatch.setattr(registrar_module, "renewed", meanwhile)
    registrar.renew()
    fresh = stream.running.plan
    assert 0 < fresh.changes <= 10
    assert fresh.version == registrar.standing.version
    served = [query for query in registrar.standing if registrar.standing.planned_on(query.id) == stream.name]
    shapes = registrar.standing.shapes
    queries = [Query(q.id, stream.analyser.normalise(q.where, shapes, may_wait=True), q.topic) for q in served]
    expected = compile_plan(queries)
    assert meaning(fresh) == meaning(expected)
    assert fresh.topics.to_pylist() == expected.topics.to_pylist()


def test_what_is_parked_is_computed_no_more(resting: Resting, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("broker.queries.planning._LARGE", 0)
    registrar, stream = resting.registrar(), resting.streams()[resting.stream("json")]
    many = [
        Put(RegisteredQuery(f"park-{i:04d}", stream.name, f"n = {i} AND s > 's{i}'", "stored")) for i in range(3_000)
    ]
    bad = Put(RegisteredQuery("park-bad", stream.name, "length(repeat(s, 3)) = 77", "stored"))
    registrar.apply([*many, bad]).raised()
    expression = "length(repeat(s, 3))"
    assert expression in {own.sql for own in stream.running.plan.p_attributes}
    stream.parked.add({("park-bad", registrar.standing.get("park-bad").version): "ends the process"})
    with registrar._lock:
        registrar._query_state.park()
    assert registrar.standing.unserved["park-bad"] == "ends the process"
    assert expression not in {own.sql for own in stream.running.plan.p_attributes}
    registrar.apply([Remove(query.id) for query in list(registrar.standing) if query.id.startswith("park-")]).raised()
