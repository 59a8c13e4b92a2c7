"""Signatures of docstrings: the line of code that a docstring documents, such as a function's signature or a class
header.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator

_LETTERS_MAX = 240
"""The most characters of a line of code. A longer line is cut, because the value of a constant may be a table."""


def signatures(path: str, source: str) -> dict[int, str]:
    r"""Return for each docstring the line of code that it documents, by the line number of the docstring. Names are
    qualified. For the docstring of a module, return the path instead.

    >>> signatures("a.py", "'A module.'\nclass C:\n  'A class.'\n  def f(self, a=1) -> int:\n    'Return it.'")
    {1: 'a.py', 3: 'class C', 5: 'def C.f(self, a=1) -> int'}
    """
    return dict(_of_body(ast.parse(source).body, path, ""))


def _of_body(body: list[ast.stmt], owner: str, prefix: str) -> Iterator[tuple[int, str]]:
    """Yield the line number and the documented line of code of each docstring. ``owner``: the line of code for a
    docstring at the beginning of the body.
    """
    before: ast.stmt | None = None
    for statement in body:
        match statement:
            case ast.Expr(value=ast.Constant(value=str())):
                yield statement.lineno, owner if before is None else _shortened(prefix + ast.unparse(before))
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield from _of_body(statement.body, _function(statement, prefix), "")
            case ast.ClassDef():
                yield from _of_body(statement.body, _class(statement, prefix), f"{prefix}{statement.name}.")
            case ast.If() | ast.Try() | ast.With():
                yield from _of_body(statement.body, owner, prefix)
        before = statement


def _function(function: ast.FunctionDef | ast.AsyncFunctionDef, prefix: str) -> str:
    is_value = any(ast.unparse(decorator).endswith("property") for decorator in function.decorator_list)
    words = ("@property " if is_value else "") + ("async " if isinstance(function, ast.AsyncFunctionDef) else "")
    result = f" -> {ast.unparse(function.returns)}" if function.returns else ""
    return _shortened(f"{words}def {prefix}{function.name}({ast.unparse(function.args)}){result}")


def _class(definition: ast.ClassDef, prefix: str) -> str:
    bases = ", ".join(ast.unparse(base) for base in (*definition.bases, *definition.keywords))
    return _shortened(f"class {prefix}{definition.name}" + (f"({bases})" if bases else ""))


def _shortened(line: str) -> str:
    return textwrap.shorten(line, _LETTERS_MAX, placeholder=" ...")
