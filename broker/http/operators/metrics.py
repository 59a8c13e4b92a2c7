"""The metrics of the operator kinds, collected from the modules with their names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from prometheus_client.registry import Collector

from broker.http.metric_form import MetricForm
from broker.http.operators.found import modules_of
from broker.stream.stream import Stream

_PACKAGE, _SUFFIX = "broker.http.operators", "_metrics"


def kind_metric_forms() -> Iterator[MetricForm]:
    """Yield the metrics of each kind that has any: ``FORMS`` of the module ``NAME_metrics`` of this package."""
    for module in modules_of(_PACKAGE, _SUFFIX):
        yield from module.FORMS


def kind_collectors(streams: Mapping[str, Stream]) -> Iterator[Collector]:
    """Yield the collectors of the metrics of each kind that has any: ``collector`` of its module."""
    for module in modules_of(_PACKAGE, _SUFFIX):
        yield module.collector(streams)
