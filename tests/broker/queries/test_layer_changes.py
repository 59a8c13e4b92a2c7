"""Shapes of layers in standing queries: put, changed, removed, restarted, and asked about at an earlier version."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
import shapely

from asc.errors import PredicateError
from asc.evaluation.executor import match
from asc.plan.plan import Plan
from asc.spatial.feature import Feature, feature_text
from broker.queries import registrar as registrar_module
from broker.queries.change import Put, Remove
from broker.queries.query import RegisteredQuery
from broker.queries.registrar import Registrar

if TYPE_CHECKING:
    from conftest import Resting
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.kafka, pytest.mark.spark]


def box(low: float, high: float) -> bytes:
    return feature_text(Feature(shapely.box(low, low, high, high), {})).encode()


def within(shape: str, layer: str = "zones") -> str:
    return f"ST_Contains(shape('{layer}', '{shape}'), ST_Point(d, d))"


def accepted(plan: Plan, *places: float) -> dict[str, list[int]]:
    """Of places on the diagonal, the rows that each query of these tests accepts."""
    values: dict[str, Any] = {"d": pa.array(places, pa.float64()), "n": pa.array(range(len(places)), pa.int32())}
    columns = []
    for attribute in plan.p_attributes:
        if attribute.parts:
            part = pa.StructArray.from_arrays([values["d"]] * 2, fields=list(attribute.type))
            columns.append(part)
        elif attribute.path is not None and attribute.path[0] in values:
            columns.append(values[attribute.path[0]])
        else:
            columns.append(pa.nulls(len(places), attribute.type))
    found: dict[str, list[int]] = {}
    matches = match(plan, columns, len(places))
    for row, query in zip(
        matches.rows.tolist(), plan.query_ids.take(pa.array(matches.queries)).to_pylist(), strict=True
    ):
        if query.startswith("layered-"):
            found.setdefault(query.removeprefix("layered-"), []).append(row)
    return found


@pytest.fixture
def plan(resting: Resting) -> Callable[[], Plan]:
    return lambda: resting.streams()[resting.stream("json")].running.plan


@pytest.fixture
def registrar(resting: Resting) -> Registrar:
    """With two queries that name a shape, and one that names none."""
    registrar, stream = resting.registrar(), resting.stream("json")
    registrar.write_layer("zones", {"a": box(0, 2), "b": box(10, 12)}, [])
    wheres = {"a": within("a"), "not-b": f"NOT {within('b')} AND n >= 0", "plain": "d > 11"}
    queries = [RegisteredQuery(f"layered-{key}", stream, where, "layered") for key, where in wheres.items()]
    registrar.apply([Put(query) for query in queries]).raised()
    return registrar


def test_a_shape_that_is_put_holds_from_then_on(registrar: Registrar, plan: Callable[[], Plan]) -> None:
    assert accepted(plan(), 1, 3, 11) == {"a": [0], "not-b": [0, 1]}
    before = registrar.standing.version
    offsets = registrar.write_layer("zones", {"a": box(2, 4), "other": box(0, 1)}, [])
    assert registrar.standing.version > before
    assert plan().version == registrar.standing.version
    assert set(offsets) == set(registrar._streams)
    assert accepted(plan(), 1, 3, 11)["a"] == [1]


def test_a_shape_that_is_removed_is_null_until_it_is_there_again(
    registrar: Registrar, resting: Resting, plan: Callable[[], Plan]
) -> None:
    registrar.write_layer("zones", {}, ["b", "never"])
    assert "not-b" not in accepted(plan(), 1, 3, 11)
    query = registrar.standing.get("layered-not-b")
    assert resting.permitted.pending_shapes(query) == ["zones/b"]
    assert query.id not in registrar.standing.unserved
    # It may be paused and resumed meanwhile, but no other one may name what is not there.
    registrar.apply([Put(query)]).raised()
    with pytest.raises(PredicateError, match="no such shape"):
        registrar.apply([Put(RegisteredQuery("layered-new", query.stream, within("b"), "layered"))]).raised()
    with pytest.raises(PredicateError, match="layer of another crs"):
        registrar.apply([Put(RegisteredQuery("layered-new", query.stream, within("b", "plane"), "layered"))]).raised()
    registrar.write_layer("zones", {"b": box(0, 2)}, [])
    assert accepted(plan(), 1, 3, 11)["not-b"] == [1, 2]
    assert resting.permitted.pending_shapes(query) == []


def test_garbage_leaves_the_shape_that_stands(registrar: Registrar, resting: Resting, plan: Callable[[], Plan]) -> None:
    producer = resting.cluster.client.producer()
    topic = resting.config.layers["zones"].topic
    for value in (b"{", box(5, 7), b"\xff"):
        producer.send(topic, value, b"a")
    producer.flush()
    producer.close()
    registrar.follow_layers({"zones": resting.cluster.offsets(topic, end=True)})
    assert accepted(plan(), 1, 6)["a"] == [1]
    assert "is no UTF-8" in registrar.standing.layers["zones"].refused["a"]


@pytest.mark.nightly
def test_another_writer_without_end_keeps_none_waiting(registrar: Registrar, resting: Resting) -> None:
    """A fence that moves all the time is written by others: what is put meanwhile is answered."""
    producer, answered = resting.cluster.client.producer(), threading.Event()
    topic = resting.config.layers["zones"].topic

    def write() -> bool:
        for position in range(3_000):
            producer.send(topic, box(position, position + 1), b"moving")
            producer.flush()
            if answered.wait(0.01):
                return True
        return False

    with ThreadPoolExecutor(1) as threads:
        is_answered = threads.submit(write)
        registrar.write_layer("zones", {"a": box(3, 4)}, [])
        registrar.follow_layers()
        answered.set()
    producer.close()
    assert is_answered.result()
    registrar.follow_layers()
    registrar.write_layer("zones", {}, ["moving"])


def test_queries_and_shapes_are_judged_as_they_stand_together(
    registrar: Registrar, resting: Resting, plan: Callable[[], Plan], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shape that changes while a query is judged: the query is judged anew, and has the new one."""
    stream = resting.streams()[resting.stream("json")]
    asked = stream.analyser.misread
    changes = iter([{"a": box(20, 22)}])

    def misread(predicates: Any, **settings: Any) -> Any:
        for change in changes:
            registrar.write_layer("zones", change, [])
        return asked(predicates, **settings)

    monkeypatch.setattr(stream.analyser, "misread", misread)
    registrar.apply([Put(RegisteredQuery("layered-amid", stream.name, within("a"), "layered"))]).raised()
    assert accepted(plan(), 1, 21)["amid"] == [1]
    registrar.apply([Remove("layered-amid")])


