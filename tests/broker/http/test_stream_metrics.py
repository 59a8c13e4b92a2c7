"""Metrics of streams: every stream's counts as they are, whatever it is called."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import numpy as np
import pyarrow as pa
import pytest

from asc.plan.compiler import compile_plan
from broker.http.stream_metrics import BLOCKS_MAX, STREAM_METRICS, StreamMetrics
from broker.matching.query_counts import QueryCounts
from broker.matching.record_times import RecordTimes
from broker.matching.tally import Tally
from broker.queries.query import RegisteredQuery
from broker.stream.metrics.latency import BOUNDS_S
from workloads.synthetic import d1_workload, uniform_tuples

if TYPE_CHECKING:
    from conftest import Counted

    from broker.stream.stream import Stream

PLAN = compile_plan(d1_workload(40).standing_queries(), version=7)
TUPLES = uniform_tuples(1_000, seed=3)
COLUMNS = [TUPLES[attribute.sql].combine_chunks() for attribute in PLAN.p_attributes]

Values = dict[tuple[str, ...], float]
CountedOf = Callable[[str], "Counted"]


def values(streams: dict[str, Counted], *, queries_max: int = 0, not_served: dict[str, int] | None = None) -> Values:
    """Value by name and labels of each sample; a histogram's buckets are left out."""
    metrics = StreamMetrics(cast("dict[str, Stream]", streams), not_served or {}, queries_max)
    return {
        (one.name, *one.labels.values()): one.value
        for family in metrics.collect()
        for one in family.samples
        if not one.name.endswith("_bucket")
    }


@pytest.fixture
def tally(tallied: Callable[..., Tally]) -> Tally:
    """Of a batch of a thousand records that came 50, 200 ms and half a minute before it was done."""
    times = RecordTimes(np.array([970_000, 999_800, 999_950]), np.array([1, 499, 500]))
    found = tallied(PLAN, cast("list[pa.Array]", COLUMNS), 1_000, None)
    return replace(found, written=9, times=times, by_query=QueryCounts(np.array([0, 3]), np.array([5, 8])))


def test_without_streams_there_are_forms_and_no_samples() -> None:
    families = list(StreamMetrics({}, {}, 100).collect())
    assert [family.documentation for family in families] == [form.text for form in STREAM_METRICS]
    assert not any(family.samples for family in families)


def test_every_count_of_every_stream_is_there_once(counted: CountedOf, tally: Tally) -> None:
    busy, idle = counted("busy"), counted("idle")
    busy.running.replace(PLAN)
    block = PLAN.blocks[0]
    arrow = (int(block.sequence[0]), 0, int(block.sequence[-1]))
    busy.running.arrange(PLAN, {0: block.order_of(block.sequence.tolist(), [arrow])})
    for _ in range(2):
        busy.count(PLAN, tally)
    ids = ("q000000", "q000001")
    busy.evaluation_errors.set_registered({i: RegisteredQuery(i, "busy", "n > 1", "out", version=7) for i in ids})
    busy.evaluation_errors.count(7, dict(zip(ids, (3, 4), strict=True)))
    busy.dead_letters.count({1: 5, 2: 6})
    busy.parked.add({("q000000", 7): "divides by zero"})
    busy.problem, busy.failures = "is starting", 3
    found = values({"busy": busy, "idle": idle}, not_served={"busy": 2})
    assert {name: value for name, value in found.items() if len(name) == 3} == {
        ("asc_batch_phase_seconds_count", "busy", "bind"): 2,
        ("asc_batch_phase_seconds_sum", "busy", "bind"): 0.004,
        ("asc_batch_phase_seconds_count", "busy", "run"): 2,
        ("asc_batch_phase_seconds_sum", "busy", "run"): 0.5,
        ("asc_batch_phase_seconds_count", "idle", "bind"): 2,
        ("asc_batch_phase_seconds_sum", "idle", "bind"): 0.004,
        ("asc_batch_phase_seconds_count", "idle", "run"): 2,
        ("asc_batch_phase_seconds_sum", "idle", "run"): 0.5,
        ("asc_block_evaluated_per_tuple", "busy", "0"): int(tally.evaluated[0]) / 1_000,
        ("asc_block_dropping_ratio", "busy", "0"): int(tally.dropped[0]) / 1_000,
    }
    assert {name: value for name, value in found.items() if len(name) == 4} == {
        ("asc_dead_letters_total", "busy", "value is empty", ""): 5,
        ("asc_dead_letters_total", "busy", "malformed", "n"): 6,
    }
    assert {name[0]: value for name, value in found.items() if name[1:] == ("busy",)} == {
        "asc_stream_ready": 0,
        "asc_stream_failures_total": 3,
        "asc_batches_total": 2,
        "asc_tuples_total": 2_000,
        "asc_accepted_total": 2 * tally.accepted,
        "asc_written_total": 18,
        "asc_deliveries_total": 26,
        "asc_evaluated_total": 2 * int(tally.evaluated.sum()),
        "asc_sampled_total": 0,
        "asc_monitor_seconds_total": 0,
        "asc_evaluation_errors_total": 7,
        "asc_queries": 40,
        "asc_queries_parked": 1,
        "asc_queries_not_served": 2,
        "asc_plan_version": 7,
        "asc_plan_bytes": busy.running.plan.nbytes,
        "asc_plan_conjuncts": PLAN.conjunct_count,
        "asc_plan_blocks": 1,
        "asc_micro_arrows": 1,
        "asc_latency_seconds_count": 2_000,
        "asc_latency_seconds_sum": pytest.approx(2 * (25 + 99.8 + 30), abs=0.01),
    }
    # The plan before the first registration is of no query.
    assert (found["asc_queries", "idle"], found["asc_tuples_total", "idle"], found["asc_stream_ready", "idle"]) == (
        *(0, 0),
        1,
    )


