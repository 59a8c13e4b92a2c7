"""Commits of many cubes, once at a size that measures nothing: each record is counted once."""

from __future__ import annotations

import pytest

import bench.cube_commit
from bench.cube_commit import CommitSize, commit


def test_each_commit_is_timed_and_counted() -> None:
    found = commit(CommitSize(2, 50, 5))
    assert len(found["runs_s"]) == 5
    assert min(found["runs_s"]) <= found["median_s"] <= found["worst_s"] == max(found["runs_s"])
    assert found["file_bytes"] > 0


def test_a_commit_that_is_lost_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    own = bench.cube_commit.sales
    monkeypatch.setattr(bench.cube_commit, "sales", lambda count, values: own(count, values).slice(0, 10))
    with pytest.raises(RuntimeError, match="counts 50 of 250 records"):
        commit(CommitSize(1, 50, 5))
