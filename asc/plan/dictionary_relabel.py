"""Relabelling: the assignment of new labels to the byte-string constants of a plan, so that further constants fit
between them. The bitmaps stay the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from asc.frozen import frozen
from asc.keys.dictionary import Dictionary
from asc.keys.grid import KEY_MAX, KEY_MIN, Keys
from asc.plan.conjuncts import ConjunctTable
from asc.plan.grouping import Homes
from asc.plan.plan import Plan


def with_free_labels(plan: Plan, constants: Mapping[int, Iterable[bytes]]) -> Plan:
    """Return the plan with new labels in each dictionary that has too few free labels for further constants.
    ``constants``: the further constants, by the slot of the dictionary.

    A further constant needs a free label between the labels of the two constants next to it. If all dictionaries have
    free labels, return the same plan. Cost: a pass over the further constants. For each dictionary without free labels,
    also a pass over its constants and over the tables of all blocks (.02 s for ten thousand constants, some seconds for
    a million).
    """
    for slot, values in constants.items():
        before = plan.dictionaries.get(slot)
        if before is not None and before.with_constants(values) is None:
            plan = _relabelled(plan, slot, Dictionary.of([*before.constants(), *values]))
    return plan


def _relabelled(plan: Plan, slot: int, dictionary: Dictionary) -> Plan:
    """Return the plan with another dictionary for the p-attribute of ``slot``. The caller ensures that it has all
    constants of the present dictionary.
    """
    before, label_of = plan.dictionaries[slot], dictionary.labels_by_constant()
    new_labels = np.array([label_of[constant] for constant in before.constants()], dtype=np.int64)

    def translated(keys: Keys) -> Keys:
        # Keys are constants, or the keys just after them. No key is below the first constant.
        places = np.searchsorted(before.labels, keys, side="right") - 1
        moved: Keys = new_labels[places] + (keys - before.labels[places])
        return moved

    blocks = []
    for block in plan.blocks:
        wide = block.table.wide()
        mine = wide.slots == slot
        if not mine.any():
            blocks.append(block)
            continue
        low, high = (
            np.where(mine & finite, translated(bounds.astype(np.int64)), bounds)
            for bounds, finite in zip((wide.low, wide.high), wide.finite(), strict=True)
        )
        table = ConjunctTable(wide.first, wide.code, low, high, wide.owner).compact()
        at_home = block.homes.slots == slot
        # A home that admits values without a bound has no first key to translate.
        at_home &= (block.homes.keys > KEY_MIN) & (block.homes.keys < KEY_MAX)
        keys = np.where(at_home, translated(block.homes.keys), block.homes.keys)
        blocks.append(replace(block.with_table(table), homes=Homes(block.homes.slots, frozen(keys))))
    patterns = dict(plan.patterns)
    if slot in patterns:
        patterns[slot] = patterns[slot].relabelled(dictionary)
    grids = list(plan.grids)
    grids[slot] = grids[slot].moved(translated(grids[slot].boundaries))
    dictionaries = {**plan.dictionaries, slot: dictionary}
    return replace(plan, blocks=tuple(blocks), grids=tuple(grids), dictionaries=dictionaries, patterns=patterns)
