"""Results are kept as files that are read as they were."""

from __future__ import annotations

import json
from pathlib import Path

from bench.result_file import write_result


def test_a_result_is_read_as_it_was_from_a_folder_that_was_missing(tmp_path: Path) -> None:
    path = write_result(tmp_path / "a" / "b", "scale", {"queries": [1, 2.5, None], "machine": {"cores": 2}})
    assert path == tmp_path / "a" / "b" / "scale.json"
    assert json.loads(path.read_text()) == {"queries": [1, 2.5, None], "machine": {"cores": 2}}
    write_result(tmp_path / "a" / "b", "scale", {})
    assert path.read_text() == "{}\n"
