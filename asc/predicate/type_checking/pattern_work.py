"""The total work of the patterns of one predicate, in steps of Spark's matcher for each character of a record."""

from __future__ import annotations

from math import ceil

from asc.predicate.expressions.expression import Expression
from asc.predicate.functions.bounded import MAX_LENGTH_CHARS
from asc.predicate.regex.backtracking import MAX_STEPS
from asc.predicate.syntax.nodes import Node, Source

_SHORT_CHARS = 500
"""The length of constant text, in characters, that counts as much as the text of one record in the work of a pattern.
"""

_LENGTHENING = frozenset(("lpad", "rpad", "repeat", "space", "array_repeat", "sequence"))


class PatternWork:
    """The work of all patterns (LIKE and regular expressions) of a predicate: the sum of their steps, updated as the
    type checker finds the patterns.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._steps: dict[Node, int] = {}
        self._total = 0

    def add(self, node: Node, subject: Expression, steps: int) -> None:
        """Add the work of matching a subject with a pattern that takes ``steps`` steps for each character.

        Raise PredicateError if all patterns of the predicate together could take too long on a record.
        """
        if not steps:
            return
        self._steps[node] = steps * (ceil(subject.growth) + _constant_chars(subject.node) // _SHORT_CHARS)
        self._total += self._steps[node]
        if self._total > MAX_STEPS:
            remedy = f"together they may take more than {MAX_STEPS} steps for each character of a string: write fewer"
            raise self._source.error_at(node, "patterns up to", remedy)

    def of(self, tree: Node) -> int:
        """Return the sum of the steps of the patterns in a part of the predicate."""
        if not self._steps:
            return 0
        nodes, steps = [tree], 0
        for node in nodes:
            steps += self._steps.get(node, 0)
            nodes += node.args
        return steps


def _constant_chars(node: Node) -> int:
    """Return the number of characters that constants may add to a text.

    The number is the sum of the lengths of the constants and of the lengths to which functions such as ``lpad`` may
    extend a text.
    """
    if node.op == "literal":
        value = node.value.value
        return len(value) if isinstance(value, str | bytes) else 0
    asked = 0
    if node.op == "call" and node.value in _LENGTHENING:
        numbers = [arg.value.value for arg in node.args if arg.op == "literal" and isinstance(arg.value.value, int)]
        asked = max(numbers, default=MAX_LENGTH_CHARS)
    return asked + sum(_constant_chars(arg) for arg in node.args)
