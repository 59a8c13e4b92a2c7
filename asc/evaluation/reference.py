"""Evaluation of one tuple exactly as the paper defines it: the reference for tests of the kernels and of traces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from bitarray import bitarray
from bitarray.util import zeros

from asc.keys.constraint import Key
from asc.plan.construct import Construct, bits_of
from asc.plan.plan import Plan

MicroArrows = Mapping[tuple[int, int], int]
"""The micro-arrows of a block: (construct, region) -> target construct. Regions count from 0, and the NULL region comes
last.
"""


@dataclass(frozen=True, slots=True)
class Step:
    """The evaluation of one construct for a tuple: the number of the construct, the region visited, and the GRB
    afterwards.
    """

    construct: int
    region: int
    grb: bitarray


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The path of one tuple through the constructs of a block.

    ``start``: the GRB at the beginning. ``grb``: the GRB at the end. With bounded regions, it may have conjuncts that
    the tuple does not satisfy. ``cost``: the number of constructs evaluated. ``dropped``: whether the GRB became all
    zeros.
    """

    steps: tuple[Step, ...]
    start: bitarray
    grb: bitarray

    @property
    def cost(self) -> int:
        return len(self.steps)

    @property
    def dropped(self) -> bool:
        return not self.grb.any()


def evaluate(
    constructs: Sequence[Construct],
    live: bitarray,
    values: Sequence[Key | None],
    sequence: Sequence[int],
    arrows: MicroArrows | None = None,
) -> Evaluation:
    """Evaluate a tuple along a macro-sequence, or, if there are micro-arrows, along a hybrid-sequence (sections 3.2,
    4.3 and 5.1 of the paper).

    ``live``: the GRB to start with, a 1 for every conjunct. ``values[i]``: the tuple's value of construct i's
    p-attribute as a key, None for NULL. ``sequence``: all constructs. The next construct is the target of the region's
    micro-arrow. If the region has no micro-arrow, or the target has been evaluated (GEB), the next construct is the
    first unevaluated construct of the macro-sequence.
    """
    grb, geb = bitarray(live), zeros(len(constructs))
    steps: list[Step] = []
    target: int | None = None
    while grb.any():
        if target is None or geb[target]:
            target = next((construct for construct in sequence if not geb[construct]), None)
            if target is None:
                break
        geb[target] = True
        region = constructs[target].region_of(values[target])
        grb &= constructs[target].ra.qrb(region)
        steps.append(Step(target, region, bitarray(grb)))
        target = (arrows or {}).get((target, region))
    return Evaluation(tuple(steps), live, grb)


def evaluate_block(plan: Plan, number: int, values: Sequence[Key | None]) -> Evaluation:
    """Evaluate a tuple in a block of a plan, along the sequence of the block. ``values``: the tuple's keys in slot
    order.

    The initial GRB has the conjuncts whose patterns the tuple matches. If the value of a p-attribute with patterns is
    NULL, these patterns exclude no conjunct, and the NULL region of the p-attribute's construct decides.
    """
    block = plan.blocks[number]
    live = bitarray(bits_of(block.live))
    if block.pattern_postings is not None:
        of = dict(zip(plan.p_attributes, values, strict=True))
        for bit in live.search(bitarray("1")):
            live[bit] = all(
                of[attribute.read] is None or constraint.admits(attribute.key_among(of))
                for attribute, constraint in plan.constraints(number, bit)
                if attribute.read.is_matched
            )
    own = [values[slot] for slot in block.slots.tolist()]
    arrows = {(construct, region): target for construct, region, target in block.micro_arrows()}
    return evaluate(plan.constructs(number), live, own, block.sequence.tolist(), arrows)


def accepted_by(plan: Plan, values: Sequence[Key | None]) -> list[str]:
    """Return the sorted ids of the queries that accept a tuple. ``values``: the tuple's keys in slot order.

    This is the reference for :func:`asc.evaluation.executor.match`.
    """
    of = dict(zip(plan.p_attributes, values, strict=True))
    handles = set(plan.match_all_handles.tolist())
    for number, block in enumerate(plan.blocks):
        for bit in evaluate_block(plan, number, values).grb.search(bitarray("1")):
            terms = plan.constraints(number, bit)
            if all(constraint.admits(attribute.key_among(of)) for attribute, constraint in terms):
                handles.add(int(block.table.owner[bit]))
    for listed in plan.listed:
        for conjunct in np.flatnonzero(plan.ranks[listed.table.owner] >= 0).tolist():
            if all(
                constraint.admits(attribute.key_among(of)) for attribute, constraint in listed.constraints(conjunct)
            ):
                handles.add(int(listed.table.owner[conjunct]))
    return [plan.query_ids[ordinal].as_py() for ordinal in sorted(int(plan.ranks[handle]) for handle in handles)]
