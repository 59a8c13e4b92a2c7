"""The diagnosis of a stream's failing batches: the cause is an expression, a destination topic, or unknown."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import partial

from asc.keys.attribute import PAttribute
from broker.config.config import Config
from broker.errors import KafkaError
from broker.failure import is_of_kafka, one_line
from broker.formats.decoder import Decoder
from broker.kafka.cluster import KafkaCluster
from broker.operators.feed_destination import routed_topics
from broker.operators.plan_expressions import expressions_of
from broker.plans.running_plan import RunningPlan, UnfinishedBatch
from broker.stream.diagnosis.diagnosis_result import DiagnosisResult
from broker.stream.diagnosis.poison_search import ChildTrial, SuspectBatch, Trial, child_master, guilty, slow

LOG = logging.getLogger("asc.job")

_TIMES_IN_VAIN = 2
"""The number of failed starts of a batch after which the cause is searched."""


class BatchDiagnosis:
    """The search for the expressions and topics that keep a stream from finishing a batch. A batch is searched if two
    starts of it failed or ended the process, or if it takes too long. Its expressions run over its records in another
    process (:mod:`broker.stream.diagnosis.poison_search`). No method raises: if a diagnosis fails, the stream retries
    the batch.
    """

    def __init__(
        self, stream: str, config: Config, cluster: KafkaCluster, decoder: Decoder, running: RunningPlan
    ) -> None:
        self._stream = stream
        self._config = config
        self._cluster = cluster
        self._decoder = decoder
        self._running = running
        self._in_vain: int | None = None
        self._failed: int | None = None

    def due(self) -> UnfinishedBatch | None:
        """Return the unfinished batch whose expressions are to be searched.

        Return None if there is no such batch, or if it was already searched in vain.
        """
        try:
            batch = self._running.unfinished()
        except Exception as error:
            LOG.error("stream '%s': its unfinished batch cannot be looked into: %s", self._stream, one_line(error))
            return None
        if batch is None or batch.start_count < _TIMES_IN_VAIN or batch.batch_id == self._in_vain:
            return None
        return batch

    def of_batch(self, batch: UnfinishedBatch, is_wanted: Callable[[], bool]) -> DiagnosisResult | None:
        """Return the expressions that end a batch, with reasons. Return None if none is found.

        The search takes the time to start Spark, and several times the duration of the batch. It ends early when
        ``is_wanted`` returns false.
        """
        try:
            faulty = self._faulty(batch, partial(ChildTrial, is_wanted=is_wanted), guilty, "ends a batch")
        except Exception as error:
            if not is_wanted():
                self._log_abandoned()
                return None
            LOG.error("stream '%s': what ends batch %d is not found: %s", self._stream, batch.batch_id, one_line(error))
            if self._failed == batch.batch_id:
                # Two attempts suffice: the batch may succeed, and each diagnosis starts a Spark.
                self._in_vain = batch.batch_id
            self._failed = batch.batch_id
            return None
        if not faulty:
            self._in_vain = batch.batch_id
            LOG.warning("stream '%s': no expression ends batch %d, which is run again", self._stream, batch.batch_id)
            return None
        return DiagnosisResult(expressions=faulty)

    def of_slow(self, is_wanted: Callable[[], bool]) -> DiagnosisResult | None:
        """Return the expressions of the running batch that exceed ``spark.expression_timeout_s`` even if evaluated
        without the others. Each has a reason.

        Return None if none is found. The search takes several times that timeout.
        """
        limit_s = self._config.spark.expression_timeout_s
        trial = partial(ChildTrial, is_wanted=is_wanted, limit_s=limit_s)
        try:
            batch = self._running.unfinished()
            faulty = {} if batch is None else self._faulty(batch, trial, slow, "takes too long for a batch")
        except Exception as error:
            if not is_wanted():
                self._log_abandoned()
                return None
            LOG.error("stream '%s': what takes its time is not found: %s", self._stream, one_line(error))
            return None
        if not faulty:
            LOG.warning("stream '%s': no expression alone takes %g s of its batch", self._stream, limit_s)
            return None
        return DiagnosisResult(expressions=faulty)

    def of_failure(self, error: BaseException | None) -> DiagnosisResult | None:
        """Return the destination topics that refuse records without a key, after an error of Kafka ended a batch.

        Return None if there is no such topic, or if the error is not of Kafka. A failure of Kafka does not count as a
        failed start of the batch.
        """
        if error is None or not (isinstance(error, KafkaError) or is_of_kafka(error)):
            return None
        try:
            self._running.excuse()
            batch = self._running.unfinished()
            topics = set() if batch is None else routed_topics(batch.plan)
            compacted = self._cluster.compacted(topics & self._cluster.topics())
        except Exception as another:
            LOG.warning("stream '%s': its destinations cannot be looked at: %s", self._stream, one_line(another))
            return None
        if not compacted:
            return None
        return DiagnosisResult(topics={name: f"{refusal}, and register it anew" for name, refusal in compacted.items()})

    def _log_abandoned(self) -> None:
        LOG.info("stream '%s': the search for an expression is left, for the daemon stops", self._stream)

    def _faulty(
        self,
        batch: UnfinishedBatch,
        trial_of: Callable[[SuspectBatch], ChildTrial],
        search: Callable[[Trial, int], dict[int, str]],
        fault: str,
    ) -> dict[str, str]:
        """Return the expressions of a batch that ``search`` finds, by their SQL text, with the reasons for parking."""
        attributes = tuple(attribute for attribute in expressions_of(batch.plan) if attribute.is_computed)
        if not attributes:
            return {}
        settings = self._config.spark
        suspected = SuspectBatch(
            self._config.streams[self._stream].topic,
            batch.first,
            batch.end,
            self._cluster.client.spark_options(),
            self._decoder,
            attributes,
            child_master(settings.master),
            settings.driver_memory,
        )
        with trial_of(suspected) as trial:

            def logged_trial(slots: Sequence[int], /) -> str | None:
                LOG.info("stream '%s': runs %d of its %d expressions", self._stream, len(slots), len(attributes))
                return trial(slots)

            faulty = search(logged_trial, len(attributes))
        return {attributes[slot].sql: _parked_for(attributes[slot], fault, reason) for slot, reason in faulty.items()}


def _parked_for(attribute: PAttribute, fault: str, reason: str) -> str:
    remedy = "change it, or register it anew to try again"
    return f"is parked, for its expression {attribute.as_written[:200]!r} {fault} ({reason}): {remedy}"
