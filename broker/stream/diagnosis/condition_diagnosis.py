"""The diagnosis of a feed query's failing batches: the conditions that end a batch, or take too long."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from broker.config.config import Config
from broker.errors import KafkaError
from broker.failure import is_of_dead_worker, is_of_kafka, one_line, root_cause
from broker.operators.condition_watch import ConditionWatch, JudgedBatch
from broker.plans.binding import write_durably
from broker.stream.diagnosis.diagnosis_result import DiagnosisResult, FaultyCondition
from broker.stream.diagnosis.poison_search import ChildTrial, child_master, guilty, slow

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOG = logging.getLogger("asc.operators")

_TIMES_IN_VAIN = 2
"""The number of failed starts of a batch after which the cause is searched."""

_SEARCHES_MAX = 2
"""The number of failed searches, for example on a full disk, after which the batch runs without a further search."""

_UNKNOWN_VERSION = -1
"""The version of a condition that was read from a note file without versions. No query is parked for such a condition.
If a plan contains the condition, batches evaluate it, and its fault is found again.
"""

_STOP_S = 10.0
_LOOK_S = 0.25


@dataclass(frozen=True, slots=True)
class _Noted:
    """The contents of the note file: the batch that is evaluating conditions, and the conditions that are excluded.

    ``times``: the number of starts of the batch. ``is_slow``: whether the batch took too long. ``excluded``: the fault
    of each excluded condition.
    """

    batch_id: int = -1
    times: int = 0
    is_slow: bool = False
    excluded: Mapping[str, FaultyCondition] = field(default_factory=dict)

    def text(self) -> str:
        plain = {
            "batch": self.batch_id,
            "times": self.times,
            "slow": self.is_slow,
            "excluded": {condition: faulty.reason for condition, faulty in self.excluded.items()},
            "versions": {condition: faulty.version for condition, faulty in self.excluded.items()},
        }
        return json.dumps(plain, ensure_ascii=False)

    @staticmethod
    def of_text(text: str) -> _Noted:
        plain = json.loads(text)
        # The version of the software before wrote no versions.
        versions = plain.get("versions", {})
        excluded = {
            str(condition): FaultyCondition(str(reason), int(versions.get(condition, _UNKNOWN_VERSION)))
            for condition, reason in plain["excluded"].items()
        }
        return _Noted(int(plain["batch"]), int(plain["times"]), bool(plain["slow"]), excluded)


class ConditionDiagnosis(ConditionWatch):
    """The search for the conditions that batches of a feed query cannot evaluate, and the exclusion of such conditions.

    Before a batch evaluates conditions, it is noted in a file beside the checkpoint. If a batch was started twice in
    vain, or took longer than ``spark.expression_timeout_s``, another process tries its conditions over its pairs. The
    faulty conditions become a finding (a :class:`DiagnosisResult`), for which their queries are parked. No batch
    evaluates such a condition until a query with the condition is registered anew. Cost: a synced file for each batch
    with conditions.
    """

    def __init__(self, op: str, stream: str, config: Config, folder: Path, plan_version: Callable[[], int]) -> None:
        """Create the search, and read its file.

        ``op``: the tag of the operator kind whose reader evaluates the conditions. ``plan_version`` returns the version
        of the running plan.
        """
        self._op = op
        self._stream = stream
        self._config = config
        self._plan_version = plan_version
        self._path = folder / f"{op}-conditions.json"
        self._rows = folder / f"{op}-suspects.parquet"
        self._stopping = threading.Event()
        self._lock = threading.Lock()
        self._searched = -1
        self._failed_searches = 0
        self._lost_worker = -1
        self.finding: DiagnosisResult | None = None
        """The finding for which queries of the stream are to be parked; None if there is no such finding."""
        self._noted = _Noted()
        try:
            self._noted = _Noted.of_text(self._path.read_text("utf-8"))
        except FileNotFoundError:
            pass
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            LOG.warning("%s cannot be read, and what it said is found anew: %s", self._path, error)
        if self._noted.excluded:
            # The process may have crashed before the queries with these conditions were parked.
            self.finding = DiagnosisResult(conditions=self._noted.excluded)

    def ask_to_stop(self) -> None:
        """Stop the search, and start no other."""
        self._stopping.set()

    def go_on(self, finding: DiagnosisResult) -> None:
        """Forget a finding after no plan has a query that uses it."""
        if self.finding is finding:
            self.finding = None

    def allow(self, conditions: Collection[str]) -> None:
        """Allow excluded conditions that a new plan contains: their queries were registered anew."""
        with self._lock:
            again = self._noted.excluded.keys() & set(conditions)
            if again and self.finding is None:
                kept = {text: reason for text, reason in self._noted.excluded.items() if text not in again}
                self._note(replace(self._noted, excluded=kept))

    @contextmanager
    def judging(self, batch_id: int, batch: JudgedBatch) -> Iterator[Sequence[str]]:
        """Enter the context of a batch: see :class:`broker.operators.condition_watch.ConditionWatch`."""
        judged = self._allowed(batch)
        if judged:
            self._begin(batch_id)
            if self._is_suspect():
                self._search(batch, judged)
                judged = self._allowed(batch)
        if not judged:
            yield judged
            return
        done = threading.Event()
        self._end_overdue(batch.spark, done)
        try:
            yield judged
        except BaseException as error:
            cause = one_line(root_cause(error), 300)
            LOG.warning("stream '%s': a batch of its %s queries failed: %s", self._stream, self._op, cause)
            is_excused = self._stopping.is_set() or isinstance(error, KafkaError) or is_of_kafka(error)
            if is_excused or self._is_first_dead_worker(error):
                # The conditions are not the cause, so this start of the batch does not count.
                self._update(times=max(0, self._noted.times - 1))
            raise
        finally:
            done.set()

    def _is_first_dead_worker(self, error: BaseException) -> bool:
        """Return whether the batch failed because a Python worker died, for the first time in this batch."""
        if self._lost_worker == self._noted.batch_id or not is_of_dead_worker(error):
            return False
        self._lost_worker = self._noted.batch_id
        return True

    def _allowed(self, batch: JudgedBatch) -> list[str]:
        return [text for text in batch.texts if text not in self._noted.excluded]

    def _begin(self, batch_id: int) -> None:
        if self._noted.batch_id == batch_id:
            self._update(times=self._noted.times + 1)
        else:
            with self._lock:
                self._note(_Noted(batch_id, 1, False, self._noted.excluded))

    def _is_suspect(self) -> bool:
        noted = self._noted
        return noted.batch_id != self._searched and (noted.is_slow or noted.times > _TIMES_IN_VAIN)

    # -- the search

    def _search(self, batch: JudgedBatch, texts: Sequence[str]) -> None:
        """Search the batch for faulty conditions, and exclude them. If none is found, exclude nothing."""
        noted, settings = self._noted, self._config.spark
        what = "take too long for" if noted.is_slow else f"ended {noted.times - 1} times with"
        LOG.warning("stream '%s': looks for the condition that its %s queries %s", self._stream, self._op, what)
        try:
            batch.write(self._rows)
            suspects = batch.suspects(
                self._rows,
                texts,
                master=child_master(settings.master),
                driver_memory=settings.driver_memory,
                time_zone=settings.time_zone,
            )
            limit: dict[str, Any] = {"limit_s": settings.expression_timeout_s} if noted.is_slow else {}
            with ChildTrial(suspects, lambda: not self._stopping.is_set(), **limit) as trial:
                faulty = (slow if noted.is_slow else guilty)(trial, len(texts))
        except Exception as error:
            LOG.error("stream '%s': the condition at fault is not found: %s", self._stream, one_line(error))
            self._failed_searches += 1
            if self._failed_searches >= _SEARCHES_MAX:
                # Give up: the batch may succeed, and each search starts a Spark.
                self._searched = noted.batch_id
                self._update(times=1, is_slow=False)
            return
        finally:
            self._rows.unlink(missing_ok=True)
        self._searched, self._failed_searches = noted.batch_id, 0
        fault = "takes too long for a batch" if noted.is_slow else "ends a batch"
        version = self._plan_version()
        faults = {
            texts[slot]: FaultyCondition(_parked_for(texts[slot], fault, reason), version)
            for slot, reason in faulty.items()
        }
        for each in faults.values():
            LOG.warning("stream '%s': a query with operator %s %s", self._stream, self._op, each.reason)
        if not faults:
            LOG.warning("stream '%s': no condition is at fault, and the batch is run again", self._stream)
            return
        with self._lock:
            self._note(_Noted(noted.batch_id, 1, False, {**self._noted.excluded, **faults}))
            self.finding = DiagnosisResult(conditions=self._noted.excluded)

    # -- a batch that takes too long

    def _end_overdue(self, spark: SparkSession, done: threading.Event) -> None:
        """Start a thread that cancels the batch if its conditions take too long. When the batch is replayed, its
        conditions are searched.

        The thread cancels the job group of the streaming query, on whose thread this method is called.
        """
        group = spark.sparkContext.getLocalProperty("spark.jobGroup.id")
        limit_s = self._config.spark.expression_timeout_s

        def watch(group: str) -> None:
            if not done.wait(limit_s) and not self._stopping.is_set() and self._noted.batch_id != self._searched:
                LOG.warning(
                    "stream '%s': a batch of its %s queries takes over %g s, and is run again",
                    self._stream,
                    self._op,
                    limit_s,
                )
                self._update(is_slow=True)
                _cancel(spark, group, self._stream)

        if group is not None:
            threading.Thread(target=watch, args=(group,), name=f"{self._op}-watch-{self._stream}", daemon=True).start()

    # -- the file

    def _update(self, **changed: Any) -> None:
        with self._lock:
            self._note(replace(self._noted, **changed))

    def _note(self, noted: _Noted) -> None:
        if noted != self._noted:
            write_durably(self._path, noted.text())
            self._noted = noted


def _cancel(spark: SparkSession, group: str, stream: str) -> None:
    """Cancel a job group. If a task does not stop, stop Spark, because such a task would occupy a core for ever."""
    from broker.runtime.spark import running_tasks

    context = spark.sparkContext
    tracker = context.statusTracker()
    jobs = (tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(group))
    stages = {f" in stage {stage}." for job in jobs if job is not None for stage in job.stageIds}
    context.cancelJobGroup(group)
    give_up = time.monotonic() + _STOP_S
    while any(stage in task for task in running_tasks(spark) for stage in stages):
        if time.monotonic() > give_up:
            LOG.error("stream '%s': a task of a feed query does not stop, and Spark is ended", stream)
            spark.stop()
            return
        time.sleep(_LOOK_S)


def _parked_for(condition: str, fault: str, reason: str) -> str:
    remedy = "change it, or register it anew to try again"
    return f"is parked, for its condition {condition[:200]!r} {fault} ({reason}): {remedy}"
