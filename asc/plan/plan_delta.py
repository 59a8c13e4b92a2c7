"""Plan deltas: the queries that a change adds to a plan, divided into queries for bitmaps and queries for listed
blocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from asc.keys.attribute import PAttribute
from asc.plan.index_choice import IndexChoice
from asc.plan.plan import Query
from asc.plan.posting_block import ListedBlock, listed_under
from asc.predicate.normal_form.disjunctive_form import Conjunct


@dataclass(frozen=True, slots=True)
class PlanDelta:
    """Queries that are added to a plan. Their handles (numbers that stay the same from plan to plan) follow those of
    the plan's queries.

    ``in_bitmaps``: the queries that are in no listed block, each with its handle; some may have no conjunct.
    ``listed``: one listed block for each p-attribute by which added queries are listed. Cost: building the listed
    blocks.
    """

    queries: Sequence[Query]
    in_bitmaps: tuple[tuple[int, Query], ...]
    listed: tuple[ListedBlock, ...]

    @staticmethod
    def of(queries: Sequence[Query], start: int, choice: IndexChoice | None = None) -> PlanDelta:
        """Return the delta that adds queries to a plan. ``start``: the handle of the first query. ``choice``: it
        chooses the queries to list by values; without it, no query is listed by values.
        """
        by_attribute: dict[PAttribute, list[tuple[int, Conjunct]]] = {}
        others = []
        for handle, query in enumerate(queries, start):
            attribute = listed_under(query.predicate)
            if attribute is None and choice is not None:
                attribute = choice.taken(query.predicate)
            if attribute is None:
                others.append((handle, query))
            else:
                by_attribute.setdefault(attribute, []).extend((handle, own) for own in query.predicate.conjuncts)
        blocks = tuple(ListedBlock.of(pairs, attribute) for attribute, pairs in by_attribute.items())
        return PlanDelta(queries, tuple(others), blocks)

    @property
    def conjuncts(self) -> Iterator[tuple[int, Conjunct]]:
        """The (handle, conjunct) pairs of the queries in ``in_bitmaps``."""
        return ((handle, conjunct) for handle, query in self.in_bitmaps for conjunct in query.predicate.conjuncts)

    def byte_constants(self, slots: Mapping[PAttribute, int]) -> dict[int, set[bytes]]:
        """Return the byte-string constants of the queries in ``in_bitmaps``, by the slot of the p-attribute."""
        by_attribute: dict[PAttribute, set[bytes]] = {own: set() for own in slots if own.space.labelled}
        for _, conjunct in self.conjuncts:
            for attribute, constraint in conjunct:
                attribute_constants = by_attribute.get(attribute.read)
                if attribute_constants is not None:
                    attribute_constants.update(
                        constraint.constants() if attribute.like is None else (attribute.like.key,)
                    )
        return {slots[attribute]: constants for attribute, constants in by_attribute.items() if constants}
