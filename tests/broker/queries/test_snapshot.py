"""Snapshots on the disk: read as they were written or, where anything is wrong with them, not at all."""

from __future__ import annotations

import logging
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import pytest

from asc.plan.compiler import change_plan, compile_plan
from asc.plan.parts import parts_of
from asc.plan.plan import CompileOptions
from broker.config.layer_config import LayerConfig
from broker.layers.mark import LayerMark
from broker.operators.events.definition import EventsDefinition
from broker.plans.stream_folder import SNAPSHOT, stream_folder, take_folder
from broker.queries.join import Join
from broker.queries.query import RegisteredQuery
from broker.queries.query_set import QuerySet
from broker.queries.snapshot import Snapshots
from workloads.mixed import mixed_workload

if TYPE_CHECKING:
    from pathlib import Path

MADE_FOR = {"schema": "n INT", "limits": [1, 2]}
STANDING = QuerySet(
    {
        query.id: query
        for query in (
            RegisteredQuery("a", "flights", "n > 1", "out", version=3),
            RegisteredQuery("b", "flights", "s = 'Ærø'", "out", {"team": "x", "of": "y"}, True, None, 4),
            RegisteredQuery("c", "cargo", "", "out", expires_at=datetime(2040, 1, 2, tzinfo=timezone.utc), version=5),
            RegisteredQuery("e", "cargo", "n < zones.high", "out", version=6, join=Join("zones", per_shape=True)),
            RegisteredQuery("d", "", "{", "", version=6, unreadable="its record cannot be read"),
            RegisteredQuery("f", "cargo", "n > 1", "out", version=7, operator=EventsDefinition("k", dwell_s=1.5)),
        )
    },
    6,
    {"d": "its record cannot be read", "c": "refused"},
).with_marks({"zones": LayerMark({0: 7, 1: 2}, "t")}, 6)
QUERIES = mixed_workload(600).standing_queries()
PLANS = {
    "flights": compile_plan(QUERIES[:500], CompileOptions(exact_bytes=0, block_conjuncts=128), 4),
    "cargo": compile_plan((), version=6),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "snapshot"
    Snapshots(folder, MADE_FOR).write(STANDING, PLANS)
    return folder


def test_what_was_written_is_read(folder: Path) -> None:
    found = Snapshots(folder, MADE_FOR).read(["out"])
    assert found is not None
    assert dict(found.standing.queries) == dict(STANDING.queries)
    assert found.standing.get("c").expires_at == STANDING.get("c").expires_at
    assert dict(found.standing.unserved) == dict(STANDING.unserved)
    assert found.standing.version == 6
    assert found.standing.marks == STANDING.marks
    assert found.standing.feeds() == {
        ("flights", "out"),
        ("cargo", "out"),
    }
    assert list(found.plans) == ["flights", "cargo"]
    for name, plan in PLANS.items():
        written, read = ([part.to_bytes() for part in parts_of(each)] for each in (plan, found.plans[name]))
        assert written == read


def test_a_snapshot_of_a_changed_plan_writes_what_is_new(folder: Path) -> None:
    snapshots = Snapshots(folder, MADE_FOR)
    snapshot = snapshots.read()
    assert snapshot is not None
    before = {path.name for path in folder.iterdir()}
    changed = change_plan(snapshot.plans["flights"], QUERIES[500:501], [QUERIES[3].id])
    snapshots.write(STANDING.changed([], ["a"], 7), {**snapshot.plans, "flights": changed})
    after = {path.name for path in folder.iterdir()}
    assert "queries-7.arrow" in after - before
    assert 2 <= len(after - before) <= 8
    assert len(before - after) <= 7
    again = Snapshots(folder, MADE_FOR).read()
    assert again is not None
    assert again.plans["flights"].query_ids == changed.query_ids
    assert "a" not in again.standing


def test_what_is_damaged_is_told_and_not_read(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    for path in sorted(folder.iterdir()):
        whole = path.read_bytes()
        for content in (whole[: len(whole) // 2], b"", whole[:-9] + bytes([whole[-9] ^ 1]) + whole[-8:]):
            path.write_bytes(content)
            caplog.clear()
            assert Snapshots(folder, MADE_FOR).read() is None, path.name
            assert "is damaged" in caplog.text
            assert "\n" not in caplog.messages[0]
        path.unlink()
        assert Snapshots(folder, MADE_FOR).read() is None
        path.write_bytes(whole)
    assert Snapshots(folder, MADE_FOR).read() is not None


def test_joins_of_a_snapshot_that_says_pairs_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "snapshot"
    with monkeypatch.context() as before:
        before.setattr(Join, "plain", lambda join: {"layer": join.layer, "pairs": join.per_shape})
        Snapshots(folder, MADE_FOR).write(STANDING, PLANS)
    found = Snapshots(folder, MADE_FOR).read()
    assert found is not None
    assert found.standing.get("e").join == Join("zones", per_shape=True)
    assert dict(found.standing.queries) == dict(STANDING.queries)


def test_a_snapshot_of_layers_with_wide_edges_is_made_anew(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    before, now = (
        {**MADE_FOR, "layers": {"zones": {key: False}}} for key in ("wide_edges", *LayerConfig.renamed.values())
    )
    Snapshots(folder, before).write(STANDING, PLANS)
    with caplog.at_level(logging.INFO):
        assert Snapshots(folder, now).read() is None
    assert len(caplog.messages) == 1
    assert "another configuration or version" in caplog.text


def test_a_snapshot_of_another_configuration_is_not_read(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        assert Snapshots(folder, {**MADE_FOR, "schema": "n BIGINT"}).read() is None
    assert "another configuration or version" in caplog.text


def test_where_there_is_none_nothing_is_read(tmp_path: Path) -> None:
    assert Snapshots(tmp_path / "none", MADE_FOR).read() is None


def test_a_write_that_ends_half_way_leaves_the_one_before(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    snapshots = Snapshots(folder, MADE_FOR)

    def full(*rest: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("broker.queries.snapshot.write_durably", full)
    with pytest.raises(OSError, match="No space"):
        snapshots.write(STANDING.changed([], ["a"], 9), {"flights": compile_plan(QUERIES[:20])})
    monkeypatch.undo()
    left = Snapshots(folder, MADE_FOR).read()
    assert left is not None
    assert left.standing.version == 6
    # What it left behind goes with the next one.
    snapshots.write(STANDING, PLANS)
    names = {path.name for path in folder.iterdir()}
    assert "queries-6.arrow" in names
    assert "queries-9.arrow" not in names


def test_what_was_damaged_is_written_anew(folder: Path) -> None:
    (path, *_) = sorted(folder.glob("*.part"))
    path.write_bytes(bytes(len(path.read_bytes())))
    snapshots = Snapshots(folder, MADE_FOR)
    assert snapshots.read() is None
    snapshots.write(STANDING, PLANS)
    assert Snapshots(folder, MADE_FOR).read() is not None


@pytest.mark.parametrize("method", ["_write_part", "_write_queries"])
def test_one_that_stood_still_in_a_snapshot_writes_nothing_into_its_successor_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    stopped = Snapshots(stream_folder(tmp_path, SNAPSHOT), MADE_FOR)
    go_on = getattr(stopped, method)
    later = STANDING.changed([], ["a"], 9)
    taken: list[Path] = []

    def wait_once(*rest: Any) -> Any:
        if not taken:
            taken.append(take_folder(tmp_path, SNAPSHOT))
            Snapshots(taken[0], MADE_FOR).write(later, PLANS)
        return go_on(*rest)

    monkeypatch.setattr(stopped, method, wait_once)
    for _ in range(2):
        with pytest.raises(OSError, match=r"Not a directory|File exists"):
            stopped.write(STANDING, PLANS)
    assert stream_folder(tmp_path, SNAPSHOT) == taken[0]
    found = Snapshots(taken[0], MADE_FOR).read()
    assert found is not None
    assert found.standing.version == 9
