"""The rule by which the shards of a cube are split and merged. It reads the load of each shard at successive checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from asc.operators.cube.shards import SHARDS_MOST, Shards

SPLIT_CELLS = 250_000
"""The number of cells in a pane above which a shard is split."""
SPLIT_SHARE = 0.5
"""The share of the time, spent on folding a shard, above which the shard is split."""
_CHECKS = 4
"""The number of successive checks at which a load must be measured before a change, and of checks without change after
it.
"""
_MERGE_PART = 4
"""Two shards are merged if the load of both is below the thresholds divided by this number."""
_NONE: Mapping[int, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class ShardLoad:
    """The load of a shard at a check.

    ``cells``: the number of its cells in one pane. ``share``: the share of the time since the last check in which the
    shard was folded. In a stream without lag, this is also the share of a grain that folding the records of a grain
    takes.
    """

    cells: int = 0
    share: float = 0.0


@dataclass(frozen=True, slots=True)
class ShardRule:
    """A state machine: each check returns the next rule and the next shards.

    ``over``: for each shard, the number of successive checks at which its load was too large. ``under``: for each
    possible parent, the number of successive checks at which the loads of both halves were small. ``rest``: the number
    of checks before another change is allowed. ``lag``: the lag of the stream at the last check, in records; None if it
    was unknown.

    Invariant: if the load of each cell is constant, the number of changes is bounded. A split needs a load of at least
    half a threshold. So one of the halves has at least a quarter, and the halves are not merged again.
    """

    over: Mapping[int, int] = field(default_factory=lambda: _NONE)
    under: Mapping[int, int] = field(default_factory=lambda: _NONE)
    rest: int = 0
    lag: int | None = None

    def after(
        self, shards: Shards, loads: Mapping[int, ShardLoad], lag: int | None, most: int = SHARDS_MOST
    ) -> tuple[ShardRule, Shards]:
        """Return the rule after a check, and the shards, in which at most one shard was split or one pair merged.

        ``loads``: the load of each shard. ``lag``: the number of records that the stream has not read yet; None if it
        is unknown. ``most``: the largest number of shards. If there are more, two are merged at each check that allows
        a change.
        """
        grows = lag is not None and self.lag is not None and lag > self.lag
        over = {number: self.over.get(number, 0) + 1 for number in shards.numbers if _is_over(loads[number], grows)}
        under = {
            parent: self.under.get(parent, 0) + 1
            for parent in shards.parents()
            if not grows and all(_is_under(loads[half]) for half in (2 * parent, 2 * parent + 1))
        }
        if self.rest:
            return ShardRule(over, under, self.rest - 1, lag), shards
        changed = _changed(shards, loads, over, under, most)
        if changed is shards:
            return ShardRule(over, under, 0, lag), shards
        return ShardRule(rest=_CHECKS, lag=lag), changed


def _changed(
    shards: Shards, loads: Mapping[int, ShardLoad], over: Mapping[int, int], under: Mapping[int, int], most: int
) -> Shards:
    """Return the shards after the most urgent change. Return ``shards`` if no change is due."""

    def together(parent: int) -> tuple[int, float]:
        left, right = loads[2 * parent], loads[2 * parent + 1]
        return left.cells + right.cells, left.share + right.share

    if len(shards) > most:
        return shards.merged(min(shards.parents(), key=together))
    due = [number for number, checks in over.items() if checks >= _CHECKS and shards.can_split(number)]
    if due and len(shards) < most:
        return shards.split(max(due, key=lambda number: (loads[number].cells, loads[number].share)))
    idle = [parent for parent, checks in under.items() if checks >= _CHECKS]
    return shards.merged(min(idle, key=together)) if idle else shards


def _is_over(load: ShardLoad, grows: bool) -> bool:
    if load.cells > SPLIT_CELLS or load.share > SPLIT_SHARE:
        return True
    # A growing lag may have other causes, so a shard with a small load is not split because of it.
    return grows and (2 * load.cells >= SPLIT_CELLS or 2 * load.share >= SPLIT_SHARE)


def _is_under(load: ShardLoad) -> bool:
    return _MERGE_PART * load.cells < SPLIT_CELLS and _MERGE_PART * load.share < SPLIT_SHARE
