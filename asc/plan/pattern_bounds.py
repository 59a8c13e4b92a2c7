"""The LIKE patterns and the shapes of a plan, and the bound on the total length of the patterns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from asc.errors import PlanError
from asc.keys.attribute import PAttribute
from asc.keys.box_shapes import ShapesOfBoxes
from asc.keys.dictionary import Dictionary
from asc.keys.patterns import Patterns
from asc.keys.shapes import ShapeSet
from asc.plan.plan import CompileOptions, Matched, Plan


def patterns_of(
    attributes: Sequence[PAttribute], dictionaries: Mapping[int, Dictionary], options: CompileOptions
) -> dict[int, Matched]:
    """Return the patterns, or the shapes, with which the values of p-attributes are matched, by the slot of the
    p-attribute.

    Raise PlanError if the patterns have more than ``options.pattern_bytes`` bytes.
    """
    own = {slot: dictionary for slot, dictionary in dictionaries.items() if attributes[slot].is_matched}
    _check(_size_bytes(own, (slot for slot in own if not attributes[slot].parts)), options)
    return {slot: found_in(attributes[slot], dictionary) for slot, dictionary in own.items()}


def found_in(attribute: PAttribute, dictionary: Dictionary) -> Matched:
    """Return the constants of a dictionary in the form in which the values of a p-attribute are matched with them. They
    are patterns for texts, and shapes for points and boxes.
    """
    if not attribute.parts:
        return Patterns.of(dictionary)
    return ShapeSet.of(dictionary) if attribute.is_point else ShapesOfBoxes.of(dictionary)


def fit_beside(plan: Plan, dictionaries: Mapping[int, Dictionary], slots: Iterable[int]) -> bool:
    """Return True if the patterns of a plan stay within the bound on their total length after its dictionaries were
    extended. ``dictionaries``: the extended dictionaries, by slot. ``slots``: the slots that are matched with patterns
    or shapes.

    The patterns of removed queries count too; a plan compiled anew does not have them. Return False if only a plan
    compiled anew stays within the bound. Raise PlanError if the patterns of that plan would also exceed the bound.
    Cost: the sum of a few numbers; beyond the bound, a pass over the patterns of every block.
    """
    texts = [slot for slot in slots if not _is_of_shapes(plan, slot)]
    size_bytes = _size_bytes(dictionaries, texts)
    if size_bytes <= plan.options.pattern_bytes:
        return True
    known = [slot for slot in plan.patterns if not _is_of_shapes(plan, slot)]
    fresh_bytes = size_bytes - _size_bytes(plan.dictionaries, known)
    _check(fresh_bytes + _in_use_bytes(plan), plan.options)
    return False


def _is_of_shapes(plan: Plan, slot: int) -> bool:
    return slot < len(plan.p_attributes) and bool(plan.p_attributes[slot].parts)


def _size_bytes(dictionaries: Mapping[int, Dictionary], slots: Iterable[int]) -> int:
    return sum(dictionaries[slot].data.nbytes for slot in slots)


def _in_use_bytes(plan: Plan) -> int:
    size_bytes = 0
    for slot in plan.patterns:
        if _is_of_shapes(plan, slot):
            continue
        labels_by_block = [
            block.pattern_postings.labels_of(slot) for block in plan.blocks if block.pattern_postings is not None
        ]
        labels = np.unique(np.concatenate([np.empty(0, dtype=np.int32), *labels_by_block]))
        dictionary = plan.dictionaries[slot]
        size_bytes += int(np.diff(dictionary.offsets)[np.searchsorted(dictionary.labels, labels)].sum())
    return size_bytes


def _check(size_bytes: int, options: CompileOptions) -> None:
    if size_bytes > options.pattern_bytes:
        raise PlanError(
            "too long LIKE patterns and elements of all queries, in bytes",
            size_bytes,
            f"at most {options.pattern_bytes} of different ones; use shorter ones, or fewer",
        )
