"""The choice between posting lists and bitmaps for a conjunct. A conjunct that requires rare values of one p-attribute
is listed by these values; other conjuncts are in bitmaps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from asc.keys.attribute import PAttribute
from asc.keys.constraint import Constraint, Key
from asc.keys.dictionary import Dictionary
from asc.plan.conjuncts import ADMITS_NULL, HIGH_OPEN, LOW_OPEN, SLOT_MASK, ConjunctTable, used_labels
from asc.plan.grouping import query_starts
from asc.plan.posting_block import ListedBlock, by_values
from asc.predicate.normal_form.disjunctive_form import Predicate

MOST_VALUES = 16
"""The most values of a p-attribute under which a conjunct is listed. A conjunct that accepts more values stays in
bitmaps.
"""

FEW, MOST = 4, 32
_SHARE = 1_024
"""A value is rare if at most one in ``_SHARE`` conjuncts requires it. A value that at most ``FEW`` conjuncts require is
always rare, and a value that more than ``MOST`` conjuncts require never is. Evaluating one listed conjunct takes as
long as excluding about a thousand conjuncts by bitmaps.
"""

Mask = npt.NDArray[np.bool_]


def rare(conjuncts: int) -> int:
    """Return the largest number of conjuncts that may require the same value for the value to be rare. ``conjuncts``:
    the number of all conjuncts.
    """
    return min(MOST, max(FEW, conjuncts // _SHARE))


def split(
    table: ConjunctTable, attributes: Sequence[PAttribute], dictionaries: Mapping[int, Dictionary], least: int
) -> tuple[tuple[ListedBlock, ...], ConjunctTable, dict[int, Dictionary]]:
    """Divide the conjuncts of a table into listed blocks and the others. Return the blocks listed by values, the table
    of the other conjuncts, and the dictionaries of that table.

    The caller ensures that the table has bounds of type int64, and that the conjuncts of a query are adjacent. A listed
    block has at least ``least`` conjuncts, all listed under one p-attribute.

    A query is listed under a p-attribute if each of its conjuncts requires a rare value of that p-attribute. If this is
    true of several p-attributes, the one with the most distinct values is chosen. A query with a constraint on a match
    with patterns or shapes is not listed. Cost: a few passes over the table.
    """
    blocks: list[ListedBlock] = []
    if len(table) >= least:
        points = _Points(table, attributes)
        rest = np.ones(len(table), dtype=np.bool_)
        for slot in points.in_order(least):
            own = points.rarely(slot, rest)
            if np.count_nonzero(own) >= least:
                blocks.append(_block(table, own, slot, attributes, dictionaries))
                rest &= ~own
        if blocks:
            table = table.take(np.flatnonzero(rest))
            dictionaries = _used(table, dictionaries)
    return tuple(blocks), table, dict(dictionaries)


class _Points:
    """The constraints of a table of conjuncts, and those among them that require one of a few values.

    ``begins``, ``slots`` and ``conjuncts``: the first interval, the slot and the conjunct of each constraint.
    ``eligible`` bool[constraints]: the constraints that require one of a few values, and by which their conjunct may be
    listed. ``queries``: the number of the query of each conjunct. Invariant: eligible constraints are on plain
    p-attributes, and no other constraint of their query is a match with patterns or shapes.
    """

    def __init__(self, table: ConjunctTable, attributes: Sequence[PAttribute]) -> None:
        slots, conjuncts = table.slots, table.conjuncts
        lengths = np.diff(query_starts(table))
        self.table = table
        self.lengths = lengths
        self.queries = np.repeat(np.arange(len(lengths)), lengths)
        matched = np.array([own.is_matched for own in attributes], dtype=np.bool_)
        has_matched = np.zeros(len(lengths), dtype=np.bool_)
        has_matched[self.queries[conjuncts[matched[slots]]]] = True
        self.begins = np.flatnonzero(np.diff(conjuncts * (SLOT_MASK + 1) + slots, prepend=-1))
        self.slots, self.conjuncts = slots[self.begins], conjuncts[self.begins]
        self.counts = np.diff(np.append(self.begins, len(slots)))
        is_point = (table.low == table.high) & ((table.code & (LOW_OPEN | HIGH_OPEN | ADMITS_NULL)) == 0)
        self.eligible = np.logical_and.reduceat(is_point, self.begins) if len(slots) else is_point
        self.eligible &= (self.counts <= MOST_VALUES) & ~has_matched[self.queries[self.conjuncts]]

    def in_order(self, least: int) -> list[int]:
        """Return the slots of the p-attributes of which at least ``least`` conjuncts require one of a few values. Slots
        with the most distinct required values come first.
        """
        different = {}
        for slot, count in enumerate(np.bincount(self.slots[self.eligible]).tolist()):
            if count >= least:
                _, keys = self._pairs(self.eligible & (self.slots == slot))
                different[slot] = len(np.unique(keys))
        return sorted(different, key=lambda slot: (-different[slot], slot))

    def rarely(self, slot: int, among: Mask) -> Mask:
        """Return the mask of the conjuncts in ``among`` whose query requires, in each of its conjuncts, a rare value of
        the p-attribute of ``slot``.
        """
        which = self.eligible & (self.slots == slot) & among[self.conjuncts]
        asked = np.bincount(self.queries[self.conjuncts[which]], minlength=len(self.lengths))
        whole = asked == self.lengths
        which &= whole[self.queries[self.conjuncts]]
        conjuncts, keys = self._pairs(which)
        most = rare(int(np.count_nonzero(which)))
        _, places, counts = np.unique(keys, return_inverse=True, return_counts=True)
        whole[self.queries[conjuncts[counts[places] > most]]] = False
        found: Mask = whole[self.queries] & among
        return found

    def _pairs(self, which: Mask) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return an array of conjuncts and an array of keys: one entry for each key that a constraint in ``which``
        requires.
        """
        counts = self.counts[which]
        ends = np.cumsum(counts)
        within = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - counts, counts)
        return np.repeat(self.conjuncts[which], counts), self.table.low[np.repeat(self.begins[which], counts) + within]


