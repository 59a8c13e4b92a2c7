"""The topics and operator targets for which matches leave the workers, and the matches that stay there."""

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

    ``names``: the names of their destinations. ``is_folded`` bool[queries]. ``place_of`` int32[queries]: the index of
    the query's name in ``names``, undefined for other queries.
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
    """The targets and selections of a plan's queries whose matches leave the workers for an operator.

    ``is_operated`` bool[queries]. ``targets`` and ``selections``: the distinct names, ascending. ``target_of`` and
    ``selection_of`` int32[queries]: the index of each query's name, undefined for other queries. The selection of a
    join's member includes the shape (``selection/shape``). Invariant: queries with the same normal form on the same
    track have the same selection, so the output for a record does not grow with their number. Cost: a pass over these
    queries for each plan.
    """

    is_operated: npt.NDArray[np.bool_]
    targets: pa.StringArray
    target_of: _Ints
    selections: pa.StringArray
    selection_of: _Ints

    @staticmethod
    def of(plan: Plan) -> Operated | None:
        """Return the targets and selections of a plan. Return None if there are none."""
        table = plan.destinations
        has_target = np.array([own.target != NO_TARGET for own in table.entries] + [False], dtype=np.bool_)
        if not has_target.any():
            return None
        # NO_DESTINATION is the last place.
        is_operated = has_target[table.of_query]
        places = pa.array(table.of_query[is_operated])
        targets = pa.array([own.target for own in table.entries], pa.string()).take(places)
        selections = pa.array([own.selection for own in table.entries], pa.string()).take(places)
        shapes = shape_texts(plan.query_ids.filter(pa.array(is_operated)))
        named = pc.binary_join_element_wise(selections, shapes, "", null_handling="skip")
        return Operated(is_operated, *_coded(targets, is_operated), *_coded(named, is_operated))


@dataclass(frozen=True, slots=True, eq=False)
class Destinations:
    """The names under which the matches of a plan's queries leave the workers.

    ``names``: topics. ``of_query`` int32[queries]: the index of each query's topic. ``operated``: the queries whose
    matches go to an operator, or None. ``folded``: the queries whose matches do not leave the workers, or None.
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
    """Return the distinct texts, ascending, and the index of each query's text among them."""
    names = pc.unique(texts)
    names = names.take(pc.sort_indices(names))
    code_of = np.zeros(len(is_operated), dtype=np.int32)
    code_of[is_operated] = pc.index_in(texts, value_set=names).to_numpy(zero_copy_only=False)
    return names, code_of
