"""The edges of bins at the registration of a cube. They come from the registered cube that the new one replaces, or
from a sample of records.
"""

from __future__ import annotations

from asc.errors import CubeError
from asc.operators.cube.binned import Sampler, unsampled, with_former_edges, with_sampled_edges
from broker.operators.cube.definition import StandingCube, refusal_of


def calibrated(definition: StandingCube, former: StandingCube | None, sampler: Sampler) -> StandingCube:
    """Return a definition whose bins all have edges.

    ``former``: the registered cube over the same records; bins that this cube also has keep their edges. It is None if
    there is no such cube. ``sampler``: reads the sample for the other bins. Raise QueryError if there is no sample, or
    if the definition names levels that the bins do not have.
    """
    if not unsampled(definition.cube):
        return definition
    plain = definition.plain()
    try:
        if former is not None:
            plain = with_former_edges(plain, definition.cube, former.cube)
            definition = StandingCube.parse(plain)
        return StandingCube.parse(with_sampled_edges(plain, definition.cube, sampler))
    except CubeError as error:
        raise refusal_of(error) from None
