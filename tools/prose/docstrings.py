"""Extraction of the docstrings of a Python file, including docstrings of constants."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from dataclasses import dataclass

from tools.prose.errors import ProseError

_NOUNS = frozenset({"property", "cached_property", "setter", "getter", "overload", "fixture"})
"""The decorators of functions that are used like a value, so that the docstring describes the value."""


@dataclass(frozen=True, slots=True)
class Docstring:
    """A docstring with the number of its first line. ``is_of_function``: whether it has to begin with a verb."""

    line: int
    text: str
    is_of_function: bool


def docstrings(path: str, source: str) -> Iterator[Docstring]:
    r"""Yield the docstrings of a module, its classes, functions and constants.

    >>> list(docstrings("a.py", "def f():\n    'Return it.'"))
    [Docstring(line=2, text='Return it.', is_of_function=True)]
    """
    try:
        module = ast.parse(source)
    except SyntaxError as error:
        raise ProseError("Python file", path, f"mend line {error.lineno}: {error.msg}") from None
    yield from _of_body(module.body, is_function=False)


def _of_body(body: list[ast.stmt], is_function: bool) -> Iterator[Docstring]:
    for statement in body:
        match statement:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield Docstring(statement.lineno, inspect.cleandoc(text), is_function and statement is body[0])
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield from _of_body(statement.body, is_function=_has_to_begin_with_a_verb(statement))
            case ast.ClassDef():
                yield from _of_body(statement.body, is_function=False)
            case ast.If() | ast.Try() | ast.With():
                yield from _of_body(statement.body, is_function=False)


def _has_to_begin_with_a_verb(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    names = (decorator.func if isinstance(decorator, ast.Call) else decorator for decorator in function.decorator_list)
    last = {name.attr if isinstance(name, ast.Attribute) else getattr(name, "id", "") for name in names}
    return not last & _NOUNS and not function.name.startswith("test_")
