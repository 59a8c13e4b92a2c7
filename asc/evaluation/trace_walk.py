"""Following one tuple through a plan, so that it can be told why it reaches a query or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from asc.evaluation.initial_bitmaps import Beginnings
from asc.evaluation.listed_trace import ListedWay
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

BLOCKS_TOLD = 8
LISTED = 10


@dataclass(frozen=True)
class _Tuple:
    """One tuple as a plan sees it: its keys by p-attribute; by slot the int64 key, the region and whether it is NULL;
    what it begins each block with.
    """

    plan: Plan
    keys: Keys
    labels: Bits
    regions: Sequence[int]
    nulls: npt.NDArray[np.bool_]
    beginnings: Beginnings
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
        beginnings = Beginnings(plan, 1)
        beginnings.look(columns, 0, 1)
        return _Tuple(plan, keys, labels, regions[:, 0].tolist(), nulls, beginnings, columns)

    def initial(self, block: Block) -> Words:
        """The GRB that it begins a block with."""
        self.beginnings.of(block, 0, 1)
        row = int(self.beginnings.begins[0])
        return np.zeros_like(block.live) if row < 0 else np.array(self.beginnings.starts[row])


@dataclass(frozen=True, slots=True)
class _Step:
    """A construct visited: its place in the block, the GRB after it, whether a micro-arrow led to it."""

    construct: int
    region: int
    grb: Words
    by_arrow: bool


@dataclass(frozen=True, eq=False)
class _Way:
    """The way through one block: what it began with, the steps, and the bits that hold after verification."""

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
    blocks: int = BLOCKS_TOLD,
    listed: int = LISTED,
) -> Trace:
    """The way of a tuple through a plan; ``values``: one Arrow scalar a p-attribute in the order of
    ``plan.p_attributes``.

    Of each block is known what it accepts. ``blocks`` of them at most are told in detail: that of the query
    ``query_id`` first, then those that accept something, then the others in their order. ``listed``: of ids, so many at
    most at each place. Raises PlanError for an unknown query and for values that are none of the plan's.

    Cost: every block is walked along its own sequence, a row of its matrix a construct, and what is left is verified;
    of a block that is told also what fell out at each step, a pass over its bits.
    """
    verdict, own = None, _Tuple.of(plan, values)
    if query_id is not None:
        verdict = judged(plan, query_id, own.keys)
    ways: list[_Way | ListedWay] = [_walked(own, number) for number in range(len(plan.blocks))]
    ways += [ListedWay.of(plan, len(plan.blocks) + place, own.columns, own.keys) for place in range(len(plan.listed))]
    told = _chosen(ways, None if verdict is None else verdict.block, blocks)
    handles = np.concatenate([plan.match_all_handles, *(way.matching for way in ways)])
    ordinals = np.sort(plan.ranks[handles])
    focus = -1 if query_id is None else plan.handle(query_id)
    if verdict is not None and verdict.block is not None:
        verdict = _with_way(verdict, ways[verdict.block], focus)
    return Trace(
        version=plan.version,
        queries=len(plan),
        conjuncts=plan.conjunct_count,
        accepted_count=len(ordinals),
        accepted=tuple(plan.query_ids[ordinal].as_py() for ordinal in ordinals[:listed].tolist()),
        match_all=len(plan.match_all_handles),
        evaluated=sum(way.evaluated for way in ways),
        blocks=len(ways),
        dropped_blocks=sum(way.dropped for way in ways),
        blocks_shown=tuple(_told(own, way, focus, listed) for way in told),
        verdict=verdict,
    )


def _walked(own: _Tuple, number: int) -> _Way:
    """Sections 3.2, 4.3 and 5.1, over the rows of the block."""
    block = own.plan.blocks[number]
    slots, bases, arrows = block.slots.tolist(), block.bases.tolist(), block.arrows
    initial = own.initial(block)
    grb, steps, visited = initial, [], [False] * len(slots)
    in_sequence, target = iter(block.sequence.tolist()), -1
    while grb.any():
        by_arrow = target >= 0 and not visited[target]
        if not by_arrow:
            target = next((construct for construct in in_sequence if not visited[construct]), -1)
            if target < 0:
                break
        visited[target] = True
        region = own.regions[slots[target]]
        row = bases[target] + 1 + region
        grb = grb & block.matrix[row]
        steps.append(_Step(target, region, grb, by_arrow))
        target = int(arrows[row]) if len(arrows) else -1
    return _Way(number, block, initial, tuple(steps), _verified(own, block, _bits(grb)))


def _verified(own: _Tuple, block: Block, bits: Bits) -> Bits:
    """Of some bits those whose conjuncts hold by their exact constraints; what patterns say is known by the GRB."""
    if not len(bits) or not block.table.has_inexact:
        return bits
    table = block.table.take(bits).wide()
    slots = table.slots
    keys, nulls = own.labels[slots], own.nulls[slots]
    admits = np.where(nulls, (table.code & ADMITS_NULL) != 0, (table.starts() <= keys) & (keys <= table.ends()))
    matched = np.array([attribute.is_matched for attribute in own.plan.p_attributes], dtype=np.bool_)
    admits |= matched[slots]
    # Several intervals of one p-attribute are one constraint: their union.
    constraint, places = np.unique(table.conjuncts * (SLOT_MASK + 1) + slots, return_inverse=True)
    holds = np.zeros(len(constraint), dtype=np.bool_)
    np.logical_or.at(holds, places, admits)
    fails = np.zeros(len(bits), dtype=np.bool_)
    fails[constraint[~holds] // (SLOT_MASK + 1)] = True
    return bits[~fails]


def _chosen(ways: Sequence[_Way | ListedWay], first: int | None, most: int) -> list[_Way | ListedWay]:
    def rank(way: _Way | ListedWay) -> tuple[bool, bool, int]:
        return way.number != first, not len(way.satisfied), way.number

    return sorted(sorted(ways, key=rank)[:most], key=lambda way: (way.number != first, way.number))


def _told(own: _Tuple, way: _Way | ListedWay, focus: int, listed: int) -> BlockTrace:
    if isinstance(way, ListedWay):
        return way.told(focus, listed)
    plan, block = own.plan, way.block
    names = [plan.p_attributes[slot] for slot in block.slots.tolist()]
    losses = _Eliminating(own, way, focus, listed)
    visits, before = [], way.initial
    for step in way.steps:
        attribute = names[step.construct]
        slot = int(block.slots[step.construct])
        visits.append(
            Visit(
                attribute=shortened(str(attribute)),
                value=value_text(attribute, own.keys),
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
    held[way.satisfied] = True
    return BlockTrace(
        number=way.number,
        conjuncts=block.conjunct_count,
        sequence=tuple(shortened(str(names[construct])) for construct in block.sequence.tolist()),
        initial_conjuncts=_ones(way.initial),
        patterns=losses.between(block.live, way.initial, None),
        visits=tuple(visits),
        remaining=Remaining.of(plan, block.table.owner[_bits(way.left)], focus, listed),
        verification=losses.between(way.left, _packed(held), None),
        satisfied_conjuncts=len(way.satisfied),
        matching_queries=len(way.matching),
        dropped=way.dropped,
    )


@dataclass(frozen=True)
class _Eliminating:
    """Tells what fell out between two states of a GRB; the conjuncts of ``focus`` come first."""

    own: _Tuple
    way: _Way
    focus: int
    listed: int

    def between(self, before: Words, after: Words, attribute: PAttribute | None) -> Eliminations:
        """``attribute``: whose construct it was, None where any term may have failed."""
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
        fallen = tuple(self._fallen(bit, attribute) for bit in bits[order].tolist())
        return Eliminations(len(bits), int(np.count_nonzero(goes)), fallen)

    @cached_property
    def owners(self) -> tuple[Bits, Bits]:
        """The queries of the block, and the place of that of each bit among them."""
        handles, numbers = np.unique(self.way.block.table.owner, return_inverse=True)
        return handles.astype(np.int64), numbers.astype(np.int64)

    def _fallen(self, bit: int, attribute: PAttribute | None) -> EliminatedConjunct:
        plan, number = self.own.plan, self.way.number
        handle = int(self.way.block.table.owner[bit])
        terms = list(plan.constraints(number, bit))
        place = int(np.count_nonzero(self.way.block.table.owner[: bit + 1] == handle))
        term = failing_term(terms, self.own.keys, attribute)
        return EliminatedConjunct(plan.query_ids[int(plan.ranks[handle])].as_py(), place, term)


def _with_way(verdict: Verdict, way: _Way | ListedWay, handle: int) -> Verdict:
    """The verdict with what ruled out each of its conjuncts."""
    bits = np.flatnonzero(way.block.table.owner == handle).tolist()
    told = zip(verdict.conjuncts, bits, strict=True)
    eliminated = (
        way.eliminated(one, bit) if isinstance(way, ListedWay) else _eliminated(one, way, bit) for one, bit in told
    )
    return replace(verdict, conjuncts=tuple(eliminated))


def _eliminated(conjunct: JudgedConjunct, way: _Way, bit: int) -> JudgedConjunct:
    if conjunct.holds:
        return conjunct
    if not _has(way.initial, bit):
        return replace(conjunct, eliminated_by="patterns")
    for place, step in enumerate(way.steps, 1):
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
