"""Refusals of questions, with the names that the question itself contains."""

from __future__ import annotations

from asc.errors import CubeError
from asc.operators.cube.looked_up import LookedUp
from asc.operators.cube.question import Question


def refusal_as_written(error: CubeError, question: Question, seen: LookedUp) -> CubeError:
    """Return a refusal that names the field and the name of the question that need a dimension, if older panes do not
    keep this dimension.

    The error ``error`` names the missing dimension itself. But ``by`` may contain only a finer level or an attribute of
    a look-up, or WHERE or ``within`` may read the dimension. Other errors are returned unchanged. ``seen``: the cube
    with the attributes that the question names.
    """
    dimensions = seen.definition.dimensions
    if error.subject != "by" or error.value not in dimensions.names:
        return error
    missing = dimensions.names.index(error.value)
    grouped = {place for cuboid in question.cuboids for place in dimensions.columns(cuboid)}
    (levels,) = (names for names in dimensions.hierarchies if error.value in names)
    finer = [dimensions.names.index(name) for name in levels if dimensions.names.index(name) >= missing]
    first = len(dimensions.names) - len(seen.attributes)
    attributes = [
        own.sql for place, own in enumerate(seen.attributes, first) if own.place in finer and place in grouped
    ]
    remedy = f"needs {error.value}, which {error.remedy}"
    if missing in grouped:
        name = dimensions.names[max(place for place in finer if place in grouped)]
        return error if name == error.value else CubeError("by", name, remedy)
    if attributes:
        return CubeError("by", attributes[0], remedy)
    if question.within is not None and missing == question.within.first:
        return CubeError("within", error.value, remedy)
    return CubeError("where", question.where, remedy)
