"""``python -m tools.fuzz``: which runs there are, what is told of them, and a kept input tried again."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from tools.fuzz.__main__ import again, finding_text, main, runs_of, table
from tools.fuzz.coverage import has_atheris
from tools.fuzz.watch import Outcome

FOUND = Outcome("reader", 1_234, 61.0, 0.25, 200.0, 300.0, "grew", Path("kept/reader-1"))


def test_runs_are_of_the_targets_that_are_named() -> None:
    followed = [("coverage", "parser")] if has_atheris() else []
    assert runs_of(["reader"]) == [("reader", "reader")]
    assert runs_of(["parser"]) == [("parser", "parser"), *followed]
    assert [target for _, target in runs_of([])] == [
        *("parser" for _ in range(1 + len(followed))),
        *("reader", "api", "decoder", "schemas", "feed"),
    ]


def test_what_is_told_of_a_run() -> None:
    lines = table([FOUND, Outcome("api", 0, 5.0, 0.0, None, None)]).splitlines()
    assert lines[1].split() == ["reader", "1,234", "61", "0.250", "200", "300", "see", "kept/reader-1"]
    assert lines[2].split() == ["api", "0", "5", "0.000", "-", "-", "nothing"]
    assert finding_text(FOUND) == "reader: grew; again: python -m tools.fuzz --again kept/reader-1"


def test_a_kept_input_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = tmp_path / "parser-0"
    kept.write_bytes(b"m > 77")
    assert again(kept) is None
    assert CliRunner().invoke(main, ["--again", str(kept)]).exit_code == 0
    monkeypatch.setattr(
        "tools.fuzz.parser.describe", lambda predicate: {}["none"] if predicate.text == "m > 77" else ""
    )
    answer = CliRunner().invoke(main, ["--again", str(kept)])
    assert (answer.exit_code, "KeyError: 'none'" in answer.output) == (1, True)
    (tmp_path / "other-0").write_bytes(b"")
    assert "begins with parser" in CliRunner().invoke(main, ["--again", str(tmp_path / "other-0")]).output
