"""A dry run: p-attributes are computed as in a batch, and the results are discarded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.pandas.functions import pandas_udf

from asc.keys.attribute import PAttribute
from broker.matching.expressions import countable_errors
from broker.matching.shipped_plan import ansi_off
from broker.matching.transport import Transport


def dry_run(frame: DataFrame, attributes: Sequence[PAttribute]) -> None:
    """Compute p-attributes for every row of a frame with Spark, transfer them to Python, and discard them.

    Errors of Spark are raised unchanged, both of its analysis and of the computation.
    """
    with ansi_off(frame.sparkSession):
        conditions = countable_errors(frame, attributes)
        transport = Transport.of(attributes, [True] * len(attributes), conditions)
        discarded = pandas_udf(_discard, "boolean")(*map(sf.expr, transport.arguments))  # type: ignore[call-overload]
        frame.select("*", *transport.columns_apart()).select(discarded).write.format("noop").mode("overwrite").save()


def _discard(batches: Iterator[tuple[pd.Series, ...]]) -> Iterator[pd.Series]:
    for batch in batches:
        # PySpark passes a single argument without a tuple.
        first = batch[0] if isinstance(batch, tuple) else batch
        yield pd.Series(np.ones(len(first), dtype=bool))
