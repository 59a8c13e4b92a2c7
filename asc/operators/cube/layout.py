"""Layouts of cubes: the types of a cube's expressions over one schema, and the states of its measures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from asc.operators.cube.answered import Answered
from asc.operators.cube.asked_measure import AskedMeasure
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.grain import check_grain
from asc.operators.cube.kinds.counts import COUNT
from asc.operators.cube.kinds.table import asked_by, declared_by
from asc.operators.cube.measure import Measure
from asc.operators.cube.operand import Operand, OperandReader
from asc.operators.cube.slot import Slot, Slots
from asc.operators.cube.states.count import RecordCount
from asc.operators.cube.states.moments import Moments
from asc.schema import Schema


@dataclass(frozen=True, eq=False)
class Layout:
    """The expressions and states of the cells of a cube.

    ``time``: the operand of the event time; None for a cube without a time. ``dimensions``: the operands of all levels.
    ``slots``: the distinct states; measures with equal states share a slot. ``measures``: the declared measures.
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

        Raise CubeError if an expression is invalid or has a wrong type, or if the time zone does not allow the grain.
        ``time_zone``: the zone for TIMESTAMP literals, and for times of records without a zone.
        """
        if definition.grain_s is not None:
            check_grain(definition.grain_s, time_zone)
        reader = OperandReader(schema, time_zone)
        time = None if definition.time is None else reader.time(definition.time)
        dimensions = tuple(
            own for names in definition.dimensions.hierarchies for own in _levels(names, definition, reader)
        )
        slots = Slots()
        measures = tuple(_answered(measure, reader, slots) for measure in definition.measures)
        if definition.computed:
            slots.place((COUNT, None), RecordCount(), ())
        for operand in _inputs_with_errors(dimensions):
            slots.place(("moments", operand.sql), Moments(1), (operand,))
        return Layout(definition, schema, time_zone, time, dimensions, slots.all(), measures, reader.warnings)

    def answered(self, asked: AskedMeasure) -> Answered:
        """Return the answers of a measure of a question, with the function that computes them. Raise CubeError if a
        constant of its question function does not have the type of its column.
        """
        measure = self.measures[asked.place]
        entry = asked_by(asked.function)
        return measure if entry is None else entry.kind.asked(asked, measure, self.slots)

    @cached_property
    def operands(self) -> tuple[Operand, ...]:
        """Return the different expressions over a record: the time, the dimensions and the measures. A computed
        dimension is replaced by its inputs.
        """
        measured = [operand for slot in self.slots for operand in slot.operands]
        grouped = [
            each
            for operand in self.dimensions
            for each in ((operand,) if operand.level is None else operand.level.inputs)
        ]
        found = (self.time, *grouped, *measured)
        return tuple(dict.fromkeys(operand for operand in found if operand is not None))

    @property
    def record_slot(self) -> int | None:
        """Return the index of the slot that counts the records of a cell. Return None if the cube has neither a
        computed dimension nor ``count(*)``.
        """
        return next((place for place, slot in enumerate(self.slots) if isinstance(slot.state, RecordCount)), None)

    def has_cells_of(self, other: Layout) -> bool:
        """Return whether the cells of both layouts have the same meaning, so that they can be merged."""
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
        """Return the names of the dimensions at these paths of the group schema."""
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


def _inputs_with_errors(dimensions: Sequence[Operand]) -> list[Operand]:
    """Return the inputs of computed dimensions whose co-moments each cell stores, so that the errors of bins can be
    reported.
    """
    levels = [own.level for own in dimensions if own.level is not None and own.level.dimension.needs_moments]
    return list(dict.fromkeys(operand for level in levels for operand in level.inputs))


def _levels(names: Sequence[str], definition: CubeDefinition, reader: OperandReader) -> tuple[Operand, ...]:
    """Return the operands of the levels of a hierarchy."""
    dimension = definition.computed_with(names)
    if dimension is not None:
        return reader.levels(dimension)
    return tuple(reader.dimension(name, is_alone=len(names) == 1) for name in names)


def _answered(measure: Measure, reader: OperandReader, slots: Slots) -> Answered:
    """Return the answers of a declared measure. Add the states of the measure to ``slots``."""
    entry = declared_by(measure.function)
    assert entry is not None
    operands = tuple(reader.argument(column, measure.call) for column in measure.columns)
    if measure.where is not None:
        reader.where(measure.where, measure.call)
        operands = _filtered(measure.where, measure.expressions, operands)
    entry.check_package(measure.call)
    return entry.kind.answered(measure, operands, slots)


def _filtered(where: str, expressions: Sequence[str], arguments: Sequence[Operand]) -> tuple[Operand, ...]:
    """Return the arguments with a FILTER, NULL if its predicate is not true. Without arguments, return an operand that
    is 1 or NULL.
    """
    if not arguments:
        return (Operand(expressions[0], pa.int32(), None, where, None),)
    return tuple(
        Operand(expression, argument.type, None, where, argument)
        for expression, argument in zip(expressions, arguments, strict=True)
    )
