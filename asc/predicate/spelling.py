"""A syntax tree as Spark SQL again, so that what was read can be held against what Spark reads of the same text."""

from __future__ import annotations

from asc.predicate.expression import column_sql
from asc.predicate.limits import Limits
from asc.predicate.parser import parse
from asc.predicate.syntax import Node, Source

_SIGNS = {"neg": "-", "pos": "+", "~": "~"}


def read_as(text: str, limits: Limits, time_zone: str) -> str:
    """A predicate as it was read: each operand in parentheses, so that nothing hangs on precedence.

    Where the text was read rightly, Spark parses both to the same expression. Raises PredicateError as ``normalise``.

    >>> read_as("NOT a = 1 AND b", Limits(), "UTC")
    '(NOT ((a) = (1))) AND (b)'
    """
    tree, source = parse(text, limits, time_zone)
    return spelled(tree, source)


def spelled(node: Node, source: Source) -> str:
    """The form in which a node stands in the text, its operands in parentheses, its names as they are written there."""
    if node.written is not None:
        return spelled(node.written, source)
    args = [spelled(arg, source) for arg in node.args]
    op, value = node.op, node.value
    if op == "column":
        return column_sql(value)
    if op in ("literal", "interval"):
        return str(value.sql)
    if op in ("and", "or"):
        return f" {op.upper()} ".join(f"({arg})" for arg in args)
    if op == "not":
        return f"NOT ({args[0]})"
    if op == "call":
        return f"{_name(node, source)}({', '.join(args)})"
    if op in ("cast", "try_cast"):
        return f"{op.upper()}({args[0]} AS {value[1]})"
    if op == "lambda":
        names = [column_sql((name,)) for name in value]
        return f"{names[0] if len(names) == 1 else '(' + ', '.join(names) + ')'} -> {args[0]}"
    if op in ("row", "struct"):
        named = zip(args, value, strict=True)
        items = (arg if name is None else f"{arg} AS {column_sql((name,))}" for arg, name in named)
        return f"{'struct' if op == 'struct' else ''}({', '.join(items)})"
    if op == "form":
        return str(value).format(*args)
    if op == "between":
        return f"({args[0]}) BETWEEN ({args[1]}) AND ({args[2]})"
    if op == "index":
        return f"({args[0]})[{args[1]}]"
    if op == "field":
        return f"({args[0]}).{column_sql((value,))}"
    if op in _SIGNS:
        return f"{_SIGNS[op]} ({args[0]})"
    return _test(node, args)


def _test(node: Node, args: list[str]) -> str:
    op, value = node.op, node.value
    if op == "in":
        return f"({args[0]}) IN ({', '.join(args[1:])})"
    if op in ("like_any", "like_all", "ilike_any", "ilike_all"):
        return f"({args[0]}) {'NOT ' if value else ''}{op.upper().replace('_', ' ')} ({', '.join(args[1:])})"
    if op in ("like", "ilike", "rlike"):
        escape = f" ESCAPE {args[2]}" if len(args) > 2 else ""
        return f"({args[0]}) {op.upper()} ({args[1]}){escape}"
    if op in ("is", "is_not", "is_unknown"):
        return f"({args[0]}) IS {'NOT ' if op == 'is_not' else ''}{'UNKNOWN' if op == 'is_unknown' else value}"
    if op in ("case", "case_of"):
        subject = f" {args.pop(0)}" if op == "case_of" else ""
        whens = " ".join(f"WHEN {args[i]} THEN {args[i + 1]}" for i in range(0, len(args) - 1, 2))
        return f"CASE{subject} {whens}{f' ELSE {args[-1]}' if len(args) % 2 else ''} END"
    return f"({args[0]}) {op.upper()} ({args[1]})"


def _name(node: Node, source: Source) -> str:
    """A function's name as it is written: Spark's parser keeps its case."""
    written = source.text[node.start : node.start + len(node.value)]
    return written if written.lower() == node.value else str(node.value)
