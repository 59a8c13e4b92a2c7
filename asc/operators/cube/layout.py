"""Layouts of cubes: the types of a cube's expressions over one schema, and the states of its measures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from asc.errors import CubeError
from asc.operators.cube.aggregates import is_statistic
from asc.operators.cube.columns import Columns
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.grain import check_grain
from asc.operators.cube.measure import Measure
from asc.operators.cube.operand import Operand, OperandReader, is_comparable
from asc.operators.cube.states.average import average_type, averages
from asc.operators.cube.states.count import Count, RecordCount
from asc.operators.cube.states.exact_sum import ExactSum
from asc.operators.cube.states.extreme import Extreme
from asc.operators.cube.states.float_sum import FloatSum
from asc.operators.cube.states.moments import Moments
from asc.operators.cube.states.state import State, Values
from asc.operators.cube.states.statistic import Statistic
from asc.predicate.expressions.types import name as type_name
from asc.schema import Schema

_SlotKey = tuple[str | None, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Slot:
    """A state that each cell has, and the expression that is folded into the state. For ``count(*)`` there is no
    expression.

    ``key``: equal for two measures that share the state. ``second``: the second column of co-moments.
    """

    state: State
    operand: Operand | None
    key: tuple[str | None, ...]
    second: Operand | None = None

    @property
    def operands(self) -> tuple[Operand, ...]:
        """Return the expressions that are folded into the state."""
        return tuple(operand for operand in (self.operand, self.second) if operand is not None)

    def values(self, columns: Columns) -> Values | None:
        """Return the values that a batch has for the state. Return None if the state counts records."""
        if self.operand is None:
            return None
        if isinstance(self.state, Moments):
            return columns.rows(self.operands, self.state)
        return columns.values(self.operand, self.state)


@dataclass(frozen=True, slots=True)
class Answered:
    """A measure in answers: the name, the Arrow type, and the slots from whose states the measure is computed.

    ``averaged``: the type of the averaged values; None if the measure is not an average. ``is_integer``: whether the
    answers, which are decimals in Arrow, are shown as integers. ``statistic``: the function of co-moments; None if the
    measure is not computed from co-moments.
    """

    name: str
    type: pa.DataType
    slots: tuple[int, ...]
    averaged: pa.DataType | None = None
    is_integer: bool = False
    statistic: Statistic | None = None

    def of(self, states: tuple[pa.Array, ...], slots: tuple[Slot, ...]) -> pa.Array:
        """Return the measure of each cell, from the states of all slots."""
        if self.averaged is not None:
            total, count = self.slots
            return averages(self.averaged, states[total], states[count])
        state = slots[self.slots[0]].state
        if self.statistic is not None:
            assert isinstance(state, Moments)
            return self.statistic.of(state, states[self.slots[0]])
        return state.answer(states[self.slots[0]])

    def overflows(self, states: tuple[pa.Array, ...], slots: tuple[Slot, ...]) -> int:
        """Return the number of cells whose sum is NULL because it has over 38 digits."""
        state = slots[self.slots[0]].state
        if self.averaged is not None or not isinstance(state, ExactSum):
            return 0
        return state.overflows(states[self.slots[0]])


@dataclass(frozen=True, eq=False)
class Layout:
    """The expressions and states of the cells of a cube.

    ``slots``: the distinct states; measures with equal states share a slot. ``dimensions``: the operands of all levels.
    ``warnings``: warnings about the expressions.
    """

    definition: CubeDefinition
    schema: Schema
    time_zone: str
    time: Operand | None
    dimensions: tuple[Operand, ...]
    slots: tuple[Slot, ...]
    measures: tuple[Answered, ...]
    warnings: tuple[str, ...] = ()

    @staticmethod
    def of(definition: CubeDefinition, schema: Schema, time_zone: str = "UTC") -> Layout:
        """Return the layout of a cube over a schema.

        Raise CubeError if an expression is refused or has a wrong type, or if the time zone does not allow the grain.
        ``time_zone``: the zone in which Spark reads TIMESTAMP literals, and times of records without a zone.
        """
        if definition.grain_s is not None:
            check_grain(definition.grain_s, time_zone)
        reader = OperandReader(schema, time_zone)
        time = None if definition.time is None else reader.time(definition.time)
        hierarchies = definition.dimensions.hierarchies
        dimensions = tuple(
            reader.dimension(level, is_alone=len(levels) == 1) for levels in hierarchies for level in levels
        )
        slots: dict[_SlotKey, Slot] = {}
        measures = tuple(_answered(measure, reader, slots) for measure in definition.measures)
        return Layout(definition, schema, time_zone, time, dimensions, tuple(slots.values()), measures, reader.warnings)

    @cached_property
    def operands(self) -> tuple[Operand, ...]:
        """Return every expression over a record, without repetition: the time, the dimensions, the measures."""
        own = [operand for slot in self.slots for operand in slot.operands]
        found = (self.time, *self.dimensions, *own)
        return tuple(dict.fromkeys(operand for operand in found if operand is not None))

    def has_cells_of(self, other: Layout) -> bool:
        """Return whether the cells of the other layout have the same meaning as the cells of this layout."""
        own = self.definition, self.operands, self.time_zone
        return own == (other.definition, other.operands, other.time_zone)

    @cached_property
    def group_schema(self) -> Schema:
        """Return the schema for the ``where`` of a question. It has one column for each expression of a dimension."""
        return Schema(pa.schema([(operand.sql, operand.type) for operand in self.dimensions]))

    @property
    def stored_names(self) -> tuple[str, ...]:
        """Return the expressions by which the stored cells are grouped."""
        return self.definition.dimensions.names

    def names_of(self, paths: Iterable[tuple[str, ...]]) -> set[str]:
        """Return the names of the dimensions at paths of the group schema."""
        return {path[0] for path in paths}

    def group_table(self, columns: Mapping[str, pa.Array]) -> pa.Table:
        """Return a table of the group schema. ``columns``: the values of each dimension by its expression."""
        return pa.table(dict(columns))

    @cached_property
    def piece_schema(self) -> pa.Schema:
        """Return the Arrow schema of a piece of the base cuboid: keys of all levels, then states."""
        return self.piece_schema_of([dimension.type for dimension in self.dimensions])

    def piece_schema_of(self, key_types: Sequence[pa.DataType]) -> pa.Schema:
        """Return the Arrow schema of a piece of any cuboid: its keys, then the states of all slots. ``key_types``: the
        types of the cuboid's expressions.
        """
        keys = [(f"d{place}", pa.dictionary(pa.int32(), key_type)) for place, key_type in enumerate(key_types)]
        states = [(f"s{place}", slot.state.storage) for place, slot in enumerate(self.slots)]
        return pa.schema([*keys, *states])


def _answered(measure: Measure, reader: OperandReader, slots: dict[_SlotKey, Slot]) -> Answered:
    """Return the description of a measure for answers. Add the states of the measure to ``slots``."""
    operand = _operand(measure, reader)
    if operand is None or measure.argument is None:
        state = RecordCount() if operand is None else Count()
        return Answered(measure.name, state.type, (_slot(state, operand, slots, "count"),))
    if is_statistic(measure.function):
        return _of_moments(measure, operand, reader, slots)
    kind = operand.type
    if measure.function == "count":
        return Answered(measure.name, pa.int64(), (_slot(Count(), operand, slots, "count"),))
    if measure.function in ("min", "max"):
        if not is_comparable(kind):
            remedy = f"takes values that have an order, and {measure.argument} is {type_name(kind)}: CAST it"
            raise CubeError("measure", measure.call, remedy)
        extreme = Extreme(kind, is_max=measure.function == "max")
        return Answered(measure.name, kind, (_slot(extreme, operand, slots, measure.function),))
    total = _sum_state(measure, kind)
    slot = _slot(total, operand, slots, "sum")
    is_integer = isinstance(total, ExactSum) and pa.types.is_integer(kind)
    if measure.function == "sum":
        return Answered(measure.name, total.type, (slot,), is_integer=is_integer)
    return Answered(measure.name, average_type(kind), (slot, _slot(Count(), operand, slots, "count")), averaged=kind)


def _sum_state(measure: Measure, kind: pa.DataType | None) -> ExactSum | FloatSum:
    if kind is not None and pa.types.is_floating(kind):
        return FloatSum()
    if kind is not None and (pa.types.is_integer(kind) or pa.types.is_decimal(kind)):
        return ExactSum(kind)
    remedy = f"takes numbers, and {measure.argument} is {type_name(kind)}: use count, min or max, or CAST it"
    raise CubeError("measure", measure.call, remedy)


def _of_moments(measure: Measure, operand: Operand, reader: OperandReader, slots: dict[_SlotKey, Slot]) -> Answered:
    """Return the description of a measure that is computed from co-moments. Two columns have one state, whatever their
    order is.
    """
    columns = {operand.sql: operand}
    last = operand
    if measure.second is not None:
        argument = reader.argument(measure.second, measure.call)
        last = argument if measure.where is None else _filtered(measure, measure.second_expression, argument)
        columns[last.sql] = last
    for each, written in ((operand, measure.argument), (last, measure.second or measure.argument)):
        if not _is_number(each.type):
            remedy = f"takes numbers, and {written} is {type_name(each.type)}: CAST it"
            raise CubeError("measure", measure.call, remedy)
    names = sorted(columns)
    key = ("moments", *names)
    slots.setdefault(
        key, Slot(Moments(len(names)), columns[names[0]], key, columns[names[1]] if len(names) > 1 else None)
    )
    statistic = Statistic(measure.function, names.index(operand.sql), names.index(last.sql))
    return Answered(measure.name, statistic.type, (list(slots).index(key),), statistic=statistic)


def _is_number(kind: pa.DataType | None) -> bool:
    types = pa.types
    return kind is not None and (types.is_floating(kind) or types.is_integer(kind) or types.is_decimal(kind))


def _operand(measure: Measure, reader: OperandReader) -> Operand | None:
    """Return the expression whose values a measure aggregates. Return None if the measure counts records."""
    argument = None if measure.argument is None else reader.argument(measure.argument, measure.call)
    if measure.where is None:
        return argument
    reader.where(measure.where, measure.call)
    return _filtered(measure, measure.expression, argument)


def _filtered(measure: Measure, expression: str | None, argument: Operand | None) -> Operand:
    """Return an argument that is NULL unless the predicate of FILTER holds; without an argument, 1 or NULL."""
    assert expression is not None
    kind = pa.int32() if argument is None else argument.type
    return Operand(expression, kind, None, measure.where, argument)


def _slot(state: State, operand: Operand | None, slots: dict[_SlotKey, Slot], kind: str) -> int:
    key = (kind, None if operand is None else operand.sql)
    slots.setdefault(key, Slot(state, operand, key))
    return list(slots).index(key)
