"""Conditions with ST_ functions: tests of a record's position against a constant shape, as atoms for the engine."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import pyarrow as pa

from asc.keys.attribute import PAttribute
from asc.keys.constraint import EMPTY, Constraint
from asc.predicate.expressions.expression import Expression
from asc.predicate.expressions.expression_typer import ExpressionTyper
from asc.predicate.formula import FALSE, NULL, TRUE, Atom, Const, Every, Formula, Not
from asc.predicate.spatial.operands import NAMED, SHAPES, Operand, OperandReader
from asc.predicate.syntax.nodes import Node
from asc.spatial.reading import COORDINATE_MAX
from asc.spatial.shape import (
    BELOW_SPHERE,
    CONTAINS,
    COVERS,
    INTERSECTS,
    PLANAR,
    TOUCHES,
    WGS84,
    WITHIN_DISTANCE,
    WITHIN_SPHERE,
    Asked,
)

if TYPE_CHECKING:
    from shapely.geometry.base import BaseGeometry


_SHAPE_FIRST = {"st_contains": CONTAINS, "st_covers": INTERSECTS}
_SHAPE_LAST = {"st_within": CONTAINS, "st_coveredby": INTERSECTS}
_EITHER = frozenset(("st_intersects", "st_touches", "st_disjoint", "st_dwithin"))
_CONDITIONS = frozenset((*_SHAPE_FIRST, *_SHAPE_LAST, *_EITHER))
DISTANCE = "st_distancesphere"
IN_THE_PLANE = "ST_DistanceSphere in the plane"
"""The subject of the error for a distance in metres between positions that are no degrees."""

SPATIAL_FUNCTIONS = frozenset((*_CONDITIONS, *SHAPES, DISTANCE))
"""The functions of shapes and positions in predicates, by lower-case name. Spark has none of these functions."""

_SPELLED_LIST = """
ST_Contains ST_Within ST_Covers ST_CoveredBy ST_Intersects ST_Touches ST_Disjoint ST_DWithin ST_DistanceSphere
ST_GeomFromText ST_GeomFromGeoJSON ST_PolygonFromEnvelope ST_Point ST_Expand shape
"""
SPELLED = {name.lower(): name for name in _SPELLED_LIST.split()}
_OPERANDS = {
    "st_dwithin": 3,
    "st_expand": 3,
    "st_geomfromtext": 1,
    "st_geomfromgeojson": 1,
    "st_polygonfromenvelope": 4,
    NAMED: 2,
}
_HALF_TURN_M = 2.1e7
"""A distance in metres that is greater than the distance between any two positions on the earth."""

MatchOf = Callable[[PAttribute, bytes], Atom]


def is_condition(node: Node) -> bool:
    """Return whether a node is a call of an ST_ function that is a condition."""
    return node.op == "call" and node.value in _CONDITIONS


def is_distance(node: Node) -> bool:
    """Return whether a node is a call of ST_DistanceSphere. A predicate may only compare the result of this call with a
    constant.
    """
    return node.op == "call" and node.value == DISTANCE


def spatial_expression(typer: ExpressionTyper, node: Node) -> Expression:
    """Return the typed expression of a call of an ST_ function, so that the type checker can check the enclosing
    expression.

    The text of the expression is no valid Spark SQL, because the engine evaluates ST_ functions.
    """
    wanted = _OPERANDS.get(node.value, 2)
    if len(node.args) != wanted:
        raise typer.source.error_at(
            node, f"{SPELLED[node.value]} with {len(node.args)} arguments:", f"it takes {wanted}"
        )
    for arg in node.args:
        typer.of(arg)
    kind = pa.bool_() if node.value in _CONDITIONS else pa.float64() if node.value == DISTANCE else None
    return Expression(f"{SPELLED[node.value]}(...)", kind, node)


def refuse_in_spark(typer: ExpressionTyper, node: Node) -> None:
    """Raise PredicateError if an expression that Spark has to evaluate contains a call of an ST_ function or a shape,
    which only the engine can evaluate.
    """
    waiting = [node]
    while waiting:
        inner = waiting.pop()
        if inner.op == "geometry":
            remedy = "a shape is an argument of ST_Contains and its kin, which the engine evaluates"
            raise typer.source.error_at(inner, "shape within an expression that Spark computes:", remedy)
        if inner.op == "call" and inner.value in SPATIAL_FUNCTIONS:
            name = SPELLED[inner.value]
            if inner.value in SHAPES:
                remedy = "a shape or position is an argument of ST_Contains and its kin, which the engine evaluates"
            elif inner.value == DISTANCE:
                remedy = "compare it with a constant number of metres: <, <=, > or >="
            else:
                remedy = "it stands under AND, OR, NOT and IS alone, for Spark has no such function"
            raise typer.source.error_at(inner, f"{name} within an expression that Spark computes:", remedy)
        waiting += inner.args


class SpatialReader:
    """A reader of the ST_ conditions of one predicate.

    ``operands`` reads the operands of the functions. ``match`` returns the atom of the test that a position has a
    relation to a shape; a key encodes the shape and the relation.
    """

    def __init__(self, typer: ExpressionTyper, operands: OperandReader, match: MatchOf) -> None:
        self._typer = typer
        self._operands = operands
        self._match = match

    def condition(self, node: Node) -> Formula:
        """Return the formula of an ST_ condition."""
        self._typer.of(node)  # checks the number of arguments
        name, args = node.value, node.args
        first, second = self._operands.read(args[0]), self._operands.read(args[1])
        shape, place = self._sorted(node, first, second)
        if shape is None or place is None:
            return Const(NULL)
        if name == "st_dwithin":
            distance = self._operands.number(args[2], "distance")
            if distance is None:
                return Const(NULL)
            if not 0 <= distance <= COORDINATE_MAX:
                self._operands.fail(args[2], "distance:", f"it must be a number from 0 to {COORDINATE_MAX:g}")
            return self._asked(shape, place, WITHIN_DISTANCE, distance)
        if name == "st_disjoint":
            return Not(self._asked(shape, place, INTERSECTS))
        if isinstance(place, PAttribute) and not place.is_point:
            relations = {**_SHAPE_FIRST, **_SHAPE_LAST, "st_touches": TOUCHES, "st_intersects": INTERSECTS}
            relation = COVERS if name in ("st_covers", "st_coveredby") else relations[name]
            return self._asked(shape, place, relation)
        if name == "st_touches":
            return Every([self._asked(shape, place, INTERSECTS), Not(self._asked(shape, place, CONTAINS))])
        relation = {**_SHAPE_FIRST, **_SHAPE_LAST, "st_intersects": INTERSECTS}[name]
        return self._asked(shape, place, relation)

    def compared(self, node: Node, operator: str, limit: Node) -> Formula | None:
        """Return the formula of a comparison between a distance on the sphere and a constant number of metres.

        Return None if the distance is compared with anything else, or with an operator other than <, <=, > and >=.
        """
        if operator not in ("<", "<=", ">", ">="):
            return None
        self._typer.of(node)
        if self._operands.is_planar:
            self._operands.fail(node, f"{IN_THE_PLANE}:", "it needs degrees (crs wgs84); write ST_DWithin")
        metres = self._operands.number(limit, None)
        if metres is None:
            literal = self._typer.of(limit).literal
            return Const(NULL) if literal is not None and literal.value is None else None
        shape, place = self._sorted(node, *map(self._operands.read, node.args))
        if shape is None or place is None:
            return Const(NULL)
        if shape.geom_type != "Point" or shape.is_empty or (isinstance(place, PAttribute) and not place.is_point):
            self._operands.fail(node, "ST_DistanceSphere:", "it takes two positions, one of them constant")
        below, negated = operator in ("<", ">="), operator in (">", ">=")
        if math.isnan(metres) or metres > _HALF_TURN_M:
            # As in Spark, NaN is greater than every distance.
            near: Formula = self._known(place)
        elif metres < 0:
            near = Not(self._known(place))
        else:
            near = self._asked(_on_earth(shape), place, BELOW_SPHERE if below else WITHIN_SPHERE, metres)
        return Not(near) if negated else near

    # -- parts

    def _asked(
        self, shape: BaseGeometry, place: PAttribute | BaseGeometry, relation: int, distance: float = 0.0
    ) -> Formula:
        asked = Asked(shape, relation, distance, PLANAR if self._operands.is_planar else WGS84)
        if isinstance(place, PAttribute):
            return self._match(place, asked.key)
        if place.is_empty:
            return Const(NULL)
        (x,), (y,) = place.coords.xy
        if not self._operands.is_planar and (abs(x) > 180 or abs(y) > 90):
            # The position is not on the earth: NULL, as for a position of a record.
            return Const(NULL)
        return Const(TRUE if asked.accepts(x, y) else FALSE)

    def _known(self, place: PAttribute | BaseGeometry) -> Formula:
        """Return a formula that is TRUE if ``place`` is a valid position, and NULL for any other value."""
        if not isinstance(place, PAttribute):
            return self._asked(place, place, INTERSECTS)
        return Atom(place, Constraint(((None, None),)), EMPTY)

    def _sorted(
        self, node: Node, first: Operand | None, second: Operand | None
    ) -> tuple[BaseGeometry | None, PAttribute | BaseGeometry | None]:
        """Return the shape and the position among two operands.

        ``first`` and ``second`` are in the order of the text. Return None for both if one of them is NULL. Raise
        PredicateError if the two are not a shape and a position.
        """
        if first is None or second is None:
            return None, None
        name = node.value
        if first.shape is not None and second.shape is not None:
            of_points = [own.shape.geom_type == "Point" for own in (first, second) if own.shape is not None]
            place = 0 if name in _SHAPE_LAST or (of_points[0] and not of_points[1] and name not in _SHAPE_FIRST) else 1
            if not of_points[place]:
                self._operands.fail(
                    node, "two constant shapes:", "one side must be a position of the record, as ST_Point(x, y)"
                )
            shapes = (first.shape, second.shape)
            return shapes[1 - place], shapes[place]
        if first.position is not None and second.position is not None:
            self._operands.fail(
                node, "two positions of the record:", "one side must be a constant shape: Spark cannot compute it"
            )
        if name in _SHAPE_FIRST and first.position is not None:
            other = "ST_Within" if name == "st_contains" else "ST_CoveredBy"
            self._operands.fail(node, "a position that contains a shape:", f"write the shape first, or {other}")
        if name in _SHAPE_LAST and second.position is not None:
            other = "ST_Contains" if name == "st_within" else "ST_Covers"
            self._operands.fail(node, "a shape within a position:", f"write the position first, or {other}")
        # An empty shape is false to Python.
        return first.shape if first.shape is not None else second.shape, first.position or second.position


def _on_earth(point: BaseGeometry) -> BaseGeometry:
    """Return a point at the same position of the earth whose longitude is from -180 to 180."""
    import shapely

    ((x, y),) = shapely.get_coordinates(point).tolist()
    return point if abs(x) <= 180 else shapely.Point(math.remainder(x, 360.0), y)
