"""Contenders that roll up batches of sales into cubes, each on one thread: the engine, DuckDB, Polars and Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from asc.evaluation.executor import match
from asc.matcher import Matcher
from asc.operators.cube.cells import Cells, merged
from asc.operators.cube.columns import Columns
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.fold import folded
from asc.operators.cube.layout import Layout
from asc.operators.rows_by_query import rows_by_query
from asc.schema import Schema
from workloads.sales import MEASURES, SALES_DDL, SalesCube

GRAIN_S = 60
PANE = "pane"
ENGINE, DUCKDB, POLARS, SPARK = "asc", "DuckDB", "Polars", "Spark"

_SQL = ", ".join(MEASURES)


class Contender(Protocol):
    """A contender of the roll-up benchmark. It rolls up batches of sales into cubes, and stores the result of each
    batch.
    """

    def add(self, number: int) -> None:
        """Roll up batch ``number`` into all cubes."""

    def clear(self) -> None:
        """Remove all stored results, so that the next run begins without them."""

    def parts(self, cube: SalesCube) -> pa.Table:
        """Return the groups of a cube: the pane, dimensions and measures. A group may have several rows,
        one per batch.
        """


def definition_of(dimensions: Sequence[str], *, time: str = "sold_at", grain_s: float = GRAIN_S) -> CubeDefinition:
    """Return the definition of a cube over sales with one level per dimension."""
    plain = {"dimensions": [[name] for name in dimensions], "measures": list(MEASURES), "time": time}
    return CubeDefinition.parse({**plain, "grain_s": grain_s})


def table_of(layout: Layout, cells: Cells) -> pa.Table:
    """Return cells as a table: the pane in microseconds, the dimensions and the measures."""
    assert layout.definition.grain_us is not None
    columns = {PANE: pa.array(cells.panes * layout.definition.grain_us)}
    names = layout.definition.dimensions.names
    columns.update({name: key.array().dictionary_decode() for name, key in zip(names, cells.keys, strict=True)})
    columns.update({own.name: own.of(cells.states) for own in layout.measures})
    return pa.table(columns)


class Engine:
    """The contender that folds like the broker's workers. It evaluates all predicates together, reads each column once,
    and stores the cells.
    """

    def __init__(self, paths: Sequence[Path], cubes: Sequence[SalesCube]) -> None:
        self._schema = Schema.of(SALES_DDL)
        self._batches = [_read(path) for path in paths]
        self._plan = Matcher(self._schema, {cube.id: cube.where for cube in cubes}).plan
        self._layouts = {cube.id: Layout.of(definition_of(cube.dimensions), self._schema) for cube in cubes}
        self._ids = self._plan.query_ids.to_pylist()
        self.clear()

    def clear(self) -> None:
        self._cells: dict[str, list[Cells]] = {name: [] for name in self._layouts}

    def add(self, number: int) -> None:
        batch = self._batches[number]
        found = match(self._plan, [batch[own.sql] for own in self._plan.p_attributes], batch.num_rows)
        rows, starts = rows_by_query(found.rows.astype(np.int64), found.queries, len(self._ids))
        columns = Columns(batch, self._schema, "UTC")
        for place, name in enumerate(self._ids):
            found_cells = folded(self._layouts[name], columns, rows[starts[place] : starts[place + 1]]).cells
            # Compact the cells as the broker's workers do, because the dictionaries of a batch contain the values of
            # all its records, not only those of these cells.
            self._cells[name].append(found_cells.compact())

    def parts(self, cube: SalesCube) -> pa.Table:
        layout = self._layouts[cube.id]
        return table_of(layout, merged(layout, self._cells[cube.id]))


class DuckDb:
    """The contender DuckDB. It runs an ``INSERT .. GROUP BY`` for each cube and batch, into a table in memory."""

    def __init__(self, paths: Sequence[Path], cubes: Sequence[SalesCube]) -> None:
        import duckdb

        self._cubes = cubes
        self._batches = [_without_zone(_read(path)) for path in paths]
        self._connection = duckdb.connect()
        self._connection.execute("SET threads = 1")
        self._connection.register("records", self._batches[0])
        for cube in cubes:
            self._connection.execute(f'CREATE TABLE "{cube.id}" AS {self._select(cube)} LIMIT 0')

    def clear(self) -> None:
        for cube in self._cubes:
            self._connection.execute(f'TRUNCATE "{cube.id}"')

    def add(self, number: int) -> None:
        self._connection.register("records", self._batches[number])
        for cube in self._cubes:
            self._connection.execute(f'INSERT INTO "{cube.id}" {self._select(cube)}')

    def parts(self, cube: SalesCube) -> pa.Table:
        found: pa.Table = self._connection.execute(f'SELECT * FROM "{cube.id}"').to_arrow_table()
        return _pane_as_us(found)

    def _select(self, cube: SalesCube) -> str:
        pane = f"date_trunc('minute', sold_at) AS {PANE}"
        return f"SELECT {pane}, {', '.join(cube.dimensions)}, {_SQL} FROM records WHERE {cube.where} GROUP BY ALL"


class Polars:
    """The contender Polars. It runs a ``group_by`` for each cube and batch, with all twenty cubes of a batch as one
    lazy query, and stores the frames.
    """

    def __init__(self, paths: Sequence[Path], cubes: Sequence[SalesCube]) -> None:
        import polars as pl

        if pl.thread_pool_size() != 1:
            raise RuntimeError(f"Polars has {pl.thread_pool_size()} threads: set POLARS_MAX_THREADS=1")
        self._polars = pl
        self._cubes = cubes
        self._batches = [_without_zone(_read(path)) for path in paths]
        self._measures = [
            pl.len().alias("records"),
            pl.col("amount").sum().alias("amounts"),
            pl.col("amount").min().alias("least"),
            pl.col("amount").max().alias("most"),
            pl.col("price").sum().alias("turnover"),
        ]
        self.clear()

    def clear(self) -> None:
        self._frames: dict[str, list[Any]] = {cube.id: [] for cube in self._cubes}

    def add(self, number: int) -> None:
        pl = self._polars
        frame: Any = pl.from_arrow(self._batches[number])
        pane = pl.col("sold_at").dt.truncate("1m").alias(PANE)
        plans = [
            frame.lazy().filter(pl.sql_expr(cube.where)).group_by(pane, *cube.dimensions).agg(self._measures)
            for cube in self._cubes
        ]
        for cube, found in zip(self._cubes, pl.collect_all(plans), strict=True):
            self._frames[cube.id].append(found)

    def parts(self, cube: SalesCube) -> pa.Table:
        return _pane_as_us(self._polars.concat(self._frames[cube.id]).to_arrow())


class Spark:
    """The contender Spark. It runs a ``groupBy`` for each cube and batch, on one core with one partition, over batches
    in memory.

    The results are not stored, which is to Spark's advantage. They are computed again for the comparison.
    """

    def __init__(self, paths: Sequence[Path], cubes: Sequence[SalesCube]) -> None:
        from broker.runtime.spark import spark_session

        options = {"spark.sql.shuffle.partitions": "1", "spark.ui.enabled": "false"}
        self._spark = spark_session(
            app_name="asc-bench-cube", master="local[1]", driver_memory="4g", options=options, connector=False
        )
        self._batches = [self._spark.read.parquet(str(path)).cache() for path in paths]
        for batch in self._batches:
            batch.count()
        self._cubes = cubes
        self._last = 0

    def clear(self) -> None:
        self._last = 0

    def add(self, number: int) -> None:
        for cube in self._cubes:
            self._grouped(self._batches[number], cube).write.format("noop").mode("overwrite").save()
        self._last = max(self._last, number + 1)

    def parts(self, cube: SalesCube) -> pa.Table:
        found = [self._grouped(batch, cube).toArrow() for batch in self._batches[: self._last]]
        return _pane_as_us(pa.concat_tables(found))

    def _grouped(self, batch: Any, cube: SalesCube) -> Any:
        from pyspark.sql import functions as sf

        pane = sf.date_trunc("minute", "sold_at").alias(PANE)
        return batch.filter(cube.where).groupBy(pane, *cube.dimensions).agg(*map(sf.expr, MEASURES))


CONTENDERS: Mapping[str, type[Contender]] = {ENGINE: Engine, DUCKDB: DuckDb, POLARS: Polars, SPARK: Spark}


def _read(path: Path) -> pa.RecordBatch:
    return pq.read_table(path, use_threads=False).combine_chunks().to_batches()[0]


def _without_zone(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return a batch whose times have no time zone. DuckDB and Polars round times without a zone faster."""
    place = batch.schema.get_field_index("sold_at")
    return batch.set_column(place, "sold_at", batch.column(place).cast(pa.timestamp("us")))


def _pane_as_us(table: pa.Table) -> pa.Table:
    place = table.schema.get_field_index(PANE)
    return table.set_column(place, PANE, table.column(place).cast(pa.timestamp("us")).cast(pa.int64()))
