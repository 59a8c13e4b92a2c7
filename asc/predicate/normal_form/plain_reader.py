"""A fast reader of conjunctions of plain terms, such as ``a > 5 AND b = 'x'``, which does not use the parser.

In a set of a million predicates, nearly all predicates differ only in constants.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import pyarrow as pa

from asc.errors import AscError
from asc.keys.attribute import PAttribute
from asc.keys.constraint import Constraint, Key
from asc.keys.domain import clipped
from asc.predicate.expressions.coercion import Position, position, same_coercion, satisfying
from asc.predicate.expressions.types import INTEGER_DIGITS
from asc.predicate.formula import Conjunction, intersection_of, union_of
from asc.predicate.limits import Limits
from asc.predicate.normal_form.disjunctive_form import Form, Predicate
from asc.predicate.normal_form.normaliser import normalise
from asc.predicate.syntax.literal import Literal, number
from asc.schema import Schema

_BLANK = r"[ \t\r\n]"
_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_CONSTANT = r"(?:-?[0-9]{1,18}(?:\.[0-9]{1,18})?|'[^'\\\x00-\x1f]*'|(?ai:true|false))(?![\w.'\"`])"
_TERM = re.compile(
    rf"{_BLANK}*({_NAME}(?:\.{_NAME})*)"
    rf"(?:{_BLANK}*(=|==|<=|>=|<>|!=|<|>)(?:{_BLANK}+(?=-)|{_BLANK}*(?!-))({_CONSTANT})"
    rf"|{_BLANK}+(?ai:BETWEEN){_BLANK}+({_CONSTANT}){_BLANK}+(?ai:AND){_BLANK}+({_CONSTANT})"
    rf"|{_BLANK}+(?ai:IN){_BLANK}*\({_BLANK}*({_CONSTANT}(?:{_BLANK}*,{_BLANK}*{_CONSTANT})*){_BLANK}*\))"
    rf"(?:{_BLANK}+(?ai:AND)(?={_BLANK})|({_BLANK}*\Z))"
)
_LISTED = re.compile(_CONSTANT)
_EQUAL = {"==": "=", "!=": "<>"}

_FORMS_MAX = 20_000
"""The maximum number of forms of terms in the cache, including forms that this reader cannot read. A full cache is
cleared.
"""

_TERMS_MAX = 50_000
"""The maximum number of terms in the cache, each with its constraint. A full cache is cleared.

