"""The body of the operator ``cube``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, StrictInt, model_validator
from typing_extensions import Self

from asc.operators.cube.budget import CHOSEN_CELLS_MAX, CHOSEN_VIEWS_MAX, DEFAULT_CELLS
from asc.operators.cube.definition import DAY_HOURS, DEFAULT_TIME, DIMENSIONS_MAX, HOUR_S, MEASURES_MAX
from asc.operators.cube.keep import BANDS_MAX
from asc.operators.cube.optimiser import DEFAULT_VIEWS
from asc.operators.cube.output import OUTPUTS_MAX
from asc.operators.cube.pins import PINS_MAX
from broker.body import Body, Number, Text
from broker.operators.kind_body import KindBody

_Hierarchy = Annotated[list[Text], Field(min_length=1)]


class PinnedView(Body):
    """A cuboid with panes of its length."""

    by: list[Text] = Field(default=[], description="The dimensions of the cuboid; none for all records together.")
    grain_s: Number = Field(
        ge=1, le=DAY_HOURS * HOUR_S, allow_inf_nan=False, description="Seconds of its panes: a multiple of the grain."
    )


class CubeBody(KindBody):
    """Exact roll-ups of the accepted records by dimensions and panes of event time."""

    examples: ClassVar[tuple[Mapping[str, Any], ...]] = (
        {"name": "cube", "measures": ["count(*)"], "grain_s": 3600},
        {
            **{"name": "cube", "dimensions": [["origin", "dest"], ["carrier"]], "time": "time_hour", "grain_s": 3600},
            "measures": ["count(*) AS flights", "avg(arr_delay) FILTER (WHERE arr_delay > 0) AS `late`"],
        },
    )

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
            description="Aggregates: count, sum, avg, min, max, var_*, stddev_*, covar_*, corr, regr_*, stats, "
            "quantiles or distinct, with FILTER and AS, as 'sum(delay) AS delay'.",
        ),
    ]
    time: Text = Field(default=DEFAULT_TIME, description="The TIMESTAMP expression of a record.")
    grain_s: Number = Field(
        ge=1,
        le=DAY_HOURS * HOUR_S,
        allow_inf_nan=False,
        description="Seconds of a pane: they divide an hour, or are whole hours that divide 24.",
    )
    output: Annotated[
        list[list[Text]],
        Field(
            max_length=OUTPUTS_MAX,
            description="Cuboids whose groups are written to the topic for each window; needs window_s and slide_s.",
        ),
    ] = Field(default=[])
    window_s: Number | None = Field(
        default=None, ge=1, allow_inf_nan=False, description="Seconds of a window: a multiple of the grain."
    )
    slide_s: Number | None = Field(
        default=None,
        ge=1,
        allow_inf_nan=False,
        description="Seconds between the ends of windows: a multiple of the grain, at most window_s.",
    )
    emit: Literal["all", "changes"] = Field(
        default="all",
        description="Whether a window has all its groups, or those with other measures than before.",
    )
    late: Literal["merge", "apart"] = Field(
        default="merge",
        description="Whether records of panes that are closed already join these, or stay apart, for questions alone.",
    )

    materialise: Annotated[
        list[list[Text] | PinnedView],
        Field(max_length=PINS_MAX, description="Views that are stored beside the base cuboid, for fast answers."),
    ] = Field(default=[])
    keep: Annotated[
        list[Text],
        Field(
            max_length=BANDS_MAX,
            description="Bands of ages, as ['1h:30d', '1d:2y origin:1']: grain and levels that older panes keep.",
        ),
    ] = Field(default=[])
    cuboids: StrictInt = Field(
        default=DEFAULT_VIEWS,
        ge=0,
        le=CHOSEN_VIEWS_MAX,
        description="The most views that are stored beside the base cuboid, pinned ones among them; 0: none by choice.",
    )
    cells: StrictInt = Field(
        default=DEFAULT_CELLS,
        ge=0,
        le=CHOSEN_CELLS_MAX,
        description="The most cells of these views together; 0: none by choice.",
    )
    begin: Annotated[
        Literal["now", "earliest"],
        Field(
            alias="from",
            description="Whether it counts records from now on, or all that the topic still has, by a backfill.",
        ),
    ] = "now"

    @model_validator(mode="after")
    def _whole_output(self) -> Self:
        has_windows = (self.window_s is not None, self.slide_s is not None)
        if has_windows != (bool(self.output),) * 2 or (self.emit != "all" and not self.output):
            raise ValueError("give output, window_s and slide_s, or none of them: windows need all three")
        return self

    @model_validator(mode="after")
    def _pins_no_base_view(self) -> Self:
        if not self.dimensions and [] in self.materialise:
            raise ValueError("materialise has the base view, which every cube stores: leave it out")
        return self
