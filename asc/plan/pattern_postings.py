"""Pattern postings of a block: the conjuncts that LIKE patterns constrain, by pattern. They give the conjuncts with
which the evaluation of a tuple begins.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from asc.frozen import OfArrays, frozen
from asc.keys.grid import KEY_MAX, KEY_MIN
from asc.plan.conjuncts import ConjunctTable
from asc.plan.construct import Words

Integers = npt.NDArray[np.int32]

SET, CLEAR = -1, -2
"""The entries of ``more`` in :class:`PatternPostings` for a conjunct that depends on one pattern only. If a value
matches the pattern, SET sets the conjunct's bit, and CLEAR clears it.
"""


@dataclass(frozen=True, slots=True, eq=False)
class PatternPostings(OfArrays):
    """The conjuncts of a block that LIKE patterns constrain, by pattern (``asc.keys.patterns``).

    A value matches a set of patterns, which is not a region. So the constructs hold these conjuncts only for NULL. Each
    tuple starts with a separate GRB: the block's ``live`` ANDed with a copy of ``base`` for each of the ``slots``. In
    that copy the matching patterns have set or cleared the bits of their postings. ``base`` uint64[slots, words]: the
    conjuncts that admit a value that matches no pattern. ``labels`` int32[m]: the patterns, ascending in a slot; slot i
    has ``first_label[i]`` to ``first_label[i + 1]``. ``bits`` int32: the conjuncts of each pattern, from ``first_bit``.
    ``more``, for each of these: SET, CLEAR, or the number of a list ``others[first_other[i]:first_other[i + 1]]`` of
    patterns that must match as well.

    Invariant: the postings are equivalent to the table's constraints on these slots, for values that are not NULL. A
    conjunct that requires several patterns of a slot is posted under the pattern that the fewest conjuncts require.
    Cost: 12 bytes a posting, 8 a pattern. The initial bitmap of a tuple that matches a pattern of the block takes as
    long as the evaluation of two constructs.
    """

    slots: Integers
    base: Words
    first_label: Integers
    labels: Integers
    first_bit: Integers
    bits: Integers
    more: Integers
    first_other: Integers
    others: Integers

    @staticmethod
    def of(table: ConjunctTable, slots: Integers, words: int) -> PatternPostings:
        """Return the pattern postings of the conjuncts of a table. ``slots``: the p-attributes that are matched with
        patterns, ascending. ``words``: the number of words of a row of the block.
        """
        wide = table.wide()
        own = np.flatnonzero(np.isin(wide.slots, slots))
        place = np.searchsorted(slots, wide.slots[own])
        conjunct, low, high = wide.conjuncts[own], wide.low[own], wide.high[own]
        asks, forbids = low == high, (low == KEY_MIN) & (high != KEY_MAX)
        base = np.ones((len(slots), words * 64), dtype=np.bool_)
        not_at_first = asks | (low > high)
        base[place[not_at_first], conjunct[not_at_first]] = False
        # Of the patterns that a conjunct requires, it is listed by the pattern that the fewest conjuncts require.
        pattern = place.astype(np.int64) << 32 | np.where(low > high, 0, high & 0xFFFFFFFF)
        _, number, users = np.unique(pattern, return_inverse=True, return_counts=True)
        group = place.astype(np.int64) << 32 | conjunct
        # A conjunct that requires NULL matches no value, so a pattern that it also requires needs no posting.
        asked = np.flatnonzero(asks & ~np.isin(group, group[low > high]))
        group = group[asked]
        order = np.lexsort((users[number[asked]], group))
        asked, group = asked[order], group[order]
        is_first = np.diff(group, prepend=-1) != 0
        sizes = np.diff(np.append(np.flatnonzero(is_first), len(group)))
        lists = np.cumsum(sizes > 1) - 1
        posted = np.concatenate([asked[is_first], np.flatnonzero(forbids)])
        more = np.concatenate([np.where(sizes > 1, lists, SET), np.full(int(forbids.sum()), CLEAR)])
        order = np.argsort(pattern[posted], kind="stable")
        posted, more = posted[order], more[order]
        distinct, first_bit = np.unique(pattern[posted], return_index=True)
        others = high[asked[~is_first]]
        return PatternPostings(
            frozen(slots.astype(np.int32)),
            frozen(np.packbits(base, axis=1, bitorder="little").view(np.uint64)),
            frozen(np.searchsorted(distinct, np.arange(len(slots) + 1, dtype=np.int64) << 32).astype(np.int32)),
            frozen((distinct & 0xFFFFFFFF).astype(np.int32)),
            frozen(np.append(first_bit, len(posted)).astype(np.int32)),
            frozen(conjunct[posted].astype(np.int32)),
            frozen(more.astype(np.int32)),
            frozen(np.cumsum([0, *(sizes[sizes > 1] - 1)]).astype(np.int32)),
            frozen(others.astype(np.int32)),
        )

    def labels_of(self, slot: int) -> Integers:
        """Return the labels of the patterns of a slot that conjuncts require or forbid. A label may occur several
        times.
        """
        (places,) = np.nonzero(self.slots == slot)
        if not len(places):
            return self.labels[:0]
        first, last = self.first_label[places[0]], self.first_label[places[0] + 1]
        # A conjunct that requires several patterns has them in lists, which belong to the slot of its posting.
        posted = self.more[self.first_bit[first] : self.first_bit[last]]
        lists = posted[posted >= 0]
        others = [self.others[self.first_other[own] : self.first_other[own + 1]] for own in lists.tolist()]
        return np.concatenate([self.labels[first:last], *others])
