"""The step from syntax tree to formula: it decides which comparisons become constraints for the engine, and which Spark
evaluates as boolean p-attributes.
"""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from asc.keys.attribute import PAttribute, matched
from asc.keys.byte_strings import starting_with
from asc.keys.constraint import EMPTY, Constraint
from asc.keys.like import element_key, like_key
from asc.keys.spaces import space_of
from asc.predicate.expressions import types
from asc.predicate.expressions.coercion import position, same_coercion, satisfying
from asc.predicate.expressions.constant_text import ConstantText, constant_text
from asc.predicate.expressions.expression import Expression
from asc.predicate.formula import FALSE, NULL, TRUE, Atom, Const, Every, Formula, Not, Some, Within, null_test, union_of
from asc.predicate.regex.like_pattern import like_parts
from asc.predicate.spatial.operands import OperandReader
from asc.predicate.spatial.spatial_forms import SpatialReader, is_condition, is_distance, refuse_in_spark
from asc.predicate.syntax.literal import Literal
from asc.predicate.syntax.nodes import Node, Source, shortened
from asc.predicate.type_checking.error_condition import error_condition
from asc.predicate.type_checking.membership import membership
from asc.predicate.type_checking.null_tests import NODE_CHARS
from asc.predicate.type_checking.typer import COMPARISONS, Typer
from asc.schema import Schema
from asc.spatial.layer import ShapeName

