"""A start from a snapshot and the records after it comes to what a start from all records comes to."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest

from asc.plan.plan import Plan
from broker.queries import registrar as registrar_module
from broker.queries.change import Put, Remove
from broker.queries.query import RegisteredQuery
from broker.queries.query_set import QuerySet
from broker.queries.registrar import Registrar
from broker.queries.snapshot import Snapshots
from broker.queries.stored import Stored, after_records

if TYPE_CHECKING:
    from conftest import Resting
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.kafka, pytest.mark.spark]


def test_records_are_folded_the_last_one_wins() -> None:
    first, second = (RegisteredQuery("a", "flights", "n > 1", "out", version=version) for version in (4, 6))
    gone = RegisteredQuery("b", "flights", "n > 1", "out", version=2)
    before = QuerySet({"b": gone}, 3)
    after, changed = after_records(before, [(4, "a", first), (5, "b", None), (6, "a", second), (8, "c", None)])
    assert dict(after.queries) == {"a": second}
    assert (after.version, changed) == (8, {"a", "b", "c"})
    assert after_records(before, [])[0].version == 3


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


@pytest.fixture
def stored(resting: Resting, monkeypatch: pytest.MonkeyPatch) -> Registrar:
    """The registrar with queries of which a snapshot was written, and others after it."""
    monkeypatch.setattr(registrar_module, "_STORED_QUERIES", 0)
    monkeypatch.setattr(registrar_module, "_STORED_SHARE", 0.0)
    registrar, stream = resting.registrar(), resting.stream("json")

    def query(name: str, where: str, **more: bool) -> Put:
        return Put(RegisteredQuery(f"stored-{name}", stream, where, "stored", {"of": "test"}, **more))

    wheres = ["n > 5", "n BETWEEN 1 AND 9 AND s = 'a'", "length(s) > 2", "s LIKE 'x%' OR n < 0", "true", "n IS NULL"]
    registrar.apply([query(f"{i}", wheres[i % len(wheres)], paused=i % 7 == 3) for i in range(30)]).raised()
    registrar.store()
    registrar.apply([query("late", "s = 'unheard of'"), query("2", "n = 77"), Remove("stored-4")]).raised()
    registrar.apply([Remove("stored-5"), query("3", "n = 78"), query("8", "length(s) > 3", paused=True)]).raised()
    registrar.apply([query("5", "n = 79"), Remove("stored-late")]).raised()
    return registrar


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


def test_what_stood_at_a_version_is_known_from_the_snapshot(resting: Resting, stored: Registrar) -> None:
    found = Stored.read(Snapshots.of(resting.config, resting.cluster), resting.registry, ())
    assert found is not None
    first, last = found.snapshot.standing.version, stored.standing.version
    for version in range(first, last + 1):
        standing, _ = found.at(version)
        assert dict(standing.queries) == resting.registry.state_at(version)
        assert standing.version == version


def test_a_snapshot_of_another_registry_is_not_used(
    resting: Resting, stored: Registrar, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshots = Snapshots.of(resting.config, resting.cluster)
    snapshots.write(QuerySet({}, stored.standing.version + 1_000), {})
    assert Stored.read(snapshots, resting.registry, ()) is None
    assert "not of the registry topic as it is" in caplog.text
    # Nor is one that is so old that what was removed since is forgotten, unless nothing was changed since.
    monkeypatch.setattr("broker.queries.stored._OLDEST_S", -1.0)
    snapshots.write(stored.standing, {})
    assert Stored.read(snapshots, resting.registry, ()) is not None
    snapshots.write(QuerySet({}, 0), {})
    assert Stored.read(snapshots, resting.registry, ()) is None
