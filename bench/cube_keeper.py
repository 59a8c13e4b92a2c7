"""A keeper of cubes over sales, as a daemon has it. A benchmark commits batches to the keeper without Kafka and
Spark.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from asc.operators.cube.cells import Cells
from asc.operators.cube.columns import Columns
from asc.operators.cube.fold import folded
from asc.operators.cube.layout import Layout
from asc.operators.cube.view import View
from asc.schema import Schema
from bench.cube_contenders import GRAIN_S, definition_of
from broker.operators.cube.coverage import BatchInterval
from broker.operators.cube.cube_state import CubeId
from broker.operators.cube.keeper import Keeper
from broker.operators.cube.merging import CubeLimits
from broker.operators.cube.partial import Partial
from workloads.sales import SALES_DDL

LATENESS_S = 10.0
_SIZE_BYTES = 64 << 30
_SCHEMA = Schema.of(SALES_DDL)


class KeptCubes:
    """A set of cubes over sales in one file. Each batch updates all cubes."""

    def __init__(
        self, keeper: Keeper, cubes: Sequence[Sequence[str]], *, grain_s: float = GRAIN_S, pins: Collection[View] = ()
    ) -> None:
        """Define the cubes, one for each sequence of dimensions. ``pins``: the views that each cube stores."""
        self.keeper = keeper
        self._layouts: dict[CubeId, Layout] = {}
        for number, dimensions in enumerate(cubes):
            definition = definition_of(dimensions, grain_s=grain_s)
            cube = CubeId(f"cube-{number}", definition.generation("sales", "true"))
            self._layouts[cube] = Layout.of(definition, _SCHEMA)
            keeper.define(cube, definition, pins=pins)
        self._offset = 0

    def partials(self, records: pa.Table) -> dict[CubeId, Partial]:
        """Fold records as workers do, and return the partial cubes: the cells of each cube."""
        (batch,) = records.combine_chunks().to_batches()
        columns = Columns(batch, _SCHEMA, "UTC")
        found = {}
        for cube, layout in self._layouts.items():
            own = folded(layout, columns)
            found[cube] = Partial(own.cells, own.by_pane)
        return found

    def commit(self, partials: Mapping[CubeId, Partial], count: int, newest_us: int | None) -> float:
        """Commit a batch of ``count`` records, and return the elapsed seconds. ``newest_us``: the newest time in the
        batch; None if the batch does not move the watermark.
        """
        batch = BatchInterval("sales", {0: self._offset}, {0: self._offset + count})
        newest = {"sold_at": {} if newest_us is None else {0: newest_us}}
        start_s = time.perf_counter()
        self.keeper.commit(batch, partials, newest)
        taken_s = time.perf_counter() - start_s
        self._offset += count
        return taken_s

    def close_panes(self, newest_us: int) -> None:
        """Commit a batch of one record that no cube accepts. Its time closes all earlier panes."""
        self.commit({cube: Partial(Cells.none(own), {}) for cube, own in self._layouts.items()}, 1, newest_us)

    def id(self, number: int = 0) -> CubeId:
        """Return the id of cube ``number``, an index in the sequence of cubes."""
        return list(self._layouts)[number]

    def layout(self, number: int = 0) -> Layout:
        """Return the layout of cube ``number``, an index in the sequence of cubes."""
        return self._layouts[self.id(number)]

    def ask(self, body: Mapping[str, Any], number: int = 0) -> dict[str, Any]:
        """Return the answer of cube ``number`` to the question ``body``."""
        return self.keeper.questions.query(self.id(number), body)

    @property
    def cells(self) -> int:
        """The number of cells of all cubes."""
        return sum(state.cells for state in self.keeper.snapshot.cubes.values())


@contextmanager
def kept_cubes(
    path: Path, cubes: Sequence[Sequence[str]], *, grain_s: float = GRAIN_S, pins: Collection[View] = ()
) -> Iterator[KeptCubes]:
    """Yield the cubes that are stored in the file ``path``: one cube for each sequence of dimensions. ``pins``: the
    views that each cube stores.
    """
    keeper = Keeper.open(path, _SCHEMA, CubeLimits(size_bytes=_SIZE_BYTES, query_s=600.0), lateness_s=LATENESS_S)
    try:
        yield KeptCubes(keeper, cubes, grain_s=grain_s, pins=pins)
    finally:
        keeper.close()
