"""Transfer of orders from one plan to another by p-attribute, because plans number their constructs differently."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from asc.keys.attribute import PAttribute
from asc.keys.constraint import Cut
from asc.plan.block import static_sequence
from asc.plan.order import Order
from asc.plan.plan import Plan

Regions = tuple[bool, bytes | tuple[Cut, ...]]
"""The regions of a p-attribute in a form that can be compared between plans. The first element is True if the regions
are exact. The second element has the boundaries of the regions as bytes. If the keys of the p-attribute are labels, it
has the cuts (constants as byte strings) instead, because two dictionaries may have different labels for a string.
"""


@dataclass(frozen=True, slots=True)
class OrderByAttribute:
    """The order of a block, expressed by p-attributes, which remain valid in other plans.

    ``sequence``: the p-attributes in the order of the macro-sequence. ``micro_arrows``: (p-attribute, region, target
    p-attribute) of each micro-arrow. ``regions``: for each p-attribute from which a micro-arrow leads, the division of
    its values into regions.
    """

    sequence: tuple[PAttribute, ...]
    micro_arrows: tuple[tuple[PAttribute, int, PAttribute], ...]
    regions: Mapping[PAttribute, Regions]

    @staticmethod
    def of(plan: Plan, number: int) -> OrderByAttribute:
        """Return the current order of block ``number`` of a plan."""
        block = plan.blocks[number]
        attributes = [plan.p_attributes[slot] for slot in block.slots.tolist()]
        arrows = tuple(
            (attributes[construct], region, attributes[target]) for construct, region, target in block.micro_arrows()
        )
        slots = dict(zip(attributes, block.slots.tolist(), strict=True))
        left = dict.fromkeys(attribute for attribute, _, _ in arrows)
        return OrderByAttribute(
            tuple(attributes[construct] for construct in block.sequence.tolist()),
            arrows,
            {attribute: _regions(plan, slots[attribute]) for attribute in left},
        )


def transferred(order: OrderByAttribute, plan: Plan, number: int) -> Order:
    """Return an order in the form that block ``number`` of a plan needs. ``order``: the order of a block of another
    plan.

    Constructs of the order that the block does not have are omitted. Constructs that the order does not have come last,
    in static sequence. A micro-arrow is omitted if the block lacks one of its constructs, or if the regions of its
    p-attribute have changed (other boundaries, other constants). It is also omitted if its target is no longer in the
    region's cab, and so can exclude nothing. A change of the target's regions does not matter.
    """
    block = plan.blocks[number]
    slots = block.slots.tolist()
    constructs = {plan.p_attributes[slot]: construct for construct, slot in enumerate(slots)}
    sequence = [constructs[attribute] for attribute in order.sequence if attribute in constructs]
    sequence += [construct for construct in static_sequence(block) if construct not in set(sequence)]
    same = {
        attribute
        for attribute, regions in order.regions.items()
        if attribute in constructs and _regions(plan, slots[constructs[attribute]]) == regions
    }
    qubs, arrows = block.qubs, []
    for attribute, region, target in order.micro_arrows:
        if attribute in same and target in constructs:
            construct, to = constructs[attribute], constructs[target]
            if (block.matrix[int(block.bases[construct]) + 1 + region] & qubs[to]).any():
                arrows.append((construct, region, to))
    return block.order_of(sequence, arrows)


def carried(old: Plan, new: Plan) -> Plan:
    """Return the new plan with the orders of the old plan.

    If the new plan was compiled as a whole, each of its blocks receives the parts of the old order that are still
    valid. If a change made the new plan from the old one, the two plans share blocks with their orders. The function
    returns such a plan unchanged.
    """
    return new if new.changes else with_orders_from(old, new)


def with_orders_from(old: Plan, new: Plan) -> Plan:
    """Return the new plan, in which each block has the order of the block with the same number in the old plan. A block
    without such an old block keeps its order.

    Only the parts of the old order that are still valid are transferred (:func:`transferred`).
    """
    orders = {
        number: transferred(OrderByAttribute.of(old, number), new, number)
        for number in range(min(len(old.blocks), len(new.blocks)))
        if new.blocks[number] is not old.blocks[number]
    }
    return new.with_orders(orders) if orders else new


def _regions(plan: Plan, slot: int) -> Regions:
    grid = plan.grids[slot]
    return grid.exact, plan.cuts(slot) if slot in plan.dictionaries else grid.boundaries.tobytes()
