"""Sequences from plan to plan: by p-attribute, where the numbers of constructs mean nothing any more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from asc.keys.attribute import PAttribute
from asc.keys.constraint import Cut
from asc.plan.block import static_sequence
from asc.plan.plan import Plan

Regions = tuple[bool, bytes | tuple[Cut, ...]]
"""Whether the regions of a p-attribute are exact, and where they meet: boundaries as bytes, or cuts where keys are
labels, which may change from dictionary to dictionary while the cuts stay.
"""


@dataclass(frozen=True, slots=True)
class SequenceByAttribute:
    """The sequence of a block in terms that outlive its plan.

    ``order``: the p-attributes in macro-sequence. ``arrows``: the micro-arrows, (p-attribute, region) -> p-attribute.
    ``regions``: of each p-attribute that an arrow leaves from, what its regions were.
    """

    order: tuple[PAttribute, ...]
    arrows: Mapping[tuple[PAttribute, int], PAttribute]
    regions: Mapping[PAttribute, Regions]

    @staticmethod
    def of(plan: Plan, number: int) -> SequenceByAttribute:
        """The sequence of a block of a plan as it stands."""
        block = plan.blocks[number]
        attributes = [plan.p_attributes[slot] for slot in block.slots.tolist()]
        arrows = {
            (attributes[construct], region): attributes[target]
            for (construct, region), target in block.micro_arrows().items()
        }
        slots = dict(zip(attributes, block.slots.tolist(), strict=True))
        left = dict.fromkeys(attribute for attribute, _ in arrows)
        return SequenceByAttribute(
            tuple(attributes[construct] for construct in block.sequence.tolist()),
            arrows,
            {attribute: _regions(plan, slots[attribute]) for attribute in left},
        )


def transferred(
    sequence: SequenceByAttribute, plan: Plan, number: int
) -> tuple[tuple[int, ...], dict[tuple[int, int], int]]:
    """The sequence for a block of another plan: an order of its constructs, and micro-arrows.

    Constructs that the block has not are left out, those that the sequence has not come after the others in static
    order. A micro-arrow is left out where the block has not both its constructs, where the regions it leaves from have
    changed (other boundaries, other constants), and where its target has left the region's cab: it can fail nothing
    there any more. Another grid of its target does not matter. ``Plan.with_sequences`` takes the result as it is.
    """
    block = plan.blocks[number]
    slots = block.slots.tolist()
    constructs = {plan.p_attributes[slot]: construct for construct, slot in enumerate(slots)}
    order = [constructs[attribute] for attribute in sequence.order if attribute in constructs]
    order += [construct for construct in static_sequence(block) if construct not in set(order)]
    same = {
        attribute
        for attribute, regions in sequence.regions.items()
        if attribute in constructs and _regions(plan, slots[constructs[attribute]]) == regions
    }
    qubs, arrows = block.qubs, {}
    for (attribute, region), target in sequence.arrows.items():
        if attribute in same and target in constructs:
            construct, to = constructs[attribute], constructs[target]
            if (block.matrix[int(block.bases[construct]) + 1 + region] & qubs[to]).any():
                arrows[construct, region] = to
    return tuple(order), arrows


def carried(old: Plan, new: Plan) -> Plan:
    """A plan and the sequences of the one before it.

    Where the new plan was compiled anew, each of its blocks takes over, from the old plan's block of the same number if
    there is one, the order and the micro-arrows that still hold (:func:`transferred`). A plan that shares blocks with
    the old one has their sequences already and is returned as it is.
    """
    if new.changes:
        return new
    sequences = {
        number: transferred(SequenceByAttribute.of(old, number), new, number)
        for number in range(min(len(old.blocks), len(new.blocks)))
        if new.blocks[number] is not old.blocks[number]
    }
    return new.with_sequences(sequences) if sequences else new


def _regions(plan: Plan, slot: int) -> Regions:
    grid = plan.grids[slot]
    return grid.exact, plan.cuts(slot) if slot in plan.dictionaries else grid.boundaries.tobytes()
