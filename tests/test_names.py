"""Names of variables: a word that says nothing of what it holds lives for a few lines at most."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from broker.packages import PACKAGES

ROOT = Path(__file__).parents[1]

VAGUE = frozenset(("begun", "found", "given", "one", "own", "room", "stood", "told"))
LINES = 5
"""Over which one of these may live: the reader sees at once where it comes from."""

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def uses(function: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield the vague names in a function with their lines: not those of functions and comprehensions within it."""
    waiting = list(ast.iter_child_nodes(function))
    while waiting:
        node = waiting.pop()
        if isinstance(node, _FUNCTIONS):
            continue
        bound: set[str] = set()
        if isinstance(node, _COMPREHENSIONS):
            targets = [part for generator in node.generators for part in ast.walk(generator.target)]
            bound = {part.id for part in targets if isinstance(part, ast.Name)}
        name = node.id if isinstance(node, ast.Name) else node.arg if isinstance(node, ast.arg) else ""
        if name in VAGUE:
            yield name, node.lineno  # type: ignore[attr-defined]
        if not bound & VAGUE:
            waiting += ast.iter_child_nodes(node)


def long_lived(source: str) -> set[tuple[str, str]]:
    """Return the vague names of each function that live over more than a few lines."""
    kept = set()
    for function in ast.walk(ast.parse(source)):
        if isinstance(function, _FUNCTIONS):
            lines: dict[str, list[int]] = {}
            for name, line in uses(function):
                lines.setdefault(name, []).append(line)
            kept |= {(function.name, name) for name, at in lines.items() if max(at) - min(at) > LINES}
    return kept


@pytest.mark.parametrize("package", [*PACKAGES, "tools"])
def test_no_vague_name_lives_long(package: str) -> None:
    modules = sorted((ROOT / package).rglob("*.py"))
    assert modules
    kept = {path.relative_to(ROOT).as_posix(): long_lived(path.read_text("utf-8")) for path in modules}
    assert {name: names for name, names in kept.items() if names} == {}


def test_a_long_life_is_seen_and_a_short_one_is_not() -> None:
    body = "\n".join("    pass" for _ in range(LINES))
    assert long_lived(f"def f(x):\n    found = x\n{body}\n    return found\n") == {("f", "found")}
    assert long_lived("def f(x):\n    found = x\n    return found\n") == set()
    assert long_lived(f"def f(x):\n    a = [own for own in x]\n{body}\n    return [own for own in a]\n") == set()
