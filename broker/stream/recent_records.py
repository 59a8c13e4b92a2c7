"""The last records of a stream: the trial of a predicate on them, and the values of accepted records."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from asc.keys.attribute import PAttribute
from asc.plan.compiler import compile_plan
from asc.plan.plan import Query
from asc.predicate.normal_form.disjunctive_form import Predicate
from broker.cancellation import Cancellation
from broker.errors import BrokerError, CancelledError
from broker.failure import check_jvm, one_line, root_cause
from broker.formats.decoder import ERROR, Decoder
from broker.kafka.client import KafkaClient
from broker.kafka.last_records import last_records

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

RECORDS_MAX = 100_000
_BYTES_MAX = 32 << 20
"""The largest number of bytes of records that are read for one question."""

_READ_WITHIN_S = 10.0
_ANSWERED_WITHIN_S = 20.0
_KEPT_S = 20.0
"""The time in seconds for which records are reused by further questions.

A user who types a predicate sends a question at each pause.
"""

_Found = TypeVar("_Found")

_HEADER = pa.struct([("key", pa.string()), ("value", pa.binary())])


@dataclass(frozen=True, slots=True, eq=False)
class Accepted:
    """The result of a predicate on the last records.

    ``records``: the number of records that were read. ``decoded``: the number of these that are not dead letters.
    ``accepted``: the number of decoded records that the predicate accepts. ``shown``: the last accepted records, as
    Kafka's client has them, latest first.
    """

    records: int
    decoded: int
    accepted: int
    shown: Sequence[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Sampled:
    """Values of the last records that a predicate accepts.

    ``records``: the number of records that were read. ``decoded``: the number of these that are not dead letters.
    ``columns``: by p-attribute, its values in the accepted records, in the order of their timestamps.
    """

    records: int
    decoded: int
    columns: Mapping[PAttribute, pa.Array]


@dataclass(frozen=True, slots=True, eq=False)
class _Judged:
    """The decoded records among the last records, evaluated by a predicate. ``rows``: the positions, among the decoded
    records, of the records that the predicate accepts, in ascending order.

    ``is_decoded``: for each record, whether it was decoded. ``columns``: by p-attribute, its values in the decoded
    records.
    """

    is_decoded: pa.Array
    decoded: int
    columns: Mapping[PAttribute, pa.Array]
    rows: npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class _Held:
    """Records that were read, in the form of Kafka's client and as a decoded DataFrame."""

    last: int
    read_s: float
    records: Sequence[Any]
    frame: DataFrame | None


