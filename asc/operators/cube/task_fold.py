"""The fold of cubes in Spark tasks: each task folds records into cells, and the serialised cells of several tasks are
merged.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from asc.frozen import frozen
from asc.operators.cube.cells import Cells
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.fold import folded
from asc.operators.cube.growing import GrowingCells
from asc.operators.cube.keys import Key
from asc.operators.cube.layout import Layout
from asc.operators.cube.states.memory import numbers
from asc.operators.cube.task_columns import TaskColumns
from asc.schema import Schema

_PANE = "pane"
_RECORDS = b"records"
"""The metadata key of the number of records by pane, as JSON, in the serialised cells of a task."""


@dataclass(frozen=True, slots=True, eq=False)
class CubePartial:
    """The cells of one task, of the base cuboid in any panes. ``records``: the number of records in the cells, by pane
    number.
    """

    cells: Cells
    records: Mapping[int, int]

    def to_bytes(self, layout: Layout) -> bytes:
        """Return the object as an Arrow IPC stream of one batch."""
        fields = [pa.field(_PANE, pa.int64()), *layout.piece_schema]
        schema = pa.schema(fields, {_RECORDS: json.dumps(list(self.records.items())).encode()})
        arrays = [pa.array(self.cells.panes), *(key.array() for key in self.cells.keys), *self.cells.states]
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, schema) as writer:
            writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=schema))
        found: bytes = sink.getvalue().to_pybytes()
        return found

    @staticmethod
    def of_bytes(layout: Layout, content: bytes) -> CubePartial:
        """Return the object that :meth:`to_bytes` wrote."""
        with pa.ipc.open_stream(content) as reader:
            batch = reader.read_next_batch()
            records = json.loads(reader.schema.metadata[_RECORDS])
        panes, *columns = batch.columns
        width = len(layout.dimensions)
        keys = tuple(map(Key.of_array, columns[:width]))
        cells = Cells(frozen(numbers(panes, np.int64).copy()), keys, tuple(columns[width:]))
        return CubePartial(cells, {int(pane): int(count) for pane, count in records})


class CubeState:
    """The cells of one cube in one Spark task, to which batches are added."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._cells = GrowingCells(layout)
        self._records: Counter[int] = Counter()

    @property
    def nbytes(self) -> int:
        """Return the size in bytes of all cells, including the cells that are not merged yet."""
        return sum(part.size_bytes for part in self._cells.parts)

    def fold(self, columns: TaskColumns, rows: npt.NDArray[np.int64]) -> int:
        """Add some records of a batch. Return the number of records that are excluded because their key is
        too large.
        """
        found = folded(self._layout, columns, rows)
        # The dictionaries contain the values of all records of the batch, so reduce them to the values of the cells.
        self._cells.add(found.cells.compact())
        self._records.update(found.by_pane)
        return found.too_large

    def compact(self) -> None:
        """Merge all cells."""
        self._cells.merge()

    def to_bytes(self) -> bytes:
        """Return the cells, and the number of records in them, as bytes."""
        return CubePartial(self._cells.cells, self._records).to_bytes(self._layout)


class CubeFold:
    """The implementation of the protocol :class:`asc.operators.fold.Fold` for cubes."""

    def prepare(self, definition: Mapping[str, Any]) -> Layout:
        """Return the layout of the cube that ``definition`` describes.

        ``definition`` has three fields. ``cube``: the definition of the cube. ``schema``: the DDL of the columns that
        the cube reads. ``time_zone``: the zone in which Spark reads times without a zone, by default UTC.
        """
        schema, time_zone = Schema.from_ddl(definition["schema"]), definition.get("time_zone", "UTC")
        return Layout.of(CubeDefinition.parse(definition["cube"]), schema, time_zone)

    def columns(self, batch: pa.RecordBatch) -> TaskColumns:
        """Return the columns of a batch, which are computed once for all cubes."""
        return TaskColumns(batch)

    def state(self, prepared: Layout) -> CubeState:
        """Return the empty state of a cube."""
        return CubeState(prepared)

    def merge(self, prepared: Layout, states: Sequence[bytes]) -> bytes:
        """Return the merged cells of several tasks as bytes."""
        whole, records = GrowingCells(prepared), Counter[int]()
        for state in states:
            part = CubePartial.of_bytes(prepared, state)
            whole.add(part.cells)
            records.update(part.records)
        return CubePartial(whole.cells, records).to_bytes(prepared)
