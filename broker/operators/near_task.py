"""What runs in Spark's Python workers for pairs: the messages of a part of a feed in, what is told of pairs out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import pandas as pd
from pyspark import Accumulator

from broker.operators.feed_task import FeedTally
from operators.near import Ticks
from operators.pair_tick import PairEvent

if TYPE_CHECKING:
    from pyspark.sql.streaming.state import GroupState

PAIRS_DDL = (
    "topic STRING, key STRING, value STRING, identity STRING, query STRING, source STRING, kind STRING, "
    "condition STRING, own_a STRING, own_b STRING, other_a STRING, other_b STRING"
)
"""Pairs that may be told: :class:`operators.pair_tick.PairEvent`."""

_ROWS = 10_000
"""Pairs that leave in one piece."""


def near_task(
    tallies: Accumulator[FeedTally],
) -> Callable[[Any, Iterable[pd.DataFrame], GroupState], Iterator[pd.DataFrame]]:
    """The function of ``applyInPandasWithState``: a group is a bucket, its state what its ticks say (bytes)."""

    def told(group: Any, frames: Iterable[pd.DataFrame], state: GroupState) -> Iterator[pd.DataFrame]:
        messages = [message for frame in frames for row in frame["messages"] for message in row]
        ticks = Ticks.of_bytes(bytes(state.get[0])) if state.exists else Ticks()
        pairs = ticks.read(messages)
        while piece := list(islice(pairs, _ROWS)):
            yield pd.DataFrame(map(_row, piece), columns=_NAMES)
        state.update((ticks.to_bytes(),))
        figures = ticks.figures
        tallies.add(FeedTally({int(group[0]): ticks.objects}, figures.observations, figures.left_out))

    return told


_NAMES = [field.split()[0] for field in PAIRS_DDL.split(", ")]


def _row(pair: PairEvent) -> tuple[str | None, ...]:
    plain = (pair.topic, pair.key, pair.value, pair.identity, pair.query, pair.source, pair.kind, pair.condition)
    return (*plain, *(pair.own or (None, None)), *(pair.other or (None, None)))
