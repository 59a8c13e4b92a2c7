"""Queries with an operator that accept the same records as another query. Only one of these queries is evaluated."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from asc.frozen import frozen_int32
from asc.plan.plan import Plan
from broker.matching.destinations import Operated
from broker.matching.plan_ids import RegisteredIds
from broker.matching.query_counts import QueryCounts

_SHARE = 8
"""The inverse of the smallest share of a block's conjuncts that alike queries must have to be excluded from the block.
So the copy of the block without these conjuncts is at most eight times as large as these conjuncts.
"""

_Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Alike:
    """The queries of a plan that have the same target and selection as another query. That other query is evaluated in
    their place.

    ``ordinals`` int64[n]: the indexes of these queries among the plan's queries. ``places`` int64[n]: the position of
    each of these queries among the registered ids. ``firsts`` int64[n]: the position, among the registered ids, of the
    query that is evaluated in place of each. Members of joins are not included. Queries of a block are not included
    either if alike queries have less than an eighth of its conjuncts. Invariant: equal selections have the same normal
    form (:class:`Operated`), so all queries with one selection accept the same records.
    """

    ordinals: _Ints
    places: _Ints
    firsts: _Ints

    @staticmethod
    def of(plan: Plan, operated: Operated | None, registered: RegisteredIds) -> Alike | None:
        """Return the alike queries of a plan. Return None if there are none."""
        if operated is None:
            return None
        is_plain = operated.is_operated
        if registered.is_member is not None:
            is_plain = is_plain & ~registered.is_member
        plain_ordinals = np.flatnonzero(is_plain)
        codes = (
            operated.target_of[plain_ordinals].astype(np.int64) * len(operated.selections)
            + operated.selection_of[plain_ordinals]
        )
        _, firsts, places = np.unique(codes, return_index=True, return_inverse=True)
        representatives = plain_ordinals[firsts[places]]
        others = (representatives != plain_ordinals) & _are_many(
            plan, plain_ordinals[representatives != plain_ordinals]
        )[plain_ordinals]
        if not others.any():
            return None
        ordinals, representatives = plain_ordinals[others], representatives[others]
        if registered.owner is None:
            return Alike(ordinals, ordinals, representatives)
        owner = registered.owner.astype(np.int64)
        return Alike(ordinals, owner[ordinals], owner[representatives])

    def pruned(self, plan: Plan) -> Plan:
        """Return the plan for the executor, in which the alike queries match nothing. All queries keep their indexes in
        the plan.

        Cost: a copy of the blocks that contain the alike queries.
        """
        handles = np.sort(plan.handles[self.ordinals])
        ranks = plan.ranks.copy()
        ranks[handles] = -1
        blocks = tuple(
            block.without(handles) if np.isin(block.table.owner, handles).any() else block for block in plan.blocks
        )
        kept = ~np.isin(plan.match_all_handles, handles)
        match_all = frozen_int32(plan.match_all_handles[kept])
        return replace(plan, blocks=blocks, ranks=frozen_int32(ranks), match_all_handles=match_all)

    def counted(self, counts: QueryCounts) -> QueryCounts:
        """Return the counts of accepted records with the alike queries added. Each alike query gets the count of the
        query that is evaluated in its place.
        """
        if not len(counts.ordinals):
            return counts
        at = np.minimum(np.searchsorted(counts.ordinals, self.firsts), len(counts.ordinals) - 1)
        is_counted = counts.ordinals[at] == self.firsts
        own = QueryCounts(self.places[is_counted], counts.counts[at[is_counted]])
        return QueryCounts.together([counts, own])


def _are_many(plan: Plan, ordinals: _Ints) -> npt.NDArray[np.bool_]:
    """Return for each query of the plan whether excluding it from its blocks is worthwhile. This is true if the query
    is one of ``ordinals``, and in each block of the query, the queries of ``ordinals`` have at least an eighth of the
    conjuncts.
    """
    is_many = np.zeros(len(plan), dtype=np.bool_)
    is_many[ordinals] = True
    for block in plan.blocks:
        owners = plan.ranks[block.table.owner[block.table.owner >= 0]]
        if np.count_nonzero(is_many[owners]) * _SHARE < len(owners):
            is_many[owners] = False
    return is_many
