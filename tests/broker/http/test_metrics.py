"""Metrics in the format of Prometheus: every stream's counts as they are, whatever it is called."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pyarrow as pa
from prometheus_client.parser import text_string_to_metric_families

from asc.plan.compiler import compile_plan
from broker.adapting.stream_monitor import StreamMonitor
from broker.config.sections import MonitorConfig
from broker.formats.dead_letter_reason import DeadLetterReason
from broker.http.metrics import exposition
from broker.matching.tally import Tally
from broker.plans.binding import BatchBindings
from broker.plans.running_plan import RunningPlan
from broker.queries.query import RegisteredQuery
from broker.stream.dead_letters import DeadLetters
from broker.stream.evaluation_errors import EvaluationErrors
from workloads.synthetic import d1_workload, uniform_tuples

if TYPE_CHECKING:
    from broker.stream.stream import Stream

PLAN = compile_plan(d1_workload(40).standing_queries(), version=7)
TUPLES = uniform_tuples(1_000, seed=3)


@dataclass
class Counted:
    """Of a stream what counts: its own monitor, plan and errors, without a job."""

    monitor: StreamMonitor
    running: RunningPlan
    evaluation_errors: EvaluationErrors
    dead_letters: DeadLetters

    def phases(self) -> dict[str, float]:
        return {"bind": 0.002, "run": 0.25}


REASONS = (DeadLetterReason("value is empty"), DeadLetterReason("malformed: column 'n'", "malformed", "n"))


def counted(folder: Path, name: str) -> Counted:
    running = RunningPlan(name, BatchBindings(folder / "bindings", folder / "spark"), {})
    return Counted(
        StreamMonitor(name, MonitorConfig(), running), running, EvaluationErrors(name), DeadLetters(name, REASONS)
    )


def values(streams: dict[str, Counted]) -> dict[tuple[str, ...], float]:
    """Value by name and labels of each sample."""
    text = exposition(cast("dict[str, Stream]", streams))
    families = text_string_to_metric_families(text)
    return {(one.name, *one.labels.values()): one.value for family in families for one in family.samples}


def test_without_streams_there_are_names_and_no_samples() -> None:
    text = exposition({})
    assert "# TYPE asc_tuples_total counter" in text
    assert values({}) == {}


def test_every_count_of_every_stream_is_there_once(tmp_path: Path, tallied: Callable[..., Tally]) -> None:
    busy, idle = counted(tmp_path / "busy", "busy"), counted(tmp_path / "idle", "idle")
    busy.running.replace(PLAN)
    block = PLAN.blocks[0]
    arrow = (int(block.sequence[0]), 0, int(block.sequence[-1]))
    busy.running.arrange(PLAN, {0: block.order_of(block.sequence.tolist(), [arrow])})
    columns = [TUPLES[attribute.sql].combine_chunks() for attribute in PLAN.p_attributes]
    tally = tallied(PLAN, cast("list[pa.Array]", columns), 1_000, None)
    for _ in range(2):
        busy.monitor.offer(PLAN, tally)
    ids = ("q000000", "q000001")
    busy.evaluation_errors.stand({i: RegisteredQuery(i, "busy", "n > 1", "out", version=7) for i in ids})
    busy.evaluation_errors.count(7, dict(zip(ids, (3, 4), strict=True)))
    busy.dead_letters.count({1: 5, 2: 6})
    found = values({"busy": busy, "idle": idle})
    assert found.pop(("asc_dead_letters_total", "", "value is empty", "busy")) == 5
    assert found.pop(("asc_dead_letters_total", "n", "malformed", "busy")) == 6
    assert found.pop(("asc_batch_phase_seconds", "bind", "busy")) == 0.002
    assert found.pop(("asc_batch_phase_seconds", "run", "busy")) == 0.25
    assert {name[0]: value for name, value in found.items() if name[1] == "busy"} == {
        "asc_batches_total": 2,
        "asc_tuples_total": 2_000,
        "asc_accepted_total": 2 * tally.accepted,
        "asc_evaluated_total": 2 * int(tally.evaluated.sum()),
        "asc_sampled_total": 0,
        "asc_monitor_seconds_total": 0,
        "asc_evaluation_errors_total": 7,
        "asc_queries": 40,
        "asc_plan_version": 7,
        "asc_plan_bytes": busy.running.plan.nbytes,
        "asc_micro_arrows": 1,
    }
    # The plan before the first registration is of no query.
    assert (found["asc_queries", "idle"], found["asc_tuples_total", "idle"]) == (0, 0)
    assert len(found) == 22 + len(idle.phases())
    again = values({"busy": busy, "idle": idle})
    assert {name: again[name] for name in found} == found


def test_a_name_is_a_label_whatever_is_in_it(tmp_path: Path) -> None:
    name = 'a"b\\c\nd é'
    assert values({name: counted(tmp_path, name)})["asc_queries", name] == 0
