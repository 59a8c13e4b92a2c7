"""Event queries under the contract of a feed's parts."""

from __future__ import annotations

from dataclasses import replace

from asc.operators.events.bucket import Bucket
from asc.operators.events.event_query import KINDS, EventQuery
from asc.operators.feed import Settings
from tests.asc.operators.feed_contract import SECOND, Kind

_OVER = EventQuery("over", "overs", "t", "ts", ("s",), KINDS, 0, 300 * SECOND)
_SLOW = EventQuery("slow", "slows", "t", "ts", ("r", "s"), KINDS, 30 * SECOND, 60 * SECOND)
_BOTH = Settings("events", "flights", False, 3, (_OVER.settings(), _SLOW.settings()))
_OTHER = replace(_BOTH, queries=(replace(_OVER, selections=("r",)).settings(),))
_NUMBERED = replace(_BOTH, queries=(_OVER.settings(),), lateness_us=10 * SECOND)

KIND = Kind("events", Bucket, Bucket.of_bytes, (_BOTH, _OTHER, replace(_BOTH, queries=())), _BOTH.limit, _NUMBERED)
