"""Parts: the pieces of a plan, which several plans share. After a change, the daemon ships and stores only the new
parts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from asc.errors import PlanError
from asc.frozen import arrays_of, frozen_int32, of_stored
from asc.keys.attribute import PAttribute
from asc.keys.box_shapes import ShapesOfBoxes
from asc.keys.dictionary import Dictionary
from asc.keys.grid import Grid
from asc.keys.like import Elements
from asc.keys.patterns import Patterns, PatternSet
from asc.keys.shapes import ShapeSet
from asc.plan.block import Block, lines_of
from asc.plan.conjuncts import ConjunctTable, Integers
from asc.plan.destination import Destination, DestinationTable
from asc.plan.format import DAMAGE, Arrays, from_bytes, message, strings_of, to_bytes
from asc.plan.grouping import Homes
from asc.plan.order import Order
from asc.plan.pattern_postings import PatternPostings
from asc.plan.plan import CompileOptions, Matched, Plan, insertion_point
from asc.plan.posting_block import ListedBlock
from asc.plan.value_index import ValueIndex
from asc.plan.verification_masks import VerificationMasks
from asc.spatial.index import ShapeIndex

PAGE = 16_384
"""The number of entries in a new page. A page is a section of a plan's table of queries, or of its table of topic
names. A page of queries that grows to more than twice as many entries is split.
"""

_DESTINATIONS_PAGE = 1_024
"""The number of destinations in a page, which is a section of a plan's table of destinations. A destination has some
hundred bytes.
"""

_BLOCK = ("slots", "bases", "matrix", "groups")
_OTHERS = {
    "homes": ("homes", Homes),
    "doubts": ("verification_masks", VerificationMasks),
    "members": ("pattern_postings", PatternPostings),
}
"""The fields of a block that are dataclasses of arrays. In a block, such a field may be None. The key is the prefix of
the names under which the arrays are stored. It never changes, so that stored plans stay readable. The value is the
field's name and its type.
"""

_TABLE = ("first", "code", "low", "high", "owner")
_DICTIONARY = ("offsets", "data", "labels", "heads")
_FIRST = {
    "slot": "boundaries",
    "patterns": "nodes",
    "block": "matrix",
    "shapes": "index.starts",
    "boxes": "data",
    "listed": "index.starts",
    "values": "index.spread",
}
"""For some kinds of part, the name of an array. Two plans share such a part if this array is the same object in both.
"""


_KINDS = ("head", "slot", "patterns", "shapes", "boxes", "block", "listed", "values", "ids", "topics", "destinations")


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A piece of a plan: its arrays, and a header ``says``, which includes the ``kind``.

    ``head``: version, options, p-attributes, the orders of all blocks, the handles of the queries without conjuncts.
    ``slot``: the grid of a p-attribute and its dictionary. ``patterns``: a set of patterns of a p-attribute.
    ``shapes``, ``boxes``: the shapes with which the points, or boxes, of a p-attribute are matched. ``block``: a block
    without its order. ``listed``: a block that is listed by shapes; ``values``: a block that is listed by values.
    ``ids``: a page of queries in the order of ordinals, with id, handle, topic and destination. ``topics``: a page of
    topic names. ``destinations``: a page of destinations.

    Invariant: a part object has the same content in all plans that share it. Cost: a page is a copy of a section of the
    plan's tables, and all other parts use the arrays of the plan. ``to_bytes`` copies the arrays.
    """

    says: Mapping[str, Any]
    arrays: Arrays

    @property
    def kind(self) -> str:
        return str(self.says["kind"])

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self.arrays.values())

    def to_bytes(self) -> bytes:
        """Return the part as bytes (:mod:`asc.plan.format`)."""
        return to_bytes(self.says, self.arrays)

    @staticmethod
    def from_bytes(buffer: bytes | memoryview, *, is_checked: bool = False) -> Part:
        """Return the part that :meth:`to_bytes` wrote as bytes. Its arrays are views of ``buffer``. Raise PlanError if
        the bytes are not those of a part. ``is_checked``: the caller has already verified the checksum.
        """
        says, arrays = from_bytes(buffer, is_checked=is_checked)
        if "kind" not in says:
            raise PlanError("part of a plan", str(says)[:200], "another version wrote it")
        return Part(says, arrays)