Only terms with one constant are cached, because lists and ranges seldom occur twice.
"""

_TERM_CHARS = 200
"""The maximum length of a term in the cache, in characters."""

_SHORT = 9
"""The maximum length of a constant that is certain to fit into an INT, including its sign."""

_LEAST_DEPTH = 5
"""The nesting depth that every plain conjunction fits in. With a lower limit on the depth, the reader leaves all texts
to the parser.
"""


class _Term(NamedTuple):
    form: Form
    constants: Sequence[str]
    """The constants as the user wrote them."""


_Read = tuple[Form, PAttribute, Constraint]


class PlainReader:
    """A fast reader of plain predicates. A plain predicate is one term, or several terms that are joined by AND.

    A term compares a column with constants, by an operator, BETWEEN or IN. If the reader is not certain of the result,
    it returns None, and the caller uses :func:`asc.predicate.normalise`.

    The form of a term is the term without its constants (:class:`asc.predicate.normal_form.disjunctive_form.Form`). The
    reader learns the forms of terms from ``normalise``, which parses the first term of each form. If ``normalise`` and
    the reader give the same constraint for this term, the reader reads the other terms of the form itself. In a
    conjunction each term has the same meaning as in a predicate that consists of this term, because no operator within
    a term binds less tightly than AND.

    Invariant: the result equals that of ``normalise``, including the text of the predicate. Cost: a few microseconds
    for each term, a tenth of the time of parsing. Memory: up to ``_FORMS_MAX`` forms and ``_TERMS_MAX`` terms. Threads
    may share a reader: at worst a form is learnt twice. Rejected: learning the forms of whole predicates. If
    subscribers choose among twenty columns, there are as many such forms as predicates.

    >>> reader = PlainReader(Schema.from_ddl("delay INT, city STRING"))
    >>> reader.predicate("delay > 30 AND city IN ('Oslo', 'Bergen')").conjuncts == normalise(
    ...     "delay > 30 AND city IN ('Oslo', 'Bergen')", Schema.from_ddl("delay INT, city STRING")).conjuncts
    True
    >>> reader.predicate("delay > 30 OR city = 'Oslo'") is None
    True
    """

    def __init__(self, schema: Schema, limits: Limits | None = None, time_zone: str = "UTC") -> None:
        self._schema = schema
        self._limits = limits or Limits()
        self._time_zone = time_zone
        self._learnt: dict[Form, PAttribute | None] = {}
        self._read: dict[str, _Read] = {}

    def predicate(self, text: str) -> Predicate | None:
        """Return the predicate of a text, equal to the result of ``normalise``.

        Return None if the reader cannot read the text, so that the caller has to call ``normalise``.
        """
        terms = self._terms(text)
        if terms is None:
            return None
        constraints: Conjunction = {}
        alone: set[PAttribute] = set()
        for _, attribute, constraint in terms:
            before = constraints.get(attribute)
            if before is None:
                alone.add(attribute)
                constraints[attribute] = constraint
            elif attribute in alone:
                # Two constraints, as in n >= 5 AND n < 9. For more than two, steps have to be counted.
                alone.remove(attribute)
                both = clipped(intersection_of([before, constraint]), attribute.space.domain)
                if both.is_empty:
                    return None
                constraints[attribute] = both
            else:
                return None
        forms = frozenset([form for form, _, _ in terms])
        return Predicate(text, (tuple(constraints.items()),), forms=forms)

    def _terms(self, text: str) -> list[_Read] | None:
        if len(text) > self._limits.length_chars or self._limits.nesting_depth < _LEAST_DEPTH:
            return None
        if not text.isascii():
            try:
                text.encode()
            except UnicodeEncodeError:
                return None
        terms: list[_Read] = []
        place, is_last = 0, False
        while not is_last:
            match = _TERM.match(text, place)
            if match is None:
                return None
            is_last = match.group(7) is not None
            term_text = text[place : match.end() if is_last else match.end() - len("AND")]
            read = self._read.get(term_text)
            if read is None:
                read = self._read_term(term_text, match)
                if read is None:
                    return None
            terms.append(read)
            place = match.end()
        return terms

    def _read_term(self, text: str, match: re.Match[str]) -> _Read | None:
        term = _term(match)
        attribute = None if term is None else self._attribute(text, term)
        if term is None or attribute is None:
            return None
        constraint = self._constraint(attribute, term)
        if constraint is None:
            return None
        read = term.form, attribute, constraint
        if len(text) <= _TERM_CHARS and len(term.constants) == 1:
            if len(self._read) >= _TERMS_MAX:
                self._read.clear()
            self._read[text] = read
        return read

    def _attribute(self, text: str, term: _Term) -> PAttribute | None:
        """Return the p-attribute of a term; None if the reader cannot read terms of this form."""
        if term.form in self._learnt:
            return self._learnt[term.form]
        try:
            parsed = normalise(text, self._schema, limits=self._limits, time_zone=self._time_zone)
        except AscError:
            return None  # may depend on the constants: the parser of the whole predicate reports the error
        if len(parsed.conjuncts) != 1 or len(parsed.conjuncts[0]) != 1 or parsed.warnings:
            return None
        ((attribute, constraint),) = parsed.conjuncts[0]
        is_same = attribute.path is not None and self._constraint(attribute, term) == constraint
        if len(self._learnt) >= _FORMS_MAX:
            self._learnt.clear()
        self._learnt[term.form] = attribute if is_same else None
        return self._learnt[term.form]

    def _constraint(self, attribute: PAttribute, term: _Term) -> Constraint | None:
        """Return the constraint of a term on its p-attribute.

        Return None if the constraint is empty or full, if it admits all values but NULL, or if only Spark can evaluate
        the term.
        """
        operator, space = term.form.operator, attribute.space
        places = points = _points(attribute, term)
        if places is None:
            constants = [_literal(each) for each in term.constants]
            if operator == "IN" and not same_coercion(space.type, constants):
                return None
            found_places = [position(space, constant, self._time_zone) for constant in constants]
            places = [place for place in found_places if place is not None]
            if len(places) < len(found_places):
                return None
        if operator == "IN" and points is not None:
            asked = Constraint(tuple(sorted(set(points))))
        elif operator == "IN":
            asked = union_of([satisfying("=", place) for place in places])
        elif operator == "BETWEEN":
            low, high = places
            asked = satisfying(">=", low).intersect(satisfying("<=", high))
        elif operator == "<>":
            asked = Constraint(satisfying("=", places[0]).complement().intervals)
        else:
            asked = satisfying(operator, places[0])
        asked = clipped(asked, space.domain)
        return None if asked.is_empty or asked.is_full or asked.intervals == ((None, None),) else asked


def _points(attribute: PAttribute, term: _Term) -> list[Position] | None:
    """Return the positions of a term's constants among the keys of the column. In this case the column has the type of
    the constants, so that each constant is a key.

    Return None for other types.
    """
    kind = term.form.type
    if kind == pa.string() and attribute.type == kind:
        if all(text[0] == "'" for text in term.constants):
            return [_point(text[1:-1].encode()) for text in term.constants]
    elif kind == pa.int32() and attribute.type in INTEGER_DIGITS and all(map(_is_short, term.constants)):
        return [_point(int(text)) for text in term.constants]
    return None


def _point(key: Key) -> Position:
    return (key, 0), (key, 1)


def _is_short(text: str) -> bool:
    """Return whether a constant is so short that it is certain to be an INT."""
    return len(text) <= _SHORT and (text.isdigit() or text[1:].isdigit())


def _term(match: re.Match[str]) -> _Term | None:
    name, operator, constant, low, high, listed, _ = match.groups()
    if constant is not None:
        operator, written = _EQUAL.get(operator, operator), [constant]
    elif listed is not None:
        operator, written = "IN", _LISTED.findall(listed)
    else:
        operator, written = "BETWEEN", [low, high]
    kind = _type(written[0])
    if kind is None or (operator == "BETWEEN" and _type(written[1]) != kind):
        return None
    return _Term(Form(name, operator, kind), written)


def _type(text: str) -> pa.DataType | None:
    """Return the type of a constant; None if the text is no constant."""
    if text[0] == "'":
        return pa.string()
    if _is_short(text):
        return pa.int32()
    try:
        return _literal(text).type
    except (ValueError, ArithmeticError):
        return None


def _literal(text: str) -> Literal:
    first = text[0]
    if first == "'":
        return Literal("", pa.string(), text[1:-1])
    if first in "tTfF":
        return Literal("", pa.bool_(), first in "tT")
    return number(text)
