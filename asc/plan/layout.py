"""The layout of a block, which the console draws: the constructs of the block with their regions, its sequence and its
micro-arrows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from asc.errors import PlanError
from asc.plan.plan import Plan
from asc.plan.region_text import region_text

REGIONS_SHOWN = 200
"""The most regions of a construct in a layout."""

ARROWS_SHOWN = 500
"""The most micro-arrows of a block in a layout."""


@dataclass(frozen=True, slots=True)
class RegionLayout:
    """A region of a construct: its index from 0 on (the NULL region is after the last), and its values as SQL.

    ``satisfied``: the number of conjuncts of the block that the region does not exclude (the ones of its qrb).
    ``constrained``: the number of these conjuncts that constrain the p-attribute (the ones of both the qrb and the
    qub). ``next_constructs``: the number of constructs that can still exclude a conjunct after the region (the ones of
    its cab). ``arrow``: the construct that the region's micro-arrow leads to, or None.
    """

    region: int
    text: str
    satisfied: int
    constrained: int
    next_constructs: int
    arrow: int | None


@dataclass(frozen=True, slots=True)
class ConstructLayout:
    """A construct: its p-attribute, the number of conjuncts that constrain it (the ones of its qub), and its regions.

    ``regions``: at most ``REGIONS_SHOWN`` of all ``region_count`` regions, evenly spread, with the first and the last.
    ``null`` is the NULL region, which ``region_count`` does not count.
    """

    construct: int
    attribute: str
    type: str
    spark: bool
    exact: bool
    constrained: int
    region_count: int
    regions: tuple[RegionLayout, ...]
    null: RegionLayout


@dataclass(frozen=True, slots=True)
class Arrow:
    """A micro-arrow, from a region of a construct to the construct that is visited next."""

    construct: int
    region: int
    text: str
    target: int


@dataclass(frozen=True, slots=True)
class BlockLayout:
    """A block: its number from 0 on, its constructs, its macro-sequence and its micro-arrows.

    The macro-sequence is a list of the constructs' numbers. Only the first ``ARROWS_SHOWN`` of the ``arrow_count``
    micro-arrows are present.
    """

    number: int
    blocks: int
    conjuncts: int
    constructs: tuple[ConstructLayout, ...]
    sequence: tuple[int, ...]
    arrow_count: int
    micro_arrows: tuple[Arrow, ...]


def laid_out(plan: Plan, number: int) -> BlockLayout:
    """Return the layout of a block of a plan.

    Raise PlanError if the plan has no block of that number, or if the block is a listed one, which has no regions.
    Cost: for each region in the layout, the function reads the region's bitmap and the qubs of all constructs.
    """
    if not 0 <= number < len(plan.blocks):
        known = f"0 to {len(plan.blocks) - 1}" if plan.blocks else "none, for no query has a conjunct"
        raise PlanError("block", number, f"the plan has {known}")
    block = plan.blocks[number]
    arrows = block.micro_arrows()
    slots = block.slots.tolist()
    shown = tuple(
        Arrow(construct, region, region_text(plan, slots[construct], region), target)
        for construct, region, target in arrows[:ARROWS_SHOWN]
    )
    return BlockLayout(
        number=number,
        blocks=len(plan.blocks),
        conjuncts=block.conjunct_count,
        constructs=tuple(_construct(plan, number, construct) for construct in range(len(slots))),
        sequence=tuple(block.sequence.tolist()),
        arrow_count=len(arrows),
        micro_arrows=shown,
    )


def _construct(plan: Plan, number: int, construct: int) -> ConstructLayout:
    block = plan.blocks[number]
    slot, count = int(block.slots[construct]), block.region_count(construct)
    attribute = plan.p_attributes[slot]
    places = _spread(count)
    *regions, null = _regions(plan, number, construct, [*places, count])
    return ConstructLayout(
        construct=construct,
        attribute=str(attribute),
        type=str(attribute.type),
        spark=attribute.is_computed,
        exact=plan.grids[slot].exact,
        constrained=int(np.bitwise_count(block.matrix[block.bases[construct]]).sum()),
        region_count=count,
        regions=tuple(regions),
        null=null,
    )


def _spread(count: int) -> list[int]:
    if count <= REGIONS_SHOWN:
        return list(range(count))
    return [int(place) for place in np.linspace(0, count - 1, REGIONS_SHOWN)]


def _regions(plan: Plan, number: int, construct: int, places: list[int]) -> list[RegionLayout]:
    block = plan.blocks[number]
    slot, base = int(block.slots[construct]), int(block.bases[construct])
    qubs = block.qubs
    regions = []
    for place in places:
        row = base + 1 + place
        left = block.matrix[row] & block.live
        leads = ((qubs & left) != 0).any(axis=1)
        leads[construct] = False
        arrow = int(block.arrows[row]) if len(block.arrows) else -1
        regions.append(
            RegionLayout(
                region=place,
                text=region_text(plan, slot, place),
                satisfied=int(np.bitwise_count(left).sum()),
                constrained=int(np.bitwise_count(left & qubs[construct]).sum()),
                next_constructs=int(np.count_nonzero(leads)),
                arrow=arrow if arrow >= 0 else None,
            )
        )
    return regions