_NOT_NULL = Constraint(((None, None),))
_IS_TRUE, _IS_FALSE = Constraint((((1, 0), (1, 1)),)), Constraint((((0, 0), (0, 1)),))
_FLIPPED = {"=": "=", "<=>": "<=>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

_ALONE = 20
"""The fixed cost of an expression that Spark evaluates, in nodes (operators and operands). The number of the
expression's own nodes is added.
"""

_WRITTEN_CHARS = 200
"""The maximum length of an expression in an error message, in characters."""


class FormulaBuilder:
    """A builder of formulas from the syntax trees of one predicate. It also collects the predicate's warnings."""

    def __init__(self, source: Source, schema: Schema, time_zone: str, *, may_wait: bool = False) -> None:
        self._typer = Typer(source, schema)
        self._time_zone = time_zone
        self._attributes: dict[str, PAttribute] = {}
        self._operands = OperandReader(self._typer, self._attribute, may_wait=may_wait)
        self._spatial = SpatialReader(self._typer, self._operands, self._match)
        self.warnings = self._typer.warnings

    def formula(self, node: Node) -> Formula:
        """Return the formula of a condition. Raise PredicateError for a condition that is refused."""
        op = node.op
        if op == "and":
            return Every([self.formula(arg) for arg in node.args])
        if op == "or":
            return Some([self.formula(arg) for arg in node.args])
        if op == "not":
            return Not(self.formula(node.args[0]))
        if op in COMPARISONS:
            return self._comparison(node)
        if op == "between":
            return self._between(node)
        if op == "in":
            return self._in(node)
        if op in ("is", "is_unknown"):
            return self._is(node)
        if op == "like":
            return self._like(node)
        return self._bare(node)

    def whole(self, node: Node) -> Formula:
        """Return the formula of a condition that Spark evaluates as a whole: an atom of one boolean p-attribute."""
        return self._boolean(self._typer.condition(node))

    @property
    def named_shapes(self) -> frozenset[ShapeName]:
        """The shapes of layers that the builder has read so far."""
        return frozenset(self._operands.named)

    @property
    def missing_shapes(self) -> frozenset[ShapeName]:
        """The shapes of ``named_shapes`` that their layers lack."""
        return frozenset(self._operands.missing)

    @property
    def typer(self) -> Typer:
        """The type checker of the predicate's expressions."""
        return self._typer

    def _boolean(self, expression: Expression) -> Atom:
        attribute = self._attribute(expression, pa.bool_())
        return Atom(attribute, _IS_TRUE, _IS_FALSE)

    def _attribute(self, expression: Expression, data_type: pa.DataType) -> PAttribute:
        attribute = self._attributes.get(expression.sql)
        if attribute is None:
            if expression.path is not None:
                attribute = PAttribute(expression.sql, data_type, expression.path)
            else:
                refuse_in_spark(self._typer, expression.node)
                # Reading a column cannot fail, but evaluating an expression may be an error.
                error = error_condition(self._typer, expression.node)
                tests = self._typer.null_tests.weight(expression.node)
                weight = _ALONE + expression.node.weight + tests + len(error or "") // NODE_CHARS
                steps = self._typer.pattern_work.of(expression.node)
                attribute = PAttribute(
                    expression.sql, data_type, None, error, weight, steps, written=self._written(expression.node)
                )
            self._attributes[expression.sql] = attribute
        return attribute

    def _written(self, node: Node) -> str:
        return shortened(self._typer.source.text[node.start : node.end], _WRITTEN_CHARS)

    def _bare(self, node: Node) -> Formula:
        """Return the formula of a condition that is no comparison.

        Examples are a boolean column, a constant, a function call and RLIKE.
        """
        if is_condition(node):
            return self._spatial.condition(node)
        expression = self._typer.condition(node)
        literal = expression.literal
        if literal is not None:
            return Const(NULL if literal.value is None else TRUE if literal.value else FALSE)
        if node.op == "call" and node.value in ("isnull", "isnotnull"):
            test = self._null_test(node, node.args[0])
            return Not(test) if node.value == "isnotnull" else test
        found = self._part_of(node) or self._member(node)
        return self._boolean(expression) if found is None else found

    def _member(self, node: Node) -> Formula | None:
        """Return the formula of a condition that tests whether an array contains one of several constants.

        Return None for any other condition.
        """
        found = membership(self._typer, node)
        if found is None:
            return None
        subject = found.subject(self._attribute(found.text, pa.string()))
        has = [self._match(subject, element_key(constant)) for constant in found.constants]
        # A NULL element may equal any of the constants, so the result is NULL.
        return Some([*has, Every([self._match(subject, element_key(None)), Const(NULL)])])

    def _part_of(self, node: Node) -> Formula | None:
        """Return a formula that the engine evaluates for ``contains``, ``startswith`` or ``endswith`` with a constant.

        Return None for any other node.
        """
        if node.op != "call" or node.value not in ("contains", "startswith", "endswith"):
            return None
        subject, sought = (self._typer.of(arg) for arg in node.args)
        literal = sought.literal
        if subject.type != pa.string() or subject.literal is not None or literal is None or not literal.value:
            return None
        if literal.type != pa.string():
            return None
        if node.value == "startswith":
            return Atom(self._attribute(subject, pa.string()), Constraint((starting_with(literal.value),)))
        return self._matched(subject, [None, literal.value, *([None] if node.value == "contains" else [])])

    def _matched(self, subject: Expression, parts: list[str | None]) -> Atom | None:
        """Return the atom of the match of the text ``subject`` with the parts of a LIKE pattern (texts, and None for
        ``%``).

        Return None if Spark must evaluate the match.
        """
        key = like_key(parts)
        if key is None:
            return None
        own = replace(self._attribute(subject, pa.string()), sql=subject.argument, is_matched=True)
        return self._match(own, key)

    def _match(self, subject: PAttribute, key: bytes) -> Atom:
        attribute = matched(subject, key)
        return Atom(self._attributes.setdefault(attribute.sql, attribute), _IS_TRUE, _IS_FALSE)

    def _is_condition(self, node: Node) -> bool:
        if node.op in COMPARISONS or node.op in ("and", "or", "not", "between", "in", "is", "is_unknown", "like"):
            return True
        if node.op != "call" or self._typer.of(node).type != pa.bool_():
            return False
        return is_condition(node) or (self._part_of(node) or self._member(node)) is not None

    def _is(self, node: Node) -> Formula:
        subject = node.args[0]
        if node.op == "is" and node.value == "NULL":
            return self._null_test(node, subject)
        if self._typer.check_is(node).type not in (pa.bool_(), pa.null(), None):
            return self._null_test(node, subject) if node.op == "is_unknown" else self.whole(node)
        if node.value == "NULL":
            return self._null_test(node, subject)
        return Within(self.formula(subject), TRUE if node.value == "TRUE" else FALSE)

    def _null_test(self, node: Node, subject: Node) -> Formula:
        """Return the formula of a null test of ``subject``, which is a part of the predicate.

        ``node`` is the whole null test.
        """
        is_condition = self._is_condition(subject)
        if not is_condition:
            self._typer.null_tests.check(subject)
        caught = self._typer.null_tests.caught(node, subject)
        if caught is not None:
            return self._boolean(Expression(caught, pa.bool_(), node))
        if is_condition:
            return Within(self.formula(subject), NULL)
        expression = self._typer.of(subject)
        literal = expression.literal
        if literal is not None and (literal.known or not types.is_instant(literal.type)):
            return Const(TRUE if expression.type == pa.null() else FALSE)
        # Only Spark can parse this instant, and it refuses some, so Spark evaluates the test.
        if literal is None and expression.space is not None:
            return null_test(self._attribute(expression, expression.space.type))
        return self._boolean(Expression(f"{expression.argument} IS NULL", pa.bool_(), subject, atomic=False))

    # -- comparisons

    def _comparison(self, node: Node) -> Formula:
        operator = node.op
        left, right = self._typer.of(node.args[0]), self._typer.of(node.args[1])
        self._typer.check_comparable(node, left, right)
        if left.literal is not None and right.literal is None:
            left, right, operator = right, left, _FLIPPED[operator]
        if right.literal is None:
            return self.whole(node)
        literal = right.literal
        if is_distance(left.node):
            return self._spatial.compared(left.node, operator, right.node) or self.whole(node)
        if literal.type == pa.bool_() and operator in ("=", "<=>") and self._is_condition(left.node):
            inner = self.formula(left.node)
            if operator == "=":
                return inner if literal.value else Not(inner)
            return Within(inner, TRUE if literal.value else FALSE)
        if literal.type == pa.null():
            if operator == "<=>":
                return self._null_test(node, left.node)
            return Const(NULL)
        return self._compared(left, operator, literal) or self.whole(node)

    def _compared(self, subject: Expression, operator: str, literal: Literal) -> Formula | None:
        """Return the formula of ``subject operator literal``, where ``literal`` is not NULL. Return None if Spark must
        evaluate the comparison.
        """
        space = subject.space
        if space is None:
            return Const(NULL) if subject.type == pa.null() and operator != "<=>" else None
        place = position(space, literal, self._time_zone)
        if place is None:
            return None
        true = satisfying(operator, place)
        if subject.literal is not None:
            return self._constant(subject.literal, true)
        attribute = self._attribute(subject, space.type)
        return Atom(attribute, true, true.complement() if operator == "<=>" else None)

    def _constant(self, literal: Literal, true: Constraint) -> Formula | None:
        """Return the formula of a comparison of the constant ``literal`` with another constant.

        ``true`` admits the values of ``literal`` for which the comparison is TRUE. Return None if Spark must evaluate
        the comparison.
        """
        space = space_of(literal.type)
        own = None if space is None else position(space, literal, self._time_zone)
        if own is None or own[0][1] != 0:
            return None
        return Const(TRUE if true.admits(own[0][0]) else FALSE)

    def _between(self, node: Node) -> Formula:
        self._typer.check_between(node)
        subject, low, high = node.args
        if self._is_condition(subject):
            return self.whole(node)
        parts = [self._bound(subject, ">=", low), self._bound(subject, "<=", high)]
        atoms = [part for part in parts if isinstance(part, Atom)]
        if len(atoms) == 2 and atoms[0].attribute is atoms[1].attribute:
            true = atoms[0].true.intersect(atoms[1].true)
            return Atom(atoms[0].attribute, true)
        present = [part for part in parts if part is not None]
        return Every(present) if len(present) == 2 else self.whole(node)

    def _bound(self, subject: Node, operator: str, bound: Node) -> Formula | None:
        left, right = self._typer.of(subject), self._typer.of(bound)
        if left.literal is not None and right.literal is None:
            left, right, operator = right, left, _FLIPPED[operator]
        if right.literal is None:
            return None
        if right.type == pa.null():
            return Const(NULL)
        return self._compared(left, operator, right.literal)

    def _in(self, node: Node) -> Formula:
        self._typer.of(node)  # checks the types
        subject, *values = (self._typer.of(arg) for arg in node.args)
        literals = [value.literal for value in values if value.literal is not None]
        constants = [literal for literal in literals if literal.type != pa.null()]
        space = subject.space
        if len(literals) < len(values) or space is None or subject.literal is not None:
            return self.whole(node)
        if not constants:
            return Const(NULL)
        places = [position(space, literal, self._time_zone) for literal in constants]
        if None in places or not same_coercion(space.type, constants):
            return self.whole(node)
        true = union_of([satisfying("=", place) for place in places if place is not None])
        return Atom(self._attribute(subject, space.type), true, EMPTY if len(constants) < len(literals) else None)

    def _like(self, node: Node) -> Formula:
        whole = self._typer.of(node)  # checks the types and the pattern
        subject, pattern = self._typer.of(node.args[0]), self._typer.of(node.args[1])
        constant = constant_text(pattern.node)
        if pattern.type == pa.null() or constant == ConstantText(None):
            return Const(NULL)
        if constant is None or constant.value is None:
            return self._boolean(whole)
        if subject.type != pa.string() or subject.literal is not None:
            return self._boolean(whole)
        text = constant.value
        escape = node.args[2].value.value if len(node.args) > 2 else "\\"
        if escape in text and not _is_whole(text):
            return self._boolean(whole)
        parts = like_parts(text, escape)
        attribute = self._attribute(subject, pa.string())
        if not parts or (len(parts) == 1 and parts[0]):
            key = attribute.space.key(parts[0] or "" if parts else "")
            true = Constraint((((key, 0), (key, 1)),))
        elif parts == [None]:
            true = _NOT_NULL
        elif len(parts) == 2 and parts[0] and parts[1] is None:
            true = Constraint((starting_with(parts[0]),))
        else:
            return self._matched(subject, parts) or self._boolean(whole)
        return Atom(attribute, true)


def _is_whole(pattern: str) -> bool:
    """Return whether all characters of a LIKE pattern are at most U+FFFF. Spark's regular expression for a pattern with
    an escape splits any other character in two.
    """
    return all(character <= "\uffff" for character in pattern)
