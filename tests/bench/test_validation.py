"""The benchmark of validation, once at a size that measures nothing: every heavy predicate gets a verdict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import bench.validation

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.nightly, pytest.mark.spark, pytest.mark.kafka, pytest.mark.slow, pytest.mark.timeout(900)]


def test_every_heavy_predicate_gets_a_verdict(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench.validation, "QUICK", 80)
    result = bench.validation.run(quick=True, output_dir=tmp_path)
    assert result == json.loads((tmp_path / "validation.json").read_text("utf-8"))
    of = result["results"]
    assert of["accepted"]["count"] + of["refused"]["count"] == of["all"]["count"] == result["runs"]
    assert min(of["accepted"]["count"], of["refused"]["count"]) > 5
    assert "did not make it out" not in json.dumps(result["refusals"])
    assert "the slowest:" in bench.validation.table(result)
