"""Cubes without a daemon: a class that folds tables, merges cubes and answers questions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from asc.errors import CubeError
from asc.interchange import Incoming
from asc.operators.cube.answer import answer
from asc.operators.cube.cells import Cells, merged
from asc.operators.cube.columns import Columns
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.fold import Folded, folded
from asc.operators.cube.growing import GrowingCells
from asc.operators.cube.layout import Layout
from asc.operators.cube.looked_up import NO_LOOKUPS, LookedUp, Lookups
from asc.operators.cube.part import Part
from asc.operators.cube.piece import Piece
from asc.operators.cube.question import Question
from asc.operators.cube.state_table import cell_states, question_of_states, states_table
from asc.operators.cube.within.within_cells import with_within_measures, within_parts
from asc.schema import Schema


class Cube:
    """An exact roll-up of records by groups and panes. It grows by folding tables and by merging other cubes.

    Invariant: the cells are the roll-up of all records that were folded into this cube or into merged cubes. They do
    not depend on the order or the division of the records. Exceptions: sums of doubles and answers of quantile sketches
    agree within their error bounds. The class uses no clock and no file. ``generation``: the generation of the
    registered cube whose states the object contains; None for records that the library folded. Not safe to change from
    several threads at once.

    >>> import pyarrow as pa
    >>> definition = CubeDefinition.parse(
    ...     {"dimensions": [["carrier"]], "measures": ["count(*) AS n", "sum(delay) AS delay"]}, needs_time=False
    ... )
    >>> cube = Cube(definition, "carrier STRING, delay INT")
    >>> cube.fold(pa.table({"carrier": ["B6", "UA", "B6"], "delay": pa.array([3, None, 4], pa.int32())}))
    >>> cube.query({"by": ["carrier"]})["rows"]
    [{'group': {'carrier': 'B6'}, 'n': 2, 'delay': 7}, {'group': {'carrier': 'UA'}, 'n': 1, 'delay': None}]
    """

    def __init__(self, definition: CubeDefinition, schema: object, *, time_zone: str = "UTC") -> None:
        """Begin an empty cube. Raise CubeError if the definition does not fit the schema.

        ``schema``: the schema of the records, in a form that ``Schema.of`` accepts. ``time_zone``: the time zone for
        TIMESTAMP literals in predicates, and for the days, months and hours of questions.
        """
        self.layout = Layout.of(definition, Schema.of(schema), time_zone)
        self._cells = GrowingCells(self.layout)
        self._counts = {"counted": 0, "time": 0, "too_large": 0}
        self.generation: str | None = None

    @property
    def definition(self) -> CubeDefinition:
        """Return the definition of the cube."""
        return self.layout.definition

    @property
    def counted(self) -> int:
        """Return the number of records that are in the cells."""
        return self._counts["counted"]

    @property
    def excluded(self) -> dict[str, int]:
        """Return the number of records that the cube could not use, by reason."""
        return {name: count for name, count in self._counts.items() if name != "counted"}

    @property
    def cells(self) -> Cells:
        """Return all cells of the cube."""
        return self._cells.cells

    def fold(self, table: object) -> None:
        """Add the records of a table of pyarrow, Polars, pandas or DuckDB, or of any object that exports Arrow data.

        The table has the columns of the schema that the cube reads. For an expression that is not a plain column, the
        table must have a column with the SQL text of the expression as its name; ``layout.operands`` lists the
        expressions.
        """
        for part in Incoming.of(table).parts:
            self.add(folded(self.layout, Columns(part, self.layout.schema, self.layout.time_zone)))

    def add(self, found: Folded) -> None:
        """Add the result of a fold."""
        self._counts["counted"] += found.counted
        self._counts["time"] += found.time
        self._counts["too_large"] += found.too_large
        self._cells.add(found.cells)

    def merge(self, other: Cube) -> None:
        """Add all records of another cube. Raise CubeError if the other cube has another definition, other types,
        another time zone or another generation.
        """
        if not self.layout.has_cells_of(other.layout):
            remedy = f"is another cube than {self.definition.summary()}: merge cubes of one definition and schema"
            raise CubeError("cube", other.definition.summary(), remedy)
        if self.generation != other.generation:
            fault = f"is another one than {self.generation}: merge states of one registered cube"
            raise CubeError("generation", other.generation, fault)
        for name, count in other._counts.items():
            self._counts[name] += count
        for cells in other._cells.parts:
            self._cells.add(cells)

    def query(self, body: Mapping[str, Any], lookups: Lookups = NO_LOOKUPS) -> dict[str, Any]:
        """Return the answer to a request body in the form of the API. Raise CubeError with the name of the field if the
        body is invalid.

        The fields are ``by``, ``where``, ``within``, ``from``, ``to``, ``grain_s``, ``grain``, ``hours``, ``measures``,
        ``order`` and ``limit``. ``lookups``: look-ups by name; ``by`` and ``where`` may name their attributes.
        """
        is_scoped = body.get("within") is not None
        layout = with_within_measures(self.layout) if is_scoped else self.layout
        seen = LookedUp.of(layout, body.get("by"), body.get("where"), lookups)
        question = Question.parse(body, seen.definition, self.layout.time_zone)
        parts = [Part.base(self.layout, self.cells)]
        if question.within is not None:
            parts = within_parts(self.layout, parts, question.within)
        return answer(seen.layout, seen.parts(parts), question)

    def states(self, body: Mapping[str, Any]) -> pa.Table:
        """Return the cells that a question asks for as a table, with the serialised states of all measures.

        A group has a separate row for each pane, or for each interval of ``grain_s``. The fields of the body are ``by``
        (one cuboid), ``where``, ``from``, ``to``, ``grain_s`` and ``hours``. Raise CubeError if the body is invalid.
        """
        asked = question_of_states(body, self.definition)
        question = Question.parse(asked, self.definition, self.layout.time_zone)
        return states_table(self.layout, [Part.base(self.layout, self.cells)], question, self.generation)

    @staticmethod
    def of_states(table: object) -> Cube:
        """Return a cube with the cells of a table that :meth:`states` or a daemon returned, or of the table's Arrow IPC
        stream.

        The cube has the dimensions of the table's cuboid, and the table's grain. ``counted`` is 0, because the table
        does not contain the number of records. Raise CubeError if the table is no such table, or if a state is damaged.
        """
        read = cell_states(table)
        cube = Cube(read.layout.definition, read.layout.schema, time_zone=read.layout.time_zone)
        cube.generation = read.generation
        cube._cells.add(merged(cube.layout, [read.cells]))
        return cube

    def pieces(self) -> Iterator[Piece]:
        """Yield the cells of each pane in the form in which they are stored and sent."""
        return self.cells.pieces(self.layout)
