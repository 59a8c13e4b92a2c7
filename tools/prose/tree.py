"""The selection of the pages and Python files that the checker reads, and the findings in a single file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from tools.prose.comments import comments
from tools.prose.docstrings import docstrings
from tools.prose.errors import ProseError
from tools.prose.finding import Finding
from tools.prose.passages import sentences
from tools.prose.rules import docstring_findings, sentence_findings

PAGES = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")
PACKAGES = ("asc", "broker", "monitor", "cli", "workloads", "bench", "tools")


def checked_files(root: Path, named: Sequence[Path] = ()) -> list[Path]:
    """Return the pages and Python files of a tree, in order. If files or folders are named, return only the pages and
    Python files among them.
    """
    if not named:
        named = [root / name for name in (*PAGES, "docs", *PACKAGES) if (root / name).exists()]
    files: set[Path] = set()
    for path in named:
        if not path.exists():
            raise ProseError("path", str(path), "name a file or folder that exists")
        below = [*path.rglob("*.md"), *path.rglob("*.py")] if path.is_dir() else [path]
        files.update(file.resolve() for file in below if "data" not in file.parent.parts[-1:])
    return sorted(files)


def file_findings(root: Path, file: Path) -> list[Finding]:
    """Return the findings of a page or of a Python file."""
    try:
        path, text = file.relative_to(root).as_posix(), file.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise ProseError("file", str(file), f"name a file of {root} in UTF-8 ({error})") from None
    return list(_python_findings(path, text) if file.suffix == ".py" else _page_findings(path, text))


def _page_findings(path: str, text: str) -> Iterator[Finding]:
    for sentence in sentences(text):
        yield from sentence_findings(path, sentence)


def _python_findings(path: str, text: str) -> Iterator[Finding]:
    for docstring in docstrings(path, text):
        if docstring.is_of_function:
            yield from docstring_findings(path, docstring.line, docstring.text)
        for sentence in sentences(docstring.text, docstring.line, indent_is_code=True):
            yield from sentence_findings(path, sentence)
    for comment in comments(text):
        for sentence in sentences(comment.text, comment.line, indent_is_code=True):
            yield from sentence_findings(path, sentence)
