"""The metrics of the operator kinds, collected from the modules of this package that have the names of kinds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from prometheus_client.registry import Collector

from broker.http.metric_form import MetricForm
from broker.http.operators.found import modules_of
from broker.stream.stream import Stream

_PACKAGE, _SUFFIX = "broker.http.operators", "_metrics"


def kind_metric_forms() -> Iterator[MetricForm]:
    """Yield the forms of the metrics of each operator kind. The constant ``FORMS`` of the module ``NAME_metrics``
    contains them; a kind without this module has no metrics.
    """
    for module in modules_of(_PACKAGE, _SUFFIX):
        yield from module.FORMS


def kind_collectors(streams: Mapping[str, Stream]) -> Iterator[Collector]:
    """Yield a collector of the metrics of each operator kind. The function ``collector`` of the module ``NAME_metrics``
    creates the collector; a kind without this module has no metrics. ``streams``: the streams by name.
    """
    for module in modules_of(_PACKAGE, _SUFFIX):
        yield module.collector(streams)
