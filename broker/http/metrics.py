"""What the streams came to, in the text format of Prometheus."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.registry import Collector

from broker.stream.stream import Stream

METRICS_TYPE = CONTENT_TYPE_PLAIN_0_0_4

_COUNTERS = {
    "batches": "Batches done",
    "tuples": "Records matched against the predicates",
    "accepted": "Records that at least one query accepted",
    "evaluated": "Constructs evaluated, as the executor visits them: several a pass",
    "sampled": "Records that were drawn for the monitor",
    "monitor_s": "Seconds that the monitor spent measuring",
}


def exposition(streams: Mapping[str, Stream]) -> str:
    """All metrics as they are now; read from the running state, so nothing is counted twice or kept for it."""
    registry = CollectorRegistry()
    registry.register(_Streams(streams))
    return generate_latest(registry).decode("utf-8")


class _Streams(Collector):
    def __init__(self, streams: Mapping[str, Stream]) -> None:
        self._streams = streams

    def collect(self) -> Iterator[Metric]:
        for counter, text in _COUNTERS.items():
            family = CounterMetricFamily(f"asc_{counter.replace('_s', '_seconds')}", text, labels=["stream"])
            for name, stream in self._streams.items():
                family.add_metric([name], getattr(stream.monitor.totals, counter))
            yield family
        yield self._rearrangements()
        yield self._evaluation_errors()
        yield self._dead_letters()
        yield self._phases()
        yield from self._plans()

    def _rearrangements(self) -> Metric:
        family = CounterMetricFamily(
            "asc_rearrangements",
            "Sequences put in place of others, by what called for them",
            labels=["stream", "trigger"],
        )
        for name, stream in self._streams.items():
            for trigger, count in stream.monitor.totals.rearrangements.items():
                family.add_metric([name, trigger], count)
        return family

    def _evaluation_errors(self) -> Metric:
        text = "Records on which evaluation failed, summed over the queries it failed for"
        family = CounterMetricFamily("asc_evaluation_errors", text, labels=["stream"])
        for name, stream in self._streams.items():
            family.add_metric([name], stream.evaluation_errors.total)
        return family

    def _dead_letters(self) -> Metric:
        text = "Records that could not be decoded, by the reason and, where one is at fault, the column"
        family = CounterMetricFamily("asc_dead_letters", text, labels=["stream", "reason", "column"])
        for name, stream in self._streams.items():
            for reason, count in stream.dead_letters.counts():
                family.add_metric([name, reason.kind, reason.column or ""], count)
        return family

    def _phases(self) -> Metric:
        text = "Seconds of each phase of a batch, the medians of the last batches with records"
        family = GaugeMetricFamily("asc_batch_phase_seconds", text, labels=["stream", "phase"])
        for name, stream in self._streams.items():
            for phase, seconds in stream.phases().items():
                family.add_metric([name, phase], seconds)
        return family

    def _plans(self) -> Iterator[Metric]:
        texts = {
            "queries": "Queries in the running plan",
            "plan_version": "Version of the running plan",
            "plan_bytes": "Memory of the running plan",
            "micro_arrows": "Micro-arrows in the running plan",
        }
        families = {name: GaugeMetricFamily(f"asc_{name}", text, labels=["stream"]) for name, text in texts.items()}
        for name, stream in self._streams.items():
            plan = stream.running.plan
            families["queries"].add_metric([name], len(plan))
            families["plan_version"].add_metric([name], plan.version)
            families["plan_bytes"].add_metric([name], plan.nbytes)
            families["micro_arrows"].add_metric([name], sum(block.order.arrow_count for block in plan.blocks))
        yield from families.values()
