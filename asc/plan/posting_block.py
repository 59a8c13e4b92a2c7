"""Listed blocks: conjuncts found by posting lists. They are for p-attributes of which each value satisfies only few of
very many conjuncts.

A construct of the paper's Definition 1 has a bitmap for each region. But nearly every conjunct may require a different
value of a p-attribute, or a different shape, which contains few positions. Most words of such a bitmap are 0, and
reading them takes time without a result. A listed block instead lists, for each value or shape, the conjuncts that
require it. The other constraints of these conjuncts are then evaluated exactly for the tuple.
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
"""The greatest weight (:attr:`ListedBlock.weight`) at which a listed block of a plan is always merged with an added
listed block of the same p-attribute.
"""

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
    """Conjuncts that are listed by shapes or by values of one p-attribute. Each of them requires that a shape contains
    the position that is this p-attribute, or it requires one of a few values of this p-attribute.

    ``attributes``: the p-attributes of the conjuncts; their indices are the slots of this block. ``slot``: the slot by
    which conjuncts are listed. ``dictionaries``: the byte-string constants by slot; all positions share one dictionary
    of shapes. ``table``: the exact constraints of each conjunct, whose owner is a handle of the plan. ``index``: the
    shapes or values under which conjuncts are listed. ``first`` int32[shapes + 1]: the conjuncts listed under shape s
    are ``first[s]`` to ``first[s + 1]``. It is empty for values, whose lists are in the index. ``repeats``: whether a
    query has several conjuncts.

    Invariant: the block does not depend on other parts of the plan, so a change of other parts does not change the
    block. By shapes, a conjunct is listed under one required shape, the conjunct's first constraint in the table. By
    values, it is listed under each value that its first constraint requires. Conjuncts of removed queries stay until
    the block is built again. The plan's table ``ranks``, from handles to ordinals, has -1 for their handles. Cost: the
    keys of the shapes and the index (:class:`asc.spatial.index.ShapeIndex`, :class:`asc.plan.value_index.ValueIndex`),
    10 or 18 bytes an interval, 8 a conjunct.
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
        """Return the listed block of some conjuncts, each with the handle of its query. ``listed``: the p-attribute of
        which each conjunct requires a shape, or one of a few values.
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
        """The approximate cost of building the block again, in conjuncts: the number of conjuncts, plus a number in
        proportion to the total length of the shapes' keys.
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
        """The number of distinct shapes, or of distinct values, under which conjuncts are listed."""
        return len(self.index) if isinstance(self.index, ValueIndex) else len(self.shapes)

    @property
    def finds_twice(self) -> bool:
        """True if the index may find the same query several times for one tuple, so that the evaluation has to remove
        duplicates.
        """
        return self.repeats or (isinstance(self.index, ShapeIndex) and self.index.has_turns)

    def count_for(self, key: Key) -> int:
        """Return the number of conjuncts that are listed under the value with the key ``key``; 0 if the block is listed
        by shapes.
        """
        if not isinstance(self.index, ValueIndex):
            return 0
        known = self.dictionaries.get(self.slot)
        return len(self.index.conjuncts_for(key if known is None else known.label(key)))

    @property
    def nbytes(self) -> int:
        own = {id(one): one.nbytes for one in self.dictionaries.values()}
        return self.table.nbytes + self.first.nbytes + self.index.nbytes + sum(own.values())

    def conjuncts_of(self, handle: int) -> list[int]:
        """Return the indices of the conjuncts of a query. ``handle``: the handle of the query in the plan. Cost: a pass
        over the owners of all conjuncts.
        """
        return np.flatnonzero(self.table.owner == handle).tolist()  # type: ignore[no-any-return]

    def constraints(self, conjunct: int) -> Iterator[tuple[PAttribute, Constraint]]:
        """Return the exact constraints of a conjunct, each with its p-attribute. ``conjunct``: the index of the
        conjunct in the block.
        """
        return decoded(self.table, conjunct, self.dictionaries, self.attributes)

    def with_owners(self, owner: Integers) -> ListedBlock:
        """Return the block with other handles of the queries. ``owner``: the new handle for each conjunct."""
        table = self.table
        return replace(self, table=ConjunctTable(table.first, table.code, table.low, table.high, frozen_int32(owner)))


def listed_under(predicate: Predicate) -> PAttribute | None:
    """Return the position (a p-attribute that is a point) by whose shapes all conjuncts of a predicate can be listed.
    Return None if there is no such position.

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

    An added block is merged with blocks of the plan for the same p-attribute whose weight is at most _SMALL, or at most
    twice the weight merged so far. ``ranks``: the ordinal of each handle, -1 if the query was removed. Merged blocks
    omit the conjuncts of removed queries. Cost: the blocks that are built again. If k queries are added one by one,
    each query is in log2(k) of these blocks.
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
    """Return one block with the conjuncts of several listed blocks of the same p-attribute. ``ranks``: the ordinal of
    each handle, -1 if the query was removed. Conjuncts of removed queries are omitted.

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
    """Return the block of the conjuncts of a table, listed by values. ``slot``: the index of the p-attribute of which
    each conjunct requires one of a few values. The conjuncts keep their order.
    """
    wide = table.wide()
    conjuncts, asks = wide.conjuncts, wide.slots == slot
    index = ValueIndex.of(wide.low[asks], conjuncts[asks])
    # The constraint by which a conjunct is listed comes first. A tuple for which the index finds the conjunct satisfies
    # this constraint, so the evaluation skips it.
    order = np.argsort(conjuncts * 2 + ~asks, kind="stable")
    ordered = ConjunctTable(wide.first, wide.code[order], wide.low[order], wide.high[order], wide.owner)
    repeats = len(np.unique(wide.owner)) < len(wide.owner)
    first = frozen_int32(np.empty(0))
    return ListedBlock(attributes, slot, dictionaries, ordered.compact(), first, index, repeats)


def _listed(
    attributes: tuple[PAttribute, ...], slot: int, dictionaries: Mapping[int, Dictionary], table: ConjunctTable
) -> ListedBlock:
    """Return the block of the conjuncts of a table, listed by the shapes or by the values of one p-attribute. ``slot``:
    the index of that p-attribute. The conjuncts may be in any order.
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
    # If a conjunct requires several shapes, it is listed under the first one (its driving shape): nothing shows that
    # another shape would be better.
    _, places = np.unique(conjuncts[asks], return_index=True)
    driving = asks[places]
    shape = np.searchsorted(dictionary.labels, wide.low[driving])
    is_driving = np.zeros(len(conjuncts), dtype=np.bool_)
    is_driving[driving] = True
    # The constraint on the driving shape comes first. A tuple for which the index finds the conjunct satisfies this
    # constraint, so the evaluation skips it.
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
    """Return the slot under which the dictionary of a p-attribute is created. For a position this is the slot of the
    first position, because all positions share one dictionary.
    """
    if not attributes[slot].parts:
        return slot
    return next(place for place, attribute in enumerate(attributes) if attribute.parts)


def _asks(constraint: Constraint) -> bool:
    """Return True if a constraint on the match with a pattern or shape admits only values that match."""
    return constraint.admits(1) and not constraint.admits(0) and not constraint.null