def parts_of(plan: Plan, before: Sequence[Part] = ()) -> tuple[Part, ...]:
    """Return the parts of a plan, the head first. If a part is equal to a part in ``before``, it is the same object.

    ``before``: the parts of the plan from which a change made this plan. Blocks, grids and dictionaries that both plans
    share are recognised by their arrays, and pages by their content. Cost: a copy of the tables of ids, which have for
    each query 24 bytes and the id.
    """
    # A part keeps its arrays alive, so no other array can have the id (the address) of one of them.
    of_arrays = {id(part.arrays[_FIRST[part.kind]]): part for part in before if part.kind in _FIRST}
    slots = (_slot(plan, slot, of_arrays) for slot in range(len(plan.grids)))
    patterns = (_patterns(slot, one, of_arrays) for slot, own in plan.patterns.items() for one in own.sets)
    blocks = (_block(block, of_arrays) for block in plan.blocks)
    listed = (_listed(block, of_arrays) for block in plan.listed)
    return (
        Part(*_head(plan)),
        *slots,
        *patterns,
        *blocks,
        *listed,
        *_pages(plan, [part for part in before if part.kind == "ids"]),
        *_topics(plan, [part for part in before if part.kind == "topics"]),
        *_destinations(plan, [part for part in before if part.kind == "destinations"]),
    )


def plan_of(parts: Sequence[Part]) -> Plan:
    """Return the plan that consists of some parts. The plan uses the arrays of the parts. Raise PlanError if they are
    not the parts of one plan.
    """
    try:
        return _plan(parts)
    except DAMAGE as error:
        raise PlanError("parts of a plan", len(parts), f"another version wrote them ({error})") from error


# -- to parts


def _head(plan: Plan) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    arrays: dict[str, npt.NDArray[Any]] = {
        "p_attributes": _described(plan.p_attributes),
        "match_all": plan.match_all_handles,
        "contradictions": plan.contradiction_handles,
    }
    for number, block in enumerate(plan.blocks):
        arrays[f"sequence.{number}"] = block.sequence
        arrays[f"arrows.{number}"] = block.arrows
    says = {
        "kind": "head",
        "version": plan.version,
        "options": asdict(plan.options),
        "changes": plan.changes,
        "handles": len(plan.ranks),
    }
    return says, arrays


def _described(attributes: Sequence[PAttribute]) -> npt.NDArray[np.uint8]:
    """Return p-attributes as bytes. After all of them come the p-attributes of the coordinates of those that are
    positions or boxes, in the same order.
    """
    fields = [pa.field(own.sql, own.type, metadata={b"origin": _origin(own)}) for own in attributes]
    parts = [pa.field(part.sql, part.type, metadata={b"origin": _origin(part)}) for a in attributes for part in a.parts]
    return np.frombuffer(pa.schema(fields + parts).serialize(), dtype=np.uint8)


def _origin(attribute: PAttribute) -> bytes:
    said = (attribute.path, attribute.error_condition, attribute.weight, attribute.steps, attribute.is_matched)
    elements = None if attribute.elements is None else astuple(attribute.elements)
    return json.dumps([*said, elements, len(attribute.parts)]).encode()


def _slot(plan: Plan, slot: int, known: Mapping[int, Part]) -> Part:
    grid, dictionary = plan.grids[slot], plan.dictionaries.get(slot)
    found = known.get(id(grid.boundaries))
    if found is not None and (dictionary is None or found.arrays.get("labels") is dictionary.labels):
        return found
    says = {
        "kind": "slot",
        "grid": [grid.exact, grid.origin, grid.shift, grid.is_matched],
        "has_dictionary": dictionary is not None,
    }
    own = {} if dictionary is None else {name: getattr(dictionary, name) for name in _DICTIONARY}
    return Part(says, {"boundaries": grid.boundaries, "table": grid.table, **own})


def _block(block: Block, known: Mapping[int, Part]) -> Part:
    found = known.get(id(block.matrix))
    if found is not None and found.arrays["low"] is block.table.low:
        return found
    arrays = {name: getattr(block, name) for name in _BLOCK}
    arrays.update({name: getattr(block.table, name) for name in _TABLE})
    for prefix, (name_of_field, _) in _OTHERS.items():
        own = getattr(block, name_of_field)
        if own is not None:
            arrays.update({f"{prefix}.{name}": array for name, array in arrays_of(own).items()})
    return Part({"kind": "block"}, arrays)


def _listed(block: ListedBlock, known: Mapping[int, Part]) -> Part:
    kind = "listed" if block.by_shapes else "values"
    stored = known.get(id(block.index.arrays("index.")[_FIRST[kind]]))
    if stored is not None and stored.arrays["owner"] is block.table.owner:
        return stored
    arrays = {name: getattr(block.table, name) for name in _TABLE}
    # All positions share one dictionary, which the part contains only once.
    heads = {id(own): slot for slot, own in reversed(list(block.dictionaries.items()))}
    for slot in heads.values():
        dictionary = block.dictionaries[slot]
        arrays.update({f"dictionary.{slot}.{name}": getattr(dictionary, name) for name in _DICTIONARY})
    says = {
        "kind": kind,
        "slot": block.slot,
        "repeats": block.repeats,
        "dictionaries": [[slot, heads[id(own)]] for slot, own in block.dictionaries.items()],
    }
    arrays |= {"p_attributes": _described(block.attributes), "listed": block.first}
    return Part(says, {**arrays, **block.index.arrays("index.")})


