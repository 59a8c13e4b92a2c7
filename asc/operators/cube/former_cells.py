"""Former cells: the cells of written windows as they were before the late records of one batch changed them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from asc.frozen import frozen
from asc.operators.cube.cells import Cells, joined
from asc.operators.cube.comparing import matched
from asc.operators.cube.keys import Key
from asc.operators.cube.layout import Layout
from asc.operators.cube.states.memory import numbers

_PANE, _IS_NEW = "pane", "is_new"


@dataclass(frozen=True, slots=True, eq=False)
class FormerCells:
    """The former states of the cells of the base cuboid that the late records of one batch changed, in any panes.

    ``cells``: the changed cells as they were before the batch. ``new``: the cells that did not exist before the batch;
    their states have no meaning. Cost: proportional to the cells of the batch, not to the other cells of their panes.
    """

    cells: Cells
    new: Cells

    @staticmethod
    def of(layout: Layout, late: Cells, before: Cells) -> FormerCells:
        """Return the former states of the cells that the late records of a batch changed. ``late``: the cells of the
        late records. ``before``: the cells before the batch, at least all cells of the panes of ``late``.
        """
        found = matched(layout, before, late, by_pane=True)
        return FormerCells(before.take(found.before), late.take(found.new))

    def between(self, first: int, end: int) -> FormerCells:
        """Return the cells of the panes from ``first`` to before ``end``. The cells are copied, so that the result does
        not keep other cells in memory.
        """
        both = (own.between(first, end) for own in (self.cells, self.new))
        return FormerCells(*(own.take(np.arange(own.count)) for own in both))

    def to_bytes(self, layout: Layout) -> bytes:
        """Return the former cells as an Arrow IPC stream of one batch."""
        whole = joined(layout, [self.cells, self.new])
        schema = pa.schema([(_PANE, pa.int64()), (_IS_NEW, pa.bool_()), *layout.piece_schema])
        is_new = pa.array(np.arange(whole.count) >= self.cells.count)
        arrays = [pa.array(whole.panes), is_new, *(key.array() for key in whole.keys), *whole.states]
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, schema) as writer:
            writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=schema))
        found: bytes = sink.getvalue().to_pybytes()
        return found

    @staticmethod
    def of_bytes(layout: Layout, data: bytes) -> FormerCells:
        """Return the former cells that :meth:`to_bytes` wrote."""
        with pa.ipc.open_stream(data) as reader:
            panes, is_new, *columns = reader.read_next_batch().columns
        width = len(layout.dimensions)
        own = frozen(numbers(panes, np.int64).copy())
        whole = Cells(own, tuple(map(Key.of_array, columns[:width])), tuple(columns[width:]))
        count = len(is_new) - is_new.true_count
        return FormerCells(whole.slice(0, count), whole.slice(count, whole.count))
