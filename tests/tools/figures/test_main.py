"""The command, and the pages of the documentation: each figure in a table is that of a result file."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tools.figures import __main__ as command
from tools.figures.__main__ import main, pages_of
from tools.figures.catalogue import TABLES
from tools.figures.page import filled

ROOT = Path(__file__).parents[3]


def test_the_pages_have_the_figures_of_the_results(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check"]) == 0, capsys.readouterr().out


def test_every_table_is_on_a_page() -> None:
    texts = (page.read_text("utf-8") for page in pages_of(ROOT))
    assert {name for text in texts for name in filled("", text, lambda _: "").names} == set(TABLES)


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(command, "ROOT", tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "near.md").write_text("Pairs.\n\n<!-- figures: near -->\n<!-- end -->\n", encoding="utf-8")
    (tmp_path / "bench" / "results").mkdir(parents=True)
    shutil.copy(ROOT / "bench" / "results" / "near.json", tmp_path / "bench" / "results")
    return tmp_path


def test_a_stale_table_is_named_then_filled(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page, result = tree / "docs" / "near.md", tree / "bench" / "results" / "near.json"
    before = page.read_text("utf-8")
    assert main(["--check"]) == 1
    assert capsys.readouterr().out == "docs/near.md: near: is stale: fill it with `python -m tools.figures`\n"
    assert page.read_text("utf-8") == before
    assert main([]) == 0
    assert capsys.readouterr().out == "docs/near.md: near: filled\n"
    assert main(["--check"]) == 0
    result.write_text(re.sub(r'"pairs": \d+', '"pairs": 987654', result.read_text("utf-8"), count=1), encoding="utf-8")
    assert main(["--check"]) == 1
    assert main([str(page)]) == 0
    assert "| 987,654 |" in page.read_text("utf-8")


def test_an_unknown_name_and_an_absent_page_end_it(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tree / "docs" / "near.md"
    page.write_text("<!-- figures: nearest -->\n<!-- end -->\n", encoding="utf-8")
    assert main([]) == 1
    assert capsys.readouterr().err.startswith("error: table 'nearest': is unknown: ")
    assert main(["docs/nowhere.md"]) == 1
    assert capsys.readouterr().err.startswith("error: page 'docs/nowhere.md': cannot be read")


def test_names_of_tables_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    assert capsys.readouterr().out.splitlines() == list(TABLES)


def test_help_has_examples(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    assert "python -m tools.figures --check" in capsys.readouterr().out
