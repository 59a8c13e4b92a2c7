"""The sizes of the DBSCAN benchmark: full sizes, and quick sizes whose times are not meaningful."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RatioSize:
    """The size of part ``ratios``. ``share``: the factor, at most 1, by which the lengths of windows are multiplied.
    ``queries``: the number of queries of a row. ``peer_queries``: the number of queries that a peer runs. ``runs``: the
    number of timed runs. ``slides``: the number of slides before a late slide.

    ``is_quick``: true if the run is a quick test, whose times are not meaningful.
    """

    share: float
    queries: int
    peer_queries: int
    runs: int
    slides: int
    is_quick: bool = False


@dataclass(frozen=True, slots=True)
class PaperSize:
    """The size of the paper's experiments.

    ``points``: the number of points of a stream. ``incremental_points``: the number of points that incdbscan processes.
    ``groups``: the number of groups of queries. ``runs``: the number of timed runs. ``share``: the factor, at most 1,
    by which the lengths of windows are multiplied. ``counts`` and ``scales``: the numbers of queries of the general
    case and of the scaling case. ``most_queries``: the largest number of queries that Extra-N runs without
    extrapolation.
    """

    points: int
    incremental_points: int
    groups: int
    runs: int
    share: float
    counts: tuple[int, ...]
    scales: tuple[int, ...]
    most_queries: int
    is_quick: bool = False


RATIOS, QUICK_RATIOS = RatioSize(1.0, 1_000, 20, 5, 1_000), RatioSize(0.06, 40, 5, 1, 40, is_quick=True)
PAPER = PaperSize(15_000, 7_500, 6, 5, 1.0, (20, 40, 60), (10, 100, 1_000), 100)
QUICK_PAPER = PaperSize(1_000, 600, 1, 1, 0.1, (20, 40, 60), (10, 20), 10, is_quick=True)


@dataclass(frozen=True, slots=True)
class ServedSize:
    """The size of part ``served``. ``routed``: the number of routed records. ``records``: the number of records whose
    windows are timed. ``batch``: the number of records of a batch. ``queries``: the number of DBSCAN queries.
    ``rounds``: the number of rounds. ``share``: the factor, at most 1, by which the lengths of windows are multiplied.
    """

    routed: int
    records: int
    batch: int
    queries: int
    rounds: int
    share: float
    is_quick: bool = False


SERVED = ServedSize(1_000_000, 200_000, 20_000, 1_000, 3, 1.0)
QUICK_SERVED = ServedSize(60_000, 3_000, 1_000, 3, 1, 0.1, is_quick=True)
