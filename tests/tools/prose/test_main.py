"""The command: its lines, its exit codes, and the tree itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.prose import __main__ as command
from tools.prose.__main__ import main
from tools.prose.baseline import read_baseline


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(command, "ROOT", tmp_path)
    monkeypatch.setattr(command, "BASELINE_FILE", tmp_path / "baseline.json")
    monkeypatch.setattr(command, "read_baseline", lambda: read_baseline(tmp_path / "baseline.json"))
    (tmp_path / "baseline.json").write_text("{}", encoding="utf-8")
    return tmp_path


def test_a_finding_is_printed_and_ends_it_with_1(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "README.md").write_text("There is no room.\n", encoding="utf-8")
    assert main([]) == 1
    assert capsys.readouterr().out == "README.md:1: term: 'room': write capacity, buffer, limit\n"
    (tree / "README.md").write_text("It is full.\n", encoding="utf-8")
    assert main([]) == 0


def test_the_baseline_falls_and_never_rises(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tree / "README.md"
    (tree / "baseline.json").unlink()
    page.write_text("No room. No room.\n", encoding="utf-8")
    assert main(["--write-baseline"]) == 0
    assert main([]) == 0
    assert main(["--all", str(page)]) == 0
    assert capsys.readouterr().out.count("'room'") == 2
    page.write_text("No room.\n", encoding="utf-8")
    assert main([]) == 1
    assert "may have 2: lower it with `python -m tools.prose --write-baseline`" in capsys.readouterr().out
    assert main(["--write-baseline"]) == 0
    page.write_text("No room. No room.\n", encoding="utf-8")
    assert main([]) == 1
    assert main(["--write-baseline"]) == 1
    assert "term: more findings than the baseline" in capsys.readouterr().err


def test_help_has_examples_and_the_rules(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    text = capsys.readouterr().out
    assert ended.value.code == 0
    assert "python -m tools.prose docs/delivery.md" in text
    assert "at most 30 words" in text


def test_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--write-baseline", "README.md"])
    assert ended.value.code == 2
    assert main(["absent.md"]) == 1
    assert capsys.readouterr().err.endswith("error: path 'absent.md': name a file or folder that exists\n")
