"""The watch over conditions that a feed reader evaluates itself; it excludes conditions that end the reader's
batches.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from asc.keys.attribute import PAttribute

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Suspects(Protocol):
    """Expressions of which one may end a batch, and the rows over which a child process evaluates them. The object is
    pickled to reach the child process.

    ``master`` and ``driver_memory``: settings of the Spark session that computes them. ``subject``: the origin of the
    rows.
    """

    @property
    def attributes(self) -> tuple[PAttribute, ...]:
        """Return the expressions, over the columns of the frame."""

    @property
    def master(self) -> str: ...

    @property
    def driver_memory(self) -> str: ...

    @property
    def time_zone(self) -> str: ...

    @property
    def subject(self) -> str: ...

    def frame(self, spark: SparkSession) -> DataFrame:
        """Return the rows over which the expressions are evaluated."""


class JudgedBatch(Protocol):
    """A batch of a feed reader that evaluates conditions: the texts of the conditions, and the rows for which each
    condition is evaluated.
    """

    @property
    def texts(self) -> Sequence[str]:
        """Return the texts of the conditions, without repetition."""

    @property
    def spark(self) -> SparkSession:
        """Return the session in whose jobs the batch runs."""

    def write(self, file: Path) -> None:
        """Write the rows to a file on this machine."""

    def suspects(
        self, file: Path, texts: Sequence[str], *, master: str, driver_memory: str, time_zone: str
    ) -> Suspects:
        """Return the conditions ``texts`` as expressions over the rows of the file, in the order of ``texts``."""


class ConditionWatch(Protocol):
    """The watch that excludes conditions from batches if their evaluation ends batches."""

    def judging(self, batch_id: int, batch: JudgedBatch) -> AbstractContextManager[Collection[str]]:
        """Enter a context for the evaluation of a batch. The value of the context is the texts of the conditions to
        evaluate, without the excluded conditions.
        """
