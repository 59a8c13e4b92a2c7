"""Sizes of the DBSCAN benchmark: full ones, and quick ones whose times are not meaningful."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RatioSize:
    """A share of the windows, queries of a row, queries that slow peers take, timed runs, and the slides of a long run.

    ``is_quick``: nothing is measured.
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

    It has the points of a stream, those that incdbscan takes, groups of queries, timed runs, and a share of the
    windows. It also has the numbers of queries of the general case and of the one that scales, and the most queries
    that are run and not extrapolated.
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
    """Records of the backlog and of a batch, queries, rounds, and a share of the windows."""

    records: int
    batch: int
    queries: int
    rounds: int
    share: float
    is_quick: bool = False


SERVED = ServedSize(400_000, 20_000, 1_000, 3, 1.0)
QUICK_SERVED = ServedSize(3_000, 1_000, 3, 1, 0.1, is_quick=True)
