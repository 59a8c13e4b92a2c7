"""The benchmark of lists by values, small: both layouts find the same, and the compiler's choice is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from asc.plan.plan import CompileOptions
from bench import values


@pytest.mark.nightly
def test_it_runs_and_tells_what_the_compiler_chooses(tmp_path: Path) -> None:
    result = values.run(quick=True, output_dir=tmp_path)
    rows = result["results"]
    assert {row["contender"] for row in rows} == {values.LISTS, values.BITMAPS}
    assert all(row["us"] > 0 and row["matches_a_record"] > 0 for row in rows)
    least = CompileOptions().listed_conjuncts
    for row in rows:
        lists = row["queries"] >= least and row["a_value"] <= 4
        assert row["chosen"] == (lists == (row["contender"] == values.LISTS))
    assert (tmp_path / "values.json").exists()
    assert len(values.table(result).splitlines()) == 3 + len(rows) // 2


def test_another_number_of_matches_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, "match", lambda plan, *_: [None] * len(plan.blocks))
    with pytest.raises(RuntimeError, match="matches differ"):
        values.run(quick=True, output_dir=tmp_path)
