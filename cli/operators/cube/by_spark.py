"""Cubes over files, computed by Spark: each task folds its rows, and the driver merges the partial cubes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from broker.files.decoded_rows import SeenRows, decoded_rows
from broker.files.decoding import Decoding

if TYPE_CHECKING:
    import pyarrow as pa

    from asc.operators.cube.cube import Cube
    from asc.operators.cube.definition import CubeDefinition
    from asc.operators.cube.operand import Operand

_PARTIAL = "pane BIGINT, piece BINARY, counted BIGINT, time BIGINT, too_large BIGINT"


def fold_by_spark(cube: Cube, inputs: Sequence[Path], format_name: str, decoding: Decoding, where: str) -> SeenRows:
    """Fold the rows that ``where`` accepts into a cube, by tasks of Spark. Return statistics of all rows. Raise
    AscError if Spark fails.
    """
    from pyspark.sql import functions as sf

    from asc.operators.cube.cells import Cells
    from asc.operators.cube.fold import Folded
    from asc.operators.cube.piece import Piece

    layout = cube.layout
    with decoded_rows(inputs, format_name, decoding, app_name="asc-cube", progress="folding") as rows:
        # Name columns by numbers, because mapInArrow does not find a column whose name has a dot.
        columns = [sf.expr(operand.sql).alias(f"_{place}") for place, operand in enumerate(layout.operands)]
        read = rows.frame.filter(sf.expr(where)).select(*columns or [sf.lit(None).cast("INT").alias("_0")])
        fold = folding(cube.definition, decoding.schema.ddl(), decoding.time_zone)
        partials = read.mapInArrow(fold, _PARTIAL).collect()
        seen = rows.seen
    for row in partials:
        cells = Cells.none(layout)
        if row["piece"] is not None:
            cells = Cells.of_piece(layout, Piece.of_bytes(row["pane"], bytes(row["piece"])))
        cube.add(Folded(cells, row["counted"], row["time"], row["too_large"]))
    return seen


def column_of(operand: Operand) -> str:
    """Return the name of the column in which a task finds the values of an expression."""
    return operand.path[0] if operand.path is not None and len(operand.path) == 1 else operand.sql


def folding(
    definition: CubeDefinition, ddl: str, time_zone: str
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return the function that each task of Spark applies to its rows. The function folds the rows into a partial cube.
    It yields a row for each piece of this cube, and a row with the numbers of counted and excluded records.
    """

    def fold(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        from asc.operators.cube.cube import Cube

        cube = Cube(definition, ddl, time_zone=time_zone)
        names = list(map(column_of, cube.layout.operands))
        for batch in batches:
            cube.fold(batch.rename_columns(names or batch.schema.names))
        pieces = list(cube.pieces())
        counts = cube.excluded
        rows = [
            {"pane": piece.pane, "piece": piece.to_bytes(), "counted": 0, "time": 0, "too_large": 0} for piece in pieces
        ]
        rows.append({"pane": 0, "piece": None, "counted": cube.counted, **counts})
        kinds = [("pane", pa.int64()), ("piece", pa.binary()), *((name, pa.int64()) for name in ("counted", *counts))]
        yield pa.RecordBatch.from_pylist(rows, pa.schema(kinds))

    return fold
