"""The destinations of matches. A match leaves the worker for a topic or for the target of an operator (a track of the
feed), or it is folded into a state in the worker.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from asc.plan.destination import NO_TARGET
from asc.plan.plan import Plan
from broker.matching.plan_ids import shape_texts

_Ints = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Folded:
    """The queries of a plan whose matches stay in the workers, where they are folded into states.

    ``names``: the names of the destinations of folded queries. ``is_folded`` bool[queries]: whether a query is folded.
    ``place_of`` int32[queries]: the index in ``names`` of the query's destination, undefined for a query that is not
    folded.
    """

    names: tuple[str, ...]
    is_folded: npt.NDArray[np.bool_]
    place_of: _Ints

    @staticmethod
    def of(plan: Plan) -> Folded | None:
        """Return the folded queries of a plan. Return None if there are none."""
        table = plan.destinations
        places = [place for place in table.used_places() if table.entries[place].target == NO_TARGET]
        if not places:
            return None
        code_of = np.full(len(table.entries) + 1, -1, dtype=np.int32)
        code_of[places] = np.arange(len(places))
        place_of = code_of[table.of_query]
        return Folded(tuple(table.entries[place].name for place in places), place_of >= 0, place_of)


@dataclass(frozen=True, slots=True, eq=False)
class Operated:
    """The queries of a plan whose matches leave the workers for an operator, with the targets and selections of these
    queries.

    ``is_operated`` bool[queries]: whether the query's matches leave for an operator. ``targets``: the distinct names of
    targets, ascending. ``target_of`` int32[queries]: the index of the query's target in ``targets``. ``selections``:
    the distinct names of selections, ascending. ``selection_of`` int32[queries]: the index of the query's selection in
    ``selections``. Both indexes are undefined if ``is_operated`` is false. The selection of a join's member includes
    the shape (``selection/shape``). Invariant: queries with the same normal form on the same track have the same
    selection, so the output for a record does not grow with the number of such queries. Cost: a pass over the queries
    for each plan.
    """

    is_operated: npt.NDArray[np.bool_]
    targets: pa.StringArray
    target_of: _Ints
    selections: pa.StringArray
    selection_of: _Ints

    @staticmethod
    def of(plan: Plan) -> Operated | None:
        """Return the targets and selections of a plan. Return None if no query of the plan has a target."""
        table = plan.destinations
        has_target = np.array([own.target != NO_TARGET for own in table.entries] + [False], dtype=np.bool_)
        if not has_target.any():
            return None
        # The added False is for NO_DESTINATION, which is index -1.
        is_operated = has_target[table.of_query]
        places = pa.array(table.of_query[is_operated])
        targets = pa.array([own.target for own in table.entries], pa.string()).take(places)
        selections = pa.array([own.selection for own in table.entries], pa.string()).take(places)
        shapes = shape_texts(plan.query_ids.filter(pa.array(is_operated)))
        named = pc.binary_join_element_wise(selections, shapes, "", null_handling="skip")
        return Operated(is_operated, *_coded(targets, is_operated), *_coded(named, is_operated))


@dataclass(frozen=True, slots=True, eq=False)
class Destinations:
    """The destinations of the matches of a plan's queries: topics, operators, or states in the workers.

    ``names``: the names of topics. ``of_query`` int32[queries]: the index of the query's topic in ``names``.
    ``operated``: the queries whose matches go to an operator, or None if there are none. ``folded``: the queries whose
    matches stay in the workers, or None if there are none.
    """

    names: pa.StringArray
    of_query: _Ints
    operated: Operated | None = None
    folded: Folded | None = None

    @staticmethod
    def of(plan: Plan) -> Destinations:
        """Return the destinations of a plan."""
        return Destinations(plan.topic_names, plan.topic_of, Operated.of(plan), Folded.of(plan))


def _coded(texts: pa.StringArray, is_operated: npt.NDArray[np.bool_]) -> tuple[pa.StringArray, _Ints]:
    """Return the distinct texts, ascending, and for each query the index of its text. ``texts`` has a text for each
    operated query. For another query, the index is 0.
    """
    names = pc.unique(texts)
    names = names.take(pc.sort_indices(names))
    code_of = np.zeros(len(is_operated), dtype=np.int32)
    code_of[is_operated] = pc.index_in(texts, value_set=names).to_numpy(zero_copy_only=False)
    return names, code_of
