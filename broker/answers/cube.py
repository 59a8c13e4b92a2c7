"""The API's answers of cubes."""

from __future__ import annotations

from typing import Literal, TypeAlias

from typing_extensions import NotRequired, TypedDict

CubeGap = TypedDict("CubeGap", {"from": str | None, "to": str | None, "reason": str})
"""An interval of event time in which records may be missing, and why; null for no bound."""


CubeOffsets = TypedDict("CubeOffsets", {"topic_id": str, "partition": int, "from": int, "to": int})
"""Offsets of a partition, from the first to before the last."""


class CubePartition(TypedDict):
    """A partition in event time: its newest time, and what the last batch had of it."""

    partition: int
    newest: str | None
    progress: Literal["read", "silent", "waits", "untimed"]


CubeValue: TypeAlias = str | int | float | bool | None
"""A value of a dimension, or a measure; decimals, dates and timestamps are texts, as are NaN and infinities."""

NextQuestion = TypedDict(
    "NextQuestion",
    {
        "by": list[str],
        "where": NotRequired[str],
        "from": NotRequired[str],
        "to": NotRequired[str],
        "grain_s": NotRequired[int],
        "live": NotRequired[bool],
        "late": NotRequired[bool],
        "measures": NotRequired[list[str]],
    },
)
"""A question beside another one, as a body to post."""


class CubeSource(TypedDict):
    """The cells that an answer was made of."""

    cuboid: list[str]
    grain_s: int | None
    panes: int
    cells: int


class CubeAnswer(TypedDict):
    """The rows of an answer, from one commit.

    ``rows``: each with its ``group``, and the measures by their names; with a grain also the begin of its interval as
    ``pane``. ``groups``: their number without the limit.
    ``overflows``: sums that are null for over 38 digits. ``whole``: whether no record of the interval is missing, else
    ``gaps`` says where. ``cursor``: asks for the rows after these. ``roll_up``, ``drill_down``: questions beside this.
    """

    interval: list[str] | None
    watermark: str | None
    whole: bool
    gaps: list[CubeGap]
    commit: int
    answered_by: list[CubeSource]
    groups: int
    overflows: int
    rows: list[dict[str, CubeValue | dict[str, CubeValue]]]
    roll_up: list[NextQuestion]
    drill_down: list[NextQuestion]
    cursor: str | None
