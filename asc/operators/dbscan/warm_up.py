"""Warm-up of a process: the loops of DBSCAN are compiled, or loaded from a cache, before the first window."""

from __future__ import annotations

from asc.operators.dbscan.clusters import Clusters
from asc.operators.dbscan.dbscan_query import OP, DbscanQuery
from asc.operators.feed import Message, Observation, Settings, Watermarks

_POINTS = 100
"""The number of made-up points at one position. The points have so many neighbours that clusters are computed by cells
instead of pairs.
"""


def warm_up() -> int:
    """Compute some windows of made-up points, by pairs of neighbours and by cells, so that all loops are compiled.
    Return the number of output records.

    The first call on a machine costs seconds, a later call a fraction of a second.
    """
    queries, messages = [], list[Message]()
    for track, is_position in (("plain", False), ("position", True)):
        for number, eps in enumerate((1.0, 1.1, 1.2, 1e-6, 1e-6)):
            names = (f"{track}{number}", "", track, "", ("s",))
            windows = (number != 4, 20, 10)
            queries.append(DbscanQuery(*names, 2, is_position, eps, number + 1, *windows, "changes"))
        for offset in range(_POINTS):
            spread = offset % 7 * 1e-7
            messages.append(Observation(OP, track, None, offset // 3, (spread, 2 * spread), 0, offset, ("s",)))
    settings = Settings(OP, "", False, 10 * _POINTS, tuple(query.settings() for query in queries))
    # The first watermark settles few points, so that the kernels that use their stored pairs are compiled too.
    watermarks = [Watermarks({"": time_us}) for time_us in (10, 25, _POINTS)]
    return sum(1 for _ in Clusters().outputs([settings, *messages, *watermarks]))
