"""What the tasks of one batch tell the monitor, without Spark."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pyspark.accumulators import Accumulator

from asc.evaluation.executor import match
from asc.plan.plan import Plan
from broker.matching.tally import Sampling, Tally, Tallying, TallyParam, TaskTally


@pytest.fixture(scope="session")
def tallied() -> Callable[..., Tally]:
    """What the tasks of one batch hand over: two of them, as on two cores."""

    def of(plan: Plan, columns: list[Any], rows: int, sampling: Sampling | None, number: int = 1) -> Tally:
        arrived: Accumulator[Tally | None] = Accumulator(-1, None, TallyParam(sampling.tuples if sampling else 0))
        for half in (slice(0, rows // 2), slice(rows // 2, rows)):
            task = TaskTally(Tallying(arrived, number, sampling))
            for start in range(half.start, half.stop, 500):
                part = [column.slice(start, min(500, half.stop - start)) for column in columns]
                task.add(plan.p_attributes, part, match(plan, part, len(part[0])))
            task.hand_over()
        assert arrived.value is not None
        return arrived.value

    return of
