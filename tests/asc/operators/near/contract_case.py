"""Near queries under the contract of a feed's parts."""

from __future__ import annotations

from dataclasses import replace

from asc.operators.feed import Settings
from asc.operators.near.near_query import NearQuery
from asc.operators.near.ticks import Ticks
from tests.asc.operators.feed_contract import SECOND, Kind

_CLOSE = NearQuery("close", "closes", "t", "ts", ("s",), ("near", "apart"), 1_000.0, 30 * SECOND, 10 * SECOND)
_PAIR = replace(_CLOSE, id="pair", selections=("r", "s"), kinds=("pair",), every_us=15 * SECOND)
_BOTH = Settings("near", "flights", False, 3, (_CLOSE.settings(), _PAIR.settings()))
_OTHER = replace(_BOTH, queries=(replace(_CLOSE, selections=("r",), window_us=5 * SECOND).settings(),))
_NUMBERED = replace(_BOTH, queries=(_CLOSE.settings(),), lateness_us=10 * SECOND)
_HELD_MOST = _BOTH.limit * len(_BOTH.queries)

KIND = Kind("near", Ticks, Ticks.of_bytes, (_BOTH, _OTHER, replace(_BOTH, queries=())), _HELD_MOST, _NUMBERED)
