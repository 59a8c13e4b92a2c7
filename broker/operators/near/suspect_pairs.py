"""The pairs of a failed batch in a file, on which a child process evaluates the conditions of near queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from asc.keys.attribute import PAttribute
from asc.keys.byte_strings import quoted
from broker.operators.near.condition import OBJECTS, NearCondition

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_SCHEMA = pa.schema([("condition", pa.string()), *((name, pa.string()) for name in OBJECTS)])
_ROWS = 10_000
"""The number of rows that are written to the file at once."""


@dataclass(frozen=True, slots=True)
class SuspectPairs:
    """Conditions as expressions over the pairs in a file. Each condition is evaluated only for the pairs of its own
    queries.

    ``file``: the values that objects carry, as JSON, with the fields ``carried_ddl``. ``objects``: both objects as
    Spark SQL. The other fields are those of :class:`broker.operators.condition_watch.Suspects`.
    """

    file: str
    carried_ddl: str
    objects: tuple[str, ...]
    attributes: tuple[PAttribute, ...]
    master: str
    driver_memory: str
    time_zone: str

    @staticmethod
    def of(
        file: Path, conditions: Mapping[str, NearCondition], *, master: str, driver_memory: str, time_zone: str
    ) -> SuspectPairs:
        """Return conditions as expressions over the pairs in a file, in the order of ``conditions``. ``conditions``:
        keyed by their texts, which the rows of the file contain.
        """
        columns = {column.name: column for condition in conditions.values() for column in condition.columns}
        attributes = []
        for text, condition in conditions.items():
            (read,) = condition.predicate.read
            attributes.append(PAttribute(f"if(condition = {quoted(text)}, {condition.sql}, NULL)", read.type))
        # Values that the pairs of another track do not carry are NULL, and none of their conditions reads them.
        together = replace(next(iter(conditions.values())), columns=tuple(columns.values()))
        return SuspectPairs(
            str(file),
            together.carried_ddl,
            tuple(together.object_sql(_carried(name)) for name in OBJECTS),
            tuple(attributes),
            master,
            driver_memory,
            time_zone,
        )

    @property
    def subject(self) -> str:
        """Return the name of the file, which is the origin of the pairs."""
        return self.file

    def frame(self, spark: SparkSession) -> DataFrame:
        """Return the pairs, with both objects under the names that conditions use."""
        from pyspark.sql import functions as sf

        read = spark.read.parquet(self.file)
        carried = (sf.from_json(sf.col(name), self.carried_ddl).alias(_carried(name)) for name in OBJECTS)
        parsed = read.select("condition", *carried)
        return parsed.select(
            "condition", *(sf.expr(text).alias(name) for text, name in zip(self.objects, OBJECTS, strict=True))
        )


@dataclass(frozen=True, slots=True, eq=False)
class JudgedPairs:
    """The pairs of a batch, and the conditions that are evaluated for them. ``conditions``: keyed by their texts."""

    pairs: DataFrame
    conditions: Mapping[str, NearCondition]

    @property
    def texts(self) -> Sequence[str]:
        """Return the texts of the conditions, without repetition."""
        return list(self.conditions)

    @property
    def spark(self) -> SparkSession:
        """Return the session in whose jobs the batch runs."""
        return self.pairs.sparkSession

    def write(self, file: Path) -> None:
        """Write the distinct values that conditions read to a file on this machine."""
        write_pairs(self.pairs, file)

    def suspects(
        self, file: Path, texts: Sequence[str], *, master: str, driver_memory: str, time_zone: str
    ) -> SuspectPairs:
        """Return the conditions ``texts`` as expressions over the pairs of the file, in the order of ``texts``."""
        own = {text: self.conditions[text] for text in texts}
        return SuspectPairs.of(file, own, master=master, driver_memory=driver_memory, time_zone=time_zone)


def write_pairs(pairs: DataFrame, file: Path) -> None:
    """Write the distinct values that conditions read in a batch to a file on this machine.

    Cost: one job for each partition; a few thousand rows of a batch are in memory at a time.
    """
    from pyspark.sql import functions as sf

    judged = pairs.filter(sf.col("condition").isNotNull())
    sides = [
        judged.select("condition", *(sf.col(f"{side}_{name}").alias(name) for name in OBJECTS))
        for side in ("own", "other")
    ]
    values = sides[0].union(sides[1].filter(sf.col(OBJECTS[0]).isNotNull())).distinct()
    rows = values.toLocalIterator()
    file.parent.mkdir(parents=True, exist_ok=True)
    with pq.ParquetWriter(file, _SCHEMA) as writer:
        while piece := list(islice(rows, _ROWS)):
            writer.write_table(_table(piece))


def _table(rows: Iterable[tuple[str | None, ...]]) -> pa.Table:
    return pa.table(dict(zip(_SCHEMA.names, zip(*rows, strict=True), strict=True)), _SCHEMA)


def _carried(name: str) -> str:
    return f"__asc_{name}"
