"""Constant expressions that Spark's analyser leaves unchanged after parsing.

Spark checks that the operand of IS UNKNOWN is a condition if the test still is as its parser created it. If the
analyser changes anything within the operand, it creates the test again as IS NULL, and the check no longer applies. The
analyser changes an operand that contains a column, a function, or an implicit cast.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa

from asc.predicate.expressions import types
from asc.predicate.expressions.types import Type
from asc.predicate.syntax.nodes import Node

_OF_ONE_TYPE = frozenset(("=", "<=>", "<", "<=", ">", ">=", "in", "like", "rlike", "and", "or"))
_ARITHMETIC = frozenset(("+", "-", "*", "%", "&", "|", "^"))
_ANY_TYPE = frozenset(("literal", "interval", "not"))
_FORMS = {
    "position": 2,
    "overlay": 2,
    "substring": 1,
    "trim": 2,
    "ltrim": 2,
    "rtrim": 2,
}
"""The functions that Spark's parser creates from forms with keywords, such as ``POSITION(a IN b)``, each with the
number of its first arguments that are texts.

The arguments after the texts are INT.
"""


def is_left_as_parsed(node: Node, type_of: Callable[[Node], Type]) -> bool:
    """Return whether Spark's analyser leaves a constant expression unchanged. ``type_of`` returns the type of a part of
    the expression.

    >>> from asc.predicate.limits import Limits
    >>> from asc.predicate.syntax.parser import parse
    >>> trees = [parse(text, Limits(), "UTC")[0] for text in ("1 + 2 = 3", "n = 3", "abs(1) = 3")]
    >>> [is_left_as_parsed(tree, lambda part: pa.int32()) for tree in trees]
    [True, False, False]
    """
    if not all(is_left_as_parsed(arg, type_of) for arg in node.args):
        return False
    if node.op in _ANY_TYPE:
        return True
    kinds = [type_of(arg) for arg in node.args]
    if node.op in ("row", "struct"):
        # An explicit name is a node that the analyser resolves.
        return not any(node.value)
    if node.op in ("neg", "pos", "~"):
        return types.is_number(kinds[0]) or types.is_interval(kinds[0])
    if node.op == "is":
        return node.value == "NULL" or kinds == [pa.bool_()]
    if node.op == "is_unknown":
        return kinds == [pa.bool_()]
    if node.op == "||":
        return _is_one(kinds) and kinds[0] in (pa.string(), pa.binary())
    if node.op == "case":
        return _is_one(_results(kinds)) and pa.null() not in kinds
    if node.op == "case_of":
        subject, *branches = kinds
        return _is_one([subject, *branches[: len(branches) // 2 * 2 : 2]]) and _is_one(_results(branches))
    if node.op == "call":
        texts = _FORMS.get(node.value, 0)
        is_form = texts > 0 and node.written is not None and node.written.op == "form"
        wanted = (pa.string() if place < texts else pa.int32() for place in range(len(kinds)))
        return is_form and all(kind == own for kind, own in zip(kinds, wanted, strict=True))
    if node.op in ("/", "%", "+", "-", "*") and all(map(pa.types.is_decimal, kinds)):
        return True
    if node.op == "/":
        return _is_one(kinds) and kinds[0] == pa.float64()
    if node.op in _ARITHMETIC:
        return _is_one(kinds) and (types.is_number(kinds[0]) or types.is_interval(kinds[0]))
    return node.op in _OF_ONE_TYPE and _is_one(kinds)


def _results(branches: Sequence[Type]) -> Sequence[Type]:
    """Return the types of the results among the branches of a CASE.

    The branches are pairs of a condition and a result, and an optional ELSE.
    """
    return [*branches[1::2], *(branches[-1:] if len(branches) % 2 else ())]


def _is_one(kinds: Sequence[Type]) -> bool:
    return all(kind == kinds[0] for kind in kinds)
