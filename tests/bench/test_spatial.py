"""The benchmark of fences, small: all contenders find the same."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bench import spatial

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.nightly
def test_every_contender_finds_the_same(spark: SparkSession, tmp_path: Path) -> None:
    result = spatial.run(quick=True, output_dir=tmp_path)
    rows = result["results"]
    peers = {spatial.SEDONA} if result["sedona_db"] else set()
    assert {row["contender"] for row in rows} == {spatial.ENGINE, spatial.TREE, spatial.PREPARED, *peers}
    assert {row["queries"] for row in rows} == set(spatial.QUICK.fences)
    assert (tmp_path / "spatial.json").exists()
    assert "a star of 500 vertices" in spatial.table(result)
    assert "broker.match, 2,000 records, 400 fences" in spatial.table(result)
    assert result["spark"]["accepted"]["one plain predicate"] == 1_000


def test_a_difference_is_no_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spatial, "_rivals", lambda *_: {spatial.TREE: lambda: -1, spatial.PREPARED: lambda: -1})
    with pytest.raises(RuntimeError, match="numbers of matches differ"):
        spatial.run(quick=True, output_dir=tmp_path)
