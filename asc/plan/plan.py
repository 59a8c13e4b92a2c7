"""Plans: the queries of a stream, compiled into flat arrays. A plan is immutable and has a version."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from asc.errors import PlanError
from asc.frozen import frozen_int32
from asc.keys.attribute import PAttribute
from asc.keys.box_shapes import ShapesOfBoxes
from asc.keys.constraint import Constraint, Cut
from asc.keys.dictionary import Dictionary
from asc.keys.grid import Grid
from asc.keys.patterns import Patterns
from asc.keys.shapes import ShapeSet
from asc.plan.block import Block, used_slots
from asc.plan.conjuncts import Integers, decoded
from asc.plan.construct import Construct, RegionArray, bits_of
from asc.plan.destination import Destination, DestinationTable
from asc.plan.order import Order
from asc.plan.posting_block import ListedBlock
from asc.predicate.normal_form.disjunctive_form import Predicate

Matched = Patterns | ShapeSet | ShapesOfBoxes
"""All LIKE patterns with which a plan matches the texts of one p-attribute, or all shapes with which it matches points
or boxes.
"""


@dataclass(frozen=True, slots=True)
class Query:
    """A standing query: its id, its predicate, and its topic. ``destination``: the operator that receives the accepted
    records instead of the topic, or None.
    """

    id: str
    predicate: Predicate
    topic: str = ""
    destination: Destination | None = None


@dataclass(frozen=True, slots=True)
class CompileOptions:
    """The limits by which the compiler divides the queries of a plan into blocks, regions and listed blocks.

    - ``exact_bytes``: the most bytes of a plan that is one block of exact regions, the unchanged design of the paper. A
      larger plan is divided by the following limits.
    - ``always_exact``: every plan is one block of exact regions, whatever its size, for experiments.
    - ``block_conjuncts``: the most conjuncts of a block. With more conjuncts, a block has longer bitmaps, which a
      processor reads at the full speed of memory. With fewer conjuncts, a tuple more often excludes all conjuncts of
      the block before it reaches the last construct.
    - ``exact_regions``: a p-attribute with fewer boundaries than this number keeps all its boundaries.
    - ``bounded_regions``, ``bounded_rows``: a p-attribute with more boundaries gets ``bounded_rows`` divided by the
      number of all p-attributes as its number of regions, but at least ``bounded_regions``. So all p-attributes
      together have about ``bounded_rows`` regions, which is the number of bits of a conjunct.
    - ``pattern_bytes``: the most bytes of all distinct LIKE patterns of a plan.
    - ``listed_conjuncts``: the fewest conjuncts of a block listed by values. If fewer conjuncts require rare values of
      one p-attribute (:mod:`asc.plan.index_choice`), bitmaps evaluate them as fast.
    - ``spark_attributes``: the most distinct p-attributes of a plan that are not plain columns, so that Spark computes
      them.
    - ``rebuild_share``: the share of changed queries at which the compiler compiles the whole plan anew. It counts the
      changes since the whole plan was last compiled.
    """

    exact_bytes: int = 1 << 20
    always_exact: bool = False
    block_conjuncts: int = 16_384
    exact_regions: int = 256
    bounded_regions: int = 32
    bounded_rows: int = 1_120
    pattern_bytes: int = 1 << 25
    listed_conjuncts: int = 4_096
    spark_attributes: int = 200
    rebuild_share: float = 0.25


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """A compiled set of queries.

    ``p_attributes``: the columns that the executor needs, in this order; the index of a p-attribute is its slot.
    ``grids``, by slot: the boundaries between the regions of the p-attribute. ``dictionaries``, by slot: the
    byte-string constants. ``patterns``, by slot: the patterns or shapes of a p-attribute that is matched with them.
    Every query has an ordinal, its index in the sorted ``query_ids``. It also has a handle, which stays the same from
    plan to plan so that blocks can be shared. ``ranks`` int32[handles] gives the ordinal of a handle, -1 if the query
    was removed. ``topic_of`` int32[queries] points into ``topic_names``. ``destinations``: the operators of the queries
    that have one. ``match_all`` and ``contradictions`` int32: handles of the queries that no block holds. ``changes``
    counts the queries added and removed since the whole plan was last compiled. ``listed``: the listed blocks; their
    numbers come after those of the other blocks.

    Invariant: immutable, including the arrays. The conjuncts of a query are in one block, listed or not. Cost: see
    :class:`Block`. Besides its blocks a plan has its grids, and for each query 12 bytes and the id.
    """

    version: int
    options: CompileOptions
    p_attributes: tuple[PAttribute, ...]
    grids: tuple[Grid, ...]
    dictionaries: Mapping[int, Dictionary]
    blocks: tuple[Block, ...]
    query_ids: pa.StringArray
    ranks: Integers
    topic_names: pa.StringArray
    topic_of: Integers
    destinations: DestinationTable
    match_all_handles: Integers
    contradiction_handles: Integers
    patterns: Mapping[int, Matched]
    changes: int = 0
    listed: tuple[ListedBlock, ...] = ()

    def __len__(self) -> int:
        """Return the number of queries."""
        return len(self.query_ids)

    def __contains__(self, query_id: str) -> bool:
        return self.ordinal(query_id) is not None

    @property
    def topics(self) -> pa.DictionaryArray:
        """The topic of each query, in the order of the ordinals. The Arrow array is dictionary-encoded, and uses the
        plan's memory.
        """
        return pa.DictionaryArray.from_arrays(pa.array(self.topic_of), self.topic_names)

    @property
    def computed(self) -> set[PAttribute]:
        """The p-attributes that Spark computes, because they are not plain columns, and that some query uses. (A plan
        may also have p-attributes that only removed queries used.)
        """
        used = {self.p_attributes[slot] for slot in used_slots(self.blocks)}
        return {own for own in used.union(*(block.attributes for block in self.listed)) if own.is_computed}

    @property
    def handles(self) -> Integers:
        """The handle of each query, in the order of the ordinals. Cost: a pass over ``ranks``."""
        present = np.flatnonzero(self.ranks >= 0)
        handles = np.empty(len(self), dtype=np.int32)
        handles[self.ranks[present]] = present
        return frozen_int32(handles)

    @property
    def match_all(self) -> Integers:
        """The ordinals of the queries that accept every tuple, ascending. They are in no construct."""
        return np.sort(self.ranks[self.match_all_handles])

    @property
    def conjunct_count(self) -> int:
        listed = sum(int(np.count_nonzero(self.ranks[block.table.owner] >= 0)) for block in self.listed)
        return listed + sum(block.conjunct_count for block in self.blocks)

    @property
    def nbytes(self) -> int:
        """The number of bytes of the whole plan."""
        arrays = (self.ranks, self.topic_of, self.match_all_handles, self.contradiction_handles)
        parts: Sequence[Block | ListedBlock | Grid | Dictionary | Matched] = (
            *self.blocks,
            *self.listed,
            *self.grids,
            *self.dictionaries.values(),
            *self.patterns.values(),
        )
        return (
            sum(array.nbytes for array in arrays)
            + sum(part.nbytes for part in parts)
            + int(self.query_ids.nbytes + self.topic_names.nbytes)
            + self.destinations.nbytes
        )

    def ordinal(self, query_id: str) -> int | None:
        """Return the ordinal of a query, which is its index in ``query_ids``. Return None if the plan has no query with
        this id.
        """
        place = insertion_point(self.query_ids, query_id)
        return place if place < len(self.query_ids) and self.query_ids[place].as_py() == query_id else None

    def handle(self, query_id: str) -> int:
        """Return the handle of a query, which is its number in the blocks. Raise PlanError if the plan has no query
        with this id.
        """
        ordinal = self.ordinal(query_id)
        if ordinal is None:
            raise PlanError("unknown query", query_id, "it is not in the plan")
        return int(np.flatnonzero(self.ranks == ordinal)[0])

    def conjuncts_of(self, query_id: str) -> list[tuple[int, list[int]]]:
        """Return a list of one pair: the number of the block that contains a query, and the bits of the query's
        conjuncts in that block. The list is empty for a query without conjuncts, which accepts all tuples or none.
        """
        handle = self.handle(query_id)
        tables = [*(block.table for block in self.blocks), *(block.table for block in self.listed)]
        found = ((number, np.flatnonzero(table.owner == handle)) for number, table in enumerate(tables))
        return [(number, bits.tolist()) for number, bits in found if len(bits)]

    def constraints(self, block: int, bit: int) -> Iterator[tuple[PAttribute, Constraint]]:
        """Return the exact constraints of the conjunct at a bit of a block, or at an index of a listed block."""
        if block >= len(self.blocks):
            return self.listed[block - len(self.blocks)].constraints(bit)
        return decoded(self.blocks[block].table, bit, self.dictionaries, self.p_attributes)

    def constructs(self, number: int) -> tuple[Construct, ...]:
        """Return the constructs of a block as the paper defines them. They are views of the block's memory, not copies.
        ``number``: the number of the block.
        """
        block = self.blocks[number]
        qubs, constructs = block.qubs, []
        for place, (slot, base) in enumerate(zip(block.slots.tolist(), block.bases.tolist(), strict=True)):
            rows = block.matrix[base + 1 : base + 2 + block.region_count(place)]
            grid = self.grids[slot]
            constructs.append(
                Construct(
                    self.p_attributes[slot],
                    self.cuts(slot),
                    grid.exact,
                    bits_of(block.matrix[base]),
                    RegionArray(rows, qubs, place),
                )
            )
        return tuple(constructs)

    def with_orders(self, orders: Mapping[int, Order]) -> Plan:
        """Return the plan with other orders of some blocks. ``orders``: the orders, by the number of the block. Raise
        PlanError if an order does not fit its block.
        """
        blocks = list(self.blocks)
        for number, order in orders.items():
            blocks[number] = blocks[number].with_order(order)
        return replace(self, blocks=tuple(blocks))

    def with_orders_of(self, other: Plan, orders: Mapping[int, Order]) -> Plan:
        """Return this plan with orders for blocks of another plan, ``other``, such as those that the monitor has found
        for it. ``orders``: the orders, by the number of the block in ``other``. Only blocks that both plans have get
        their order.

        A block may have another number in this plan. Return this plan unchanged if the two plans share no block. Cost:
        the number of blocks. Two blocks are the same if they have the same array as ``matrix``: a change of the
        conjuncts creates a new array.
        """
        places = {id(block.matrix): number for number, block in enumerate(self.blocks)}
        found = {places.get(id(other.blocks[number].matrix)): order for number, order in orders.items()}
        still = {place: order for place, order in found.items() if place is not None}
        return self.with_orders(still) if still else self

    def cuts(self, slot: int) -> tuple[Cut, ...]:
        """Return the points between the regions of the p-attribute with the index ``slot``, as keys."""
        return tuple(self.cut(slot, place) for place in range(self.cut_count(slot)))

    def cut_count(self, slot: int) -> int:
        """Return the number of points between the regions of the p-attribute with the index ``slot``."""
        grid = self.grids[slot]
        exact = grid.exact and slot not in self.dictionaries
        return 2 * len(grid.constants()) if exact else len(grid.boundaries)

    def cut(self, slot: int, place: int) -> Cut:
        """Return the point between region ``place`` of a p-attribute and the next region. ``slot``: the index of the
        p-attribute.
        """
        grid = self.grids[slot]
        dictionary = self.dictionaries.get(slot)
        if dictionary is not None:
            constant, is_constant = dictionary.value(int(grid.boundaries[place]))
            return (constant, 0 if is_constant else 1)
        if grid.exact:
            return (int(grid.boundaries[place - place % 2]), place % 2)
        return (int(grid.boundaries[place]), 0)


def insertion_point(ids: pa.StringArray, query_id: str) -> int:
    """Return the index of ``query_id`` in sorted ids. If the id is not there, return the index at which it would be
    inserted.
    """
    low, high = 0, len(ids)
    while low < high:
        middle = (low + high) // 2
        if ids[middle].as_py() < query_id:
            low = middle + 1
        else:
            high = middle
    return low
