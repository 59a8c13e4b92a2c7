"""A sender of many records to one topic by librdkafka's producer (confluent-kafka), which is faster than
kafka-python.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any

from broker.errors import KafkaError
from broker.failure import one_line
from broker.kafka.client import ACKNOWLEDGED_WITHIN_S, KafkaClient, WholeRecord
from broker.kafka.slow_response import SlowResponse

if TYPE_CHECKING:
    from confluent_kafka import Producer
    from confluent_kafka.admin import AdminClient

RECORDS_MAX = 100_000
BYTES_MAX = 1 << 26
"""The largest number of unacknowledged records, and the largest number of bytes of these records. A batch that exceeds
a limit is sent when no record is unacknowledged. So memory does not grow with the number of records sent.
"""

_BATCH_BYTES = 1 << 18
_RECORD_BYTES_MAX = 1_048_588
"""Kafka's default limit of a record in bytes. It is used if this client has no permission to read the topic's limit."""

_LIMIT = "max.message.bytes"
_ANY_PARTITION = -1
_LOOK_S = 0.1
_GONE_S = 5.0
_SETTINGS = {
    "acks": "all",
    "enable.idempotence": True,
    "linger.ms": 20,
    # The same choice of a partition for a key as by Java's producer and kafka-python.
    "partitioner": "murmur2_random",
    "allow.auto.create.topics": False,
    # No limit for a single record: this module checks the progress of all records, and a slow broker may delay one
    # long.
    "message.timeout.ms": 0,
    # No limit in the client: this module bounds batches, because a batch that fits only partly would lose its order.
    "queue.buffering.max.messages": 10_000_000,
    "queue.buffering.max.kbytes": 2_097_151,
    "delivery.report.only.error": True,
    "log_level": 0,
}


class BatchSender:
    """Sender of record batches to one topic, in order, with acks=all and idempotence, for the time of a ``with`` block.

    Every method that communicates with Kafka raises KafkaError, in one line with the number of acknowledged records. No
    acknowledged record is lost; other records may have arrived as well. ``on_silence`` is called, from another thread,
    if Kafka does not answer for some seconds. At the start, the timeout is that of ``kafka``; later, an error is raised
    after ACKNOWLEDGED_WITHIN_S seconds without any acknowledgement.
    """

    def __init__(self, kafka: KafkaClient, topic: str, *, on_silence: Callable[[], object] = lambda: None) -> None:
        self._kafka = kafka
        self._topic = topic
        self._slow_response = SlowResponse(on_silence)
        self._sent = 0
        self._failed = 0
        self._first_failed: int | None = None
        self._fault: Any = None
        self._heard = ""
        self._in_flight: deque[tuple[int, int]] = deque()
        """For each batch, the number of records sent up to its end, and its bytes."""
        self._producer: Producer

    @property
    def acknowledged(self) -> int:
        """The number of records that all replicas are known to have."""
        return max(0, self._sent - self._failed - len(self._producer))

    @property
    def acknowledged_first(self) -> int:
        """The number of records before the first batch that is not known to be acknowledged completely."""
        if self._first_failed is not None:
            return self._first_failed
        return self._sent if not len(self._producer) else 0

    def __enter__(self) -> BatchSender:
        from confluent_kafka import KafkaException, Producer
        from confluent_kafka.admin import AdminClient

        options = {**self._kafka.librdkafka_options(), "error_cb": self._hear, "log_level": 0}
        self._slow_response.__enter__()
        try:
            admin = AdminClient(options)
            self._reach(admin)
            limit = self._limit(admin)
            # Kafka refuses a batch as a whole if it exceeds the limit, so a batch must not exceed it.
            batch_bytes = min(_BATCH_BYTES, limit)
            sizes = {"batch.size": batch_bytes, "message.max.bytes": max(1_000, limit)}
            self._producer = Producer({**_SETTINGS, **sizes, **options})
        except KafkaException as error:
            self._slow_response.__exit__(None, None, None)
            raise self._refused(error.args[0]) from error
        except BaseException:
            self._slow_response.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._slow_response.__exit__(kind, error, at)
        if len(self._producer):
            self._give_up()

    def send(self, values: Sequence[bytes], keys: Sequence[bytes | None] | None = None) -> None:
        """Send a batch. Wait while too many records are unacknowledged."""
        size_bytes = sum(map(len, values))
        self._wait(lambda: self._has_capacity(len(values), size_bytes))
        messages: list[dict[str, Any]]
        if keys is None:
            messages = [{"value": value} for value in values]
        else:
            messages = [{"value": value, "key": key} for value, key in zip(values, keys, strict=True)]
        taken = self._producer.produce_batch(self._topic, messages, on_delivery=partial(self._report, self._sent))
        self._sent += taken
        if taken < len(messages):
            self._first_failed = self._first_failed if self._first_failed is not None else self._sent - taken
            place = next(place for place, message in enumerate(messages) if "_error" in message)
            raise self._not_taken(messages[place]["_error"], self._sent - taken + place, len(values[place]))
        self._in_flight.append((self._sent, size_bytes))
        self._producer.poll(0)
        self._check()

    def send_whole(self, record: WholeRecord) -> None:
        """Send one record with its headers to its partition, in the manner of :meth:`send`."""
        from confluent_kafka import KafkaException

        size_bytes = len(record.key or b"") + len(record.value or b"")
        self._wait(lambda: self._has_capacity(1, size_bytes))
        try:
            self._producer.produce(
                self._topic,
                record.value,
                record.key,
                on_delivery=partial(self._report, self._sent),
                headers=list(record.headers),
                partition=_ANY_PARTITION if record.partition is None else record.partition,
            )
        except KafkaException as error:
            raise self._not_taken(error.args[0], self._sent, size_bytes) from error
        self._sent += 1
        self._in_flight.append((self._sent, size_bytes))
        self._producer.poll(0)
        self._check()

    def flush(self) -> None:
        """Wait until every record is acknowledged."""
        self._wait(lambda: not len(self._producer))

    def _has_capacity(self, records: int, size_bytes: int) -> bool:
        waiting = len(self._producer)
        # An estimate, because only the records of one partition are acknowledged in order.
        while self._in_flight and self._in_flight[0][0] <= self._sent - waiting:
            self._in_flight.popleft()
        total_bytes = size_bytes + sum(each for _, each in self._in_flight)
        return not waiting or (waiting + records <= RECORDS_MAX and total_bytes <= BYTES_MAX)

    def _wait(self, is_over: Callable[[], bool]) -> None:
        while not is_over():
            before = len(self._producer)
            start_s = time.monotonic()
            with self._slow_response.waiting():
                while len(self._producer) >= before and before:
                    self._producer.poll(_LOOK_S)
                    self._check()
                    if time.monotonic() - start_s > ACKNOWLEDGED_WITHIN_S:
                        raise self._silent(f"no acknowledgement for {ACKNOWLEDGED_WITHIN_S} s")

    def _reach(self, admin: AdminClient) -> None:
        """Wait until Kafka answers a request for the topic. Raise KafkaError if the answer is an error, or does not
        come in time.
        """
        from confluent_kafka import KafkaError as ClientError
        from confluent_kafka import KafkaException

        start_s = time.monotonic()
        with self._slow_response.waiting():
            while True:
                left_s = self._kafka.timeout_s - (time.monotonic() - start_s)
                try:
                    metadata = admin.list_topics(self._topic, timeout=max(_LOOK_S, min(1.0, left_s)))
                    break
                except KafkaException as error:
                    admin.poll(0)
                    self._check()
                    if error.args[0].code() not in (ClientError._TRANSPORT, ClientError._TIMED_OUT):
                        raise
                    if left_s <= 0:
                        raise self._silent(self._heard or one_line(error.args[0].str())) from error
        fault = metadata.topics[self._topic].error
        if fault is not None:
            raise self._refused(fault)

    def _limit(self, admin: AdminClient) -> int:
        """Return the size of the largest batch that the topic takes, in bytes."""
        from confluent_kafka import KafkaException
        from confluent_kafka.admin import ConfigResource, ResourceType  # type: ignore[attr-defined]

        resource = ConfigResource(ResourceType.TOPIC, self._topic)
        try:
            (asked,) = admin.describe_configs([resource], request_timeout=self._kafka.timeout_s).values()
            return int(asked.result()[_LIMIT].value)
        except KafkaException:
            # A client with the right to write to a topic may lack the right to read its settings.
            return _RECORD_BYTES_MAX

    def _hear(self, error: Any) -> None:
        """Note an error that librdkafka reports outside the delivery reports."""
        from confluent_kafka import KafkaError as ClientError

        self._heard = one_line(error.str())
        if error.fatal() or error.code() in (ClientError._AUTHENTICATION, ClientError._SSL):
            self._fault = error

    def _report(self, first: int, error: Any, _message: Any) -> None:
        """Count the delivery report of a record if it reports a failure. ``first``: the number of records sent before
        the record's batch.
        """
        from confluent_kafka import KafkaError as ClientError

        if error is None:
            return
        self._failed += 1
        self._first_failed = first if self._first_failed is None else min(first, self._first_failed)
        if self._fault is None and error.code() not in (ClientError._PURGE_QUEUE, ClientError._PURGE_INFLIGHT):
            self._fault = error

    def _check(self) -> None:
        if self._fault is not None:
            raise self._refused(self._fault)

    def _give_up(self) -> None:
        """Abort the unacknowledged records, so that each is reported."""
        self._producer.purge()
        self._producer.flush(_GONE_S)

    def _silent(self, why: str) -> KafkaError:
        return self._kafka.silent(why, self._so_far())

    def _refused(self, error: Any) -> KafkaError:
        from confluent_kafka import KafkaError as ClientError

        if error.code() == ClientError._AUTHENTICATION:
            return self._kafka.not_admitted(error.str(), self._so_far())
        if error.code() == ClientError._SSL:
            return self._silent(error.str())
        return self._error(f"refuses: {one_line(error.str())}")

    def _not_taken(self, fault: Any, before: int, size_bytes: int) -> KafkaError:
        """Return the error for a record that librdkafka refuses before sending it. ``before``: the number of records
        that were sent before this record.
        """
        from confluent_kafka import KafkaError as ClientError

        self._fault = fault
        if fault.code() != ClientError.MSG_SIZE_TOO_LARGE:
            return self._refused(fault)
        what = f"record {before + 1:,} has {size_bytes:,} bytes"
        return self._error(f"refuses: {what}, more than the topic takes ({_LIMIT})")

    def _error(self, remedy: str) -> KafkaError:
        return KafkaError("Kafka", self._kafka.bootstrap_servers, f"{remedy}{self._so_far()}")

    def _so_far(self) -> str:
        if not self._sent:
            return ""
        self._give_up()
        done = "1 record was" if self.acknowledged == 1 else f"{self.acknowledged:,} records were"
        return f"; {done} acknowledged, others may have arrived"
