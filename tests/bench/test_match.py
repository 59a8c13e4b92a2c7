"""The benchmark of the executor runs, agrees with its rivals, and writes what it says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.match import Size, run, table


def test_a_quick_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.match.QUICK", Size(2_000, 100_000, (10, 200), 1))
    result = run(quick=True, output_dir=tmp_path)
    assert json.loads((tmp_path / "match.json").read_text()) == result
    assert (tmp_path / "match.png").stat().st_size > 1_000
    rows = result["results"]
    assert [(row["workload"], row["queries"]) for row in rows] == [
        (name, queries) for name in ("D1", "HEM-like") for queries in (10, 200)
    ]
    lines = table(result).splitlines()
    assert len(lines) == 2 + len(rows)
    assert len({len(line) for line in lines}) == 1


def test_contenders_that_disagree_are_no_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.match.QUICK", Size(200, 1_000, (10,), 1))
    monkeypatch.setattr("bench.match.early_exit_scan", lambda *_: -1)
    with pytest.raises(RuntimeError, match="D1, 10 queries: matches differ"):
        run(quick=True, output_dir=tmp_path)
    assert list(tmp_path.iterdir()) == []
