"""The benchmark of peers, once at a size that measures nothing: all of them find the same pairs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import bench.peers
from bench.peers import CONTENDERS, Size

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.mark.nightly
def test_all_find_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench.peers, "QUICK", Size((20,), 200, 1, 600.0))
    monkeypatch.setattr(bench.peers, "WORKLOADS", {"alerts": bench.peers.WORKLOADS["alerts"]})
    result = bench.peers.run(quick=True, output_dir=tmp_path)
    assert result == json.loads((tmp_path / "peers.json").read_text("utf-8"))
    assert [row["contender"] for row in result["results"]] == list(CONTENDERS)
    assert len({row["pairs"] for row in result["results"]}) == 1
    assert (tmp_path / "peers.svg").exists()


def test_a_contender_that_takes_too_long_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench.peers, "QUICK", Size((20, 30), 200, 1, 0.01))
    monkeypatch.setattr(bench.peers, "CONTENDERS", {"asc": CONTENDERS["asc"]})
    result = bench.peers.run(quick=True, output_dir=tmp_path)
    assert [row["queries"] for row in result["results"]] == [20, 20]
    assert "-" in bench.peers.table(result)


def test_counts_that_differ_end_it() -> None:
    rows = [{"workload": "w", "queries": 1, "contender": name, "pairs": pairs} for name, pairs in (("a", 1), ("b", 2))]
    with pytest.raises(RuntimeError, match="the numbers of pairs differ"):
        bench.peers._check(rows, "w", 1)
