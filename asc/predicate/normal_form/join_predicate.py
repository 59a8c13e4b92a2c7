"""Predicates of joins: over a stream and the rows of a layer, made one of the stream alone for each row."""

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
"""Operators that a row costs whatever its predicate is, and steps of a normal form in the time of one operator."""

LARGE_VERTICES = 512
"""Vertices from which on an index cuts a shape further, which costs more than all else: fewer are not counted."""

_VERTICES_A_NODE, _LARGE_DISTANCE_NODES, _DISTANCE_VERTICES_A_NODE = 7, 1_000, 4
"""Vertices of a large shape in the time of one operator; where a distance is asked, operators for the shape besides."""

_COMPARED_LIST = "= <> < <= > >= <=> between in like ilike rlike is is_not is_unknown and or not"
_COMPARED = frozenset(_COMPARED_LIST.split())
_EPOCH = dt.datetime(1970, 1, 1)
_WHOLE = MappingProxyType({pa.int8(): "Y", pa.int16(): "S", pa.int32(): "", pa.int64(): "L"})


@dataclass(frozen=True, slots=True)
class Join:
    """A join among predicates by id: a WHERE over the columns of a table and those of a layer, by the layer's name. It
    stands for a predicate a shape, whose id is ``<id>/<shape>``.
    """

    layer: str
    where: str


class JoinPredicate:
    """The predicate of a join: its WHERE, in which ``layer.name`` is a property of a row, ``layer.geometry`` its shape.

    It is parsed once; of each row :meth:`of` makes the predicate that has the row's values as constants. Invariant:
    what that accepts is what the WHERE accepts with the constants written in place of the names; immutable. Cost: a row
    costs what typing and normalising its predicate do, some hundred microseconds. Source: spatial.md, section 2.

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
        """Read a WHERE over the attributes of a stream and one of the layers of its schema.

        ``may_wait`` is that of :func:`asc.predicate.normalise`. PredicateError for a text that is no predicate, names
        no column of the layer, or would be refused for every row.
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
        """The predicate of a made-up row: its text, the columns of the stream that it names, what is to be warned of;
        nothing may be concluded from its conjuncts.
        """

    def of(self, row: Feature, effort: JoinEffort | None = None) -> Predicate:
        """Return the predicate of a row, whose properties fit the layer's types.

        PredicateError where it is refused with the row's values. The work of its normal form is added to ``effort``,
        also where it is refused.

        A NULL of which something is computed has the type of its property, as a column's has: of a NULL alone, a
        function cannot know what it is refused for. One that takes constants alone takes it without.
        """
        values = self._properties.values(row.properties)
        if any(values[self._names[name]] is None for name in self._computed.values()):
            with suppress(PredicateError), _counted(effort) as steps:
                return self._made(row.shape, values, self._computed.keys(), steps)
        with _counted(effort) as steps:
            return self._made(row.shape, values, steps=steps)

    def check_effort(self, rows: Mapping[str, Feature]) -> None:
        """Raise PredicateError where the predicates of some rows, and their part of a plan, take too long."""
        self._check_effort(len(rows), self.effort(rows))

    def _check_effort(self, count: int, effort: int) -> None:
        most = self._limits.join_nodes
        if effort > most:
            subject = f"join of {count:,} shapes, about {effort:,} operators and operands together:"
            remedy = f"at most {most:,}: write fewer terms, simplify large shapes, or raise limits.join_nodes"
            raise PredicateError(subject, shortened(self._source.text), remedy)

    def may_exceed_effort(self, rows: Mapping[str, Feature]) -> bool:
        """Return whether the predicates of some rows could take too long, whatever the values are.

        Cost: as of large shapes in :meth:`effort`.
        """
        # A row may be tried twice: see :meth:`of`.
        most_a_row = 2 * STEPS // _STEPS_A_NODE
        return self._certain_effort(rows) + len(rows) * most_a_row > self._limits.join_nodes

    def effort(self, rows: Mapping[str, Feature]) -> int:
        """Estimate the cost of the predicates of some rows, and of the index of their shapes, in operators and
        operands.

        The estimate is the rows times the operators of the WHERE and those that the first row's normal form counts as,
        plus the cost of indexing large shapes. That cost depends on their vertices, and counts once for each time that
        the WHERE names the geometry. Normal forms of other rows may take more: :class:`JoinEffort` counts them as they
        are made. Cost: that of one row, and some nanoseconds for each of the others.
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
        """Return the effort without that of the normal forms, which is known only after they are made."""
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
        # The warnings of one row are not those of the next one.
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
        """Note the nodes that name a column of the layer, and those above them."""
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
        """Raise PredicateError for a layer that a column of the stream hides, that is not used, or that has another
        crs.
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
        """Return a tree with constants in place of the columns of the layer, NULLs in place of the ``typed`` with a
        type.
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
    """The effort of a join, counted while the predicates of its rows are made. One thread uses it."""

    def __init__(self, join: JoinPredicate, rows: Mapping[str, Feature]) -> None:
        self._join = join
        self._rows = len(rows)
        self._nodes = join._certain_effort(rows)

    def add(self, steps: Steps) -> None:
        """Add the steps that a normal form took."""
        self._nodes += steps.spent // _STEPS_A_NODE

    def check(self) -> None:
        """Raise PredicateError, as :meth:`JoinPredicate.check_effort` does, where the effort is too much by now."""
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
    """Return whether a NULL may be an operand of a node without a cast: one that compares, or asks for a shape."""
    return node.op in _COMPARED or (node.op == "call" and str(node.value).startswith("st_"))


def _walk(node: Node, above: tuple[Node, ...]) -> Iterator[tuple[Node, tuple[Node, ...]]]:
    """Yield the nodes of a tree, each with those above it; as deep as trees may be."""
    yield node, above
    for arg in node.args:
        yield from _walk(arg, (*above, node))


def constant(value: Any, kind: pa.DataType) -> Literal:
    """Return a value of a property (:class:`asc.spatial.properties.Properties`) as a literal of its type; NULL for
    None.

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
    """Return an example value of a type that is refused wherever any value of it would be."""
    from decimal import Decimal

    if kind == pa.string():
        return "a"
    if pa.types.is_decimal128(kind):
        return Decimal(0).scaleb(-kind.scale)
    return True if kind == pa.bool_() else 1.0 if pa.types.is_floating(kind) else 1
