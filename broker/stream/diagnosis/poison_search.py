"""The bisection for the expressions that end a batch, in a child process that such expressions may end."""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from types import TracebackType
from typing import TYPE_CHECKING, Protocol

from asc.keys.attribute import PAttribute
from broker.errors import BrokerError
from broker.failure import is_of_kafka, one_line, root_cause
from broker.formats.decoder import Decoder
from broker.operators.condition_watch import Suspects
from broker.plans.offsets import Offsets

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_Answer = tuple[bool, "str | None"]
"""The answer of the child process: whether the outcome is known, and the reason why the expressions fail (or None)."""

DIED = "the process that computes it ends"
_START_S = 120.0
_ENDLESS_S = 600.0
"""The time in seconds after which the evaluation of expressions over one batch counts as endless."""

_TRIALS_MAX = 48
"""The largest number of trials in a search for slow expressions.

Each trial may take its time limit and the time to start a Spark session.
"""

_LOOK_S = 0.25


def child_master(master: str) -> str:
    """Return the Spark master of the child process, given the master of this process. The result is always a local
    master (``local[n]``), because the child process runs no executors.
    """
    return master if master.startswith("local") else "local[2]"


class DiagnosisError(BrokerError):
    """The error of a diagnosis that failed: it neither blames nor clears an expression."""


@dataclass(frozen=True, slots=True)
class SuspectBatch:
    """The records of a batch, how they are read and decoded, and the expressions that are tried on them.

    ``first`` and ``end``: offsets by partition. ``options``: options of Spark's Kafka source. ``master`` and
    ``driver_memory``: settings of the Spark in the child process.
    """

    topic: str
    first: Offsets
    end: Offsets
    options: dict[str, str]
    decoder: Decoder
    attributes: tuple[PAttribute, ...]
    master: str
    driver_memory: str

    @property
    def time_zone(self) -> str:
        """Return the time zone of the stream."""
        return self.decoder.time_zone

    @property
    def subject(self) -> str:
        """Return the name of the source topic, which is the origin of the records."""
        return self.topic

    def frame(self, spark: SparkSession) -> DataFrame:
        """Return the decoded records."""
        records = self.records(spark)
        return self.decoder.for_records(records).decode(records)

    def records(self, spark: SparkSession) -> DataFrame:
        """Return the undecoded records, read with the options of the stream's job."""
        return (
            spark.read.format("kafka")
            .options(**self.options)
            .option("assign", json.dumps({self.topic: sorted(self.end)}))
            .option("startingOffsets", _offsets_text(self.topic, self.first))
            .option("endingOffsets", _offsets_text(self.topic, self.end))
            .option("includeHeaders", "true")
            .option("kafka.isolation.level", "read_committed")
            .load()
        )


class Trial(Protocol):
    """The protocol of a trial: it evaluates some expressions over a batch. ``slots``: the indexes of these expressions
    among the batch's expressions.
    """

    def __call__(self, slots: Sequence[int], /) -> str | None:
        """Return the reason why the expressions fail. Return None if they pass.

        Raise DiagnosisError if it is unknown whether they fail.
        """


def guilty(trial: Trial, count: int) -> dict[int, str]:
    """Return the indexes of the expressions to remove, with the reasons, so that the remaining expressions pass
    together.

    ``count``: the number of expressions. Bisection finds the shortest failing prefix and removes its last expression.
    This repeats until the remaining expressions pass, so all of these have been run. Each removed expression failed
    twice together with its predecessors, which passed. If the second trial passes, the search ends. Raise
    DiagnosisError if the records fail even without expressions. Cost: log2(count) + 2 trials for each removed
    expression, two trials if there is none.
    """
    reasons: dict[int, str] = {}
    kept = list(range(count))
    _try_without(trial)
    while kept and trial(kept) is not None:
        passes, fails = 0, len(kept)
        while fails - passes > 1:
            middle = (passes + fails) // 2
            if trial(kept[:middle]) is None:
                passes = middle
            else:
                fails = middle
        reason = trial(kept[:fails])
        if reason is None:
            break
        reasons[kept.pop(fails - 1)] = reason
    return reasons


def slow(trial: Trial, count: int) -> dict[int, str]:
    """Return the indexes of the expressions that fail alone, with the reasons. ``count``: the number of expressions.

    ``trial`` fails for expressions that take too long. A failing group of expressions is divided into halves, which are
    tried separately. If expressions are too slow only together, none of them is returned. Raise DiagnosisError if the
    records fail even without expressions. Cost: 2 * log2(count) + 2 trials for each found expression. The search ends
    after ``_TRIALS_MAX`` trials, and ignores slow expressions that are not found by then.
    """
    reasons: dict[int, str] = {}
    rows = [range(count)]
    _try_without(trial)
    for _ in range(_TRIALS_MAX):
        if not rows:
            break
        row = rows.pop()
        reason = trial(row) if row else None
        if reason is None:
            continue
        if len(row) == 1:
            reasons[row[0]] = reason
        else:
            middle = len(row) // 2
            rows += [row[middle:], row[:middle]]
    return reasons


