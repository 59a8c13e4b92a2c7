"""Contenders that do the same work in Spark, run alternately. A contender that exceeds the time limit is stopped."""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from tqdm import tqdm

TIME_LIMIT_S = 60.0
"""The time limit of a run in seconds. A run that exceeds the limit is stopped, and its contender does not run again
with this number of predicates.
"""


@dataclass(slots=True)
class Contender:
    """A contender that evaluates the predicates by one method. ``frame``: a function that returns the result as a
    DataFrame. ``pairs`` counts the (row, query) pairs of the result; it is None if the contender finds no pairs.

    ``in_python``: true if the contender runs in Spark's Python workers. Spark ends idle Python workers after a minute,
    so an unmeasured run immediately precedes each measured run.
    """

    name: str
    frame: Callable[[], DataFrame]
    pairs: Callable[[DataFrame], int] | None
    in_python: bool = False
    seconds: list[float] = field(default_factory=list)
    found: int | None = None
    stopped: bool = False

    def result(self) -> dict[str, Any]:
        measured = {"median_s": statistics.median(self.seconds), "runs_s": self.seconds} if self.seconds else {}
        return {"pairs": self.found, "stopped_after_s": TIME_LIMIT_S if self.stopped else None, **measured}


def run_in_turns(spark: SparkSession, contenders: Sequence[Contender], repetitions: int, description: str) -> None:
    """Run each contender once, to warm up and to count its pairs. Then measure the elapsed time of ``repetitions`` runs
    of each contender. The contenders run alternately.

    Raises RuntimeError if two contenders disagree on the number of pairs.
    """
    steps = tqdm(total=len(contenders) * (repetitions + 1), desc=description, leave=False, disable=None)
    for contender in contenders:
        _within_limit(spark, contender, lambda: _count(contender))  # noqa: B023  (called before the next turn)
        steps.update()
    found = {contender.name: contender.found for contender in contenders if contender.found is not None}
    if len(set(found.values())) > 1:
        raise RuntimeError(f"the plans disagree on the number of matches: {found}")
    for _ in range(repetitions):
        for contender in contenders:
            if not contender.stopped:
                if contender.in_python:
                    _drain(contender.frame())
                seconds = _within_limit(spark, contender, lambda: _drain(contender.frame()))  # noqa: B023
                if seconds is not None:
                    contender.seconds.append(round(seconds, 4))
            steps.update()
    steps.close()


def _count(contender: Contender) -> None:
    if contender.pairs is None:
        _drain(contender.frame())
    else:
        contender.found = contender.pairs(contender.frame())


def _drain(frame: DataFrame) -> None:
    frame.write.format("noop").mode("overwrite").save()


def _within_limit(spark: SparkSession, contender: Contender, work: Callable[[], None]) -> float | None:
    """Measure the seconds of ``work``. If the limit is exceeded, stop the work, mark the contender as stopped, and
    return None.
    """
    group = "asc-bench"
    spark.sparkContext.setJobGroup(group, contender.name)
    expired = threading.Event()

    def stop() -> None:
        expired.set()
        spark.sparkContext.cancelJobGroup(group)

    timer = threading.Timer(TIME_LIMIT_S, stop)
    timer.start()
    start = time.perf_counter()
    try:
        work()
    except Exception:
        if not expired.is_set():
            raise
        contender.stopped = True
        return None
    finally:
        timer.cancel()
        # Later jobs of this thread must not belong to the job group of the contender.
        spark.sparkContext.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type]  # None removes it
    return time.perf_counter() - start
