"""The body of the operator ``dbscan``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, StrictInt, model_validator
from typing_extensions import Self

from asc.errors import DbscanError
from asc.operators.dbscan.dbscan_query import ATTRIBUTES_MAX, SAMPLE_MAX
from asc.operators.dbscan.definition import (
    COMBINATIONS_MAX,
    COUNT_MAX,
    DEFAULT_SAMPLE,
    DEFAULT_TIME,
    LEAST_S,
    LONGEST_S,
    combinations,
)
from broker.body import Number, Text
from broker.errors import QueryError
from broker.operators.dbscan.definition import StandingDbscan, refusal_of
from broker.operators.kind_body import KindBody

_Radius = Annotated[Number, Field(gt=0, allow_inf_nan=False)]
_Samples = Annotated[StrictInt, Field(ge=1, le=COUNT_MAX)]
_Seconds = Annotated[Number, Field(ge=LEAST_S, le=LONGEST_S, allow_inf_nan=False)]
_Points = Annotated[StrictInt, Field(ge=1, le=COUNT_MAX)]


class DbscanBody(KindBody):
    """Density-based clusters of the points in sliding windows, with ids that last from window to window."""

    examples: ClassVar[tuple[Mapping[str, Any], ...]] = (
        {
            **{"name": "dbscan", "attributes": ["longitude * 0.68", "latitude"], "eps": 0.05, "min_samples": 5},
            **{"window_s": 600, "slide_s": 60},
        },
        {
            **{"name": "dbscan", "position": "ST_Point(longitude, latitude)", "eps": 2000, "min_samples": 10},
            **{"window_points": 5000, "slide_points": 1000, "members": "changes", "key": "icao24", "sample": 0},
        },
    )

    name: Literal["dbscan"]
    attributes: Annotated[
        list[Text] | None,
        Field(
            min_length=1,
            max_length=ATTRIBUTES_MAX,
            description="Numeric expressions: the coordinates of a point. Give them or position.",
        ),
    ] = None
    position: Text | None = Field(
        default=None, description="In place of attributes: a point in degrees, as ST_Point(longitude, latitude)."
    )
    eps: _Radius | Annotated[list[_Radius], Field(min_length=1, max_length=COMBINATIONS_MAX)] = Field(
        description="The radius within which points are neighbours; in metres with position. For POST /v1/queries "
        "and /v1/check a list stands for a query each."
    )
    min_samples: _Samples | Annotated[list[_Samples], Field(min_length=1, max_length=COMBINATIONS_MAX)] = Field(
        description="The least number of neighbours of a core point, itself included. For POST /v1/queries and "
        "/v1/check a list stands for a query each."
    )
    time: Text = Field(default=DEFAULT_TIME, description="The TIMESTAMP expression of a record.")
    window_s: _Seconds | None = Field(
        default=None, description="Seconds of a window; at most 1,000 slides. Give window_s and slide_s, or points."
    )
    slide_s: _Seconds | None = Field(default=None, description="Seconds between the ends of windows.")
    window_points: _Points | None = Field(
        default=None, description="In place of window_s: points of a window; at most 1,000 slides."
    )
    slide_points: _Points | None = Field(
        default=None, description="In place of slide_s: points between the ends of windows."
    )
    members: Literal["none", "changes", "all"] = Field(
        default="none",
        description="The points that are written one by one: none, those whose cluster changed, or all but noise.",
    )
    key: Text | None = Field(default=None, description="An expression that is shown with members.")
    sample: StrictInt = Field(
        default=DEFAULT_SAMPLE,
        ge=0,
        le=SAMPLE_MAX,
        description="The most points in the record of a window, every k-th in order.",
    )

    @model_validator(mode="after")
    def _whole(self) -> Self:
        # Bounds of one field by another: the definition has them.
        try:
            for _, plain in self.combinations("", self.model_dump(exclude={"summary"})):
                StandingDbscan.parse(plain)
        except QueryError as error:
            raise ValueError(str(error)) from None
        return self

    @classmethod
    def combinations(cls, query_id: str, plain: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
        """Return the ids and operators of all combinations of lists of eps and min_samples. Raise QueryError."""
        try:
            return combinations(query_id, plain)
        except DbscanError as error:
            raise refusal_of(error) from None
