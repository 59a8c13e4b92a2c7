"""The body of the operator ``cube``."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from asc.operators.cube.definition import DAY_HOURS, DEFAULT_TIME, DIMENSIONS_MAX, HOUR_S, MEASURES_MAX
from broker.body import Number, Text
from broker.operators.kind_body import KindBody

_Hierarchy = Annotated[list[Text], Field(min_length=1)]


class CubeBody(KindBody):
    """Exact roll-ups of the accepted records by dimensions and panes of event time."""

    name: Literal["cube"]
    dimensions: Annotated[
        list[_Hierarchy],
        Field(max_length=DIMENSIONS_MAX, description="Hierarchies of expressions, each from coarse to fine."),
    ] = Field(default=[])
    measures: Annotated[
        list[Text],
        Field(
            min_length=1,
            max_length=MEASURES_MAX,
            description="Aggregates: count, sum, avg, min or max, with FILTER and AS, as 'sum(delay) AS delay'.",
        ),
    ]
    time: Text = Field(default=DEFAULT_TIME, description="The TIMESTAMP expression of a record.")
    grain_s: Number = Field(
        ge=1,
        le=DAY_HOURS * HOUR_S,
        allow_inf_nan=False,
        description="Seconds of a pane: they divide an hour, or are whole hours that divide 24.",
    )
