"""The rule by which the shards of a cube are split and merged, from the load of each shard at successive checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from asc.operators.cube.shards import SHARDS_MOST, Shards

SPLIT_CELLS = 250_000
"""The cells in a pane above which a shard is too large."""
SPLIT_SHARE = 0.5
"""The share of the time above which the folding of a shard takes too long."""
_CHECKS = 4
"""The checks in a row that a load lasts before a change, and the checks that pass after a change without another."""
_MERGE_PART = 4
"""The part of the thresholds below which two shards are merged."""
_NONE: Mapping[int, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class ShardLoad:
    """The load of a shard at a check.

    ``cells``: its cells in one pane. ``share``: the part of the time since the last check in which it was folded. In a
    stream that keeps up, this is also the part of a grain in which the records of a grain are folded.
    """

    cells: int = 0
    share: float = 0.0


@dataclass(frozen=True, slots=True)
class ShardRule:
    """A state machine: each check gives the next rule and the next shards.

    ``over``: by shard, the checks in a row in which its load was too large. ``under``: by the shard that two shards
    would become, the checks in a row in which both loads were small. ``rest``: the checks that pass before another
    change. ``lag``: the lag at the last check, None if it was unknown.

    Invariant: under a constant load of each cell, the number of changes is bounded. A split needs a load of at least
    half a threshold, so one of the halves has a quarter or more, and the two halves are not merged again.
    """

    over: Mapping[int, int] = field(default_factory=lambda: _NONE)
    under: Mapping[int, int] = field(default_factory=lambda: _NONE)
    rest: int = 0
    lag: int | None = None

    def after(
        self, shards: Shards, loads: Mapping[int, ShardLoad], lag: int | None, most: int = SHARDS_MOST
    ) -> tuple[ShardRule, Shards]:
        """Return the rule after a check, and the shards, of which at most one pair has changed.

        ``loads``: by shard. ``lag``: the records that the stream has not read yet; None if it is unknown. ``most``: the
        most shards. If there are more, two are merged at each check outside of a rest.
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
    """Return the shards after the change that is most urgent. Return ``shards`` themselves if none is due."""

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
    # Growing lag may have other causes, for which a small shard would be split in vain.
    return grows and (2 * load.cells >= SPLIT_CELLS or 2 * load.share >= SPLIT_SHARE)


def _is_under(load: ShardLoad) -> bool:
    return _MERGE_PART * load.cells < SPLIT_CELLS and _MERGE_PART * load.share < SPLIT_SHARE
