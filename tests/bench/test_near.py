"""The benchmark of pairs, once at a size that measures nothing: both trees find the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import bench.near
from bench.near import Size


def test_both_trees_find_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench.near, "QUICK", Size((3_000,), 2))
    result = bench.near.run(quick=True, output_dir=tmp_path)
    assert result == json.loads((tmp_path / "near.json").read_text("utf-8"))
    (row,) = result["results"]
    assert row["pairs"] > 50
    assert row["told_a_tick"] > 0
    assert "3,000" in bench.near.table(result)
