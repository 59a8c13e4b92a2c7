"""Result files: read when they are asked for, and refused where they measure nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tools.figures.errors import FiguresError
from tools.figures.results import ResultFolder


def test_a_folder_has_the_results_of_its_files(tmp_path: Path) -> None:
    (tmp_path / "near.json").write_text('{"quick": false, "results": [1]}', encoding="utf-8")
    (tmp_path / "match.json").write_text('{"scale": 1.0}', encoding="utf-8")
    (tmp_path / "match.png").touch()
    results = ResultFolder(tmp_path)
    assert list(results) == ["match", "near"]
    assert len(results) == 2
    assert "near" in results
    assert "cube" not in results
    assert results["near"]["results"] == [1]


@pytest.mark.parametrize("quick", [{"quick": True}, {"scale": 0.1}])
def test_a_quick_run_is_refused(tmp_path: Path, quick: dict[str, object]) -> None:
    (tmp_path / "near.json").write_text(json.dumps(quick), encoding="utf-8")
    with pytest.raises(FiguresError, match="is of a quick run"):
        ResultFolder(tmp_path)["near"]


@pytest.mark.parametrize("text", [None, "{", "\ud800"])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "near.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(FiguresError, match=r"near\.json.*cannot be read"):
        ResultFolder(tmp_path)["near"]
