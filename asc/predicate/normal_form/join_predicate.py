"""Predicates of joins: for each shape of a layer, a WHERE over a stream and the layer becomes a predicate over the
stream.

A row is one shape of the layer with its properties.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from asc.errors import PredicateError, SchemaError
from asc.keys.byte_strings import quoted
from asc.predicate.formula import STEPS, Steps
from asc.predicate.limits import Limits
from asc.predicate.normal_form.disjunctive_form import Predicate
from asc.predicate.normal_form.formula_builder import FormulaBuilder
from asc.predicate.normal_form.normaliser import CONTRADICTION, TAUTOLOGY, check_time_zone, normalised
from asc.predicate.syntax.literal import TIMESTAMP, TIMESTAMP_NTZ, Literal
from asc.predicate.syntax.nodes import Node, Source, shortened
from asc.predicate.syntax.parser import parse
from asc.schema import GEOMETRY, PLANAR, Schema
from asc.spark_types import ddl_of_type, folded
from asc.spatial.feature import Feature

if TYPE_CHECKING:
    from shapely.geometry.base import BaseGeometry

_DEFAULT_LIMITS = Limits()
_LISTED = 20

_ROW_NODES, _STEPS_A_NODE = 10, 80
"""The first number is the fixed cost of the predicate of one row (a shape with its properties), in operators.

The second number is the number of steps (intervals visited) of the computation of a normal form that take as long as
one operator.
"""

LARGE_VERTICES = 512
"""The least number of vertices of a shape that an index subdivides.

The subdivision dominates the cost of such a shape. The estimated cost of a join does not include the indexing of shapes
with fewer vertices.
"""

_VERTICES_A_NODE, _LARGE_DISTANCE_NODES, _DISTANCE_VERTICES_A_NODE = 7, 1_000, 4
"""The cost of indexing a large shape, compared with the cost of one operator.

