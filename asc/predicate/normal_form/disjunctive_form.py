"""The disjunctive normal form of a predicate: conjuncts, each a set of constraints on different p-attributes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import pyarrow as pa

from asc.keys.attribute import PAttribute
from asc.keys.constraint import Constraint
from asc.spatial.layer import ShapeName

Conjunct = tuple[tuple[PAttribute, Constraint], ...]
"""One conjunct: at most one constraint for each p-attribute. No constraint is full (admits all values) or empty.

Each conjunct is one bit of the bitmaps of a plan.
"""


class Form(NamedTuple):
    """The common form of plain terms (a column compared with constants) that differ only in their constants.

    The form consists of the column as the user wrote it, the operator, and the type of the constants.
    """

    column: str
    operator: str
    type: pa.DataType


@dataclass(frozen=True, slots=True)
class Predicate:
    """A predicate in disjunctive normal form.

    The predicate accepts a tuple if at least one conjunct accepts it. A conjunct accepts a tuple if each of its
    constraints admits the tuple's value. ``match_all``: the predicate is a tautology, which accepts every tuple. It has
    no conjuncts, because it needs no construct. A predicate without conjuncts and without ``match_all`` is a
    contradiction.

    ``forms``: the forms of the predicate's terms if :mod:`asc.predicate.normal_form.plain_reader` read it, else None.
    Predicates with the same forms differ only in constants. ``named``: the paths of the columns that the text names;
    None if they are the columns of the p-attributes. ``shapes``: the shapes of layers that the text names, each as
    layer and id. ``missing_shapes``: the subset of ``shapes`` that their layers lack; such a shape is NULL.
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
        """The columns that the predicate's text names, including those of terms that normalisation removed.

        Each column is a path in the schema's spelling. For an entry of a map, or a part of an array's elements, the
        path leads to the map or the array.

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
        """The p-attributes that the predicate constrains, without duplicates, in the order of first use."""
        return tuple(dict.fromkeys(attribute for conjunct in self.conjuncts for attribute, _ in conjunct))

    @property
    def read(self) -> tuple[PAttribute, ...]:
        """The p-attributes whose values the predicate needs, without duplicates.

        The predicate may match a text with a pattern, or a position with a shape. The result then has the p-attribute
        of the text or position instead of that of the match.
        """
        return tuple(dict.fromkeys(attribute.read for conjunct in self.conjuncts for attribute, _ in conjunct))