def started(resting: Resting, spark: SparkSession) -> tuple[Registrar, Plan]:
    from broker.stream.stream import Stream

    streams = {name: Stream(name, resting.config, spark, resting.cluster) for name in resting.config.streams}
    registrar = Registrar(resting.config, resting.cluster, resting.registry, streams)
    registrar.load()
    return registrar, streams[resting.stream("json")].running.plan


@pytest.mark.parametrize("is_stored", [False, True], ids=["registry", "snapshot"])
def test_a_start_has_the_shapes_of_the_version_and_then_those_after_it(  # noqa: PLR0917
    is_stored: bool,
    registrar: Registrar,
    resting: Resting,
    spark: SparkSession,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr("broker.queries.query_state._SNAPSHOT_QUERIES", 0 if is_stored else 1 << 30)
    monkeypatch.setattr("broker.queries.query_state._SNAPSHOT_SHARE", 0.0)
    registrar.write_layer("zones", {"a": box(30, 32)}, [])
    registrar.store()
    if not is_stored:
        for path in (resting.config.spark.checkpoint_dir / ".snapshot").glob("*"):
            path.unlink()
    # In the topic and in no version yet, and between snapshot and start.
    registrar.write_layer("zones", {"a": box(40, 42)}, [])
    written = resting.registrar()._query_state.layers.write("zones", {"a": box(50, 52)})
    with caplog.at_level(logging.INFO):
        fresh, plan = started(resting, spark)
    assert ("changes after it" in caplog.text) is is_stored
    assert accepted(plan, 31, 41, 51)["a"] == [1]
    try:
        fresh.follow_layers({"zones": written})
        running = fresh._streams[resting.stream("json")].running.plan
        assert accepted(running, 31, 41, 51)["a"] == [2]
    finally:
        fresh.close()
        # The registrar that the tests share has not written that mark, and learns of it.
        registrar._is_uncertain = True
        registrar.expire()
    assert accepted(resting.streams()[resting.stream("json")].running.plan, 31, 41, 51)["a"] == [2]


def test_a_version_has_its_shapes_whenever_it_is_asked_for(
    registrar: Registrar, resting: Resting, plan: Callable[[], Plan]
) -> None:
    versions = []
    for low in (60, 70, 80):
        registrar.write_layer("zones", {"a": box(low, low + 2)}, [])
        versions.append(registrar.standing.version)
    query_state = registrar._query_state
    for row, version in enumerate(versions):
        then, _ = query_state._with_layers(query_state._set(resting.registry.state_at(version)))
        plans, _ = query_state._plans_of(then, None)
        assert accepted(plans[resting.stream("json")], 61, 71, 81)["a"] == [row]


def test_what_is_caught_up_with_has_the_shapes_as_well(
    registrar: Registrar, plan: Callable[[], Plan], monkeypatch: pytest.MonkeyPatch
) -> None:
    renewed = registrar_module.renewed

    def meanwhile(old: Plan) -> Plan:
        registrar.write_layer("zones", {"a": box(85, 87)}, [])
        return renewed(old)

    monkeypatch.setattr(registrar_module, "renewed", meanwhile)
    monkeypatch.setattr(registrar_module, "is_large", lambda plan: "layered-a" in plan)
    monkeypatch.setattr(registrar_module, "is_renewal_due", lambda plan: True)
    monkeypatch.setattr(registrar, "_not_renewed_before_s", {})
    registrar.renew()
    assert accepted(plan(), 1, 86)["a"] == [1]