def _listed_of(part: Part) -> ListedBlock:
    arrays, says = part.arrays, part.says
    heads = {head for _, head in says["dictionaries"]}
    own = {head: Dictionary(*(arrays[f"dictionary.{head}.{name}"] for name in _DICTIONARY)) for head in heads}
    index = {name.removeprefix("index."): array for name, array in arrays.items() if name.startswith("index.")}
    return ListedBlock(
        _attributes_of(arrays["p_attributes"]),
        says["slot"],
        {slot: own[head] for slot, head in says["dictionaries"]},
        ConjunctTable(*(arrays[name] for name in _TABLE)),
        arrays["listed"],
        of_stored(ShapeIndex, index) if part.kind == "listed" else of_stored(ValueIndex, index),
        says["repeats"],
    )


def _patterns(slot: int, patterns: PatternSet | ShapeSet | ShapesOfBoxes, known: Mapping[int, Part]) -> Part:
    if isinstance(patterns, ShapesOfBoxes):
        stored = known.get(id(patterns.data))
        if stored is not None and stored.arrays["labels"] is patterns.labels and stored.says["slot"] == slot:
            return stored
        return Part({"kind": "boxes", "slot": slot}, patterns.arrays)
    if isinstance(patterns, ShapeSet):
        stored = known.get(id(patterns.index.starts))
        if stored is not None and stored.arrays["labels"] is patterns.labels and stored.says["slot"] == slot:
            return stored
        return Part({"kind": "shapes", "slot": slot}, patterns.arrays)
    stored = known.get(id(patterns.nodes))
    if stored is not None and stored.arrays["labels"] is patterns.labels and stored.says["slot"] == slot:
        return stored
    return Part({"kind": "patterns", "slot": slot}, patterns.arrays)


def _pages(plan: Plan, before: Sequence[Part]) -> Iterator[Part]:
    handles = plan.handles
    firsts = [insertion_point(plan.query_ids, str(page.says["first"])) for page in before]
    known = {str(page.says["first"]): page for page in before}
    for low, high in pairwise(_cuts(firsts, len(plan))):
        ids = plan.query_ids.slice(low, high - low)
        # These are copies: a view would keep the complete tables of a plan that is no longer used.
        tables = {"handles": handles, "topics": plan.topic_of, "destinations": plan.destinations.of_query}
        arrays: Arrays = {
            "ids": message(ids),
            **{name: frozen_int32(table[low:high].copy()) for name, table in tables.items()},
        }
        first = ids[0].as_py()
        yield _same_or_new(known.get(first), {"kind": "ids", "first": first}, arrays)


def _cuts(firsts: Sequence[int], count: int) -> list[int]:
    """Return the index of the first query of each page, and then ``count``, the number of queries. ``firsts``: the
    indices at which the present pages begin. A present page keeps its beginning, unless a page became too long or too
    short.
    """
    if not count:
        return []
    cuts = [0]
    for place in sorted({*firsts, count}):
        if place < count and place - cuts[-1] < PAGE // 4:
            continue
        while place - cuts[-1] > 2 * PAGE:
            cuts.append(cuts[-1] + PAGE)
        cuts.append(place)
        if place == count:
            break
    return cuts


def _topics(plan: Plan, before: Sequence[Part]) -> Iterator[Part]:
    # New topic names are only added at the end, so all pages except the last one stay the same.
    for number, low in enumerate(range(0, len(plan.topic_names), PAGE)):
        arrays = {"names": message(plan.topic_names.slice(low, PAGE))}
        yield _same_or_new(before[number] if number < len(before) else None, {"kind": "topics"}, arrays)


def _destinations(plan: Plan, before: Sequence[Part]) -> Iterator[Part]:
    # As for topics: entries are only added at the end.
    for number, low in enumerate(range(0, len(plan.destinations.entries), _DESTINATIONS_PAGE)):
        arrays = {"texts": message(plan.destinations.texts(low, low + _DESTINATIONS_PAGE))}
        yield _same_or_new(before[number] if number < len(before) else None, {"kind": "destinations"}, arrays)


def _same_or_new(known: Part | None, says: dict[str, Any], arrays: Arrays) -> Part:
    if known is not None and all(np.array_equal(known.arrays[name], array) for name, array in arrays.items()):
        return known
    return Part(says, arrays)


# -- and back


