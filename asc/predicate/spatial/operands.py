"""The operands of ST_ functions: constant shapes, shapes of layers, and positions from the record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, NoReturn

import pyarrow as pa

from asc.errors import ShapeError
from asc.keys.attribute import PAttribute, position
from asc.predicate.expressions import types
from asc.predicate.expressions.expression import Expression
from asc.predicate.expressions.expression_typer import ExpressionTyper
from asc.predicate.syntax.nodes import Node
from asc.schema import PLANAR as IN_PLANE
from asc.spatial.layer import ShapeName
from asc.spatial.reading import Read, Rules, of_envelope, of_geojson, of_wkt

if TYPE_CHECKING:
    from shapely.geometry.base import BaseGeometry


NAMED = "shape"
SHAPES = frozenset(("st_geomfromtext", "st_geomfromgeojson", "st_polygonfromenvelope", "st_point", "st_expand", NAMED))
"""The functions that return a shape or a position, by lower-case name."""

_SUM_WEIGHT = 24
"""The cost for Spark of a sum of two numbers, including its casts and its operator, in nodes (operators and operands).
"""

_LISTED = 20
_COMPARED = 10_000
"""The maximum number of shapes of a layer whose ids are compared with a missing id, to suggest a similar id."""


@dataclass(frozen=True, slots=True)
class Operand:
    """An operand of an ST_ function: a constant shape, or a position or box from the record."""

    shape: BaseGeometry | None = None
    position: PAttribute | None = None


class OperandReader:
    """A reader of the spatial operands of one predicate.

    ``attribute``: a function that returns the p-attribute of a typed expression. ``may_wait``: treat a shape that its
    layer lacks as NULL instead of refusing it. ``named``: the shapes of layers that were read so far. ``missing``: the
    subset of ``named`` that their layers lack.
    """

    def __init__(
        self,
        typer: ExpressionTyper,
        attribute: Callable[[Expression, pa.DataType], PAttribute],
        *,
        may_wait: bool = False,
    ) -> None:
        self._typer = typer
        self._attribute = attribute
        self._may_wait = may_wait
        self._positions: dict[str, PAttribute] = {}
        self.is_planar = typer.schema.crs == IN_PLANE
        self._rules = Rules(self.is_planar)
        self.named: set[ShapeName] = set()
        self.missing: set[ShapeName] = set()

    def read(self, node: Node) -> Operand | None:
        """Return the shape or the position that an argument of an ST_ function denotes; None for NULL."""
        if node.op == "geometry":
            return None if node.value is None else Operand(shape=node.value)
        if node.op != "call" or node.value not in SHAPES:
            literal = self._typer.of(node).literal
            if literal is not None and literal.value is None:
                return None
            remedy = (
                "write ST_Point(x, y), ST_GeomFromText('...'), ST_GeomFromGeoJSON('...'), ST_PolygonFromEnvelope(...) "
                "or shape('layer', 'id')"
            )
            self.fail(node, "not a shape or position:", remedy)
        if node.value == "st_point":
            return self._point(node)
        if node.value == "st_polygonfromenvelope":
            return self._envelope(node)
        if node.value == "st_expand":
            return self._expanded(node)
        if node.value == NAMED:
            return self._named(node)
        literal = self._typer.of(node.args[0]).literal
        if literal is None or (literal.type != pa.string() and literal.value is not None):
            self.fail(node.args[0], "text of a shape:", "it must be a constant string")
        if literal.value is None:
            return None
        read = of_wkt if node.value == "st_geomfromtext" else of_geojson
        return self._shape(node.args[0], lambda: read(literal.value, self._rules))

    def _named(self, node: Node) -> Operand | None:
        """Return the shape of a layer that the call ``shape('layer', 'id')`` names.

        Return None if the layer lacks the shape and ``may_wait`` is set.
        """
        texts = [self._typer.of(arg).literal for arg in node.args]
        for literal, arg in zip(texts, node.args, strict=True):
            if literal is None or literal.type != pa.string():
                self.fail(arg, "name of a shape:", "write shape('layer', 'id'), both constant strings")
        name, shape_id = (literal.value for literal in texts if literal is not None)
        layers = self._typer.schema.layers
        layer = layers.get(name)
        if layer is None:
            self.fail(node.args[0], "unknown layer:", f"known: {', '.join(sorted(layers)[:_LISTED]) or 'none'}")
        if layer.is_planar != self.is_planar:
            kinds = ("degrees (crs wgs84)", "a plane (crs planar)")
            remedy = f"its shapes are in {kinds[layer.is_planar]}, the positions in {kinds[self.is_planar]}"
            self.fail(node, "layer of another crs:", remedy)
        self.named.add((name, shape_id))
        shape = layer.shape(shape_id)
        if shape is None:
            if not self._may_wait:
                near = get_close_matches(shape_id, layer.features, 1) if len(layer.features) <= _COMPARED else []
                known = f": did you mean '{near[0]}'?" if near else ""
                self.fail(node, "no such shape:", f"layer '{name}' has none of that id{known}")
            self.missing.add((name, shape_id))
            self._typer.warnings[f"waits for {name}/{shape_id}, which its layer does not have: NULL until it does"] = (
                None
            )
            return None
        return Operand(shape=shape)

    def _envelope(self, node: Node) -> Operand | None:
        """Return the rectangle of a call of ST_PolygonFromEnvelope: a shape if all four numbers are constants, else a
        box from the record.

        Return None if one of the numbers is NULL.
        """
        literals = [self._typer.of(arg).literal for arg in node.args]
        if any(literal is not None and literal.value is None for literal in literals):
            return None
        if any(literal is None for literal in literals):
            return self._position([self._part(arg) for arg in node.args])
        corners = [self.number(arg, "corner of an envelope") for arg in node.args]
        given = [own for own in corners if own is not None]
        return self._shape(node, lambda: of_envelope(given, self._rules))

    def _expanded(self, node: Node) -> Operand | None:
        """Return the result of ST_Expand for a position or a shape.

        The first number extends the operand to the left and right, the second number up and down. Return None if the
        operand or a number is NULL.
        """
        inner = self.read(node.args[0])
        literals = [self._typer.of(arg).literal for arg in node.args[1:]]
        if inner is None or any(literal is not None and literal.value is None for literal in literals):
            return None
        if inner.position is not None:
            by = [self._part(arg) for arg in node.args[1:]]
            low, high = inner.position.parts[:2], inner.position.parts[-2:]
            least = [_combined(part, "-", own) for part, own in zip(low, by, strict=True)]
            return self._position([*least, *(_combined(p, "+", own) for p, own in zip(high, by, strict=True))])
        assert inner.shape is not None
        across, up = (self.number(arg, "what it is expanded by") or 0.0 for arg in node.args[1:])
        x1, y1, x2, y2 = inner.shape.bounds
        corners = (x1 - across, y1 - up, x2 + across, y2 + up)
        return self._shape(node, lambda: of_envelope(corners, self._rules))

    def _position(self, parts: list[PAttribute]) -> Operand:
        condition = _error_condition(parts, is_planar=self.is_planar)
        found = position(parts, is_planar=self.is_planar, error_condition=condition)
        return Operand(position=self._positions.setdefault(found.sql, found))

    def _shape(self, node: Node, read: Callable[[], Read]) -> Operand:
        try:
            read_shape = read()
        except ShapeError as error:
            raise self._typer.source.error(
                f"{error.subject}", error.value, error.remedy, node.start, max(node.end, node.start + 1)
            ) from None
        for warning in read_shape.warnings:
            self._typer.warnings[warning] = None
        return Operand(shape=read_shape.geometry)

    def _point(self, node: Node) -> Operand | None:
        literals = [self._typer.of(arg).literal for arg in node.args]
        if any(literal is not None and literal.value is None for literal in literals):
            return None
        if all(literal is not None for literal in literals):
            x, y = (self.number(arg, "coordinate") for arg in node.args)
            return self._shape(node, lambda: of_wkt(f"POINT ({x!r} {y!r})", self._rules))
        return self._position([self._part(arg) for arg in node.args])

    def _part(self, node: Node) -> PAttribute:
        expression = self._typer.of(node)
        if expression.type is not None and not types.is_number(expression.type):
            kind = types.name(expression.type)
            self.fail(node, f"{kind} as a coordinate:", "a coordinate is a number: CAST it AS DOUBLE")
        if expression.space is None:
            self.fail(node, "coordinate of a type that cannot be told:", "CAST it AS DOUBLE")
        return self._attribute(expression, expression.space.type)

    def number(self, node: Node, what: str | None) -> float | None:
        """Return the value of a node that is a constant number. Return None for NULL.

        For any other node raise PredicateError, in whose message ``what`` describes the node. If ``what`` is None,
        return None instead.
        """
        literal = self._typer.of(node).literal
        if literal is not None and literal.value is None:
            return None
        if literal is None or not types.is_number(literal.type) or isinstance(literal.value, bool):
            if what is None:
                return None
            self.fail(node, f"{what}:", "it must be a constant number")
        return float(literal.value)

    def fail(self, node: Node, problem: str, remedy: str) -> NoReturn:
        raise self._typer.source.error_at(node, problem, remedy)


def _error_condition(parts: list[PAttribute], *, is_planar: bool) -> str | None:
    """Return the SQL condition under which a position or a box with the coordinates ``parts`` is an evaluation error.

    The condition holds if a coordinate is an evaluation error itself or is not on the earth. It also holds if a lower
    bound of a box is greater than the upper bound. Return None if none of these cases can occur.
    """
    conditions = [part.error_condition for part in parts if part.error_condition is not None]
    texts = [f"CAST(({part.sql}) AS DOUBLE)" for part in parts]
    if not is_planar:
        bounds = ("180D", "90D") * (len(parts) // 2)
        conditions += [
            f"coalesce(abs({text}) > {bound} AND NOT isnan({text}), false)"
            for text, bound in zip(texts, bounds, strict=True)
        ]
    if len(parts) > 2:
        pairs = zip(texts[:2], texts[2:], strict=True)
        conditions += [f"coalesce({low} > {high} AND NOT isnan({low}), false)" for low, high in pairs]
    return " OR ".join(f"({condition})" for condition in conditions) or None


def _combined(part: PAttribute, operator: str, by: PAttribute) -> PAttribute:
    """Return the p-attribute ``part operator by``, a sum or difference of two numbers. Spark evaluates it with both
    numbers cast to DOUBLE.
    """
    errors = [own.error_condition for own in (part, by) if own.error_condition is not None]
    return PAttribute(
        f"CAST(({part.sql}) AS DOUBLE) {operator} CAST(({by.sql}) AS DOUBLE)",
        pa.float64(),
        None,
        " OR ".join(f"({error})" for error in errors) or None,
        part.weight + by.weight + _SUM_WEIGHT,
        part.steps + by.steps,
    )
