"""The API's answers about cubes."""

from __future__ import annotations

from typing import Literal, TypeAlias

from typing_extensions import NotRequired, TypeAliasType, TypedDict

CubeGap = TypedDict("CubeGap", {"from": str | None, "to": str | None, "reason": str})
"""An interval of event time in which records may be missing, and the reason. A bound of null means that there is no
bound.
"""


CubeOffsets = TypedDict("CubeOffsets", {"topic_id": str, "partition": int, "from": int, "to": int})
"""A range of offsets of a partition: ``from`` is the first offset, ``to`` the offset after the last."""


CubeBackfillOffsets = TypedDict(
    "CubeBackfillOffsets", {"partition": int, "from": int, "to": int, "folded": int, "expired": int}
)
"""The progress of the backfill of a cube in a partition. ``from``: the first offset of the partition. ``to``: the
offset after the last one that a backfill may read. ``folded``: the number of these offsets that the cube contains.
``expired``: the number of these offsets that the topic no longer has.
"""


class CubeBackfillProgress(TypedDict):
    """The progress of the backfill of a cube.

    ``phase``: ``done`` if no offset is left to read. Otherwise ``off`` if neither the cube's definition nor a request
    asked for a backfill, ``running`` if one of them did, and ``stopped`` if the requested backfill does not continue.
    ``problem``: the reason why the backfill does not continue, or why its last batch is tried again. ``offsets``: of
    the current topic, up to the live batches. ``left``: the number of offsets that are still to be read.
    ``backfilled``: the number of counted records. ``whole``: whether the cube has no gap. ``whole_from``: the time from
    which on the cube lacks no record: the end of the last gap, or the begin of the first pane. It is null if a gap has
    no end.
    """

    id: str
    phase: Literal["off", "running", "done", "stopped"]
    problem: str | None
    topic_id: str
    offsets: list[CubeBackfillOffsets]
    left: int
    backfilled: int
    whole: bool
    whole_from: str | None
    gaps: list[CubeGap]


class CubeShard(TypedDict):
    """A shard of a cube: the cells whose place begins with its bits; ``all`` if there is one shard.

    ``cells``, ``bytes``: of the pieces of exactly this shard, without views and bands. ``pane_cells`` and
    ``folding_share``: its load at the last check, null before the first one. They are its cells in one pane, and the
    part of the time between two checks in which it was folded.
    """

    shard: str
    cells: int
    bytes: int
    pane_cells: int | None
    folding_share: float | None


class CubeBand(TypedDict):
    """A band of older panes of a cube, with the view that it keeps. ``to``: the end of its last pane; null if it has
    none.
    """

    view: str
    cells: int
    bytes: int
    to: str | None


class CubePartition(TypedDict):
    """The progress of a partition in event time: its newest time, and its state in the last batch."""

    partition: int
    newest: str | None
    progress: Literal["read", "silent", "waits", "untimed"]


CubeValue: TypeAlias = str | int | float | bool | None
"""The value of a dimension or of a measure. Decimals, dates, timestamps, NaN and infinities are texts."""

CubeNested = TypeAliasType("CubeNested", "CubeValue | list[CubeNested] | dict[str, CubeNested]")
"""A field of a row. An answer with bounds has ``estimate``, ``low``, ``high`` and ``confidence``."""

NextQuestion = TypedDict(
    "NextQuestion",
    {
        "by": list[str],
        "where": NotRequired[str],
        "from": NotRequired[str],
        "to": NotRequired[str],
        "grain_s": NotRequired[int],
        "grain": NotRequired[Literal["1d", "1M"]],
        "hours": NotRequired[str],
        "live": NotRequired[bool],
        "late": NotRequired[bool],
        "measures": NotRequired[list[str]],
    },
)
"""A question that is one level coarser or finer than the answered question, as the body of the next request."""


class CubeSource(TypedDict):
    """The cells from which an answer was computed: their cuboid, the length and number of their panes, and their
    number.
    """

    cuboid: list[str]
    grain_s: int | None
    panes: int
    cells: int


class CubeView(TypedDict):
    """A view of the lattice of a cube: a cuboid, and the seconds of its panes."""

    cuboid: list[str]
    grain_s: int


class CubeLatticeView(TypedDict):
    """A view of the lattice of a cube, with its size and its use.

    ``role``: ``base``, ``band``, ``pinned``, ``chosen``, or ``none`` for a view that is not stored. ``cells`` and
    ``bytes`` of a view that is not stored are estimates. ``asked_an_hour``: the number of questions per hour that need
    the view. ``complete_to``: the end of its last complete pane; null if it has none. ``answered_from``: the stored
    view from which questions for it are answered; null for a band.
    """

    cuboid: list[str]
    grain_s: int
    role: Literal["base", "band", "pinned", "chosen", "none"]
    cells: int
    bytes: int
    is_estimated: bool
    asked_an_hour: float
    complete_to: str | None
    answered_from: CubeView | None


