"""The trace of one tuple: its evaluation by a plan, with the reasons why queries accept the tuple or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from asc.evaluation.initial_bitmaps import InitialBitmaps
from asc.evaluation.listed_trace import ListedTrace
from asc.evaluation.regions import columns_of, write_regions
from asc.evaluation.trace import (
    BlockTrace,
    EliminatedConjunct,
    Eliminations,
    JudgedConjunct,
    Remaining,
    Trace,
    Verdict,
    Visit,
    shortened,
)
from asc.evaluation.verdict import Keys, failing_term, judged, value_text
from asc.keys.attribute import PAttribute
from asc.keys.column import Column
from asc.plan.block import Block
from asc.plan.conjuncts import ADMITS_NULL, SLOT_MASK
from asc.plan.construct import Words
from asc.plan.plan import Plan
from asc.plan.region_text import region_text

Bits = npt.NDArray[np.int64]

BLOCKS_SHOWN = 8
LISTED = 10


@dataclass(frozen=True)
class _Tuple:
    """One tuple in the form in which a plan evaluates it. It has the key of each p-attribute, and by slot the int64
    key, the region and the NULL flag. It also has the initial bitmaps of the blocks.
    """

    plan: Plan
    keys: Keys
    labels: Bits
    regions: Sequence[int]
    nulls: npt.NDArray[np.bool_]
    initial_bitmaps: InitialBitmaps
    columns: Sequence[Column]

    @staticmethod
    def of(plan: Plan, values: Sequence[pa.Scalar]) -> _Tuple:
        attributes = plan.p_attributes
        keys = {one: one.key_of(value) for one, value in zip(attributes, values, strict=True)}
        columns = columns_of(plan, [pa.repeat(value, 1) for value in values], 1)
        labels, regions = np.zeros(len(columns), dtype=np.int64), np.zeros((len(columns), 1), dtype=np.uint16)
        for slot, column in enumerate(columns):
            write_regions(plan.grids[slot], column, 0, labels[slot : slot + 1], regions[slot])
        nulls = np.array([keys[one] is None for one in attributes], dtype=np.bool_)
        initial = InitialBitmaps(plan, 1)
        initial.look(columns, 0, 1)
        return _Tuple(plan, keys, labels, regions[:, 0].tolist(), nulls, initial, columns)

    def initial(self, block: Block) -> Words:
        """Return the GRB with which the tuple starts in a block."""
        self.initial_bitmaps.of(block, 0, 1)
        row = int(self.initial_bitmaps.bitmap_rows[0])
        return np.zeros_like(block.live) if row < 0 else np.array(self.initial_bitmaps.bitmaps[row])


@dataclass(frozen=True, slots=True)
class _Step:
    """A construct visited: its number in the block, the GRB afterwards, and whether a micro-arrow led to it."""

    construct: int
    region: int
    grb: Words
    by_arrow: bool


@dataclass(frozen=True, eq=False)
class _BlockWalk:
    """The path of a tuple through one block: the initial bitmap, the constructs visited, and the bits of the conjuncts
    that hold after verification.
    """

    number: int
    block: Block
    initial: Words
    steps: tuple[_Step, ...]
    satisfied: Bits

    @property
    def left(self) -> Words:
        return self.steps[-1].grb if self.steps else self.initial

    @property
    def evaluated(self) -> int:
        return len(self.steps)

    @property
    def dropped(self) -> bool:
        return not self.left.any()

    @cached_property
    def matching(self) -> npt.NDArray[np.int32]:
        """The handles of the queries that accept the tuple."""
        handles: npt.NDArray[np.int32] = np.unique(self.block.table.owner[self.satisfied])
        return handles


def traced(
    plan: Plan,
    values: Sequence[pa.Scalar],
    *,
    query_id: str | None = None,
    blocks: int = BLOCKS_SHOWN,
    listed: int = LISTED,
) -> Trace:
    """Return the trace of a tuple through a plan. ``values``: one Arrow scalar for each p-attribute, in the order of
    ``plan.p_attributes``.

    The trace has the matches of each block. At most ``blocks`` blocks are in detail: first the block of the query
    ``query_id``, then blocks that accept something, then the others in their order. ``listed``: the most query ids that
    the trace names at each step. Raise PlanError for an unknown query and for values that do not fit the plan.

    Cost: the evaluation of every block along its own sequence, and the verification of the conjuncts left. For a block
    in detail, also a pass over its bits at each step, to find the conjuncts eliminated there.
    """
    verdict, tuple_ = None, _Tuple.of(plan, values)
    if query_id is not None:
        verdict = judged(plan, query_id, tuple_.keys)
    walks: list[_BlockWalk | ListedTrace] = [_walked(tuple_, number) for number in range(len(plan.blocks))]
    walks += [
        ListedTrace.of(plan, len(plan.blocks) + place, tuple_.columns, tuple_.keys) for place in range(len(plan.listed))
    ]
    shown = _chosen(walks, None if verdict is None else verdict.block, blocks)
    handles = np.concatenate([plan.match_all_handles, *(walk.matching for walk in walks)])
    ordinals = np.sort(plan.ranks[handles])
    focus = -1 if query_id is None else plan.handle(query_id)
    if verdict is not None and verdict.block is not None:
        verdict = _with_walk(verdict, walks[verdict.block], focus)
    return Trace(
        version=plan.version,
        queries=len(plan),
        conjuncts=plan.conjunct_count,
        accepted_count=len(ordinals),
        accepted=tuple(plan.query_ids[ordinal].as_py() for ordinal in ordinals[:listed].tolist()),
        match_all=len(plan.match_all_handles),
        evaluated=sum(walk.evaluated for walk in walks),
        blocks=len(walks),
        dropped_blocks=sum(walk.dropped for walk in walks),
        blocks_shown=tuple(_block_trace(tuple_, walk, focus, listed) for walk in shown),
        verdict=verdict,
    )


def _walked(tuple_: _Tuple, number: int) -> _BlockWalk:
    """Evaluate a tuple in a block as sections 3.2, 4.3 and 5.1 of the paper define it, with the rows of the block's
    matrix. Return the tuple's path.
    """
    block = tuple_.plan.blocks[number]
    slots, bases, arrows = block.slots.tolist(), block.bases.tolist(), block.arrows
    initial = tuple_.initial(block)
    grb, steps, visited = initial, [], [False] * len(slots)
    in_sequence, target = iter(block.sequence.tolist()), -1
    while grb.any():
        by_arrow = target >= 0 and not visited[target]
        if not by_arrow:
            target = next((construct for construct in in_sequence if not visited[construct]), -1)
            if target < 0:
                break
        visited[target] = True
        region = tuple_.regions[slots[target]]
        row = bases[target] + 1 + region
        grb = grb & block.matrix[row]
        steps.append(_Step(target, region, grb, by_arrow))
        target = int(arrows[row]) if len(arrows) else -1
    return _BlockWalk(number, block, initial, tuple(steps), _verified(tuple_, block, _bits(grb)))


def _verified(tuple_: _Tuple, block: Block, bits: Bits) -> Bits:
    """Return those of ``bits`` whose conjuncts the tuple satisfies by their exact constraints. Patterns are not checked
    again: they have already set or cleared the bits of the GRB.
    """
    if not len(bits) or not block.table.has_inexact:
        return bits
    table = block.table.take(bits).wide()
    slots = table.slots
    keys, nulls = tuple_.labels[slots], tuple_.nulls[slots]
    admits = np.where(nulls, (table.code & ADMITS_NULL) != 0, (table.starts() <= keys) & (keys <= table.ends()))
    matched = np.array([attribute.is_matched for attribute in tuple_.plan.p_attributes], dtype=np.bool_)
    admits |= matched[slots]
    # Several intervals of one p-attribute are one constraint: their union.
    constraint, places = np.unique(table.conjuncts * (SLOT_MASK + 1) + slots, return_inverse=True)
    holds = np.zeros(len(constraint), dtype=np.bool_)
    np.logical_or.at(holds, places, admits)
    fails = np.zeros(len(bits), dtype=np.bool_)
    fails[constraint[~holds] // (SLOT_MASK + 1)] = True
    return bits[~fails]


def _chosen(walks: Sequence[_BlockWalk | ListedTrace], first: int | None, most: int) -> list[_BlockWalk | ListedTrace]:
    def rank(walk: _BlockWalk | ListedTrace) -> tuple[bool, bool, int]:
        return walk.number != first, not len(walk.satisfied), walk.number

    return sorted(sorted(walks, key=rank)[:most], key=lambda walk: (walk.number != first, walk.number))


def _block_trace(tuple_: _Tuple, walk: _BlockWalk | ListedTrace, focus: int, listed: int) -> BlockTrace:
    if isinstance(walk, ListedTrace):
        return walk.block_trace(focus, listed)
    plan, block = tuple_.plan, walk.block
    names = [plan.p_attributes[slot] for slot in block.slots.tolist()]
    losses = _Eliminating(tuple_, walk, focus, listed)
    visits, before = [], walk.initial
    for step in walk.steps:
        attribute = names[step.construct]
        slot = int(block.slots[step.construct])
        visits.append(
            Visit(
                attribute=shortened(str(attribute)),
                value=value_text(attribute, tuple_.keys),
                region=step.region,
                region_text=region_text(plan, slot, step.region),
                regions=plan.grids[slot].regions,
                is_null=step.region == plan.grids[slot].null_region,
                exact=plan.grids[slot].exact,
                by_arrow=step.by_arrow,
                before=_ones(before),
                after=_ones(step.grb),
                eliminated=losses.between(before, step.grb, attribute),
            )
        )
        before = step.grb
    held = np.zeros(block.capacity, dtype=np.bool_)
    held[walk.satisfied] = True
    return BlockTrace(
        number=walk.number,
        conjuncts=block.conjunct_count,
        sequence=tuple(shortened(str(names[construct])) for construct in block.sequence.tolist()),
        initial_conjuncts=_ones(walk.initial),
        patterns=losses.between(block.live, walk.initial, None),
        visits=tuple(visits),
        remaining=Remaining.of(plan, block.table.owner[_bits(walk.left)], focus, listed),
        verification=losses.between(walk.left, _packed(held), None),
        satisfied_conjuncts=len(walk.satisfied),
        matching_queries=len(walk.matching),
        dropped=walk.dropped,
    )


@dataclass(frozen=True)
class _Eliminating:
    """The search for the conjuncts eliminated between two states of a tuple's GRB in a block. ``focus``: the handle of
    the query whose conjuncts come first, or -1. ``listed``: the most conjuncts to name.
    """

    traced: _Tuple
    walk: _BlockWalk
    focus: int
    listed: int

    def between(self, before: Words, after: Words, attribute: PAttribute | None) -> Eliminations:
        """Return the conjuncts eliminated between two states of the GRB. ``attribute``: the p-attribute of the
        construct that eliminated the conjuncts; None if the term that fails may have any p-attribute.
        """
        bits = _bits(before & ~after)
        if not len(bits):
            return Eliminations(0, 0, ())
        handles, numbers = self.owners
        stays = np.zeros(len(handles), dtype=np.bool_)
        stays[numbers[_bits(after)]] = True
        is_out = ~stays[numbers[bits]]
        goes = np.zeros(len(handles), dtype=np.bool_)
        goes[numbers[bits[is_out]]] = True
        order = np.lexsort((bits, ~is_out, handles[numbers[bits]] != self.focus))[: self.listed]
        eliminated = tuple(self._eliminated_conjunct(bit, attribute) for bit in bits[order].tolist())
        return Eliminations(len(bits), int(np.count_nonzero(goes)), eliminated)

    @cached_property
    def owners(self) -> tuple[Bits, Bits]:
        """The handles of the queries of the block, and for each bit the index of its query among these handles."""
        handles, numbers = np.unique(self.walk.block.table.owner, return_inverse=True)
        return handles.astype(np.int64), numbers.astype(np.int64)

    def _eliminated_conjunct(self, bit: int, attribute: PAttribute | None) -> EliminatedConjunct:
        plan, number = self.traced.plan, self.walk.number
        handle = int(self.walk.block.table.owner[bit])
        terms = list(plan.constraints(number, bit))
        place = int(np.count_nonzero(self.walk.block.table.owner[: bit + 1] == handle))
        term = failing_term(terms, self.traced.keys, attribute)
        return EliminatedConjunct(plan.query_ids[int(plan.ranks[handle])].as_py(), place, term)


def _with_walk(verdict: Verdict, walk: _BlockWalk | ListedTrace, handle: int) -> Verdict:
    """Return the verdict on a query, with the cause of elimination added to each conjunct that does not hold.
    ``handle``: the handle of the query.
    """
    bits = np.flatnonzero(walk.block.table.owner == handle).tolist()
    judged_bits = zip(verdict.conjuncts, bits, strict=True)
    eliminated = (
        walk.eliminated(one, bit) if isinstance(walk, ListedTrace) else _eliminated(one, walk, bit)
        for one, bit in judged_bits
    )
    return replace(verdict, conjuncts=tuple(eliminated))


def _eliminated(conjunct: JudgedConjunct, walk: _BlockWalk, bit: int) -> JudgedConjunct:
    if conjunct.holds:
        return conjunct
    if not _has(walk.initial, bit):
        return replace(conjunct, eliminated_by="patterns")
    for place, step in enumerate(walk.steps, 1):
        if not _has(step.grb, bit):
            return replace(conjunct, eliminated_by="construct", eliminated_at=place)
    return replace(conjunct, eliminated_by="verification")


def _has(grb: Words, bit: int) -> bool:
    return bool((int(grb[bit >> 6]) >> (bit & 63)) & 1)


def _ones(grb: Words) -> int:
    return int(np.bitwise_count(grb).sum())


def _bits(grb: Words) -> Bits:
    return np.flatnonzero(np.unpackbits(np.ascontiguousarray(grb).view(np.uint8), bitorder="little"))


def _packed(bits: npt.NDArray[Any]) -> Words:
    words: Words = np.packbits(bits, bitorder="little").view(np.uint64)
    return words
