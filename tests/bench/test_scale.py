"""The benchmark of many queries runs, agrees with its rivals, and writes what it says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.scale import WORKLOADS, Size, run, table


def test_a_quick_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.scale.QUICK", Size((10, 200), 300, 20_000, 1))
    result = run(quick=True, output_dir=tmp_path)
    assert json.loads((tmp_path / "scale.json").read_text()) == result
    assert (tmp_path / "scale.png").stat().st_size > 1_000
    rows = result["results"]
    assert [(row["workload"], row["queries"]) for row in rows] == [
        (name, queries) for name in WORKLOADS for queries in (10, 200)
    ]
    assert ["brute_force_us" in row for row in rows] == [row["workload"] != "mixed" for row in rows]
    lines = table(result).splitlines()
    assert len(lines) == 2 + len(rows)
    assert len({len(line) for line in lines}) == 1


def test_contenders_that_disagree_are_no_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.scale.QUICK", Size((10,), 100, 1_000, 1))
    monkeypatch.setattr("bench.scale.early_exit_lists", lambda *_: -1)
    with pytest.raises(RuntimeError, match="HEM-like, 10 queries: matches differ"):
        run(quick=True, output_dir=tmp_path)
    assert list(tmp_path.iterdir()) == []
