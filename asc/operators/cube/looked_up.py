"""Attributes of look-ups in questions to a cube. They are further dimensions, computed from the values of the key
dimension.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import groupby
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa

from asc.errors import CubeError, PredicateError
from asc.frozen import frozen
from asc.operators.cube.answer_memory import Reserve, held, unbounded
from asc.operators.cube.cuboid import Dimensions
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.keys import Key
from asc.operators.cube.layout import Layout
from asc.operators.cube.lookup import Lookup
from asc.operators.cube.operand import Operand
from asc.operators.cube.part import Part
from asc.operators.cube.question import Question
from asc.operators.cube.source import needed_columns
from asc.predicate import normalise
from asc.schema import Schema
from asc.spark_types import folded

Lookups = Mapping[str, Lookup]
"""Look-ups by name."""

NO_LOOKUPS: Lookups = MappingProxyType({})

_NAMES_SHOWN = 20
_DOTTED = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\.([A-Za-z_][A-Za-z0-9_]*)\s*", re.ASCII)
_ROW_BYTES = 64
"""The bytes of memory for each value whose row in the look-up is searched, besides the value."""


@dataclass(frozen=True, slots=True, eq=False)
class Attribute:
    """An attribute of a look-up that a question names. ``place``: the index of the dimension whose values are the
    look-up's keys.
    """

    lookup: Lookup
    name: str
    place: int

    @property
    def sql(self) -> str:
        """Return the name in questions and answers."""
        return f"{self.lookup.name}.{self.name}"

    @property
    def type(self) -> pa.DataType:
        """Return the type of the values."""
        return self.lookup.attributes[self.name].type


@dataclass(frozen=True, eq=False)
class LookedUpLayout(Layout):
    """The layout of a cube whose last dimensions are attributes of look-ups.

    A predicate reads an attribute as a field of a struct with the name of the look-up, as Spark does after a join with
    such a struct. The full name of the attribute in backquotes is read too.
    """

    stored: Layout | None = None
    attributes: tuple[Attribute, ...] = ()

    @property
    def stored_names(self) -> tuple[str, ...]:
        """Return the expressions by which the stored cells are grouped, without the attributes."""
        assert self.stored is not None
        return self.stored.stored_names

    @cached_property
    def group_schema(self) -> Schema:
        """Return the schema for the ``where`` of a question."""
        columns = [(operand.sql, operand.type) for operand in self.dimensions]
        structs = [
            (name, pa.struct([(own.name, own.type) for own in several])) for name, several in self._by_lookup().items()
        ]
        return Schema(pa.schema([*columns, *structs]))

    def names_of(self, paths: Iterable[tuple[str, ...]]) -> set[str]:
        """Return the names of the dimensions at paths of the group schema."""
        structs = self._by_lookup()
        return {".".join(path[:2]) if path[0] in structs else path[0] for path in paths}

    def group_table(self, columns: Mapping[str, pa.Array]) -> pa.Table:
        """Return a table of the group schema with the values of all dimensions."""
        structs = {
            name: pa.StructArray.from_arrays([columns[own.sql] for own in several], [own.name for own in several])
            for name, several in self._by_lookup().items()
        }
        return pa.table({**columns, **structs})

    def _by_lookup(self) -> dict[str, list[Attribute]]:
        found: dict[str, list[Attribute]] = {}
        for own in self.attributes:
            found.setdefault(own.lookup.name, []).append(own)
        return found


@dataclass(frozen=True, slots=True, eq=False)
class LookedUp:
    """A cube as one question sees it: a layout in which the attributes that the question names are further dimensions.

    If the question names no attribute, the layout is that of the cube. The attributes of one look-up are adjacent.
    """

    layout: Layout
    attributes: tuple[Attribute, ...] = ()

    @staticmethod
    def of(layout: Layout, by: object, where: object, lookups: Lookups = NO_LOOKUPS) -> LookedUp:
        """Return the cube as a question sees it. ``by``, ``where``: the fields of the question, which may be invalid.

        Raise CubeError if an attribute does not exist or has the name of a dimension, or if the key of its look-up is
        no dimension of the cube. Other errors in the fields are reported later, by :class:`Question`.
        """
        names = dict.fromkeys(_named_in_by(layout, by, lookups))
        if isinstance(where, str):
            names.update(dict.fromkeys(_named_in_where(layout, where, lookups)))
        if not names:
            return LookedUp(layout)
        named = {own.sql: own for own in (_attribute(layout, lookups, *each) for each in sorted(names))}
        attributes = tuple(named.values())
        hierarchies = (*layout.definition.dimensions.hierarchies, *((own.sql,) for own in attributes))
        operands = (*layout.dimensions, *(Operand(own.sql, own.type) for own in attributes))
        values: dict[str, Any] = {own.name: getattr(layout, own.name) for own in fields(Layout)}
        values["definition"] = replace(layout.definition, dimensions=Dimensions(hierarchies))
        values["dimensions"] = operands
        return LookedUp(LookedUpLayout(**values, stored=layout, attributes=attributes), attributes)

    @property
    def definition(self) -> CubeDefinition:
        """Return the definition of the cube, with the attributes as dimensions."""
        return self.layout.definition

    @property
    def identity(self) -> str:
        """Return a text that changes when the table of a named look-up changes. It is empty without attributes."""
        return " ".join(f"{own.lookup.identity} {own.name}" for own in self.attributes)

    @property
    def _first_place(self) -> int:
        """Return the index of the first attribute among the dimensions."""
        return len(self.layout.dimensions) - len(self.attributes)

    def stored(self, question: Question) -> Question:
        """Return a question for the stored cells from which the attributes are computed, without WHERE. If the question
        names no attributes, return it unchanged.
        """
        if not self.attributes:
            return question
        first = self._first_place
        needed = needed_columns(self.layout, question)
        columns = [place if place < first else self.attributes[place - first].place for place in needed]
        stored = Dimensions(self.definition.dimensions.hierarchies[: -len(self.attributes)])
        return replace(question, cuboids=(stored.cuboid_with(columns),), where=None)

    def parts(self, read: Sequence[Part], reserve: Reserve = unbounded) -> list[Part]:
        """Return the parts with the attributes as their last keys. Raise CubeError if the keys of a look-up cannot be
        compared with the values of its dimension.

        An attribute is a function of another key. So the cells stay sorted, and no two cells have the same keys. Cost:
        one search for each value in the dictionaries of the parts, and a pass over the cells for each attribute.
        """
        keys: list[tuple[Key, ...]] = [part.cells.keys for part in read]
        for lookup, names in groupby(self.attributes, lambda own: own.lookup):
            several = list(names)
            key_of = [part.cells.keys[part.columns.index(several[0].place)] for part in read]
            found = _keys_of(lookup, [own.name for own in several], key_of, reserve)
            keys = [(*own, *added) for own, added in zip(keys, found, strict=True)]
        added_places = range(self._first_place, len(self.layout.dimensions))
        return [
            replace(part, columns=(*part.columns, *added_places), cells=replace(part.cells, keys=own))
            for part, own in zip(read, keys, strict=True)
        ]


def _keys_of(lookup: Lookup, names: Sequence[str], keys: Sequence[Key], reserve: Reserve) -> Iterator[list[Key]]:
    """Yield for each part the keys of the attributes ``names`` of one look-up. All parts share the dictionary of an
    attribute.

    ``keys``: of each part, the key of the dimension whose values are the look-up's keys.
    """
    dictionaries = {id(key.dictionary): key.dictionary for key in keys}
    whole = pa.concat_arrays(list(dictionaries.values()))
    with held(reserve, 2 * whole.nbytes + lookup.keys.nbytes + _ROW_BYTES * (len(whole) + lookup.rows)):
        rows = lookup.rows_of(whole)
    starts, start = {}, 0
    for number, dictionary in dictionaries.items():
        starts[number], start = start, start + len(dictionary)
    values: list[Key] = []
    for name in names:
        column = lookup.values(name)
        codes = np.where(rows < 0, 0, column.codes[rows]).astype(np.int32)
        values.append(Key(column.dictionary, frozen(codes)).compact())
    reserve(sum(4 * len(key) * len(names) for key in keys) + sum(int(value.dictionary.nbytes) for value in values))
    for key in keys:
        begin = starts[id(key.dictionary)]
        yield [_mapped(key, value, begin) for value in values]


def _mapped(key: Key, value: Key, begin: int) -> Key:
    """Return the attribute of each cell. ``key``: the key of the dimension. ``value``: the attribute of each value of
    the concatenated dictionaries of all parts. ``begin``: the index at which the dictionary of ``key`` begins among
    them.
    """
    # The first code of the key is NULL, for which the attribute is NULL.
    codes = np.concatenate((np.zeros(1, dtype=np.int32), value.codes[begin : begin + len(key.dictionary)]))
    return Key(value.dictionary, frozen(codes[key.codes]))


def _named_in_by(layout: Layout, by: object, lookups: Lookups) -> Iterator[tuple[str, str]]:
    """Yield the look-up and the attribute of each name in ``by`` that has the form ``lookup.attribute`` and is no
    dimension.
    """
    dimensions = set(map(folded, layout.definition.dimensions.names))
    for name in dict.fromkeys(_texts(by)):
        is_dimension = folded(name.strip()) in dimensions
        lookup = None if is_dimension else lookups.get(name.strip().lower())
        if lookup is not None:
            attributes = list(lookup.attributes)
            shown = ", ".join(attributes[:_NAMES_SHOWN])
            remedy = f"is a look-up with the attributes {shown}: name some of them, as {lookup.name}.{attributes[0]}"
            raise CubeError("by", name[:200], remedy)
        match = None if is_dimension else _DOTTED.fullmatch(name)
        if match is not None:
            if match[1].lower() not in lookups:
                shown = ", ".join(sorted(lookups)[:_NAMES_SHOWN]) or "none"
                remedy = f"is no dimension, and no look-up is named '{match[1].lower()[:100]}': there are {shown}"
                raise CubeError("by", name[:200], remedy)
            yield match[1].lower(), match[2]


def _texts(by: object) -> Iterator[str]:
    if isinstance(by, Sequence) and not isinstance(by, str):
        for own in by:
            if isinstance(own, str):
                yield own
            elif isinstance(own, Sequence):
                yield from (name for name in own if isinstance(name, str))


def _named_in_where(layout: Layout, where: str, lookups: Lookups) -> Iterator[tuple[str, str]]:
    """Yield the look-up and the attribute of each column in ``where`` that is an attribute of a look-up."""
    candidates = [name for name in lookups if re.search(rf"(?<!\w)`?{name}`?\s*\.", where, re.IGNORECASE | re.ASCII)]
    refusals: dict[str, CubeError] = {}
    columns = [(operand.sql, operand.type) for operand in layout.dimensions]
    dimensions = set(map(folded, layout.definition.dimensions.names))
    flat: dict[str, tuple[str, str]] = {}
    usable: list[str] = []
    for name in candidates:
        try:
            _place_of(layout, lookups[name])
        except CubeError as error:
            refusals[name] = error
            continue
        usable.append(name)
        own = lookups[name].attributes
        columns.append((name, pa.struct([(attribute, values.type) for attribute, values in own.items()])))
        for attribute, values in own.items():
            if folded(f"{name}.{attribute}") not in dimensions:
                flat[f"{name}.{attribute}"] = name, attribute
                columns.append((f"{name}.{attribute}", values.type))
    if not candidates:
        return
    try:
        predicate = normalise(where, Schema(pa.schema(columns)), time_zone=layout.time_zone)
    except PredicateError as error:
        lookup, _, attribute = str(error.value).replace("`", "").partition(".")
        if error.subject != "unknown column" or not attribute or lookup.lower() not in candidates:
            raise
        if lookup.lower() in refusals:
            raise refusals[lookup.lower()] from None
        raise _unknown(lookups[lookup.lower()], attribute) from None
    for path in sorted(predicate.columns):
        if path[0] in flat:
            yield flat[path[0]]
        elif path[0] in usable and len(path) > 1:
            yield path[0], path[1]


def _attribute(layout: Layout, lookups: Lookups, lookup: str, name: str) -> Attribute:
    table = lookups[lookup]
    spelled = table.attribute_of(name)
    if spelled is None:
        raise _unknown(table, name)
    place = _place_of(layout, table)
    clash = clash_of(table, spelled, layout.definition)
    if clash is not None:
        raise clash
    return Attribute(table, spelled, place)


def usable_attributes(definition: CubeDefinition, lookups: Lookups) -> list[str]:
    """Return the names of the attributes by which questions to a cube may group, in the form ``lookup.attribute``."""
    names = set(map(folded, definition.dimensions.names))
    return [
        f"{lookup.name}.{attribute}"
        for lookup in lookups.values()
        if folded(lookup.key) in names and folded(lookup.name) not in names
        for attribute in lookup.attributes
        if clash_of(lookup, attribute, definition) is None
    ]


def clash_of(lookup: Lookup, attribute: str, definition: CubeDefinition, cube: str = "the cube") -> CubeError | None:
    """Return an error if a dimension or a measure of a cube has the name of an attribute; otherwise None. ``cube``: the
    name of the cube in the error.
    """
    name = f"{lookup.name}.{attribute}"
    for noun, names in (
        ("dimension", definition.dimensions.names),
        ("measure", tuple(measure.name for measure in definition.measures)),
    ):
        if folded(name) in set(map(folded, names)):
            return CubeError("attribute", name, f"is named like a {noun} of {cube}: rename the attribute")
    return None


def _place_of(layout: Layout, lookup: Lookup) -> int:
    """Return the index of the dimension whose values are the keys of a look-up. Raise CubeError if there is none."""
    names = list(map(folded, layout.definition.dimensions.names))
    if folded(lookup.name) in names:
        raise CubeError("look-up", lookup.name, "is named like a dimension of the cube: put it under another name")
    if folded(lookup.key) not in names:
        shown = ", ".join(layout.definition.dimensions.names[:_NAMES_SHOWN]) or "no dimension"
        raise CubeError("look-up", lookup.name, f"has the key {lookup.key}, and the cube has {shown}: name another")
    return names.index(folded(lookup.key))


def _unknown(lookup: Lookup, attribute: str) -> CubeError:
    shown = ", ".join(list(lookup.attributes)[:_NAMES_SHOWN])
    return CubeError("attribute", f"{lookup.name}.{attribute}"[:200], f"is none: the look-up has {shown}")
