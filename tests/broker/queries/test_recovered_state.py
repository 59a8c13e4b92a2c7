"""What is known from a snapshot and the registry's records after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from broker.layers.mark import LayerMark
from broker.plans.stream_folder import SNAPSHOT, take_folder
from broker.queries.query import RegisteredQuery
from broker.queries.query_set import QuerySet
from broker.queries.recovered_state import RecoveredState, after_records
from broker.queries.snapshot import Snapshots

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Resting

    from broker.queries.registrar import Registrar


def snapshots_of(resting: Resting) -> Snapshots:
    schemas = {name: stream.fields.ddl() for name, stream in resting.streams().items()}
    return Snapshots.of(resting.config, resting.cluster, schemas)


def test_records_are_folded_the_last_one_wins() -> None:
    mark = LayerMark({0: 7}, "t")
    first, second = (RegisteredQuery("a", "flights", "n > 1", "out", version=version) for version in (4, 6))
    gone = RegisteredQuery("b", "flights", "n > 1", "out", version=2)
    before = QuerySet({"b": gone}, 3)
    records = [(4, "a", first), (5, "b", None), (6, "a", second), (7, "layer/zones", mark), (8, "c", None)]
    after, changed = after_records(before, records)
    assert after.marks == {"zones": mark}
    assert dict(after.queries) == {"a": second}
    assert (after.version, changed) == (8, {"a", "b", "c"})
    assert after_records(before, [])[0].version == 3


@pytest.mark.kafka
@pytest.mark.spark
def test_what_stood_at_a_version_is_known_from_the_snapshot(resting: Resting, stored: Registrar) -> None:
    found = RecoveredState.read(snapshots_of(resting), resting.registry, ())
    assert found is not None
    first, last = found.snapshot.standing.version, stored.standing.version
    for version in range(first, last + 1):
        standing, _ = found.at(version)
        held = resting.registry.state_at(version)
        assert (dict(standing.queries), standing.marks) == (held.queries, held.marks)
        assert standing.version == version


@pytest.mark.kafka
@pytest.mark.spark
def test_a_snapshot_of_another_registry_is_not_used(
    resting: Resting, stored: Registrar, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshots = snapshots_of(resting)
    snapshots.write(QuerySet({}, stored.standing.version + 1_000), {})
    assert RecoveredState.read(snapshots, resting.registry, ()) is None
    assert "not of the registry topic as it is" in caplog.text
    # Nor is one that is so old that what was removed since is forgotten, unless nothing was changed since.
    monkeypatch.setattr("broker.queries.recovered_state._OLDEST_S", -1.0)
    snapshots.write(stored.standing, {})
    assert RecoveredState.read(snapshots, resting.registry, ()) is not None
    snapshots.write(QuerySet({}, 0), {})
    assert RecoveredState.read(snapshots, resting.registry, ()) is None


@pytest.mark.kafka
@pytest.mark.spark
def test_a_snapshot_is_in_the_folder_that_was_taken_over(resting: Resting, tmp_path: Path) -> None:
    spark = resting.config.spark.model_copy(update={"checkpoint_dir": tmp_path})
    config = resting.config.model_copy(update={"spark": spark})
    taken = take_folder(tmp_path, SNAPSHOT)
    Snapshots.of(config, resting.cluster, dict.fromkeys(config.streams, "")).write(QuerySet({}, 0), {})
    assert (taken / "manifest.json").is_file()
