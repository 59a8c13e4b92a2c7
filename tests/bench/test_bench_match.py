"""The benchmark of the executor runs, agrees with its rivals, and writes what it says."""

from __future__ import annotations

import json
from pathlib import Path

from bench.match import run, table


def test_a_quick_run(tmp_path: Path) -> None:
    result = run(quick=True, output_dir=tmp_path)
    assert json.loads((tmp_path / "match.json").read_text()) == result
    assert (tmp_path / "match.png").stat().st_size > 1_000
    rows = result["results"]
    assert [(row["workload"], row["queries"]) for row in rows] == [
        (name, queries) for name in ("D1", "HEM-like") for queries in (10, 100, 1_000)
    ]
    lines = table(result).splitlines()
    assert len(lines) == 2 + len(rows)
    assert len({len(line) for line in lines}) == 1