class CubeLattice(TypedDict):
    """The lattice of a cube: all stored views, and at most 100 others. ``count``: the number of all views."""

    id: str
    commit: int
    views: list[CubeLatticeView]
    count: int


class CubeViewChange(TypedDict):
    """A view that the optimiser adds or removes. ``saved_cells_an_hour``: the cells that the change saves, negative if
    it costs more.
    """

    view: str
    change: Literal["add", "remove"]
    cells: int
    saved_cells_an_hour: int


class CubeBinErrors(TypedDict):
    """The errors of bins, if each value is replaced by the mean of its bin.

    ``rmse``: in the unit of the values. ``nrmse``: as a share of the range of the sample. ``rmse_sd``: in standard
    deviations. An error is null if its unit is not known.
    """

    rmse: float | None
    nrmse: float | None
    rmse_sd: float | None


class CubeBinSample(TypedDict):
    """The sample that decided the edges of bins: its finite values, their range, and the errors over them."""

    values: int
    least: float
    greatest: float
    errors: CubeBinErrors


class CubeBin(TypedDict):
    """A bin with counted records: its lower edge, which is its key in answers, and the number of its values."""

    low: float | str
    values: int


class CubeBinCounts(TypedDict):
    """The counted values of bins. ``values``: the finite ones, without those of bins that also have NaN or infinities,
    which ``not_finite`` counts. ``errors``: over the former; null if there are none.
    """

    values: int
    not_finite: int
    errors: CubeBinErrors | None
    bins: list[CubeBin]


class CubeBinDimension(TypedDict):
    """The bins of a cube's dimension. ``sample``: null if a user gave the edges. ``counted``: null for the ``reason``
    that is given, as when older panes have coarser levels.
    """

    name: str
    calibrated: str
    dimension: str
    levels: list[str]
    edges: list[float]
    sample: CubeBinSample | None
    counted: CubeBinCounts | None
    reason: str | None


class CubeBins(TypedDict):
    """The bins of a cube, in the order of its dimensions."""

    id: str
    bins: list[CubeBinDimension]


class CubeNewBins(TypedDict):
    """New edges of a cube's dimension, beside those that they replace."""

    name: str
    calibrated: str
    dimension: str
    levels: list[str]
    edges: list[float]
    former_edges: list[float]
    sample: CubeBinSample | None


class CubeRebinned(TypedDict):
    """The effect of new edges. ``applied``: whether they are in force. ``bins``: those whose edges differ; without any,
    nothing changes. ``deleted_cells``, ``deleted_panes``: of the former cube. ``lines``: the effect as text.
    """

    id: str
    applied: bool
    bins: list[CubeNewBins]
    deleted_cells: int
    deleted_panes: int
    lines: list[str]


class CubeOptimised(TypedDict):
    """The plan of the optimiser. ``applied``: whether the changes are in force. ``lines``: the plan as text.

    ``cells_an_hour``, ``best_cells_an_hour``: the cells that are read and merged in an hour with the stored views, and
    with the best ones that were found.
    """

    id: str
    applied: bool
    changes: list[CubeViewChange]
    cells_an_hour: int
    best_cells_an_hour: int
    lines: list[str]


class LookupAttribute(TypedDict):
    """An attribute of a look-up, and its type in Spark SQL."""

    name: str
    type: str


class CubeLookup(TypedDict):
    """A look-up of cubes. ``key``: the dimension whose values are its keys. ``rows``: the number of keys.

    ``version``: a number that grows with each change of the table. ``written``: the time of the last change.
    """

    name: str
    topic: str
    key: str
    attributes: list[LookupAttribute]
    rows: int
    bytes: int
    version: int
    written: str


class CubeLookups(TypedDict):
    """The look-ups of cubes, by name."""

    lookups: list[CubeLookup]


class LookupRemoved(TypedDict):
    """The name of a look-up that was removed."""

    removed: str


class CubeAnswer(TypedDict):
    """The answer to a question, computed from the cube after one commit.

    ``rows``: each row has its ``group``, and the measures by their names. If the question has a grain, a row also has
    the begin of its interval as ``pane``. A row of a day or month has begin and end as ``window`` too. ``groups``: the
    number of groups without the limit. ``overflows``: the number of sums that are null because they have over 38
    digits. ``whole``: whether no record of the interval is missing; if records are missing, ``gaps`` says where.
    ``open_panes``: the number of open panes in the interval, which only a live answer includes. ``cursor``: the cursor
    for the rows after these. ``roll_up``, ``drill_down``: the questions that are one level coarser or finer.
    """

    interval: list[str] | None
    watermark: str | None
    whole: bool
    gaps: list[CubeGap]
    commit: int
    open_panes: int
    answered_by: list[CubeSource]
    groups: int
    overflows: int
    rows: list[dict[str, CubeNested]]
    roll_up: list[NextQuestion]
    drill_down: list[NextQuestion]
    cursor: str | None
