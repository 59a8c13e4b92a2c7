"""The body of the operator ``events``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from broker.body import Number, Text
from broker.operators.events.definition import DEFAULT_LOST_AFTER_S, DEFAULT_TIME, LONGEST_S, LOST_AFTER_LEAST_S
from broker.operators.kind_body import KindBody


class EventsBody(KindBody):
    """Objects that begin to be accepted (enter), no longer are (exit), or are no longer observed (lost)."""

    examples: ClassVar[tuple[Mapping[str, Any], ...]] = (
        {"name": "events", "key": "icao24"},
        {"name": "events", "key": "icao24", "time": "ts", "events": ["enter", "exit"], "dwell_s": 2.5},
    )

    name: Literal["events"]
    key: Text = Field(description="The expression that identifies an object.")
    time: Text = Field(default=DEFAULT_TIME, description="The TIMESTAMP expression of an observation.")
    events: Annotated[
        list[Literal["enter", "exit", "lost"]], Field(min_length=1, description="The events that are sent.")
    ] = Field(default=["enter", "exit", "lost"])
    dwell_s: Number = Field(
        default=0,
        ge=0,
        le=LONGEST_S,
        allow_inf_nan=False,
        description="Seconds for which an object is inside, or outside, before an event says so.",
    )
    lost_after_s: Number = Field(
        default=DEFAULT_LOST_AFTER_S,
        ge=LOST_AFTER_LEAST_S,
        le=LONGEST_S,
        allow_inf_nan=False,
        description="Seconds without an observation after which an object is lost.",
    )