def test_the_buckets_of_the_latency_are_cumulative(counted: CountedOf, tally: Tally) -> None:
    stream = counted("s")
    stream.count(PLAN, tally)
    metrics = StreamMetrics(cast("dict[str, Stream]", {"s": stream}), {}, 0)
    (latency,) = [family for family in metrics.collect() if family.name == "asc_latency_seconds"]
    buckets = {one.labels["le"]: one.value for one in latency.samples if one.name.endswith("_bucket")}
    assert list(buckets) == [*map(str, BOUNDS_S), "+Inf"]
    chosen = {bound: buckets[bound] for bound in ("0.025", "0.05", "0.15", "0.2", "10.0", "30.0", "3600.0", "+Inf")}
    assert chosen == {
        **{"0.025": 0, "0.05": 500, "0.15": 500, "0.2": 999},
        **{"10.0": 999, "30.0": 1_000, "3600.0": 1_000, "+Inf": 1_000},
    }


def test_the_lag_is_there_once_kafka_has_said_it(counted: CountedOf, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = counted("s")
    assert ("asc_lag_records", "s") not in values({"s": stream})
    monkeypatch.setattr(stream.figures.lag, "records", lambda: 17)
    assert values({"s": stream})["asc_lag_records", "s"] == 17


def test_so_many_queries_as_are_asked_for_have_samples_of_their_own(counted: CountedOf, tally: Tally) -> None:
    stream = counted("s")
    stream.count(PLAN, tally)
    ids = PLAN.query_ids.to_pylist()
    exposed = {
        queries_max: {
            name[2]: value
            for name, value in values({"s": stream}, queries_max=queries_max).items()
            if name[0] == "asc_query_records_total"
        }
        for queries_max in (0, 1, 100)
    }
    assert exposed == {0: {}, 1: {ids[3]: 8}, 100: {ids[3]: 8, ids[0]: 5}}


def test_of_many_blocks_the_first_ones_have_samples(counted: CountedOf, tally: Tally) -> None:
    stream = counted("s")
    blocks = np.arange(BLOCKS_MAX + 9)
    stream.monitor.offer(PLAN, replace(tally, dropped=blocks, evaluated=blocks))
    exposed = [name[2] for name in values({"s": stream}) if name[0] == "asc_block_dropping_ratio"]
    assert exposed == [str(block) for block in range(BLOCKS_MAX)]


def test_a_name_is_a_label_whatever_is_in_it(counted: CountedOf) -> None:
    name = 'a"b\\c\nd é'
    assert values({name: counted(name)})["asc_queries", name] == 0