class RecentRecords:
    """The last records of the source topic, on which predicates are tried.

    Spark evaluates the p-attributes of a predicate, and the engine evaluates the predicate, as in the stream. Nothing
    is registered or written. Questions are answered one at a time, so all of them together use at most one core, and
    each takes at most ``_ANSWERED_WITHIN_S``. Invariant: ``_held`` is replaced, never mutated. Cost: at most 32 MiB of
    records, for 20 seconds after the last question that needed them.
    """

    def __init__(
        self,
        topic: str,
        spark: SparkSession,
        client: KafkaClient,
        decoder: Decoder,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._topic = topic
        self._spark = spark
        self._client = client
        self._decoder = decoder
        self._clock = clock
        self._turn = threading.Condition()
        self._is_busy = False
        self._newest: dict[str, object] = {}
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="recent")
        self._held: _Held | None = None

    def accepted(
        self,
        predicate: Predicate,
        last: int,
        show: int,
        *,
        caller: str | None = None,
        cancellation: Cancellation | None = None,
    ) -> Accepted:
        """Return the result of a predicate, which Spark must accept, on the last records.

        ``show``: the largest number of accepted records to return. Raise BrokerError if another question takes too long
        to finish, or if this one does. Raise CancelledError, KafkaError or SchemaRegistryError. Only one question of a
        named ``caller`` waits: a newer question replaces it, because the user went on typing.
        """
        return self._answered(predicate, lambda: self._accepted(predicate, last, show), caller, cancellation)

    def sampled(
        self,
        predicate: Predicate,
        attributes: Sequence[PAttribute],
        last: int,
        *,
        is_read_anew: bool = False,
        cancellation: Cancellation | None = None,
    ) -> Sampled:
        """Return the values of p-attributes, which Spark must accept, of the last records that a predicate accepts.

        ``is_read_anew``: whether records are read even if some are held from a question before. Errors are as in
        :meth:`accepted`.
        """

        def question() -> Sampled:
            if is_read_anew:
                self._held = None
            return self._sampled(predicate, attributes, last)

        return self._answered(predicate, question, None, cancellation)

    def _answered(
        self,
        predicate: Predicate,
        question: Callable[[], _Found],
        caller: str | None,
        cancellation: Cancellation | None,
    ) -> _Found:
        """Wait until no other question is being answered, and return the answer to this question."""
        self._await_turn(caller)
        group = f"asc-recent-{time.monotonic_ns()}"
        asked = self._worker.submit(self._in_group(group, question))
        asked.add_done_callback(lambda _: self._end_turn())
        try:
            return (cancellation or Cancellation()).result(asked, _ANSWERED_WITHIN_S)
        except CancelledError:
            self._spark.sparkContext.cancelJobGroup(group)
            raise
        except FutureTimeoutError as error:
            self._spark.sparkContext.cancelJobGroup(group)
            remedy = f"took more than {_ANSWERED_WITHIN_S:.0f} s: ask for fewer records, or write it more simply"
            raise BrokerError("predicate", predicate.text[:200], remedy) from error

    def _await_turn(self, caller: str | None) -> None:
        ticket = object()

        def is_replaced() -> bool:
            return caller is not None and self._newest.get(caller) is not ticket

        with self._turn:
            if caller is not None:
                self._newest[caller] = ticket
                self._turn.notify_all()
            self._turn.wait_for(lambda: is_replaced() or not self._is_busy, _ANSWERED_WITHIN_S)
            if is_replaced():
                raise BrokerError("trial", None, "gave way to a newer one by the same caller: wait for that")
            if caller is not None:
                del self._newest[caller]
            if self._is_busy:
                raise BrokerError("records of topic", self._topic, "are busy with what others ask: try again")
            self._is_busy = True

    def _end_turn(self) -> None:
        with self._turn:
            self._is_busy = False
            self._turn.notify_all()

    def close(self) -> None:
        """Stop answering, and release the records."""
        self._worker.shutdown(wait=False, cancel_futures=True)
        self._held = None

    def _in_group(self, group: str, question: Callable[[], _Found]) -> Callable[[], _Found]:
        def asked() -> _Found:
            self._spark.sparkContext.setJobGroup(group, "what a predicate would have accepted", interruptOnCancel=True)
            return question()

        return asked

    def _accepted(self, predicate: Predicate, last: int, show: int) -> Accepted:
        held = self._read(last)
        if held.frame is None:
            return Accepted(0, 0, 0, ())
        judged = self._judged(held.frame, predicate, ())
        rows = judged.rows
        places = pc.indices_nonzero(judged.is_decoded).take(pa.array(rows[max(0, len(rows) - show) :][::-1]))
        shown = [held.records[place] for place in places.to_pylist()] if show else []
        return Accepted(len(held.records), judged.decoded, len(rows), shown)

    def _sampled(self, predicate: Predicate, attributes: Sequence[PAttribute], last: int) -> Sampled:
        held = self._read(last)
        if held.frame is None:
            return Sampled(0, 0, {attribute: pa.array([], attribute.type) for attribute in attributes})
        judged = self._judged(held.frame, predicate, attributes)
        rows = pa.array(judged.rows)
        columns = {attribute: judged.columns[attribute].take(rows) for attribute in attributes}
        return Sampled(len(held.records), judged.decoded, columns)

    def _judged(self, frame: DataFrame, predicate: Predicate, attributes: Sequence[PAttribute]) -> _Judged:
        """Return the records of a frame that a predicate accepts, with the values of further p-attributes."""
        from asc.evaluation.executor import match

        plan = compile_plan([Query("q", predicate)])
        needed = list(dict.fromkeys((*plan.p_attributes, *attributes)))
        table = self._evaluated(frame, predicate, [attribute.sql for attribute in needed])
        is_decoded = table.column(0).combine_chunks().is_null()
        columns = {
            attribute: table.column(slot + 1).combine_chunks().cast(attribute.type).filter(is_decoded)
            for slot, attribute in enumerate(needed)
        }
        count = int(pc.sum(is_decoded).as_py() or 0)
        rows = match(plan, [columns[attribute] for attribute in plan.p_attributes], count).rows
        return _Judged(is_decoded, count, columns, rows)

    def _evaluated(self, frame: DataFrame, predicate: Predicate, texts: Sequence[str]) -> pa.Table:
        from pyspark.sql import functions as sf

        columns = [sf.expr(text).alias(f"a{slot}") for slot, text in enumerate(texts)]
        try:
            return frame.select(sf.col(ERROR), *columns).toArrow()
        except Exception as error:
            check_jvm(error)
            remedy = f"cannot be evaluated on the last records: {one_line(root_cause(error))}"
            raise BrokerError("predicate", predicate.text[:200], remedy) from error

    def _read(self, last: int) -> _Held:
        held = self._held
        if held is not None and held.last == last and self._clock() - held.read_s < _KEPT_S:
            return held
        # The held records are released first, so that memory never has twice as many.
        self._held = None
        records = last_records(self._client, self._topic, last, most_bytes=_BYTES_MAX, within_s=_READ_WITHIN_S)
        records.sort(key=lambda record: (record.timestamp, record.partition, record.offset))
        frame = self._decoded(self._spark.createDataFrame(_table(records))) if records else None
        self._held = _Held(last, self._clock(), records, frame)
        return self._held

    def _decoded(self, records: DataFrame) -> DataFrame:
        """Return the decoded records, using the schemas that they name. Raise SchemaRegistryError."""
        self._decoder = self._decoder.for_records(records)
        return self._decoder.decode(records)


def _table(records: Sequence[Any]) -> pa.Table:
    """Return records with the columns of Spark's Kafka source (``includeHeaders``)."""
    headers = [
        [{"key": key, "value": value} for key, value in record.headers] if record.headers else None
        for record in records
    ]
    times = [record.timestamp if record.timestamp is not None and record.timestamp >= 0 else None for record in records]
    return pa.table(
        {
            "key": pa.array([record.key for record in records], pa.binary()),
            "value": pa.array([record.value for record in records], pa.binary()),
            "topic": pa.array([record.topic for record in records], pa.string()),
            "partition": pa.array([record.partition for record in records], pa.int32()),
            "offset": pa.array([record.offset for record in records], pa.int64()),
            "timestamp": pa.array(times, pa.timestamp("ms")).cast(pa.timestamp("us", "UTC")),
            "timestampType": pa.array([record.timestamp_type or 0 for record in records], pa.int32()),
            "headers": pa.array(headers, pa.list_(_HEADER)),
        }
    )