def _plan(parts: Sequence[Part]) -> Plan:
    by_kind: dict[str, list[Part]] = {kind: [] for kind in _KINDS}
    for part in parts:
        by_kind[part.kind].append(part)
    (head,) = by_kind["head"]
    grids, dictionaries = [], {}
    for slot, part in enumerate(by_kind["slot"]):
        exact, origin, shift, is_matched = part.says["grid"]
        grids.append(Grid(part.arrays["boundaries"], exact, origin, shift, part.arrays["table"], is_matched))
        if part.says["has_dictionary"]:
            dictionaries[slot] = Dictionary(*(part.arrays[name] for name in _DICTIONARY))
    patterns: dict[int, tuple[PatternSet, ...]] = {}
    for part in by_kind["patterns"]:
        slot = part.says["slot"]
        patterns[slot] = (*patterns.get(slot, ()), PatternSet(**part.arrays))
    shapes: dict[int, Matched] = {part.says["slot"]: ShapeSet.of_arrays(part.arrays) for part in by_kind["shapes"]}
    shapes.update({part.says["slot"]: ShapesOfBoxes(**part.arrays) for part in by_kind["boxes"]})
    pages = [page.arrays for page in by_kind["ids"]]
    handles = _joined([page["handles"] for page in pages])
    ranks = np.full(head.says["handles"], -1, dtype=np.int32)
    ranks[handles] = np.arange(len(handles))
    return Plan(
        head.says["version"],
        CompileOptions(**head.says["options"]),
        _attributes_of(head.arrays["p_attributes"]),
        tuple(grids),
        dictionaries,
        tuple(_block_of(part, head.arrays, number) for number, part in enumerate(by_kind["block"])),
        _strings([page["ids"] for page in pages]),
        frozen_int32(ranks),
        _strings([page.arrays["names"] for page in by_kind["topics"]]),
        _joined([page["topics"] for page in pages]),
        _destination_table(by_kind["destinations"], _joined([page["destinations"] for page in pages])),
        head.arrays["match_all"],
        head.arrays["contradictions"],
        {**{slot: Patterns(own) for slot, own in patterns.items()}, **shapes},
        head.says["changes"],
        tuple(map(_listed_of, (part for part in parts if part.kind in {"listed", "values"}))),
    )


def _destination_table(pages: Sequence[Part], of_query: Integers) -> DestinationTable:
    entries = tuple(map(Destination.of_text, _strings([page.arrays["texts"] for page in pages]).to_pylist()))
    if of_query.max(initial=-1) >= len(entries):
        raise ValueError("queries and destinations")
    return DestinationTable(entries, of_query)


def _attributes_of(described: npt.NDArray[np.uint8]) -> tuple[PAttribute, ...]:
    """Return the p-attributes that :func:`_described` wrote as bytes."""
    read: list[tuple[PAttribute, int]] = []
    for own in pa.ipc.read_schema(pa.py_buffer(described)):
        path, condition, weight, steps, is_matched, elements, parts = json.loads(own.metadata[b"origin"])
        path = None if path is None else tuple(path)
        elements = None if elements is None else Elements(*elements)
        read.append((PAttribute(own.name, own.type, path, condition, weight, steps, None, is_matched, elements), parts))
    own_parts = [attribute for attribute, _ in read[len(read) - sum(parts for _, parts in read) :]]
    attributes: list[PAttribute] = []
    for attribute, parts in read[: len(read) - len(own_parts)]:
        attributes.append(replace(attribute, parts=tuple(own_parts[:parts])))
        del own_parts[:parts]
    return tuple(attributes)


def _block_of(part: Part, orders: Arrays, number: int) -> Block:
    arrays = part.arrays
    slots, bases, matrix, groups = (arrays[name] for name in _BLOCK)
    order = Order(orders[f"sequence.{number}"], orders[f"arrows.{number}"])
    table = ConjunctTable(*(arrays[name] for name in _TABLE))
    homes = Homes(arrays["homes.slots"], arrays["homes.keys"])
    masks, postings = (_other(arrays, prefix) for prefix in ("doubts", "members"))
    rows, words = matrix.shape
    if len(groups) != rows or len(homes.slots) != lines_of(words) or len(homes.keys) != lines_of(words):
        raise ValueError("rows, groups and homes")
    if masks is not None and (len(masks.places) != rows or masks.words.shape[1] != words):
        raise ValueError("rows and verification masks")
    return Block(slots, bases, matrix, groups, masks, order, table, homes, postings)


def _other(arrays: Arrays, prefix: str) -> Any:
    start = f"{prefix}."
    own = {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}
    return of_stored(_OTHERS[prefix][1], own) if own else None


def _joined(arrays: Sequence[Integers]) -> Integers:
    return arrays[0] if len(arrays) == 1 else frozen_int32(np.concatenate([np.empty(0, dtype=np.int32), *arrays]))


def _strings(messages: Sequence[npt.NDArray[np.uint8]]) -> pa.StringArray:
    read = [strings_of(content) for content in messages]
    return read[0] if len(read) == 1 else pa.concat_arrays([pa.array([], pa.string()), *read])