The first number is the number of vertices that cost as much as one operator. The other two numbers are for a distance
test: a large shape costs the second number of operators, plus one operator for each third number of vertices.
"""

_COMPARED_LIST = "= <> < <= > >= <=> between in like ilike rlike is is_not is_unknown and or not"
_COMPARED = frozenset(_COMPARED_LIST.split())
_EPOCH = dt.datetime(1970, 1, 1)
_WHOLE = MappingProxyType({pa.int8(): "Y", pa.int16(): "S", pa.int32(): "", pa.int64(): "L"})


@dataclass(frozen=True, slots=True)
class Join:
    """A join: the name of a layer, and a WHERE that names columns of the stream and of the layer.

    The join represents one predicate for each shape of the layer. The id of that predicate is ``<id>/<shape>``.
    """

    layer: str
    where: str


class JoinPredicate:
    """The predicate of a join.

    In the WHERE of the join, ``layer.name`` is a property of a row of the layer, and ``layer.geometry`` the row's
    shape. The WHERE is parsed once. For each row, :meth:`of` returns the predicate in which the row's values are
    constants. Invariant: that predicate accepts the same tuples as the WHERE with the constants written in place of the
    names. The object is immutable. Cost: typing and normalising the predicate of a row takes a few hundred
    microseconds.

    >>> from asc.schema import properties_of_ddl
    >>> from asc.spatial.layer import Layer
    >>> tiers = Layer({}, properties=properties_of_ddl("low INT, high INT"))
    >>> schema = Schema.from_ddl("price INT").with_layers({"tiers": tiers})
    >>> join = JoinPredicate("price BETWEEN tiers.low AND tiers.high", schema, "tiers")
    >>> [[(str(a), c.intervals) for a, c in one] for one in join.of(Feature(None, {"low": 5, "high": 9})).conjuncts]
    [[('price', (((5, 0), (9, 1)),))]]
    """

    def __init__(
        self,
        text: str,
        schema: Schema,
        layer: str,
        *,
        limits: Limits = _DEFAULT_LIMITS,
        time_zone: str = "UTC",
        may_wait: bool = False,
    ) -> None:
        """Parse a WHERE over the attributes of a stream and one of the layers of its schema.

        ``may_wait`` has the meaning of the parameter of :func:`asc.predicate.normalise`. Raise PredicateError if the
        text is no predicate, names no column of the layer, or would be refused for every row of the layer.
        """
        check_time_zone(time_zone)
        self._schema, self._limits, self._time_zone, self._may_wait = schema, limits, time_zone, may_wait
        self._tree, self._source = parse(text, limits, time_zone)
        shapes = schema.layers.get(layer)
        if shapes is None:
            known = ", ".join(sorted(schema.layers)[:_LISTED]) or "none"
            raise PredicateError("unknown layer", layer[:200], f"known: {known}")
        self._properties = shapes.properties
        self._names = {folded(name): name for name in shapes.properties.types}
        self._columns: dict[Node, str] = {}
        self._above: set[Node] = set()
        self._computed: dict[Node, str] = {}
        self._asking: list[str] = []
        self._nodes = 0
        self._find(self._tree, layer)
        self._check(layer, is_planar=shapes.is_planar)
        self.template = self._template()
        """The predicate of an example row. Only its text, its columns of the stream and its warnings have a meaning.

        Its conjuncts have no meaning, because they contain the example values.
        """

    def of(self, row: Feature, effort: JoinEffort | None = None) -> Predicate:
        """Return the predicate of a row of the layer. The caller ensures that the properties of the row have the
        layer's types.

        Raise PredicateError if the predicate is refused with the row's values. Add the work of its normal form to the
        counter ``effort``, even if the predicate is refused.

        If a NULL property is an operand of a function or an operator, it is first written with the type of its
        property, as a column would be. A function cannot check the type of an untyped NULL. If the predicate is refused
        with a typed NULL, for example by a function that takes only constants, it is built again with an untyped NULL.
        """
        values = self._properties.values(row.properties)
        if any(values[self._names[name]] is None for name in self._computed.values()):
            with suppress(PredicateError), _counted(effort) as steps:
                return self._made(row.shape, values, self._computed.keys(), steps)
        with _counted(effort) as steps:
            return self._made(row.shape, values, steps=steps)

    def check_effort(self, rows: Mapping[str, Feature]) -> None:
        """Raise PredicateError if the estimated cost (:meth:`effort`) of the predicates of the rows, and of their part
        of a plan, exceeds the limit.
        """
        self._check_effort(len(rows), self.effort(rows))

    def _check_effort(self, count: int, effort: int) -> None:
        most = self._limits.join_nodes
        if effort > most:
            subject = f"join of {count:,} shapes, about {effort:,} operators and operands together:"
            remedy = f"at most {most:,}: write fewer terms, simplify large shapes, or raise limits.join_nodes"
            raise PredicateError(subject, shortened(self._source.text), remedy)

    def may_exceed_effort(self, rows: Mapping[str, Feature]) -> bool:
        """Return whether the predicates of the rows could exceed the limit on the effort if their properties had the
        most costly values. If the result is false, the cost of the rows need not be counted.

        Cost: this check counts the vertices of the rows' shapes, and computes no predicate.
        """
        # A row may be tried twice: see :meth:`of`.
        most_a_row = 2 * STEPS // _STEPS_A_NODE
        return self._certain_effort(rows) + len(rows) * most_a_row > self._limits.join_nodes

    def effort(self, rows: Mapping[str, Feature]) -> int:
        """Estimate the cost of the predicates of the rows and of the index of their shapes, in operators and operands.

        The estimate is the number of rows times the cost of one row, plus the cost of indexing large shapes. The cost
        of one row is the number of operators of the WHERE plus the cost of the first row's normal form. The cost of
        indexing depends on the number of vertices. It counts once for each time that the WHERE names the geometry.

        The normal forms of other rows may cost more; :class:`JoinEffort` counts them as they are computed. The estimate
        takes as long as computing one row's predicate, plus some nanoseconds for each other row.
        """
        first = next(iter(rows.values()), None)
        if first is None:
            return 0
        steps = Steps()
        values = self._properties.values(first.properties)
        with suppress(PredicateError):
            self._made(first.shape, values, steps=steps)
        return self._certain_effort(rows) + len(rows) * (steps.spent // _STEPS_A_NODE)

    def _certain_effort(self, rows: Mapping[str, Feature]) -> int:
        """Return the part of the cost (:meth:`effort`) that is known before the normal forms are computed."""
        return len(rows) * (_ROW_NODES + self._nodes) + self._large_effort(rows)

    def _large_effort(self, rows: Mapping[str, Feature]) -> int:
        if not self._asking:
            return 0
        import numpy as np
        import shapely

        vertices = shapely.get_num_coordinates(np.array([row.shape for row in rows.values()], dtype=object))
        large = vertices[vertices >= LARGE_VERTICES].astype(np.int64)
        count, together = len(large), int(large.sum())
        distances = sum(name == "st_dwithin" for name in self._asking)
        by_distance = count * _LARGE_DISTANCE_NODES + together // _DISTANCE_VERTICES_A_NODE
        return distances * by_distance + (len(self._asking) - distances) * (together // _VERTICES_A_NODE)

    def _made(
        self,
        shape: BaseGeometry | None,
        values: Mapping[str, Any],
        typed: Collection[Node] = frozenset(),
        steps: Steps | None = None,
    ) -> Predicate:
        types = self._properties.types
        constants = {name: constant(value, types[name]) for name, value in values.items()}
        tree = self._written(self._tree, shape, constants, typed)
        # Each shape has separate warnings.
        source = Source(self._source.text)
        source.warnings.update(self._source.warnings)
        builder = FormulaBuilder(source, self._schema, self._time_zone, may_wait=self._may_wait)
        return normalised(tree, builder, self._limits, steps)

    def _template(self) -> Predicate:
        import shapely

        values = {name: _example(kind) for name, kind in self._properties.types.items()}
        made = self._made(shapely.Point(1, 1), values)
        warnings = tuple(one for one in made.warnings if one not in (TAUTOLOGY, CONTRADICTION))
        return Predicate(
            made.text,
            made.conjuncts,
            made.match_all,
            warnings,
            named=made.named,
            shapes=made.shapes,
            missing_shapes=made.missing_shapes,
        )

    # -- the columns of the layer

    def _find(self, tree: Node, layer: str) -> None:
        """Record the nodes that name a column of the layer, and all ancestors of these nodes."""
        wanted = folded(layer)
        for node, above in _walk(tree, ()):
            self._nodes += 1
            is_own = node.op == "column" and len(node.value) > 1 and folded(node.value[0]) == wanted
            is_variable = any(wanted in map(folded, one.value) for one in above if one.op == "lambda")
            if not is_own or is_variable:
                continue
            name = folded(node.value[1])
            if len(node.value) > 2 or (name != GEOMETRY and name not in self._names):
                known = ", ".join([GEOMETRY, *self._names.values()][:_LISTED])
                remedy = f"known of a row: {known}; the layer's properties are those that its configuration types"
                raise self._source.error_at(node, "unknown property", remedy)
            self._columns[node] = name
            if name == GEOMETRY and above:
                self._asking.append(str(above[-1].value))
            if name != GEOMETRY and above and not _is_plain(above[-1]):
                self._computed[node] = name
            self._above.update(above)

    def _check(self, layer: str, *, is_planar: bool) -> None:
        """Raise PredicateError for a layer that the predicate cannot be joined with.

        These are a layer with the name of a column of the stream, a layer that the predicate does not name, and a layer
        in another crs.
        """
        try:
            self._schema.resolve((layer,))
        except SchemaError:
            pass
        else:
            raise PredicateError("layer", layer, "is called as a column of the stream is: give the layer another name")
        if not self._columns:
            remedy = f"a join names a column of it, as {layer}.{GEOMETRY}; without, write a query"
            raise PredicateError("predicate that asks nothing of the layer", layer, remedy)
        if GEOMETRY in self._columns.values() and is_planar is not (self._schema.crs == PLANAR):
            remedy = "its shapes are in another one than the positions of the stream: both have a crs, wgs84 or planar"
            raise PredicateError("layer of another crs:", layer, remedy)

    def _written(
        self, node: Node, shape: BaseGeometry | None, constants: Mapping[str, Literal], typed: Collection[Node]
    ) -> Node:
        """Return a copy of the tree in which constants replace the columns of the layer.

        A NULL that replaces one of the nodes ``typed`` is cast to the type of its property.
        """
        name = self._columns.get(node)
        if name == GEOMETRY:
            return Node("geometry", (), node.start, node.end, shape)
        if name is not None:
            own = self._names[name]
            written = Node("literal", (), node.start, node.end, constants[own])
            if constants[own].value is not None or node not in typed:
                return written
            kind = self._properties.types[own]
            return Node("cast", (written,), node.start, node.end, (kind, ddl_of_type(kind)))
        if node not in self._above:
            return node
        args = tuple(self._written(arg, shape, constants, typed) for arg in node.args)
        return Node(node.op, args, node.start, node.end, node.value, written=node.written)


class JoinEffort:
    """A counter of the cost of a join, in operators and operands (:meth:`JoinPredicate.effort`), while the predicates
    of its rows are computed. It is not thread-safe.
    """

    def __init__(self, join: JoinPredicate, rows: Mapping[str, Feature]) -> None:
        self._join = join
        self._rows = len(rows)
        self._nodes = join._certain_effort(rows)

    def add(self, steps: Steps) -> None:
        """Add the steps that the computation of one row's normal form took, converted to operators."""
        self._nodes += steps.spent // _STEPS_A_NODE

    def check(self) -> None:
        """Raise PredicateError, as :meth:`JoinPredicate.check_effort` does, if the cost counted so far exceeds the
        limit.
        """
        self._join._check_effort(self._rows, self._nodes)