def _try_without(trial: Trial) -> None:
    reason = trial([])
    if reason is not None:
        raise DiagnosisError("records of a batch", "without any expression", f"cannot be decoded: {reason}")


class ChildTrial:
    """The trials of a batch's expressions in a child process with its own Spark. A child that dies is replaced.

    The child reads from a pipe of this process, so it ends with this process. ``is_wanted`` is polled during a trial.
    If it returns false, the trial raises DiagnosisError, and leaving the context kills the child. A trial of
    expressions that takes longer than ``limit_s`` fails. Cost: the memory and the start of a second Spark.
    """

    def __init__(self, batch: Suspects, is_wanted: Callable[[], bool], limit_s: float = _ENDLESS_S) -> None:
        self._batch = batch
        self._is_wanted = is_wanted
        self._limit_s = limit_s
        self._child: tuple[SpawnProcess, Connection] | None = None

    def __enter__(self) -> ChildTrial:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._end()

    def __call__(self, slots: Sequence[int], /) -> str | None:
        """Run expressions in the child process: see :class:`Trial`."""
        if slots and self._child is None:
            # The first trial of a Spark is slow of itself, whatever it computes.
            self([])
        connection = self._connection()
        try:
            connection.send(list(slots))
            is_known, reason = self._answer(connection, self._limit_s if slots else _ENDLESS_S)
        except TimeoutError:
            self._end()
            return f"it does not end in {self._limit_s:g} s"
        except (EOFError, OSError):
            self._end()
            return DIED
        if not is_known:
            raise DiagnosisError("records of a batch", self._batch.subject, f"cannot be read again: {reason}")
        return reason

    def _connection(self) -> Connection:
        if self._child is None:
            context = multiprocessing.get_context("spawn")
            connection, child_connection = context.Pipe()
            child = context.Process(target=_serve, args=(child_connection, self._batch), name="suspects", daemon=True)
            child.start()
            child_connection.close()
            self._child = child, connection
            try:
                self._answer(connection, _START_S)
            except TimeoutError:
                raise DiagnosisError("Spark", "of a child process", f"has not started in {_START_S:.0f} s") from None
            except (EOFError, OSError):
                raise DiagnosisError("Spark", "of a child process", "does not start: see the lines above") from None
        return self._child[1]

    def _answer(self, connection: Connection, timeout_s: float) -> _Answer:
        waited_s = 0.0
        while not connection.poll(_LOOK_S):
            waited_s += _LOOK_S
            if not self._is_wanted():
                raise DiagnosisError("records of a batch", self._batch.subject, "are left, for the daemon stops")
            if waited_s > timeout_s:
                raise TimeoutError
        answer: _Answer = connection.recv()
        return answer

    def _end(self) -> None:
        if self._child is not None:
            child, connection = self._child
            self._child = None
            connection.close()
            # Its JVM ends with the pipe that it reads.
            child.kill()
            child.join()


def _serve(connection: Connection, batch: Suspects) -> None:
    """Serve the trials in the child process: answer once when Spark runs, then once for each list of indexes."""
    from broker.matching.dry_run import dry_run
    from broker.runtime.spark import has_stopped, spark_session

    spark = spark_session(
        app_name="asc-suspects",
        master=batch.master,
        time_zone=batch.time_zone,
        driver_memory=batch.driver_memory,
    )
    # From here on the parent process logs the outcome.
    spark.sparkContext.setLogLevel("OFF")
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
    frame = batch.frame(spark)
    connection.send((True, None))
    while True:
        try:
            slots: list[int] = connection.recv()
        except EOFError:
            spark.stop()
            return
        try:
            dry_run(frame, [batch.attributes[slot] for slot in slots])
        except Exception as error:
            try:
                answer = (not is_of_kafka(error), one_line(root_cause(error)))
            except Exception:
                os._exit(1)
            if has_stopped(spark):
                # Nothing more can be computed here: the end of the process is the answer.
                os._exit(1)
            connection.send(answer)
        else:
            connection.send((True, None))


def _offsets_text(topic: str, offsets: Offsets) -> str:
    return json.dumps({topic: {str(partition): offset for partition, offset in offsets.items()}})
