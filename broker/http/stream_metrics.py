"""The metrics of the streams: their records, the durations of their phases, and their plans."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import accumulate

from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from broker.http.metric_form import MetricForm, filled
from broker.stream.metrics.latency import BOUNDS_S, Latency
from broker.stream.metrics.phases import PHASES
from broker.stream.stream import Stream

BLOCKS_MAX = 64
"""The largest number of blocks of a stream for which metrics have samples. A large plan may have more blocks."""

_BY_STREAM = ("stream",)
_Value = Callable[[Stream], float | None]


_PLAIN: tuple[tuple[MetricForm, _Value], ...] = (
    (
        MetricForm("asc_stream_ready", "gauge", "1 while the stream's job runs, otherwise 0", _BY_STREAM),
        lambda stream: stream.problem is None,
    ),
    (
        MetricForm(
            "asc_stream_failures_total",
            "counter",
            "Restarts of the stream's job after an error",
            _BY_STREAM,
        ),
        lambda stream: stream.failures,
    ),
    (
        MetricForm("asc_batches_total", "counter", "Completed batches", _BY_STREAM),
        lambda stream: stream.monitor.totals.batches,
    ),
    (
        MetricForm("asc_tuples_total", "counter", "Records matched against the predicates", _BY_STREAM),
        lambda stream: stream.monitor.totals.tuples,
    ),
    (
        MetricForm("asc_accepted_total", "counter", "Records that at least one query accepted", _BY_STREAM),
        lambda stream: stream.monitor.totals.accepted,
    ),
    (
        MetricForm(
            "asc_written_total",
            "counter",
            "Records written to destination topics; an accepted record counts once for each topic",
            _BY_STREAM,
        ),
        lambda stream: stream.figures.written,
    ),
    (
        MetricForm(
            "asc_deliveries_total",
            "counter",
            "Accepted records, counted once for each accepting query, including removed queries",
            _BY_STREAM,
        ),
        lambda stream: stream.figures.delivered.total,
    ),
    (
        MetricForm(
            "asc_lag_records",
            "gauge",
            "Records of the source topic that are not processed yet; absent until Kafka reports the end of the topic",
            _BY_STREAM,
        ),
        lambda stream: stream.figures.lag.records(),
    ),
    (
        MetricForm(
            "asc_evaluated_total",
            "counter",
            "Evaluated constructs; the executor may evaluate several in one pass",
            _BY_STREAM,
        ),
        lambda stream: stream.monitor.totals.evaluated,
    ),
    (
        MetricForm("asc_sampled_total", "counter", "Records in the samples for the monitor", _BY_STREAM),
        lambda stream: stream.monitor.totals.sampled,
    ),
    (
        MetricForm("asc_monitor_seconds_total", "counter", "Seconds that the monitor spent measuring", _BY_STREAM),
        lambda stream: stream.monitor.totals.monitor_s,
    ),
    (
        MetricForm(
            "asc_evaluation_errors_total",
            "counter",
            "Evaluation errors: records, counted once for each query whose evaluation failed",
            _BY_STREAM,
        ),
        lambda stream: stream.evaluation_errors.total,
    ),
    (
        MetricForm(
            "asc_queries", "gauge", "Queries in the running plan; a join counts once for each shape", _BY_STREAM
        ),
        lambda stream: len(stream.running.plan),
    ),
    (
        MetricForm(
            "asc_queries_parked",
            "gauge",
            "Parked queries, which are not served until they are registered again",
            _BY_STREAM,
        ),
        lambda stream: len(stream.parked.ids()),
    ),
    (
        MetricForm("asc_plan_version", "gauge", "Version of the running plan", _BY_STREAM),
        lambda stream: stream.running.plan.version,
    ),
    (
        MetricForm("asc_plan_bytes", "gauge", "Memory of the running plan", _BY_STREAM),
        lambda stream: stream.running.plan.nbytes,
    ),
    (
        MetricForm("asc_plan_conjuncts", "gauge", "Conjuncts in the running plan", _BY_STREAM),
        lambda stream: stream.running.plan.conjunct_count,
    ),
    (
        MetricForm("asc_plan_blocks", "gauge", "Blocks of the running plan", _BY_STREAM),
        lambda stream: len(stream.running.plan.blocks),
    ),
    (
        MetricForm("asc_micro_arrows", "gauge", "Micro-arrows in the running plan", _BY_STREAM),
        lambda stream: sum(block.order.arrow_count for block in stream.running.plan.blocks),
    ),
)
"""The metrics with one value for each stream; a value of None gives no sample."""

_NOT_SERVED = MetricForm(
    "asc_queries_not_served", "gauge", "Registered queries that are not served, including parked queries", _BY_STREAM
)
_REARRANGEMENTS = MetricForm(
    "asc_rearrangements_total",
    "counter",
    "Replaced sequences of constructs, by trigger",
    ("stream", "trigger"),
)
_DEAD_LETTERS = MetricForm(
    "asc_dead_letters_total",
    "counter",
    "Records that could not be decoded, by reason and, if known, by column",
    ("stream", "reason", "column"),
)
_LATENCY = MetricForm(
    "asc_latency_seconds",
    "histogram",
    "Seconds from the Kafka timestamp of a record to the end of its batch",
    _BY_STREAM,
)
_PHASES = MetricForm(
    "asc_batch_phase_seconds",
    "summary",
    f"Seconds of each phase of the batches with records: {', '.join(PHASES)}; match is a part of run",
    ("stream", "phase"),
)
_BLOCK_COST = MetricForm(
    "asc_block_evaluated_per_tuple",
    "gauge",
    f"Evaluated constructs per record in the last batch with records, for the first {BLOCKS_MAX} blocks of the plan",
    ("stream", "block"),
)
_BLOCK_DROPPED = MetricForm(
    "asc_block_dropping_ratio",
    "gauge",
    f"Share of the last batch's records that a block dropped, for the first {BLOCKS_MAX} blocks of the plan",
    ("stream", "block"),
)
_QUERY_RECORDS = MetricForm(
    "asc_query_records_total",
    "counter",
    "Records delivered to a query, for the api.metrics_top_queries queries of a stream with the most deliveries",
    ("stream", "query"),
)

STREAM_METRICS = (
    *(form for form, _ in _PLAIN),
    _NOT_SERVED,
    _LATENCY,
    _PHASES,
    _DEAD_LETTERS,
    _REARRANGEMENTS,
    _BLOCK_COST,
    _BLOCK_DROPPED,
    _QUERY_RECORDS,
)


class StreamMetrics(Collector):
    """The Prometheus collector of the streams' metrics. It reads the streams at each scrape.

    ``not_served``: the number of registered queries that no plan can contain, by stream. ``queries_max``: the number of
    queries of each stream that have a separate sample: those with the most deliveries.
    """

    def __init__(self, streams: Mapping[str, Stream], not_served: Mapping[str, int], queries_max: int) -> None:
        self._streams = streams
        self._not_served = not_served
        self._queries_max = queries_max

    def collect(self) -> Iterator[Metric]:
        """Yield all of :data:`STREAM_METRICS`, including metrics without samples."""
        for form, value in _PLAIN:
            found = ((name, value(stream)) for name, stream in self._streams.items())
            samples = (((name,), float(number)) for name, number in found if number is not None)
            yield filled(form, samples)
        yield filled(_NOT_SERVED, (((name,), self._not_served.get(name, 0)) for name in self._streams))
        yield self._latency()
        yield self._phases()
        yield filled(_DEAD_LETTERS, self._dead_letters())
        yield filled(_REARRANGEMENTS, self._rearrangements())
        yield from self._blocks()
        yield filled(_QUERY_RECORDS, self._query_records())

    def _latency(self) -> Metric:
        family = _LATENCY.histogram()
        for name, stream in self._streams.items():
            latency: Latency = stream.figures.latency
            reached = accumulate(latency.counts.tolist())
            bounds = [*map(str, BOUNDS_S), "+Inf"]
            family.add_metric([name], list(zip(bounds, reached, strict=True)), latency.sum_s)
        return family

    def _phases(self) -> Metric:
        family = _PHASES.summary()
        for name, stream in self._streams.items():
            for phase, (batches, seconds) in stream.phase_totals().items():
                family.add_metric([name, phase], batches, seconds)
        return family

    def _dead_letters(self) -> Iterator[tuple[tuple[str, ...], float]]:
        for name, stream in self._streams.items():
            for reason, count in stream.dead_letters.counts():
                yield (name, reason.kind, reason.column or ""), count

    def _rearrangements(self) -> Iterator[tuple[tuple[str, ...], float]]:
        for name, stream in self._streams.items():
            for trigger, count in stream.monitor.totals.rearrangements.items():
                yield (name, trigger), count

    def _blocks(self) -> Iterator[Metric]:
        cost, dropped = _BLOCK_COST.gauge(), _BLOCK_DROPPED.gauge()
        for name, stream in self._streams.items():
            last = stream.monitor.last
            if last is None:
                continue
            for block in range(min(BLOCKS_MAX, len(last.dropped))):
                cost.add_metric([name, str(block)], last.evaluated[block] / last.tuples)
                dropped.add_metric([name, str(block)], last.dropped[block] / last.tuples)
        yield from (cost, dropped)

    def _query_records(self) -> Iterator[tuple[tuple[str, ...], float]]:
        for name, stream in self._streams.items():
            for query_id, count in stream.figures.delivered.most(self._queries_max) if self._queries_max else ():
                yield (name, query_id), count
