"""Forms of metrics: their names and descriptions. The endpoint ``/metrics`` and the page about metrics both use these
forms, so that the two agree.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
    SummaryMetricFamily,
)


@dataclass(frozen=True, slots=True)
class MetricForm:
    """The form of a metric, without values: name, kind, description and labels.

    ``name`` is the name in Prometheus queries. For a counter it includes ``_total``. For a histogram or a summary it
    lacks the suffixes ``_bucket``, ``_sum`` and ``_count`` of the samples.
    """

    name: str
    kind: Literal["counter", "gauge", "histogram", "summary"]
    text: str
    labels: tuple[str, ...] = ()

    def counter(self) -> CounterMetricFamily:
        """Return a metric family of type counter, without samples."""
        return CounterMetricFamily(self.name.removesuffix("_total"), self.text, labels=self.labels)

    def gauge(self) -> GaugeMetricFamily:
        """Return a metric family of type gauge, without samples."""
        return GaugeMetricFamily(self.name, self.text, labels=self.labels)

    def histogram(self) -> HistogramMetricFamily:
        """Return a metric family of type histogram, without samples."""
        return HistogramMetricFamily(self.name, self.text, labels=self.labels)

    def summary(self) -> SummaryMetricFamily:
        """Return a metric family of type summary, without samples and without quantiles."""
        return SummaryMetricFamily(self.name, self.text, labels=self.labels)

    @property
    def samples(self) -> tuple[str, ...]:
        """Return the names of the metric's samples in Prometheus: one for each suffix of a histogram or summary."""
        if self.kind == "histogram":
            return tuple(f"{self.name}_{part}" for part in ("bucket", "count", "sum"))
        if self.kind == "summary":
            return tuple(f"{self.name}_{part}" for part in ("count", "sum"))
        return (self.name,)


def filled(form: MetricForm, samples: Iterable[tuple[tuple[str, ...], float]]) -> Metric:
    """Return a counter or a gauge with its samples. ``samples``: for each sample, the values of its labels in the order
    of ``form.labels``, and its number.
    """
    family = form.counter() if form.kind == "counter" else form.gauge()
    for labels, value in samples:
        family.add_metric(list(labels), value)
    return family
