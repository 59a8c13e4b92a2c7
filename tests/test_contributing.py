"""The table of promises and tests in CONTRIBUTING.md: quotes of the README, and tests that the gate has."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROW = re.compile(r"^\| (.+) \| `(tests/[\w/]+\.py)::(\w+)` \|$", re.MULTILINE)
TABLE = (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition("| promise | test |")[2]
PROMISES = ROW.findall(TABLE)
TIER = "pytest.mark.nightly"


def plain(text: str) -> str:
    return " ".join(text.split())


def is_in_the_gate(text: str, name: str) -> bool:
    r"""Whether a file has a test that no marker, of its own or of the file, leaves to nightly runs.

    >>> is_in_the_gate("def test_it():\n    pass", "test_it")
    True
    >>> is_in_the_gate("@pytest.mark.nightly\ndef test_it():\n    pass", "test_it")
    False
    >>> is_in_the_gate("pytestmark = [pytest.mark.nightly]\ndef test_it():\n    pass", "test_it")
    False
    >>> is_in_the_gate("def test_other():\n    pass", "test_it")
    False
    """
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark" and TIER in ast.unparse(node):
            return False
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return TIER not in map(ast.unparse, node.decorator_list)
    return False


@pytest.mark.parametrize(("promise", "file", "name"), PROMISES, ids=[promise for promise, _, _ in PROMISES])
def test_a_promise_of_the_readme_has_a_test_in_the_gate(promise: str, file: str, name: str) -> None:
    assert plain(promise) in plain((ROOT / "README.md").read_text("utf-8"))
    assert is_in_the_gate((ROOT / file).read_text("utf-8"), name)


def test_every_row_of_the_table_is_read() -> None:
    lines = [line for line in TABLE.splitlines() if line.startswith("| ")]
    assert len(lines) == len(PROMISES) > 40
