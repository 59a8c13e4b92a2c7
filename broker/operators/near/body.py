"""The body of the operator ``near``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from broker.body import Number, Text
from broker.operators.kind_body import KindBody
from broker.operators.near.definition import (
    DEFAULT_POSITION,
    DEFAULT_TIME,
    EVERY_LEAST_S,
    HALF_EARTH_M,
    LONGEST_S,
    WINDOW_LEAST_S,
)

_LEAST = {"name": "near", "key": "icao24", "distance_m": 9260, "window_s": 30, "every_s": 10}


class NearBody(KindBody):
    """Pairs of objects that are within a distance of each other, at each tick or as changes."""

    examples: ClassVar[tuple[Mapping[str, Any], ...]] = (
        _LEAST,
        {**_LEAST, "time": "ts", "on": "abs(a.altitude - b.altitude) < 1000", "events": ["near", "apart"]},
    )

    name: Literal["near"]
    key: Text = Field(description="The expression that identifies an object.")
    distance_m: Number = Field(
        ge=0, le=HALF_EARTH_M, allow_inf_nan=False, description="The largest distance of a pair, in metres."
    )
    window_s: Number = Field(
        ge=WINDOW_LEAST_S,
        le=LONGEST_S,
        allow_inf_nan=False,
        description="Seconds for which a position holds; at most 100 times every_s.",
    )
    every_s: Number = Field(
        ge=EVERY_LEAST_S, le=LONGEST_S, allow_inf_nan=False, description="Seconds from one tick to the next."
    )
    time: Text = Field(default=DEFAULT_TIME, description="The TIMESTAMP expression of an observation.")
    position: Text = Field(default=DEFAULT_POSITION, description="The position, as ST_Point(longitude, latitude).")
    on: Text | None = Field(default=None, description="A predicate over both objects, a and b.")
    events: Annotated[
        list[Literal["pair", "near", "apart"]],
        Field(min_length=1, description="pair alone: each pair at each tick; near, apart: the changes."),
    ] = Field(default=["pair"])
