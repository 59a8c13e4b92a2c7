"""What batches come to, in one place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import cast

import numpy as np
import pyarrow as pa
import pytest

from asc.plan.compiler import compile_plan
from asc.plan.plan import Query
from asc.predicate import normalise
from asc.schema import Schema
from broker.kafka.client import KafkaClient
from broker.matching.query_counts import QueryCounts
from broker.matching.record_times import RecordTimes
from broker.matching.tally import Tally
from broker.stream.metrics.lag import Lag
from broker.stream.metrics.stream_stats import StreamStats


def test_a_batch_is_counted_everywhere(tallied: Callable[..., Tally]) -> None:
    plan = compile_plan([Query("q", normalise("a > 1", Schema.from_ddl("a INT")), "t")], version=1)
    figures = StreamStats(Lag("s", "t", cast("KafkaClient", None), {}), lambda: 1_000.0)
    tally = replace(
        tallied(plan, [pa.array([0, 5, 7], pa.int32())], 3, None),
        written=2,
        dead_letters={1: 1},
        by_query=QueryCounts(np.array([0]), np.array([2])),
        times=RecordTimes.of(np.array([999_000, 999_000, 999_800])),
    )
    figures.count(plan, tally)
    (moment,) = figures.moments()
    assert (moment.records, moment.accepted, moment.written, moment.dead_letters) == (3, 2, 2, 1)
    assert (figures.written, figures.delivered.of("q")) == (2, 2)
    assert figures.minutes_of("q") == [(960, 2)]
    assert (len(figures.latency), figures.latency.sum_s) == (3, pytest.approx(2.2, abs=0.02))
    assert figures.rates()["records_per_s"] == 3.0


def test_an_empty_batch_is_no_moment(tallied: Callable[..., Tally]) -> None:
    plan = compile_plan([Query("q", normalise("a > 1", Schema.from_ddl("a INT")), "t")], version=1)
    figures = StreamStats(Lag("s", "t", cast("KafkaClient", None), {}), lambda: 1_000.0)
    figures.count(plan, replace(tallied(plan, [pa.array([0], pa.int32())], 1, None), tuples=0))
    assert figures.moments() == []
