"""What matches are delivered under: topics, and what stands in place of one for operators."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from asc.plan.plan import Plan
from broker.matching.matches_text import BEFORE_OPERATOR


@dataclass(frozen=True, slots=True, eq=False)
class Destinations:
    """What the ids of a plan's queries are delivered under: ``names``, and for each query which of them, int32.

    A topic, or what several destinations that are no topics begin with: ``is_operators`` bool[names], None where there
    are no such. Cost: a look at each topic of the plan.
    """

    names: pa.StringArray
    of_query: npt.NDArray[np.int32]
    is_operators: npt.NDArray[np.bool_] | None = None

    @staticmethod
    def of(plan: Plan) -> Destinations:
        """Those of a plan."""
        if not pc.any(pc.match_substring(plan.topic_names, BEFORE_OPERATOR)).as_py():
            return Destinations(plan.topic_names, plan.topic_of)
        own = pc.replace_substring_regex(plan.topic_names, f"(?s){BEFORE_OPERATOR}.*", BEFORE_OPERATOR)
        shared = own.dictionary_encode()
        is_operators = pc.match_substring(shared.dictionary, BEFORE_OPERATOR).to_numpy(zero_copy_only=False)
        return Destinations(shared.dictionary, shared.indices.to_numpy()[plan.topic_of], is_operators)
