"""What the streams came to, in the text format of Prometheus."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.registry import Collector

from broker.adapting.stream_monitor import StreamMonitor
from broker.queries.registration import StandingQueries

METRICS_TYPE = CONTENT_TYPE_PLAIN_0_0_4

_COUNTERS = {
    "batches": "Batches done",
    "tuples": "Records judged",
    "accepted": "Records that at least one query accepted",
    "evaluated": "Constructs evaluated, as the executor visits them: several a pass",
    "sampled": "Records that were drawn for the monitor",
    "monitor_s": "Seconds that the monitor spent measuring",
}


def exposition(standing: StandingQueries, monitors: Mapping[str, StreamMonitor]) -> str:
    """All metrics as they are now; read from the running state, so nothing is counted twice or kept for it."""
    registry = CollectorRegistry()
    registry.register(_Streams(standing, monitors))
    return generate_latest(registry).decode("utf-8")


class _Streams(Collector):
    def __init__(self, standing: StandingQueries, monitors: Mapping[str, StreamMonitor]) -> None:
        self._standing = standing
        self._monitors = monitors

    def collect(self) -> Iterator[Metric]:
        for name, text in _COUNTERS.items():
            family = CounterMetricFamily(f"asc_{name.replace('_s', '_seconds')}", text, labels=["stream"])
            for stream, monitor in self._monitors.items():
                family.add_metric([stream], getattr(monitor.totals, name))
            yield family
        yield self._rearrangements()
        yield self._evaluation_errors()
        yield from self._plans()

    def _rearrangements(self) -> Metric:
        family = CounterMetricFamily(
            "asc_rearrangements",
            "Sequences put in place of others, by what called for them",
            labels=["stream", "trigger"],
        )
        for stream, monitor in self._monitors.items():
            for trigger, count in monitor.totals.rearrangements.items():
                family.add_metric([stream, trigger], count)
        return family

    def _evaluation_errors(self) -> Metric:
        text = "Records on which evaluation failed, summed over the queries it failed for"
        family = CounterMetricFamily("asc_evaluation_errors", text, labels=["stream"])
        for stream in self._monitors:
            family.add_metric([stream], self._standing.evaluation_errors.of_stream(stream))
        return family

    def _plans(self) -> Iterator[Metric]:
        texts = {
            "queries": "Queries in the running plan",
            "plan_version": "Version of the running plan",
            "plan_bytes": "Memory of the running plan",
            "micro_arrows": "Micro-arrows in the running plan",
        }
        families = {name: GaugeMetricFamily(f"asc_{name}", text, labels=["stream"]) for name, text in texts.items()}
        for stream, plan in self._standing.plans().items():
            families["queries"].add_metric([stream], len(plan))
            families["plan_version"].add_metric([stream], plan.version)
            families["plan_bytes"].add_metric([stream], plan.nbytes)
            families["micro_arrows"].add_metric([stream], sum(int((b.arrows >= 0).sum()) for b in plan.blocks))
        yield from families.values()
