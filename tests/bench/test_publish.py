"""The benchmark of sending a file, once at a size that measures nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import bench.publish

pytestmark = [pytest.mark.nightly, pytest.mark.spark, pytest.mark.kafka, pytest.mark.slow, pytest.mark.timeout(900)]


def test_every_contender_sends_every_row(tmp_path: Path) -> None:
    result = bench.publish.run(quick=True, output_dir=tmp_path)
    assert result == json.loads((tmp_path / "publish.json").read_text("utf-8"))
    names = [each["contender"] for each in result["results"]]
    assert len(names) == 4
    assert all(name in bench.publish.table(result) for name in names)
    assert all(second > 0 for each in result["results"] for second in each["seconds"])
