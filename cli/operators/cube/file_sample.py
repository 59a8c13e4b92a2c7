"""Samples of files: values of expressions over the first records, from which the edges of bins are computed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from broker.files.decoding import Decoding
from cli.client import Json

if TYPE_CHECKING:
    import pyarrow as pa

    from asc.operators.cube.operand import Operand
    from asc.predicate import Predicate

SAMPLE_ROWS_MOST = 1_000_000
"""The most rows from which the edges of bins are computed. They are the first rows that WHERE accepts."""


def calibrated_operator(
    operator: Json, inputs: Sequence[Path], format_name: str, decoding: Decoding, where: str
) -> Json:
    """Return the JSON object of a cube whose bins all have edges. Missing edges are computed from the rows of files
    that ``where`` accepts.

    Raise AscError if an expression or a file is refused, or if the files have no number for an expression.
    """
    from asc.operators.cube.binned import unsampled, with_sampled_edges
    from asc.operators.cube.definition import CubeDefinition

    own = {name: operator[name] for name in ("name", "dimensions", "measures", "time", "grain_s") if name in operator}
    definition = CubeDefinition.parse(own, needs_time=False)
    if not unsampled(definition):
        return operator
    return with_sampled_edges(
        operator, definition, lambda texts: sampled_values(texts, inputs, format_name, decoding, where)
    )


def sampled_values(
    texts: Sequence[str], inputs: Sequence[Path], format_name: str, decoding: Decoding, where: str
) -> Mapping[str, pa.Array]:
    """Return the values of expressions in the first rows of files that ``where`` accepts, by the expression."""
    import pyarrow as pa

    from asc.operators.cube.operand import OperandReader
    from asc.predicate import normalise
    from broker.files.input_checks import check_columns
    from broker.files.plain_rows import DoubtError

    reader = OperandReader(decoding.schema, decoding.time_zone)
    operands = [reader.argument(text, text) for text in texts]
    predicate = normalise(where, decoding.schema, time_zone=decoding.time_zone)
    check_columns(inputs, format_name, decoding.schema, decoding.options)
    computed = next((own.sql for own in operands if own.path is None), None)
    computed = computed or next((each.as_written for each in predicate.p_attributes if each.is_computed), None)
    why = None if computed is None else f"the sample has Spark compute {computed}"
    if why is None:
        try:
            parts = list(_plain_parts(operands, inputs, format_name, decoding, predicate))
            return {
                own.sql: pa.concat_arrays([part[place] for part in parts] or [pa.array([], own.type)])
                for place, own in enumerate(operands)
            }
        except DoubtError as doubt:
            why = str(doubt)
    click.echo(f"starting Spark: {why}", err=True)
    return _by_spark(operands, inputs, format_name, decoding, where)


def _plain_parts(
    operands: Sequence[Operand], inputs: Sequence[Path], format_name: str, decoding: Decoding, predicate: Predicate
) -> Iterator[list[pa.Array]]:
    """Yield the values of operands, as one list of arrays for each part of the files, for at most SAMPLE_ROWS_MOST
    rows. Raise DoubtError if only Spark can decide how to read a row.
    """
    from asc.matcher import Matcher
    from asc.operators.cube.columns import Columns
    from broker.files.plain_rows import plain_tables

    matcher = Matcher(decoding.schema, {"where": predicate.text}, time_zone=decoding.time_zone)
    paths = {own.path for own in operands if own.path is not None} | set(predicate.columns)
    needed, left = {path[0] for path in paths}, SAMPLE_ROWS_MOST
    for path in inputs:
        for table in plain_tables(path, format_name, decoding, needed, lambda _: None):
            accepted = matcher.match(table)["row"].to_numpy().astype("int64")[:left]
            columns = Columns(table, decoding.schema, decoding.time_zone)
            yield [columns.array(own).take(accepted) for own in operands]
            left -= len(accepted)
            if not left:
                return


def _by_spark(
    operands: Sequence[Operand], inputs: Sequence[Path], format_name: str, decoding: Decoding, where: str
) -> Mapping[str, pa.Array]:
    from pyspark.sql import functions as sf

    from broker.files.decoded_rows import decoded_rows

    with decoded_rows(inputs, format_name, decoding, app_name="asc-cube", progress="sampling") as rows:
        columns = [sf.expr(own.sql).alias(f"_{place}") for place, own in enumerate(operands)]
        table = rows.frame.filter(sf.expr(where)).select(*columns).limit(SAMPLE_ROWS_MOST).toArrow()
    return {own.sql: table.column(place).combine_chunks().cast(own.type) for place, own in enumerate(operands)}
