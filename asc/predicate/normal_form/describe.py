"""Descriptions of a predicate's normal form, as text for users and as JSON."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pyarrow as pa

from asc.keys.attribute import PAttribute
from asc.keys.constraint import Constraint, Interval, Key
from asc.keys.key_space import KeySpace
from asc.predicate.normal_form.disjunctive_form import Predicate
from asc.spark_types import ddl_of_type

_MANY = 12


def describe(predicate: Predicate) -> str:
    """Return a description of the normal form, the p-attributes and the warnings, as lines of text.

    >>> from asc.predicate import normalise
    >>> from asc.schema import Schema
    >>> schema = Schema.from_ddl("delay INT, city STRING")
    >>> print(describe(normalise("delay >= 30 AND (delay < 60 OR city LIKE 'O%')", schema)))
    accepts a record where
         30 <= delay < 60
      or delay >= 30 AND 'O' <= city < 'P'
    p-attributes
      delay  INT     column
      city   STRING  column
    """
    lines: list[str] = []
    if predicate.match_all:
        lines.append("accepts every record")
    elif not predicate.conjuncts:
        lines.append("accepts no record")
    else:
        lines.append("accepts a record where")
        for i, conjunct in enumerate(predicate.conjuncts):
            terms = [constraint_text(attribute, constraint) for attribute, constraint in conjunct]
            several = len(terms) > 1
            text = " AND ".join(f"({term})" if several and " OR " in term else term for term in terms)
            lines.append(f"  {'  ' if i == 0 else 'or'} {text}")
    attributes = predicate.p_attributes
    if attributes:
        rows = [(a.shown, ddl_of_type(a.type), _origin(a)) for a in attributes]
        widths = [max(len(row[i]) for row in rows) for i in range(2)]
        lines.append("p-attributes")
        lines += [f"  {sql:<{widths[0]}}  {kind:<{widths[1]}}  {origin}" for sql, kind, origin in rows]
    lines += [f"warning: {warning}" for warning in predicate.warnings]
    return "\n".join(lines)


def _origin(attribute: PAttribute) -> str:
    if attribute.like is not None:
        # A position is matched with a shape, a text with a pattern.
        matched = "shape" if attribute.read.parts else "pattern"
        return f"{matched}, in what Spark computes" if attribute.is_computed else matched
    return "computed by Spark" if attribute.is_computed else "column"


def plain_form(predicate: Predicate) -> dict[str, Any]:
    """Return the content of :func:`describe` as a JSON object.

    The values are the conjuncts, the p-attributes, whether the predicate accepts every record or no record, the
    warnings, and the lines of text.

    >>> from asc.predicate import normalise
    >>> from asc.schema import Schema
    >>> plain = plain_form(normalise("delay >= 30", Schema.from_ddl("delay INT")))
    >>> plain["conjuncts"], plain["p_attributes"]
    ([[{'attribute': 'delay', 'constraint': 'delay >= 30'}]], [{'sql': 'delay', 'type': 'int32', 'spark': False}])
    """
    return {
        "conjuncts": [
            [
                {"attribute": attribute.sql, "constraint": constraint_text(attribute, constraint)}
                for attribute, constraint in conjunct
            ]
            for conjunct in predicate.conjuncts
        ],
        "p_attributes": [plain_attribute(attribute) for attribute in predicate.p_attributes],
        "match_all": predicate.match_all,
        "contradiction": not predicate.conjuncts and not predicate.match_all,
        "warnings": list(predicate.warnings),
        "text": describe(predicate),
    }


def plain_attribute(attribute: PAttribute) -> dict[str, Any]:
    """Return a description of a p-attribute as values that can be encoded as JSON.

    ``spark`` is True if Spark evaluates the p-attribute.
    """
    return {"sql": attribute.sql, "type": str(attribute.type), "spark": attribute.is_computed}


def constraint_text(attribute: PAttribute, constraint: Constraint) -> str:
    """Return the text of a constraint on a p-attribute in SQL notation.

    >>> constraint_text(PAttribute("d", pa.date32(), ("d",)), Constraint((((15706, 0), None),), null=True))
    "d >= DATE '2013-01-01' OR d IS NULL"
    """
    name = attribute.shown
    if attribute.path is None and (" " in name and not name.endswith(")")):
        name = f"({name})"
    if attribute.type == pa.bool_() and not constraint.null and len(constraint.intervals) == 1:
        true = constraint.admits(1)
        if true != constraint.admits(0):
            return name if true else f"NOT {name}"
    if not constraint.intervals:
        return f"{name} IS NULL" if constraint.null else "FALSE"
    if constraint.intervals == ((None, None),):
        return "TRUE" if constraint.null else f"{name} IS NOT NULL"
    others = _text_of_intervals(name, attribute.space, constraint.intervals)
    return f"{others} OR {name} IS NULL" if constraint.null else others


def _text_of_intervals(name: str, space: KeySpace, intervals: tuple[Interval, ...]) -> str:
    excluded = _points(_gaps(intervals)) if intervals[0][0] is None and intervals[-1][1] is None else None
    if excluded is not None:
        return _listed(name, space, excluded, negated=True)
    points = [point for interval in intervals if (point := _point(interval)) is not None]
    ranges = [interval for interval in intervals if _point(interval) is None]
    terms = [_range_text(name, space, interval) for interval in ranges[:_MANY]]
    if len(ranges) > _MANY:
        terms.append(f"... {len(ranges) - _MANY} more intervals")
    if points:
        terms.append(_listed(name, space, points, negated=False))
    return " OR ".join(terms)


def _gaps(intervals: tuple[Interval, ...]) -> list[Interval]:
    return [(left[1], right[0]) for left, right in pairwise(intervals)]


def _points(intervals: list[Interval]) -> list[Key] | None:
    """Return the values of intervals that hold one value each.

    Return None if an interval is wider or the list is empty.
    """
    points = [_point(interval) for interval in intervals]
    return None if not points or None in points else points


def _point(interval: Interval) -> Key | None:
    low, high = interval
    return low[0] if low is not None and high is not None and low[0] == high[0] else None


def _listed(name: str, space: KeySpace, keys: list[Key], negated: bool) -> str:
    if len(keys) == 1:
        return f"{name} {'<>' if negated else '='} {space.text(keys[0])}"
    shown = [space.text(key) for key in keys[:_MANY]]
    if len(keys) > _MANY:
        shown.append(f"... {len(keys) - _MANY} more")
    return f"{name} {'NOT ' if negated else ''}IN ({', '.join(shown)})"


def _range_text(name: str, space: KeySpace, interval: Interval) -> str:
    low, high = interval
    if low is None:
        assert high is not None
        return f"{name} {'<=' if high[1] else '<'} {space.text(high[0])}"
    if high is None:
        return f"{name} {'>' if low[1] else '>='} {space.text(low[0])}"
    left = f"{space.text(low[0])} {'<' if low[1] else '<='}"
    return f"{left} {name} {'<=' if high[1] else '<'} {space.text(high[0])}"
