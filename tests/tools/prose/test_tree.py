"""Files that are checked, and the findings of a page and of a Python file."""

from __future__ import annotations

from pathlib import Path

import pytest

import tools
from tools.prose.errors import ProseError
from tools.prose.tree import checked_files, file_findings

ROOT = Path(tools.__file__).parents[1]


def test_the_tree_is_its_pages_and_packages_without_tests() -> None:
    names = {file.relative_to(ROOT).as_posix() for file in checked_files(ROOT)}
    assert {"README.md", "docs/delivery.md", "docs/operate/limits.md", "asc/matcher.py", "tools/prose/tree.py"} <= names
    assert not [name for name in names if name.startswith(("tests/", ".venv/"))]


def test_a_path_that_is_absent_and_a_file_outside_of_the_tree(tmp_path: Path) -> None:
    with pytest.raises(ProseError, match="name a file or folder that exists"):
        checked_files(ROOT, [tmp_path / "absent"])
    (tmp_path / "a.md").write_text("A.", encoding="utf-8")
    with pytest.raises(ProseError, match="name a file of "):
        file_findings(ROOT, tmp_path / "a.md")


def test_pages_docstrings_and_comments_meet_the_same_rules(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n\nThere is no room.\n", encoding="utf-8")
    (tmp_path / "a.py").write_text(
        'def f():\n    """The result.\n\n    There is no room.\n    """\n    # No room.\n', encoding="utf-8"
    )
    page, code = ([str(one) for one in file_findings(tmp_path, tmp_path / name)] for name in ("a.md", "a.py"))
    assert page == ["a.md:3: term: 'room': write capacity, buffer, limit"]
    assert code == [
        "a.py:2: imperative: 'The result. There is no room.'",
        "a.py:4: term: 'room': write capacity, buffer, limit",
        "a.py:6: term: 'room': write capacity, buffer, limit",
    ]
