"""Listed blocks: conjuncts found by posting lists, for p-attributes of which a value satisfies few of very many
conjuncts.

A construct of the paper's Definition 1 has a bitmap for each region. But nearly every conjunct may require a different
value of a p-attribute, or a different shape, which contains few positions. Then most words of a bitmap are read for
nothing. A listed block instead lists the conjuncts that a value may satisfy. The other constraints of these conjuncts
are then evaluated for the tuple, exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from asc.frozen import frozen, frozen_int32
from asc.keys.attribute import PAttribute
from asc.keys.constraint import Constraint, Key
from asc.keys.dictionary import Dictionary
from asc.plan.conjuncts import (
    ConjunctTable,
    Integers,
    TableArrays,
    decoded,
    encoded,
    joined,
    translated,
    used_constants,
)
from asc.plan.value_index import ValueIndex
from asc.predicate.normal_form.disjunctive_form import Conjunct, Predicate
from asc.spatial.index import ShapeIndex, Shapes

Array = npt.NDArray[Any]

_SMALL = 1_024
"""The greatest weight at which a listed block is always merged with others (:attr:`ListedBlock.weight`)."""

_BYTES_A_CONJUNCT = 512


class ListedArrays(NamedTuple):
    """The arrays of a :class:`ListedBlock`, without its index and its shapes, as kernels read them.

    ``labels``: the labels of the block's shapes; empty if the block is listed by values. ``first`` int32[shapes + 1]:
    the conjuncts listed under shape s are ``first[s]`` to ``first[s + 1]``. ``has_others``: whether any conjunct has a
    constraint beside the one under which it is listed.
    """

    table: TableArrays
    labels: Array
    first: Array
    has_others: bool


@dataclass(frozen=True, eq=False)
class ListedBlock:
    """Conjuncts that each require a shape around the position of one p-attribute, or one of a few values of that
    p-attribute.

    ``attributes``: the p-attributes of the conjuncts; their indices are the slots of this block. ``slot``: the slot by
    which conjuncts are listed. ``dictionaries``: the byte-string constants by slot; one dictionary has the shapes of
    all positions. ``table``: the exact constraints of each conjunct, whose owner is a handle of the plan. ``index``:
    the shapes or values under which conjuncts are listed. ``first`` int32[shapes + 1]: the conjuncts listed under shape
    s are ``first[s]`` to ``first[s + 1]``. It is empty for values, whose lists are in the index. ``repeats``: whether a
    query has several conjuncts.

    Invariant: the block does not depend on other parts of the plan, so a change of other parts does not change the
    block. By shapes, a conjunct is listed under one required shape, the conjunct's first constraint in the table. By
    values, it is listed under each value that its first constraint requires. Conjuncts of removed queries stay until
    the block is built again; their handles have no rank. Cost: the keys of the shapes and the index
    (:class:`asc.spatial.index.ShapeIndex`, :class:`asc.plan.value_index.ValueIndex`), 10 or 18 bytes an interval, 8 a
    conjunct.
    """

    attributes: tuple[PAttribute, ...]
    slot: int
    dictionaries: Mapping[int, Dictionary]
    table: ConjunctTable
    first: Integers
    index: ShapeIndex | ValueIndex
    repeats: bool

    @staticmethod
    def of(conjuncts: Iterable[tuple[int, Conjunct]], listed: PAttribute) -> ListedBlock:
        """Return the block of some (handle, conjunct) pairs. ``listed``: the p-attribute of which each conjunct
        requires a shape, or one of a few values.
        """
        pairs = list(conjuncts)
        read = {attribute.read for _, conjunct in pairs for attribute, _ in conjunct}
        attributes = tuple(sorted(read, key=lambda own: (own.sql, own.is_matched)))
        slots = {attribute: slot for slot, attribute in enumerate(attributes)}
        dictionaries = _dictionaries(pairs, attributes, slots)
        labels = {slot: own.labels_by_constant().__getitem__ for slot, own in dictionaries.items()}
        table = encoded(pairs, slots, labels)
        return _listed(attributes, slots[listed], dictionaries, table)

    def __len__(self) -> int:
        """Return the number of conjuncts, including those of removed queries."""
        return len(self.table)

    @property
    def weight(self) -> int:
        """The cost of building the block again: the number of conjuncts, plus a number in proportion to the length of
        the shapes.
        """
        return len(self) + (len(self.dictionaries[self.slot].data) // _BYTES_A_CONJUNCT if self.by_shapes else 0)

    @property
    def listed(self) -> PAttribute:
        """The p-attribute by whose shapes or values the conjuncts are listed."""
        return self.attributes[self.slot]

    @property
    def by_shapes(self) -> bool:
        """True if the conjuncts are listed by shapes; otherwise by values."""
        return self.listed.is_matched

    @cached_property
    def shapes(self) -> Shapes:
        """The keys of the shapes, as kernels read them; empty if the block is listed by values. They are cached,
        because each batch reads them.
        """
        own = self.dictionaries[self.slot] if self.by_shapes else Dictionary.of(())
        return Shapes.of(own.offsets, own.data)

    @cached_property
    def arguments(self) -> ListedArrays:
        """The block as kernels read it. It is cached, because each batch reads it."""
        own = self.dictionaries[self.slot] if self.by_shapes else Dictionary.of(())
        return ListedArrays(
            table=self.table.arguments,
            labels=own.labels,
            first=self.first,
            has_others=int(self.table.first[-1]) > len(self),
        )

    @property
    def under(self) -> int:
        """The number of distinct shapes, or values, under which conjuncts are listed."""
        return len(self.index) if isinstance(self.index, ValueIndex) else len(self.shapes)

    @property
    def finds_twice(self) -> bool:
        """True if a query may be found several times for a tuple."""
        return self.repeats or (isinstance(self.index, ShapeIndex) and self.index.has_turns)

    def count_for(self, key: Key) -> int:
        """Return the number of conjuncts that are listed under a value."""
        if not isinstance(self.index, ValueIndex):
            return 0
        known = self.dictionaries.get(self.slot)
        return len(self.index.conjuncts_for(key if known is None else known.label(key)))

    @property
    def nbytes(self) -> int:
        own = {id(one): one.nbytes for one in self.dictionaries.values()}
        return self.table.nbytes + self.first.nbytes + self.index.nbytes + sum(own.values())

    def conjuncts_of(self, handle: int) -> list[int]:
        """Return the conjuncts of a query. Cost: a pass over the owners."""
        return np.flatnonzero(self.table.owner == handle).tolist()  # type: ignore[no-any-return]

    def constraints(self, conjunct: int) -> Iterator[tuple[PAttribute, Constraint]]:
        """Return the exact constraints of a conjunct."""
        return decoded(self.table, conjunct, self.dictionaries, self.attributes)

    def with_owners(self, owner: Integers) -> ListedBlock:
        """Return the block with other handles of the queries. ``owner``: the new handle for each conjunct."""
        table = self.table
        return replace(self, table=ConjunctTable(table.first, table.code, table.low, table.high, frozen_int32(owner)))


def listed_under(predicate: Predicate) -> PAttribute | None:
    """Return the position by whose shapes all conjuncts of a predicate can be listed. Return None if that is
    impossible.

    A conjunct that has only negated shapes, or no shape, cannot be listed. Nearly every position may satisfy such a
    conjunct, so it stays in a bitmap.
    """
    positions: list[PAttribute] = []
    for conjunct in predicate.conjuncts:
        asked = [
            attribute.read
            for attribute, constraint in conjunct
            if attribute.like is not None and attribute.read.is_point and _asks(constraint)
        ]
        positions = asked if conjunct is predicate.conjuncts[0] else [own for own in positions if own in asked]
        if not positions:
            return None
    return positions[0] if positions else None


def changed(blocks: Sequence[ListedBlock], added: Sequence[ListedBlock], ranks: Integers) -> tuple[ListedBlock, ...]:
    """Return the blocks of a plan and the added blocks, merged so that each p-attribute has few blocks.

    A block is merged with others if its weight is at most twice the weight of these, or at most _SMALL. ``ranks``: the
    ranks of all handles; merged blocks omit conjuncts without a rank. Cost: the blocks that are built again. If k
    queries are added one by one, each query is in log2(k) of them.
    """
    kept = list(blocks)
    for block in added:
        same_attribute = [one for one in kept if one.listed == block.listed]
        others = [one for one in kept if one.listed != block.listed]
        together, weight = [block], block.weight
        while same_attribute and same_attribute[-1].weight <= max(2 * weight, _SMALL):
            together.append(same_attribute.pop())
            weight += together[-1].weight
        if len(together) > 1:
            made = merged(together, ranks)
            same_attribute += [made] if made is not None else []
        else:
            same_attribute.append(block)
        kept = [*others, *same_attribute]
    return tuple(kept)


def merged(blocks: Sequence[ListedBlock], ranks: Integers) -> ListedBlock | None:
    """Return one block with the conjuncts of several blocks of the same p-attribute. Conjuncts of removed queries,
    whose handles have no rank, are omitted.

    Return None if no conjunct is left.
    """
    if len(blocks) == 1 and (ranks[blocks[0].table.owner] >= 0).all():
        return blocks[0]
    attributes = tuple(
        sorted({own for block in blocks for own in block.attributes}, key=lambda own: (own.sql, own.is_matched))
    )
    slots = {attribute: slot for slot, attribute in enumerate(attributes)}
    living = [block.table.take(np.flatnonzero(ranks[block.table.owner] >= 0)) for block in blocks]
    constants: dict[int, set[bytes]] = {}
    for block, table in zip(blocks, living, strict=True):
        for slot, values in used_constants(table.wide(), block.dictionaries).items():
            constants.setdefault(_shared(attributes, slots[block.attributes[slot]]), set()).update(values)
    shared = {slot: Dictionary.of(values) for slot, values in constants.items()}
    dictionaries = {
        slot: shared[_shared(attributes, slot)]
        for slot in range(len(attributes))
        if _shared(attributes, slot) in shared and attributes[slot].space.labelled
    }
    tables = [
        translated(table.wide(), block.attributes, block.dictionaries, slots, dictionaries)
        for block, table in zip(blocks, living, strict=True)
        if len(table)
    ]
    if not tables:
        return None
    return _listed(attributes, slots[blocks[0].listed], dictionaries, joined(tables))


def by_values(
    attributes: tuple[PAttribute, ...], slot: int, dictionaries: Mapping[int, Dictionary], table: ConjunctTable
) -> ListedBlock:
    """Return the block of the conjuncts of a table, listed by values. Each conjunct requires one of a few values of
    ``slot``. The conjuncts keep their order.
    """
    wide = table.wide()
    conjuncts, asks = wide.conjuncts, wide.slots == slot
    index = ValueIndex.of(wide.low[asks], conjuncts[asks])
    # The constraint by which a conjunct is listed comes first: a hit satisfies it, so the evaluation skips it.
    order = np.argsort(conjuncts * 2 + ~asks, kind="stable")
    ordered = ConjunctTable(wide.first, wide.code[order], wide.low[order], wide.high[order], wide.owner)
    repeats = len(np.unique(wide.owner)) < len(wide.owner)
    first = frozen_int32(np.empty(0))
    return ListedBlock(attributes, slot, dictionaries, ordered.compact(), first, index, repeats)


def _listed(
    attributes: tuple[PAttribute, ...], slot: int, dictionaries: Mapping[int, Dictionary], table: ConjunctTable
) -> ListedBlock:
    """Return the block of the conjuncts of a table, listed by the shapes or by the values of ``slot``. The conjuncts
    may be in any order.
    """
    made = _by_shapes if attributes[slot].is_matched else by_values
    return made(attributes, slot, dictionaries, table)


def _by_shapes(
    attributes: tuple[PAttribute, ...], slot: int, dictionaries: Mapping[int, Dictionary], table: ConjunctTable
) -> ListedBlock:
    """Return the block of the conjuncts of a table, listed by shapes. Each conjunct is listed under one shape that it
    requires. The conjuncts are in the order of these shapes.
    """
    wide = table.wide()
    dictionary = dictionaries[slot]
    asks = np.flatnonzero((wide.slots == slot) & (wide.low == wide.high))
    conjuncts = wide.conjuncts
    # If a conjunct requires several shapes, the first one drives it: nothing is known that would make another one
    # better.
    _, places = np.unique(conjuncts[asks], return_index=True)
    driving = asks[places]
    shape = np.searchsorted(dictionary.labels, wide.low[driving])
    is_driving = np.zeros(len(conjuncts), dtype=np.bool_)
    is_driving[driving] = True
    # The driving constraint comes first: a hit satisfies it, so the evaluation skips it.
    order = np.argsort(conjuncts * 2 + ~is_driving, kind="stable")
    ordered = ConjunctTable(wide.first, wide.code[order], wide.low[order], wide.high[order], wide.owner)
    by_shape = np.lexsort((wide.owner, shape))
    first = np.zeros(len(dictionary) + 1, dtype=np.int32)
    np.cumsum(np.bincount(shape, minlength=len(dictionary)), out=first[1:])
    driven = np.unique(shape).astype(np.int32)
    shapes = Shapes.of(dictionary.offsets, dictionary.data)
    index = ShapeIndex.of(shapes, driven)
    repeats = len(np.unique(wide.owner)) < len(wide.owner)
    return ListedBlock(attributes, slot, dictionaries, ordered.take(by_shape).compact(), frozen(first), index, repeats)


def _dictionaries(
    pairs: Sequence[tuple[int, Conjunct]], attributes: Sequence[PAttribute], slots: Mapping[PAttribute, int]
) -> dict[int, Dictionary]:
    constants: dict[int, set[bytes]] = {}
    for _, conjunct in pairs:
        for attribute, constraint in conjunct:
            read = attribute.read
            if read.space.labelled:
                values = constraint.constants() if attribute.like is None else (attribute.like.key,)
                constants.setdefault(_shared(attributes, slots[read]), set()).update(values)
    shared = {slot: Dictionary.of(values) for slot, values in constants.items()}
    return {
        slot: shared[_shared(attributes, slot)]
        for slot, attribute in enumerate(attributes)
        if attribute.space.labelled and _shared(attributes, slot) in shared
    }


def _shared(attributes: Sequence[PAttribute], slot: int) -> int:
    """Return the slot whose dictionary a slot uses. All positions share the dictionary of the first position."""
    if not attributes[slot].parts:
        return slot
    return next(place for place, attribute in enumerate(attributes) if attribute.parts)


def _asks(constraint: Constraint) -> bool:
    """Return whether a constraint on the match with a pattern or shape admits only values that match."""
    return constraint.admits(1) and not constraint.admits(0) and not constraint.null
