"""Warnings for comparisons with an implicit cast that look like a mistake.

A warning states the meaning of the comparison, a remedy, or both.

The warnings show parts of the predicate as the user wrote them, not as they are spelled for Spark.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa

from asc.predicate.expressions import types
from asc.predicate.expressions.expression import Expression
from asc.predicate.expressions.number_text import is_literal_without_quotes, is_number_text
from asc.predicate.syntax.literal import TIMESTAMP, TIMESTAMP_NTZ, date, is_never_date, is_never_timestamp, timestamp
from asc.predicate.syntax.nodes import Node, Source, shortened

_COMMENT = re.compile(r"/\*.*?\*/|--[^\n]*", re.DOTALL)
_SUFFIX = re.compile(r"(?:[LSYDF]|BD)\Z", re.IGNORECASE)
_CHOOSING = frozenset(("case_of", "call"))
"""The nodes that test two values for equality to choose a value (CASE, and calls such as ``nullif``), but are no
comparisons themselves.
"""


def suspicion(source: Source, node: Node, left: Expression, right: Expression) -> str | None:
    """Return a warning if a comparison of ``left`` and ``right`` looks like a mistake; else None. ``node``: the
    comparison, or a form such as BETWEEN or CASE that compares the two.
    """
    for constant, other in _constants_beside(left, right):
        never = _never(source, constant, other.type)
        if never is not None:
            return _of_no_value(source, node, constant, other, never)
        found = _compared(source, constant, other)
        if found is not None:
            return found
    return None


def suspicions_of_list(source: Source, node: Node, subject: Expression, values: Sequence[Expression]) -> Iterator[str]:
    """Yield the warnings for an IN. All constants that are no values of the subject's type share one warning.

    IN casts all operands to STRING if one operand is a string.
    """
    none_of: dict[str, str] = {}
    hint = None
    for value in values:
        for constant, other in _constants_beside(subject, value):
            never = _never(source, constant, other.type)
            if never is None or (types.is_number(other.type) and is_literal_without_quotes(_value(constant))):
                hint = hint or _compared_as_text(source, constant, other)
            elif other is subject:
                none_of[source.written(constant.node)] = never
            else:
                yield _never_equal(source, {source.written(constant.node): never}, other)
    if hint is not None:
        yield hint
    if not none_of:
        return
    if len(none_of) < len({source.written(value.node) for value in values}):
        yield _never_equal(source, none_of, subject)
        return
    every = f"every record whose {source.written(subject.node)} is not NULL"
    accepted = every if _is_negated(source, node) else "no record"
    yield f"{_none_among(none_of)}: {source.written(node)} accepts {accepted}"


def _compared_as_text(source: Source, constant: Expression, other: Expression) -> str | None:
    if other.type != pa.string() or not types.is_number(constant.type):
        return _compared(source, constant, other)
    compared = f"with which IN compares the number {source.written(constant.node)} as a text"
    return f"{source.written(other.node)} is a string, {compared}: write {_as_text(source, constant)}"


def _never_equal(source: Source, none_of: Mapping[str, str], other: Expression) -> str:
    them = "it" if len(none_of) == 1 else "them"
    return f"{_none_among(none_of)}: {source.written(other.node)} never equals {them}"


def _none_among(none_of: Mapping[str, str]) -> str:
    """Return the part of a warning that some constant texts are no values of a type.

    ``none_of``: the texts, each with the name of the type of which it is no value.
    """
    kinds = set(none_of.values())
    kind = max(kinds, key=lambda kind: kind != "number")
    texts = shortened(", ".join(none_of))
    return f"{texts} is no {kind}" if len(none_of) == 1 else f"no {kind} is among {texts}"


def _constants_beside(left: Expression, right: Expression) -> Iterator[tuple[Expression, Expression]]:
    """Yield each pair of an operand that is a constant and the other operand.

    Yield only pairs whose other operand is not constant and has a known type.
    """
    for constant, other in ((left, right), (right, left)):
        if constant.literal is not None and other.literal is None and other.type is not None:
            yield constant, other


def _of_no_value(source: Source, node: Node, constant: Expression, other: Expression, never: str) -> str:
    """Return the warning for a constant text that Spark casts to NULL for the comparison with ``other``. ``never``: the
    name of the type to which Spark casts the text.
    """
    text, name = source.written(constant.node), source.written(other.node)
    remedy = "the number without quotes" if is_literal_without_quotes(_value(constant)) else ""
    if node.op == "<=>" or (node.op == "call" and node.value == "equal_null"):
        true, test = ("wherever", "IS NOT NULL") if _is_distinct(source, constant, other) else ("only where", "IS NULL")
        said = f"{source.written(node)} is TRUE {true} {name} {test.lower().replace('null', 'NULL')}"
        return f"{text} is no {never}: {said}: write {name} {test}{remedy and f', or {remedy}'}"
    if node.op in _CHOOSING:
        return _never_equal(source, {text: never}, other)
    return f"{text} is no {never}: a comparison with it is NULL, and accepts no record{remedy and f': write {remedy}'}"


def _compared(source: Source, constant: Expression, other: Expression) -> str | None:
    """Return the warning for a constant whose type differs from the other operand's type.

    Return None if there is no warning.
    """
    name, text, kind = source.written(other.node), source.written(constant.node), constant.type
    if other.type == pa.string() and types.is_number(kind):
        remedy = f"write CAST({name} AS DOUBLE), or {_as_text(source, constant)} to compare as text"
        return f"{name} is a string compared with a number: {remedy}"
    if other.type == pa.bool_() and (kind == pa.string() or types.is_number(kind)):
        what = "string" if kind == pa.string() else "number"
        return f"{name} is boolean compared with a {what}: write TRUE or FALSE"
    if kind != pa.string():
        return None
    value = _value(constant)
    if types.is_number(other.type):
        plain = _is_quoted(source, constant) and is_literal_without_quotes(value)
        remedy = "the number without quotes" if plain else f"CAST({text} AS DOUBLE)"
        return f"{name} is a number compared with a string: write {remedy}"
    if other.type not in (pa.date32(), TIMESTAMP, TIMESTAMP_NTZ):
        return None
    word = types.name(other.type)
    what, form = ("date", "yyyy-mm-dd") if other.type == pa.date32() else ("timestamp", "yyyy-mm-dd hh:mm:ss")
    is_plain = (date(value) if other.type == pa.date32() else timestamp(value, None)) is not None
    remedy = f"{word} '{value if is_plain else form}'" if _is_quoted(source, constant) else f"CAST({text} AS {word})"
    return f"{name} is a {what} compared with a string: write {remedy}"


def _never(source: Source, constant: Expression, target: types.Type) -> str | None:
    """Return the name of the type to which Spark casts a constant text for a comparison, if the cast gives NULL.

    Return None if the text may be a value of the type. A text is compared with a decimal as a DOUBLE. Return None for a
    property of a shape, which may be another text in another row.
    """
    if constant.type != pa.string() or not _is_quoted(source, constant):
        return None
    text = _value(constant)
    if target == pa.date32():
        return "date" if is_never_date(text) else None
    if target in (TIMESTAMP, TIMESTAMP_NTZ):
        return "timestamp" if is_never_timestamp(text) else None
    if target is None or not types.is_number(target):
        return None
    compared_as = pa.float64() if pa.types.is_decimal(target) else target
    if is_number_text(text, compared_as):
        return None
    return types.name(target) if is_number_text(text, pa.float64()) else "number"


def _value(constant: Expression) -> str:
    assert constant.literal is not None
    return str(constant.literal.value)


def _as_text(source: Source, constant: Expression) -> str:
    """Return SQL for a constant number as a text, for the remedy in a warning."""
    text = source.written(constant.node)
    return f"'{_SUFFIX.sub('', text)}'" if text[:1] in "+-.0123456789" else f"CAST({text} AS STRING)"


def _is_quoted(source: Source, constant: Expression) -> bool:
    """Return whether the user wrote a quoted text for a constant. If not, the constant stands for a property of a
    shape.
    """
    return source.text[constant.node.start : constant.node.end].lstrip("rR")[:1] in ("'", '"')


def _is_distinct(source: Source, one: Expression, other: Expression) -> bool:
    """Return whether the user wrote a null-safe comparison as IS DISTINCT FROM."""
    first, second = sorted((one.node, other.node), key=lambda node: node.start)
    words = _words(source, first.end, second.start)
    return "DISTINCT" in words and "NOT" not in words


def _is_negated(source: Source, node: Node) -> bool:
    return "NOT" in _words(source, node.args[0].end, node.args[1].start)


def _words(source: Source, start: int, end: int) -> list[str]:
    return re.findall(r"\w+", _COMMENT.sub(" ", source.text[start:end]).upper())
