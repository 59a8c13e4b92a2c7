"""The patterns of a plan, and the bound on their length."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from asc.errors import PlanError
from asc.keys.attribute import PAttribute
from asc.keys.dictionary import Dictionary
from asc.keys.patterns import Patterns
from asc.plan.plan import CompileOptions, Plan


def patterns_of(
    attributes: Sequence[PAttribute], dictionaries: Mapping[int, Dictionary], options: CompileOptions
) -> dict[int, Patterns]:
    """The patterns of the p-attributes that are matched, by slot. Raises PlanError beyond ``options.pattern_bytes``."""
    own = {slot: dictionary for slot, dictionary in dictionaries.items() if attributes[slot].is_matched}
    _check(_size_bytes(own, own), options)
    return {slot: Patterns.of(dictionary) for slot, dictionary in own.items()}


def fit_beside(plan: Plan, dictionaries: Mapping[int, Dictionary], slots: Iterable[int]) -> bool:
    """Whether the patterns in the wider dictionaries of a plan, by slot, stay within the bound.

    Those of queries that are gone are among them, and a plan compiled anew is without: where it would not have room
    either, PlanError. Cost: a sum; beyond the bound, a look at the patterns of every block.
    """
    size_bytes = _size_bytes(dictionaries, slots)
    if size_bytes <= plan.options.pattern_bytes:
        return True
    fresh_bytes = size_bytes - _size_bytes(plan.dictionaries, plan.patterns)
    _check(fresh_bytes + _in_use_bytes(plan), plan.options)
    return False


def _size_bytes(dictionaries: Mapping[int, Dictionary], slots: Iterable[int]) -> int:
    return sum(dictionaries[slot].data.nbytes for slot in slots)


def _in_use_bytes(plan: Plan) -> int:
    found = 0
    for slot in plan.patterns:
        own = [block.members.labels_of(slot) for block in plan.blocks if block.members is not None]
        labels = np.unique(np.concatenate([np.empty(0, dtype=np.int32), *own]))
        dictionary = plan.dictionaries[slot]
        found += int(np.diff(dictionary.offsets)[np.searchsorted(dictionary.labels, labels)].sum())
    return found


def _check(size_bytes: int, options: CompileOptions) -> None:
    if size_bytes > options.pattern_bytes:
        raise PlanError(
            "too long LIKE patterns and elements of all queries, in bytes",
            size_bytes,
            f"at most {options.pattern_bytes} of different ones; use shorter ones, or fewer",
        )