def _block(
    table: ConjunctTable,
    which: Mask,
    slot: int,
    attributes: Sequence[PAttribute],
    dictionaries: Mapping[int, Dictionary],
) -> ListedBlock:
    """Return the listed block of some conjuncts of a table, with only the p-attributes and dictionaries
    that they use.
    """
    chosen = table.take(np.flatnonzero(which))
    known = _used(chosen, dictionaries)
    used = np.unique(chosen.slots)
    code = (chosen.code & ~np.uint16(SLOT_MASK)) | np.searchsorted(used, chosen.slots).astype(np.uint16)
    return by_values(
        tuple(attributes[used_slot] for used_slot in used.tolist()),
        int(np.searchsorted(used, slot)),
        {place: known[used_slot] for place, used_slot in enumerate(used.tolist()) if used_slot in known},
        ConjunctTable(chosen.first, code, chosen.low, chosen.high, chosen.owner),
    )


def _used(table: ConjunctTable, dictionaries: Mapping[int, Dictionary]) -> dict[int, Dictionary]:
    """Return smaller dictionaries that have only the constants that a table uses, with the same labels as before."""
    return {slot: dictionaries[slot].only(labels) for slot, labels in used_labels(table, dictionaries).items()}


class IndexChoice:
    """The choice of an index for queries added to a plan: a query is listed in a block by values if it requires rare
    values, as in :func:`split`.

    Invariant: the choice counts the queries that it has chosen to list, so that many added queries cannot share one
    rare value. Cost: for each query, a look-up of each of its values in each block listed by values.
    """

    def __init__(self, blocks: Sequence[ListedBlock]) -> None:
        self._blocks: dict[PAttribute, list[ListedBlock]] = {}
        for block in blocks:
            if not block.by_shapes:
                self._blocks.setdefault(block.listed, []).append(block)
        self._taken: Counter[tuple[PAttribute, Key]] = Counter()

    def taken(self, predicate: Predicate) -> PAttribute | None:
        """Return the p-attribute under whose values the query with a predicate is to be listed, and count the query.
        Return None if the query stays in bitmaps.
        """
        if not self._blocks or any(own.like is not None for own in predicate.p_attributes):
            return None
        for attribute, blocks in self._blocks.items():
            keys = list(_asked(predicate, attribute))
            if keys and all(own is not None and self._is_rare(attribute, blocks, own) for own in keys):
                self._taken.update((attribute, key) for own in keys for key in own or ())
                return attribute
        return None

    def _is_rare(self, attribute: PAttribute, blocks: Sequence[ListedBlock], keys: Sequence[Key]) -> bool:
        most = rare(sum(map(len, blocks)))
        return all(self._taken[attribute, key] + sum(own.count_for(key) for own in blocks) < most for key in keys)


def _asked(predicate: Predicate, attribute: PAttribute) -> Iterator[list[Key] | None]:
    """Yield for each conjunct of a predicate the list of values of which it requires one. ``attribute``: the
    p-attribute of the values. Yield None for a conjunct that does not require one of a few values.
    """
    for conjunct in predicate.conjuncts:
        yield next((_points(constraint) for own, constraint in conjunct if own == attribute), None)


def _points(constraint: Constraint) -> list[Key] | None:
    if constraint.null or len(constraint.intervals) > MOST_VALUES:
        return None
    found = []
    for low, high in constraint.intervals:
        if low is None or high is None or low[0] != high[0]:
            return None
        found.append(low[0])
    return found
