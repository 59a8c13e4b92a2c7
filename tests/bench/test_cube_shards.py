"""The row of shards: every record is counted, and its figures have goals."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench.cube_shards import QUICK, shards
from bench.history_goals import goals_of
from broker.operators.cube.merging import PaneMerger
from broker.operators.cube.panes import Panes
from broker.operators.cube.shard_keeping import ShardKeeping


def test_a_split_and_a_merge_are_measured_beside_batches() -> None:
    row = shards(QUICK)
    (run,) = row["runs"]
    assert run["split_s"] > 0 < run["merge_s"]
    assert [own["shards"] for own in row["closed"]] == [1, 8]
    assert len(goals_of({"shards": row})) == 3


def test_a_change_that_does_not_happen_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ShardKeeping, "change", lambda *_: False)
    with pytest.raises(RuntimeError, match="the shards have not changed"):
        shards(QUICK)


def test_a_lost_record_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    # A change without the new pieces of the open pane loses its cells.
    divided = PaneMerger.divided
    monkeypatch.setattr(PaneMerger, "divided", lambda *own: replace(divided(*own), panes=Panes.none()))
    with pytest.raises(RuntimeError, match=r"the cube counts .* of .* records"):
        shards(replace(QUICK, cells=60_000))
