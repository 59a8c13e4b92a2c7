"""The benchmark of registration, once at a size that measures nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import bench.registration

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.mark.nightly
def test_every_change_is_timed_and_planned(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench.registration, "QUICK", bench.registration.Size(20, 2, 2))
    result = bench.registration.run(quick=True, output_dir=tmp_path)
    for suffix in ("png", "svg"):
        assert (tmp_path / f"registration.{suffix}").stat().st_size > 1_000
    assert result == json.loads((tmp_path / "registration.json").read_text("utf-8"))
    runs = {what: measured["runs_s"] for what, measured in result["results"].items()}
    assert {what: len(seconds) for what, seconds in runs.items()} == {
        bench.registration.BULK: 1,
        bench.registration.REGISTER: 2,
        bench.registration.REGISTER_TOPIC: 2,
        bench.registration.REPLACE: 2,
        bench.registration.REMOVE: 2,
        bench.registration.ADD: 2,
        bench.registration.CHECK: 2,
    }
    assert min(second for seconds in runs.values() for second in seconds) > 0
    # Those loaded; and of each round the one with a topic of its own, and the one that the command added.
    assert result["plan"]["queries"] == 20 + 2 + 2
    assert "asc query add" in bench.registration.table(result)
