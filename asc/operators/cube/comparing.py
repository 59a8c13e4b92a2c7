"""Comparison of the groups of two windows, or of one window before and after late records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from asc.operators.cube.cells import Cells, joined, merged
from asc.operators.cube.grouping import Grouping, pane_digit
from asc.operators.cube.json_values import plain_values
from asc.operators.cube.keys import Key
from asc.operators.cube.layout import Layout

_Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Matched:
    """The result of comparing the groups of two sets of cells. All fields are ascending indices of groups.

    ``before`` and ``after``: the groups that are in both sets, in the same order, as indices in the first and the
    second set. ``gone``: the groups that are only in the first set. ``new``: the groups that are only in the second
    set.
    """

    before: _Ints
    after: _Ints
    gone: _Ints
    new: _Ints


def rolled_up(layout: Layout, parts: Sequence[Cells], columns: Sequence[int], *, by_pane: bool = False) -> Cells:
    """Return cells with only the keys at the indices ``columns``, merged in the order of the parts. With ``by_pane``,
    each pane is merged separately; otherwise all panes are combined.
    """
    own = [part.rolled_up(columns) for part in parts]
    return merged(layout, own or [Cells.none(layout).rolled_up(columns)], by_pane=by_pane)


def matched(layout: Layout, before: Cells, after: Cells, *, by_pane: bool = False) -> Matched:
    """Return which groups are in both of two sets of cells, and which groups are in only one set. Each group has one
    cell in a set; with ``by_pane``, a group in one pane is matched only in the same pane.
    """
    if not before.count or not after.count:
        none = np.zeros(0, dtype=np.int64)
        return Matched(none, none, np.arange(before.count), np.arange(after.count))
    groups, count = _groups(layout, [before, after], by_pane=by_pane)
    own, other = groups[: before.count], groups[before.count :]
    places = np.full(count, -1, dtype=np.int64)
    places[own] = np.arange(before.count)
    former = places[other]
    in_both = np.flatnonzero(former >= 0)
    is_gone = np.ones(before.count, dtype=np.bool_)
    is_gone[former[in_both]] = False
    return Matched(former[in_both], in_both, np.flatnonzero(is_gone), np.flatnonzero(former < 0))


def is_within(layout: Layout, cells: Cells, groups: Cells, *, by_pane: bool = False) -> npt.NDArray[np.bool_]:
    """Return bool[cells]: whether the group of each cell is among ``groups``. With ``by_pane``, the group must be there
    in the same pane.
    """
    if not cells.count or not groups.count:
        return np.zeros(cells.count, dtype=np.bool_)
    own, count = _groups(layout, [groups, cells], by_pane=by_pane)
    is_wanted = np.zeros(count, dtype=np.bool_)
    is_wanted[own[: groups.count]] = True
    return is_wanted[own[groups.count :]]


def changed(layout: Layout, before: Cells, after: Cells) -> _Ints:
    """Return the indices in ``after`` of the groups that are new, or whose measures differ from ``before``."""
    groups = matched(layout, before, after)
    if not len(groups.after):
        return groups.new
    own = _states(before, groups.before), _states(after, groups.after)
    differs = np.zeros(len(groups.after), dtype=np.bool_)
    for measure in layout.measures:
        former, now = (measure.of(states) for states in own)
        differs |= _differs(former, now)
    return np.sort(np.concatenate((groups.after[differs], groups.new)))


def _differs(former: pa.Array, now: pa.Array) -> npt.NDArray[np.bool_]:
    """Return for each pair of answers whether they differ. NaN equals NaN."""
    if pa.types.is_nested(now.type):
        pairs = zip(plain_values(former), plain_values(now), strict=True)
        return np.fromiter((before != after for before, after in pairs), dtype=np.bool_, count=len(now))
    codes = Key.of(pa.concat_arrays([former, now])).codes
    differs: npt.NDArray[np.bool_] = codes[: len(former)] != codes[len(former) :]
    return differs


def _states(cells: Cells, places: _Ints) -> tuple[pa.Array, ...]:
    own = pa.array(places)
    return tuple(state.take(own) for state in cells.states)


def _groups(layout: Layout, parts: Sequence[Cells], *, by_pane: bool) -> tuple[npt.NDArray[np.int32], int]:
    """Return the group number of each cell of some non-empty parts, and the number of groups."""
    whole = joined(layout, parts)
    digits = [(key.codes, key.radix) for key in whole.keys]
    grouping = Grouping.of([pane_digit(whole.panes), *digits] if by_pane else digits, whole.count)
    return grouping.cells, grouping.count
