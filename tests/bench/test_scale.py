"""The benchmark of many queries runs, agrees with its rivals, and writes what it says."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from bench.scale import WORKLOADS, Size, run, table
from workloads.real_data import CONNECTIONS_FILE


@pytest.mark.nightly
def test_a_quick_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.scale.QUICK", Size((10, 200), 300, 20_000, 1, 1_000_000))
    result = run(quick=True, output_dir=tmp_path)
    assert json.loads((tmp_path / "scale.json").read_text()) == result
    assert (tmp_path / "scale.png").stat().st_size > 1_000
    rows = result["results"]
    assert [(row["workload"], row["queries"]) for row in rows] == [
        (name, queries) for name in (*WORKLOADS, "flights", "census") for queries in (10, 200)
    ]
    assert {row["workload"] for row in rows if "brute_force_us" in row} == {"HEM-like", "alerts"}
    assert {row["rows"] for row in rows} == {300}
    lines = table(result).splitlines()
    assert len(lines) == 2 + len(rows) + 3
    assert len({len(line) for line in lines[: 2 + len(rows)]}) == 1
    assert lines[-2] == "recorded tuples: flights 20,000 x 19, census 199,523 x 10"
    assert lines[-1].startswith("left out: missing KDD Cup 99 connections ")


@pytest.mark.nightly
def test_recorded_tuples_of_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.scale.QUICK", Size((20,), 100, 2_000, 1, 1_000_000))
    monkeypatch.setattr("bench.scale.WORKLOADS", {})
    connection = "0,tcp,{},SF,{},54{zeros},1,1{rates},9,9{rates},0.00,normal."
    lines = (
        connection.format("http" if number % 3 else "smtp", number % 40, zeros=",0" * 16, rates=",0.50" * 7)
        for number in range(200)
    )
    place = tmp_path / CONNECTIONS_FILE
    place.parent.mkdir()
    place.write_bytes(gzip.compress("\n".join(lines).encode()))
    result = run(quick=True, output_dir=tmp_path / "results", data=tmp_path)
    assert result["left_out"] == []
    assert result["recorded"]["KDD Cup 99"] == {"tuples": 200, "columns": 42}
    assert [row["workload"] for row in result["results"]] == ["flights", "KDD Cup 99", "census"]


@pytest.mark.nightly
def test_a_batch_has_as_many_tuples_as_its_pairs_allow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.scale.SMALL_BATCH", 50)
    monkeypatch.setattr("bench.scale.WORKLOADS", {"mixed": WORKLOADS["mixed"]})
    monkeypatch.setattr("bench.scale.REAL_DATA", {})
    for pairs, least, most in ((1, 50, 50), (500, 51, 299), (1_000_000, 300, 300)):
        monkeypatch.setattr("bench.scale.QUICK", Size((400,), 300, 20_000, 1, pairs))
        (row,) = run(quick=True, output_dir=tmp_path)["results"]
        assert least <= row["rows"] <= most


def test_contenders_that_disagree_are_no_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.scale.QUICK", Size((10,), 100, 1_000, 1, 1_000))
    monkeypatch.setattr("bench.scale.early_exit_lists", lambda *_: -1)
    with pytest.raises(RuntimeError, match="HEM-like, 10 queries: matches differ"):
        run(quick=True, output_dir=tmp_path)
    assert list(tmp_path.iterdir()) == []
