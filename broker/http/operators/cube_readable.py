"""The check that a caller may read the values of a cube."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from broker.errors import UnknownQueryError
from broker.http.scoped_service import ScopedService
from broker.operators.cube.cube_state import CubeId
from broker.operators.cube.definition import StandingCube
from broker.operators.cube.folder import CubeFolder
from broker.queries.query import RegisteredQuery


@dataclass(frozen=True, slots=True)
class ReadableCube:
    """A cube whose values the caller may read. ``query``: the standing query. ``definition``: the operator of the
    query. ``folder``: the cubes of the query's stream. ``id``: the cube's id, with its generation.
    """

    query: RegisteredQuery
    definition: StandingCube
    folder: CubeFolder
    id: CubeId


def readable_cube(permitted: ScopedService, query_id: str) -> ReadableCube:
    """Return the cube of a query.

    Raise UnknownQueryError if the query is not a cube, and ForbiddenError if the caller may not name all columns that
    the cube reads.
    """
    query = permitted.get(query_id)
    definition = query.operator
    if not isinstance(definition, StandingCube):
        remedy = "is a query of another kind: list the cubes with 'asc query list --operator cube'"
        raise UnknownQueryError("unknown cube", query_id[:250], remedy)
    permitted.check_reads(query)
    folder = cast(CubeFolder, permitted.stream_of(query.stream).folders[definition.name])
    own_id = CubeId(query.id, definition.cube.generation(query.stream, query.where))
    return ReadableCube(query, definition, folder, own_id)
