"""DBSCAN queries under the contract of a feed's parts."""

from __future__ import annotations

from dataclasses import replace

from asc.operators.dbscan.clusters import Clusters
from asc.operators.dbscan.dbscan_query import DbscanQuery
from asc.operators.feed import Settings
from tests.asc.operators.feed_contract import SECOND, Kind

_WINDOWS = (True, 30 * SECOND, 10 * SECOND)
_CROWDS = DbscanQuery("crowds", "crowds", "t", "ts", ("s",), 2, False, 0.01, 2, *_WINDOWS, "changes", 3, 10 * SECOND)
_DENSE = replace(_CROWDS, id="dense", selections=("r", "s"), min_samples=1, slide=15 * SECOND, members="none")
_BOTH = Settings("dbscan", "flights", False, 3, (_CROWDS.settings(), _DENSE.settings()))
_CHANGED = (replace(_CROWDS, eps=0.02).settings(), replace(_DENSE, window=60 * SECOND).settings())
_COUNTED = replace(_CROWDS, id="counted", is_timed=False, window=2, slide=1)
_SINCE = tuple(replace(query, since=7).settings() for query in (_CROWDS, _COUNTED))
_HELD_MOST = 3 * _BOTH.limit + 1
"""Three windows, and an eighth until the next watermark."""

KIND = Kind(
    *("dbscan", Clusters, Clusters.of_bytes),
    (_BOTH, replace(_BOTH, queries=_CHANGED), replace(_BOTH, queries=())),
    _HELD_MOST,
    replace(_BOTH, queries=_SINCE, lateness_us=10 * SECOND),
)
