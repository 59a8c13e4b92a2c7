"""The benchmark of patterns, small: all contenders find the same."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("duckdb")

from bench import patterns


@pytest.mark.nightly
def test_it_runs_and_tells(tmp_path: Path) -> None:
    result = patterns.run(quick=True, output_dir=tmp_path)
    rows = result["results"]
    assert {row["contender"] for row in rows} == {patterns.ENGINE, patterns.SEARCH, patterns.DUCKDB}
    assert all(row["us"] > 0 for row in rows)
    assert [row["matches_a_line"] > 0 for row in rows if row["contender"] == patterns.ENGINE][-1]
    assert (tmp_path / "patterns.json").exists()
    assert len(patterns.table(result).splitlines()) == 3 + len(patterns.QUICK.queries)


def test_another_number_of_matches_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "_search", lambda *_: -1)
    with pytest.raises(RuntimeError, match="matches differ"):
        patterns.run(quick=True, output_dir=tmp_path)
