"""The columns of a file that DBSCAN queries read, computed by Spark."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from broker.files.decoded_rows import IS_DECODED, NUMBER, SeenRows, decoded_rows
from broker.files.decoding import Decoding
from cli.operators.dbscan.file_columns import NO_TIME_US, Asked, FileColumns


def columns_by_spark(path: Path, format_name: str, decoding: Decoding, asked: Asked) -> tuple[FileColumns, SeenRows]:
    """Return the columns of a file, computed by Spark, and statistics of its rows. Raise AscError if Spark fails."""
    from pyspark.sql import functions as sf

    computed = {
        **{("value", text): f"CAST(({text}) AS DOUBLE)" for text in asked.values},
        **{("time", text): f"unix_micros({text})" for text in asked.times},
        # In a feed, a key that is not UTF-8 is NULL as well.
        **{("key", text): f"try_validate_utf8(CAST(({text}) AS STRING))" for text in asked.keys},
        **{("where", text): f"coalesce(({text}), false)" for text in asked.wheres},
    }
    names = {own: f"_{number}" for number, own in enumerate(computed)}
    with decoded_rows([path], format_name, decoding, app_name="asc-dbscan", progress="reading", numbered=True) as rows:
        # A row that could not be decoded keeps its place in the order, without values.
        columns = [sf.when(sf.col(IS_DECODED), sf.expr(sql)).alias(names[own]) for own, sql in computed.items()]
        table = rows.frame.select(NUMBER, IS_DECODED, *columns).toArrow().sort_by(NUMBER)
        seen = rows.seen
    is_decoded = table[IS_DECODED].to_numpy(zero_copy_only=False).astype(np.bool_)

    values = {text: table[names["value", text]].to_numpy(zero_copy_only=False) for text in asked.values}
    accepted = {text: table[names["where", text]].fill_null(False) for text in asked.wheres}
    columns_of_file = FileColumns(
        is_decoded,
        {text: own.astype(np.float64) for text, own in values.items()},
        {text: table[names["time", text]].fill_null(NO_TIME_US).to_numpy() for text in asked.times},
        {text: table[names["key", text]].to_pylist() for text in asked.keys},
        {text: own.to_numpy(zero_copy_only=False).astype(np.bool_) for text, own in accepted.items()},
    )
    return columns_of_file, seen
