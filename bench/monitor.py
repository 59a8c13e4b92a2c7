"""The cost of the monitor, measured with Spark batches that run alternately with and without the monitor, and the time
that the monitor gains.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import permutations
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from tqdm import tqdm

import bench.drifting
from asc.plan.compiler import compile_plan
from asc.plan.order import Order
from asc.plan.plan import Plan
from bench.cpu_time import cpu_s
from bench.machine import machine
from bench.paired_stats import loss_of
from bench.parquet_input import FILES, parquet_frame
from bench.plot import plot_monitor
from bench.result_file import write_result
from bench.timed import timed
from broker.config.sections import MonitorConfig
from broker.matching.dataframe import match_plan
from broker.matching.shipped_plan import ShippedPlan
from broker.matching.tally import Tallying, tally_accumulator
from broker.monitoring.stream_monitor import StreamMonitor, Totals
from broker.plans.binding import BatchBindings
from broker.plans.running_plan import RunningPlan
from broker.runtime.java import find_java
from broker.runtime.spark import spark_session
from broker.runtime.warm_up import compile_kernels
from workloads.synthetic import d1_workload, non_uniform_tuples, uniform_tuples

MODES = ("off", "measuring", "on")
"""The modes of the monitor. ``off``: nothing is counted, although a daemon counts even with its monitor off.
``measuring``: the monitor counts, draws, measures and ships the plan again. It leaves the sequences unchanged, so that
it has a cost and no gain. ``on``: the monitor also changes the sequences.
"""


@dataclass(frozen=True, slots=True)
class Size:
    """The size of the measurement. ``rows``: the number of rows of a batch. ``predicates``: the numbers of predicates.
    ``rounds``: the number of rounds, in each of which a batch runs once in every mode.

    ``warm_up``: the number of earlier rounds, which are not counted.
    """

    rows: int
    predicates: tuple[int, ...]
    rounds: int
    warm_up: int


FULL = Size(1_000_000, (100, 1_000), 120, 12)
QUICK = Size(100_000, (100,), 12, 2)


COST, GAIN = "cost", "gain"


def run(*, quick: bool, output_dir: Path, part: str | None = None) -> dict[str, Any]:
    """Measure the monitor's cost (``monitor.json``), its gain (``monitor-drifting.json``), or both, each with its plot.
    Return the results by name.
    """
    results = []
    if part in (None, COST):
        results.append(cost(quick=quick, output_dir=output_dir))
    if part in (None, GAIN):
        results.append(bench.drifting.run(quick=quick, output_dir=output_dir))
    return {result["benchmark"]: result for result in results}


def table(results: dict[str, Any]) -> str:
    """Return the results as text."""
    texts = [
        bench.drifting.table(result) if name == bench.drifting.NAME else cost_text(result)
        for name, result in results.items()
    ]
    return "\n\n".join(texts)


def cost(*, quick: bool, output_dir: Path) -> dict[str, Any]:
    """Measure the monitor's cost, write ``monitor.json`` and its plot into the folder, and return the content of the
    file.

    Batches alternate between uniform and skewed tuples, and the monitor measures after every batch. A new sequence fits
    the last batch but not the next batch, so the monitor has only a cost and no gain. Kafka is not involved: the time
    to read and write topics would only lower the monitor's share.
    """
    size = QUICK if quick else FULL
    # Compile the kernels in advance. If the monitor's first measurement compiled them, the monitor would exceed its
    # share of a core and pause until the end of the run.
    compile_kernels()
    spark = spark_session(app_name="asc-bench-monitor", driver_memory="6g")
    # Use the default settings, except that each batch is a period and each check measures (mu = 0), within
    # max_core_share. The modes alternate, so the share of each mode is divided by the number of modes.
    settings = MonitorConfig(lambda_tuples=size.rows, mu=0.0)
    settings = settings.model_copy(update={"max_core_share": settings.max_core_share / len(MODES)})
    with tempfile.TemporaryDirectory(prefix="asc-bench-") as folder:
        frames = [
            parquet_frame(spark, Path(folder) / name, tuples)
            for name, tuples in (("d1", uniform_tuples(size.rows)), ("d2", non_uniform_tuples(size.rows)))
        ]
        results = {str(count): _compared(spark, frames, count, size, settings) for count in size.predicates}
    result = {
        "benchmark": "monitor",
        "quick": quick,
        "machine": {**machine(), "java": find_java().version},
        "input": {"rows": size.rows, "columns": 20, "format": "parquet", "files": FILES, "sink": "noop"},
        "rounds": size.rounds,
        "settings": settings.model_dump(mode="json"),
        "results": results,
    }
    write_result(output_dir, "monitor", result)
    plot_monitor(result, output_dir / "monitor")
    return result


def cost_text(result: dict[str, Any]) -> str:
    """Return the result as lines of text: rows per second of each mode, and the share of throughput that the monitor
    costs.

    The share is computed from the processor time of all processes and from elapsed time, each with its 95 % confidence
    interval. The elapsed time of a batch ends when the monitor has processed the batch. In a daemon, the monitor works
    in parallel with the next batch. So the share by elapsed time is an upper bound of the cost.
    """
    rows = result["input"]["rows"]
    lines = [f"{result['rounds']} batches of {rows:,} rows x 20 ints in each mode, in turns; rows/s are medians", ""]
    headings = (
        f"{'predicates':>10}  {'monitor':<10} {'rows/s':>11}  {'lost, by processor time':>24}  {'by the clock':>24}"
    )
    lines.append(f"{headings}  {'rearranged':>10} {'measuring':>10}")
    for count, modes in result["results"].items():
        for mode, measured in modes.items():
            lines.append(
                f"{int(count):>10,}  {mode:<10} {rows / measured['median_s']:>11,.0f}  "
                f"{_shown(measured['cpu_cost']):>24}  {_shown(measured['cost']):>24}  "
                f"{measured['rearrangements']:>10} {measured['monitor_s']:>8.2f} s"
            )
    return "\n".join(lines)


def _shown(cost: dict[str, float]) -> str:
    return f"{cost['share']:.1%} ({cost['low']:.1%} .. {cost['high']:.1%})"


class _Pipeline:
    """A pipeline that runs batches in one mode of the monitor. It has a running plan, which is shipped to the workers
    after each change, and the monitor.
    """

    def __init__(self, spark: SparkSession, plan: Plan, mode: str, settings: MonitorConfig, folder: Path) -> None:
        self._mode = mode
        self._running = (RunningPlan if mode == "on" else _Measured)("bench", BatchBindings(folder, folder), {})
        self._running.replace(plan)
        self._shipped: ShippedPlan | None = None
        self._number = 0
        self._accumulator = tally_accumulator(spark.sparkContext, settings.sample_tuples)
        self.monitor = StreamMonitor("bench", settings, self._running)
        self.monitor.start()

    def batch(self, frame: DataFrame) -> None:
        """Run a batch, and wait until the monitor has processed the batch. So the cost of the monitor does not affect
        another mode.
        """
        plan = self._running.plan
        if self._shipped is None or self._shipped.plan is not plan:
            old = self._shipped
            self._shipped = ShippedPlan.of(frame, plan, before=old)
            self._number += 1
            if old is not None:
                old.release(self._shipped)
        tallying = None
        if self._mode != "off":
            self._accumulator.value = None
            tallying = Tallying(self._accumulator, self._number, self.monitor.sampling())
        match_plan(frame, self._shipped, tallying=tallying).write.format("noop").mode("overwrite").save()
        if self._accumulator.value is not None:
            self.monitor.offer(plan, self._accumulator.value)
        while self.monitor.behind:
            time.sleep(0.001)


class _Measured(RunningPlan):
    """A running plan that ignores the sequences that the monitor finds. The plan is nevertheless shipped again, because
    shipping is a part of the monitor's cost.
    """

    def arrange(self, measured: Plan, orders: Mapping[int, Order]) -> Plan:
        self.replace(replace(measured))
        return self.plan


@contextmanager
def _pipelines(spark: SparkSession, plan: Plan, settings: MonitorConfig) -> Iterator[dict[str, _Pipeline]]:
    with tempfile.TemporaryDirectory(prefix="asc-bench-") as folder:
        pipelines = {mode: _Pipeline(spark, plan, mode, settings, Path(folder) / mode) for mode in MODES}
        try:
            yield pipelines
        finally:
            for pipeline in pipelines.values():
                pipeline.monitor.stop()


def _compared(
    spark: SparkSession, frames: list[DataFrame], count: int, size: Size, settings: MonitorConfig
) -> dict[str, Any]:
    plan = compile_plan(d1_workload(count).standing_queries())
    seconds: dict[str, list[float]] = {mode: [] for mode in MODES}
    cpu: dict[str, list[float]] = {mode: [] for mode in MODES}
    orders = list(permutations(MODES))
    with _pipelines(spark, plan, settings) as pipelines:
        rounds = tqdm(range(-size.warm_up, size.rounds), desc=f"{count} predicates", leave=False, disable=None)
        for number in rounds:
            frame = frames[number % len(frames)]
            if number == 0:
                before = {mode: pipelines[mode].monitor.totals for mode in MODES}
            # Vary the order of the modes so that each mode follows each other mode about equally often, because a batch
            # affects the time of the next batch.
            for mode in orders[number // len(frames) % len(orders)]:
                start_cpu_s = cpu_s()
                taken = timed(lambda: pipelines[mode].batch(frame))  # noqa: B023
                if number >= 0:
                    seconds[mode].append(round(taken, 4))
                    cpu[mode].append(round(cpu_s() - start_cpu_s, 2))
        after = {mode: pipelines[mode].monitor.totals for mode in MODES}
    return {mode: _result(seconds, cpu, mode, before[mode], after[mode]) for mode in MODES}


def _result(
    seconds: dict[str, list[float]], cpu: dict[str, list[float]], mode: str, before: Totals, after: Totals
) -> dict[str, Any]:
    return {
        "median_s": statistics.median(seconds[mode]),
        "runs_s": seconds[mode],
        "runs_cpu_s": cpu[mode],
        "cost": _cost(seconds[mode], seconds["off"]),
        "cpu_cost": _cost(cpu[mode], cpu["off"]),
        "rearrangements": sum(after.rearrangements.values()) - sum(before.rearrangements.values()),
        "monitor_s": after.monitor_s - before.monitor_s,
    }


def _cost(own: list[float], off: list[float]) -> dict[str, float]:
    return asdict(loss_of(own, off))
