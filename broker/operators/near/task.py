"""The function of Spark's Python workers for pairs: it maps the messages of a feed's part to pairs of near objects,
whose conditions are not evaluated yet.
"""

from __future__ import annotations

import pandas as pd
from pyspark import Accumulator

from asc.operators.near.pair_tick import PairEvent
from asc.operators.near.ticks import Ticks
from broker.operators.feed_task import FeedTally, PartFunction, part_task

PAIRS_DDL = (
    "topic STRING, key STRING, value STRING, identity STRING, query STRING, source STRING, kind STRING, "
    "condition STRING, own_a STRING, own_b STRING, other_a STRING, other_b STRING"
)
"""The columns of pairs of near objects, before their conditions are evaluated:
:class:`asc.operators.near.pair_tick.PairEvent`.
"""


def near_task(tallies: Accumulator[FeedTally]) -> PartFunction:
    """Return the function of ``applyInPandasWithState``. A group is a part of the feed, and the state of a group is a
    :class:`Ticks`.
    """
    return part_task(tallies, lambda state: Ticks() if state is None else Ticks.of_bytes(state), _frame)


_NAMES = [field.split()[0] for field in PAIRS_DDL.split(", ")]


def _frame(pairs: list[PairEvent]) -> pd.DataFrame:
    found: pd.DataFrame = pd.DataFrame(map(_row, pairs), columns=_NAMES)
    return found


def _row(pair: PairEvent) -> tuple[str | None, ...]:
    plain = (pair.topic, pair.key, pair.value, pair.identity, pair.query, pair.source, pair.kind, pair.condition)
    return (*plain, *(pair.own or (None, None)), *(pair.other or (None, None)))
