"""Answers beside DuckDB, once at a size that measures nothing: equal groups, or no figure."""

from __future__ import annotations

import pytest

from bench.cube_answers import AnswersSize, answers
from bench.cube_keeper import KeptCubes


def test_a_cube_of_closed_panes_answers_as_duckdb_does() -> None:
    found = answers(AnswersSize(2_000, (1, 3), 1))
    assert [(own["workload"], own["raw_records"]) for own in found] == [
        *(("wide", 2_000), ("wide", 6_000)),
        *(("narrow", 2_000), ("narrow", 6_000)),
    ]
    for own in found:
        assert own["panes"] == 60
        assert 0 < own["rows"] < own["cells"] <= 2_000
        assert own["duckdb_s"] == min(own["duckdb_ways_s"].values())


def test_another_answer_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    own = KeptCubes.partials
    monkeypatch.setattr(KeptCubes, "partials", lambda kept, records: own(kept, records.slice(1)))
    with pytest.raises(RuntimeError, match="records differ"):
        answers(AnswersSize(2_000, (1,), 1))
