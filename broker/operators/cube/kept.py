"""The state of a cube in answers about its query."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from broker.answers.cube import CubeBand, CubeGap, CubeOffsets, CubePartition, CubeShard
from broker.operators.kept_body import KeptBody


class CubeKept(KeptBody):
    """The state of a cube. A list has ``cells``, ``bytes`` and ``whole`` alone."""

    name: Literal["cube"]
    cells: int = Field(description="In all panes.")
    bytes: int = Field(description="Of all panes, as they are stored.")
    whole: bool = Field(description="Whether no record is missing at any time.")
    generation: str = Field(default="", description="The hash of all that the cells depend on.")
    accounting: str = Field(default="", description="The accepted records by what became of them, in one line.")
    accepted: int = 0
    counted: int = 0
    late: int = Field(default=0, description="Among those counted.")
    backfilled: int = Field(default=0, description="By a backfill, among those counted.")
    apart: int = Field(default=0, description="Late ones beside those counted, for a cube that keeps these apart.")
    expired: int = Field(default=0, description="Late ones of panes that are not kept any more.")
    time: int = Field(default=0, description="Excluded for their time.")
    future_timestamp: int = Field(default=0, description="Excluded for a time after that of their record.")
    too_large: int = Field(default=0, description="Excluded for the bytes of their group.")
    panes: int = 0
    open_panes: int = 0
    views: int = Field(default=0, description="Stored beside the base cuboid: pinned and chosen ones.")
    view_cells: int = Field(default=0, description="Of these views, not among the cells.")
    view_bytes: int = Field(default=0, description="Of these views, among the bytes.")
    kept_from: str | None = Field(default=None, description="Panes before it are deleted for their age.")
    bands: list[CubeBand] = Field(default=[], description="Of older panes, finest first.")
    shards: list[CubeShard] = Field(default=[], description="In the order of their leading bits.")
    ageing_problem: str | None = Field(
        default=None, description="Why no pane goes on to a band, and none is deleted for its age."
    )
    time_expression: str = ""
    mark: str | None = None
    watermark: str | None = None
    gaps: list[CubeGap] = Field(default=[])
    parked: str | None = Field(default=None, description="Why it counts no more.")
    coverage: list[CubeOffsets] = Field(default=[], description="The offsets that are folded.")
    partitions: list[CubePartition] = Field(default=[])
    waiting_reason: str = Field(
        default="",
        description="The reason why the next pane is not closed yet, in one sentence that names its condition.",
    )
