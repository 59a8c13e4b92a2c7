"""Tables of conjuncts as flat arrays: the exact constraints from which blocks are built and with which surviving
conjuncts are verified.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from asc.keys.attribute import PAttribute, matched
from asc.keys.constraint import Constraint, Cut, Interval, Key, merged
from asc.keys.dictionary import Dictionary
from asc.keys.grid import KEY_MAX, KEY_MIN, Keys
from asc.predicate.normal_form.disjunctive_form import Conjunct

SLOT_MASK = 0x0FFF
ADMITS_NULL = 0x1000
LOW_OPEN = 0x2000
HIGH_OPEN = 0x4000
INEXACT = 0x8000
SLOTS_MAX = SLOT_MASK

Codes = npt.NDArray[np.uint16]
Integers = npt.NDArray[np.int32]

_NARROW_MIN = int(np.iinfo(np.int32).min)
_NARROW_MAX = int(np.iinfo(np.int32).max)


class TableArrays(NamedTuple):
    """The arrays of a :class:`ConjunctTable`, as kernels read them.

    ``least`` and ``greatest``: the least and the greatest number of the integer type of ``low`` and ``high``.
    """

    first: npt.NDArray[Any]
    code: npt.NDArray[Any]
    low: npt.NDArray[Any]
    high: npt.NDArray[Any]
    owner: npt.NDArray[Any]
    least: int
    greatest: int


@dataclass(frozen=True, slots=True, eq=False)
class ConjunctTable:
    """The constraints of k conjuncts, interval by interval.

    Conjunct c owns the intervals ``first[c]`` to ``first[c + 1]``. The intervals of one p-attribute are adjacent, and
    the constraint is their union. ``code`` uint16[n]: the p-attribute's slot (12 bits), then ADMITS_NULL and INEXACT
    (both of the whole constraint), LOW_OPEN and HIGH_OPEN. ``low`` and ``high`` int64[n], or int32[n] if every constant
    fits: constants as keys; the least and greatest number of the type mean no bound. A constraint without intervals
    (``IS NULL``) is one interval from greatest to least, which admits nothing. ``owner`` int32[k]: the handle of the
    query, -1 if there is none.

    For a p-attribute that is matched with patterns, each interval is a separate constraint. The label of a pattern as
    both bounds: the value must match the pattern. No low bound, and the label of a pattern as high bound: the value
    must not match the pattern. No bounds: the value must not be NULL.

    Invariant: the INEXACT constraints of a conjunct, which regions do not decide completely, come first. With int32, no
    constant is the least or the greatest number of the type. So the evaluation may replace the key of a tuple's value
    that is outside of int32 by the nearest number of int32. Cost: 10 bytes an interval if the constants fit int32, 18
    otherwise; 8 bytes a conjunct.
    """

    first: Integers
    code: Codes
    low: npt.NDArray[np.int32] | Keys
    high: npt.NDArray[np.int32] | Keys
    owner: Integers

    def __len__(self) -> int:
        return len(self.owner)

    @property
    def nbytes(self) -> int:
        return sum(a.nbytes for a in (self.first, self.code, self.low, self.high, self.owner))

    @property
    def slots(self) -> npt.NDArray[np.int64]:
        return (self.code & SLOT_MASK).astype(np.int64)

    @property
    def conjuncts(self) -> npt.NDArray[np.int64]:
        """The index of the conjunct to which each interval of the table belongs."""
        return np.repeat(np.arange(len(self), dtype=np.int64), np.diff(self.first))

    @property
    def has_inexact(self) -> bool:
        return bool((self.code & INEXACT).any())

    @property
    def arguments(self) -> TableArrays:
        """The arrays as kernels read them."""
        limits = np.iinfo(self.low.dtype)
        return TableArrays(
            first=self.first,
            code=self.code,
            low=self.low,
            high=self.high,
            owner=self.owner,
            least=int(limits.min),
            greatest=int(limits.max),
        )

    def wide(self) -> ConjunctTable:
        """Return the table with bounds of type int64."""
        if self.low.dtype == np.int64:
            return self
        bounds = []
        for array in (self.low, self.high):
            longer = array.astype(np.int64)
            longer[array == _NARROW_MIN] = KEY_MIN
            longer[array == _NARROW_MAX] = KEY_MAX
            bounds.append(longer)
        return ConjunctTable(self.first, self.code, bounds[0], bounds[1], self.owner)

    def compact(self) -> ConjunctTable:
        """Return the table with bounds of type int32 if they represent all constants, otherwise of type int64. The
        arrays are read-only.
        """
        wide = self.wide()
        low, high = wide.low, wide.high
        bounds = np.concatenate([low, high])
        fits = (bounds == KEY_MIN) | (bounds == KEY_MAX) | ((bounds > _NARROW_MIN) & (bounds < _NARROW_MAX))
        real = (low != KEY_MAX) | (high != KEY_MIN)
        at_end = ((low == KEY_MIN) & (wide.code & LOW_OPEN != 0)) | ((high == KEY_MAX) & (wide.code & HIGH_OPEN != 0))
        at_end |= real & ((low == KEY_MAX) | (high == KEY_MIN))
        if fits.all() and not at_end.any():
            low, high = (a.clip(_NARROW_MIN, _NARROW_MAX).astype(np.int32) for a in (low, high))
        for array in (self.first, self.code, low, high, self.owner):
            array.setflags(write=False)
        return ConjunctTable(self.first, self.code, low, high, self.owner)

    def with_free_bits(self, free: int) -> ConjunctTable:
        """Return the table followed by ``free`` placeholders for bits without a conjunct: owner -1, no intervals."""
        first = np.concatenate([self.first, np.full(free, self.first[-1], dtype=np.int32)])
        owner = np.concatenate([self.owner, np.full(free, -1, dtype=np.int32)])
        return ConjunctTable(first, self.code, self.low, self.high, owner)

    def take(self, which: npt.NDArray[np.int64]) -> ConjunctTable:
        """Return a table of only the conjuncts at the indices ``which``, in the order of ``which``."""
        counts = np.diff(self.first)[which]
        first = np.zeros(len(which) + 1, dtype=np.int32)
        np.cumsum(counts, out=first[1:])
        places = np.repeat(self.first[:-1][which] - first[:-1], counts) + np.arange(first[-1])
        return ConjunctTable(first, self.code[places], self.low[places], self.high[places], self.owner[which])

    def with_inexact(self, inexact: npt.NDArray[np.bool_]) -> ConjunctTable:
        """Return the table with the flag INEXACT of each interval set as in ``inexact``. The inexact intervals of each
        conjunct come first.

        ``inexact`` bool[n] is the same for all intervals of a constraint.
        """
        order = np.argsort(self.conjuncts * 2 + ~inexact, kind="stable")
        code = np.where(inexact, self.code | INEXACT, self.code & ~np.uint16(INEXACT)).astype(np.uint16)
        return ConjunctTable(self.first, code[order], self.low[order], self.high[order], self.owner)

    def starts(self) -> Keys:
        """Return the first key of each interval. The table must have bounds of type int64."""
        starts: Keys = self.low.astype(np.int64) + ((self.code & LOW_OPEN) != 0)
        return starts

    def finite(self) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """Return two masks: whether the low bound of each interval is a constant, and whether its high bound is a
        constant. The table must have bounds of type int64.
        """
        real = (self.low != KEY_MAX) | (self.high != KEY_MIN)
        low = real & ((self.low != KEY_MIN) | (self.code & LOW_OPEN != 0))
        high = real & ((self.high != KEY_MAX) | (self.code & HIGH_OPEN != 0))
        return low, high

    def ends(self) -> Keys:
        """Return the last key of each interval. It is below the first key if the interval is empty. The table must have
        bounds of type int64.
        """
        ends: Keys = self.high.astype(np.int64) - ((self.code & HIGH_OPEN) != 0)
        return ends


def joined(tables: Sequence[ConjunctTable]) -> ConjunctTable:
    """Return one table that has the conjuncts of several tables, one table after the other. Its bounds have the type
    int64.
    """
    wide = [table.wide() for table in tables]
    if not wide:
        empty, keys = np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int64)
        return ConjunctTable(np.zeros(1, dtype=np.int32), np.empty(0, dtype=np.uint16), keys, keys, empty)
    counts = np.concatenate([np.diff(table.first) for table in wide])
    first = np.zeros(len(counts) + 1, dtype=np.int32)
    np.cumsum(counts, out=first[1:])
    code, low, high, owner = (
        np.concatenate([getattr(table, name) for table in wide]) for name in ("code", "low", "high", "owner")
    )
    return ConjunctTable(first, code, low, high, owner)


def encoded(
    conjuncts: Iterable[tuple[int, Conjunct]],
    slots: Mapping[PAttribute, int],
    labels: Mapping[int, Callable[[bytes], int]],
) -> ConjunctTable:
    """Return the table of (query handle, conjunct) pairs. ``slots``: the slot of each p-attribute. ``labels``: by slot,
    the function from a byte string to its label.

    An interval that contains no key, such as an interval below the least int64, is skipped.
    """
    first, code, low, high, owner = [0], [], [], [], []
    for handle, conjunct in conjuncts:
        for attribute, constraint in conjunct:
            slot = slots[attribute.read]
            flags = slot | (ADMITS_NULL if constraint.null else 0)
            of = labels.get(slot)
            if attribute.like is not None:
                lower, upper = _match_bounds(constraint, labels[slot](attribute.like.key))
                code.append(flags)
                low.append(lower)
                high.append(upper)
                continue
            any_interval = False
            for start, end in constraint.intervals:
                bits, lower, upper = flags, KEY_MIN, KEY_MAX
                if start is not None:
                    lower = start[0] if of is None else of(start[0])
                    bits |= LOW_OPEN if start[1] else 0
                if end is not None:
                    upper = end[0] if of is None else of(end[0])
                    bits |= 0 if end[1] else HIGH_OPEN
                if (bits & LOW_OPEN and lower == KEY_MAX) or (bits & HIGH_OPEN and upper == KEY_MIN):
                    continue
                any_interval = True
                code.append(bits)
                low.append(lower)
                high.append(upper)
            if not any_interval:
                code.append(flags)
                low.append(KEY_MAX)
                high.append(KEY_MIN)
        owner.append(handle)
        first.append(len(code))
    return ConjunctTable(
        np.array(first, dtype=np.int32),
        np.array(code, dtype=np.uint16),
        np.array(low, dtype=np.int64),
        np.array(high, dtype=np.int64),
        np.array(owner, dtype=np.int32),
    )


def used_labels(table: ConjunctTable, dictionaries: Mapping[int, Dictionary]) -> dict[int, Keys]:
    """Return, by slot, the sorted labels of the byte-string constants that a table contains. The table must have bounds
    of type int64.
    """
    low, high = table.finite()
    slots, labels_by_slot = table.slots, {}
    for slot in dictionaries:
        which = slots == slot
        labels = np.unique(np.concatenate([table.low[which & low], table.high[which & high]]))
        if len(labels):
            labels_by_slot[slot] = labels
    return labels_by_slot


def used_constants(table: ConjunctTable, dictionaries: Mapping[int, Dictionary]) -> dict[int, list[bytes]]:
    """Return, by slot, the byte-string constants that a table contains, instead of their labels in ``dictionaries``.
    The table must have bounds of type int64.
    """
    used = used_labels(table, dictionaries)
    return {slot: [dictionaries[slot].value(label)[0] for label in own.tolist()] for slot, own in used.items()}


def translated(
    table: ConjunctTable,
    attributes: Sequence[PAttribute],
    known: Mapping[int, Dictionary],
    slots: Mapping[PAttribute, int],
    dictionaries: Mapping[int, Dictionary],
) -> ConjunctTable:
    """Return the table with the slots and labels of another plan or block. ``attributes``, ``known``: the p-attribute
    and the dictionary of each present slot. ``slots``, ``dictionaries``: the new slot of each p-attribute, and the
    dictionary of each new slot.

    The table must have bounds of type int64. The caller ensures that ``dictionaries`` have all constants of the table.
    """
    old_slots = table.slots
    code, low, high = table.code.copy(), table.low.copy(), table.high.copy()
    used = used_labels(table, known)
    for old in np.unique(old_slots).tolist():
        new = slots[attributes[old]]
        which = np.flatnonzero(old_slots == old)
        code[which] = (table.code[which] & ~np.uint16(SLOT_MASK)) | np.uint16(new)
        if old in used:
            label_of = dictionaries[new].labels_by_constant()
            values = (known[old].value(label)[0] for label in used[old].tolist())
            after = np.array([label_of[value] for value in values], dtype=np.int64)
            for bounds, finite in zip((low, high), table.finite(), strict=True):
                mine = which[finite[which]]
                bounds[mine] = after[np.searchsorted(used[old], bounds[mine])]
    return ConjunctTable(table.first, code, low, high, table.owner)


def _match_bounds(constraint: Constraint, label: int) -> tuple[int, int]:
    """Return the bounds that encode a constraint on a match with a pattern (see :class:`ConjunctTable`). ``label``: the
    label of the pattern.
    """
    matching, other = constraint.admits(1), constraint.admits(0)
    if matching and other:
        return KEY_MIN, KEY_MAX
    return (label, label) if matching else (KEY_MIN, label) if other else (KEY_MAX, KEY_MIN)


def decoded(
    table: ConjunctTable, conjunct: int, dictionaries: Mapping[int, Dictionary], attributes: Sequence[PAttribute]
) -> Iterator[tuple[PAttribute, Constraint]]:
    """Yield the constraints of one conjunct with their p-attributes. Byte-string constants are bytes, not labels."""
    span = slice(int(table.first[conjunct]), int(table.first[conjunct + 1]))
    wide = ConjunctTable(table.first, table.code[span], table.low[span], table.high[span], table.owner).wide()
    by_slot: dict[int, tuple[list[Interval], bool]] = {}
    for code, low, high in zip(wide.code.tolist(), wide.low.tolist(), wide.high.tolist(), strict=True):
        slot = code & SLOT_MASK
        null = bool(code & ADMITS_NULL)
        if attributes[slot].is_matched:
            if KEY_MIN < high < KEY_MAX:
                like = matched(attributes[slot], dictionaries[slot].value(high)[0])
                yield like, Constraint((((1, 0), (1, 1)),) if low == high else (((0, 0), (0, 1)),), null)
            else:
                yield attributes[slot], Constraint(((None, None),) if low < high else (), null)
            continue
        intervals, _ = by_slot.setdefault(slot, ([], null))
        if (low, high) != (KEY_MAX, KEY_MIN):
            dictionary = dictionaries.get(slot)
            start = None if low == KEY_MIN and not code & LOW_OPEN else _cut(low, bool(code & LOW_OPEN), dictionary)
            end = None if high == KEY_MAX and not code & HIGH_OPEN else _cut(high, not code & HIGH_OPEN, dictionary)
            intervals.append((start, end))
    for slot, (intervals, null) in by_slot.items():
        yield attributes[slot], Constraint(merged(intervals), null)


def _cut(key: int, after: bool, dictionary: Dictionary | None) -> Cut:
    constant: Key = key if dictionary is None else dictionary.value(key)[0]
    return (constant, int(after))