@contextmanager
def _counted(effort: JoinEffort | None) -> Iterator[Steps]:
    steps = Steps()
    try:
        yield steps
    finally:
        if effort is not None:
            effort.add(steps)


def _is_plain(node: Node) -> bool:
    """Return whether an untyped NULL may be an operand of the node, so that the NULL needs no cast to a type.

    This holds for comparisons, for AND, OR and NOT, and for functions of shapes.
    """
    return node.op in _COMPARED or (node.op == "call" and str(node.value).startswith("st_"))


def _walk(node: Node, above: tuple[Node, ...]) -> Iterator[tuple[Node, tuple[Node, ...]]]:
    """Yield each node of a tree with its ancestors. The recursion is as deep as the tree, whose depth the parser
    limits.
    """
    yield node, above
    for arg in node.args:
        yield from _walk(arg, (*above, node))


def constant(value: Any, kind: pa.DataType) -> Literal:
    """Return a value of a property (:class:`asc.spatial.properties.Properties`) as a literal of its type.

    Return the literal NULL for None.

    >>> constant(4500, pa.int64()).sql, constant(0.5, pa.float64()).sql, constant(None, pa.string()).sql
    ('4500L', '0.5D', 'NULL')
    """
    if value is None:
        return Literal("NULL", pa.null(), None)
    if kind == pa.string():
        return Literal(quoted(value), kind, value)
    if kind in _WHOLE:
        return Literal(f"{value}{_WHOLE[kind]}", kind, value)
    if kind in (pa.float32(), pa.float64()):
        return Literal(f"{value!r}{'D' if kind == pa.float64() else 'F'}".upper(), kind, value)
    if kind == pa.bool_():
        return Literal("true" if value else "false", kind, value)
    if kind == pa.date32():
        return Literal(f"DATE '{_EPOCH.date() + dt.timedelta(days=value)}'", kind, value)
    if kind == TIMESTAMP:
        return Literal(f"timestamp_micros({value}L)", kind, value)
    if kind == TIMESTAMP_NTZ:
        local = _EPOCH + dt.timedelta(microseconds=value)
        return Literal(f"TIMESTAMP_NTZ '{local.isoformat(' ', 'microseconds')}'", kind, value)
    return Literal(f"CAST({value:f}BD AS DECIMAL({kind.precision},{kind.scale}))", kind, value)


def _example(kind: pa.DataType) -> Any:
    """Return an example value of a type. If an expression is refused with the example, it is refused with every value
    of the type.
    """
    from decimal import Decimal

    if kind == pa.string():
        return "a"
    if pa.types.is_decimal128(kind):
        return Decimal(0).scaleb(-kind.scale)
    return True if kind == pa.bool_() else 1.0 if pa.types.is_floating(kind) else 1
