"""Names under which matches leave the workers: topics, and of operators their targets with selections."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from asc.plan.destination import NO_DESTINATION
from asc.plan.plan import Plan
from broker.matching.plan_ids import shape_texts

_Ints = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Operated:
    """The targets and selections of a plan's queries that have an operator.

    ``is_operated`` bool[queries]. ``targets``, ``selections``: the names, each once, ascending; ``target_of`` and
    ``selection_of`` int32[queries]: the place of each query's, meaningless for others. Of a member of a join the
    selection has the shape (``selection/shape``). Invariant: queries with one normal form on one track have one
    selection, so that what leaves for a record does not grow with them. Cost: once a plan, a pass over these queries.
    """

    is_operated: npt.NDArray[np.bool_]
    targets: pa.StringArray
    target_of: _Ints
    selections: pa.StringArray
    selection_of: _Ints

    @staticmethod
    def of(plan: Plan) -> Operated | None:
        """Return those of a plan; None where no query has an operator."""
        table = plan.destinations
        if not table.entries:
            return None
        is_operated = table.of_query != NO_DESTINATION
        places = pa.array(table.of_query[is_operated])
        targets = pa.array([own.target for own in table.entries], pa.string()).take(places)
        selections = pa.array([own.selection for own in table.entries], pa.string()).take(places)
        shapes = shape_texts(plan.query_ids.filter(pa.array(is_operated)))
        named = pc.binary_join_element_wise(selections, shapes, "", null_handling="skip")
        return Operated(is_operated, *_coded(targets, is_operated), *_coded(named, is_operated))


@dataclass(frozen=True, slots=True, eq=False)
class Destinations:
    """The names under which the matches of a plan's queries leave the workers.

    ``names``: topics, and ``of_query`` int32[queries]: the place of each query's topic. ``operated``: of the queries
    that have an operator; None where there are none.
    """

    names: pa.StringArray
    of_query: _Ints
    operated: Operated | None = None

    @staticmethod
    def of(plan: Plan) -> Destinations:
        """Return those of a plan."""
        return Destinations(plan.topic_names, plan.topic_of, Operated.of(plan))


def _coded(texts: pa.StringArray, is_operated: npt.NDArray[np.bool_]) -> tuple[pa.StringArray, _Ints]:
    """Return the different texts, ascending, and the place of each query's text among them."""
    names = pc.unique(texts)
    names = names.take(pc.sort_indices(names))
    code_of = np.zeros(len(is_operated), dtype=np.int32)
    code_of[is_operated] = pc.index_in(texts, value_set=names).to_numpy(zero_copy_only=False)
    return names, code_of
