"""Metrics of operators: one family a figure, labelled by stream and kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from broker.http.operator_metrics import OPERATOR_METRICS, OperatorMetrics
from broker.stream.operator_status import OperatorStatus

if TYPE_CHECKING:
    from broker.stream.stream import Stream

EVENTS = OperatorStatus(
    queries=3,
    held=5,
    observations=7,
    outputs={"enter": 2, "exit": 1},
    excluded={"key": 4},
    watermarks_us={"unix_micros(ts)": 1_500_000},
    lag_records=None,
    failures=1,
    problem="stopped",
)


@dataclass
class StreamOfStatuses:
    """As far as metrics look at a stream."""

    statuses: dict[str, OperatorStatus]

    def operators(self) -> dict[str, OperatorStatus]:
        return self.statuses


def families(**streams: dict[str, OperatorStatus]) -> dict[str, dict[tuple[str, ...], float]]:
    own = cast("dict[str, Stream]", {name: StreamOfStatuses(statuses) for name, statuses in streams.items()})
    return {
        family.name: {tuple(one.labels.values()): one.value for one in family.samples}
        for family in OperatorMetrics(own).collect()
    }


def test_without_operators_there_are_forms_and_no_samples() -> None:
    found = list(OperatorMetrics({}).collect())
    assert [family.documentation for family in found] == [form.text for form in OPERATOR_METRICS]
    assert not any(family.samples for family in found)
    assert not any(families(s={}).values())


def test_every_figure_of_every_kind_is_there_once() -> None:
    assert families(s={"events": EVENTS}, idle={}) == {
        "asc_operator_queries": {("s", "events"): 3},
        "asc_operator_held": {("s", "events"): 5},
        # What is not known is no sample.
        "asc_operator_lag_records": {},
        "asc_operator_observations": {("s", "events"): 7},
        "asc_operator_failures": {("s", "events"): 1},
        "asc_operator_outputs": {("s", "events", "enter"): 2, ("s", "events", "exit"): 1},
        "asc_operator_excluded": {("s", "events", "key"): 4},
        "asc_operator_watermark_seconds": {("s", "events", "unix_micros(ts)"): 1.5},
    }
