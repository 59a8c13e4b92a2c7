"""The disjunctive normal form of a predicate: conjuncts, each a set of constraints on different p-attributes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import pyarrow as pa

from asc.keys.attribute import PAttribute
from asc.keys.constraint import Constraint
from asc.spatial.layer import ShapeName

Conjunct = tuple[tuple[PAttribute, Constraint], ...]
"""One conjunction: at most one constraint a p-attribute, none of them full or empty. One bit position of a plan."""


class Form(NamedTuple):
    """The common form of plain terms that differ in their constants alone.

    It is the column as it is written, the operator and the type of the constants.
    """

    column: str
    operator: str
    type: pa.DataType


@dataclass(frozen=True, slots=True)
class Predicate:
    """A predicate in disjunctive normal form.

    A tuple is accepted when every constraint of at least one conjunct admits its values. No conjuncts and not
    ``match_all``: a contradiction, which accepts nothing. ``match_all``: a tautology, which accepts every tuple and
    has no conjuncts (it is routed beside the ASCs). ``forms``: those of its terms, where it was read by them
    (:mod:`asc.predicate.normal_form.plain_reader`); predicates of the same forms differ in constants alone.
    ``named``: the paths of the columns that its text names; None where these are its p-attributes. ``shapes``: those
    of layers that it names, by layer and id, ``missing_shapes`` those of them that are not there, which are NULL.
    """

    text: str
    conjuncts: tuple[Conjunct, ...]
    match_all: bool = False
    warnings: tuple[str, ...] = ()
    forms: frozenset[Form] | None = field(default=None, compare=False)
    named: frozenset[tuple[str, ...]] | None = field(default=None, compare=False, repr=False)
    shapes: frozenset[ShapeName] = field(default=frozenset(), compare=False, repr=False)
    missing_shapes: frozenset[ShapeName] = field(default=frozenset(), compare=False, repr=False)

    @property
    def columns(self) -> frozenset[tuple[str, ...]]:
        """The columns that its text names, by their paths in the schema's spelling, whatever became of their terms.

        For an entry of a map, or a part of an array's elements, it is the map or the array.

        >>> from asc.predicate import normalise
        >>> from asc.schema import Schema
        >>> schema = Schema.from_ddl("n INT, place STRUCT<city: STRING>")
        >>> sorted(normalise("PLACE.City = 'Oslo' AND (n > 1 OR true)", schema).columns)
        [('n',), ('place', 'city')]
        """
        if self.named is not None:
            return self.named
        return frozenset(attribute.path for attribute in self.read if attribute.path is not None)

    @property
    def p_attributes(self) -> tuple[PAttribute, ...]:
        """The p-attributes it constrains, each once, in the order of first use."""
        return tuple(dict.fromkeys(attribute for conjunct in self.conjuncts for attribute, _ in conjunct))

    @property
    def read(self) -> tuple[PAttribute, ...]:
        """The p-attributes whose values it needs, each once: of those matched with patterns the subjects."""
        return tuple(dict.fromkeys(attribute.read for conjunct in self.conjuncts for attribute, _ in conjunct))
