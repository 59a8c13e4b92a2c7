"""The function of Spark's Python workers for clusters: it maps the messages of a feed's part to records of windows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
from pyspark import Accumulator
from pyspark.core.broadcast import Broadcast

from asc.operators.dbscan.records import DbscanOutput
from asc.operators.dbscan.warm_up import warm_up
from broker.operators.dbscan.worker_parts import WorkerPart, WorkerParts
from broker.operators.feed_task import FeedTally, PartFunction, part_task

RECORDS_DDL = "topic STRING, key STRING, value STRING, identity STRING, query STRING, source STRING, kind STRING"
"""The columns of output records, as in :class:`asc.operators.dbscan.records.DbscanOutput`."""


def dbscan_task(tallies: Accumulator[FeedTally], parts: Broadcast[WorkerParts]) -> PartFunction:
    """Return the function of ``applyInPandasWithState``, in which a group is a part of the feed.

    The state of a part is that of :class:`asc.operators.dbscan.clusters.Clusters`. ``parts``: the parts that each
    worker process caches.
    """

    def part_of(state: bytes | None) -> WorkerPart:
        # In the worker, where a broadcast has the value of its process.
        return parts.value.taken(state)

    return part_task(tallies, part_of, _frame)


WARM_DDL = "records BIGINT"
"""The columns of the result of :func:`warmed`."""


def warmed(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield, for each batch of rows, the number of records that the kernels compute for artificial windows, so that the
    kernels are compiled. This is the function of ``mapInArrow``.

    All rows are read, because otherwise Spark does not reuse the worker.
    """
    for _ in list(batches):
        yield pa.record_batch({"records": pa.array([warm_up()], pa.int64())})


_NAMES = [field.split()[0] for field in RECORDS_DDL.split(", ")]


def _frame(records: list[DbscanOutput]) -> pd.DataFrame:
    # Column by column: Arrow reads a column of a table of objects in steps as wide as the table, which is slow.
    columns = zip(_NAMES, zip(*records, strict=True), strict=True)
    found: pd.DataFrame = pd.DataFrame({name: _objects(texts) for name, texts in columns}, copy=False)
    return found


def _objects(texts: Sequence[str]) -> npt.NDArray[np.object_]:
    found = np.empty(len(texts), dtype=np.object_)
    found[:] = texts
    return found
