"""Strings that are composed of constants, such as ``concat('a', '%')``, evaluated as Spark evaluates them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import pyarrow as pa

from asc.predicate.syntax.nodes import Node

_MAX_CHARS = 10_000


@dataclass(frozen=True, slots=True)
class ConstantText:
    """The value of a constant string expression in a predicate; None for NULL."""

    value: str | None


def constant_text(node: Node) -> ConstantText | None:
    """Return the text of a constant, or of a string expression over constants.

    Return None for any other expression.

    >>> from asc.predicate.limits import Limits
    >>> from asc.predicate.syntax.parser import parse
    >>> constant_text(parse("concat('a', lower('B') || '%')", Limits(), "UTC")[0])
    ConstantText(value='ab%')
    """
    if node.op == "literal":
        return _of_literal(node)
    if node.op in ("cast", "try_cast"):
        return constant_text(node.args[0]) if node.value[0] == pa.string() else None
    name = node.value if node.op == "call" else "concat" if node.op == "||" else ""
    function = _FUNCTIONS.get(name)
    if function is None:
        return None
    parts = [constant_text(arg) for arg in node.args]
    known = [part.value for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    if name not in _PASSING_NULL_OVER and None in known:
        return ConstantText(None)
    try:
        made = function(known)
    except (TypeError, ValueError):
        return None  # with other arguments than it has here
    return made if made is not None and len(made.value or "") <= _MAX_CHARS else None


def _of_literal(node: Node) -> ConstantText | None:
    value = node.value.value
    if value is None or isinstance(value, str):
        return ConstantText(value)
    if isinstance(value, bool):
        return ConstantText(str(value).lower())
    # A date is an integer here as well.
    return ConstantText(str(value)) if isinstance(value, int) and pa.types.is_integer(node.value.type) else None


Known = Sequence[str | None]


def _concat(texts: Known) -> ConstantText:
    return ConstantText("".join(text or "" for text in texts))


def _concat_ws(texts: Known) -> ConstantText:
    separator, *rest = texts
    return ConstantText(None if separator is None else separator.join(text for text in rest if text is not None))


def _coalesce(texts: Known) -> ConstantText:
    return ConstantText(next((text for text in texts if text is not None), None))


def _of_one(make: Callable[[str], str]) -> Callable[[Known], ConstantText | None]:
    """Return the evaluation of a Spark function of one constant text that computes the same as ``make`` in Python.

    The evaluation returns None if Java's result could differ from Python's.
    """

    def made(texts: Known) -> ConstantText | None:
        (text,) = texts
        return ConstantText(make(text)) if text is not None and text.isascii() else None

    return made


def _replace(texts: Known) -> ConstantText | None:
    text, sought, *new = texts
    if text is None or sought is None or len(new) > 1:
        return None
    return ConstantText(text.replace(sought, new[0] or "" if new else "") if sought else text)


_FUNCTIONS: Mapping[str, Callable[[Known], ConstantText | None]] = MappingProxyType(
    {
        "concat": _concat,
        "concat_ws": _concat_ws,
        **dict.fromkeys(("coalesce", "ifnull", "nvl"), _coalesce),
        **dict.fromkeys(("lower", "lcase"), _of_one(str.lower)),
        **dict.fromkeys(("upper", "ucase"), _of_one(str.upper)),
        "trim": _of_one(lambda text: text.strip(" ")),
        "ltrim": _of_one(lambda text: text.lstrip(" ")),
        "rtrim": _of_one(lambda text: text.rstrip(" ")),
        "replace": _replace,
    }
)
_PASSING_NULL_OVER = frozenset(("concat_ws", "coalesce", "ifnull", "nvl"))
