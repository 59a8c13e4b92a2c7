"""Spelling of a syntax tree as Spark SQL, so that the parser of predicates can be compared with Spark's parser."""

from __future__ import annotations

from asc.predicate.expressions.expression import column_sql
from asc.predicate.limits import Limits
from asc.predicate.syntax.nodes import Node, Source
from asc.predicate.syntax.parser import parse

_ANY, _OR, _AND, _NOT, _TEST, _VALUE = range(6)
_BINARY = {
    **dict.fromkeys(("=", "<=>", "<", "<=", ">", ">="), _VALUE),
    "|": 6,
    "^": 7,
    "&": 8,
    **dict.fromkeys(("<<", ">>", ">>>"), 9),
    **dict.fromkeys(("+", "-", "||"), 10),
    **dict.fromkeys(("*", "/", "%", "div"), 11),
}
_UNARY, _PRIMARY = 12, 13
"""The two highest precedences of Spark's grammar: of signs, and of forms that never need parentheses."""

_SIGNS = {"neg": "-", "pos": "+", "~": "~"}


def read_as(text: str, limits: Limits, time_zone: str) -> str:
    """Return a predicate's syntax tree as Spark SQL, with parentheses where the tree needs them.

    If the predicate was parsed correctly, Spark parses the result and the original text to the same expression. The
    result has few redundant parentheses, because they slow down Spark's parser. Raise PredicateError under the same
    conditions as ``normalise``.

    >>> read_as("NOT (a == 1) AND (b OR c)", Limits(), "UTC")
    'NOT a = 1 AND (b OR c)'
    """
    tree, source = parse(text, limits, time_zone)
    return _Speller(source).spelled(tree, _ANY)


class _Speller:
    """A writer of Spark SQL for the nodes of one text. The SQL has the forms and the names that the text uses."""

    def __init__(self, source: Source) -> None:
        self._text = source.text

    def spelled(self, node: Node, least: int) -> str:
        """Return the SQL of a node, in parentheses if the precedence of the node's operator is lower than ``least``."""
        text, level = self._form(node.written or node)
        return text if level >= least else f"({text})"

    def _listed(self, nodes: tuple[Node, ...]) -> str:
        return ", ".join(self.spelled(node, _ANY) for node in nodes)

    def _form(self, node: Node) -> tuple[str, int]:
        op, args, value = node.op, node.args, node.value
        if op == "column":
            return column_sql(value), _PRIMARY
        if op in ("literal", "interval"):
            sql = str(value.sql)
            return sql, _UNARY if sql.startswith("-") else _PRIMARY
        if op in ("and", "or"):
            level = _AND if op == "and" else _OR
            return f" {op.upper()} ".join(self.spelled(arg, level + 1) for arg in args), level
        if op == "not":
            return f"NOT {self.spelled(args[0], _NOT)}", _NOT
        if op in _BINARY:
            level = _BINARY[op]
            return f"{self.spelled(args[0], level)} {op.upper()} {self.spelled(args[1], level + 1)}", level
        if op in _SIGNS:
            # A sign before a number would become part of the number.
            operand = self.spelled(args[0], _UNARY)
            return f"{_SIGNS[op]} {f'({operand})' if args[0].op == 'literal' else operand}", _UNARY
        if op in ("between", "in", "like", "ilike", "rlike", "is", "is_not", "is_unknown") or op.endswith(
            ("_any", "_all")
        ):
            return f"{self.spelled(args[0], _VALUE)} {self._test(node)}", _TEST
        return self._primary(node), _PRIMARY

    def _test(self, node: Node) -> str:
        op, args, value = node.op, node.args, node.value
        if op == "between":
            return f"BETWEEN {self.spelled(args[1], _VALUE)} AND {self.spelled(args[2], _VALUE)}"
        if op == "in":
            return f"IN ({self._listed(args[1:])})"
        if op in ("like", "ilike", "rlike"):
            escape = f" ESCAPE {self.spelled(args[2], _ANY)}" if len(args) > 2 else ""
            return f"{op.upper()} {self.spelled(args[1], _VALUE)}{escape}"
        if op in ("is", "is_not", "is_unknown"):
            return f"IS {'NOT ' if op == 'is_not' else ''}{'UNKNOWN' if op == 'is_unknown' else value}"
        return f"{'NOT ' if value else ''}{op.upper().replace('_', ' ')} ({self._listed(args[1:])})"

    def _primary(self, node: Node) -> str:
        op, args, value = node.op, node.args, node.value
        if op == "call":
            return f"{self._name(node)}({self._listed(args)})"
        if op in ("cast", "try_cast"):
            return f"{op.upper()}({self.spelled(args[0], _ANY)} AS {value[1]})"
        if op == "lambda":
            names = [column_sql((name,)) for name in value]
            return f"{names[0] if len(names) == 1 else '(' + ', '.join(names) + ')'} -> {self.spelled(args[0], _ANY)}"
        if op in ("row", "struct"):
            items = [self.spelled(arg, _ANY) for arg in args]
            named = (
                item if name is None else f"{item} AS {column_sql((name,))}"
                for item, name in zip(items, value, strict=True)
            )
            return f"{'struct' if op == 'struct' else ''}({', '.join(named)})"
        if op == "form":
            return str(value).format(*(self.spelled(arg, _VALUE) for arg in args))
        if op == "index":
            return f"{self.spelled(args[0], _PRIMARY)}[{self.spelled(args[1], _ANY)}]"
        if op == "collate":
            return f"{self.spelled(args[0], _PRIMARY)} COLLATE {value}"
        if op == "star":
            return f"{column_sql(value)}.*" if value else "*"
        if op == "field":
            return f"{self.spelled(args[0], _PRIMARY)}.{column_sql((value,))}"
        return self._case(node)

    def _case(self, node: Node) -> str:
        args = [self.spelled(arg, _ANY) for arg in node.args]
        subject = f" {args.pop(0)}" if node.op == "case_of" else ""
        whens = " ".join(f"WHEN {args[i]} THEN {args[i + 1]}" for i in range(0, len(args) - 1, 2))
        return f"CASE{subject} {whens}{f' ELSE {args[-1]}' if len(args) % 2 else ''} END"

    def _name(self, node: Node) -> str:
        """Return the name of a function in the user's upper or lower case, which Spark's parser preserves."""
        written = self._text[node.start : node.start + len(node.value)]
        return written if written.lower() == node.value else str(node.value)
