"""Null tests that have the same outcome as in Spark.

Spark does not evaluate an operand that can never be NULL, so the operand cannot throw. An expression that could throw
is spelled so that it is NULL instead (:mod:`asc.predicate.functions.try_spellings`). For Spark such a text can always
be NULL, whatever its operands are.

So the null test has two steps. It tests whether the text is NULL. If so, it tests whether the expression as the user
wrote it is NULL for Spark. If that throws, the outcome is TRUE.
"""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from asc.predicate.expressions.expression import Expression
from asc.predicate.expressions.expression_typer import ExpressionTyper
from asc.predicate.functions import FUNCTIONS, Call
from asc.predicate.functions.maps import KEYED
from asc.predicate.syntax.nodes import Node, nodes_of

_FIRST_DAY = "DATE '1970-01-02'"
"""The date that represents FALSE in the SQL of a null test; the next day represents TRUE.

Spark catches an exception in the operands of a sum of a date and days.
"""

_MAX_NODES = 20_000

NODE_CHARS = 5
"""The approximate number of characters of generated SQL that count as one node (operator or operand)."""


class NullTests:
    """A writer of the SQL of one predicate's null tests (IS NULL and calls that test for NULL).

    ``without_guards`` returns a type checker that leaves expressions as the user wrote them, even if Spark may throw
    for them.
    """

    def __init__(self, typer: ExpressionTyper, without_guards: Callable[[], ExpressionTyper]) -> None:
        self._typer = typer
        self._without_guards = without_guards
        self._uncaught: ExpressionTyper | None = None
        self._weights: dict[Node, int] = {}

    def check(self, subject: Node) -> None:
        """Raise PredicateError for a null test of a value from a map whose construction may fail.

        Spark may infer that the value is never NULL, and then does not construct the map.
        """
        for part in nodes_of(subject):
            if part.op == "call" and part.value in KEYED:
                remedy = "Spark may not look whether a key comes twice: ask for an entry, or IS NULL of its arguments"
                raise self._typer.source.error_at(subject, f"IS NULL of {part.value}:", remedy)

    def caught(self, node: Node, subject: Node) -> str | None:
        """Return SQL for the null test ``node``, which means ``subject IS NULL``, with the outcome that it has in
        Spark.

        Return None if the plain test of the rewritten subject has this outcome.
        """
        if not self._typer.catches or not subject.args:
            return None
        spelled = self._typer.of(subject).sql
        written = self._as_written(subject)
        if written == spelled:
            return None
        # Spark moves a choice between constants out of the call that catches exceptions: so both operands vary.
        asked = f"try_add(date_from_unix_date(CAST(({spelled}) IS NULL AS INT)), CAST(({written}) IS NULL AS INT))"
        test = f"if(({spelled}) IS NULL, NOT ({asked} <=> {_FIRST_DAY}), FALSE)"
        self._count(node, test)
        return test

    def of_comparison(self, node: Node) -> str | None:
        """Return SQL for ``x <=> NULL`` with the outcome that it has in Spark. Return None for any other comparison, or
        if the plain SQL of the comparison has this outcome.
        """
        if node.op != "<=>":
            return None
        left, right = node.args
        if is_null_constant(left):
            left, right = right, left
        return self._checked(node, left) if is_null_constant(right) else None

    def of_call(self, node: Node, call: Call) -> str | None:
        """Return SQL for a call that is a null test (such as ``isnull``) or contains one (such as ``nvl2``), with the
        outcome that it has in Spark.

        Return None for any other call, or if the plain SQL of the call has this outcome.
        """
        args = node.args
        if call.name in ("isnull", "isnotnull", "nvl2"):
            test = self._checked(node, args[0])
            if test is None:
                return None
            if call.name == "nvl2":
                chosen = [Expression(test, pa.bool_(), node), call.args[2], call.args[1]]
                return FUNCTIONS["if"].sql(Call("if", chosen))
            return test if call.name == "isnull" else f"NOT ({test})"
        if call.name == "equal_null" and any(map(is_null_constant, args)):
            return self._checked(node, args[0] if is_null_constant(args[1]) else args[1])
        if call.name == "decode" and any(map(is_null_constant, args[1:-1:2])):
            return self._decoded(node, call)
        return None

    def weight(self, tree: Node) -> int:
        """Return the cost of the rewritten null tests in a part of the predicate, in nodes (NODE_CHARS characters of
        SQL each).
        """
        return sum(self._weights.get(node, 0) for node in nodes_of(tree)) if self._weights else 0

    def _decoded(self, node: Node, call: Call) -> str | None:
        """Return SQL for ``decode`` as Spark's equivalent CASE, with a null test that has the outcome of Spark. Return
        None if the plain SQL of the call has this outcome.
        """
        test = self._checked(node, node.args[0])
        if test is None:
            return None
        subject, *rest = call.args
        branches = []
        for sought, made in zip(rest[::2], rest[1::2], strict=False):
            condition = test if is_null_constant(sought.node) else f"{subject.argument} <=> {sought.argument}"
            branches.append(f"WHEN {condition} THEN {made.sql}")
        other = f" ELSE {rest[-1].sql}" if len(rest) % 2 else ""
        return f"CASE {' '.join(branches)}{other} END"

    def _checked(self, node: Node, subject: Node) -> str | None:
        self.check(subject)
        return self.caught(node, subject)

    def _as_written(self, subject: Node) -> str:
        if self._uncaught is None:
            self._uncaught = self._without_guards()
        return self._uncaught.of(subject).sql

    def _count(self, node: Node, test: str) -> None:
        """Add the length of the SQL ``test`` of a null test to the total of the predicate.

        Raise PredicateError if the total is too great, because the length of nested null tests grows exponentially.
        """
        self._weights[node] = len(test) // NODE_CHARS
        if sum(self._weights.values()) > _MAX_NODES:
            raise self._typer.source.error_at(node, "null tests of long expressions", "write fewer, or shorter ones")


def is_null_constant(node: Node) -> bool:
    """Return whether a node is the literal NULL, possibly with casts."""
    if node.op in ("cast", "try_cast"):
        return is_null_constant(node.args[0])
    return bool(node.op == "literal" and node.value.type == pa.null())
